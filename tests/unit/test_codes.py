"""Codes for decisions: single-use, for one session and one list, for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from subconscious.context import decision_codes
from subconscious.context.decision_codes import Codes, Wish, digest_of

WISH = Wish("approve", (1, 2))
CAPTURES: Any = [{"id": 1, "content": "one", "level": "none"}, {"id": 2, "content": "two"}]


def asked(session_id: str = "s") -> tuple[Codes, str]:
    known = Codes()
    known.add(session_id, WISH, digest_of(WISH, CAPTURES))
    return known, known.issue(known.waiting()[0], digest_of(WISH, CAPTURES))


def test_a_code_counts_once() -> None:
    known, code = asked()
    one = known.redeem("s", code.lower())
    assert one is not None
    assert (one.wish, one.digest) == (WISH, digest_of(WISH, CAPTURES))
    assert known.redeem("s", code) is None


def test_a_code_is_for_the_session_that_asked() -> None:
    known, code = asked()
    assert known.redeem("other", code) is None
    assert known.redeem("s", code) is not None


def test_a_decision_that_no_terminal_has_shown_has_no_code() -> None:
    known = Codes()
    known.add("s", WISH, "")
    assert known.redeem("s", "") is None


def test_a_later_decision_needs_a_code_of_its_own() -> None:
    known, code = asked()
    known.add("s", replace(WISH, deed="reject"), "")
    assert known.redeem("s", code) is None


def test_a_code_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    known, code = asked()
    monkeypatch.setattr(decision_codes, "LIFE_SECONDS", 0.0)
    assert known.redeem("s", code) is None


def test_guessing_drops_all_codes() -> None:
    known, code = asked()
    for _ in range(decision_codes.MOST_GUESSES):
        assert known.redeem("s", "AAAA-AAAA") is None
    assert known.redeem("s", code) is None


def test_the_digest_is_of_what_was_shown() -> None:
    changed = [CAPTURES[0] | {"content": "other"}, CAPTURES[1]]
    assert digest_of(WISH, CAPTURES) != digest_of(WISH, changed)
    assert digest_of(WISH, CAPTURES) != digest_of(replace(WISH, deed="reject"), CAPTURES)
