"""A browser that Claude Code started, for example for a tool that drives it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.browser import find_chromium, launched
from tests.support.page_client import request

pytestmark = [
    pytest.mark.skipif(find_chromium() is None, reason="no Chromium"),
    pytest.mark.skipif(sys.platform != "linux", reason="who connects can be seen on Linux only"),
]


def test_it_is_refused_and_does_not_use_up_the_link(link: str, tmp_path: Path) -> None:
    folder = tmp_path / "chromium"
    folder.mkdir()
    with launched(folder, {"CLAUDECODE": "1"}) as browser:
        page = browser.new_page()
        page.goto(link)
        assert page.locator("body").inner_text().strip() == "Refused: this was run inside a coding agent."
    assert request(link).status == 200
