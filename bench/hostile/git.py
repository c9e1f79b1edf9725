"""Repositories that try to run a program through Git or to pass for another project.

Each attack gets a fresh repository of this user's and the path of a script that leaves a mark. The real code that looks
at projects then runs on it; the mark must not appear.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from bench.hostile.case import Stage, case, hold
from subconscious.system.projects import Checkout, has_commit, head, identify, latest_commits

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
SOMEBODY_ELSE = 65534
LOOKED_UP = "src/worker.py"


def git(folder: Path, *words: str) -> str:
    """Run the real Git, to make repositories."""
    command = ["git", *WHO, *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def make_repository(folder: Path, *options: str) -> Path:
    """Two commits on main."""
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *options)
    for text in ("first", "second"):
        (folder / LOOKED_UP).write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-qm", text)
    return folder


def make_script(folder: Path) -> tuple[str, Path]:
    """A program that leaves a mark when it runs; the program and the mark."""
    mark, script = folder / "it-ran", folder / "program"
    script.write_text(f"#!/bin/sh\n: >'{mark}'\nexit 1\n")
    script.chmod(0o755)
    return str(script), mark


def look_at(folder: Path) -> None:
    """All that the daemon ever does with a repository."""
    identify(str(folder), 5)
    head(str(folder))
    latest_commits(str(folder))
    checkout = Checkout.at(str(folder))
    hold(checkout is not None, "the folder is not seen at all")
    assert checkout is not None
    checkout.find("worker.py")
    checkout.digest(LOOKED_UP)
    checkout.committed_at(LOOKED_UP, 0.0)
    for commit in ("1" * 40, head(str(folder))[1]):
        checkout.has_merged("feature", commit)
        has_commit(str(folder), commit)


def _lose_first_commit(repository: Path) -> None:
    """Remove an object that every look at the history needs."""
    first = git(repository, "rev-list", "--max-parents=0", "HEAD")
    (repository / ".git" / "objects" / first[:2] / first[2:]).unlink()


def _promise(repository: Path, **more: str) -> None:
    _lose_first_commit(repository)
    settings = {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": str(repository),
    } | {name.replace("__", "."): value for name, value in more.items()}
    for name, value in settings.items():
        git(repository, "config", name, value)


def _sign(repository: Path, program: str) -> None:
    """Give the latest commit a signature, and name the program that would check it."""
    text = git(repository, "cat-file", "commit", "HEAD") + "\n"
    head_lines, _, message = text.partition("\n\n")
    signed = f"{head_lines}\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n{message}"
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        input=signed,
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    git(repository, "update-ref", "HEAD", made)
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "gpg.program", program)


def _set(*names: str, value: str = "{}") -> Callable[[Path, str], None]:
    def change(repository: Path, program: str) -> None:
        for name in names:
            git(repository, "config", name, value.format(program))

    return change


def _filtered(repository: Path, program: str) -> None:
    (repository / ".gitattributes").write_text("* filter=theirs diff=theirs\n")
    (repository / ".git" / "info" / "attributes").write_text("* filter=theirs diff=theirs\n")
    for name in ("filter.theirs.clean", "filter.theirs.smudge", "filter.theirs.process"):
        git(repository, "config", name, program)
    for name in ("diff.theirs.textconv", "diff.theirs.command"):
        git(repository, "config", name, program)


def _included(repository: Path, program: str) -> None:
    _promise(repository)
    (repository / "more").write_text(f'[remote "origin"]\n\tuploadpack = {program}\n[core]\n\tfsmonitor = {program}\n')
    git(repository, "config", "include.path", str(repository / "more"))


def _hooked(repository: Path, program: str) -> None:
    for name in ("post-checkout", "reference-transaction", "fsmonitor-watchman", "post-index-change", "pre-auto-gc"):
        shutil.copy(program, repository / ".git" / "hooks" / name)


def _submodule(repository: Path, program: str) -> None:
    _promise(repository, remote__origin__uploadpack=program)
    (repository / ".gitmodules").write_text(
        f'[submodule "x"]\n\tpath = x\n\turl = ext::{program}\n\tupdate = !{program}\n'
    )


def _replaced(repository: Path, program: str) -> None:
    first = git(repository, "rev-list", "--max-parents=0", "HEAD")
    _promise(repository, remote__origin__uploadpack=program)
    (repository / ".git" / "refs" / "replace").mkdir()
    (repository / ".git" / "refs" / "replace" / first).write_text("2" * 40 + "\n")
    (repository / ".git" / "info" / "grafts").write_text(f"{first} {'3' * 40}\n")


def _alternates(repository: Path, program: str) -> None:
    other = make_repository(repository.parent / "alternate")
    (repository / ".git" / "objects" / "info" / "alternates").write_text(f"{other}/.git/objects\n")
    _promise(repository, remote__origin__uploadpack=program, core__alternateRefsCommand=program)


def _worktree_config(repository: Path, program: str) -> None:
    _promise(repository)
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "config", "--worktree", "remote.origin.uploadpack", program)


def _redirected(repository: Path, program: str) -> None:
    """A checkout whose `core.worktree` lies elsewhere."""
    git(repository, "config", "core.worktree", str(repository.parent))
    _promise(repository, remote__origin__uploadpack=program)


ATTACKS: dict[str, Callable[[Path, str], None]] = {
    "a promisor remote's uploadpack": lambda at, program: _promise(at, remote__origin__uploadpack=program),
    "core.sshCommand": lambda at, program: _promise(
        at, remote__origin__url="ssh://example.invalid/x", core__sshCommand=program, ssh__variant="simple"
    ),
    "core.gitProxy": lambda at, program: _promise(
        at, remote__origin__url="git://example.invalid/x", core__gitProxy=program
    ),
    "a remote of the ext protocol": lambda at, program: _promise(
        at, remote__origin__url=f"ext::{program}", protocol__allow="always", protocol__ext__allow="always"
    ),
    "credential.helper and askPass": lambda at, program: _promise(
        at, remote__origin__url="http://127.0.0.1:9/x", credential__helper=program, core__askPass=program
    ),
    "log.showSignature with gpg.program": _sign,
    "core.fsmonitor": _set("core.fsmonitor"),
    "core.hooksPath and hooks": _hooked,
    "core.pager and pager.log": _set("core.pager", "pager.log", "pager.rev-list", "core.editor"),
    "diff.external": _set("diff.external", "diff.renames", value="{}"),
    "filters and textconv": _filtered,
    "include.path": _included,
    "core.worktree": _redirected,
    "config.worktree": _worktree_config,
    "alternates and alternateRefsCommand": _alternates,
    ".gitmodules": _submodule,
    "replace refs and grafts": _replaced,
    "gc.auto and maintenance": _set("gc.recentObjectsHook", "maintenance.commit-graph.schedule"),
    "an alias in place of a command": _set("alias.rev-list", "alias.log", "alias.ls-files", value="!{}"),
}
"""Configurations of a repository, with the program that each would run."""


def mark_of(folder: Path, attack: Callable[[Path, str], None]) -> Path:
    """Make a hostile repository below a folder, look at it, and return where a mark would be."""
    repository = make_repository(folder / "theirs")
    program, mark = make_script(folder)
    attack(repository, program)
    look_at(repository)
    return mark


def _register(name: str, attack: Callable[[Path, str], None]) -> None:
    # Not in CI: tests/unit/test_git_command.py makes the same attempts there.
    @case("git", f"{name}: an unpacked repository has Git run nothing of its own", quick=False)
    def run(stage: Stage) -> None:
        hold(not mark_of(stage.folder, attack).exists(), "the repository's program ran")


for _name, _attack in ATTACKS.items():
    _register(_name, _attack)


def give_away(folder: Path) -> None:
    """Let another user own a folder; raises PermissionError unless this is root."""
    for place in (folder, *folder.rglob("*")):
        os.chown(place, SOMEBODY_ELSE, SOMEBODY_ELSE, follow_symlinks=False)


@case("git", "the daemon has Git run nothing in a session's folder that another user owns")
def owned_by_another(stage: Stage) -> None:
    program, mark = make_script(stage.folder)
    repository = make_repository(stage.folder / "theirs")
    _promise(repository, remote__origin__uploadpack=program)
    with suppress(PermissionError):  # of a user who is not root the repository is at least unpacked
        give_away(repository)
    stage.start()
    session = stage.speaker("theirs")
    session.hook("wake", "SessionStart", source="startup")
    session.ask("UserPromptSubmit", prompt="Remember: the worker in src/worker.py retries twice.")
    session.say("Remember: the worker in src/worker.py retries twice.")
    session.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
    stage.drain()
    hold(not mark.exists(), "the repository's program ran")


@case("git", "a repository that another user put into a parent folder is no project of ours")
def planted_above(stage: Stage) -> None:
    if os.geteuid() != 0:
        return  # only root can give a folder away
    above = make_repository(stage.folder / "shared")
    give_away(above)
    own = above / "own"
    own.mkdir()
    root = identify(str(own), 5).root
    hold(root == str(own.resolve()), f"the session's project is {root}")


@case("git", "a .git file that names another project's repository does not join that project")
def claimed(stage: Stage) -> None:
    ours = make_repository(stage.folder / "ours")
    theirs = stage.folder / "theirs"
    own = theirs / "gitdir"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text(f"{ours}/.git\n")
    (own / "gitdir").write_text(f"{theirs}/.git\n")
    for target in (f"{ours}/.git", str(own)):
        (theirs / ".git").write_text(f"gitdir: {target}\n")
        root = identify(str(theirs), 5).root
        hold(root == str(theirs.resolve()), f"with gitdir {target} the project is {root}")


@case("git", "HEAD and refs that name other files give no words of those files")
def stray_refs(stage: Stage) -> None:
    repository = make_repository(stage.folder / "theirs")
    secret = stage.folder / "secret"
    secret.write_text("a secret\n")
    refs = repository / ".git" / "refs" / "heads"
    texts = ("ref: ../../secret", f"ref: {secret}", "a secret", "ref: refs/heads/a\x1b[2Jb", "ref: refs/heads/link")
    (refs / "link").symlink_to(secret)
    for text in texts:
        (repository / ".git" / "HEAD").write_text(text)
        branch, commit = head(str(repository))
        hold("secret" not in commit and "\x1b" not in branch, f"{text!r} gives {(branch, commit)}")


@case("git", "Git that hangs, and what it has started, ends in time")
def hanging(stage: Stage) -> None:
    repository = make_repository(stage.folder / "theirs")
    commit = git(repository, "rev-parse", "HEAD")
    objects = repository / ".git" / "objects"
    shutil.rmtree(objects / commit[:2])
    (objects / commit[:2]).mkdir()
    os.mkfifo(objects / commit[:2] / commit[2:])
    found = identify(str(repository), 0.5)
    hold(found.git and not found.first_commit, f"found {found}")
    hold(not _running(str(objects)), "a Git is left behind")


def _running(mark: str) -> bool:
    if sys.platform != "linux":
        return False
    for process in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError), closing(process.open("rb")) as environment:
            if mark.encode() in environment.read():
                return True
    return False
