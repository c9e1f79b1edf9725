"""What a typed command is answered with."""

from __future__ import annotations

from typing import NamedTuple


class Said(NamedTuple):
    """What the model is told, and what only the person is shown.

    ``done``: there is nothing left for the model to do, so the person is shown all of it and no turn begins.
    """

    context: str
    message: str = ""
    done: bool = False

    @property
    def shown(self) -> str:
        """What the person is shown of a command that is done."""
        return self.message or self.context
