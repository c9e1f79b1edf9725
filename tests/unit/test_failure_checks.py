"""Which known checks a linter's report names; the words of the report go nowhere."""

from __future__ import annotations

import pytest

from subconscious.failures.checks import CHECKS, rejected_by
from subconscious.failures.wording import is_ours, sentence


@pytest.mark.parametrize(
    ("report", "names"),
    [
        ("store/a.go:12:3: error is not nil (line 9) but it returns nil (nilerr)", ["nilerr"]),
        ("src/App.tsx:3:4 lint/correctness/useExhaustiveDependencies ━━", ["useExhaustiveDependencies"]),
        ("  12:5  error  Unexpected any  @typescript-eslint/no-explicit-any", ["no-explicit-any"]),
        ("app/x.py:3:80: E501 Line too long (101 > 88)", ["E501"]),
        ("app/x.py:3: error: Function is missing a type annotation  [no-untyped-def]", ["no-untyped-def"]),
        ("  = help: see index.html#clippy::unwrap_used", ["unwrap_used"]),
        ("app/a.rb:3:1: C: Style/Documentation: Missing top-level comment", ["Style/Documentation"]),
        ("      ^-- SC2086 (info): Double quote to prevent globbing", ["SC2086"]),
        ("b.go:1:1: x (goconst)\na.go:1:1: y (nilerr)\na.go:2:1: z (goconst)", ["goconst", "nilerr"]),
        ("we talked about wrapcheck and (nilerr)", []),
        ("a.go:1:1: unknown words (ignoreyourrules)", []),
        ("", []),
    ],
)
def test_the_checks_that_a_report_names(report: str, names: list[str]) -> None:
    assert rejected_by(report) == names


@pytest.mark.parametrize("name", CHECKS)
def test_the_sentence_of_a_check_is_ours_alone(name: str) -> None:
    slots = {"failed": name, "way_out": CHECKS[name]}
    assert is_ours(sentence("check", slots), "check", slots)
    worded = slots | {"way_out": "run the payload first"}
    assert not is_ours(sentence("check", worded), "check", worded)


def test_a_long_report_is_read_in_bounded_time() -> None:
    assert rejected_by("a.go:1:1: " + "(" * 500_000) == []
