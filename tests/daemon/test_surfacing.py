"""What a prompt is given by a real daemon: what it is about, once, framed, in time, and nothing else."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from tests.support import terminal
from tests.support.daemons import configure, drained, eventually, new_session
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.remote_embedder import configure_remote
from tests.support.surfacing import ASKED, begun, given, remember

UPLOADS = "The UploadWorker retries a failed chunk upload twice, because the proxy drops long connections."


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def surfaces(home: Home, speaker: Speaker, event: str = "prompt") -> list[dict[str, Any]]:
    found = wire.call(home, "why_surfaced", {"session_id": speaker.id})["surfaces"]
    return [surface for surface in found if surface["event"] == event]


def test_a_prompt_is_given_what_it_is_about_once_and_framed(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    (number, _) = remember(running, speaker, UPLOADS, "Invoices use the tax table of the year.")
    told = given(talker)
    assert told.startswith("<subconscious-memory>")
    assert told.rstrip().endswith("</subconscious-memory>")
    assert f"[{number}] " in told
    assert UPLOADS in told
    assert "tax table" not in told
    assert given(talker) == ""
    (surface,) = surfaces(running, talker)
    assert surface["reason"].startswith("fits the prompt")
    assert surface["relevance"] >= 0.6


@pytest.mark.parametrize("prompt", ["thanks, go on", "commit and push please", "/compact", "where do we buy tulips?"])
def test_a_prompt_about_nothing_that_is_known_is_silent(running: Home, speaker: Speaker, prompt: str) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, UPLOADS)
    assert given(talker, prompt) == ""
    assert surfaces(running, talker) == []


def test_a_prompt_and_a_session_are_given_so_much_and_no_more(
    stopped: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "prompt_memories", 2)
    configure(stopped, session_surfaces=3)
    wire.ensure_daemon(stopped)
    talker = begun(stopped, tmp_path / "project")
    remember(stopped, talker, *(f"{UPLOADS} Case {number}." for number in range(5)))
    assert [given(talker).count(UPLOADS) for _ in range(3)] == [2, 1, 0]


def test_it_can_be_switched_off(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, surface_prompts=False)
    wire.ensure_daemon(stopped)
    talker = begun(stopped, tmp_path / "project")
    remember(stopped, talker, UPLOADS)
    assert given(talker) == ""
    assert UPLOADS in given(talker, f"/subconscious:recall {ASKED}")  # who asks is answered all the same


def test_what_came_too_late_is_given_to_the_next_prompt(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, UPLOADS)
    header = f"subconscious 1\tUserPromptSubmit\t{time.time_ns()}\t{talker.project}\t\t0.1.0\t\n".encode()
    raw = header + talker.payload("UserPromptSubmit", prompt=ASKED, prompt_id="p")
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(running.socket))
        link.sendall(b"ask late.entry %d\n" % len(raw) + raw)
        # Nobody reads: the hook's deadline has passed.
    assert eventually(lambda: UPLOADS in given(talker))
    assert len(surfaces(running, talker)) == 1


def test_an_answer_that_the_hook_does_not_confirm_is_given_again(running: Home, speaker: Speaker) -> None:
    """It may have come in the moment in which the hook's deadline passed."""
    talker = begun(running, speaker.project)
    remember(running, speaker, UPLOADS)
    header = f"subconscious 1\tUserPromptSubmit\t{time.time_ns()}\t{talker.project}\t\t0.1.0\t\n".encode()
    raw = header + talker.payload("UserPromptSubmit", prompt=ASKED, prompt_id="p")

    def answered(confirmation: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(20)
            link.connect(str(running.socket))
            link.sendall(b"ask late.entry %d - confirms\n" % len(raw) + raw)
            answer = link.recv(1 << 16)
            if confirmation:  # even sending nothing fails once the daemon has closed the connection
                link.sendall(confirmation)
        return answer

    assert UPLOADS.encode() in answered(b"")
    assert UPLOADS.encode() in answered(b".")
    assert answered(b"") == b"0\n"
    assert len(surfaces(running, talker)) == 1


def test_which_of_several_memories_pause_is_told(
    running: Home, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = remember(running, speaker, UPLOADS, "Dates are UTC.")
    monkeypatch.setattr("subconscious.surfacing.eligibility.is_heard", lambda memory, known: memory.id != other)
    assert wire.call(running, "why_surfaced", {"ids": [one, other]})["paused"] == [other]
    assert "paused" not in wire.call(running, "why_surfaced", {"id": one})


def test_status_counts_what_starts_leave_out_of_what_sessions_received(
    running: Home, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"cwd": str(speaker.project)}
    remember(running, speaker, UPLOADS)
    assert new_session(running, speaker.project).ask("SessionStart", source="startup")
    (never_given,) = remember(running, speaker, "Dates are UTC.")
    assert wire.call(running, "status", here)["paused"] == 0
    monkeypatch.setattr("subconscious.surfacing.eligibility.is_heard", lambda memory, known: False)
    assert wire.call(running, "why_surfaced", {"ids": [never_given]})["paused"] == [never_given]
    assert wire.call(running, "status", here)["paused"] == 1
    assert wire.call(running, "status", {})["paused"] == 0


def test_the_real_hook_prints_it(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, UPLOADS)

    def printed() -> bool:
        answer = talker.hook("ask", "UserPromptSubmit", prompt=ASKED, prompt_id="p")
        return UPLOADS.encode() in answer

    assert eventually(printed, 60)  # a busy machine may miss deadlines; what was missed is given again


def test_what_is_set_apart_or_archived_is_given_to_no_prompt(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    (number,) = remember(running, speaker, UPLOADS)
    wire.call(running, "archive", {"ids": [number], "origin": "user"})
    assert given(talker) == ""


def test_a_prompt_goes_to_a_remote_embedder_by_permission_alone_and_clean(
    stopped: Home, server: EmbeddingServer, tmp_path: Path
) -> None:
    """Also where a secret or a private span reaches beyond what is looked at of a long prompt."""
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    long = "word " * 794 + f"upload worker {secret} <private>for my eyes</private>"
    for allowed in (False, True):
        configure_remote(stopped, server, "toy")
        with (stopped.root / "config.toml").open("a") as file:
            file.write(f"embedder_prompts = {str(allowed).lower()}\n")
        wire.ensure_daemon(stopped)
        if allowed:  # accepted by a person; the daemon that opens embedders anew is the next one
            assert "embedder_prompts" in terminal.ask(stopped, "accept_settings")["result"]["changed"]
            wire.await_absence(stopped, 20)
            wire.ensure_daemon(stopped)
        talker = new_session(stopped, tmp_path / "project")
        talker.ask("SessionStart", source="startup")
        remember(stopped, talker, f"{UPLOADS} Case {allowed}.")
        drained(stopped)
        server.asked.clear()
        given(talker, long)
        sent = [text for text in server.texts if "word" in text]
        assert bool(sent) is allowed
        assert not any(part in text for text in server.texts for part in (secret[:12], "my eyes"))
        wire.call(stopped, "stop")
        wire.await_absence(stopped, 20)


def test_a_remote_embedder_that_hangs_makes_no_prompt_wait(
    stopped: Home, server: EmbeddingServer, tmp_path: Path
) -> None:
    configure_remote(stopped, server, "toy")
    with (stopped.root / "config.toml").open("a") as file:
        file.write("embedder_prompts = true\n")
    wire.ensure_daemon(stopped)
    talker = begun(stopped, tmp_path / "project")
    remember(stopped, talker, UPLOADS)
    drained(stopped)
    server.delay = 30.0
    # Were it waited for, the client of this test would give up before.
    assert UPLOADS in given(talker)
    server.delay = 0.0
