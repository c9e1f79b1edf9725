"""A client of models over scripted providers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from subconscious.llm.providers import Access, Provider, Request
from subconscious.llm.providers.scripted import ScriptedProvider, Step


class Stage:
    """Scripted providers under the names that the settings use."""

    def __init__(self, **scripts: Iterable[Step] | Callable[[Request], Any]) -> None:
        self.scripts = scripts
        self.opened: dict[str, ScriptedProvider] = {}

    def __call__(self, name: str, access: Access) -> Provider:
        options = {"name": name, "script": self.scripts.get(name, ())}
        self.opened[name] = ScriptedProvider(Access(access.model or "m", access.key, options=options))
        return self.opened[name]

    def asked(self, name: str) -> int:
        return len(self.opened[name].history) if name in self.opened else 0
