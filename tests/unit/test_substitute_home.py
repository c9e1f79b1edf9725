"""What users read if their state folder can't be used and memories go to a temporary one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli import ask as asking
from cli.__main__ import main
from hooks import environment
from subconscious.settings import substitute_home
from subconscious.settings.home import Home
from subconscious.settings.substitute_home import Substitution, substitution
from tests.support.cli_answers import ANSWERS
from tests.support.stub_daemon import answering


def found(tmp_path: Path) -> Substitution | None:
    environ = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    return substitution(tmp_path / f"subconscious-{os.getuid()}", environ)


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".subconscious").write_text("")
    replaced = found(tmp_path)
    assert replaced is not None
    assert "(it is not a folder)" in replaced.note
    assert f"now go to {tmp_path}/subconscious-" in replaced.note
    assert "Earlier memories" not in replaced.note
    assert replaced.remedy == f"mv {tmp_path}/.subconscious /var/tmp/"


ANOTHER = 1234
"""The user id of somebody else."""


def owned_by(monkeypatch: pytest.MonkeyPatch, owners: dict[Path, int], me: int) -> None:
    """Have the user ``me`` find these owners of folders; all other folders belong to root."""

    def status(path: Path) -> SimpleNamespace:
        if not os.path.lexists(path):
            raise FileNotFoundError(path)
        return SimpleNamespace(st_mode=0o40700, st_uid=owners.get(path, 0))

    monkeypatch.setattr(Path, "stat", lambda path, **_: status(path))
    monkeypatch.setattr(os, "getuid", lambda: me)


@pytest.mark.parametrize(("me", "remedy"), [(7, "sudo chown -hR 7 "), (0, "run it as that user")])
def test_a_folder_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, me: int, remedy: str) -> None:
    (tmp_path / ".subconscious").mkdir()
    owned_by(monkeypatch, {tmp_path: me, tmp_path / ".subconscious": ANOTHER}, me)
    replaced = found(tmp_path)
    assert replaced is not None
    assert "(it belongs to another user)" in replaced.note
    assert f"Earlier memories are untouched in {tmp_path}/.subconscious." in replaced.note
    assert replaced.remedy.startswith(remedy)


@pytest.mark.parametrize("home", ["/", "/nonexistent", "/usr", "/usr/missing"])
def test_a_system_folder_is_never_given_to_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    owned_by(monkeypatch, {}, 7)
    replaced = substitution(tmp_path / "subconscious-7", {"HOME": home, "TMPDIR": str(tmp_path)})
    assert replaced is not None
    assert "belongs to another user" in replaced.reason
    assert replaced.remedy == "export SUBCONSCIOUS_HOME=/var/tmp/subconscious-7"


def test_the_state_folder_in_the_home_of_another_user_is_left_to_that_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".subconscious").mkdir()
    owned_by(monkeypatch, {tmp_path: ANOTHER, tmp_path / ".subconscious": ANOTHER}, 7)
    replaced = found(tmp_path)
    assert replaced is not None
    assert replaced.remedy == "export SUBCONSCIOUS_HOME=/var/tmp/subconscious-7"


@pytest.mark.parametrize(("flag", "reason"), [(os.ST_RDONLY, "it is on a read-only file system"), (0, "may not write")])
def test_a_folder_that_can_not_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flag: int, reason: str
) -> None:
    (tmp_path / ".subconscious").mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=flag))
    replaced = found(tmp_path)
    assert replaced is not None
    assert reason in replaced.note


def test_nothing_is_said_of_a_folder_that_can_be_used_or_was_chosen(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    (tmp_path / ".subconscious").write_text("")
    assert substitution(tmp_path / "chosen", {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}) is None


REPLACED = Substitution(Path("/home/dev/.subconscious"), Path("/tmp/s-1"), "it is not a folder", "mv it")


@pytest.mark.parametrize("command", ["list", "search cents", "recall cents"])
def test_empty_results_say_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.setattr(substitute_home, "substitution", lambda _: REPLACED)
    empty = {"list": {"memories": [], "total": 0}, "search": {"hits": []}, "recall": {"text": "", "hits": []}}
    with answering(Home(tmp_path), monkeypatch, ANSWERS | empty):
        assert main(command.split()) == 0
    assert "Earlier memories" not in (shown := " ".join(capsys.readouterr().out.split()))
    assert "/home/dev/.subconscious can't be used (it is not a folder)" in shown
    assert asking.home().root == tmp_path


def test_the_first_session_in_the_temporary_folder_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SUBCONSCIOUS_HOME", raising=False)
    monkeypatch.setattr(environment, "_start_maker", lambda _: None)
    told = json.loads(environment.bring_up(str(tmp_path / "other")))["systemMessage"]
    assert f"{tmp_path}/.subconscious can't be used, so memories go to {tmp_path}/other" in told
    assert "can't be used" not in environment.bring_up(str(tmp_path / ".subconscious"))
