"""Time consolidation, and read what it makes of real sessions: `python -m bench.consolidate [FOLDER] [PRINTED]`.

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
from daemon import consolidating
from daemon.core import Core
from daemon.embedding import Embedding
from subconscious.consolidate import gate, telling
from subconscious.flow.remembering import Provenance, memory_of
from subconscious.home import Home
from subconscious.model import Admission, Candidate, Decision, Evidence, Memory, Origin, Strength
from subconscious.projects import Identity
from subconscious.store import consolidations, embedding_queue, memories
from subconscious.store.capture_rows import Place
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import settle
from subconscious.store.rows import content_hash

SIZES = (100, 500, 2000)
WAYS = ("{}", "As agreed: {}", "{} This holds for the whole team.", "To repeat it: {}")
SEED = 7
"""Whatever the number is, the same sentences."""


def said_in(project_id: str, text: str) -> Memory:
    """A decision of a project's."""
    where = Provenance(Place(project_id, None))
    evidence = Evidence(text, f"bench-{content_hash(text)}", "", 0, 0)
    said = Candidate("decision", text[:100], text, evidence, Origin.USER, Strength.EXPLICIT, 0.97, "bench", time())
    return memory_of(said, Admission(Decision.AUTO, 0.97, ""), where)


async def opened(folder: str) -> Core:
    home = Home(Path(folder) / "home")
    home.make()
    database = await open_database(home.database)
    await migrate(database)
    return Core(home, tuned(consolidation_daily=100_000), database, Embedding("local", database))


async def embedded(core: Core) -> None:
    """Wait until everything has its vector."""
    embedding = asyncio.create_task(core.embedding.run())
    while (await embedding_queue.backlog(core.database)).get("pending") or core.embedding.index is None:
        await asyncio.sleep(0.2)
    embedding.cancel()


async def timed(size: int) -> None:
    """Consolidate one project of so many memories."""
    with TemporaryDirectory() as folder:
        core = await opened(folder)
        project = await settle(core.database, Identity(root=folder, name="bench"))
        rng = random.Random(SEED)
        said = [way.format(text) for text in (sentence(rng) for _ in range(size // len(WAYS))) for way in WAYS]
        async with core.database.write() as tx:
            for text in said:
                await memories.insert(tx, said_in(project.id, text))
        await embedded(core)
        begun, worked = perf_counter(), process_time()
        done = await consolidating.consolidate(core, project.id)
        seconds, worked = perf_counter() - begun, process_time() - worked
        made, proposed = len(done.made), len(done.proposed)
        print(f"{size} memories: {100 * seconds / size:.2f} s per 100 ({100 * worked / size:.2f} of the processor)")
        print(f"  {made} summed up, {proposed} proposed")
        await core.embedding.close()
        await core.database.close()


async def read(root: Path, printed: int) -> None:
    """Say what clusters the memories have that are captured from transcripts."""
    with TemporaryDirectory() as folder:
        core = await opened(folder)
        number = await fill(core, root)
        await embedded(core)
        found = []
        begun = perf_counter()
        for project in await consolidations.projects(core.database):
            found += await consolidating.find(core, project or None)
        seconds = perf_counter() - begun
        sizes = Counter(len(one.sources) for one in found)
        print(f"{number} memories: {len(found)} clusters in {seconds:.1f} s, by size {dict(sorted(sizes.items()))}")
        for one in random.Random(SEED).sample(found, min(printed, len(found))):
            told = telling.tell(one.sources)
            admission = gate.admit(
                telling.draft(one.sources, told, one.cohesion), one.sources, one.cohesion, core.settings
            )
            print(f"--- {one.cohesion:.2f} {one.sources[0].kind} {admission.decision}\n{told.content[:800]}")
        await core.embedding.close()
        await core.database.close()


def main(arguments: Sequence[str]) -> None:
    if arguments:
        asyncio.run(read(Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0))
        return
    for size in SIZES:
        asyncio.run(timed(size))


if __name__ == "__main__":
    main(sys.argv[1:])
