"""What the assistant says of its session's own edits may be given unconfirmed, once another session found the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from subconscious.capture import own_edits
from subconscious.capture.lasting import Session
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Origin, Role, Strength, Turn, Verdict
from subconscious.poisoning.echo import Traced
from subconscious.settings.settings import Settings

DESIGN = (
    "Rounding of totals happens once in `round_total` of shop/cart.py, and the class `Invoice` in shop/invoice.py keeps"
    " the rounded value that it returns."
)
REPORT = "Updated `round_total` in shop/cart.py to round half to even, as `Invoice` does."

WAITS = Admission(Decision.REVIEW, 0.8, "confidence 0.80 is below 0.90", Verdict(), own_edits.OF_A_PLAN)
WEAK = Admission(Decision.DISCARD, 0.45, "confidence 0.45 is below 0.70", Verdict(), weak=True)


def session(*files: str) -> Session:
    """A session with one exchange that edited these files."""
    asked = Turn("asked", "s", Role.USER, Origin.USER, "round the totals", 1.0, "", 0, 1)
    found = Turn("found", "s", Role.ASSISTANT, Origin.ASSISTANT, "x", 2.0, "", 1, 2)
    edits = [replace(found, id=file, text="", tools=("Edit",), files=(file,)) for file in files]
    return Session.of([asked, *edits, found])


def traced(text: str, **evidence: object) -> Traced:
    quote = Evidence(text, "found", "", 1, 2)
    candidate = Candidate("learning", text, text, quote, Origin.TOOL, Strength.INFERRED, 0.45, "offline-5", 1.0)
    return replace(Traced(candidate, anchored=True, grounded=True), **evidence)  # type: ignore[arg-type]


def outcome(one: Traced, admission: Admission, of: Session, settings: Settings | None = None) -> Admission:
    return own_edits.admit(one, admission, Verdict(), of, settings or Settings())[1]


@pytest.mark.parametrize("anchored", [True, False], ids=["code was read before", "it came first"])
def test_a_plan_is_kept_unconfirmed_once_its_files_were_edited(anchored: bool) -> None:
    plan = traced(DESIGN, approved=True, anchored=anchored)
    kept = outcome(plan, WAITS, session("shop/cart.py"))
    assert (kept.decision, kept.reservation, kept.confidence) == (Decision.REVIEW, "", own_edits.MOST)


@pytest.mark.parametrize("files", [(), ("shop/other.py",)], ids=["none", "another one"])
def test_a_plan_that_was_not_carried_out_waits(files: tuple[str, ...]) -> None:
    assert outcome(traced(DESIGN, approved=True), WAITS, session(*files)) == WAITS


def test_a_plan_that_was_not_worth_a_review_waits() -> None:
    weak = replace(WAITS, confidence=0.6)
    assert outcome(traced(DESIGN, approved=True), weak, session("shop/cart.py")) == weak


def test_a_report_is_kept_unconfirmed() -> None:
    kept = outcome(traced(REPORT), WEAK, session("shop/cart.py"))
    assert (kept.decision, kept.reservation, kept.confidence) == (Decision.REVIEW, "", 0.45)


@pytest.mark.parametrize(
    "text",
    [
        "Updated `test_round_total` in tests/test_cart.py, as `Invoice` does.",
        "Added it to `Invoice` in shop/cart.py, so that totals are rounded half to even.",
        "Updated the totals so that they are rounded half to even. (cart.py, invoice.py)",
        "At line 12 of shop/cart.py, changed `round_total` to round half to even.",
    ],
    ids=["of a test", "of it", "without names", "by lines"],
)
def test_a_report_that_says_little_is_discarded(text: str) -> None:
    assert outcome(traced(text), WEAK, session("shop/cart.py")) == WEAK


@pytest.mark.parametrize("evidence", [{"anchored": False}, {"prosaic": 0.6}, {"copied": 5}], ids=str)
def test_a_report_that_prose_may_have_worded_is_discarded(evidence: dict[str, object]) -> None:
    assert outcome(traced(REPORT, **evidence), WEAK, session("shop/cart.py")) == WEAK


@pytest.mark.parametrize(
    "settings", [Settings(unconfirmed=False), Settings(poisoning=False)], ids=["no state", "no check"]
)
def test_without_that_state_or_the_check_nothing_is_kept(settings: Settings) -> None:
    assert outcome(traced(REPORT), WEAK, session("shop/cart.py"), settings) == WEAK


def test_numbers_of_lines_are_left_out() -> None:
    text = REPORT.replace("cart.py", "cart.py:12-14").replace("even,", "even (line 13),")
    kept, _ = own_edits.admit(traced(text), WEAK, Verdict(), session("shop/cart.py"), Settings())
    assert (kept.content, kept.summary) == (REPORT, REPORT)
