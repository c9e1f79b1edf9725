"""Explains what happened to the sentences of a session, and what would happen to a sentence that is typed now.

Nothing is stored here. Sentences are matched with the captures made from them. The recorded outcome takes precedence
over the present result of the extractors.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from subconscious.capture.admission import Provenance, last_word
from subconscious.capture.detectors.typed import NO_OPINIONS, Opinions
from subconscious.capture.evaluation import weigh
from subconscious.capture.seen import Seen, is_about, seen
from subconscious.domain.model import Admission, Candidate, Decision, Judged, Level, Memory, Origin, Turn
from subconscious.recall.recall_context import RecallContext
from subconscious.store import captures, memories, merges, takeovers
from subconscious.store.capture_rows import QUARANTINED
from subconscious.store.takeovers import Question
from subconscious.supersession import merging
from subconscious.text.words import content_words
from subconscious.wire.captures import Capture

MOST = 10_000
"""The maximum number of captures of one session that are examined."""

LEAST = 0.005
"""The minimum difference between two confidences that is reported."""

NEVER = "never a candidate"
SAYS = re.compile(r"(?:repeats|says what) (?P<what>memory|capture) (?P<number>\d+)")


@dataclass(frozen=True, slots=True)
class Explained:
    """What became of a sentence: its speaker and time, what was found in it, the confidence, and the outcome.

    ``fate`` is the outcome in one word (stored, waiting, discarded, ...), ``told`` in a sentence.
    ``number`` is the id of the memory or the capture, or None.
    """

    sentence: str
    origin: Origin
    time: float
    seen: str
    confidence: float
    lowered: tuple[str, ...]
    fate: str
    told: str
    number: int | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The captures of a session by turn, their memories by id, and the open questions about these memories.

    ``into`` maps merged memories to their targets; ``questions`` ask the user whether a memory replaces an older one.
    """

    captures: Mapping[str, Sequence[Capture]]
    memories: Mapping[int, Memory]
    into: Mapping[int, int]
    questions: Mapping[int, Question]


async def recorded(ctx: RecallContext, session_id: str) -> Recorded:
    """Return the captures and memories of a session."""
    found = await captures.listing(ctx.database, session_id=session_id, limit=MOST)
    by_turn: defaultdict[str, list[Capture]] = defaultdict(list)
    for capture in found:
        by_turn[capture["turn_id"]].append(capture)
    bound = sorted({capture["memory_id"] for capture in found if capture["memory_id"] is not None})
    known = await memories.get_many(ctx.database, bound)
    gone = [number for number, memory in known.items() if memory.archived_at is not None]
    into = {number: other for number in gone if (other := await merges.target(ctx.database, number)) is not None}
    asked = {number: await takeovers.of_memory(ctx.database, number) for number in known}
    questions = {number: question for number, question in asked.items() if question is not None}
    return Recorded(by_turn, known, into, questions)


def explain_turns(
    turns: Sequence[Turn], known: Recorded, ctx: RecallContext, *, read: bool, opinions: Opinions = NO_OPINIONS
) -> list[Explained]:
    """Return an explanation of each sentence in some turns. CPU-bound: run it in a thread.

    ``read`` is true if the daemon has read the turns.
    """
    found = [(one, _captures_of(one, known)) for one in seen(turns, opinions)]
    open_ones = {id(one.candidate): one.candidate for one, rows in found if one.candidate is not None and not rows}
    judged = weigh(open_ones.values(), turns, ctx.settings, ctx.calibration)
    admissions = {key: admission for key, (_, admission) in zip(open_ones, judged, strict=True)}
    explained = []
    for one, rows in found:
        if rows:
            explained += [_recorded(one, capture, known) for capture in rows]
        elif one.candidate is None:
            explained.append(_never(one))
        else:
            explained.append(_unrecorded(one, admissions[id(one.candidate)], read=read))
    return list(dict.fromkeys(explained))


def _captures_of(one: Seen, known: Recorded) -> list[Capture]:
    """Return the captures made from a sentence: those equal to its candidate, or all if none is equal."""
    rows = [capture for capture in known.captures.get(one.turn.id, ()) if _rests_on(capture, one)]
    same = [capture for capture in rows if one.candidate is not None and _says(capture) == _says_of(one.candidate)]
    return same or rows


def _says(capture: Capture) -> tuple[str, str]:
    return capture["content"], capture["kind"]


def _says_of(candidate: Candidate) -> tuple[str, str]:
    return candidate.content, candidate.kind


async def explain_sentence(ctx: RecallContext, turn: Turn, where: Provenance) -> list[Explained]:
    """Return what would happen to a sentence if the user typed it now. Nothing is stored."""
    found = await asyncio.to_thread(seen, [turn])
    candidates = {one.candidate.content: one.candidate for one in found if one.candidate is not None}
    judged = await asyncio.to_thread(weigh, candidates.values(), [turn], ctx.settings, ctx.calibration)
    repeats = await merging.repeated(ctx, judged, where.place.project_id)
    admissions = {one.content: await _last_word(ctx, (one, stated), where, repeats) for one, stated in judged}
    return [_never(one) if one.candidate is None else _judged(one, admissions[one.candidate.content]) for one in found]


async def _last_word(ctx: RecallContext, judged: Judged, where: Provenance, repeats: merging.Repeats) -> Admission:
    """Return the final decision on a candidate, after comparing it with stored memories and captures."""
    candidate, _ = judged
    admission = merging.made_certain(candidate, await last_word(ctx, judged, where), repeats)
    if admission.decision not in merging.KEPT:
        return admission
    if candidate.content in repeats.memories:
        return _said_again(admission, f"repeats memory {repeats.memories[candidate.content][0]}")
    if candidate.content in repeats.captures and admission.decision is Decision.REVIEW:
        return _said_again(admission, f"repeats capture {repeats.captures[candidate.content]}, which waits for review")
    return admission


def _said_again(admission: Admission, reason: str) -> Admission:
    return replace(admission, decision=Decision.DISCARD, reason=reason)


def _rests_on(capture: Capture, one: Seen) -> bool:
    if one.candidate is not None and _says(capture) == _says_of(one.candidate):
        return True
    start = one.turn.text.find(one.sentence)
    if start < 0:
        # The turn breaks the sentence into lines, or the sentence is in a command: compare the words instead.
        words = set(content_words(one.sentence))
        return bool(words) and words <= set(content_words(capture["evidence"]))
    return is_about(capture["content"], capture["evidence"], one.turn.text, range(start, start + len(one.sentence)))


def _recorded(one: Seen, capture: Capture, known: Recorded) -> Explained:
    reason = _short(str(capture["reason"]), one)
    fate = fate_of(capture | {"reason": reason}, known)
    if one.candidate is None:
        return _explained(one, "a candidate when it was read", capture["raw_confidence"], (), fate, capture["kind"])
    lowered = _lowered(one, capture["raw_confidence"] - capture["confidence"], Level(capture["level"]))
    return _explained(one, one.what, capture["raw_confidence"], lowered, fate, capture["kind"])


def _lowered(one: Seen, by: float, level: Level) -> tuple[str, ...]:
    """Return what lowered a confidence: signs that the extractor found, and later deductions.

    ``by`` is the sum of the later deductions, ``level`` the result of the poisoning check.
    """
    if by < LEAST:
        return one.reasons
    why = (
        "it looks slightly suspicious"
        if level is Level.LOW
        else "it is unclear, short-lived or about its session's edits, or you rejected or archived others of this confidence"
    )
    return (*one.reasons, f"{why} (-{by:.2f})")


def _short(reason: str, one: Seen) -> str:
    """Return the reason of a decision without the extractor's part, which is shown separately."""
    return reason.removesuffix(f": {one.candidate.reason}") if one.candidate is not None else reason


def fate_of(capture: Capture, known: Recorded) -> tuple[str, str, int | None]:
    """Return the outcome of a capture as a word and as a sentence, and the id of the memory or capture."""
    status, reason, number = capture["status"], str(capture["reason"]), capture["id"]
    if status in ("captured", "approved"):
        return _stored(capture, known)
    if status == "review":
        return "waiting", f"waits for your review as {number}: {reason}", number
    if status == QUARANTINED:
        return "quarantined", f"in quarantine as {number}: {reason}", number
    if status == "discarded":
        return _discarded(reason)
    if status == "expired":
        return "expired", "expired: nobody decided on it in time", number
    if status == "rejected":
        return "rejected", "you rejected it", number
    return status, f"{status}, as {number}: {reason}", number


def _stored(capture: Capture, known: Recorded) -> tuple[str, str, int | None]:
    memory = known.memories.get(capture["memory_id"] or 0)
    if memory is None:
        return "gone", "stored, and deleted since", None
    if memory.id in known.into:
        return "repeated", f"stored as memory {memory.id}, now part of memory {known.into[memory.id]}", memory.id
    if memory.turn_id != capture["turn_id"]:
        return "repeated", f"repeats memory {memory.id}", memory.id
    by_whom = "approved by you, " if capture["status"] == "approved" else ""
    archived = "; archived since" if memory.archived_at is not None else ""
    question = known.questions.get(memory.id)
    doubt = f"; you are asked whether it replaces memory {question.old_id}" if question is not None else ""
    return "stored", f"{by_whom}stored as memory {memory.id}{archived}{doubt}", memory.id


def _discarded(reason: str) -> tuple[str, str, int | None]:
    again = SAYS.match(reason)
    if again is None:
        return "discarded", f"discarded: {reason}", None
    what = "memory {}" if again["what"] == "memory" else "capture {}, which waits for your review"
    return "repeated", f"repeats {what.format(again['number'])}", int(again["number"])


def _never(one: Seen) -> Explained:
    return _explained(one, "", 0.0, (), ("never", f"{NEVER}: {'; '.join(one.reasons)}", None))


def _unrecorded(one: Seen, admission: Admission, *, read: bool) -> Explained:
    """Return the outcome of a candidate that is not in the store."""
    if not read:
        return _judged(one, admission)
    return _judged(
        one, admission, "not stored: it was not a candidate when it was read, or has been purged; if read today, it "
    )


def _judged(one: Seen, admission: Admission, before: str = "") -> Explained:
    kind = one.candidate.kind if one.candidate is not None else ""
    admission = replace(admission, reason=_short(admission.reason, one))
    level = admission.verdict.level if admission.verdict is not None else Level.NONE
    lowered = _lowered(one, one.confidence - admission.confidence, level)
    return _explained(one, one.what, one.confidence, lowered, _would(admission, before), kind)


def _would(admission: Admission, before: str) -> tuple[str, str, int | None]:
    if again := SAYS.match(admission.reason):
        fate, told, number = _discarded(again[0])
        return fate, before + told, number
    become = {
        Decision.AUTO: ("stored", "would be stored"),
        Decision.REVIEW: ("waiting", "would wait for your review"),
        Decision.QUARANTINE: ("quarantined", "would be put in quarantine"),
        Decision.DISCARD: ("discarded", "would be discarded"),
    }
    fate, told = become[admission.decision]
    return fate, f"{before}{told}: {admission.reason}", None


def _explained(
    one: Seen,
    what: str,
    confidence: float,
    lowered: Iterable[str],
    fate: tuple[str, str, int | None],
    kind: str = "",
) -> Explained:
    word, told, number = fate
    return Explained(
        one.sentence, one.speaker, one.turn.time, what, confidence, tuple(lowered), word, told, number, kind
    )
