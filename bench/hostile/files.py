"""FIFOs, devices, endless links and kernel files at every path that the product opens."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.hostile.case import NotHeld, Stage, case, hold
from bench.hostile.load import daemon_memory, holding_memory
from bench.sessions import ROOT, Speaker
from subconscious import wire

REMEMBERED = "Remember: amounts in config.py are stored as integer cents, never as floats."
NOT_FILES: dict[str, Callable[[Path], None]] = {
    "FIFO": os.mkfifo,
    "link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "link to /proc/self/mem": lambda path: path.symlink_to("/proc/self/mem"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "folder": Path.mkdir,
}


def teach(speaker: Speaker, text: str = REMEMBERED) -> None:
    """Have a session say something that is kept."""
    speaker.hook("wake", "SessionStart", source="startup")
    speaker.hook("ask", "UserPromptSubmit", prompt=text)
    speaker.say(text)
    speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")


def learns(stage: Stage, name: str = "bystander") -> None:
    """Raise NotHeld unless another project's session is still learned from."""
    text = f"Remember: the {name} service listens on port 4180."
    teach(stage.speaker(name), text)
    stage.drain()
    hold(f"the {name} service" in str(stage.memories()), "nothing was learned any more from another project")


def in_git(folder: Path) -> None:
    """Make a repository with one commit of the folder's content."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "First commit")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@case("files", "a file that a memory names is a link to /dev/zero")
def endless_file(stage: Stage) -> None:
    stage.start()
    speaker = stage.speaker()
    (speaker.project / "config.py").symlink_to("/dev/zero")
    in_git(speaker.project)
    # Handed over without a question: the first hook that asks has the files of all memories looked at.
    speaker.say(REMEMBERED)
    speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
    stage.drain()
    hold(bool(stage.memories()), "nothing was learned")
    with holding_memory(stage):
        stage.speaker().hook("ask", "SessionStart", source="startup")  # has the project's files looked at
        time.sleep(3)
        learns(stage)


@case("files", "FIFOs at .git and .git/HEAD, in more sessions than the daemon has workers")
def broken_repositories(stage: Stage) -> None:
    stage.start()
    for mark in (".git", ".git/HEAD"):
        folder = stage.folder / mark.replace("/", "-").strip(".")
        folder.mkdir()
        path = folder / mark
        path.parent.mkdir(exist_ok=True)
        os.mkfifo(path)
        for _ in range(5):
            Speaker(stage.home.root, folder).hook("drop", "SessionStart", source="startup")
            Speaker(stage.home.root, folder).hook("drop", "PostToolUse", tool_name="Read")
    learns(stage)
    hold(stage.slowest_answer(1) < 1, "the daemon does not answer")


@case("files", "a transcript that is a FIFO, a folder, a link to a device, to the kernel's memory, to nothing")
def unreadable_transcripts(stage: Stage) -> None:
    stage.start()
    folder = stage.speaker().project
    with holding_memory(stage):
        for make in NOT_FILES.values():
            speaker = Speaker(stage.home.root, folder)
            make(speaker.transcript)
            speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Nothing.")
            speaker.hook("drop", "SessionEnd", reason="other")
        learns(stage)
    said, log = doctor(stage), (stage.home.log / "daemon.log").read_text()
    hold("are not retried" in said, f"doctor says nothing of transcripts that can't be read: {said}")
    reasons = log.count("is not retried: the transcript")
    hold(reasons >= 2 * len(NOT_FILES), f"the log says of {reasons} of {2 * len(NOT_FILES)} jobs why they failed")
    known = wire.call(stage.home, "status")["sessions"]
    hold(known.get("open", 0) <= 1, f"sessions without a readable transcript stay open: {known}")


def doctor(stage: Stage, seconds: float = 30) -> str:
    """What `subconscious doctor` prints for this stage."""
    environment = {**os.environ, "SUBCONSCIOUS_HOME": str(stage.home.root), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-P", "-m", "cli", "doctor"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotHeld(f"doctor did not end within {seconds:.0f} s") from error
    return done.stdout + done.stderr


PLACES = ("memory.db", "config.toml", "log/daemon.log", "run/spool-full", "run/daemon.json", "redaction.key")


@case("files", "doctor where every file of the state folder is a FIFO")
def doctor_among_fifos(stage: Stage) -> None:
    for name in PLACES:
        _put_fifo(stage, name)
    said = doctor(stage)
    missed = [name for name in PLACES if f"{name} is not a regular file" not in " ".join(said.split())]
    hold(not missed, f"doctor does not name {missed}: {said}")


def _put_fifo(stage: Stage, name: str) -> None:
    path = stage.home.root / name
    path.parent.mkdir(exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)


@case("files", "hooks where every file of the state folder that they read or append to is a FIFO")
def hooks_among_fifos(stage: Stage) -> None:
    for name in ("config.toml", "log/daemon.log", "log/environment.log", "env/failure", "run/spool-full"):
        _put_fifo(stage, name)
    begun = time.monotonic()
    speaker = stage.speaker()
    speaker.hook("wake", "SessionStart", source="startup")
    speaker.hook("ask", "UserPromptSubmit", prompt="Go on.")
    speaker.hook("drop", "Stop", stop_hook_active=False)
    took = time.monotonic() - begun
    hold(took < 10, f"three hooks took {took:.0f} s")
    hold(len(list(stage.home.spool.glob("*.entry"))) >= 2, "the hooks handed nothing over")


@case("files", "config.toml of 1 GB")
def huge_settings(stage: Stage) -> None:
    with (stage.home.root / "config.toml").open("wb") as file:
        file.truncate(1 << 30)
    begun = time.monotonic()
    said = doctor(stage)
    hold("larger than" in said, f"doctor does not say what is wrong: {said}")
    hold(time.monotonic() - begun < 20, "doctor took too long")


@case("files", "config.toml is replaced by a FIFO while the daemon runs")
def settings_gone_bad(stage: Stage) -> None:
    stage.start()
    config = stage.home.root / "config.toml"
    config.unlink()
    os.mkfifo(config, 0o600)
    speaker = stage.speaker()
    speaker.environment["CLAUDE_PLUGIN_OPTION_START_TOKENS"] = "500"  # settings that it has not read yet
    teach(speaker)
    learns(stage)
    hold(daemon_memory(stage) < 400 << 20, "the daemon has grown")
