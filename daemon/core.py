"""What every part of the daemon shares while it runs."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from time import time
from typing import Any

from subconscious.capture.calibration import Calibration
from subconscious.errors import SettingsError
from subconscious.flow import UNCALIBRATED, Mind, calibrate
from subconscious.home import Home
from subconscious.projects import identify
from subconscious.settings import Settings, load_settings
from subconscious.store.connect import Database
from subconscious.store.projects import Project, project_at, settle

from .embedding import Embedding
from .vouching import Vouched

log = logging.getLogger("subconscious.daemon")

OPTIONS = frozenset({"capture", "surface", "start_tokens"})
"""The plugin's options, as its hooks hand them over. Whatever else an entry claims is none: anybody can write one."""

HURRIED_LOOK = 0.3
"""Seconds that a project's history may take to look up while somebody waits."""


@dataclass
class Core:
    """The open store and the signals between the daemon's loops."""

    home: Home
    settings: Settings
    database: Database
    embedding: Embedding
    started_at: float = field(default_factory=time)
    last_heard: float = field(default_factory=time)
    calibration: Calibration = UNCALIBRATED
    accepted: dict[str, Any] = field(default_factory=dict)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    spooled: asyncio.Event = field(default_factory=asyncio.Event)
    queued: asyncio.Event = field(default_factory=asyncio.Event)
    vouched: Vouched = field(default_factory=Vouched)
    # The session that was resumed last in each project. Of a fork the client tells as of a resumption of its parent;
    # the fork itself is first heard of when it speaks, under an id of its own.
    resumed: dict[str, str] = field(default_factory=dict)
    # Two readers of one transcript would both start at the saved offset: the job of a Stop hook and, say, the closing
    # of a silent session. They take turns, by path.
    reading: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    # A session's answers go one after the other: a prompt that is answered while an abandoned start is being taken back
    # would find everything in the ledger, say nothing, and be the session's greeting.
    answering: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    def heard(self) -> None:
        """Somebody spoke to us: the idle time begins anew."""
        self.last_heard = time()

    def mind(self, options: Mapping[str, str] | None = None) -> Mind:
        """The library's view of the store, under the settings that hold for one caller."""
        settings = self._settings_for(options) if options else self.settings
        settings = settings.model_copy(update=self.accepted) if self.refused(settings) else settings
        return Mind(self.database, self.embedding.index, settings, self.embedding.of_query, self.calibration)

    def refused(self, settings: Settings) -> dict[str, Any]:
        """The values that nobody has accepted yet."""
        wanted = {name: getattr(settings, name) for name in self.accepted}
        return {name: value for name, value in wanted.items() if value != self.accepted[name]}

    async def calibrate(self) -> None:
        """Learn anew from what was decided: at the start and after every decision."""
        self.calibration = await calibrate(self.database, self.mind().settings)

    def _settings_for(self, options: Mapping[str, str]) -> Settings:
        """Settings with the plugin's options below config.toml; a bad option is left out, the others hold."""
        known = [option for option in sorted(options.items()) if option[0] in OPTIONS]
        good = tuple(option for option in known if _is_good(self.home, option))
        return _cached_settings(self.home, good)

    async def project_of(self, folder: str) -> Project:
        """The project of a folder; a new one is looked at in a hurry and confirmed by a job later."""
        known = await project_at(self.database, folder)
        if known is not None:
            return known
        identity = await asyncio.to_thread(identify, folder, HURRIED_LOOK)
        return await settle(self.database, identity, alias=folder)


@lru_cache(maxsize=64)
def _is_good(home: Home, option: tuple[str, str]) -> bool:
    try:
        load_settings(home.root, dict([option]))
    except SettingsError as error:
        log.warning("plugin option ignored: %s", error)
        return False
    return True


@lru_cache(maxsize=16)
def _cached_settings(home: Home, options: tuple[tuple[str, str], ...]) -> Settings:
    return load_settings(home.root, dict(options))
