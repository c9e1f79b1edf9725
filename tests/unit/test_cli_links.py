"""The verbs of links as a person, and the model, meets them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import pytest

from cli import origin
from subconscious.settings.home import Home
from subconscious.text.invisible import is_invisible
from subconscious.text.quoting import CLOSING, OPENING
from tests.support.cli_answers import DAY, ESCAPES, MARKUP, MEMORY, run
from tests.support.stub_daemon import StubDaemon, answering

OLD: dict[str, Any] = {
    "id": 7,
    "kind": "decision",
    "summary": "Amounts are floats, because the bank's file has them so and nobody complained",
    "said_at": time() - 90 * DAY,
    "origin": "assistant",
    "project_id": "p1",
    "archived_at": None,
}
NEW = {name: MEMORY[name] for name in OLD}
LINK: dict[str, Any] = {
    "id": 41,
    "source_id": 12,
    "target_id": 7,
    "type": "SUPERSEDES",
    "status": "active",
    "confidence": 0.92,
    "created_by": "rules",
    "evidence": "we decided to keep cents instead",
    "created_at": time() - 3 * DAY,
    "name": "SUPERSEDES",
    "source": NEW,
    "target": OLD,
}
STORED = {name: value for name, value in LINK.items() if name not in ("name", "source", "target")}
STORED_PROPOSAL = STORED | {"id": 42, "status": "proposed"}
PROPOSED = LINK | {"id": 42, "status": "proposed", "created_by": "assistant", "confidence": 0.5}
CONFLICT = PROPOSED | {"type": "CONTRADICTS", "name": "CONTRADICTS", "id": 43}
DOUBTED = MEMORY | {"trust": "SUSPECT", "conflicts": [7, 9], "superseded_by": [15], "stale": True}
WITHIN = (*OLD, "content", "rationale", "evidence", "session_id", "branch", "scope", "pinned", "verified")
EXPLAINED = {name: MEMORY[name] for name in WITHIN}
TRUST = ("trust", "conflicts", "superseded_by", "stale")
REASON = EXPLAINED | {name: DOUBTED[name] for name in TRUST} | OLD
REASON |= {"content": OLD["summary"], "evidence": "let's use floats", "rationale": "the bank does"}
ANSWERS: dict[str, Any] = {
    "why_surfaced": {"surfaces": [], "held": []},
    "links": {"links": [LINK | {"other": OLD}, PROPOSED | {"other": OLD}]},
    "conflicts": {"links": [CONFLICT], "memories": []},
    "link": {"link": PROPOSED, "changed": True},
    "confirm_link": {"links": [LINK]},
    "unlink": {"links": [LINK | {"status": "refused"}]},
    "relink": {"link": LINK | {"type": "EXTENDS"}},
    "graph": {
        "root": 12,
        "memories": [MEMORY | {"distance": 0}, DOUBTED | {"id": 7, "distance": 1}],
        "links": [LINK, PROPOSED],
        "tree": [
            {"depth": 1, "memory_id": 7, "name": "SUPERSEDES", "link": STORED, "again": False},
            {"depth": 2, "memory_id": 12, "name": "CAUSED_BY", "link": STORED_PROPOSAL, "again": True},
        ],
        "mermaid": 'flowchart LR\n  m12["12 Keep cents"]\n',
        "left_out": 3,
    },
    "why": {
        "worded": "Keep cents. [12] Because floats lost a cent. [7]",
        "answers": [
            {
                "memory": EXPLAINED,
                "chains": [[{"name": "SUPERSEDES", "link": LINK, "memory": REASON}]],
                "cut": True,
            }
        ],
        "text": f"{OPENING}[12] decision, 2026-09-21, said by the user: Keep cents.\n{CLOSING}",
    },
    "search": {"hits": [{"memory": DOUBTED, "relevance": 0.8, "trust": "SUSPECT"}]},
    "list": {"memories": [DOUBTED], "total": 1, "branch": ""},
    "show": {"memory": DOUBTED, "marks": [], "priority": 0.0, "history": [], "surfaces": []},
}
READING = [
    "links",
    "links 12",
    "conflicts",
    "link 12 SUPERSEDES 7",
    "confirm 41 42",
    "unlink 41",
    "relink 41 EXTENDS",
    "relink 41 --reverse",
    "graph 12",
    "graph 12 --mermaid",
    "why 12",
    "why are amounts cents",
    "search cents",
    "show 12",
]


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubDaemon]:
    with answering(Home(tmp_path), monkeypatch, ANSWERS) as stub:
        yield stub


@pytest.fixture
def model(daemon: StubDaemon, monkeypatch: pytest.MonkeyPatch) -> StubDaemon:
    """The same, asked by the model of a session."""
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "944588c1")
    return daemon


@pytest.mark.parametrize("command", READING)
def test_every_screen_fits_and_comes_as_json_too(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    code, out, err = run(capsys, *command.split())
    assert (code, err) == (0, "")
    assert out.strip()
    assert max(map(len, out.splitlines())) <= 80
    assert not re.search(r"None|\{|\}", out)
    json.loads(run(capsys, *command.split(), "--json")[1])


def _poisoned(value: Any, ending: str, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _poisoned(item, ending, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_poisoned(item, ending) for item in value]
    words = {"summary", "content", "evidence", "rationale", "created_by", "kind"}
    return value + ending if isinstance(value, str) and key in words else value


@pytest.mark.parametrize("command", READING)
def test_stored_text_steers_nothing(daemon: StubDaemon, capsys: pytest.CaptureFixture[str], command: str) -> None:
    daemon.answers = _poisoned(ANSWERS, ESCAPES)
    for words in (command.split(), [*command.split(), "--json"]):
        assert not [sign for sign in run(capsys, *words)[1] if sign != "\n" and is_invisible(sign)]


@pytest.mark.parametrize("command", [one for one in READING if one.split()[0] not in ("confirm", "unlink", "relink")])
def test_the_model_reads_it_in_a_frame(model: StubDaemon, capsys: pytest.CaptureFixture[str], command: str) -> None:
    model.answers = _poisoned(ANSWERS, MARKUP)
    _, out, _ = run(capsys, *command.split())
    assert out.startswith(OPENING)
    assert out.rstrip().endswith(CLOSING)
    assert "<" not in out.rstrip().removeprefix(OPENING).removesuffix(CLOSING)
    assert "Human:" not in out


@pytest.mark.parametrize("command", ["confirm 41", "unlink 41", "relink 41 EXTENDS"])
def test_the_model_judges_no_link(model: StubDaemon, capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, _, err = run(capsys, *command.split())
    assert (code, model.requests) == (1, [])
    assert "only a person may" in err


def test_what_the_model_links_is_its_own(model: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "link", "12", "SUPERSEDES", "7", "--reason", "newer")
    args = model.requests[-1].args
    assert (args["source"], args["type"], args["target"], args["reason"]) == (12, "SUPERSEDES", 7, "newer")
    assert (args["origin"], args["session_id"]) == ("assistant", "944588c1")
    assert "Proposed, as link 42" in out


def test_links_read_from_their_memory(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "links", "12", "--status", "all", "--type", "supersedes", "--limit", "4")
    assert "41  SUPERSEDES 7: Amounts are floats" in out
    for told in ("active, confidence 0.92, found by rules, 3 days ago", "proposed by the assistant", '"we decided to'):
        assert told in out
    assert "subconscious confirm LINK" in out
    args = daemon.requests[-1].args
    assert (args["id"], args["status"], args["types"], args["limit"]) == (12, "all", ["supersedes"], 4)


def test_a_conflict_shows_both_sides(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "conflicts")[1]
    assert "12 and 7 (proposed), as link 43" in out
    assert "decision, 3 days ago" in out
    assert "said by you" in out
    assert "said by the assistant" in out


def test_a_graph_is_a_tree(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(run(capsys, "graph", "12", "--depth", "2")[1].split())
    assert "12 Keep all amounts in integer cents - SUPERSEDES 7: Keep all" in out
    assert "(conflicts with [7] [9], superseded by [15], stale, suspect: may be poisoned)" in out
    assert "- CAUSED_BY 12 (as above) (proposed)" in out
    assert "3 links not followed" in out
    assert daemon.requests[-1].args["depth"] == 2


def test_why_shows_the_chain_with_its_evidence(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(run(capsys, "why", "12")[1].split())
    assert daemon.requests[-1].args["id"] == 12
    for told in ("because floats lost a cent", "- SUPERSEDES 7: Amounts are floats", '"let\'s use floats"'):
        assert told in out
    for told in ("link 41, active, confidence 0.92", '"we decided to keep cents instead"', "because the bank does"):
        assert told in out
    assert "Keep cents. [12] Because" in out
    assert daemon.requests[-1].args["worded"] is True
    run(capsys, "why", "--json", "12")
    assert daemon.requests[-1].args["worded"] is False
    run(capsys, "why", "12", "things")
    assert daemon.requests[-1].args["query"] == "12 things"


def test_doubts_are_marked_where_memories_are_listed(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("search cents", "list", "show 12"):
        out = " ".join(run(capsys, *command.split())[1].split())
        assert "conflicts with [7] [9], superseded by [15], stale, suspect: may be poisoned" in out
    assert "trust suspect" in out
    daemon.answers["list"] = {"memories": [MEMORY | {"trust": "HIGH", "conflicts": []}], "total": 1, "branch": ""}
    assert "trust" not in run(capsys, "list")[1]


def test_empty_screens_say_something(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.answers |= {"links": {"links": []}, "conflicts": {"links": []}, "why": {"answers": [], "text": ""}}
    assert "No links wait" in run(capsys, "links")[1]
    assert "Memory 12 has no such links" in run(capsys, "links", "12")[1]
    assert "No contradictions" in run(capsys, "conflicts")[1]
    assert "No memory of this project answers that" in run(capsys, "why", "so")[1]
    daemon.answers["graph"] = ANSWERS["graph"] | {"tree": [], "left_out": 0}
    assert "it has no links" in run(capsys, "graph", "12")[1]
    bare = {"memory": EXPLAINED | {"rationale": ""}, "chains": [], "cut": False}
    daemon.answers["why"] = {"answers": [bare], "text": ""}
    assert "no reason is known" in run(capsys, "why", "12")[1]
