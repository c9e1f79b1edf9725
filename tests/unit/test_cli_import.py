"""`subconscious import` as a person meets it: what it shows first, what it asks, how it stops."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli import imports, origin, progress
from cli.__main__ import main
from cli.progress import Progress
from subconscious.settings.home import Home
from tests.support.cli_answers import ANSWERS, FATE, FILE
from tests.support.daemons import eventually
from tests.support.shapes import completed
from tests.support.stub_daemon import StubDaemon, answering

NOTE = FILE | {"path": "/home/dev/shop/docs/adr/0001.md", "sort": "note", "bytes": 900}


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubDaemon]:
    with answering(Home(tmp_path), monkeypatch, ANSWERS) as stub:
        yield stub


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the person at the terminal types, in turn."""
    given: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: given.pop(0))
    return given


def sent(daemon: StubDaemon) -> list[str]:
    return [request.cmd for request in daemon.requests]


def asked_to_import(daemon: StubDaemon) -> dict[str, object]:
    """The arguments of the last request to read a file."""
    return dict([request for request in daemon.requests if request.cmd == "import_file"][-1].args)


def test_what_it_will_do_is_shown_first(
    daemon: StubDaemon, answers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    answers.append("n")
    assert main(["import"]) == 0
    shown = capsys.readouterr().out
    assert "1 file, 2.0 MB" in shown
    assert "/home/dev/shop (1)" in shown
    assert "/t/x.jsonl: it is empty" in shown
    assert "Nothing was imported." in shown
    assert sent(daemon) == ["import_plan"]


def test_yes_carries_it_out_in_as_many_batches_as_it_takes(
    daemon: StubDaemon, answers: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers.append("y")
    assert main(["import"]) == 0
    assert sent(daemon) == ["import_plan", "import_file", "status"]
    asked = asked_to_import(daemon)
    assert re.fullmatch("[0-9a-f]{32}", str(asked.pop("act")))
    assert asked == {"transcript": FILE["path"], "origin": "user"}
    shown = capsys.readouterr().out
    assert "subconscious review" in shown
    assert "To undo this import: subconscious undo --event 12" in shown


def test_what_came_in_and_looks_poisoned_is_named(
    daemon: StubDaemon, answers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    why = "1 of them looks poisoned (capture 4: suspicion medium: code injection, it runs the content of a page)"
    daemon.answers["status"] = {"suspicion": why}
    answers.append("y")
    assert main(["import"]) == 0
    assert why in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("second", "vouched"), [("y", True), ("", None)])
def test_notes_count_as_own_words_only_by_a_second_yes(
    daemon: StubDaemon, answers: list[str], second: str, vouched: bool | None
) -> None:
    daemon.answers["import_plan"] = {"files": [NOTE]}
    answers.extend(["y", second])
    assert main(["import"]) == 0
    assert asked_to_import(daemon).get("vouched") is vouched


def test_yes_in_advance_vouches_for_nothing(daemon: StubDaemon) -> None:
    daemon.answers["import_plan"] = {"files": [NOTE]}
    assert main(["import", "--yes"]) == 0
    assert "vouched" not in asked_to_import(daemon)


def test_without_a_person_it_asks_for_yes(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import"]) == 1
    assert "--yes" in capsys.readouterr().err
    assert sent(daemon) == ["import_plan"]


def test_json_alone_is_a_look(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["bytes"] == 2_000_000
    assert sent(daemon) == ["import_plan"]


def test_the_model_may_not_import(daemon: StubDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin, "inside_client", lambda: True)
    assert main(["import", "--yes"]) == 1
    assert sent(daemon) == []


def test_an_interrupt_keeps_what_was_read_and_says_so(
    daemon: StubDaemon, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = completed("import_plan", {"files": [FILE, FILE | {"path": "/t/y.jsonl"}]})
    fates = iter([FATE])

    def ask_once(cmd: str, *_: object, **__: object) -> object:
        if cmd == "import_plan":
            return plan
        try:
            return next(fates)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(imports, "ask", ask_once)
    assert main(["import", "--yes"]) == 130
    shown = capsys.readouterr().out
    assert "run the same command to continue" in shown
    assert re.search(r"turns +\d", shown)


def test_a_path_that_is_not_there_is_named(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "/no/such/place"]) == 1
    assert "/no/such/place" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_drawn_on_a_terminal_and_wiped_at_the_end() -> None:
    stream = Terminal()
    with Progress("Importing", 200, stream=stream) as bar:
        bar.advance(100, "a\x1b[31m.jsonl")
        bar.advance(100, "b.jsonl")
    drawn = stream.getvalue()
    assert " 50% " in drawn
    assert "100% " in drawn
    assert "\x1b[31m" not in drawn
    assert drawn.endswith("\r\x1b[K")


@pytest.mark.parametrize(("total", "line"), [(100, "Importing: 40% done"), (0, "Importing (0 s)")])
def test_elsewhere_a_line_is_printed_now_and_then(monkeypatch: pytest.MonkeyPatch, total: int, line: str) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.02)
    stream = io.StringIO()
    with Progress("Importing", total, stream=stream) as shown:
        for _ in range(40):
            shown.advance(1)
        assert eventually(lambda: line in stream.getvalue().splitlines())
    assert len(stream.getvalue().splitlines()) < 40
    printed = stream.getvalue()
    time.sleep(0.1)
    assert stream.getvalue() == printed


def test_work_without_a_total_shows_the_time_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "REDRAWN_SECONDS", 0.02)
    stream = Terminal()
    with Progress("Looking", stream=stream):
        assert eventually(lambda: stream.getvalue().count("Looking (0 s)") > 2)
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_json_is_printed_without_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.01)
    stream = Terminal()
    with Progress("Looking", shown=False, stream=stream) as shown:
        shown.advance(1)
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_files_that_cannot_be_read_are_not_called_imported(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answers["import_plan"] = {
        "files": [FILE | {"path": "/t/x.jsonl", "sort": "foreign", "reason": "it is empty"}]
    }
    assert main(["import"]) == 0
    shown = capsys.readouterr().out
    assert "There is nothing to import here." in shown
    assert "imported already" not in shown


def test_what_waits_in_other_projects_only_is_named(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.answers["status"] = completed("status", {"review": 0, "review_everywhere": 2})
    assert main(["import", "--yes"]) == 0
    assert "To decide: subconscious review --everywhere" in capsys.readouterr().out


def test_the_progress_advances_with_each_batch_of_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = iter([FATE | {"position": 500_000, "more": True}, FATE])
    monkeypatch.setattr(imports, "ask", lambda *_, **__: next(batches))
    stream, (file,) = Terminal(), completed("import_plan", {"files": [FILE]})["files"]
    with Progress("Importing", FILE["bytes"], stream=stream) as shown:
        assert len(list(imports._read(file, None, False, "", shown))) == 2
    drawn = [line.split("] ")[1] for line in stream.getvalue().split("\r\x1b[K") if "] " in line]
    assert [*dict.fromkeys(drawn)][1:] == [f"{part} 944588c1.jsonl (2.0 MB)" for part in ("  0%", " 25%", "100%")]


def test_prices_are_left_out_if_all_is_imported(daemon: StubDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    offer = {"provider": "openai", "model": "m", "configured": False, "cost": 1.0, "batch": None, "most": 1.0}
    model = completed("import_plan", {})["model"] | {"sessions": 1, "offers": [offer]}
    daemon.answers["import_plan"] = {"files": [FILE | {"read": FILE["bytes"]}], "model": model}
    assert main(["import"]) == 0
    shown = capsys.readouterr().out
    assert "imported already" in shown
    assert "model" not in shown
