"""Where settings come from, and that keys come from where they may and are shown to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from subconscious.domain.errors import SettingsError
from subconscious.settings.settings import KEYS, Settings, keys_in_config, load_settings

KEY = "the-key"


def write(home: Path, text: str, mode: int = 0o600) -> None:
    config = home / "config.toml"
    config.write_text(text)
    config.chmod(mode)


def test_keys_come_from_the_file_then_the_options_then_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_OPENAI_KEY", "environment")
    monkeypatch.setenv("OPENAI_API_KEY", "lying about")
    assert load_settings(tmp_path).of_provider("openai")["key"] == "environment"
    assert load_settings(tmp_path, {"openai_key": "option"}).of_provider("openai")["key"] == "option"
    write(tmp_path, 'openai_key = "file"')
    assert load_settings(tmp_path, {"openai_key": "option"}).of_provider("openai")["key"] == "file"
    monkeypatch.delenv("SUBCONSCIOUS_OPENAI_KEY")
    write(tmp_path, "")
    assert load_settings(tmp_path).of_provider("openai")["key"] == ""


def test_other_settings_come_from_the_environment_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_PROVIDER", "ollama")
    write(tmp_path, 'provider = "openai"\nprovider_fallback = ["anthropic"]')
    found = load_settings(tmp_path, {"provider": "anthropic"})
    assert (found.provider, found.provider_fallback) == ("ollama", ("anthropic",))


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_key_that_others_may_reach_is_not_used(tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, f'openai_key = "{KEY}"\nprovider = "openai"', mode)
    found = load_settings(tmp_path)
    assert (found.provider, found.of_provider("openai")["key"]) == ("openai", "")
    assert "chmod 600" in caplog.text
    assert KEY not in caplog.text


def test_keys_are_masked_wherever_settings_are_shown(tmp_path: Path) -> None:
    settings = Settings.model_validate(dict.fromkeys(KEYS, KEY))
    assert KEY not in f"{settings} {settings!r} {settings.model_dump()} {settings.model_dump_json()}"


def test_a_bad_value_of_a_key_is_not_repeated(tmp_path: Path) -> None:
    write(tmp_path, f'openai_key = ["{KEY}"]')
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path)
    assert KEY not in str(caught.value) + caught.value.remedy


@pytest.mark.parametrize("kinds", ['["lesson", "progres"]', '["all"]'])
def test_a_kind_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path, kinds: str) -> None:
    (tmp_path / "config.toml").write_text(f"surface_kinds_off = {kinds}\n")
    with pytest.raises(SettingsError, match=r"'surface_kinds_off'.*no memory kind '(?:progres|all)'; kinds: .*lesson"):
        load_settings(tmp_path)
    (tmp_path / "config.toml").write_text('surface_kinds_off = ["lesson", "progress"]\n')
    assert load_settings(tmp_path).surface_kinds_off == ("lesson", "progress")


def test_a_setting_of_an_earlier_version_gets_one_line_and_breaks_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "config.toml").write_text("spool_max_days = 3\nreview_expiry_days = 9\n")
    assert load_settings(tmp_path).review_expiry_days == 9
    (line,) = caplog.messages
    assert "spool_max_days has no effect any more" in line


@pytest.mark.parametrize(
    "name", ["recall_mode", "job_attempts", "silent_minutes", "spool_max_mb", "claude_code_config_dir"]
)
def test_a_setting_that_became_a_constant_keeps_its_value(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "config.toml").write_text(f'{name} = "other"\n')
    found = load_settings(tmp_path)
    (line,) = caplog.messages
    assert f"{name} has no effect any more" in line
    assert getattr(found, name, "") == getattr(Settings(), name, "")


@pytest.mark.parametrize("policy", ["weighted", "exp30"])
def test_a_policy_has_to_exist(policy: str, tmp_path: Path) -> None:
    write(tmp_path, f'archive_policy = "{policy}"')
    assert load_settings(tmp_path).archive_policy == policy
    write(tmp_path, f'archive_policy = "{policy}x"')
    with pytest.raises(SettingsError, match=f"no archive policy '{policy}x'; policies: weighted"):
        load_settings(tmp_path)


def test_a_session_s_variables_outrank_config_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text("start_memories = 3\n")
    monkeypatch.setenv("SUBCONSCIOUS_START_MEMORIES", "5")
    chosen = {
        "SUBCONSCIOUS_START_MEMORIES": "7",
        "SUBCONSCIOUS_SURFACE_KINDS_OFF": '["lesson"]',
        "SUBCONSCIOUS_NO": "1",
    }
    found = load_settings(tmp_path, chosen)
    assert (found.start_memories, found.surface_kinds_off) == (7, ("lesson",))
    assert load_settings(tmp_path).start_memories == 5


def test_a_session_s_variables_make_no_key(tmp_path: Path) -> None:
    found = load_settings(tmp_path, {"SUBCONSCIOUS_OPENAI_KEY": "dummy"})
    assert found.of_provider("openai")["key"] == ""


@pytest.mark.parametrize("value", ["{", "[1", "nonsense"])
def test_a_variable_without_valid_json_is_reported(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError):
        load_settings(tmp_path, {"SUBCONSCIOUS_HALF_LIVES": value})


def test_it_is_known_which_keys_config_has(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Those outrank what a session brings; nothing is told twice of a file that is wrong."""
    before = frozenset({"openai_key"})
    assert keys_in_config(tmp_path, before) == frozenset()
    write(tmp_path, 'openai_key = "file"\nanthropic_key = ""\nprovider = "openai"\n')
    assert keys_in_config(tmp_path) == {"openai_key"}
    write(tmp_path, 'anthropic_key = "file"', 0o644)
    assert keys_in_config(tmp_path) == frozenset()
    write(tmp_path, "no TOML")
    assert keys_in_config(tmp_path, before) == before
    assert caplog.text == ""


def test_a_misspelled_setting_is_answered_with_the_one_meant(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("auto_treshold = 0.5\nfnord = 1\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path)
    assert "auto_treshold (did you mean auto_threshold?), fnord" in caught.value.message
    assert "fnord (" not in caught.value.message
