"""Runs Git to read the objects of a repository, without letting the repository control Git.

Git starts programs that a repository's configuration names: to fetch missing objects, check signatures, filter or page.
Here Git never reads that configuration: it runs in an empty temporary Git folder that refers only to the repository's
objects, and only if this user owns the repository, as Git itself requires (`safe.directory`).
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL
from time import monotonic
from typing import IO

from subconscious.system.git_files import Repository, file_text, is_commit_id
from subconscious.system.ownership import is_ours
from subconscious.system.programs import find_program, safe_path

LARGEST_ANSWER = 64 << 20

OPTIONS = {
    "core.alternateRefsCommand": "false",
    "core.askPass": "",
    "core.attributesFile": "/dev/null",
    "core.bare": "true",
    "core.excludesFile": "/dev/null",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "log.mailmap": "false",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
}
"""Options that keep Git from starting programs and using the network, in case it still finds a configuration."""


def ask_git(repository: Repository, seconds: float, *words: str) -> str:
    """Return the output of a Git command; "" if it is not allowed to run, fails, writes too much or takes too long."""
    program = find_program("git")
    if not program or not may_run_on(repository):
        return ""
    try:
        with empty_repository(repository) as folder:
            options = [part for name, value in OPTIONS.items() for part in ("-c", f"{name}={value}")]
            command = [program, "--no-pager", "--git-dir", str(folder), *options, *words]
            return _output(command, environment_of(repository, folder), folder, seconds)
    except OSError:
        return ""


def may_run_on(repository: Repository) -> bool:
    """Whether this user owns everything that Git would read, and no other user can write to it."""
    git_link = repository.worktree / ".git"
    paths = (repository.worktree, git_link, repository.git_dir, repository.common, repository.common / "objects")
    return all(is_ours(path) for path in paths)


@contextmanager
def empty_repository(repository: Repository) -> Iterator[Path]:
    """Yield a temporary Git folder without refs, hooks, attributes, grafts or configuration.

    The folder has the object format of ``repository`` and, if that is a shallow clone, the list of the commits at which
    its history is cut off.
    """
    folder = Path(tempfile.mkdtemp(prefix="subconscious-git-"))
    try:
        (folder / "refs").mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        name = "sha256" if repository.is_sha256 else "sha1"
        format_of = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = "
        (folder / "config").write_text(f"{format_of}{name}\n" if name == "sha256" else "")
        _keep_shallow(repository, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _keep_shallow(repository: Repository, folder: Path) -> None:
    """Copy a shallow clone's list of commits whose parents are missing; without it Git would report an error."""
    commits = [line for line in file_text(repository.common / "shallow").splitlines() if is_commit_id(line)]
    if commits:
        (folder / "shallow").write_text("".join(f"{commit}\n" for commit in commits))


def environment_of(repository: Repository, folder: Path) -> dict[str, str]:
    """Return an environment in which Git finds the objects of a repository, and no configuration."""
    return {
        "PATH": safe_path(),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "LC_ALL": "C",
        "GIT_OBJECT_DIRECTORY": str(repository.common / "objects"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "SSH_ASKPASS": "false",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def _output(command: list[str], environment: dict[str, str], folder: Path, seconds: float) -> str:
    said = output_of(command, environment, folder, seconds)
    return said.decode("utf-8", "surrogateescape") if said else ""


def output_of(
    command: list[str], environment: dict[str, str], folder: Path, seconds: float, stdin: int | IO[bytes] = DEVNULL
) -> bytes | None:
    """Run a command in its own process group, so that its child processes are killed with it.

    Returns the output; None if the command fails, writes too much or takes too long.
    """
    until = monotonic() + seconds
    with subprocess.Popen(  # noqa: S603 - the program and its options are our own
        command,
        cwd=folder,
        env=environment,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            output = _read(process, until)
            process.wait(max(0.0, until - monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            output = b""
            _kill_group(process.pid)  # the process was not waited for, so its id can't have been reused
        except BaseException:  # also on interruption: Git and its children would go on running
            _kill_group(process.pid)
            raise
    return output if process.returncode == 0 else None


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _read(process: subprocess.Popen[bytes], until: float) -> bytes:
    """Return all output of a process. Raises TimeoutError if it takes too long or writes too much."""
    assert process.stdout is not None  # noqa: S101 - stdout is a pipe
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, until - monotonic())) or len(output) > LARGEST_ANSWER:
                raise TimeoutError
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                return bytes(output)
            output += part
