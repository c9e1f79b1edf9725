"""Has a model read sessions in the background, after the rules have read them.

New text is read when there is enough of it, or when the session pauses or ends. While a provider is unavailable or a
limit is reached, the text waits.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from time import time

import aiosqlite

from subconscious.app import App
from subconscious.authorship.forgery import doubted, reasons, waiting
from subconscious.capture import unconfirmed_upkeep
from subconscious.capture.admission import Provenance
from subconscious.capture.llm_extraction import extractor as model
from subconscious.capture.llm_extraction import reconciliation, refinement
from subconscious.capture.llm_extraction.chunks import Measure, tokens
from subconscious.capture.llm_extraction.proposals import Answer
from subconscious.capture.llm_extraction.refinement import Gone, Piece
from subconscious.capture.llm_extraction.second_look import Looks
from subconscious.context.priority import Busy
from subconscious.domain.errors import (
    BadAnswerError,
    BadRequestError,
    CapReachedError,
    KeyRefusedError,
    ProviderError,
    TranscriptError,
)
from subconscious.llm.bounds import may_retry
from subconscious.llm.client import Answered
from subconscious.llm.providers import NONE
from subconscious.recall.recall_context import RecallContext
from subconscious.store import events, model_readings, second_looks, sessions
from subconscious.store.capture_rows import SessionRef
from subconscious.store.model_readings import NewText, Span
from subconscious.transcripts import Reading

log = logging.getLogger("subconscious.capture")

Work = Callable[[], Awaitable[None]]
Wait = Callable[[float, str], Awaitable[None]]
Failed = Callable[[Exception], Awaitable[None]]

NO_KEY = 5
"""A missing or rejected key causes the same pause as this number of failures. A new key ends the pause."""

LONGEST_PAUSE = 900.0
"""The longest pause in seconds between two attempts, unless the provider requests a longer one."""

LONGEST_REST = 300.0
"""The seconds after which the queue is checked even without a signal, because the clock may have been changed."""

INTENT_LENGTH = 500


def wanted(ctx: RecallContext) -> bool:
    """Whether the settings say that a model reads new text, even if no model is available at the moment."""
    return ctx.settings.provider != NONE and ctx.settings.refine and ctx.settings.capture


async def gather(
    ctx: RecallContext, tx: aiosqlite.Connection, project_id: str, place: sessions.Position, reading: Reading
) -> None:
    """Record new text of a transcript, in the transaction that stores the results of the rules.

    The caller, like all code that makes a span due, sets ``app.signals.gathered`` after the transaction. If the signal
    were set earlier, the loop in ``Refining`` would find nothing and sleep again.
    """
    if not wanted(ctx):
        # Switched off: delete the unread text, or else switching on again would send old text unasked, at a cost.
        await model_readings.delete_unread(tx, place.session_id)
        return
    gained = NewText(
        path=place.path,
        session_id=place.session_id,
        project_id=project_id,
        begin=0 if reading.restarted else place.position,
        state="" if reading.restarted else place.state,
        until=reading.offset,
        tokens=tokens(reading.turns),
    )
    await model_readings.record_new_text(tx, gained, ctx.settings.refine_tokens)


class Refining:
    """The loop in which a model reads text that is due, one chunk after the other, and reviews finished sessions."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._busy = Busy()
        self._failures = 0

    async def idle(self) -> bool:
        """Whether nothing is being read, and nothing could be read now."""
        if self._busy:
            return False
        if not self._app.llm.on:
            return True
        now = time()
        if await model_readings.next_due(self._app.database, now) is not None:
            return False
        return await second_looks.next_due(self._app.database, now) is None

    async def run(self) -> None:
        """Read text and review sessions when they are due, until cancelled."""
        begun = False
        while True:
            self._app.signals.gathered.clear()
            try:
                if not begun:
                    await self._begin()
                    begun = True
                await self._unlock()
                if not await self.step():
                    await self._rest()
            except sqlite3.Error as error:
                log.error("the unread text can't be determined: %s", error)  # noqa: TRY400 - repeats while a disk is full
                await asyncio.sleep(self._pause(1))

    async def step(self) -> bool:
        """Read one chunk or review one session, if any is due; return whether there was work."""
        return await self._read_next() or await self._look_next()

    async def _begin(self) -> None:
        """Clear the pauses of the previous daemon, and end work on sessions whose settings no longer allow a model."""
        waits = await model_readings.unread_sessions(self._app.database)
        gone = [session_id for session_id in waits if not wanted(await self._ctx(session_id))]
        for session_id in await second_looks.waiting_sessions(self._app.database):
            if not wanted(ctx := await self._ctx(session_id)):
                await _release_second_look(self._app, ctx, session_id)
        async with self._app.database.write() as tx:
            await model_readings.retry_now(tx)
            await second_looks.retry_now(tx)
            for session_id in gone:
                await model_readings.delete_unread(tx, session_id)

    async def _unlock(self) -> None:
        """Resume work at once, without waiting for the end of the pause, on sessions that have a new API key."""
        while self._app.sessions.rekeyed:
            session_id = next(iter(self._app.sessions.rekeyed))
            async with self._app.database.write() as tx:
                await model_readings.retry_now(tx, session_id)
                await second_looks.retry_now(tx, session_id)
            self._app.sessions.rekeyed.discard(session_id)

    async def _read_next(self) -> bool:
        """Read a due chunk; return whether there was one that could be read."""
        span = await model_readings.next_due(self._app.database, time()) if self._app.llm.on else None
        if span is None:
            return False
        with self._busy:
            await self._try_to_read(span)
        return True

    async def _try_to_read(self, span: Span) -> None:
        await self._attempt(partial(self._read, span), partial(self._wait, span), partial(self._failed, span))

    async def _look_next(self) -> bool:
        """Have the model review the captures of a finished session; return whether a session was due for that."""
        due = await second_looks.next_due(self._app.database, time()) if self._app.llm.on else None
        if due is None:
            return False
        with self._busy:
            await self._try_to_look(*due)
        return True

    async def _try_to_look(self, session_id: str, attempts: int) -> None:
        async def failed(error: Exception) -> None:
            reason = f"{type(error).__name__}: {error}"
            if may_retry(attempts + 1, error):
                await wait(time() + self._pause(attempts + 1), reason, failed=True)
                return
            log.warning("the model does not review the captures of session %s: %s", session_id, reason)
            await _release_second_look(self._app, await self._ctx(session_id), session_id)

        async def wait(at: float, reason: str, *, failed: bool = False) -> None:
            log.info("the model's review of the captures of session %s is postponed: %s", session_id, reason)
            async with self._app.database.write() as tx:
                await second_looks.retry_later(tx, session_id, at, reason, failed=failed)

        async def look() -> None:
            await _ask_second_look(self._app, await self._ctx(session_id), session_id)

        await self._attempt(look, wait, failed)

    async def _rest(self) -> None:
        found = self._app.database
        times = (await model_readings.next_retry(found), await second_looks.next_retry(found))
        due = min((at for at in times if at is not None), default=None) if self._app.llm.on else None
        pause = LONGEST_REST if due is None else min(LONGEST_REST, max(0.05, due - time()))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._app.signals.gathered.wait(), pause)

    async def _attempt(self, work: Work, wait: Wait, failed: Failed) -> None:
        """Do ``work``; on an error, call ``wait`` or ``failed``, whose own errors are raised."""
        accepted = self._app.config.accepted
        try:
            await work()
            self._failures = 0
        except (BadAnswerError, BadRequestError) as error:
            await failed(error)
        except KeyRefusedError as error:
            # The provider and other sessions, which may have other keys, are not affected.
            await wait(time() + self._pause(NO_KEY), f"{error.message}; {error.remedy}".rstrip("; "))
        except ProviderError as error:
            if self._app.config.accepted is not accepted:
                return  # the settings have changed: the work is retried with the new ones
            self._failures += 1
            await wait(self._when(error), f"{error.message}; {error.remedy}".rstrip("; "))
        except (TranscriptError, sqlite3.Error) as error:
            await wait(time() + self._pause(1), str(error))
        except Exception as error:
            # An error with one transcript must not block the others.
            log.exception("a model's work on a session failed")
            await failed(error)

    async def _read(self, span: Span) -> None:
        chosen = self._app.settings
        measure = Measure(chosen.chunk_tokens, chosen.chunk_overlap)
        piece = await asyncio.to_thread(refinement.read_on, span, measure)
        if piece is None or isinstance(piece, Gone):
            await self._close(span, piece.reason if piece else "")
        elif piece.chunk.speaks:
            ctx = await self._ctx(span.session_id)
            request = await refinement.ask_of(ctx, piece.chunk, span.project_id)
            answered = await self._app.llm.answer(request, span.session_id, span.project_id)
            await keep(self._app, ctx, span, piece, answered)
        else:
            await self._skip(span, piece)

    async def _ctx(self, session_id: str) -> RecallContext:
        """Return the context with the settings of a session: the same settings that the rules used."""
        session = await sessions.get(self._app.database, session_id)
        ctx = self._app.recall_context(json.loads(session.options) if session else None)
        return await self._app.notes.with_client_texts_of(ctx, session)

    async def _close(self, span: Span, reason: str) -> None:
        if reason:
            log.info("the model stops reading a transcript: %s", reason)
        async with self._app.database.write() as tx:
            await model_readings.close(tx, span.id, reason)

    async def _skip(self, span: Span, piece: Piece) -> None:
        async with self._app.database.write() as tx:
            await model_readings.advance(tx, span, piece.place, piece.left, more=piece.more)

    async def _failed(self, span: Span, error: Exception) -> None:
        """Handle an error that a chunk causes: retry the chunk later; after several attempts, skip the chunk."""
        reason = f"{type(error).__name__}: {error}"
        if may_retry(span.attempts + 1, error):
            await self._wait(span, time() + self._pause(span.attempts + 1), reason, failed=True)
            return
        log.warning(
            "%s: the model can't read a part of this transcript; captures found there without a model are kept: %s",
            span.path,
            reason,
        )
        chosen = self._app.settings
        measure = Measure(chosen.chunk_tokens, chosen.chunk_overlap)
        try:
            piece = await asyncio.to_thread(refinement.read_on, span, measure)
        except Exception as unreadable:
            # The file itself may be unreadable. Then the rest of its text is skipped too; other sessions go on.
            log.exception("%s can't be read any further", span.path)
            piece = Gone(f"{type(unreadable).__name__}: {unreadable}")
        async with self._app.database.write() as tx:
            await events.record(tx, "given up", "reading", span.id, session_id=span.session_id, reason=reason)
            if isinstance(piece, Piece):
                await model_readings.advance(tx, span, piece.place, piece.left, more=piece.more)
            else:
                await model_readings.close(tx, span.id, reason)

    async def _wait(self, span: Span, at: float, reason: str, *, failed: bool = False) -> None:
        log.info("reading %s is postponed: %s", span.path, reason)
        try:
            async with self._app.database.write() as tx:
                await model_readings.retry_later(tx, span.id, at, reason, failed=failed)
        except sqlite3.Error as error:
            log.error("the database can't be written: %s", error)  # noqa: TRY400 - repeats while a disk is full
            await asyncio.sleep(self._pause(1))

    def _when(self, error: ProviderError) -> float:
        """Return the time of the next attempt after an error that is not caused by the chunk."""
        if isinstance(error, CapReachedError):
            return max(error.retry_at, time() + self._pause(1))
        return time() + max(getattr(error, "retry_after", None) or 0.0, self._pause(self._failures))

    def _pause(self, failures: int) -> float:
        """Return a pause that doubles with each failure, with jitter, so that clients don't retry at the same time."""
        pause = self._app.settings.refine_pause_seconds * 2.0 ** (min(failures, 10) - 1)
        return min(LONGEST_PAUSE, pause) * (0.5 + random.random() / 2)  # noqa: S311 - no secret


async def keep(app: App, ctx: RecallContext, span: Span, piece: Piece, answered: Answered) -> None:
    """Store a model's findings in a chunk and the next position in one transaction, so no finding is stored twice."""
    assert isinstance(answered.value, Answer)  # noqa: S101 - the request's schema
    extractor = model.extractor(answered.provider, answered.model)
    judged = await asyncio.to_thread(refinement.judge, ctx, answered.value, piece.chunk, extractor)
    turns = piece.chunk.turns
    doubtful = await doubted(app, span.session_id, turns)
    judged = waiting(judged, await reasons(app, span.session_id, turns, doubtful))
    where = await _provenance(ctx, span)
    findings = await refinement.compare(ctx, judged, where.place)
    async with app.database.write() as tx:
        if await model_readings.advance(tx, span, piece.place, piece.left, more=piece.more):
            await refinement.join(ctx, tx, findings, where, piece.chunk.turns)
            if ctx.settings.summaries and ctx.settings.handover:
                await sessions.request_story(tx, span.session_id)
    app.embedding.wake()


async def _provenance(ctx: RecallContext, span: Span) -> Provenance:
    """Return the project and session of a chunk, without a commit: the checkout may have changed since the session."""
    session = await sessions.get(ctx.database, span.session_id)
    intent = session.first_prompt if session else ""
    return Provenance(SessionRef(span.project_id, span.session_id), intent=intent[:INTENT_LENGTH])


async def _ask_second_look(app: App, ctx: RecallContext, session_id: str) -> None:
    """Have the model review all candidates of a session at once. Raises ProviderError if there is no reply."""
    where = await _session_provenance(ctx, session_id)
    found = await reconciliation.gather(ctx, session_id, where.place.project_id)
    if not found.awaited and not found.record:  # a person decided on all captures, or purged them
        async with ctx.database.write() as tx:
            await second_looks.finish(tx, session_id, {})
        return
    answered = await app.llm.answer(reconciliation.ask(found), session_id, where.place.project_id)
    assert isinstance(answered.value, Looks)  # noqa: S101 - the request's schema
    by = f"model:{answered.provider}/{answered.model}"
    await app.embedding.refresh(await reconciliation.apply(ctx, found, answered.value, where, by))
    await _settle_unconfirmed(app, ctx, session_id)


async def _release_second_look(app: App, ctx: RecallContext, session_id: str) -> None:
    """Decide on captures that the model won't review: store the user's if accepted, leave the rest for a person."""
    await reconciliation.release(ctx, session_id, await _session_provenance(ctx, session_id))
    await _settle_unconfirmed(app, ctx, session_id)


async def _settle_unconfirmed(app: App, ctx: RecallContext, session_id: str) -> None:
    await unconfirmed_upkeep.settle(app, ctx, session_id)
    app.embedding.wake()


async def _session_provenance(ctx: RecallContext, session_id: str) -> Provenance:
    session = await sessions.get(ctx.database, session_id)
    if session is None:
        return Provenance(SessionRef("", session_id))
    return Provenance(SessionRef(session.project_id, session_id), intent=session.first_prompt[:INTENT_LENGTH])
