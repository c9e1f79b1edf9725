"""The plugin's options that choose a model: a key reaches the daemon, and no file of ours."""

from __future__ import annotations

import pytest

from tests.client.machine import Machine

pytestmark = [pytest.mark.client, pytest.mark.timeout(120, func_only=True)]

KEY = "sk-ant-dummy-of-the-tests-4711"


def test_a_sensitive_option_reaches_the_daemon_and_no_file_of_ours(machine: Machine) -> None:
    config = machine.state / "config.toml"
    config.write_text(f'anthropic_url = "{machine.api.url}"\n')
    config.chmod(0o600)
    machine.run("plugin", "uninstall", "subconscious@subconscious")
    options = ("--config", f"anthropic_key={KEY}", "--config", "provider=anthropic")
    machine.run("plugin", "install", *options, "subconscious@subconscious")
    # The first session starts the daemon, mostly too late for its own questions; the next finds it there.
    for _ in range(3):
        machine.talk("Good morning.")
        machine.drain()
    (provider,) = machine.request("provider", check=True)["providers"]
    assert provider["name"] == "anthropic"
    # The fake API knows no models, so the check fails; but not for want of a key.
    assert provider["error"]["code"] != "E050"
    kept = [path for path in machine.state.rglob("*") if path.is_file() and "env" not in path.parts]
    assert kept
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]
    assert KEY not in str(machine.request("status"))


def test_a_key_that_is_only_exported_serves_its_session(machine: Machine) -> None:
    config = machine.state / "config.toml"
    config.write_text(f'provider = "anthropic"\nanthropic_url = "{machine.api.url}"\n')
    config.chmod(0o600)
    for _ in range(3):
        machine.talk("Good morning.", environ={"SUBCONSCIOUS_ANTHROPIC_KEY": KEY})
        machine.drain()
    (provider,) = machine.request("provider")["providers"]
    assert (provider["key"], provider["sessions_with_own_key"] > 0) == ("", True)
    kept = [path for path in machine.state.rglob("*") if path.is_file() and "env" not in path.parts]
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]
