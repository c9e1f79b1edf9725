"""A job of the queue, with the spool entry that it processes."""

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
"""Values of ``source`` in a SessionStart event after which memories shown earlier are no longer in the context."""


async def note(tx: aiosqlite.Connection, entry: Entry, project: Project) -> None:
    """Record the session of an entry as active at the entry's time."""
    await sessions.record_activity(
        tx,
        entry.payload.session_id,
        project.id,
        min(entry.at, time()),  # a clock that was ahead must not keep a session active for years
        transcript=entry.payload.transcript_path,
        cwd=entry.folder,
        options=json.dumps(dict(entry.options)),
    )


@dataclass(frozen=True, slots=True)
class Work:
    """A leased job with its entry; ``commit`` stores its effects and marks it done in one transaction."""

    app: App
    job: Job
    entry: Entry

    @asynccontextmanager
    async def commit(self, failure: UnreadableTranscriptError | None = None) -> AsyncIterator[aiosqlite.Connection]:
        """Return the transaction that ends the job, so that its writes happen exactly once.

        With ``failure``, the transaction is committed and the error is raised afterwards: all possible work is stored,
        and the job counts as failed.
        """
        async with self.app.database.write() as tx:
            yield tx
            if failure is None:
                await jobs.finish(tx, self.job, time())
        if failure is not None:
            raise failure
