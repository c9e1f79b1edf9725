"""Count the tokens that the ledger of given memories saves: `python -m bench.project`.

Ten scripted sessions of one project, each a start and follow-ups on its topic, go through the real flow and a real
store twice: as shipped, and with a ledger that forgets everything at once and no pause between surfaces. Tokens are
characters / 4.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy

from bench.memory import memory_of
from bench.tuned import tuned
from subconscious.domain.model import Memory
from subconscious.framing.rules import CHARACTERS_A_TOKEN
from subconscious.recall.file_binding import Touched
from subconscious.recall.recall_context import RecallContext
from subconscious.settings.settings import Settings
from subconscious.store import memories, surfaces
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import Project, find_or_create
from subconscious.surfacing.proactive import Prompt, SurfacingEvent, surface_error, surface_file, surface_prompt
from subconscious.surfacing.session_start import Start, surface_start
from subconscious.system.projects import Identity

NOW = 1_790_000_000.0


@dataclass(frozen=True, slots=True)
class Topic:
    """A session's topic: known memories, prompts, touched files and errors."""

    name: str
    file: str
    known: tuple[str, ...]
    prompts: tuple[str, ...]
    error: str = ""


def _topic(name: str, file: str, thing: str, failing: str) -> Topic:
    """A topic with eight memories, and a session of a question and follow-ups on it."""
    known = (
        f"The {thing} of the {name} lives in {file} and is called once a request.",
        f"We decided that the {thing} of the {name} retries twice, because the proxy drops long connections.",
        f"The {thing} of the {name} must not log customer addresses.",
        f"{failing} of the {name} means that the {thing} ran before the migration: run make migrate first.",
        f"Caching the {thing} of the {name} was a dead end: entries outlived a deploy.",
        f"The {thing} of the {name} takes amounts in integer cents.",
        f"Tests of the {thing} of the {name} need the fake clock.",
        f"The timeout of the {thing} of the {name} is 1500 ms, agreed with the bank.",
    )
    prompts = (
        f"Why does the {thing} of the {name} retry twice?",
        f"And should the {thing} of the {name} be cached, or did caching fail?",
        f"What is the timeout of the {thing} of the {name}?",
        f"So the {thing} of the {name} retries twice within its timeout?",
        f"Write the tests of the {thing} of the {name} with the fake clock.",
        "Thanks, go on.",
    )
    return Topic(name, file, known, prompts, f"{failing}: no such relation in {name}")


TOPICS = tuple(
    _topic(*row)
    for row in (
        ("billing", "src/billing/invoice.py", "InvoiceWriter", "MissingLedgerError"),
        ("gateway", "src/gateway/session.py", "TokenExchange", "StaleTokenError"),
        ("search", "src/search/ranker.py", "QueryPlanner", "PlannerStallError"),
        ("upload", "src/upload/worker.py", "ChunkWorker", "ChunkOrderError"),
        ("mailing", "src/mailing/digest.py", "DigestSender", "DigestOverlapError"),
    )
)


async def no_embedding(text: str) -> numpy.ndarray | None:
    """Words alone."""
    del text
    return None


async def furnish(database: Database, project: Project) -> None:
    """Know everything of every topic."""
    async with database.write() as tx:
        for topic in TOPICS:
            for content in topic.known:
                await memories.insert(tx, _memory(project, content, topic.file if topic.file in content else ""))


def _memory(project: Project, content: str, file: str) -> Memory:
    kind = "dead_end" if "dead end" in content or "Error" in content else "decision"
    return memory_of(
        project.id, content, NOW, kind, category="semantic", summary=content, files=(file,) if file else ()
    )


async def hold(ctx: RecallContext, project: Project, number: int, *, ledger: bool) -> tuple[int, int]:
    """Run one session; return the tokens of its start and of the rest."""
    session, topic = f"s{number}", TOPICS[number % len(TOPICS)]
    begun = await surface_start(ctx, Start(session, project.id, "start/startup", "main", hints=topic.name))
    told = 0
    for place, prompt in enumerate(topic.prompts):
        events = [surface_prompt(ctx, Prompt(session, project.id, prompt, "main"))]
        if place % 2:
            touched = Touched(topic.file, str(project.root))
            events.append(surface_file(ctx, SurfacingEvent(session, project.id, "file", "main"), touched))
        if place == 2:
            events.append(surface_error(ctx, SurfacingEvent(session, project.id, "error", "main"), topic.error))
        for event in events:
            if not ledger:
                async with ctx.database.write() as tx:
                    await surfaces.reset(tx, session)
            told += len((await event).text)
    return len(begun.text) // CHARACTERS_A_TOKEN, told // CHARACTERS_A_TOKEN


async def project_of_ten(folder: Path, *, ledger: bool) -> tuple[int, int]:
    """Run ten sessions in a separate store."""
    database = await open_database(folder / "memory.db")
    try:
        await migrate(database)
        project = await find_or_create(database, Identity(root=str(folder), name="shop"))
        await furnish(database, project)
        chosen = Settings(embedder="none") if ledger else tuned(embedder="none", surface_cooldown_minutes=0)
        ctx = RecallContext(database, None, chosen, no_embedding)
        tokens = [await hold(ctx, project, number, ledger=ledger) for number in range(10)]
    finally:
        await database.close()
    return sum(start for start, _ in tokens), sum(told for _, told in tokens)


def main() -> None:
    """Measure both, print."""
    found = {}
    for name, ledger in (("with the ledger", True), ("without", False)):
        with tempfile.TemporaryDirectory(prefix="project-") as folder:
            found[name] = asyncio.run(project_of_ten(Path(folder), ledger=ledger))
            print(f"{name:16} {found[name][0]:6} tokens at ten starts, {found[name][1]:6} on follow-ups")
    with_it, without = found["with the ledger"][1], found["without"][1]
    print(f"the ledger saves {100 * (1 - with_it / without):.0f} % on follow-ups")


if __name__ == "__main__":
    main()
