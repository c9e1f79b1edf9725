"""Keeps one current value for each subject: a newer statement supersedes earlier ones that contradict it.

The link is made in the transaction that stores the statement. Superseded memories stay in the store and become valid
again if the newer one is undone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from time import time

import aiosqlite

from subconscious.domain.model import Candidate, Link, Memory, Origin, Scope
from subconscious.recall.recall_context import RecallContext
from subconscious.store import full_text, links, memories, takeovers
from subconscious.store.connect import Database
from subconscious.supersession.ended import keys, spares
from subconscious.supersession.pair_wording import leaves_what_is_forbidden
from subconscious.text.alternatives import FAMILIES
from subconscious.text.branch_scope import have_same_scope
from subconscious.text.claim_reader import claim, key_of
from subconscious.text.claims import indicates_change, replaces
from subconscious.text.denied_change import denies_change
from subconscious.text.function_words import is_english
from subconscious.text.same_statement import differences, same_statement
from subconscious.text.terms import terms

NEIGHBOURS = 50
"""The number of memories that a statement is compared with: those with the most similar words."""

MOST_TERMS = 48

MOST_NEAR = 8
LIKENESS, MARGIN = 0.5, 0.08
"""The least cosine of a reported change and the memory that it replaces, and the least lead over the next cosine."""

ELSEWHERE = frozenset(("environment", "place", "system"))
"""Types of difference that show that two statements are about different things."""

SUPERSEDES = "SUPERSEDES"
FOUND_BY = "rules"

SURE, DOUBTFUL = 0.95, 0.5
"""The confidence of the link to a replaced memory, and of the link to a possibly replaced one."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The ids of the memories that a statement replaces, and of one that it may replace: the user is asked about that.

    ``overtaken_by`` are memories that replace the statement because they were said later (only if it was imported).
    """

    replaced: tuple[int, ...] = ()
    in_doubt: int | None = None
    overtaken_by: tuple[int, ...] = ()


async def replaced_by(ctx: RecallContext, candidate: Candidate, project_id: str, *, sure: bool = True) -> Earlier:
    """Return the active memories about the same subject that a statement of the user contradicts.

    If ``sure`` is false, the text may be a question or a task. Then a word of change ("now", "instead") and a similar
    vector are not enough to replace a memory.
    """
    if candidate.origin is not Origin.USER or not ctx.settings.links:
        return Earlier()
    changed = indicates_change(candidate.content) and not denies_change(candidate.content)
    if not changed and claim(candidate.content) is None:
        return Earlier()
    places = (project_id, full_text.USER_WIDE) if candidate.scope is Scope.PROJECT else (full_text.USER_WIDE,)
    near = await full_text.search(ctx.database, _sought(candidate.content), places, NEIGHBOURS)
    known = await memories.get_many(ctx.database, [number for number, _ in near]) if near else {}
    active = [one for one in known.values() if one.archived_at is None]
    comparable = [one for one in active if have_same_scope(candidate.content, one.content)]
    in_use = [one for one in comparable if not spares(candidate.content, one.content)]
    said_before = [memory for memory in in_use if memory.said_at <= candidate.time]
    found = await asyncio.to_thread(_replaced, candidate.content, said_before)
    if not (found.replaced or found.in_doubt) and changed and sure:
        found = await _changed(ctx, candidate.content, [one for one in said_before if one.origin is Origin.USER])
    said_later = [memory for memory in in_use if memory.said_at > candidate.time and memory.origin is Origin.USER]
    return replace(found, overtaken_by=await asyncio.to_thread(_overtaking, candidate.content, said_later))


async def _changed(ctx: RecallContext, content: str, known: Sequence[Memory]) -> Earlier:
    """Return the memory that a reported change replaces: the most similar one.

    The result is in doubt if another memory is nearly as similar. Nothing is replaced if the most similar memory agrees
    with the change, or is about another environment, place or system. Only statements in English are compared: the
    embedder knows no other language well, and finds any two statements in the same one similar.
    """
    known = [one for one in known if is_english(one.content)] if is_english(content) else []
    shared = [one for one in known if keys(content) & keys(one.content)][:MOST_NEAR]
    mine = await ctx.embed_now(content) if shared else None
    if mine is None:
        return Earlier()
    weighed = []
    for one in shared:
        vector = await ctx.embed_now(one.content)
        weighed += [(float(mine @ vector), one)] if vector is not None else []
    weighed.sort(key=lambda pair: -pair[0])
    if not weighed or weighed[0][0] < LIKENESS:
        return Earlier()
    old = weighed[0][1]
    apart = differences(content, old.content) & ELSEWHERE
    agree = same_statement(content, old.content, weighed[0][0]) or leaves_what_is_forbidden(content, old.content)
    if apart or agree:
        return Earlier()
    unclear = len(weighed) > 1 and weighed[0][0] - weighed[1][0] < MARGIN
    return Earlier(in_doubt=old.id) if unclear else Earlier((old.id,))


def _replaced(content: str, known: Iterable[Memory]) -> Earlier:
    """Return the memories that a statement replaces by its words. CPU-bound: run it in a thread."""
    found = [memory for memory in known if replaces(content, memory.content)]
    if _of_one_subject(found):
        return Earlier(tuple(memory.id for memory in found))
    return Earlier(in_doubt=max(found, key=lambda memory: memory.said_at).id)


def _overtaking(content: str, later: Iterable[Memory]) -> tuple[int, ...]:
    """Return the ids of the ``later`` memories whose words replace ``content``. CPU-bound: run it in a thread."""
    return tuple(memory.id for memory in later if replaces(memory.content, content))


def _of_one_subject(found: Sequence[Memory]) -> bool:
    """Whether all statements are about the same subject; otherwise it is unclear which of them is replaced."""
    return all(
        same_statement(one.content, other.content, 1.0)
        or replaces(one.content, other.content)
        or replaces(other.content, one.content)
        for one, other in combinations(found, 2)
    )


def _sought(content: str) -> list[str]:
    """Return the words to search for: those of a statement, and alternatives to its values ("mysql" for "postgres")."""
    told = claim(content)
    chosen = {_FAMILY_OF[word] for word in told.value | told.about if word in _FAMILY_OF} if told else set()
    others = [word for word, family in FAMILIES.items() if family in chosen and word.isalnum()]
    return [*terms(content), *others][:MOST_TERMS]


_FAMILY_OF = {key_of(word): family for word, family in FAMILIES.items()}


async def take_over(tx: aiosqlite.Connection, memory: Memory, earlier: Iterable[int | Memory]) -> None:
    """Link a memory to the earlier ones that it supersedes.

    An earlier memory is skipped if its origin is more trusted, if it belongs to a project and the new one is user-wide,
    or if they are for different branches, or only one for a branch. If it is pinned, the link is only proposed.
    """
    for one in earlier:
        old = await memories.find(tx, one if isinstance(one, int) else one.id)
        if old is None or old.id == memory.id or old.archived_at is not None or not _may_replace(memory, old):
            continue
        await _supersede(tx, memory, old)


async def propose(tx: aiosqlite.Connection, memory: Memory, earlier: int) -> None:
    """Propose that a memory supersedes an earlier one; both stay valid until the user answers."""
    old = await memories.find(tx, earlier)
    if old is None or old.id == memory.id or old.archived_at is not None or not _may_replace(memory, old):
        return
    if await links.between(tx, memory.id, old.id):
        return
    await _propose(tx, memory, old, DOUBTFUL)


async def _propose(tx: aiosqlite.Connection, new: Memory, old: Memory, confidence: float) -> None:
    link = Link(0, new.id, old.id, SUPERSEDES, "proposed", confidence, FOUND_BY, new.content[:300], new.said_at)
    made = await links.add(tx, link, "daemon", session_id=new.session_id)
    if made is not None:
        await takeovers.record(tx, made, new, old, time())


def _may_replace(new: Memory, old: Memory) -> bool:
    is_later = (new.said_at, new.id) > (old.said_at, old.id)
    widened = new.scope is Scope.USER and old.scope is Scope.PROJECT
    trusted = new.origin.distrust <= old.origin.distrust
    return is_later and trusted and not widened and have_same_scope(new.content, old.content)


async def _supersede(tx: aiosqlite.Connection, new: Memory, old: Memory) -> None:
    """Link ``new`` to ``old``, and withdraw a link in the other direction. A link that a person refused stays refused."""
    status = "proposed" if old.pinned else "active"
    known = [link for link in await links.between(tx, new.id, old.id) if link.type == SUPERSEDES]
    for link in known:
        holds = link.source_id == new.id
        if link.status == "refused" or (not holds and status == "proposed"):
            continue
        await links.change(tx, link, "daemon", "said later", status=status if holds else "withdrawn")
    if any(link.source_id == new.id for link in known):
        return
    if old.pinned:
        await _propose(tx, new, old, SURE)
        return
    made = Link(0, new.id, old.id, SUPERSEDES, "active", SURE, FOUND_BY, new.content[:300], new.said_at)
    await links.add(tx, made, "daemon", session_id=new.session_id)


async def still_in_force(database: Database, found: Sequence[Memory], project_id: str | None) -> list[Memory]:
    """Return the memories that are active or unconfirmed, and not superseded."""
    gone = await links.superseded(database, [memory.id for memory in found], project_id)
    in_use = [memory for memory in found if memory.archived_at is None or memory.unconfirmed]
    return [memory for memory in in_use if memory.id not in gone]
