"""Requests about choosing a model: what it would cost, a trial, and letting it be asked."""

from __future__ import annotations

from typing import Any, ClassVar

from subconscious.errors import RequestError
from subconscious.settings import load_settings

from .. import model_setup
from ..accepted import accept_only
from ..in_force import put_in_force
from .args import Args
from .room import Room

CHOSEN = ("provider",)
"""The guarded settings that choosing a model decides on; whatever else waits in config.toml goes on waiting."""


class ModelSetup(Room):
    """Requests about choosing a model."""

    # A trial sends a session's words to the provider, so it takes the same person as the decision.
    personal: ClassVar[frozenset[str]] = frozenset({"setup_try", "setup_accept"})
    decides_on: ClassVar[str] = "which model is sent what is said"

    async def cmd_setup_plan(self, args: Args) -> dict[str, Any]:
        """Say what would be sent, and what a session would cost; sends nothing."""
        return await model_setup.plan(self.core, (await self.here(args)).id)

    async def cmd_setup_try(self, args: Args) -> dict[str, Any]:
        """Have a provider read the last session, and store nothing of it."""
        return await model_setup.trial(self.core, (await self.here(args)).id, args.provider)

    async def cmd_setup_accept(self, args: Args) -> dict[str, Any]:
        """A person lets the provider that stands in config.toml be asked."""
        wanted = load_settings(self.core.home.root)
        if wanted.provider != args.provider:
            raise RequestError(
                f"the settings name {wanted.provider!r}, not {args.provider!r}",
                "unset SUBCONSCIOUS_PROVIDER, which outranks config.toml",
            )
        values = await accept_only(self.core.database, wanted, self.core.accepted, CHOSEN)
        self.core.settings = wanted
        return {"changed": await put_in_force(self.core, values)}
