"""``subconscious maintenance``, ``backup`` and ``restore``."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import suppress
from typing import TYPE_CHECKING

from subconscious.domain.errors import DaemonError, RequestError
from subconscious.upkeep import restore as restoring
from subconscious.wire import AbsentError, call

from . import screen
from .ask import ask, here, home
from .confirmation import require_yes
from .holder import await_end
from .origin import origin, require_person

if TYPE_CHECKING:
    from subconscious.wire.upkeep import Run

TIMEOUT_SECONDS = 600.0
"""Seconds to wait for requests that work on all stored data."""

STOP_SECONDS = 60.0
"""Seconds that a daemon may take to finish its current work before it exits."""


def status(options: Namespace) -> None:
    """Print when each job last ran, and whether it waits."""
    answer = ask("maintenance_status")
    if options.json:
        screen.as_json(answer)
        return
    for job in answer["jobs"]:
        last = job["last"]
        done = f"last run {screen.when(last['started_at'])}" if last else "has not run yet"
        if last and last["state"] == "running":
            done += f", running: {last['phase']}"
        state = ", waits for a quiet moment" if job["waits"] and answer["on"] else ""
        print(screen.wrapped(f"{done}{state}", 10, job["job"]))
        print(screen.paint(screen.wrapped(screen.listed(job["phases"]), 10), "dim"))
    if not answer["on"]:
        print("\nMaintenance is switched off.")


def log(options: Namespace) -> None:
    """Print what the latest runs did."""
    runs = ask("maintenance_log", limit=options.limit)["runs"]
    if options.json:
        screen.as_json(runs)
        return
    for run in runs:
        _print_run(run)
    if not runs:
        print("No maintenance has run yet.\n  to run it now: subconscious maintenance run")


def _print_run(run: Run) -> None:
    took = f"{run['finished_at'] - run['started_at']:.1f} s" if run["finished_at"] else f"cut short in {run['phase']}"
    print(screen.wrapped(f"{run['job']}, {took}", 23, f"  {screen.stamp(run['started_at'])}"))
    print(screen.paint(screen.wrapped(screen.line(run["told"]), 23), "dim"))


def repeats(options: Namespace) -> None:
    """Print the duplicates that the next nightly run would merge."""
    pairs = ask("repeats", TIMEOUT_SECONDS, cwd=here(), limit=options.limit, everywhere=options.all)["pairs"]
    if options.json:
        screen.as_json(pairs)
        return
    for pair in pairs:
        merged, stays = pair["gone"], pair["stays"]
        print(screen.wrapped(screen.line(merged["content"]), 8, f"  {merged['id']}"))
        print(screen.paint(screen.wrapped(f"into {stays['id']}: {screen.line(stays['content'])}", 8), "dim"))
    if not pairs:
        print("No duplicates were found.")


def run(options: Namespace) -> None:
    """Run a job now."""
    done = ask("maintenance_run", TIMEOUT_SECONDS, job=options.job, origin=origin())["run"]
    if options.json:
        screen.as_json(done)
    else:
        _print_run(done)


def backup(options: Namespace) -> None:
    """Make a copy of the database now."""
    if options.as_is:
        require_person("accept a database that differs from its last copy")
    made = ask("backup", TIMEOUT_SECONDS, as_is=options.as_is or None, origin=origin())
    if options.json:
        screen.as_json(made)
    else:
        print(
            f"Copied to {screen.line(made['copy'])} ({screen.counted(len(made['copies']), 'copy', 'copies')} in all)."
        )


def restore(options: Namespace) -> None:
    """List the copies, restore one, or start with an empty database."""
    if options.fresh:
        _start_empty(options)
        return
    if options.file is None:
        _list(options)
        return
    require_person("restore a database")
    state_folder = home()
    copy = restoring.find(state_folder, options.file)
    # Stopped before the comparison: changes made by the daemon after the comparison would be lost without a warning.
    _stop_daemon()
    if warning := _loss_warning(restoring.expected_loss(state_folder, copy)):
        print(screen.wrapped(warning), file=sys.stderr)
        require_yes(options, f"Restore {screen.line(copy.name)}? The present database is kept as a copy.")
        _stop_daemon()  # while the question waited, a hook may have started another daemon
    health, kept = restoring.put_back(state_folder, copy)
    answer = {"restored": str(copy), "memories": health.memories, "kept": str(kept) if kept else None}
    if options.json:
        screen.as_json(answer)
        return
    print(f"{copy.name} is the database now: {screen.counted(health.memories, 'memory', 'memories')}.")
    if kept:
        print(screen.wrapped(f"The replaced database is kept. To return to it: subconscious restore {kept.name}"))
    print("The transcripts of sessions that are still running are read again.")


def _loss_warning(loss: restoring.Loss) -> str:
    """Return a warning about changes that the copy lacks; "" if it has all of them."""
    if not loss.known:
        return "The present database can't be read. What was stored after the copy was made is not in the copy."
    if not loss.events:
        return ""
    memories = screen.counted(loss.memories, "memory", "memories")
    return f"Not in the copy: {screen.counted(loss.events, 'change')} made after it, {memories} among them."


def _start_empty(options: Namespace) -> None:
    """Start with an empty database; the old one is kept."""
    if options.file is not None:
        raise RequestError(
            "a copy and --fresh can't be used together",
            "use `subconscious restore COPY` or `subconscious restore --fresh`",
        )
    require_person("start with an empty database")
    _stop_daemon()
    require_yes(options, "Start with an empty database? The present database is kept.")
    moved = restoring.start_empty(home())
    if options.json:
        screen.as_json({"moved": [str(path) for path in moved]})
        return
    print("The database is empty now. The copies are kept; to list them: subconscious restore")
    for path in moved:
        print(screen.wrapped(f"kept: {screen.line(str(path))}"))


def _list(options: Namespace) -> None:
    found = restoring.choices(home())
    if options.json:
        rows = [
            {"name": one.copy.path.name, "path": str(one.copy.path), "at": one.copy.at, "schema": one.copy.schema}
            | {"bytes": one.size, "memories": one.memories, "fault": one.fault}
            for one in found
        ]
        screen.as_json(rows)
        return
    for one in found:
        answer = one.fault or f"{screen.counted(one.memories, 'memory', 'memories')}, {one.size / 2**20:.1f} MB"
        print(screen.wrapped(screen.line(one.copy.path.name)))
        print(screen.paint(screen.wrapped(f"{screen.when(one.copy.at)}: {screen.line(answer)}", 4), "dim"))
    if found:
        print("\nTo restore one: subconscious restore COPY")
    else:
        print("There is no copy yet.\n  to make one: subconscious backup")


def _stop_daemon() -> None:
    """Stop the daemon; the next request or hook starts it again, with the other database."""
    with suppress(AbsentError):
        call(home(), "stop", timeout=5.0)
    if not await_end(home(), STOP_SECONDS):
        raise DaemonError("the daemon does not stop", "run `subconscious daemon stop --force`, then try again")
