"""Limits on the structure of the code, as `python -m bench.structure` counts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import structure
from bench.structure import counts, importers, room, small_modules

LIMITS = {
    "modules of at most 80 lines with one importer": 15,
    "lines of daemon/": 2_500,
    "imports that point up": 0,
    "internal ids": 0,
}
"""Split and merge modules by what they do; these only notice when that is forgotten."""


def test_the_structure_keeps_its_limits() -> None:
    found = counts()
    assert {name: found[name] for name, limit in LIMITS.items() if found[name] > limit} == {}


def test_a_small_module_with_one_importer_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "ROOT", tmp_path)
    room_of_it = tmp_path / "subconscious" / "room"
    room_of_it.mkdir(parents=True)
    small, shared, user, other = (room_of_it / f"{name}.py" for name in ("small", "shared", "user", "other"))
    for path in (small, shared):
        path.write_text("X = 1\n")
    user.write_text("from subconscious.room import small\nfrom subconscious.room.shared import X\n" + "#\n" * 90)
    other.write_text("from subconscious.room.shared import X\n" + "#\n" * 90)
    files = [small, shared, user, other]
    assert importers(files)["subconscious.room.shared"] == {"subconscious.room.user", "subconscious.room.other"}
    assert small_modules(files) == [("subconscious/room/small.py", 1, "subconscious.room.user")]


def test_a_room_is_a_folder_of_the_library_or_a_face() -> None:
    assert [room(file) for file in ("subconscious/app/work.py", "subconscious/claude_notes.py", "cli/ask.py")] == [
        *("app", "claude_notes", "cli"),
    ]
