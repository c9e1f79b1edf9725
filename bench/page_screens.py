"""Take pictures of the page of `subconscious ui`: 1280 and 390 pixels wide, light and dark.

    python -m bench.page_screens [docs/screens]

The pictures come from a real Chromium, with a daemon in a temporary folder that stores a made-up shop.
"""

from __future__ import annotations

import sys
import tempfile
from base64 import b64decode
from pathlib import Path

from playwright.sync_api import Browser, Page

from bench.page_store import SESSIONS, Furnished, furnish
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.browser import launched

WIDTHS = {"wide": (1280, 860), "narrow": (390, 844)}
PLACES = {
    "timeline": "timeline",
    "changed": "timeline?show=changed",
    "memories": "memories",
    "archived": "memories?state=archived",
    "memory": "memory/{postgres}",
    "review": "review",
    "session": f"session/{SESSIONS[2][0]}",
    "graph": "graph?id={postgres}",
    "fading": "fading",
    "health": "health",
}
WAIT_FOR = {"graph": "[data-drawn]", "health": ".findings", "fading": ".chart canvas", "memory": ".chart canvas"}


HIDE_FOLDERS = """(folders) => document.querySelectorAll(".findings p").forEach((line) => {
    for (const node of line.childNodes) for (const folder of folders) {
        if (node.nodeType === 3) node.data = node.data.replaceAll(folder, "~");
    }
})"""
"""Pictures don't show where they were taken."""


def take(browser: Browser, link: str, target: Path, shop: Furnished) -> None:
    """Take all pictures; one context, because the link works once."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.wait_for_url("**/timeline")
    base = page.url.removesuffix("timeline")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width, (across, down) in WIDTHS.items():
            page.set_viewport_size({"width": across, "height": down})
            for name, place in PLACES.items():
                _take_one(
                    page,
                    base + place.format(postgres=shop.postgres),
                    name,
                    target / f"page-{name}-{width}-{scheme}.webp",
                )
    context.close()


def _take_one(page: Page, url: str, name: str, file: Path) -> None:
    page.goto(url)
    if name in WAIT_FOR:
        page.wait_for_selector(WAIT_FOR[name])
    page.evaluate(HIDE_FOLDERS, [str(Path(sys.prefix).parent), tempfile.gettempdir()])
    # Playwright itself knows no WebP, which takes a quarter of the room.
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": 85})
    file.write_bytes(b64decode(taken["data"]))
    session.detach()


def main() -> None:
    """Take the pictures."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screens").absolute()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="subconscious-") as folder:
        home = Home(Path(folder, "home"))
        home.make()
        (home.root / "config.toml").write_text('embedder = "none"\nlink_limit = 0\n')
        shop = furnish(home, Path(folder, "shop"))
        wire.ensure_daemon(home)
        try:
            link = terminal.call(home, "ui", cwd=str(shop.root))["url"]
            Path(folder, "chromium").mkdir()
            with launched(Path(folder, "chromium")) as browser:
                take(browser, link, target, shop)
        finally:
            wire.call(home, "stop")
            wire.await_absence(home, 20)


if __name__ == "__main__":
    main()
