"""The keys that sessions bring in their environment: held in memory alone, each for the requests of its session."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from subconscious.settings import KEYS, PREFIX

MOST_SESSIONS = 256
"""Sessions whose keys are held. Beyond that the least recent one is dropped; it brings its keys again with its next
prompt."""

SHARED = frozenset({"embedder_key"})
"""Keys that no session has of its own: one embedder makes the vectors of all sessions."""


class SessionKeys:
    """Keys by session and setting. Nothing here is ever written or logged."""

    def __init__(self) -> None:
        self._keys: OrderedDict[str, dict[str, str]] = OrderedDict()

    def hear(self, session_id: str, secrets: Mapping[str, str]) -> bool:
        """Replace the keys of a session; return whether they changed.

        A key among the plugin's options outranks the variable of the same setting.
        """
        before, now = self._keys.pop(session_id, {}), _own(secrets)
        if now:
            self._keys[session_id] = now
        if len(self._keys) > MOST_SESSIONS:
            self._keys.popitem(last=False)
        return now != before

    def of(self, session_id: str) -> Mapping[str, str]:
        """The keys of a session, by setting."""
        return self._keys.get(session_id, {})

    @property
    def sessions(self) -> list[str]:
        """The sessions that brought keys."""
        return list(self._keys)

    @property
    def all(self) -> set[str]:
        """Every key that is held."""
        return {key for keys in self._keys.values() for key in keys.values()}


def _own(secrets: Mapping[str, str]) -> dict[str, str]:
    """The keys among a session's variables."""
    variables = {name.removeprefix(PREFIX).lower(): key for name, key in secrets.items() if name.startswith(PREFIX)}
    return {name: key for name, key in variables.items() if name in KEYS - SHARED and key and not secrets.get(name)}
