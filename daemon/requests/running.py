"""How the daemon and its store are, and that it should go."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from time import monotonic
from typing import Any, ClassVar

from subconscious import __version__
from subconscious.client import newer
from subconscious.errors import SettingsError
from subconscious.home import Home
from subconscious.settings import load_settings
from subconscious.store import (
    asked,
    captures,
    embedding_queue,
    jobs,
    memories,
    model_readings,
    projects,
    second_looks,
    sessions,
)
from subconscious.store.projects import Project

from ..accepted import accept
from ..in_force import put_in_force
from ..reviewing import suspicion_note
from .args import Args
from .room import Room


def _unreadable_settings(home: Home) -> list[str]:
    """Why config.toml can't be read as it is now; the daemon goes on with what it has read at its start."""
    try:
        load_settings(home.root)
    except SettingsError as error:
        return [f"config.toml is not in force: {error.message}. To mend it, {error.remedy}"]
    return []


class Running(Room):
    """How the daemon and its store are, and that it should go."""

    personal: ClassVar[frozenset[str]] = frozenset({"accept_settings"})

    async def cmd_status(self, args: Args) -> dict[str, Any]:
        """Say how the daemon and its store are."""
        core = self.core
        project = await self.project(args)
        here = project.id if project else None
        return {
            "version": __version__,
            "pid": os.getpid(),
            "home": str(core.home.root),
            "started_at": core.started_at,
            "project": asdict(project) if project else None,
            "memories": (held := await memories.counts(core.database, here)),
            "lost": await self._lost(project) if project and not held["project"] else [],
            "review": await captures.waiting(core.database, here),
            "review_everywhere": await captures.waiting(core.database),
            "quarantined": await captures.quarantined(core.database, here),
            "suspicion": await suspicion_note(core, here),
            "jobs": await jobs.counts(core.database),
            "refining": await model_readings.counts(core.database) | await second_looks.counts(core.database),
            "spool": await self.spool.waiting(),
            "sessions": await sessions.counts(core.database),
            "embedder": await self._embedder(),
            "provider": await self._provider(args),
            "vector_index": core.embedding.index.name if core.embedding.index else "none",
            "disk": core.disk.trouble,
            "warnings": await self._warnings(),
            "settings": core.mind().settings.model_dump(mode="json"),
            "unaccepted": sorted(core.refused(core.settings)),
        }

    async def _lost(self, project: Project) -> list[dict[str, Any]]:
        """The projects that a folder without memories may have been, before it was renamed."""
        found = await projects.lost(self.core.database, project)
        return [{"root": one.project.root, "memories": one.memories} for one in found[:3]]

    async def _embedder(self) -> dict[str, Any]:
        backlog = await embedding_queue.backlog(self.core.database)
        counted = {name: backlog.get(name, 0) for name in ("pending", "failed")}
        return self.core.embedding.told | counted

    async def cmd_provider(self, args: Args) -> dict[str, Any]:
        """Say how the providers are; with ``check`` try them first."""
        found = await self.core.llm.check(self.core.session_keys.sessions) if args.check else {}
        state = await self._provider(args)
        for provider in state["providers"] if args.check else ():
            provider["reachable"] = found.get(provider["name"]) is None
        return state

    async def _provider(self, args: Args) -> dict[str, Any]:
        state = await self.core.llm.state() | {"waiting": await asked.counts(self.core.database)}
        for provider in state["providers"]:
            provider |= self._keys(provider["name"], args.session_id or "")
        return state

    def _keys(self, provider: str, session_id: str) -> dict[str, Any]:
        """Where the keys for a provider come from, and how those stand that sessions brought for themselves."""
        core = self.core
        own = {one: core.llm.accounts_of([one]) for one in core.session_keys.sessions}
        mine = [one for one, accounts in own.items() if any(account.name == provider for account in accounts)]
        states = [account.state() for account in core.llm.accounts_of(mine) if account.name == provider]
        return {"key": core.key_source(provider, session_id), "own_keys": states, "sessions_with_own_key": len(mine)}

    async def _warnings(self) -> list[str]:
        buried = (await jobs.counts(self.core.database))["buried"]
        damaged = self.core.damage.message(self.core.home.database)
        found = [damaged] if damaged else []
        found += [f"{buried} jobs failed for good: `subconscious doctor` says why"] if buried else []
        trouble = self.core.disk.trouble
        found += [f"nothing can be written ({trouble}): `df -h {self.core.home.root}`"] if trouble else []
        wanted = self.core.refused(self.core.settings)
        found += [f"{name} = {value} is not in force: `subconscious accept-settings`" for name, value in wanted.items()]
        found += [self.core.embedding.error] if self.core.embedding.error else []
        found += await asyncio.to_thread(_unreadable_settings, self.core.home)
        return found + await self._of_providers()

    async def _of_providers(self) -> list[str]:
        state = await self._provider(Args())
        refused = [provider["error"] for provider in state["providers"] if provider["refused"]]
        found = [f"{error['code']} {error['message']}: {error['remedy']}" for error in refused]
        own = [one["error"] for provider in state["providers"] for one in provider["own_keys"] if one["refused"]]
        found += [f"{one['code']} {one['message']}, with the key of a session's environment" for one in own]
        spending = state["spending"]
        if state["providers"] and spending["state"] != "free":
            found.append(f"${spending['spent_today']:.2f} of today's ${spending['cap']:g} for models are spent")
        return found

    async def cmd_accept_settings(self, args: Args) -> dict[str, Any]:
        """A person lets what stands in config.toml, or in the daemon's environment, take effect."""
        wanted = load_settings(self.core.home.root)
        values = await accept(self.core.database, wanted, args.reason, self.core.accepted)
        self.core.settings = wanted
        return {"changed": await put_in_force(self.core, values)}

    async def cmd_drain(self, args: Args) -> dict[str, Any]:
        """Wait until everything that was handed over is worked off and embedded."""
        deadline = monotonic() + args.timeout
        while True:
            drained, embedded = await self._drained()
            if (drained and embedded) or monotonic() > deadline:
                return {"drained": drained, "embedded": embedded}
            await asyncio.sleep(0.02)

    async def _drained(self) -> tuple[bool, bool]:
        await self.spool.sweep()
        left = await jobs.counts(self.core.database)
        waiting = await self.spool.waiting()
        backlog = await embedding_queue.backlog(self.core.database)
        waits = backlog.get("pending", 0) > 0 and self.core.embedding.state in ("loading", "ready", "fallback")
        return left["ready"] + left["leased"] + waiting == 0, not waits

    async def cmd_embed(self, args: Args) -> dict[str, Any]:
        """Try again, now, to embed what could not be embedded."""
        del args
        return {"pending": await self.core.embedding.retry()}

    async def cmd_stop(self, args: Args) -> dict[str, Any]:
        """Finish what is under way and leave."""
        del args
        self.core.stopping.set()
        return {"stopping": True}

    async def cmd_yield(self, args: Args) -> dict[str, Any]:
        """Leave for a strictly newer version, and only for that."""
        if newer(args.version, __version__):
            self.core.stopping.set()
        return {"stopping": self.core.stopping.is_set()}
