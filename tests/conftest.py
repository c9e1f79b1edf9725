"""What many tests share: values with sensible fields, and a store of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from subconscious.home import Home
from subconscious.model import Memory, Origin, Scope
from subconscious.projects import Identity
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.projects import Project, settle
from subconscious.store.rows import content_hash

# A busy machine may stop for a second in the middle of an example; how long a test may take is said by its time-out.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

NOON = 1_790_000_000.0


def make_memory(content: str = "Amounts are integer cents.", **changes: Any) -> Memory:
    """A memory with every field set to something plausible."""
    values: dict[str, Any] = {
        "id": 0,
        "project_id": None,
        "scope": Scope.USER,
        "kind": "decision",
        "category": "semantic",
        "summary": content[:100],
        "content": content,
        "origin": Origin.USER,
        "confidence": 0.9,
        "raw_confidence": 0.9,
        "extractor": "test",
        "created_at": NOON,
        "said_at": NOON,
        "content_hash": content_hash(content),
    }
    if changes.get("project_id"):
        values["scope"] = Scope.PROJECT
    return Memory(**values | changes)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A state folder of the test's own."""
    made = Home(tmp_path / "home")
    made.make()
    return made


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    """An empty store, migrated."""
    opened = await open_database(home.database)
    try:
        await migrate(opened)
        yield opened
    finally:
        await opened.close()


@pytest.fixture
async def project(database: Database, tmp_path: Path) -> Project:
    """A project to put things into."""
    return await settle(database, Identity(root=str(tmp_path), name="demo"))
