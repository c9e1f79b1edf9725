"""What is wrong with an installation, and the command that mends it.

Every check only looks: nothing is written, no daemon is started, and each works while the others find ruins.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from time import time

from subconscious.doctor import capturing, folder, installation, machine, running, stored
from subconscious.doctor.findings import Check, Finding, Patient, fault, sh
from subconscious.home import find_home


def examine(environ: Mapping[str, str] | None = None, mounts: str | None = None) -> list[Finding]:
    """Run every check. ``mounts`` stands for /proc/self/mountinfo."""
    environ = os.environ if environ is None else environ
    findings = [*machine.python(), *machine.pause(environ)]
    home = find_home(environ)
    if home is None:
        return [*findings, folder.no_home(environ)]
    patient = Patient(home, environ, folder.mounts() if mounts is None else mounts, time())
    for each in CHECKS:
        findings += _guarded(each, patient)
    return findings


def _guarded(each: Check, patient: Patient) -> list[Finding]:
    """A file that can't be looked at is a finding, not the end of the examination."""
    try:
        return list(each(patient))
    except OSError as error:
        return [fault("files", str(error), f"ls -ld {sh(error.filename or patient.home.root)} # it must be yours")]


CHECKS: tuple[Check, ...] = (
    folder.state_folder,
    machine.disk,
    installation.settings,
    folder.permissions,
    folder.misplaced,
    installation.environment,
    running.daemon,
    running.disk,
    running.embedder,
    running.word,
    stored.database,
    stored.upkeep,
    capturing.automatic,
    stored.lost,
    stored.claude_notes,
    stored.spool,
    machine.vectors,
    running.provider,
    installation.plugin,
)
"""To add a check, write a function and add it here."""
