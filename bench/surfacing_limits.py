"""Try to make surfacing break its limits: `python -m bench.surfacing_limits [--sequences 10000]`.

Random sequences of session events (starts, prompts, files, errors, answers, compactions, clears, resumptions, hooks
that gave up, clocks that jump, two sessions at once) go through the real flow and store. The given memories are checked
in the stored rows after every step.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from unittest import mock

import numpy
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bench.memory import memory_of
from bench.tuned import tuned
from subconscious.domain.model import Memory
from subconscious.framing.rules import Context
from subconscious.recall import pipeline
from subconscious.recall.file_binding import Touched
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions import previous_session
from subconscious.store import memories, surfaces, triggers
from subconscious.store.connect import Database, open_database
from subconscious.store.filters import Filter
from subconscious.store.migrate import migrate
from subconscious.store.projects import Project, find_or_create
from subconscious.surfacing import portfolio_candidates, proactive, session_start
from subconscious.surfacing.proactive import Prompt, SurfacingEvent, surface_error, surface_file, surface_prompt
from subconscious.surfacing.session_start import Start, surface_start
from subconscious.system.projects import Identity
from subconscious.text import due_dates

T = TypeVar("T")

NOON = 1_790_000_000.0
FILES = ("src/upload/worker.py", "src/ledger.py", "web/index.ts")
ERRORS = ("Error: connect ECONNREFUSED 127.0.0.1:5433", "StaleTokenError: token of yesterday's gateway")
TEXTS = (
    "The UploadWorker retries a failed chunk upload {n} times in src/upload/worker.py.",
    "Amounts in src/ledger.py are integer cents, case {n}.",
    "ECONNREFUSED on port 5433 means that the test database {n} is down.",
    "StaleTokenError of the gateway comes from the cached signing key {n}.",
    "The release freeze of shop {n} holds until 2026-10-01.",
    "When we upgrade to Python 3.13 the backport {n} goes.",
)
PROMPTS = (
    "why does the UploadWorker retry a failed chunk upload in src/upload/worker.py",
    "are the amounts in src/ledger.py integer cents",
    "what did StaleTokenError of the gateway come from, the cached signing key?",
    "let us upgrade to Python 3.13",
    "thanks, go on",
)
SESSIONS = st.sampled_from(("one", "two", "three"))
TABLES = (
    *("surface_outcomes", "surfaces", "memory_triggers", "trigger_searches", "memory_files", "events", "sessions"),
    *("memories_fts", "memories"),
)


class World:
    """One store for all sequences; each begins with an empty one."""

    def __init__(self, folder: Path) -> None:
        self._runner = asyncio.Runner()
        self.now = NOON
        self.database: Database = self.run(open_database(folder / "memory.db"))
        self.run(migrate(self.database))
        self.project: Project = self.run(find_or_create(self.database, Identity(root=str(folder), name="shop")))

    def run(self, story: Coroutine[Any, Any, T]) -> T:
        """Do something in the store."""
        return self._runner.run(story)

    def clock(self) -> float:
        """What time it is in the sequence."""
        self.now += 0.01
        return self.now

    def empty(self) -> None:
        """Forget everything, for the next sequence."""

        async def forget() -> None:
            async with self.database.write() as tx:
                for table in TABLES:
                    await tx.execute(f"DELETE FROM {table}")

        self.run(forget())
        self.now = NOON

    def close(self) -> None:
        """Let go of the store."""
        self.run(self.database.close())
        self._runner.close()


async def no_embedding(text: str) -> numpy.ndarray | None:
    """Words alone."""
    del text
    return None


class Sessions(RuleBasedStateMachine):
    """The actions of sessions, and the invariants that must always be true."""

    world: ClassVar[World]
    given: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        for module in (session_start, previous_session, portfolio_candidates, pipeline, proactive):
            self._stack.enter_context(mock.patch.object(module, "time", self.world.clock))
        self.contexts: dict[str, set[str]] = {}
        self.names: dict[str, str] = {}
        self.rows: list[dict[str, Any]] = []

    def teardown(self) -> None:
        """Count the given memories, and empty the store."""
        self.given.update(row["event"].split("/")[0] for row in self.rows)
        self._stack.close()
        self.world.empty()

    @initialize(
        limit=st.integers(0, 10),
        of_file=st.integers(0, 3),
        at_once=st.integers(1, 5),
        minutes=st.sampled_from((0, 5, 60)),
        off=st.sampled_from(((), ("decision",))),
    )
    def begin(self, limit: int, of_file: int, at_once: int, minutes: int, off: tuple[str, ...]) -> None:
        """Choose the limits, and know something."""
        self.settings = tuned(
            embedder="none",
            session_surfaces=limit,
            file_surfaces=of_file,
            prompt_memories=at_once,
            surface_cooldown_minutes=minutes,
            surface_kinds_off=off,
            start_memories=1,
        )
        self.recall_context = RecallContext(self.world.database, None, self.settings, no_embedding)
        self._learn(*((number % len(TEXTS), number, "dead_end", "") for number in range(12)))

    @rule(
        text=st.integers(0, len(TEXTS) - 1),
        number=st.integers(0, 30),
        kind=st.sampled_from(("decision", "dead_end", "lesson")),
        session=st.sampled_from(("", "one")),
    )
    def learn(self, text: int, number: int, kind: str, session: str) -> None:
        """Something more becomes known."""
        self._learn((text, number, kind, session))

    @rule(session=SESSIONS, source=st.sampled_from(("startup", "resume")))
    def start(self, session: str, source: str) -> None:
        """A session begins, or is resumed with its context."""
        self._greet(session, f"start/{source}")

    @rule(session=SESSIONS)
    def compact(self, session: str) -> None:
        """The context is cleared, and the session continues."""
        self._forget(session)
        self._greet(session, "start/compact")

    @rule(session=SESSIONS)
    def clear(self, session: str) -> None:
        """The client continues under a new id."""
        self.names[session] = f"{session}-{self.world.now}"
        self._greet(session, "start/clear")

    @rule(session=SESSIONS, text=st.sampled_from(PROMPTS))
    def prompt(self, session: str, text: str) -> None:
        """A person types."""
        asked = Prompt(self._id(session), self.world.project.id, text, "main")
        self._given(session, self.world.run(surface_prompt(self.recall_context, asked)))

    @rule(session=SESSIONS, path=st.sampled_from(FILES), words=st.sampled_from(("", "chunk upload retries cents")))
    def file(self, session: str, path: str, words: str) -> None:
        """A tool reads or changes a file."""
        told = surface_file(self.recall_context, self._occasion(session, "file"), Touched(path, "/shop", words))
        self._given(session, self.world.run(told))

    @rule(session=SESSIONS, output=st.sampled_from(ERRORS))
    def error(self, session: str, output: str) -> None:
        """A tool fails."""
        self._given(
            session, self.world.run(surface_error(self.recall_context, self._occasion(session, "error"), output))
        )

    @rule(session=SESSIONS, text=st.sampled_from(PROMPTS))
    def give_up(self, session: str, text: str) -> None:
        """A hook's deadline passes: its output was not read."""
        asked = Prompt(self._id(session), self.world.project.id, text, "main")
        before = self.world.run(surfaces.latest_id(self.world.database))
        self.world.run(surface_prompt(self.recall_context, asked))
        self.world.run(self._in_store(lambda tx: surfaces.delete_after(tx, self._id(session), before)))

    @rule(session=SESSIONS, used=st.booleans())
    def answer(self, session: str, used: bool) -> None:
        """A turn ends: the given memories are judged."""

        async def judged() -> None:
            waiting = await surfaces.unjudged(self.world.database, self._id(session))
            async with self.world.database.write() as tx:
                for one in waiting:
                    await surfaces.judge(tx, one, self._id(session), used, "", "act")

        self.world.run(judged())

    @rule(seconds=st.sampled_from((-86_400.0, -400.0, 1.0, 200.0, 301.0, 4000.0, 900_000.0)))
    def step(self, seconds: float) -> None:
        """Time passes, or the clock is set."""
        self.world.now += seconds

    @rule(number=st.integers(0, 7))
    def archive(self, number: int) -> None:
        """A memory is taken out of use."""

        async def gone() -> None:
            known, _ = await memories.listing(self.world.database, Filter(self.world.project.id), 50)
            async with self.world.database.write() as tx:
                for memory in known[number : number + 1]:
                    await memories.archive(tx, memory, "user", "")

        self.world.run(gone())

    @invariant()
    def no_limit_is_exceeded(self) -> None:
        """Check the rows independently of the code that wrote them."""
        if not hasattr(self, "settings"):
            return
        self.rows = [dict(row) for row in self.world.run(self._surfaces())]
        unasked_rows = [row for row in self.rows if row["event"] in surfaces.PROACTIVE_EVENTS]
        for session, count in Counter(row["session_id"] for row in unasked_rows).items():
            assert count <= self.settings.session_surfaces, f"{session} was given {count}"
        files = Counter((row["session_id"], row["about"]) for row in unasked_rows if row["about"])
        assert max(files.values(), default=0) <= self.settings.file_surfaces
        due_rows = Counter(row["trigger_id"] for row in self.rows if row["trigger_id"] is not None)
        assert max(due_rows.values(), default=0) <= 1, "what is due was told twice"
        for row in unasked_rows:
            assert row["relevance"] >= self.settings.surface_relevance
            assert row["kind"] not in self.settings.surface_kinds_off
            assert row["own"] != row["session_id"]
        self._cooled(unasked_rows)
        assert all(-1.0 <= row["priority"] <= 1.0 for row in self.rows)

    def _cooled(self, rows: list[dict[str, Any]]) -> None:
        before: dict[tuple[str, int], float] = {}
        for row in rows:
            key = (row["session_id"], row["memory_id"])
            assert row["at"] - before.get(key, -1e18) >= 60 * self.settings.surface_cooldown_minutes
            before[key] = max(row["at"], before.get(key, -1e18))

    def _given(self, session: str, context: Context) -> None:
        """No memory is given that is already in the context."""
        hashes = [hit.memory.content_hash for hit in context.hits]
        known = self.contexts.setdefault(self._id(session), set())
        assert not known & set(hashes), "the same text was given twice"
        assert len(hashes) == len(set(hashes))
        known.update(hashes)
        assert bool(context.text) == bool(context.hits)

    def _greet(self, session: str, event: str) -> None:
        start = Start(self._id(session), self.world.project.id, event, "main", hints="upload ledger")
        self._given(session, self.world.run(surface_start(self.recall_context, start)))

    def _forget(self, session: str) -> None:
        self.contexts.pop(self._id(session), None)
        self.world.run(self._in_store(lambda tx: surfaces.reset(tx, self._id(session))))

    def _id(self, session: str) -> str:
        return self.names.get(session, session)

    def _occasion(self, session: str, event: str) -> SurfacingEvent:
        return SurfacingEvent(self._id(session), self.world.project.id, event, "main")

    async def _in_store(self, change: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
        async with self.world.database.write() as tx:
            await change(tx)

    async def _surfaces(self) -> list[Any]:
        return list(
            await self.world.database.rows(
                "SELECT surfaces.*, kind, memories.session_id AS own FROM surfaces"
                " JOIN memories ON memories.id = memory_id ORDER BY surfaces.id"
            )
        )

    def _learn(self, *told: tuple[int, int, str, str]) -> None:
        made = [self._memory(*one) for one in told]

        async def stored() -> None:
            async with self.world.database.write() as tx:
                for memory in made:
                    kept = await memories.insert(tx, memory)
                    found = [(one.words, one.due_at) for one in due_dates.triggers_of(memory.content, memory.said_at)]
                    await triggers.replace(tx, kept, due_dates.VERSION, found)

        self.world.run(stored())

    def _memory(self, text: int, number: int, kind: str, session: str) -> Memory:
        content = TEXTS[text].format(n=number)
        return memory_of(
            self.world.project.id,
            content,
            NOON,
            kind,
            category="semantic",
            summary=content,
            said_at=NOON - 60,
            session_id=session or None,
            files=tuple(file for file in FILES if file in content),
        )


def attempt(sequences: int, steps: int, folder: Path) -> Counter[str]:
    """Try that many sequences; return counts by event. Raises AssertionError with the shortest failing one."""
    Sessions.world, Sessions.given = World(folder), Counter()
    tried = settings(
        max_examples=sequences,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(Sessions, settings=tried)
    finally:
        Sessions.world.close()
    return Sessions.given


def main() -> None:
    """Read the arguments, try, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="limits-") as name:
        given = attempt(chosen.sequences, chosen.steps, Path(name))
    print(f"{chosen.sequences} sequences of up to {chosen.steps} steps: no limit was exceeded")
    print("memories given: " + ", ".join(f"{count} at {event}" for event, count in given.most_common()))


if __name__ == "__main__":
    main()
