"""Decides whether and when a failed request is retried."""

from __future__ import annotations

from time import time

from subconscious.domain.errors import CapReachedError, ProviderError, RateLimitedError, UnavailableError
from subconscious.domain.usage import Usage

ATTEMPTS = 3
"""The most attempts per request; each consists of one call and at most one repair call."""

TOKENS = 24_000
"""The most tokens that all attempts of a request may take together; attempts that were not charged don't count."""

AGAIN_SECONDS = 60.0
"""Seconds to wait after a temporary failure if the provider requested no pause."""


def may_retry(failures: int, error: BaseException, attempts: int = ATTEMPTS) -> bool:
    """Whether a request that failed ``failures`` times, the last time with ``error``, may be retried.

    Each attempt is assumed to take as many tokens as the last one, so no record of earlier attempts is needed.
    """
    usage = error.usage if isinstance(error, ProviderError) else None
    return failures < attempts and (failures + 1) * _total(usage) <= TOKENS


def _total(usage: Usage | None) -> int:
    return usage.input + usage.output if usage else 0


def pause_of(error: ProviderError) -> float:
    """Return the seconds to wait before a retry, for callers that queue failed requests."""
    if isinstance(error, CapReachedError):
        return max(AGAIN_SECONDS, error.retry_at - time())
    if isinstance(error, RateLimitedError | UnavailableError):
        return error.retry_after or AGAIN_SECONDS
    return 60 * AGAIN_SECONDS
