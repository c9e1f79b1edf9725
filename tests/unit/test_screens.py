"""The images of the terminal in the docs."""

from __future__ import annotations

from bench.screens import NO_BREAK, THEMES, demo_sections, svg


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
