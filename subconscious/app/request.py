"""The base class of request handlers, and functions that convert results of several handlers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from time import time
from typing import ClassVar, cast

from subconscious.app import App
from subconscious.context.arguments import Args
from subconscious.domain.errors import RequestError
from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory, Origin
from subconscious.poisoning.suspicions import noted, of_memories
from subconscious.recall.promotion_status import standings
from subconscious.recall.trust_notes import reputes
from subconscious.store import projects
from subconscious.store.projects import Project
from subconscious.store.rows import field_values
from subconscious.system.projects import head
from subconscious.wire import memories as wire
from subconscious.wire.fields import fields_of


class Handler:
    """A group of requests. Each ``cmd_*`` method handles one request; all take the same type of ``arguments``."""

    arguments: ClassVar[type[Args]] = Args
    personal: ClassVar[frozenset[str]] = frozenset()
    """Requests that only a person at a terminal may make. Others get an error."""
    at_terminal: ClassVar[frozenset[str]] = frozenset()
    """Further requests that count as the user's only if a person at a terminal makes them. Requests that are neither
    here nor in ``personal`` count as the user's even if a person's script makes them."""
    decides: ClassVar[str] = "what is deleted and what is exempt from redaction"
    """The end of the error message "only a person decides ..."."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def allowed_to_script(self, cmd: str, args: Args) -> Args | None:
        """Return the arguments with which a person's script may make a request in ``personal``; None if it may not.

        They name what was checked, so that nothing else is changed that came after the check.
        """
        del cmd, args
        return None

    async def here(self, args: Args) -> Project:
        """Return the project of a request. Raises RequestError if the request names no folder."""
        project = await self.project(args)
        if project is None:
            raise RequestError(
                "the request names no folder, so its project is unknown", "run the command inside your project"
            )
        return project

    async def project(self, args: Args) -> Project | None:
        """Return the project of a request; None if the request names no folder."""
        return await self.app.project_of(args.cwd) if args.cwd.startswith("/") else None

    async def named_project(self, args: Args, name: str, otherwise: str) -> Project:
        """Return the project called ``name``; if ``name`` is empty, the project of the request.

        Raises RequestError if several projects have the name, or none (then with the remedy ``otherwise``).
        """
        if not name:
            return await self.here(args)
        found = await projects.named(self.app.database, name)
        if len(found) == 1:
            return found[0]
        remedy = "give the path of its folder instead: " + ", ".join(one.root for one in found) if found else otherwise
        raise RequestError(f"{'several projects are' if found else 'no project is'} called {name}", remedy)


def refuse_forgery(args: Args) -> None:
    """Raise RequestError unless a person made the request: an imported file could claim anybody's words."""
    if args.origin is not Origin.USER:
        raise RequestError(
            "only a person may import, not the assistant: the file could pass any text off as yours",
            "run the command in a terminal outside of Claude Code",
        )


def checked_out(folder: str) -> str:
    """Return the branch that is checked out in ``folder``. Raises RequestError if there is none."""
    branch, commit = head(folder)
    if not branch:
        what = "a commit, not a branch, is checked out here" if commit else "there is no Git repository here"
        raise RequestError(what, "name the branch: subconscious show --branch NAME")
    return branch


def hit_results(hits: Sequence[Hit]) -> list[wire.Hit]:
    """Return hits in the format of a response."""
    return [_hit_result(hit) for hit in hits]


def _hit_result(hit: Hit) -> wire.Hit:
    repute = field_values(hit.repute) if hit.repute else {}
    trust = {"trust": repute["trust"]} if repute else {}
    values = field_values(hit) | {
        "memory": field_values(hit.memory) | repute,
        "engines": [field_values(one) for one in hit.engines],
    }
    del values["repute"], values["share"]
    return cast("wire.Hit", values | {"score": hit.score} | trust)


async def memory_results(app: App, found: Sequence[Memory], project_id: str | None) -> list[wire.Memory]:
    """Return memories in the format of a response, with trust, promotion status and suspicion."""
    settings = app.recall_context().settings
    known = await reputes(app.database, found, settings, time(), project_id)
    weighed = await standings(app.database, found, settings)
    suspected = await of_memories(app.database, found)
    return [
        fields_of(
            wire.Memory,
            one,
            **(asdict(known[one.id]) if one.id in known else {}),
            standing=asdict(weighed[one.id]),
            **noted(suspected.get(one.id)),
        )
        for one in found
    ]
