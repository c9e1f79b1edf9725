"""Finds the statements that an ending (`endings.py`) refers to; in case of doubt, finds none. Does no I/O.

An ending is a sentence that ends an earlier statement, such as "we moved off X"; "X" is the topic of this ending.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from subconscious.supersession.ending_patterns import End
from subconscious.supersession.endings import LONGEST, Ending, like_endings
from subconscious.text import vocabulary
from subconscious.text.alternatives import FAMILIES
from subconscious.text.claim_reader import claim, key_of
from subconscious.text.function_words import function_words
from subconscious.text.words import is_name

MOST = 3
"""The most statements that one ending may end."""

LETTERS = 600
"""The most characters of a statement that are compared."""

FEW = 2
"""A statement must contain all words of a topic of up to FEW words, and the share MOST_WORDS of a longer topic."""

MOST_WORDS = 0.66
NEAR, MARGIN = 0.45, 0.08
"""The least cosine of an ending and the statement that it ends, and the least lead over the next best cosine."""

SLIP = 0.84
"""The similarity from which one word counts as a misspelling of another."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A statement that shares words with a topic; ``place`` is the statement's index.

    ``topic`` is the share of the topic's words that the statement has, ``own`` the share of the statement's words that
    the topic has; both from 0 to 1.
    """

    place: int
    topic: float
    own: float


def ended_by(ending: Ending, statements: Sequence[str]) -> list[int]:
    """Return the indices of the statements that an ending ends; an empty list in case of doubt."""
    if ending.end is End.OVER:
        return _over(ending, statements)
    words = keys(ending.topic)
    if not words or ending.end is End.LAST:
        return []
    meant = [fit for fit in _fits(words, statements) if _can_end(ending, words, statements[fit.place])]
    return _certain(meant, ending, statements)


def _can_end(ending: Ending, words: frozenset[str], statement: str) -> bool:
    """Whether an ending may end ``statement``; ``words`` are words of the ending's topic."""
    if not names_same(ending.topic, statement) or _spares(ending, statement):
        return False
    return _CAN_END[ending.end](words, ending, statement)


def _spares(ending: Ending, statement: str) -> bool:
    """Whether an ending leaves a statement in force: it is limited, or names a place that the statement lacks."""
    own = keys(statement)
    return ending.limited or not all(_has(own, word) for phrase in ending.only for word in _named(phrase))


def _named(phrase: str) -> frozenset[str]:
    return keys(phrase) or frozenset((phrase.casefold(),))


def spares(new: str, old: str) -> bool:
    """Whether ``new`` sounds like the end of ``old``, but leaves it in force.

    False for long statements and for sentences that are not surely endings: they may replace ``old`` in another way.
    """
    found = [ending for ending in like_endings(new) if ending.end in _CAN_END] if len(new) <= LONGEST else []
    return bool(found) and all(ending.sure and _spares(ending, old) for ending in found)


def names_same(topic: str, statement: str) -> bool:
    """Whether a statement has all numbers and code names of a topic: "the 6h thing" can't mean a rule without a 6."""
    said = statement[:LETTERS]
    figures, words = frozenset(_FIGURE.findall(said)), keys(said)
    for word in topic.split():
        if wanted := _FIGURE.findall(word):
            if not figures.issuperset(wanted):
                return False
        elif _CODE_NAME.search(word) and not all(_has(words, key) for key in keys(word)):
            return False
    return True


_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_CODE_NAME = re.compile(r"[a-z][A-Z]|[A-Z]{2}|\w_\w|\w[./:@#]\w")


def _fits(words: frozenset[str], statements: Sequence[str]) -> list[Fit]:
    """Return a ``Fit`` for each statement that contains enough of a topic's words."""
    found = []
    for place, statement in enumerate(statements):
        own = keys(statement)
        share = sum(_has(own, word) for word in words) / len(words)
        if share >= (1 if len(words) <= FEW else MOST_WORDS):
            found.append(Fit(place, share, sum(_has(words, word) for word in own) / max(1, len(own))))
    return found


def _certain(meant: Sequence[Fit], ending: Ending, statements: Sequence[str]) -> list[int]:
    """Return the index of the best match; if several match equally well, the indices of those that the ending refers to.

    "We moved off X" ends the statements that choose X; an ending with a word such as "all" ends all matches. The result
    is empty if the ending is unclear or would end more than ``MOST`` statements.
    """
    best = [fit.place for fit in meant if fit.topic == max(one.topic for one in meant)]
    if len(best) > 1 and ending.end is End.LEFT:
        chosen = [place for place in best if _chooses(keys(ending.topic), statements[place])]
        return chosen if len(chosen) <= MOST else []
    if len(best) > 1 and _EVERYTHING.search(ending.evidence):
        return best if len(best) <= MOST else []
    return best if len(best) == 1 else []


_EVERYTHING = re.compile(r"\b(?:everything|all|rules|decisions|whatever|anything)\b", re.IGNORECASE)


def _names_it(words: frozenset[str], ending: Ending, statement: str) -> bool:
    del words, ending, statement
    return True


def _says_so(words: frozenset[str], ending: Ending, statement: str) -> bool:
    """Whether "no need to do X" can end a statement. It ends a ban only if it mentions asking, approval or the like."""
    if len(words) == 1 and not _is_specific(words):
        return False
    return not _forbids(statement) or bool(_ASKS.search(ending.evidence))


def _is_forbidden(words: frozenset[str], ending: Ending, statement: str) -> bool:
    del words, ending
    return _forbids(statement)


def _is_chosen(words: frozenset[str], ending: Ending, statement: str) -> bool:
    """Whether a statement chooses what an ending gives up. False for topics such as "bug", which nobody chooses."""
    told = claim(statement)
    if told is None or words & _FAULTS or not (len(words) > 1 or _is_specific(words)):
        return False
    denied = told.negative and not told.value & words and not ending.sure
    return not (denied or told.without & words or (told.negative and _forbids(statement)))


def _chooses(words: frozenset[str], statement: str) -> bool:
    told = claim(statement)
    return told is not None and bool(told.value & words)


_CAN_END: dict[End, Callable[[frozenset[str], Ending, str], bool]] = {
    End.NAMED: _names_it,
    End.DENIED: _says_so,
    End.ALLOWED: _is_forbidden,
    End.LEFT: _is_chosen,
}

_ASKS = re.compile(r"\b(?:ask|approval|permission|confirm\w*|fragen|demander|preguntar|perguntar)\b", re.IGNORECASE)
_FAULTS = frozenset(
    map(
        key_of,
        "error bug warning failure crash issue problem flake flaky message exception leak conflict diff symptom noise"
        " test regression alert typo".split(),
    )
)
_FORBIDS = re.compile(
    r"\b(?:never|don'?t|do not|not|no|nothing|nobody|without|ask|avoid|freeze|frozen|forbidden|off.?limits|ban(?:ned)?|"
    r"stop|hands off|leave .+ alone|only|locked|blocked|paused|nicht|nie|niemals|kein\w*|nunca|jamais|pas|sans|sin|n[aã]o)\b",
    re.IGNORECASE,
)


def _forbids(statement: str) -> bool:
    return bool(_FORBIDS.search(statement.replace("\u2019", "'")))


def _is_specific(words: frozenset[str]) -> bool:
    """Whether one of the words is specific enough to name a single thing."""
    return any(word in _NAMED or is_name(word) or len(word) > 5 for word in words - _FAULTS)


_NAMED = frozenset(map(key_of, FAMILIES))


def _over(ending: Ending, statements: Sequence[str]) -> list[int]:
    """Return the indices of the temporary statements whose period or condition has ended."""
    if ending.topic.casefold() in PERIODS:
        return [place for place, one in enumerate(statements) if is_for_the(ending.topic, one)][:MOST]
    told, topic = keys(ending.evidence), keys(ending.topic)
    returned = bool(_BACK.search(ending.evidence))
    until = [place for place, one in enumerate(statements) if any(_happened(event, told) for event in events(one))]
    if not until and _FINISHED.search(ending.evidence):
        until = [place for place, one in enumerate(statements) if _waits_for(one, topic)]
    if not until and returned:
        until = [place for place, one in enumerate(statements) if topic and topic <= _away(one)]
    lasting = topic & _RESTRICTIONS
    if not until and lasting:
        until = [fit.place for fit in _fits(topic, statements)]
    if not until and topic and (len(topic) > 1 or _is_specific(topic) or _ON_AGAIN.search(ending.evidence)):
        named = [fit.place for fit in _fits(topic, statements) if fit.topic == 1]
        until = [place for place in named if _FOR_A_TIME.search(statements[place])]
    return until if len(until) <= MOST else []


def _waits_for(statement: str, topic: frozenset[str]) -> bool:
    """Whether the topic is the event after "until" in a statement: "until the fair no new layout"."""
    for found in _UNTIL.finditer(statement[:LETTERS]):
        words = [
            word for word in (found["event"] or found["before"] or found["release"]).split()[:FIRST_WORDS] if keys(word)
        ]
        lasts = found[0].casefold().startswith(("while", "as long as"))
        if words and not lasts and keys(words[0]) <= topic <= keys(" ".join(words)):
            return True
    return False


FIRST_WORDS = 4
"""The number of words after "until" that are searched for the name of the event."""


def _away(statement: str) -> frozenset[str]:
    """Return the words that name what a statement calls absent or broken: "while Ann is on vacation"."""
    said = statement[:LETTERS]
    away = frozenset(key_of(found["subject"].casefold()) for found in _WHILE.finditer(said))
    return away.union(*(keys(found["subject"]) for found in _DOWN.finditer(said)))


_WHILE = re.compile(
    r"\b(?:while|as long as|solange|während|mientras|tant que|enquanto)\s+(?:the |our |die |der |das |la |el |le |o |a )?"
    r"(?P<subject>[\w-]+)",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"(?P<subject>[\w'-]+(?: [\w'-]+){0,3}?)(?:'s| is| are| ist| sind| est| sont| está| están) (?:currently |still |all )?"
    r"(?:down|broken|offline|out(?: of (?:office|order))?|unavailable|unreachable|away|ill|sick|travell?ing|"
    r"on (?:vacation|holiday|leave|parental leave)|in repair|being \w+ed|kaputt|defekt|weg|krank|im urlaub|en panne|malade|"
    r"en vacances|caíd[oa]|rot[oa]|enferm[oa]|de vacaciones|de baja|fora do ar|doente|de férias)\b",
    re.IGNORECASE,
)
_FINISHED = re.compile(
    r"\b(?:over|done|finished|completed?|ended|released|shipped|merged|out|live|closed|through|passed|behind (?:us|me)|"
    r"vorbei|zu ende|beendet|erledigt|abgeschlossen|fertig|durch|geschafft|terminée?s?|finie?s?|acab[oó]u?|termin[oó]u?|"
    r"(?:termin|finaliz|acab)ad[oa])\b",
    re.IGNORECASE,
)
_ON_AGAIN = re.compile(
    r"\b(?:back on|on again|back in|(?:real|normal|usual|regular|proper|original) .+ again|wieder an)\b", re.IGNORECASE
)
_BACK = re.compile(
    r"\b(?:back|again|returned|zurück|wieder|retour|revenue?s?|remarche|refonctionne|de nouveau|à nouveau|de nuevo|otra vez|vuelto|vuelta|volvió|voltou|volta)\b",
    re.IGNORECASE,
)


def is_for_the(period: str, statement: str) -> bool:
    """Whether a statement is valid for the current period, such as a sprint or a month."""
    names = "|".join(next(names for names in _PERIODS if period.casefold() in names))
    return bool(re.search(rf"\b{_THIS} (?:{names})\b", statement[:LETTERS], re.IGNORECASE))


_PERIODS = (
    ("sprint", "iteration", "cycle"),
    ("week", "woche", "semaine", "semana"),
    ("month", "monat", "mois", "mes", "mês"),
    ("quarter", "quartal", "trimestre"),
    ("release", "version", "milestone"),
)
"""Names of planning periods; those of one row are synonyms."""

PERIODS = frozenset(name for names in _PERIODS for name in names)
_THIS = r"(?:this|the current|diese[nrsm]?|cette|ce|est[ea]|ess[ea]|nest[ea])"


def is_for_a_time(statement: str) -> bool:
    """Whether the words of a statement show that it is temporary."""
    return bool(_FOR_A_TIME.search(statement[:LETTERS]))


_FOR_A_TIME = re.compile(
    r"\b(?:freeze|frozen|weeks?|sprint|until|till|during|while|for now|for the (?:moment|time being)|as long as|demo|"
    r"temporar\w+|in the meantime|zurzeit|derzeit|momentan|im moment|fürs erste|erst ?mal|pour le moment|en attendant|"
    r"provisoire\w*|de momento|provisional\w*|por el momento|por ora|"
    r"this (?:month|quarter|release|iteration|cycle)|woche|solange|während|bis|vorerst|diesen monat|dieses quartal|"
    r"semaine|semana|jusqu\w*|pendant|tant que|pour l'instant|hasta|mientras|por ahora|até|enquanto|por enquanto)\b"
    r"|まで|の間|当面|之前|期间|暂时|先用",
    re.IGNORECASE,
)
"""Words of temporary rules."""


def akin(ending: Ending, statements: Sequence[str], cosines: Sequence[float]) -> list[int]:
    """Return a list with the index of the clearly most similar statement if the ending can end that statement; else []."""
    words = keys(ending.topic)
    if not words or ending.end not in _CAN_END:
        return []
    order = sorted(range(len(statements)), key=lambda place: -cosines[place])
    if not order or cosines[order[0]] < NEAR or (len(order) > 1 and cosines[order[0]] - cosines[order[1]] < MARGIN):
        return []
    shared = frozenset(word for word in words if _has(keys(statements[order[0]]), word))
    fits = bool(shared) and _can_end(ending, shared, statements[order[0]])
    return order[:1] if fits else []


def _happened(event: frozenset[str], told: frozenset[str]) -> bool:
    return bool(event) and all(_has(told, word) for word in event)


def events(statement: str) -> list[frozenset[str]]:
    """Return, for each event that limits a statement ("until the audit is done"), the words that name the event."""
    statement = statement[:LETTERS]
    found = [
        keys(match["event"] or match["before"] or match["release"]) - _DONE for match in _UNTIL.finditer(statement)
    ]
    return [event for event in found if event]


_UNTIL = re.compile(
    r"\b(?:until|till|while|as long as|bis|jusqu'à|hasta(?: que)?|at[eé](?: que)?)\s+(?P<event>(?:[^,;.()]|(?<=\d)\.(?=\d))+)"
    r"|(?P<before>[^\s、。，,]+?)(?:まで|の間|之前|期间)"
    r"|\bfor (?=(?:this|the (?:next|current|upcoming)) (?:release|sprint|iteration|milestone|version|demo|launch|cycle)|v?\d+\.\d)"
    r"(?:this |the next |the current |the upcoming )?(?P<release>[\w.]+)",
    re.IGNORECASE,
)
_RESTRICTIONS = frozenset(
    map(
        key_of,
        "freeze ban embargo moratorium restriction lock lockdown hold block blackout exception workaround experiment trial"
        " pilot crunch codefreeze".split(),
    )
)
_DONE = frozenset(
    map(
        key_of,
        "done finish finished complete completed over ended out live merged shipped landed lands through ready end ends"
        " happen happened run runs running going last lasts we have has is fertig vorbei erledigt abgeschlossen terminé acabado terminado 終 終了 完了 済".split(),
    )
)


@lru_cache(maxsize=4096)
def keys(text: str) -> frozenset[str]:
    """Return the keys (``key_of``) of the words in a text that name something."""
    found = set()
    text = text[:LETTERS]
    empty = _EMPTY | function_words(_LETTERS.findall(text.casefold()))
    for word in _WORD.findall(_UNPARTED.sub(r" \g<0> ", _HIRAGANA.sub(" ", text).replace("\u2019", "'"))):
        low = word.rstrip(".:'").casefold()
        if low in empty:
            continue
        plain = low.removesuffix("'s").replace("'", "").isalpha()
        found |= {key_of(part) for part in low.split("-") if part not in empty} if plain or "-" in low else {low}
    return frozenset(found)


_HIRAGANA = re.compile(r"[\u3041-\u309f]+")
"""Hiragana: mostly Japanese particles and endings, which separate words."""

_UNPARTED = re.compile(r"[\u30a0-\u30ff]+|[\u4e00-\u9fff]+")
"""Words in katakana or Chinese characters, which need no space before other scripts."""

_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W_](?:[\w'./:@#-]*\w)?|/\w+")
_EMPTY = vocabulary.FILLERS | frozenset(
    "we i you they it us me my your from now no not any anymore more longer only must should please again never don't"
    " need needs use uses using used used when before after that's thing things stuff rule rules decision what said"
    " about can could will would may get got if because since until till while without also too one ones out over up"
    " keep keeps per own each every without asking first then than but ask me die der das den dem des ein eine über für auf zu zur zum im am ich wir du el la los"
    " las un una de del le les un une du au aux que o os as um uma do da dos das ce ces".split()
)


def _has(words: frozenset[str], wanted: str) -> bool:
    """Whether ``words`` contain the word ``wanted``, perhaps inflected or misspelled."""
    if _UNPARTED.match(wanted):
        return any(wanted in word for word in words)  # a run of Chinese characters contains several words
    return wanted in words or any(_is_like(wanted, word) for word in words)


@lru_cache(maxsize=1 << 14)
def _is_like(one: str, other: str) -> bool:
    if min(len(one), len(other)) < 5 or not (one.isalpha() and other.isalpha()):
        return False
    if one.startswith(other) or other.startswith(one):
        return True
    return one[0] == other[0] and SequenceMatcher(None, one, other).ratio() >= SLIP
