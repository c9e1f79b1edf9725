"""Guarded settings: which changes of them take effect only after a person has accepted them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Strategy = Literal["off", "redact", "mask", "block", "warn"]
"""How personal data in a text is handled.

``off`` keeps it, ``redact`` replaces it by a mark, ``mask`` by a mark with its last characters, ``block`` removes the
whole text, and ``warn`` keeps it and records that it was found.
"""


Safer = Callable[[Any, Any], bool]


def never(_current: Any, _wanted: Any) -> bool:
    """Return False: every change of the setting needs a person's approval."""
    return False


@dataclass(frozen=True, slots=True)
class Guarded:
    """Marks a setting whose change takes effect after a person has accepted it.

    Guard settings that lower the bar for storing, hide memories, let text leave the machine, spend money, or name a
    program to run. A change for which ``safer(current, wanted)`` is true takes effect at once.
    """

    safer: Safer = field(default=never)


def if_lower(current: Any, wanted: Any) -> bool:
    """Whether the wanted value is lower, which needs no approval."""
    return bool(wanted <= current)


def if_higher(current: Any, wanted: Any) -> bool:
    """Whether the wanted value is higher, which needs no approval."""
    return bool(wanted >= current)


def if_on(_current: Any, wanted: Any) -> bool:
    """Whether the setting is switched on, which needs no approval."""
    return bool(wanted)


def if_off(_current: Any, wanted: Any) -> bool:
    """Whether the setting is switched off, which needs no approval."""
    return not wanted


def if_none(_current: Any, wanted: Any) -> bool:
    """Whether the wanted value is ``none``, which needs no approval."""
    return bool(wanted == "none")


def if_local(_current: Any, wanted: Any) -> bool:
    """Whether the wanted value keeps all texts on this machine, which needs no approval."""
    return wanted in ("local", "none")


STRATEGIES = ("off", "warn", "mask", "redact", "block")
"""The strategies of redaction, ordered by how much they remove."""


def if_stricter(current: Any, wanted: Any) -> bool:
    """Whether the wanted strategy removes at least as much, which needs no approval."""
    return {current, wanted} <= set(STRATEGIES) and STRATEGIES.index(wanted) >= STRATEGIES.index(current)
