"""A full, read-only or bounded disk must lose no event and stop no daemon."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.crash import kill_processes_of
from bench.hostile.case import NotHeld, Stage, case, hold
from subconscious import wire
from subconscious.settings.home import Home

MEGABYTES = 16
TEXT = "Remember: amounts are stored as integer cents, never as floats."
TYPED = "Remember: the ledger service listens on port 4180."


@contextmanager
def small_volume(stage: Stage) -> Iterator[tuple[Stage, Path]]:
    """A stage whose state folder lies on a small file system of its own. Raises NotHeld where none can be mounted."""
    volume = stage.folder / "volume"
    volume.mkdir()
    size = f"size={MEGABYTES}m,mode=0700,uid={os.getuid()}"
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", volume]).returncode:
        raise NotHeld("not tried: a file system of one's own takes root and the right to mount")
    small = Stage(stage.folder, Home(volume / "home"))
    try:
        small.home.make()
        small.configure()
        yield small, volume
    finally:
        kill_processes_of(small.home)
        subprocess.run(["umount", "--lazy", volume], check=True)


def fill(volume: Path) -> None:
    """Leave not a byte."""
    for size in (1 << 20, 1 << 12, 1):
        try:
            with (volume / f"ballast-{size}").open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(size))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


def free(volume: Path) -> None:
    for file in volume.glob("ballast-*"):
        file.unlink()


def remount(volume: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", volume], check=True)


def await_writing(stage: Stage) -> None:
    """Wait until the daemon can write again and has caught up."""
    until = time.monotonic() + 30
    while wire.call(stage.home, "status").get("disk"):
        hold(time.monotonic() < until, "the daemon does not notice that there is room again")
        time.sleep(0.2)
    stage.drain()


def talk_meanwhile(stage: Stage, begin: Callable[[], None], end: Callable[[], None]) -> None:
    """Have a session speak between ``begin`` and ``end`` of the trouble; it must be learned from afterwards."""
    stage.start()
    speaker = stage.speaker()
    speaker.hook("ask", "SessionStart", source="startup")
    stage.drain()
    begin()
    try:
        speaker.hook("ask", "UserPromptSubmit", prompt=TEXT, prompt_id="p1")
        speaker.say(TEXT, prompt_id="p1")
        speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
        time.sleep(6)  # the sweep and other loops meet the trouble too
        hold(bool(wire.hello(stage.home, 5)), "the daemon does not answer")
    finally:
        end()
    await_writing(stage)
    hold("integer cents" in str(stage.memories()), "what was said meanwhile is lost")
    told = stage.speaker("another").ask("SessionStart", source="startup").decode()
    hold("the disk was full for a while" in told, f"the next start does not say so: {told!r}")


@case("disk", "a full disk: what a session says is learned once there is room")
def full(stage: Stage) -> None:
    with small_volume(stage) as (small, volume):
        talk_meanwhile(small, lambda: fill(volume), lambda: free(volume))


@case("disk", "a file system that turns read-only: what a session says is learned once it can be written", quick=False)
def read_only(stage: Stage) -> None:
    with small_volume(stage) as (small, volume):

        def begin() -> None:
            # As after an error of the device: also what is open can't be written any more.
            (volume / "home" / "run" / "spool-probe").unlink(missing_ok=True)
            subprocess.run(["mount", "--bind", small.home.spool, small.home.spool], check=True)
            subprocess.run(["mount", "-o", "remount,ro,bind", small.home.spool], check=True)

        def end() -> None:
            subprocess.run(["umount", "--lazy", small.home.spool], check=True)

        talk_meanwhile(small, begin, end)


@case("disk", "jobs that meet a full disk are not buried", quick=False)
def jobs_meanwhile(stage: Stage) -> None:
    with small_volume(stage) as (small, volume):
        small.configure(job_attempts=1)
        small.start()
        speaker = small.speaker()
        for number in range(12):
            speaker.say(f"Remember: service {number} listens on port {8000 + number}.")
        small.drain()
        fill(volume)
        os.truncate(volume / "ballast-1048576", (volume / "ballast-1048576").stat().st_size - 8192)
        speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
        time.sleep(10)
        free(volume)
        await_writing(small)
        state = wire.call(small.home, "status")
        hold(state["jobs"]["buried"] == 0, f"jobs were buried: {state['jobs']}")
        hold("8003" in str(small.memories()), "nothing was learned")


@case("disk", "drop hooks and prompt hooks hand over what they can't write", quick=False)
def a_folder_that_can_not_be_written(stage: Stage) -> None:
    """An immutable spool: only the hooks and the daemon's writes there fail, the database works.

    The daemon knows neither session, so that it learns of each by what its one hook hands over.
    """
    stage.start()
    dropping, prompting = stage.speaker("dropping"), stage.speaker("prompting")
    dropping.say(TEXT)
    prompting.say(TYPED)
    if subprocess.run(["chattr", "+i", stage.home.spool], capture_output=True).returncode:
        raise NotHeld("not tried: this file system knows no immutable folders")
    try:
        dropping.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
        prompting.hook("ask", "UserPromptSubmit", prompt="go on")
        hold(bool(wire.hello(stage.home, 5)), "the daemon does not answer")
    finally:
        subprocess.run(["chattr", "-i", stage.home.spool], check=True)
    await_writing(stage)
    hold("integer cents" in str(stage.memories()), "what the drop hook could not write is lost")
    hold("port 4180" in str(stage.memories()), "what the prompt hook could not write is lost")
