"""A clock that is years off or jumps must lose nothing."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from bench.hostile.case import NotHeld, Stage, case, hold
from bench.sessions import Speaker
from hooks.cap import hold_cap
from subconscious import wire
from subconscious.doctor import examine
from subconscious.domain.errors import DaemonError

YEAR = 365 * 86_400
FAKETIME = ("libfaketime.so.1", "libfaketime.so")
TEXT = "Remember: amounts are stored as integer cents, never as floats."


def hand_over(stage: Stage, speaker: Speaker, event: str, at: float, **own: object) -> Path:
    """Put an entry into the spool as a hook whose clock says ``at``."""
    name = f"{int(at * 1e9):020d}-1-{uuid4().hex[:8]}.entry"
    header = f"subconscious 1\t{event}\t{int(at * 1e9)}\t{speaker.project}\t\t0.1.0\t\n"
    path = stage.home.spool / name
    path.write_bytes(header.encode() + speaker.payload(event, **own))
    os.utime(path, (at, at))
    return path


def talk(stage: Stage, at: float) -> None:
    """A session that was handed over with a clock that says ``at``, while no daemon ran."""
    speaker = stage.speaker()
    hand_over(stage, speaker, "SessionStart", at, source="startup")
    hand_over(stage, speaker, "UserPromptSubmit", at + 1, prompt=TEXT, prompt_id="p1")
    speaker.say(TEXT, prompt_id="p1")
    hand_over(stage, speaker, "Stop", at + 2, stop_hook_active=False, last_assistant_message="Noted.")


def learned(stage: Stage) -> None:
    """Start the daemon and make sure that the session was learned from."""
    stage.start()
    stage.drain()
    hold("integer cents" in str(stage.memories()), "nothing was learned: the entries were deleted unread")


@case("clock", "entries named 20 years back (the clock was not set) are read")
def named_long_ago(stage: Stage) -> None:
    talk(stage, time.time() - 20 * YEAR)
    learned(stage)


@case("clock", "entries that lay in the spool for 31 days are read, with a correct clock", quick=False)
def lay_there_for_a_month(stage: Stage) -> None:
    talk(stage, time.time() - 31 * 86_400)
    learned(stage)


@case("clock", "entries named ten years ahead are read", quick=False)
def named_years_ahead(stage: Stage) -> None:
    talk(stage, time.time() + 10 * YEAR)
    learned(stage)


@case("clock", "hooks without a daemon delete no entry for its age")
def hooks_without_a_daemon(stage: Stage) -> None:
    talk(stage, time.time() - 20 * YEAR)
    hold(hold_cap(str(stage.home.root)) == 0, "a hook deleted unread entries")
    learned(stage)


@case("clock", "a clock that jumps back between a prompt and its Stop changes nothing", quick=False)
def jumps_back_within_a_session(stage: Stage) -> None:
    speaker, now = stage.speaker(), time.time()
    speaker.say(TEXT, prompt_id="p1")
    hand_over(stage, speaker, "UserPromptSubmit", now + YEAR, prompt=TEXT, prompt_id="p1")
    hand_over(stage, speaker, "Stop", now, stop_hook_active=False, last_assistant_message="Noted.")
    hand_over(stage, speaker, "SessionEnd", now - YEAR, reason="other")
    learned(stage)
    found = [content for content in stage.memories() if "integer cents" in content]
    hold(len(found) == 1, f"it is stored {len(found)} times")


@case("clock", "what a killed hook left half-written years ago is not deleted", quick=False)
def half_written_long_ago(stage: Stage) -> None:
    speaker = stage.speaker()
    speaker.say(TEXT)
    entry = hand_over(stage, speaker, "Stop", time.time() - 20 * YEAR, stop_hook_active=False)
    entry.rename(entry.with_name(f".{entry.name}.tmp"))
    stage.start()
    until = time.monotonic() + 90
    while not stage.memories() and time.monotonic() < until:
        time.sleep(1)
    learned(stage)


def faketime() -> str:
    """The library that gives a process another clock. Raises NotHeld where it is not installed."""
    folders = ("/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime", "/usr/lib/faketime")
    for folder in folders:
        for name in FAKETIME:
            if (Path(folder) / name).exists():
                return str(Path(folder) / name)
    raise NotHeld("not tried: libfaketime is not installed (apt-get install libfaketime)")


@contextmanager
def daemon_ahead(stage: Stage, days: int) -> Iterator[None]:
    """Run the daemon with a clock that is ahead."""
    command, environment = wire.daemon_command(stage.home)
    environment |= {"LD_PRELOAD": faketime(), "FAKETIME": f"+{days}d"}
    process = subprocess.Popen([*command, "run"], env=environment, cwd=stage.home.run)
    try:
        until = time.monotonic() + 30
        while not answers(stage):
            hold(time.monotonic() < until, "the daemon does not start with a clock that is ahead")
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(40)


def answers(stage: Stage) -> bool:
    """Whether the daemon answers."""
    try:
        return bool(wire.hello(stage.home, 1))
    except DaemonError:
        return False


def stop(stage: Stage) -> None:
    """Stop the daemon and wait until it has left."""
    wire.call(stage.home, "stop")
    wire.await_absence(stage.home, 30)


@case("clock", "one night with a clock ten years ahead archives nothing and expires nothing", quick=False)
def ten_years_ahead(stage: Stage) -> None:
    faketime()
    stage.configure(maintenance_quiet_seconds=0.1, maintenance_share=1, dedupe=False)
    stage.start()
    for session in range(4):
        speaker = stage.speaker()
        for number in range(session * 12, session * 12 + 12):
            speaker.say(f"Remember: service number {number} listens on port {8000 + number}.")
        speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
    for number in range(30):
        text = f"The worker pool of region {number} has {number + 3} threads."
        wire.call(stage.home, "remember", {"cwd": str(stage.folder), "text": text, "origin": "assistant"})
    stage.drain()
    before = counts(stage)
    hold(min(before) > 20, f"the stage is not set: active, waiting: {before}")
    stop(stage)
    with daemon_ahead(stage, 3650):
        await_nights(stage, 1)
        time.sleep(1)
        hold(counts(stage) == before, f"before the night (active, waiting): {before}, after it: {counts(stage)}")
        log = (stage.home.log / "daemon.log").read_text()
        hold("maintenance (decay) would change" in log, "it is not said that the archiving waits")
        hold("maintenance (review) would change" in log, "it is not said that the expiry waits")
    stage.start()
    time.sleep(3)
    told = [finding for finding in examine({"SUBCONSCIOUS_HOME": str(stage.home.root)}, "") if finding.name == "upkeep"]
    hold(not told, f"doctor still finds, once the clock is right: {told}")
    hold(counts(stage) == before, f"before the night (active, waiting): {before}, once it is right: {counts(stage)}")


def counts(stage: Stage) -> tuple[int, int]:
    """How many memories are active, and how many captures wait."""
    with closing(sqlite3.connect(f"file:{stage.home.database}?mode=ro", uri=True)) as store:
        active = store.execute("SELECT count(*) FROM memories WHERE archived_at IS NULL").fetchone()[0]
        waiting = store.execute("SELECT count(*) FROM implicit_captures WHERE status = 'review'").fetchone()[0]
    return active, waiting


def await_nights(stage: Stage, number: int) -> None:
    """Wait until so many nightly runs are over."""
    query = "SELECT count(*) FROM maintenance_runs WHERE job = 'nightly' AND state = 'done'"
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with closing(sqlite3.connect(f"file:{stage.home.database}?mode=ro", uri=True)) as store:
            if store.execute(query).fetchone()[0] >= number:
                return
        time.sleep(0.2)
    raise NotHeld(f"nightly run {number} was not done within a minute")
