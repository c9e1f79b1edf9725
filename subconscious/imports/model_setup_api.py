"""Requests for the choice of a model: its cost, a trial, and the approval of the setting."""

from __future__ import annotations

from typing import ClassVar

from subconscious.app.reconfigure import put_in_force
from subconscious.app.request import Handler
from subconscious.context.approval import accept_only
from subconscious.context.arguments import Args
from subconscious.domain.errors import RequestError
from subconscious.imports import model_setup
from subconscious.settings.settings import load_settings
from subconscious.wire.daemon import ChangedSettings
from subconscious.wire.imports import SetupPlanResult, SetupTryResult

APPROVED = ("provider",)
"""The guarded settings that the choice of a model approves; other changes in config.toml still wait."""


class ModelSetup(Handler):
    """Requests for the choice of a model."""

    # A trial sends text of a session to the provider, so it needs a person, like the approval.
    personal: ClassVar[frozenset[str]] = frozenset({"setup_try", "setup_accept"})
    decides_on: ClassVar[str] = "which model is sent what is said"

    async def cmd_setup_plan(self, args: Args) -> SetupPlanResult:
        """Return what would be sent, and the cost of a session. Sends nothing."""
        return await model_setup.plan(self.app, (await self.here(args)).id)

    async def cmd_setup_try(self, args: Args) -> SetupTryResult:
        """Have a provider read the last session, without storing the result."""
        return await model_setup.trial(self.app, (await self.here(args)).id, args.provider)

    async def cmd_setup_accept(self, args: Args) -> ChangedSettings:
        """Approve the provider that is set in config.toml."""
        settings = load_settings(self.app.home.root)
        if settings.provider != args.provider:
            raise RequestError(
                f"the settings name {settings.provider!r}, not {args.provider!r}",
                "unset SUBCONSCIOUS_PROVIDER, which outranks config.toml",
            )
        values = await accept_only(self.app.database, settings, self.app.config.accepted, APPROVED)
        self.app.settings = settings
        return {"changed": await put_in_force(self.app, values)}
