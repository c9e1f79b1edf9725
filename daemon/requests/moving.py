"""The request that lets a folder be a project whose own folder is gone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

from subconscious.errors import RequestError
from subconscious.store import memories, projects

from .args import Args, FilePath
from .room import Room


class MovingArgs(Args):
    """``root`` is the folder, or the name, of the project that ``cwd`` is to be."""

    root: FilePath = ""


class Moving(Room):
    """Requests about folders that were renamed or moved."""

    arguments: ClassVar[type[Args]] = MovingArgs
    personal: ClassVar[frozenset[str]] = frozenset({"attach"})
    decides_on: ClassVar[str] = "which project a folder is"

    async def cmd_attach(self, args: MovingArgs) -> dict[str, Any]:
        """A person says that this folder is a project that is known from a folder which is gone."""
        project = await self.here(args)
        own = (await memories.counts(self.core.database, project.id))["project"]
        if own:
            raise RequestError(
                f"this folder has memories of its own ({own})", "to read the others: subconscious list --project NAME"
            )
        chosen = await self._chosen(project, args.root)
        await projects.move(self.core.database, chosen.project, project)
        return {"project": asdict(chosen.project) | {"root": project.root}, "memories": chosen.memories}

    async def _chosen(self, project: projects.Project, wanted: str) -> projects.Lost:
        """The one project that is meant. Raises RequestError for none or several."""
        known = await projects.lost(self.core.database, project)
        found = [one for one in known if wanted in (one.project.root, one.project.name)]
        if len(found) == 1:
            return found[0]
        roots = ", ".join(one.project.root for one in (found or known))
        what = f"several projects are called {wanted}" if found else f"no project whose folder is gone is {wanted}"
        raise RequestError(what, f"these can be attached: {roots}" if roots else "subconscious list --everywhere")
