"""One job with its entry, on its way through the daemon."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.app import App
from subconscious.context.entry import Entry
from subconscious.domain.errors import UnreadableTranscriptError
from subconscious.store import jobs, sessions
from subconscious.store.jobs import Job
from subconscious.store.projects import Project

FORGETFUL = frozenset({"clear", "compact"})
"""Sources of a start after which the injected memories are no longer in the context."""


async def note(tx: aiosqlite.Connection, entry: Entry, project: Project) -> None:
    """Put the entry's session on record, alive at the entry's time."""
    await sessions.record_activity(
        tx,
        entry.payload.session_id,
        project.id,
        min(entry.at, time()),  # a clock that was ahead must not make a session immortal
        transcript=entry.payload.transcript_path,
        cwd=entry.folder,
        options=json.dumps(dict(entry.options)),
    )


@dataclass(frozen=True, slots=True)
class Work:
    """One leased job with its entry; ``commit`` makes its effects and its end one transaction."""

    app: App
    job: Job
    entry: Entry

    @asynccontextmanager
    async def commit(self, failure: UnreadableTranscriptError | None = None) -> AsyncIterator[aiosqlite.Connection]:
        """The transaction that ends the job: its writes happen exactly once.

        With a ``failure`` it is written as well, and then raised: the job is not done, but what could be done is.
        """
        async with self.app.database.write() as tx:
            yield tx
            if failure is None:
                await jobs.finish(tx, self.job, time())
        if failure is not None:
            raise failure
