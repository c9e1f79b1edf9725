"""Renders each project's memories into files that can be read without the daemon, after whatever changed.

``rendered/<project>/`` holds what people read, and ``start``: what a session's hook prints should nobody answer it,
behind a line that names the memories in it. ``rendered/paths/<hash of a folder>`` says which project a folder is.
Everything is derived from the store, replaced whole, and gone with what it was made from.
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

from subconscious import rendering, surfacing
from subconscious.flow.giving import Start, compose_start
from subconscious.flow.mind import Mind
from subconscious.model import Memory, Session
from subconscious.projects import head
from subconscious.promote import FLAGGED, Standing
from subconscious.safe_files import read_regular
from subconscious.settings import PREFIX
from subconscious.standings import standings
from subconscious.store import events, renderable, sessions
from subconscious.store.projects import Project

from .aside import QUIET, aside
from .core import Core
from .output import output

log = logging.getLogger("subconscious.daemon")

Dated = TypeVar("Dated")

PAUSE = 5.0
"""Seconds between two looks at whether anything has changed; what has is rendered when a look brings nothing new."""
LEAVING_SECONDS = 3.0
"""Time that the last look may take."""
LONGEST_WAIT = 30.0
"""Seconds after which it is rendered though changes go on."""
DAY = 86_400.0
DAYS = 30
"""Days of which there is a log."""
RECENT_DAYS = 2
"""Days whose log is looked at after a change."""
LOOKED_AT = 2000
"""Memories of a project that are weighed."""
START = "start"
PATHS = "paths"
LONGEST_ID = 100
"""Bytes of a project's id, as it lies in a file."""
FRESHEN = DAY / 2
"""Age from which a file that is still right is given a new date: its reader goes by that."""


async def run(core: Core) -> None:
    """Render what has changed, and at the beginning everything that was rendered before, until cancelled."""
    done = await _attempt(core, None)
    try:
        met = done.event
        while True:
            await asyncio.sleep(LONGEST_WAIT if done.failed else PAUSE)
            newest = await events.newest(core.database)
            # While one change follows the other it is waited, but not for long.
            if newest == met or time() - done.at > LONGEST_WAIT:
                done = await _attempt(core, done)
            met = newest
    except asyncio.CancelledError:
        # The next start may find no daemon, and must not be given what was archived a moment ago.
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVING_SECONDS):
                await _attempt(core, done)
        raise


@dataclass(frozen=True, slots=True)
class _Done:
    """Up to which event, and when, everything was rendered; ``failed``: the latest attempt to go on was in vain."""

    event: int
    at: float
    failed: bool = False


async def _attempt(core: Core, before: _Done | None) -> _Done:
    now = _Done(await events.newest(core.database), time())
    try:
        if before is None:
            await anew(core)
        else:
            now = replace(now, failed=not await _round(core, now, before))
    except Exception:
        # After any error it is rendered later: nothing counts as done.
        log.exception("memories can't be rendered")
        return replace(before or _Done(0, 0.0), failed=True)
    return now


async def _round(core: Core, now: _Done, before: _Done) -> bool:
    """Render what has changed since; whether all of it could be. What could not is left to the next round."""
    flagged, core.flagged = core.flagged, set()
    try:
        return await _render_changed(core, now, before, flagged)
    except BaseException:
        core.flagged |= flagged  # also when cancelled: the last look is still to come
        raise


async def _render_changed(core: Core, now: _Done, before: _Done, flagged: set[str | None]) -> bool:
    all_could = True
    lively = await renderable.active(core.database, before.at)
    changed = flagged | (await renderable.changed(core.database, before.event) if now.event != before.event else set())
    for project in await renderable.projects(core.database) if lively | changed else ():
        whole = project.id in changed or (None in changed and folder(core, project).exists())
        if whole or project.id in lively:
            await aside(core, QUIET, LONGEST_WAIT)
            async with core.rendering:
                all_could &= await _try(core, project, RECENT_DAYS, whole=whole)
    return all_could


def folder(core: Core, project: Project) -> Path:
    """Where a project's files lie."""
    return core.home.root / "rendered" / project.id


async def refresh(core: Core, project: Project, *, days: int = RECENT_DAYS) -> Path:
    """Render one project now; return where it lies."""
    async with core.rendering:
        await _render(core, project, days)
    return folder(core, project)


async def anew(core: Core) -> int:
    """Render every project anew that has anything; what is rendered of others goes. How many that were."""
    async with core.rendering:
        return await render_all(core)


async def render_all(core: Core) -> int:
    """The same, for who holds the lock."""
    root = core.home.root / "rendered"
    found = await renderable.projects(core.database) if core.mind().settings.rendered else []
    known = {PATHS, *(project.id for project in found)}
    await asyncio.to_thread(_drop_others, root, known if found else set())
    for project in found:
        await _try(core, project, DAYS)
    return len(found)


async def _try(core: Core, project: Project, days: int, *, whole: bool = True) -> bool:
    try:
        await _render(core, project, days, whole=whole)
    except OSError:
        log.exception("project %s can't be rendered", project.id)  # the others still can
        core.flagged.add(project.id)
        return False
    return True


def clear(core: Core) -> None:
    """Delete all of it: something is purged, and it may stand in any file, in other words than its own."""
    shutil.rmtree(core.home.root / "rendered", ignore_errors=True)


def _drop_others(root: Path, known: set[str]) -> None:
    for path in root.glob("*"):
        if path.name not in known and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


async def _render(core: Core, project: Project, days: int, *, whole: bool = True) -> None:
    if not core.mind().settings.rendered:
        return
    files = await _files(core, project, days, whole=whole)
    paths = [_key(path) for path in await renderable.paths(core.database, project.id)]
    await asyncio.to_thread(_place, core.home.root / "rendered", project.id, files, paths)


async def _files(core: Core, project: Project, days: int, *, whole: bool) -> dict[str, bytes]:
    """The files by name, without those on all memories unless ``whole``; b"" for one that must not be there."""
    settings = core.mind().settings
    found = await renderable.memories(core.database, project.id, LOOKED_AT)
    if not whole:
        oldest = _day(days - 1)
        found = [memory for memory in found if surfacing.date_of(memory.said_at) >= oldest]
    known = await standings(core.database, found, settings)
    sound = [memory for memory in found if known[memory.id].status != FLAGGED]
    kept = sorted(sound, key=lambda memory: -known[memory.id].score)[: settings.rendered_memories]
    met = await renderable.sessions_since(core.database, project.id, time() - days * DAY)
    of_whom = _Found(kept, sound, known, met)
    logs = await asyncio.to_thread(_logs, project, of_whom, days, settings.rendered_memories)
    texts = await asyncio.to_thread(_texts, project, of_whom, settings.rendered_memories) if whole else {}
    files = {name: text.encode("utf-8", "replace") for name, text in (logs | texts).items()}
    return files | {START: await _start(core, project)}


@dataclass(frozen=True, slots=True)
class _Found:
    """What is rendered: the best memories, all that are sound, how they stand, and the latest sessions."""

    kept: Sequence[Memory]
    sound: Sequence[Memory]
    known: Mapping[int, Standing]
    sessions: Sequence[Session]


def _texts(project: Project, found: _Found, most: int) -> dict[str, str]:
    recurring = [memory for memory in found.sound if memory.kind == "pattern"]
    return {
        "knowledge.md": rendering.knowledge(project.name, found.kept, found.known),
        "patterns.md": rendering.patterns(project.name, recurring[:most]),
    }


def _logs(project: Project, found: _Found, days: int, most: int) -> dict[str, str]:
    learned = _by_day(found.sound, lambda memory: memory.said_at)
    about = _by_day(found.sessions, lambda session: session.last_event_at)
    return {
        f"log/{day}.md": rendering.daily(project.name, day, learned[day][:most], about[day][:most])
        for day in map(_day, range(days))
    }


def _by_day(found: Sequence[Dated], at: Callable[[Dated], float]) -> defaultdict[str, list[Dated]]:
    """Dated once each: for thousands of memories and thirty days, dates take longer than all else of a log."""
    days: defaultdict[str, list[Dated]] = defaultdict(list)
    for one in found:
        days[surfacing.date_of(at(one))].append(one)
    return days


def _day(before: int) -> str:
    """The date of some days ago."""
    return surfacing.date_of(time() - before * DAY)


async def _start(core: Core, project: Project) -> bytes:
    """What a start's hook prints should nobody answer it, as the project's last session was set up."""
    before = await sessions.before(core.database, project.id, "")
    mind = core.mind(_options(before))
    if not mind.settings.surface:
        return b""
    branch, _ = await asyncio.to_thread(head, project.root)
    as_of = f"As of {surfacing.date_of(time())}: the memory service did not answer, this is its latest copy."
    start = Start("", project.id, "start/rendered", branch, hints=branch.replace("/", " "), lasting=(as_of,))
    context = await _sound(mind, start)
    if not context.hits:
        return b""
    ids = ".".join(str(hit.memory.id) for hit in context.hits)
    return ids.encode() + b"\n" + output("SessionStart", context.text, "")


async def _sound(mind: Mind, start: Start) -> surfacing.Context:
    """What a session starts with, without what is flagged: who reads it later can't ask whether it still is."""
    flagged: set[int] = set()
    while True:
        context = await compose_start(mind, start, flagged)
        known = await standings(mind.database, [hit.memory for hit in context.hits], mind.settings)
        more = {memory_id for memory_id, one in known.items() if one.status == FLAGGED}
        if not more:
            return context
        flagged |= more


def _options(before: Session | None) -> Mapping[str, str]:
    """The plugin's options of a session. Its variables hold for that session alone, and what is rendered is for any."""
    said = json.loads(before.options) if before is not None else {}
    pairs = said.items() if isinstance(said, dict) else ()
    return {name: value for name, value in pairs if isinstance(value, str) and not name.startswith(PREFIX)}


def _key(path: str) -> str:
    """What a folder is known by among the rendered files; the hook computes the same."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()


def _place(root: Path, project_id: str, files: Mapping[str, bytes], paths: Sequence[str]) -> None:
    """Put the files in place, each whole, and let folders that lead to the project no more not lead to it."""
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
    """Replace a file if it is not so already. Who reads meets the old one or the new one, whatever dies meanwhile."""
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
