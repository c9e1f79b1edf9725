"""Programs come from folders that only this user and root can change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from hooks import programs as theirs
from subconscious.system import ownership, programs

SOMEBODY_ELSE = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir(mode=0o755)
    (folder / "tool").write_text("#!/bin/sh\n")
    (folder / "tool").chmod(0o755)
    return folder


@pytest.fixture
def known(tools: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder is the only one that programs are looked for in."""
    monkeypatch.setattr(programs, "PLACES", (str(tools),))
    forget()
    yield tools
    monkeypatch.undo()
    programs.choose_program("tool", "")
    forget()


def forget() -> None:
    programs.find_program.cache_clear()
    programs.safe_folders.cache_clear()


def found() -> str:
    forget()
    return programs.find_program("tool")


def test_a_program_is_found_where_it_is_installed(known: Path) -> None:
    assert found() == str(known / "tool")
    assert programs.find_program("nothing") == ""


def test_a_path_of_the_environment_is_not_searched(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tools))
    assert found() == ""
    assert str(tools) not in programs.safe_path()


@pytest.mark.parametrize("place", ["", "tool", ".."])
def test_what_everybody_can_write_is_not_run(known: Path, place: str) -> None:
    (known / place).chmod(0o777)
    assert found() == ""


@needs_root
@pytest.mark.parametrize("place", ["", "tool", ".."])
def test_what_another_user_owns_is_not_run(known: Path, place: str) -> None:
    os.chown(known / place, SOMEBODY_ELSE, SOMEBODY_ELSE)
    assert found() == ""


@needs_root
def test_what_a_group_of_others_can_write_is_not_run(known: Path) -> None:
    os.chown(known, -1, SOMEBODY_ELSE)
    known.chmod(0o775)
    assert found() == ""


@needs_root
def test_a_link_is_as_safe_as_its_target(known: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (known / "tool").rename(elsewhere / "tool")
    (known / "tool").symlink_to(elsewhere / "tool")
    assert found() == str(known / "tool")
    os.chown(elsewhere, SOMEBODY_ELSE, SOMEBODY_ELSE)
    assert found() == ""


def test_a_chosen_program_is_used_while_it_can_be_trusted(known: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    programs.choose_program("tool", str(other))
    assert programs.find_program("tool") == str(other)
    other.chmod(0o777)
    assert found() == ""
    programs.choose_program("tool", "")
    assert programs.find_program("tool") == str(known / "tool")


@needs_root
def test_a_chosen_link_is_as_safe_as_its_folder(known: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "link").symlink_to(known / "tool")
    programs.choose_program("tool", str(elsewhere / "link"))
    assert found() == str(elsewhere / "link")
    os.chown(elsewhere, SOMEBODY_ELSE, SOMEBODY_ELSE)
    assert found() == ""


def test_folders_of_version_managers_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, age in (("v20.1.0", 10), ("v9.9.9", 100)):
        (tmp_path / ".nvm/versions/node" / name / "bin").mkdir(parents=True)
        os.utime(tmp_path / ".nvm/versions/node" / name / "bin", (age, age))
    for place in (".local/bin", ".volta/bin", ".pyenv/shims"):
        (tmp_path / place).mkdir(parents=True)
    for module in (programs, theirs):
        monkeypatch.setattr(module, "_home", lambda: str(tmp_path))
        module.safe_folders.cache_clear()
        mine = [folder for folder in module.safe_folders("") if folder.startswith(str(tmp_path))]
        names = [os.path.relpath(folder, tmp_path) for folder in mine]
        node = [f".nvm/versions/node/{version}/bin" for version in ("v9.9.9", "v20.1.0")]
        assert names == [".local/bin", ".volta/bin", *node, ".pyenv/shims"]
        module.safe_folders.cache_clear()


def test_of_a_path_only_folders_of_root_are_taken(tools: Path) -> None:
    with mock.patch("os.geteuid", return_value=12345):
        programs.safe_folders.cache_clear()
        ours = programs.safe_folders(f"/usr/share:relative::{tools}:/usr/lib")
    programs.safe_folders.cache_clear()
    assert "/usr/share" in ours
    assert "/usr/lib" in ours
    assert "relative" not in ours
    assert "" not in ours
    if tools.stat().st_uid != 0:
        assert str(tools) not in ours


def test_the_hooks_have_the_same_rules(tools: Path) -> None:
    assert theirs.PLACES == programs.PLACES
    for path in ("", os.environ.get("PATH", ""), f"{tools}:/usr/share"):
        assert theirs.safe_folders(path) == programs.safe_folders(path)
    for mode in (0o755, 0o775, 0o777, 0o700):
        tools.chmod(mode)
        for place in (tools, tools / "tool", tools / "nowhere"):
            assert theirs.is_trusted(place) == ownership.is_trusted(place)
            assert theirs.is_roots(place) == ownership.is_roots(place)
