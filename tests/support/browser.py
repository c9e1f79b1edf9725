"""A real browser for the tests of the page: Chromium as the system has it, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.support.terminal import Terminal

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Debian's headless shell is the same engine without a window, which itself consists of pages in processes."""

SECONDS = 30.0

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
"""axe-core, which finds faults in accessibility."""


def find_chromium() -> str | None:
    """The browser's path: SUBCONSCIOUS_TEST_CHROMIUM, or the first on the PATH; None where there is none."""
    return os.environ.get("SUBCONSCIOUS_TEST_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launched(folder: Path, environment: dict[str, str] | None = None) -> Iterator[Browser]:
    """Run the browser as a person would: detached from the tests, which may run inside Claude Code themselves."""
    path = find_chromium()
    assert path is not None
    options = ["--headless=new", "--remote-debugging-port=0", f"--user-data-dir={folder}", "--no-first-run"]
    options += ["--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking"]
    # Its sandbox does not work for root, in a container.
    options += ["--no-sandbox"] if os.getuid() == 0 else []
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | (environment or {})
    with Terminal([path, *options, "about:blank"], kept, folder) as terminal:
        endpoint = _endpoint(folder, terminal)
        with sync_playwright() as playwright:
            browser = playwright.chromium.connect_over_cdp(endpoint)
            try:
                yield browser
            finally:
                browser.close()


def _endpoint(folder: Path, terminal: Terminal) -> str:
    """Where the browser can be driven, as soon as it listens."""
    note, deadline = folder / "DevToolsActivePort", time.monotonic() + SECONDS
    while not note.exists() or not note.read_text().strip():
        assert time.monotonic() < deadline, f"the browser does not start: {terminal.shown}"
        time.sleep(0.05)
    return f"http://127.0.0.1:{note.read_text().split()[0]}"
