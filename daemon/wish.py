"""What a person wants done with captures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants done with captures: approve, reject, teach, edit, release, restore or undo.

    ``once`` names what carries the wish, where that may come by twice; the second time it does nothing.
    """

    deed: str
    ids: tuple[int, ...]
    reason: str = ""
    wording: str = ""
    kind: str | None = None
    once: str = ""
