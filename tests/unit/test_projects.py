from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from subconscious.store import memories
from subconscious.store.connect import Database
from subconscious.store.projects import confirm, find_or_create, lost, move, project_at
from subconscious.system import git_command
from subconscious.system.projects import Identity, head, identify
from tests.support.values import make_memory


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    git(made, "init", "-q")
    (made / "a").write_text("a")
    git(made, "add", "a")
    git(made, "commit", "-qm", "first")
    return made


def test_a_folder_outside_of_git_is_itself(tmp_path: Path) -> None:
    found = identify(str(tmp_path), 5)
    assert (found.root, found.git, found.first_commit) == (str(tmp_path), False, "")


def test_subfolders_and_worktrees_share_the_repository(repository: Path) -> None:
    (repository / "sub").mkdir()
    git(repository, "worktree", "add", "-q", "../tree", "-b", "other")
    roots = {identify(str(place), 5).root for place in (repository, repository / "sub", repository.parent / "tree")}
    assert roots == {str(repository)}


def test_branch_and_commit_are_read_without_a_process(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "../tree", "-b", "feature/x")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True)
    assert head(str(repository)) == ("main", commit.stdout.strip())
    assert head(str(repository.parent / "tree")) == ("feature/x", commit.stdout.strip())
    git(repository, "pack-refs", "--all")
    assert head(str(repository)) == ("main", commit.stdout.strip())


def test_a_detached_head_has_a_commit_and_no_branch(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    branch, commit = head(str(repository))
    assert (branch, len(commit)) == ("", 40)


def test_remotes_are_compared_without_scheme_user_or_secret(repository: Path) -> None:
    git(repository, "remote", "add", "origin", "https://me:secret@example.org/a/B.git")
    over_https = identify(str(repository), 5).remote
    git(repository, "remote", "set-url", "origin", "git@example.org:a/B.git")
    assert over_https == identify(str(repository), 5).remote == "example.org/a/b"


def test_no_git_program_is_no_error(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_command, "find_program", lambda _: "")
    assert identify(str(repository), 5).first_commit == ""


async def test_a_moved_checkout_is_found_again(repository: Path, database: Database) -> None:
    before = await find_or_create(database, identify(str(repository), 5))
    moved = repository.rename(repository.parent / "moved")
    after = await find_or_create(database, identify(str(moved), 5))
    assert after.id == before.id


async def test_a_new_repository_where_another_one_was_is_another_project(
    repository: Path, database: Database, tmp_path: Path
) -> None:
    before = await find_or_create(database, identify(str(repository), 5))
    moved = repository.rename(repository.parent / "moved")
    await find_or_create(database, identify(str(moved), 5))
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "b").write_text("b")
    git(repository, "add", "b")
    git(repository, "commit", "-qm", "another first")
    assert (await confirm(database, identify(str(repository), 5), str(repository))).id != before.id


async def test_folders_of_one_repository_stay_one_project(repository: Path, database: Database) -> None:
    (repository / "sub").mkdir()
    git(repository, "worktree", "add", "-q", "../tree", "-b", "other")
    link = repository.parent / "link"
    link.symlink_to(repository)
    places = [repository, repository / "sub", repository.parent / "tree", link]
    for place in places:
        await find_or_create(database, identify(str(place), 5), str(place))
    met = {(await project_at(database, str(place)) or pytest.fail(f"{place} is unknown")).id for place in places}
    assert len(met) == 1


async def test_an_unrelated_repository_at_a_used_path_is_another_project(repository: Path, database: Database) -> None:
    git(repository, "remote", "add", "origin", "https://example.org/a.git")
    before = await find_or_create(database, identify(str(repository), 5))
    shutil.rmtree(repository)
    repository.mkdir()
    git(repository, "init", "-q")
    git(repository, "remote", "add", "origin", "https://example.org/b.git")
    git(repository, "commit", "-qm", "another first", "--allow-empty")
    assert (await confirm(database, identify(str(repository), 5), str(repository))).id != before.id


async def test_a_rewritten_history_is_the_same_project(repository: Path, database: Database) -> None:
    before = await find_or_create(database, identify(str(repository), 5))
    git(repository, "commit", "-q", "--amend", "-m", "a better first")
    assert (await confirm(database, identify(str(repository), 5), str(repository))).id == before.id


async def test_two_clones_of_one_remote_share_memory_and_forks_do_not(repository: Path, database: Database) -> None:
    git(repository, "remote", "add", "origin", "https://example.org/a.git")
    first = await find_or_create(database, identify(str(repository), 5))
    git(repository.parent, "clone", "-q", str(repository), "clone")
    clone = repository.parent / "clone"
    git(clone, "remote", "set-url", "origin", "ssh://git@example.org/a.git")
    assert (await find_or_create(database, identify(str(clone), 5))).id == first.id
    git(repository.parent, "clone", "-q", str(repository), "fork")
    fork = repository.parent / "fork"
    git(fork, "remote", "set-url", "origin", "https://example.org/fork.git")
    assert (await find_or_create(database, identify(str(fork), 5))).id != first.id


async def test_a_renamed_folder_takes_over_a_missing_project(database: Database, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    known = await find_or_create(database, identify(str(old), 5))
    async with database.write() as tx:
        await memories.insert(tx, make_memory("Amounts are cents.", project_id=known.id))
    new = await find_or_create(database, identify(str(tmp_path), 5))
    assert await lost(database, new) == [], "its folder is still there"
    old.rename(tmp_path / "new")
    new = await find_or_create(database, identify(str(tmp_path / "new"), 5))
    assert [(one.project.id, one.memories) for one in await lost(database, new)] == [(known.id, 1)]
    await move(database, known, new)
    found = await find_or_create(database, identify(str(tmp_path / "new"), 5))
    assert (found.id, found.root) == (known.id, str(tmp_path / "new"))
    assert await lost(database, found) == []


async def test_a_repository_is_no_renamed_folder(database: Database, repository: Path, tmp_path: Path) -> None:
    gone = await find_or_create(database, Identity(root=str(tmp_path / "gone"), name="gone"))
    async with database.write() as tx:
        await memories.insert(tx, make_memory("Amounts are cents.", project_id=gone.id))
    assert await lost(database, await find_or_create(database, identify(str(repository), 5))) == []
