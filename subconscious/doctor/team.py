"""Checks of a team's store, through the daemon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from subconscious.doctor.findings import CheckContext, Finding, fault, passed, settings_of
from subconscious.domain.errors import SettingsError, SubconsciousError
from subconscious.settings.config_file import is_open
from subconscious.store.team.address import PASSWORD_FILE, parse
from subconscious.wire import AbsentError, call

if TYPE_CHECKING:
    from subconscious.wire.team import TeamResult

SECONDS = 10.0


def team(context: CheckContext) -> Iterator[Finding]:
    """Check the address, the password file and, if the daemon runs, the server; nothing if there is no team's store."""
    store = settings_of(context.home).store
    if not store:
        return
    try:
        address = parse(store)
    except SettingsError as error:
        yield fault("team", error.message, error.remedy)
        return
    password = context.home.root / PASSWORD_FILE
    if password.exists() and is_open(password):
        yield fault(
            "team", f"other users can read the password file {password}, so it is not used", f"chmod 600 {password}"
        )
        return
    try:
        found = cast("TeamResult", call(context.home, "team", {"check": True, "cwd": os.getcwd()}, SECONDS))  # noqa: PTH109
    except AbsentError:
        yield passed("team", f"{address.shown}; not checked, because the daemon is not running")
    except SubconsciousError as error:
        yield fault("team", error.message, error.remedy)
    else:
        yield _of_server(found)


def _of_server(found: TeamResult) -> Finding:
    if found["trouble"]:
        return fault("team", found["trouble"], found["remedy"])
    if found["refused"]:
        reason = found["refused"][0]["reason"]
        return fault(
            "team", f"the server rejects memories that you share: {reason}", "subconscious team sync # to try again"
        )
    name = (
        f"{found['name']} as {found['person']} ({found['role']})" if found["name"] else "this project is not connected"
    )
    return passed("team", f"{found['store']} answers; {name}; {found['waiting']} to send")
