"""Upkeep: maintenance, backup, restore."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import suppress
from typing import Any

from subconscious import restore as restoring
from subconscious.client import AbsentError, call
from subconscious.errors import DaemonError, RequestError

from . import screen
from .ask import ask, here, home
from .holder import await_end
from .origin import origin, require_person

PATIENCE = 600.0
"""Seconds for work on everything that is stored."""

STOP_SECONDS = 60.0
"""Time a daemon may take to finish the work it holds before it leaves."""


def status(options: Namespace) -> None:
    """Print when each job was done, and whether it waits."""
    told = ask("maintenance_status")
    if options.json:
        screen.as_json(told)
        return
    for job in told["jobs"]:
        last = job["last"]
        done = f"begun {screen.when(last['started_at'])}" if last else "never yet"
        if last and last["state"] == "running":
            done += f", under way: {last['phase']}"
        state = ", waits for a quiet moment" if job["waits"] and told["on"] else ""
        print(screen.wrapped(f"{done}{state}", 10, job["job"]))
        print(screen.paint(screen.wrapped(screen.listed(job["phases"]), 10), "dim"))
    if not told["on"]:
        print("\nIt is switched off.")


def log(options: Namespace) -> None:
    """Print what the latest runs did."""
    runs = ask("maintenance_log", limit=options.limit)["runs"]
    if options.json:
        screen.as_json(runs)
        return
    for run in runs:
        _tell_run(run)
    if not runs:
        print("No maintenance was done yet.\n  do it now: subconscious maintenance run")


def _tell_run(run: dict[str, Any]) -> None:
    took = f"{run['finished_at'] - run['started_at']:.1f} s" if run["finished_at"] else f"cut short in {run['phase']}"
    print(screen.wrapped(f"{run['job']}, {took}", 23, f"  {screen.stamp(run['started_at'])}"))
    print(screen.paint(screen.wrapped(screen.line(run["told"]), 23), "dim"))


def repeats(options: Namespace) -> None:
    """Print what the next night would merge."""
    pairs = ask("repeats", PATIENCE, cwd=here(), limit=options.limit, everywhere=options.all)["pairs"]
    if options.json:
        screen.as_json(pairs)
        return
    for pair in pairs:
        gone, stays = pair["gone"], pair["stays"]
        print(screen.wrapped(screen.line(gone["content"]), 8, f"  {gone['id']}"))
        print(screen.paint(screen.wrapped(f"into {stays['id']}: {screen.line(stays['content'])}", 8), "dim"))
    if not pairs:
        print("Nothing that was not compared yet is said twice.")


def run(options: Namespace) -> None:
    """Carry a job out now."""
    done = ask("maintenance_run", PATIENCE, job=options.job, origin=origin())["run"]
    if options.json:
        screen.as_json(done)
    else:
        _tell_run(done)


def backup(options: Namespace) -> None:
    """Keep a copy now."""
    if options.as_is:
        require_person("accept a database that differs from its last copy")
    made = ask("backup", PATIENCE, as_is=options.as_is or None, origin=origin())
    if options.json:
        screen.as_json(made)
    else:
        print(f"Kept: {screen.line(made['copy'])} ({screen.counted(len(made['copies']), 'copy', 'copies')} in all).")


def restore(options: Namespace) -> None:
    """List the copies, put one in the database's place, or begin with an empty one."""
    if options.fresh:
        _begin_afresh(options)
        return
    if options.file is None:
        _list(options)
        return
    require_person("put an older database back")
    place = home()
    copy = restoring.find(place, options.file)
    # First: what a running daemon writes meanwhile would be lost without a word.
    _stop_daemon()
    if lost := _lost_with(restoring.what_is_lost(place, copy)):
        print(screen.wrapped(lost), file=sys.stderr)
        _require_yes(options, f"Put {screen.line(copy.name)} in the database's place? What is there now is kept.")
        _stop_daemon()  # while the person thought about it, a hook may have started the next one
    health, kept = restoring.put_back(place, copy)
    told = {"restored": str(copy), "memories": health.memories, "kept": str(kept) if kept else None}
    if options.json:
        screen.as_json(told)
        return
    print(f"{copy.name} is the database now: {screen.counted(health.memories, 'memory', 'memories')}.")
    if kept:
        print(screen.wrapped(f"What it replaced is kept: subconscious restore {kept.name}"))
    print("What sessions said since is learned again from their transcripts as they go on.")


def _lost_with(loss: restoring.Loss) -> str:
    """What a restore would lose, or "" when the copy holds all that the database holds."""
    if not loss.known:
        return "The database that is there can't be read: what was stored after the copy was made is not in the copy."
    if not loss.events:
        return ""
    memories = screen.counted(loss.memories, "memory", "memories")
    return f"Not in the copy: {screen.counted(loss.events, 'change')} made since, {memories} among them."


def _begin_afresh(options: Namespace) -> None:
    """Begin with an empty database."""
    if options.file is not None:
        raise RequestError("a copy and --fresh exclude each other", "subconscious restore COPY, or --fresh alone")
    require_person("begin with an empty database")
    _stop_daemon()
    _require_yes(options, "Begin with an empty database? What is there now is kept.")
    moved = restoring.begin_afresh(home())
    if options.json:
        screen.as_json({"moved": [str(path) for path in moved]})
        return
    print("The database is empty now. The copies are kept: subconscious restore")
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
        told = one.fault or f"{screen.counted(one.memories, 'memory', 'memories')}, {one.size / 2**20:.1f} MB"
        print(screen.wrapped(screen.line(one.copy.path.name)))
        print(screen.paint(screen.wrapped(f"{screen.when(one.copy.at)}: {screen.line(told)}", 4), "dim"))
    if found:
        print("\nPut one back: subconscious restore COPY")
    else:
        print("No copy is kept yet.\n  make one: subconscious backup")


def _require_yes(options: Namespace, question: str) -> None:
    if options.yes:
        return
    if options.json or not sys.stdin.isatty():
        raise RequestError("nobody is there to say yes", "add --yes")
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise RequestError("nothing was changed", "")


def _stop_daemon() -> None:
    """Let the daemon leave; it starts again by itself, with the other database."""
    with suppress(AbsentError):
        call(home(), "stop", timeout=5.0)
    if not await_end(home(), STOP_SECONDS):
        raise DaemonError("the daemon does not leave", "subconscious daemon stop --force; then try again")
