"""The names that packages export: each exists, and is used outside of its package."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEARCHED = ("subconscious", "cli", "daemon", "bench", "tests")


def _module(path: Path) -> ModuleType:
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))


@cache
def _texts() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for name in SEARCHED for path in (ROOT / name).rglob("*.py")}


EXPORTING = sorted(
    path for path, text in _texts().items() if "\n__all__ = " in text and path.is_relative_to(ROOT / "subconscious")
)


@pytest.mark.parametrize("path", EXPORTING, ids=lambda path: str(path.relative_to(ROOT)))
@pytest.mark.slow
def test_exported_names_exist_and_are_used_elsewhere(path: Path) -> None:
    module = _module(path)
    exported = module.__all__
    assert len(set(exported)) == len(exported)
    assert [name for name in exported if not hasattr(module, name)] == []
    home = path.parent if path.name == "__init__.py" else path
    others = "\n".join(text for other, text in _texts().items() if not other.is_relative_to(home))
    assert [name for name in exported if not re.search(rf"\b{re.escape(name)}\b", others)] == []
