from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from bench.sessions import Speaker, run_hook
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.recall.recent_turns import RecentTurns
from subconscious.settings.home import Home
from tests.support import client_stub, terminal
from tests.support.daemons import configure, drained, eventually, new_session
from tests.support.deciding import DECISION, blocked, captured, context, decide


def test_what_one_session_decides_the_next_one_starts_with(running: Home, speaker: Speaker, tmp_path: Path) -> None:
    decide(running, speaker)
    speaker.hook("drop", "SessionEnd", reason="other")
    given = context(new_session(running, speaker.project).ask("SessionStart", source="startup"))
    assert DECISION in given
    elsewhere = new_session(running, tmp_path / "elsewhere")
    assert elsewhere.ask("SessionStart", source="startup") == b""


def test_each_capture_tells_where_it_comes_from(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    (capture,) = captured(running, speaker, "captured")
    shown = wire.call(running, "show", {"id": capture["memory_id"]})
    memory = shown["memory"]
    line = Path(memory["transcript"]).read_bytes()[memory["byte_start"] : memory["byte_end"]]
    assert json.loads(line)["uuid"] == memory["turn_id"]
    assert memory["evidence"] in json.loads(line)["message"]["content"]
    assert (memory["session_id"], memory["branch"], memory["origin"]) == (speaker.id, "main", "user")
    assert [event["action"] for event in shown["history"]] == ["create"]


def test_what_was_learned_on_a_branch_is_found_by_it(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    asked = {"cwd": str(speaker.project), "branch": "main"}
    assert [memory["branch"] for memory in wire.call(running, "list", asked)["memories"]] == ["main"]
    assert wire.call(running, "list", asked | {"branch": "glaze"})["total"] == 0
    git = speaker.project / ".git"
    git.mkdir(exist_ok=True)
    (git / "HEAD").write_text("ref: refs/heads/glaze\n")
    found = wire.call(running, "list", asked | {"branch": ""})
    assert (found["branch"], found["total"]) == ("glaze", 0)
    (git / "HEAD").write_text("0" * 40 + "\n")
    with pytest.raises(DaemonError, match="a commit, not a branch"):
        wire.call(running, "list", asked | {"branch": ""})


def test_the_soft_waits_and_the_weak_is_discarded_with_a_reason(running: Home, speaker: Speaker) -> None:
    speaker.say("Let's use pytest for the billing tests.")
    decide(running, speaker, "Should we always use tabs in Makefiles?")
    assert [capture["content"] for capture in captured(running, speaker, "review")] == [
        "Let's use pytest for the billing tests."
    ]
    assert all(capture["reason"] for capture in captured(running, speaker))
    assert wire.call(running, "list", {"cwd": str(speaker.project)})["total"] == 0


def test_a_person_is_told_once_of_what_waits(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, "Let's use pytest for the billing tests.")
    first = new_session(running, speaker.project).ask("SessionStart", source="startup")
    assert "subconscious review" in json.loads(first)["systemMessage"]
    assert new_session(running, speaker.project).ask("SessionStart", source="startup") == b""


def test_the_timeline_names_a_session_by_its_title_or_first_prompt(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    (known,) = wire.call(running, "sessions", {"cwd": str(speaker.project)})["sessions"]
    named = terminal.ask(running, "timeline", cwd=str(speaker.project))["result"]["sessions"]
    assert named == {speaker.id: known["title"] or known["first_prompt"]}
    assert all(named.values())


def test_resume_repeats_nothing_and_clear_and_compact_give_again(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    later = new_session(running, speaker.project)
    assert DECISION in context(later.ask("SessionStart", source="startup"))
    assert later.ask("SessionStart", source="resume") == b""
    assert DECISION in context(later.ask("SessionStart", source="compact"))
    assert later.ask("SessionStart", source="resume") == b""
    assert DECISION in context(later.ask("SessionStart", source="clear"))


def test_a_compaction_is_told_what_to_keep_even_before_the_turn_ended(running: Home, speaker: Speaker) -> None:
    speaker.say(DECISION)
    assert DECISION in speaker.ask("PreCompact", trigger="auto", custom_instructions=None).decode()


def test_lines_that_are_repeated_by_a_fork_are_captured_once(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    fork = new_session(running, speaker.project)
    fork.transcript.write_bytes(speaker.transcript.read_bytes())
    decide(running, fork, "From now on, run the linter before every commit.")
    contents = [capture["content"] for capture in captured(running, speaker, "captured")]
    assert contents == [DECISION, "From now on, run the linter before every commit."]


def test_a_fork_is_not_given_again_what_its_parent_was(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    parent = new_session(running, speaker.project)
    assert DECISION in context(parent.ask("SessionStart", source="startup"))
    parent.ask("SessionStart", source="resume")
    fork = new_session(running, speaker.project)
    assert fork.ask("UserPromptSubmit", prompt="go on") == b""
    assert fork.ask("SessionStart", source="resume") == b""


def typed(home: Home, speaker: Speaker, words: str) -> str:
    """Type a prompt in a client; what the person is shown."""
    payload = speaker.payload("UserPromptSubmit", prompt=words, prompt_id="p-1")
    environment = terminal.environment(home) | speaker.environment
    return client_stub.submit(payload, environment, speaker.project)[1]


def test_a_prompt_that_the_client_never_wrote_down_is_learned_from(running: Home, speaker: Speaker) -> None:
    speaker.say("First, tidy the invoices.")
    typed(running, speaker, DECISION)
    drained(running)
    assert captured(running, speaker) == []
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    os.utime(speaker.transcript, (1, 1))
    configure(running, silent_minutes=0.001)
    wire.ensure_daemon(running)
    assert eventually(lambda: [c["content"] for c in captured(running, speaker, "captured")] == [DECISION])


def test_a_plan_that_was_answered_is_not_left_open(running: Home, speaker: Speaker) -> None:
    plan = "Implement the following plan:\n\n# Plan: Split the upload queue\n\nAdd a second worker."
    speaker.ask("UserPromptSubmit", prompt=plan, prompt_id="p-1")
    speaker.say(plan, prompt_id="p-1")
    speaker.say("I split the upload queue and added a second worker in `worker.py`.", role="assistant")
    speaker.hook("drop", "Stop")
    speaker.hook("drop", "SessionEnd", reason="other")
    drained(running)
    (session,) = wire.call(running, "sessions", {"session_id": speaker.id[:8]})["sessions"]
    assert session["status"] == "ended"
    assert session["left_open"] == ""


def test_a_prompt_that_stands_in_the_transcript_is_learned_from_once(running: Home, speaker: Speaker) -> None:
    speaker.ask("UserPromptSubmit", prompt=DECISION, prompt_id="p-1")
    speaker.say(DECISION, prompt_id="p-1")
    speaker.hook("drop", "SessionEnd", reason="other")
    drained(running)
    assert len(captured(running, speaker)) == 1


def test_a_prompt_that_is_handed_over_after_its_line_was_read_is_learned_from_once(
    stopped: Home, tmp_path: Path
) -> None:
    speaker = new_session(stopped, tmp_path / "project")
    speaker.say(DECISION, prompt_id="p-1")
    speaker.hook("drop", "Stop")
    speaker.hook("drop", "UserPromptSubmit", prompt=DECISION, prompt_id="p-1")
    speaker.hook("drop", "SessionEnd", reason="other")
    wire.ensure_daemon(stopped)
    drained(stopped)
    assert len(captured(stopped, speaker)) == 1


def test_a_session_that_is_not_to_be_kept_is_not_learned_from(running: Home, speaker: Speaker) -> None:
    speaker.ask("UserPromptSubmit", prompt=DECISION, prompt_id="p-1")
    speaker.hook("drop", "SessionEnd", reason="other")
    drained(running)
    assert captured(running, speaker) == []


def test_the_same_said_again_recurs_and_is_not_stored_twice(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    decide(running, new_session(running, speaker.project))
    listed = wire.call(running, "list", {"cwd": str(speaker.project)})
    assert [memory["recurrence"] for memory in listed["memories"]] == [2]


def test_what_was_given_to_a_session_is_no_news_in_it(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    later = new_session(running, speaker.project)
    given = context(later.ask("SessionStart", source="startup"))
    later.say(given)
    later.say(DECISION, "assistant")
    later.hook("drop", "Stop", last_assistant_message=DECISION)
    drained(running)
    listed = wire.call(running, "list", {"cwd": str(speaker.project)})
    assert [memory["recurrence"] for memory in listed["memories"]] == [1]
    decide(running, later)
    listed = wire.call(running, "list", {"cwd": str(speaker.project)})
    assert [memory["recurrence"] for memory in listed["memories"]] == [2], "the person's own words are no echo"


def test_private_words_and_secrets_reach_no_file_of_ours(running: Home, speaker: Speaker) -> None:
    decide(running, speaker, f"<private>We decided to sell to Initech.</private> {DECISION}")
    decide(running, speaker, "Remember that the key of the sandbox is AKIAIOSFODNN7EXAMPLE.")
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    kept = b"".join(file.read_bytes() for file in running.root.rglob("*") if file.is_file())
    assert b"integer cents" in kept
    assert b"Initech" not in kept
    assert b"AKIAIOSFODNN7EXAMPLE" not in kept


def test_a_typed_command_is_carried_out_by_the_daemon_once(running: Home, speaker: Speaker) -> None:
    told = typed(running, speaker, "/subconscious:remember always run make fmt first")
    assert "memory 1" in told
    assert "always run make fmt first" in context(speaker.ask("UserPromptSubmit", prompt="go on")), "the model knows"
    assert "make fmt" not in context(speaker.ask("UserPromptSubmit", prompt="go on"))
    drained(running)
    (capture,) = captured(running, speaker)
    shown = wire.call(running, "show", {"id": capture["memory_id"]})["memory"]
    assert (shown["content"], shown["verified"], shown["origin"]) == ("always run make fmt first", True, "user")


def test_the_note_of_a_command_reaches_the_model_once() -> None:
    """Its job may run after the hook's note has been delivered."""
    turns = RecentTurns()
    turns.add_note("s", "stored", once="an entry")
    assert list(turns.pop_notes("s")) == ["stored"]
    turns.add_note("s", "stored", once="an entry")
    turns.add_note("s", "stored", once="another entry")
    assert list(turns.pop_notes("s")) == ["stored"]


def test_a_typed_command_is_carried_out_even_when_nobody_waited(stopped: Home, tmp_path: Path) -> None:
    speaker = new_session(stopped, tmp_path / "project")
    words = "/subconscious:remember always run make fmt first"
    speaker.hook("drop", "UserPromptSubmit", prompt=words)
    speaker.say(
        "<command-name>/subconscious:remember</command-name><command-args>always run make fmt first</command-args>"
    )
    wire.ensure_daemon(stopped)
    drained(stopped)
    assert len(captured(stopped, speaker, "captured")) == 1


def test_typed_recall_answers_with_framed_memories(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    told = context(speaker.ask("UserPromptSubmit", prompt="/subconscious:recall integer cents"))
    assert DECISION in told
    given = wire.call(running, "why_surfaced", {"cwd": str(speaker.project)})["surfaces"]
    assert [surface["event"] for surface in given] == ["recall"]
    assert given[0]["reason"] == "asked for"
    assert ("text", 1) in [(hit["engine"], hit["rank"]) for hit in given[0]["engines"]]


def test_a_start_that_found_no_daemon_is_made_up_for_at_the_first_prompt(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    later = new_session(running, speaker.project)
    later.hook("drop", "SessionStart", source="startup")
    wire.ensure_daemon(running)
    later.say("From now on, run the linter before every commit.")
    given = context(later.ask("UserPromptSubmit", prompt="go on"))
    assert DECISION in given
    assert "linter" not in given
    assert later.ask("UserPromptSubmit", prompt="go on") == b""


def test_an_answer_that_came_too_late_is_given_again(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    later = new_session(running, speaker.project)
    header = f"subconscious 1\tSessionStart\t{time.time_ns()}\t{speaker.project}\t\t0.1.0\t\n".encode()
    raw = header + later.payload("SessionStart", source="startup")
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(running.socket))
        link.sendall(b"ask late.entry %d\n" % len(raw) + raw)
    assert eventually(lambda: wire.call(running, "status")["sessions"]["open"] == 2)
    assert eventually(lambda: DECISION in context(later.ask("UserPromptSubmit", prompt="go on")), 60)


def test_a_plain_prompt_is_answered_with_silence(running: Home, speaker: Speaker) -> None:
    speaker.ask("SessionStart", source="startup")
    assert speaker.ask("UserPromptSubmit", prompt="fix the bug") == b""


def test_what_the_assistant_wants_remembered_waits_for_a_person(running: Home, speaker: Speaker) -> None:
    asked = {"text": "the API key lives in vault", "cwd": str(speaker.project), "origin": "assistant"}
    answer = wire.call(running, "remember", asked)
    assert answer["decision"] == "review"
    with pytest.raises(DaemonError, match="a person decides"):
        wire.call(running, "approve", {"ids": [answer["capture"]["id"]], "origin": "assistant"})
    approved = terminal.ask(running, "approve", ids=[answer["capture"]["id"]])["result"]["captures"]
    memory = wire.call(running, "show", {"id": approved[0]["memory_id"]})["memory"]
    assert (memory["verified"], memory["origin"], memory["confidence"]) == (True, "assistant", 1.0)


def test_options_of_the_plugin_hold_for_their_session(running: Home, speaker: Speaker) -> None:
    speaker.environment["CLAUDE_PLUGIN_OPTION_CAPTURE"] = "false"
    decide(running, speaker)
    assert captured(running, speaker) == []
    speaker.environment["CLAUDE_PLUGIN_OPTION_CAPTURE"] = "true"
    decide(running, speaker, "From now on, run the linter before every commit.")
    assert len(captured(running, speaker)) == 1
    later = new_session(running, speaker.project)
    later.environment["CLAUDE_PLUGIN_OPTION_SURFACE"] = "false"
    assert later.ask("SessionStart", source="startup") == b""


def test_a_silent_session_is_closed_and_the_next_start_says_where_it_broke_off(running: Home, speaker: Speaker) -> None:
    speaker.say("First, tidy the invoices.")
    speaker.ask("UserPromptSubmit", prompt="First, tidy the invoices.")
    drained(running)
    speaker.say(DECISION)  # then it is killed: no Stop, no SessionEnd
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    os.utime(speaker.transcript, (1, 1))
    configure(running, silent_minutes=0.001)
    wire.ensure_daemon(running)

    def seen() -> tuple[str, str]:
        (session,) = wire.call(running, "sessions", {"cwd": str(speaker.project)})["sessions"]
        return session["status"], session["last_prompt"]

    assert eventually(lambda: seen() == ("interrupted", DECISION))
    given = context(new_session(running, speaker.project).ask("SessionStart", source="startup"))
    assert "was interrupted" in given
    assert "Left open: the last prompt was not answered" in given
    assert DECISION in given


def entry(home: Home, name: str, body: bytes, event: str = "Stop") -> None:
    header = f"subconscious 1\t{event}\t1790000000000000000\t/p\t\t0.1.0\t\n".encode()
    (home.spool / name).write_bytes(header + body)


def test_entries_that_make_no_sense_are_set_aside_with_their_reason(running: Home, speaker: Speaker) -> None:
    entry(running, "00000000000000000001-1-aa.entry", b'{"half')
    entry(running, "00000000000000000002-1-aa.entry", b'{"session_id": "s"}', event="Unheard")
    (running.spool / "00000000000000000003-1-aa.entry").write_bytes(b"\0\1\2")
    decide(running, speaker)
    assert len(captured(running, speaker)) == 1
    assert len(list(running.buried.iterdir())) == 3
    with sqlite3.connect(f"file:{running.database}?mode=ro", uri=True) as store:
        reasons = [row[0] for row in store.execute("SELECT reason FROM jobs WHERE state = 'buried' ORDER BY name")]
    store.close()
    assert len(reasons) == 3
    assert "Unheard" in reasons[1]


def test_a_pipe_in_place_of_a_transcript_holds_nothing_up(running: Home, speaker: Speaker) -> None:
    os.mkfifo(speaker.transcript)
    speaker.hook("drop", "Stop")
    drained(running)


def test_a_transcript_of_another_kind_is_left_alone(running: Home, speaker: Speaker) -> None:
    speaker.transcript.write_text(json.dumps({"messages": [{"role": "user", "text": DECISION}]}, indent=1))
    speaker.hook("drop", "Stop")
    drained(running)
    assert captured(running, speaker) == []


def test_capture_reads_a_transcript_that_no_hook_told_of(running: Home, speaker: Speaker) -> None:
    speaker.say(DECISION)
    asked = {"transcript": str(speaker.transcript), "cwd": str(speaker.project)}
    first = terminal.call(running, "capture", **asked)
    assert [capture["content"] for capture in first["captures"]] == [DECISION]
    assert terminal.call(running, "capture", **asked)["captures"] == []


def test_archived_memories_are_given_to_nobody_and_come_back_whole(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    where = {"cwd": str(speaker.project)}
    wire.call(running, "archive", {"ids": [1], "origin": "user"})
    assert new_session(running, speaker.project).ask("SessionStart", source="startup") == b""
    assert wire.call(running, "search", where | {"query": "cents"})["hits"] == []
    archived = wire.call(running, "search", where | {"query": "cents", "archived": True})["hits"]
    assert [hit["memory"]["id"] for hit in archived] == [1]
    wire.call(running, "unarchive", {"ids": [1], "origin": "user"})
    found = wire.call(running, "search", where | {"query": "cents"})["hits"]
    assert [hit["memory"]["id"] for hit in found] == [1]


@pytest.mark.slow
def test_meaning_is_found_where_no_word_agrees(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, embedder='"local"')
    wire.ensure_daemon(stopped)
    speaker = new_session(stopped, tmp_path / "project")
    decide(stopped, speaker)
    decide(stopped, speaker, "From now on, write the changelog in German.")
    found = wire.call(stopped, "search", {"cwd": str(speaker.project), "query": "money rounding currency"})["hits"]
    assert found[0]["memory"]["content"] == DECISION
    assert {engine["engine"] for engine in found[0]["engines"]} == {"vector"}


def test_folders_of_a_repository_without_remote_share_their_memories(running: Home, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "sub").mkdir(parents=True)
    git(repository, "init", "-q")
    git(repository, "commit", "-qm", "first", "--allow-empty")
    decide(running, new_session(running, repository))
    for _ in range(3):
        assert DECISION in context(new_session(running, repository / "sub").ask("SessionStart", source="startup"))


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_a_session_without_capture_leaves_no_words_even_when_it_is_killed(running: Home, speaker: Speaker) -> None:
    speaker.environment["CLAUDE_PLUGIN_OPTION_CAPTURE"] = "false"
    speaker.say(DECISION)
    speaker.ask("UserPromptSubmit", prompt=DECISION, prompt_id="p-1")
    drained(running)
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    os.utime(speaker.transcript, (1, 1))
    configure(running, silent_minutes=0.001)
    wire.ensure_daemon(running)
    assert eventually(lambda: wire.call(running, "status")["sessions"]["interrupted"] == 1)
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    assert not any(b"integer cents" in file.read_bytes() for file in running.root.rglob("*") if file.is_file())


def test_one_bad_option_does_not_undo_the_others(running: Home, speaker: Speaker) -> None:
    speaker.environment |= {"CLAUDE_PLUGIN_OPTION_CAPTURE": "false", "CLAUDE_PLUGIN_OPTION_START_TOKENS": "plenty"}
    decide(running, speaker)
    assert captured(running, speaker) == []


def test_a_compaction_that_found_no_daemon_is_made_up_for(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    later = new_session(running, speaker.project)
    assert DECISION in context(later.ask("SessionStart", source="startup"))
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    later.hook("drop", "SessionStart", source="compact")
    wire.ensure_daemon(running)
    drained(running)
    assert DECISION in context(later.ask("UserPromptSubmit", prompt="go on"))


def test_nothing_private_is_remembered_on_request(running: Home, speaker: Speaker) -> None:
    told = blocked(speaker.ask("UserPromptSubmit", prompt="/subconscious:remember <private>the vault</private>"))
    assert "no text to store" in told
    drained(running)
    assert captured(running, speaker) == []


def test_nobody_was_given_anything_differs_from_an_unknown_id(running: Home, speaker: Speaker) -> None:
    decide(running, speaker)
    number = wire.call(running, "list", {"cwd": str(speaker.project)})["memories"][0]["id"]
    for known in ({"session_id": speaker.id[:8]}, {"id": number}):
        assert wire.call(running, "why_surfaced", known)["surfaces"] == []
    for unknown, named in (({"session_id": "nosuch"}, "session nosuch"), ({"id": 999}, "memory 999")):
        with pytest.raises(DaemonError, match=f"^there is no {named}$"):
            wire.call(running, "why_surfaced", unknown)


def test_a_number_out_of_this_world_is_no_trouble(running: Home, speaker: Speaker) -> None:
    told = blocked(speaker.ask("UserPromptSubmit", prompt="/subconscious:unarchive 99999999999999999999"))
    assert "there is no memory 99999999999999999999" in told
    drained(running)


def test_odd_files_in_the_spool_stop_nothing(running: Home, speaker: Speaker) -> None:
    (running.spool / os.fsdecode(b"0001-\xff.entry")).write_bytes(b"odd")
    (running.spool / "00000000000000000001-1-aa.entry").write_bytes(
        b"subconscious 1\tStop\t" + b"9" * 400 + b"\t\t\t\t\n{}"
    )
    decide(running, speaker)
    assert len(captured(running, speaker)) == 1


def test_half_an_emoji_buries_nothing(running: Home, speaker: Speaker) -> None:
    speaker.say(DECISION)
    payload = speaker.payload("Stop")[:-1] + b', "last_assistant_message": "cut \\ud83d"}'
    run_hook("drop", "Stop", payload, speaker.environment)
    drained(running)
    assert len(captured(running, speaker)) == 1
    assert not list(running.buried.iterdir())


def test_a_transcript_of_before_is_no_interrupted_session(running: Home, speaker: Speaker) -> None:
    speaker.say(DECISION)
    terminal.call(running, "capture", transcript=str(speaker.transcript), cwd=str(speaker.project))
    (session,) = wire.call(running, "sessions", {"cwd": str(speaker.project)})["sessions"]
    assert session["status"] == "ended"


def test_a_request_that_fails_leaves_no_words_in_the_log(running: Home) -> None:
    asked = {"text": "our vault code is swordfish", "cwd": "/x\0y", "origin": "user"}
    with pytest.raises(DaemonError):
        wire.call(running, "remember", asked)
    assert "swordfish" not in (running.log / "daemon.log").read_text()


def test_a_session_is_told_and_told_anew_when_it_goes_on(running: Home, speaker: Speaker) -> None:
    speaker.say("Fix the rounding in ledger.py, key AKIAIOSFODNN7EXAMPLE.")
    decide(running, speaker)
    asked = {"session_id": speaker.id[:8]}
    (session,) = wire.call(running, "sessions", asked)["sessions"]
    assert session["title"] == "Fix the rounding in ledger.py, key [redacted: AWS key]"
    assert DECISION in session["summary"]
    assert session["left_open"] == "the last prompt was not answered"
    speaker.say("I rounded once. Shall I commit?", role="assistant")
    speaker.hook("drop", "Stop")
    drained(running)
    (session,) = wire.call(running, "sessions", asked)["sessions"]
    assert session["left_open"] == 'the assistant had asked: "Shall I commit?"'
    assert wire.call(running, "list", {"cwd": str(speaker.project)})["total"] == 1


def test_no_summary_where_it_is_switched_off(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, summaries=False)
    wire.ensure_daemon(stopped)
    speaker = new_session(stopped, tmp_path / "project")
    decide(stopped, speaker)
    (session,) = wire.call(stopped, "sessions", {"cwd": str(speaker.project)})["sessions"]
    assert (session["title"], session["summary"], session["left_open"]) == ("", "", "")


def test_a_session_asks_a_person_for_no_more_than_its_share(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, session_captures=2)
    wire.ensure_daemon(stopped)
    speaker = new_session(stopped, tmp_path / "project")
    for tool in ("pytest for the tests", "ruff for the style", "mypy for the types", "hypothesis for the parsers"):
        decide(stopped, speaker, f"Let's use {tool} of the billing service.")
    decide(stopped, speaker)
    assert len(captured(stopped, speaker, "captured")) == 1
    assert len(captured(stopped, speaker, "review")) == 1
    displaced = captured(stopped, speaker, "discarded")
    assert len(displaced) == 3
    assert all("displaced" in capture["reason"] for capture in displaced)


@pytest.mark.parametrize("kind", ["FIFO", "device", "memory", "nowhere"])
def test_a_transcript_that_can_never_be_read_is_given_up_with_its_reason(
    running: Home, speaker: Speaker, kind: str
) -> None:
    if kind == "FIFO":
        os.mkfifo(speaker.transcript)
    else:
        targets = {"device": "/dev/zero", "memory": "/proc/self/mem", "nowhere": "nowhere"}
        speaker.transcript.symlink_to(targets[kind])
    speaker.hook("drop", "Stop", stop_hook_active=False, last_assistant_message="Noted.")
    speaker.hook("drop", "SessionEnd", reason="other")
    drained(running)
    with sqlite3.connect(f"file:{running.database}?mode=ro", uri=True) as store:
        jobs = store.execute("SELECT state, reason, attempts FROM jobs").fetchall()
        (session,) = store.execute("SELECT status FROM sessions").fetchall()
    store.close()
    assert [(state, attempts) for state, _, attempts in jobs] == [("buried", 1)] * 2
    assert all(str(speaker.transcript) in reason for _, reason, _ in jobs)
    assert session == ("ended",)
    assert str(speaker.transcript) in (running.log / "daemon.log").read_text()
