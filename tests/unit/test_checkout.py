"""What a checkout tells of files and branches: real repositories, made by the real git."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from subconscious.system.projects import (
    Checkout,
    _reports_merge,
    head,
    is_finished,
    latest_commits,
    locate,
    path_as_given,
)


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit on main, and a branch `feature` checked out that has nothing of its own."""
    folder = tmp_path / "shop"
    (folder / "src" / "upload").mkdir(parents=True)
    (folder / "src" / "upload" / "worker.py").write_text("retries = 2\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "checkout", "-qb", "feature")
    return folder


def grow(folder: Path, name: str = "more") -> str:
    (folder / name).write_text(name)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", name)
    return git(folder, "rev-parse", "HEAD")


def merged(folder: Path, commit: str) -> bool:
    checkout = Checkout.at(str(folder))
    assert checkout is not None
    return checkout.has_merged("feature", commit) is True


def test_a_branch_without_work_of_its_own_is_not_merged(repository: Path) -> None:
    born = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "main")
    assert not merged(repository, born)
    grow(repository)
    assert not merged(repository, born)


@pytest.mark.parametrize("how", ["--no-ff", "--ff-only"])
@pytest.mark.parametrize("deleted", [False, True])
@pytest.mark.parametrize("said_first", [False, True])
def test_a_merged_branch_is_merged(repository: Path, how: str, deleted: bool, said_first: bool) -> None:
    born = git(repository, "rev-parse", "HEAD")
    commit = grow(repository)
    said_at = born if said_first else commit
    git(repository, "checkout", "-q", "main")
    assert not merged(repository, said_at)
    git(repository, "merge", "-q", how, "feature", *(["-m", "merge"] if how == "--no-ff" else []))
    if deleted:
        git(repository, "branch", "-d", "feature")
    assert merged(repository, said_at)


def has_merged(folder: Path, branch: str, commit: str) -> bool:
    checkout = Checkout.at(str(folder))
    assert checkout is not None
    return checkout.has_merged(branch, commit) is True


def cloned(repository: Path) -> Path:
    clone = repository.parent / "clone"
    git(repository.parent, "clone", "-q", str(repository), str(clone))
    return clone


def test_in_a_fresh_clone_the_trunk_holds_for_branches_made_from_it(repository: Path) -> None:
    git(repository, "checkout", "-q", "main")
    clone = cloned(repository)
    said_at = git(clone, "rev-parse", "HEAD")
    git(clone, "checkout", "-qb", "task")
    assert has_merged(clone, "main", said_at)
    git(clone, "worktree", "add", "-q", "../tree", "-b", "other")
    assert has_merged(repository.parent / "tree", "main", said_at)
    later = grow(clone, "on-task")
    git(clone, "checkout", "-q", "main")
    assert not has_merged(clone, "task", later)


def test_a_default_branch_of_any_name_is_a_trunk(repository: Path) -> None:
    git(repository, "branch", "-m", "main", "production")
    git(repository, "checkout", "-q", "production")
    clone = cloned(repository)
    said_at = git(clone, "rev-parse", "HEAD")
    git(clone, "checkout", "-qb", "task")
    assert has_merged(clone, "production", said_at)


@pytest.mark.parametrize("how", [["checkout", "-q", "feature"], ["fetch", "-q", "origin", "feature:feature"]])
def test_a_branch_checked_out_from_the_remote_was_not_born_there(repository: Path, how: list[str]) -> None:
    said_at = grow(repository)
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "feature")
    clone = cloned(repository)
    git(clone, *how)
    git(clone, "checkout", "-q", "main")
    assert merged(clone, said_at)
    assert is_finished(str(clone), "feature", 10.0)


def test_an_unmerged_branch_of_a_clone_stays_apart(repository: Path) -> None:
    said_at = grow(repository)
    git(repository, "checkout", "-q", "main")
    clone = cloned(repository)
    assert not merged(clone, said_at)
    git(clone, "checkout", "-q", "feature")
    git(clone, "checkout", "-q", "main")
    assert not merged(clone, said_at)


def test_a_branch_that_is_gone_unmerged_stays_apart(repository: Path) -> None:
    commit = grow(repository)
    git(repository, "checkout", "-q", "main")
    git(repository, "branch", "-D", "feature")
    assert not merged(repository, commit)
    assert not merged(repository, "")
    assert not merged(repository, "--output=/tmp/x")


def test_a_file_is_found_by_what_it_is_called(repository: Path) -> None:
    checkout = Checkout.at(str(repository / "src"))
    assert checkout is not None
    for named in ("src/upload/worker.py", "upload/worker.py", "worker.py", f"{repository}/src/upload/worker.py"):
        assert checkout.find(named) == "src/upload/worker.py"
    assert checkout.find("other.py") == ""
    (repository / "worker.py").write_text("")
    git(repository, "add", ".")
    again = Checkout.at(str(repository))
    assert again is not None
    assert again.find("x/worker.py") == ""


def test_a_change_shows(repository: Path) -> None:
    checkout = Checkout.at(str(repository))
    assert checkout is not None
    before = checkout.digest("src/upload/worker.py")
    (repository / "src" / "upload" / "worker.py").write_text("retries = 3\n")
    assert checkout.digest("src/upload/worker.py") not in ("", before)
    assert checkout.digest("nowhere") == ""
    at = float(git(repository, "log", "-1", "--format=%ct"))
    assert checkout.committed_at("src/upload/worker.py", 0.0) == at
    assert checkout.committed_at("src/upload/worker.py", at + 200_000) == 0.0
    assert checkout.committed_at("nowhere", 0.0) == 0.0


def test_a_file_belongs_to_its_checkout_worktrees_too(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "../tree", "-b", "other")
    tree = tmp_path / "tree"
    for root in (repository, tree):
        assert locate(str(root / "src" / "upload" / "worker.py"), str(repository)) == (
            str(root),
            "src/upload/worker.py",
        )
    assert locate("/etc/hosts", str(repository)) == ("", "")
    plain = tmp_path / "plain"
    plain.mkdir()
    assert locate(str(plain / "a.txt"), str(plain)) == (str(plain), "a.txt")
    assert locate(str(repository / "src" / "x"), str(tmp_path)) == ("", "")  # another project's


def test_the_latest_commits_are_read_without_a_process(repository: Path) -> None:
    grow(repository, "Upgrade to Python 3.13")
    told = latest_commits(str(repository / "src"))
    assert [subject for _, subject in told] == ["first", "Upgrade to Python 3.13"]
    assert told[-1][0] == float(git(repository, "log", "-1", "--format=%ct"))
    git(repository, "worktree", "add", "-q", "../tree", "-b", "other")
    assert latest_commits(str(repository.parent / "tree")) == []
    assert latest_commits("/nowhere") == []


def test_where_there_is_no_git_nothing_is_told(tmp_path: Path) -> None:
    checkout = Checkout.at(str(tmp_path))
    assert checkout is not None
    assert not checkout.has_merged("feature", "0" * 40)
    assert checkout.committed_at("a", 0.0) == 0.0
    shutil.rmtree(tmp_path)
    assert Checkout.at(str(tmp_path)) is None
    assert head(str(tmp_path)) == ("", "")


def squash(folder: Path, *message: str) -> None:
    git(folder, "merge", "-q", "--squash", "feature")
    git(folder, "commit", "-q", *message)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_squashed_branch_is_merged_if_all_its_changes_are_here(repository: Path, deleted: bool) -> None:
    grow(repository)
    said_at = grow(repository, "most")
    git(repository, "checkout", "-q", "main")
    grow(repository, "another")
    squash(repository, "-m", "Search by date")
    grow(repository, "later")
    if deleted:
        git(repository, "branch", "-D", "feature")
    assert merged(repository, said_at)


@pytest.mark.parametrize(
    ("branch", "subject"),
    [
        ("feature/dhl", "Merge pull request #12 from owner/feature/dhl"),
        ("feature/dhl", "feature/dhl: sign webhooks (#12)"),
        ("search", "Squash-merge the branch 'search'"),
        ("search", "Merge branches 'login' and 'search'"),
        ("search", "Merge remote-tracking branch 'origin/search'"),
        ("search", "Merge search into main"),
        ("perf-work", "Merged PR 1234: perf-work"),
    ],
)
def test_a_subject_that_names_the_branch_shows_that_it_was_squashed(
    repository: Path, branch: str, subject: str
) -> None:
    git(repository, "branch", "-m", branch)
    said_at = grow(repository)
    git(repository, "checkout", "-q", "main")
    (repository / "more").write_text("reviewed")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", subject)
    assert has_merged(repository, branch, said_at)


@pytest.mark.parametrize(
    "subject",
    [
        "Better search",
        "Revert the merge of search",
        "Merge branch 'main' into search",
        "Merge main to search",
        "Merge duplicate search results",
        "Merge the search into the header",
        "Merge search results",
        "Squash warnings in search",
        "Merge search: the user's list",
    ],
)
def test_where_the_same_files_changed_it_is_unknown(repository: Path, subject: str) -> None:
    git(repository, "branch", "-m", "search")
    said_at = grow(repository)
    git(repository, "checkout", "-q", "main")
    (repository / "more").write_text("reviewed")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", subject)
    checkout = Checkout.at(str(repository))
    assert checkout is not None
    assert checkout.has_merged("search", said_at) is None


def test_a_squash_that_lists_the_commits_is_a_merge(repository: Path) -> None:
    said_at = grow(repository)
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--squash", "feature")
    (repository / "more").write_text("reviewed")
    git(repository, "commit", "-qa", "--no-edit")
    assert merged(repository, said_at)


def test_a_branch_with_a_file_that_nobody_changed_here_is_not_merged(repository: Path) -> None:
    said_at = grow(repository)
    git(repository, "checkout", "-q", "main")
    grow(repository, "another")
    checkout = Checkout.at(str(repository))
    assert checkout is not None
    assert checkout.has_merged("feature", said_at) is False


@pytest.mark.parametrize(
    ("subject", "is_merge"),
    [
        ("Merge branch 'perf-work' into main", True),
        ("Merged in perf-work (pull request #3)", True),
        ("Squashed perf-work", True),
        ("Perf work (#12)", True),
        ("perf-work: use an index (#12)", True),
        ("Don't merge perf-work yet", False),
        ("Merge perf-work never", False),
        ("Merge: drop perf-work", False),
        ("Merge perf-work notes", False),
        ("perf-work part 1 of 3 (#12)", False),
        ("perf-work: part 1 (#12)", False),
        ("Abandon perf-work, never merge", False),
        ("docs: perf-work is unmerged", False),
        ("docs: describe perf-work (#12)", False),
        ("perf-work: start", False),
        ("Merge " + "x/" * 3_000_000 + "perf-work", False),
    ],
)
def test_only_subjects_of_merges_report_a_merge(subject: str, is_merge: bool) -> None:
    assert _reports_merge(subject, "perf-work", ()) == is_merge
    assert _reports_merge(subject.replace("perf-work", "do-not-track"), "do-not-track", ()) == (
        is_merge and "perf-work" in subject
    )


def test_a_path_through_a_link_is_kept_as_given(repository: Path, tmp_path: Path) -> None:
    (repository / "legacy").symlink_to("src")
    (tmp_path / "alias").symlink_to(repository)
    for root in (repository, tmp_path / "alias"):
        assert path_as_given(str(root / "legacy" / "a.py"), str(repository)) == "legacy/a.py"
        assert path_as_given(str(root / "src" / "a.py"), str(repository)) == ""


def test_a_renamed_branch_keeps_its_former_name_until_another_branch_has_it(repository: Path) -> None:
    git(repository, "branch", "-m", "feature", "feature/billing")
    git(repository, "branch", "-m", "feature/billing", "billing")
    checkout = Checkout.at(str(repository))
    assert checkout is not None
    assert checkout.former_names("billing") == {"feature", "feature/billing"}
    assert checkout.former_names("main") == frozenset()
    git(repository, "branch", "feature", "main")
    assert checkout.former_names("billing") == {"feature/billing"}
