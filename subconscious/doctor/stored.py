"""Checks of the database and its copies, of the Claude Code notes that were read, and of the spool."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress

from subconscious.doctor.findings import (
    DRAIN,
    FIX,
    MAX_WAIT_SECONDS,
    CheckContext,
    Finding,
    fault,
    passed,
    quoted,
    settings_of,
)
from subconscious.domain.errors import StoreError
from subconscious.settings.settings import Settings
from subconscious.settings.tuning import Tuning
from subconscious.store import claude_notes as notes
from subconscious.store import losses, maintenance
from subconscious.store.backups import altered_copies, comparison_copy, listing
from subconscious.store.capture_statistics import AutomaticCounts, count_automatic
from subconscious.store.check import Health, check, open_readonly
from subconscious.store.health import count_inconsistencies
from subconscious.store.migrate import migrations
from subconscious.store.presence import as_damage, flaw_of, remedy, repair, require_usable
from subconscious.store.verification import is_behind, problems
from subconscious.system.safe_files import is_missing, read_end

UPKEEP_DETAILS = {
    "decay": "{affected} of {total} memories would be archived at once",
    "review": "{affected} of {total} captures that wait for review would expire at once",
}

MAX_NAMED = 3
"""The most folders, and the most unusable notes, that a finding names."""

TAIL_BYTES = 4096
"""Bytes at the end of run/spool-full that are read for its last line."""

MAX_BACKUP_AGE_DAYS = 14
"""Days after which the latest copy of the database is too old."""

SESSIONS_WITHOUT_CAPTURE = 10
"""A fault is reported if nothing was stored without a review in this many recent sessions with candidates."""

MAX_STATED_CONFIDENCE = 0.94
"""The highest confidence of a user's statement: an explicit one that has names (such as paths) and a reason."""


def database(context: CheckContext) -> Iterator[Finding]:
    """Check that the database is intact, and its derived data consistent."""
    path = context.home.database
    try:
        require_usable(path)
        if flaw_of(path):
            yield passed("database", "does not exist yet; the first session creates it")
            return
        health = check(path)
    except (StoreError, sqlite3.Error) as error:
        state = as_damage(error, path) or StoreError(str(error), remedy(path))
        yield fault("database", state.message, state.remedy)
    else:
        yield from _verification(context, health)
        yield from _unfinished(context, health)
        yield from _derived_data(context, health)
        yield from _backup(context, health)


def _verification(context: CheckContext, health: Health) -> Iterator[Finding]:
    """Check that pages, texts and history of the database, and its copies, are as they were written."""
    path = context.home.database
    copies = listing(path)
    found = [*(is_behind(path, copies[0]) if copies else []), *problems(path, comparison_copy(path))]
    if found:
        yield fault("database", "; ".join(dict.fromkeys(found)), repair(path))
    else:
        yield passed(
            "database",
            f"sound, schema {health.schema}, memories: {health.memories}, also archived, unconfirmed and retired ones",
        )
    if changed := altered_copies(path):
        detail = f"copies that changed after they were made: {', '.join(one.name for one in changed)}"
        yield fault("copies", detail, f"rm {' '.join(quoted(one) for one in changed)}; subconscious backup")


def _unfinished(context: CheckContext, health: Health) -> Iterator[Finding]:
    if health.buried:
        detail = f"jobs that failed and are not retried: {health.buried} ({'; '.join(health.buried_reasons)})"
        yield fault("jobs", detail, f"less {quoted(context.home.log / 'daemon.log')} # entries: {context.home.buried}")
    since = health.pending_since
    wanted = settings_of(context.home).embedder != "none"
    if wanted and since is not None and context.now - since > MAX_WAIT_SECONDS:
        detail = f"memories that wait for an embedding: {health.pending}, the oldest for more than a day"
        yield fault("embeddings", detail, FIX)


def _derived_data(context: CheckContext, health: Health) -> Iterator[Finding]:
    """Check that derived data matches its source; skip a database that has not been migrated to this version yet."""
    if health.schema < migrations()[-1].version:
        return
    try:
        wrong = count_inconsistencies(context.home.database)
    except StoreError as error:
        yield fault("indexes", error.message, error.remedy)
        return
    if wrong:
        yield fault("indexes", ", ".join(f"{name}: {count}" for name, count in wrong.items()), FIX)


def _backup(context: CheckContext, health: Health) -> Iterator[Finding]:
    """Check that there is a recent copy of the database. The first nightly run makes the first copy."""
    copies = listing(context.home.database)
    if copies:
        days = (context.now - copies[0].at) / 86_400
        detail = f"copies: {len(copies)}, the latest {max(0, days):.1f} days old"
        if days < -1:
            yield fault("backup", f"copies: {len(copies)}, all with dates in the future", "date; subconscious backup")
        elif days > MAX_BACKUP_AGE_DAYS:
            yield fault("backup", detail, "subconscious backup")
        else:
            yield passed("backup", detail)
    elif health.memories:
        yield passed("backup", "none yet; the next nightly run makes one, or: subconscious backup")


def upkeep(context: CheckContext) -> Iterator[Finding]:
    """Report whether maintenance waits because it would archive or expire unusually many items at once."""
    if not context.home.database.exists():
        return
    try:
        with open_readonly(context.home.database) as connection:
            # Entries with a later time were postponed by a wrong clock and no longer matter.
            waiting = [one for one in maintenance.waiting_postponed(connection) if one.since <= context.now]
    except (sqlite3.Error, OSError):
        return  # an unreadable database is reported already
    for one in waiting:
        change = UPKEEP_DETAILS.get(one.name, one.name).format(affected=one.affected, total=one.total)
        detail = f"{change}; the clock may be wrong, so this waits until three more sessions have begun"
        yield fault("upkeep", detail, "date # if the clock is right: subconscious maintenance run")


def lost(context: CheckContext) -> Iterator[Finding]:
    """Report lost events and a full disk, until the start of a session has reported them to the user."""
    if not context.home.database.exists():
        return
    try:
        with open_readonly(context.home.database) as connection:
            found = losses.unreported_in(connection)
    except (sqlite3.Error, OSError):
        return  # an unreadable database is reported already
    for loss in found:
        remedy = f"df -h {quoted(context.home.root)}" if loss.action == losses.FULL else DRAIN
        yield fault("lost", f"{loss.message}; the next session reports this, too", remedy)


def claude_notes(context: CheckContext) -> Iterator[Finding]:
    """Report which of Claude Code's own notes are read, when they were last read, and which can't be used."""
    if not context.home.database.exists():
        return
    try:
        with open_readonly(context.home.database) as connection:
            found = notes.report(connection)
    except (sqlite3.Error, OSError):
        return  # an unreadable database is reported already, and an older one has no such table
    if not settings_of(context.home).claude_notes:
        yield passed("notes", "Claude Code's own notes are not read: the `claude_notes` setting is off")
    elif found:
        yield _read_notes(context, found)


def _read_notes(context: CheckContext, found: list[notes.Folder]) -> Finding:
    """Report how many notes are in use; an unusable note is a fault, because Claude Code itself still loads it."""
    minutes = max(0.0, context.now - found[0].looked_at) / 60
    detail = f"Claude Code's own notes: {sum(folder.notes for folder in found)} in use, read {minutes:.0f} min ago, "
    detail += f"from {', '.join(folder.path for folder in found[:MAX_NAMED])}"
    detail += f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    unusable = [one for folder in found for one in folder.unusable]
    if not unusable:
        return passed("notes", detail)
    state = "; ".join(f"{path}: {problem}" for path, problem in unusable[:MAX_NAMED])
    return fault("notes", f"{detail}; not used: {len(unusable)} ({state})", f"less {quoted(unusable[0][0])}")


def spool(context: CheckContext) -> Iterator[Finding]:
    """Check that the daemon processes the spool, and that no entries were lost."""
    sizes, oldest = _entries(context)
    limit = Tuning.spool_max_mb
    detail = f"entries: {len(sizes)}, {sum(sizes) / 2**20:.1f} of {limit} MB"
    note = context.home.run / "spool-full"
    if not is_missing(note):
        lost = read_end(note, TAIL_BYTES).decode("utf-8", "replace").strip().splitlines()[-1:]
        yield fault(
            "spool",
            f"the spool was full, and events of sessions were lost: {' '.join(lost)}",
            f"{DRAIN}; rm {quoted(note)}",
        )
    elif sum(sizes) > limit * 2**20:
        yield fault("spool", f"{detail}: the spool is full, and the oldest events are being lost", DRAIN)
    elif context.now - oldest > MAX_WAIT_SECONDS:
        yield fault("spool", f"{detail}, the oldest for {(context.now - oldest) / 86400:.1f} days", DRAIN)
    else:
        yield passed("spool", detail)


def _entries(context: CheckContext) -> tuple[list[int], float]:
    """Return the sizes of the waiting entries, and the time of the oldest; entries may vanish during the check."""
    sizes, oldest = [], context.now
    for entry in context.home.spool.glob("*.entry"):
        with suppress(FileNotFoundError):
            status = entry.lstat()
            sizes.append(status.st_size)
            oldest = min(oldest, status.st_mtime)
    return sizes, oldest


def automatic(context: CheckContext) -> Iterator[Finding]:
    """Check that automatic capture stores something; if not, name the setting or decision that prevents it."""
    settings = settings_of(context.home)
    if not settings.capture:
        yield passed("capture", "switched off (setting capture = false): nothing is learned from sessions")
        return
    if not context.home.database.exists():
        return
    try:
        with open_readonly(context.home.database) as connection:
            found = count_automatic(connection, SESSIONS_WITHOUT_CAPTURE, settings.auto_threshold, context.now)
    except (sqlite3.Error, OSError):
        return  # an unreadable database is reported already
    if found.stored or found.sessions < SESSIONS_WITHOUT_CAPTURE:
        yield passed("capture", f"stored without asking: {found.stored} of the last {found.candidates} candidates")
        return
    why, remedy = _reason(found, settings)
    what = f"nothing was stored without asking in the last {found.sessions} sessions with candidates"
    yield fault("capture", f"{what} ({found.candidates} candidates): {why}", remedy)


def _reason(found: AutomaticCounts, settings: Settings) -> tuple[str, str]:
    """Return the reason why nothing is stored without asking, and the command to run."""
    limit = settings.auto_threshold
    if limit > MAX_STATED_CONFIDENCE:
        why = (
            f"auto_threshold = {limit:g}, but even your explicit statements have a confidence of at most"
            f" {MAX_STATED_CONFIDENCE:g}"
        )
        return why, "subconscious status --settings # lower auto_threshold, then: subconscious accept-settings"
    if found.lowered:
        why = (
            "calibration: your decisions have lowered the confidence of statements below the threshold"
            f" (statements: {found.lowered})"
        )
        return why, "subconscious stats --calibration # shows the curve; with a lower auto_threshold more is stored"
    if found.suspect:
        return f"the poisoning check flagged {found.suspect} of your statements", "subconscious review --limit 20"
    if found.sure:
        why = (
            "statements of yours that reached the threshold, but wait for review or were dropped for another reason:"
            f" {found.sure}"
        )
        return why, "subconscious explain"
    if found.own:
        why = f"no statement of yours reached auto_threshold = {limit:g}: the highest confidence is {found.surest:.2f}"
        return why, "subconscious explain"
    return "none of the candidates was in your own words; those of others wait for your review", "subconscious review"
