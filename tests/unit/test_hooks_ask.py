"""ask: the entry is handed over first; the answer is whole and in time, or there is none."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from subconscious.context.entry import parse_secrets
from tests.support.hook_calls import Hooks, copy_plugin, daemon, framed, listening, make_hooks

STUB = "import pathlib\ndef main(event):\n    pathlib.Path({told!r}).write_text(event)\n"
STARTING_UP = 1.0  # what shell and Python may cost on a busy machine, beside the deadline
CONTEXT = "You decided: tabs. caf\u00e9\n".encode()


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    """Hooks whose wake.py only notes that it was called."""
    hooks = make_hooks(tmp_path)
    hooks.plugin = copy_plugin(tmp_path / "plugin")
    (hooks.plugin / "hooks" / "wake.py").write_text(STUB.format(told=str(tmp_path / "woken")))
    return hooks


@contextmanager
def within(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds + STARTING_UP


def woken(hooks: Hooks) -> str:
    """What wake.py was called with; it runs beside us."""
    until = time.monotonic() + 30
    told = hooks.home.parent / "woken"
    while time.monotonic() < until and not (told.exists() and told.read_text()):
        time.sleep(0.01)
    return told.read_text() if told.exists() else ""


def test_the_answer_is_printed_as_it_came(hooks: Hooks) -> None:
    with daemon(hooks.home, lambda _: framed(CONTEXT)) as questions:
        done = hooks.call("ask", "UserPromptSubmit", b'{"prompt": "x"}')
    (entry,) = hooks.entries
    content = entry.read_bytes()
    assert done.stdout == CONTEXT
    assert questions == [f"ask {entry.name} {len(content)} - confirms\n".encode() + content]


def test_keys_go_over_the_socket_and_never_to_the_disk(hooks: Hooks) -> None:
    environ = {"CLAUDE_PLUGIN_OPTION_ANTHROPIC_KEY": "a; b=\u00e4\n", "CLAUDE_PLUGIN_OPTION_PROVIDER": "anthropic"}
    with daemon(hooks.home, lambda _: framed(CONTEXT)) as questions:
        hooks.call("ask", "UserPromptSubmit", b'{"prompt": "x"}', **environ)
    (entry,) = hooks.entries
    secrets = questions[0].partition(b"\n")[0].decode().split()[3]
    assert parse_secrets(secrets) == {"anthropic_key": "a; b=\u00e4\n"}
    for path in hooks.home.rglob("*"):
        if path.is_file():
            content = path.read_bytes().lower()
            assert b"anthropic_key" not in content
            assert b"a; b" not in content
    assert b"provider=anthropic" in entry.read_bytes()


def test_a_session_s_keys_go_over_the_socket_by_their_variables_names(hooks: Hooks) -> None:
    environ = {
        "SUBCONSCIOUS_ANTHROPIC_KEY": "k;1",
        "SUBCONSCIOUS_OLLAMA_KEY": "k2",
        "SUBCONSCIOUS_OPENAI_KEY": "k" * 1001,
        "SUBCONSCIOUS_EMBEDDER_KEY": "k3",
        "CLAUDE_PLUGIN_OPTION_OPENAI_KEY": "p",
    }
    with daemon(hooks.home, lambda _: framed(CONTEXT)) as questions:
        hooks.call("ask", "UserPromptSubmit", b'{"prompt": "x"}', **environ)
    secrets = questions[0].partition(b"\n")[0].decode().split()[3]
    assert parse_secrets(secrets) == {
        "openai_key": "p",
        "SUBCONSCIOUS_ANTHROPIC_KEY": "k;1",
        "SUBCONSCIOUS_OLLAMA_KEY": "k2",
    }
    written = b"".join(path.read_bytes() for path in hooks.home.rglob("*") if path.is_file())
    assert b"_KEY" not in written
    assert b"k;1" not in written


@pytest.mark.serial
@pytest.mark.parametrize("answer", [b"0\n", b"", b"10\nshort", b"garbage\n", b"5"])
def test_no_whole_answer_is_no_answer(hooks: Hooks, answer: bytes) -> None:
    with daemon(hooks.home, lambda _: answer), within(0.3):
        done = hooks.call("ask", "UserPromptSubmit")
    assert (done.stdout, len(hooks.entries)) == (b"", 1)


@pytest.mark.serial
@pytest.mark.parametrize(("event", "deadline"), [("UserPromptSubmit", 0.3), ("PreCompact", 0.8), ("Stop", 0.15)])
def test_a_wedged_daemon_costs_the_deadline(hooks: Hooks, event: str, deadline: float) -> None:
    with listening(hooks.home), within(deadline):
        done = hooks.call("ask", event, b"x" * 900_000)
    assert (done.stdout, len(hooks.entries)) == (b"", 1)


@pytest.mark.slow
def test_a_typed_command_waits_longer_for_its_answer(hooks: Hooks) -> None:
    def slowly(_: bytes) -> bytes:
        time.sleep(1)
        return framed(CONTEXT)

    with daemon(hooks.home, slowly):
        done = hooks.call("ask", "UserPromptSubmit", b'{"prompt": "/subconscious:review"}')
    assert done.stdout == CONTEXT


@pytest.mark.serial
def test_a_daemon_with_a_full_queue_costs_the_deadline(hooks: Hooks) -> None:
    with listening(hooks.home, backlog=0), socket.socket(socket.AF_UNIX) as first:
        first.connect(str(hooks.home / "run" / "daemon.sock"))
        with within(0.3):
            done = hooks.call("ask", "UserPromptSubmit")
    assert (done.stdout, len(hooks.entries)) == (b"", 1)


@pytest.mark.serial
def test_a_slow_trickle_does_not_stretch_the_deadline(hooks: Hooks) -> None:
    def trickle(server: socket.socket) -> None:
        link, _ = server.accept()
        with link:
            for _ in range(40):
                try:
                    link.sendall(b"9" * 10)
                except OSError:
                    return
                time.sleep(0.05)

    with listening(hooks.home) as server, within(0.3):
        thread = threading.Thread(target=trickle, args=(server,))
        thread.start()
        done = hooks.call("ask", "UserPromptSubmit")
    thread.join(5)
    assert done.stdout == b""


def test_an_oversized_payload_is_spooled_without_a_request(hooks: Hooks) -> None:
    with daemon(hooks.home, lambda _: framed(CONTEXT)) as questions:
        done = hooks.call("ask", "UserPromptSubmit", b"x" * (1 << 20))
    assert (done.stdout, questions, len(hooks.entries)) == (b"", [], 1)


@pytest.mark.serial
def test_without_a_daemon_one_is_started_behind(hooks: Hooks) -> None:
    with within(0.15):
        done = hooks.call("ask", "UserPromptSubmit")
    assert (done.stdout, woken(hooks)) == (b"", "--quiet")


def test_a_dead_daemon_s_socket_is_no_daemon(hooks: Hooks) -> None:
    with listening(hooks.home):
        pass
    hooks.call("ask", "PreCompact")
    assert woken(hooks) == "--quiet"


@contextmanager
def served_late(hooks: Hooks) -> Iterator[None]:
    """A daemon that listens a moment from now."""
    ready = threading.Event()

    def serve_late() -> None:
        time.sleep(0.2)
        with daemon(hooks.home, lambda _: framed(CONTEXT)):
            ready.wait(30)

    thread = threading.Thread(target=serve_late)
    thread.start()
    try:
        yield
    finally:
        ready.set()
        thread.join(10)


def test_a_new_session_waits_for_a_daemon_that_is_starting(hooks: Hooks) -> None:
    (hooks.home / "env/current").mkdir(parents=True)
    with served_late(hooks):
        assert hooks.call("ask", "SessionStart").stdout == CONTEXT


@pytest.mark.serial
def test_a_new_session_does_not_wait_for_an_environment(hooks: Hooks) -> None:
    with within(0.2):
        assert hooks.call("ask", "SessionStart").stdout == b""
    assert not (hooks.home.parent / "woken").exists()


def test_a_socket_deep_down_is_reached(hooks: Hooks) -> None:
    hooks.home = hooks.home / ("deep" * 20) / ("deeper" * 20)
    with daemon(hooks.home, lambda _: framed(CONTEXT)):
        assert hooks.call("ask", "UserPromptSubmit").stdout == CONTEXT


def refuse(hooks: Hooks, age: float = 0.0) -> None:
    """Leave the note of a daemon whose database is lost."""
    note = hooks.home / "run" / "refused.json"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps({"code": "E023", "message": "memory.db is missing", "remedy": "subconscious restore"}))
    note.chmod(0o600)
    os.utime(note, (time.time() - age,) * 2)


def test_a_session_gets_the_reason_why_no_daemon_starts(hooks: Hooks) -> None:
    refuse(hooks)
    (hooks.home / "env/current").mkdir(parents=True)
    with within(0.2):  # it does not wait for a daemon that has given up
        printed = hooks.call("ask", "SessionStart").stdout
    assert json.loads(printed) == {
        "systemMessage": "Subconscious: memory.db is missing. Sessions are still recorded. Run: subconscious restore"
    }
    assert len(hooks.entries) == 1


def test_the_reason_is_shown_only_at_a_start(hooks: Hooks) -> None:
    refuse(hooks)
    assert hooks.call("ask", "UserPromptSubmit").stdout == b""


def test_a_refusal_of_before_does_not_hide_a_daemon_that_is_starting(hooks: Hooks) -> None:
    refuse(hooks, age=60)
    (hooks.home / "env/current").mkdir(parents=True)
    with served_late(hooks):
        assert hooks.call("ask", "SessionStart").stdout == CONTEXT


@pytest.mark.parametrize("broken", [b"", b"no JSON", b"{}", b"[]"])
def test_a_broken_refusal_is_no_message(hooks: Hooks, broken: bytes) -> None:
    refuse(hooks)
    (hooks.home / "run" / "refused.json").write_bytes(broken)
    assert hooks.call("ask", "SessionStart").stdout == b""


def unwritable(hooks: Hooks) -> None:
    """A spool that nothing can be written into, as on a full disk."""
    (hooks.home / "spool").parent.mkdir(exist_ok=True)
    (hooks.home / "spool").write_text("in the way")


def test_the_daemon_is_asked_although_the_entry_can_not_be_written(hooks: Hooks) -> None:
    unwritable(hooks)
    with daemon(hooks.home, lambda _: framed(CONTEXT)) as questions:
        done = hooks.call("ask", "UserPromptSubmit", b'{"prompt": "x"}')
    assert done.stdout == CONTEXT
    (question,) = questions
    line, _, entry = question.partition(b"\n")
    assert line.split()[2:] == [b"%d" % len(entry), b"-", b"unspooled"]
    assert entry.endswith(b'\n{"prompt": "x"}')


def test_a_drop_hook_sends_an_unwritable_entry_to_the_daemon(hooks: Hooks) -> None:
    unwritable(hooks)
    with daemon(hooks.home, lambda _: framed(b"")) as questions:
        assert hooks.call("drop", "Stop", b"{}").stdout == b""
    assert questions[0].partition(b"\n")[0].endswith(b" - unspooled")
    assert questions[0].endswith(b"\n{}")


def test_an_entry_sent_to_the_daemon_contains_no_key(hooks: Hooks) -> None:
    """The daemon goes by what a session says last: a hook that says nothing would have no keys."""
    unwritable(hooks)
    with daemon(hooks.home, lambda _: framed(b"")) as questions:
        hooks.call("drop", "Stop", b"{}", SUBCONSCIOUS_OPENAI_KEY="k", CLAUDE_PLUGIN_OPTION_ANTHROPIC_KEY="p")
    secrets = questions[0].partition(b"\n")[0].decode().split()[3]
    assert parse_secrets(secrets) == {"anthropic_key": "p", "SUBCONSCIOUS_OPENAI_KEY": "k"}


@pytest.mark.parametrize("script", ["ask", "drop"])
def test_what_can_not_be_written_and_has_no_daemon_fails_in_silence_and_starts_one(hooks: Hooks, script: str) -> None:
    unwritable(hooks)
    assert hooks.call(script, "UserPromptSubmit").stdout == b""
    assert woken(hooks) == "--quiet"


@pytest.mark.slow
def test_a_wedged_daemon_costs_a_drop_hook_its_second_at_most(hooks: Hooks) -> None:
    unwritable(hooks)
    with listening(hooks.home), within(1.0):
        assert hooks.call("drop", "Stop", b"x" * 900_000).stdout == b""


@pytest.mark.parametrize(("file", "asked"), [("/repo/other.py", 0), ("/repo/queue.py", 1)])
def test_the_daemon_is_not_asked_about_a_file_that_no_memory_names(hooks: Hooks, file: str, asked: int) -> None:
    payload = json.dumps({"tool_name": "Read", "tool_input": {"file_path": file}}).encode()
    with daemon(hooks.home, lambda _: framed(CONTEXT)) as questions:
        names = hooks.home / "run" / "file-names"
        names.touch(0o600)
        names.write_bytes(b"subconscious-files 2\nqueue.py\nend\n")
        done = hooks.call("ask", "PostToolUse", payload)
    assert (len(questions), done.stdout) == (asked, CONTEXT if asked else b"")
    assert len(hooks.entries) == 1
