"""Play sequences over sessions and check the memories in force at the end: `python -m bench.holds [FILES] [--verbose]`.

Reversals, retractions, temporary rules, repeats, look-alikes and corrections (bench/data/holds/). Each sequence has a
separate project in one store. Its messages go into transcripts that the daemon's own code reads, on a simulated clock,
with the local embedder and links found in the background. Nothing is reviewed.

Capture of single sentences is measured elsewhere (bench/capture.py). So every line that is marked as a statement
becomes a candidate that is stored at once, if capture found no such candidate. `--captured` leaves that out.

A sequence is right when all its expectations are met. Those of `check.txt` were written before the code that they
check. "given" counts outdated memories that starts and prompts gave at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.clock import Clock, wholly_on
from daemon.lifecycle import opened
from subconscious.app import App
from subconscious.capture import ingest as learning
from subconscious.capture.evaluation import judge
from subconscious.capture.transcript_source import Source
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Judged, Origin, Strength, Turn
from subconscious.links import discovery
from subconscious.links.judge import VERSION as LINK_RULES
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import embedding_queue, links, memories, sessions
from subconscious.store.projects import Project, find_or_create
from subconscious.supersession import retirement
from subconscious.surfacing.proactive import Prompt, surface_prompt
from subconscious.surfacing.session_start import Start, surface_start
from subconscious.system.projects import Identity
from subconscious.text.sentences import sentences
from subconscious.text.wording import SUMMARY_LENGTH, files, scope, shorten, tags

DATA = Path(__file__).parent / "data" / "holds"
BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()
DAY = 86_400.0
MINUTE = 60.0
LINKS_AT_ONCE = 20

_LINE = re.compile(r"(?:\+(?P<days>\d+)d )?(?P<session>\d+)(?P<sort>[:><!]) (?P<text>.+)")
_EXPECTED = re.compile(r"(?P<sort>holds|gone|one|said|ignored) (?P<values>[\w ]+)")
_NOTICE = "[Request interrupted by user]"


@dataclass(frozen=True, slots=True)
class Line:
    """One message. ``statement``: it becomes a candidate; ``letter`` names what a person typed."""

    session: int
    text: str
    at: float
    letter: str = ""
    statement: bool = False
    interrupts: bool = False


@dataclass
class Played:
    """One sequence of messages and the expected end state, by sort."""

    group: str
    name: str
    lines: list[Line] = field(default_factory=list)
    expected: list[tuple[str, list[str]]] = field(default_factory=list)


@dataclass
class Result:
    """The errors of a sequence; empty if it is right."""

    sequence: Played
    wrong: list[str]
    retired_wrongly: bool = False
    given_wrongly: bool = False
    questions: tuple[str, ...] = ()


def read_sequences(text: str) -> Iterator[Played]:
    """Parse a file of sequences."""
    for block in re.split(r"\n(?=\[)", text):
        head = re.match(r"\[(\w+)\] (.+)\n", block)
        if head is None:
            continue
        yield _sequence(Played(head[1], head[2]), block[head.end() :].splitlines())


def _sequence(made: Played, rows: Sequence[str]) -> Played:
    late, minute = 0.0, 0
    for row in rows:
        if found := _LINE.fullmatch(row):
            late += float(found["days"] or 0) * DAY
            minute += 1
            typed = found["sort"] != "<"
            letter = chr(ord("a") + sum(bool(line.letter) for line in made.lines)) if typed else ""
            session = int(found["session"])
            at = BEGIN + (session - 1) * DAY + late + minute * MINUTE
            marks = {"statement": found["sort"] == ":", "interrupts": found["sort"] == "!"}
            made.lines.append(Line(session, found["text"], at, letter, **marks))
        elif expected := _EXPECTED.fullmatch(row.strip()):
            made.expected.append((expected["sort"], expected["values"].split()))
        elif row.strip() and not row.startswith("#"):
            raise ValueError(f"{made.name}: {row!r} is no line of a sequence")
    return made


class Stage:
    """The daemon's parts, and the project in which a sequence is played."""

    def __init__(self, app: App, clock: Clock, folder: Path, *, captured: bool) -> None:
        self.app, self.clock, self.folder, self.captured = app, clock, folder, captured

    async def play(self, number: int, played: Played) -> Result:
        """Play a sequence in a separate project; return the errors at its end."""
        project = await find_or_create(
            self.app.database, Identity(root=f"/nowhere/holds-{number}", name=f"holds-{number}")
        )
        for session in dict.fromkeys(line.session for line in played.lines):
            await self._session(project, f"{number}-{session}", [x for x in played.lines if x.session == session])
        return await self._judged(project, number, played)

    async def _session(self, project: Project, name: str, lines: Sequence[Line]) -> None:
        self.clock.now = lines[0].at - MINUTE / 2
        path = self.folder / f"{name}.jsonl"
        async with self.app.database.write() as tx:
            await sessions.record_activity(tx, name, project.id, self.clock.now, transcript=str(path), cwd=project.root)
        await surface_start(self.app.recall_context(), Start(name, project.id, "start/startup"))
        statements = {line.text for line in lines if line.statement} if not self.captured else set()
        for place, line in enumerate(lines):
            self.clock.now = line.at
            if line.letter:
                await surface_prompt(self.app.recall_context(), Prompt(name, project.id, line.text))
            _write(path, line, place)
            with patch.object(learning, "judge", _judging(statements)):
                await learning.learn(self.app, self.app.recall_context(), Source(name, project.id, str(path)))
            await self._settled()

    async def _settled(self) -> None:
        """Let the loops that embed and link memories work off what waits."""
        embedding = self.app.embedding
        while (await embedding_queue.counts(self.app.database)).get("pending"):
            embedding.settled.clear()
            embedding.wake()
            await embedding.settled.wait()
        while waiting := await links.unsearched(self.app.database, LINK_RULES, LINKS_AT_ONCE, embedded=True):
            for memory in waiting:
                await discovery.search(self.app, memory)

    async def _judged(self, project: Project, number: int, played: Played) -> Result:
        self.clock.now += MINUTE
        kept = await _kept(self.app, project.id, self.clock.now)
        given = await self._given(project, number, played)
        result = Result(played, [], questions=await self._questions(project))
        by_letter = {line.letter: _of(line, number, played, kept) for line in played.lines if line.letter}
        for sort, values in played.expected:
            for fault in _faults(sort, values, by_letter, given):
                result.wrong.append(fault)
                result.retired_wrongly |= sort == "holds"
                result.given_wrongly |= fault.endswith("is given")
        return result

    async def _questions(self, project: Project) -> tuple[str, ...]:
        """The questions to the user whether a statement replaces another, also those that were settled since."""
        rows = await self.app.database.rows(
            "SELECT new.content AS new, old.content AS old FROM takeover_questions AS q"
            " JOIN memory_links AS link ON link.id = q.link_id JOIN memories AS new ON new.id = link.source_id"
            " JOIN memories AS old ON old.id = link.target_id WHERE q.project_id = ?",
            (project.id,),
        )
        return tuple(f"does {row['new']!r} replace {row['old']!r}?" for row in rows)

    async def _given(self, project: Project, number: int, played: Played) -> set[int]:
        """The memories that a new session gets at its start, and with prompts about each statement."""
        name = f"{number}-last"
        async with self.app.database.write() as tx:
            await sessions.record_activity(tx, name, project.id, self.clock.now, transcript="", cwd=project.root)
        begun = await surface_start(self.app.recall_context(), Start(name, project.id, "start/startup"))
        given = {hit.memory.id for hit in begun.hits}
        for line in played.lines:
            context = await surface_prompt(self.app.recall_context(), Prompt(name, project.id, line.text))
            given |= {hit.memory.id for hit in context.hits}
        return given


def _write(path: Path, line: Line, place: int) -> None:
    said = [_NOTICE, line.text] if line.interrupts else [line.text]
    role = "user" if line.letter else "assistant"
    with path.open("a") as file:
        for part, text in enumerate(said):
            row = {
                "type": role,
                "isSidechain": False,
                "message": {"role": role, "content": [{"type": "text", "text": text}] if text == _NOTICE else text},
                "uuid": f"{path.stem}-{place}-{part}",
                "promptId": f"{path.stem}-{place}",
                "timestamp": datetime.fromtimestamp(line.at, UTC).isoformat().replace("+00:00", "Z"),
                "userType": "external",
                "sessionId": path.stem,
                "version": "2.1.197",
                "gitBranch": "main",
            }
            file.write(json.dumps(row) + "\n")


def _judging(statements: set[str]) -> Any:
    """What capture judges, and each statement that it does not store itself."""

    def judged(turns: Sequence[Turn], settings: Settings, *more: Any) -> list[Judged]:
        found = judge(turns, settings, *more)
        for turn in turns:
            if turn.text in statements and turn.origin is Origin.USER:
                found = [one for one in found if one[0].evidence.turn_id != turn.id or one[1].decision is Decision.AUTO]
                if not any(one[0].evidence.turn_id == turn.id for one in found):
                    found += [(_candidate(turn, text), Admission(Decision.AUTO, 0.9, "forced")) for text in _said(turn)]
        return found

    return judged


def _said(turn: Turn) -> list[str]:
    return [" ".join(sentences(turn.text))]


def _candidate(turn: Turn, text: str) -> Candidate:
    kind = (
        "preference"
        if re.search(r"\b(?:always|never|don't|only|rule|every|immer)\b", text, re.IGNORECASE)
        else "decision"
    )
    evidence = Evidence(text, turn.id, turn.file, turn.start, turn.end)
    return Candidate(
        kind=kind,
        summary=shorten(text, SUMMARY_LENGTH),
        content=text,
        evidence=evidence,
        origin=turn.origin,
        strength=Strength.EXPLICIT,
        raw_confidence=0.9,
        extractor="bench",
        time=turn.time,
        scope=scope(text, "decision"),
        tags=tags(text),
        files=files(text),
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """The stored memory or waiting capture of one turn. ``id`` is the memory's, 0 for a capture."""

    turn: str
    text: str
    id: int
    in_force: bool
    recurrence: int = 1
    ignored: int = 0


async def _kept(app: App, project_id: str, now: float) -> list[Kept]:
    """Every capture of a project with the memory that it became or was merged into."""
    rows = await app.database.rows(
        "SELECT c.turn_id, c.content, c.status, c.memory_id, g.into_id FROM implicit_captures AS c"
        " LEFT JOIN memory_merges AS g ON g.memory_id = c.memory_id AND g.undone_at IS NULL WHERE c.project_id = ?",
        (project_id,),
    )
    found = []
    for row in rows:
        number = row["into_id"] or row["memory_id"]
        if number is None:
            found.append(Kept(row["turn_id"], row["content"], 0, row["status"] == "review"))
            continue
        held = (await app.database.rows("SELECT * FROM memories WHERE id = ?", (number,)))[0]
        found.append(
            Kept(
                row["turn_id"],
                row["content"],
                number,
                await _holds(app, number, now),
                held["recurrence"],
                await _ignored(app, number),
            )
        )
    return found


async def _holds(app: App, memory_id: int, now: float) -> bool:
    """Whether a memory is in force: in use, not superseded, and not past its end."""
    memory = await memories.get(app.database, memory_id)
    return bool(await retirement.in_force(app.recall_context(), [memory], memory.project_id, now))


async def _ignored(app: App, memory_id: int) -> int:
    rows = await app.database.rows(
        "SELECT count(*) FROM events WHERE action = 'violated' AND subject = 'memory' AND subject_id = ?",
        (str(memory_id),),
    )
    return int(rows[0][0])


def _of(line: Line, number: int, played: Played, kept: Sequence[Kept]) -> list[Kept]:
    place = [one for one in played.lines if one.session == line.session].index(line)
    return [one for one in kept if one.turn.startswith(f"{number}-{line.session}-{place}-")]


def _faults(sort: str, values: Sequence[str], known: dict[str, list[Kept]], given: set[int]) -> Iterator[str]:
    if sort == "holds":
        yield from (f"{one} does not hold" for one in values if not any(kept.in_force for kept in known[one]))
    elif sort == "gone":
        yield from (f"{one} holds" for one in values if any(kept.in_force for kept in known[one]))
        yield from (f"{one} is given" for one in values if any(kept.id in given for kept in known[one]))
    elif sort == "one":
        ids = {kept.id for one in values for kept in known[one] if kept.in_force}
        missing = [one for one in values if not any(kept.id in ids for kept in known[one])]
        if len(ids) != 1 or missing:
            yield f"{' '.join(values)} are not one memory"
    else:
        letter, wanted = values[0], int(values[1])
        counts = [kept.recurrence if sort == "said" else kept.ignored for kept in known[letter] if kept.in_force]
        if counts != [wanted]:
            yield f"{letter} was {sort} {counts} times, not {wanted}"


@asynccontextmanager
async def stage(folder: Path, *, captured: bool) -> AsyncIterator[Stage]:
    """The daemon's parts over a store in a temporary folder, on a clock of the bench's own."""
    clock = Clock(BEGIN - DAY)
    with wholly_on(clock), patch("subconscious.capture.transcript_source.HOOK_SECONDS", 0.0):
        home = Home(folder / "home")
        home.make()
        async with opened(home, Settings()) as app:
            task = asyncio.create_task(app.embedding.run())
            try:
                await app.embedding.wait_until_open()
                yield Stage(app, clock, folder, captured=captured)
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


async def play(files_: Sequence[Path], *, captured: bool = False) -> list[Result]:
    """Play all sequences of some files."""
    read = [one for file in files_ for one in read_sequences(file.read_text())]
    with tempfile.TemporaryDirectory(prefix="holds-") as folder:
        async with stage(Path(folder), captured=captured) as made:
            return [await made.play(number, one) for number, one in enumerate(read)]


def report(results: Sequence[Result], *, verbose: bool) -> None:
    """Print right and wrong per group."""
    right: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for one in results:
        every[one.sequence.group] += 1
        right[one.sequence.group] += not one.wrong
        if one.wrong and verbose:
            print(f"  [{one.sequence.group}] {one.sequence.name}: {'; '.join(one.wrong)}")
        for question in one.questions if verbose else ():
            print(f"  [{one.sequence.group}] {one.sequence.name}: asks: {question}")
    for group, count in every.items():
        print(f"{group:12} {right[group]:3} of {count:3} right")
    total = sum(right.values())
    retired = sum(one.retired_wrongly for one in results)
    given = sum(one.given_wrongly for one in results)
    print(f"{'all':12} {total:3} of {len(results):3} right ({total / len(results):.0%})")
    print(f"lost what holds: {retired}; given what does not: {given}")
    count = sum(len({line.session for line in one.sequence.lines}) for one in results)
    asked = sum(len(one.questions) for one in results)
    print(f"questions whether a statement replaces another: {asked} in {count} sessions")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.holds", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="files of sequences; all of bench/data/holds without")
    parser.add_argument("--captured", action="store_true", help="force nothing in: capture decides")
    parser.add_argument("--verbose", action="store_true", help="list what went wrong")
    options = parser.parse_args()
    chosen = options.files or sorted(DATA.glob("*.txt"))
    report(asyncio.run(play(chosen, captured=options.captured)), verbose=options.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main())
