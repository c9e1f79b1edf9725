"""What of each memory may name a file."""

from __future__ import annotations

import json
from typing import NamedTuple

from subconscious.store.connect import Database


class Mention(NamedTuple):
    """A memory's words and the files that it is about."""

    content: str
    files: tuple[str, ...]


async def everywhere(database: Database) -> list[Mention]:
    """Return those of all memories that sessions may be given, of every project and the unconfirmed ones."""
    rows = await database.rows(
        "SELECT content, files FROM memories WHERE archived_at IS NULL OR unconfirmed", long=True
    )
    return [Mention(row[0], tuple(json.loads(row[1]))) for row in rows]
