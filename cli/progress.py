"""Shows the progress of a long operation on stderr."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from . import screen

BAR_CELLS = 24
REDRAWN_SECONDS = 1.0
"""Seconds between redraws of the line on a terminal. Without a total, the line shows the seconds that have passed."""

LINE_SECONDS = 10.0
"""Seconds between printed lines where a line can't be rewritten, as in a log."""


class Progress:
    """Shows the progress of the work named ``doing``: on a terminal in one line, which is removed at the end.

    On other streams, it prints a new line each time. With a ``total``, a line shows the share that is done, otherwise
    the seconds that have passed. If ``shown`` is false, nothing is printed.
    """

    def __init__(self, doing: str, total: int = 0, shown: bool = True, stream: TextIO | None = None) -> None:
        self._doing = doing
        self._total = total
        self._stream = stream or sys.stderr
        self._shown = shown
        self._rewrites = self._stream.isatty()
        self._begun = time.monotonic()
        self._done = 0
        self._name = ""
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._keep_showing, daemon=True)
        self._drawing = threading.Lock()

    def __enter__(self) -> Progress:
        if self._shown:
            self._clock.start()
        if self._rewrites:
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._shown:
            return
        self._over.set()
        self._clock.join()
        if self._rewrites:
            self._write("\r\x1b[K")

    def advance(self, units: int, name: str = "") -> None:
        """Count ``units`` of the total as done; ``name`` is shown beside the bar."""
        self._done += units
        self._name = name
        if self._rewrites:
            self._show()

    def _keep_showing(self) -> None:
        while not self._over.wait(REDRAWN_SECONDS if self._rewrites else LINE_SECONDS):
            self._show()

    def _show(self) -> None:
        if not self._shown:
            return
        with self._drawing:
            if self._rewrites:
                self._write(f"\r\x1b[K{self._line()[: screen.width() - 1]}")
            else:
                self._write(f"{self._line()}\n")

    def _line(self) -> str:
        if not self._total:
            return f"{self._doing} ({time.monotonic() - self._begun:.0f} s)"
        part = min(1.0, self._done / self._total)
        if not self._rewrites:
            return f"{self._doing}: {part:.0%} done"
        cells = round(part * BAR_CELLS)
        return f"{self._doing} [{'#' * cells}{'.' * (BAR_CELLS - cells)}] {part:4.0%} {screen.line(self._name)}"

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
