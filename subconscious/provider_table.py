"""The table of providers: what each needs to be set, reached, limited and paid for.

To add a provider, write its class in ``subconscious/providers/`` and its table in ``providers/models.toml``. Settings,
guarded names, keys, the offers of ``subconscious setup`` and the plugin's options derive from the table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Literal

NOT_GUARDED = frozenset({"model", "key"})
"""Settings of a provider that can change without a person's word. A key is secret, so it can't be kept on record, and
another model of the same seller at the same address is sent the same text."""


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One table of the file. ``adapter`` is "module:Class", below ``subconscious.providers``.

    ``settings`` are the provider's own, with their descriptions: ``key`` becomes the setting ``<name>_key``. ``about``
    is the line in ``subconscious setup``; a provider without one is not offered there. ``program`` is what has to be
    installed. ``key_option``: the plugin has an option for the key.
    """

    name: str
    adapter: str
    about: str = ""
    key: Literal["required", "own_server_without", "optional"] = "optional"
    key_option: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    guard_model: bool = False
    program: str = ""
    at_once: int = 16
    default: str = ""
    batch: float = 1.0
    local: bool = False
    source: str = ""
    read: date | None = None
    models: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def needs_key(self, base_url: str) -> bool:
        """Whether it can't be asked without a key at this address."""
        return self.key == "required" or (self.key == "own_server_without" and not base_url)

    @property
    def guarded(self) -> frozenset[str]:
        """Names of its settings that need a person's word: where text is sent, and what program is run."""
        free = NOT_GUARDED - ({"model"} if self.guard_model else set())
        return frozenset(f"{self.name}_{own}" for own in self.settings if own not in free)


@cache
def provider_rows() -> Mapping[str, ProviderRow]:
    """The rows by name. Raises TypeError for a row with an unknown field."""
    # Not files("subconscious.providers"): that would import the package, and settings are made from this table first.
    text = files("subconscious").joinpath("providers", "models.toml").read_text(encoding="utf-8")
    return {name: ProviderRow(name, **row) for name, row in tomllib.loads(text).items()}


def provider_row(name: str) -> ProviderRow:
    """The row of a provider; an empty one for a name that isn't in the table, which fails when it is opened."""
    return provider_rows().get(name) or ProviderRow(name, "")
