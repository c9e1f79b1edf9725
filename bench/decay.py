"""Time what forgetting costs: `python -m bench.decay [--memories 10000]`.

A store of plausible sentences (bench/fill.py), a tenth of it linked, corrected or judged. What the daily run takes for
each 1,000 memories, what it takes to look through them all when nothing is due, and what recall spends on decay and
feedback, as the difference between recalls with and without them, interleaved.
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
from daemon import fading
from daemon.core import Core
from daemon.embedding import Embedding
from subconscious.decay import DAY
from subconscious.flow import recalling
from subconscious.flow.mind import Mind
from subconscious.home import Home
from subconscious.model import Hit, Link, Memory
from subconscious.search.words import terms
from subconscious.store import corrections, links
from subconscious.store import fading as stored
from subconscious.store.connect import open_database
from subconscious.store.corrections import Correction, Feedback

ROUNDS = 300


async def prepare(core: Core, count: int) -> None:
    """Let a tenth of the memories have links, corrections, feedback and an importance."""
    rng = random.Random(5)
    async with core.database.write() as tx:
        for number in rng.sample(range(2, count + 1), count // 10):
            await links.add(tx, Link(0, number, number - 1, "SUPERSEDES", "active", 1.0, "user", "", time()), "user")
            await corrections.correct(tx, Correction(number - 1, "superseded", number), "user")
            await corrections.append(tx, Feedback(number, rng.choice(("accepted", "rejected")), "user"))
            await stored.set_importance(tx, number, "important", "user")


async def recalls(core: Core, projects: list[str]) -> str:
    """Milliseconds of a recall with decay and feedback, and without."""
    rng, mind = random.Random(11), replace(core.mind(), embed=_by_words)
    taken: dict[str, list[float]] = {"with": [], "without": []}
    for number in range(ROUNDS):
        query, project = sentence(rng), projects[number % len(projects)]
        order = ("with", "without") if number % 2 else ("without", "with")
        for name in order:
            taken[name].append(await (_timed(mind, query, project) if name == "with" else _bare(mind, query, project)))
    shown = [f"{name} {statistics.median(ms):.2f} (95 % within {p95(ms):.2f})" for name, ms in taken.items()]
    return f"recall, ms: {', '.join(shown)}; difference {difference(taken):+.2f}"


async def touches(core: Core, projects: list[str]) -> str:
    """Milliseconds that a batch of turns takes to find what it works on, and to note that."""
    rng, taken = random.Random(13), []
    for number in range(ROUNDS):
        words, files = set(terms(sentence(rng))), {f"/src/module_{rng.randrange(1, 5000)}.py"}
        begun = perf_counter()
        found = await stored.about(core.database, projects[number % len(projects)], files, words)
        async with core.database.write() as tx:
            await stored.touch(tx, found, time())
        taken.append(1000 * (perf_counter() - begun))
    return f"what a batch of turns works on, ms: {statistics.median(taken):.2f} (95 % within {p95(taken):.2f})"


async def _by_words(query: str) -> None:
    """No meaning: words alone are what leaves least beside decay."""
    del query


def difference(taken: dict[str, list[float]]) -> float:
    """The median of what each pair differs by."""
    return statistics.median(one - other for one, other in zip(taken["with"], taken["without"], strict=True))


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


async def _timed(mind: Mind, query: str, project: str) -> float:
    begun = perf_counter()
    await recalling.recall(mind, query, project, 10)
    return 1000 * (perf_counter() - begun)


async def _bare(mind: Mind, query: str, project: str) -> float:
    """The same recall, with nothing faded and nothing heeded."""

    async def unsaid(*_: object) -> dict[int, dict[str, int]]:
        return {}

    def unfaded(mind: Mind, memory: Memory, now: float) -> float:
        del mind, memory, now
        return 1.0

    def unheeded(mind: Mind, hit: Hit, said: object) -> Hit:
        del mind, said
        return hit

    counts, fade, heeded = corrections.counts, recalling.fade, recalling.heeded
    corrections.counts, recalling.fade, recalling.heeded = unsaid, unfaded, unheeded  # type: ignore[assignment]
    try:
        return await _timed(mind, query, project)
    finally:
        corrections.counts, recalling.fade, recalling.heeded = counts, fade, heeded


async def timed(what: str, run: Callable[[], Awaitable[fading.Report]]) -> None:
    """Print what a run took."""
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
        core = Core(home, tuned(embedder="none", archive_most=count), database, Embedding("none", database))
        await prepare(core, count)
        print(await recalls(core, list(filled.folders)))
        print(await touches(core, list(filled.folders)))
        await timed("a run in which nothing is due", lambda: fading.archive_faded(core, time() - 300 * DAY))
        await timed("a run in which all is due", lambda: fading.archive_faded(core, time() + 4000 * DAY))
        await core.embedding.close()
        await database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    asyncio.run(measure(parser.parse_args().memories))


if __name__ == "__main__":
    main()
