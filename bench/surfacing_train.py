"""Fit how likely a memory is useful to a prompt: `python -m bench.surfacing_train`.

The pairs are real prompts and what recall found for them among the memories of the project's earlier sessions, labelled
by a reader who saw the prompt and the memory, and nothing of how it had been found (`bench/data/useful_pairs.jsonl`:
numbers and labels, no text). Pairs with memories of another project are added as useless. `--pairs TRANSCRIPTS OUT`
writes new pairs for labelling, with their texts; `--numbers LABELLED FOREIGN` makes the data file of labelled ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy

from bench.locomo import embed, furnished
from bench.surfacing import LONGEST, turns_of
from subconscious.embeddings import Embedder
from subconscious.flow.recalling import recall
from subconscious.flow.remembering import Provenance, judge, memory_of
from subconscious.model import Decision, Hit, Origin, Turn
from subconscious.projects import Identity
from subconscious.search.words import terms
from subconscious.settings import Settings
from subconscious.store import memories
from subconscious.store.capture_rows import Place
from subconscious.store.connect import Database
from subconscious.store.projects import settle
from subconscious.surfacing.usefulness import WEIGHTS, measured

DATA = Path(__file__).parent / "data" / "useful_pairs.jsonl"
PROMPTS, FOUND = 4, 3
"""Prompts of one session, and memories found for each, that become pairs."""

FOREIGN_WEIGHT = 0.3
RIDGE = 1.0
STEPS = 50
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt of a session, when it was typed, and in which repository."""

    repo: str
    session: str
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class World:
    """What the repositories' sessions taught, and what was typed in them."""

    projects: dict[str, str]
    prompts: list[Asked]


async def learned(database: Database, folder: Path, embedder: Embedder) -> World:
    """Store what each session would have kept or offered, under the repository's own project."""
    projects: dict[str, str] = {}
    prompts: list[Asked] = []
    for row in json.loads((folder / "INDEX.json").read_text()):
        repo, session = row["repo"], row["session"]
        if repo not in projects:
            projects[repo] = (await settle(database, Identity(root=f"/{repo}", name=repo))).id
        turns = [turn for path in folder.rglob(f"*{session}*.jsonl") for turn in turns_of(path)]
        prompts += _typed(repo, session, turns)
        where = Provenance(Place(projects[repo], session))
        kept = [one for one in judge(turns, Settings()) if one[1].decision is not Decision.DISCARD]
        async with database.write() as tx:
            ids = [(await memories.insert(tx, memory_of(*one, where))).id for one in kept]
        await embed(database, embedder, projects[repo], ids)
    return World(projects, prompts)


def _typed(repo: str, session: str, turns: Sequence[Turn]) -> Iterator[Asked]:
    typed = [turn for turn in turns if turn.origin is Origin.USER and not turn.sidechain and len(turn.text) < LONGEST]
    asked = [turn for turn in typed if len(terms(turn.text)) > 1]
    return (Asked(repo, session, turn.time, turn.text) for turn in asked[:PROMPTS])


async def pairs(transcripts: Path) -> list[dict[str, Any]]:
    """Real prompts with what is found for them: in their own project's past, and in another project."""

    async def fill(database: Database, embedder: Embedder) -> World:
        return await learned(database, transcripts, embedder)

    found: list[dict[str, Any]] = []
    async with furnished(fill) as (mind, world):
        for asked in world.prompts:
            for repo, project in world.projects.items():
                hits = await recall(mind, asked.text, project, 10)
                own = [hit for hit in hits if hit.memory.session_id != asked.session and hit.memory.said_at < asked.at]
                chosen = own if repo == asked.repo else hits
                for place, hit in enumerate(chosen[:FOUND]):
                    found.append(_pair(asked, hit, chosen, place) | {"foreign": repo != asked.repo})
    return found


def _pair(asked: Asked, hit: Hit, hits: Sequence[Hit], place: int) -> dict[str, Any]:
    numbers = measured(asked.text, hit, hits, place, asked.at)
    memory = hit.memory
    return {
        "session": asked.session,
        "prompt": asked.text,
        "memory": memory.content,
        "kind": memory.kind,
        "origin": memory.origin.value,
        "files": memory.files,
        "x": {name: round(value, 4) for name, value in numbers.items()},
        "old": round(hit.relevance, 3),
    }


def fit(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Logistic regression with a ridge, by Newton's method. Deterministic."""
    columns = [name for name in WEIGHTS if name != "constant"]
    matrix = numpy.array([[1.0, *(row["x"][name] for name in columns)] for row in rows])
    wanted = numpy.array([float(row["useful"]) for row in rows])
    weight = numpy.array([FOREIGN_WEIGHT if row["foreign"] else 1.0 for row in rows])
    beta = numpy.zeros(matrix.shape[1])
    ridge = numpy.diag([0.0, *([RIDGE] * len(columns))])
    for _ in range(STEPS):
        likely = 1.0 / (1.0 + numpy.exp(-matrix @ beta))
        slope = matrix.T @ (weight * (likely - wanted)) + ridge @ beta
        bend = (matrix * (weight * likely * (1 - likely))[:, None]).T @ matrix + ridge
        beta -= numpy.linalg.solve(bend, slope)
    return dict(zip(["constant", *columns], (round(float(one), 2) for one in beta), strict=True))


def probability(weights: dict[str, float], numbers: dict[str, float]) -> float:
    """What a fitted table says of one pair."""
    raw = weights["constant"] + sum(weights[name] * value for name, value in numbers.items())
    return 1.0 / (1.0 + math.exp(-raw))


def crossed(rows: Sequence[dict[str, Any]]) -> list[float]:
    """What is said of each pair by a table fitted without its session."""
    sessions = sorted({row["session"] for row in rows})
    Random(1).shuffle(sessions)
    fold = {session: number % FOLDS for number, session in enumerate(sessions)}
    tables = [fit([row for row in rows if fold[row["session"]] != number]) for number in range(FOLDS)]
    return [probability(tables[fold[row["session"]]], row["x"]) for row in rows]


def report(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The table, and what thresholds let through, on sessions that the table was not fitted on."""
    yield json.dumps(fit(rows), indent=4)
    own = [(row, likely) for row, likely in zip(rows, crossed(rows), strict=True) if not row["foreign"]]
    foreign = [likely for row, likely in zip(rows, crossed(rows), strict=True) if row["foreign"]]
    total = sum(row["useful"] for row, _ in own)
    yield f"{len(own)} labelled pairs, {total} useful; {len(foreign)} of other projects"
    for name, score in (("before", lambda row, _: row["old"]), ("fitted", lambda _, likely: likely)):
        for least in (0.3, 0.4, 0.5, 0.6, 0.7):
            given = [row["useful"] for row, likely in own if score(row, likely) >= least]
            line = f"{name} >= {least}: {len(given)} given, {sum(given)} of {total} useful ones"
            wrong = (
                sum(one >= least for one in foreign)
                if name == "fitted"
                else sum(row["old"] >= least for row in rows if row["foreign"])
            )
            yield f"{line}; foreign pairs let through: {wrong}"


def main() -> None:
    """Read the arguments; write pairs, or fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs=2, type=Path, metavar=("TRANSCRIPTS", "OUT"))
    chosen = parser.parse_args()
    if chosen.pairs:
        found = asyncio.run(pairs(chosen.pairs[0]))
        chosen.pairs[1].write_text("".join(json.dumps(row) + "\n" for row in found))
        return
    print("\n".join(report([json.loads(line) for line in DATA.read_text().splitlines()])))


if __name__ == "__main__":
    main()
