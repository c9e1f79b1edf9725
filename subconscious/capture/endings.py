"""Words that end what holds: "scrap that", "forget what I said about X", "we moved off X", "the freeze is over".

Only what a person typed is read. An ending says in words what it ends; which memory that is, is looked for elsewhere
(`flow/holding.py`). Questions, conditions, plans and tasks end nothing: a memory that is retired wrongly is worse than
one that stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from subconscious.capture.sentences import sentences

LONGEST = 240
"""Characters of a sentence that can end something; a longer one tells a story."""


class End(StrEnum):
    """How a sentence ends what holds, and so what it can be about."""

    LAST = "last"
    """The thing said last: "scrap that"."""
    NAMED = "named"
    """What was said about a topic: "drop the rule about X"."""
    DENIED = "denied"
    """What says in about the same words that it is so: "endpoints no longer need X"."""
    ALLOWED = "allowed"
    """What forbids it: "you can touch X again"."""
    LEFT = "left"
    """What chooses it: "we moved off X"."""
    OVER = "over"
    """What holds until then, or while it lasts: "the migration is done"."""


@dataclass(frozen=True, slots=True)
class Ending:
    """One sentence that ends something. ``start`` is where it stands in the text.

    ``topic`` names what ends, "" for the thing said last. ``sure``: no task or other reading fits the words. ``alone``:
    the sentence says nothing besides.
    """

    end: End
    topic: str
    evidence: str
    start: int
    sure: bool = True
    alone: bool = True


def endings(text: str) -> list[Ending]:
    """Return what the sentences of a typed text end, in their order; one ending a sentence."""
    found = []
    place = 0
    for sentence in sentences(text):
        place = max(place, text.find(sentence, place))
        ending = _ending(sentence, place) if len(sentence) <= LONGEST else None
        if ending is not None:
            found.append(ending)
    return found


def _ending(sentence: str, start: int) -> Ending | None:
    plain = _LEAD.sub("", spelled(sentence.replace("\u2019", "'"))).strip()
    if not plain or _OPEN.search(plain) or _OF_CODE.search(plain):
        return None
    for end, pattern, sure in _PATTERNS:
        match = pattern.search(plain)
        if match is None or _BEFORE.search(plain[: match.start()]):
            continue
        if end is not End.OVER or not _NOT_YET.search(match[0]):
            topic = _topic(plain, match, end)
            alone = end in (End.LAST, End.NAMED, End.LEFT) and not plain[match.end() :].strip(" .,!;-")
            return Ending(end, topic, sentence, start, sure, alone) if topic or end is End.LAST else None
    return None


def _topic(plain: str, match: re.Match[str], end: End) -> str:
    """The words that name what ends: the pattern's own, or all of the sentence but the cue."""
    groups = [one for one in match.groups() if one]
    if end is End.LAST:
        return ""
    if end is End.DENIED and not groups:
        return f"{plain[: match.start()]} {plain[match.end() :]}".strip(" .,!;")
    return _CLAUSE.split(" ".join(groups))[0].strip(" .,!;:")


_CLAUSE = re.compile(
    r"[,;:!]\s|\s[-\u2013\u2014]\s|\.(?:\s|$)|\s(?:and|but|so|just|we|use|because|since|now|please|bitte|und|aber)\s",
    re.IGNORECASE,
)
"""Where a topic ends: what follows says something else."""


def spelled(sentence: str) -> str:
    """A sentence with the commonest slips in the words that matter here put right: "forgte waht i said"."""
    return _WORD.sub(lambda found: _SLIPS.get(found[0].lower(), found[0]), sentence)


def _slips(word: str) -> Iterator[str]:
    """A word with two letters swapped, or one of those inside it missing or doubled."""
    for at in range(1, len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        yield word[: at + 1] + word[at:]
    yield from (word[:at] + word[at + 1 :] for at in range(1, len(word) - 1) if len(word) > 5)


_WORD = re.compile(r"[A-Za-z]{3,}")
_MEANT = "forget scrap scratch never mind what said about anymore longer decision actually again instead rule".split()
_REAL = frozenset("forge forgot forged scrape wat sad rue mid ruel agin".split()) - {"ruel", "agin"}
_SLIPS = {slip: word for word in _MEANT for slip in _slips(word) if slip not in _REAL and slip not in _MEANT}

_LEAD = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|and|also|but|well|yes|yeah|oh|hm+|uh+|um+|please|btw|fyi|wait|sorry|hey|right|good news|"
    r"great|ah|ach|also|bitte|por favor|s'il te pla[iî]t|ok)\b[\s,:.!-]*)+",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\?\W*$|^(?:should|could|can|shall|would|do|does|did|is|are|was|were|what|why|how|who|which|where|when|if|maybe|"
    r"perhaps|suppose|imagine|let's discuss|wonder\w*|i wonder|not sure|once|until|unless|after|before|as soon as|"
    r"sollte\w*|soll|wenn|falls|vielleicht|si|quand|peut-[eê]tre|cuando|quiz[aá]s?|tal vez|se|quando|talvez)\b"
    r"|\b(?:maybe|perhaps|not sure|vielleicht|peut-[eê]tre|quiz[aá]s|talvez|just this once|this time|for now|"
    r"i think we should|we should|we could|we might|might|would|plan to|planning to|going to|want to|wants? us to|"
    r"about to|will|someday|eventually|thinking (?:of|about)|not yet)\b",
    re.IGNORECASE,
)
"""Questions, conditions, wishes and exceptions for once: nothing has ended yet."""

_OF_CODE = re.compile(
    r"\b(?:(?:es)?lint(?:er)?|ruff|mypy|css|firewall|iptables|iam|nginx|ingress|security group|make(?:file)?|robots|"
    r"prettier|alert(?:ing)?|routing|redirect|rewrite|ci|cron|s3|lifecycle)[ -]rules?\b|\brules? (?:from|in) [`\w./-]*"
    r"[./`]",
    re.IGNORECASE,
)
"""Rules that stand in a file: to drop one is a task."""

_BEFORE = re.compile(
    r"\b(?:if|when|once|until|unless|after|before|as soon as|whether|because|since|don't|do not|never|not|said|says|"
    r"asked|wenn|nicht|si|quand|cuando|quando)\b[^,;.]*$",
    re.IGNORECASE,
)
"""What turns the words behind it into a condition, a report or the contrary."""

_NOT_YET = re.compile(r"\b(?:not|never|almost|nearly|half|nicht|kein\w*|pas|todavía|ainda)\b|n't\b", re.IGNORECASE)

_THING = (
    r"(?:rule|decision|convention|policy|requirement|restriction|constraint|guideline|freeze|ban|instruction|"
    r"preference|agreement|thing|stuff|bit|part|point|idea|plan|Regel|Entscheidung|Vorgabe|Sache|r[eè]gle|"
    r"d[eé]cision|regla|decisi[oó]n|norma|regra|decis[aã]o)s?"
)
_RULE = (
    r"(?:rule|decision|convention|policy|requirement|restriction|constraint|guideline|freeze|ban|instruction|"
    r"preference|agreement|Regel|Entscheidung|Vorgabe|r[eè]gle|d[eé]cision|regla|decisi[oó]n|norma|regra|decis[aã]o)s?"
)
_THAT = (
    r"(?:that|this|it|all that|the last (?:one|thing|bit|part)|what i (?:just )?said|my last \w+|das|ça|cela|eso|isso)"
)
_ABOUT = (
    r"(?:about|on|regarding|re|with|for|concerning|around|against|of|to|that|saying|über|ueber|zu|zum|zur|mit|von|"
    r"sur|à propos d[eu]|au sujet d[eu]|sobre|acerca de|de|da|do|del|con|com)"
)
_UNSAY = r"(?:forget|scrap|scratch|disregard|strike|never ?mind|nvm|ditch|toss|throw out|vergiss|streich\w*|oublie\w*|laisse tomber|olvid\w+|esque[cç]\w+)"
_TAKE_BACK = rf"(?:{_UNSAY}|drop|remove|lift|cancel|ignore|undo|revert|retire|kill|nix|reverse|delete|withdraw|relax|abandon|stop following|lösch\w*|verwirf|vergesst|supprime\w*|annule\w*|quita\w*|elimina\w*|cancela\w*|remove\w*|tira\w*)"
_END = r"(?=\s*(?:please|again|entirely|completely|altogether|for good|bitte)?\s*(?:[.,!;:-]|$))"


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_PATTERNS: tuple[tuple[End, re.Pattern[str], bool], ...] = (
    (
        End.OVER,
        _pattern(
            r"^(?:(?:it's |we have )?(?:a |the )?new|neuer|neue|neues|nouvelle|nouveau|nuev[oa]|nov[oa]) "
            r"(sprint|iteration|cycle|week|month|quarter|woche|monat|quartal|semaine|mois|trimestre|mes|mês|semana)"
            r"(?= (?:started|begins|begun|is here|has)\b|\W*$|\s*[.,;:!])"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(r"^(semana|mes|mês|sprint|trimestre) (?:nuev[oa]|nov[oa])\b"),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"\b{_TAKE_BACK} (?:about )?(?:what(?:ever)?|everything|anything|all) (?:i|we) (?:\w+ )?"
            rf"(?:said|told you|wrote|mentioned|decided|agreed)(?: \w+)?? {_ABOUT} (.+)"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"\bvergiss,? was (?:ich|wir) (?:\w+ )?(?:über|ueber|zu|zum|zur|von) (.+?) "
            r"(?:gesagt|geschrieben|entschieden|beschlossen|meinte)\w*"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"\b(?:oublie\w*,? (?:tout )?ce que j'ai dit|olvid\w+ lo que (?:te )?dij\w+|"
            rf"esque[cç]\w+ o que (?:eu )?(?:te )?(?:disse|falei)) {_ABOUT} (.+)"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"\b{_TAKE_BACK} (?:about )?(?:the|that|this|our|my|those|die|das|den|la|le|el|a|o|las|los|les) (?:whole |old |earlier |"
            rf"previous |entire )*{_THING} {_ABOUT} (.+)"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"\b{_TAKE_BACK} (?:about )?(?:the|that|our|my|those|die|das) ((?:[\w./'-]+ ){{1,4}}?)(?:{_RULE}|thing|stuff)\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"^(?:the |that |those |these |our |my )?(.+?) (?:has|have|was|were|got|is|are)(?: been)? (?:withdrawn|revoked|"
            r"rescinded|scrapped|abolished|overturned|called off|taken back)\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"^(?:the |that )?(.+?) (?:was|were) (?:only |just )?an? (?:stupid|bad|dumb|silly|terrible|failed)? ?"
            r"(?:idea|experiment|mistake)\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"^(?:the |that )?(?!(?:no|nah|ok|well|so|it|that|this)\b)(.+?)(?: thing)? ?[-:,\u2013\u2014] ?(?:disregard|forget|ignore|scrap|drop) ?(?:it|that|this)?\W*$"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(rf"^(?:actually,? |no,? )*(?:forget about|disregard|nevermind) (?!{_THAT}\b|what)(?:the |that )?(.+)"),
        True,
    ),
    (
        End.DENIED,
        _pattern(r"^(?:so |and )?no more (.+?)(?= (?:please|pls|since|because|from)\b|[,;.:!]|$)"),
        True,
    ),
    (
        End.LAST,
        _pattern(
            rf"^(?:actually,? |no,? |nah,? )*{_TAKE_BACK} (?:that|this|the|the last|my last|our last|diese) {_RULE}\b"
        ),
        True,
    ),
    (End.LAST, _pattern(rf"^(?:actually,? |no,? |nah,? )*{_UNSAY}(?: about)? {_THAT}{_END}"), True),
    (
        End.LAST,
        _pattern(
            r"^(?:actually,? |no,? )*(?:i take (?:that|it) back|never ?mind|nvm|forget it|scratch that|doch nicht|lieber doch nicht|"
            r"laisse tomber|mejor no|deixa pra lá|deixa para lá|d[eé]jalo)" + _END
        ),
        True,
    ),
    (
        End.LAST,
        _pattern(r"^(?:actually,? no|no,? actually|no,? wait|on second thou?ghts?(?:,? no)?)\W*$"),
        True,
    ),
    (
        End.LAST,
        _pattern(rf"^(?:actually,? |no,? )*(?:undo|revert|cancel|drop|ignore) {_THAT}{_END}"),
        False,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:you can |we can |please )?(?:use|take|go|switch|be|we're)?\s?(?:back to )?(?:the |our )?"
            r"(?:real|normal|usual|regular|proper|original) (.+?) (?:again|is back)\b"
        ),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(
            r"\b(?:(?:you|we|i) (?:can|may|are (?:free|allowed) to|could)|(?:it's|it is) (?:ok|okay|fine|allowed) to|"
            r"feel free to|(?:du|ihr|wir) (?:darfst|dürft|dürfen|kannst|könnt|können)|tu peux|vous pouvez|on peut|puedes|podemos|"
            r"(?:você )?pode(?:mos)?) (.+?) (?:again|now again|wieder|de nouveau|à nouveau|otra vez|de nuevo|de novo|outra vez)\b"
        ),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(r"\b(?:tu peux recommencer à|puedes volver a|pode(?:mos)? voltar a|(?:we|you)'re back to) (.+)"),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(r"^(.+?) (?:is|are) (?:allowed|fine|ok|okay|permitted|possible|open|enabled) again\b"),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"\b(?:we|i|they|the team|ops)(?:'ve| have|'re| are)?(?: \w+ly| now| just| finally| all| since)* "
            r"(?:(?:moved|migrated|switched|come|gotten|got|gone) (?:\w+ )?(?:off(?: of)?|away from|from)|off(?: of)?|"
            r"(?:dropped|ditched|abandoned|killed|retired|removed|got rid of|gotten rid of|thrown out|threw out|"
            r"replaced|decommissioned|sunset|left|deprecated|uninstalled)|done with|stopped using|no longer use|quit using) "
            r"(.+?)(?= (?:to|in favou?r of|and|last|yesterday|today|this|with|by|completely|entirely|for good|a \w+ ago)\b|[,;.:!]|$)"
        ),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"\b(?:we|i|the team) (?:don't|do not) (?:use|run|have|need|support|do) (.+?) (?:any ?more|any longer|now)\b"
        ),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"\b(?:wir (?:nutzen|benutzen|verwenden|haben) (.+?) nicht mehr|wir sind (?:weg )?von (.+?) weg|"
            r"on n'utilise plus (.+)|nous n'utilisons plus (.+)|ya no (?:usamos|tenemos) (.+)|"
            r"(?:já )?não usamos mais (.+)|já não usamos (.+))"
        ),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"^(?:the |our |das |die |der |el |la |le |o |a )?(.+?) (?:is|are|was|were|has been|have been|ist|sind|wurde|est|"
            r"está|fue|foi) (?:now |finally |all |completely |already |endlich |jetzt )*(?:gone|dead|retired|decommissioned|"
            r"shut ?down|deprecated|history|removed|obsolete|no more|switched off|turned off|deleted|weg|abgeschafft|"
            r"abgeschaltet|entfernt|supprimée?|eliminad[oa]|removid[oa])\b"
        ),
        False,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:the |our |please |turn )?(.+?) (?:is |are )?(?:now )?(?:back on|on again|back in|switched on again|wieder an)\b"
            r"([^,;.!]*)"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:the |our |die |das |der |le |la |el |o |a )?(.+?)(?:'s| is| are| has| have| ist| sind| est| está| ha| ya)? "
            r"(?:now |finally |endlich |enfin |ya |já )?(?:back(?: from .+)?|returned(?: from .+)?|"
            r"(?:up|here|online|stable|healthy|available|reachable|working|in) again|zurück|wieder (?:da|oben|erreichbar|stabil)|"
            r"de retour|revenue?s?|vuelto|de vuelta|volvió|voltou|de volta|no ar)\W*(?:$|[,;.!])"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:the |our |we (?:have |'ve )?(?:finished|completed|shipped|released|merged|done)(?: with)? |das |die |der |el |la |le |o |a )?"
            r"(.+?)(?:'s| is| are| was| has| have| ist| sind| est| se| foi| ha)?(?: been| now| finally| all| officially| endlich| jetzt)* "
            r"(?:over|lifted|ended|finished|complete|completed|done|released|shipped|merged|out|live|closed|through|"
            r"behind us|vorbei|zu ende|beendet|erledigt|abgeschlossen|fertig|aufgehoben|terminée?s?|finie?s?|acab[oó]u?|termin[oó]u?|"
            r"terminad[oa]|finalizad[oa]|levantad[oa])\b(?! (?:of|the|a|for|to|with|by))"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:the |our )?(.+?) (?:is|are|was|were|has been|have been|got|gets) (?:now |finally |all )*\w+ed\b"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:we(?:'ve| have)? |i(?:'ve| have)? )?(?:just )?(?:finished|completed|shipped|released|merged) (?:the |our )?(.+)"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"^(?:das mit |die sache mit )?(?:den |dem |der |die |das )?(.+?) (?:brauch|muss|müss|soll)\w* "
            r"(?:du|ihr|wir|man) (?:wirklich |jetzt |ab jetzt )?nicht mehr\b"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"\b(?:plus besoin d(?:e |')|plus la peine d(?:e |')|ya no hace falta (?:que )?|no hace falta (?=.+ más\b)|"
            r"(?:já )?não (?:precisa|é preciso) mais (?:de )?)(.+?)(?=[,;.!]|$)"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"\b(?:no longer|not any ?more|nicht mehr|não \w+ mais|ya no|ne (?=.* plus\b)|n'(?=.* plus\b))"
            r"(?: (?:needs?|have|has|need|must|required?|do|does)(?: to(?: be)?)?)?"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"\b(?:(?:you|we|i|they|it) )?(?:don't|do not|doesn't|does not|needn't|aren't|isn't|stop)"
            r"(?: (?:need|have|bother|has)(?: to)?)? (?=(.+?) (?:any ?more|any longer)\b)"
        ),
        True,
    ),
    (End.DENIED, _pattern(r"^(.+?) (?:any ?more|any longer)\W*$"), False),
    (End.DENIED, _pattern(r"\byou (?:don't|do not) (?:need|have) to (.+)"), True),
    (End.DENIED, _pattern(r"^(?:please )?stop (\w+ing .+)"), False),
    (End.DENIED, _pattern(r"^no more ([\w -]+)\W*$"), False),
)
"""Patterns from the most definite to the least; the first that matches speaks for the sentence."""
