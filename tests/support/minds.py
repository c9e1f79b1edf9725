"""RecallContexts over a test store, and memories stored in it."""

from __future__ import annotations

from typing import Any

from bench.tuned import tuned
from subconscious.domain.model import Scope
from subconscious.recall.recall_context import RecallContext
from subconscious.store import memories
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from tests.support.values import make_memory


async def no_embedding(text: str) -> None:
    return None


def make_mind(database: Database, **settings: Any) -> RecallContext:
    return RecallContext(database, None, tuned(embedder="none", **settings), no_embedding)


async def store(database: Database, project: Project, content: str, **changes: Any) -> int:
    memory = make_memory(content, project_id=project.id, scope=Scope.PROJECT, **changes)
    async with database.write() as tx:
        return (await memories.insert(tx, memory)).id
