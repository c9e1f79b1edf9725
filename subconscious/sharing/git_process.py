"""Runs Git on the objects of a repository, without loading the repository's configuration.

Git runs in an empty temporary repository (`subconscious.system.git_command`). Only ``on_network`` reaches the network;
it loads the user's own configuration.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from subconscious.domain.errors import RequestError
from subconscious.system.git_command import OPTIONS, environment_of, output_of
from subconscious.system.git_files import Repository

SECONDS, NETWORK_SECONDS = 60.0, 300.0

NETWORK_OPTIONS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "push.followTags": "false",
    "push.recurseSubmodules": "no",
}
PROTOCOLS = "file:git:http:https:ssh"
KEPT_OF_GIT = frozenset(
    "GIT_ASKPASS GIT_AUTHOR_EMAIL GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_NAME GIT_CONFIG_GLOBAL"
    " GIT_CONFIG_NOSYSTEM GIT_SSH GIT_SSH_COMMAND GIT_TERMINAL_PROMPT".split()
)
"""Variables that Git receives: they configure connections and the user's identity. Other GIT_ variables are removed."""


class GitError(RequestError):
    """Git failed, but the same command may succeed later."""


class GitProcess:
    """Runs Git in ``folder``, an empty repository that uses the objects of ``repository``."""

    def __init__(self, repository: Repository, program: str, folder: Path) -> None:
        self.repository = repository
        self.folder = folder
        self._program = program

    def run(self, *words: str, stdin: bytes = b"", as_user: bool = False) -> bytes:
        """Return the output of a Git command; ``as_user`` loads the user's own configuration.

        Raises GitError if the command fails.
        """
        environment = self._user_environment() if as_user else environment_of(self.repository, self.folder)
        command = self._command(words, NETWORK_OPTIONS | self._identity() if as_user else OPTIONS)
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            said = output_of(command, environment, self.folder, SECONDS, file)
        if said is None:
            remedy = (
                "if Git does not know who you are, run `git config --global user.email YOU@EXAMPLE.COM`"
                if as_user
                else "run `git fsck` to check the repository"
            )
            raise GitError(f"git {words[0]} failed", remedy)
        return said

    def signs_commits(self) -> bool:
        """Whether signed commits are required by the repository's configuration; failing that, by the user's.

        The repository's configuration files are parsed here, not loaded by Git, because they could make Git run
        commands.
        """
        if own := self.repository.config("commit", "gpgsign"):
            return own[-1].lower() in ("true", "yes", "on", "1")
        command = self._command(("config", "--type=bool", "--get", "commit.gpgSign"))
        return output_of(command, self._user_environment(), self.folder, SECONDS) == b"true\n"

    def hooks_path(self) -> str:
        """Return core.hooksPath of the repository's configuration; failing that, of the user's; failing that, ""."""
        if own := self.repository.config("core", "hookspath"):
            return own[-1]
        command = self._command(("config", "--get", "core.hooksPath"))
        return (output_of(command, self._user_environment(), self.folder, SECONDS) or b"").decode().strip()

    def _command(self, words: Sequence[str], options: Mapping[str, str] | None = None) -> list[str]:
        set_to = [part for name, value in (options or {}).items() for part in ("-c", f"{name}={value}")]
        return [self._program, "--no-pager", "--git-dir", str(self.folder), *set_to, *words]

    def _identity(self) -> dict[str, str]:
        """Return user.name and user.email of the repository's configuration, without those that it does not set."""
        found = {f"user.{key}": self.repository.config("user", key)[-1:] for key in ("name", "email")}
        return {name: value[0] for name, value in found.items() if value}

    def _user_environment(self) -> dict[str, str]:
        """Return the environment for Git: variables of this process, so that Git finds the user's keys, and new ones.

        The new variables name the repository's objects and restrict Git. ``GIT_`` variables of this process are left
        out, except those in ``KEPT_OF_GIT``.
        """
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in KEPT_OF_GIT}
        return kept | {
            "GIT_OBJECT_DIRECTORY": str(self.repository.common / "objects"),
            "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
        }

    def on_network(self, *words: str) -> str:
        """Run a Git command that uses the network; return its output if it fails, "" if it succeeds.

        Git stays connected to this terminal, so that ssh and helpers can ask for a password.
        """
        command = self._command(words, NETWORK_OPTIONS)
        environment = self._user_environment() | {"LC_ALL": "C"}
        try:
            done = subprocess.run(  # noqa: S603 - a program and options of ours
                command, cwd=self.folder, env=environment, capture_output=True, timeout=NETWORK_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "the remote took too long"
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        return (said.strip() or "unknown error") if done.returncode else ""
