"""Single settings are written into config.toml, and nothing else in it changes."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest

from subconscious.domain.errors import SettingsError
from subconscious.settings.config_file import write_settings


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'provider = "ollama"\n'),
        ("# mine\ncapture = true", '# mine\ncapture = true\nprovider = "ollama"\n'),
        ('  provider="none" # off\ncapture = true\n', 'provider = "ollama"\ncapture = true\n'),
        ("[half_lives]\nlesson = 9\n", 'provider = "ollama"\n[half_lives]\nlesson = 9\n'),
        ('#provider = "openai"\n', '#provider = "openai"\nprovider = "ollama"\n'),
        ('[provider_options.x]\nprovider = "y"\n', 'provider = "ollama"\n[provider_options.x]\nprovider = "y"\n'),
    ],
)
def test_a_setting_is_written_in_its_place_or_before_the_tables(tmp_path: Path, before: str, after: str) -> None:
    config = tmp_path / "config.toml"
    if before:
        config.write_text(before)
    write_settings(config, {"provider": "ollama"})
    assert config.read_text() == after
    assert stat.S_IMODE(config.stat().st_mode) == 0o600


def test_quotes_in_a_key_are_kept(tmp_path: Path) -> None:
    key = 'a"b\\c\\1'
    write_settings(tmp_path / "config.toml", {"openai_key": key, "provider": "openai"})
    assert tomllib.loads((tmp_path / "config.toml").read_text()) == {"openai_key": key, "provider": "openai"}


@pytest.mark.parametrize("text", ['provider = """\nnone"""\n', 'git_command = """\nprovider = "x"\n"""\n'])
def test_what_cannot_be_changed_alone_is_left_alone(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(text)
    with pytest.raises(SettingsError):
        write_settings(config, {"provider": "ollama"})
    assert config.read_text() == text


def test_a_broken_file_is_left_to_the_person(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("provider = ")
    with pytest.raises(SettingsError):
        write_settings(config, {"openai_key": "k"})
    assert config.read_text() == "provider = "


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("capture = true\n")
    (tmp_path / "config.toml").symlink_to(tmp_path / "elsewhere.toml")
    write_settings(tmp_path / "config.toml", {"provider": "ollama"})
    assert (tmp_path / "config.toml").is_symlink()
    assert 'provider = "ollama"' in (tmp_path / "elsewhere.toml").read_text()
