"""The images of the terminal in the docs."""

from __future__ import annotations

from bench.screens import THEMES, svg


def test_a_style_holds_over_lines_until_it_ends() -> None:
    image = svg("\x1b[2mfirst\nsecond\x1b[0m\nthird", THEMES["light"], 80)
    rows = [row for row in image.splitlines() if row.startswith("<text")]
    assert [THEMES["light"]["2"] in row for row in rows] == [True, True, False]
