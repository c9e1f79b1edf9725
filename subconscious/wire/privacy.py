"""Results of the requests about redaction and deletion, as they are sent over the socket."""

from __future__ import annotations

from typing import TypedDict


class Redaction(TypedDict):
    """A value that was redacted, identified by its hash."""

    id: int
    at: float
    place: str
    rule: str
    sort: str
    strategy: str
    hash: str
    length: int
    times: int
    allowed: bool


class RedactionsResult(TypedDict):
    """Response to the request ``redactions``."""

    findings: list[Redaction]


class AllowResult(TypedDict):
    """Response to the requests ``allow_finding`` and ``disallow_finding``."""

    hash: str
    allowed: bool


class StoredFinding(TypedDict):
    """A value in stored data that the current rules would redact, identified by its hash."""

    place: str
    column: str
    rule: str
    sort: str
    strategy: str
    hash: str
    length: int


class ScanResult(TypedDict):
    """Response to the request ``scan``."""

    findings: list[StoredFinding]


class RedactStoredResult(TypedDict):
    """Response to ``redact_stored``: how many rows and files were changed and copies of the database replaced."""

    rows: int
    files: int
    copies: int


class PurgePlanResult(TypedDict):
    """Response to the request ``purge_plan``: how many rows would be deleted.

    ``on_server`` counts those of the memories that are on a team's server too. They are erased there as well, except by
    a purge of everything.
    """

    memories: int
    captures: int
    sessions: int
    on_server: int


class PurgeResult(PurgePlanResult):
    """Response to the request ``purge``. ``entries`` counts the deleted spool entries, which had not been processed."""

    entries: int
    files: int
    copies: int
