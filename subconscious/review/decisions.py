"""Applies a person's decisions on captures, and collects the details that are shown before a decision."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from time import time
from typing import cast

import aiosqlite

from subconscious.app import App
from subconscious.capture.admission import Provenance, memory_of
from subconscious.context.decision_codes import Wish as Wish
from subconscious.context.decision_codes import digest_of
from subconscious.domain.errors import RequestError
from subconscious.domain.model import Admission, Decision, Level, Memory
from subconscious.history import rollback as session_rollback
from subconscious.memories.memory_commands import refuse_wordless
from subconscious.poisoning import check_text
from subconscious.poisoning.gate import explanation
from subconscious.poisoning.quarantine import IN_QUARANTINE
from subconscious.poisoning.suspicions import suspicion, with_suspicions
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction.cleaning import clean
from subconscious.review import rules
from subconscious.store import capture_statistics as counts
from subconscious.store import captures, consolidations, events, memories, merges, review_queue, spend
from subconscious.store.capture_rows import QUARANTINED, SessionRef, candidate_from
from subconscious.text.wording import CONTENT_LENGTH, SUMMARY_LENGTH
from subconscious.text.words import cut
from subconscious.wire import captures as wire
from subconscious.wire.captures import Capture, ReviewedCapture, WaitingDecision
from subconscious.wire.fields import list_of
from subconscious.wire.stats import StatsResult, Tenth
from subconscious.wire.undo import RollbackResult

ACCEPTANCE_AIM = 0.7
"""The share of reviewed captures that should be accepted."""

DAY = 86_400.0
COMPARED_MEMORIES = 5
"""How many similar memories a capture is compared with."""


async def apply_decision(app: App, decision: Wish) -> list[ReviewedCapture]:
    """Apply a decision in one transaction; return the captures with their new status.

    A capture whose status does not allow the decision, such as one that was decided earlier, is not changed, and is
    returned with ``unchanged``.

    Raises NotFoundError if there is no such capture, RequestError if a new wording is missing, is too long, or looks
    like an attack.
    """
    decision = replace(decision, reason=clean(decision.reason), wording=" ".join(clean(decision.wording).split()))
    if decision.deed == "edit" and (not decision.wording or len(decision.ids) != 1):
        raise RequestError("`review edit` needs one capture and its new wording", "subconscious review edit ID TEXT")
    if decision.deed == "edit":
        refuse_wordless(decision.wording)
    if len(decision.wording) > CONTENT_LENGTH:
        raise RequestError(
            f"the new wording has {len(decision.wording):,} characters; it may have at most {CONTENT_LENGTH}",
            "shorten it, and store the rest as another memory: subconscious remember TEXT",
        )
    for capture_id in decision.ids:
        await captures.get(app.database, capture_id)
    async with app.database.write() as tx:
        before = {number: _state(await captures.require(tx, number)) for number in decision.ids}
        undone = (
            []
            if await _is_repeated(tx, decision)
            else [await _apply(app, tx, decision, number) for number in decision.ids]
        )
        archived = [one.archived.id for one in undone if one.archived is not None]
        archived_summaries = await consolidations.archive_dependents(
            tx, archived, "user", "the decision on one of its sources was undone"
        )
        await _deactivate_vectors(tx, [*archived, *archived_summaries])
        restored = [number for one in undone for number in one.restored]
        restored += await merges.restore_merged(tx, archived_summaries, "user", rules.UNDONE)
    if archived or decision.deed in ("approve", "release"):
        await app.embedding.refresh([*archived, *archived_summaries, *restored, *await _memories_of(app, decision.ids)])
    app.embedding.wake()
    await app.calibrate()
    after = wire.reviewed(await captures.get_many(app.database, list(decision.ids)))
    for capture in after:
        if _state(capture) == before.get(capture["id"]):
            capture["unchanged"] = True
    return after


def _state(capture: Capture) -> tuple[object, ...]:
    return capture["status"], capture["memory_id"], capture["released_at"]


async def _memories_of(app: App, capture_ids: Sequence[int]) -> list[int]:
    bound = await captures.get_many(app.database, list(capture_ids))
    return [capture["memory_id"] for capture in bound if capture["memory_id"] is not None]


async def _is_repeated(tx: aiosqlite.Connection, decision: Wish) -> bool:
    if not decision.once:
        return False
    if await events.latest(tx, "typed", decision.once) is not None:
        return True
    await events.record(tx, decision.deed, "typed", decision.once, actor="user")
    return False


async def _apply(app: App, tx: aiosqlite.Connection, decision: Wish, capture_id: int) -> rules.UndoEffect:
    """Apply a decision to one capture; return the effect of an undo on memories, an empty effect otherwise."""
    days = app.settings.review_expiry_days
    match decision.deed:
        case "approve" | "edit":
            refuse_attack(decision.wording)
            memory = _approved(await captures.require(tx, capture_id), decision)
            if await rules.approve(tx, capture_id, memory, decision.reason):
                await _activate_vectors(tx, (await captures.require(tx, capture_id))["memory_id"] or 0)
        case "reject" | "teach":
            await rules.reject(tx, capture_id, decision.reason, teach=decision.deed == "teach")
        case "release":
            await _release(app, tx, capture_id, decision.reason)
        case "restore":
            await rules.restore(tx, capture_id, days, decision.reason)
        case "undo":
            return await rules.undo(tx, capture_id, days)
    return rules.UndoEffect()


def refuse_attack(wording: str) -> None:
    """Raise RequestError if a person's wording looks like an attack: such text must pass through quarantine."""
    verdict = check_text(wording, typed=True)
    if verdict.level.rank >= Level.HIGH.rank:
        raise RequestError(
            f"these words look like an attack on later sessions ({explanation(verdict)})",
            "write a plain statement; or use `subconscious remember TEXT`, then release that capture from quarantine",
        )


async def _release(app: App, tx: aiosqlite.Connection, capture_id: int, reason: str) -> None:
    memory = await rules.release(tx, capture_id, app.settings.review_expiry_days, reason)
    if memory is not None:
        await _activate_vectors(tx, memory.id)


async def _activate_vectors(tx: aiosqlite.Connection, memory_id: int) -> None:
    from subconscious.store import vectors  # imports numpy: only when needed

    await vectors.activate(tx, [memory_id], True)


async def rollback(app: App, session_id: str, reason: str, *, back: bool, preview: bool) -> RollbackResult:
    """Withdraw what a session added; with ``back``, restore what was withdrawn. Return what was affected.

    With ``preview``, nothing is withdrawn, and the result is what would be withdrawn; ``back`` ignores ``preview``.
    """
    from subconscious.store import vectors  # imports numpy: only when needed

    async with app.database.write() as tx:
        if back:
            found, changed = await session_rollback.put_back(tx, session_id)
        else:
            found = await session_rollback.additions(tx, session_id)
            changed = [] if preview or found.empty else await session_rollback.withdraw(tx, found, clean(reason))
        await vectors.activate(tx, [memory.id for memory in changed], back)
    if changed:
        await app.embedding.refresh([*(memory.id for memory in changed), *found.revived])
        app.embedding.wake()
        await app.calibrate()
    repeated = [memory_id for memory_id, _ in found.repeated]
    by_id = await memories.get_many(app.database, [*found.memories, *repeated, *found.revived])
    rows = {row["id"]: row for row in await with_suspicions(app.database, list(by_id.values()))}
    return {
        "session_id": session_id,
        "memories": [rows[memory_id] for memory_id in found.memories],
        "repeated": [rows[memory_id] for memory_id in repeated if by_id[memory_id].archived_at is None],
        "revived": [rows[memory_id] for memory_id in found.revived],
        "captures": [{"id": capture_id, "status": status} for capture_id, status in found.captures],
        "unread": found.unread,
        "links": [{"id": link_id, "status": status} for link_id, status in found.links],
        "done": not preview and not found.empty,
    }


def _approved(capture: Capture, decision: Wish) -> Memory:
    """Return the memory of an approved capture; its confidence is 1, because a person vouches for it."""
    candidate = candidate_from(capture)
    if decision.wording:
        candidate = replace(candidate, content=decision.wording, summary=cut(decision.wording, SUMMARY_LENGTH))
    if decision.kind:
        candidate = replace(candidate, kind=decision.kind)
    admission = Admission(Decision.AUTO, 1.0, "approved by a person")
    where = Provenance(SessionRef(capture["project_id"], capture["session_id"]), actor="user", verified=True)
    return memory_of(candidate, admission, where)


async def _deactivate_vectors(tx: aiosqlite.Connection, ids: Sequence[int]) -> None:
    if ids:
        from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

        await vectors.activate(tx, ids, False)


async def with_details(app: App, found: Sequence[Capture]) -> list[ReviewedCapture]:
    """Return captures with the text around their evidence, with similar memories, and with a proposed decision."""
    ctx = app.recall_context()
    rests = await consolidations.sources(app.database, [capture["id"] for capture in found])
    return [await _details(ctx, capture, rests.get(capture["id"], [])) for capture in found]


async def offered(app: App, project_id: str | None, limit: int = review_queue.OFFERED) -> list[ReviewedCapture]:
    """Return the most useful waiting captures with their details, and record that they were shown."""
    now = time()
    found = await review_queue.offered(app.database, project_id, now, limit)
    ids = [capture["id"] for capture in found]
    async with app.database.write() as tx:
        await review_queue.record_shown(tx, ids, now, app.settings.review_expiry_days)
    loaded = {capture["id"]: capture for capture in await captures.get_many(app.database, ids)}
    return await with_details(app, [loaded[number] for number in ids if number in loaded])


async def with_codes(app: App) -> list[WaitingDecision]:
    """Return the decisions that wait for a confirmation code, each with its current captures and a new code."""
    decisions = []
    for one in app.sessions.codes.waiting():
        chosen = await captures.get_many(app.database, list(one.wish.ids))
        decision: WaitingDecision = {
            "session_id": one.session_id,
            "deed": one.wish.deed,
            "wording": one.wish.wording,
            "captures": await with_details(app, chosen),
            "code": app.sessions.codes.issue(one, digest_of(one.wish, chosen)),
        }
        decisions.append(decision)
    return decisions


async def approvable(app: App, project_id: str | None, limit: int) -> tuple[tuple[int, ...], int]:
    """Return the ids of the waiting captures that do not look poisoned, and how many others look poisoned."""
    waiting = await captures.listing(app.database, project_id=project_id, status="review", limit=limit)
    ids = tuple(capture["id"] for capture in waiting if capture["level"] == Level.NONE)
    return ids, len(waiting) - len(ids)


def left_out(number: int) -> str:
    """Return a sentence about the ``number`` of captures that "approve all" left out; "" if there are none."""
    if not number:
        return ""
    what = "1 capture that looks poisoned was" if number == 1 else f"{number} captures that look poisoned were"
    return f"{what} left out: approve such captures one by one, by id"


async def suspicion_note(app: App, project_id: str | None) -> str:
    """Return a sentence on waiting captures that look poisoned, with the worst one's reason; "" if there are none."""
    found = await captures.suspected(app.database, project_id)
    if not found:
        return ""
    many = "1 of them looks poisoned" if len(found) == 1 else f"{len(found)} of them look poisoned"
    return f"{many} (capture {found[0]['id']}: {suspicion(found[0])})"


TEXT_FIELDS = ("summary", "content", "evidence", "rationale", "context", "reason")


def without_text(capture: ReviewedCapture) -> ReviewedCapture:
    """Return a capture for the model. If it is in quarantine, its text is left out, because it may be an attack."""
    if capture["status"] != QUARANTINED:
        return capture
    # The reason of a finding may quote the text, if a model wrote it.
    verdict = [finding | {"why": IN_QUARANTINE} for finding in capture["verdict"]]
    bare: dict[str, object] = {"tags": [], "files": [], "verdict": verdict}
    words = {name: IN_QUARANTINE for name in TEXT_FIELDS if capture.get(name)}
    return cast("ReviewedCapture", {**capture, **words, **bare})


async def _details(ctx: RecallContext, capture: Capture, sources: Sequence[int]) -> ReviewedCapture:
    hits = await recall(ctx, capture["content"], capture["project_id"], COMPARED_MEMORIES)
    similar = rules.similar_to(capture["content"], ((hit.memory, hit.cosine) for hit in hits))
    # A summary is always similar to its sources; that is no reason to reject it.
    similar = [one for one in similar if one["id"] not in (capture["memory_id"], *sources)]
    worth = ctx.calibration.at(capture["extractor"], capture["raw_confidence"], capture["kind"])
    details = cast("ReviewedCapture", dict(capture))
    details["context"] = await asyncio.to_thread(rules.excerpt, capture, clean)
    details["parts"] = rules.parts(capture, worth)
    details["sources"] = list(sources)
    details["similar"] = similar
    details["proposal"] = rules.propose(capture, similar)
    return details


async def stats(app: App, project_id: str | None) -> StatsResult:
    """Return a project's counts of captures, decisions and memories shown, and the calibration over all projects."""
    found = await counts.by_status(app.database, project_id)
    by_status = found["status"]
    approved, rejected = by_status.get("approved", 0), by_status.get("rejected", 0)
    return {
        "memories": await memories.counts(app.database, project_id),
        "captures": found,
        "week": await counts.by_status_since(app.database, project_id, time() - 7 * DAY),
        "reviews": {
            "waiting": by_status.get("review", 0),
            "approved": approved,
            "edited": await counts.count_edited(app.database, project_id),
            "rejected": rejected,
            "expired": by_status.get("expired", 0),
            "accepted": approved / (approved + rejected) if approved + rejected else None,
            "aim": ACCEPTANCE_AIM,
        },
        "surfaces": await counts.surface_counts(app.database, project_id),
        "spend": {
            **await spend.tables(app.database, project_id),
            "total": await spend.total(app.database, project_id),
            "today": await app.llm.spending.state(),
        },
        "calibration": {name: list_of(Tenth, curve.tenths) for name, curve in app.calibration.curves.items()},
    }
