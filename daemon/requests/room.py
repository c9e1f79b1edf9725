"""What every group of requests has: the daemon's core, and whose folder a request is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from time import time
from typing import Any, ClassVar

from subconscious.errors import RequestError
from subconscious.model import Hit, Memory, Origin
from subconscious.projects import head
from subconscious.repute import reputes
from subconscious.standings import standings
from subconscious.store.projects import Project
from subconscious.store.rows import opened

from ..core import Core
from ..spool import Spool
from ..suspicions import noted, of_memories
from .args import Args


class Room:
    """A group of requests, a ``cmd_*`` method each, that take ``arguments``."""

    arguments: ClassVar[type[Args]] = Args
    personal: ClassVar[frozenset[str]] = frozenset()
    """Requests that only a person may make."""
    at_terminal: ClassVar[frozenset[str]] = frozenset()
    """Further ones of which a person is only believed at a terminal; for others a script of theirs will do."""
    decides_on: ClassVar[str] = "what is deleted and what is let pass"
    """What a person decides here, as who is refused is told."""

    def __init__(self, core: Core, spool: Spool) -> None:
        self.core = core
        self.spool = spool

    async def here(self, args: Args) -> Project:
        """The project that a request is about. Raises RequestError if it names no folder."""
        project = await self.project(args)
        if project is None:
            raise RequestError("the request does not say for which folder it is", "run it inside your project")
        return project

    async def project(self, args: Args) -> Project | None:
        """The project that a request is about, if it names a folder."""
        return await self.core.project_of(args.cwd) if args.cwd.startswith("/") else None


def refuse_forgery(args: Args) -> None:
    """Raise RequestError unless a person asks: a file could claim anybody's words."""
    if args.origin is not Origin.USER:
        raise RequestError(
            "a person imports, not the assistant: a file could claim anybody's words",
            "run it in a terminal outside of Claude Code",
        )


def checked_out(folder: str) -> str:
    """The branch checked out in ``folder``. Raises RequestError where there is none."""
    branch, commit = head(folder)
    if not branch:
        what = "a commit, not a branch, is checked out here" if commit else "there is no Git repository here"
        raise RequestError(what, "name the branch: subconscious show --branch NAME")
    return branch


def told(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Hits as an answer tells of them."""
    return [_told(hit) for hit in hits]


def _told(hit: Hit) -> dict[str, Any]:
    stands = opened(hit.repute) if hit.repute else {}
    trust = {"trust": stands["trust"]} if stands else {}
    values = opened(hit) | {"memory": opened(hit.memory) | stands, "engines": [opened(one) for one in hit.engines]}
    del values["repute"]
    return values | {"score": hit.score} | trust


async def stood(core: Core, found: Sequence[Memory], project_id: str | None) -> list[dict[str, Any]]:
    """Memories as an answer tells of them: with how they stand, where that is wanted."""
    settings = core.mind().settings
    known = await reputes(core.database, found, settings, time(), project_id)
    weighed = await standings(core.database, found, settings)
    suspected = await of_memories(core, found)
    return [
        asdict(one)
        | (asdict(known[one.id]) if one.id in known else {})
        | {"standing": asdict(weighed[one.id])}
        | noted(suspected.get(one.id))
        for one in found
    ]
