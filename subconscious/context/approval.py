"""Guarded settings: a riskier value takes effect only after a person has accepted it.

These settings decide, for example, what is stored without review. Any command that the model runs could write
config.toml or start the daemon with other environment variables. The values that a person accepted last are recorded
in the history of events; the values at the daemon's first start count as accepted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from subconscious.settings.settings import GUARDS, Settings
from subconscious.store import events
from subconscious.store.connect import Database

GUARDED = frozenset(GUARDS)
"""Settings marked with ``Guarded`` in subconscious/settings/settings.py, and guarded settings of providers."""

SUBJECT = ("settings", "guarded")


def guarded(settings: Settings) -> dict[str, Any]:
    """Return the values of the guarded settings as JSON values."""
    return settings.model_dump(mode="json", include=set(GUARDED))


def needs_word(name: str, held: Any, wanted: Any) -> bool:
    """Return whether changing a setting from the accepted value ``held`` to ``wanted`` needs a person's approval."""
    return bool(held != wanted) and not (name in GUARDS and GUARDS[name].safer(held, wanted))


def refused(settings: Settings, held: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in ``settings`` that differ from the accepted ones (``held``) and need a person's approval."""
    wanted = guarded(settings).items()
    return {name: value for name, value in wanted if name in held and needs_word(name, held[name], value)}


def with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with tuples, which settings use, in place of JSON's lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


async def accepted(database: Database, found: Settings) -> dict[str, Any]:
    """Return the values that a person accepted last; if there are none yet, accept and return those in ``found``."""
    history = await events.history(database, *SUBJECT)
    if not history:
        return await accept(database, found, "found at the first start", actor="daemon")
    # A setting that is new in this version has its default value.
    return guarded(Settings.model_construct()) | (history[-1]["after"] or {})


async def accept(
    database: Database, wanted: Settings, reason: str, held: dict[str, Any] | None = None, actor: str = "user"
) -> dict[str, Any]:
    """Record that the guarded values in ``wanted`` are accepted instead of those in ``held``; return the new ones."""
    values = guarded(wanted)
    async with database.write() as tx:
        await events.record(tx, "accept", *SUBJECT, actor=actor, reason=reason, before=held, after=values)
    return values


async def accept_only(
    database: Database, wanted: Settings, held: Mapping[str, Any], names: Collection[str]
) -> dict[str, Any]:
    """Record that the settings in ``names`` are accepted as in ``wanted``; return all accepted values.

    The other guarded settings keep their values in ``held``.
    """
    values = dict(held) | {name: value for name, value in guarded(wanted).items() if name in names}
    async with database.write() as tx:
        await events.record(
            tx, "accept", *SUBJECT, actor="user", reason="chosen in the setup", before=dict(held), after=values
        )
    return values
