"""The policy that texts are cleaned by, the log of what was found, and the look through what is stored already."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any

from subconscious.errors import DaemonError
from subconscious.home import Home
from subconscious.redaction import VERSION, Find, KnownSecrets, Policy, ledger, policy, redact
from subconscious.safe_files import NotRegularError, TooLargeError, is_missing, read_regular, replace_file
from subconscious.store import migrate, prose, redactions
from subconscious.store.prose import Row
from subconscious.store.redactions import Finding

from . import remains, rendering
from .aside import LONGEST, QUIET, aside
from .core import Core

BATCH = 25
"""Rows that are looked through at once."""

ROUND_SECONDS = 1.0
"""Time that a look through what is stored may work in one round of upkeep."""

LONGEST_ROUND = 10.0
"""Seconds after which the other upkeep has its turn, however much of them was waiting."""

PASSES = 3
"""Looks through all that is stored: what one finds may stand bare in rows before it. Few secrets name another one."""

KEY_BYTES = 32
LONGEST_KEY = 4096


async def adopt(core: Core) -> None:
    """Let the settings and what a person allowed hold for every text from now on."""
    chosen = core.in_force(core.settings)
    strategies = {sort: str(getattr(chosen, f"redact_{sort}")) for sort in (policy.SECRETS, *policy.PERSONAL)}
    key = await asyncio.to_thread(_key, core.home)
    known = policy.in_use().known if policy.in_use().key == key else KnownSecrets()
    known.load(await redactions.hashes(core.database))
    policy.use(Policy(strategies, key, await redactions.allowed(core.database), known))


def _key(home: Home) -> bytes:
    """The salt of the hashes. It lies beside the database, so that a copy of that tells nothing."""
    path = home.root / "redaction.key"
    if is_missing(path):
        replace_file(path, secrets.token_hex(KEY_BYTES).encode())
    try:
        return read_regular(path, LONGEST_KEY).strip()
    except (NotRegularError, TooLargeError) as error:
        raise DaemonError(f"{path} is no key of ours: {error.strerror}", f"move {path} away") from error


async def write_down(core: Core) -> None:
    """Put what was found since the last time into the log."""
    if entries := ledger.take():
        found = [_finding(entry.at, entry.place, entry.find) for entry in entries]
        async with core.database.write() as tx:
            await redactions.record(tx, found, core.settings.redaction_log)
            if policy.in_use().known.take_news():
                # It may have been stored before anything said that it is secret.
                await redactions.save_state(tx, {})


def _finding(at: float, place: str, find: Find) -> Finding:
    return Finding(at, place, find.kind, find.sort, find.strategy, find.hash, find.length)


async def allow(core: Core, digest: str, reason: str) -> None:
    """Let a finding pass from now on; what was taken out of stored texts stays out."""
    await write_down(core)
    async with core.database.write() as tx:
        await redactions.allow(tx, digest, reason)
    await adopt(core)


async def disallow(core: Core, digest: str) -> None:
    """Take out again what was let pass; also of what was stored meanwhile, at the next round of upkeep."""
    async with core.database.write() as tx:
        await redactions.disallow(tx, digest)
        await redactions.save_state(tx, {})
    await adopt(core)


async def scan(core: Core, limit: int) -> list[dict[str, Any]]:
    """What today's rules find in what is stored, without it; changes nothing."""
    found: list[dict[str, Any]] = []
    for table in await prose.tables(core.database):
        async for batch in _batches(core, table):
            found += await asyncio.to_thread(_told, batch)
    for path in remains.texts(core.home):
        place = str(path.relative_to(core.home.root))
        finds = redact(await asyncio.to_thread(remains.read, path)).finds
        found += [_line(place, "", find) for find in finds]
    return [line for line in found if line["strategy"] != policy.WARN][:limit]


def _told(batch: list[Row]) -> list[dict[str, Any]]:
    return [
        _line(row.place, column, find)
        for row in batch
        for column, text in row.words.items()
        for find in redact(text).finds
    ]


def _line(place: str, column: str, find: Find) -> dict[str, Any]:
    said = {"rule": find.kind, "sort": find.sort, "strategy": find.strategy, "hash": find.hash, "length": find.length}
    return {"place": place, "column": column, **said}


async def redact_stored(core: Core) -> dict[str, int]:
    """Take out of everything that is stored what today's rules find, and every trace of it."""
    changed = 0
    for _ in range(PASSES):
        known = _known()
        for table in await prose.tables(core.database):
            async for batch in _batches(core, table):
                changed += await _clean(core, batch, "user")
        if known == _known():
            break
    async with core.database.write() as tx:
        await redactions.save_state(tx, {"rules": rules(), "done": True})
    files = await asyncio.to_thread(remains.rewrite, core.home, lambda text: redact(text).text)
    copies = await leave_no_trace(core) if changed or files else 0
    await rendering.anew(core)  # quoted and cut, a secret may look otherwise there
    return {"rows": changed, "files": files, "copies": copies}


def _known() -> tuple[int, int]:
    """What changes when a value becomes known to be secret, or other secrets are in use."""
    known = policy.in_use().known
    return id(known), known.generation


async def _batches(core: Core, table: prose.Table, after: tuple[Any, ...] = ()) -> AsyncIterator[list[Row]]:
    while batch := await prose.page(core.database.reader, table, after, BATCH):
        yield batch
        after = batch[-1].key


async def _clean(core: Core, batch: list[Row], actor: str) -> int:
    """Clean the rows of a batch that need it; each is read again where nothing can change it meanwhile."""
    suspects = await asyncio.to_thread(_suspects, batch)
    if not suspects:
        return 0
    changed = []
    async with core.database.write() as tx:
        for row in suspects:
            fresh = await prose.fresh(tx, row)
            if fresh is not None and (new := _cleaned(fresh)):
                await prose.rewrite(tx, fresh, new)
                await prose.tell(tx, fresh, new, actor, "what is stored was looked through")
                changed.append(fresh)
    await write_down(core)
    await core.embedding.refresh([int(row.key[0]) for row in changed if row.table.name == "memories"])
    core.embedding.wake()
    return len(changed)


def _suspects(batch: list[Row]) -> list[Row]:
    return [row for row in batch if prose.changed(row, lambda text: redact(text).text)]


def _cleaned(row: Row) -> dict[str, str]:
    """The columns that lose something, and a note of what."""

    def clean(text: str) -> str:
        redacted = redact(text)
        ledger.note(redacted.finds)
        return redacted.text

    with ledger.reading(row.place):
        return prose.changed(row, clean)


def rules() -> str:
    """What texts are looked through for today."""
    held = policy.in_use()
    return " ".join([VERSION, *(f"{sort}={strategy}" for sort, strategy in sorted(held.strategies.items()))])


async def look_again(core: Core) -> None:
    """Go on looking through what was stored under other rules, for a moment of each round of upkeep."""
    state = await redactions.state(core.database)
    if state.get("rules") != rules():
        state = {"rules": rules(), "changed": 0}
    if state.get("done"):
        return
    known = _known()
    latest, worked = monotonic() + LONGEST_ROUND, 0.0
    async for table, batch in _rest(core, state):
        await aside(core, QUIET, LONGEST)
        begun = monotonic()
        state["changed"] += await _clean(core, batch, "daemon")
        state |= {"table": table.name, "after": list(batch[-1].key)}
        worked += monotonic() - begun
        if worked > ROUND_SECONDS or monotonic() > latest:
            break
    else:
        state["done"] = True
        files = await asyncio.to_thread(remains.rewrite, core.home, lambda text: redact(text).text)
        if state["changed"] or files:
            await leave_no_trace(core)
            await rendering.anew(core)
    # A secret that became known meanwhile may stand in rows that were looked at before: that look starts anew, and
    # its state must not be overwritten with the progress of this one.
    if known == _known():
        async with core.database.write() as tx:
            await redactions.save_state(tx, state)


async def _rest(core: Core, state: dict[str, Any]) -> AsyncIterator[tuple[prose.Table, list[Row]]]:
    """What is left to look through: tables in the order of their names, rows in that of their keys."""
    for table in await prose.tables(core.database):
        if table.name >= state.get("table", ""):
            after = tuple(state.get("after", ())) if table.name == state.get("table") else ()
            async for batch in _batches(core, table, after):
                yield table, batch


async def leave_no_trace(core: Core) -> int:
    """Write anew whatever might still hold what was deleted: database, WAL, vector index, kept copies."""
    await core.embedding.rebuild()
    await core.database.compact()
    return await asyncio.to_thread(remains.renew_copies, core.home, await migrate.schema(core.database))
