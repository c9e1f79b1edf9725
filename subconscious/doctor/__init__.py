"""Finds faults of an installation, and names the command that repairs each.

Checks are read-only and independent: they write nothing, start no daemon, and work when other parts are broken.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from time import time

from subconscious.doctor import folder, installation, running, stored, team
from subconscious.doctor.findings import Check, CheckContext, Finding, fault, quoted
from subconscious.settings.home import find_home


def examine(environ: Mapping[str, str] | None = None, mounts: str | None = None) -> list[Finding]:
    """Return the findings of all checks. ``mounts`` replaces the content of /proc/self/mountinfo."""
    environ = os.environ if environ is None else environ
    findings = [*installation.python(), *installation.pause(environ)]
    home = find_home(environ)
    if home is None:
        return [*findings, folder.no_home(environ)]
    context = CheckContext(home, environ, folder.mounts() if mounts is None else mounts, time())
    for check in CHECKS:
        findings += _guarded(check, context)
    return findings


def _guarded(check: Check, context: CheckContext) -> list[Finding]:
    """Return the findings of one check; a file that can't be read is a finding, too."""
    try:
        return list(check(context))
    except OSError as error:
        return [
            fault("files", str(error), f"ls -ld {quoted(error.filename or context.home.root)} # it must belong to you")
        ]


CHECKS: tuple[Check, ...] = (
    folder.state_folder,
    installation.disk,
    installation.settings,
    folder.permissions,
    folder.misplaced,
    installation.environment,
    running.daemon,
    running.disk,
    running.embedder,
    running.approval,
    stored.database,
    stored.upkeep,
    stored.automatic,
    stored.lost,
    stored.claude_notes,
    stored.spool,
    installation.vectors,
    running.provider,
    team.team,
    installation.plugin,
    installation.other_agents,
)
"""All checks, in the order in which they run. To add a check, write a function and add it here."""
