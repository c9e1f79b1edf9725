"""The plugin's manifest, its copy, its hooks and what they name."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import subconscious
from daemon.events import EVENTS
from subconscious.settings.settings import Settings
from subconscious.surfacing import rendered_starts
from tests.support.hook_calls import CHECKOUT, OTHER_EVENTS, SESSION_EVENTS
from tests.support.manifest import with_options

EXTRAS = CHECKOUT / "subconscious" / "extras"
KNOWN_TO_OLD_CLIENTS = {
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification", "PreCompact"),
    *("Stop", "SubagentStop", "SessionEnd"),
}
"""The events of Claude Code 1.0.85, the first version with SessionEnd. Older versions refuse hooks.json."""


def manifest() -> dict[str, Any]:
    return dict(json.loads((CHECKOUT / "plugin.json").read_text()))


def wired(name: str = "hooks.json") -> dict[str, list[dict[str, Any]]]:
    return dict(json.loads((CHECKOUT / "hooks" / name).read_text(), object_pairs_hook=_distinct)["hooks"])


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Of two equal keys, the client would drop the first one's value without a word."""
    twice = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
    assert not twice, f"a file in hooks/ has {twice} twice: join their values"
    return dict(pairs)


def test_the_two_manifests_are_equal() -> None:
    copy = CHECKOUT / ".claude-plugin" / "plugin.json"
    assert copy.read_bytes() == (CHECKOUT / "plugin.json").read_bytes()
    assert not copy.is_symlink()


def test_the_versions_are_equal() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert manifest()["version"] == subconscious.__version__ == project["version"]


def test_options_are_settings_with_the_same_limits() -> None:
    options = manifest()["userConfig"]
    assert set(options) <= set(Settings.model_fields)
    assert all(option["title"] and option["description"] for option in options.values())
    limits = Settings.model_json_schema()["properties"]["start_tokens"]
    tokens = options["start_tokens"]
    assert (tokens["min"], tokens["max"]) == (limits["minimum"], limits["maximum"])


def test_the_options_of_providers_are_those_of_the_table() -> None:
    assert with_options(manifest()) == manifest(), "run `python -m tests.support.manifest`"


def test_the_marketplace_offers_the_plugin() -> None:
    market = json.loads((CHECKOUT / ".claude-plugin" / "marketplace.json").read_text())
    assert [(plugin["name"], plugin["source"]) for plugin in market["plugins"]] == [(manifest()["name"], "./")]


def test_one_unknown_event_would_turn_all_hooks_off() -> None:
    assert set(wired()) <= KNOWN_TO_OLD_CLIENTS


def test_what_old_clients_do_not_know_stands_in_a_file_of_its_own() -> None:
    """They refuse such a file whole, and that one alone."""
    assert manifest()["hooks"] == ["./hooks/failures.json"]
    assert set(wired("failures.json")) == {"PostToolUseFailure"}
    assert not set(wired("failures.json")) & KNOWN_TO_OLD_CLIENTS


def test_every_wired_event_is_known_to_the_daemon() -> None:
    # What a start was given without the daemon is told by its own hook, beside the event itself.
    assert set(wired() | wired("failures.json")) | {rendered_starts.EVENT} == set(EVENTS)


def test_every_wired_event_is_produced_in_the_real_client_or_named() -> None:
    wired_events = set(wired() | wired("failures.json"))
    place = "an event belongs to SESSION_EVENTS or OTHER_EVENTS (tests/support/hook_calls.py)"
    assert wired_events == SESSION_EVENTS | OTHER_EVENTS, f"{place}: {wired_events ^ (SESSION_EVENTS | OTHER_EVENTS)}"


def test_every_hook_goes_through_run() -> None:
    for event, groups in (wired() | wired("failures.json")).items():
        for hook in (hook for group in groups for hook in group["hooks"]):
            run, script, name = hook["args"]
            assert (hook["command"], run, name) == ("/bin/sh", "${CLAUDE_PLUGIN_ROOT}/hooks/run", event)
            assert (CHECKOUT / "hooks" / f"{script}.py").exists()
            assert hook["timeout"] > 0


def test_the_server_goes_through_its_script_and_hears_the_option() -> None:
    (server,) = manifest()["mcpServers"].values()
    assert (server["command"], server["args"]) == ("/bin/sh", ["${CLAUDE_PLUGIN_ROOT}/hooks/mcp"])
    assert server["env"] == {"CLAUDE_PLUGIN_OPTION_MCP": "${user_config.mcp}"}
    assert "mcp" in manifest()["userConfig"]


def test_the_shell_scripts_know_the_version() -> None:
    for script in ("mcp", "run"):
        assert subconscious.__version__ in (CHECKOUT / "hooks" / script).read_text()


def test_scripts_can_be_run() -> None:
    started = [CHECKOUT / "hooks" / name for name in ("mcp", "run")]
    scripts = [CHECKOUT / "bin" / "subconscious", *started, *(CHECKOUT / "scripts").iterdir()]
    assert all(os.access(script, os.X_OK) for script in scripts)


def test_locks_pin_by_hash_and_name_no_host() -> None:
    for lock in [*CHECKOUT.glob("requirements*.lock"), *EXTRAS.glob("*.lock")]:
        content = lock.read_text()
        assert not re.search(r"://|--index|--find-links|--extra|file:| @ ", content)
        packages = re.findall(r"^\S+==\S+ .*$", content, re.MULTILINE)
        assert packages
        assert all(package.endswith("\\") for package in packages)


def versions(lock: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([^\s=]+)==(\S+)", lock.read_text(), re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


def test_an_extra_replaces_nothing_that_a_daemon_runs_from() -> None:
    base, *others = map(versions, [CHECKOUT / "requirements.lock", *EXTRAS.glob("*.lock")])
    together: dict[str, set[str]] = dict(base)
    for extra in others:
        assert {name: extra[name] for name in extra.keys() & together.keys()} == {
            name: together[name] for name in extra.keys() & together.keys()
        }
        together |= extra
    assert len(others) == 4
    assert versions(CHECKOUT / "requirements-dev.lock").items() >= together.items()
    assert not {"anthropic", "openai", "mcp", "pip", "setuptools"} & base.keys()


def test_the_wheel_holds_every_package() -> None:
    listed = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]
    rooms = {name: CHECKOUT / folder for name, folder in listed["package-dir"].items()}
    places = {
        ".".join([room, *module.parent.relative_to(folder).parts])
        for room, folder in rooms.items()
        for module in folder.rglob("*.py")
    }
    assert places == set(listed["packages"])


def test_the_wheel_holds_every_file_that_a_package_reads() -> None:
    listed = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]
    rooms = {name: CHECKOUT / folder for name, folder in listed["package-dir"].items()}
    shipped = listed["package-data"]
    for room, folder in rooms.items():
        for file in folder.rglob("*"):
            if file.suffix not in (".npz", ".onnx", ".txt", ".toml", ".sql", ".json", ".jsonl") or not file.is_file():
                continue
            package = ".".join([room, *file.parent.relative_to(folder).parts])
            assert any(file.match(pattern) for pattern in shipped.get(package, ())), file


@pytest.mark.slow
def test_the_development_environment_lies_outside_of_the_working_copy(tmp_path: Path) -> None:
    """Claude Code copies the folder of a marketplace, and leaves out links that lead out of it."""
    copy = tmp_path / "copy"
    (copy / "scripts").mkdir(parents=True)
    shutil.copy(CHECKOUT / "scripts" / "setup", copy / "scripts")
    (copy / "requirements-dev.lock").touch()
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([copy / "scripts" / "setup"], env=environment, check=True)
    assert (copy / ".venv").is_symlink()
    assert (copy / ".venv").resolve().is_relative_to(tmp_path / "cache")
    assert os.access(copy / ".venv" / "bin" / "python", os.X_OK)
    ignored = (CHECKOUT / ".gitignore").read_text().splitlines()
    assert ".venv" in ignored, "with a slash behind it, Git would not ignore the link"
