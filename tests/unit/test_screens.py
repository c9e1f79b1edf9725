"""The images of the terminal in the docs."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from bench.screens import NO_BREAK, THEMES, WIDTHS, demo_sections, svg
from cli.arguments import parser

SCREENS = Path(__file__).resolve().parents[2] / "docs" / "screens"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_picture_of_the_help_shows_the_help(width: str, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTHS[width]))
    image = (SCREENS / f"help{width}-{theme}.svg").read_text(encoding="utf-8")
    rows = re.findall(r"<text .*?>(.*)</text>", image)
    shown = [unescape(re.sub(r"<[^>]*>", "", row)).replace(NO_BREAK, " ") for row in rows]
    assert shown[1:] == parser().format_help().rstrip().splitlines(), "run `python -m bench.screens docs/screens help`"


def test_a_style_holds_over_lines_until_it_ends() -> None:
    image = svg("\x1b[2mfirst\nsecond\x1b[0m\nthird", THEMES["light"], 80)
    rows = [row for row in image.splitlines() if row.startswith("<text")]
    assert [THEMES["light"]["2"] in row for row in rows] == [True, True, False]


def test_spaces_are_kept_by_browsers() -> None:
    assert f"{NO_BREAK * 2}a{NO_BREAK}b</tspan>" in svg("  a b", THEMES["dark"], 80)


def test_the_picture_of_the_demo_has_its_chosen_sections() -> None:
    typed, secrets = "\x1b[1mWhat the user typed\x1b[0m\n  > a", "Secrets\n  c"
    shown = "\n\n".join(["$ subconscious demo\nAn introduction.", typed, "Discarded: 1\n   1  b", secrets])
    assert demo_sections(shown) == "\n\n".join(["$ subconscious demo", typed, secrets])
