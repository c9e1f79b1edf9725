"""Each ``except Exception`` says why it has to be broad: in its line, or in the first line of its block."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    path for folder in ("bench", "cli", "daemon", "hooks", "subconscious") for path in (ROOT / folder).rglob("*.py")
]
NO_REASON = re.compile(r"#\s*noqa(?:: \w+)?\s*$")


def _broad(source: str) -> Iterator[ast.ExceptHandler]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type
            if caught is None or (isinstance(caught, ast.Name) and caught.id in ("Exception", "BaseException")):
                yield node


def _has_reason(handler: ast.ExceptHandler, lines: list[str]) -> bool:
    """Whether there is a comment from the handler's line to its first two lines."""
    near = lines[handler.lineno - 1 : handler.lineno + 2]
    return any("#" in NO_REASON.sub("", line) for line in near)


def _without_reason(path: Path) -> Iterator[str]:
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    for one in _broad(source):
        if not _has_reason(one, lines):
            yield f"{path.relative_to(ROOT)}:{one.lineno}"


def test_a_broad_except_has_its_reason() -> None:
    assert [place for path in FILES for place in _without_reason(path)] == []


def test_a_bare_one_is_found() -> None:
    source = "try:\n    pass\nexcept Exception:  # noqa: BLE001\n    pass\n"
    (found,) = _broad(source)
    assert not _has_reason(found, source.splitlines())
