"""One subject has one current value: a newer statement takes the place of those that say otherwise of the same thing.

It is linked to them as what supersedes them, in the transaction that stores it. They stay in the store, and count again
when the newer one is taken back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import combinations

import aiosqlite

from subconscious.capture.ended import keys
from subconscious.capture.relation import leaves_what_is_forbidden
from subconscious.flow.mind import Mind
from subconscious.model import Candidate, Link, Memory, Origin, Scope
from subconscious.search.words import terms
from subconscious.store import full_text, links, memories
from subconscious.store.connect import Database
from subconscious.text.alternatives import FAMILIES
from subconscious.text.claims import claim, key_of, replaces, tells_of_a_change
from subconscious.text.same_statement import differences, same_statement

NEIGHBOURS = 50
"""Memories, the nearest by words, with which a statement is compared."""

MOST_TERMS = 48

MOST_NEAR = 8
LIKENESS, MARGIN = 0.5, 0.08
"""Cosine to a statement from which a told change may mean it, and how much nearer it must be than any other."""

ELSEWHERE = frozenset(("environment", "place", "system"))
"""Differences that make two statements be of two things."""

SUPERSEDES = "SUPERSEDES"
FOUND_BY = "rules"


async def replaced_by(mind: Mind, candidate: Candidate, project_id: str, *, sure: bool = True) -> tuple[int, ...]:
    """Return the memories in use that say otherwise of what a typed statement is about; none where it is doubtful.

    Of what is not ``sure`` to be a statement, a word of change and a cosine alone tell nothing.
    """
    if candidate.origin is not Origin.USER or not mind.settings.links:
        return ()
    changed = tells_of_a_change(candidate.content)
    if not changed and claim(candidate.content) is None:
        return ()
    places = (project_id, full_text.USER_WIDE) if candidate.scope is Scope.PROJECT else (full_text.USER_WIDE,)
    near = await full_text.search(mind.database, _sought(candidate.content), places, NEIGHBOURS)
    known = await memories.get_many(mind.database, [number for number, _ in near]) if near else {}
    in_use = [memory for memory in known.values() if memory.archived_at is None]
    found = await asyncio.to_thread(_replaced, candidate.content, in_use)
    if not found and changed and sure:
        found = await _changed(mind, candidate.content, [one for one in in_use if one.origin is Origin.USER])
    return tuple(memory.id for memory in found)


async def _changed(mind: Mind, content: str, known: Sequence[Memory]) -> list[Memory]:
    """The one statement that a told change means: near in meaning, of the same place, and no other is as near."""
    shared = [one for one in known if keys(content) & keys(one.content)][:MOST_NEAR]
    mine = await mind.at_hand(content) if shared else None
    if mine is None:
        return []
    weighed = []
    for one in shared:
        vector = await mind.at_hand(one.content)
        weighed += [(float(mine @ vector), one)] if vector is not None else []
    weighed.sort(key=lambda pair: -pair[0])
    if not weighed or weighed[0][0] < LIKENESS or (len(weighed) > 1 and weighed[0][0] - weighed[1][0] < MARGIN):
        return []
    old = weighed[0][1]
    apart = differences(content, old.content) & ELSEWHERE
    agree = same_statement(content, old.content, weighed[0][0]) or leaves_what_is_forbidden(content, old.content)
    return [] if apart or agree else [old]


def _replaced(content: str, known: Iterable[Memory]) -> list[Memory]:
    """Those that a statement replaces. CPU-bound: run it in a thread."""
    found = [memory for memory in known if replaces(content, memory.content)]
    return found if _of_one_subject(found) else []


def _of_one_subject(found: Sequence[Memory]) -> bool:
    """Whether some statements are about one thing, so that one of them can hold; else it is unclear which is meant."""
    return all(
        same_statement(one.content, other.content, 1.0)
        or replaces(one.content, other.content)
        or replaces(other.content, one.content)
        for one, other in combinations(found, 2)
    )


def _sought(content: str) -> list[str]:
    """The words of a statement, and the alternatives to what it chooses."""
    told = claim(content)
    chosen = {_FAMILY_OF[word] for word in told.value | told.about if word in _FAMILY_OF} if told else set()
    others = [word for word, family in FAMILIES.items() if family in chosen and word.isalnum()]
    return [*terms(content), *others][:MOST_TERMS]


_FAMILY_OF = {key_of(word): family for word, family in FAMILIES.items()}


async def take_over(tx: aiosqlite.Connection, memory: Memory, earlier: Iterable[int | Memory]) -> list[int]:
    """Let a memory supersede earlier ones, as they stand now; return which ones it did.

    Of a less trusted origin it supersedes nothing, and what a person pinned is only proposed to be superseded.
    """
    taken = []
    for one in earlier:
        old = await memories.found(tx, one if isinstance(one, int) else one.id)
        if old is None or old.id == memory.id or old.archived_at is not None or not _may_replace(memory, old):
            continue
        await _supersede(tx, memory, old)
        taken.append(old.id)
    return taken


def _may_replace(new: Memory, old: Memory) -> bool:
    is_later = (new.said_at, new.id) > (old.said_at, old.id) or new.said_at > old.said_at
    widened = new.scope is Scope.USER and old.scope is Scope.PROJECT
    return is_later and new.origin.distrust <= old.origin.distrust and not widened


async def _supersede(tx: aiosqlite.Connection, new: Memory, old: Memory) -> None:
    """Link the two; a link that said the contrary holds no longer. A link that a person refused stays refused."""
    status = "proposed" if old.pinned else "active"
    known = [link for link in await links.between(tx, new.id, old.id) if link.type == SUPERSEDES]
    for link in known:
        holds = link.source_id == new.id
        if link.status == "refused" or (not holds and status == "proposed"):
            continue
        await links.change(tx, link, "daemon", "said later", status=status if holds else "withdrawn")
    if not any(link.source_id == new.id for link in known):
        made = Link(0, new.id, old.id, SUPERSEDES, status, 0.95, FOUND_BY, new.content[:300], new.said_at)
        await links.add(tx, made, "daemon", session_id=new.session_id)


async def still_in_force(database: Database, found: Sequence[Memory], project_id: str | None) -> list[Memory]:
    """Those of some memories that are in use, or unconfirmed, and that no other has superseded."""
    gone = await links.superseded(database, [memory.id for memory in found], project_id)
    in_use = [memory for memory in found if memory.archived_at is None or memory.unconfirmed]
    return [memory for memory in in_use if memory.id not in gone]
