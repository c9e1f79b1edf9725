"""The embedder's key: where it may come from, and that nobody is shown it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from subconscious.settings.settings import Settings, load_settings


def write(home: Path, mode: int) -> None:
    config = home / "config.toml"
    config.write_text('embedder_key = "from the file"\n')
    config.chmod(mode)


def key_of(settings: Settings) -> str:
    return settings.embedder_key.get_secret_value()


def test_a_key_comes_from_the_file_then_the_options_then_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_EMBEDDER_KEY", "from the environment")
    monkeypatch.setenv("OPENAI_API_KEY", "a stray one")
    assert key_of(load_settings(tmp_path)) == "from the environment"
    options = {"embedder_key": "from the options"}
    assert key_of(load_settings(tmp_path, options)) == "from the options"
    write(tmp_path, 0o600)
    assert key_of(load_settings(tmp_path, options)) == "from the file"


def test_other_settings_of_the_embedder_come_from_the_environment_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('embedder = "ollama"\n')
    monkeypatch.setenv("SUBCONSCIOUS_EMBEDDER", "none")
    assert load_settings(tmp_path).embedder == "none"


def test_a_key_that_others_may_read_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, 0o644)
    with caplog.at_level(logging.WARNING):
        assert key_of(load_settings(tmp_path)) == ""
    assert "chmod 600" in caplog.text
    assert "from the file" not in caplog.text


def test_a_key_is_masked_wherever_settings_are_shown(tmp_path: Path) -> None:
    write(tmp_path, 0o600)
    settings = load_settings(tmp_path)
    assert "from the file" not in f"{settings!r} {settings} {settings.model_dump(mode='json')}"
