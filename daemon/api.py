"""Requests about the daemon: status, providers, settings, stopping."""

from __future__ import annotations

import asyncio
import os
from time import monotonic
from typing import ClassVar, cast

from subconscious import __version__
from subconscious.app import App
from subconscious.app.reconfigure import put_in_force
from subconscious.app.request import Handler
from subconscious.context.approval import accept
from subconscious.context.arguments import Args
from subconscious.domain.errors import SettingsError
from subconscious.domain.model import Origin
from subconscious.imports import importing
from subconscious.review.decisions import suspicion_note
from subconscious.settings.home import Home
from subconscious.settings.settings import load_settings
from subconscious.settings.substitute_home import substitution
from subconscious.store import (
    captures,
    embedding_queue,
    jobs,
    llm_requests,
    memories,
    model_readings,
    projects,
    responses,
    second_looks,
    sessions,
)
from subconscious.store.projects import Project
from subconscious.supersession import takeovers
from subconscious.surfacing.eligibility import paused
from subconscious.wire import daemon as wire
from subconscious.wire import newer

from .spool import Spool


def _unreadable_settings(home: Home) -> list[str]:
    """Return a warning if config.toml has an error, in which case the daemon keeps its present settings."""
    try:
        load_settings(home.root)
    except SettingsError as error:
        return [
            f"config.toml has an error, so the old settings stay in use: {error.message}. To fix it, {error.remedy}"
        ]
    return []


class DaemonControl(Handler):
    """Answers requests about the daemon itself."""

    personal: ClassVar[frozenset[str]] = frozenset({"accept_settings"})

    def __init__(self, app: App, spool: Spool) -> None:
        super().__init__(app)
        self.spool = spool

    async def cmd_status(self, args: Args) -> wire.StatusResult:
        """Return the status of the daemon and its store."""
        app = self.app
        project = await self.project(args)
        here = project.id if project else None
        return {
            "version": __version__,
            "pid": os.getpid(),
            "home": str(app.home.root),
            "started_at": app.started_at,
            "project": projects.fields(project) if project else None,
            "memories": (held := await memories.counts(app.database, here)),
            "paused": len(await paused(app.database, await responses.received(app.database, here))) if here else 0,
            "lost": await self._lost(project) if project and not held["project"] else [],
            "can_import": await importing.is_worthwhile(app, here) if here else False,
            "review": await captures.waiting(app.database, here),
            "review_everywhere": await captures.waiting(app.database),
            "quarantined": await captures.quarantined(app.database, here),
            "suspicion": await suspicion_note(app, here),
            "question": await takeovers.describe(app, here, to_person=args.origin is Origin.USER) if here else None,
            "jobs": await jobs.counts(app.database),
            "refining": {
                **await model_readings.counts(app.database),
                **await second_looks.counts(app.database),
            },
            "spool": await self.spool.waiting(),
            "sessions": await sessions.counts(app.database),
            "embedder": await self._embedder(),
            "provider": await self._provider(args),
            "vector_index": app.embedding.index.name if app.embedding.index else "none",
            "disk": app.disk.trouble,
            "warnings": await self._warnings(),
            "hooks": app.answer_times.summary(),
            "settings": app.recall_context().settings.model_dump(mode="json"),
            "unaccepted": sorted(app.config.refused()),
        }

    async def _lost(self, project: Project) -> list[wire.LostProject]:
        """Return up to three projects whose folder is missing: one may have been renamed to this project's folder."""
        found = await projects.lost(self.app.database, project)
        return [{"root": one.project.root, "memories": one.memories} for one in found[:3]]

    async def _embedder(self) -> wire.Embedder:
        backlog = await embedding_queue.counts(self.app.database)
        return {
            **self.app.embedding.status,
            "pending": backlog.get("pending", 0),
            "failed": backlog.get("failed", 0),
        }

    async def cmd_provider(self, args: Args) -> wire.ProviderResult:
        """Return the status of the providers; with ``check``, test them first."""
        found = await self.app.llm.check(self.app.sessions.keys.sessions) if args.check else {}
        state = await self._provider(args)
        for provider in state["providers"] if args.check else ():
            provider["reachable"] = found.get(provider["name"]) is None
        return state

    async def _provider(self, args: Args) -> wire.ProviderResult:
        llm = self.app.llm
        return {
            "providers": [self._channel(channel.state(), args.session_id or "") for channel in llm.channels],
            "spending": await llm.spending.state(),
            "waiting": await llm_requests.counts(self.app.database),
        }

    def _channel(self, state: wire.ChannelState, session_id: str) -> wire.Provider:
        """Return the state of a provider, the source of its key, and the states of the keys that sessions sent."""
        app, provider = self.app, state["name"]
        own = {one: app.llm.accounts_of([one]) for one in app.sessions.keys.sessions}
        mine = [one for one, accounts in own.items() if any(account.name == provider for account in accounts)]
        keys = {
            "key": app.key_source(provider, session_id),
            "own_keys": [account.state() for account in app.llm.accounts_of(mine) if account.name == provider],
            "sessions_with_own_key": len(mine),
        }
        return cast("wire.Provider", {**state, **keys})

    async def _warnings(self) -> list[str]:
        buried = (await jobs.counts(self.app.database))["buried"]
        damaged = self.app.damage.message(self.app.home.database)
        found = [damaged] if damaged else []
        if (replaced := substitution(self.app.home.root)) is not None:
            found.append(replaced.note)
        found += [f"failed jobs that are not retried: {buried}; `subconscious doctor` shows why"] if buried else []
        trouble = self.app.disk.trouble
        found += (
            [f"nothing can be stored ({trouble}): check the disk with `df -h {self.app.home.root}`"] if trouble else []
        )
        wanted = self.app.config.refused()
        found += [
            f"{name} = {value} is not applied yet: to approve it, run `subconscious accept-settings`"
            for name, value in wanted.items()
        ]
        found += [self.app.embedding.error] if self.app.embedding.error else []
        found += await asyncio.to_thread(_unreadable_settings, self.app.home)
        return found + await self._of_providers()

    async def _of_providers(self) -> list[str]:
        state = await self._provider(Args())
        refused = [error for one in state["providers"] if one["refused"] and (error := one["error"])]
        found = [f"{error['code']} {error['message']}: {error['remedy']}" for error in refused]
        accounts = [account for one in state["providers"] for account in one["own_keys"]]
        own = [error for account in accounts if account["refused"] and (error := account["error"])]
        found += [f"{one['code']} {one['message']}, with the key of a session's environment" for one in own]
        spending = state["spending"]
        if state["providers"] and spending["state"] != "free":
            found.append(f"${spending['spent_today']:.2f} of today's ${spending['cap']:g} for models are spent")
        return found

    async def cmd_accept_settings(self, args: Args) -> wire.ChangedSettings:
        """Apply the settings of config.toml and of the daemon's environment: the request is a person's approval."""
        wanted = load_settings(self.app.home.root)
        values = await accept(self.app.database, wanted, args.reason, self.app.config.accepted)
        self.app.settings = wanted
        return {"changed": await put_in_force(self.app, values)}

    async def cmd_drain(self, args: Args) -> wire.DrainResult:
        """Wait until all spool entries are processed and all memories are embedded, for at most ``timeout`` seconds."""
        deadline = monotonic() + args.timeout
        while True:
            drained, embedded = await self._drained()
            if (drained and embedded) or monotonic() > deadline:
                return {"drained": drained, "embedded": embedded}
            await asyncio.sleep(0.02)

    async def _drained(self) -> tuple[bool, bool]:
        await self.spool.sweep()
        left = await jobs.counts(self.app.database)
        waiting = await self.spool.waiting()
        backlog = await embedding_queue.counts(self.app.database)
        waits = backlog.get("pending", 0) > 0 and self.app.embedding.state in ("loading", "ready", "fallback")
        return left["ready"] + left["leased"] + waiting == 0, not waits

    async def cmd_embed(self, args: Args) -> wire.EmbedResult:
        """Retry failed embeddings now."""
        del args
        return {"pending": await self.app.embedding.retry()}

    async def cmd_stop(self, args: Args) -> wire.StopResult:
        """Stop after the work in progress."""
        del args
        self.app.signals.stopping.set()
        return {"stopping": True}

    async def cmd_yield(self, args: Args) -> wire.StopResult:
        """Stop the daemon if the caller has a newer version."""
        if newer(args.version, __version__):
            self.app.signals.stopping.set()
        return {"stopping": self.app.signals.stopping.is_set()}
