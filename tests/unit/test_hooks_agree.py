"""The rules of docs/protocol.md stand twice in code; both must give the same answers."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import subconscious
from hooks import ask, cap, drop
from subconscious.app.sessions import SHARED
from subconscious.context.entry import parse_entry, parse_secrets
from subconscious.settings import home as library
from subconscious.settings.settings import KEYS, PREFIX, Settings
from subconscious.settings.tuning import Tuning
from tests.support.hook_calls import CHECKOUT

PLACES = ("", "relative", "whole", "missing/below", "file", "file/below", "link", "loop", "dangling", "open", "locked")
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
AWKWARD = st.one_of(TEXT, st.text("\\;\t\n\r=:ab"))
PAYLOAD = b'{"session_id": "s", "transcript_path": "/t", "cwd": "/c", "hook_event_name": "Stop"}'


def place(root: Path, name: str) -> str:
    return os.fspath(root / name) if name not in ("", "relative") else name


def furnish(root: Path) -> None:
    for name, mode in (("whole", 0o700), ("open", 0o777), ("locked", 0o500)):
        (root / name).mkdir()
        (root / name).chmod(mode)
    (root / "file").write_text("")
    (root / "link").symlink_to(root / "whole")
    (root / "dangling").symlink_to(root / "nowhere")
    (root / "loop").symlink_to(root / "loop")


@given(st.dictionaries(st.sampled_from(["SUBCONSCIOUS_HOME", "HOME", "TMPDIR"]), st.sampled_from(PLACES)))
@settings(max_examples=300, deadline=None)
@pytest.mark.slow
def test_the_same_home(names: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        furnish(Path(folder))
        environ = {key: place(Path(folder), name) for key, name in names.items()}
        # A relative TMPDIR is taken from the working folder.
        with contextlib.chdir(folder), mock.patch.dict(os.environ, environ, clear=True):
            theirs, ours = library.find_home(), drop.find_home()
    assert (None if ours is None else Path(ours)) == (None if theirs is None else theirs.root)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a folder that is another user's")
@pytest.mark.parametrize("key", ["SUBCONSCIOUS_HOME", "HOME"])
def test_the_same_home_where_it_is_not_ours(key: str, tmp_path: Path) -> None:
    (tmp_path / ".subconscious").mkdir()
    os.chown(tmp_path / ".subconscious", 12345, 12345)
    os.chown(tmp_path, 12345, 12345)
    environ = {key: os.fspath(tmp_path), "TMPDIR": os.fspath(tmp_path)}
    with mock.patch.dict(os.environ, environ, clear=True):
        ours, theirs = drop.find_home(), library.find_home()
    assert (Path(ours) if ours else None) == (theirs.root if theirs else None)


@given(project=AWKWARD, config=AWKWARD, capture=AWKWARD, tokens=st.one_of(st.none(), AWKWARD))
def test_the_header_is_read_as_it_was_written(project: str, config: str, capture: str, tokens: str | None) -> None:
    environ = {"CLAUDE_PROJECT_DIR": project, "CLAUDE_CONFIG_DIR": config, "CLAUDE_PLUGIN_OPTION_CAPTURE": capture}
    if tokens is not None:
        environ["CLAUDE_PLUGIN_OPTION_START_TOKENS"] = tokens
    with mock.patch.dict(os.environ, environ, clear=True):
        entry = parse_entry("name", drop.header("Stop", 1_700_000_000_500_000_000) + PAYLOAD)
    expected = {"capture": capture} | ({} if tokens is None else {"start_tokens": tokens})
    assert (entry.event, entry.at, entry.version) == ("Stop", 1_700_000_000.5, subconscious.__version__)
    assert (entry.project_dir, entry.config_dir, entry.options) == (project, config, expected)


@given(st.dictionaries(st.sampled_from(["SURFACE", "START_MEMORIES", "odd;name\tx\\"]), AWKWARD))
def test_a_session_s_settings_are_read_as_they_were_written(chosen: dict[str, str]) -> None:
    environ = {f"SUBCONSCIOUS_{name}": value for name, value in chosen.items()}
    with mock.patch.dict(os.environ, environ, clear=True):
        entry = parse_entry("name", drop.header("Stop", 1) + PAYLOAD)
    assert entry.options == {name: value for name, value in environ.items() if len(value) <= drop.LONGEST_VARIABLE}


@pytest.mark.parametrize("name", [*sorted(KEYS), "off", "anthropic_url", "provider_options", "git_command"])
def test_what_may_hold_a_key_is_not_written_to_the_spool(name: str) -> None:
    with mock.patch.dict(os.environ, {f"SUBCONSCIOUS_{name.upper()}": "dummy"}, clear=True):
        assert b"dummy" not in drop.header("Stop", 1)


def test_the_same_numbers() -> None:
    assert subconscious.__version__ == drop.VERSION
    assert library.SOCKET_PATH_LIMIT == ask.SOCKET_PATH_LIMIT
    assert Tuning.spool_max_mb << 20 == cap.MAX_BYTES


OF_SERVER = {"mcp"}
"""Options that the manifest hands to the MCP server, and that no hook needs."""


def test_options_are_settings_and_declared_by_the_plugin() -> None:
    assert {option.lower() for option in drop.OPTIONS} <= set(Settings.model_fields)
    declared = json.loads((CHECKOUT / "plugin.json").read_text())["userConfig"]
    sensitive = {name for name, option in declared.items() if option.get("sensitive")}
    assert sensitive <= KEYS
    assert {option.lower() for option in drop.OPTIONS} == set(declared) - sensitive - OF_SERVER


def test_every_option_of_the_plugin_is_handed_over() -> None:
    """Those that are sensitive over the socket, the others in the entry's header."""
    told = json.loads((CHECKOUT / ".claude-plugin" / "plugin.json").read_text())["userConfig"]
    sensitive = {name for name, option in told.items() if option.get("sensitive")}
    variables = {f"{PREFIX}{name.upper()}": "v" for name in (*KEYS, "start_tokens")}
    options = {f"CLAUDE_PLUGIN_OPTION_{name.upper()}": "o" for name in told}
    with mock.patch.dict(os.environ, variables | options, clear=True):
        handed_over = parse_secrets(ask._secrets().decode())
    own = {f"{PREFIX}{name.upper()}": "v" for name in KEYS - SHARED}
    assert handed_over == dict.fromkeys(sensitive, "o") | own
    assert {name.lower() for name in drop.OPTIONS} == set(told) - sensitive - OF_SERVER
