"""What people and models can ask a real daemon for: words, filters, times, tiers, sections."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import configure, drained, new_session
from tests.support.deciding import blocked
from tests.support.fake_openai import FakeOpenAI
from tests.support.surfacing import begun, given, remember

RECORD = """Amounts are integers.

## Context
Floats lost cents in three invoices, and nobody noticed for a month. The books of two customers had to be made again,
by hand, from paper. The tests used round sums alone, which floats hold exactly, so all of them were green.

## Decision
Every amount is an integer number of cents, in the database and on the wire.

## Consequences
The importer multiplies by a hundred. Old clients break.
"""


def hits(home: Home, cwd: Path, query: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wire.call(home, "search", {"query": query, "cwd": str(cwd), **more})["hits"]
    return found


def ids(home: Home, cwd: Path, query: str, **more: Any) -> list[int]:
    return [hit["memory"]["id"] for hit in hits(home, cwd, query, **more)]


def put(home: Home, cwd: Path, text: str, **more: Any) -> int:
    answer = terminal.ask(home, "remember", text=text, cwd=str(cwd), **more)
    number: int = answer["result"]["memory"]["id"]
    return number


def test_a_misspelled_word_finds_what_it_means(running: Home, speaker: Speaker, tmp_path: Path) -> None:
    kafka = put(running, speaker.project, "Events go through Kafka.")
    put(running, speaker.project, "Invoices are made at night.")
    assert ids(running, speaker.project, "kafak") == [kafka]
    assert ids(running, speaker.project, "terraform") == []
    assert ids(running, tmp_path / "elsewhere", "kafak") == []  # a word of another project is none of this one's


def test_what_a_question_is_not_about_is_not_used_by_it(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, embedder='"local"')
    wire.ensure_daemon(stopped)
    session = new_session(stopped, tmp_path / "project")
    number = put(stopped, session.project, "The upload worker retries three times.")
    drained(stopped)

    def uses() -> int:
        shown: int = wire.call(stopped, "show", {"id": number})["memory"]["uses"]
        return shown

    nonsense: dict[str, Any] = {"query": "penguins in antarctica", "cwd": str(session.project)}
    wire.call(stopped, "recall", nonsense)
    assert [hit["memory"]["id"] for hit in wire.call(stopped, "recall", nonsense | {"nearest": True})["hits"]] == [
        number
    ]
    assert wire.call(stopped, "why", nonsense)["answers"] == []
    for command in ("recall", "why"):
        told = session.ask("UserPromptSubmit", prompt=f"/subconscious:{command} {nonsense['query']}")
        assert "no memory matches" in blocked(told)
    assert uses() == 0
    wire.call(stopped, "recall", nonsense | {"query": "how often does it try again to send a file?", "nearest": True})
    assert uses() == 1


def test_what_is_no_match_is_listed_only_on_request(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, embedder='"local"')
    wire.ensure_daemon(stopped)
    project = new_session(stopped, tmp_path / "project").project
    queue = put(stopped, project, "The upload worker retries three times.")
    drained(stopped)
    asked: dict[str, Any] = {"query": "penguins in antarctica", "cwd": str(project)}
    found = wire.call(stopped, "search", asked)
    everything = wire.call(stopped, "search", asked | {"nearest": True})
    assert [hit["memory"]["id"] for hit in everything["hits"]] == [queue]
    assert (found["hits"], found["far"], everything["far"]) == ([], 1, 0)
    recalled = wire.call(stopped, "recall", asked)
    assert (recalled["hits"], recalled["far"]) == ([], 1)
    assert ids(stopped, project, "how often does it try again to send a file?") == [queue]  # no word is shared


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Money is an integer number of cents \U0001f389", "\U0001f680"),
        ("Log in with SSO, not a password.", "/etc/passwd"),
    ],
)
def test_what_an_embedder_can_not_read_matches_by_no_meaning(
    stopped: Home, tmp_path: Path, text: str, query: str
) -> None:
    configure(stopped, embedder='"local"')
    wire.ensure_daemon(stopped)
    project = new_session(stopped, tmp_path / "project").project
    number = put(stopped, project, text)
    drained(stopped)
    found = wire.call(stopped, "search", {"query": query, "cwd": str(project)})
    assert (found["hits"], found["far"]) == ([], 1)
    assert ids(stopped, project, text) == [number]


def test_a_search_is_narrowed(running: Home, speaker: Speaker) -> None:
    plain = put(running, speaker.project, "The retry queue is bounded.", kind="decision")
    lesson = put(running, speaker.project, "The retry queue needs a cap.", kind="lesson", tags=["ops"])
    there = speaker.project
    assert set(ids(running, there, "retry queue")) == {plain, lesson}
    assert ids(running, there, "retry queue", kinds=["lesson", "pattern"]) == [lesson]
    assert ids(running, there, "retry queue", kind="decision") == [plain]
    assert ids(running, there, "retry queue", tags=["ops"]) == [lesson]
    assert ids(running, there, 'retry queue "is bounded"') == [plain]
    assert ids(running, there, "retry queue -bounded") == [lesson]
    assert ids(running, there, "retry queue", until="yesterday") == []
    assert set(ids(running, there, "retry queue", since="yesterday")) == {plain, lesson}
    assert set(ids(running, there, "what was it today?")) == {plain, lesson}
    assert ids(running, there, "retry queue", min_confidence=0.5, file="nowhere.py") == []
    listed = wire.call(running, "list", {"cwd": str(there), "kinds": ["lesson"], "since": str(date.today())})
    assert ([memory["id"] for memory in listed["memories"]], listed["total"]) == ([lesson], 1)
    tomorrow = str(date.today() + timedelta(1))
    assert wire.call(running, "list", {"cwd": str(there), "since": tomorrow})["total"] == 0


def test_another_project_is_named(running: Home, speaker: Speaker, tmp_path: Path) -> None:
    number = put(running, speaker.project, "The retry queue is bounded.")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert ids(running, elsewhere, "retry queue") == []
    for name in (speaker.project.name, str(speaker.project)):
        assert ids(running, elsewhere, "retry queue", project=name) == [number]


@pytest.mark.parametrize("wrong", [{"kinds": ["nonsense"]}, {"since": "some day"}, {"project": "nowhere"}])
def test_what_can_not_be_meant_is_refused(running: Home, speaker: Speaker, wrong: dict[str, Any]) -> None:
    with pytest.raises(DaemonError):
        hits(running, speaker.project, "queue", **wrong)


def test_a_record_keeps_its_sections_and_is_told_by_tier(running: Home, speaker: Speaker) -> None:
    number = put(running, speaker.project, RECORD)
    (found,) = hits(running, speaker.project, "integer amounts", section="consequences")
    assert found["memory"]["content"] == RECORD.strip()
    assert found["memory"]["summary"] == "Amounts are integers."
    assert found["told"]["text"].startswith("Consequences: The importer")
    asked = {"query": "integer amounts", "cwd": str(speaker.project)}
    whole = wire.call(running, "recall", {**asked, "tier": "full"})["text"]
    assert "The importer multiplies" in whole
    least = wire.call(running, "recall", {**asked, "tier": "minimal"})["text"]
    assert "The importer multiplies" not in least
    assert f"[cut: show {number}]" in least
    assert "Every amount is an integer" in least


def test_archived_memories_are_ranked(running: Home, speaker: Speaker) -> None:
    numbers = remember(running, speaker, "Of other things, at length, and of the queue.", "The retry queue.")
    terminal.ask(running, "archive", ids=numbers)
    assert ids(running, speaker.project, "retry queue") == []
    assert ids(running, speaker.project, "retry queue", archived=True) == numbers[::-1]


def test_a_prompt_that_leans_on_the_talk_finds_what_it_is_about(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, "The UploadWorker retries a failed chunk upload twice, because the proxy drops.")
    assert given(talker, "and why is that?") == ""
    talker.say("Look at how the UploadWorker handles a failed chunk upload, please.")
    talker.say("The UploadWorker retries a chunk upload.", role="assistant")
    talker.hook("drop", "Stop")
    drained(running)
    assert "because the proxy drops" in given(talker, "and why is that?")


def test_a_model_lends_a_search_words_where_that_is_accepted(stopped: Home, tmp_path: Path) -> None:
    asked: list[str] = []

    def script(text: str) -> dict[str, Any]:
        asked.append(text)
        return {"words": ["Redis"]}

    with FakeOpenAI(script) as model:
        configure(stopped, **model.config, refine=False, reword=True, reword_seconds=40)
        wire.ensure_daemon(stopped)
        number = put(stopped, tmp_path, "Redis keeps the sessions.", kind="decision")
        assert ids(stopped, tmp_path, "where do logins live?") == [number]
        (hit,) = hits(stopped, tmp_path, "where do logins live?")
        assert len(asked) == 1, "the same search is not asked about twice"
        assert hit["relevance"] < 0.5, "none of its own words occur"
