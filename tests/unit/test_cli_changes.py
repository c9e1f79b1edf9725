"""What the terminal shows before changes are taken back."""

from __future__ import annotations

import pytest

from cli import origin
from cli.__main__ import main
from subconscious.home import Home
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
    assert ("memory 4" in shown, "memory 2" in shown, "was merged into what goes" in shown) == (bool(follows),) * 3
