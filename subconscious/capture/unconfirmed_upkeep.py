"""Makes unconfirmed memories when a session ends, and confirms or retires those that were shown to the session.

Statements of the user that an older version left waiting, because it could not judge them, are judged once more.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from subconscious.app import App
from subconscious.capture import feedback, unconfirmed
from subconscious.capture.admission import Provenance, admit_memory
from subconscious.capture.evaluation import judge
from subconscious.capture.opinions import opinions_of
from subconscious.context.priority import LONGEST, QUIET, aside
from subconscious.domain.model import Candidate, Decision, Judged, Origin, Role, Turn
from subconscious.poisoning.context import contradicts
from subconscious.recall.engines import projects_of
from subconscious.recall.recall_context import RecallContext
from subconscious.store import captures, decisions, full_text, memories
from subconscious.store import unconfirmed as store
from subconscious.store.capture_rows import SessionRef
from subconscious.supersession import merging
from subconscious.text.terms import terms
from subconscious.wire.captures import Capture

A_ROUND = 20
"""The maximum number of sessions handled in one round of maintenance: their transcripts may have to be read again."""


async def settle(app: App, ctx: RecallContext, session_id: str) -> None:
    """Make unconfirmed memories from the best waiting captures of a finished session."""
    if await unconfirmed.settle_session(ctx, session_id):
        app.embedding.wake()


async def conclude(app: App, ctx: RecallContext, session_id: str) -> None:
    """Confirm or retire the unconfirmed memories that were shown to a session."""
    if confirmed := await feedback.conclude(ctx, session_id):
        await app.embedding.refresh(confirmed)
        app.embedding.wake()


async def settle_all(app: App) -> None:
    """Handle ended sessions: make unconfirmed memories, and judge captures that an older version left waiting."""
    ctx = app.recall_context()
    if not ctx.settings.unconfirmed:
        return
    for session_id in await store.unexamined_sessions(app.database, A_ROUND):
        await aside(app.signals, QUIET, LONGEST)
        await weigh_again(app, ctx, session_id)
        if not await unconfirmed.examine(ctx, session_id):
            await settle(app, ctx, session_id)
        app.embedding.wake()


_UNSURE = re.compile(r"confidence [\d.]+ is below [\d.]+(?::|\Z)")
"""Matches the reason of a capture that waits only because of its confidence, not because of who may have typed it."""

NEIGHBOURS = 10


async def weigh_again(app: App, ctx: RecallContext, session_id: str) -> int:
    """Store a session's waiting statements that this version would store without a review; return how many.

    Statements that contradict or would replace a memory keep waiting, because the user may have changed their mind.
    """
    async with app.database.write() as tx:
        waiting = [one for one in await store.waiting(tx, session_id) if _may_be_sure(one)]
    stored = 0
    for capture in waiting:
        judged = await _judged(app, ctx, capture)
        if judged is not None and await _store(ctx, capture, judged):
            stored += 1
    if stored:
        async with app.database.write() as tx:
            await store.record_rejudged(tx, waiting[0]["project_id"], {"stored": stored})
        app.embedding.wake()
    return stored


def _may_be_sure(capture: Capture) -> bool:
    old = capture["reservation"] is None and capture["origin"] == Origin.USER and capture["level"] == "none"
    return old and bool(_UNSURE.match(capture["reason"]))


async def _judged(app: App, ctx: RecallContext, capture: Capture) -> Judged | None:
    """Apply this version's rules to a capture's words; return the candidate if they would store it, else None."""
    place = (capture["transcript"], capture["byte_start"], capture["byte_end"])
    said = (capture["evidence"], capture["said_at"], *place, capture["branch"])
    turn = Turn(capture["turn_id"], capture["session_id"] or "", Role.USER, Origin.USER, *said)
    opinions = await opinions_of(app, [turn])
    found = await asyncio.to_thread(judge, [turn], ctx.settings, ctx.calibration, opinions)
    sure = [one for one in found if one[1].decision is Decision.AUTO]
    if len(found) != 1 or not sure or await _contradicted(ctx, sure[0][0], capture["project_id"]):
        return None
    candidate, admission = sure[0]
    return candidate, replace(admission, reason=f"judged again: {admission.reason}")


async def _contradicted(ctx: RecallContext, candidate: Candidate, project_id: str) -> bool:
    near = await full_text.search(ctx.database, terms(candidate.content), projects_of(project_id), NEIGHBOURS)
    known = await memories.get_many(ctx.database, [number for number, _ in near])
    return any(contradicts(candidate.content, one.content) for one in known.values())


async def _store(ctx: RecallContext, capture: Capture, judged: Judged) -> bool:
    repeats = await merging.repeated(ctx, [judged], capture["project_id"])
    if any(repeats.replaced.values()) or repeats.in_doubt:
        return False  # the memory to be replaced may be newer than this statement
    where = Provenance(SessionRef(capture["project_id"], capture["session_id"]))
    async with ctx.database.write() as tx:
        now = await captures.require(tx, capture["id"])
        if now["status"] != "review" or now["memory_id"] is not None:
            return False
        await decisions.reword(tx, now, *judged, ctx.settings.review_expiry_days)
        await admit_memory(ctx, tx, capture["id"], judged, where, repeats)
    return True
