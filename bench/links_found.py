"""Print the links found in a store of real sessions: `python -m bench.links_found TRANSCRIPTS [PRINTED]`.

Captures real sessions offline into a separate store, runs the daemon's own loop that embeds and links them, and prints
how many memories are linked and how long the search took. PRINTED random links are shown, to be judged by a person.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from bench.capture_detectors import judged
from subconscious.app import App
from subconscious.domain.model import Candidate, Memory, Scope
from subconscious.embeddings.background import Embedding
from subconscious.links.discovery import LinkDiscovery
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import embedding_queue, links, memories
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import find_or_create
from subconscious.store.rows import content_hash
from subconscious.system.projects import Identity

SEED = 6


def memory_of(candidate: Candidate, project_id: str) -> Memory:
    """The store of a person who approves everything."""
    return Memory(
        id=0,
        project_id=project_id,
        scope=Scope.PROJECT,
        kind=candidate.kind,
        category="semantic",
        summary=candidate.summary,
        content=candidate.content,
        origin=candidate.origin,
        confidence=0.9,
        raw_confidence=candidate.raw_confidence,
        extractor=candidate.extractor,
        created_at=candidate.time,
        said_at=candidate.time,
        content_hash=content_hash(candidate.content),
        rationale=candidate.rationale,
        turn_id=candidate.evidence.turn_id,
        agent="import",
        tags=candidate.tags,
        files=candidate.files,
    )


async def fill(app: App, root: Path) -> int:
    """Capture every transcript; a folder is a project."""
    seen: set[str] = set()
    for path in sorted(root.rglob("*.jsonl")):
        project = await find_or_create(app.database, Identity(root=str(path.parent), name=path.parent.name))
        fresh = {one.content: one for one, _ in judged(str(path)) if one.content not in seen}
        seen |= fresh.keys()
        async with app.database.write() as tx:
            for candidate in fresh.values():
                await memories.insert(tx, memory_of(candidate, project.id))
    return len(seen)


async def linked(app: App) -> float:
    """Embed and link everything; the processor's seconds that linking took."""
    embedding = asyncio.create_task(app.embedding.run())
    while (await embedding_queue.counts(app.database)).get("pending"):
        await asyncio.sleep(0.2)
    begun = process_time()
    while await LinkDiscovery(app).round():
        pass
    embedding.cancel()
    return process_time() - begun


async def measure(root: Path, printed: int) -> None:
    with TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        home.make()
        database = await open_database(home.database)
        await migrate(database)
        app = App(home, Settings(), database, Embedding("local", database))
        number = await fill(app, root)
        seconds = await linked(app)
        found = await links.of(database, range(1, number + 1), links.SHOWN)
        for status in links.SHOWN:
            mine = [link for link in found if link.status == status]
            ends = {end for link in mine for end in (link.source_id, link.target_id)}
            print(f"{status}: {len(mine)} links, {Counter(link.type for link in mine)}; {len(ends)} memories")
        ends = {end for link in found for end in (link.source_id, link.target_id)}
        print(f"{number} memories, {100 * len(ends) / number:.1f} % linked; {1000 * seconds / number:.1f} ms a memory")
        texts = await memories.get_many(database, sorted(ends))
        for link in random.Random(SEED).sample(found, min(printed, len(found))):
            source, target = texts[link.source_id].content[:200], texts[link.target_id].content[:200]
            print(f"{link.status} {link.confidence:.2f}\n  {source}\n  {link.type}\n  {target}")
        await app.embedding.close()
        await database.close()


def main(arguments: Sequence[str]) -> None:
    asyncio.run(measure(Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0))


if __name__ == "__main__":
    main(sys.argv[1:])
