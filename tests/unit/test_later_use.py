"""Findings that help no later session are not given unconfirmed, and the others are worded for a stranger."""

from __future__ import annotations

import pytest

from subconscious.capture.later_use import for_a_stranger, of_no_later_use
from subconscious.domain.model import Candidate, Evidence, Origin, Strength


def finding(text: str) -> Candidate:
    quote = Evidence(text, "found", "", 1, 2)
    return Candidate("learning", text, text, quote, Origin.TOOL, Strength.INFERRED, 0.75, "offline-5", 1.0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The cart row uses `text-xs` with `px-2` so that it fits.", "describes how a page looks"),
        ("The badge is next to the button, in the colour of the cart.", "describes how a page looks"),
        ("`Cart.total` skips the rounding for guests, so it's fine.", "judges a change of its session"),
        ("With this fix `Cart.total` returns the rounded value.", "judges a change of its session"),
        ("The `main` side added a parameter to `Cart.total` for guests.", "reports the state of the work"),
        ("`Cart.total` is undefined, and that is a compiler error.", "reports the state of the work"),
        ("The commit failed because `shop/tmp` has tests of another project.", "reports the state of the work"),
        ("The 4 failures are all in `shop/tmp`.", "reports the state of the work"),
        ("`lock` has dead code, and `unlock` isn't wired into the worker yet.", "reports the state of the work"),
        ("No need to worry about the local settings of `Cart`.", "reports the state of the work"),
        ("The value is set by `lock` before the cart opens.", "does not name its subject"),
        ("The integration test can verify the other parts of the flow.", "does not name its subject"),
        ("cart.py: Added a `lock` function that: Changed `open` so that it waits.", "is cut short"),
        (
            "Three helpers lock a cart: `lock` - by hand; `lock_all` - likewise; `hold` - wraps `lock`",
            "is a list of notes",
        ),
        ("Reads a; writes b; closes c; opens d; and returns the cart.", "is a list of notes"),
    ],
)
def test_what_helps_no_later_session_is_recognised(text: str, why: str) -> None:
    assert of_no_later_use(finding(text)) == why


@pytest.mark.parametrize(
    "text",
    [
        "`Cart.total` rounds half to even, because the invoices do.",
        "The worker reads its queue only after `Pool.acquire` has returned.",
        "`CartBadge` measures the button again whenever the badge appears.",
        "The value that `lock` returns is the time at which the cart was opened.",
        "The check is in `lock` and applies to every caller of `Cart.open`.",
        "The cause was that `lock` waits for a worker which has ended.",
        "Locked = `lock` and `worker` are set; free = neither is set; stale = `worker` has ended while `lock` is set",
        "When a cart is opened: the worker locks it; reads it; checks it; rounds it; and unlocks it.",
    ],
)
def test_how_the_code_behaves_may_help(text: str) -> None:
    assert of_no_later_use(finding(text)) == ""


def test_a_report_of_edits_may_name_several_but_is_no_change_log() -> None:
    text = "In shop: Cart: Invoice: added `round_total`; moved `Invoice`; renamed `Cart`."
    assert of_no_later_use(finding(text))
    assert of_no_later_use(finding(text), reports_edits=True) == ""
    assert of_no_later_use(finding(f"{text[:-1]}; removed `Basket`."), reports_edits=True) == "is a list of notes"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Key Finding: `Cart.total` rounds once.", "`Cart.total` rounds once."),
        ("Key Features: carts are locked by the worker.", "Carts are locked by the worker."),
        ("Root Causes: `lock` waits twice.", "`lock` waits twice."),
        ("Exactly right. Carts are locked by the worker.", "Carts are locked by the worker."),
        ("Found the issue: carts are locked twice.", "Carts are locked twice."),
        ("d. Carts are locked by the worker.", "Carts are locked by the worker."),
        ("Bug 1 \u2014 Guest carts: they are never locked.", "Guest carts: they are never locked."),
        ("`lock` in shop/cart.py:12 waits for the worker.", "`lock` in shop/cart.py waits for the worker."),
        ("Carts are locked. (a.py, b.py, a.py, c.py, d.py, e.py)", "Carts are locked. (a.py, b.py, c.py, d.py)"),
    ],
)
def test_a_finding_is_worded_for_a_stranger(said: str, told: str) -> None:
    assert for_a_stranger(said) == told


@pytest.mark.parametrize(
    "text",
    [
        "shop/cart.py: `lock` waits for the worker.",
        "go-git ignores the global settings of Git.",
        "Rounding of totals: invoices round half to even.",
        "Done.",
        "UI: the worker draws nothing.",
    ],
)
def test_the_rest_of_a_wording_stays(text: str) -> None:
    assert for_a_stranger(text) == text
