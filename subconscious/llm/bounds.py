"""How often a question is asked again whose answers can't be used: at most three tries, and not for many tokens."""

from __future__ import annotations

from subconscious.errors import ProviderError
from subconscious.model import Usage

ATTEMPTS = 3
"""Tries of one question; each of them is the question and at most one repair."""

TOKENS = 24_000
"""Tokens that all tries of one question may take together, once its first answer could not be used."""


def may_retry(failures: int, error: BaseException, attempts: int = ATTEMPTS) -> bool:
    """Return whether a question that failed so often, the last time with this error, may be asked again.

    Each try takes about as many tokens as the last one, so no record of the earlier ones is needed.
    """
    usage = error.usage if isinstance(error, ProviderError) else None
    return failures < attempts and (failures + 1) * _total(usage) <= TOKENS


def _total(usage: Usage | None) -> int:
    return usage.input + usage.output if usage else 0
