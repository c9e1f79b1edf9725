"""Simulate a year of work with and without decay: `python -m bench.life [--seed 7]`.

A developer with six projects, two of which die: sessions, repeats, changes of mind (bench/life_story.py, seeded). The
store, the start of a session, what prompts are given, recall, the daily run and its formulas are the shipped ones, on a
clock of the bench's own, with the local embedder. The same story is lived by each row of the table.

recall@10: of what sessions needed in the year, all of it still true, the share among the first ten. "wrong": of what
was archived, the share that a session needed afterwards, until 90 days after the year; "true": that still mattered when
it was archived. "stale first": questions whose outdated answer stood above the right one. Every other repetition of a
decision is in other words: a memory of its own, until it is merged at night ("merged": how many were).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.clock import Clock, running_on
from bench.life_story import BEGIN, DAY, YEAR, Fact, Session, tell
from bench.memory import memory_of
from bench.tuned import tuned
from cli.fading import curve
from subconscious.app import App
from subconscious.domain.model import Memory
from subconscious.embeddings.background import Embedding
from subconscious.embeddings.embedder import Embedder, open_embedder
from subconscious.memories import corrections, fading
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext
from subconscious.settings.home import Home
from subconscious.store import fading as stored
from subconscious.store import memories, merges, sessions, vectors
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import Project, find_or_create
from subconscious.store.rows import content_hash
from subconscious.supersession import nightly_merging
from subconscious.surfacing.proactive import Prompt, surface_prompt
from subconscious.surfacing.session_start import Start, surface_start
from subconscious.system.projects import Identity

ROWS: dict[str, dict[str, Any]] = {
    "no forgetting": {"archive_faded": False},
    "as shipped": {},
    "without merges": {"dedupe": False},
    "formula alone": {"archive_patience": 0},
    "composite": {"archive_policy": "composite", "archive_patience": 0},
    "exp30": {"archive_policy": "exp30", "archive_patience": 0},
}
OPENING = "We decided to "
HORIZON = BEGIN + YEAR * DAY


@dataclass
class Tally:
    """The counts during a story."""

    found: list[bool] = field(default_factory=list)
    recent: list[bool] = field(default_factory=list)
    stale: int = 0
    sizes: list[tuple[float, float]] = field(default_factory=list)
    nights: list[float] = field(default_factory=list)
    looked: int = 0
    archived: dict[int, float] = field(default_factory=dict)
    needed: dict[int, float] = field(default_factory=dict)
    slow: list[float] = field(default_factory=list)
    merged: int = 0


class Life:
    """One store in which the story is lived."""

    def __init__(self, app: App, ctx: RecallContext, projects: Sequence[Project], embed: Callable[[str], Any]) -> None:
        self.app, self.projects, self.tally = app, projects, Tally()
        self._ctx, self._embed = ctx, embed
        self._ids: dict[int, int] = {}
        self._older: dict[int, int] = {}
        self._also: dict[int, set[int]] = {}

    async def session(self, number: int, session: Session) -> None:
        """A session with all that it says, works on and needs."""
        project, name = self.projects[session.project], f"session-{number}"
        async with self.app.database.write() as tx:
            await sessions.record_activity(tx, name, project.id, session.at, transcript="", cwd=project.root)
        hints = f"{session.thing} {session.file}"
        await surface_start(self._ctx, Start(name, project.id, "start/startup", "main", "told", hints))
        await surface_prompt(self._ctx, Prompt(name, project.id, f"Please work on {session.thing} in {session.file}"))
        await self._touch(project, session)
        for need in session.needs:
            await self._need(project, need, session.at)
        for fact in session.said:
            await self._say(project, fact, name)
        for again in session.again:
            await self._again(again, session.at)
        for new, old, noted in session.replaces:
            self._older[new] = old
            if noted and await self._is_active(old):
                wish = corrections.CorrectionRequest(self._ids[old], "superseded", self._ids[new])
                await corrections.correct(self.app, wish)

    async def _touch(self, project: Project, session: Session) -> None:
        found = await stored.about(self.app.database, project.id, {session.file}, {session.thing})
        async with self.app.database.write() as tx:
            await stored.touch(tx, found, session.at)

    async def _say(self, project: Project, fact: Fact, session: str) -> None:
        async with self.app.database.write() as tx:
            memory = await memories.insert(tx, _memory(project, fact, session))
            await vectors.save(tx, EMBEDDER.name, [vectors.Row(memory.id, project.id, self._embed(fact.text))])
        self._ids[fact.number] = memory.id
        await self._refresh([memory.id])

    async def _again(self, number: int, at: float) -> None:
        """Said again: known if it is active, else a new memory of the same words takes up where the old one ended."""
        memory = await memories.get(self.app.database, self._ids[number])
        words = memory.content.removeprefix(OPENING)
        if memory.archived_at is None and words != memory.content and number % 2:
            await self._reword(number, memory, words[:1].upper() + words[1:], at)
            return
        async with self.app.database.write() as tx:
            if memory.archived_at is None:
                await memories.restate(tx, memory, at, "again")
                return
            made = await memories.insert(tx, replace(memory, id=0, archived_at=None, said_at=at, created_at=at))
            row = vectors.Row(made.id, str(memory.project_id), self._embed(memory.content))
            await vectors.save(tx, EMBEDDER.name, [row])
        self._ids[number] = made.id
        await self._refresh([made.id])

    async def _reword(self, number: int, memory: Memory, words: str, at: float) -> None:
        """A repetition in other words: a memory beside the known one."""
        said = replace(
            memory,
            id=0,
            content=words,
            summary=words[:100],
            content_hash=content_hash(words),
            said_at=at,
            created_at=at,
            recurrence=1,
            uses=0,
            last_used_at=None,
            session_id="again",
        )
        async with self.app.database.write() as tx:
            made = await memories.same_wording(tx, said) or await memories.insert(tx, said)
            row = vectors.Row(made.id, str(memory.project_id), self._embed(words))
            await vectors.save(tx, EMBEDDER.name, [row])
        self._also.setdefault(number, set()).add(made.id)
        await self._refresh([made.id])

    async def _merge(self) -> None:
        """The nightly merges; merged facts map to the memory that states them now."""
        done = nightly_merging.Done(compared=1)
        while done.compared:
            done = await nightly_merging.portion(self.app, done.last)
            self.tally.merged += done.merged
        rows = await self.app.database.rows(f"SELECT memory_id, into_id FROM {merges.MERGED}")
        into = {row[0]: row[1] for row in rows}
        self._ids = {number: into.get(known, known) for number, known in self._ids.items()}

    async def _is_active(self, number: int) -> bool:
        return (await memories.get(self.app.database, self._ids[number])).archived_at is None

    async def _need(self, project: Project, fact: Fact, at: float) -> None:
        wanted = self._ids[fact.number]
        same = {wanted, *self._also.get(fact.number, ())}
        self.tally.needed |= dict.fromkeys(same, at)
        begun = perf_counter()
        hits = await recall(self._ctx, fact.query, project.id, 10)
        self.tally.slow.append(1000 * (perf_counter() - begun))
        ids = [hit.memory.id for hit in hits]
        async with self.app.database.write() as tx:
            await memories.touch(tx, ids, at)
        if at >= HORIZON:
            return
        latest = await memories.recent(self.app.database, project.id, 10)
        right = [number for number in ids if number in same]
        self.tally.found.append(bool(right))
        self.tally.recent.append(not same.isdisjoint(memory.id for memory in latest))
        old = self._ids.get(self._older.get(fact.number, 0))
        self.tally.stale += old in ids and (not right or ids.index(old) < ids.index(right[0]))

    async def night(self, day: int, now: float) -> None:
        """The daily run, and the remaining memories."""
        await self._merge()
        report = await fading.daily(self.app, now)
        if report is not None:
            await self._refresh(report.archived)
            self.tally.archived.update(dict.fromkeys(report.archived, now))
            self.tally.nights.append(report.seconds)
            self.tally.looked += report.looked
        counted = await memories.counts(self.app.database, None)
        self.tally.sizes.append((day, counted["active"]))

    async def _refresh(self, ids: Sequence[int]) -> None:
        assert self._ctx.index is not None
        await self._ctx.index.refresh(ids)


def _memory(project: Project, fact: Fact, session: str) -> Memory:
    return memory_of(
        project.id,
        fact.text,
        fact.at,
        fact.kind,
        session_id=session,
        files=(fact.file,),
        embedding_status="done",
    )


def _opened() -> Embedder:
    embedder = open_embedder("local")
    if embedder is None:
        raise SystemExit("there is no local model")
    return embedder


EMBEDDER = _opened()


@asynccontextmanager
async def opened(chosen: dict[str, Any], known: dict[str, Any]) -> AsyncIterator[Life]:
    """A separate store with the projects."""

    def embed(text: str) -> Any:
        if text not in known:
            known[text] = EMBEDDER.embed([text])[0]
        return known[text]

    async def of_query(text: str) -> Any:
        return embed(text)

    with tempfile.TemporaryDirectory(prefix="life-") as scratch:
        home = Home(Path(scratch) / "home")
        home.make()
        database = await open_database(home.database)
        await migrate(database)
        app = App(home, tuned(embedder="none", **chosen), database, Embedding("none", database))
        index = await vectors.open_index(database, EMBEDDER.name, EMBEDDER.dim)
        app.embedding.current.model, app.embedding.current.index = EMBEDDER.name, index
        projects = [await find_or_create(database, Identity(root=f"/p{n}", name=f"p{n}")) for n in range(6)]
        ctx = replace(app.recall_context(), index=index, embed=of_query)
        try:
            yield Life(app, ctx, projects, embed)
        finally:
            await index.close()
            await app.embedding.close()
            await database.close()


async def live(story: Sequence[Session], chosen: dict[str, Any], known: dict[str, Any], clock: Clock) -> Life:
    """Live the story; after the year nothing is archived any more."""
    async with opened(chosen, known) as life:
        day = 0
        for number, session in enumerate(story):
            while BEGIN + (day + 1.1) * DAY < min(session.at, HORIZON):
                day += 1
                clock.now = BEGIN + (day + 0.1) * DAY + day  # a second later each day: a day has passed
                await life.night(day, clock.now)
            clock.now = session.at
            await life.session(number, session)
        return life


def row(name: str, life: Life, facts: dict[int, Fact]) -> str:
    """One row of the table."""
    tally, until = life.tally, {life._ids[fact.number]: fact.until for fact in facts.values()}
    gone = tally.archived
    again = sum(tally.needed.get(number, 0.0) > at for number, at in gone.items())
    true = sum(until.get(number, 0.0) > at for number, at in gone.items())
    share = [f"{part / len(gone):6.1%}" if gone else "     -" for part in (again, true)]
    nights = (
        f"{1000 * statistics.mean(tally.nights):6.0f} {max(tally.nights) * 1000:6.0f}"
        if tally.nights
        else "     -      -"
    )
    per = 1000 * 1000 * sum(tally.nights) / tally.looked if tally.looked else 0.0
    asked = len(tally.found)
    return (
        f"{name:14} {tally.sizes[-1][1]:7.0f} {len(gone):8} {sum(tally.found) / asked:9.3f} {share[0]} {share[1]}"
        f" {tally.stale / asked:11.1%} {nights} {per:9.0f} {statistics.median(tally.slow):7.1f} {tally.merged:6}"
    )


async def run(seed: int, only: Sequence[str]) -> None:
    """Live the story once for each row."""
    story, facts = tell(seed)
    within = [session for session in story if session.at < HORIZON]
    said = sum(len(session.said) for session in within)
    print(
        f"seed {seed}: {len(within)} sessions, {said} memories, {sum(len(s.needs) for s in within)} needs in the year"
    )
    print(
        f"{'':14} {'active':>7} {'archived':>8} {'recall@10':>9} {'wrong':>6} {'true':>6} {'stale first':>11}"
        f" {'night ms':>6} {'max':>6} {'ms/1,000':>9} {'recall ms':>7} {'merged':>6}"
    )
    known: dict[str, Any] = {}
    lives: dict[str, Life] = {}
    clock = Clock(BEGIN)
    with running_on(clock):
        for name, chosen in ROWS.items():
            if not only or any(part in name for part in only):
                clock.now = BEGIN
                lives[name] = await live(story, chosen, known, clock)
                print(row(name, lives[name], facts), flush=True)
    first = next(iter(lives.values())).tally
    print(f"{'plain recency':14} {'':7} {'':8} {sum(first.recent) / len(first.recent):9.3f}")
    top = max(size for life in lives.values() for _, size in life.tally.sizes)
    for name, life in lives.items():
        print(f"\nactive memories by day: {name}")
        print("\n".join(curve(life.tally.sizes, 72, top=top, unit="days")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--row", action="append", default=[], help="only rows whose name has this in it")
    chosen = parser.parse_args()
    asyncio.run(run(chosen.seed, chosen.row))


if __name__ == "__main__":
    main()
