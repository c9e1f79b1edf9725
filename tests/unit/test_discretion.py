"""What the daemon's log may say."""

from __future__ import annotations

import logging

import pytest

from subconscious.context.entry import BrokenEntryError, parse_entry
from subconscious.domain.errors import StoreError
from subconscious.redaction.log_redaction import RedactingFormatter, describe_error

WORDS = "the quarterly numbers are bad"
SECRET = "q8Zt3Lm9" + "Wx2Rk7Vb5Nc1"


def line(message: str, *args: object, error: BaseException | None = None) -> str:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("subconscious.daemon", logging.ERROR, __file__, 1, message, args, info)
    return RedactingFormatter("%(levelname)s %(name)s: %(message)s").format(record)


def test_a_line_holds_no_secret() -> None:
    told = line("job %s failed: %s", "x", f"api_key={SECRET}, see <private>{WORDS}</private>")
    assert told == "ERROR subconscious.daemon: job x failed: api_key=[redacted: secret], see "


def raised(error: Exception) -> Exception:
    """The error as it is once it was raised somewhere."""
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


@pytest.mark.parametrize("error", [KeyError(WORDS), TypeError(WORDS), ValueError(WORDS)])
def test_an_error_that_may_quote_a_text_is_told_by_its_sort_and_place(error: Exception) -> None:
    told = line("a job failed", error=raised(error))
    assert told.endswith(type(error).__name__)
    assert "test_discretion.py" in told
    assert WORDS not in told


def test_an_error_of_the_world_says_what_it_is() -> None:
    told = line("a job failed", error=raised(StoreError("disk is full", "make room")))
    assert told.endswith("StoreError: disk is full")
    assert describe_error(OSError(28, "No space left on device")) == "OSError: [Errno 28] No space left on device"


@pytest.mark.parametrize("body", [f'{{"prompt": "{WORDS}"', f'["{WORDS}"]', f'{{"prompt": "{WORDS}"}}'])
def test_a_broken_entry_is_told_without_its_words(body: str) -> None:
    with pytest.raises(BrokenEntryError) as caught:
        parse_entry("x.entry", f"subconscious 1\tStop\t1\t/\t/\t1\t\n{body}".encode())
    assert WORDS not in describe_error(caught.value)
