"""Who may know whom: what each room may import of ours (docs/architecture.md), held by reading the imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "subconscious"
PURE = {
    *("decay", "errors", "graph", "home", "kinds", "link_types", "model", "promote", "quoting", "reasons", "settings"),
    *("extras", "git_command", "git_files", "json_bounds", "ownership", "programs", "provider_table", "safe_files"),
    "settings_file",
    *("text", "trust", "tuning"),
}
GROUND = {"claude_files", "client", "embeddings", "prompts", "providers", "redaction", "store", "transcripts"}
WORKSHOP = {"capture", "failures", "files", "links", "llm", "poisoning", "repute", "search", "sources", "standings"}
SHOWS = {"consolidate", "doctor", "restore", "review", "rollback", "summaries", "surfacing"}
LAYERS = (PURE, {"projects"}, GROUND, WORKSHOP, SHOWS, {"flow", "friction", "rendering"}, {"refining"})
"""From the ground up. A room sees those below it; the pure ones see each other too."""

# `__version__` belongs to everybody.
FREE = {"subconscious"}
CLI_MAY = {
    *("client", "demo", "doctor", "errors", "home", "programs", "quoting", "restore", "safe_files", "settings"),
    *("extras", "files", "projects", "settings_file"),
}


def _room(path: Path, root: Path) -> str:
    return path.relative_to(root).parts[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[str]:
    """Full names of all that a file imports, wherever in the file, also for types alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _known(path: Path) -> set[str]:
    """The rooms of the library that a file imports from; `subconscious` for the package's own names."""
    parts = [name.split(".") for name in _imports(path) if name.split(".")[0] == "subconscious"]
    rooms = {part[1] if len(part) > 1 else "subconscious" for part in parts}
    return {"subconscious" if name.startswith("__") else name for name in rooms}


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _below(room: str) -> set[str]:
    level = next(number for number, rooms in enumerate(LAYERS) if room in rooms)
    allowed = set().union(*LAYERS[:level], {room})
    return allowed | PURE


def test_every_room_of_the_library_has_its_layer() -> None:
    rooms = {_room(path, LIBRARY) for path in _files(LIBRARY)} - {"__init__", "demo"}
    assert rooms == set().union(*LAYERS)


@pytest.mark.parametrize("path", _files(LIBRARY), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_library_looks_downwards_only(path: Path) -> None:
    room = _room(path, LIBRARY)
    if room not in {"__init__", "demo"}:
        assert _known(path) <= _below(room) | FREE


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
            assert not _statements(path), f"{path} holds SQL"


def _statements(path: Path) -> list[str]:
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [text for text in texts if text.startswith(("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "PRAGMA "))]
