"""Measure recall on long conversations: `python -m bench.locomo DIR` (DIR has locomo*.json).

LoCoMo (Maharana et al., ACL 2024), categories 1 to 4, questions with valid evidence. Each turn is one memory with its
speaker as tag and its session's date; a conversation is a project. recall@k is the share of a question's evidence among
the first k, as MODELS.md and MemPalace count it. Everything runs through `flow.recalling` on a real store.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import log2
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from bench.memory import memory_of
from bench.tuned import tuned
from subconscious.domain.model import Memory
from subconscious.embeddings.embedder import Embedder, open_embedder
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext
from subconscious.settings.home import Home
from subconscious.store import memories, vectors
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import find_or_create
from subconscious.system.projects import Identity

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
PLAIN = {"fusion_near": 0.0, "fusion_session": 0.0, "fusion_names": 0.0, "fusion_feedback": 0.0}
STILL: dict[str, Any] = {"ranking_decay": 0.0, "stale_factor": 1.0}
"""Without decay: the conversations are years old, and age is irrelevant to the questions."""
KIN: dict[str, Any] = {"graph_kin": 1.0}
"""The conversations have no links: their graph connects turns of similar meaning."""
ROWS: dict[str, dict[str, Any]] = {
    "words (BM25)": {**PLAIN, **STILL, "fusion_alpha": 0.0},
    "meaning (vectors)": {**PLAIN, **STILL, "fusion_alpha": 1.0},
    "fused": {**PLAIN, **STILL},
    "fused + graph": {**PLAIN, **STILL, **KIN},
    "fused + second look": {**PLAIN, **STILL, "fusion_feedback": 0.5},
    "fused + neighbours": {**STILL, "fusion_session": 0.0, "fusion_names": 0.0, "fusion_feedback": 0.0},
    "rrf, k = 60": {**PLAIN, **STILL, "fusion": "rrf"},
    "rrf + graph": {**PLAIN, **STILL, **KIN, "fusion": "rrf"},
    "nexus": {**PLAIN, **STILL, "fusion": "nexus"},
    "nexus + graph": {**PLAIN, **STILL, **KIN, "fusion": "nexus"},
    "shipped, no second look": {**STILL, "fusion_feedback": 0.0},
    "shipped + graph": {**STILL, **KIN},
    "shipped, lean": {**STILL, "recall_budget": "lean"},
    "shipped, deep": {**STILL, "recall_budget": "deep"},
    "as shipped, decay off": STILL,
    "as shipped, decay on": {},
}


Asked = TypeVar("Asked")
Scores = tuple[float, float, float, float]
"""recall@5, recall@10, reciprocal rank, nDCG@10."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the memories that answer it, and where to look."""

    text: str
    evidence: frozenset[int]
    category: int
    project: str


def turns_of(conversation: dict[str, Any]) -> Iterator[tuple[str, str, float, str, str]]:
    """Give id, session, time, speaker and text of each turn."""
    for key in sorted((k for k in conversation if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])):
        told = conversation[f"{key}_date_time"]
        at = datetime.strptime(told, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
        for number, turn in enumerate(conversation[key]):
            caption = f" [shared image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield (
                turn["dia_id"],
                key,
                at + number,
                turn["speaker"],
                f"[{told}] {turn['speaker']}: {turn['text']}{caption}",
            )


async def store(database: Database, folder: Path, embedder: Embedder) -> list[Question]:
    """Store every conversation; return the questions."""
    questions: list[Question] = []
    samples = [sample for path in sorted(folder.glob("locomo*.json")) for sample in json.loads(path.read_text())]
    for sample in samples:
        project = await find_or_create(database, Identity(root=f"/{sample['sample_id']}", name=sample["sample_id"]))
        ids: dict[str, int] = {}
        async with database.write() as tx:
            for turn_id, session, at, speaker, text in turns_of(sample["conversation"]):
                memory = _memory(project.id, f"{sample['sample_id']}-{session}", at, speaker, text)
                ids[turn_id] = (await memories.insert(tx, memory)).id
        await embed(database, embedder, project.id, list(ids.values()))
        for asked in sample["qa"]:
            found = frozenset(ids[one] for one in asked.get("evidence", []) if one in ids)
            if asked["category"] in CATEGORIES and found:
                questions.append(Question(asked["question"], found, asked["category"], project.id))
    return questions


async def embed(database: Database, embedder: Embedder, project: str, ids: list[int]) -> None:
    """Embed memories and save the vectors."""
    for start in range(0, len(ids), 32):
        batch = ids[start : start + 32]
        found = await memories.get_many(database, batch)
        made = embedder.embed([found[one].content for one in batch])
        rows = [vectors.Row(one, project, vector) for one, vector in zip(batch, made, strict=True)]
        async with database.write() as tx:
            await vectors.save(tx, embedder.name, rows)


def _memory(project: str, session: str, at: float, speaker: str, text: str) -> Memory:
    return memory_of(project, text, at, "learning", session_id=session, tags=(speaker,))


def scores(ranked: list[int], evidence: frozenset[int]) -> Scores:
    """recall@5, recall@10, reciprocal rank and nDCG within the first ten."""
    places = [place for place, one in enumerate(ranked[:10], 1) if one in evidence]
    ideal = sum(1 / log2(place + 1) for place in range(1, min(10, len(evidence)) + 1))
    return (
        sum(place <= 5 for place in places) / len(evidence),
        len(places) / len(evidence),
        1 / places[0] if places else 0.0,
        sum(1 / log2(place + 1) for place in places) / ideal,
    )


async def measure(ctx: RecallContext, questions: list[Question], details: bool = False) -> str:
    """One row of the table; in detail with one for each category and each conversation."""
    by: defaultdict[str, list[Scores]] = defaultdict(list)
    taken = []
    for question in questions:
        began = perf_counter()
        hits = await recall(ctx, question.text, question.project, 10)
        taken.append(1000 * (perf_counter() - began))
        found = scores([hit.memory.id for hit in hits], question.evidence)
        for group in ("all", CATEGORIES[question.category], question.project):
            by[group].append(found)
    lines = [_line(by["all"], [by[name] for name in CATEGORIES.values()], taken)]
    if details:
        names = (*CATEGORIES.values(), *dict.fromkeys(question.project for question in questions))
        lines += [f"  {name:22} {_means(by[name])}" for name in names]
    return "\n".join(lines)


def _means(rows: list[Scores]) -> str:
    return " ".join(f"{statistics.mean(column):7.3f}" for column in zip(*rows, strict=True))


def _line(rows: list[Scores], categories: list[list[Scores]], taken: list[float]) -> str:
    per = " ".join(f"{statistics.mean(row[1] for row in found):10.3f}" for found in categories)
    p95 = statistics.quantiles(taken, n=20)[-1]
    return f"{_means(rows)} {per} {statistics.median(taken):6.1f} {p95:6.1f}"


Fill = Callable[[Database, Embedder], Awaitable[Asked]]
"""Stores memories and their vectors, and returns the questions."""


@asynccontextmanager
async def furnished(fill: Fill[Asked]) -> AsyncIterator[tuple[RecallContext, Asked]]:
    """Open a separate, filled store with an index and the local model."""
    embedder = open_embedder("local")
    assert embedder is not None
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        home = Home(Path(scratch) / "home")
        home.make()
        database = await open_database(home.database)
        await migrate(database)
        asked = await fill(database, embedder)
        index = await vectors.open_index(database, embedder.name, embedder.dim)

        async def of_query(text: str) -> Any:
            return embedder.embed([text])[0]

        yield RecallContext(database, index, tuned(**STILL), of_query), asked
        await index.close()
        await database.close()


async def run(folder: Path, only: list[str], details: bool) -> None:
    """Store once, measure each row."""

    async def fill(database: Database, embedder: Embedder) -> list[Question]:
        return await store(database, folder, embedder)

    async with furnished(fill) as (ctx, questions):
        print(f"{len(questions)} questions")
        names = " ".join(f"{name:>10}" for name in CATEGORIES.values())
        print(f"{'':24}    R@5    R@10     MRR    nDCG {names}  p50 ms    p95")
        for name, changed in ROWS.items():
            if not only or any(part in name for part in only):
                chosen = replace(ctx, settings=tuned(**changed))
                print(f"{name:24} {await measure(chosen, questions, details)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--row", action="append", default=[], help="only rows whose name has this in it")
    parser.add_argument("--details", action="store_true", help="each category and each conversation by itself")
    chosen = parser.parse_args()
    asyncio.run(run(chosen.folder, chosen.row, chosen.details))


if __name__ == "__main__":
    main()
