"""Creates the daemon's environment: Python >= 3.11, the pinned packages, this plugin's code (docs/protocol.md).

Only one process at a time (lock: ``env/lock``). An interrupted run leaves an environment without ``.complete``, which
the next one removes; a failure is recorded in ``env/failure`` with its remedy.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hooks.cap import hold_cap_if_stuck
from hooks.drop import VERSION
from hooks.environment import (
    ROOT,
    environ_to_install,
    find_environment,
    fingerprint,
    is_whole,
    must_wait,
    open_log,
    python_of,
    read_failure,
    start_daemon,
    switch_to,
)
from hooks.interpreters import Interpreter, MakingError, choose_python
from hooks.packages import PACKAGES, extra_lock, extras_of, install, site_packages, trim
from hooks.programs import safe_path

STEP_SECONDS = 900
LOCK = os.path.join(ROOT, "requirements.lock")
CODE = ("cli", "daemon", "hooks", "migrations")
"""Folders of the checkout that are inside the package in an environment, as in the wheel (pyproject.toml)."""
NOT_SHARED = shutil.ignore_patterns(".complete", "bytecode", "subconscious")
"""Files that are not copied from one environment to another: the completion mark, the compiled hooks, the code."""
LICENCES = ("LICENSE", "NOTICE")
TRY_OUT = "import subconscious.cli.__main__, subconscious.daemon.__main__"
TRY_MODEL = "from subconscious.embeddings.embedder import open_embedder; open_embedder('local').embed(['a'])"
LONGEST_SHEBANG = 120
"""The most characters of a path after `#!`; systems cut it at 127 or more."""
FACE = """import sys
from subconscious.cli.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""
SWEEP_SECONDS = 86_400
MARKS = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")
"""Variables that the client sets for the commands of its model."""


class Maker:
    """Creates one environment, under the lock.

    Python and uv are looked up on ``path``, by default this process's own PATH.
    """

    def __init__(self, home: str, lock: int, report: Callable[[str], None], path: str | None = None) -> None:
        self.path = os.environ.get("PATH", os.defpath) if path is None else path
        self.home = home
        self.folder = os.path.join(home, "env")
        self.lock = lock
        self.report = report

    def make(self) -> str:
        """Create the environment, make it the current one, return its path. Raises MakingError, after recording it."""
        try:
            environment = self._make()
        except MakingError as error:
            self._note_failure(error)
            raise
        except (OSError, subprocess.SubprocessError) as error:
            failed = MakingError(str(error), f"See {self._log}.")
            self._note_failure(failed)
            raise failed from error
        self._forget_failures()
        return environment

    def _make(self) -> str:
        python, uv = choose_python(self.path, self._step, self._run)
        version = "{}.{}".format(*python.version)
        environment = os.path.join(self.folder, f"{fingerprint()}-{python.name}-{version}")
        self.report(f"Setting up Subconscious with Python {version} (about a minute, once) ...")
        extras = self._extras()
        shutil.rmtree(environment, ignore_errors=True)
        shared = self._share_packages(environment)
        if not shared:
            self._create(environment, python, uv)
            self.report("Installing packages ...")
            install(environment, LOCK, self._run, uv)
        self._install_code(environment)
        if not shared:
            trim(environment, lambda: self._run(python_of(environment), "-I", "-c", _trial(environment)))
        self._install_extras(environment, extras, uv)
        self._finish(environment)
        return environment

    def _extras(self) -> set[str]:
        """Return the extras of all finished environments: an update must not lose the SDK of the chosen provider."""
        return {name for path in self._whole_ones("") for name in extras_of(path)}

    def _install_extras(self, environment: str, names: set[str], uv: str | None) -> None:
        """Install the extras that were not linked from another environment; a failed one is installed when needed."""
        for name in sorted(names):
            try:
                lock = extra_lock(ROOT, name)
                if not _same_content(os.path.join(environment, f"{PACKAGES}-{name}"), lock):
                    install(environment, lock, self._run, uv, name)
            except (MakingError, OSError, subprocess.SubprocessError):
                continue

    def _create(self, environment: str, python: Interpreter, uv: str | None) -> None:
        """Create the bare environment."""
        if uv:
            self._run(uv, "venv", "--quiet", "--no-project", "--python", python.path, environment)
        else:
            self._run(python.path, "-I", "-m", "venv", "--without-pip", environment)

    def _share_packages(self, environment: str) -> bool:
        """Link the packages of an environment that was made from the same lock file; return whether there is one.

        Installing replaces files and never writes into them, so each environment keeps its own code.
        """
        suffix = environment[len(os.path.join(self.folder, fingerprint())) :]
        donor = next(
            (path for path in self._whole_ones(suffix) if _same_content(os.path.join(path, PACKAGES), LOCK)), ""
        )
        if not donor:
            return False
        try:
            shutil.copytree(donor, environment, symlinks=True, copy_function=_link, ignore=NOT_SHARED)
        except (OSError, shutil.Error):  # a file system without links, or an environment that is being removed
            shutil.rmtree(environment, ignore_errors=True)
            return False
        return True

    def _whole_ones(self, suffix: str) -> list[str]:
        """Return the finished environments whose name ends with ``suffix``, latest first."""
        found = [entry.path for entry in os.scandir(self.folder) if entry.is_dir(follow_symlinks=False)]
        whole = [path for path in found if path.endswith(suffix) and is_whole(path)]
        return sorted(whole, key=os.path.getmtime, reverse=True)

    def _install_code(self, environment: str) -> None:
        """Copy the code to the place where a wheel would install it, and write the ``subconscious`` command."""
        package = os.path.join(site_packages(environment), "subconscious")
        _copy(os.path.join(ROOT, "subconscious"), package)
        for name in CODE:
            _copy(os.path.join(ROOT, name), os.path.join(package, name))
        for name in LICENCES:
            if os.path.exists(os.path.join(ROOT, name)):
                shutil.copyfile(os.path.join(ROOT, name), os.path.join(package, name))
        self._write_command(environment)

    def _write_command(self, environment: str) -> None:
        face, python = os.path.join(environment, "bin", "subconscious"), python_of(environment)
        # A `#!` line can contain neither a long path nor one with blanks. Then a shell runs the second line, which is a
        # string to Python.
        plain = len(python) < LONGEST_SHEBANG and not any(sign.isspace() for sign in python)
        first = f"#!{python}\n" if plain else f'#!/bin/sh\n"exec" "{python}" "$0" "$@"\n'
        if os.path.lexists(face):
            os.unlink(face)  # it may be a hard link to the command of another environment
        with open(face, "w", encoding="utf-8") as file:
            file.write(first + FACE)
        os.chmod(face, 0o700)

    def _finish(self, environment: str) -> None:
        self.report("Checking ...")
        self._run(python_of(environment), "-I", "-c", TRY_OUT)
        os.sync()  # A power failure must not leave the completion mark on files that never reached the disk.
        with open(os.path.join(environment, ".complete"), "w", encoding="utf-8") as marker:
            marker.write(VERSION + "\n")
        switch_to(self.home, environment)
        self._write_launcher()
        self._sweep(environment)

    def _write_launcher(self) -> None:
        """Write the user's ``subconscious`` command into the state folder, because updates move the plugin's folder."""
        launcher = os.path.join(self.home, "bin", "subconscious")
        os.makedirs(os.path.dirname(launcher), mode=0o700, exist_ok=True)
        current = os.path.join(self.folder, "current", "bin")
        face = f"{shlex.quote(os.path.join(current, 'python'))} -I {shlex.quote(os.path.join(current, 'subconscious'))}"
        default = f'[ "$SUBCONSCIOUS_HOME" ] || SUBCONSCIOUS_HOME={shlex.quote(self.home)}'
        with open(launcher + ".tmp", "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n{default}\nexport SUBCONSCIOUS_HOME\nexec {face} "$@"\n')
        os.chmod(launcher + ".tmp", 0o700)
        os.replace(launcher + ".tmp", launcher)

    def _sweep(self, environment: str) -> None:
        """Remove environments that are a day old and that no process uses."""
        # -ww: a COLUMNS variable would cut the lines in which our paths are searched.
        command = ["ps", "-A", "-ww", "-o", "args="]
        try:
            running = subprocess.run(
                command, capture_output=True, text=True, check=True, env={"PATH": self.path}
            ).stdout
        except (OSError, subprocess.SubprocessError):
            return  # Without `ps`, no environment is known to be unused.
        for entry in os.scandir(self.folder):
            old = entry.is_dir(follow_symlinks=False) and time.time() - entry.stat().st_mtime > SWEEP_SECONDS
            if old and entry.path != environment and entry.path not in running:
                shutil.rmtree(entry.path, ignore_errors=True)

    def _run(self, *command: str) -> str:
        """Run a step, log its output, and return its stdout."""
        step = self._step(*command)
        with os.fdopen(open_log(self._log), "a", encoding="utf-8", errors="replace") as log:
            log.write(f"$ {shlex.join(command)}\n{step.stdout}{step.stderr}")
        if step.returncode:
            raise MakingError(_last_error(step), f"See {self._log}, then run: {ROOT}/bin/subconscious status")
        return step.stdout

    def _step(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            cwd=self.folder,
            env={**environ_to_install(), "PATH": self.path},
            # The step inherits our lock: if we are killed, no other process builds while it still writes.
            pass_fds=(self.lock,),
            timeout=STEP_SECONDS,
            check=False,
        )

    @property
    def _log(self) -> str:
        return os.path.join(self.home, "log", "environment.log")

    def _note_failure(self, error: MakingError) -> None:
        earlier = read_failure(self.home)
        failure = {
            "fingerprint": fingerprint(),
            "reason": error.reason,
            "remedy": error.remedy,
            "time": time.time(),
            "attempts": earlier["attempts"] + 1 if earlier else 1,
        }
        with open(os.path.join(self.folder, "failure.tmp"), "w", encoding="utf-8") as file:
            json.dump(failure, file)
        os.replace(file.name, os.path.join(self.folder, "failure"))

    def _forget_failures(self) -> None:
        """Remove the records of failures and of shown messages, so that a new failure is shown again."""
        run = os.path.join(self.home, "run")
        for path in [os.path.join(run, name) for name in os.listdir(run) if name.startswith("told-")]:
            os.unlink(path)
        if os.path.exists(os.path.join(self.folder, "failure")):
            os.unlink(os.path.join(self.folder, "failure"))


def make_behind(home: str) -> None:
    """Create the environment in the background, then start the daemon; do nothing if another process creates it."""
    os.umask(0o077)
    with locked(home, wait=False) as lock:
        if lock is None:
            return
        hold_cap_if_stuck(home)
        environment = find_environment(home)
        if environment is None and not must_wait(read_failure(home)):
            environment = Maker(home, lock, report=lambda _: None, path=safe_path()).make()
    if environment:
        start_daemon(home, environment)


def make_in_sight(home: str) -> str:
    """Return the environment; create it if needed, even just after a failure, with messages for a person.

    Exits with the reason and the remedy if that fails.
    """
    os.umask(0o077)
    with locked(home, wait=True) as lock:
        environment = find_environment(home)
        if environment is None and lock is not None:
            try:
                environment = Maker(home, lock, _print_status, _path_in_sight()).make()
            except MakingError as error:
                sys.exit(f"subconscious: can't set up: {error.reason}\n{error.remedy}")
    return str(environment)


def _path_in_sight() -> str | None:
    """Return the PATH on which Python is looked up: inside the client the safe PATH, else None (the user's own PATH).

    A session must not choose the programs that are run.
    """
    return safe_path() if any(os.environ.get(mark) for mark in MARKS) else None


def _print_status(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def locked(home: str, wait: bool) -> Iterator[int | None]:
    """Take the lock and yield its descriptor; yield None if another process has it and ``wait`` is false."""
    for folder in ("env", "run", "log"):
        os.makedirs(os.path.join(home, folder), mode=0o700, exist_ok=True)
    lock = os.open(os.path.join(home, "env", "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield lock if _take(lock, wait) else None
    finally:
        os.close(lock)


def _take(lock: int, wait: bool) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            return False
        _print_status("Subconscious is being set up by another process; waiting for it ...")
        fcntl.flock(lock, fcntl.LOCK_EX)
    return True


def _same_content(one: str, other: str) -> bool:
    try:
        with open(one, "rb") as first, open(other, "rb") as second:
            return first.read() == second.read()
    except OSError:
        return False


def _trial(environment: str) -> str:
    """Return code that imports what a session needs, and loads the local model if its runtime is installed."""
    has_model = os.path.isdir(os.path.join(site_packages(environment), "onnxruntime"))
    return f"{TRY_OUT}; {TRY_MODEL}" if has_model else TRY_OUT


def _link(source: str, target: str) -> str:
    os.link(source, target, follow_symlinks=False)
    return target


def _copy(source: str, target: str) -> None:
    """Copy a folder's content without its modes: a plugin's folder may be read-only, but the copy must be writable."""
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name != "__pycache__"]
        twin = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(twin, exist_ok=True)
        for name in files:
            shutil.copyfile(os.path.join(folder, name), os.path.join(twin, name))


def _last_error(step: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (step.stdout + step.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or [f"{step.args[0]} ended with {step.returncode}"])[-1]
