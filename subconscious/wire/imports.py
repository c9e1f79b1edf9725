"""Results of the requests about imports and the choice of a model, as they are sent over the socket."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from subconscious.wire.history import Suspicion


class FileEstimate(TypedDict):
    """The model calls and tokens that reading a file takes, and their maximum cost in dollars (None if unknown)."""

    calls: int
    tokens: int
    most: float | None


class SourceFile(TypedDict):
    """A file that can be imported; or, with a ``reason``, one that can't be."""

    path: str
    sort: str
    bytes: int
    session_id: str
    folder: str
    begun: float
    last: float
    reason: str
    project: str
    read: int
    model: NotRequired[FileEstimate]


class ImportOffer(TypedDict):
    """The cost of an import with a provider, in dollars; None if unknown. ``batch`` is the cost with batch requests."""

    provider: str
    model: str
    configured: bool
    cost: float | None
    batch: float | None
    most: float | None


class ModelEstimate(TypedDict):
    """The model calls and tokens that an import takes, and the cost with each provider."""

    sessions: int
    calls: int
    tokens: int
    estimated: bool
    cost_per_day: float
    offers: list[ImportOffer]


class ImportPlanResult(TypedDict):
    """Response to the request ``import_plan``."""

    files: list[SourceFile]
    model: ModelEstimate


class ImportFileResult(TypedDict):
    """Response to the request ``import_file``: the result of one batch, which ends at the byte ``position``.

    ``more``: the file has further batches. ``event`` is the newest event of the import, which undoes it as a whole; 0
    if it changed nothing.
    """

    path: str
    sort: str
    project: str
    lines: int
    turns: int
    skipped: dict[str, int]
    captured: int
    queued: int
    discarded: int
    repeated: int
    position: int
    more: bool
    reason: str
    event: int


class ImportReadResult(TypedDict):
    """Response to the request ``import_read``: what was queued for a model, or why nothing was queued."""

    calls: int
    tokens: int
    reason: str


class ModelOffer(TypedDict):
    """A provider, and what a session costs with it in dollars (``cost``, None if unknown)."""

    provider: str
    model: str
    cost: float | None
    about: str
    lacks_key: bool
    found: bool


class SetupPlanResult(TypedDict):
    """Response to the request ``setup_plan``: the tokens of a session, and its cost with each provider."""

    sessions: int
    measured: bool
    median: int
    most: int
    provider: str
    tokens_per_day: int
    cost_per_day: float
    offers: list[ModelOffer]


class TrialStatement(Suspicion):
    """A statement that a model found in a trial."""

    content: str
    kind: str
    origin: str


class SetupTryResult(TypedDict):
    """Response to the request ``setup_try``. ``session`` is the title of the session that was read; "" for none."""

    session: str
    found: list[TrialStatement]
    error: str
    remedy: str
    code: NotRequired[str]
    tokens: NotRequired[int]
