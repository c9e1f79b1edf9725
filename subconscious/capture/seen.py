"""Shows what capture finds in each sentence of some turns, including sentences that are not candidates.

``explanations.py`` calls the extractors only through `seen`. If another model judges sentences, call it here too, and
use its probability as the confidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from subconscious.capture import judge
from subconscious.capture.detectors import typed
from subconscious.capture.detectors.typed import NO_OPINIONS, Opinions
from subconscious.capture.offline import extract
from subconscious.domain.model import Candidate, Origin, Turn
from subconscious.text.examined import examined
from subconscious.text.sentences import sentences
from subconscious.text.wording import squeeze

LOWERED = "; lowered: "
"""In a reason, the separator between an extractor's observation and the signs that lowered the confidence."""

SORTS = {
    "sentence": "a statement of the assistant",
    "point": "a point of a list",
    "passage": "a passage",
    "plan": "a plan of the assistant",
    "finding": "a finding",
    "mended": "a fault and its fix",
    "resolved": "a fault and its fix, in separate sentences",
    "reply": "an answer to a question",
}
"""Maps the internal name of a source, with which a candidate's reason may begin, to words for the user."""

PASSING = "reads like a task, a question or a passing remark"
PASTED = "its message was too long to have been typed"
NOT_TYPED = "not recognised as a decision, a finding, a fix or a lesson"
SAID_BEFORE = "says the same as another sentence of this session"


@dataclass(frozen=True, slots=True)
class Seen:
    """A sentence with its speaker, what was found in it, the confidence, and why the confidence is not higher.

    ``candidate`` is None if the sentence is not a candidate; ``reasons`` then say why not.
    """

    sentence: str
    turn: Turn
    speaker: Origin
    what: str = ""
    confidence: float = 0.0
    reasons: tuple[str, ...] = ()
    candidate: Candidate | None = None


def seen(turns: Sequence[Turn], opinions: Opinions = NO_OPINIONS) -> list[Seen]:
    """Return the sentences of the turns in order, with what was found in each."""
    found: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in extract(turns, opinions):
        found[candidate.evidence.turn_id].append(candidate)
    likely = {(turn.id, squeeze(one.text)): _chance(one, opinions) for turn in turns for one in typed.spoken(turn)}
    worded = {candidate.content.casefold() for known in found.values() for candidate in known}
    return [one for turn in examined(turns) for one in _of_turn(turn, found, worded, likely)]


def _chance(said: judge.Spoken, opinions: Opinions) -> float:
    return (opinions.get(said) or judge.model().opinion(said)).chance


def _of_turn(
    turn: Turn, found: Mapping[str, list[Candidate]], worded: set[str], likely: Mapping[tuple[str, str], float]
) -> Iterator[Seen]:
    rest = list(found.get(turn.id, ()))
    for sentence, place in placed(turn.text):
        about = [one for one in found.get(turn.id, ()) if is_about(one.content, one.evidence.quote, turn.text, place)]
        rest = [one for one in rest if one not in about]
        if about:
            yield from (_candidate(sentence, turn, one) for one in about)
        else:
            reasons = (_why_not(sentence, turn, worded, likely),)
            yield Seen(sentence, turn, turn.origin, confidence=likely.get((turn.id, sentence), 0.0), reasons=reasons)
    # The other candidates quote a command, or text that is not a sentence.
    yield from (_candidate(squeeze(one.evidence.quote), turn, one) for one in rest)


def placed(text: str) -> Iterator[tuple[str, range]]:
    """Yield the sentences of a text with their offsets."""
    at = 0
    for sentence in sentences(text):
        start = text.find(sentence, at)
        at = start + len(sentence)
        yield squeeze(sentence), range(start, at)


def is_about(content: str, quote: str, text: str, place: range) -> bool:
    """Whether ``quote`` overlaps the sentence at ``place`` in ``text``, or ``content`` contains the sentence."""
    start = text.find(quote) if quote else -1
    if start >= 0 and max(start, place.start) < min(start + len(quote), place.stop):
        return True
    return squeeze(text[place.start : place.stop]) in content


def _candidate(sentence: str, turn: Turn, found: Candidate) -> Seen:
    what, _, lowered = found.reason.partition(LOWERED)
    reasons = tuple(lowered.split(", ")) if lowered else ()
    return Seen(sentence, turn, turn.origin, _readable(what) or found.kind, found.raw_confidence, reasons, found)


def _readable(reason: str) -> str:
    sort, comma, rest = reason.partition(",")
    return f"{SORTS.get(sort, sort)}{comma}{rest}"


def _why_not(sentence: str, turn: Turn, worded: set[str], likely: Mapping[tuple[str, str], float]) -> str:
    if sentence.casefold() in worded:
        return SAID_BEFORE
    if turn.origin is not Origin.USER:
        return NOT_TYPED
    chance = likely.get((turn.id, sentence))
    return PASTED if chance is None else f"{PASSING} ({chance:.0%} likely to be worth keeping)"
