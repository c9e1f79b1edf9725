"""Guarded settings: a change takes effect after a person has accepted it.

They decide what is stored without a review. config.toml and the environment of the process that starts the daemon can
be written by any command of the model. The values that a person accepted last are in the history; those that the first
start finds count as accepted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from subconscious.settings.settings import GUARDS, Settings
from subconscious.store import events
from subconscious.store.connect import Database

GUARDED = frozenset(GUARDS)
"""Settings marked with ``Guarded`` in subconscious/settings/settings.py, and those of the table of providers."""

SUBJECT = ("settings", "guarded")


def guarded(settings: Settings) -> dict[str, Any]:
    """Return the values of the guarded settings as JSON values."""
    return settings.model_dump(mode="json", include=set(GUARDED))


def needs_word(name: str, held: Any, wanted: Any) -> bool:
    """Return whether a change from the accepted value needs a person's approval."""
    return bool(held != wanted) and not (name in GUARDS and GUARDS[name].safer(held, wanted))


def refused(settings: Settings, held: Mapping[str, Any]) -> dict[str, Any]:
    """Return the wanted values that need a person's approval and don't have it."""
    wanted = guarded(settings).items()
    return {name: value for name, value in wanted if name in held and needs_word(name, held[name], value)}


def with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as the settings have them: JSON has lists instead of tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


async def accepted(database: Database, found: Settings) -> dict[str, Any]:
    """Return the values that a person accepted last; ``found`` are accepted if there are none yet."""
    history = await events.history(database, *SUBJECT)
    if not history:
        return await accept(database, found, "found at the first start", actor="daemon")
    # A setting that is new in this version has its default value.
    return guarded(Settings.model_construct()) | (history[-1]["after"] or {})


async def accept(
    database: Database, wanted: Settings, reason: str, held: dict[str, Any] | None = None, actor: str = "user"
) -> dict[str, Any]:
    """Record that these values are accepted, in place of ``held``."""
    values = guarded(wanted)
    async with database.write() as tx:
        await events.record(tx, "accept", *SUBJECT, actor=actor, reason=reason, before=held, after=values)
    return values


async def accept_only(
    database: Database, wanted: Settings, held: Mapping[str, Any], names: Collection[str]
) -> dict[str, Any]:
    """Record that these of the wanted values are accepted, in addition to the other ``held`` ones."""
    values = dict(held) | {name: value for name, value in guarded(wanted).items() if name in names}
    async with database.write() as tx:
        await events.record(
            tx, "accept", *SUBJECT, actor="user", reason="chosen in the setup", before=dict(held), after=values
        )
    return values
