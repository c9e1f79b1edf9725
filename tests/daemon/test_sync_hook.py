"""`subconscious sync` in hooks of Git that the user installs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.hostile.git import git
from subconscious.settings.home import Home
from subconscious.sharing.hooks import BEGIN, MOMENTS, lines_of, with_lines, without_lines
from tests.daemon.test_sharing import CENTS, Clone, clone, origin
from tests.support import terminal

__all__ = ["clone", "origin"]

OWN_HOOK = '#!/usr/bin/env bash\nset -e\necho "checking $1" >> .git/checked\nexit 0\n'


def hooks_of(one: Clone) -> dict[str, str]:
    """The hooks of a clone, without Git's samples."""
    paths = (one.folder / ".git" / "hooks").iterdir()
    return {path.name: path.read_text() for path in paths if path.suffix != ".sample"}


def in_terminal(one: Clone, *words: str) -> str:
    """What a command of Git shows in a terminal of this person; it must succeed."""
    code, shown = terminal.run(["git", *words], one.home, one.folder)
    assert code == 0, shown
    return " ".join(shown.split())


@pytest.fixture
def person(clone: Callable[[str], Clone]) -> Callable[[str], Clone]:
    """Makes clones of people who have the command where the plugin puts it."""

    def make(name: str) -> Clone:
        one = clone(name)
        launcher = one.home.root / "bin" / "subconscious"
        launcher.parent.mkdir()
        launcher.write_text(f"#!/bin/sh\nPYTHONPATH='{terminal.ROOT}' exec '{sys.executable}' -P -m cli \"$@\"\n")
        launcher.chmod(0o755)
        return one

    return make


@pytest.mark.timeout(180)
def test_pushing_and_pulling_exchanges_memories(person: Callable[[str], Clone]) -> None:
    ann, ben = person("ann"), person("ben")
    for one in (ann, ben):
        shown = one.run("sync", "--install-hook", "--yes")
        assert "pre-push is new" in " ".join(shown.split())
        assert set(hooks_of(one)) == set(MOMENTS)
    ann.share(CENTS)
    (ann.folder / "README").write_text("a shop\n")
    git(ann.folder, "commit", "-qam", "Say what it is")
    assert "subconscious: 1 change sent" in in_terminal(ann, "push", "origin", "HEAD:main")
    assert "subconscious: 1 to review (subconscious review)" in in_terminal(ben, "pull", "origin", "main")
    assert [one["content"] for one in ben.captures()] == [CENTS]
    assert "subconscious" not in in_terminal(ben, "push", "origin", "HEAD:other"), "nothing new, nothing said"
    git(ben.folder, "remote", "add", "fork", str(ann.folder))
    ben.share("The build needs Java 21.")
    assert "subconscious" not in in_terminal(ben, "push", "fork", "HEAD:refs/heads/ben"), "another remote"
    ann.run("sync", "--remove-hook", "--yes")
    assert hooks_of(ann) == {}


def test_the_models_pushes_send_nothing(person: Callable[[str], Clone]) -> None:
    ann = person("ann")
    ann.run("sync", "--install-hook", "--yes")
    ann.share(CENTS)
    environment = terminal.environment(ann.home) | {"CLAUDECODE": "1"}
    push = ["git", "push", "origin", "HEAD:other"]
    done = subprocess.run(push, cwd=ann.folder, env=environment, capture_output=True, text=True, check=True)
    assert "subconscious" not in done.stdout + done.stderr
    assert ann.in_git() == {}


def test_a_hook_fails_no_push(person: Callable[[str], Clone]) -> None:
    ann = person("ann")
    ann.run("sync", "--install-hook", "--yes")
    ann.share(CENTS)
    (ann.folder / ".git" / "reftable").mkdir()
    assert "subconscious: not synced: this repository keeps" in in_terminal(ann, "push", "origin", "HEAD:other")
    (ann.folder / ".git" / "reftable").rmdir()
    (ann.home.root / "bin" / "subconscious").unlink()
    assert "subconscious" not in in_terminal(ann, "push", "origin", "HEAD:another"), "after an uninstall"


def test_a_hook_ends_in_time() -> None:
    script = "import time; from cli import sync_hook as h; h.SECONDS = 1; h.run(lambda: time.sleep(50) or '')"
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=terminal.ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert "not synced: it took more than 1 seconds" in done.stderr


def test_hooks_of_the_user_run_and_come_back_as_they_were(person: Callable[[str], Clone]) -> None:
    ann = person("ann")
    own = ann.folder / ".git" / "hooks" / "pre-push"
    own.write_text(OWN_HOOK)
    own.chmod(0o750)
    shown = ann.run("sync", "--install-hook", "--yes")
    assert "pre-push changes" in " ".join(shown.split())
    assert "already" in ann.run("sync", "--install-hook", "--yes")
    ann.share(CENTS)
    assert "1 change sent" in in_terminal(ann, "push", "origin", "HEAD:other")
    assert (ann.folder / ".git" / "checked").read_text() == "checking origin\n"
    assert own.stat().st_mode & 0o777 == 0o750
    ann.run("sync", "--remove-hook", "--yes")
    assert hooks_of(ann) == {"pre-push": OWN_HOOK}
    assert "No hook runs" in ann.run("sync", "--remove-hook")


def a_python_script(hook: Path) -> None:
    hook.write_text("#!/usr/bin/env python3\nprint('x')\n")


def a_link(hook: Path) -> None:
    hook.symlink_to("/etc/profile")


def one_of_another_tool(hook: Path) -> None:
    hook.write_text("#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n")


def a_folder_of_its_own(hook: Path) -> None:
    git(hook.parents[2], "config", "core.hooksPath", ".husky")


def a_fifo(hook: Path) -> None:
    subprocess.run(["mkfifo", str(hook)], check=True)


@pytest.mark.parametrize("obstacle", [a_python_script, a_link, one_of_another_tool, a_folder_of_its_own, a_fifo])
def test_hooks_that_are_kept_otherwise_stay_as_they_are(
    person: Callable[[str], Clone], obstacle: Callable[[Path], None]
) -> None:
    ann = person("ann")
    hook = ann.folder / ".git" / "hooks" / "pre-push"
    obstacle(hook)
    shown = " ".join(ann.run("sync", "--install-hook", "--yes", code=1).split())
    assert "add `subconscious sync`" in shown
    assert not (hook.parent / "post-merge").exists()
    assert not hook.is_file() or BEGIN not in hook.read_text()


def test_it_asks_before_it_writes(person: Callable[[str], Clone]) -> None:
    ann = person("ann")
    with terminal.Terminal(
        [sys.executable, "-m", "cli", "sync", "--install-hook"], terminal.environment(ann.home), ann.folder
    ) as window:
        window.await_text("Write this?")
        assert BEGIN in window.shown
        window.press("n\n")
        window.end()
    assert hooks_of(ann) == {}


@given(st.sampled_from(["#!/bin/sh\n", "#!/usr/bin/env bash\n"]), st.text(), st.sampled_from(sorted(MOMENTS)))
def test_a_hooks_own_text_comes_back(first: str, rest: str, moment: str) -> None:
    lines = lines_of(Home(Path("/tmp/it's mine")), moment, "a remote")
    once = with_lines(first + rest, lines)
    assert without_lines(once) == first + rest
    assert with_lines(once, lines) == once
    assert subprocess.run(["/bin/sh", "-n"], input=lines, text=True, check=False).returncode == 0
