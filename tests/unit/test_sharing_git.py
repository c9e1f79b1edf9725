"""The shared refs of a repository, with the real Git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.hostile.git import SOMEBODY_ELSE, git, make_repository
from subconscious.domain.errors import RequestError
from subconscious.sharing.git import NOTES, OWN, Refs, open_refs, without_credentials
from subconscious.sharing.git_process import GitError
from subconscious.sharing.merge import Entry, State, digest_of, merge

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


def entry(text: str, commit: str = "") -> Entry:
    version = {"at": 1.0, "text": text}
    return Entry({digest_of(version): version}, commit=commit)


def uid(number: int) -> str:
    return f"{number:032x}"


@pytest.fixture
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    made = make_repository(tmp_path / "shop", f"--object-format={getattr(request, 'param', 'sha1')}")
    git(made, "config", "user.name", "Ann")
    git(made, "config", "user.email", "ann@example.org")
    return made


@pytest.fixture
def remote(tmp_path: Path, repository: Path) -> Path:
    place = tmp_path / "origin.git"
    git(tmp_path, "init", "-q", "--bare", str(place))
    git(repository, "remote", "add", "origin", str(place))
    return place


def write(refs: Refs, state: State) -> dict[str, str]:
    before = refs.tips()
    tips = refs.commit(merge(refs.read(before).state, state), before)
    refs.store(tips, before)
    return tips


@pytest.mark.parametrize("size", [3, 400])
@pytest.mark.parametrize("repository", ["sha1", "sha256"], indirect=True)
@pytest.mark.slow
def test_written_entries_are_read_back(repository: Path, size: int) -> None:
    commits = git(repository, "rev-list", "HEAD").split()
    state = {uid(number): entry(f"text {number}", [*commits, ""][number % 3]) for number in range(size)}
    with open_refs(str(repository)) as refs:
        write(refs, state)
        found = refs.read(refs.tips())
        assert (found.state, found.problems) == (state, [])
        tips = refs.tips()
        assert write(refs, state) == tips, "nothing new, no commit"
        assert [author.email for author in refs.authors(tips.values(), signatures=False).values()] == (
            ["ann@example.org"] * size
        )
    assert git(repository, "rev-parse", OWN) == tips[OWN]
    assert "text 0" in git(repository, "notes", "--ref", NOTES, "show", commits[0])
    git(repository, "fsck", "--strict")


def test_an_address_can_not_pass_for_a_key(repository: Path) -> None:
    with open_refs(str(repository)) as refs:
        tips = write(refs, {uid(1): entry("one")})
        raw = subprocess.run(["git", "cat-file", "commit", OWN], cwd=repository, capture_output=True, check=True).stdout
        forged = raw.replace(b"<ann@example.org>", b"<ann@example.org\0G\0SHA256:trusted\0>")
        done = subprocess.run(
            ["git", "hash-object", "-w", "-t", "commit", "--literally", "--stdin"],
            cwd=repository,
            input=forged,
            capture_output=True,
            check=True,
        )
        found = refs.authors([done.stdout.decode().strip()], signatures=True)
        assert {author.key for author in found.values()} <= {""}
        assert refs.authors(tips.values(), signatures=True)


def test_a_history_that_is_too_long_names_no_author(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subconscious.sharing.git.MOST_COMMITS", 2)
    with open_refs(str(repository)) as refs:
        for number in range(3):
            found = refs.authors(write(refs, {uid(number): entry(f"text {number}")}).values(), signatures=False)
            assert len(found) == (1 if number == 0 else 0)


def test_too_much_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_refs(str(repository)) as refs:
        write(refs, {uid(number): entry("x" * 1000) for number in range(10)})
        monkeypatch.setattr("subconscious.sharing.git.MOST_BYTES", 5000)
        with pytest.raises(RequestError, match="too large"):
            refs.read(refs.tips())
        assert len(refs.authors(refs.tips().values(), signatures=False)) == 1, "the same version, read in portions"
        monkeypatch.setattr("subconscious.sharing.git.MOST_ENTRIES", 5)
        with pytest.raises(RequestError, match="more than 5"):
            refs.read(refs.tips())


def test_worktrees_share_the_refs(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    with open_refs(str(tmp_path / "tree")) as refs:
        write(refs, {uid(1): entry("one")})
    with open_refs(str(repository)) as refs:
        assert refs.read(refs.tips()).state == {uid(1): entry("one")}


def test_a_shallow_clone_syncs(repository: Path, remote: Path, tmp_path: Path) -> None:
    git(repository, "push", "-q", "origin", "main")
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=main", f"file://{remote}", "shallow")
    git(tmp_path / "shallow", "config", "user.email", "ben@example.org")
    git(tmp_path / "shallow", "config", "user.name", "Ben")
    with open_refs(str(repository)) as refs:
        assert refs.push(str(remote), write(refs, {uid(1): entry("one")}))
    with open_refs(str(tmp_path / "shallow")) as refs:
        assert refs.url("origin") == str(remote)
        fetched = refs.fetch(str(remote), {})
        both = merge(refs.read(fetched).state, {uid(2): entry("two")})
        assert refs.push(str(remote), refs.commit(both, fetched))
    git(remote, "fsck", "--strict")


def test_notes_that_git_fanned_out_are_read(repository: Path) -> None:
    with open_refs(str(repository)) as refs:
        commits = git(repository, "rev-list", "HEAD").split()
        write(refs, {uid(number): entry("x", commit) for number, commit in enumerate(commits)})
        inner = git(repository, "rev-parse", f"{NOTES}:{commits[0]}")
        made = _mktree(repository, f"100644 blob {inner}\t{commits[0][2:]}\n")
        outer = _mktree(repository, f"040000 tree {made}\t{commits[0][:2]}\n")
        git(repository, "update-ref", NOTES, git(repository, "commit-tree", "-m", "x", outer))
        assert [one.commit for one in refs.read(refs.tips()).state.values()] == [commits[0]]


def _mktree(repository: Path, listing: str) -> str:

    done = subprocess.run(["git", "mktree"], cwd=repository, input=listing, text=True, capture_output=True, check=True)
    return done.stdout.strip()


def test_a_push_that_came_too_late_is_noticed(repository: Path, remote: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repository), "other")
    other = tmp_path / "other"
    git(other, "config", "user.email", "ben@example.org")
    git(other, "config", "user.name", "Ben")
    with open_refs(str(repository)) as ann, open_refs(str(other)) as ben:
        assert ann.push(str(remote), write(ann, {uid(1): entry("one")}))
        bens = write(ben, {uid(2): entry("two")})
        assert not ben.push(str(remote), bens)
        fetched = ben.fetch(str(remote), ben.tips())
        both = merge(ben.read(ben.tips()).state, ben.read(fetched).state)
        tips = ben.commit(both, ben.tips(), fetched)
        assert ben.push(str(remote), tips)
        again = ann.fetch(str(remote), ann.tips())
        assert ann.read(again).state == {uid(1): entry("one"), uid(2): entry("two")}
        authors = ann.authors(again.values(), signatures=False)
        assert {authors[next(iter(entry("one").versions))].email, authors[next(iter(entry("two").versions))].email} == {
            "ann@example.org",
            "ben@example.org",
        }
        assert ann.commit(ann.read(again).state, ann.tips(), again) == again, "a fast-forward makes no commit"


def test_a_commit_is_dropped_when_no_branch_leads_to_it(repository: Path) -> None:
    head, first = git(repository, "rev-list", "HEAD").split()
    with open_refs(str(repository)) as refs:
        assert refs.dropped([head, first, "1" * 40, ""]) == set()
        assert refs.present([head, "1" * 40, ""]) == {head}
        git(repository, "pack-refs", "--all")
        assert refs.dropped([head]) == set()
        git(repository, "reset", "-q", "--hard", first)
        assert refs.dropped([head, first]) == {head}
        git(repository, "tag", "kept", head)
        assert refs.dropped([head]) == set()


def test_another_git_is_not_overwritten(repository: Path, tmp_path: Path) -> None:
    with open_refs(str(repository)) as refs:
        before = write(refs, {uid(1): entry("one")})
        tips = refs.commit({uid(2): entry("two")}, before)
        lock = repository / ".git" / f"{OWN}.lock"
        lock.touch()
        with pytest.raises(GitError, match="locked"):
            refs.store(tips, before)
        lock.unlink()
        git(repository, "update-ref", OWN, git(repository, "rev-parse", "HEAD"))
        with pytest.raises(GitError, match="during the sync"):
            refs.store(tips, before)
        assert git(repository, "rev-parse", OWN) == git(repository, "rev-parse", "HEAD")
        assert not lock.exists()
        (repository / ".git" / "refs" / "notes").symlink_to(tmp_path)
        with pytest.raises(RequestError, match="is a symbolic link"):
            refs.store({NOTES: tips[OWN]}, {})


@pytest.mark.parametrize("url", ["ext::sh", "-u", "foo::bar", "shop.git", "../shop/sub.git"])
def test_addresses_that_run_something_are_refused(repository: Path, url: str) -> None:
    (repository / "shop.git").mkdir()
    (repository / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    with open_refs(str(repository)) as refs, pytest.raises(RequestError):
        refs.url("origin")


def test_usual_addresses_are_allowed(repository: Path, remote: Path) -> None:
    with open_refs(str(repository)) as refs:
        assert refs.url("origin") == str(remote)
        assert refs.url("upstream") == ""
    for url in ("git@example.org:shop.git", "ssh://example.org/shop", "https://example.org/shop.git"):
        git(repository, "config", "remote.origin.url", url)
        with open_refs(str(repository)) as refs:
            assert refs.url("origin") == url


def test_a_token_in_an_address_is_not_shown(repository: Path) -> None:
    url = "https://ann:t0ken-of-ann@localhost:1/shop.git"
    git(repository, "remote", "add", "origin", url)
    with open_refs(str(repository)) as refs:
        assert refs.url("origin") == url
        with pytest.raises(GitError, match="git fetch failed") as failed:
            refs.fetch(url, {})
    assert "t0ken" not in failed.value.message
    assert without_credentials(f"to {url}") == "to https://localhost:1/shop.git"


@needs_root
@pytest.mark.parametrize("place", [".", ".git", ".git/objects"])
def test_no_git_on_a_repository_of_somebody_else(repository: Path, place: str) -> None:
    os.chown(repository / place, SOMEBODY_ELSE, SOMEBODY_ELSE)
    with pytest.raises(RequestError), open_refs(str(repository)):
        pass


@needs_root
def test_no_remote_of_somebody_else(repository: Path, remote: Path) -> None:
    os.chown(remote, SOMEBODY_ELSE, SOMEBODY_ELSE)
    with open_refs(str(repository)) as refs, pytest.raises(RequestError, match="another user"):
        refs.url("origin")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="signs with ssh-keygen")
def test_a_good_signature_names_its_key(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ann@example.org {key.with_suffix('.pub').read_text()}")
    own = tmp_path / "gitconfig"
    own.write_text(
        f"[commit]\n\tgpgSign = true\n[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n"
        f'[gpg "ssh"]\n\tallowedSignersFile = {allowed}\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    with open_refs(str(repository)) as refs:
        tips = write(refs, {uid(1): entry("one")})
        (signed,) = refs.authors(tips.values(), signatures=True).values()
        assert signed.key.startswith("SHA256:")
        assert signed.key in subprocess.run(["ssh-keygen", "-lf", str(key)], capture_output=True, text=True).stdout
        raw = git(repository, "cat-file", "commit", tips[OWN]).replace("Share memories", "Share other ones")
        done = ["git", "hash-object", "-w", "-t", "commit", "--stdin"]
        forged = subprocess.run(done, cwd=repository, input=f"{raw}\n".encode(), capture_output=True, check=True)
        (unknown,) = refs.authors([forged.stdout.decode().strip()], signatures=True).values()
        assert (unknown.email, unknown.key) == ("ann@example.org", "")
