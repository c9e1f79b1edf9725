"""Events and transcripts of other coding agents, in the forms in which they were measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.arguments import AGENTS
from subconscious.claude_files.instructions import Instructions
from subconscious.clients import CLIENTS, VARIABLE, codex, cursor, gemini, instructions_of
from subconscious.clients.entries import PLACES
from subconscious.context.entry import parse_entry
from subconscious.domain.model import Origin, Role, Turn
from subconscious.failures.runs import read_runs
from subconscious.surfacing.hook_output import done, in_form_of, output
from subconscious.transcripts.reading import read_turns
from subconscious.transcripts.state import State

TURN = "01a20d62-fc5e-7d32-b0b9-12dd7fe37df3"
META = {
    "turn_id": TURN,
    "content_item_kinds": ["user.text"],
    "content_item_metadata": [{"provenance": {"type": "user"}}],
}


def line(kind: str, **payload: Any) -> dict[str, Any]:
    """One line of Codex's transcripts."""
    return {"timestamp": "2026-11-24T11:48:40.710Z", "type": kind, "payload": payload}


def message(role: str, text: str, meta: dict[str, Any] | None = None) -> dict[str, Any]:
    content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
    more = {"internal_chat_message_metadata_passthrough": meta} if meta else {}
    return line("response_item", type="message", id=f"msg_{role}_{len(text)}", role=role, content=content, **more)


PATCH = "*** Begin Patch\n*** Update File: src/money.py\n@@ def total\n-    return 0.1\n+    return 10\n*** End Patch"
HARNESS = {"turn_id": TURN, "content_item_metadata": [{"provenance": {"type": "harness", "hook": True}}]}
CODEX = [
    line("session_meta", id="s1", cwd="/srv/shop", git={"branch": "main"}, thread_source="user"),
    message("developer", "Be a good agent."),
    message("user", "<environment_context>always use tabs</environment_context>", HARNESS),
    message("user", "We keep amounts in cents.", META),
    message("assistant", "Noted."),
    line("response_item", type="function_call", name="exec_command", call_id="c1", arguments='{"cmd": "npm test"}'),
    line(
        "response_item",
        type="function_call_output",
        call_id="c1",
        output="Chunk ID: f3\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nnpm ERR! no lock file\n",
    ),
    line("response_item", type="custom_tool_call", name="apply_patch", call_id="c2", input=PATCH),
    line(
        "response_item",
        type="custom_tool_call_output",
        call_id="c2",
        output="Exit code: 0\nWall time: 0 s\nOutput:\nDone",
    ),
    line("event_msg", type="turn_aborted", turn_id=TURN, reason="interrupted"),
    message("user", "No, use pnpm.", META),
]
GEMINI_CALL = {
    "id": "run_shell_command_1",
    "name": "run_shell_command",
    "args": {"command": "npm test"},
    "result": [
        {
            "functionResponse": {
                "response": {"output": "<untrusted_context>\nOutput: no lock file\nExit Code: 1\n</untrusted_context>"}
            }
        }
    ],
    "status": "success",
}
AT = {"timestamp": "2026-11-24T11:49:32.292Z"}
GEMINI: list[dict[str, Any]] = [
    {"sessionId": "s1", "projectHash": "4996", "startTime": "2026-11-24T11:49:32.249Z", "kind": "main"},
    {
        "$set": {
            "messages": [{"type": "user", "content": [{"text": "<session_context>always use tabs</session_context>"}]}]
        }
    },
    {
        "id": "u1",
        **AT,
        "type": "user",
        "content": [
            {"text": "<hook_context>[1] decision: use UTC</hook_context>\n\nWe keep amounts in cents."},
            {"text": "<hook_context>[2] decision: use tabs</hook_context>"},
        ],
    },
    {"id": "g1", **AT, "type": "gemini", "content": "Noted."},
    {"id": "g2", **AT, "type": "gemini", "content": ""},
    {"id": "g2", **AT, "type": "gemini", "content": "", "toolCalls": [GEMINI_CALL]},
    {"id": "f1", **AT, "type": "user", "content": [{"functionResponse": {"response": {"output": "no lock file"}}}]},
    {"id": "i1", **AT, "type": "info", "content": "Request cancelled."},
    {"id": "u2", **AT, "type": "user", "content": [{"text": "No, use pnpm."}]},
]
LINES: dict[str, list[dict[str, Any]]] = {"codex": CODEX, "gemini": GEMINI}


@pytest.fixture(params=sorted(LINES))
def transcript(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"{request.param}.jsonl"
    lines = (json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in LINES[request.param])
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return path


def said(turns: tuple[Turn, ...], role: Role) -> list[tuple[str, Origin, bool]]:
    return [(turn.text, turn.origin, turn.after_interrupt) for turn in turns if turn.role is role and turn.text]


def test_only_what_the_user_typed_is_the_users(transcript: Path) -> None:
    reading = read_turns(transcript, final=True)
    assert not reading.foreign
    assert reading.sessions == ("s1",)
    assert said(reading.turns, Role.USER) == [
        ("We keep amounts in cents.", Origin.USER, False),
        ("No, use pnpm.", Origin.USER, True),
    ]
    assert said(reading.turns, Role.ASSISTANT) == [("Noted.", Origin.ASSISTANT, False)]


def test_calls_and_their_results_are_read(transcript: Path) -> None:
    runs = read_runs(transcript, 0, transcript.stat().st_size)
    assert [(run.tool, run.given.get("command"), run.failed) for run in runs][:1] == [("Bash", "npm test", True)]
    assert "no lock file" in runs[0].error
    if transcript.stem == "codex":
        edit = {"file_path": "src/money.py", "old_string": "    return 0.1", "new_string": "    return 10"}
        assert [(run.tool, dict(run.given), run.failed) for run in runs[1:]] == [("Edit", edit, False)]


def test_reading_in_parts_gives_the_same(transcript: Path) -> None:
    whole = read_turns(transcript, final=True).turns
    state, offset, parts = State(), 0, list[Turn]()
    while offset < transcript.stat().st_size:
        reading = read_turns(transcript, offset, state, final=True, max_bytes=1)
        state, offset = reading.state, reading.offset
        parts += reading.turns
    assert parts == list(whole)
    (typed,) = [turn for turn in whole if turn.text == "No, use pnpm."]
    assert typed.text in [turn.text for turn in read_turns(transcript, typed.start, State(), max_bytes=1).turns]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
KEYS = (
    *("type", "payload", "id", "role", "content", "arguments", "input", "output", "action", "message", "text", "name"),
    *("internal_chat_message_metadata_passthrough", "toolCalls", "result", "displayContent", "tool_input", "tool_name"),
)
KINDS = st.sampled_from(
    ["response_item", "event_msg", "compacted", "message", "function_call", "user", "gemini", "info"]
)
BROKEN = st.dictionaries(st.sampled_from(KEYS), VALUES | KINDS | st.dictionaries(st.sampled_from(KEYS), VALUES | KINDS))


@given(BROKEN, st.sampled_from(["UserPromptSubmit", "PostToolUse", "Stop", "SessionStart"]))
def test_anything_is_converted_or_left_out(values: dict[str, Any], event: str) -> None:
    for client in CLIENTS.values():
        for record in client.records(values):
            assert record["type"] in ("user", "assistant", "system", "attachment")
            assert record.get("message", {}).get("content") is not None or record["type"] in ("system", "attachment")
        assert isinstance(client.payload(event, values), dict)


def entry(client: str, event: str, payload: dict[str, Any]) -> Any:
    header = f"subconscious 1\t{event}\t1\t\t\t0.2.0\t{VARIABLE}={client}\n"
    return parse_entry("1.entry", header.encode() + json.dumps({"session_id": "s1", **payload}).encode())


def test_a_prompt_is_what_was_typed() -> None:
    found = entry("codex", "UserPromptSubmit", {"turn_id": TURN, "prompt": "Use pnpm."})
    assert (found.client, found.payload.prompt, found.payload.prompt_id) == ("codex", "Use pnpm.", TURN)
    given_before = "<hook_context>[1] use tabs</hook_context>\n\nUse pnpm."
    found = entry("gemini", "UserPromptSubmit", {"prompt": given_before})
    assert (found.payload.prompt, found.payload.prompt_id) == ("Use pnpm.", gemini.number_of("Use pnpm."))
    words = {"conversation_id": "c1", "generation_id": "g1", "prompt": "Use pnpm.", "workspace_roots": ["/srv/shop"]}
    found = entry("cursor", "UserPromptSubmit", words)
    assert (found.payload.session_id, found.payload.prompt_id, found.folder) == ("c1", "g1", "/srv/shop")


def test_a_sub_agents_prompt_is_nobodys() -> None:
    prompt = {"turn_id": TURN, "prompt": "We use evil tabs.", "agent_id": "a1", "transcript_path": "/x/rollout.jsonl"}
    found = entry("codex", "UserPromptSubmit", prompt).payload
    assert (found.prompt, found.prompt_id, found.transcript_path) == ("", "", "")


def test_tools_have_the_names_that_memories_know() -> None:
    patched = {"tool_name": "apply_patch", "tool_input": {"command": PATCH}}
    found = entry("codex", "PostToolUse", patched).payload
    assert (found.tool_name, found.file, found.written) == ("Edit", "src/money.py", "    return 10")
    replaced = {"file_path": "/srv/shop/a.py", "old_string": "a", "new_string": "b"}
    found = entry("gemini", "PostToolUse", {"tool_name": "replace", "tool_input": replaced}).payload
    assert (found.tool_name, found.file, found.written) == ("Edit", "/srv/shop/a.py", "b")
    found = entry("cursor", "PostToolUse", {"tool_name": "read_file", "tool_input": {"target_file": "a.py"}}).payload
    assert (found.tool_name, found.file) == ("Read", "a.py")


def test_an_unknown_client_is_taken_for_claude_code() -> None:
    assert entry("emacs", "UserPromptSubmit", {"prompt": "Hello."}).client == ""


def test_answers_have_the_form_that_each_client_reads() -> None:
    given_, shown = output("UserPromptSubmit", "[1] use UTC", "loaded 1"), done("Archived.")
    answers = {
        name: [json.loads(in_form_of(entry(name, "UserPromptSubmit", {}), one) or b"null") for one in (given_, shown)]
        for name in CLIENTS
    }
    both = {"hookEventName": "UserPromptSubmit", "additionalContext": "[1] use UTC"}
    assert answers["codex"] == [
        {"hookSpecificOutput": both, "systemMessage": "loaded 1"},
        {"decision": "block", "reason": "Archived."},
    ]
    assert answers["gemini"] == [
        {"hookSpecificOutput": {**both, "hookEventName": "BeforeAgent"}, "systemMessage": "loaded 1"},
        {"decision": "deny", "reason": "Archived."},
    ]
    assert answers["cursor"] == [None, {"continue": False, "user_message": "Archived."}]
    start = in_form_of(entry("cursor", "SessionStart", {}), output("SessionStart", "[1] use UTC", ""))
    assert json.loads(start) == {"additional_context": "[1] use UTC"}
    assert in_form_of(entry("codex", "PreCompact", {}), b"Keep this.") == b""
    assert in_form_of(entry("", "PreCompact", {}), b"Keep this.") == b"Keep this."


def test_every_client_can_be_installed() -> None:
    assert set(AGENTS) == set(CLIENTS) == set(PLACES)
    assert {codex.CLIENT.name, gemini.CLIENT.name, cursor.CLIENT.name} == set(CLIENTS)


@pytest.mark.parametrize(
    ("client", "transcript", "file"),
    [
        ("codex", ".codex/sessions/2026/11/24/rollout-1.jsonl", ".codex/memories/memory_summary.md"),
        ("codex", ".codex/sessions/2026/11/24/rollout-1.jsonl", ".codex/AGENTS.md"),
        ("codex", "elsewhere/sessions/2026/11/24/rollout-1.jsonl", "elsewhere/AGENTS.md"),
        ("codex", "", ".codex/AGENTS.md"),
        ("gemini", ".gemini/tmp/payments/chats/session-1.jsonl", ".gemini/tmp/payments/memory/MEMORY.md"),
        ("gemini", "", ".gemini/GEMINI.md"),
        ("gemini", "", "work/GEMINI.md"),
        ("cursor", "", "work/sub/AGENTS.md"),
    ],
)
def test_what_a_client_loads_itself_is_known(
    client: str, transcript: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (file, "work/sub/src/x"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("- All amounts are integer cents.\n")
    others = instructions_of(client, str(tmp_path / transcript) if transcript else "")
    known = Instructions().known_statements(tmp_path / ".claude", str(tmp_path / "work" / "sub"), others)
    assert known.source("All amounts are integer cents.", loaded=True) == Path(file).name
