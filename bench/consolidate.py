"""Time consolidation and print its results on real sessions: `python -m bench.consolidate [FOLDER] [PRINTED]`.

Seconds for each 100 memories, from looking for clusters to what is stored, of plausible sentences in one project, of
which each is said in a few ways. With a folder of transcripts: what is captured there, and how many clusters that has.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, time

from bench.fill import sentence
from bench.links_found import fill
from bench.tuned import tuned
from subconscious.app import App
from subconscious.capture.admission import Provenance, memory_of
from subconscious.consolidation import consolidating, gate, summary_text
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Memory, Origin, Strength
from subconscious.embeddings.background import Embedding
from subconscious.settings.home import Home
from subconscious.store import consolidations, embedding_queue, memories
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import find_or_create
from subconscious.store.rows import content_hash
from subconscious.system.projects import Identity

SIZES = (100, 500, 2000)
WAYS = ("{}", "As agreed: {}", "{} This holds for the whole team.", "To repeat it: {}")
SEED = 7
"""The same sentences for any number."""


def said_in(project_id: str, text: str) -> Memory:
    """A decision of a project's."""
    where = Provenance(SessionRef(project_id, None))
    evidence = Evidence(text, f"bench-{content_hash(text)}", "", 0, 0)
    said = Candidate("decision", text[:100], text, evidence, Origin.USER, Strength.EXPLICIT, 0.97, "bench", time())
    return memory_of(said, Admission(Decision.AUTO, 0.97, ""), where)


async def opened(folder: str) -> App:
    home = Home(Path(folder) / "home")
    home.make()
    database = await open_database(home.database)
    await migrate(database)
    return App(home, tuned(consolidation_daily=100_000), database, Embedding("local", database))


async def embedded(app: App) -> None:
    """Wait until everything has its vector."""
    embedding = asyncio.create_task(app.embedding.run())
    while (await embedding_queue.counts(app.database)).get("pending") or app.embedding.index is None:
        await asyncio.sleep(0.2)
    embedding.cancel()


async def timed(size: int) -> None:
    """Consolidate one project of so many memories."""
    with TemporaryDirectory() as folder:
        app = await opened(folder)
        project = await find_or_create(app.database, Identity(root=folder, name="bench"))
        rng = random.Random(SEED)
        said = [way.format(text) for text in (sentence(rng) for _ in range(size // len(WAYS))) for way in WAYS]
        async with app.database.write() as tx:
            for text in said:
                await memories.insert(tx, said_in(project.id, text))
        await embedded(app)
        begun, worked = perf_counter(), process_time()
        done = await consolidating.consolidate(app, project.id)
        seconds, worked = perf_counter() - begun, process_time() - worked
        made, proposed = len(done.made), len(done.proposed)
        print(f"{size} memories: {100 * seconds / size:.2f} s per 100 ({100 * worked / size:.2f} of the processor)")
        print(f"  {made} summed up, {proposed} proposed")
        await app.embedding.close()
        await app.database.close()


async def read(root: Path, printed: int) -> None:
    """Say what clusters the memories have that are captured from transcripts."""
    with TemporaryDirectory() as folder:
        app = await opened(folder)
        number = await fill(app, root)
        await embedded(app)
        found = []
        begun = perf_counter()
        for project in await consolidations.projects(app.database):
            found += await consolidating.find(app, project or None)
        seconds = perf_counter() - begun
        sizes = Counter(len(one.sources) for one in found)
        print(f"{number} memories: {len(found)} clusters in {seconds:.1f} s, by size {dict(sorted(sizes.items()))}")
        for one in random.Random(SEED).sample(found, min(printed, len(found))):
            checked = summary_text.compose(one.sources)
            admission = gate.admit(
                summary_text.draft(one.sources, checked, one.cohesion), one.sources, one.cohesion, app.settings
            )
            print(f"--- {one.cohesion:.2f} {one.sources[0].kind} {admission.decision}\n{checked.content[:800]}")
        await app.embedding.close()
        await app.database.close()


def main(arguments: Sequence[str]) -> None:
    if arguments:
        asyncio.run(read(Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0))
        return
    for size in SIZES:
        asyncio.run(timed(size))


if __name__ == "__main__":
    main(sys.argv[1:])
