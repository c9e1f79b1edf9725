"""Print the merges of real sessions' captures: `python -m bench.merging DIR [--pairs FILE] [--discarded]`.

Imports a folder of transcripts with the local embedder, through the user's command and a real daemon; counts candidates
that were not queued because the same one was waiting or stored; approves all waiting captures (with ``--discarded``
also discarded ones, for a larger sample); then runs the nightly merges. Prints counts and seconds. The pairs are
written to a file, one JSON object a line, to be judged by people; it never enters the repository.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import import_
from bench.tuned_daemon import tuned_command, write_config
from subconscious import wire
from subconscious.app import App
from subconscious.capture.admission import Provenance, memory_of
from subconscious.domain.model import Admission, Decision
from subconscious.embeddings.background import Embedding
from subconscious.embeddings.batches import text_of
from subconscious.embeddings.embedder import Embedder, open_embedder
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import captures, embedding_queue, memories, vectors
from subconscious.store.capture_rows import SessionRef, candidate_from
from subconscious.store.connect import Database, open_database
from subconscious.store.maintenance import Run
from subconscious.upkeep import phases

REPEATS = ("says what capture", "says what memory")


def rows(home: Home, sql: str) -> list[Any]:
    with closing(sqlite3.connect(home.database)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute(sql).fetchall()


def import_all(home: Home, folder: Path) -> None:
    write_config(home, {"embedder": '"local"', "links": False, "maintenance": False})
    wire.daemon_command = tuned_command
    wire.ensure_daemon(home)
    try:
        seconds, report = import_.run(home, folder)
        wire.call(home, "drain", {"timeout": 600}, 605)
    finally:
        wire.call(home, "stop")
        wire.await_absence(home, 20)
    told = ", ".join(f"{name} {report[name]}" for name in ("captured", "queued", "discarded"))
    print(f"imported in {seconds:.1f} s: {told}")


async def approve(database: Database, embedder: Embedder, statuses: tuple[str, ...]) -> int:
    """Make a memory of each capture, with its vector; how many."""
    made = 0
    for status in statuses:
        for capture in await captures.listing(database, status=status, limit=10**6):
            if capture["memory_id"] is not None or capture["reason"].startswith(REPEATS):
                continue
            said = candidate_from(capture)
            where = Provenance(SessionRef(capture["project_id"], capture["session_id"]))
            memory = memory_of(said, Admission(Decision.AUTO, capture["confidence"], ""), where)
            async with database.write() as tx:
                if await memories.same_wording(tx, memory) is not None:
                    continue
                kept = await memories.insert(tx, memory)
                row = vectors.Row(kept.id, kept.project_id or "", embedder.embed([text_of(kept)])[0])
                await vectors.save(tx, embedder.name, [row])
                await embedding_queue.set_status(tx, [kept.id], "done")
            made += 1
    return made


async def merge(home: Home, statuses: tuple[str, ...]) -> None:
    embedder = open_embedder("local")
    if embedder is None:
        raise SystemExit("there is no local model")
    database = await open_database(home.database)
    app = App(home, Settings(embedder="none"), database, Embedding("none", database))
    try:
        print(f"approved: {await approve(database, embedder, statuses)}")
        app.embedding.current.model = embedder.name
        app.embedding.current.index = await vectors.open_index(database, embedder.name, embedder.dim)
        begun, step, done = perf_counter(), phases.Step(""), dict[str, int]()
        while step.cursor is not None:
            step = await phases.merge(app, Run(1, "nightly", "running", "merge", step.cursor, 0.0, None))
            done = {name: done.get(name, 0) + step.done.get(name, 0) for name in {*done, *step.done}}
        print(f"at night: {done} in {perf_counter() - begun:.1f} s")
        await app.embedding.current.index.close()
    finally:
        await app.embedding.close()
        await database.close()


PAIRS = (
    "SELECT g.cosine, a.kind, a.content AS one, b.content AS other FROM memory_merges AS g"
    " JOIN memories AS a ON a.id = g.memory_id JOIN memories AS b ON b.id = g.into_id ORDER BY g.id"
)
QUEUED = (
    "SELECT 0 AS cosine, a.kind, a.content AS one, coalesce(c.content, m.content) AS other FROM implicit_captures AS a"
    " LEFT JOIN implicit_captures AS c ON a.reason LIKE 'says what capture ' || c.id || ' says%'"
    " LEFT JOIN memories AS m ON a.reason = 'says what memory ' || m.id || ' says'"
    " WHERE c.id IS NOT NULL OR m.id IS NOT NULL ORDER BY a.id"
)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    words.add_argument("--pairs", type=Path, help="where the pairs are written to be read")
    words.add_argument("--discarded", action="store_true", help="approve what was discarded, too")
    options = words.parse_args()
    home = Home(Path(tempfile.mkdtemp(prefix="bench-")))
    home.make()
    try:
        import_all(home, options.folder.resolve())
        queued = [dict(row) for row in rows(home, QUEUED)]
        identical = sum(pair["one"] == pair["other"] for pair in queued)
        print(f"not queued, for the same stood or waited: {len(queued)}, {identical} of them word for word")
        asyncio.run(merge(home, ("review", *(("discarded",) if options.discarded else ()))))
        pairs = queued + [dict(row) for row in rows(home, PAIRS)]
        if options.pairs:
            options.pairs.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    finally:
        shutil.rmtree(home.root)


if __name__ == "__main__":
    main()
