"""How far long work has come: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TextIO

from . import screen

CELLS = 24
STEP = 0.1
"""Part of the work after which a line is printed where there is no bar."""


class Progress:
    """Counts units of work up to ``total``; silent unless ``shown``. On stderr, so that results can be piped."""

    def __init__(self, total: int, shown: bool = True, stream: TextIO | None = None) -> None:
        self._total = total
        self._stream = stream or sys.stderr
        self._shown = shown and total > 0
        self._bar = self._stream.isatty()
        self._done = 0
        self._told = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and self._bar:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def advance(self, units: int, name: str = "") -> None:
        """Count ``units`` as done; ``name`` says what they were."""
        self._done += units
        part = min(1.0, self._done / self._total) if self._total else 1.0
        if not self._shown:
            return
        if self._bar:
            self._draw(part, name)
        elif part - self._told >= STEP or part >= 1.0 > self._told:
            self._told = part
            print(f"{part:4.0%}", file=self._stream, flush=True)

    def _draw(self, part: float, name: str) -> None:
        cells = round(part * CELLS)
        line = f"[{'#' * cells}{'.' * (CELLS - cells)}] {part:4.0%} {screen.line(name)}"
        self._stream.write(f"\r\x1b[K{line[: screen.width() - 1]}")
        self._stream.flush()
