"""The settings in force: config.toml and the plugin's options, without the changes that still need approval."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from subconscious.context.approval import refused, with_tuples
from subconscious.domain.errors import SettingsError
from subconscious.settings.home import Home
from subconscious.settings.settings import KEYS, PREFIX, Settings, keys_in_config, load_settings

log = logging.getLogger("subconscious.context")

PROVIDER_OPTIONS = KEYS | {"provider"}
"""Plugin options that choose and authenticate the model. They apply to all sessions, which share one client."""

OPTIONS = PROVIDER_OPTIONS | {"capture", "surface", "start_tokens"}
"""Plugin options that are used, besides the session's SUBCONSCIOUS_* variables. Others are ignored, because any process
can write a spool entry with options in it."""


class ActiveSettings:
    """The settings in force: those of config.toml, changed by the plugin's options.

    Riskier changes of some settings (guarded ones: `settings.guards`) need a person's approval. Until then, the value
    that a person accepted last stays in force.
    """

    def __init__(self, home: Home, loaded: Settings, accepted: Mapping[str, Any]) -> None:
        self.home = home
        self.loaded = loaded
        self.accepted = dict(accepted)
        # Plugin options for providers, from the session that sent them last. Kept in memory only; a new daemon gets
        # them with the next prompt.
        self.adopted: dict[str, str] = {}
        self.keys_in_config = keys_in_config(home.root)

    @property
    def current(self) -> Settings:
        """The settings in force without options of a session."""
        return self.in_force(self.loaded)

    def in_force(self, settings: Settings, options: Mapping[str, str] | None = None) -> Settings:
        """Return these settings, with the last accepted value in place of each value that a person has yet to accept.

        The plugin's ``options`` may also choose the provider, unless config.toml names one that a person has accepted.
        """
        values = with_tuples({name: self.accepted[name] for name in self.refused(settings)})
        chosen = (options or {}).get("provider", "")
        if chosen and not self._provider_is_configured():
            values["provider"] = chosen
        return settings.model_copy(update=values) if values else settings

    def _provider_is_configured(self) -> bool:
        found = self.loaded.provider
        return "provider" in self.loaded.model_fields_set and found == self.accepted.get("provider", found)

    def refused(self, settings: Settings | None = None) -> dict[str, Any]:
        """Return the settings that still need a person's approval: a dict from their names to their new values."""
        return refused(self.loaded if settings is None else settings, self.accepted)

    def with_options(self, options: Mapping[str, str]) -> Settings:
        """Return the settings in force for a session with these plugin options."""
        return self.in_force(self._load(options) if options else self.loaded, options)

    def for_providers(self) -> Settings:
        """Return the settings in force, with the provider options that a session sent last."""
        return self.in_force(self._load(self.adopted), self.adopted)

    def for_trial(self, provider: str) -> Settings:
        """Return the settings for a trial of ``provider``. Reads config.toml again: the provider's key may be new."""
        _cached_settings.cache_clear()
        return self.for_providers().model_copy(update={"provider": provider, "provider_fallback": ()})

    def adopt(self, options: Mapping[str, str]) -> bool:
        """Use a session's options for providers from now on; return whether they differ from the previous ones."""
        chosen = {name: value for name, value in options.items() if name in PROVIDER_OPTIONS and value}
        changed = chosen != self.adopted
        self.adopted = chosen
        return changed

    def reload(self) -> None:
        """Clear the cached settings, and read again which keys config.toml sets."""
        _is_valid.cache_clear()
        _cached_settings.cache_clear()
        self.keys_in_config = keys_in_config(self.home.root, self.keys_in_config)

    def key_source(self, provider: str, session_keys: Mapping[str, str]) -> str:
        """Return where a provider's key comes from; "" if there is none."""
        name = f"{provider}_key"
        if name in self.keys_in_config:
            return "config.toml"
        if session_keys.get(name):
            return "this session's environment"
        if self.adopted.get(name):
            return "the plugin's options"
        return "the daemon's environment" if os.environ.get(PREFIX + name.upper()) else ""

    def _load(self, options: Mapping[str, str]) -> Settings:
        """Load the settings; config.toml takes priority over the plugin's options, and an invalid option is ignored."""
        known = [option for option in sorted(options.items()) if option[0] in OPTIONS or option[0].startswith(PREFIX)]
        valid = tuple(option for option in known if _is_valid(self.home, option))
        try:
            return _cached_settings(self.home, valid)
        except SettingsError as error:  # config.toml was broken after the daemon had started
            log.warning("settings can't be loaded and are left unchanged: %s", error)
            return self.loaded


@lru_cache(maxsize=64)
def _is_valid(home: Home, option: tuple[str, str]) -> bool:
    try:
        load_settings(home.root, dict([option]))
    except SettingsError as error:
        log.warning("plugin option ignored: %s", error)
        return False
    return True


@lru_cache(maxsize=16)
def _cached_settings(home: Home, options: tuple[tuple[str, str], ...]) -> Settings:
    return load_settings(home.root, dict(options))
