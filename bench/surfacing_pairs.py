"""Check the calibration of relevance on labelled pairs: `python -m bench.surfacing_pairs`.

A pair is a real prompt and a memory that recall found for it among the captures of the project's earlier sessions. A
reader who saw both texts, without the scores, decided whether it would help with the prompt or be acceptable.
`bench/data/useful_pairs.tsv` has session, label and relevance of each, no text; pairs with memories of another project
are useless without being read. Prints the share of useful pairs by relevance, and the logistic curve through them.
`--pairs TRANSCRIPTS OUT` writes new pairs, with their texts, to be labelled.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from bench.locomo import embed, furnished
from bench.surfacing import LONGEST, turns_of
from subconscious.capture.admission import Provenance, memory_of
from subconscious.capture.evaluation import judge
from subconscious.domain.hits import Hit
from subconscious.domain.model import Decision, Origin, Turn
from subconscious.embeddings.embedder import Embedder
from subconscious.recall.pipeline import recall
from subconscious.settings.settings import Settings
from subconscious.store import memories
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import find_or_create
from subconscious.system.projects import Identity
from subconscious.text.terms import terms

DATA = Path(__file__).parent / "data" / "useful_pairs.tsv"
PROMPTS, FOUND = 4, 3
"""Prompts of one session, and memories found for each, that become pairs."""

BINS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.01)
STEPS = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt of a session, when it was typed, and in which repository."""

    repo: str
    session: str
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class World:
    """The captures of the repositories' sessions, by project, and their prompts."""

    projects: dict[str, str]
    prompts: list[Asked]


async def learned(database: Database, folder: Path, embedder: Embedder) -> World:
    """Store what each session would have kept or offered, under the repository's own project."""
    projects: dict[str, str] = {}
    prompts: list[Asked] = []
    for row in json.loads((folder / "INDEX.json").read_text()):
        repo, session = row["repo"], row["session"]
        if repo not in projects:
            projects[repo] = (await find_or_create(database, Identity(root=f"/{repo}", name=repo))).id
        turns = [turn for path in folder.rglob(f"*{session}*.jsonl") for turn in turns_of(path)]
        prompts += _typed(repo, session, turns)
        kept = [one for one in judge(turns, Settings()) if one[1].decision is not Decision.DISCARD]
        where = Provenance(SessionRef(projects[repo], session))
        async with database.write() as tx:
            ids = [(await memories.insert(tx, memory_of(*one, where))).id for one in kept]
        await embed(database, embedder, projects[repo], ids)
    return World(projects, prompts)


def _typed(repo: str, session: str, turns: Sequence[Turn]) -> Iterator[Asked]:
    typed = (turn for turn in turns if turn.origin is Origin.USER and not turn.sidechain and len(turn.text) < LONGEST)
    asked = [turn for turn in typed if len(terms(turn.text)) > 1]
    return (Asked(repo, session, turn.time, turn.text) for turn in asked[:PROMPTS])


async def pairs(transcripts: Path) -> list[dict[str, Any]]:
    """Real prompts with the memories found for them: in their own project's past, and in other projects."""

    async def fill(database: Database, embedder: Embedder) -> World:
        return await learned(database, transcripts, embedder)

    made: list[dict[str, Any]] = []
    async with furnished(fill) as (ctx, world):
        for asked in world.prompts:
            for repo, project in world.projects.items():
                hits = await recall(ctx, asked.text, project, 10)
                own = repo == asked.repo
                chosen = [hit for hit in hits if not own or _is_earlier(hit, asked)][:FOUND]
                made += [_pair(asked, hit, foreign=not own) for hit in chosen]
    return made


def _is_earlier(hit: Hit, asked: Asked) -> bool:
    return hit.memory.session_id != asked.session and hit.memory.said_at < asked.at


def _pair(asked: Asked, hit: Hit, *, foreign: bool) -> dict[str, Any]:
    said = {"session": asked.session, "prompt": asked.text, "memory": hit.memory.content}
    return said | {"foreign": foreign, "relevance": round(hit.relevance, 3)}


@dataclass(frozen=True, slots=True)
class Pair:
    """A labelled pair, or one with a memory of another project."""

    relevance: float
    useful: bool
    foreign: bool


def read_pairs(path: Path = DATA) -> list[Pair]:
    """Read the labelled pairs."""
    rows = (line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#"))
    return [Pair(float(relevance), label == "useful", label == "foreign") for _, label, relevance in rows]


def curve(found: Sequence[Pair]) -> tuple[float, float]:
    """Fit P(useful) = logistic(a + b * logit(relevance)) to the project's own pairs, by Newton's method."""
    own = [pair for pair in found if not pair.foreign]
    matrix = numpy.array([[1.0, _logit(pair.relevance)] for pair in own])
    wanted = numpy.array([float(pair.useful) for pair in own])
    beta = numpy.zeros(2)
    for _ in range(STEPS):
        likely = 1.0 / (1.0 + numpy.exp(-matrix @ beta))
        bend = (matrix * (likely * (1 - likely))[:, None]).T @ matrix
        beta -= numpy.linalg.solve(bend, matrix.T @ (likely - wanted))
    return float(beta[0]), float(beta[1])


def _logit(relevance: float) -> float:
    inside = min(0.995, max(0.005, relevance))
    return math.log(inside / (1 - inside))


def report(found: Sequence[Pair]) -> Iterator[str]:
    """The share of useful pairs by relevance: by bins and by the curve."""
    own, foreign = [one for one in found if not one.foreign], [one for one in found if one.foreign]
    yield f"{len(own)} labelled pairs, {sum(one.useful for one in own)} useful; {len(foreign)} of other projects"
    for low, high in itertools.pairwise(BINS):
        here = [one.useful for one in own if low <= one.relevance < high]
        strange = sum(low <= one.relevance < high for one in foreign)
        share = f"{sum(here)} of {len(here)} useful"
        yield f"relevance {low:.1f} to {min(high, 1.0):.1f}: {share}; {strange} of other projects"
    constant, slope = curve(found)
    yield f"P(useful) = logistic({constant:.2f} + {slope:.2f} * logit(relevance))"


def main() -> None:
    """Read the arguments; write pairs, or report on the labelled ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs=2, type=Path, metavar=("TRANSCRIPTS", "OUT"))
    chosen = parser.parse_args()
    if chosen.pairs:
        made = asyncio.run(pairs(chosen.pairs[0]))
        chosen.pairs[1].write_text("".join(json.dumps(row) + "\n" for row in made))
        return
    print("\n".join(report(read_pairs())))


if __name__ == "__main__":
    main()
