"""Applies, in every part of the daemon, the settings that a person accepted or withdrew."""

from __future__ import annotations

from typing import Any

from subconscious.app import App
from subconscious.redaction.active_policy import load_policy
from subconscious.store import model_readings


async def put_in_force(app: App, accepted: dict[str, Any]) -> dict[str, list[Any]]:
    """Apply the values that a person accepted; return the changed ones as [before, after].

    A change of the embedder stops the daemon.
    """
    before, app.config.accepted = app.config.accepted, accepted
    await load_policy(app.home, app.database, app.config.current)
    await app.calibrate()
    # A model may now be allowed to read sessions that wait, for example for tomorrow's budget.
    async with app.database.write() as tx:
        await model_readings.retry_now(tx)
    app.reconfigure()
    changed = {name: [before.get(name), accepted[name]] for name in accepted if accepted[name] != before.get(name)}
    if any(name.startswith("embedder") for name in changed):
        app.signals.stopping.set()  # embedders are opened by the next daemon, which the next hook or command starts
    return changed
