"""One exchange of a project with a team's store: sends local changes, and stores what others shared.

The changes to send are derived from the local store each time, and the server stores each version only once. So an
interrupted exchange is simply repeated: nothing is lost, and nothing is stored twice.

This module imports psycopg: import this module only when a team's store is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import time
from uuid import uuid4

from subconscious.app import App
from subconscious.context.priority import LONGEST, QUIET, aside
from subconscious.domain.errors import TeamRefusedError
from subconscious.sharing import publishing, receiving
from subconscious.sharing.merge import Entry, digest_of
from subconscious.sharing.receiving import Offer
from subconscious.store import events, shares
from subconscious.store.projects import Project
from subconscious.store.team import queries, queue
from subconscious.store.team.connection import Server
from subconscious.store.team.queries import NewVersion, RemoteVersion
from subconscious.store.team.queue import Joined, Waiting
from subconscious.team.due import changed_here
from subconscious.wire.files import Document, HeldMemory, ReceivedVersion

BATCH = 100
"""The maximum number of memories that are compared or received at once."""

SENT_AT_ONCE = 20
"""The maximum number of memories in one request, so that it meets its deadline even if other members send, too."""

CACHED = 1000
"""The maximum number of other members' memories in the local store, per project; searches ask the server for more."""

MOST_NEWS = 2000
"""The maximum number of changes on the server that are read in order.

If there are more, the memories that the team uses most are read instead, as in the first exchange.
"""

COMPARE_SECONDS = 3600.0
"""Seconds after which all shared memories are compared with the server: it may have been restored from a backup."""

DIMENSIONS = 384
"""Dimensions of the vectors that the server stores; without such vectors, memories are found by words only."""


@dataclass(slots=True)
class Outcome:
    """The result of an exchange."""

    sent: int = 0
    used: int = 0
    held: list[HeldMemory] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    received: list[ReceivedVersion] = field(default_factory=list)
    broken: int = 0
    """How many rows from the server were invalid."""


async def exchange(app: App, server: Server, joined: Joined, *, everything: bool = False) -> Outcome:
    """Send local changes, then store the server's changes. With ``everything``, compare all shared memories.

    Raises TeamError if the exchange fails; the next exchange continues.
    """
    project = await queue.project_of(app.database, joined.project_id)
    if project is None:
        return Outcome()
    joined = await _as_server_says(server, joined)
    newest, outcome = await events.latest_id(app.database), Outcome()
    await _purge(app, server, joined, outcome)
    if joined.member != "reader":
        await _publish(app, server, joined, project, outcome, everything=everything)
    await _confirm(app, server, joined, outcome)
    await _use(app, server, joined, outcome)
    await _receive(app, server, joined, project, outcome)
    async with app.database.write() as tx:
        await queue.synced(tx, joined.project_id, joined.member, newest)
    return outcome


async def _as_server_says(server: Server, joined: Joined) -> Joined:
    """Return the project with this person's name and role on the server. Raises TeamRefusedError for a non-member."""
    hello = await server.run(queries.hello)
    found = next((one for one in hello.projects if one.id == joined.remote_id), None)
    if found is None:
        raise TeamRefusedError(
            f"{hello.person} is not a member of {joined.name}",
            f"ask a maintainer to run `subconscious team member {hello.person} author`",
        )
    return replace(joined, person=hello.person, member=found.role)


async def _purge(app: App, server: Server, joined: Joined, outcome: Outcome) -> None:
    rows = await queue.waiting(app.database, joined.project_id, "purge")
    if rows:
        uids = [row.uid for row in rows]
        await server.run(queries.purge, joined.remote_id, uids)
        await _sent(app, rows)
        outcome.sent += len(rows)


async def _publish(
    app: App, server: Server, joined: Joined, project: Project, outcome: Outcome, *, everything: bool
) -> None:
    """Send new versions of shared memories, and mark the versions that they replace."""
    rows = await queue.waiting(app.database, project.id, "publish")
    uids = [row.uid for row in rows]
    if everything or joined.synced_at is None or not 0 <= time() - joined.synced_at < COMPARE_SECONDS:
        uids += [one.uid for one in await shares.of_project(app.database, project.id)]
    else:
        uids += await changed_here(app, joined)
    by_uid = {row.uid: row for row in rows}
    wanted = list(dict.fromkeys(uids))
    for start in range(0, len(wanted), BATCH):
        portion = wanted[start : start + BATCH]
        await aside(app.signals, QUIET, LONGEST)
        await _publish_some(app, server, joined, project, portion, outcome, by_uid)


async def _publish_some(
    app: App,
    server: Server,
    joined: Joined,
    project: Project,
    uids: Sequence[str],
    outcome: Outcome,
    by_uid: dict[str, Waiting],
) -> None:
    page = await server.run(queries.versions, joined.remote_id, uids)
    outcome.broken += page.broken
    out = await publishing.publish(app, project, _entries(uids, page.versions))
    outcome.held += out.held
    new = await _new_versions(app, out.entries)
    mine = {(one.uid, one.digest) for one in page.versions if joined.member == "maintainer" or _is_mine(one, joined)}
    replaced = {
        uid: [digest for digest in entry.replaced if (uid, digest) in mine] for uid, entry in out.entries.items()
    }

    refused: dict[str, str] = {}
    changed = list(dict.fromkeys([*(uid for uid, old in replaced.items() if old), *(one.uid for one in new)]))
    for start in range(0, len(changed), SENT_AT_ONCE):
        some = set(changed[start : start + SENT_AT_ONCE])
        old = {uid: digests for uid, digests in replaced.items() if uid in some and digests}
        sent = [one for one in new if one.uid in some]
        refused |= await server.run(queries.publish, joined.remote_id, sent, old)
    outcome.sent += len(new) - len(refused) + sum(map(bool, replaced.values()))
    outcome.refused += refused.values()
    done = [by_uid[uid].id for uid in uids if uid in by_uid and uid not in refused]
    async with app.database.write() as tx:
        await queue.sent(tx, done)
        for uid, why in refused.items():
            await queue.queue(tx, project.id, "publish", uid)
            await queue.refused(tx, project.id, "publish", uid, why)


def _is_mine(version: RemoteVersion, joined: Joined) -> bool:
    return version.author == joined.person


def _entries(uids: Sequence[str], versions: Iterable[RemoteVersion]) -> dict[str, Entry]:
    """Return the server's versions of some memories, except those whose digest does not match the content."""
    current: dict[str, dict[str, Document]] = {uid: {} for uid in uids}
    replaced: dict[str, set[str]] = {uid: set() for uid in uids}
    for one in versions:
        if one.version is None:
            replaced[one.uid].add(one.digest)
        elif digest_of(one.version) == one.digest:
            current[one.uid][one.digest] = one.version
    return {uid: Entry(current[uid], frozenset(replaced[uid])) for uid in uids}


async def _new_versions(app: App, entries: dict[str, Entry]) -> list[NewVersion]:
    embedder, ctx = app.embedding.current, app.recall_context()
    made = []
    for uid, entry in entries.items():
        for digest, version in entry.versions.items():
            vector = await ctx.embed_now(str(version["record"]["memory"]["content"]))
            known = vector is not None and len(vector) == DIMENSIONS
            values = [float(value) for value in vector] if known and vector is not None else None
            made.append(NewVersion(uid, digest, version, values, embedder.model if known else ""))
    return made


async def _confirm(app: App, server: Server, joined: Joined, outcome: Outcome) -> None:
    """Send a maintainer's confirmations and withdrawn confirmations. The server rejects those of other members."""
    for act in ("confirm", "doubt"):
        for row in await queue.waiting(app.database, joined.project_id, act):
            try:
                digest = row.digest or await _own_digest(server, joined, row.uid)
                await server.run(queries.confirm, joined.remote_id, row.uid, digest, wanted=act == "confirm")
            except TeamRefusedError as error:
                outcome.refused.append(error.message)
                async with app.database.write() as tx:
                    await queue.refused(tx, joined.project_id, act, row.uid, error.message)
            else:
                await _sent(app, [row])
                outcome.sent += 1


async def _own_digest(server: Server, joined: Joined, uid: str) -> str:
    """Return the digest of the current version shared by this person. Raises TeamRefusedError if there is none."""
    page = await server.run(queries.versions, joined.remote_id, [uid])
    for one in page.versions:
        if one.version is not None and _is_mine(one, joined):
            return one.digest
    raise TeamRefusedError("the server does not have this memory", "run `subconscious team sync` to send it")


async def _use(app: App, server: Server, joined: Joined, outcome: Outcome) -> None:
    rows = await queue.waiting(app.database, joined.project_id, "use")
    if rows:
        used = [(row.uid, row.day) for row in rows]
        await server.run(queries.use, joined.remote_id, used)
        await _sent(app, rows)
        outcome.used += len(rows)


async def _sent(app: App, rows: Sequence[Waiting]) -> None:
    async with app.database.write() as tx:
        await queue.sent(tx, [row.id for row in rows])


async def _receive(app: App, server: Server, joined: Joined, project: Project, outcome: Outcome) -> None:
    """Store the server's changes since the last exchange; the first time, the memories that the team uses most."""
    newest = await server.run(queries.newest_change, joined.remote_id)
    seen = joined.seen
    if seen and not await _has_seen(server, joined, newest):
        seen = 0
    if seen == 0 or newest - seen > MOST_NEWS:
        uids = await server.run(queries.best, joined.remote_id, CACHED)
        await _take(app, server, joined, project, uids, outcome)
        key = await server.run(queries.key_of, joined.remote_id, newest)
        await _read_to(app, joined, newest, key)
        return
    while seen < newest:
        since = seen
        rows = await server.run(queries.changed, joined.remote_id, since)
        if not rows:
            return
        await _take(app, server, joined, project, list(dict.fromkeys(uid for _, uid, _ in rows)), outcome)
        seen, uid, digest = max(rows)
        await _read_to(app, joined, seen, f"{uid} {digest}")


async def _has_seen(server: Server, joined: Joined, newest: int) -> bool:
    """Return whether the server still has the change that was last read; False after it was restored from a backup."""
    key = await server.run(queries.key_of, joined.remote_id, joined.seen)
    return joined.seen <= newest and key in ("", joined.seen_key)


async def _read_to(app: App, joined: Joined, seen: int, key: str) -> None:
    async with app.database.write() as tx:
        await queue.read_to(tx, joined.project_id, seen, key)


async def _take(
    app: App, server: Server, joined: Joined, project: Project, uids: Sequence[str], outcome: Outcome
) -> None:
    """Store the current versions of some memories, and discard withdrawn ones that have not been accepted here."""
    act = uuid4().hex
    for start in range(0, len(uids), BATCH):
        await aside(app.signals, QUIET, LONGEST)
        portion = await _wanted(app, project, uids[start : start + BATCH])
        page = await server.run(queries.versions, joined.remote_id, portion)
        outcome.broken += page.broken
        offers = [
            Offer(one.uid, one.digest, one.version, one.author, "", one.author, one.confirmed_by or "")
            for one in page.versions
            if one.version is not None
        ]
        gone = {(one.uid, one.digest) for one in page.versions if one.version is None}
        outcome.received += await receiving.take(app, project, offers, act=act, actor="daemon")
        if gone:
            await receiving.retract(app, project, gone)


async def _wanted(app: App, project: Project, uids: Sequence[str]) -> list[str]:
    """Return ``uids``; once the local store has ``CACHED`` memories of others, only uids that it already has."""
    if await queue.number_received(app.database, project.id) < CACHED:
        return list(uids)
    known = await queue.known_uids(app.database, project.id, uids)
    return [uid for uid in uids if uid in known]
