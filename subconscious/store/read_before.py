"""How far transcripts were read before everything was purged: known by a digest of their paths alone."""

from __future__ import annotations

from hashlib import sha256

from subconscious.store import events
from subconscious.store.connect import Database

READ = "read before a purge"
"""The event that keeps a position."""


def digest_of(path: str) -> str:
    """The digest that a path is known by; it holds a session's random id, so that it can't be guessed from it."""
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()


async def position(database: Database, path: str) -> int:
    """Where to go on reading a transcript; 0 if it was not read before a purge."""
    found = [event for event in await events.history(database, "prompt", digest_of(path)) if event["action"] == READ]
    return int(found[-1]["after"]["position"]) if found else 0
