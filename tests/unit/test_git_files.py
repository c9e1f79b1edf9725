"""Reading a repository without Git gives what the real Git says of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.hostile.git import git, make_repository
from subconscious.system.git_files import Repository, _index_paths, find_repository, is_ref
from subconscious.system.projects import Checkout, has_commit, head, identify, latest_commits

MOST = 1000


def found(folder: Path) -> Repository:
    repository = find_repository(folder)
    assert repository is not None
    return repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop")


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_the_index_has_the_files_of_git_ls_files(tmp_path: Path, version: str, object_format: str) -> None:
    folder = make_repository(tmp_path / "shop", f"--object-format={object_format}")
    git(folder, "config", "index.version", version)
    for name in ("src/worker_of_a_long_name.py", "src/worker.txt", "a", "ä b", "x" * 200, "src/deep/er/one"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    git(folder, "add", ".")
    (folder / "later").write_text("")
    git(folder, "add", "--intent-to-add", "later")  # such an entry makes a version 2 a version 3
    git(folder, "update-index", "--index-version", version)
    expected = [path for path in git(folder, "ls-files", "-z").split("\0") if path]
    assert found(folder).tracked(MOST) == expected
    assert found(folder).tracked(2) == expected[:2]


def test_a_conflicted_path_is_named_once(repository: Path) -> None:
    git(repository, "checkout", "-qb", "other", "HEAD~1")
    (repository / "src" / "worker.py").write_text("third")
    git(repository, "commit", "-qam", "third")
    with pytest.raises(Exception, match="merge"):
        git(repository, "merge", "main")
    assert found(repository).tracked(MOST) == ["src/worker.py"]


def test_folders_of_a_sparse_index_are_left_out(repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "page").write_text("")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "docs")
    git(repository, "sparse-checkout", "set", "--cone", "--sparse-index", "src")
    assert found(repository).tracked(MOST) == ["src/worker.py"]


def test_a_split_index_has_no_answer(repository: Path) -> None:
    git(repository, "update-index", "--split-index")
    (repository / "more").write_text("")
    git(repository, "add", "more")
    assert found(repository).tracked(MOST) == []


@given(st.binary(max_size=400), st.integers(2, 4), st.integers(0, 50))
def test_any_bytes_make_an_index_or_an_error(rest: bytes, version: int, count: int) -> None:
    raw = b"DIRC" + version.to_bytes(4, "big") + count.to_bytes(4, "big") + rest
    try:
        paths = list(_index_paths(raw, 20, MOST))
    except (ValueError, IndexError):
        return
    assert len(paths) <= count


def test_a_repository_of_sha256_is_read_like_any_other(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "shop", "--object-format=sha256")
    first, last = git(folder, "rev-list", "--max-parents=0", "HEAD"), git(folder, "rev-parse", "HEAD")
    assert len(first) == 64
    assert identify(str(folder), 5).first_commit == first
    assert head(str(folder)) == ("main", last)
    assert has_commit(str(folder), first)
    checkout = Checkout.at(str(folder))
    assert checkout is not None
    assert checkout.committed_at("src/worker.py", 0.0) == float(git(folder, "log", "-1", "--format=%ct"))
    assert checkout.has_merged("gone", first)


def test_a_shallow_clone_has_a_history(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "clone")
    checkout = Checkout.at(str(tmp_path / "clone"))
    assert checkout is not None
    assert checkout.committed_at("src/worker.py", 0.0) > 0
    assert identify(str(tmp_path / "clone"), 5).first_commit == git(repository, "rev-parse", "HEAD")


def test_a_clone_with_borrowed_objects_has_its_history(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(repository), "clone")
    first = git(repository, "rev-list", "--max-parents=0", "HEAD")
    assert identify(str(tmp_path / "clone"), 5).first_commit == first


def test_symbolic_refs_are_followed_and_loops_end(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    assert found(repository).resolve("refs/heads/alias") == commit
    git(repository, "pack-refs", "--all")
    assert found(repository).resolve("refs/heads/alias") == commit
    refs = repository / ".git" / "refs" / "heads"
    (refs / "one").write_text("ref: refs/heads/two\n")
    (refs / "two").write_text("ref: refs/heads/one\n")
    assert found(repository).resolve("refs/heads/one") == ""


def test_refs_in_a_reftable_have_no_answer(repository: Path) -> None:
    (repository / ".git" / "reftable").mkdir()
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert head(str(repository)) == ("", "")
    assert identify(str(repository), 5).first_commit == ""


@pytest.mark.parametrize(
    "name", ["refs/../x", "refs/heads/a b", "refs/heads/a\nb", "HEAD", "/etc/passwd", "refs/heads/a.lock", "refs//x"]
)
def test_what_git_would_not_accept_is_no_ref(name: str) -> None:
    assert not is_ref(name)
    assert is_ref("refs/heads/feature/größe-1.0")


@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs", "index", "shallow", "refs/heads/main", "logs/HEAD"])
def test_a_pipe_instead_of_a_file_does_not_block(repository: Path, name: str) -> None:
    place = repository / ".git" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    identify(str(repository), 5)
    head(str(repository))
    latest_commits(str(repository))
    checkout = Checkout.at(str(repository))
    assert checkout is not None
    assert checkout.find("nowhere.py") == ""


def test_submodules_and_separate_git_folders_are_found(repository: Path, tmp_path: Path) -> None:
    outer = make_repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "parts/shop")
    inner = found(outer / "parts" / "shop")
    assert inner.common == outer / ".git" / "modules" / "parts" / "shop"
    assert inner.head()[1] == git(repository, "rev-parse", "HEAD")
    apart = tmp_path / "apart"
    apart.mkdir()
    git(apart, "init", "-q", "--separate-git-dir", str(tmp_path / "elsewhere.git"))
    assert found(apart).common == tmp_path / "elsewhere.git"


def test_a_worktree_has_its_own_head_and_index(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "worktree", "add", "-q", "../tree", "-b", "other", "HEAD~1")
    tree = tmp_path / "tree"
    (tree / "mine").write_text("")
    git(tree, "add", "mine")
    assert found(tree).root == repository
    assert found(tree).head() == ("other", git(tree, "rev-parse", "HEAD"))
    assert "mine" in found(tree).tracked(MOST)
    assert "mine" not in found(repository).tracked(MOST)


def test_an_unregistered_worktree_is_a_plain_folder(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "../tree", "-b", "other")
    copied = tmp_path / "copied"
    shutil.copytree(tmp_path / "tree", copied)
    assert find_repository(copied) is None
    assert identify(str(copied), 5).root == str(copied)
