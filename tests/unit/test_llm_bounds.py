"""How often a question is asked whose answers can't be used."""

from __future__ import annotations

import pytest

from subconscious.domain.errors import BadAnswerError
from subconscious.domain.usage import Usage
from subconscious.llm.bounds import ATTEMPTS, TOKENS, may_retry


def failed(tokens: int) -> BadAnswerError:
    error = BadAnswerError("nonsense")
    error.usage = Usage(tokens - tokens // 10, tokens // 10)
    return error


def tries(error: Exception) -> int:
    return next(count for count in range(1, 100) if not may_retry(count, error))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (failed(10), ATTEMPTS),
        (failed(TOKENS // 3), ATTEMPTS),
        (failed(TOKENS // 2), 2),
        (failed(TOKENS // 2 + 1), 1),
        (failed(10 * TOKENS), 1),
        (BadAnswerError("of unknown price"), ATTEMPTS),
        (ValueError("a fault of ours"), ATTEMPTS),
    ],
)
def test_tries_are_bounded_by_number_and_by_tokens(error: Exception, expected: int) -> None:
    assert tries(error) == expected


@pytest.mark.parametrize("tokens", [1, 900, 5_000, 11_999, 12_000, 23_000])
def test_all_tries_together_stay_within_the_tokens(tokens: int) -> None:
    assert tries(failed(tokens)) * tokens <= TOKENS
