"""What Git is asked, and on which repositories."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.hostile.git import ATTACKS, SOMEBODY_ELSE, git, give_away, make_repository, mark_of
from subconscious.system.git_command import _output, may_run_on
from subconscious.system.git_files import find_repository
from subconscious.system.projects import Checkout, has_commit, head, identify

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop")


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
@pytest.mark.slow
def test_no_repository_can_make_git_run_its_programs(tmp_path: Path, attack: Callable[[Path, str], None]) -> None:
    assert not mark_of(tmp_path, attack).exists()


def may_run(folder: Path) -> bool:
    found = find_repository(folder)
    return found is not None and may_run_on(found)


def test_git_runs_on_a_repository_of_this_user(repository: Path) -> None:
    assert may_run(repository)


@needs_root
@pytest.mark.parametrize("place", [".", ".git", ".git/objects"])
def test_git_does_not_run_in_folders_of_another_user(repository: Path, place: str) -> None:
    os.chown(repository / place, SOMEBODY_ELSE, SOMEBODY_ELSE)
    assert not may_run(repository)
    assert identify(str(repository), 5).first_commit == ""


@needs_root
def test_files_of_another_user_s_repository_are_still_read(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    give_away(repository)
    assert head(str(repository)) == ("main", commit)
    assert identify(str(repository), 5).root == str(repository)
    assert not has_commit(str(repository), commit)
    checkout = Checkout.at(str(repository))
    assert checkout is not None
    assert checkout.find("worker.py") == "src/worker.py"
    assert checkout.committed_at("src/worker.py", 0.0) == 0.0


@needs_root
def test_a_worktree_of_another_user_s_repository_gets_no_git(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "../tree", "-b", "other")
    assert may_run(tmp_path / "tree")
    give_away(repository)
    assert not may_run(tmp_path / "tree")


@pytest.mark.parametrize("place", [".", ".git", ".git/objects"])
def test_git_does_not_run_in_world_writable_folders(repository: Path, place: str) -> None:
    (repository / place).chmod(0o777)
    assert not may_run(repository)


@needs_root
def test_git_does_not_run_in_folders_writable_by_another_group(repository: Path) -> None:
    os.chown(repository / ".git", -1, SOMEBODY_ELSE)
    (repository / ".git").chmod(0o770)
    assert not may_run(repository)


def is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked up in /proc")
@pytest.mark.slow
def test_what_a_slow_command_has_started_ends_with_it(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "sleep 30 & echo $! >child; wait"]
    assert _output(command, {"PATH": "/usr/bin:/bin"}, tmp_path, 0.5) == ""
    child = int((tmp_path / "child").read_text())
    until = time.monotonic() + 30
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_running(child)


@pytest.mark.slow
def test_a_command_that_writes_without_end_is_stopped(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"]
    assert _output(command, {"PATH": "/usr/bin:/bin"}, tmp_path, 0.5) == ""
