"""The simulated year: its sessions, the facts they state and the facts they need.

The story is independent of decay. How long a fact matters is drawn from separate distributions (``LASTING``). The need
of a session follows a known law: it falls with a power of the time since a fact was last needed (Anderson and Schooler,
1991), and concerns the current area of work.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bench.fill import ACTS, REASONS, THINGS, WAYS

DAY = 86_400.0
YEAR = 365
AFTER = 90
"""Days after the year in which nothing is archived any more: whether something will be needed has to show."""

BEGIN = 1_790_000_000.0
AREAS = 12
FOCUS_DAYS = 18

PROJECTS = ((0, 999), (0, 999), (0, 120), (40, 999), (100, 220), (150, 999))
"""The days between which each is worked on: two of them die."""

KINDS = {
    "progress": 0.24,
    "decision": 0.20,
    "learning": 0.20,
    "blocker": 0.08,
    "dead_end": 0.07,
    "lesson": 0.06,
    "pattern": 0.05,
    "research": 0.05,
    "preference": 0.05,
}
LASTING = {"progress": 8.0, "blocker": 20.0, "research": 60.0, "dead_end": 150.0}
"""Mean days that a thing of the kind matters, exponential. Of the others a third last 90 days, the rest until they are
changed or their project dies."""

REPEATED, CHANGED, NOTED = 0.12, 0.10, 0.6
"""Shares: of repeated statements, of decisions that replace one, and of those marked as a replacement."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something said once: in which project, about which area, and until when it matters to anybody."""

    number: int
    project: int
    area: int
    kind: str
    text: str
    query: str
    file: str
    at: float
    until: float


@dataclass(frozen=True, slots=True)
class Session:
    """One session: new and repeated facts, facts that are replaced, queries, and facts that it needs."""

    at: float
    project: int
    file: str
    thing: str
    said: tuple[Fact, ...] = ()
    again: tuple[int, ...] = ()
    replaces: tuple[tuple[int, int, bool], ...] = ()  # new, old, whether anybody notes it
    needs: tuple[Fact, ...] = ()


@dataclass
class _Teller:
    rng: random.Random
    facts: dict[int, Fact] = field(default_factory=dict)
    needed: dict[int, float] = field(default_factory=dict)

    def session(self, day: int, hour: float, project: int) -> Session:
        at = BEGIN + (day + hour / 24) * DAY
        area = self._area(project, day)
        thing = THINGS[(area + 3 * project) % len(THINGS)]
        told = Session(at, project, _file(project, area), thing)
        for _ in range(self.rng.choice((0, 1, 2, 2, 3, 4))):
            told = self._say(told, area)
        return replace(told, needs=tuple(self._need(told, area)))

    def _area(self, project: int, day: int) -> int:
        """Work stays with two areas for some weeks, then moves on; now and then it goes elsewhere."""
        if self.rng.random() < 0.15:
            return self.rng.randrange(AREAS)
        return (day // FOCUS_DAYS * 5 + project * 7 + self.rng.randrange(2)) % AREAS

    def _say(self, told: Session, area: int) -> Session:
        here = [fact for fact in self.facts.values() if (fact.project, fact.area) == (told.project, area)]
        holding = [fact for fact in here if fact.until > told.at]
        if holding and self.rng.random() < REPEATED:
            return replace(told, again=(*told.again, self.rng.choice(holding).number))
        old = next((fact for fact in holding if fact.kind == "decision" and self.rng.random() < CHANGED), None)
        fact = self._fact(told, area, "decision" if old else None)
        if old is not None:
            self.facts[old.number] = replace(old, until=told.at)
            told = replace(told, replaces=(*told.replaces, (fact.number, old.number, self.rng.random() < NOTED)))
        return replace(told, said=(*told.said, fact))

    def _fact(self, told: Session, area: int, kind: str | None) -> Fact:
        rng = self.rng
        kind = kind or rng.choices(list(KINDS), list(KINDS.values()))[0]
        act, way, reason = rng.choice(ACTS), rng.choice(WAYS), rng.choice(REASONS)
        numbers = {"n": rng.randrange(1, 5000)}
        text = f"{_opening(kind)} {act} {told.thing} {way.format(**numbers)} {reason.format(**numbers)}."
        query = f"how do we {act} {told.thing} {way.format(**numbers) if rng.random() < 0.5 else ''}".strip()
        number = len(self.facts) + 1
        until = min(told.at + self._lasts(kind) * DAY, BEGIN + PROJECTS[told.project][1] * DAY)
        fact = Fact(number, told.project, area, kind, text, query, told.file, told.at, until)
        self.facts[number] = fact
        self.needed[number] = told.at
        return fact

    def _lasts(self, kind: str) -> float:
        if kind in LASTING:
            return self.rng.expovariate(1 / LASTING[kind])
        return 90.0 if self.rng.random() < 1 / 3 else 10_000.0

    def _need(self, told: Session, area: int) -> Iterator[Fact]:
        """What this session will look for: of what matters still, and was not said just now."""
        now = [fact.number for fact in told.said]
        mine = [
            fact
            for fact in self.facts.values()
            if fact.project == told.project and fact.until > told.at and fact.number not in now
        ]
        for _ in range(min(len(mine), self.rng.choice((0, 1, 2, 3)))):
            odds = [
                (5.0 if fact.area == area else 1.0) * (1 + (told.at - self.needed[fact.number]) / DAY) ** -0.5
                for fact in mine
            ]
            chosen = self.rng.choices(mine, odds)[0]
            self.needed[chosen.number] = told.at
            yield chosen


def _opening(kind: str) -> str:
    return {
        "decision": "We decided to",
        "preference": "From now on, please",
        "lesson": "Don't forget to",
        "progress": "Done so far:",
        "blocker": "Blocked: we can't",
        "dead_end": "It did not work to",
        "pattern": "Again we had to",
        "research": "Three ways to",
    }.get(kind, "It turned out that we must")


def _file(project: int, area: int) -> str:
    return f"src/part_{area:02d}/module_{project}{area:02d}.py"


def tell(seed: int) -> tuple[list[Session], dict[int, Fact]]:
    """The year and the time after it: its sessions, and every fact with the last day on which it mattered."""
    teller = _Teller(random.Random(seed))
    sessions = []
    for day in range(YEAR + AFTER):
        alive = [number for number, (first, last) in enumerate(PROJECTS) if first <= day < last]
        for hour in sorted(teller.rng.uniform(9, 18) for _ in range(_sessions(teller.rng, day))):
            sessions.append(teller.session(day, hour, teller.rng.choices(alive, [1 / (1 + n) for n in alive])[0]))
    return sessions, teller.facts


def _sessions(rng: random.Random, day: int) -> int:
    """Few at weekends, none on holiday."""
    if 200 <= day < 221:
        return 0
    return rng.choice((0, 0, 0, 1)) if day % 7 >= 5 else rng.choice((1, 1, 2, 2, 3, 4))
