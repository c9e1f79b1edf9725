"""Whether anything is still stored without a person, and if not, why."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from subconscious.doctor.findings import Finding, Patient, fault, fine, settings_of
from subconscious.settings import Settings
from subconscious.store.automatic import Automatic, of_last_sessions
from subconscious.store.check import reading

SESSIONS = 10
"""Sessions with candidates of which at least one statement should be stored without a person."""

SUREST = 0.94
"""The highest confidence of what a person states outright: explicit, with names and a reason."""


def automatic(patient: Patient) -> Iterator[Finding]:
    """Whether automatic capture has all but stopped, and which setting or decision has stopped it."""
    settings = settings_of(patient.home)
    if not settings.capture:
        yield fine("capture", "switched off (capture = false): nothing is learned from sessions")
        return
    if not patient.home.database.exists():
        return
    try:
        with reading(patient.home.database) as connection:
            found = of_last_sessions(connection, SESSIONS, settings.auto_threshold, patient.now)
    except (sqlite3.Error, OSError):
        return  # that the database can't be read is told already
    if found.stored or found.sessions < SESSIONS:
        yield fine("capture", f"stored without asking: {found.stored} of the last {found.candidates} candidates")
        return
    why, remedy = _why(found, settings)
    what = f"nothing was stored without asking in the last {found.sessions} sessions with candidates"
    yield fault("capture", f"{what} ({found.candidates} candidates): {why}", remedy)


def _why(found: Automatic, settings: Settings) -> tuple[str, str]:
    """Why nothing is stored, and the command that helps."""
    limit = settings.auto_threshold
    if limit > SUREST:
        why = f"auto_threshold = {limit:g}, and what you state outright reaches {SUREST:g} at most"
        return why, "subconscious status --settings # lower auto_threshold, then: subconscious accept-settings"
    if found.lowered:
        why = f"calibration: your decisions have lowered {found.lowered} statements that were sure enough as stated"
        return why, "subconscious stats --calibration # shows the curve; with a lower auto_threshold more is stored"
    if found.suspect:
        return f"the poisoning check flagged {found.suspect} statements of yours", "subconscious review --limit 20"
    if found.sure:
        why = f"{found.sure} statements of yours were sure enough, and something else made them wait or dropped them"
        return why, "subconscious explain"
    if found.own:
        why = f"none of your statements was sure enough: {found.surest:.2f} at most, and {limit:g} is needed"
        return why, "subconscious explain"
    return "none of them was in your own words, and what others say waits for you", "subconscious review"
