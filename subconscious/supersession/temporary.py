"""Judges whether a time expression limits the statement in which it stands. Does no I/O.

"No merges until Friday" is over on Saturday; "orders stay open until Friday" is a lasting rule about orders. Losing a
lasting rule is worse than keeping a temporary one too long. So a statement is temporary only if its main clause is an
instruction ("no", "nobody", "skip", "we don't") or describes a temporary state (a freeze, someone away), and if the
time expression is at the beginning or the end of that clause. Unclear statements are not temporary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from subconscious.text.vocabulary import IMPERATIVES

SHORT = 2
"""A clause with at most this many words before an instruction is not a rule of its own ("heads up")."""


class Sort(Enum):
    """The sorts of time expressions. Those that are frequent in lasting rules need clearer clauses to count."""

    UNTIL = "until a day or month"
    AHEAD = "for the next days, weeks or months"
    PERIOD = "this week, for today"
    BOUND = "until the end of the month, which every month has"
    WEEKEND = "over the weekend, which every week has"
    DAY = "today, which also means nowadays"
    LATER = "tomorrow, next week"


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause around a time expression, without the expression, and the clauses before and after this clause."""

    before: str
    """What precedes the time expression in its clause."""
    after: str
    earlier: list[str]
    """The clauses before this clause, nearest first."""
    later: list[str]

    @property
    def alone(self) -> str:
        """The clause without its time expression."""
        return f"{self.before} {self.after}".strip()


def limits(text: str, begin: int, end: int, sort: Sort) -> bool:
    """Whether the time expression ``text[begin:end]`` limits what ``text`` states."""
    if _STANDS.search(text) or _is_quoted(text, begin, end):
        return False
    clause = _clause(text, begin, end)
    if sort not in (Sort.UNTIL, Sort.AHEAD, Sort.BOUND) and _belongs(clause):
        return False
    if _TELLS.search(clause.alone) or _OF_A_NOUN.search(clause.before) or _has_own_dates(clause.alone):
        return False
    if sort in (Sort.DAY, Sort.LATER):
        return _limits_a_day(clause, text[begin:end], sort)
    return _limits_a_time(clause, text[begin:end], sort)


def _belongs(clause: Clause) -> bool:
    """Whether "today" or "this week" only belongs to the words before it ("agreed today", "bill this month")."""
    return bool(
        _BELONGS.search(clause.before) or (_VERB_ALONE.fullmatch(clause.before) and not _WORK.search(clause.before))
    )


def _limits_a_time(clause: Clause, words: str, sort: Sort) -> bool:
    if not clause.alone:
        return _limits_its_neighbour(clause, words, sort)
    if not _at_an_edge(clause) or (clause.before and any(map(_is_rule, clause.earlier))):
        return False
    if _FREEZE.search(clause.alone):
        return True
    if sort is Sort.WEEKEND:
        return False
    if sort is Sort.BOUND:
        return bool(_AWAY.search(clause.alone) or (_is_order(clause.alone) and _WORK.search(clause.alone)))
    return _is_passing(clause, sort) or _gives_a_reason(clause, sort)


def _is_passing(clause: Clause, sort: Sort) -> bool:
    """Whether the words around a time expression are an instruction or describe a temporary state."""
    if _is_order(clause.alone, sort) or _is_order(clause.after, sort):
        return True
    if _AWAY.search(clause.alone):
        return not (_OUT.search(clause.alone) and re.search(r"\d", clause.alone))
    if _is_down(clause.alone) or (_ONLY_AT_END.search(clause.before) and not clause.after):
        return True
    if sort in (Sort.UNTIL, Sort.AHEAD) and not clause.before and not clause.earlier:
        # "until friday jonas does the reviews"
        return not _MODAL.search(clause.alone) and not _OF_USERS.search(clause.alone)
    if sort is Sort.UNTIL:
        return bool(_WE.match(clause.alone))
    return bool(_I_AM.match(clause.alone)) and not _CHANGES.search(clause.alone)


def _is_down(clause: str) -> bool:
    """Whether a clause says that something is down or closed. False for users' accounts: a rule may block them."""
    return bool(_DOWN.search(clause)) and not _OF_USERS.search(clause)


def _gives_a_reason(clause: Clause, sort: Sort) -> bool:
    """Whether a clause gives the reason for the instruction after it: "Ann is away till the 14th, no deploys"."""
    order = _CONNECTED.match(clause.after)
    if order and sort in (Sort.UNTIL, Sort.PERIOD) and _is_order(clause.after[order.end() :], sort):
        return bool(_COPULA.search(clause.before))
    if clause.after or not clause.later or sort is not Sort.UNTIL or _OPEN.search(clause.before):
        return False
    then = clause.later[0]
    return bool(_COPULA.search(clause.before)) and _is_order(then, Sort.AHEAD) and not _SEQUENCE.search(then)


def _limits_its_neighbour(clause: Clause, words: str, sort: Sort) -> bool:
    """Whether a time expression that is a whole clause ("until Friday:") limits the clause after or before it."""
    if not clause.earlier and clause.later:
        main = clause.later[0]
    elif clause.earlier and (sort is Sort.UNTIL or _ONLY.search(words)) and not any(map(_is_rule, clause.earlier[1:])):
        main = clause.earlier[0]
        if _MAY.match(main) and not _has_own_dates(main):
            return True
    else:
        return False
    return not _has_own_dates(main) and not _TELLS.search(main) and _is_passing(Clause("", main, [], []), sort)


def _limits_a_day(clause: Clause, words: str, sort: Sort) -> bool:
    """Whether "today" or "next week" limits a clause: a short instruction, or a statement that someone is away."""
    main = _FILLERS.sub("", clause.alone, count=1)
    if clause.before and any(map(_is_rule, clause.earlier)):
        return False
    if clause.before and clause.after and not _COPULA_AT_END.search(clause.before):
        return bool(_REASON.match(clause.after)) and _is_short_order(_FILLERS.sub("", clause.before, count=1), words)
    if sort is Sort.LATER and (_AWAY.search(main) or _is_down(main)):
        return not (_OUT.search(main) and re.search(r"\d", main))
    return bool(_ABSENT.search(main) or _FREEZE_AT_END.search(clause.before) or _is_short_order(main, words))


def _is_short_order(main: str, words: str) -> bool:
    orders = _ENGLISH_ORDER if _ENGLISH_DAY.match(words) else _FOREIGN_ORDER
    return bool(orders.fullmatch(main)) and not _STATIVE.search(main)


def _clause(text: str, begin: int, end: int) -> Clause:
    earlier, later = _BOUNDARY.split(text[:begin]), _BOUNDARY.split(text[end:])
    before, after = earlier.pop().strip(), later.pop(0).strip()
    joined = _JOINED.split(before)
    if len(joined) > 1:
        earlier.append(joined[0])
        before = joined[-1].strip()
    before = "" if _FILLERS.fullmatch(f"{before} ") else before
    after = "" if _ENDS_A_CLAUSE.fullmatch(after) else after
    parts = [part.strip() for part in reversed(earlier) if part.strip()]
    return Clause(before, after, parts, [part.strip() for part in later if part.strip()])


def _at_an_edge(clause: Clause) -> bool:
    """Whether a time expression begins or ends its clause, or stands where German puts it ("ist bis Freitag krank")."""
    if not clause.before or not clause.after or _REASON.match(clause.after) or _CONNECTED.match(clause.after):
        return True
    return bool(_COPULA_AT_END.search(clause.before) or _WE.match(clause.before) or _NEGATION.match(clause.after))


def _is_order(clause: str, sort: Sort = Sort.UNTIL) -> bool:
    """Whether a clause is an instruction. Fewer verbs count for ``Sort.AHEAD`` ("keep it for the next days")."""
    main = _FILLERS.sub("", clause, count=1)
    if _NEGATION.match(main) or _PLACE_AND_NEGATION.match(main) or (_WE.match(main) and _NEGATED.search(main)):
        return True
    if _WAIT_WITH.match(main):
        return bool(_WORK.search(main))
    first = re.match(r"\w+", main)
    verb = first[0].casefold() if first else ""
    return verb in (_BARE if sort is Sort.AHEAD else _ORDERS)


def _is_rule(clause: str) -> bool:
    """Whether an earlier clause may be a rule of its own, to which a time in a later clause does not apply."""
    return _is_order(clause) or not (
        _COPULA.search(clause) or _REPORTS_ON_ME.match(clause) or len(clause.split()) <= SHORT
    )


def _has_own_dates(clause: str) -> bool:
    """Whether a clause is about things that have dates themselves, such as orders or the rows of a report."""
    return bool(_SELECTS.search(clause) or (_DATED.search(clause) and not _WORKED_ON.search(clause)))


def _is_quoted(text: str, begin: int, end: int) -> bool:
    quoted = any(found.start() < begin < found.end() for found in _QUOTED.finditer(text))
    return quoted or (text[begin - 1 : begin] in {"'", "\u2018"} and text[end : end + 1] in {"'", "\u2019"})


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_STANDS = _pattern(
    r"\b(?:always|every|each|never|yearly|annual\w*|monthly|weekly|daily|quarterly|recurring|fiscal\w*|between|permanent\w*|"
    r"for good|\d{1,2}\w\w of (?:the|each) month|\d{1,2}\. des monats|from \w+ (?:until|till)|wait(?:s|ing)? (?:until|till)|effective|in force|"
    r"immer|jede\w*|nie|niemals|jährlich\w*|monatlich\w*|wöchentlich\w*|täglich\w*|geschäftsjahr\w*|von \w+ bis|"
    r"toujours|chaque|jamais|annuel\w*|mensuel\w*|de \w+ à|siempre|cada|nunca|sempre|anual\w*|mensual\w*|mensal\w*)\b"
    r"|(?:\A|[.;:!?,] )(?:(?:and|but|so|und|aber) )?(?:if|when|whenever|once|wenn|falls|sobald|nachdem|quand|lorsque|cuando|"
    r"quando|si|se)\b|\b(?:if|when) (?:an?|some|users?|customers?)\b"
)
"""Words of lasting rules: they apply regularly ("every", "daily") or in a case that can recur ("when", "if a user")."""

_QUOTED = _pattern(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u201e[^\u201c\u201d]*[\u201c\u201d]|«[^»]*»|`[^`]*`")
_BOUNDARY = _pattern(r"[,;:!?]+(?:\s+|\Z)|(?<!\d)\.+(?:\s+|\Z)|\A\.+\s+|(?<!\d)\.+\Z|\s+[-\u2013\u2014]+\s+|[()\n]")
_JOINED = _pattern(r"\s(?:because|weil|denn|parce que|porque|pois|so|and|und|et|y|e|but|aber|while)\s")
_FILLERS = _pattern(
    r"\A(?:(?:please|pls|plz|bitte|so|ok|okay|and|but|then|also|und|aber|hey|achtung|note|heads[- ]up|for|in|during|the|für|"
    r"vom \d\d?\.|pendant|durante|por favor|svp|stp)\s+)+"
)
_ENDS_A_CLAUSE = _pattern(
    r"(?:please|pls|plz|bitte|only|noon|morning|night|at \w+|svp|stp|por favor|ok(?:ay)?|thanks|thx|danke|merci|"
    r"gracias|vale|obrigad[oa]|\W)*"
)
_REASON = _pattern(
    r"(?:because|due to|since|as|while|wegen|weil|denn|parce que|à cause|porque|por|noon|morning|night)\b"
)
_CONNECTED = _pattern(r"(?:so|and|then|also|daher|deshalb|donc|alors|así que|então)\s+")
_COPULA_WORDS = (
    r"(?:is|are|am|['\u2019]s|['\u2019]re|['\u2019]m|im|stays?|remains?|ist|sind|bin|bleibt|bleiben|steht|wird|est|sont|suis|"
    r"reste|está|están|estoy|estão|estou|es|é|são|fica)"
)
_COPULA = _pattern(rf"(?<![^\W_]){_COPULA_WORDS}\b|['\u2019](?:s|re|m)\b")
_COPULA_AT_END = _pattern(rf"(?:\b|(?=['\u2019])){_COPULA_WORDS}\Z")
_BELONGS = _pattern(
    r"(?:\b(?:since|from|as of|of|by|starting|beginning|effective|after|before|until|till|than|like|every|per|within|except|to|"
    r"with|about|seit|ab|von|vom|depuis|dès|partir|de|d['\u2019]|desde|del|da|do|made|sent|built|written|done|due)"
    r"|(?!(?:clos|lock|block|reserv)ed\b)\b\w+[^e\W]ed|\b(?!nada\b)\w+[ai]d[oa]s?)\Z"
)
"""Words directly before "today" or "this week" that the time belongs to, as in "built today", "since today"."""

_VERB_ALONE = _pattern(r"(?:please )?(?:(?:don['\u2019]?t|do not) )?(?!(?:no|only|nothing|skip)\b|\w*freeze\b)\w+")
_OF_A_NOUN = _pattern(r"\b(?:that|which|who|whose|where|than|as|what|how|qui|que|como|comme|wie)\b")
_TELLS = _pattern(
    r"\b(?:decided|moved|switched|migrated|shipped|released|learn(?:ed|t)|found|fixed|changed|was|were|did|had|agreed?s?|told|"
    r"said|says?|announced|discussed|approved|wants|entschieden|haben|beschlossen|gesagt|sagt|meint|vereinbart|wurden?|war|"
    r"waren|décidé\w*|convenu|dit|decid\w+|acord\w+|dijo|disse|combin\w+|mudamos|hemos)\b"
)
"""Words that report an event, so that the time says when the event happened."""

_SELECTS = _pattern(
    r"\b(?:show\w*|display\w*|list(?:s|ed)?|include[sd]?|count\w*|load(?:s|ed)?|fetch\w*|quer(?:y|ies)|return\w*|render\w*|"
    r"highlight\w*|select\w*|filter\w*|compare\w*|print\w*|export\w*|import(?:s|ed)?|generate\w*|schedul\w*|forecast\w*|"
    r"create[sd]?|mention\w*|words?|call (?:it|the)|anzeig\w*|zeig\w*|affich\w*|muestr\w*|mostr\w*)\b"
)
_DATED = _pattern(
    r"\b(?:users?|customers?|clients?|guests?|tenants?|subscri\w+|members?|accounts?|book|bookings?|orders?|invoices?|payments?|"
    r"payouts?|appointments?|reservations?|tickets?|plans|trials?|coupons?|vouchers?|contracts?|licen[sc]es?|payroll|books|"
    r"reports?|data|rows?|records?|histor\w+|partitions?|calendars?|slots?|shifts?|deliver(?:y|ies)|reminders?|sessions?|tokens?|"
    r"backups|dates?|birthdays?|refunds?|nutzer\w*|benutzer\w*|kund\w+|buch(?:en|ung\w*)|bestellung\w*|rechnung\w*|termin\w*|abos?|"
    r"daten|verträge|utilisateurs?|commandes?|factures?|rendez-vous|abonn\w+|données|usu[aá]ri\w+|clientes?|pedidos?|facturas?|"
    r"faturas?|citas?|reservas?|suscripci\w+|assinaturas?|datos|dados|planes)\b"
)
"""Things that have dates of their own: in "orders stay open until Friday", the time belongs to the orders."""

_WORK = _pattern(
    r"\b(?:deploy\w*|releas\w*|merg\w*|push\w*|ship\w*|touch\w*|renam\w*|refactor\w*|rebas\w*|restart\w*|bump\w*|upgrad\w*|"
    r"commit\w*|migrat\w*|features?|bugs?|bugfix\w*|deps|dependenc\w+|no (?:new|more)|keine neuen|déploi\w*|déploy\w*|"
    r"mises? en prod\w*|umbenenn\w*|anfass\w*|despl[ie]\w*)\b"
)
"""Words for work on the code: a time beside them limits the work, unlike beside the words of ``_DATED``."""

_WORKED_ON = _pattern(
    r"\b(?:deploy\w*|releas\w*|merg\w*|push\w*|touch\w*|renam\w*|refactor\w*|rebas\w*|restart\w*|commit\w*|anfass\w*)\b"
)
_FREEZE = _pattern(r"\b(?:\w*freeze|frozen|eingefroren|feature[ -]?stopp?)\b")
_FREEZE_AT_END = _pattern(r"\b\w*freeze\Z")
_AWAY_WORDS = (
    r"(?:away|sick|ill|ooo|on (?:\w+ )?(?:leave|vacation|holidays?|pto|training)|travell?ing|krank|weg|(?:im|in) urlaub|"
    r"in elternzeit|auf dienstreise|abwesend|malade|absente?|en (?:congés?|vacances)|de (?:baja|vacaciones|viaje|férias|licença)|"
    r"enferm[oa]|doente|ausente|unavailable)"
)
_AWAY = _pattern(rf"(?:\b|(?=['\u2019])){_COPULA_WORDS} (?:[\w-]+ )?(?:{_AWAY_WORDS}|out|off)\b")
_OUT = _pattern(r"\bout\b")
_ABSENT = _pattern(rf"(?:\b|(?=['\u2019])){_COPULA_WORDS} (?:off )?(?:{_AWAY_WORDS}|down)\Z")
_DOWN = _pattern(
    rf"(?:\b|(?=['\u2019])){_COPULA_WORDS} (?:[\w-]+ ){{0,4}}(?:down|offline|broken|flaky|unavailable|unreachable|locked|closed|"
    r"blocked|reserved|read[- ]only|full|aus|zu|gesperrt|kaputt|geschlossen|reserviert|cassée?s?|fermée?s?|bloquée?s?|réservée?s?|"
    r"ca[ií]d[oa]s?|cerrad[oa]s?|bloquead[oa]s?|reservad[oa]s?|fechad[oa]s?)\b"
)
_OF_USERS = _pattern(
    r"\b(?:\w*accounts?|\w*kont(?:o|en|os)|comptes?|cuentas?|contas?|ips?|ip-adress\w*|address(?:es)?|adresses?|direcci[oó]n\w*|"
    r"endereços?|users?|players?|senders?|callers?|emails?|e-mails?|logins?|sign-?ins?|profil\w*|perfil\w*|perfis|"
    r"phones?|numbers?|wallets?|seats?|\w*cards?|\w*karten?|cartes?|tarjetas?|cart(?:ão|ões)|carts?|offers?|discounts?|"
    r"angebote?|rabatte?|offres?|ofertas?|descuentos?|descontos?|joueurs?|jugador\w*|jogador\w*|spieler\w*|telefon\w*)\b"
)
"""Things that a program regularly blocks or reserves for a time, such as accounts and seats."""
_NEGATION = _pattern(
    r"(?:no|nothing|nobody|noone|don['\u2019]?t|do not|let['\u2019]?s not|only|just|kein|keine[nrms]?|nichts?|niemand|nur|pas|aucune?|rien|"
    r"ne|n['\u2019]|personne|seulement|uniquement|nada|nadie|ning[uú]n\w*|nenhuma?|ninguém|não|sin|sem|s[oó]lo|só|apenas|niente|nessun\w*|geen|"
    r"inga|ingen|inget)(?!\w)"
)
_PLACE_AND_NEGATION = _pattern(
    rf"(?:on|at|in|for|auf|im|für|à|en|em|sur|dans) (?:[^\W\d][\w/.-]* ){{1,3}}{_NEGATION.pattern}"
)
_NEGATED = _pattern(
    r"\b(?:no|not|nothing|don['\u2019]?t|won['\u2019]?t|can['\u2019]?t|only|just|keine?n?|nichts?|nur|pas|rien|seulement|nada|s[oó]lo|"
    r"não|só)\b"
)
_WAIT_WITH = _pattern(
    r"(?:wait with|warte[nt]? (?:\w+ )?mit|attend(?:s|ez|ons) (?:avec|pour)|esper(?:a|ad|e|en|em|ar|emos) (?:con|com|para))\b"
)
_WE = _pattern(
    r"(?:we(?:['\u2019](?:re|ll))?|wir|nous|on (?:ne|n['\u2019]|utilise|garde|reste|fait)|(?:no |não )?\w+(?:amos|emos|imos))(?!\w)"
)
_I_AM = _pattern(r"(?:i(?:['\u2019]?m| am)|ich bin|je suis|estoy|estou)(?!\w)")
_CHANGES = _pattern(
    r"\b(?:begin|start|launch|adopt|migrat|mov|switch|replac|upgrad|roll|introduc|chang|drop|retir|remov|ship|releas)\w*"
)
_ONLY = _pattern(r"\b(?:only|just|nur|solo|só|seulement)\b")
_ONLY_AT_END = _pattern(r"\A(?:\S+ ){1,3}only\Z")
_MAY = _pattern(r"(?:you (?:can|may)|du (?:kannst|darfst)|tu peux|puedes|pode[s]?)\b")
_MODAL = _pattern(r"\b(?:can|may|must|should|kann|können|darf|dürfen|muss|müssen|peut|peuvent|puede\w*|pode\w*)\b")
_OPEN = _pattern(r"\b(?:open|valid|due|active|possible|available|offen|gültig|aktiv|ouvert\w*|abiert\w*|abert\w*)\b")
_SEQUENCE = _pattern(
    r"\b(?:after|afterwards|before|earlier|later|danach|davor|früher|später|après|avant|después|antes|depois|"
    r"outside|außerhalb|late)\b"
)
_REPORTS_ON_ME = _pattern(r"(?:i|im|ich|je|j['\u2019]\w+|yo|eu)\b")
_SELECTING = frozenset(
    "allow answer assign cache call close convert copy create declare define encrypt ensure export fetch format generate give"
    " handle hash import include index limit list load look make mock move name note open parse print raise read redact report"
    " require return rotate round save schedule set show sign sort specify split store strip tag throw track validate wait"
    " wrap".split()
)
_BARE = frozenset("use skip leave avoid pause stop freeze".split())
_ORDERS = (IMPERATIVES - _SELECTING) | _BARE | frozenset("hold silence mute stay stick pretend assume".split())
"""Verbs that begin an instruction for the work. Verbs such as "show" or "return" say what the program does."""

_ENGLISH_DAY = _pattern(r"today|tonight|tomorrow|next week")
_WORK_VERB = (
    r"(?:deploy|releas|merg|push|ship|touch|renam|refactor|rebas|restart|bump|upgrad|commit|migrat|rerun|run|ping|call me|disturb"
    r"|break)\w*"
)
_SOME = r"(?: [\w/.'\u2019-]+)"
_TASKS = (
    r"(?:bugs?|bug ?fix(?:es|ing)?|\w*fix(?:es)?|typos?|docs|documentation|reviews?|reading|reviewing|testing|planning|cleanups?|"
    r"refactorings?|changes|edits|commits|lesen|aufräumen|korrekturen|doku|relectures?|correctifs?|corre[cç]\w+|lecture|"
    r"lectura|leer|revis(?:ar|i[oó]n|iones|ão|ões)|leitura|ler)"
)
"""What developers do on one day: "only bug fixes today" is for today, "only postgres today" may mean nowadays."""
_ENGLISH_ORDER = _pattern(
    rf"no(?! one\b){_SOME}{{1,4}}|no(?:body| one){_SOME}?? {_WORK_VERB}{_SOME}{{0,5}}|nothing (?:gets |is )?{_WORK_VERB}{_SOME}{{0,4}}"
    rf"|(?:don['\u2019]?t|do not|let['\u2019]?s not) {_WORK_VERB}{_SOME}{{0,6}}"
    rf"|skip{_SOME}{{1,8}}|leave{_SOME}{{1,4}} (?:out|alone|off)"
    rf"|only{_SOME}?? {_TASKS}"
)
_FOREIGN_ORDER = _pattern(
    rf"(?:kein\w*|nichts|pas de|pas d['\u2019]\w+|rien|nada|ning[uú]n\w*|nenhuma?|sem|sin){_SOME}{{0,4}}"
    rf"|(?:nur|seulement|s[oó]lo|só)(?: (?:de petites|des?|les?|las?|los?|os?|as?))?{_SOME}?? {_TASKS}(?: de bugs?)?"
    rf"|niemand{_SOME}?? (?:{_WORK_VERB}|mergt){_SOME}{{0,4}}"
    rf"|(?:no|não) (?:despliegu?e[sn]?|toques?|toquen|mergee[sn]?|mergeie|hagas?|hagan|subas?|suban|publiques?|deployee?[sn]?|"
    rf"commitee?s?|pushee[sn]?|faça|façam|mexam?|desplegar|tocar|mergear|mexer){_SOME}{{0,4}}"
)
_STATIVE = _pattern(
    r"\b(?:have|has|own|owns|use[sd]?|uses|exists?|is|are|need\w*|knows?|works?|reads?|can|may|except|without|ohne|sans|but|any|or|"
    r"tiene|usa\w*|utilis\w*|nutz\w*|hat|haben)\b"
)
"""Words of statements about how things are today."""
