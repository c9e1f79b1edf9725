"""Finds candidates that repeat a memory or a waiting capture, and memories that repeat each other.

Candidates are compared before the transaction, by words (`text/same_statement.py`) and, if possible, by meaning. The
results are applied within the transaction, to the rows as they are then. Candidates that the poisoning check flags are
left out, and a less trusted memory adds nothing to a more trusted one. Repetitions that are missed because no embedder
is loaded are found by the nightly merging.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import aiosqlite

from subconscious.domain.model import Admission, Candidate, Decision, Level, Memory, Origin, Scope, Turn
from subconscious.embeddings.batches import text_of
from subconscious.recall.recall_context import RecallContext
from subconscious.store import decisions, full_text, memories, merges, review_queue
from subconscious.store.capture_rows import UNCONFIRMED, candidate_from
from subconscious.store.review_queue import Waiting
from subconscious.supersession import confirmation, relating, succession
from subconscious.text.branch_scope import have_same_scope
from subconscious.text.same_statement import same_statement
from subconscious.text.terms import terms
from subconscious.wire.captures import Capture

NEIGHBOURS = 50
"""The number of most similar memories that are compared in detail.

The memory that a candidate repeats is not always the most similar one: the most similar memory may differ in a number,
while a less similar memory is a paraphrase.
"""

COMPARED = 200
"""The number of a project's latest waiting captures that are compared with a candidate."""

ECHO = "repeats a memory that was given to this session"
"""The reason for discarding a candidate that repeats an injected memory."""

KEPT = (Decision.AUTO, Decision.REVIEW)

LIKELY = 0.5
"""The least confidence with which a statement that the user typed is stored if it repeats or replaces a stored one."""

Said = TypeVar("Said")
Known = TypeVar("Known")


@dataclass(frozen=True, slots=True)
class Repeats:
    """What the candidates of one batch repeat or replace.

    The dictionaries have the content of a candidate as key. ``memories`` has the id of the memory that it repeats, with
    the cosine, ``captures`` the waiting capture that it repeats, ``replaced`` the memories that it contradicts,
    ``displaced`` the waiting capture that it replaces, ``in_doubt`` a memory that it may replace (the user is asked),
    and ``overtaken_by`` the memories that replace it because they were said later (only if it was imported).
    ``changed`` are memories that were merged or confirmed: the index must be updated after the commit. ``made`` are
    memories stored in this batch. ``paraphrased`` are contents that only the pair model recognised as repetitions.
    """

    memories: dict[str, tuple[int, float]] = field(default_factory=dict)
    captures: dict[str, int] = field(default_factory=dict)
    changed: list[int] = field(default_factory=list)
    replaced: dict[str, tuple[int, ...]] = field(default_factory=dict)
    made: list[Memory] = field(default_factory=list)
    paraphrased: set[str] = field(default_factory=set)
    displaced: dict[str, int] = field(default_factory=dict)
    in_doubt: dict[str, int] = field(default_factory=dict)
    overtaken_by: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __contains__(self, candidate: Candidate) -> bool:
        return candidate.content in self.memories or candidate.content in self.captures


async def repeated(
    ctx: RecallContext,
    judged: Sequence[tuple[Candidate, Admission]],
    project_id: str,
    turns: Iterable[Turn] = (),
) -> Repeats:
    """Return what each candidate repeats or replaces. Uses only local models, and only if they are loaded.

    ``turns`` are the messages from which the candidates come: a statement may be compared together with its message.
    """
    found = Repeats()
    messages = {turn.id: turn.text for turn in turns if turn.origin is Origin.USER}
    kept = [
        candidate
        for candidate, admission in judged
        if (admission.decision in KEPT or may_be_certain(candidate, admission)) and candidate.kind != "meta"
    ]
    for candidate, admission in judged:
        sure = admission.decision is Decision.AUTO
        if (sure or may_be_certain(candidate, admission)) and not is_flagged(admission):
            earlier = await succession.replaced_by(ctx, candidate, project_id, sure=sure)
            found.replaced[candidate.content] = earlier.replaced
            found.overtaken_by[candidate.content] = earlier.overtaken_by
            if earlier.in_doubt is not None:
                found.in_doubt[candidate.content] = earlier.in_doubt
    if not (ctx.settings.dedupe and kept):
        return found
    queue = await review_queue.latest_waiting(ctx.database, project_id, COMPARED)
    for candidate in kept:
        if (memory := await _memory(ctx, candidate, project_id)) is not None:
            found.memories[candidate.content] = memory
        if (capture := await _capture(ctx, candidate, queue)) is not None:
            found.captures[candidate.content] = capture
        if candidate not in found:
            message = messages.get(candidate.evidence.turn_id, "")
            _add(found, candidate, await relating.related(ctx, candidate, project_id, queue, message))
    return found


def _add(found: Repeats, candidate: Candidate, related: relating.Related) -> None:
    """Add the results of the pair model (a local model that compares two statements) for a candidate."""
    content = candidate.content
    if related.memory is not None and not found.replaced.get(content):
        found.memories[content] = related.memory
        found.paraphrased.add(content)
    elif related.capture is not None:
        found.captures[content] = related.capture
        found.paraphrased.add(content)
    if related.replaced is not None:
        found.replaced[content] = (*found.replaced.get(content, ()), related.replaced)
    if related.overtaken_by is not None:
        found.overtaken_by[content] = (*found.overtaken_by.get(content, ()), related.overtaken_by)
    if related.replaced_capture is not None:
        found.displaced[content] = related.replaced_capture
    if related.in_doubt is not None:
        found.in_doubt.setdefault(content, related.in_doubt)


def may_be_certain(candidate: Candidate, admission: Admission) -> bool:
    """Whether the user typed a candidate that would be stored if its confidence, at least ``LIKELY``, were higher."""
    typed = candidate.origin is Origin.USER and not admission.doubtful
    return typed and admission.is_unsure and admission.confidence >= LIKELY and not is_flagged(admission)


def made_certain(candidate: Candidate, admission: Admission, found: Repeats) -> Admission:
    """Return ``admission``, with the decision to store if an uncertain candidate repeats or replaces a stored statement.

    A text that repeats or replaces a statement is rarely a question or a task.
    """
    bears_on = candidate.content in found.memories or bool(found.replaced.get(candidate.content))
    if not bears_on or not may_be_certain(candidate, admission):
        return admission
    return replace(admission, decision=Decision.AUTO, reason=f"{admission.reason}; related to a stored memory")


async def _memory(ctx: RecallContext, candidate: Candidate, project_id: str) -> tuple[int, float] | None:
    """Return the id of the memory that a candidate repeats, and their cosine; None if there is no such memory.

    Words are compared first, because embedding each candidate would take ten times as long.
    """
    place = project_id if candidate.scope is Scope.PROJECT else full_text.USER_WIDE
    near = await full_text.search(ctx.database, terms(candidate.content), (place,), NEIGHBOURS)
    known = await memories.get_many(ctx.database, [number for number, _ in near]) if near else {}
    for memory in await twins_of(candidate, known.values()):
        if (cosine := await _cosine(ctx, candidate, memory)) is not None:
            return memory.id, cosine
    return None


async def twins_of(said: Candidate | Memory, known: Iterable[Memory]) -> list[Memory]:
    """Return the memories in ``known`` that say the same as ``said``."""
    return await asyncio.to_thread(_of_those, is_twin, said, known)


def _of_those(akin: Callable[[Said, Known], bool], said: Said, known: Iterable[Known]) -> list[Known]:
    """Return the items for which ``akin(said, item)`` is true. CPU-bound (0.5 ms each): run it in a thread."""
    return [one for one in known if akin(said, one)]


async def _cosine(ctx: RecallContext, one: Candidate, other: Memory | Waiting) -> float | None:
    """Return the cosine of two statements; None if it is too low or the embedder is not loaded."""
    texts = text_of(one), text_of(other)
    if texts[0] == texts[1]:
        return 1.0
    vectors = [await ctx.embed_now(text) for text in texts]
    if vectors[0] is None or vectors[1] is None:
        return None
    cosine = float(vectors[0] @ vectors[1])
    return cosine if cosine > ctx.settings.dedupe_likeness else None


def _same(one: str, other: str) -> bool:
    """Whether two statements agree in their words; the cosine is computed only for pairs that do."""
    return have_same_scope(one, other) and same_statement(one, other, cosine=1.0)


def is_twin(said: Candidate | Memory, known: Memory) -> bool:
    """Whether ``known`` is an active memory with the same scope, kind and statement as ``said``."""
    akin = (known.kind, known.scope, known.archived_at) == (said.kind, said.scope, None)
    return akin and _same(said.content, known.content)


async def _capture(ctx: RecallContext, candidate: Candidate, queue: Sequence[Waiting]) -> int | None:
    for capture in await asyncio.to_thread(_of_those, _waits_too, candidate, queue):
        if await _cosine(ctx, candidate, capture) is not None:
            return capture.id
    return None


def _waits_too(said: Candidate, capture: Candidate | Waiting) -> bool:
    akin = (capture.kind, capture.scope) == (said.kind, said.scope)
    return akin and _same(said.content, capture.content)


async def weighed(
    ctx: RecallContext,
    tx: aiosqlite.Connection,
    judged: tuple[Candidate, Admission],
    session_id: str | None,
    given: Collection[str],
    found: Repeats,
) -> Admission:
    """Return the decision on a candidate that may repeat a memory or a waiting capture.

    ``given`` are the content hashes of the memories that the session received. If the assistant repeats such a memory,
    that confirms nothing; if the user does, it counts. A candidate that would wait for review is discarded if a memory
    or a waiting capture says the same, unless the candidate's source is more trusted. The repetition may confirm an
    unconfirmed memory, and postpones the expiry of a waiting capture from the same source.
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
        return replace(admission, decision=Decision.DISCARD, reason=f"repeats memory {memory.id}")
    return await _beside_waiting(ctx, tx, judged, session_id, given, found)


async def _beside_waiting(
    ctx: RecallContext,
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
    if candidate_from(capture).origin.distrust > candidate.origin.distrust:
        return admission
    if capture["origin"] == candidate.origin:
        await review_queue.restate(tx, capture, ctx.settings.review_expiry_days)
    return replace(
        admission, decision=Decision.DISCARD, reason=f"repeats capture {capture['id']}, which waits for review"
    )


async def _beside_unconfirmed(
    tx: aiosqlite.Connection,
    judged: tuple[Candidate, Admission],
    capture: Capture,
    session_id: str | None,
    given: Collection[str],
    found: Repeats,
) -> Admission:
    """Discard a candidate that repeats an unconfirmed memory, unless a person stated it.

    The memory is confirmed if another session found the same without having received it.
    """
    candidate, admission = judged
    if candidate.origin is Origin.USER:
        return admission  # the user's own statement is stored, which counts more than a confirmation
    if capture["content_hash"] in given:
        return replace(admission, decision=Decision.DISCARD, reason=ECHO)
    memory_id = capture["memory_id"]
    if session_id and session_id != capture["session_id"] and admission.reservation == "":
        found.changed.append(await confirmation.seen_again(tx, capture, candidate, session_id))
    return replace(admission, decision=Decision.DISCARD, reason=f"repeats memory {memory_id}")


def is_flagged(admission: Admission) -> bool:
    """Whether the poisoning check found anything in a candidate."""
    return admission.verdict is not None and admission.verdict.level is not Level.NONE


async def _known(tx: aiosqlite.Connection, candidate: Candidate, found: Repeats) -> Memory | None:
    """Return the memory that a candidate repeats, if the memory still says the same and may be merged."""
    number = found.memories.get(candidate.content, (0, 0.0))[0]
    memory = (await merges.mergeable(tx, [number])).get(number) if number else None
    if memory is None or not (candidate.content in found.paraphrased or is_twin(candidate, memory)):
        return None
    return memory


async def _waiting(tx: aiosqlite.Connection, candidate: Candidate, found: Repeats) -> Capture | None:
    """Return the capture that a candidate repeats, unless the capture was reworded or decided on meanwhile."""
    number = found.captures.get(candidate.content)
    capture = await review_queue.find_waiting(tx, number) if number else None
    if capture is None or not (
        candidate.content in found.paraphrased or _waits_too(candidate, candidate_from(capture))
    ):
        return None
    return capture


async def known_as(
    tx: aiosqlite.Connection, candidate: Candidate, admission: Admission, memory: Memory, found: Repeats
) -> Memory | None:
    """Return the stored memory that a candidate repeats if that memory, not the candidate, is to be kept; else None."""
    known = None if is_flagged(admission) else await _known(tx, candidate, found)
    if known is not None and candidate.content in found.paraphrased:
        return known  # the first wording is kept because a repetition may say less
    if known is None or staying(known, memory, await merges.rated(tx, [known.id])) is not known:
        return None
    return known


async def take_place(
    tx: aiosqlite.Connection, candidate: Candidate, admission: Admission, made: Memory, found: Repeats
) -> None:
    """Merge an older memory with the same statement into a new one, and discard a waiting capture that says the same.

    A waiting capture from a more trusted origin than that of the new memory stays in the queue.
    """
    if is_flagged(admission):
        return
    known = await _known(tx, candidate, found)
    if known is not None and known.id != made.id:
        await fold(tx, known, made, found.memories[candidate.content][1])
        found.changed.append(known.id)
    capture = await _waiting(tx, candidate, found)
    if capture is not None and made.origin.distrust <= candidate_from(capture).origin.distrust:
        await decisions.displace(tx, capture["id"], f"repeats memory {made.id}")


def staying(one: Memory, other: Memory, chosen: Collection[int] = ()) -> Memory:
    """Return which of two duplicates to keep: a person's choice; failing that, the more trusted; failing that, the newer.

    A person's choice is a memory that a person pinned, verified, or gave an importance. ``chosen`` are the ids of the
    memories with such an importance.
    """

    def weight(memory: Memory) -> tuple[object, ...]:
        by_hand = (memory.pinned, memory.id in chosen, memory.verified)
        return (*by_hand, -memory.origin.distrust, memory.said_at, memory.id or float("inf"))

    return max(one, other, key=weight)


async def fold(tx: aiosqlite.Connection, gone: Memory, stays: Memory, cosine: float) -> None:
    """Merge one memory into another, and remove it from the vector index."""
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    await merges.merge(tx, gone, stays, cosine)
    await vectors.activate(tx, [gone.id], False)
