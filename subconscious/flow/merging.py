"""What is said again: by a candidate, of a memory or of a capture that waits; by one memory of another.

Candidates are compared before the transaction, by their words (`text/same_statement.py`) and, where that is at hand, by
meaning; what comes of it is decided within it, by what stands then. Nothing that is flagged takes part, and nobody
lends a memory anything who is trusted less than it. What is not found here, since there was no embedder yet, is found
at night.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import aiosqlite

from subconscious.capture.gate import is_unsure
from subconscious.flow import confirming, relating, succession
from subconscious.flow.mind import Mind
from subconscious.model import Admission, Candidate, Decision, Level, Memory, Origin, Scope
from subconscious.search.words import terms
from subconscious.store import decisions, full_text, memories, merges, waiting
from subconscious.store.capture_rows import UNCONFIRMED, candidate_of
from subconscious.store.waiting import Waiting
from subconscious.text.same_statement import same_statement

NEIGHBOURS = 50
"""Memories, the nearest, whose words are compared: what differs in a number alone may be nearer than a twin."""

COMPARED = 200
"""Captures of a project, the latest that wait, that a candidate is compared with."""

ECHO = "repeats a memory that was given to this session"
"""Why a candidate that a session only gives back is discarded."""

KEPT = (Decision.AUTO, Decision.REVIEW)

LIKELY = 0.5
"""Confidence from which a typed statement that bears on what is stored is stored too."""

Said = TypeVar("Said")
Known = TypeVar("Known")


@dataclass(frozen=True, slots=True)
class Repeats:
    """What candidates say again, by their content: memories with their cosine, and captures.

    ``changed`` are the memories whose place was taken, or that were confirmed: the index has to learn of them when that
    is committed. ``replaced`` are the memories that say otherwise of what a candidate is about, by its content.
    ``made`` are those that were stored since. ``paraphrased`` are contents of which the model said so, and no rule;
    ``displaced`` are captures that wait and that a candidate replaces.
    """

    memories: dict[str, tuple[int, float]] = field(default_factory=dict)
    captures: dict[str, int] = field(default_factory=dict)
    changed: list[int] = field(default_factory=list)
    replaced: dict[str, tuple[int, ...]] = field(default_factory=dict)
    made: list[Memory] = field(default_factory=list)
    paraphrased: set[str] = field(default_factory=set)
    displaced: dict[str, int] = field(default_factory=dict)

    def __contains__(self, candidate: Candidate) -> bool:
        return candidate.content in self.memories or candidate.content in self.captures


def text_of(said: Candidate | Memory | Waiting) -> str:
    """What of a statement is embedded."""
    return f"{said.content} {said.rationale} {' '.join(said.tags)}".strip()


async def repeated(mind: Mind, judged: Sequence[tuple[Candidate, Admission]], project_id: str) -> Repeats:
    """Look for what each candidate says again. No model that is elsewhere is asked, and none is waited for."""
    found = Repeats()
    kept = [
        candidate
        for candidate, admission in judged
        if (admission.decision in KEPT or may_be_certain(candidate, admission)) and candidate.kind != "meta"
    ]
    for candidate, admission in judged:
        sure = admission.decision is Decision.AUTO
        if (sure or may_be_certain(candidate, admission)) and not is_flagged(admission):
            replaced = await succession.replaced_by(mind, candidate, project_id, sure=sure)
            found.replaced[candidate.content] = replaced
    if not (mind.settings.dedupe and kept):
        return found
    queue = await waiting.latest(mind.database, project_id, COMPARED)
    for candidate in kept:
        if (memory := await _memory(mind, candidate, project_id)) is not None:
            found.memories[candidate.content] = memory
        if (capture := await _capture(mind, candidate, queue)) is not None:
            found.captures[candidate.content] = capture
        if candidate not in found:
            _add(found, candidate, await relating.related(mind, candidate, project_id, queue))
    return found


def _add(found: Repeats, candidate: Candidate, related: relating.Related) -> None:
    """Add what the model says of a candidate."""
    content = candidate.content
    if related.memory is not None and not found.replaced.get(content):
        found.memories[content] = related.memory
        found.paraphrased.add(content)
    elif related.capture is not None:
        found.captures[content] = related.capture
        found.paraphrased.add(content)
    if related.replaced is not None:
        found.replaced[content] = (*found.replaced.get(content, ()), related.replaced)
    if related.replaced_capture is not None:
        found.displaced[content] = related.replaced_capture


def may_be_certain(candidate: Candidate, admission: Admission) -> bool:
    """Whether a typed statement is not stored only because it was not sure enough that it is one."""
    typed = candidate.origin is Origin.USER and not admission.doubtful
    return typed and is_unsure(admission) and admission.confidence >= LIKELY and not is_flagged(admission)


def made_certain(candidate: Candidate, admission: Admission, found: Repeats) -> Admission:
    """Admit what was not sure enough but bears on what is stored: it is a statement then.

    A slip of the tongue rarely says what is stored, or otherwise of the same thing.
    """
    bears_on = candidate.content in found.memories or bool(found.replaced.get(candidate.content))
    if not bears_on or not may_be_certain(candidate, admission):
        return admission
    return replace(admission, decision=Decision.AUTO, reason=f"{admission.reason}; bears on what is stored")


async def _memory(mind: Mind, candidate: Candidate, project_id: str) -> tuple[int, float] | None:
    """By the words first: a twin has all of them, and to embed every candidate would cost ten times as much."""
    place = project_id if candidate.scope is Scope.PROJECT else full_text.USER_WIDE
    near = await full_text.search(mind.database, terms(candidate.content), (place,), NEIGHBOURS)
    known = await memories.get_many(mind.database, [number for number, _ in near]) if near else {}
    for memory in await twins_of(candidate, known.values()):
        if (cosine := await _cosine(mind, candidate, memory)) is not None:
            return memory.id, cosine
    return None


async def twins_of(said: Candidate | Memory, known: Iterable[Memory]) -> list[Memory]:
    """Those of many memories that say what was said."""
    return await asyncio.to_thread(_of_those, is_twin, said, known)


def _of_those(akin: Callable[[Said, Known], bool], said: Said, known: Iterable[Known]) -> list[Known]:
    """Which of many say what was said. CPU-bound, half a millisecond each: run it in a thread."""
    return [one for one in known if akin(said, one)]


async def _cosine(mind: Mind, one: Candidate, other: Memory | Waiting) -> float | None:
    """How near two statements are by meaning; None where that is not near enough, or can't be told now."""
    texts = text_of(one), text_of(other)
    if texts[0] == texts[1]:
        return 1.0
    vectors = [await mind.at_hand(text) for text in texts]
    if vectors[0] is None or vectors[1] is None:
        return None
    cosine = float(vectors[0] @ vectors[1])
    return cosine if cosine > mind.settings.dedupe_likeness else None


def _same(one: str, other: str) -> bool:
    """Whether two statements say the same if they are near; how near they are is measured of few."""
    return same_statement(one, other, cosine=1.0)


def is_twin(said: Candidate | Memory, known: Memory) -> bool:
    """Whether a memory that is in use says what was said, of the same scope and kind."""
    akin = (known.kind, known.scope, known.archived_at) == (said.kind, said.scope, None)
    return akin and _same(said.content, known.content)


async def _capture(mind: Mind, candidate: Candidate, queue: Sequence[Waiting]) -> int | None:
    for capture in await asyncio.to_thread(_of_those, _waits_too, candidate, queue):
        if await _cosine(mind, candidate, capture) is not None:
            return capture.id
    return None


def _waits_too(said: Candidate, capture: Candidate | Waiting) -> bool:
    akin = (capture.kind, capture.scope) == (said.kind, said.scope)
    return akin and _same(said.content, capture.content)


async def weighed(
    mind: Mind,
    tx: aiosqlite.Connection,
    judged: tuple[Candidate, Admission],
    session_id: str | None,
    given: Collection[str],
    found: Repeats,
) -> Admission:
    """What the gate says of a candidate when it is known what says the same; ``given`` is what its session was given.

    A memory that was given reinforces nothing, but a person says so of their own, as does who is trusted more
    than it. What would wait need not, beside what is known, or waits, from as trusted an origin.
    """
    candidate, admission = judged
    if admission.decision not in KEPT or is_flagged(admission):
        return admission
    memory = await _known(tx, candidate, found)
    as_trusted = memory is not None and memory.origin.distrust <= candidate.origin.distrust
    is_echo = memory is not None and as_trusted and memory.content_hash in given
    if is_echo and candidate.origin is not Origin.USER:
        return replace(admission, decision=Decision.DISCARD, reason=ECHO)
    if admission.decision is Decision.AUTO:
        return admission
    if memory is not None and as_trusted:
        return replace(admission, decision=Decision.DISCARD, reason=f"says what memory {memory.id} says")
    return await _beside_waiting(mind, tx, judged, session_id, given, found)


async def _beside_waiting(
    mind: Mind,
    tx: aiosqlite.Connection,
    judged: tuple[Candidate, Admission],
    session_id: str | None,
    given: Collection[str],
    found: Repeats,
) -> Admission:
    candidate, admission = judged
    capture = await _waiting(tx, candidate, found)
    if capture is None:
        return admission
    if capture["status"] == UNCONFIRMED:
        return await _beside_unconfirmed(tx, judged, capture, session_id, given, found)
    if candidate_of(capture).origin.distrust > candidate.origin.distrust:
        return admission
    if capture["origin"] == candidate.origin:
        await waiting.hear_again(tx, capture, mind.settings.review_expiry_days)
    return replace(admission, decision=Decision.DISCARD, reason=f"says what capture {capture['id']} says, which waits")


async def _beside_unconfirmed(
    tx: aiosqlite.Connection,
    judged: tuple[Candidate, Admission],
    capture: dict[str, Any],
    session_id: str | None,
    given: Collection[str],
    found: Repeats,
) -> Admission:
    """Confirm what is unconfirmed if another session says the same, was not given it, and could have been the first."""
    candidate, admission = judged
    if candidate.origin is Origin.USER:
        return admission  # in their own words it is more than a confirmation
    if capture["content_hash"] in given:
        return replace(admission, decision=Decision.DISCARD, reason=ECHO)
    memory_id = capture["memory_id"]
    if session_id and session_id != capture["session_id"] and admission.reservation == "":
        found.changed.append(await confirming.seen_again(tx, capture, candidate, session_id))
    return replace(admission, decision=Decision.DISCARD, reason=f"says what memory {memory_id} says")


def is_flagged(admission: Admission) -> bool:
    """Whether the poisoning check saw anything in it."""
    return admission.verdict is not None and admission.verdict.level is not Level.NONE


async def _known(tx: aiosqlite.Connection, candidate: Candidate, found: Repeats) -> Memory | None:
    """The memory that a candidate says again, if it still does, and may be merged."""
    number = found.memories.get(candidate.content, (0, 0.0))[0]
    memory = (await merges.free(tx, [number])).get(number) if number else None
    if memory is None or not (candidate.content in found.paraphrased or is_twin(candidate, memory)):
        return None
    return memory


async def _waiting(tx: aiosqlite.Connection, candidate: Candidate, found: Repeats) -> dict[str, Any] | None:
    """The capture that a candidate says again, if it still does: it may have been worded anew, or decided on."""
    number = found.captures.get(candidate.content)
    capture = await waiting.held(tx, number) if number else None
    if capture is None or not (candidate.content in found.paraphrased or _waits_too(candidate, candidate_of(capture))):
        return None
    return capture


async def known_as(
    tx: aiosqlite.Connection, candidate: Candidate, admission: Admission, memory: Memory, found: Repeats
) -> Memory | None:
    """The memory that a new one need not be stored beside: it keeps its words, for they weigh more."""
    known = None if is_flagged(admission) else await _known(tx, candidate, found)
    if known is not None and candidate.content in found.paraphrased:
        return known  # the first wording stays: one that only repeats it may say less
    if known is None or staying(known, memory, await merges.chosen(tx, [known.id])) is not known:
        return None
    return known


async def take_place(
    tx: aiosqlite.Connection, candidate: Candidate, admission: Admission, made: Memory, found: Repeats
) -> None:
    """Let a memory that was stored take the place of the one that it says again, and of the capture that waits.

    What waits from an origin that is trusted more waits on: as a memory it would weigh more.
    """
    if is_flagged(admission):
        return
    known = await _known(tx, candidate, found)
    if known is not None and known.id != made.id:
        await fold(tx, known, made, found.memories[candidate.content][1])
        found.changed.append(known.id)
    capture = await _waiting(tx, candidate, found)
    if capture is not None and made.origin.distrust <= candidate_of(capture).origin.distrust:
        await decisions.displace(tx, capture["id"], f"says what memory {made.id} says")


def staying(one: Memory, other: Memory, chosen: Collection[int] = ()) -> Memory:
    """Which of two that say the same stays: what a person chose, then whose origin is trusted more, then the fresher.

    ``chosen`` are those of which a person has said how important they are.
    """

    def weight(memory: Memory) -> tuple[object, ...]:
        by_hand = (memory.pinned, memory.id in chosen, memory.verified)
        return (*by_hand, -memory.origin.distrust, memory.said_at, memory.id or float("inf"))

    return max(one, other, key=weight)


async def fold(tx: aiosqlite.Connection, gone: Memory, stays: Memory, cosine: float) -> None:
    """Merge one memory into another, and take it out of the index's table."""
    from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

    await merges.fold(tx, gone, stays, cosine)
    await vectors.activate(tx, [gone.id], False)
