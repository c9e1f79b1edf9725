"""The answer to a typed command."""

from __future__ import annotations

from typing import NamedTuple


class Said(NamedTuple):
    """The text for the model, and the text that only the person sees.

    ``done``: the model has nothing to do, so the person is shown everything and no turn begins.
    """

    context: str
    message: str = ""
    done: bool = False

    @property
    def shown(self) -> str:
        """The text that a person sees if the command is done."""
        return self.message or self.context
