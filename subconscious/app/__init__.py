"""The services and the state that the daemon's features share, and the base of their request handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from time import time
from typing import Any

from subconscious.app.active_settings import ActiveSettings
from subconscious.app.sessions import Sessions
from subconscious.calibration.curves import UNCALIBRATED, Calibration, calibrate
from subconscious.claude_notes import ClaudeNotes
from subconscious.context.damage import Damage
from subconscious.context.disk import Disk
from subconscious.context.signals import AnswerTimes, Signals
from subconscious.embeddings.background import Embedding
from subconscious.llm.client import LLMClient
from subconscious.llm.deferred import DeferredRequests
from subconscious.recall.marks import UNKNOWN, WorktreeState
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.rewording import Rewording
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store.connect import Database
from subconscious.store.projects import Project, find_or_create, project_at
from subconscious.system.programs import choose_program
from subconscious.system.projects import identify
from subconscious.wire.memories import TeamHit

TeamSearch = Callable[[str, str, int], Awaitable[list[TeamHit]]]
"""Searches a team's store: (project's id, text, most hits) -> hits. No hits if it fails or takes too long."""


class Worktrees:
    """The last known state of the files and branches that memories refer to, and the folders to examine next."""

    def __init__(self) -> None:
        self.known: WorktreeState = UNKNOWN
        self._examined: dict[tuple[str, str], tuple[str, frozenset[tuple[int, str]]]] = {}
        self.wanted: dict[str, str] = {}
        self.woken = asyncio.Event()

    def want(self, project_id: str, folder: str, branch: str, commit: str) -> None:
        """Request the examination of a folder, because a session works in it.

        ``branch`` and ``commit`` are checked out there. If another commit of the branch was examined, it is no longer
        known which branches are not merged: the new commit may have merged them.
        """
        before, apart = self._examined.get((project_id, branch), (commit, frozenset()))
        if before != commit:
            self.known = replace(self.known, apart=self.known.apart - apart)
        self.wanted[project_id] = folder
        self.woken.set()

    def record_merges(self, project_id: str, branch: str, commit: str, merged: Mapping[int, bool | None]) -> None:
        """Record which memories of a project come from a branch that ``commit`` of ``branch`` contains, by their id.

        None means that it is unknown whether the memory's branch was merged.
        """
        pairs = {
            answer: frozenset((number, branch) for number, one in merged.items() if one is answer)
            for answer in (True, False, None)
        }
        others = frozenset((number, branch) for number in merged)
        self.known = replace(
            self.known,
            merged=(self.known.merged - others) | pairs[True],
            apart=(self.known.apart - others) | pairs[False],
        )
        self._examined[project_id, branch] = (commit, pairs[False])

    def record_renames(self, branch: str, named: Mapping[int, bool]) -> None:
        """Record, by memory id, whether ``branch`` formerly had the branch name in the memory's text."""
        others = frozenset((number, branch) for number in named)
        renamed = frozenset((number, branch) for number, is_former in named.items() if is_former)
        self.known = replace(self.known, renamed=(self.known.renamed - others) | renamed)


IDENTIFY_SECONDS = 0.3
"""Seconds that the lookup of a project's Git history may take while a request waits for it."""


class App:
    """The composition root: one instance for the whole daemon."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        database: Database,
        embedding: Embedding,
        accepted: Mapping[str, Any] | None = None,
    ) -> None:
        self.home = home
        self.database = database
        self.embedding = embedding
        self.config = ActiveSettings(home, settings, accepted or {})
        self.signals = Signals()
        self.sessions = Sessions()
        self.started_at = time()
        self.calibration: Calibration = UNCALIBRATED
        self.disk = Disk()
        self.answer_times = AnswerTimes()
        self.damage = Damage()
        self.worktrees = Worktrees()
        self.notes = ClaudeNotes(database, self.disk, embedding, lambda: self.config.current)
        choose_program("git", self.config.current.git_command)
        # One client for all sessions; it opens nothing before the first request.
        self.llm = LLMClient(database, self.config.current, own_keys=self._keys_of)
        self.later = DeferredRequests(database, self.llm)
        self.rewording = Rewording(self.llm, self.sessions.recent_turns)
        # Services of packages that import this one, by their class; and the search of a team's store, if there is one.
        self.services: dict[type, Any] = {}
        self.team_search: TeamSearch | None = None

    @property
    def settings(self) -> Settings:
        """The settings as loaded, with changes that a person has not approved yet; ``config.current`` omits them."""
        return self.config.loaded

    @settings.setter
    def settings(self, loaded: Settings) -> None:
        self.config.loaded = loaded

    def on(self, database: Database) -> App:
        """Return a view of this app that uses ``database``, which is a view of the app's own database."""
        return _View(self, database)

    def recall_context(
        self, options: Mapping[str, str] | None = None, *, asked: bool = False, hurried: bool = False
    ) -> RecallContext:
        """Return the context for storing and finding memories, with the settings that are in force for one caller.

        ``asked``: a person or the model searches. Otherwise the query consists of words of a session, which are not
        sent to a remote service without permission and must be embedded quickly. ``hurried``: a hook waits for an
        ``asked`` search.
        """
        embedder = self.embedding.current
        return RecallContext(
            self.database,
            embedder.index and embedder.index.on(self.database),
            self.config.with_options(options or {}),
            embedder.prompt_vector if not asked else embedder.hook_search_vector if hurried else embedder.search_vector,
            self.calibration,
            self.worktrees.known,
            embedder.local_vector,
            embedder.found,
            relate=embedder.relate,
        )

    async def calibrate(self) -> None:
        """Compute the calibration of confidences from all review decisions: at the daemon's start, after each one."""
        self.calibration = await calibrate(self.database, self.config.current)

    def adopt(self, options: Mapping[str, str]) -> None:
        """Use the provider and the keys in a session's plugin options from now on."""
        if not self.config.adopt(options):
            return
        embedder_key = self.config.adopted.get("embedder_key", "")
        if embedder_key and not self.settings.embedder_key.get_secret_value():
            self.embedding.use_key(embedder_key)
        self.reconfigure()

    def hear_keys(self, session_id: str, secrets: Mapping[str, str]) -> None:
        """Store the keys of a session's environment, for requests made on its behalf."""
        if not self.sessions.keys.put(session_id, secrets):
            return
        self.llm.keep_accounts(self.sessions.keys.all)
        self.later.retry_session(session_id)
        self._retry_requests(session_id)

    def _retry_requests(self, session_id: str = "") -> None:
        self.sessions.rekeyed.add(session_id)
        self.signals.questioned.set()
        self.signals.gathered.set()

    def _keys_of(self, session_id: str) -> Mapping[str, str]:
        """Return the keys from a session's environment, without those that config.toml sets."""
        own = self.sessions.keys.of(session_id)
        return {name: key for name, key in own.items() if name not in self.config.keys_in_config}

    def key_source(self, provider: str, session_id: str = "") -> str:
        """Return where the provider's key for a session (or for no session) comes from; "" if there is no key."""
        return self.config.key_source(provider, self._keys_of(session_id))

    def reconfigure(self) -> None:
        """Apply the settings in force to Git and to the model's client, after the settings have changed."""
        self.config.reload()
        choose_program("git", self.config.current.git_command)
        self.llm.reconfigure(self.config.for_providers())
        self.later.retry_all()
        self._retry_requests()

    async def project_of(self, folder: str) -> Project:
        """Return the project of a folder. A new project is identified within a deadline; a job checks that later."""
        known = await project_at(self.database, folder)
        if known is not None:
            return known
        identity = await asyncio.to_thread(identify, folder, IDENTIFY_SECONDS)
        return await find_or_create(self.database, identity, alias=folder)


class _View(App):
    """An app with another view of the database. All other attributes are read from and assigned to the app itself."""

    def __init__(self, app: App, database: Database) -> None:
        self.__dict__.update(_app=app, database=database)  # not by assignment, which goes to the app

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_app"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_app"], name, value)
