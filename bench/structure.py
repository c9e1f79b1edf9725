"""Counts the structure of the code: files, lines, small modules, settings, and the files that four requests pass.

python -m bench.structure            the counts, from the text of the code
python -m bench.structure --walks    also the walks: a daemon in this process, with a profiler in each thread
python -m bench.structure --list     name the small modules and the files of each walk
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("subconscious", "cli", "daemon", "hooks")
SMALL = 80
"""Lines below which a module should have a reason to be one."""

ROWS = (
    "subconscious/llm/providers/",
    "subconscious/clients/",
    "subconscious/capture/detectors/",
    "subconscious/page/",
)
"""Folders with one module for each provider, coding agent, detector or part of the page."""

ENTRY_POINTS = ("__init__.py", "__main__.py", "api.py")
"""Modules that are small by their purpose: packages, programs, the requests of a room."""

COMMAND = re.compile(r'"(\w+):\w+"')
"""The function of a command in the terminal: modules with commands are imported when these run."""

INTERNAL_ID = re.compile(r"\b(?:[A-E]\d{1,2}|[UN]\d{1,2}|SPEC)\b")


def product_files() -> list[Path]:
    """Return the Python files that users install."""
    return sorted(path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path) -> Iterator[str]:
    """Yield the full names that a file imports, relative ones resolved."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield from (f"{module}.{alias.name}" for alias in node.names)


def importers(files: list[Path]) -> dict[str, set[str]]:
    """Return which modules import each module of the product."""
    known = {_name(path) for path in files}
    found: dict[str, set[str]] = defaultdict(set)
    for path in files:
        for imported in _imports(path):
            module = imported if imported in known else imported.rpartition(".")[0]
            if module in known and module != _name(path):
                found[module].add(_name(path))
    return found


def small_modules(files: list[Path]) -> list[tuple[str, int, str]]:
    """Return the small modules with a single importer: name, lines, importer."""
    found = importers(files)
    commands = {f"cli.{name}" for path in files for name in COMMAND.findall(path.read_text(encoding="utf-8"))}
    rows: list[tuple[str, int, str]] = []
    for path in files:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        relative = path.relative_to(ROOT).as_posix()
        own = path.name.endswith(ENTRY_POINTS) or relative.startswith(("hooks/", *ROWS)) or _name(path) in commands
        if lines <= SMALL and len(found[_name(path)]) == 1 and not own:
            rows.append((relative, lines, next(iter(found[_name(path)]))))
    return rows


def counts() -> dict[str, int]:
    """Return the counts that need no run."""
    from subconscious.settings.settings import Settings
    from tests.unit.test_layers import UPWARD

    files = product_files()
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    return {
        "files": len(files),
        "lines": sum(len(text.splitlines()) for text in texts.values()),
        f"modules of at most {SMALL} lines with one importer": len(small_modules(files)),
        "lines of daemon/": sum(len(text.splitlines()) for path, text in texts.items() if path.parent.name == "daemon"),
        "settings": len(Settings.model_fields),
        "imports that point up": sum(UPWARD.values()),
        "lines with dict[str, Any]": sum(text.count("dict[str, Any]") for text in texts.values()),
        "internal ids": sum(len(INTERNAL_ID.findall(text)) for text in texts.values()),
    }


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", action="store_true", help="also run the four walks")
    parser.add_argument("--list", action="store_true", help="name the small modules and the files of each walk")
    options = parser.parse_args()
    for label, number in counts().items():
        print(f"{number:>7,} {label}")
    if options.list:
        for name, lines, importer in small_modules(product_files()):
            print(f"        {name} ({lines} lines) <- {importer}")
    if options.walks:
        from bench.structure_walks import walks

        for label, passed in walks().items():
            rooms = {room(file) for file in passed}
            print(f"{len(passed):>7,} files in {len(rooms)} rooms: {label}")
            if options.list:
                print("".join(f"        {file}\n" for file in sorted(passed)), end="")


def room(file: str) -> str:
    """Return the room of a file: a folder of the library, or one of the faces."""
    parts = file.split("/")
    return parts[1].removesuffix(".py") if parts[0] == "subconscious" else parts[0]


if __name__ == "__main__":
    main()
