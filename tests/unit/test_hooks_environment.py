"""What a first session is told while there is no environment yet."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from hooks import environment, programs


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(environment, "_start_maker", lambda _: None)
    monkeypatch.setattr(programs, "safe_path", lambda: str(tmp_path / "bin"))
    monkeypatch.setattr(environment, "sys", SimpleNamespace(version_info=(3, 9), executable="python3"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def test_a_machine_with_only_an_old_python_gets_a_message_at_once(said: Path) -> None:
    told = json.loads(environment.bring_up(str(said)))["systemMessage"]
    assert "needs Python 3.11" in told
    assert "Install one" in told
    assert "in the background" not in told


def test_a_capable_machine_gets_the_setup_message(said: Path) -> None:
    (said / "bin" / "uv").touch(mode=0o755)
    assert environment.SETTING_UP in environment.bring_up(str(said))
