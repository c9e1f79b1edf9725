"""Results of the requests about maintenance, backups and summaries of memories, as they are sent over the socket."""

from __future__ import annotations

from typing import Any, TypedDict

from subconscious.wire.history import Suspicion
from subconscious.wire.memories import Memory


class RunFields(TypedDict):
    """One run of a job: the columns of its row, with the results that each phase reported (``report``)."""

    id: int
    job: str
    state: str
    phase: str
    cursor: str
    started_at: float
    finished_at: float | None
    report: dict[str, dict[str, Any]]


class Run(RunFields):
    """A run, with a summary of its results in one line."""

    told: str


class RunResult(TypedDict):
    """Response to the request ``maintenance_run``."""

    run: Run


class RunsResult(TypedDict):
    """Response to the request ``maintenance_log``."""

    runs: list[Run]


class Job(TypedDict):
    """A job, its last run, and whether it waits to run, because it is due or was interrupted."""

    job: str
    phases: list[str]
    due_since: float
    waits: bool
    last: Run | None


class MaintenanceStatusResult(TypedDict):
    """Response to the request ``maintenance_status``."""

    on: bool
    jobs: list[Job]


class DuplicatePair(TypedDict):
    """Two memories that mean the same: ``gone`` would be merged into ``stays``."""

    gone: Memory
    stays: Memory
    cosine: float


class RepeatsResult(TypedDict):
    """Response to the request ``repeats``."""

    pairs: list[DuplicatePair]


class MadeCopy(TypedDict):
    """A new copy of the database, and how many old copies were removed."""

    copy: str
    dropped: int


class Copy(TypedDict):
    """A copy of the database."""

    name: str
    at: float
    schema: int


class BackupResult(MadeCopy):
    """Response to the request ``backup``."""

    copies: list[Copy]


class MendResult(TypedDict):
    """Response to the request ``mend``: how many rows were repaired, by check."""

    mended: dict[str, int]


class Cluster(Suspicion):
    """A group of similar memories, and the summary that would be made of it."""

    memories: list[Memory]
    cohesion: float
    summary: str
    content: str
    decision: str
    reason: str


class ClustersResult(TypedDict):
    """Response to the request ``clusters``. ``vectors``: an embedder is loaded, so similar memories can be found."""

    clusters: list[Cluster]
    total: int
    vectors: bool


class ConsolidateResult(TypedDict):
    """Response to ``consolidate``: ids of memories and proposed captures, counts of model requests and groups left."""

    made: list[int]
    proposed: list[int]
    asked: int
    left: int
