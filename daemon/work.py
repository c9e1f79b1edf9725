"""One job with its entry, on its way through the daemon."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import time

import aiosqlite

from subconscious.errors import UnreadableTranscriptError
from subconscious.store import jobs, sessions
from subconscious.store.jobs import Job
from subconscious.store.projects import Project

from .core import Core
from .entry import Entry

FORGETFUL = frozenset({"clear", "compact"})
"""Sources of a start after which nothing of what was given is in the context any more."""


async def note(tx: aiosqlite.Connection, entry: Entry, project: Project) -> None:
    """Put the entry's session on record, alive at the entry's time."""
    await sessions.note(
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

    core: Core
    job: Job
    entry: Entry

    @asynccontextmanager
    async def commit(self, failure: UnreadableTranscriptError | None = None) -> AsyncIterator[aiosqlite.Connection]:
        """The transaction that ends the job: whatever is written in it happens exactly once.

        With a ``failure`` it is written as well, and then raised: the job is not done, but what could be done is.
        """
        async with self.core.database.write() as tx:
            yield tx
            if failure is None:
                await jobs.finish(tx, self.job, time())
        if failure is not None:
            raise failure
