"""The table of providers: class, SDK, settings, default model and prices of each, and how many calls run at once.

To add a provider, write its class in ``subconscious/llm/providers/`` and its table in ``models.toml`` there. Settings,
guarded names, keys, the choices of ``subconscious setup`` and the plugin's options derive from the table.
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
"""Settings of a provider that can change without a person's approval.

A key is secret, so approving it can't be recorded. Another model of the same provider gets the same texts.
"""


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One provider's table in ``models.toml``. ``adapter`` is "module:Class", below ``subconscious.llm.providers``.

    ``settings`` are the provider's own settings, with their descriptions: ``key`` becomes the setting ``<name>_key``.
    ``about`` is the provider's line in ``subconscious setup``; without it, the provider is not listed there.
    ``program`` is the name of a program that must be installed, ``sdk`` the name of the optional dependency (extra)
    that the adapter imports. ``key_option`` says whether the plugin has an option for the key.
    """

    name: str
    adapter: str
    about: str = ""
    key: Literal["required", "own_server_without", "optional"] = "optional"
    key_option: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    guard_model: bool = False
    program: str = ""
    sdk: str = ""
    at_once: int = 16
    default: str = ""
    batch: float = 1.0
    local: bool = False
    source: str = ""
    read: date | None = None
    models: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def needs_key(self, base_url: str) -> bool:
        """Whether the provider requires a key at the address ``base_url``."""
        return self.key == "required" or (self.key == "own_server_without" and not base_url)

    @property
    def guarded(self) -> frozenset[str]:
        """Names of the provider's settings that need approval: where text is sent, and which program is run."""
        free = NOT_GUARDED - ({"model"} if self.guard_model else set())
        return frozenset(f"{self.name}_{own}" for own in self.settings if own not in free)


@cache
def provider_rows() -> Mapping[str, ProviderRow]:
    """Return the rows by provider name. Raises TypeError if a row has an unknown field."""
    # Not files("subconscious.llm.providers"): that imports the package, which needs settings, which need this table.
    text = files("subconscious").joinpath("llm", "providers", "models.toml").read_text(encoding="utf-8")
    return {name: ProviderRow(name, **row) for name, row in tomllib.loads(text).items()}


def offered_providers() -> str:
    """Return the names of the providers that users can choose, joined for a sentence: "anthropic, openai or ollama"."""
    *most, last = [row.name for row in provider_rows().values() if row.about]
    return f"{', '.join(most)} or {last}"


def provider_row(name: str) -> ProviderRow:
    """Return the row of a provider; for an unknown name an empty row, because `open_provider` raises the error."""
    return provider_rows().get(name) or ProviderRow(name, "")
