"""Draws a curve in ASCII characters, for any terminal."""

from __future__ import annotations

from collections.abc import Sequence

HEIGHT = 10
MARGIN = 6

Points = Sequence[tuple[float, float]]


def curve(points: Points, width: int, *, top: float = 1.0, mark: float | None = None, unit: str = "") -> list[str]:
    """Return lines that draw ``points`` (x, y) from 0 to ``top``; ``mark`` is a y that gets a dotted line."""
    columns = max(10, width - MARGIN - 2)
    heights = [_height(value, top) for value in _sampled(points, columns)]
    level = None if mark is None else _height(mark, top)
    rows = [_row(row, heights, level, top) for row in range(HEIGHT, -1, -1)]
    first, last = f"{points[0][0]:g}", f"{points[-1][0]:g} {unit}".strip()
    axis = " " * (MARGIN + 1) + first + last.rjust(columns - len(first))
    return [*rows, " " * MARGIN + "+" + "-" * columns, axis]


def _sampled(points: Points, columns: int) -> list[float]:
    """Return a value for each column: that of the last point at or before it."""
    begin, end = points[0][0], points[-1][0]
    found, index = [], 0
    for column in range(columns):
        at = begin + (end - begin) * column / max(1, columns - 1)
        while index + 1 < len(points) and points[index + 1][0] <= at:
            index += 1
        found.append(points[index][1])
    return found


def _height(value: float, top: float) -> int:
    return round(HEIGHT * max(0.0, min(1.0, value / top))) if top > 0 else 0


def _row(row: int, heights: Sequence[int], level: int | None, top: float) -> str:
    empty = "." if row == level else " "
    label = f"{top * row / HEIGHT:.2f}" if top <= 1 else f"{top * row / HEIGHT:.0f}"
    drawn = "".join("*" if height == row else empty for height in heights)
    return f"{label if row % 5 == 0 else '':>{MARGIN - 1}} |{drawn}".rstrip()
