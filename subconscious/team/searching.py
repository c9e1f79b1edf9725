"""Searches a team's store for memories that are missing or unconfirmed in the local store.

A search that fails finds nothing. The results are checked like memories that an exchange receives: the digest must
match the content, the text is redacted, and a text that looks like an attack is left out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from subconscious.app import App
from subconscious.domain.errors import SubconsciousError
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Level, Memory
from subconscious.files.record import RecordError, parse_record
from subconscious.memories.memory_commands import MAX_RECORD_LENGTH
from subconscious.poisoning.gate import screen
from subconscious.poisoning.suspicions import as_candidate
from subconscious.redaction.cleaning import clean
from subconscious.sharing.merge import digest_of
from subconscious.sharing.receiving import PERSONAL, Offer
from subconscious.store import shares
from subconscious.store.team import queue
from subconscious.team.background import TeamExchange, of
from subconscious.text.terms import terms
from subconscious.text.words import cut
from subconscious.wire.memories import TeamHit

if TYPE_CHECKING:
    from subconscious.store.team.queries import Found

log = logging.getLogger("subconscious.team")

SECONDS = 1.0
"""Seconds that the server may take for a search."""

MOST_WORDS = 32
DIMENSIONS = 384


def register(app: App) -> None:
    """Make searches query the team's store, too."""

    async def ask(project_id: str, text: str, limit: int) -> list[TeamHit]:
        if not app.config.current.store:
            return []
        try:
            return await search(app, of(app), project_id, text, limit)
        except Exception:
            # No error that a server causes may break a search of the local store.
            log.exception("the search of the team's store failed")
            return []

    app.team_search = ask


async def search(app: App, team: TeamExchange, project_id: str, text: str, limit: int) -> list[TeamHit]:
    """Return memories of the team's store that match ``text`` and are missing in the local store.

    Memories that are unconfirmed in the local store are returned, too, because a local search can miss them. The
    result is empty if the search fails or takes too long.
    """
    try:
        joined = await team.store.joined(project_id)
        if joined is None or not (words := terms(text)):
            return []
        server = await team.store.server()
        if server.breaker.seconds_left:
            return []
        from subconscious.store.team import queries  # imports psycopg

        vector = await app.recall_context(asked=True, hurried=True).embed(text)
        values = [float(one) for one in vector] if vector is not None and len(vector) == DIMENSIONS else None
        model = app.embedding.current.model if values else ""
        asked = " or ".join(words[:MOST_WORDS])
        found, broken = await server.within(SECONDS, queries.search, joined.remote_id, asked, values, model, 2 * limit)
    except SubconsciousError as error:
        log.info("the team's store could not be searched: %s", error.message)
        return []
    if broken:
        log.warning("the team's store sent %d rows that are not valid", broken)
    known = await queue.known_uids(app.database, project_id, [one.uid for one in found], settled=True)
    trusted = set(await shares.trusted(app.database))
    fresh = [one for one in found if one.uid not in known and _offer(one).is_of(trusted)]
    return (await asyncio.to_thread(_hits, fresh))[:limit]


def _offer(found: Found) -> Offer:
    return Offer(found.uid, found.digest, found.version, found.author, "", found.author, found.confirmed_by or "")


def _hits(found: Sequence[Found]) -> list[TeamHit]:
    """Return the results that may be shown. CPU-bound: run it in a thread."""
    return [hit for one in found if (hit := _hit(one)) is not None]


def _hit(found: Found) -> TeamHit | None:
    try:
        record = parse_record(found.version.get("record"))
    except RecordError:
        return None
    said = record.memory
    if record.uid != found.uid or digest_of(found.version) != found.digest or said.archived_at is not None:
        return None
    if screen(as_candidate(Memory(id=0, project_id="", content_hash="", **said.model_dump()))).level is not Level.NONE:
        return None
    content = cut(clean(said.content).strip(), MAX_RECORD_LENGTH)
    if not content:
        return None
    return {
        "uid": found.uid,
        "kind": said.kind if said.kind in KINDS and said.kind not in PERSONAL else "learning",
        "content": content,
        "by": _offer(found).by,
        "confirmed_by": clean(found.confirmed_by or ""),
        "people": found.people,
        "said_at": said.said_at,
    }
