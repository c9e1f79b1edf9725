"""What the terminal shows before changes are taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli import changes, origin, wording
from cli.__main__ import main
from subconscious.settings.home import Home
from tests.support.stub_daemon import StubDaemon
from tests.support.values import NOON

STEP = {"id": 3, "action": "create", "subject": "memory", "subject_id": "3", "about": "We store amounts as cents."}
ACT = {"id": 3, "at": NOON, "actor": "user", "reason": "", "steps": [STEP | {"before": {}, "after": {}}]}
FOLLOWS = {"fallen": [{"id": 4, "about": "All of it."}], "revived": [{"id": 2, "about": "Amounts are\x1b[2J cents."}]}


@pytest.mark.parametrize("follows", [FOLLOWS, {}], ids=["all of it", "a daemon of before"])
def test_what_goes_and_comes_back_with_it_is_shown(
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    follows: dict[str, list[dict[str, object]]],
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    monkeypatch.setattr(origin, "inside_client", lambda: False)
    with StubDaemon(home, {"undo_acts": {"acts": [ACT], "done": False} | follows}):
        assert main(["undo"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "\x1b" not in shown
    assert "Nothing was changed." in shown
    assert ("memory 4" in shown, "memory 2" in shown, "was merged into one of these" in shown) == (bool(follows),) * 3


def test_words_that_were_typed_are_not_called_the_daemons(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    monkeypatch.setattr(origin, "inside_client", lambda: False)
    learned = ACT | {"actor": "daemon", "speaker": "user"}
    event = STEP | {"at": NOON, "actor": "daemon", "speaker": "user", "reason": "", "change": False}
    with StubDaemon(home, {"undo_acts": {"acts": [learned], "done": False}, "history": {"events": [event]}}) as stub:
        assert main(["undo", "--learned"]) == 0
        assert "This would undo what the daemon stored from what you typed" in " ".join(capsys.readouterr().out.split())
        assert main(["history"]) == 0
        assert "by the daemon, from what you typed" in " ".join(capsys.readouterr().out.split())
    assert stub.requests[0].args["daemon"]


def test_only_this_projects_changes_are_meant_unless_all_are(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    monkeypatch.setattr(origin, "inside_client", lambda: False)
    with StubDaemon(home, {"undo_acts": {"acts": [], "done": False}, "history": {"events": []}}) as stub:
        for words in (["undo"], ["history"]):
            assert main(words) == 0
            assert main([*words, "--everywhere"]) == 0
    assert ["cwd" in request.args for request in stub.requests] == [True, False] * 2
    assert "nothing to undo in this project" in capsys.readouterr().out


def test_what_was_judged_again_is_told_in_words(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    event = STEP | {"at": NOON, "actor": "daemon", "reason": "", "change": False, "subject": "rejudged"}
    with StubDaemon(home, {"history": {"events": [event | {"after": {"stored": 2, "waiting": 1, "discarded": 0}}]}}):
        assert main(["history"]) == 0
    assert "waiting captures judged again: 2 stored, 1 waiting" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("action", "reason", "shown"),
    [
        ("archive", "refined:", "(refined)"),
        ("archive", "refined: shorter", "(refined: shorter)"),
        ("undo", "event 455 (create)", "(to undo change 455)"),
        ("undo", "event 455 (create): wrong one", "(to undo change 455: wrong one)"),
    ],
)
def test_the_reason_of_a_change_reads_like_one(
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    action: str,
    reason: str,
    shown: str,
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    event = {"id": 9, "at": NOON, "actor": "user", "action": action, "subject": "memory", "subject_id": "3"}
    event |= {"session_id": None, "reason": reason, "before": None, "after": None, "about": "", "change": True}
    with StubDaemon(home, {"history": {"events": [event]}}):
        assert main(["history"]) == 0
    assert shown in " ".join(capsys.readouterr().out.split())


def test_every_change_of_a_capture_has_a_name_for_users() -> None:
    package = Path(wording.__file__).parents[1] / "subconscious"
    sources = "".join(path.read_text() for path in package.rglob("*.py"))
    actions = set(re.findall(r'\bchange\(tx, "([a-z-]+)"', sources))
    assert {"bind", "retired", "judged"} <= actions
    assert {action for action in actions if ("capture", action) not in wording.DONE} == set()


SHOWN = [
    ("memory", {"archived_at": NOON}, {"archived_at": NOON + 31}, ""),
    ("memory", {"archived_at": None, "content_hash": "a"}, {"archived_at": NOON, "content_hash": "b"}, "is archived"),
    ("memory", {"archived_at": NOON}, {"archived_at": None}, "is brought back"),
    ("memory", {"pinned": 0, "text_terms": "a"}, {"pinned": 1, "text_terms": "b"}, "is pinned"),
    (
        "capture",
        {"status": "approved", "decided_at": NOON},
        {"status": "review", "decided_at": None},
        "approved -> review",
    ),
    ("capture", {"memory_id": 2, "merged": 1}, {"memory_id": None, "merged": 0}, ""),
    ("settings", {"half_lives": "a"}, {"half_lives": "b"}, "half_lives: a -> b"),
]


@pytest.mark.parametrize(("subject", "before", "after", "shown"), SHOWN)
def test_only_columns_that_mean_something_are_shown(
    subject: str, before: dict[str, object], after: dict[str, object], shown: str
) -> None:
    lines = list(changes._changed_columns(before, after, full=False, subject=subject))
    assert len(lines) == bool(shown)
    assert shown in "".join(lines)
    assert len(list(changes._changed_columns(before, after, full=True))) == len(after)


def test_a_long_act_is_not_listed_whole(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    monkeypatch.setattr(origin, "inside_client", lambda: False)
    steps = [STEP | {"subject_id": str(number), "before": {}, "after": {}} for number in range(200)]
    with StubDaemon(home, {"undo_acts": {"acts": [ACT | {"steps": steps}], "done": False}}):
        assert main(["undo", "--event", "3"]) == 0
    shown = capsys.readouterr().out
    assert "and 180 more changes: subconscious history --event 3" in shown
    assert len(shown.splitlines()) < 50
