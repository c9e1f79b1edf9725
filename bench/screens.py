"""Draw the main screens of the terminal as SVG, 80 and 120 columns wide, light and dark.

    python -m bench.screens [docs/screens [help ...]]

The screens come from real commands on a pseudo-terminal, with a daemon in a temporary folder that stores a few made-up
statements. With names of screens after the folder, only these are drawn. Of `subconscious demo`, the README's
picture has the sections of ``DEMO_SECTIONS``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

from subconscious import wire
from subconscious.settings.home import Home
from tests.support import terminal

SAID = (
    "We decided to keep all amounts in integer cents, because floats lost a cent.",
    "Use pnpm, never npm: the lock file is pnpm's.",
    "The upload worker retries twice and then parks the chunk, since the proxy drops long connections.",
    "Dates are stored in UTC, always.",
)
ASKED_FOR = ("The staging database is reset every night.", "Small commits, one change each.")
SCREENS = {
    "overview": "",
    "help": "--help",
    "list": "list",
    "search": "search upload chunk",
    "show": "show 1",
    "review": "review --list",
    "mistake": "stauts",
}
DEMO_SECTIONS = ("What the user typed", "Stored without asking", "Secrets")
"""The sections of the demo that fit on a screen."""

THEMES = {
    "light": {
        "back": "#ffffff",
        "edge": "#d0d7de",
        "": "#24292f",
        "1": "#000000",
        "2": "#6e7781",
        "31": "#cf222e",
        "33": "#9a6700",
    },
    "dark": {
        "back": "#0d1117",
        "edge": "#30363d",
        "": "#e6edf3",
        "1": "#ffffff",
        "2": "#8b949e",
        "31": "#ff7b72",
        "33": "#d29922",
    },
}
ADVANCE, LINE, MARGIN = 8.4, 19, 16
WIDTHS = {"": 80, "-wide": 120}
"""Columns of a screen, by what its file's name says of them."""
NO_BREAK = "\u00a0"
"""Stands for a space in the images, since browsers collapse spaces there, xml:space or not."""
STYLED = re.compile(r"\x1b\[([\d;]*)m")


def svg(text: str, theme: dict[str, str], columns: int) -> str:
    """A terminal's output as an image."""
    lines = list(_styled_lines(text.rstrip()))
    width, height = columns * ADVANCE + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    rows = [
        f'<text x="{MARGIN}" y="{MARGIN + (number + 0.75) * LINE:.0f}">{"".join(_spans(line, theme))}</text>'
        for number, line in enumerate(lines)
    ]
    style = f'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" fill="{theme[""]}"'
    size = f'width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>'
    return "\n".join([head, frame(theme, width, height), *rows, "</svg>", ""])


def frame(theme: dict[str, str], width: float, height: float) -> str:
    """The background, with an edge that sets it off from a page of the same colour."""
    size = f'width="{width - 1:.0f}" height="{height - 1}" x="0.5" y="0.5" rx="8"'
    return f'<rect {size} fill="{theme["back"]}" stroke="{theme["edge"]}"/>'


def _styled_lines(text: str) -> Iterator[str]:
    """Yield the lines, each beginning with the style that the line before it left on."""
    style = "0"
    for line in text.splitlines():
        yield f"\x1b[{style}m{line}"
        style = [style, *STYLED.findall(line)][-1]


def _spans(line: str, theme: dict[str, str]) -> Iterator[str]:
    """The parts of a line with their styles; each part has a fixed position, so that the font does not matter."""
    style, column = "", 0
    for place, part in enumerate(STYLED.split(line)):
        if place % 2:
            style = "" if part == "0" else part
        elif part:
            weight = ' font-weight="bold"' if style == "1" else ""
            x, length = MARGIN + column * ADVANCE, len(part) * ADVANCE
            yield (
                f'<tspan x="{x:.1f}" textLength="{length:.1f}" fill="{theme.get(style, theme[""])}"{weight}>'
                f"{escape(part).replace(' ', NO_BREAK)}</tspan>"
            )
            column += len(part)


def furnish(home: Home, project: Path) -> None:
    """Store the statements that the screens show."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(project)], check=True)
    wire.ensure_daemon(home, 60.0)
    for text in SAID:
        terminal.call(home, "remember", text=text, cwd=str(project))
    for text in ASKED_FOR:
        wire.call(home, "remember", {"text": text, "cwd": str(project)})
    wire.call(home, "drain", {"timeout": 60}, 65)


def shoot(words: str, columns: int, home: Home, project: Path, root: Path) -> str:
    """Return the output of a command, with its colours; the temporary folder is shown as the home folder."""
    command = [sys.executable, "-m", "cli", *words.split()]
    environment = terminal.environment(home) | {terminal.COLUMNS_WANTED: str(columns)}
    with terminal.Terminal(command, environment, project) as window:
        window.end()
        return f"$ {' '.join(['subconscious', *words.split()])}\n{window.coloured}".replace(str(root), "~")


def demo_sections(text: str) -> str:
    """Return the chosen sections of the demo, after the command that prints it."""
    command, _, shown = text.partition("\n")
    sections = re.split(r"\n\n", shown)
    chosen = [section for section in sections if STYLED.sub("", section).startswith(DEMO_SECTIONS)]
    return "\n\n".join([command, *chosen])


def main() -> None:
    """Draw the chosen screens in both widths and themes."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screens")
    chosen = sys.argv[2:] or [*SCREENS, "demo"]
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=Path.home()) as name:
        root = Path(name)
        home, project = Home(root / ".subconscious"), root / "payments"
        home.make()
        try:
            furnish(home, project)
            shots = {
                (screen, width): shoot(words, columns, home, project, root)
                for screen, words in (SCREENS | {"demo": "demo"}).items()
                if screen in chosen
                for width, columns in WIDTHS.items()
            }
        finally:
            wire.call(home, "stop")
            wire.await_absence(home, 20)
    for (screen, width), shot in shots.items():
        text = demo_sections(shot) if screen == "demo" else shot
        for theme, colours in THEMES.items():
            image = svg(text, colours, WIDTHS[width])
            (target / f"{screen}{width}-{theme}.svg").write_text(image, encoding="utf-8")


if __name__ == "__main__":
    main()
