"""Measure the memories given with prompts: `python -m bench.surfacing TRANSCRIPTS LOCOMO`.

False: real prompts, errors and touched files of one project against the memories of the others, which can't be
relevant. True: LoCoMo's questions as prompts against their conversation; the evidence should be among the memories
given.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.locomo import Question, embed, furnished, store
from subconscious.capture.admission import Provenance, memory_of
from subconscious.capture.evaluation import judge
from subconscious.domain.hits import Hit
from subconscious.domain.model import Decision, Origin, Turn
from subconscious.embeddings.embedder import Embedder
from subconscious.recall.file_binding import Touched
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction.cleaning import clean
from subconscious.settings.settings import Settings
from subconscious.store import memories
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import find_or_create
from subconscious.surfacing.eligibility import unasked
from subconscious.surfacing.proactive import SurfacingEvent, surface_error, surface_file
from subconscious.system.projects import Identity
from subconscious.transcripts import State, read_turns

LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A typed prompt, and the project in which it is asked."""

    text: str
    project: str


def turns_of(path: Path) -> Iterator[Turn]:
    """Give a transcript's turns."""
    offset, state = 0, State()
    while True:
        reading = read_turns(path, offset, state, clean=clean, final=True)
        yield from reading.turns
        if not reading.more:
            return
        offset, state = reading.offset, reading.state


async def strangers(database: Database, folder: Path, embedder: Embedder) -> list[Prompt]:
    """Store for each repository the captures of the others; return its prompts."""
    sessions = json.loads((folder / "INDEX.json").read_text())
    prompts: dict[str, list[str]] = {}
    learned: dict[str, list[Any]] = {}
    for row in sessions:
        turns = [t for path in folder.rglob(f"*{row['session']}*.jsonl") for t in turns_of(path)]
        typed = [t.text for t in turns if t.origin is Origin.USER and not t.sidechain and t.text.strip()]
        prompts.setdefault(row["repo"], []).extend(text for text in typed if len(text) < LONGEST)
        learned.setdefault(row["repo"], []).extend(judge(turns, Settings()))
    asked = []
    for repo, texts in prompts.items():
        project = await find_or_create(database, Identity(root=f"/not-{repo}", name=f"not {repo}"))
        where = Provenance(SessionRef(project.id, None))
        ids = []
        async with database.write() as tx:
            for other, found in learned.items():
                for candidate, admission in found if other != repo else []:
                    if admission.decision is not Decision.DISCARD:
                        ids.append((await memories.insert(tx, memory_of(candidate, admission, where))).id)
        await embed(database, embedder, project.id, ids)
        asked += [Prompt(text, project.id) for text in dict.fromkeys(texts)]
    return asked


@dataclass(frozen=True, slots=True)
class Deeds:
    """What tools met in a repository: errors, and files, by the folder that the session was in."""

    errors: tuple[str, ...]
    files: tuple[Touched, ...]


def deeds_of(folder: Path) -> dict[str, Deeds]:
    """What tools met, by repository, read from the raw lines; the store never has it."""
    errors: dict[str, set[str]] = {}
    files: dict[str, set[Touched]] = {}
    for row in json.loads((folder / "INDEX.json").read_text()):
        for path in folder.rglob(f"*{row['session']}*.jsonl"):
            for line in path.read_text(errors="replace").splitlines():
                for kind, found in _met(line):
                    if isinstance(found, Touched):
                        files.setdefault(row["repo"], set()).add(found)
                    elif kind == "error":
                        errors.setdefault(row["repo"], set()).add(found)
    return {
        repo: Deeds(tuple(sorted(errors.get(repo, ()))), tuple(sorted(files.get(repo, ()), key=lambda one: one.path)))
        for repo in errors | files
    }


def _met(line: str) -> Iterator[tuple[str, str | Touched]]:
    try:
        record = json.loads(line)
        content = record["message"]["content"]
    except (ValueError, KeyError, TypeError):
        return
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            text = block.get("content")
            yield "error", text if isinstance(text, str) else " ".join(part.get("text", "") for part in text or [])
        name = (block.get("input") or {}).get("file_path") if block.get("type") == "tool_use" else None
        root = str(record.get("cwd") or "")
        if isinstance(name, str) and root and name.startswith(f"{root}/"):
            yield "file", Touched(name.removeprefix(f"{root}/"), root)


async def strange(ctx: RecallContext, deeds: dict[str, Deeds]) -> None:
    """Print how often an error or a file of one project is given a memory of the others."""
    wrong = {"errors": [0, 0], "files": [0, 0]}
    for repo, met in deeds.items():
        project = await find_or_create(ctx.database, Identity(root=f"/not-{repo}", name=f"not {repo}"))
        for number, error in enumerate(met.errors):
            occasion = SurfacingEvent(f"e{repo}{number}", project.id, "error")
            wrong["errors"][0] += bool((await surface_error(ctx, occasion, error)).hits)
            wrong["errors"][1] += 1
        for number, touched in enumerate(met.files):
            occasion = SurfacingEvent(f"f{repo}{number}", project.id, "file")
            wrong["files"][0] += bool((await surface_file(ctx, occasion, touched)).hits)
            wrong["files"][1] += 1
    for name, (count, total) in wrong.items():
        print(f"{name} that were given a stranger's memory: {count}/{total} = {100 * count / max(1, total):.1f} %")


def given(hits: list[Hit], settings: Settings) -> list[Hit]:
    """The memories of a recall that would be given with the prompt."""
    return [hit for hit in hits if hit.relevance >= settings.surface_relevance][: settings.prompt_memories]


async def measure_strangers(transcripts: Path) -> None:
    """Print how often a prompt, an error or a file of one project is given a memory of the others."""

    async def fill(database: Database, embedder: Embedder) -> list[Prompt]:
        return await strangers(database, transcripts, embedder)

    async with furnished(fill) as (ctx, prompts):
        false = [given(await recall(ctx, unasked(p.text), p.project, 10), ctx.settings) for p in prompts]
        wrong = sum(bool(one) for one in false)
        share = 100 * wrong / len(prompts)
        print(f"prompts that were given a stranger's memory: {wrong}/{len(prompts)} = {share:.1f} %")
        await strange(ctx, deeds_of(transcripts))


async def measure_evidence(locomo: Path) -> None:
    """Print how often a question of LoCoMo is given its evidence, and how many memories."""

    async def fill(database: Database, embedder: Embedder) -> list[Question]:
        return await store(database, locomo, embedder)

    async with furnished(fill) as (ctx, questions):
        true = [given(await recall(ctx, q.text, q.project, 10), ctx.settings) for q in questions]
        right = sum(bool(q.evidence & {hit.memory.id for hit in one}) for q, one in zip(questions, true, strict=True))
        share = 100 * right / len(questions)
        print(f"questions that were given their evidence: {right}/{len(questions)} = {share:.1f} %")
        print(f"memories given to a question: {statistics.mean(map(len, true)):.2f}")


async def run(transcripts: Path, locomo: Path) -> None:
    """Measure both, each in a store of its own: words that are common in one are rare in the other."""
    await measure_strangers(transcripts)
    await measure_evidence(locomo)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("locomo", type=Path)
    chosen = parser.parse_args()
    asyncio.run(run(chosen.transcripts, chosen.locomo))


if __name__ == "__main__":
    main()
