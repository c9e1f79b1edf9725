"""Finds the project of this store that the record of an export belongs to.

A record from another state folder or machine names its project by a folder and an id that may mean nothing here, and by
the first commit and the remote of its repository, which are the same everywhere.
"""

from __future__ import annotations

from subconscious.files.record import Owner
from subconscious.store import projects
from subconscious.store.connect import Database
from subconscious.store.projects import Project


async def target_project(database: Database, owner: Owner, here: Project) -> Project | None:
    """Return the project of a record; None if this store does not have it, or can't tell which one it is.

    ``here`` is the project that the import was started in. Only there a name is enough, for folders without Git.
    """
    wanted = Project(**owner.model_dump())
    known = await projects.similar(database, wanted)
    same = [one for one in known if one.id == wanted.id]
    if same:
        return same[0]
    if _is_same(wanted, here) or _has_same_name(wanted, here):
        return here
    same = [one for one in known if _is_same(wanted, one)]
    return same[0] if len(same) == 1 else None


def _is_same(one: Project, other: Project) -> bool:
    """Whether two projects are the same repository, or the same folder without Git.

    Repositories made from one template share their first commit, but have other remotes and names. The same folder does
    not mean the same repository: in containers, many repositories have the same path.
    """
    if one.remote == other.remote != "":
        return True
    if not (one.first_commit and other.first_commit):
        return one.root == other.root and not (_has_git(one) or _has_git(other))
    return one.first_commit == other.first_commit and (not _has_two_remotes(one, other) or one.name == other.name)


def _has_same_name(wanted: Project, here: Project) -> bool:
    """Whether two projects have the same name, and nothing that distinguishes them.

    The repository of ``here`` may still be unknown, because Git was too slow. The record of ``wanted`` is complete: if
    it has neither a remote nor a commit, ``wanted`` is a folder without Git.
    """
    if (wanted.first_commit and here.first_commit) or _has_two_remotes(wanted, here):
        return False
    return wanted.name.casefold() == here.name.casefold() and (_has_git(wanted) or not _has_git(here))


def _has_two_remotes(one: Project, other: Project) -> bool:
    return "" not in (one.remote, other.remote) and one.remote != other.remote


def _has_git(project: Project) -> bool:
    return bool(project.remote or project.first_commit)
