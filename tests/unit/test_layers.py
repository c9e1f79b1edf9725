"""The order of the rooms (docs/architecture.md), checked by reading the imports."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "subconscious"
ORDER = (
    *("domain", "text", "decay", "system", "extras", "settings", "clients", "wire", "transcripts", "store", "context"),
    *("redaction", "claude_files", "llm", "calibration", "embeddings", "poisoning", "failures", "recall", "framing"),
    *("claude_notes", "app", "authorship", "links", "sessions", "supersession", "capture", "imports", "memories"),
    *(
        "files",
        "sharing",
        "team",
        "surfacing",
        "consolidation",
        "history",
        "review",
        "knowledge",
        "privacy",
        "upkeep",
        "doctor",
        "page",
    ),
    *("slash_commands", "hook_responses", "demo"),
)
"""From the ground up. A room imports from the rooms before it."""

UPWARD: dict[tuple[str, str], int] = {}
"""Imports that point up, with how many modules they connect. There are none, and there shall be none."""

STATEMENTS = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "PRAGMA ")

# `__version__` belongs to everybody.
FREE = {"subconscious"}
CLI_MAY = {
    "clients",
    "demo",
    "doctor",
    "domain",
    "extras",
    "files",
    "settings",
    "sharing",
    "system",
    "text",
    "upkeep",
    "wire",
}


def _room(path: Path, root: Path) -> str:
    return path.relative_to(root).parts[0].removesuffix(".py")


@cache
def _contents(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the full names of all that a file imports, wherever and for whatever purpose, and its SQL statements."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return tuple(_imported(nodes)), tuple(text for text in texts if text.startswith(STATEMENTS))


def _imported(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _imports(path: Path) -> tuple[str, ...]:
    return _contents(path)[0]


def _known(path: Path) -> set[str]:
    """The rooms of the library that a file imports from; `subconscious` for the package's own names."""
    parts = [name.split(".") for name in _imports(path) if name.split(".")[0] == "subconscious"]
    rooms = {part[1] if len(part) > 1 else "subconscious" for part in parts}
    return {"subconscious" if name.startswith("__") else name for name in rooms}


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _imported_modules(path: Path) -> set[str]:
    """Modules of the library that a file imports: `from a import b` counts once, as `a.b` or as `a`."""
    return {_module(name) for name in _imports(path) if name.startswith("subconscious.") and "__" not in name}


@cache
def _module(name: str) -> str:
    """The module that a full name is, or lies in."""
    path = ROOT.joinpath(*name.split("."))
    return name if path.is_dir() or path.with_suffix(".py").is_file() else name.rpartition(".")[0]


def test_every_room_of_the_library_has_its_place() -> None:
    assert {_room(path, LIBRARY) for path in _files(LIBRARY)} - {"__init__"} == set(ORDER)


def test_imports_point_down() -> None:
    place = {room: number for number, room in enumerate(ORDER)}
    upward = Counter(
        (room, other)
        for path in _files(LIBRARY)
        if (room := _room(path, LIBRARY)) in place
        for module in _imported_modules(path)
        if place.get(other := module.split(".")[1], -1) > place[room]
    )
    assert upward == UPWARD


@pytest.mark.parametrize("path", _files(ROOT / "cli"), ids=lambda path: path.name)
def test_the_terminal_speaks_through_the_client(path: Path) -> None:
    assert _known(path) <= CLI_MAY | FREE


@pytest.mark.parametrize("path", _files(ROOT / "hooks"), ids=lambda path: path.name)
def test_hooks_know_nothing_of_ours(path: Path) -> None:
    assert _known(path) == set()


@pytest.mark.parametrize("folder", ["cli", "daemon", "hooks", "subconscious"])
def test_nothing_imports_the_faces(folder: str) -> None:
    """Within the wheel they have other names, so siblings import each other relatively (hooks run as scripts)."""
    faces = {"cli", "daemon", "hooks"} - {folder if folder == "hooks" else ""}
    for path in _files(ROOT / folder):
        for name in _imports(path):
            package, *inner = name.split(".")
            assert package not in faces, f"{path} imports {name}"
            assert not {"cli", "daemon"} & set(inner[:1]), f"{path} imports {name}"


def test_only_the_store_speaks_sql() -> None:
    for path in [*_files(LIBRARY), *_files(ROOT / "daemon"), *_files(ROOT / "cli")]:
        if _room(path, LIBRARY if path.is_relative_to(LIBRARY) else ROOT) != "store":
            assert not _contents(path)[1], f"{path} holds SQL"
