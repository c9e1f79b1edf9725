"""A person's decisions on captures, and what they are shown before they decide."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from time import time
from typing import Any

import aiosqlite

from subconscious import review
from subconscious import rollback as withdrawal
from subconscious.errors import RequestError
from subconscious.flow.mind import Mind
from subconscious.flow.recalling import recall
from subconscious.flow.remembering import Provenance, clean, memory_of
from subconscious.model import Admission, Decision, Level, Memory
from subconscious.poisoning import check_text
from subconscious.poisoning.gate import told
from subconscious.store import captures, consolidations, events, memories, merges, queue, spend
from subconscious.store import stats as counts
from subconscious.store.capture_rows import QUARANTINED, Place, candidate_of

from .acts import CONTENT_LENGTH, SUMMARY_LENGTH, cut
from .codes import digest_of
from .core import Core
from .suspicions import noted, of_memories, suspicion
from .wish import Wish as Wish

ACCEPTANCE_AIM = 0.7
"""The share of queued captures that a person should accept."""

NEIGHBOURS = 5
"""Memories that a capture is compared with."""


async def carry_out(core: Core, wish: Wish) -> list[dict[str, Any]]:
    """Do it, all or nothing; return the captures as they are now. What was decided before stays as it is."""
    wish = replace(wish, reason=clean(wish.reason), wording=" ".join(clean(wish.wording).split()))
    if wish.deed == "edit" and (not wish.wording or len(wish.ids) != 1):
        raise RequestError("to edit takes one capture and its new wording", "subconscious review edit ID TEXT")
    for capture_id in wish.ids:
        await captures.get(core.database, capture_id)
    async with core.database.write() as tx:
        undone = [] if await _was_done(tx, wish) else [await _do(core, tx, wish, number) for number in wish.ids]
        gone = [one.left.id for one in undone if one.left is not None]
        fallen = await consolidations.fall(tx, gone, "user", "what it sums up was taken back")
        await _forget(tx, [*gone, *fallen])
        back = [number for one in undone for number in one.back]
        back += await merges.leave(tx, fallen, "user", review.UNDONE)
    if gone or wish.deed in ("approve", "release"):
        await core.embedding.refresh([*gone, *fallen, *back, *await _memories_of(core, wish.ids)])
    core.embedding.wake()
    await core.calibrate()
    return await captures.many(core.database, list(wish.ids))


async def _memories_of(core: Core, capture_ids: Sequence[int]) -> list[int]:
    bound = await captures.many(core.database, list(capture_ids))
    return [capture["memory_id"] for capture in bound if capture["memory_id"] is not None]


async def _was_done(tx: aiosqlite.Connection, wish: Wish) -> bool:
    if not wish.once:
        return False
    if await events.latest(tx, "typed", wish.once) is not None:
        return True
    await events.record(tx, wish.deed, "typed", wish.once, actor="user")
    return False


async def _do(core: Core, tx: aiosqlite.Connection, wish: Wish, capture_id: int) -> review.Undone:
    """Decide on one capture; return what the undo of an earlier decision did to the memories."""
    days = core.settings.review_expiry_days
    match wish.deed:
        case "approve" | "edit":
            refuse_disarming(wish.wording)
            memory = _approved(await captures.held(tx, capture_id), wish)
            if await review.approve(tx, capture_id, memory, wish.reason):
                await _activate(tx, (await captures.held(tx, capture_id))["memory_id"])
        case "reject" | "teach":
            await review.reject(tx, capture_id, wish.reason, teach=wish.deed == "teach")
        case "release":
            await _release(core, tx, capture_id, wish.reason)
        case "restore":
            await review.restore(tx, capture_id, days, wish.reason)
        case "undo":
            return await review.undo(tx, capture_id, days)
    return review.Undone()


def refuse_disarming(wording: str) -> None:
    """Raise RequestError for new words that would switch safety off: those take a release of their own."""
    verdict = check_text(wording, typed=True)
    if verdict.level.rank >= Level.HIGH.rank:
        raise RequestError(
            f"these words look like an attack on later sessions ({told(verdict)})",
            "say it as a plain statement; or remember them, and release that capture from quarantine",
        )


async def _release(core: Core, tx: aiosqlite.Connection, capture_id: int, reason: str) -> None:
    memory = await review.release(tx, capture_id, core.settings.review_expiry_days, reason)
    if memory is not None:
        await _activate(tx, memory.id)


async def _activate(tx: aiosqlite.Connection, memory_id: int) -> None:
    from subconscious.store import vectors  # as in _forget

    await vectors.activate(tx, [memory_id], True)


async def rollback(core: Core, session_id: str, reason: str, *, back: bool, preview: bool) -> dict[str, Any]:
    """Withdraw all that a session added, or put it back; with ``preview`` only say what that would be."""
    from subconscious.store import vectors  # as in _forget

    async with core.database.write() as tx:
        if back:
            found, changed = await withdrawal.put_back(tx, session_id)
        else:
            found = await withdrawal.extent(tx, session_id)
            changed = [] if preview or found.empty else await withdrawal.withdraw(tx, found, clean(reason))
        await vectors.activate(tx, [memory.id for memory in changed], back)
    if changed:
        await core.embedding.refresh([*(memory.id for memory in changed), *found.revived])
        core.embedding.wake()
        await core.calibrate()
    repeated = [memory_id for memory_id, _ in found.repeated]
    held = await memories.get_many(core.database, [*found.memories, *repeated, *found.revived])
    suspected = await of_memories(core, list(held.values()))
    told = {number: asdict(memory) | noted(suspected.get(number)) for number, memory in held.items()}
    return {
        "session_id": session_id,
        "memories": [told[memory_id] for memory_id in found.memories],
        "repeated": [told[memory_id] for memory_id in repeated if held[memory_id].archived_at is None],
        "revived": [told[memory_id] for memory_id in found.revived],
        "captures": [{"id": capture_id, "status": status} for capture_id, status in found.captures],
        "unread": found.unread,
        "links": [{"id": link_id, "status": status} for link_id, status in found.links],
        "done": not preview and not found.empty,
    }


def _approved(capture: dict[str, Any], wish: Wish) -> Memory:
    """The memory a person makes of a capture: theirs to answer for, so its confidence is whole."""
    said = candidate_of(capture)
    if wish.wording:
        said = replace(said, content=cut(wish.wording, CONTENT_LENGTH), summary=cut(wish.wording, SUMMARY_LENGTH))
    if wish.kind:
        said = replace(said, kind=wish.kind)
    admission = Admission(Decision.AUTO, 1.0, "approved by a person")
    where = Provenance(Place(capture["project_id"], capture["session_id"]), actor="user", verified=True)
    return memory_of(said, admission, where)


async def _forget(tx: aiosqlite.Connection, ids: Sequence[int]) -> None:
    if ids:
        from subconscious.store import vectors  # brings numpy: a tenth of a second that no start should wait for

        await vectors.activate(tx, ids, False)


async def looked_at(core: Core, found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Captures with what a decision needs: the words around the evidence, what is similar, what triage proposes."""
    mind = core.mind()
    rests = await consolidations.sources(core.database, [capture["id"] for capture in found])
    return [await _look(mind, capture, rests.get(capture["id"], [])) for capture in found]


async def offered(core: Core, project_id: str | None, limit: int = queue.OFFERED) -> list[dict[str, Any]]:
    """The most useful captures that wait, with what a decision needs. They count as shown from now on."""
    now = time()
    found = await queue.offered(core.database, project_id, now, limit)
    ids = [capture["id"] for capture in found]
    async with core.database.write() as tx:
        await queue.note_shown(tx, ids, now, core.settings.review_expiry_days)
    known = {capture["id"]: capture for capture in await captures.many(core.database, ids)}
    return await looked_at(core, [known[number] for number in ids if number in known])


async def with_codes(core: Core) -> list[dict[str, Any]]:
    """The decisions that wait for a code, each with its captures as they are now, and with a new code."""
    decisions = []
    for one in core.codes.waiting():
        chosen = await captures.many(core.database, list(one.wish.ids))
        decision = {
            "session_id": one.session_id,
            "deed": one.wish.deed,
            "wording": one.wish.wording,
            "captures": await looked_at(core, chosen),
            "code": core.codes.show(one, digest_of(one.wish, chosen)),
        }
        decisions.append(decision)
    return decisions


async def unsuspected(core: Core, project_id: str | None, limit: int) -> tuple[tuple[int, ...], int]:
    """The ids of the captures that may be approved together, and how many were left out because they look poisoned."""
    waiting = await captures.listing(core.database, project_id=project_id, status="review", limit=limit)
    ids = tuple(capture["id"] for capture in waiting if capture["level"] == Level.NONE)
    return ids, len(waiting) - len(ids)


def left_out(number: int) -> str:
    """Say that captures were left out of an approval of all; "" for none."""
    if not number:
        return ""
    what = "1 capture that looks poisoned was" if number == 1 else f"{number} captures that look poisoned were"
    return f"{what} left out: look at each, and approve it by its number"


async def suspicion_note(core: Core, project_id: str | None = None, since: float = 0.0) -> str:
    """One sentence on the captures that wait and look poisoned, with the reason of the worst; "" for none."""
    found = await captures.suspected(core.database, project_id, since)
    if not found:
        return ""
    many = "1 of them looks poisoned" if len(found) == 1 else f"{len(found)} of them look poisoned"
    return f"{many} (capture {found[0]['id']}: {suspicion(found[0])})"


APART = "(in quarantine)"
WITHHELD = ("summary", "content", "evidence", "rationale", "context", "reason")


def withheld(capture: dict[str, Any]) -> dict[str, Any]:
    """A capture as it is told to whom a person is not: of what is in quarantine not a word, for it may be an attack."""
    if capture["status"] != QUARANTINED:
        return capture
    # A model's opinion may quote what it is about.
    verdict = [finding | {"why": APART} for finding in capture["verdict"]]
    bare: dict[str, Any] = {"tags": [], "files": [], "verdict": verdict}
    return capture | {name: APART for name in WITHHELD if capture.get(name)} | bare


async def _look(mind: Mind, capture: dict[str, Any], sources: Sequence[int]) -> dict[str, Any]:
    hits = await recall(mind, capture["content"], capture["project_id"], NEIGHBOURS)
    similar = review.similar_to(capture["content"], ((hit.memory, hit.cosine) for hit in hits))
    # That a summing up says what its sources say is no reason to reject it.
    similar = [known for known in similar if known.id not in (capture["memory_id"], *sources)]
    worth = mind.calibration.at(capture["extractor"], capture["raw_confidence"], capture["kind"])
    return capture | {
        "context": await asyncio.to_thread(review.excerpt, capture, clean),
        "parts": review.parts(capture, worth),
        "sources": list(sources),
        "similar": [asdict(known) for known in similar],
        "proposal": asdict(review.propose(capture, similar)),
    }


async def stats(core: Core, project_id: str | None) -> dict[str, Any]:
    """What was captured, decided and given; what stated confidences are worth, over all projects."""
    found = await counts.captures(core.database, project_id)
    by_status = found["status"]
    approved, rejected = by_status.get("approved", 0), by_status.get("rejected", 0)
    return {
        "memories": await memories.counts(core.database, project_id),
        "captures": found,
        "reviews": {
            "waiting": by_status.get("review", 0),
            "approved": approved,
            "edited": await counts.edited(core.database, project_id),
            "rejected": rejected,
            "expired": by_status.get("expired", 0),
            "accepted": approved / (approved + rejected) if approved + rejected else None,
            "aim": ACCEPTANCE_AIM,
        },
        "surfaces": await counts.surfaces(core.database, project_id),
        "spend": {
            **await spend.tables(core.database, project_id),
            "total": await spend.total(core.database, project_id),
            "today": await core.llm.spending.state(),
        },
        "calibration": {name: [asdict(t) for t in curve.tenths] for name, curve in core.calibration.curves.items()},
    }
