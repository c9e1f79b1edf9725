"""Whatever is done, and however much of it is taken back and put back in turn: the store returns to what it was."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from subconscious.capture.admission import Provenance, keep, memory_of
from subconscious.consolidation import summary_text
from subconscious.context import approval
from subconscious.domain.model import Admission, Decision, Link, Origin, Verdict
from subconscious.history import rollback
from subconscious.memories import corrections as correcting
from subconscious.review import rules
from subconscious.settings.settings import Settings
from subconscious.store import (
    captures,
    consolidations,
    corrections,
    decisions,
    events,
    fading,
    full_text,
    links,
    memories,
    merges,
    model_readings,
    poison,
    redactions,
    reversal,
    sessions,
    vectors,
)
from subconscious.store.capture_rows import SessionRef, candidate_from
from subconscious.store.connect import Database, open_database
from subconscious.store.corrections import Feedback
from subconscious.store.migrate import migrate
from subconscious.store.model_readings import NewText
from subconscious.store.redactions import Finding
from subconscious.store.rows import content_hash, update_row
from subconscious.store.vectors import Row
from subconscious.supersession import merging
from tests.support.minds import make_mind
from tests.support.poisoning import of

pytestmark = pytest.mark.slow

PROJECT, SESSIONS = "p", ("s1", "s2")
TEXTS = ("Amounts are integer cents.", "The worker retries twice.", "Tests run on port 5433.", "Logs are kept a week.")
HASHES = ("aa11", "bb22")
AGAIN = ("We keep amounts as integer cents.", "Amounts are kept as integer cents.")
"""One statement in two wordings."""
SAID = (*TEXTS, *AGAIN)
ORDER = {
    "memories": "id",
    "implicit_captures": "id",
    "memory_links": "id",
    "poison_lessons": "id",
    "memory_merges": "id",
}
GONE: dict[str, Callable[[dict[str, Any]], bool]] = {
    "memories": lambda row: row["archived_at"] is not None,
    "implicit_captures": lambda row: row["status"] == "discarded" and not row["quarantined"],
    "memory_links": lambda row: row["status"] == "withdrawn",
    "poison_lessons": lambda row: row["removed_at"] is not None,
    "memory_merges": lambda row: row["undone_at"] is not None,
}
COUNTERS = ("uses", "last_used_at", "embedding_status")
SESSION = "SELECT id, title, summary, tags, left_open FROM sessions ORDER BY id"


@dataclass(frozen=True)
class Picture:
    """All that may be changed: rows by table and id, and what is held without a number."""

    rows: dict[str, dict[int, dict[str, Any]]]
    others: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def returned(self, now: Picture) -> None:
        """Hold that what stands now is this, but for rows made since, all of which are out of use."""
        assert now.others == self.others
        for table, rows in self.rows.items():
            held = {number: row for number, row in now.rows[table].items() if number in rows}
            assert held == rows, table
            since = [row for number, row in now.rows[table].items() if number not in rows]
            assert all(GONE[table](row) for row in since), (table, since)


@cache
def furnished() -> Path:
    """A store with two sessions, to begin from: made once."""
    path = Path(tempfile.mkdtemp(), "memory.db")
    asyncio.run(_furnish(path))
    return path


async def _furnish(path: Path) -> None:
    database = await open_database(path)
    await migrate(database)
    async with database.write() as tx:
        await tx.execute("INSERT INTO projects VALUES (?, 'demo', '/', '', '', 0)", (PROJECT,))
        for number, session in enumerate(SESSIONS):
            await sessions.record_activity(tx, session, PROJECT, 1.0, transcript=f"/{session}", cwd="/")
            await sessions.save_story(tx, session, sessions.Story(f"Title {number}", "told", ("x",), "", "{}"))
            await model_readings.record_new_text(tx, NewText(f"/{session}", session, PROJECT, 0, "", 9, 9), 1)
        found = [Finding(1.0, "", "key", "secrets", "redact", digest, 9) for digest in HASHES]
        await redactions.record(tx, found, 99)
    await approval.accepted(database, Settings())
    await database.close()


class Store(RuleBasedStateMachine):
    """A store that everything is done to that people and the daemon may do."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "memory.db")
        self.before: list[Picture] = []
        self.acts = 0
        self.said = 0

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    @initialize()
    def begin(self) -> None:
        shutil.copy(furnished(), self.path)
        self.database: Database = self.do(open_database(self.path))
        self.acts = len(self.do(reversal.latest(self.database, 10_000, daemon=True)))
        self.start = self.do(self.picture())

    async def picture(self) -> Picture:
        rows = {}
        for table in ORDER:
            found = [dict(row) for row in await self.database.rows(f"SELECT * FROM {table}")]
            rows[table] = {row["id"]: {n: v for n, v in row.items() if n not in COUNTERS} for row in found}
        others = {}
        for sql in (
            SESSION,
            "SELECT * FROM redactions_allowed ORDER BY hash",
            "SELECT * FROM model_readings ORDER BY id",
            # A row that says nothing yet is the same as none.
            "SELECT memory_id, importance, reset_at FROM memory_decay"
            " WHERE importance <> 'normal' OR reset_at > 0 ORDER BY memory_id",
            "SELECT * FROM memory_corrections ORDER BY id",
            "SELECT * FROM feedback ORDER BY id",
        ):
            others[sql] = [dict(row) for row in await self.database.rows(sql)]
        others["settings"] = [(await events.history(self.database, *approval.SUBJECT))[-1]["after"]]
        return Picture(rows, others)

    def act(self, work: Callable[[Any], Coroutine[Any, Any, object]]) -> None:
        """Do something in one transaction; what stood before is remembered if that changed anything."""

        async def done() -> None:
            before = await self.picture()
            async with self.database.write() as tx:
                await work(tx)
            await self._note(before)

        self.do(done())

    async def _note(self, before: Picture) -> None:
        found = len(await reversal.latest(self.database, 10_000, daemon=True))
        assert found in (self.acts, self.acts + 1)
        if found > self.acts:
            self.before.append(before)
        else:
            before.returned(await self.picture())
        self.acts = found

    @invariant()
    def what_is_derived_follows(self) -> None:
        if hasattr(self, "database"):
            self.do(self._derived())

    async def _derived(self) -> None:
        rows = await self.database.rows(
            "SELECT id, summary, content FROM memories WHERE archived_at IS NULL ORDER BY id"
        )
        words = await self.database.rows("SELECT rowid, summary, content FROM memories_fts ORDER BY rowid")
        assert [tuple(row) for row in words] == [tuple(row) for row in rows]
        wrong = "SELECT 1 FROM embeddings JOIN memories ON id = memory_id WHERE active <> (archived_at IS NULL)"
        assert not await self.database.rows(wrong)

    # What people and the daemon do

    @rule(text=st.sampled_from(SAID), session=st.sampled_from(SESSIONS), what=st.sampled_from(list(Decision)))
    def learn(self, text: str, session: str, what: Decision) -> None:
        self.said += 1
        said = of(text, Origin.USER)
        said = replace(said, evidence=replace(said.evidence, turn_id=f"{session}-{self.said}"), time=float(self.said))

        async def work(tx: Any) -> None:
            admission = Admission(what, 0.9, "said", Verdict())
            kept = await keep(
                make_mind(self.database, session_captures=2, poisoning=False),
                tx,
                [(said, admission)],
                Provenance(SessionRef(PROJECT, session)),
            )
            for _, memory in kept:
                if memory is not None:
                    import numpy

                    await vectors.save(tx, "m", [Row(memory.id, PROJECT, numpy.ones(2, numpy.float32), "")])

        self.act(work)

    @rule(number=st.integers(1, 8), out=st.booleans())
    def archive(self, number: int, out: bool) -> None:
        async def work(tx: Any) -> None:
            if memory := await self._memory(tx, number):
                held = await captures.in_quarantine(tx, [number])
                if held:
                    return
                done = await (memories.archive if out else memories.unarchive)(tx, memory, "user", "")
                if done:
                    await vectors.activate(tx, [number], not out)

        self.act(work)

    async def _memory(self, tx: Any, number: int) -> Any:
        rows = list(await tx.execute_fetchall("SELECT id FROM memories WHERE id = ?", (number,)))
        return await memories.require(tx, number) if rows else None

    @rule(number=st.integers(1, 8), text=st.sampled_from(TEXTS))
    def edit(self, number: int, text: str) -> None:
        """Whoever comes to change a memory's words or pins it tells of it like this."""

        async def work(tx: Any) -> None:
            if await self._memory(tx, number):
                values = {"content": text, "summary": text[:9], "pinned": 1, "content_hash": content_hash(text)}
                before, after = await update_row(tx, "memories", number, values)
                if after:
                    await full_text.reindex(tx, await memories.require(tx, number))
                    await events.record(tx, "edit", "memory", number, actor="user", before=before, after=after)

        self.act(work)

    @rule(
        number=st.integers(1, 12),
        deed=st.sampled_from(["approve", "edit", "reject", "teach", "release", "restore", "undo"]),
    )
    def decide(self, number: int, deed: str) -> None:
        async def work(tx: Any) -> None:
            rows = list(await tx.execute_fetchall("SELECT id FROM implicit_captures WHERE id = ?", (number,)))
            if rows:
                await self._decide(tx, number, deed)

        self.act(work)

    async def _decide(self, tx: Any, number: int, deed: str) -> None:
        capture = await captures.require(tx, number)
        if deed in ("approve", "edit"):
            said = candidate_from(capture)
            said = replace(said, content=TEXTS[0]) if deed == "edit" else said
            where = Provenance(SessionRef(PROJECT, capture["session_id"]), actor="user", verified=True)
            await rules.approve(tx, number, memory_of(said, Admission(Decision.AUTO, 1.0, ""), where), "yes")
        elif deed in ("reject", "teach"):
            await rules.reject(tx, number, "no", teach=deed == "teach")
        elif deed == "release":
            if memory := await rules.release(tx, number, 7, "fine"):
                await vectors.activate(tx, [memory.id], True)
        elif deed == "restore":
            await rules.restore(tx, number, 7, "back")
        elif left := (await rules.undo(tx, number, 7)).archived:
            await vectors.activate(tx, [left.id], False)

    @rule(number=st.integers(1, 12))
    def set_apart(self, number: int) -> None:
        """A later look finds a memory dangerous."""

        async def work(tx: Any) -> None:
            memory = await self._memory(tx, number)
            bound = await captures.of_memory(tx, number) if memory else []
            if memory and bound and memory.archived_at is None:
                await decisions.quarantine(tx, bound[0], Verdict(), "looked at again")
                await memories.archive(tx, memory, "daemon", "looked at again")
                await vectors.activate(tx, [number], False)

        self.act(work)

    @rule()
    def expire(self) -> None:
        self.act(lambda tx: decisions.expire(tx, 2e10))

    @rule(session=st.sampled_from(SESSIONS), back=st.booleans())
    def roll_back(self, session: str, back: bool) -> None:
        async def work(tx: Any) -> None:
            if back:
                found, changed = await rollback.put_back(tx, session)
            else:
                found = await rollback.additions(tx, session)
                changed = [] if found.empty else await rollback.withdraw(tx, found, "")
            await vectors.activate(tx, [memory.id for memory in changed], back)

        self.act(work)

    @rule(one=st.integers(1, 4), other=st.integers(1, 4))
    def link(self, one: int, other: int) -> None:
        async def work(tx: Any) -> None:
            both = [await self._memory(tx, number) for number in (one, other)]
            if all(both) and one != other:
                new = Link(0, one, other, "SUPPORTS", "active", 0.8, "user", "said so", 1.0)
                await links.add(tx, new, "user")

        self.act(work)

    @rule(one=st.integers(1, 6), other=st.integers(1, 6), what=st.sampled_from([Decision.AUTO, Decision.REVIEW]))
    def sum_up(self, one: int, other: int, what: Decision) -> None:
        """Two memories are summed up, at once or by a proposal that waits."""

        async def work(tx: Any) -> None:
            both = [await self._memory(tx, number) for number in (one, other)]
            if all(both) and one < other and not any(memory.archived_at for memory in both):
                said = summary_text.draft(both, summary_text.compose(both), 0.9)
                ctx = make_mind(self.database, poisoning=False)
                where = Provenance(SessionRef(PROJECT, None))
                for number, made in await keep(ctx, tx, [(said, Admission(what, 0.9, "", Verdict()))], where):
                    await consolidations.save_sources(tx, number, both)
                    if made is not None:
                        await consolidations.link(tx, number, made.id, "daemon")

        self.act(work)

    @rule(one=st.integers(1, 6), other=st.integers(1, 6))
    def merge(self, one: int, other: int) -> None:
        """Two memories say the same: the one that weighs less goes, and those that were merged into it move."""

        async def work(tx: Any) -> None:
            known = await merges.mergeable(tx, [one, other])
            if len(known) < 2:
                return
            stays = merging.staying(known[one], known[other], await merges.rated(tx, [one, other]))
            gone = known[one if stays.id == other else other]
            if not gone.pinned:
                await merging.fold(tx, gone, stays, 0.9)

        self.act(work)

    @rule(text=st.sampled_from(AGAIN), session=st.sampled_from(SESSIONS))
    def say_again(self, text: str, session: str) -> None:
        """Something is said that is known in other words: one of the wordings stays."""
        self.said += 1
        said = of(text, Origin.USER)
        said = replace(said, evidence=replace(said.evidence, turn_id=f"{session}-{self.said}"), time=float(self.said))

        async def work(tx: Any) -> None:
            rows = await tx.execute_fetchall(
                "SELECT id FROM memories WHERE content = ? AND archived_at IS NULL", (AGAIN[text == AGAIN[0]],)
            )
            repeats = merging.Repeats(dict([(text, (row[0], 0.9)) for row in rows][:1]))
            ctx = make_mind(self.database, poisoning=False)
            judged = [(said, Admission(Decision.AUTO, 0.9, "said", Verdict()))]
            await keep(ctx, tx, judged, Provenance(SessionRef(PROJECT, session)), repeats)

        self.act(work)

    @rule(number=st.integers(1, 6))
    def take_along(self, number: int) -> None:
        """A person archives a memory, and what sums it up goes with it."""

        async def work(tx: Any) -> None:
            memory = await self._memory(tx, number)
            if memory and await memories.archive(tx, memory, "user", ""):
                fallen = await consolidations.archive_dependents(tx, [number], "user", "")
                await vectors.activate(tx, [number, *fallen], False)

        self.act(work)

    @rule(number=st.integers(1, 6), pinned=st.booleans())
    def pin(self, number: int, pinned: bool) -> None:
        async def work(tx: Any) -> None:
            if await self._memory(tx, number):
                await fading.set_pinned(tx, number, pinned, "user", "")

        self.act(work)

    @rule(number=st.integers(1, 6), level=st.sampled_from(["critical", "normal", "temporary"]))
    def rate(self, number: int, level: str) -> None:
        async def work(tx: Any) -> None:
            if await self._memory(tx, number):
                await fading.set_importance(tx, number, level, "user", "")

        self.act(work)

    @rule(number=st.integers(1, 6), at=st.sampled_from([5.0, 6.0]))
    def freshen(self, number: int, at: float) -> None:
        async def work(tx: Any) -> None:
            if await self._memory(tx, number):
                await fading.reset(tx, number, at, "user", "")

        self.act(work)

    @rule(number=st.integers(1, 6), outcome=st.sampled_from(["accepted", "rejected"]))
    def heed(self, number: int, outcome: str) -> None:
        async def work(tx: Any) -> None:
            if await self._memory(tx, number):
                await corrections.record_feedback(tx, Feedback(number, outcome, "user", ""), "")

        self.act(work)

    @rule(one=st.integers(1, 6), other=st.integers(1, 6), way=st.sampled_from(["superseded", "merged", "deprecated"]))
    def correct(self, one: int, other: int, way: str) -> None:
        """A person says that a memory no longer holds, or that another holds in its place."""

        async def work(tx: Any) -> None:
            wrong, right = [await self._memory(tx, number) for number in (one, other)]
            if not (wrong and right) or one == other or wrong.archived_at or right.archived_at:
                return
            instead = None if way == "deprecated" else right
            wish = correcting.CorrectionRequest(one, way, other if instead else None, "", "so it is")
            await vectors.activate(tx, await correcting.apply(tx, wrong, instead, wish, ""), False)

        self.act(work)

    @rule(number=st.integers(1, 6), status=st.sampled_from(["active", "refused", "withdrawn"]))
    def relink(self, number: int, status: str) -> None:
        async def work(tx: Any) -> None:
            rows = list(await tx.execute_fetchall("SELECT id FROM memory_links WHERE id = ?", (number,)))
            if rows:
                await links.change(tx, await links.require(tx, number), "user", status=status, confidence=0.5)

        self.act(work)

    @rule(digest=st.sampled_from(HASHES))
    def let_pass(self, digest: str) -> None:
        async def work(tx: Any) -> None:
            known = list(await tx.execute_fetchall("SELECT 1 FROM redactions_allowed WHERE hash = ?", (digest,)))
            await (redactions.disallow(tx, digest) if known else redactions.allow(tx, digest, "no secret"))

        self.act(work)

    @rule(number=st.integers(1, 3))
    def forget_lesson(self, number: int) -> None:
        self.act(lambda tx: poison.remove_lesson(tx, number))

    @rule(threshold=st.sampled_from([0.9, 0.8, 0.7]))
    def accept(self, threshold: float) -> None:
        async def done() -> None:
            before = await self.picture()
            held = before.others["settings"][0]
            await approval.accept(self.database, Settings(auto_threshold=threshold), "", held)
            await self._note(before)

        self.do(done())

    # What is taken back

    @precondition(lambda self: self.before)
    @rule(number=st.integers(1, 5))
    def undo(self, number: int) -> None:
        self._undo(min(number, len(self.before)))

    def _undo(self, number: int) -> None:
        async def done() -> None:
            before = await self.picture()
            chosen = await reversal.latest(self.database, number, daemon=True)
            async with self.database.write() as tx:
                steps = await reversal.undo(tx, await reversal.acts(tx, chosen), "")
            assert steps
            now = await self.picture()
            self.before[-number].returned(now)
            await self._note(before)

        self.do(done())

    def teardown(self) -> None:
        try:
            if self.before:
                self._undo(len(self.before))
                self.start.returned(self.do(self.picture()))
                self._undo(1)  # the undo of all of it, undone
                self._undo(1)
                self.start.returned(self.do(self.picture()))
        finally:
            if hasattr(self, "database"):
                self.do(self.database.close())
            self.runner.close()
            self.folder.cleanup()


TestStore = Store.TestCase
TestStore.settings = settings(
    max_examples=20,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate,),
)


def test_a_picture_tells_when_something_did_not_return() -> None:
    row = {"id": 1, "archived_at": None}
    before = Picture({"memories": {1: row}})
    for other in ({1: row | {"archived_at": 1.0}}, {1: row, 2: row | {"id": 2}}):
        try:
            before.returned(Picture({"memories": other}))
        except AssertionError:
            continue
        raise RuntimeError("it was not told")
    before.returned(Picture({"memories": {1: row, 2: {"id": 2, "archived_at": 1.0}}}))
    assert asdict(before)["others"] == {}
