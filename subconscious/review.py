"""Review: the details of a capture for a person, and the effects of their decision.

Every decision is an event with the earlier values, so that it can be undone. Only a person may decide; the daemon
checks the caller before it calls this module (``peers`` and ``typed``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import time
from typing import Any

import aiosqlite

from subconscious.errors import TranscriptError
from subconscious.model import Level, Memory, Origin, Threat
from subconscious.poisoning.context import prints
from subconscious.store import captures, consolidations, decisions, events, memories, merges, poison, unconfirmed
from subconscious.store.capture_rows import QUARANTINED, UNCONFIRMED
from subconscious.text.same_statement import same_statement
from subconscious.transcripts import read_turns

Capture = dict[str, Any]

WAITING = "review"
OPEN = (WAITING, UNCONFIRMED)
"""The only statuses that can be approved. "Approve all" means all that wait; captures in quarantine have to be released
first, one by one."""

UNDONE = "what a person had decided of it was undone"

RESTORABLE = ("expired", "rejected", "discarded")
"""What can be put back into the queue."""

HELD = (Level.HIGH, Level.CRITICAL)
"""Levels that stay in quarantine until a person lets go."""

UNDOABLE = ("approved", "rejected", "restored", "released")
"""Decisions that can be taken back, while they are the latest."""

EXCERPT = 300
"""Characters of the turn that are shown on each side of the evidence."""

LONGEST_LINE = 4 * 2**20
"""Bytes of a transcript's line that are read for an excerpt."""

PATTERN = "pattern"
"""The kind of statements that are proposed because they recur."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """A memory that says something similar: how much so, from 0 to 1."""

    id: int
    kind: str
    summary: str
    content: str
    likeness: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """What triage thinks of a capture. It proposes; a person decides.

    ``decision`` is approve, reject, edit or look.
    """

    sort: str
    decision: str
    why: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The effect of undoing a decision: the memory that was archived, and the memories that were restored."""

    left: Memory | None = None
    back: tuple[int, ...] = ()


# Text that tries to steer its reader rather than to state something.
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
SINGLE = re.compile(r"\b(?:pr|pull request|issue|ticket|commit|build|run|job) #?\d+\b|(?<![\w/])#\d+\b", re.IGNORECASE)
WORD = re.compile(r"\w+")


def propose(capture: Capture, similar: Sequence[Likeness]) -> Proposal:
    """Classify a capture: a repetition, an attempt to steer, a momentary state, or one that needs a person."""
    content = capture["content"]
    for known in similar:
        if capture.get("kind") == PATTERN != known.kind:
            continue  # it is made of such as say the same
        if same_statement(content, known.content, known.likeness):
            return Proposal("duplicate", "reject", f"memory {known.id} says the same")
    if INSTRUCTION.search(content) and capture["origin"] != Origin.USER:
        return Proposal(
            "instruction", "reject", "it reads like an instruction to whoever reads it, and you did not say it"
        )
    if found := PASSING.search(content):
        return Proposal("passing", "edit", f"it holds for a while only: {found[0]!r}")
    if found := SINGLE.search(content):
        return Proposal("specific", "look", f"it is about one case: {found[0]!r}")
    return Proposal("open", "look", "it needs you")


def likeness(one: str, other: str, cosine: float = 0.0) -> float:
    """How much two statements say the same: by meaning where that is known, else by their words."""
    words = [set(WORD.findall(text.casefold())) for text in (one, other)]
    either = words[0] | words[1]
    return max(min(1.0, cosine), len(words[0] & words[1]) / len(either) if either else 0.0)


def excerpt(capture: Capture, clean: Callable[[str], str]) -> str:
    """The evidence with the words around it, as its turn has them; "" when its transcript is not there any more."""
    path, begin, end = capture["transcript"], capture["byte_start"], capture["byte_end"]
    if not path or not 0 <= begin < end or end - begin > LONGEST_LINE:
        return ""
    try:
        # Lines are read whole, also beyond the limit.
        reading = read_turns(Path(path), begin, max_bytes=1, final=True, clean=clean)
    except TranscriptError:
        return ""
    said = next((turn.text for turn in reading.turns if turn.id == capture["turn_id"]), "")
    return around(said, capture["evidence"])


def around(text: str, quote: str, width: int = EXCERPT) -> str:
    """``quote`` with up to ``width`` characters on each side, cut at words; "" if the text does not contain it."""
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
    """Make ``memory`` of a waiting capture, or let it count as said again where it is known.

    Returns whether an unconfirmed memory came into force by that: its vector is there already.
    """
    capture = await captures.held(tx, capture_id)
    if capture["status"] not in OPEN:
        return False
    if memory.content != capture["content"] or memory.kind != capture["kind"]:
        worded = ("kind", "summary", "content")
        await events.record(
            tx,
            "edited",
            "capture",
            capture_id,
            actor="user",
            before={name: capture[name] for name in worded},
            after={name: getattr(memory, name) for name in worded},
        )
    known = await memories.same_wording(tx, memory)
    confirmed = None if known else await _confirmed(tx, capture, memory)
    kept = known or confirmed or await memories.revive(tx, memory, capture_id, "user", "approved again")
    kept = kept or await memories.insert(tx, memory, actor="user", number=capture_id)
    counted = known is not None and await memories.recur(tx, known, memory.said_at, memory.session_id, memory.origin)
    await captures.bind(tx, capture_id, kept.id)
    await consolidations.link(tx, capture_id, kept.id, "user")
    await decisions.decide(
        tx, capture, "approved", "user", reason, memory_id=kept.id, merged=known is not None, counted=counted
    )
    return confirmed is not None


async def _confirmed(tx: aiosqlite.Connection, capture: Capture, memory: Memory) -> Memory | None:
    """Put the unconfirmed memory of a capture in force as it is; None where there is none, or a person reworded it."""
    if capture["status"] != UNCONFIRMED or (memory.content, memory.kind) != (capture["content"], capture["kind"]):
        return None
    held = await memories.held(tx, capture["memory_id"])
    await memories.unarchive(tx, held, "user", "approved by a person")
    await memories.vouch(tx, held.id, memory.confidence)
    return replace(held, archived_at=None, unconfirmed=False)


async def reject(tx: aiosqlite.Connection, capture_id: int, reason: str, *, teach: bool = False) -> None:
    """Reject a capture that waits or is in quarantine; with ``teach``, flag statements that say the same."""
    capture = await captures.held(tx, capture_id)
    if capture["status"] not in (*OPEN, QUARANTINED):
        return
    await decisions.decide(tx, capture, "rejected", "user", reason)
    if teach and (seen := prints(capture["content"])):
        await poison.learn(tx, capture_id, seen, _threat(capture))


def _threat(capture: Capture) -> str:
    return str(next((finding["threat"] for finding in capture["verdict"]), Threat.INSTRUCTION))


async def release(tx: aiosqlite.Connection, capture_id: int, expiry_days: float, reason: str) -> Memory | None:
    """Release a capture from quarantine: it waits for review, or its memory is restored and returned."""
    capture = await captures.held(tx, capture_id)
    if capture["status"] != QUARANTINED:
        return None
    await decisions.release(tx, capture_id, time())
    if capture["memory_id"] is None:
        await decisions.reopen(tx, capture, WAITING, expiry_days, "released", reason)
        return None
    memory = await memories.held(tx, capture["memory_id"])
    await decisions.decide(tx, capture, "approved", "user", reason, action="released", memory_id=memory.id)
    await memories.unarchive(tx, memory, "user", "let out of quarantine")
    return memory


async def restore(tx: aiosqlite.Connection, capture_id: int, expiry_days: float, reason: str) -> None:
    """Put a capture that was closed without becoming a memory back into the queue."""
    capture = await captures.held(tx, capture_id)
    if capture["status"] in RESTORABLE:
        held = capture["level"] in HELD and capture["released_at"] is None
        back = QUARANTINED if held else WAITING
        await decisions.reopen(tx, capture, back, expiry_days, "restored", reason)


async def undo(tx: aiosqlite.Connection, capture_id: int, expiry_days: float) -> Undone:
    """Take the latest decision on a capture back; the caller sees to the vectors of the memory that left, if any."""
    capture = await captures.held(tx, capture_id)
    done = await events.latest(tx, "capture", capture_id, but="judged")
    if done is None or done["action"] not in UNDOABLE or done["actor"] != "user":
        return Undone()
    bound = done["action"] in ("approved", "released") and done["after"].get("memory_id") is not None
    undone = await _withdraw(tx, done) if bound else Undone()
    await decisions.reopen(tx, capture, done["before"]["status"], expiry_days, "undone", f"was {done['action']}")
    if done["action"] == "released":
        await decisions.release(tx, capture_id, None)
    for lesson in await poison.of_capture(tx, capture_id):
        await poison.forget(tx, lesson, "what taught it was undone")
    return undone


async def _withdraw(tx: aiosqlite.Connection, done: dict[str, Any]) -> Undone:
    """Undo what an approval did to the memories."""
    decided = done["after"]
    memory = await memories.held(tx, decided["memory_id"])
    if decided.get("merged"):
        if decided.get("counted", True):
            await _count_less(tx, memory)
        return Undone()
    if memory.archived_at is not None:
        await _count_less(tx, memory)
        await merges.part(tx, [memory.id], "user")
        return Undone()
    await memories.archive(tx, memory, "user", UNDONE)
    if done["before"]["status"] == UNCONFIRMED:
        await unconfirmed.doubt_again(tx, await memories.held(tx, memory.id))
    await consolidations.unlink(tx, memory.id, "user", UNDONE)
    return Undone(memory, tuple(await merges.leave(tx, [memory.id], "user", UNDONE, done["id"])))


async def _count_less(tx: aiosqlite.Connection, memory: Memory) -> None:
    """It was not said that once, neither here nor in what this was merged into."""
    await memories.recur_less(tx, memory)
    for _, number in await merges.lent(tx, [memory.id]):
        await memories.recur_less(tx, await memories.held(tx, number))


def parts(capture: Capture, worth: float) -> dict[str, Any]:
    """What a capture's confidence is made of; ``worth`` is what its raw score would be worth today."""
    return {"strength": capture["strength"], "raw": capture["raw_confidence"], "calibrated": worth}


def similar_to(content: str, found: Iterable[tuple[Memory, float]], least: float = 0.3) -> list[Likeness]:
    """Those of the memories found, each with its cosine, that say something like ``content``; the likest first."""
    likened = [
        Likeness(memory.id, memory.kind, memory.summary, memory.content, likeness(content, memory.content, cosine))
        for memory, cosine in found
    ]
    return sorted((one for one in likened if one.likeness >= least), key=lambda one: (-one.likeness, one.id))
