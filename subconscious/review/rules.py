"""Review: the details of a capture for a person, and the effects of the person's decision.

Every decision is recorded as an event with the earlier values, so that it can be undone. Only a person may decide; the
daemon checks the caller before it calls this module (see the package ``authorship``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import time

import aiosqlite

from subconscious.domain.errors import TranscriptError
from subconscious.domain.model import Level, Memory, Origin, Threat
from subconscious.poisoning.context import prints
from subconscious.store import captures, consolidations, decisions, events, memories, merges, poison, unconfirmed
from subconscious.store.capture_rows import QUARANTINED, UNCONFIRMED
from subconscious.text.same_statement import same_statement
from subconscious.transcripts import read_turns
from subconscious.wire.captures import Capture, ConfidenceParts, Likeness, Proposal
from subconscious.wire.history import Event

WAITING = "review"
APPROVABLE = (WAITING, UNCONFIRMED)
"""The statuses that can be approved. Captures in quarantine have to be released from it first, one by one."""

UNDONE = "the person's decision was undone"

RESTORABLE = ("expired", "rejected", "discarded")
"""The statuses that can be put back into the queue."""

QUARANTINE_LEVELS = (Level.HIGH, Level.CRITICAL)
"""The levels of suspicion at which a capture stays in quarantine until a person releases it from there."""

UNDOABLE = ("approved", "rejected", "restored", "released")
"""The decisions that can be undone as long as no later decision followed."""

SIMILAR = 0.3
"""The minimum similarity, 0 to 1, of a memory that is shown with a capture."""

EXCERPT_CHARACTERS = 300
"""How many characters of the turn are shown on each side of the evidence."""

MAX_LINE_BYTES = 4 * 2**20
"""The most bytes of a transcript line that is read for an excerpt."""

PATTERN = "pattern"
"""The kind of statements that are proposed because they recur."""


@dataclass(frozen=True, slots=True)
class UndoEffect:
    """The effect of undoing a decision: the memory that was archived, and the memories that were restored."""

    archived: Memory | None = None
    restored: tuple[int, ...] = ()


# Matches text that gives its reader orders instead of stating something.
INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|prompts?|everything|above)\b"
    r"|\b(?:you|the (?:assistant|model|agent|ai)) (?:must|should|shall|are required to|need to)\b"
    r"|\b(?:do not|don't|never) (?:tell|ask|inform|warn|mention to) (?:the )?(?:user|human|person|anyone)\b"
    r"|\bcurl\b.{0,80}\|\s*(?:ba|z)?sh\b|\bsystem prompt\b|^\s*(?:system|assistant)\s*:",
    re.IGNORECASE | re.DOTALL,
)
PASSING = re.compile(
    r"\b(?:today|tomorrow|tonight|yesterday|right now|for now|this (?:week|morning|afternoon|sprint|session|time)"
    r"|next (?:week|sprint)|at the moment|currently|temporar(?:y|ily)|until (?:mon|tues|wednes|thurs|fri)day)\b"
    r"|\b20\d\d-\d\d-\d\d\b",
    re.IGNORECASE,
)
SINGLE_CASE = re.compile(
    r"\b(?:pr|pull request|issue|ticket|commit|build|run|job) #?\d+\b|(?<![\w/])#\d+\b", re.IGNORECASE
)
WORD = re.compile(r"\w+")


def propose(capture: Capture, similar: Sequence[Likeness]) -> Proposal:
    """Return the proposed decision: reject repetitions and instructions, edit temporary statements, look at others."""
    content = capture["content"]
    for other in similar:
        if capture.get("kind") == PATTERN != other["kind"]:
            continue  # a pattern sums up similar statements, so it does not duplicate them
        if same_statement(content, other["content"], other["likeness"]):
            return {"sort": "duplicate", "decision": "reject", "why": f"memory {other['id']} says the same"}
    if INSTRUCTION.search(content) and capture["origin"] != Origin.USER:
        return {
            "sort": "instruction",
            "decision": "reject",
            "why": "it reads like an instruction to whoever reads it, and you did not say it",
        }
    if found := PASSING.search(content):
        return {"sort": "passing", "decision": "edit", "why": f"it is only valid for a while: {found[0]!r}"}
    if found := SINGLE_CASE.search(content):
        return {"sort": "specific", "decision": "look", "why": f"it is about one case: {found[0]!r}"}
    return {"sort": "open", "decision": "look", "why": "it needs your decision"}


def likeness(one: str, other: str, cosine: float = 0.0) -> float:
    """Return the similarity of two statements, 0 to 1: the higher of their cosine and their share of common words."""
    words = [set(WORD.findall(text.casefold())) for text in (one, other)]
    either = words[0] | words[1]
    return max(min(1.0, cosine), len(words[0] & words[1]) / len(either) if either else 0.0)


def excerpt(capture: Capture, clean: Callable[[str], str]) -> str:
    """Return the evidence with the text around it in its turn; "" if the transcript can't be read any more."""
    path, begin, end = capture["transcript"], capture["byte_start"], capture["byte_end"]
    if not path or not 0 <= begin < end or end - begin > MAX_LINE_BYTES:
        return ""
    try:
        # A line is read to its end, even beyond max_bytes.
        reading = read_turns(Path(path), begin, max_bytes=1, final=True, clean=clean)
    except TranscriptError:
        return ""
    turn_text = next((turn.text for turn in reading.turns if turn.id == capture["turn_id"]), "")
    return text_around(turn_text, capture["evidence"])


def text_around(text: str, quote: str, width: int = EXCERPT_CHARACTERS) -> str:
    """Return ``quote`` with up to ``width`` characters of ``text`` on each side; "" if ``text`` does not contain it."""
    place = text.find(quote) if quote else -1
    if place < 0:
        return ""
    begin, end = max(0, place - width), min(len(text), place + len(quote) + width)
    before, after = text[begin:place], text[place + len(quote) : end]
    if begin > 0:
        before = "\u2026" + before.partition(" ")[2]
    if end < len(text):
        after = after.rpartition(" ")[0] + "\u2026"
    return before + quote + after


async def approve(tx: aiosqlite.Connection, capture_id: int, memory: Memory, reason: str) -> bool:
    """Store the memory of an approved capture; if an equal memory exists, count a repetition of that memory instead.

    Returns whether the capture was an unconfirmed memory, which is now confirmed; it is embedded already.
    """
    capture = await captures.require(tx, capture_id)
    if capture["status"] not in APPROVABLE:
        return False
    if memory.content != capture["content"] or memory.kind != capture["kind"]:
        await events.record(
            tx,
            "edited",
            "capture",
            capture_id,
            actor="user",
            before={"kind": capture["kind"], "summary": capture["summary"], "content": capture["content"]},
            after={"kind": memory.kind, "summary": memory.summary, "content": memory.content},
        )
    equal = await memories.same_wording(tx, memory)
    confirmed = None if equal else await _confirmed(tx, capture, memory)
    kept = equal or confirmed or await memories.revive(tx, memory, capture_id, "user", "approved again")
    kept = kept or await memories.insert(tx, memory, actor="user", number=capture_id)
    counted = equal is not None and await memories.restate(tx, equal, memory.said_at, memory.session_id, memory.origin)
    await captures.bind(tx, capture_id, kept.id)
    await consolidations.link(tx, capture_id, kept.id, "user")
    await decisions.decide(
        tx, capture, "approved", "user", reason, memory_id=kept.id, merged=equal is not None, counted=counted
    )
    return confirmed is not None


async def _confirmed(tx: aiosqlite.Connection, capture: Capture, memory: Memory) -> Memory | None:
    """Confirm and return a capture's unconfirmed memory; None if there is none, or if the person reworded it."""
    if capture["status"] != UNCONFIRMED or (memory.content, memory.kind) != (capture["content"], capture["kind"]):
        return None
    unconfirmed_memory = await memories.require(tx, capture["memory_id"] or 0)
    await memories.unarchive(tx, unconfirmed_memory, "user", "approved by a person")
    await memories.vouch(tx, unconfirmed_memory.id, memory.confidence)
    return replace(unconfirmed_memory, archived_at=None, unconfirmed=False)


async def reject(tx: aiosqlite.Connection, capture_id: int, reason: str, *, teach: bool = False) -> None:
    """Reject a capture that waits or is in quarantine; with ``teach``, flag later statements that say the same."""
    capture = await captures.require(tx, capture_id)
    if capture["status"] not in (*APPROVABLE, QUARANTINED):
        return
    await decisions.decide(tx, capture, "rejected", "user", reason)
    if teach and (seen := prints(capture["content"])):
        await poison.add_lesson(tx, capture_id, seen, _threat(capture))


def _threat(capture: Capture) -> str:
    return str(next((finding["threat"] for finding in capture["verdict"]), Threat.INSTRUCTION))


async def release(tx: aiosqlite.Connection, capture_id: int, expiry_days: float, reason: str) -> Memory | None:
    """Release a capture from quarantine; restore and return its memory, or queue it for review if it has none."""
    capture = await captures.require(tx, capture_id)
    if capture["status"] != QUARANTINED:
        return None
    await decisions.release(tx, capture_id, time())
    if capture["memory_id"] is None:
        await decisions.reopen(tx, capture, WAITING, expiry_days, "released", reason)
        return None
    memory = await memories.require(tx, capture["memory_id"])
    await decisions.decide(tx, capture, "approved", "user", reason, action="released", memory_id=memory.id)
    await memories.unarchive(tx, memory, "user", "released from quarantine")
    return memory


async def restore(tx: aiosqlite.Connection, capture_id: int, expiry_days: float, reason: str) -> None:
    """Put an expired, rejected or discarded capture back into the queue, or into quarantine if it looks poisoned."""
    capture = await captures.require(tx, capture_id)
    if capture["status"] in RESTORABLE:
        is_held = capture["level"] in QUARANTINE_LEVELS and capture["released_at"] is None
        back = QUARANTINED if is_held else WAITING
        await decisions.reopen(tx, capture, back, expiry_days, "restored", reason)


async def undo(tx: aiosqlite.Connection, capture_id: int, expiry_days: float) -> UndoEffect:
    """Undo the latest decision on a capture; the caller updates the vectors of the returned memories."""
    capture = await captures.require(tx, capture_id)
    done = await events.latest(tx, "capture", capture_id, excluded="judged")
    if done is None or done["action"] not in UNDOABLE or done["actor"] != "user":
        return UndoEffect()
    bound = done["action"] in ("approved", "released") and done["after"].get("memory_id") is not None
    undone = await _withdraw(tx, done) if bound else UndoEffect()
    await decisions.reopen(tx, capture, done["before"]["status"], expiry_days, "undone", f"was {done['action']}")
    if done["action"] == "released":
        await decisions.release(tx, capture_id, None)
    for lesson in await poison.of_capture(tx, capture_id):
        await poison.remove_lesson(tx, lesson, "the rejection that taught it was undone")
    return undone


async def _withdraw(tx: aiosqlite.Connection, done: Event) -> UndoEffect:
    """Undo the effect of an approval on the memories."""
    decided = done["after"]
    memory = await memories.require(tx, decided["memory_id"])
    if decided.get("merged"):
        if decided.get("counted", True):
            await _reduce_recurrence(tx, memory)
        return UndoEffect()
    if memory.archived_at is not None:
        await _reduce_recurrence(tx, memory)
        await merges.end_merges(tx, [memory.id], "user")
        return UndoEffect()
    await memories.archive(tx, memory, "user", UNDONE)
    if done["before"]["status"] == UNCONFIRMED:
        await unconfirmed.unconfirm(tx, await memories.require(tx, memory.id))
    await consolidations.unlink(tx, memory.id, "user", UNDONE)
    return UndoEffect(memory, tuple(await merges.restore_merged(tx, [memory.id], "user", UNDONE, done["id"])))


async def _reduce_recurrence(tx: aiosqlite.Connection, memory: Memory) -> None:
    """Reduce by one the number of repetitions of a memory, and of the memories that it was merged into."""
    await memories.remove_repetitions(tx, memory)
    for _, number in await merges.counted_merges(tx, [memory.id]):
        await memories.remove_repetitions(tx, await memories.require(tx, number))


def parts(capture: Capture, worth: float) -> ConfidenceParts:
    """Return the parts of a capture's confidence; ``worth`` is its raw confidence, calibrated with current data."""
    return {"strength": capture["strength"], "raw": capture["raw_confidence"], "calibrated": worth}


def similar_to(content: str, found: Iterable[tuple[Memory, float]]) -> list[Likeness]:
    """Return the memories of ``found`` (memory, cosine) that are similar enough to be shown, the most similar first."""
    similar: list[Likeness] = [
        {
            "id": memory.id,
            "kind": memory.kind,
            "summary": memory.summary,
            "content": memory.content,
            "likeness": likeness(content, memory.content, cosine),
        }
        for memory, cosine in found
    ]
    return sorted((one for one in similar if one["likeness"] >= SIMILAR), key=lambda one: (-one["likeness"], one["id"]))
