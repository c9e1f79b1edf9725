"""The environment of one session must not affect other sessions: variables, programs, Python's own variables.

The sessions here start the daemon as the client's do, through the hook of a session's start. The environment that the
hook finds runs this checkout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from bench.hostile.case import Stage, case, hold
from bench.hostile.git import LOOKED_UP, make_repository, make_script
from bench.sessions import ROOT, Speaker
from hooks.environment import fingerprint
from subconscious import wire

FACT = "Remember: amounts are stored as integer cents, never as floats."
TOOLS = ("git", "claude", "ps", "python3.11")

PYTHON = f"""#!/bin/sh
case "$*" in
*"-m subconscious.daemon run") PYTHONPATH={str(ROOT)!r} exec {sys.executable!r} -P -m daemon run ;;
*) exec {sys.executable!r} "$@" ;;
esac
"""
FACE = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT)!r})
from cli.__main__ import main
sys.exit(main())
"""


def furnish(stage: Stage) -> None:
    """Give the stage an environment as the maker would, which runs this checkout."""
    programs = stage.home.env / f"{fingerprint()}-cpython-3" / "bin"
    programs.mkdir(parents=True)
    for name, text in (("python", PYTHON), ("subconscious", FACE)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (programs.parent / ".complete").write_text("0.1.0\n")


def started_by(stage: Stage, name: str, **environ: str) -> Speaker:
    """A session with variables of its own, whose hook starts the daemon."""
    furnish(stage)
    session = stage.speaker(name)
    session.environment.update(environ)
    session.hook("wake", "SessionStart", source="startup")
    _await_daemon(stage)
    return session


def _await_daemon(stage: Stage, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(wire.AbsentError):
            wire.hello(stage.home)
            return
        time.sleep(0.05)
    hold(promise=False, otherwise="the hook of a session's start brought up no daemon")


def taught(stage: Stage, session: Speaker, text: str = FACT) -> bool:
    """Say something to be remembered; return whether it was."""
    session.hook("wake", "SessionStart", source="startup")
    session.hook("ask", "UserPromptSubmit", prompt=text)
    session.say(text)
    session.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
    stage.drain()
    return "integer cents" in str(stage.memories())


def fake_programs(stage: Stage) -> tuple[str, Path]:
    """A PATH with programs that leave a mark, as an unpacked project may have them; and the mark."""
    program, mark = make_script(stage.folder)
    tools = stage.folder / "tools"
    tools.mkdir()
    for name in TOOLS:
        shutil.copy(program, tools / name)
    return f"{tools}:{os.environ['PATH']}", mark


@case("environment", "SUBCONSCIOUS_CAPTURE=false in the session that starts the daemon holds for that session alone")
def capture_off_elsewhere(stage: Stage) -> None:
    quiet = started_by(stage, "quiet", SUBCONSCIOUS_CAPTURE="false")
    hold(not taught(stage, quiet), "the session that wanted nothing learned was learned from")
    hold(taught(stage, stage.speaker("other")), "nothing was learned in the other session")


@case("environment", "settings of a session that comes later hold for that session alone")
def capture_off_later(stage: Stage) -> None:
    stage.start()
    quiet = stage.speaker("quiet")
    quiet.environment["SUBCONSCIOUS_CAPTURE"] = "false"
    hold(not taught(stage, quiet), "the session that wanted nothing learned was learned from")
    hold(taught(stage, stage.speaker("other")), "nothing was learned in the other session")


@case("environment", "a session's SUBCONSCIOUS_ variables and keys are not in the daemon's environment")
def variables_of_a_session(stage: Stage) -> None:
    secret = "sk-not-a-key-of-anybody"
    session = started_by(
        stage,
        "first",
        SUBCONSCIOUS_OPENAI_KEY=secret,
        SUBCONSCIOUS_REVIEW_EXPIRY_DAYS="77",
        SUBCONSCIOUS_OPENAI_URL="http://127.0.0.1:9/v1",
        PYTHONPATH=str(stage.folder),
        LD_PRELOAD=str(stage.folder / "none.so"),
        NODE_OPTIONS="--require=/nowhere",
    )
    taught(stage, session)
    settings = wire.call(stage.home, "status")["settings"]
    taken = settings["review_expiry_days"]
    hold(taken != 77 and not settings["openai_url"], f"the daemon took {taken} days")
    kept = b"".join(file.read_bytes() for file in stage.home.root.rglob("*") if file.is_file())
    hold(secret.encode() not in kept, "the key was written to the state folder")
    if sys.platform == "linux":
        environment = Path(f"/proc/{wire.call(stage.home, 'status')['pid']}/environ").read_bytes()
        for word in (secret, "EXPIRY_DAYS", "LD_PRELOAD", "NODE_OPTIONS", str(stage.folder / "none.so")):
            hold(word.encode() not in environment, f"the daemon's environment has {word}")


@case("environment", "programs on the PATH of the session that starts the daemon do not run for another")
def programs_of_a_session(stage: Stage) -> None:
    path, mark = fake_programs(stage)
    started_by(stage, "first", PATH=path)
    mark.unlink(missing_ok=True)
    repository = make_repository(stage.folder / "second")
    second = stage.speaker("second")
    taught(stage, second, f"{FACT} It is in {LOOKED_UP} of {repository}.")
    hold(not mark.exists(), "a program of the first session ran for the second")


@case("environment", "PYTHONPATH and PYTHONSTARTUP of a session do not change the terminal command")
def python_of_a_session(stage: Stage) -> None:
    furnish(stage)
    mark = stage.folder / "it-ran"
    code = f"open({str(mark)!r}, 'w').close()\n"
    theirs = stage.folder / "theirs"
    theirs.mkdir()
    for name in ("sitecustomize.py", "argparse.py", "usercustomize.py", "start.py"):
        (theirs / name).write_text(code)
    environ = {
        **stage.speaker().environment,
        "PYTHONPATH": str(theirs),
        "PYTHONSTARTUP": str(theirs / "start.py"),
        "PYTHONINSPECT": "1",
        "PYTHONUSERBASE": str(theirs),
    }
    done = subprocess.run(
        [ROOT / "bin" / "subconscious", "--help"],
        env=environ,
        cwd=theirs,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    hold(done.returncode == 0 and "usage" in done.stdout, f"the command failed: {done.stderr[-300:]}")
    hold(not mark.exists(), "a module of the session's PYTHONPATH ran")


@case("environment", "a session's PATH does not choose the Python of the daemon's environment", quick=False)
def python_of_the_environment(stage: Stage) -> None:
    tools = stage.folder / "tools"
    tools.mkdir()
    mark = stage.folder / "it-ran"
    # Good enough to run hooks, and to be taken for a Python to build on.
    text = f'#!/bin/sh\ncase "$*" in *venv*|*ensurepip*) : >\'{mark}\' ;; esac\nexec {sys.executable!r} "$@"\n'
    for name in ("python3", "uv"):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    session = stage.speaker("first")
    session.environment["PATH"] = f"{tools}:{session.environment['PATH']}"
    start = str(ROOT / "hooks" / "start.py")
    command = [str(tools / "python3"), "-I", "-S", "-B", start, "wake", "--make"]
    subprocess.run(command, env=session.environment, check=False, timeout=500)
    hold(not mark.exists(), "the environment was made with a program of the session")
