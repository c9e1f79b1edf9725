"""How an import of files divides its notes into requests, and what it shows of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli import files, files_watch
from cli.__main__ import main
from subconscious.files.reading import Item
from subconscious.settings.home import Home
from subconscious.wire import REQUEST_LIMIT, encode_request
from subconscious.wire.files import PlannedNote
from tests.support.stub_daemon import StubDaemon, answering

NOTE: PlannedNote = {
    "name": "n",
    "state": "new",
    "about": "",
    "id": None,
    "now": "",
    "reason": "",
    "project": "",
    "ends": 0,
}


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubDaemon]:
    with answering(Home(tmp_path / "home"), monkeypatch, {}) as stub:
        yield stub


def test_ten_thousand_notes_are_all_sent_once_in_their_order() -> None:
    items = [Item(str(number), None, f"Rule {number}.") for number in range(10_000)]
    divided = list(files.batches(items))
    assert [item for batch in divided for item in batch] == items
    assert max(len(batch) for batch in divided) <= files.NOTES_PER_REQUEST


def test_no_request_is_larger_than_the_daemon_takes() -> None:
    items = [Item(str(number), None, "\x01\u00e9" * 150_000) for number in range(9)]
    for batch in files.batches(items):
        notes = [item.as_request() for item in batch]
        assert len(encode_request("files_plan", {"notes": notes})) < REQUEST_LIMIT


def test_a_second_note_of_one_memory_is_refused_also_in_another_request(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [NOTE | {"name": name, "state": "restore"} for name in ("a", "b", "c")]
    items = [Item("a", {"uid": "1"}), Item("b", {"uid": "2"}), Item("c", {"uid": "1"})]
    assert [row["state"] for row in files._refuse_duplicates(rows, items)] == ["restore", "restore", "refused"]
    assert rows[2]["reason"] == "it is the same memory as a"


def test_escapes_of_a_hostile_note_reach_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    row = NOTE | {"name": "n\x1b[2J", "about": "x\x1b]0;owned\x07", "reason": "\x9b31m"}
    files.print_preview([row, row | {"state": "refused"}, row | {"state": "edited", "now": "\x1b[2J", "id": 1}])
    files.print_results([{**row, "became": "refused", "memory_id": None}])
    out = capsys.readouterr().out
    assert not set(out) & {"\x1b", "\x07", "\x9b"}


def test_every_edit_is_shown_before_a_person_vouches_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    edits = [
        NOTE | {"state": "edited", "name": f"n{at}", "now": "Use tabs.", "about": f"Rule {at}."} for at in range(30)
    ]
    files.print_preview(edits)
    out = capsys.readouterr().out
    assert all(f"+ Rule {at}." in out for at in range(30))


def test_new_notes_that_are_not_shown_are_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "agreed_to_import", lambda question: False)
    files._vouched([NOTE] * 12)
    assert "2 new notes not shown above" in capsys.readouterr().out
    files._vouched([NOTE] * 10)
    assert "not shown" not in capsys.readouterr().out


def test_notes_for_other_projects_and_ends_of_memories_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "agreed_to_import", lambda question: False)
    foreign = NOTE | {"state": "foreign", "about": "Use tabs."}
    rows = [foreign, foreign | {"project": "shop", "ends": 2}, foreign | {"project": "shop"}]
    rows.append(foreign | {"project": "all projects", "ends": 1})
    files.print_preview(rows)
    out = capsys.readouterr().out
    assert (out.count("for the project shop"), out.count("for all projects")) == (2, 1)
    assert "3 links, corrections and merges between these notes" in out
    files._vouched(rows)
    out = capsys.readouterr().out
    assert "2 of them belong to the project shop." in out
    assert "1 of them belongs to all projects." in out


def test_export_has_no_json_to_watch(daemon: StubDaemon, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["export", "--watch", "--format", "json", "--out", str(tmp_path / "out")]) == 1
    assert "works with Markdown notes only" in capsys.readouterr().err
    assert daemon.requests == []


def test_an_edit_made_just_before_the_folder_is_watched_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    seen = files_watch._Watch(tmp_path, Namespace(), files.Selection(None, False, ()))
    monkeypatch.setattr(seen, "_refresh", lambda: None)
    monkeypatch.setattr(seen, "_ask_about", lambda names: asked.append(list(names)))
    monkeypatch.setattr(files_watch, "ask_page", lambda *_: {"newest": -1})

    def watch(*_: object, **__: object) -> Iterator[set[object]]:
        (tmp_path / "new.md").write_text("A note.")
        yield from (set(), set())

    monkeypatch.setattr(files_watch, "watch", watch)
    seen.run()
    assert asked == [["new.md"], []]
