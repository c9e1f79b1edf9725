"""A person's decision on captures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wish:
    """A person's decision on captures: approve, reject, teach, edit, release, restore or undo.

    ``once`` identifies the message that carries it, if that may arrive twice; the second time it has no effect.
    """

    deed: str
    ids: tuple[int, ...]
    reason: str = ""
    wording: str = ""
    kind: str | None = None
    once: str = ""
