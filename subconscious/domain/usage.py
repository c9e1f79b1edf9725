"""The tokens and the cost that were charged for calls to a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens charged for a call to a model.

    ``input`` includes ``cached`` tokens, which were read from the provider's cache, and ``written`` tokens, which were
    added to the cache. ``cost`` is in US dollars if the provider itself reports it (as Claude Code does), else None,
    which means unknown and not 0.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float | None = None
    written: int = 0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            (self.cost or 0) + (other.cost or 0) if known else None,
            self.written + other.written,
        )
