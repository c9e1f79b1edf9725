"""Lets what a person has accepted, or taken back, hold from now on, in every part of the daemon."""

from __future__ import annotations

from typing import Any

from subconscious.store import model_readings

from . import redacting
from .core import Core


async def put_in_force(core: Core, accepted: dict[str, Any]) -> dict[str, list[Any]]:
    """Let these values count as accepted; return those that are others than before, as [before, after]."""
    before, core.accepted = core.accepted, accepted
    await redacting.adopt(core)
    await core.calibrate()
    # What waits, for tomorrow's budget say, may be readable under these settings.
    async with core.database.write() as tx:
        await model_readings.unlock(tx)
    core.reconfigure()
    changed = {name: [before.get(name), accepted[name]] for name in accepted if accepted[name] != before.get(name)}
    if any(name.startswith("embedder") for name in changed):
        core.stopping.set()  # embedders are opened by the next daemon, which the next hook or command starts
    return changed
