"""Renders each project's memories into files that can be read without the daemon, after every change.

``rendered/<project>/`` contains files for people, and the file ``start``: a line with ids of memories, and then the
text that a session's hook prints if the daemon does not answer. ``rendered/paths/<hash of a folder>`` contains the
project id of a folder. Each file is derived from the store, replaced as a whole, and deleted when its source is gone.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import TypeVar
from uuid import uuid4

from subconscious.app import App
from subconscious.context.priority import QUIET, aside
from subconscious.domain.model import Memory, Session
from subconscious.domain.promotion import FLAGGED, PromotionStatus
from subconscious.framing import rules
from subconscious.knowledge import rendered_files
from subconscious.recall.promotion_status import standings
from subconscious.recall.recall_context import RecallContext
from subconscious.settings.settings import PREFIX
from subconscious.store import events, renderable, sessions
from subconscious.store.projects import Project
from subconscious.surfacing.hook_output import output
from subconscious.surfacing.session_start import Start, compose_start
from subconscious.system.projects import head
from subconscious.system.safe_files import read_regular

log = logging.getLogger("subconscious.knowledge")

Dated = TypeVar("Dated")

PAUSE = 5.0
"""Seconds between two checks for changes. Changes are rendered when a check finds no further change."""
LEAVING_SECONDS = 3.0
"""The maximum number of seconds for the last rendering, when the daemon stops."""
LONGEST_WAIT = 30.0
"""Seconds after which changes are rendered even if more changes arrive."""
DAY = 86_400.0
DAYS = 30
"""How many of the latest days have a log file."""
RECENT_DAYS = 2
"""How many of the latest log files are rendered again after a change."""
COMPARED = 2000
"""The maximum number of a project's memories that are ranked."""
START = "start"
PATHS = "paths"
LONGEST_ID = 100
"""The maximum number of bytes that are read to get a project's id from a file in ``rendered/paths``."""
FRESHEN = DAY / 2
"""The age in seconds from which an unchanged file gets a new modification time: hooks ignore files that look old."""


async def run(app: App) -> None:
    """Render all projects, and then every change, until cancelled."""
    done: _RenderedUpTo | None = None
    try:
        done = await _attempt(app, None)
        seen = done.event
        while True:
            await asyncio.sleep(LONGEST_WAIT if done.failed else PAUSE)
            newest = await events.latest_id(app.database)
            # While further changes arrive, rendering waits, but only up to LONGEST_WAIT.
            if newest == seen or time() - done.at > LONGEST_WAIT:
                done = await _attempt(app, done)
            seen = newest
    except asyncio.CancelledError:
        # If the next session's hook finds no daemon, it must not print a memory that was archived a moment ago. So
        # render even if this daemon has rendered nothing yet.
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVING_SECONDS):
                await _attempt(app, done)
        raise


@dataclass(frozen=True, slots=True)
class _RenderedUpTo:
    """The event id and time up to which changes are rendered; ``failed`` means that the latest attempt failed."""

    event: int
    at: float
    failed: bool = False


async def _attempt(app: App, before: _RenderedUpTo | None) -> _RenderedUpTo:
    now = _RenderedUpTo(await events.latest_id(app.database), time())
    try:
        if before is None:
            await render_everything(app)
        else:
            now = replace(now, failed=not await _round(app, now, before))
    except Exception:
        # After an error, everything that changed since the last success is rendered again.
        log.exception("memories can't be rendered")
        return replace(before or _RenderedUpTo(0, 0.0), failed=True)
    return now


async def _round(app: App, now: _RenderedUpTo, before: _RenderedUpTo) -> bool:
    """Render the projects that changed since the last round; return whether all succeeded. Failed ones are retried."""
    flagged, app.signals.unrendered = app.signals.unrendered, set()
    try:
        return await _render_changed(app, now, before, flagged)
    except BaseException:
        app.signals.unrendered |= flagged  # even when cancelled: the last rendering is still to come
        raise


async def _render_changed(app: App, now: _RenderedUpTo, before: _RenderedUpTo, flagged: set[str | None]) -> bool:
    all_succeeded = True
    in_use = await renderable.active_projects(app.database, before.at)
    changed = flagged | (
        await renderable.changed_projects(app.database, before.event) if now.event != before.event else set()
    )
    for project in await renderable.projects(app.database) if in_use | changed else ():
        whole = project.id in changed or (None in changed and folder(app, project).exists())
        if whole or project.id in in_use:
            await aside(app.signals, QUIET, LONGEST_WAIT)
            async with app.signals.rendering:
                all_succeeded &= await _try(app, project, RECENT_DAYS, whole=whole)
    return all_succeeded


def folder(app: App, project: Project) -> Path:
    """Return the folder of a project's files."""
    return app.home.root / "rendered" / project.id


async def refresh(app: App, project: Project, *, days: int = RECENT_DAYS) -> Path:
    """Render one project now; return the folder of its files."""
    async with app.signals.rendering:
        await _render(app, project, days)
    return folder(app, project)


async def render_everything(app: App) -> int:
    """Render every project that has memories, and delete the files of other projects; return the number rendered."""
    async with app.signals.rendering:
        return await render_all(app)


async def render_all(app: App) -> int:
    """Do the same as ``render_everything``, but without acquiring the lock: the caller must hold it."""
    root = app.home.root / "rendered"
    found = await renderable.projects(app.database) if app.recall_context().settings.rendered else []
    known = {PATHS, *(project.id for project in found)}
    await asyncio.to_thread(_drop_others, root, known if found else set())
    for project in found:
        await _try(app, project, DAYS)
    return len(found)


async def _try(app: App, project: Project, days: int, *, whole: bool = True) -> bool:
    try:
        await _render(app, project, days, whole=whole)
    except OSError:
        log.exception("project %s can't be rendered", project.id)  # the other projects are still rendered
        app.signals.unrendered.add(project.id)
        return False
    return True


def clear(app: App) -> None:
    """Delete all rendered files after a purge: any file may contain the purged text in other words."""
    shutil.rmtree(app.home.root / "rendered", ignore_errors=True)


def _drop_others(root: Path, known: set[str]) -> None:
    for path in root.glob("*"):
        if path.name not in known and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


async def _render(app: App, project: Project, days: int, *, whole: bool = True) -> None:
    if not app.recall_context().settings.rendered:
        return
    files = await _files(app, project, days, whole=whole)
    paths = [_key(path) for path in await renderable.paths(app.database, project.id)]
    await asyncio.to_thread(_place, app.home.root / "rendered", project.id, files, paths)


async def _files(app: App, project: Project, days: int, *, whole: bool) -> dict[str, bytes]:
    """Return the content of a project's files by name; b"" for a file to delete.

    Files about all memories are included only if ``whole``.
    """
    settings = app.recall_context().settings
    found = await renderable.memories(app.database, project.id, COMPARED)
    if not whole:
        oldest = _day(days - 1)
        found = [memory for memory in found if rules.date_of(memory.said_at) >= oldest]
    known = await standings(app.database, found, settings)
    unflagged = [memory for memory in found if known[memory.id].status != FLAGGED]
    best = sorted(unflagged, key=lambda memory: -known[memory.id].score)[: settings.rendered_memories]
    recent = await renderable.sessions_since(app.database, project.id, time() - days * DAY)
    content = _Content(best, unflagged, known, recent)
    logs = await asyncio.to_thread(_logs, project, content, days, settings.rendered_memories)
    texts = await asyncio.to_thread(_texts, project, content, settings.rendered_memories) if whole else {}
    files = {name: text.encode("utf-8", "replace") for name, text in (logs | texts).items()}
    return files | {START: await _start(app, project)}


@dataclass(frozen=True, slots=True)
class _Content:
    """What a project's files are made from: the best memories, all unflagged ones, promotion status, sessions."""

    best: Sequence[Memory]
    unflagged: Sequence[Memory]
    known: Mapping[int, PromotionStatus]
    sessions: Sequence[Session]


def _texts(project: Project, content: _Content, most: int) -> dict[str, str]:
    recurring = [memory for memory in content.unflagged if memory.kind == "pattern"]
    return {
        "knowledge.md": rendered_files.knowledge(project.name, content.best, content.known),
        "patterns.md": rendered_files.patterns(project.name, recurring[:most]),
    }


def _logs(project: Project, content: _Content, days: int, most: int) -> dict[str, str]:
    learned = _by_day(content.unflagged, lambda memory: memory.said_at)
    by_day = _by_day(content.sessions, lambda session: session.last_event_at)
    return {
        f"log/{day}.md": rendered_files.daily(project.name, day, learned[day][:most], by_day[day][:most])
        for day in map(_day, range(days))
    }


def _by_day(found: Sequence[Dated], at: Callable[[Dated], float]) -> defaultdict[str, list[Dated]]:
    """Return memories or sessions grouped by their date."""
    days: defaultdict[str, list[Dated]] = defaultdict(list)
    for one in found:
        days[rules.date_of(at(one))].append(one)
    return days


def _day(before: int) -> str:
    """Return the date ``before`` days ago."""
    return rules.date_of(time() - before * DAY)


async def _start(app: App, project: Project) -> bytes:
    """Return the content of the project's file ``start``; b"" if there are no memories to show."""
    before = await sessions.latest_other(app.database, project.id, "")
    ctx = app.recall_context(_options(before))
    if not ctx.settings.surface:
        return b""
    branch, _ = await asyncio.to_thread(head, project.root)
    as_of = f"As of {rules.date_of(time())}: the memory service did not answer, this is its latest copy."
    start = Start("", project.id, "start/rendered", branch, hints=branch.replace("/", " "), lasting=(as_of,))
    context = await _unflagged_context(ctx, start)
    if not context.hits:
        return b""
    ids = ".".join(str(hit.memory.id) for hit in context.hits)
    return ids.encode() + b"\n" + output("SessionStart", context.text, "")


async def _unflagged_context(ctx: RecallContext, start: Start) -> rules.Context:
    """Return the context of a session's start without flagged memories, which the hook could not check again."""
    flagged: set[int] = set()
    while True:
        context = await compose_start(ctx, start, flagged)
        known = await standings(ctx.database, [hit.memory for hit in context.hits], ctx.settings)
        more = {memory_id for memory_id, one in known.items() if one.status == FLAGGED}
        if not more:
            return context
        flagged |= more


def _options(before: Session | None) -> Mapping[str, str]:
    """Return the previous session's plugin options, without environment variables, which applied only to it."""
    said = json.loads(before.options) if before is not None else {}
    pairs = said.items() if isinstance(said, dict) else ()
    return {name: value for name, value in pairs if isinstance(value, str) and not name.startswith(PREFIX)}


def _key(path: str) -> str:
    """Return the file name for a folder in ``rendered/paths``; the hook computes the same name."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()


def _place(root: Path, project_id: str, files: Mapping[str, bytes], paths: Sequence[str]) -> None:
    """Write a project's files; delete files in ``rendered/paths`` of folders that have left the project."""
    place = root / project_id
    for each in (root, root / PATHS, place, place / "log"):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in files.items():
        _write(place / name, content)
    _drop_old(place / "log")
    for key in paths:
        _write(root / PATHS / key, project_id.encode())
    for path in (root / PATHS).glob("*"):
        with suppress(OSError):
            if path.name not in paths and read_regular(path, LONGEST_ID, follow=False) == project_id.encode():
                path.unlink()


def _drop_old(logs: Path) -> None:
    oldest = datetime.fromtimestamp(max(0.0, time() - DAYS * DAY), UTC).strftime("%Y-%m-%d")
    for path in logs.glob("*.md"):
        if path.stem < oldest:
            path.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    """Replace a file if its content has changed. Readers find the old or the new content, also after a crash."""
    if not content:
        path.unlink(missing_ok=True)
        return
    with suppress(OSError):
        if read_regular(path, len(content), follow=False) == content:
            if time() - path.stat().st_mtime > FRESHEN:
                os.utime(path)
            return
    draft = path.with_name(f".{path.name}-{uuid4().hex[:8]}.tmp")
    try:
        target = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(target, "wb") as file:
            file.write(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
