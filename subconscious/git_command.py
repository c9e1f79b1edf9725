"""Asks Git about the objects of a repository, and lets no repository say how Git runs.

Git starts programs that a repository's configuration names: to fetch what is missing, to check signatures, to filter,
to page. Here it never reads that configuration. It is given an empty Git folder of our own and the path of the objects
alone, and only where this user owns the repository, as Git itself demands (`safe.directory`).
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
from time import monotonic

from subconscious.git_files import Repository, is_commit_id, text_of
from subconscious.ownership import is_ours
from subconscious.programs import find_program, safe_path

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
"""What Git would do by default already, without a configuration; stated in case it still finds one."""


def ask_git(repository: Repository, seconds: float, *words: str) -> str:
    """What Git says; "" if it must not run, fails, says too much or takes too long."""
    program = find_program("git")
    if not program or not may_run_on(repository):
        return ""
    try:
        with _empty_repository(repository) as folder:
            options = [part for name, value in OPTIONS.items() for part in ("-c", f"{name}={value}")]
            command = [program, "--no-pager", "--git-dir", str(folder), *options, *words]
            return _output(command, _environment(repository, folder), folder, seconds)
    except OSError:
        return ""


def may_run_on(repository: Repository) -> bool:
    """Whether this user owns all that Git would read, and nobody else can write to it."""
    mark = repository.worktree / ".git"
    places = (repository.worktree, mark, repository.git_dir, repository.common, repository.common / "objects")
    return all(is_ours(place) for place in places)


@contextmanager
def _empty_repository(repository: Repository) -> Iterator[Path]:
    """A Git folder without refs, hooks, attributes, grafts or configuration: nothing but the format of object ids."""
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
    """A shallow clone lists the commits whose parents it has not got; without them Git would find it broken."""
    commits = [line for line in text_of(repository.common / "shallow").splitlines() if is_commit_id(line)]
    if commits:
        (folder / "shallow").write_text("".join(f"{commit}\n" for commit in commits))


def _environment(repository: Repository, folder: Path) -> dict[str, str]:
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
    """Run a command in a session of its own, so that what it has started ends with it."""
    until = monotonic() + seconds
    with subprocess.Popen(  # noqa: S603 - a program and options of ours
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            said = _read(process, until)
            process.wait(max(0.0, until - monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            said = b""
            _kill_group(process.pid)  # nobody has waited for the process yet, so its number is still its own
        except BaseException:  # also when interrupted: Git and its children would go on running
            _kill_group(process.pid)
            raise
    return said.decode("utf-8", "surrogateescape") if process.returncode == 0 else ""


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _read(process: subprocess.Popen[bytes], until: float) -> bytes:
    """All that a process writes. Raises TimeoutError when it takes too long or writes too much."""
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    said = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, until - monotonic())) or len(said) > LARGEST_ANSWER:
                raise TimeoutError
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                return bytes(said)
            said += part
