"""Guarded settings: which changes of them take effect only after a person has accepted them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Strategy = Literal["off", "redact", "mask", "block", "warn"]
"""How personal data is handled.

Kept, replaced by a mark, replaced by a mark with its last characters, removed with the whole text, or only recorded.
"""


Safer = Callable[[Any, Any], bool]


def never(_current: Any, _wanted: Any) -> bool:
    """Every change needs a person."""
    return False


@dataclass(frozen=True, slots=True)
class Guarded:
    """Marks a setting whose change takes effect after a person has accepted it.

    Guard settings that lower the bar for storing, hide memories, let text leave the machine, spend money, or name a
    program to run. A change for which ``safer(current, wanted)`` is true takes effect at once.
    """

    safer: Safer = field(default=never)


def if_lower(current: Any, wanted: Any) -> bool:
    """A lower value needs no person."""
    return bool(wanted <= current)


def if_higher(current: Any, wanted: Any) -> bool:
    """A higher value needs no person."""
    return bool(wanted >= current)


def if_on(_current: Any, wanted: Any) -> bool:
    """Switching on needs no person."""
    return bool(wanted)


def if_off(_current: Any, wanted: Any) -> bool:
    """Switching off needs no person."""
    return not wanted


def if_none(_current: Any, wanted: Any) -> bool:
    """The value ``none`` needs no person."""
    return bool(wanted == "none")


def if_local(_current: Any, wanted: Any) -> bool:
    """A value that keeps texts on this machine needs no person."""
    return wanted in ("local", "none")


STRATEGIES = ("off", "warn", "mask", "redact", "block")
"""The strategies of redaction, ordered by how much they remove."""


def if_stricter(current: Any, wanted: Any) -> bool:
    """A strategy that removes more needs no person."""
    return {current, wanted} <= set(STRATEGIES) and STRATEGIES.index(wanted) >= STRATEGIES.index(current)
