"""The result of the request for statistics, as it is sent over the socket."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from subconscious.wire.daemon import MemoryCounts, Spending

StatusCounts = dict[str, int]
"""How many captures have each status."""


class CaptureCounts(TypedDict):
    """How many captures there are by status, by kind and status, and by extractor and status."""

    status: StatusCounts
    kinds: dict[str, StatusCounts]
    extractors: dict[str, StatusCounts]


class ReviewCounts(TypedDict):
    """Captures by outcome. ``accepted`` is the share of approvals (None without a decision), ``aim`` its target."""

    waiting: int
    approved: int
    edited: int
    rejected: int
    expired: int
    accepted: float | None
    aim: float


class SurfaceCounts(TypedDict):
    """How often sessions got memories (``given``) and used them, and how many sessions and memories these were."""

    given: int
    sessions: int
    memories: int
    used: int


class Calls(TypedDict):
    """Calls to models: their tokens and dollars, how many have an unknown cost, and the dollars assumed for those."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    unknown: int
    assumed: float
    batched: int


class NamedCalls(Calls):
    """The calls of one day, session, purpose or model."""

    name: str


class TotalCalls(Calls):
    """All calls in total. ``name`` is ""; it is missing if there were no calls."""

    name: NotRequired[str]


class SpendTables(TypedDict):
    """Calls by day, session, purpose and model, the latest first."""

    days: list[NamedCalls]
    sessions: list[NamedCalls]
    purposes: list[NamedCalls]
    models: list[NamedCalls]


class Spend(SpendTables):
    """All calls in total, and today's spending with its limits."""

    total: TotalCalls
    today: Spending


class Tenth(TypedDict):
    """Outcomes of captures whose stated confidence is in one tenth of 0 to 1, and their calibrated confidence."""

    low: float
    samples: float
    right: float
    stated: float
    worth: float


class StatsResult(TypedDict):
    """Response to ``stats``. ``calibration`` is by extractor; ``week`` counts captures of the last week by status."""

    memories: MemoryCounts
    captures: CaptureCounts
    week: dict[str, int]
    reviews: ReviewCounts
    surfaces: SurfaceCounts
    spend: Spend
    calibration: dict[str, list[Tenth]]
