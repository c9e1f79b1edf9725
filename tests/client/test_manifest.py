"""The client accepts what the plugin ships."""

import json

import pytest

from tests.client.machine import Machine

pytestmark = [pytest.mark.client, pytest.mark.timeout(60, func_only=True)]


@pytest.mark.parametrize("part", [".claude-plugin/plugin.json", "."])
def test_client_validates(machine: Machine, part: str) -> None:
    validated = machine.run("plugin", "validate", "--strict", str(machine.plugin / part), check=False)
    assert validated.returncode == 0, validated.stdout + validated.stderr


def test_session_knows_plugin_and_skills(machine: Machine) -> None:
    session = machine.talk("Good morning.")
    init = next(event for event in session.events if event.get("subtype") == "init")
    shipped = {f"subconscious:{skill.parent.name}" for skill in machine.plugin.glob("skills/*/SKILL.md")}
    assert "subconscious" in {plugin["name"] for plugin in init["plugins"]}
    assert shipped
    assert shipped <= set(init["slash_commands"])


def test_uninstall_keeps_memories(machine: Machine) -> None:
    machine.talk("We decided to keep receipts for ten years, because auditors ask for them.")
    machine.drain()
    machine.run("plugin", "uninstall", "subconscious@subconscious")
    assert machine.remembered("receipts for ten years")


def test_readmes_removal_leaves_nothing_in_the_clients_settings(machine: Machine) -> None:
    machine.run("plugin", "marketplace", "remove", "subconscious")
    settings = json.loads((machine.config / "settings.json").read_text())
    assert not settings.get("extraKnownMarketplaces")
    assert not settings.get("enabledPlugins")
    installed = json.loads((machine.config / "plugins" / "installed_plugins.json").read_text())
    assert not installed["plugins"]


def test_needed_events_are_wired(machine: Machine) -> None:
    wired = json.loads((machine.plugin / "hooks" / "hooks.json").read_text())["hooks"]
    needed = {"SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop", "SessionEnd"}
    assert set(wired) >= needed
