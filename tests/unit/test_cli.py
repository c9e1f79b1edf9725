from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import pytest

from cli import origin, running, screen, stats
from cli.__main__ import main
from cli.arguments import parser
from cli.command_line import Text, commands
from subconscious.clients import CLIENTS
from subconscious.domain.errors import NotFoundError
from subconscious.settings.home import Home
from subconscious.text.invisible import is_invisible
from subconscious.text.quoting import CLOSING, OPENING
from subconscious.wire import encode_result
from tests.support.cli_answers import (
    ANSWERS,
    CAPTURE,
    DAY,
    ESCAPES,
    EXPLAINED,
    MARKUP,
    MEMORY,
    ROLLBACK,
    SAID,
    SESSION,
    SPENT,
    STATS,
    STATUS,
    run,
)
from tests.support.stub_daemon import StubDaemon

HELD: dict[str, Any] = CAPTURE | {
    "status": "quarantined",
    "summary": SAID,
    "content": SAID,
    "session_id": "944588c1",
    "level": "high",
    "verdict": [
        {
            "rule": "hide-from-user",
            "threat": "social engineering",
            "level": "high",
            "why": "it hides something from the person",
            "part": "content",
            "start": 0,
            "end": 19,
        }
    ],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(tmp_path))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(origin, "inside_client", lambda: False)
    return Home(tmp_path)


@pytest.fixture
def daemon(home: Home) -> Iterator[StubDaemon]:
    with StubDaemon(home, dict(ANSWERS)) as stub:
        yield stub


READING = [
    "status",
    "recall cents",
    "search cents",
    "list",
    "show 12",
    "show --branch",
    "sessions",
    "sessions 9445",
    "why-surfaced",
    "why-surfaced 12",
    "why-surfaced 3f2a9c1e-aaaa",
    "review",
    "import --yes",
    "archive 12",
    "archive --session 9445 --yes",
    "forget --query two words --yes",
    "unarchive 12",
    "unarchive --query cents --yes",
    "decay",
    "decay --preview",
    "decay 12",
    "decay --log",
    "decay --run --yes",
    "decay --reset 12",
    "decay --reset --yes",
    "importance 12 critical",
    "pin 12",
    "unpin 12",
    "correct 12 --superseded-by 13",
    "correct 12 --deprecated",
    "correct 12 --refined other words",
    "correct 12 --merged-into 13",
    "useful 12",
    "wrong 12",
    "remember use cents",
    "review approve 7",
    "review reject 7",
    "review approve --all",
    "review edit 7 better words",
    "review undo 7",
    "review restore 7",
    "review --status rejected",
    "review --status quarantined",
    "review release 7",
    "review reject 7 --teach",
    "review lessons",
    "review lessons --forget 1",
    "rollback 9445",
    "rollback 9445 --yes",
    "rollback 9445 --undo",
    "consolidate --preview",
    "promote --preview",
    "memory",
    "maintenance repeats",
    "stats",
    "stats --calibration",
    "explain",
    "explain 9445 --all",
    "redactions",
    "redactions allow 0011223344556677",
    "redactions disallow 0011223344556677",
    "scan",
    "scan --fix --yes",
    "purge 12 --yes",
    "purge --session 9445 --yes",
    "purge --project --yes",
    "purge --all --yes",
    "daemon status",
    "daemon drain",
]
"""Calls that the tests below run. A new command belongs here, or into ELSEWHERE."""

ELSEWHERE = set(
    "accept-settings, attach, backup, capture, completion, confirm, conflicts, daemon run, daemon start, "
    "daemon stop, demo, doctor, export, graph, help, history, install, link, links, maintenance, "
    "maintenance status, maintenance log, maintenance run, mcp, pull, relink, restore, review code, setup, "
    "share, sync, team, team confirm, team join, team leave, team member, team setup, team sync, trust, ui, "
    "undo, uninstall, unlink, unshare, why".split(", ")
)
"""Commands with tests in other files only, such as test_cli_links.py."""


def parsed(command: str) -> Namespace:
    return parser().parse_args(command.split())


@pytest.mark.slow
def test_every_command_is_tried_here_or_elsewhere() -> None:
    tried = {None, *(parsed(command).function for command in READING)}
    untried = {path for path, command in commands(parser()) if path and command.get_default("function") not in tried}
    assert untried == ELSEWHERE


@pytest.mark.parametrize("command", READING)
def test_every_screen_fits_eighty_columns(daemon: StubDaemon, capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, err = run(capsys, *command.split())
    assert (code, err) == (0, "")
    assert out.strip()
    assert max(map(len, out.replace(str(daemon.home.root), "~").splitlines())) <= 80
    assert "\x1b" not in out
    assert not re.search(r"None|{|}|\bE0\d\d\b", out)


@pytest.mark.parametrize("command", READING)
def test_every_screen_comes_as_json_too(daemon: StubDaemon, capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, _ = run(capsys, *command.split(), "--json")
    assert code == 0
    json.loads(out)


@pytest.mark.parametrize(
    "command",
    ["recall x", "search x", "list", "show --branch", "sessions", "why-surfaced", "review", "redactions", "scan"],
)
def test_an_empty_list_is_named(daemon: StubDaemon, capsys: pytest.CaptureFixture[str], command: str) -> None:
    daemon.answers = _emptied(ANSWERS)
    code, out, _ = run(capsys, *command.split())
    assert code == 0
    assert re.match("No|Nothing", out)


@pytest.mark.parametrize("command", [command for command in READING if not re.search(r"\d", command)])
def test_an_empty_screen_says_something(daemon: StubDaemon, capsys: pytest.CaptureFixture[str], command: str) -> None:
    daemon.answers = _emptied(ANSWERS)
    code, out, _ = run(capsys, *command.split())
    assert code == 0
    assert out.strip()


def _emptied(value: Any, key: str = "") -> Any:
    """The answers of a daemon without data: no rows, except of what is drawn."""
    if callable(value):
        return lambda args: _emptied(value(args))
    if isinstance(value, dict):
        return {name: _emptied(item, name) for name, item in value.items()}
    if key == "total":
        return 0
    return [] if isinstance(value, list) and key != "curve" else value


@pytest.mark.parametrize("command", READING)
@pytest.mark.slow
def test_stored_text_cannot_steer_the_terminal(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    daemon.answers = _poisoned(ANSWERS)
    for words in (command.split(), [*command.split(), "--json"]):
        _, out, _ = run(capsys, *words)
        assert not [sign for sign in out if sign != "\n" and is_invisible(sign)]


@pytest.mark.parametrize("command", READING)
@pytest.mark.slow
def test_the_model_reads_stored_text_only_in_a_frame(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    daemon.answers = _poisoned(ANSWERS, ending=MARKUP)
    code, out, err = run(capsys, *command.split())
    if code:
        assert (out, "only a person may" in err) == ("", True)
    elif parsed(command).prints is Text.STORED:
        assert out.startswith(OPENING)
        assert out.endswith(f"{CLOSING}\n")
        assert "<" not in out.removeprefix(OPENING).removesuffix(f"{CLOSING}\n")
        assert "Human:" not in out
    else:
        texts = [MEMORY["summary"], CAPTURE["summary"], SAID, SESSION["title"], SESSION["first_prompt"]]
        assert [text for text in texts if text in out] == []


@pytest.mark.parametrize("command", READING)
def test_the_model_reads_no_markup_of_its_own(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    daemon.answers = _poisoned(ANSWERS, ending=MARKUP)
    daemon.answers["recall"] = ANSWERS["recall"]  # framed by the daemon
    for words in (command.split(), [*command.split(), "--json"]):
        _, out, _ = run(capsys, *words)
        assert "<system-reminder" not in out
        assert out.count("</subconscious-memory>") == out.count("<subconscious-memory>") <= 1


def test_what_waits_is_not_for_the_model(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    for words in (
        ["explain"],
        ["review"],
        ["review", "--list"],
        ["review", "--json"],
        ["review", "--status", "discarded"],
    ):
        code, out, error = run(capsys, *words)
        assert (code, out) == (1, "")
        assert "only a person may" in error


def _poisoned(value: Any, key: str = "", ending: str = ESCAPES) -> Any:
    """Every text a session could have written, with something behind it; enumerated values stay."""
    if isinstance(value, dict):
        return {name: _poisoned(item, name, ending) for name, item in value.items()}
    if isinstance(value, list):
        return [_poisoned(item, ending=ending) for item in value]
    fixed = {"decision", "mode", "origin", "scope", "status", "state"}
    return value + ending if isinstance(value, str) and key not in fixed else value


def test_explain_tells_what_was_seen_and_what_became_of_it(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "explain")
    told = " ".join(out.split())
    for words in (
        "You: We decided to keep all amounts in integer cents",
        'decision, says "we decided" (confidence 0.94) stored as memory 12',
        'preference, says "always"; lowered: it is a question, it is hedged (confidence 0.50) discarded: confidence',
        "Not shown: 40 sentences of Claude's that were not candidates; --all shows all",
    ):
        assert words in told


def test_explain_folds_pasted_rows(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    row = EXPLAINED["sentences"][1] | {"fate": "never", "told": "never a candidate: too long", "seen": ""}
    pasted = [row | {"sentence": f"{number};delivered"} for number in range(300)]
    daemon.answers["explain"] = EXPLAINED | {"sentences": [EXPLAINED["sentences"][0], *pasted]}
    told = " ".join(run(capsys, "explain")[1].split())
    assert "0;delivered never a candidate: too long and 299 more sentences of this message" in told
    assert "1;delivered" not in told
    assert run(capsys, "explain", "--all")[1].count(";delivered") == 300
    asked = [row | {"sentence": f"{number}?", "time": number} for number in range(5)]
    daemon.answers["explain"] = EXPLAINED | {"sentences": asked}
    assert run(capsys, "explain")[1].count("too long") == 5


def test_explain_names_the_assistant_after_it_read_something(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answers["explain"] = EXPLAINED | {"sentences": [EXPLAINED["sentences"][0] | {"origin": "tool"}]}
    assert "The assistant (after reading a file or output): We decided" in " ".join(run(capsys, "explain")[1].split())


def test_a_search_of_a_person_finds_unconfirmed_memories(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "search", "retries")
    assert daemon.requests[-1].args["origin"] == "user"


def test_a_list_marks_what_sessions_do_not_start_with(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert "paused" not in run(capsys, "list")[1]
    daemon.answers["why_surfaced"] = ANSWERS["why_surfaced"] | {"paused": [MEMORY["id"]]}
    assert "paused: sessions did not use it" in " ".join(run(capsys, "list")[1].split())


def test_stats_count_what_is_unconfirmed(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = {"lesson": {"unconfirmed": 2}}
    daemon.answers["stats"] = STATS | {"captures": STATS["captures"] | {"kinds": kinds}}
    out = run(capsys, "stats")[1]
    assert re.search(r"lesson +2$", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["9445"], {"session_id": "9445"}),
        (["always", "use", "cents"], {"text": "always use cents"}),
        (["always use cents"], {"text": "always use cents"}),
        (["/tmp/a.jsonl"], {"transcript": "/tmp/a.jsonl"}),
        ([], {}),
    ],
)
def test_explain_takes_a_session_a_file_or_a_sentence(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], words: list[str], named: dict[str, str]
) -> None:
    run(capsys, "explain", *words)
    assert daemon.requests[-1].args == {"cwd": str(Path.cwd()), "origin": "user"} | named


def test_show_tells_the_whole_provenance(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "show", "#12")
    for told in ("integer cents", "3 days ago", "944588c1", "turn-7", "bytes 120-260", "main", "0123456789ab"):
        assert told in out
    for told in ("ledger.py", "by you (right)", "start/startup", "offline-1", "because floats"):
        assert told in out


def test_a_branch_is_shown_by_name_or_as_it_is_checked_out(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "show", "--branch", "glaze", "--limit", "1")
    assert daemon.requests[-1].args["branch"] == "glaze"
    assert "integer cents" in out
    assert "1 of 3 learned on glaze" in out
    run(capsys, "show", "--branch")
    assert daemon.requests[-1].args["branch"] == ""


def test_filters_reach_the_daemon(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "search", "two", "words", "--kind", "lesson", "--archived", "--everywhere", "--limit", "3")
    args = daemon.requests[-1].args
    assert args == {
        "query": "two words",
        "cwd": str(Path.cwd()),
        "origin": "user",
        "kinds": ["lesson"],
        "archived": True,
        "everywhere": True,
        "limit": 3,
    }


def test_a_person_in_a_terminal_is_the_user(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "remember", "we", "use", "cents", "--tag", "money", "--everywhere")
    args = daemon.requests[-1].args
    assert (args["text"], args["origin"], args["scope"], args["tags"]) == (
        "we use cents",
        "user",
        "user",
        ["money"],
    )


@pytest.mark.parametrize("command", ["remember use cents", "archive 12", "unarchive 12"])
def test_the_model_is_not_the_user(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    run(capsys, *command.split())
    assert daemon.requests[-1].args["origin"] == "assistant"


@pytest.mark.parametrize("decision", ["approve", "reject", "undo", "restore"])
def test_the_model_cannot_decide(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, decision: str
) -> None:
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    code, _, err = run(capsys, "review", decision, "7")
    assert code == 1
    assert "only a person" in err
    assert "in a terminal that no coding agent started" in err
    assert daemon.requests == []


def test_a_memory_that_starts_leave_out_says_so(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"used": 0, "repeated": 0, "violated": 0, "unheeded": 3, "given": 3, "followed": 2}
    daemon.answers["why_surfaced"] = {"surfaces": [], "held": [], "responses": counts, "left_out": True}
    assert "new sessions no longer start with it" in run(capsys, "show", "12")[1]
    shown = " ".join(run(capsys, "why-surfaced", "12")[1].split())
    assert "the last 3 sessions did not use it, so sessions do not start with it any more" in shown


@pytest.mark.parametrize(
    ("decision", "status", "code"),
    [("reject", "approved", 1), ("edit", "approved", 1), ("approve", "approved", 0), ("approve", "discarded", 1)],
)
def test_a_decision_without_effect_is_told(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], decision: str, status: str, code: int
) -> None:
    memory = 7 if status == "approved" else None
    daemon.answers[decision] = {"captures": [CAPTURE | {"status": status, "memory_id": memory, "unchanged": True}]}
    words = ["these words"] if decision == "edit" else []
    found, out, _ = run(capsys, "review", decision, "7", *words)
    assert found == code
    assert f"Nothing changed: 7 is already {status}{', memory 7' if memory else ''}" in out
    assert ("review undo ID" in out) == bool(code)


@pytest.mark.parametrize(
    "command",
    [
        *("purge --all --yes", "scan --fix --yes", "redactions allow 00", "redactions disallow 00"),
        *("decay --run --yes", "decay --reset --yes", "importance 12 deprecated", "pin 12", "unpin 12"),
        *("correct 12 --deprecated", "useful 12", "wrong 12"),
    ],
)
def test_the_model_deletes_nothing_and_lets_nothing_pass(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    code, _, err = run(capsys, *command.split())
    assert (code, daemon.requests) == (1, [])
    assert "only a person" in err


@pytest.mark.parametrize("answer", ["no", "y", "", None])
def test_nothing_is_purged_without_a_clear_yes(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answer: str | None
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("" if answer is None else f"{answer}\n"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    code, out, err = run(capsys, "purge", "12")
    assert code == 1
    assert "can't be undone" in " ".join(out.split())
    assert "nothing was changed" in err
    assert "the whole word yes" in err
    assert "purge" not in [request.cmd for request in daemon.requests]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("purge 12", "The server erases their text when you next run: subconscious team sync"),
        ("purge --project", "The server erases their text when you next run: subconscious team sync"),
        ("purge --all", "so they stay on the server. To erase them from the server, too, answer no now, and first"),
    ],
)
def test_a_purge_says_what_becomes_of_copies_on_a_team_s_server(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("no\n"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    _, out, _ = run(capsys, *command.split())
    assert "team's server" not in out, "nothing of it is there"
    daemon.answers["purge_plan"] = {"memories": 3, "captures": 2, "sessions": 0, "on_server": 2}
    monkeypatch.setattr(sys, "stdin", io.StringIO("no\n"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    _, out, _ = run(capsys, *command.split())
    assert f"2 of these memories are shared on the team's server. {said}" in " ".join(out.split()).replace(
        "After the purge, this machine no longer knows which they are, ", ""
    )


def test_a_purge_where_nobody_can_answer_wants_a_word(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "purge", "12", "--json")
    assert (code, "--yes" in err) == (1, True)
    assert "purge" not in [request.cmd for request in daemon.requests]


def test_the_terminal_knows_the_variables_of_every_client() -> None:
    assert {mark for client in CLIENTS.values() for mark in client.marks} < set(origin.MARKS)


@pytest.mark.parametrize("mark", ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "CURSOR_AGENT"])
def test_the_client_is_known_by_its_variables(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    monkeypatch.setattr(origin, "_ancestors", lambda: iter(()))
    for each in origin.MARKS:
        monkeypatch.delenv(each, raising=False)
    assert not origin.inside_client()
    monkeypatch.setenv(mark, "1")
    assert origin.inside_client()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_client_is_known_though_its_variables_were_unset() -> None:
    ask = "from cli.origin import inside_client; print(inside_client())"
    unset = f"env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID {sys.executable} -c '{ask}'"
    marked = dict(os.environ) | {"CLAUDECODE": "1"}
    # The second command keeps the shell from replacing itself by the first, as the client's shell would be kept.
    shown = subprocess.run(["/bin/sh", "-c", f"{unset}; true"], env=marked, capture_output=True, check=True)
    assert shown.stdout == b"True\n"


def test_why_surfaced_tells_limits_priority_and_what_was_held_back(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "why-surfaced", "12")
    for told in (
        "file: src/kiln.py",
        "session 1 of 10",
        "priority +0.20",
        "13  held back: the session received it less",
    ):
        assert told in " ".join(out.split()).replace("13 held", "13  held")


def test_why_surfaced_says_that_a_session_got_nothing(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.answers["why_surfaced"] = {"surfaces": [], "held": []}
    assert run(capsys, "why-surfaced", "nobody") == (
        0,
        "Session nobody was shown no memory. If several ids begin like this, type more of it.\n"
        "  to list sessions: subconscious sessions\n",
        "",
    )
    assert run(capsys, "why-surfaced", "12") == (0, "This memory has not been shown to a session yet.\n", "")


def test_show_names_the_branch_without_a_warning(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.answers["show"] = ANSWERS["show"] | {"marks": ["on branch glaze"]}
    _, out, _ = run(capsys, "show", "12")
    assert re.search(r"^ *branch +glaze$", out, re.MULTILINE)
    assert "warning" not in out


@pytest.mark.parametrize(
    ("responses", "told"),
    [
        ({"used": 0, "repeated": 1, "violated": 0}, "+0.10: you repeated it in 1 session"),
        (
            {"used": 2, "repeated": 0, "violated": 1},
            "+0.40: used in 2 sessions, you had to repeat it in 1 session",
        ),
    ],
)
def test_show_names_what_a_priority_comes_from(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], responses: dict[str, int], told: str
) -> None:
    counts = {"unheeded": 0, "given": 0, "followed": 0} | responses
    daemon.answers["show"] = ANSWERS["show"] | {"priority": float(told.partition(":")[0])}
    daemon.answers["why_surfaced"] = {"surfaces": [], "held": [], "responses": counts}
    assert told in " ".join(run(capsys, "show", "12")[1].split())


def test_show_warns_of_what_moved_on(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "show", "12")
    (outdated, worth, trusted) = (
        next(line for line in out.splitlines() if told in line) for told in ("may be outdated", "-0.10", "confidence")
    )
    assert outdated.index("may be") == worth.index("-0.10") == trusted.index("0.9"), "they stand in one column"


def test_what_was_not_stored_says_why(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    capture = {name: CAPTURE[name] for name in ("id", "status", "kind", "summary", "content", "reason")}
    daemon.answers["remember"] = {"decision": "review", "reason": "asked by the model", "capture": capture}
    _, out, _ = run(capsys, "remember", "x")
    assert "Waits for review as capture 7: asked by the model" in out
    assert "review approve 7" in out
    daemon.answers["remember"] = {"decision": "discard", "reason": "a question", "capture": capture}
    assert "Not stored: a question" in run(capsys, "remember", "x")[1]


def test_errors_are_a_line_and_a_remedy(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.answers["show"] = NotFoundError("no memory has id 99", "see `subconscious list`")
    code, out, err = run(capsys, "show", "99")
    assert (code, out) == (1, "")
    assert err == "error: no memory has id 99\n  see `subconscious list`\n"


def test_an_answer_of_another_version_is_an_error(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.answers["list"] = encode_result({"entries": []})
    assert run(capsys, "list") == (1, "", "error: the daemon's answer lacks 'memories'\n  run `subconscious doctor`\n")


def test_a_broken_world_is_an_error(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.run.touch()
    code, _, err = run(capsys, "daemon", "start")
    assert code == 1
    assert "Traceback" not in err
    assert "subconscious doctor" in err


def test_no_state_folder_is_an_error(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", "relative")
    code, _, err = run(capsys, "list")
    assert code == 1
    assert "SUBCONSCIOUS_HOME" in err


def test_a_missing_transcript_is_an_error(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "capture", "nowhere.jsonl")
    assert code == 1
    assert "nowhere.jsonl" in err


def test_a_transcript_is_sent_by_its_full_path(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "t.jsonl").touch()
    code, out, _ = run(capsys, "capture", str(tmp_path / "t.jsonl"))
    assert code == 0
    assert out.startswith("3 turns read, 1 new capture.")
    assert daemon.requests[-1].args["transcript"] == str(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    "words",
    [["nonsense"], ["show"], ["show", "12", "--branch"], ["show", "x"], ["show", "0"], ["list", "--limit", "-1"]],
)
def test_wrong_usage_is_two(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2


def test_interruption_is_quiet(home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "start", interrupt)
    assert run(capsys, "daemon", "start") == (130, "", "")


def test_a_second_daemon_is_not_run(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "daemon", "run")
    assert code == 0
    assert out.startswith("The daemon is already running")


def test_the_daemon_is_run_in_place_of_the_terminal(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, list[str], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda *call: ran.append(call))
    main(["daemon", "run"])
    program, words, environment = ran[0]
    assert program == sys.executable
    assert words[-1] == "run"
    assert environment["SUBCONSCIOUS_HOME"] == str(home.root)


def test_daemon_status_starts_nothing(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "daemon", "status")
    assert code == 1
    assert out.startswith("not running")
    assert not home.run.exists()


@pytest.mark.slow
def test_a_silent_daemon_is_told_with_its_remedy(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.silent = True
    monkeypatch.setattr("subconscious.wire.HELLO_SECONDS", 0.1)
    monkeypatch.setattr(running, "STOP_SECONDS", 0.1)
    code, _, err = run(capsys, "list")
    assert code == 1
    assert "did not answer" in err
    assert "subconscious doctor" in err


def test_stopping_nothing_is_no_error(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["daemon", "stop"], ["daemon", "stop", "--force"]):
        assert run(capsys, *words) == (0, "The daemon is not running.\n", "")


def test_settings_are_listed_without_a_daemon(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "status", "--settings")
    assert code == 0
    assert "auto_threshold" in out
    home.root.joinpath("config.toml").write_text("auto_threshold = 7\n")
    code, out, err = run(capsys, "status", "--settings")
    assert code == 1
    assert "auto_threshold" in out
    assert "auto_threshold" in err


def test_long_names_and_values_of_settings_fit(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    values = {"half_lives": "{ decision = 100.0, preference = 200.0, lesson = 300.0, dead_end = 400.0 }"}
    values["claude_code_command"] = '"/' + "long-folder/" * 9 + 'claude"'
    text = "".join(f"{name} = {value}\n" for name, value in values.items())
    home.root.joinpath("config.toml").write_text(text)
    code, out, err = run(capsys, "status", "--settings")
    assert code == 0, err
    rows = out.replace(str(home.root), "~").splitlines()
    assert [row for row in rows if len(row) > 80] == []
    assert all(re.match(r"[a-z_]+$|[a-z_]+  ?|  |$|Set ", row) for row in rows)
    assert "claude_code_tokens_per_day\n" in out, "a name that fills its column has a line of its own"
    assert ("/long-folder" * 9 + "/claude") in re.sub(r"\n +", "", out)


def _shell(home: Home, command: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/sh", "-c", command.replace("CLI", f"{sys.executable} -m cli")],
        env=dict(os.environ) | {"SUBCONSCIOUS_HOME": str(home.root)} | environ,
        capture_output=True,
        check=False,
    )


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_trouble(home: Home) -> None:
    with StubDaemon(home, ANSWERS | {"list": {"memories": [MEMORY] * 3000, "total": 3000}}):
        done = _shell(home, "CLI list | head -1")
    assert done.stderr == b""
    assert b"integer cents" in done.stdout


def test_a_terminal_without_utf8_shows_escapes(home: Home) -> None:
    foreign = MEMORY | {"content": "Größe in Pfund (\u00a3), \U0001f600"}
    with StubDaemon(home, {"list": {"memories": [foreign], "total": 1}}):
        done = _shell(home, "CLI list", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"Gr\xf6\xdfe in Pfund" in done.stdout


@pytest.mark.parametrize("command", ["", "status", "search cents", "list", "show 12"])
def test_common_commands_load_little(daemon: StubDaemon, home: Home, command: str) -> None:
    code = f"import sys, cli.__main__ as c; c.main({command.split()}); print(*sys.modules, file=sys.stderr)"
    environ = {"SUBCONSCIOUS_HOME": str(home.root), "PATH": os.environ["PATH"]}
    # Without site-packages, whose .pth files load modules of their own.
    done = subprocess.run([sys.executable, "-S", "-c", code], env=environ, capture_output=True, text=True, check=True)
    heavy = {"dataclasses", "inspect", "subprocess", "hashlib", "asyncio", "pydantic", "sqlite3"}
    ours = {"subconscious.clients", "subconscious.text.quoting", "subconscious.doctor"}
    assert daemon.answers
    assert not (heavy | ours) & set(done.stderr.split())


def test_help_loads_nothing_heavy() -> None:
    code = "import sys, cli.__main__ as c; c.parser().format_help(); print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert not {"pydantic", "asyncio", "numpy", "sqlite3", "subconscious.doctor"} & set(loaded)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (-5, "in the future"),
        (5, "just now"),
        (61, "1 minute ago"),
        (2 * 3600, "2 hours ago"),
        (3 * DAY, "3 days ago"),
        (70 * DAY, "2 months ago"),
        (800 * DAY, "2 years ago"),
    ],
)
def test_times_are_told_as_people_tell_them(seconds: float, told: str) -> None:
    assert screen.ago(1e9 - seconds, 1e9) == told


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert screen.paint("x", "bold") == "\x1b[1mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert screen.paint("x", "bold") == "x"


@pytest.mark.parametrize(
    ("observed", "stated", "drawn"),
    [(0.0, 0.05, "|"), (0.5, 0.95, "#" * 16 + " " * 14 + "|"), (1.0, 1.0, "#" * 32 + "|"), (0.9, 0.5, "#" * 16 + "|")],
)
def test_a_bar_is_as_long_as_its_share(observed: float, stated: float, drawn: str) -> None:
    shown = stats.bar(observed, stated, blocks=False)
    assert shown.strip().startswith(drawn)
    assert len(shown) == len(stats.bar(observed, stated, blocks=True)) == stats.BAR_COLUMNS + 1


def test_calibration_is_plotted(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "stats", "--calibration")
    assert re.search(r"0\.9-1\.0 .*86% +41.0 +0\.88", out)
    assert "0.0-0.1" not in out
    daemon.answers["stats"] = STATS | {"calibration": {}}
    assert run(capsys, "stats", "--calibration")[1].startswith("You have decided on no capture yet")


def test_stats_tell_the_aim(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "stats")
    assert "80% accepted (aim: 70%)" in out
    assert re.search(r"decision +20 +2", out)
    daemon.answers["stats"] = STATS | {"reviews": STATS["reviews"] | {"accepted": None}}
    assert "you have reviewed none yet" in run(capsys, "stats")[1]


def test_stats_tell_what_models_cost(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "stats")
    told = " ".join(out.split())
    assert "$0.42 in 120 calls and 3 of unknown cost, which count as $0.004 against the caps" in told
    assert "today $0.10 of $10.00" in told
    assert re.search(r"purposes +120 +100000 +\$0\.42 +3", out)
    nothing = SPENT | {"calls": 0}
    daemon.answers["stats"] = STATS | {"spend": STATS["spend"] | {"total": nothing}}
    assert "none used yet" in run(capsys, "stats")[1]


def test_status_tells_how_the_models_are(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    told = " ".join(run(capsys, "status")[1].split())
    assert re.search("anthropic claude-haiku-5-5, open, last error .* ago: Anthropic answered 529", told)
    assert "$8.50 of $10 spent today; 42 wait for an answer" in told
    refused = {"name": "openai", "model": "m", "open": True, "breaker": "closed", "refused": True}
    error = {"at": time(), "code": "E050", "message": "the key is refused", "remedy": "check it"}
    provider = STATUS["provider"] | {"providers": [refused | {"error": error}]}
    daemon.answers["status"] = STATUS | {"provider": provider}
    assert "openai, receives no requests (the key is refused)" in " ".join(run(capsys, "status")[1].split())
    daemon.answers["status"] = STATUS | {"provider": STATUS["provider"] | {"providers": []}}
    assert "none; everything works without one" in run(capsys, "status")[1]


def test_status_counts_the_memories_that_starts_leave_out(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "paused" not in run(capsys, "status")[1]
    daemon.answers["status"] = STATUS | {"paused": 2}
    told = " ".join(run(capsys, "status")[1].split())
    assert "2 memories that sessions did not use are no longer given at starts." in told
    assert "`subconscious pin ID` brings one back" in told


@pytest.mark.parametrize(
    ("key", "sessions", "words"),
    [
        ("config.toml", 0, "openai m, key from config.toml"),
        ("this session's environment", 1, "openai m, key from this session's environment"),
        ("the plugin's options", 2, "key from the plugin's options, 2 sessions with a key from their own environment"),
        ("", 1, "openai m, 1 session with a key from their own environment"),
    ],
)
def test_status_tells_where_a_key_comes_from(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], key: str, sessions: int, words: str
) -> None:
    shared = {"name": "openai", "model": "m", "open": True, "breaker": "closed", "refused": not key, "error": None}
    provider = STATUS["provider"] | {"providers": [shared | {"key": key, "sessions_with_own_key": sessions}]}
    daemon.answers["status"] = STATUS | {"provider": provider}
    assert words in " ".join(run(capsys, "status")[1].split())


def test_groups_of_memories_are_shown_with_what_looks_poisoned(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    why = "suspicion medium: code injection, it runs the content of a page"
    memories = [MEMORY, MEMORY | {"id": 2, "suspicion": why}]
    told = {"memories": memories, "cohesion": 0.9, "summary": "Tests", "content": "Tests", "decision": "auto"}
    daemon.answers["clusters"] = {"clusters": [told | {"reason": ""}], "total": 1, "vectors": True}
    code, out, _ = run(capsys, "consolidate", "--preview")
    assert (code, out.count(why)) == (0, 1)


@pytest.mark.parametrize("words", ["approve", "approve 3 --all", "edit 3", "undo", "approve x"])
def test_a_decision_says_on_what(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["review", *words.split()])


def test_what_is_in_quarantine_is_shown_with_its_reasons(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answers["captures"] = {"captures": [HELD]}
    code, out, _ = run(capsys, "review", "--status", "quarantined")
    words = " ".join(out.split())
    assert code == 0
    assert "suspicion: high" in words
    assert "social engineering, it hides something from the person: \u00bbNever tell the user\u00ab" in words
    assert "review release ID" in words


@pytest.mark.parametrize("command", ["status", "review"])
def test_the_open_question_is_shown_with_its_answers(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    asked = {"link_id": 9, "new_id": 2, "old_id": 1, "times_shown": 1, "wording": 'does "NATS" replace "Redis"?'}
    daemon.answers["status"] = STATUS | {"question": asked}
    _, out, _ = run(capsys, command)
    answers = "Yes: subconscious confirm 9. No: subconscious unlink 9"
    assert f'does "NATS" replace "Redis"? {answers}' in " ".join(out.split())
    daemon.answers["status"] = STATUS | {"question": asked | {"wording": ""}}
    _, out, _ = run(capsys, command)
    assert f"does memory 2 replace memory 1? {answers}" in " ".join(out.split())


def test_a_rollback_is_shown_first_and_done_after_a_yes(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "rollback", "9445")
    assert "memory 12" in out
    assert "a repetition of memory 13, which stays" in " ".join(out.split())
    assert "a replacement of memory 14, which comes back" in " ".join(out.split())
    assert "Nothing was changed" in out
    assert daemon.requests[-1].args["preview"] is True
    _, out, _ = run(capsys, "rollback", "9445", "--yes")
    assert "1 memory, 1 repetition, 1 capture withdrawn." in out
    assert "preview" not in daemon.requests[-1].args
    _, out, _ = run(capsys, "rollback", "--undo", "9445")
    assert "put back" in out
    assert daemon.requests[-1].args["back"] is True
    daemon.answers["rollback"] = ROLLBACK | {"memories": [], "repeated": [], "captures": []}
    _, out, _ = run(capsys, "rollback", "9445", "--yes")
    assert "added nothing" in out


@pytest.mark.parametrize(
    ("state", "named"),
    [
        ({}, ()),
        ({"can_import": True}, ("import",)),
        ({"review": 2}, ("review",)),
        ({"memories": {"active": 0, "archived": 0, "project": 0}}, ("setup",)),
        ({"memories": {"active": 0, "archived": 0, "project": 0}, "can_import": True}, ("import", "setup")),
    ],
)
def test_import_and_review_are_next_only_where_there_is_something(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], state: dict[str, Any], named: tuple[str, ...]
) -> None:
    daemon.answers["status"] = STATUS | {"review": 0} | state
    _, out, _ = run(capsys)
    commands_next = re.findall(r"^  subconscious (import|review|setup)\b", out.partition("Next")[2], re.MULTILINE)
    assert tuple(commands_next) == named
