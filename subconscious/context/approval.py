"""Settings that decide what is kept without asking: a change takes effect once a person has accepted it.

config.toml and the environment of whoever starts the daemon can be written by any command of the model. What a person
accepted last stands in the history; the values that the first start finds are taken as theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from subconscious.settings.settings import GUARDS, Settings
from subconscious.store import events
from subconscious.store.connect import Database

GUARDED = frozenset(GUARDS)
"""Marked with ``Guarded`` in subconscious/settings/settings.py; those of providers derive from their table."""

SUBJECT = ("settings", "guarded")


def guarded(settings: Settings) -> dict[str, Any]:
    """The values that need a person's word, as JSON has them."""
    return settings.model_dump(mode="json", include=set(GUARDED))


def needs_word(name: str, held: Any, wanted: Any) -> bool:
    """Whether a change from the accepted value needs a person's word."""
    return bool(held != wanted) and not (name in GUARDS and GUARDS[name].safer(held, wanted))


def refused(settings: Settings, held: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the wanted values that need a person's word and have not got it."""
    wanted = guarded(settings).items()
    return {name: value for name, value in wanted if name in held and needs_word(name, held[name], value)}


def with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values as the settings have them: JSON knows lists only."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


async def accepted(database: Database, found: Settings) -> dict[str, Any]:
    """The values that a person accepted last. Those found are theirs where nothing was accepted yet."""
    history = await events.history(database, *SUBJECT)
    if not history:
        return await accept(database, found, "found at the first start", actor="daemon")
    # A setting that is new to this version has no other value than its default yet.
    return guarded(Settings.model_construct()) | (history[-1]["after"] or {})


async def accept(
    database: Database, wanted: Settings, reason: str, held: dict[str, Any] | None = None, actor: str = "user"
) -> dict[str, Any]:
    """Keep on record that these values hold from now on, in place of those ``held``."""
    values = guarded(wanted)
    async with database.write() as tx:
        await events.record(tx, "accept", *SUBJECT, actor=actor, reason=reason, before=held, after=values)
    return values


async def accept_only(
    database: Database, wanted: Settings, held: Mapping[str, Any], names: Collection[str]
) -> dict[str, Any]:
    """Keep on record that these of the wanted values hold from now on, beside the others that are ``held``."""
    values = dict(held) | {name: value for name, value in guarded(wanted).items() if name in names}
    async with database.write() as tx:
        await events.record(
            tx, "accept", *SUBJECT, actor="user", reason="chosen in the setup", before=dict(held), after=values
        )
    return values
