"""A daemon with a prepared store, and a real browser that has its page open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from bench.page_store import Furnished, furnish
from subconscious import wire
from subconscious.settings.home import Home
from tests.daemon.conftest import daemon_threads
from tests.support import terminal
from tests.support.browser import find_chromium, launched
from tests.support.daemon_thread import DaemonThreads
from tests.support.daemons import configure, stop

__all__ = ["daemon_threads"]

HAS_BROWSER = find_chromium() is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where there is none."""
    missing = pytest.mark.skip(reason="no Chromium: apt-get install chromium, or set SUBCONSCIOUS_TEST_CHROMIUM")
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()) and not HAS_BROWSER:
            item.add_marker(missing)
        if "served" in getattr(item, "fixturenames", ()):
            item.add_marker("daemon")


@pytest.fixture
def shop(request: pytest.FixtureRequest, home: Home, tmp_path: Path) -> Furnished:
    """A store with three sessions, or with the parameter "empty" one with nothing."""
    configure(home)
    if getattr(request, "param", "") == "empty":
        (tmp_path / "shop").mkdir()
        return Furnished(tmp_path / "shop", 0, 0, 0, 0, 0)
    return furnish(home, tmp_path / "shop")


@pytest.fixture
def served(home: Home, shop: Furnished, daemon_threads: DaemonThreads) -> Iterator[Home]:
    """A daemon over that store."""
    wire.ensure_daemon(home)
    yield home
    stop(home)
    daemon_threads.stop()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for one module: as long as Playwright runs, no other event loop can run in this thread."""
    with launched(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture
def link(served: Home, shop: Furnished) -> str:
    """The link that `subconscious ui` prints."""
    return str(terminal.call(served, "ui", cwd=str(shop.root))["url"])


@pytest.fixture
def page(browser: Browser, link: str) -> Iterator[Page]:
    """The page, open in a browser that has seen nothing else."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(10_000)
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.goto(link)
    opened.wait_for_url("**/timeline")
    yield opened
    context.close()
    assert problems == [], "the browser reported errors, such as what the Content-Security-Policy forbids"
