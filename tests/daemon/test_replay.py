"""The replay of histories, on a small made-up one: order, what is known when, sources, and where knowledge was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bench.clock import Clock, wholly_on
from bench.replay import report
from bench.replay.history import History, read_history
from bench.replay.knowledge import DISCARDED, NEVER, STORED, UNCONFIRMED, WAITING, Item, Knowledge, knowledge
from bench.replay.labels import Labels, read_labels
from bench.replay.run import Naive, Outcome, Place, given_texts, replay
from bench.tuned import tuned
from subconscious.app import App
from subconscious.authorship.forgery import WITH_REFUSAL
from subconscious.domain.hits import Hit
from subconscious.embeddings.local import LocalEmbedder
from subconscious.framing import rules
from subconscious.slash_commands import commands
from subconscious.store import memories, merges, sessions
from subconscious.store.projects import Project
from tests.support.values import make_memory

pytestmark = pytest.mark.slow

DAY = "2026-03-02"
CENTS = "We decided to keep all amounts in integer cents."
PROXY = "The root cause was that the staging proxy drops requests without the tenant header, so the export failed."
Row = dict[str, Any]


def at(clock: str) -> str:
    return f"{DAY}T{clock}:00.000Z"


def typed(clock: str, text: str) -> Row:
    return {"type": "user", "timestamp": at(clock), "message": {"role": "user", "content": text}}


def answered(clock: str, text: str) -> Row:
    content = [{"type": "text", "text": text}]
    return {"type": "assistant", "timestamp": at(clock), "message": {"role": "assistant", "content": content}}


def used(clock: str, name: str, number: str, **given: str) -> Row:
    content = [{"type": "tool_use", "id": number, "name": name, "input": given}]
    return {"type": "assistant", "timestamp": at(clock), "message": {"role": "assistant", "content": content}}


def result(clock: str, number: str, text: str, *, failed: bool = False) -> Row:
    block = {"type": "tool_result", "tool_use_id": number, "content": text, "is_error": failed}
    return {"type": "user", "timestamp": at(clock), "message": {"role": "user", "content": [block]}}


FIRST = (
    typed("10:00", "Look at the invoices, please."),
    used("10:01", "Read", "t1", file_path="/home/dev/made-up/invoice.py"),
    result("10:02", "t1", "def total(): ..."),
    used("10:03", "Bash", "t2", command="make test"),
    result("10:04", "t2", "Exit code 2\nmake: no rule", failed=True),
    answered("10:05", "I have seen them."),
    typed("11:30", CENTS),
    answered("11:31", PROXY),
)
SECOND = (typed("11:01", "What next?"), answered("11:02", "The export."))
"""It begins while the first session is open, before anything worth keeping is said there."""
THIRD = (typed("13:01", "How do we store amounts?"), answered("13:02", "Let me look."))


def write_session(folder: Path, sid: str, start: str, end: str, rows: Sequence[Row]) -> dict[str, str]:
    lines = [
        json.dumps(row | {"uuid": f"{sid}-{number}", "sessionId": sid, "cwd": "/home/dev/made-up"})
        for number, row in enumerate(rows)
    ]
    (folder / f"{sid}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return {"sid": sid, "start": at(start), "end": at(end), "branch": f"branch-{sid}", "cwd": "/home/dev/made-up"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "made-up"
    made.mkdir()
    return made


@pytest.fixture
def history(folder: Path) -> History:
    plan = [
        write_session(folder, "one", "10:00", "12:00", FIRST),
        write_session(folder, "two", "11:00", "11:45", SECOND),
        write_session(folder, "three", "13:00", "13:30", THIRD),
    ]
    (folder / "plan.json").write_text(json.dumps(plan))
    return read_history(folder)


@pytest.fixture
def labels(tmp_path: Path) -> Labels:
    def need(number: int, session: int, source: str, match: list[list[str]]) -> Row:
        words = {"need": f"the {source}", "moment": "start", "value": 1, "match": match}
        return {"type": "need", "id": f"n{number}", "history": "made-up", "session": session, "source": source} | words

    rows = (
        {"type": "range", "history": "made-up", "until": 3},
        need(1, 1, "decision", [["amounts", "integer cents"]]),
        need(2, 2, "decision", [["amounts", "integer cents"]]),
        need(3, 2, "finding", [["staging proxy"]]),
        need(4, 2, "failure", [["never said by anybody"]]),
        need(5, 3, "failure", [["behind the labelled range"]]),
    )
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_labels([file])["made-up"]


async def replayed(history: History, labels: Labels, variant: str = "unattended") -> Outcome:
    return await replay(history, labels, variant, tuned(embedder="none", links=False, review_threshold=0.3))


def test_events_of_sessions_that_overlap_come_in_the_order_of_their_times(history: History) -> None:
    events = list(history.events())
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert [(event.session, event.name) for event in events] == [
        (0, "SessionStart"),
        (0, "UserPromptSubmit"),
        (0, "PostToolUse"),
        (0, "PostToolUseFailure"),
        (0, "Stop"),
        (1, "SessionStart"),
        (1, "UserPromptSubmit"),
        (1, "Stop"),
        (0, "UserPromptSubmit"),
        (0, "Stop"),
        (1, "SessionEnd"),
        (0, "SessionEnd"),
        (2, "SessionStart"),
        (2, "UserPromptSubmit"),
        (2, "Stop"),
        (2, "SessionEnd"),
    ]


def test_an_event_sees_the_lines_that_were_written_before_it(history: History) -> None:
    seen = {(event.name, event.visible) for event in history.events() if event.session == 0}
    prompts = {("UserPromptSubmit", 0), ("UserPromptSubmit", 6)}
    assert prompts | {("PostToolUse", 2), ("Stop", 6), ("Stop", 8), ("SessionEnd", 8)} <= seen


def test_a_turn_that_was_broken_off_does_not_end(folder: Path) -> None:
    rows = (
        typed("10:00", "Go on."),
        answered("10:01", "I am"),
        typed("10:02", "[Request interrupted by user]"),
        typed("10:03", "No."),
    )
    (folder / "plan.json").write_text(json.dumps([write_session(folder, "one", "10:00", "10:05", rows)]))
    names = [event.name for event in read_history(folder).events()]
    assert names == ["SessionStart", "UserPromptSubmit", "UserPromptSubmit", "SessionEnd"]


def test_queued_prompts_compactions_and_refused_tools(folder: Path) -> None:
    rows = (
        typed("10:00", "Go on."),
        {"type": "queue-operation", "operation": "enqueue", "timestamp": at("10:01"), "content": "And hurry."},
        used("10:02", "Edit", "t1", file_path="/home/dev/made-up/a.py"),
        result("10:03", "t1", "The user doesn't want to proceed with this tool use.", failed=True),
        {"type": "queue-operation", "operation": "remove", "timestamp": at("10:04")},
        {"type": "system", "subtype": "compact_boundary", "timestamp": at("10:05")},
    )
    (folder / "plan.json").write_text(json.dumps([write_session(folder, "one", "10:00", "10:06", rows)]))
    events = [(event.name, event.payload.get("prompt", "")) for event in read_history(folder).events()]
    assert events == [
        ("SessionStart", ""),
        ("UserPromptSubmit", "Go on."),
        ("UserPromptSubmit", "And hurry."),
        ("PreCompact", ""),
        ("SessionStart", ""),
        ("SessionEnd", ""),
    ]


async def test_an_open_session_teaches_nothing_before_it_is_written(history: History, labels: Labels) -> None:
    outcome = await replayed(history, labels)
    assert not outcome.failed
    assert {place.need["id"]: place.place for place in outcome.places} == {
        "n1": NEVER,
        "n2": STORED,
        "n3": WAITING,
        "n4": NEVER,
    }
    assert [(row["session"], row["text"], row["sources"]) for row in outcome.known] == [(2, CENTS, [0])]


async def test_prompts_are_handed_over_and_what_no_hook_hears_of_waits(folder: Path, labels: Labels) -> None:
    refusal = f"The user doesn't want to proceed with this tool use. To tell you how, the user said:\n{CENTS}"
    rows = (
        typed("10:00", "From now on, run the linter before every commit."),
        used("10:01", "Edit", "t1", file_path="/home/dev/made-up/a.py"),
        result("10:02", "t1", refusal, failed=True),
        answered("10:03", "Understood."),
    )
    plan = [write_session(folder, "one", "10:00", "10:05", rows), write_session(folder, "two", "10:10", "10:20", ())]
    (folder / "plan.json").write_text(json.dumps(plan))
    wanted = replace(labels, needs=tuple(need | {"session": 1} for need in labels.needs[:1]))
    outcome = await replayed(read_history(folder), wanted)
    assert [row["text"] for row in outcome.known] == ["From now on, run the linter before every commit."]
    assert [(place.place, place.reason) for place in outcome.places] == [(WAITING, WITH_REFUSAL)]


async def test_what_was_given_says_which_sessions_it_came_from(history: History, labels: Labels) -> None:
    outcome = await replayed(history, labels)
    [row] = [row for row in outcome.given if not row["text"].startswith("- ")]
    assert CENTS in row["text"]
    assert (row["session"], row["sources"], row["moment"]) == (2, [0], "start")
    told = [(row["session"], row["sources"]) for row in outcome.given if row["text"].startswith("- ")]
    # The first session had fallen silent when the second began. The third is on another branch.
    assert told == [(1, [0])]


async def test_a_second_replay_gives_the_same(history: History, labels: Labels) -> None:
    first, second = await replayed(history, labels), await replayed(history, labels)
    assert (first.given, first.known, first.captured) == (second.given, second.known, second.captured)


@pytest.mark.parametrize(
    ("variant", "sure", "wanted", "known"),
    [
        ("reviewed", 1.0, True, [CENTS, PROXY]),
        ("reviewed", 0.0, False, [CENTS]),
        ("all", 1.0, True, [CENTS]),
        ("all", 0.0, False, [CENTS, PROXY]),
        ("unattended", 0.0, True, [CENTS]),
    ],
)
async def test_what_waits_is_approved_as_the_variant_says(
    history: History,
    labels: Labels,
    monkeypatch: pytest.MonkeyPatch,
    variant: str,
    sure: float,
    wanted: bool,
    known: list[str],
) -> None:
    monkeypatch.setattr("bench.replay.run.SURE", sure)
    confirming = labels if wanted else replace(labels, needs=labels.needs[:2])
    outcome = await replayed(history, confirming, variant)
    assert sorted(row["text"] for row in outcome.known) == sorted(known)


async def test_what_nobody_reviews_expires_on_the_replayed_clock(history: History, labels: Labels) -> None:
    start = history.sessions[2].start + 9 * 86_400
    late = replace(history.sessions[2], start=start, end=start + 60, lines=())
    outcome = await replayed(History(history.name, [*history.sessions[:2], late]), labels)
    [proxy] = [place for place in outcome.places if place.need["id"] == "n3"]
    assert (proxy.place, proxy.reason.partition(":")[0]) == (DISCARDED, "expired")  # after a week unreviewed


def test_the_table_says_where_the_knowledge_of_each_need_was(labels: Labels) -> None:
    given = {"history": "made-up", "session": 2, "moment": "start", "text": CENTS, "sources": [0]}
    needs = {need["id"]: need for need in labels.needs}
    found = [Place(needs["n1"], NEVER, ""), Place(needs["n2"], STORED, ""), Place(needs["n3"], WAITING, "origin")]
    outcome = Outcome("made-up", given=[given], places=[*found, Place(needs["n4"], DISCARDED, "too weak")])
    table = {line[:20].strip(): line[20:].split() for line in report.places([outcome])}
    assert table[""] == ["all", "decision", "failure", "finding"]
    assert table["served"] == ["0.5", "17%", "0.5", "0.0", "0.0"]  # one of the two sessions that needed it
    assert table["never a candidate"] == ["0.5", "17%", "0.5", "0.0", "0.0"]
    assert table["waiting"] == ["1.0", "33%", "0.0", "0.0", "1.0"]
    assert table["discarded"] == ["1.0", "33%", "0.0", "1.0", "0.0"]
    assert [line.split() for line in report.reasons([outcome])] == [
        ["discarded", "1.0", "too", "weak"],
        ["waiting", "1.0", "origin"],
    ]


def test_what_is_given_too_late_or_by_no_earlier_session_serves_nothing(labels: Labels) -> None:
    need = labels.needs[1]
    given = {"session": 2, "moment": "start", "text": CENTS, "sources": [0]}
    assert report.is_served([given], need)
    assert not report.is_served([given | {"moment": "prompt"}], need)
    assert not report.is_served([given | {"sources": [2]}], need)
    assert not report.is_served([given | {"session": 1}], need)


@pytest.mark.parametrize(
    ("places", "best"),
    [
        ((WAITING, STORED), STORED),
        ((DISCARDED, UNCONFIRMED, WAITING), UNCONFIRMED),
        ((DISCARDED, WAITING), WAITING),
        ((DISCARDED,), DISCARDED),
        ((), NEVER),
    ],
)
def test_the_best_place_counts(places: Sequence[str], best: str) -> None:
    items = [Item(number, place, CENTS, (0,)) for number, place in enumerate(places)]
    known = Knowledge({}, [*items, Item(9, STORED, CENTS, (2,))])  # of the session itself, so not from before
    assert known.look_up([["integer cents"]], 2)[0] == best


async def test_sources_are_those_of_repetitions_and_merges(app: App, project: Project) -> None:
    numbers = {"one": 0, "two": 1, "three": 2}
    async with app.database.write() as tx:
        for sid in numbers:
            await sessions.record_activity(tx, sid, project.id, 1.0, transcript="", cwd="")
        stays = await memories.insert(tx, make_memory(CENTS, project_id=project.id, session_id="three"))
        gone = await memories.insert(tx, make_memory("We store cents.", project_id=project.id, session_id="one"))
        await merges.merge(tx, gone, stays, 0.9)
    known = await knowledge(app.database, numbers)
    assert known.memories[stays.id].sources == (0, 2)
    assert (known.memories[gone.id].place, known.memories[gone.id].reason) == (DISCARDED, "merged")


def test_a_context_is_cut_into_its_memories() -> None:
    hits = [
        Hit(make_memory(CENTS, id=7, rationale="Floats drift."), 1.0, 1.0),
        Hit(make_memory("Use [8] tabs.", id=8), 1.0, 1.0),
    ]
    context = rules.compose(hits, rules.Budget(500, 5000, 5), "", ["The last session was interrupted."])
    found = list(given_texts(context.text))
    assert [number for number, _ in found] == [7, 8, None]
    assert [word in text for (_, text), word in zip(found, ("drift", "tabs", "interrupted"), strict=True)] == [True] * 3


def test_everything_of_ours_reads_the_clock() -> None:
    """Also what functions import later, and what reads dates."""
    moment = datetime(2026, 3, 2, tzinfo=UTC).timestamp()
    with wholly_on(Clock(moment)):
        read = {
            name: vars(import_module(name)) for name in ("subconscious.app.work", "subconscious.store.vectors.table")
        }
        assert [module["time"]() for module in read.values()] == [moment, moment]
        assert vars(commands)["datetime"].now(UTC).timestamp() == moment
    assert all(module["time"] is time.time for module in read.values())
    assert vars(commands)["datetime"] is datetime


def test_the_naive_strategy_gives_what_is_nearest_once(history: History) -> None:
    texts = {CENTS: (0,), PROXY: (0,), "The logo is blue.": (1,)}
    items = [Item(number, WAITING, text, sources) for number, (text, sources) in enumerate(texts.items())]
    [prompt] = [event for event in history.events() if event.session == 2 and event.name == "UserPromptSubmit"]
    embedder = LocalEmbedder()
    naive = Naive(lambda text: embedder.embed([text])[0], best=1)
    known = Knowledge({}, items)
    assert naive.choose(known, prompt) == [(CENTS, (0,))]
    assert CENTS not in [text for text, _ in naive.choose(known, prompt)]
    assert [len(naive.choose(known, prompt)) for _ in range(2)] == [1, 0]  # no more than a session's first prompts


SCORER = """
import json, sys
rows = [json.loads(line) for line in open(sys.argv[sys.argv.index("--given") + 1])] if "--given" in sys.argv else []
shares = dict.fromkeys(("served", "served_by_value", "needed", "fair", "misleading", "known"), 0.5)
counts = {"sessions_helped": 1, "sessions_with_needs": 2, "distinct": 3, "items_a_session": len(rows) / 3}
print(json.dumps(shares | counts | {"tokens_a_session": 7, "by_source": {"decision": "1 of 2"}}))
"""


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_command_scores_and_writes_what_was_given(history: History, labels: Labels, tmp_path: Path) -> None:
    (tmp_path / "scorer.py").write_text(SCORER)
    files = {"--eval": tmp_path / "scorer.py", "--out": tmp_path / "given", "--known": tmp_path / "known"}
    options = [str(part) for pair in files.items() for part in pair]
    command = [sys.executable, "-m", "bench.replay", str(tmp_path), str(tmp_path / "labels.jsonl"), *options]
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run([*command, "--verbose"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert {"Replay of made-up (3 sessions); unattended: nobody reviews"} <= set(done.stdout.splitlines())
    assert "n4 failure at start: never a candidate: the failure" in done.stdout
    given = [json.loads(line) for line in files["--out"].read_text().splitlines()]
    assert any(CENTS in row["text"] and row["sources"] == [0] for row in given)
    assert f"{len(given) / 3:.1f}" in done.stdout
    assert [json.loads(line)["text"] for line in files["--known"].read_text().splitlines()] == [CENTS]
