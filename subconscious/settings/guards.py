"""Guarded settings: riskier changes of these settings take effect only after a person has approved them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Strategy = Literal["off", "redact", "mask", "block", "warn"]
"""How personal data in a text is handled.

``off`` keeps the data, ``redact`` replaces it with a placeholder, ``mask`` with a placeholder that shows its last
characters, ``block`` removes the whole text, and ``warn`` keeps the data and records that it was found.
"""


Safer = Callable[[Any, Any], bool]


def never(_current: Any, _wanted: Any) -> bool:
    """Return False: every change of the setting needs a person's approval."""
    return False


@dataclass(frozen=True, slots=True)
class Guarded:
    """Marks a setting for which riskier changes take effect only after a person has approved them.

    Guard settings that lower the bar for storing, hide memories, let text leave the machine, spend money, or name a
    program to run. A change for which ``safer(current, wanted)`` is true takes effect at once.
    """

    safer: Safer = field(default=never)


def if_lower(current: Any, wanted: Any) -> bool:
    """Whether the wanted value is not higher than the current one, so that no approval is needed."""
    return bool(wanted <= current)


def if_higher(current: Any, wanted: Any) -> bool:
    """Whether the wanted value is not lower than the current one, so that no approval is needed."""
    return bool(wanted >= current)


def if_on(_current: Any, wanted: Any) -> bool:
    """Whether the change switches the setting on, which needs no approval."""
    return bool(wanted)


def if_off(_current: Any, wanted: Any) -> bool:
    """Whether the change switches the setting off, which needs no approval."""
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
