"""Fixtures of the contract suites."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.client.conftest import find_claude
from tests.contract.provider_kits import HttpKit, Kit, open_kit


@pytest.fixture
async def kit(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Kit]:
    """The provider of that name with something to ask; OpenAI's own address is moved to the fake."""
    claude: Callable[[], str] = find_claude
    async with open_kit(request.param, tmp_path, claude) as opened:
        if request.param == "openai":
            assert isinstance(opened, HttpKit)
            monkeypatch.setattr("subconscious.llm.providers.openai.BASE_URL", f"{opened.server.url}/v1")
            opened.own_address = True
        yield opened
        for provider in opened.opened:
            await provider.close()
