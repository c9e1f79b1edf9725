"""Redacts texts that are already stored, and stores which values a person excludes from redaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from time import monotonic
from typing import Any

from subconscious.app import App
from subconscious.context.priority import LONGEST, QUIET, aside
from subconscious.knowledge import rendering
from subconscious.redaction import VERSION, Detection, ledger, policy, redact, remaining_copies
from subconscious.redaction.active_policy import load_policy, record_findings
from subconscious.store import migrate, redactions, text_columns
from subconscious.store.text_columns import Change, Row
from subconscious.wire.privacy import RedactStoredResult, StoredFinding

BATCH = 25
"""The number of rows in a batch of the scan."""

ROUND_SECONDS = 1.0
"""Seconds of work after which the scan of stored data pauses until the next round of maintenance."""

LONGEST_ROUND = 10.0
"""Seconds after which the scan pauses even if it mostly waited for hooks, so that other maintenance continues."""

PASSES = 3
"""The maximum number of scans in one request: rows scanned earlier may contain a secret that is recognised later."""


async def allow(app: App, digest: str, reason: str) -> None:
    """Exclude a value, identified by its hash, from redaction; text that has already been redacted is not restored."""
    await record_findings(app.database, app.settings.redaction_log)
    async with app.database.write() as tx:
        await redactions.allow(tx, digest, reason)
    await load_policy(app.home, app.database, app.config.current)


async def disallow(app: App, digest: str) -> None:
    """End the exclusion of a value, identified by its hash; maintenance then redacts the value in stored data."""
    async with app.database.write() as tx:
        await redactions.disallow(tx, digest)
        await redactions.save_state(tx, {})
    await load_policy(app.home, app.database, app.config.current)


async def scan(app: App, limit: int) -> list[StoredFinding]:
    """Return what the current rules would redact in stored data, without the values. Read-only."""
    found: list[StoredFinding] = []
    for table in await text_columns.tables(app.database):
        async for batch in _batches(app, table):
            found += await asyncio.to_thread(_findings_in, batch)
    for path in remaining_copies.text_files(app.home):
        place = str(path.relative_to(app.home.root))
        finds = await asyncio.to_thread(_detections, partial(remaining_copies.changed_text, path))
        found += [_line(place, "", find) for find in finds]
    return [line for line in found if line["strategy"] != policy.WARN][:limit]


def _findings_in(batch: list[Row]) -> list[StoredFinding]:
    return [
        _line(row.place, column, find)
        for row in batch
        for column, text in row.words.items()
        for find in _detections(partial(text_columns.change_column, column, text))
    ]


def _detections(changed: Callable[[Change], str]) -> list[Detection]:
    """Return what redaction finds in a text; ``changed`` applies a function to each part of that text."""
    found: list[Detection] = []

    def look(part: str) -> str:
        redacted = redact(part)
        found.extend(redacted.detections)
        return redacted.text

    changed(look)
    return found


def _line(place: str, column: str, find: Detection) -> StoredFinding:
    return {
        "place": place,
        "column": column,
        "rule": find.kind,
        "sort": find.sort,
        "strategy": find.strategy,
        "hash": find.hash,
        "length": find.length,
    }


async def redact_stored(app: App) -> RedactStoredResult:
    """Redact what the current rules find in all stored data, and erase the remaining copies of the redacted values."""
    changed = 0
    for _ in range(PASSES):
        known = _known()
        for table in await text_columns.tables(app.database):
            async for batch in _batches(app, table):
                changed += await _clean(app, batch, "user")
        if known == _known():
            break
    async with app.database.write() as tx:
        await redactions.save_state(tx, {"rules": rules(), "done": True})
    files = await asyncio.to_thread(remaining_copies.rewrite, app.home, lambda text: redact(text).text)
    copies = await erase_traces(app) if changed or files else 0
    await rendering.render_everything(app)  # rendered files shorten quotes, which may change the form of a secret
    return {"rows": changed, "files": files, "copies": copies}


def _known() -> tuple[int, int]:
    """Return a value that changes when the set of known secrets changes."""
    known = policy.in_use().known
    return id(known), known.generation


async def _batches(app: App, table: text_columns.Table, after: tuple[Any, ...] = ()) -> AsyncIterator[list[Row]]:
    while batch := await text_columns.page(app.database.reader, table, after, BATCH):
        yield batch
        after = batch[-1].key


async def _clean(app: App, batch: list[Row], actor: str) -> int:
    """Redact the rows of a batch that need it; return how many changed. Each row is read again in the transaction."""
    suspects = await asyncio.to_thread(_suspects, batch)
    if not suspects:
        return 0
    changed = []
    async with app.database.write() as tx:
        for row in suspects:
            fresh = await text_columns.reread(tx, row)
            if fresh is not None and (new := _cleaned(fresh)):
                await text_columns.rewrite(tx, fresh, new)
                await text_columns.record_change(tx, fresh, new, actor, "stored texts were scanned again")
                changed.append(fresh)
    await record_findings(app.database, app.settings.redaction_log)
    await app.embedding.refresh([int(row.key[0]) for row in changed if row.table.name == "memories"])
    app.embedding.wake()
    return len(changed)


def _suspects(batch: list[Row]) -> list[Row]:
    return [row for row in batch if text_columns.changed_columns(row, lambda text: redact(text).text)]


def _cleaned(row: Row) -> dict[str, str]:
    """Return the columns of a row that change, with their new text; record what was redacted."""

    def clean(text: str) -> str:
        redacted = redact(text)
        ledger.note(redacted.detections)
        return redacted.text

    with ledger.reading(row.place):
        return text_columns.changed_columns(row, clean)


def rules() -> str:
    """Return a string that changes when the rules or strategies of redaction change."""
    current = policy.in_use()
    return " ".join([VERSION, *(f"{sort}={strategy}" for sort, strategy in sorted(current.strategies.items()))])


async def rescan_stored(app: App) -> None:
    """Continue the scan of data that was stored under older rules, for a second of work in each maintenance run."""
    state = await redactions.state(app.database)
    if state.get("rules") != rules():
        state = {"rules": rules(), "changed": 0}
    if state.get("done"):
        return
    known = _known()
    latest, worked = monotonic() + LONGEST_ROUND, 0.0
    async for table, batch in _remaining(app, state):
        await aside(app.signals, QUIET, LONGEST)
        begun = monotonic()
        state["changed"] += await _clean(app, batch, "daemon")
        state |= {"table": table.name, "after": list(batch[-1].key)}
        worked += monotonic() - begun
        if worked > ROUND_SECONDS or monotonic() > latest:
            break
    else:
        state["done"] = True
        files = await asyncio.to_thread(remaining_copies.rewrite, app.home, lambda text: redact(text).text)
        if state["changed"] or files:
            await erase_traces(app)
            await rendering.render_everything(app)
    # If a secret became known meanwhile, rows that were scanned before may contain it, so that a new scan starts. Its
    # state must not be overwritten with the progress of this scan.
    if known == _known():
        async with app.database.write() as tx:
            await redactions.save_state(tx, state)


async def _remaining(app: App, state: dict[str, Any]) -> AsyncIterator[tuple[text_columns.Table, list[Row]]]:
    """Yield the data that has not been scanned yet: tables ordered by name, rows ordered by key."""
    for table in await text_columns.tables(app.database):
        if table.name >= state.get("table", ""):
            after = tuple(state.get("after", ())) if table.name == state.get("table") else ()
            async for batch in _batches(app, table, after):
                yield table, batch


async def erase_traces(app: App) -> int:
    """Rewrite everything that may still contain deleted data: database, WAL, vector index, copies of the database.

    Returns how many old copies were replaced by one new copy.
    """
    await app.embedding.rebuild()
    await app.database.compact()
    return await asyncio.to_thread(remaining_copies.renew_copies, app.home, await migrate.schema(app.database))
