"""What every part of the daemon shares while it runs."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from time import time
from typing import Any

from subconscious.capture.calibration import Calibration
from subconscious.errors import SettingsError
from subconscious.flow.mind import UNCALIBRATED, Mind
from subconscious.flow.remembering import calibrate
from subconscious.home import Home
from subconscious.llm.client import LLMClient
from subconscious.llm.later import Later
from subconscious.programs import choose_program
from subconscious.projects import identify
from subconscious.providers import Ask
from subconscious.settings import KEYS, PREFIX, Settings, keys_in_config, load_settings
from subconscious.store.connect import Database
from subconscious.store.projects import Project, project_at, settle

from .accepted import refused, with_tuples
from .claude_notes import ClaudeNotes
from .codes import Codes
from .damage import Damage
from .disk import Disk
from .embedding import Embedding
from .lately import Lately
from .rewording import Rewording
from .session_keys import SessionKeys
from .standing import Standings
from .vouching import Vouched
from .withheld import Withheld

log = logging.getLogger("subconscious.daemon")

OF_PROVIDERS = KEYS | {"provider"}
"""The plugin's options that say which model is asked, for all sessions alike: there is one client for all."""
OPTIONS = OF_PROVIDERS | {"capture", "surface", "start_tokens"}
"""The plugin's options, as its hooks hand them over, beside the session's SUBCONSCIOUS_* variables. Whatever else an
entry claims is none: anybody can write one."""

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
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    # Whether something could not be written lately: then it is looked for the time when it can be again.
    disk: Disk = field(default_factory=Disk)
    spooled: asyncio.Event = field(default_factory=asyncio.Event)
    queued: asyncio.Event = field(default_factory=asyncio.Event)
    # Set after a transcript gained something that a model is to read, once that is committed.
    gathered: asyncio.Event = field(default_factory=asyncio.Event)
    # Set after a question that can wait was put on record, once that is committed.
    questioned: asyncio.Event = field(default_factory=asyncio.Event)
    # One for all sessions; nothing is opened before the first question.
    llm: LLMClient = field(init=False)
    later: Later = field(init=False)
    rewording: Rewording = field(init=False)
    adopted: dict[str, str] = field(default_factory=dict, repr=False)
    session_keys: SessionKeys = field(default_factory=SessionKeys, repr=False)
    # Sessions whose keys have changed, "" for all of them: their work no longer has to wait for a key.
    rekeyed: set[str] = field(default_factory=set)
    accepted: dict[str, Any] = field(default_factory=dict)
    vouched: Vouched = field(default_factory=Vouched)
    # Decisions that wait for the code that a person reads in a terminal.
    codes: Codes = field(default_factory=Codes, repr=False)
    # Entries that lay in the spool when the daemon began to listen: their hooks had nobody to hand them to.
    unheard: set[str] = field(default_factory=set)
    # The session that was resumed last in each project. Of a fork the client tells as of a resumption of its parent;
    # the fork itself is first heard of when it speaks, under an id of its own.
    resumed: dict[str, str] = field(default_factory=dict)
    lately: Lately = field(default_factory=Lately, repr=False)
    # What limits kept from sessions lately, for `why-surfaced`.
    withheld: Withheld = field(default_factory=Withheld)
    # What is known of the files and branches that memories are bound to; looked at beside the hooks, never in them.
    standings: Standings = field(default_factory=Standings)
    # Claude Code's own notes, and what it tells sessions by itself.
    notes: ClaudeNotes = field(default_factory=ClaudeNotes)
    # Two readers of one transcript would both start at the saved offset: the job of a Stop hook and, say, the closing
    # of a silent session. They take turns, by path.
    reading: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    # A session's answers go one after the other: a prompt that is answered while an abandoned start is being taken back
    # would find everything in the ledger, say nothing, and be the session's greeting.
    answering: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    # How many starts wait for what other sessions have just handed over: the work on that steps aside for nobody.
    awaited: int = 0

    # What is wrong with the database, as far as the start and the last verification found.
    damage: Damage = field(default_factory=Damage)
    # The projects of whose memories a later look or a model thinks otherwise than before, None for the user's own: no
    # event tells of it. And those that could not be rendered. What is rendered of them is to be rendered anew.
    flagged: set[str | None] = field(default_factory=set)
    # One job of maintenance at a time, whoever wants it.
    maintaining: asyncio.Lock = field(default_factory=asyncio.Lock)
    # How many people wait for such a job: then the one under way waits for no silence.
    hurrying: int = 0
    # What is rendered is written by one at a time: nobody may put back what another has just purged.
    rendering: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        choose_program("git", self.in_force(self.settings).git_command)
        self._configured = keys_in_config(self.home.root)
        self.llm = LLMClient(self.database, self.in_force(self.settings), own_keys=self._keys_of)
        self.later = Later(self.database, self.llm)
        self.rewording = Rewording(self.llm, self.lately)

    def heard(self) -> None:
        """Somebody spoke to us: the idle time begins anew."""
        self.last_heard = time()

    def mind(self, options: Mapping[str, str] | None = None, *, asked: bool = False, hurried: bool = False) -> Mind:
        """The library's view of the store, under the settings that hold for one caller.

        ``asked``: somebody wants to find something, and waits for it unless ``hurried``. Else what is looked for are
        words of a session, which don't leave this machine without permission, and nobody waits long.
        """
        settings = self.in_force(self._settings_for(options) if options else self.settings, options or {})
        sense = self.embedding.sense
        embed = sense.prompted if not asked else sense.asked_hurriedly if hurried else sense.asked
        known = self.standings.known
        return Mind(
            self.database,
            sense.index,
            settings,
            embed,
            self.calibration,
            known,
            sense.at_hand,
            sense.found,
            relate=sense.relate,
        )

    def in_force(self, settings: Settings, options: Mapping[str, str] | None = None) -> Settings:
        """These settings, but for what needs a person's word and has not got it.

        The provider may be chosen among the plugin's ``options`` as well, where config.toml says nothing that holds.
        """
        held = with_tuples({name: self.accepted[name] for name in self.refused(settings)})
        chosen = (options or {}).get("provider", "")
        if chosen and not self._provider_is_configured():
            held["provider"] = chosen
        return settings.model_copy(update=held) if held else settings

    def _provider_is_configured(self) -> bool:
        found = self.settings.provider
        return "provider" in self.settings.model_fields_set and found == self.accepted.get("provider", found)

    def refused(self, settings: Settings) -> dict[str, Any]:
        """The values that nobody has accepted yet."""
        return refused(settings, self.accepted)

    async def calibrate(self) -> None:
        """Learn anew from what was decided: at the start and after every decision."""
        self.calibration = await calibrate(self.database, self.mind().settings)

    def adopt(self, options: Mapping[str, str]) -> None:
        """Take over what a session's plugin options say of providers and their keys.

        They are kept in memory alone; a daemon that starts anew hears them with the next prompt.
        """
        chosen = {name: value for name, value in options.items() if name in OF_PROVIDERS and value}
        if chosen == self.adopted:
            return
        self.adopted = chosen
        if not self.settings.embedder_key.get_secret_value() and chosen.get("embedder_key"):
            self.embedding.use_key(chosen["embedder_key"])
        self.reconfigure()

    def hear_keys(self, session_id: str, secrets: Mapping[str, str]) -> None:
        """Store the keys of a session's environment, for requests made on its behalf."""
        if not self.session_keys.hear(session_id, secrets):
            return
        self.llm.keep_accounts(self.session_keys.all)
        self.later.hurry(session_id)
        self._try_again(session_id)

    def _try_again(self, session_id: str = "") -> None:
        self.rekeyed.add(session_id)
        self.questioned.set()
        self.gathered.set()

    def _keys_of(self, session_id: str) -> Mapping[str, str]:
        """Return the keys that a session brought, without those that config.toml sets."""
        own = self.session_keys.of(session_id)
        return {name: key for name, key in own.items() if name not in self._configured}

    def key_source(self, provider: str, session_id: str = "") -> str:
        """Return where the key for requests of a session, or of none, comes from; "" if there is no key."""
        name = f"{provider}_key"
        if name in self._configured:
            return "config.toml"
        if self._keys_of(session_id).get(name):
            return "this session's environment"
        if self.adopted.get(name):
            return "the plugin's options"
        return "the daemon's environment" if os.environ.get(PREFIX + name.upper()) else ""

    def reconfigure(self) -> None:
        """Let what holds now hold for the models too. What was chosen in Claude Code is a person's choice as well."""
        _is_good.cache_clear()
        _cached_settings.cache_clear()
        self._configured = keys_in_config(self.home.root, self._configured)
        choose_program("git", self.in_force(self.settings).git_command)
        self.llm.reconfigure(self.in_force(self._settings_for(self.adopted), self.adopted))
        self.later.begin_anew()
        self._try_again()

    def settings_for_trial(self, provider: str) -> Settings:
        """Return what holds, with another provider: config.toml is read anew, for a key may be new in it."""
        _cached_settings.cache_clear()
        found = self.in_force(self._settings_for(self.adopted), self.adopted)
        return found.model_copy(update={"provider": provider, "provider_fallback": ()})

    @property
    def has_model(self) -> bool:
        """Whether a provider is chosen."""
        return self.llm.on

    def ask_for(self, session_id: str) -> Ask | None:
        """How a model is asked on behalf of a session; None where there is none, or no key that it could be asked with.

        What was flagged is asked about one by one: beside another's words, its own could answer for both.
        """
        return self.llm.asker(session_id) if self.llm.may_ask(session_id) else None

    def _settings_for(self, options: Mapping[str, str]) -> Settings:
        """Settings with the plugin's options below config.toml; a bad option is left out, the others hold."""
        known = [option for option in sorted(options.items()) if option[0] in OPTIONS or option[0].startswith(PREFIX)]
        good = tuple(option for option in known if _is_good(self.home, option))
        try:
            return _cached_settings(self.home, good)
        except SettingsError as error:  # config.toml was broken since the daemon has started
            log.warning("settings stay as they were: %s", error)
            return self.settings

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
