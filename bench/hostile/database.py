"""A lost, truncated or damaged database must not be replaced by an empty one; its copies must survive."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from bench.hostile.case import Stage, case, hold
from bench.sessions import ROOT, Speaker
from hooks.drop import VERSION
from hooks.environment import fingerprint
from subconscious import wire
from subconscious.domain.errors import DaemonError, SubconsciousError
from subconscious.store import backups

BEFORE = "We decided to keep all amounts in integer cents, because floats lost a cent."
BETWEEN = "We decided to name all branches after their ticket, because reviewers search for it."
COMMAND = "subconscious restore latest"


def learn(stage: Stage, text: str, session: Speaker | None = None) -> None:
    """Have a session say something that is stored."""
    session = session or stage.speaker()
    session.say(text)
    session.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")


def stocked(stage: Stage) -> None:
    """Store a memory, keep a copy, and stop the daemon."""
    stage.start()
    learn(stage, BEFORE)
    stage.drain()
    wire.call(stage.home, "backup", timeout=60)
    stop(stage)


def stop(stage: Stage) -> None:
    """Stop the daemon and wait until it has closed the database."""
    with suppress(DaemonError):
        wire.call(stage.home, "stop", timeout=5)
    wire.await_absence(stage.home, 20)
    until = time.monotonic() + 10
    while beside(stage, "-wal").exists() and time.monotonic() < until:
        time.sleep(0.02)


def beside(stage: Stage, suffix: str) -> Path:
    """The file that SQLite keeps beside the database."""
    return stage.home.database.with_name(stage.home.database.name + suffix)


def furnish(stage: Stage) -> None:
    """Give the hooks an environment to start the daemon from: this checkout's."""
    made = stage.home.env / f"{fingerprint()}-bench"
    (made / "bin").mkdir(parents=True, exist_ok=True)
    python = made / "bin" / "python"
    # The hooks run `python -I -m subconscious.daemon run`; in a checkout the package is called `daemon`.
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -P -m daemon run\n')
    python.chmod(0o700)
    (made / ".complete").write_text(VERSION)
    current = stage.home.env / "current"
    current.unlink(missing_ok=True)
    current.symlink_to(made.name)


def terminal(stage: Stage, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a script would: questions are not answered."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment |= {"SUBCONSCIOUS_HOME": str(stage.home.root), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "cli", *words]
    return subprocess.run(
        command, env=environment, cwd=stage.folder, input="", capture_output=True, text=True, timeout=60, check=False
    )


def is_refused(stage: Stage, command: str = COMMAND) -> None:
    """The daemon does not start; hooks, `status` and `doctor` name the command; nothing is put in the file's place."""
    before = state_of(stage.home.database)
    try:
        stage.start()
    except SubconsciousError as error:
        hold(command in error.remedy, f"the refusal does not name the command: {error.message}; {error.remedy}")
    else:
        hold(False, f"the daemon started with {len(stage.memories())} memories")
    hold(before == state_of(stage.home.database), "the file was changed")
    printed = stage.speaker("later").hook("ask", "SessionStart", source="startup")
    hold(command in json.loads(printed or b"{}").get("systemMessage", ""), f"the session was told: {printed!r}")
    for words in (("status",), ("doctor",), ("list",)):
        done = terminal(stage, *words)
        hold(done.returncode == 1 and command in done.stdout + done.stderr, f"{words} said: {done.stdout}{done.stderr}")


def state_of(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written or replaced."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def is_restored(stage: Stage) -> None:
    """One command restores, and events sent meanwhile are processed."""
    learn(stage, BETWEEN)
    hold(len(list(stage.home.spool.glob("*.entry"))) >= 1, "the event was not kept in the spool")
    done = terminal(stage, "restore", "latest", "--yes")
    hold(done.returncode == 0, f"restore failed: {done.stderr}")
    stage.start()
    stage.drain()
    hold(sorted(stage.memories()) == sorted([BEFORE, BETWEEN]), f"after the restore: {stage.memories()}")
    warnings = wire.call(stage.home, "status")["warnings"]
    hold(not any("damaged" in warning for warning in warnings), f"it still warns: {warnings}")


def missing(stage: Stage) -> None:
    stage.home.database.unlink()


def zero(stage: Stage) -> None:
    stage.home.database.write_bytes(b"")


def no_database(stage: Stage) -> None:
    stage.home.database.write_bytes(b"this is not a database\n" * 500)


def foreign(stage: Stage) -> None:
    stage.home.database.unlink()
    with closing(sqlite3.connect(stage.home.database, isolation_level=None)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")


def without_tables(stage: Stage) -> None:
    stage.home.database.unlink()
    with closing(sqlite3.connect(stage.home.database, isolation_level=None)) as other:
        other.execute("PRAGMA user_version = 1")


def first_page(stage: Stage) -> None:
    os.truncate(stage.home.database, 4096)


def mid_page(stage: Stage) -> None:
    size = stage.home.database.stat().st_size
    os.truncate(stage.home.database, size // 4096 // 2 * 4096 + 1000)


def only_wal(stage: Stage) -> None:
    stage.home.database.unlink()
    beside(stage, "-wal").write_bytes(b"\x37\x7f\x06\x82" + b"\0" * 8000)


def unreadable(stage: Stage) -> None:
    stage.home.database.unlink()
    # Reading the beginning of this file fails with EIO, as on a failing disk.
    stage.home.database.symlink_to("/proc/self/mem")


LOSSES: tuple[tuple[str, Callable[[Stage], None], bool], ...] = (
    ("memory.db is missing", missing, True),
    ("memory.db is empty", zero, False),
    ("memory.db is no database", no_database, False),
    ("memory.db belongs to another program", foreign, False),
    ("memory.db has no tables", without_tables, False),
    ("only the first 4 KB of memory.db are left", first_page, True),
    ("memory.db is cut in the middle of a page", mid_page, False),
    ("memory.db-wal is left without its database", only_wal, False),
    ("reading memory.db fails (EIO)", unreadable, True),
)


def _register(name: str, lose: Callable[[Stage], None], quick: bool) -> None:
    @case("database", f"{name}: refused, told, restored, nothing lost", quick=quick)
    def run(stage: Stage) -> None:
        stocked(stage)
        lose(stage)
        is_refused(stage)
        is_restored(stage)


for _name, _lose, _quick in LOSSES:
    _register(_name, _lose, _quick)


@case("database", "the session that starts first after the loss is told already")
def told_at_once(stage: Stage) -> None:
    stocked(stage)
    furnish(stage)
    missing(stage)
    speaker = stage.speaker()
    speaker.hook("wake", "SessionStart", source="startup")
    printed = speaker.hook("ask", "SessionStart", source="startup")
    if not printed:  # the daemon needs longer than the hook waits on a busy machine: then the next one is told
        wait_for(stage.home.refusal)
        printed = speaker.hook("ask", "SessionStart", source="startup")
    hold(COMMAND in json.loads(printed or b"{}").get("systemMessage", ""), f"the session was told: {printed!r}")
    hold(not stage.home.database.exists(), "an empty database was created")
    hold(speaker.hook("ask", "UserPromptSubmit", prompt="go on") == b"", "a prompt was disturbed too")


def wait_for(path: Path, seconds: float = 20) -> None:
    """Wait until a file exists."""
    until = time.monotonic() + seconds
    while not path.exists():
        hold(time.monotonic() < until, f"{path.name} did not appear")
        time.sleep(0.05)


@case("database", "lost without a copy, while rendered files show that there were memories", quick=False)
def lost_without_copy(stage: Stage) -> None:
    stocked(stage)
    for copy in backups.listing(stage.home.database):
        copy.path.unlink()
    missing(stage)
    is_refused(stage, "subconscious restore --fresh")


@case("database", "a person begins afresh with one command, and the copies stay")
def afresh(stage: Stage) -> None:
    stocked(stage)
    zero(stage)
    copies = [one.path.name for one in backups.listing(stage.home.database)]
    hold(terminal(stage, "restore", "--fresh").returncode == 1, "it began afresh though nobody said yes")
    done = terminal(stage, "restore", "--fresh", "--yes")
    hold(done.returncode == 0, f"it did not begin afresh: {done.stderr}")
    stage.start()
    hold(stage.memories() == [], "the database is not empty")
    hold([one.path.name for one in backups.listing(stage.home.database)] == copies, "the copies are gone")
    warnings = wire.call(stage.home, "status")["warnings"]
    hold(not any("damaged" in warning for warning in warnings), f"it warns of what a person decided: {warnings}")


@case("database", "a database older than its copy is reported at the start")
def older(stage: Stage) -> None:
    stocked(stage)
    old = stage.home.database.read_bytes()
    stage.start()
    learn(stage, BETWEEN, stage.speaker("other"))
    stage.drain()
    wire.call(stage.home, "backup", timeout=60)
    stop(stage)
    stage.home.database.write_bytes(old)
    stage.start()
    told = stage.speaker("later").ask("SessionStart", source="startup")
    hold(COMMAND.encode() in told, f"the session was told: {told!r}")
    hold("older" in str(wire.call(stage.home, "status")["warnings"]), "status says nothing")
    hold("older" in terminal(stage, "doctor").stdout, "doctor says nothing")


@case("database", "memories that vanish without a purge are reported at the start", quick=False)
def fewer(stage: Stage) -> None:
    stocked(stage)
    with closing(sqlite3.connect(stage.home.database, isolation_level=None)) as store:
        store.execute("DELETE FROM memories")
    stage.start()
    hold("0 memories" in str(wire.call(stage.home, "status")["warnings"]), "status says nothing")


@case("database", "a restore that loses something asks first, and says what")
def asks(stage: Stage) -> None:
    stocked(stage)
    hold(terminal(stage, "restore", "latest").returncode == 0, "a restore that loses nothing asked")
    stage.start()
    learn(stage, BETWEEN)
    stage.drain()
    done = terminal(stage, "restore", "latest")
    hold(done.returncode == 1 and "1 memory" in done.stderr, f"it said: {done.stdout}{done.stderr}")
    stage.start()
    hold(BETWEEN in stage.memories(), "a memory was lost without a word")


def flip(stage: Stage, needle: bytes) -> int:
    """Change one byte wherever these bytes are in the database file; return how often."""
    raw = stage.home.database.read_bytes()
    changed = raw.replace(needle, needle[:-1] + bytes([needle[-1] ^ 0x02]))
    stage.home.database.write_bytes(changed)
    return raw.count(needle)


@case("database", "a flipped byte in a memory's text is reported, and is not copied over the good copy")
def flipped(stage: Stage) -> None:
    stocked(stage)
    hold(flip(stage, b"amounts in integer cent") > 0, "the text is not in the file")
    stage.start()
    good = [one.path.name for one in backups.listing(stage.home.database)]
    run = wire.call(stage.home, "maintenance_run", {"job": "nightly", "origin": "user"}, 60)["run"]
    hold("does not match" in str(run["report"]), f"the night found: {run['report']}")
    hold([one.path.name for one in backups.listing(stage.home.database)] == good, "a damaged copy was kept")
    stop(stage)
    stage.start()
    told = stage.speaker("later").ask("SessionStart", source="startup")
    hold(COMMAND.encode() in told, f"the next session was told: {told!r}")
    hold(COMMAND in terminal(stage, "doctor").stdout, "doctor says that all is well")


@case("database", "flipped bytes all over the file are reported by doctor", quick=False)
def flipped_everywhere(stage: Stage) -> None:
    stage.start()
    for number in range(12):
        learn(stage, f"We decided: record number {number} uses colour teal-{number}, because {number} is lucky.")
    stage.drain()
    wire.call(stage.home, "backup", timeout=60)
    stop(stage)
    whole, unseen = stage.home.database.read_bytes(), []
    places = used_places(whole)
    for place in places:
        raw = bytearray(whole)
        raw[place] ^= 0x11
        stage.home.database.write_bytes(raw)
        done = terminal(stage, "doctor", "--json")
        if not any(one["name"] in ("database", "indexes") and not one["ok"] for one in json.loads(done.stdout)):
            unseen.append(place)
    hold(len(places) == 40, f"only {len(places)} places hold text")
    hold(len(unseen) <= len(places) // 10, f"{len(unseen)} of {len(places)} flips pass unnoticed: {unseen}")


def used_places(raw: bytes) -> list[int]:
    """Positions of text spread over the file: a letter between letters."""
    words = [at for at in range(4200, len(raw) - 8) if raw[at - 4 : at + 4].isalpha()]
    return words[:: max(1, len(words) // 40)][:40]


@case("database", "a copy that has changed is neither restored as the latest nor compared with", quick=False)
def altered_copy(stage: Stage) -> None:
    stocked(stage)
    copy = backups.listing(stage.home.database)[0].path
    raw = bytearray(copy.read_bytes())
    raw[raw.index(b"integer cents")] ^= 0x02
    copy.write_bytes(raw)
    hold(copy.name in terminal(stage, "doctor").stdout, "doctor says nothing of the copy")
    hold("changed since it was made" in terminal(stage, "restore").stdout, "the list says nothing of it")
    hold(terminal(stage, "restore", "latest", "--yes").returncode == 1, "a changed copy was restored")


@case("database", "without any trace of memories a first start creates the database")
def first_start(stage: Stage) -> None:
    zero(stage)
    stage.start()
    hold(stage.home.database.stat().st_size > 0, "no database was created")
