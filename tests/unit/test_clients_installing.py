"""Entries in the settings of other coding agents: added, found again, and taken out without a trace."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.clients import CLIENTS
from subconscious.clients.entries import PLACES
from subconscious.clients.installing import changes, folder_of, is_installed, problem_of, write, write_launcher
from subconscious.domain.errors import RequestError

OTHERS = {"type": "command", "command": "notify-send done"}


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return tmp_path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "it's state").mkdir()
    return tmp_path / "it's state"


def apply(client: str, state: Path, *, remove: bool = False) -> list[Path]:
    found = changes(client, state, remove=remove)
    for change in found:
        write(change)
    return [change.path for change in found]


def files(client: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder_of(client).iterdir()} if folder_of(client).exists() else {}


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_nothing_is_left_of_an_installation(client: str, state: Path) -> None:
    assert not is_installed(client)
    assert len(apply(client, state)) == len(PLACES[client].files)
    assert is_installed(client)
    assert apply(client, state) == [], "it is there already"
    apply(client, state, remove=True)
    assert (files(client), is_installed(client)) == ({}, False)


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_what_others_have_set_up_stays(client: str, state: Path) -> None:
    folder_of(client).mkdir()
    own = {
        "theme": "dark",
        "hooks": {"Stop": [{"hooks": [OTHERS]}], "stop": [OTHERS]},
        "mcpServers": {"x": {"command": "x"}},
    }
    for name in PLACES[client].files:
        text = (
            'model = "o9" # the best\n[mcp_servers.x]\ncommand = "x"\n'
            if name.endswith("toml")
            else json.dumps(own, indent=4)
        )
        (folder_of(client) / name).write_text(text)
    before = files(client)
    apply(client, state)
    assert is_installed(client)
    for name, text in files(client).items():
        assert text.startswith(before[name]) if name.endswith("toml") else json.loads(text)["theme"] == "dark"
    apply(client, state, remove=True)
    left = files(client)
    for name, text in before.items():  # the version that Cursor wants may stay
        assert left[name] == text or json.loads(left[name]) == {**json.loads(text), "version": 1}


LISTS = st.lists(
    st.sampled_from([OTHERS, 1, None, {"matcher": "x", "hooks": [OTHERS]}, {"hooks": "no list"}]),
    min_size=1,
    max_size=3,
)
SETTINGS = st.dictionaries(st.sampled_from(["a", "version", "mcpServers"]), st.sampled_from([1, "x", {"y": 1}]))


@given(
    SETTINGS,
    st.dictionaries(st.sampled_from(["Stop", "SessionStart", "AfterTool", "sessionStart"]), LISTS | st.just(1)),
)
def test_an_installation_and_its_removal_change_nothing(settings: dict[str, Any], hooks: dict[str, Any]) -> None:
    state = Path("/srv/state")
    for place in PLACES.values():
        for name, edit in place.files.items():
            if name.endswith("toml"):
                continue
            before = json.dumps(settings | ({"hooks": hooks} if hooks else {}))
            try:
                there = edit(before, state, place.hooks, name)
            except RequestError:
                assert any(not isinstance(groups, list) for groups in hooks.values())
                continue
            back = json.loads(edit(there, state, (), name) or "{}")
            expected = {**json.loads(before), "version": settings.get("version", 1)}
            assert {"version": settings.get("version", 1), **back} in (expected, {"version": 1})


def test_a_file_that_a_link_names_is_written_through_it(state: Path, person: Path) -> None:
    real = person / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    real.chmod(0o644)
    (person / ".gemini").mkdir()
    (person / ".gemini" / "settings.json").symlink_to(real)
    apply("gemini", state)
    assert (person / ".gemini" / "settings.json").is_symlink()
    assert ("subconscious" in real.read_text(), real.stat().st_mode & 0o777) == (True, 0o644)


@pytest.mark.parametrize(
    ("client", "name", "text", "problem"),
    [
        ("gemini", "settings.json", '{"a": 1} // mine', "not plain JSON"),
        ("gemini", "settings.json", "[]", "not plain JSON"),
        ("cursor", "hooks.json", '{"hooks": []}', "not plain JSON"),
        ("codex", "config.toml", "a = ", "not TOML"),
    ],
)
def test_a_file_that_can_t_be_read_is_left_alone(client: str, name: str, text: str, problem: str, state: Path) -> None:
    folder_of(client).mkdir()
    (folder_of(client) / name).write_text(text)
    with pytest.raises(RequestError, match=problem):
        changes(client, state)
    assert files(client) == {name: text}


def test_a_server_of_the_users_own_is_kept(state: Path) -> None:
    folder_of("codex").mkdir()
    own = '[mcp_servers.subconscious]\ncommand = "mine"\n'
    (folder_of("codex") / "config.toml").write_text(own)
    apply("codex", state)
    assert files("codex")["config.toml"] == own


WRITTEN_BY_CODEX = """
[mcp_servers.subconscious.tools.memory_search]
approval_mode = "approve"

[tui]
screen_reader_detection_done = true

[hooks.state."/home/ada/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:81213e2f58cc"
# A closing remark.
"""


@pytest.mark.parametrize("before", ["", 'model = "o9"\n', 'model = "o9"', '[mcp_servers.x]\ncommand = "x"\n\n'])
def test_what_codex_writes_behind_our_lines_stays(before: str, state: Path) -> None:
    folder_of("codex").mkdir()
    config = folder_of("codex") / "config.toml"
    config.write_text(before)
    apply("codex", state)
    config.write_text(config.read_text() + WRITTEN_BY_CODEX)
    assert apply("codex", state) == []
    apply("codex", state, remove=True)
    kept = WRITTEN_BY_CODEX.partition('"approve"\n')[2]
    assert config.read_text() == before + ("\n" if before and not before.endswith("\n") else "") + kept


def test_another_state_folder_takes_the_place_of_the_first(state: Path, tmp_path: Path) -> None:
    for client in CLIENTS:
        apply(client, state)
        apply(client, tmp_path / "other")
        written = "".join(files(client).values())
        assert ("it's state" in written, "/other/bin/hook" in written) == (False, True)


def test_hooks_that_others_put_behind_ours_move_nothing(state: Path) -> None:
    apply("codex", state)
    hooks = folder_of("codex") / "hooks.json"
    values = json.loads(hooks.read_text())
    values["hooks"]["Stop"].append({"hooks": [OTHERS]})
    hooks.write_text(json.dumps(values))
    assert apply("codex", state) == []


def test_hooks_that_a_client_skips_are_reported(state: Path) -> None:
    apply("codex", state)
    config = folder_of("codex") / "config.toml"
    without = config.read_text()
    assert problem_of("codex", state)[0] == "the launcher of its hooks is missing"
    write_launcher(state)
    assert problem_of("codex", state) == (
        "Codex skips hooks of Subconscious until you trust them (not trusted yet: 7)",
        'codex # choose "Trust all and continue"',
    )
    events = "session_start:0 session_start:1 user_prompt_submit:0 post_tool_use:0 pre_compact:0 stop:0 session_end:0"
    config.write_text(
        without + "".join(f'[hooks.state."/x/hooks.json:{event}:0"]\ntrusted_hash = "a"\n' for event in events.split())
    )
    assert problem_of("codex", state) == ("", "")
    config.write_text(without + "[features]\nhooks = false\n")
    assert "switched off" in problem_of("codex", state)[0]
    apply("gemini", state)
    assert problem_of("gemini", state) == ("", "")
    settings = folder_of("gemini") / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "hooksConfig": {"disabled": ["subconscious"]}}))
    assert "switched off" in problem_of("gemini", state)[0]
    values = json.loads(settings.read_text())
    del values["hooks"]["AfterAgent"]
    settings.write_text(json.dumps(values))
    assert problem_of("gemini", state) == (
        "entries for Subconscious in its settings are missing or outdated",
        "subconscious install gemini",
    )


def test_the_launcher_finds_the_hooks_and_is_silent_without_them(state: Path) -> None:
    launcher = write_launcher(state)
    run = state / "env" / "current" / "lib" / "python3.13" / "site-packages" / "subconscious" / "hooks" / "run"
    call = ["/bin/sh", str(launcher), "codex", "ask", "Stop"]
    done = subprocess.run(call, input=b"{}", capture_output=True, check=True, env={"PATH": "/usr/bin:/bin"})
    assert (done.stdout, done.stderr) == (b"", b"")
    run.parent.mkdir(parents=True)
    run.write_text('#!/bin/sh\necho "$@ $SUBCONSCIOUS_HOME"\n')
    run.with_name("mcp").write_text("#!/bin/sh\necho tools\n")
    done = subprocess.run(call, input=b"{}", capture_output=True, check=True, env={"PATH": "/usr/bin:/bin"})
    assert done.stdout.decode() == f"ask Stop codex {state}\n"
    done = subprocess.run([*call[:3], "mcp"], capture_output=True, check=True, env={"PATH": "/usr/bin:/bin"})
    assert done.stdout == b"tools\n"
