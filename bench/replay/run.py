"""Replay one history: the memories given to each session, those known at its start, and where its needs were."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from bench.quiet import quiet
from bench.reader_answers import Readers
from bench.replay.history import Event, History, read_history
from bench.replay.knowledge import Item, Knowledge, knowledge
from bench.replay.labels import Labels, read_labels
from bench.replay.stage import Model, Stage, stage
from subconscious.embeddings.local import LocalEmbedder
from subconscious.review import decisions
from subconscious.settings.settings import Settings
from subconscious.store import handovers, sessions
from subconscious.store.capture_rows import SHOWN_STATUS
from subconscious.text.quoting import CLOSING, OPENING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy

VARIANTS = ("unattended", "reviewed", "all")
SURE = 0.75
"""The confidence from which the variant `all` approves what waits."""

MOMENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool",
    "PostToolUseFailure": "error",
}
ENTRY = re.compile(r"\[(\d+)\] ")
FIRST_PROMPTS, BEST = 3, 3
"""How many of a session's prompts the naive strategy answers, and with how many captures each."""

Row = dict[str, Any]


@dataclass(slots=True)
class Place:
    """Where the knowledge that a need asks for was when its session began."""

    need: Row
    place: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """The result of a replay, in the formats that the scorer reads."""

    history: str
    events: int = 0
    given: list[Row] = field(default_factory=list)
    known: list[Row] = field(default_factory=list)
    naive: list[Row] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    sessions: int = 0
    captured: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The results of all captures: the speaker, and the place at the end."""
    framed: int = 0
    """Characters of all contexts, frames included."""
    seconds: dict[str, float] = field(default_factory=dict)


async def replay(
    history: History,
    labels: Labels,
    variant: str,
    settings: Settings | None = None,
    embed: Callable[[str], numpy.ndarray] | None = None,
    model: Model | None = None,
) -> Outcome:
    """Replay a history; with ``embed`` also record the results of the naive strategy."""
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        async with stage(history, Path(folder), settings or Settings(), model) as made:
            run = _Run(made, history, labels, variant, embed)
            for event in history.events():
                await run.take(event)
            return await run.end()


def replay_one(
    histories: Path,
    needs: Sequence[Path],
    variant: str,
    naive: bool,
    name: str,
    *,
    answers: Path | None = None,
) -> Outcome:
    """Replay one history, in a process that may set its time zone.

    ``answers`` is the folder with readers' answers in place of a model's.
    """
    os.environ["TZ"] = "UTC"  # nights must not depend on where the bench runs
    time.tzset()
    history, labels = read_history(histories / name), read_labels(needs)[name]
    embedder = LocalEmbedder() if naive else None
    embed = (lambda text: embedder.embed([text])[0]) if embedder is not None else None
    with quiet():
        model = Readers(answers) if answers else None
        return asyncio.run(replay(history, labels, variant, embed=embed, model=model))


class _Run:
    """A replay under way."""

    def __init__(
        self,
        made: Stage,
        history: History,
        labels: Labels,
        variant: str,
        embed: Callable[[str], numpy.ndarray] | None,
    ) -> None:
        self.outcome = Outcome(history.name, sessions=len(history.sessions))
        self._stage = made
        self._labels = labels
        self._variant = variant
        self._naive = Naive(embed) if embed is not None else None
        self._numbers = {session.sid: session.number for session in history.sessions}
        self._sids = [session.sid for session in history.sessions]

    async def take(self, event: Event) -> None:
        """Advance the clock to an event, send it, and record the given memories."""
        with self._timed("upkeep"):
            await self._stage.live_until(event.at)
        if event.first:
            await self._begin(event.session)
        if self._naive is not None and event.name == "UserPromptSubmit":
            known = await self._knowledge()
            texts = self._naive.choose(known, event)
            self.outcome.naive += [self._row(event.session, text, sources, "prompt") for text, sources in texts]
        with self._timed(event.name):
            context = await self._stage.hand_over(event)
        self.outcome.events += 1
        self.outcome.framed += len(context)
        if context and event.name in MOMENTS:
            await self._note_given(event, context)

    async def end(self) -> Outcome:
        """The result of the replay."""
        self.outcome.failed = self._stage.failed
        rows = await self._stage.app.database.rows(f"SELECT origin, {SHOWN_STATUS} FROM implicit_captures")
        self.outcome.captured = Counter((row[0], row[1]) for row in rows)
        return self.outcome

    def _timed(self, name: str) -> _Timed:
        return _Timed(self.outcome.seconds, name)

    async def _knowledge(self) -> Knowledge:
        return await knowledge(self._stage.app.database, self._numbers)

    async def _begin(self, session: int) -> None:
        """Before a session: review, in some variants; then record the known memories."""
        if self._variant != "unattended":
            await self._review(await self._knowledge())
        known = await self._knowledge()
        self.outcome.known += [self._row(session, item.text, item.sources) for item in known.known]
        for need in self._labels.needs_of(session):
            self.outcome.places.append(Place(need, *known.look_up(need["match"], session)))

    async def _review(self, known: Knowledge) -> None:
        approved = tuple(item.id for item in known.waiting if self._approves(item))
        if approved:
            await decisions.apply_decision(self._stage.app, decisions.Wish("approve", approved))
            await self._stage.settled()

    def _approves(self, item: Item) -> bool:
        if self._variant == "reviewed":
            return self._labels.confirm(item.text)
        return self._variant == "all" and item.confidence >= SURE

    async def _note_given(self, event: Event, context: str) -> None:
        known = await self._knowledge()
        # What begins a session is given at its start; what a compaction or a resumption brings comes later.
        moment = "prompt" if event.name == "SessionStart" and not event.first else MOMENTS[event.name]
        for number, text in given_texts(context):
            memory = known.memories.get(number) if number is not None else None
            sources = memory.sources if memory is not None else await self._before(event)
            row = self._row(event.session, text, sources, moment)
            self.outcome.given.append(row | {"prompt": event.payload["prompt"]} if event.payload.get("prompt") else row)

    async def _before(self, event: Event) -> tuple[int, ...]:
        """The session that a line without a memory is about: the one that was handed over, or the one before."""
        handed = await handovers.of_session(self._stage.app.database, self._sids[event.session])
        if handed and handed[0].from_id in self._numbers:
            return (self._numbers[handed[0].from_id],)
        project = await self._stage.project()
        before = await sessions.latest_other(self._stage.app.database, project.id, self._sids[event.session])
        return (self._numbers[before.id],) if before is not None and before.id in self._numbers else ()

    def _row(self, session: int, text: str, sources: Sequence[int], moment: str = "") -> Row:
        row = {"history": self.outcome.history, "session": session, "text": text, "sources": list(sources)}
        return row | {"moment": moment} if moment else row


class _Timed:
    """Adds up how long things of one name take."""

    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self._seconds, self._name, self._begun = seconds, name, perf_counter()

    def __enter__(self) -> None:
        self._begun = perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._name] = self._seconds.get(self._name, 0.0) + perf_counter() - self._begun


def given_texts(context: str) -> Iterator[tuple[int | None, str]]:
    """Divide a context into its memories, by number; other lines are separate and have no number."""
    body = context.removeprefix(OPENING).removesuffix(CLOSING)
    number: int | None = None
    lines: list[str] = []
    for line in body.splitlines():
        begins = ENTRY.match(line)
        if lines and not line.startswith("    "):
            yield number, "\n".join(lines)
            lines = []
        if not lines:
            number = int(begins[1]) if begins else None
        lines.append(line)
    if lines:
        yield number, "\n".join(lines)


class Naive:
    """Gives each of a session's first prompts the captures nearest to it, of any status."""

    def __init__(self, embed: Callable[[str], numpy.ndarray], best: int = BEST) -> None:
        self._embed = embed
        self._best = best
        self._vectors: dict[str, numpy.ndarray] = {}
        self._prompts: dict[int, int] = {}
        self._given: dict[int, set[str]] = {}

    def choose(self, known: Knowledge, event: Event) -> list[tuple[str, tuple[int, ...]]]:
        """The memories given with a prompt, and the sessions they came from."""
        place = self._prompts[event.session] = self._prompts.get(event.session, 0) + 1
        if place > FIRST_PROMPTS:
            return []
        given = self._given.setdefault(event.session, set())
        said: dict[str, set[int]] = {}
        for item in (*known.memories.values(), *known.captures):
            said.setdefault(item.text, set()).update(item.sources)
        question = self._vector(event.payload["prompt"])
        fresh = [text for text in said if text not in given]
        best = sorted(fresh, key=lambda text: (-float(self._vector(text) @ question), text))[: self._best]
        given.update(best)
        return [(text, tuple(sorted(said[text]))) for text in best]

    def _vector(self, text: str) -> numpy.ndarray:
        if text not in self._vectors:
            self._vectors[text] = self._embed(text)
        return self._vectors[text]
