"""Finds the sentences of earlier reports that later words of the same session correct.

A report stays in the transcript after the user has said "wait, 3 is enough". A hand-over must not quote it then. A
missing sentence does little harm, a wrong one misleads: so in doubt, a sentence counts as corrected if the correction
directly follows the report, and not otherwise. Approvals ("nope, all good") and further wishes correct nothing.
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

_CORRECTS = re.compile(
    r"(?:ok(?:ay)?\b|hm+\b|oh\b|ah\b|ach\b|but\b|aber\b|mais\b|pero\b|and\b|\W)*"
    r"(?:no(?! (?:problem|worries|need|idea|rush|hurry|thanks?|doubt|matter|objections?|changes?|further|more|other"
    r"|bugs?|comments?|questions?|remarks?|concerns?|complaints?)\b)|nope|nah|wait|hold on|hang on|actually"
    r"|sorry|oops|wrong|incorrect|not (?:quite|right|what|like|that|this)|undo|revert|scratch that|never ?mind"
    r"|i (?:meant|said)"
    r"|(?:that|this|it)(?:'s| is| was)? (?:wrong|incorrect|a mistake)"
    r"|(?:that|this|it)(?:(?:'s| is| was)? not| isn'?t)(?! (?:urgent|pressing|a problem|important|necessary|needed)\b)"
    r"|nein|ne+|moment|warte|halt|doch (?:nicht|lieber|nur)|falsch|eigentlich|ich (?:meinte|sagte)"
    r"|das (?:ist falsch|stimmt nicht)"
    r"|non|attends?|en fait|c'est faux|plutôt|annule|espera|mejor|en realidad|está mal|aspetta|anzi|sbagliato"
    r"|não|na verdade|wacht|nee|eigenlijk)(?!\w)",
    re.IGNORECASE,
)
"""The beginning of a sentence that corrects what was said or done before."""

_ADJUSTS = re.compile(
    r"\b(?:make (?:it|that|them)|set (?:it|that|them)|(?:is|are) (?:plenty|fine)|enough|rather|instead|better"
    r"|reich(?:t|en)|genüg(?:t|en)|besser|lieber|stattdessen|mach|basta|bastan|mejor|suffi(?:t|sent)|plutôt|bast[ao]"
    r"|meglio|melhor|genoeg|liever)\b",
    re.IGNORECASE,
)
"""Words that, with a number, change the number of what was done before."""

_FIRM = re.compile(
    r"(?:wrong|incorrect|mistake|undo|revert|that|not|isn'?t|quite|right|what|like|this|falsch|nicht|faux|annule|mal|sbagliato)\Z",
    re.IGNORECASE,
)
"""The end of a cue that rejects in every case: "that's not" (right)."""

_GOES_ON = re.compile(
    r"(?:\W|(?:actually|sorry|wait|please|just|ok(?:ay)?|bitte|eigentlich|let'?s|then|so|well)\b)*(?:"
    r"(?:also|too|first|before|another|one (?:more|last|other)|(?:can|could|would|will) (?:you|we)|auch|noch|zuerst"
    r"|erst|kannst|könntest|aussi|encore|d'abord|también|además|otra|primero|também|anche|ook"
    r"|commit|push|merge|ship|continue|go (?:on|ahead)|proceed|carry on|weiter|mach weiter|continuez?|sigue|continua"
    r"|(?:add|write|create|open) (?:an?|another|some|more|tests?|docs?)|explain|describe|summari[sz]e"
    r"|not (?:yet|now|urgent)|noch nicht|pas encore|todavía no)\b"
    r"|(?:(?:all|that|that's|this|it|it's|looks?|is|are|very|really|pretty|everything|alles|das|ist|sieht|so|schon|c'est|tout"
    r"|est|va|todo|está|è|é|tutto)\s+){0,3}(?:good|nice|great|perfect|fine|works|correct|right|lgtm|thanks?|thx|bon|bien|parfait"
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

_ASKS = re.compile(r"\W*(?:(?:can|could|would|will|shall) (?:you|we)|let'?s|kannst|könntest|können)\b", re.IGNORECASE)
_WORD = re.compile(
    r"(?<![\w.#:/@-])(?P<number>\d+(?:[.,]\d+)?)(?=%|(?:[a-z]{1,3})?(?![\w/:@-]|[.,]\d))|[^\W\d_][\w'-]*"
)
_PLAIN = re.compile(r"[^\W\d_]\w+|\d+(?:[.,]\d+)?")
_NUMBERS = vocabulary.NUMBERS | {
    word: str(value)
    for words in ("zwei drei vier fünf sechs", "deux trois quatre cinq six", "dos tres cuatro cinco seis")
    for value, word in enumerate(words.split(), 2)
}
_WHOLE = 1
"""A correction with at most this many words besides its cue is about the whole answer: "no, that's wrong"."""

_PAUSES = frozenset(("wait", "moment", "sorry", "hold", "hang", "attend", "espera", "aspetta", "wart", "halt", "wacht"))
"""Stems of words that correct nothing if they are alone."""

_EMPTY = STOP_WORDS | frozenset(
    """wrong incorrect nope nah wait hold hang actually sorry oops undo revert scratch mind meant said mistake right
    like quite nein moment warte falsch eigentlich doch lieber das ist stimmt nicht so non faux annule mal est
    c'est está that's it's ok okay hm please bitte mach make back zurück again thing change way""".split()
)

_EMPTY_STEMS = frozenset(map(stem, _EMPTY))


def without_corrected(
    sentences: Sequence[str], prompt: str, newest: Collection[str] = (), *, asked: bool = False
) -> list[str]:
    """Return the sentences of reports that a later prompt does not correct.

    ``newest`` are the sentences of the answer before the prompt, ``asked`` says that this answer ends with a question.
    """
    text = prompt[:LETTERS].replace("\u2019", "'")
    stated = [one for one in _sentences(_PASTED.sub("", text)) if not _only_asks(one)]
    wrong = {one for one in sentences if any(contradicts(said, one) for said in stated)}
    latest = [one for one in sentences if one in newest]
    rejected = {one for one in latest if any(_rejects(said, one) for said in stated)}
    if not wrong & {*latest} and not rejected:
        rejected = {one for one in latest if any(_revises(said, one, asked=asked) for said in stated)}
    return [one for one in sentences if one not in wrong and one not in rejected]


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


def _plain(raw: str) -> str:
    return wording.squeeze(MARKUP.sub("", raw))


def _only_asks(sentence: str) -> bool:
    return sentence.endswith("?") and not (_ASKS.match(sentence) or _CORRECTS.match(sentence))


def _rejects(said: str, sentence: str) -> bool:
    """Whether a statement rejects a word or number of the sentence: "not X", "instead of X", "from X to Y"."""
    if _EXCEPTS.search(said):
        return False
    words = _stems(sentence)
    found = (one["what"] or one["number"] or one["much"] for one in _REJECTS.finditer(said))
    return any(_stems(what) and _stems(what) <= words for what in found)


def _revises(said: str, sentence: str, *, asked: bool) -> bool:
    """Whether a statement that directly follows a sentence corrects it, without naming what is wrong."""
    cue = _CORRECTS.match(said)
    adjusts = _ADJUSTS.search(said)
    if (cue or adjusts) and _gives_another_number(said, sentence):
        return True
    if cue is None or asked:
        return False
    if not adjusts and not _FIRM.search(cue[0]) and _GOES_ON.match(said, cue.end()):
        return False
    words = _stems(said)
    if len(words) <= _WHOLE:
        return not _stems(cue[0], frozenset()) & _PAUSES
    return bool(words & _stems(sentence))


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
    return [word for word in beside if not _ADJUSTS.search(word) and word not in _EMPTY_STEMS]


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
