"""Results of the requests about the daemon itself, as they are sent over the socket."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Project(TypedDict):
    """A repository or a folder."""

    id: str
    name: str
    root: str
    remote: str
    first_commit: str


class MemoryCounts(TypedDict):
    """How many memories one ``project`` has, and how many there are in all projects by status (the other fields)."""

    project: int
    active: int
    archived: int
    unconfirmed: int


class LostProject(TypedDict):
    """A project with a folder that no longer exists."""

    root: str
    memories: int


class OpenQuestion(TypedDict):
    """The question whether one statement replaces another. ``wording`` must only be shown to a person."""

    link_id: int
    new_id: int
    old_id: int
    times_shown: int
    wording: str


class JobCounts(TypedDict):
    """How many jobs are in each state; ``buried`` jobs have failed and are not retried."""

    ready: int
    leased: int
    buried: int


class SessionCounts(TypedDict):
    """How many sessions have each status."""

    open: int
    ended: int
    interrupted: int


class ReadingCounts(TypedDict):
    """Parts of transcripts that a model has yet to read: how many still grow (``gathering``) or are ``due``."""

    gathering: int
    due: int
    tokens: int
    retry_at: float | None
    reason: str


class SecondLookCounts(TypedDict):
    """Sessions that a model has yet to read again (``looks``), and captures that the model rejected (``refused``)."""

    looks: int
    refused: int
    looks_wait: str


class Refining(ReadingCounts, SecondLookCounts):
    """Work for a model: parts of transcripts to read, and sessions to read again."""


class EmbedderState(TypedDict):
    """The embedder and its state."""

    name: str
    state: str
    model: str
    coming: str
    error: str
    code: str
    retry_at: float | None
    tokens: int


class Embedder(EmbedderState):
    """The embedder, how many memories wait for a vector, and how many could not be embedded."""

    pending: int
    failed: int


class ProviderError(TypedDict):
    """The last error of a provider."""

    at: float
    code: str
    message: str
    remedy: str


class ChannelState(TypedDict):
    """The state of one provider, or of one of the API keys for it."""

    name: str
    model: str
    open: bool
    breaker: str
    refused: bool
    error: ProviderError | None


class Provider(ChannelState):
    """One provider with the sources of its API keys. ``reachable`` is the result of a check."""

    key: str
    own_keys: list[ChannelState]
    sessions_with_own_key: int
    reachable: NotRequired[bool]


class Spending(TypedDict):
    """What models have cost today, and the daily limits, in dollars and in tokens."""

    spent_today: float
    cap: float
    state: str
    tokens_today: int
    tokens_cap: int


class RequestCounts(TypedDict):
    """How many deferred requests to models are in each state; ``buried`` ones have failed and are not retried."""

    waiting: int
    sent: int
    buried: int


class ProviderResult(TypedDict):
    """Response to the request ``provider``."""

    providers: list[Provider]
    spending: Spending
    waiting: RequestCounts


class HookTimes(TypedDict):
    """How long the daemon took to respond to hooks of one event, measured over its latest responses."""

    event: str
    answers: int
    median_ms: float
    p95_ms: float


class StatusResult(TypedDict):
    """Response to ``status``. ``paused`` counts the project's memories that session starts leave out as unused."""

    version: str
    pid: int
    home: str
    started_at: float
    project: Project | None
    memories: MemoryCounts
    paused: int
    lost: list[LostProject]
    can_import: bool
    review: int
    review_everywhere: int
    quarantined: int
    suspicion: str
    question: OpenQuestion | None
    jobs: JobCounts
    refining: Refining
    spool: int
    sessions: SessionCounts
    embedder: Embedder
    provider: ProviderResult
    vector_index: str
    disk: str
    warnings: list[str]
    hooks: list[HookTimes]
    settings: dict[str, Any]
    unaccepted: list[str]


class ChangedSettings(TypedDict):
    """Response to the requests ``accept_settings`` and ``setup_accept``: values before and after, by setting."""

    changed: dict[str, list[Any]]


class DrainResult(TypedDict):
    """Response to the request ``drain``: whether all spool entries are processed, and all memories embedded."""

    drained: bool
    embedded: bool


class EmbedResult(TypedDict):
    """Response to the request ``embed``: how many memories wait for a vector."""

    pending: int


class StopResult(TypedDict):
    """Response to the requests ``stop`` and ``yield``."""

    stopping: bool


class AttachResult(TypedDict):
    """Response to the request ``attach``: the project, and how many memories it has."""

    project: Project
    memories: int
