"""Time decay and archiving: `python -m bench.decay [--memories 10000]`.

The store has plausible sentences (bench/fill.py), a tenth of them linked, corrected or judged. Printed are the time of
the daily run for each 1,000 memories, the time of a run that archives nothing, and the time that recall spends on decay
and feedback: the difference between recalls with and without them, interleaved.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time, time

from bench.fill import fill, sentence
from bench.tuned import tuned
from subconscious.app import App
from subconscious.decay import DAY
from subconscious.domain.hits import Hit
from subconscious.domain.model import Link, Memory
from subconscious.embeddings.background import Embedding
from subconscious.memories import fading
from subconscious.recall import pipeline, ranking
from subconscious.recall.recall_context import RecallContext
from subconscious.settings.home import Home
from subconscious.store import corrections, links
from subconscious.store import fading as stored
from subconscious.store.connect import open_database
from subconscious.store.corrections import Correction, Feedback
from subconscious.text.terms import terms

ROUNDS = 300


async def prepare(app: App, count: int) -> None:
    """Give a tenth of the memories links, corrections, feedback and an importance."""
    rng = random.Random(5)
    async with app.database.write() as tx:
        for number in rng.sample(range(2, count + 1), count // 10):
            await links.add(tx, Link(0, number, number - 1, "SUPERSEDES", "active", 1.0, "user", "", time()), "user")
            await corrections.record(tx, Correction(number - 1, "superseded", number), "user")
            await corrections.record_feedback(tx, Feedback(number, rng.choice(("accepted", "rejected")), "user"))
            await stored.set_importance(tx, number, "important", "user")


async def recalls(app: App, projects: list[str]) -> str:
    """Milliseconds of a recall with decay and feedback, and without."""
    rng, ctx = random.Random(11), replace(app.recall_context(), embed=_by_words)
    taken: dict[str, list[float]] = {"with": [], "without": []}
    for number in range(ROUNDS):
        query, project = sentence(rng), projects[number % len(projects)]
        order = ("with", "without") if number % 2 else ("without", "with")
        for name in order:
            taken[name].append(await (_timed(ctx, query, project) if name == "with" else _bare(ctx, query, project)))
    shown = [f"{name} {statistics.median(ms):.2f} (95 % within {p95(ms):.2f})" for name, ms in taken.items()]
    return f"recall, ms: {', '.join(shown)}; difference {difference(taken):+.2f}"


async def touches(app: App, projects: list[str]) -> str:
    """Milliseconds to find the files and topics of a batch of turns, and to record them."""
    rng, taken = random.Random(13), []
    for number in range(ROUNDS):
        words, files = set(terms(sentence(rng))), {f"/src/module_{rng.randrange(1, 5000)}.py"}
        begun = perf_counter()
        found = await stored.about(app.database, projects[number % len(projects)], files, words)
        async with app.database.write() as tx:
            await stored.touch(tx, found, time())
        taken.append(1000 * (perf_counter() - begun))
    return f"what a batch of turns works on, ms: {statistics.median(taken):.2f} (95 % within {p95(taken):.2f})"


async def _by_words(query: str) -> None:
    """Without embeddings, because full text alone takes the least time beside decay."""
    del query


def difference(taken: dict[str, list[float]]) -> float:
    """The median of what each pair differs by."""
    return statistics.median(one - other for one, other in zip(taken["with"], taken["without"], strict=True))


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


async def _timed(ctx: RecallContext, query: str, project: str) -> float:
    begun = perf_counter()
    await pipeline.recall(ctx, query, project, 10)
    return 1000 * (perf_counter() - begun)


async def _bare(ctx: RecallContext, query: str, project: str) -> float:
    """The same recall without decay and feedback."""

    async def unsaid(*_: object) -> dict[int, dict[str, int]]:
        return {}

    def unfaded(ctx: RecallContext, memory: Memory, now: float) -> float:
        del ctx, memory, now
        return 1.0

    def unheeded(ctx: RecallContext, hit: Hit, said: object) -> Hit:
        del ctx, said
        return hit

    counts, fade, heeded = corrections.counts, ranking.decay_factor, ranking.apply_corrections
    corrections.counts, ranking.decay_factor, ranking.apply_corrections = unsaid, unfaded, unheeded  # type: ignore[assignment]
    try:
        return await _timed(ctx, query, project)
    finally:
        corrections.counts, ranking.decay_factor, ranking.apply_corrections = counts, fade, heeded


async def timed(what: str, run: Callable[[], Awaitable[fading.Report]]) -> None:
    """Print the time of a run."""
    begun = process_time()
    report = await run()
    used = process_time() - begun
    moved = len(report.archived)
    print(f"{what}: {report.looked} looked at, {moved} archived, {report.seconds:.2f} s", end="; ")
    per = 1000 / report.looked
    print(f"{per * report.seconds:.2f} s for each 1,000 looked at, {per * used:.2f} s of processor time")


async def measure(count: int) -> None:
    """All of it, for one size."""
    with tempfile.TemporaryDirectory(prefix="decay-") as scratch:
        home = Home(Path(scratch) / "home")
        filled = await asyncio.to_thread(fill, home, count, synthetic=True, model="none")
        database = await open_database(home.database)
        app = App(home, tuned(embedder="none", archive_most=count), database, Embedding("none", database))
        await prepare(app, count)
        print(await recalls(app, list(filled.folders)))
        print(await touches(app, list(filled.folders)))
        await timed("a run in which nothing is due", lambda: fading.archive_faded(app, time() - 300 * DAY))
        await timed("a run in which all is due", lambda: fading.archive_faded(app, time() + 4000 * DAY))
        await app.embedding.close()
        await database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    asyncio.run(measure(parser.parse_args().memories))


if __name__ == "__main__":
    main()
