"""Finds the sentences of earlier reports that later messages of the same session correct.

A report stays in the transcript after the user has said "wait, 3 is enough", but a hand-over must no longer quote it. A
missing sentence does little harm, a wrong one misleads. So in doubt, a sentence counts as corrected if the correction
directly follows its report, and not otherwise. Approvals ("nope, all good") and further wishes correct nothing. A "no",
a request to undo work, or an answer that says that work was undone, is about the whole report if it names nothing, and
otherwise about what it names ("revert the deploy on staging"). A "wait" is only about what it names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from subconscious.sessions.sentences import MARKUP, SENTENCE
from subconscious.text import vocabulary, wording
from subconscious.text.claim_reader import FAMILY, claim
from subconscious.text.claims import indicates_change, replaces
from subconscious.text.stops import split
from subconscious.text.terms import STOP_WORDS, names, stem

LETTERS = 400
"""The maximum number of characters of a prompt that are examined: a correction comes first."""

MOST_SENTENCES = 40
"""The maximum number of sentences of a report that are compared with earlier ones."""

_LEAD = (
    r"(?:(?:ok(?:ay)?|h+m+|m+h+|u+h+m*|u+m+|e+r+m*|o+h+|a+c?h+|u+gh+|lol|wtf|omg|damn|dude|hey|well|so|then|now|just"
    r"|also|please|pls|but|and|bitte|aber|und|dann|jetzt|mais|et|alors|pero|y|por favor|então|e|ma"
    r"|can|could|would|will|you|we|i(?:'d)? (?:want|like|need)(?: you)? to|should|have to|let'?s|go ahead and|git"
    r"|kannst|könntest|du|wir|tu peux|peux-tu|puedes|podrías|pode|può|puoi|kun je"
    r"|no|nope|nah|nein|non|não|nee|wait|hold on|actually|sorry|oops|moment|warte|doch|eigentlich|ich möchte|i said)\b"
    r"|\W)*"
)
"""Words before the part of a request that says what to do: interjections, politeness, "can you", "no", "actually"."""

_THING = r"\W+(?:it|that|this|them|these|those|everything|all|das|es|alles)\W+"
_UNDOES = re.compile(
    rf"{_LEAD}(?:undo|revert|back out|roll back|take back|deshaz(?:l[oa])?|deshacer|revierte|revertir|annulez?"
    r"|desfa[zç]\w*|desfazer|reverta|reverter|annulla|ripristina"
    rf"|(?:roll|back|take|rip|pull|put){_THING}(?:back|out)|restore the (?:old|previous|original)"
    r"|git (?:reset|restore))"
    r"(?![\w/-])(?!.*\b(?:later|if|wenn|falls|si)\b)"
    r"|(?P<before>.*)\b(?<!nicht )(?:rückgängig(?!-)|zurück(?:nehmen|setzen|rollen|drehen)"
    r"|wieder (?:raus|weg|heraus|zurück))\b"
    r"|.*[,;:]\W*(?:undo|revert|roll(?: it| that)? back)(?: it| that| this| them)?\W*\Z",
    re.IGNORECASE,
)
"""A request to undo work."""

_REMOVES = re.compile(
    rf"{_LEAD}(?:remove|drop|delete|get rid of|scrap|ditch|strip|(?:take|rip|throw) out|take(?=.{{1,40}}\bout\b)"
    r"|quit(?:a|e|ar)|elimin(?:a|e|ar)|borra|saca|enlève[rz]?|retire[rz]?|supprime[rz]?|tir(?:a|e|ar)|remov(?:a|er)"
    r"|togli|rimuovi|entfern\w*|lösch\w*|schmeiß|(?:nimm|mach)(?=.{1,40}\b(?:raus|weg)\b)"
    r"|verwijder|haal(?=.{1,40}\b(?:weg|eruit)\b))(?!\w)"
    r"|.*?\b(?:(?:do|does|did)(?:n'?t| not) (?:want|need|like|ask for)(?! to\b)|no (?:quiero|queremos|necesit\w+)"
    r"|n[ãa]o (?:quero|queremos|precis\w+)|(?:veux|veut|voulons) pas"
    r"|(?:will|wollen|brauchen?)(?: ich| wir)?(?: das)? (?:kein\w*|nicht))\b",
    re.IGNORECASE,
)
"""A request to remove something, or a statement that the user does not want something."""

_UNDID = re.compile(
    r"(?:(?:ok(?:ay)?|done|sure|understood|i|we|i've|we've|it|it'?s|all|that|that's|everything|is|are|was|were|has|have|been"
    r"|changes?|the|now|just|erledigt|ich|habe|es|das|ist|alles|hecho|fait|feito|he|hemos|j'ai|já|ho)\b|\W)*"
    rf"(?:reverted|undone|undid|(?:rolled|backed|took|taken)(?:{_THING}|\s)(?:back|out)"
    r"|restored (?:the )?(?:previous|old|original|earlier)"
    r"|zurückgenommen|zurückgesetzt|revertido|deshecho|annulée?s?|desfeito|annullato)(?![\w/-])"
    r"|(?P<before>(?!.*\b(?:nichts?|kein\w*)\b).{0,60})\b(?:rückgängig gemacht|zurückgenommen)\b",
    re.IGNORECASE,
)
"""The beginning of an answer that says that work was undone."""

_DENIES = re.compile(
    rf"{_LEAD}(?:no+(?! (?:problem|worries|need|idea|rush|hurry|thanks?|doubt|matter|objections?|changes?|further|more"
    r"|other|one|way|bugs?|comments?|questions?|remarks?|concerns?|complaints?|\w+ (?:needed|necessary|required))\b)"
    r"|nope|nah|nein|ne+|non|não|nee)(?!\w)",
    re.IGNORECASE,
)
"""A denial. It rejects the whole work only if hardly any words follow; otherwise it rejects what these words name."""

_TURNS = re.compile(
    rf"{_LEAD}(?:wait(?! (?:for|until|till)\b)|hold on(?! to\b)|hang on|actually|sorry(?! for\b)|oops"
    r"|i (?:meant|said)|ich (?:meinte|sagte)"
    r"|moment|warte|halt|doch (?:lieber|nur)|eigentlich|attends?|en fait|plutôt|espera|mejor|en realidad|aspetta|anzi"
    r"|na verdade|wacht|eigenlijk)(?!\w)",
    re.IGNORECASE,
)
"""A change of mind. It corrects only sentences that share a word with it."""

_FIRM = re.compile(
    rf"{_LEAD}(?:(?:that|this|it)(?:'?s| is| was)? (?:wrong|incorrect|a mistake|broken|terrible|awful|ugly|useless"
    r"|worse)"
    r"|wrong(?! (?:channel|chat|window|tab|terminal|session|thread|paste)\b)|incorrect"
    r"|not (?:quite|right|what|like|that|this)|scratch that|never ?mind(?! (?:the|those|my|about)\b)"
    r"|(?:(?:that|this|it)(?:(?:'?s| is| was)? not| isn'?t))"
    r"(?! (?:urgent|pressing|a problem|important|necessary|needed|bad|wrong|all|terrible|too bad|an issue|yet)\b)"
    r"|das (?:(?:ist|war) (?:falsch|nicht richtig)|stimmt nicht)|falsch|doch nicht|c'est faux"
    r"|(?<!no )(?:está|tá) mal|sbagliato|errado)(?!\w)",
    re.IGNORECASE,
)
"""A rejection of what was done: "wrong", "scratch that", or "that's not" before a word such as "right"."""

_CLOSES = re.compile(
    r"\W*(?:(?:that|this|it)(?:'?s| is| was)? (?:it|all|everything|enough|fine|ok(?:ay)?)|all|enough|later"
    r"|keep|leave|don'?t|do not|lass|das (?:war'?s|ist alles)|c'est tout|laisse|(?:eso )?es todo|deja"
    r"|é (?:só isso|tudo))\b",
    re.IGNORECASE,
)
"""What follows "no" if the work stays as it is: "no, that's it", "no, keep it"."""

_MUCH = r"(?:many|much|few|high|low|long|short|big|small|often|large)"
_VIEL = r"(?:viele?|hoch|niedrig|oft|lange?|wenige?)"
_ADJUSTS = re.compile(
    r"\b(?:make|set|keep|leave|lower|reduce|raise|increase|bump|cut|change|turn|bring|should be"
    r"|(?:is|are) (?:plenty|fine)"
    rf"|enough|rather|instead|better|must|want(?:ed)?|too {_MUCH}|reich(?:t|en)|genüg(?:t|en)|besser|lieber|stattdessen"
    rf"|mach|nimm|setz|senk\w*|erhöh\w*|zu {_VIEL}|basta|bastan|mejor|pon|déjalo|baja|demasiad\w+"
    r"|suffi(?:t|sent)|plutôt|mets|trop|bast[ao]|meglio|melhor|põe|demais|genoeg|liever)\b",
    re.IGNORECASE,
)
"""Words that, with a number, change the number of what was done before."""

_TOO = re.compile(
    r"\W*(?:(?:that|this|it)(?:'?s| is| are)|das (?:ist|sind)|c'est|(?:eso )?es|isso é)?\s*(?:way |far |viel |still )?"
    rf"(?:too {_MUCH}|zu {_VIEL}|(?:beaucoup )?trop|demasiad\w+|demais)\W*\Z",
    re.IGNORECASE,
)
"""A complaint about a number without the number itself: "that's too many"."""

_LIMITS = re.compile(
    r"\b(?:for|in|on|with|from|at|before|until|when|if|to|für|bei|von|aus|im|mit|vor|bis|pour|dans|avec|de la|du|para"
    r"|en|con|del|com|da|do|no|na)\b",
    re.IGNORECASE,
)
"""Words that end the name of the thing to remove: "in" in "remove the log in the worker"."""

MOST_BARE = 6
"""The maximum number of words of a message that changes a number without a word for change: "then 3 please"."""

_GOES_ON = re.compile(
    r"(?:\W|(?:actually|sorry|wait|please|just|ok(?:ay)?|bitte|eigentlich|let'?s|then|so|well)\b)*(?:"
    r"(?:also|too|first|before|another|one (?:more|last|other)|(?:can|could|would|will) (?:you|we)|auch|noch|zuerst"
    r"|erst|kannst|könntest|aussi|encore|d'abord|también|además|otra|primero|também|anche|ook"
    r"|commit|push|merge|ship|continue|go (?:on|ahead)|proceed|carry on|weiter|mach weiter|continuez?|sigue|continua"
    r"|(?:add|write|create|open) (?:an?|another|some|more|tests?|docs?)|explain|describe|summari[sz]e"
    r"|not (?:yet|now|urgent)|noch nicht|pas encore|todavía no)\b"
    r"|i(?: really)? (?:like|love)|(?:let|leave) me|i(?:'ll| will)"
    r"|(?:(?:all|that|that's|thats|this|it|it's|its|looks?|is|are|very|really|pretty|quite|finally|not|everything|alles|das|ist|sieht"
    r"|so|schon|c'est|tout|est|va|todo|está|no|è|é|tutto)\s+){0,3}(?:bad|mal|clever|cool|awesome|brilliant|neat|good|nice|great|perfect|fine|works|correct|right|lgtm|thanks?|thx|bon|bien|parfait"
    r"|passt|gut|prima|super|perfekt|richtig|danke|merci|gracias|perfecto|bene|perfetto|goed|yet)\b)",
    re.IGNORECASE,
)
"""What follows "no", "sorry" or "actually" if these correct nothing: an approval, another wish, or "not yet"."""

_EXCEPTS = re.compile(
    r"\A\W*(?:please |ok,? |bitte )?(?:commit|push|stage|merge)\b|\b(?:everything|all|alles|tout|todo)\b.{0,20}"
    r"\b(?:but|except|aber|mais|pero)\b",
    re.IGNORECASE,
)
"""A sentence that says for which part of the work something is to be done: "commit everything but not the cache"."""

_REJECTS = re.compile(
    r"\b(?:not|instead of|rather than|no longer|nicht|statt|anstatt|kein\w*|pas|au lieu de|en vez de|em vez de"
    r"|invece di|niet|in plaats van)(?: (?:an?|the|in|on|with|to|by|der|die|das|den|dem|ein\w*|mit|in|les?|la|el|los))*"
    r"\s+[`\"']?(?P<what>[\w./-]+)|\b(?:from|von|de|da|van)\s+(?P<number>\d[\d.,]{0,11})\s+(?:to|auf|à|a|para|naar)\b"
    r"|\b(?P<much>\d[\d.,]{0,11})\w{0,3}\s+(?:\w{1,12}\s+){0,2}(?:too|zu|trop|demasiad\w+|troppo|te)\s+\w",
    re.IGNORECASE,
)
"""What a prompt rejects: "not X", "instead of X", "from 5 to 3", "30 is too long"."""

_PASTED = re.compile(r"^[ \t]*(?:[>|\u2502\u23bf\u23fa\u2022]|[-*+]\s|```).*", re.MULTILINE)
"""Lines of a prompt that are quoted, listed or pasted, and so are rarely a correction in the user's words."""

_ASKS = re.compile(r"\b(?:(?:can|could|would|will|shall) (?:you|we)|let'?s|kannst|könntest|können)\b", re.IGNORECASE)
_WORD = re.compile(
    r"(?<![\w.#:/@-])(?P<number>\d+(?:[.,]\d+)?)(?=%|(?:[a-z]{1,3})?(?![\w/:@-]|[.,]\d))|[^\W\d_][\w'-]*"
)
_PLAIN = re.compile(r"[^\W\d_]\w+|\d+(?:[.,]\d+)?")
_NUMBERS = vocabulary.NUMBERS | {
    word: str(value)
    for words in ("zwei drei vier fünf sechs", "deux trois quatre cinq six", "dos tres cuatro cinco seis")
    for value, word in enumerate(words.split(), 2)
}
_CLAUSE = re.compile(
    r"[.,;:!?]|\b(?:and|then|und|et|y|e|because|since|before|weil|denn|bevor|parce que|avant|porque|antes)\b",
    re.IGNORECASE,
)
_DIRECT = re.compile(r"\A +\w+")
"""The word directly after a rejection, which belongs to it: "wrong approach", "not working"."""

_DENIAL = re.compile(r"\W*(?:no+|nope|nah|nein|ne+|non|n\u00e3o|nee)\W*", re.IGNORECASE)
"""A sentence that consists of nothing but a word for "no"."""

_EMPTY = STOP_WORDS | frozenset(
    """wrong incorrect nope nah wait hold hang actually sorry oops undo revert scratch mind meant said mistake right
    like quite nein moment warte falsch eigentlich doch lieber das ist stimmt nicht so non faux annule mal est
    c'est está that's it's ok okay hm please bitte mach make back zurück again thing change changes way last latest
    commit commits work stuff edits everything completely entirely altogether wieder raus weg alles es eso esto lo la
    todo les ça cela tout isso isto tudo pls thanks idea""".split()
)

_AS_IT_WAS = _EMPTY | frozenset(
    """previous original old earlier former initial recent state version edit behavior behaviour step steps file
    files code two both three whole lot mess attempt immediately hard head correct asked want wanted expected needed
    requested re ve änderung änderungen nimm nehmen machen mache setz kannst könntest können muss soll sollte will
    möchte wollte letzte letzten beide ich du wir habe haben der die den dem el los las la os as le cambio cambios
    changement changements modifications dernier dernière mudança mudanças alteração alterações
    modifica modifiche""".split()
)
"""Words beside "undo" or "reverted" that name no part of the work."""

_POINTS = re.compile(
    r"\W*(?:that|this|these|those|your|diese\w*|deine?n?|cette|ces?|ton|ta|tes|es[ae]s?|tus?|ess[ae]s?)\b",
    re.IGNORECASE,
)
"""Words that refer to the previous work, with any name for it after them: "undo that refactoring"."""

_COUNT_NOTHING = frozenset(
    map(
        stem, _EMPTY.union("many much few high low often viele hoch oft let's go going why would hmm mmh draus".split())
    )
)
"""Stems of words that, next to a number, do not name what the number counts."""


def without_corrected(
    sentences: Sequence[str], prompt: str, newest: Collection[str] = (), *, asked: bool = False
) -> list[str]:
    """Return the sentences of reports that a later prompt does not correct.

    ``newest`` are the sentences of the answer before the prompt, ``asked`` says that this answer ends with a question.
    """
    text = prompt[:LETTERS].replace("\u2019", "'")
    stated = [one for one in _joined(_sentences(_PASTED.sub("", text))) if not _only_asks(one)]
    wrong = {one for one in sentences if any(contradicts(said, one) for said in stated)}
    latest = [one for one in sentences if one in newest]
    rejected = {one for one in latest if any(_rejects(said, one) for said in stated)}
    if not wrong & {*latest} and not rejected:
        rejected = {one for said in stated for one in _revised(said, latest, asked=asked)}
    return [one for one in sentences if one not in wrong and one not in rejected]


def without_undone(sentences: Sequence[str], answer: str) -> list[str]:
    """Return the sentences of a report, except those about work that the next answer says was undone ("Reverted.")."""
    undid = _UNDID.match(_first_of_weight(_sentences(answer[:LETTERS].replace("\u2019", "'"))))
    undone = _undone(undid, sentences) if undid else ()
    return [one for one in sentences if one not in undone]


def without_contradicted(sentences: Sequence[str], report: str) -> list[str]:
    """Return the sentences of reports that a later report of the same session does not contradict.

    Reports contradict each other only if they state a change to another number, or from one alternative (such as a
    database) to another: other sentences of reports are too long to be compared.
    """
    changes = [one for one in _sentences(report)[:MOST_SENTENCES] if indicates_change(one) and not one.endswith("?")]
    return [one for one in sentences if not any(one != said and _revalues(said, one) for said in changes)]


def without(text: str, sentences: Collection[str]) -> str:
    """Return a report without some of its sentences, as `sentences_of` returns them."""
    for raw in split(SENTENCE, text) if sentences else ():
        if _plain(raw) in sentences:
            text = text.replace(raw, "")
    return text


def sentences_of(report: str) -> list[str]:
    """Return the sentences of a report without markup."""
    return list(filter(None, map(_plain, split(SENTENCE, report))))


def contradicts(later: str, sentence: str) -> bool:
    """Whether a later statement gives another number for the same thing, or replaces the sentence."""
    return _differ_in_a_number(later, sentence) or _replaces(later, sentence)


def _revalues(later: str, sentence: str) -> bool:
    comparable = _differ_in_a_number(later, sentence) or (_has_alternatives(later) and _has_alternatives(sentence))
    return comparable and _replaces(later, sentence)


def _has_alternatives(text: str) -> bool:
    """Whether a sentence chooses one of several known alternatives, such as a database."""
    found = claim(text)
    return found is not None and not found.value.isdisjoint(FAMILY)


def _replaces(later: str, sentence: str) -> bool:
    return bool(_stems(later) & _stems(sentence)) and replaces(later, sentence)


def _sentences(text: str) -> list[str]:
    return [one for raw in split(SENTENCE, text) if (one := _plain(raw))]


def _first_of_weight(sentences: Sequence[str]) -> str:
    """Return the first sentence of an answer that says more than "Done." or "You're right, sorry."."""
    return next((one for one in sentences if len(_stems(one, _AS_IT_WAS)) > 1 or _UNDID.match(one)), "")


def _joined(sentences: Sequence[str]) -> list[str]:
    """Return sentences, each denial joined to the sentence after it ("no!! finally it works")."""
    joined: list[str] = []
    for one in sentences:
        if joined and _DENIAL.fullmatch(joined[-1]):
            joined[-1] += f" {one}"
        else:
            joined.append(one)
    return joined


def _plain(raw: str) -> str:
    return wording.squeeze(MARKUP.sub("", raw))


def _only_asks(sentence: str) -> bool:
    wishes = (_ASKS.search(sentence), _DENIES.match(sentence), _FIRM.match(sentence), _UNDOES.match(sentence))
    return sentence.endswith("?") and not any(wishes)


def _rejects(said: str, sentence: str) -> bool:
    """Whether a statement rejects a word or number of the sentence: "not X", "instead of X", "from X to Y"."""
    if _EXCEPTS.search(said):
        return False
    words = _stems(sentence)
    found = (one["what"] or one["number"] or one["much"] for one in _REJECTS.finditer(said))
    return any(_stems(what) and _stems(what) <= words for what in found)


def _revised(said: str, latest: Sequence[str], *, asked: bool) -> Collection[str]:
    """Return the sentences of the latest report that a statement corrects without saying what is wrong in them."""
    undoes = _UNDOES.match(said)
    if undoes and (undone := _undone(undoes, latest)):
        return undone
    changed = [one for one in latest if _changes_number(said, one, asked=asked)]
    if changed or undoes:
        return changed
    if asked:
        return ()
    if removes := _REMOVES.match(said):
        rest = said[removes.end() :]
        return latest if _is_about_all(rest) else _that_share(_LIMITS.split(rest)[0], latest)
    if firm := _FIRM.match(said):
        return _meant(_DIRECT.sub("", said[firm.end() :]), latest)
    return _denied(said, latest)


def _denied(said: str, latest: Sequence[str]) -> Collection[str]:
    """Return the sentences that a statement denies; it must begin with "no", "wait" or "actually"."""
    denies, turns = _DENIES.match(said), _TURNS.match(said)
    cue = denies or turns
    rest = said[cue.end() :] if cue else ""
    if cue is None or _GOES_ON.match(rest):
        return ()
    is_bare = not _stems(rest) or (len(_stems(rest)) == 1 and not rest[:1].isspace())
    return latest if denies and is_bare and not _CLOSES.match(rest) else _that_share(rest, latest)


def _undone(cue: re.Match[str], latest: Sequence[str]) -> Collection[str]:
    """Return the sentences about the work that a request wants undone, or that an answer says was undone.

    Return none if the cue and the next word together are a name in the report, such as "undo button".
    """
    rest = cue.string[cue.end() :]
    following = "".join(rest.split()[:1])
    name = f"{cue[0].split()[-1]} {following}".casefold()
    if _stems(following) and any(name in one.casefold() for one in latest):
        return ()
    return _meant(f"{_CLAUSE.split(cue['before'] or '')[-1]} {rest}", latest)


def _meant(named: str, latest: Sequence[str]) -> Collection[str]:
    """Return the sentences about what the words beside a cue name; all of them for a vague "your refactoring"."""
    if _is_about_all(named, _AS_IT_WAS):
        return latest
    return _that_share(re.split(r"[:;]", named, maxsplit=1)[0], latest) or (latest if _POINTS.match(named) else ())


def _is_about_all(rest: str, skipped: frozenset[str] = _EMPTY) -> bool:
    """Whether the clause after a cue such as "undo" has no words that name anything, as in "that again"."""
    return not _stems(_CLAUSE.split(rest, maxsplit=1)[0], skipped)


def _that_share(text: str, sentences: Sequence[str]) -> list[str]:
    """Return the sentences that share a word with a text."""
    words = _stems(text)
    return [one for one in sentences if words & _stems(one)]


def _changes_number(said: str, sentence: str, *, asked: bool) -> bool:
    """Whether a statement replaces the number in a sentence, or complains about it."""
    if _TOO.match(said):
        return bool(_numbers(sentence))
    cue = _DENIES.match(said) or _TURNS.match(said) or _FIRM.match(said) or _ADJUSTS.search(said)
    is_short = not asked and not said.endswith("?") and len(said.split()) <= MOST_BARE
    counts_nothing = [_nouns(beside) for beside in _numbers(said).values()] == [[]]
    return bool(cue or (is_short and counts_nothing)) and _gives_another_number(said, sentence)


def _gives_another_number(said: str, sentence: str) -> bool:
    """Whether a statement has a number that the sentence lacks, and the other way round, for no other thing.

    "3 is enough" may be about the sentence; "use 3 workers" is not if the sentence names no workers.
    """
    mine, its = _numbers(said), _numbers(sentence)
    if not its.keys() - mine.keys():
        return False
    words = _stems(sentence)
    counted = (_nouns(mine[number]) for number in mine.keys() - its.keys())
    return any(not nouns or _share(nouns, words) for nouns in counted)


def _nouns(beside: Collection[str]) -> list[str]:
    """Return the words next to a number that may name what it counts."""
    return [word for word in beside if not _ADJUSTS.search(word) and word not in _COUNT_NOTHING]


def _differ_in_a_number(later: str, sentence: str) -> bool:
    """Whether two sentences have different numbers next to the same word, and name no different files or places."""
    mine, its = _numbers(later), _numbers(sentence)
    if not mine or not its or _apply_apart(later, sentence):
        return False
    return any(
        number != other
        and _share(near, beside)
        and not _share(near, its.get(number, ()))
        and not _share(beside, mine.get(other, ()))
        for number, near in mine.items()
        for other, beside in its.items()
    )


def _apply_apart(later: str, sentence: str) -> bool:
    """Whether the later of two sentences names another file, code or place, such as "staging"."""
    named, other = names(later), names(sentence)
    places, others = (
        {word for word in _PLAIN.findall(text.casefold()) if word in vocabulary.PLACES} for text in (later, sentence)
    )
    return bool(named - other and other - named) or bool(places - others)


@lru_cache(maxsize=2000)
def _numbers(text: str) -> dict[str, frozenset[str]]:
    """Map each number in a text to the stems of the next words on its left and on its right, units left out."""
    words = (_NUMBERS.get(word := one[0].casefold(), word) for one in _WORD.finditer(text))
    tokens = [(word if word[0].isdigit() else "", word) for word in words]
    found: dict[str, frozenset[str]] = {}
    for at, (number, _) in enumerate(tokens):
        if number:
            beside = (_next_word(reversed(tokens[:at])), _next_word(iter(tokens[at + 1 :])))
            found[number] = found.get(number, frozenset()) | {stem(word) for word in beside if word}
    return found


def _next_word(tokens: Iterator[tuple[str, str]]) -> str:
    """Return the first word that is no number, no unit and no stop word; "" if there is none."""
    words = (word for number, word in tokens if not number)
    return next((word for word in words if word not in _SKIPPED and len(word) > 1), "")


_SKIPPED = (
    STOP_WORDS
    | frozenset(vocabulary.UNITS)
    | frozenset("time times mal fois veces vezes volte keer x first second third last".split())
)


def _share(ones: Iterable[str], others: Collection[str]) -> bool:
    """Whether two groups of stems share a word. The stems of one word may differ: "cap" and "capp"."""
    pairs = (sorted((one, other), key=len) for one in ones for other in others)
    return any(long.startswith(short) and len(short) >= 3 and len(long) - len(short) <= 2 for short, long in pairs)


@lru_cache(maxsize=4000)
def _stems(text: str, skipped: frozenset[str] = _EMPTY) -> frozenset[str]:
    return frozenset(stem(word) for word in _PLAIN.findall(text.casefold()) if word not in skipped)
