"""A small store with something on every page of `subconscious ui`: three sessions of a made-up shop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import time

import aiosqlite

from bench.memory import memory_of
from subconscious.domain.hits import Surface as Surfaced
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Link, Memory, Origin, Session, Strength
from subconscious.settings.home import Home
from subconscious.store import captures, links, memories, sessions, surfaces
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import Project, find_or_create
from subconscious.system.projects import Identity

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
REDIS = "We keep sessions in Redis, because the web servers must stay stateless."
POSTGRES = "We moved sessions from Redis to Postgres: one store less to run, and backups cover them."
ARCHIVED = "The nightly import runs at two o'clock."
HOSTILE = "<script>document.title = 'owned'</script><img src=x onerror=alert(1)> is how the form was attacked."
WAITING = (
    "Deploys are frozen on Fridays after noon.",
    "The staging database is reset every night.",
    "Small commits, one change each.",
)
"""What waits for review, one statement of each session."""

SAID = (
    (0, "decision", REDIS),
    (0, "preference", "Use pnpm, never npm: the lock file is pnpm's."),
    (0, "decision", "All amounts are integer cents, because floats lost a cent in the monthly report."),
    (0, "learning", HOSTILE),
    (1, "decision", POSTGRES),
    (1, "lesson", "Don't divide in receipts.py: use the formatted text from money.py instead."),
    (1, "dead_end", "Chunked uploads over the proxy fail after 60 seconds, whatever the client's time-out is."),
    (1, "learning", "The upload worker retries twice and then parks the chunk."),
    (1, "progress", ARCHIVED),
    (2, "preference", "Write the reason for a change into its commit message."),
    (2, "blocker", "Staging has no access to the payment sandbox until the certificate is renewed."),
)
"""Session, kind and words of each memory, from number 1 on: in the order of time, as a store has them."""

LINKED = ((4, "SUPERSEDES", 0), (6, "SUPPORTS", 7), (7, "EXTENDS", 4), (2, "CAUSED", 5))
"""The newer store replaces the older one, and a few findings belong together."""

GIVEN = (
    (4, "a decision that fits the branch and the latest prompts: shares sessions and Postgres"),
    (1, "a standing preference of the user"),
    (2, "a decision made on the branch main"),
)
"""What the last session was given at its start, and why."""

PROMPTED = (6, "fits the prompt: shares uploads, proxy and fail")
"""What it was given with a prompt, later."""

SESSIONS = (
    ("5f0c2d1e-0001-4000-8000-000000000001", "Move amounts to integer cents", 9 * DAY),
    ("5f0c2d1e-0002-4000-8000-000000000002", "Replace the session store", 1 * DAY + 3 * HOUR),
    ("5f0c2d1e-0003-4000-8000-000000000003", "Write the release notes", 2 * HOUR),
)
"""Id, title and age of each session."""


@dataclass(frozen=True, slots=True)
class Furnished:
    """The numbers of what was stored."""

    root: Path
    redis: int
    postgres: int
    hostile: int
    archived: int
    waiting: int


def furnish(home: Home, root: Path) -> Furnished:
    """Fill the store of a state folder without a daemon; ``root`` is the project's folder."""
    root.mkdir(parents=True, exist_ok=True)
    # In a thread: the caller may have a loop that runs already.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(_furnish(home, root))).result()


async def _furnish(home: Home, root: Path) -> Furnished:
    database = await open_database(home.database)
    try:
        await migrate(database)
        return await _store(database, root)
    finally:
        await database.close()


async def _store(database: Database, root: Path) -> Furnished:
    project = await find_or_create(database, Identity(str(root), root.name, "", ""))
    now = time()
    async with database.write() as tx:
        for session_id, title, age in SESSIONS:
            await _add_session(tx, project, session_id, title, now - age)
    made: list[Memory] = []
    waiting = [await _fill_session(database, project, session, now, made) for session in range(len(SESSIONS))]
    async with database.write() as tx:
        await _give(tx, project, made, now)
    return Furnished(root, made[0].id, made[4].id, made[3].id, made[8].id, waiting[0])


async def _fill_session(database: Database, project: Project, session: int, now: float, made: list[Memory]) -> int:
    """Store what a session said, one transaction for each act; return the statement that waits for review."""
    age = SESSIONS[session][2]
    for number in [number for number, said in enumerate(SAID) if said[0] == session]:
        at = now - age + MINUTE * number
        async with _dated(database, at) as tx:
            made.append(await _add(tx, project, number, at))
        for source, kind, target in [one for one in LINKED if number == max(one[0], one[2])]:
            async with _dated(database, at + 1) as tx:
                await _link(tx, made[source], kind, made[target])
    async with _dated(database, now - age + HOUR) as tx:
        waiting = await _add_waiting(tx, project, session, now - age + HOUR)
    if SAID[len(made) - 1][2] == ARCHIVED:
        async with _dated(database, now - DAY) as tx:
            await _archive(tx, made[-1], now - DAY)
    return waiting


@asynccontextmanager
async def _dated(database: Database, at: float) -> AsyncIterator[aiosqlite.Connection]:
    """A transaction with events of another time."""
    async with database.write() as tx:
        last = next(iter(await tx.execute_fetchall("SELECT coalesce(max(id), 0) FROM events")))[0]
        yield tx
        await tx.execute("UPDATE events SET at = ? WHERE id > ?", (at, last))


async def _add_session(tx: aiosqlite.Connection, project: Project, session_id: str, title: str, at: float) -> None:
    past = Session(session_id, project.id, "", project.root, "ended", at, at + HOUR)
    await sessions.insert_imported(tx, past)
    await tx.execute(
        "UPDATE sessions SET title = ?, summary = ?, first_prompt = ?, turns = 24, branch = 'main' WHERE id = ?",
        (
            title,
            f"{title}: the code, its tests and the notes were changed. All tests passed.",
            title,
            past.id,
        ),
    )


async def _add(tx: aiosqlite.Connection, project: Project, number: int, at: float) -> Memory:
    session, kind, words = SAID[number]
    session_id = SESSIONS[session][0]
    memory = memory_of(project.id, words, at, kind, session_id=session_id, evidence=words, branch="main")
    return await memories.insert(tx, replace(memory, summary=words[:120]), actor="daemon")


async def _link(tx: aiosqlite.Connection, source: Memory, kind: str, target: Memory) -> None:
    link = Link(0, source.id, target.id, kind, "active", 0.92, "rules", "", source.said_at)
    await links.add(tx, link, "daemon", session_id=source.session_id)


async def _archive(tx: aiosqlite.Connection, memory: Memory, at: float) -> None:
    """Archive a memory at another time."""
    await memories.archive(tx, memory, "user", "it runs by cron now")
    await tx.execute("UPDATE memories SET archived_at = ? WHERE id = ?", (at, memory.id))
    after = json.dumps({"archived_at": at})
    await tx.execute("UPDATE events SET after = ? WHERE id = (SELECT max(id) FROM events)", (after,))


async def _give(tx: aiosqlite.Connection, project: Project, made: list[Memory], now: float) -> None:
    """Give the last session some memories at its start, and one with a prompt; one was used, another one was not."""
    session_id, _, age = SESSIONS[2]

    def given(event: str, at: float, place: int, index: int, reason: str, relevance: float) -> Surfaced:
        memory = made[index]
        return Surfaced(session_id, event, at, memory.id, memory.content_hash, place, reason, relevance, 0.9)

    rows = [given("start/startup", now - age, place, *one, 0.4) for place, one in enumerate(GIVEN, 1)]
    rows.append(given("prompt", now - age + 20 * MINUTE, 1, *PROMPTED, 0.83))
    await surfaces.record(tx, project.id, rows)
    judged = {made[1].id: True, made[2].id: False}
    for surface in [one for one in await _unjudged(tx, session_id) if one.memory_id in judged]:
        await surfaces.judge(tx, surface, session_id, judged[surface.memory_id], "3 of its 5 own words", "bench")


async def _unjudged(tx: aiosqlite.Connection, session_id: str) -> list[surfaces.Unjudged]:
    query = "SELECT id, memory_id, event, at FROM surfaces WHERE session_id = ? ORDER BY id DESC"
    return [surfaces.Unjudged(**dict(row)) for row in await tx.execute_fetchall(query, (session_id,))]


async def _add_waiting(tx: aiosqlite.Connection, project: Project, session: int, at: float) -> int:
    """Let a statement of a session wait for review; return its number."""
    text = WAITING[session]
    evidence = Evidence(text, f"turn-{session}", "", 0, len(text))
    said = Candidate("decision", text, text, evidence, Origin.ASSISTANT, Strength.IMPLIED, 0.7, "bench", at)
    admission = Admission(Decision.REVIEW, 0.7, "the assistant said it")
    number = await captures.insert(tx, said, admission, SessionRef(project.id, SESSIONS[session][0]), 30)
    assert number is not None
    return number
