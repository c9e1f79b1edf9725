"""docs/extending.md works: its examples are applied one after another to a copy of the checkout, with their commands.

At the end the types of all changed files are checked, and the tests run that compare lists in the docs with the code.
An example that leaves out a place fails there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = (
    *("bench", "bin", "cli", "daemon", "docs", "hooks", "migrations", "scripts", "skills", "subconscious", "tests"),
    ".claude-plugin",
)
NOT_PRODUCT = ("bench/", "docs/", "tests/")
FILES = {"A kind of memory": 1, "A policy by which memories fade": 1, "An argument of a request": 4}
"""The number of files of the product that examples change; the others change two, as the page says."""
GENERATED = {"plugin.json", ".claude-plugin/plugin.json"}
LISTS = (
    "tests/docs/test_docs.py tests/docs/test_providers_page.py"
    " tests/unit/test_layers.py tests/unit/test_plugin.py tests/unit/test_screens.py"
    " -k 'not links_lead_somewhere'"
)
"""The tests that compare what is listed by hand with the code. Some links lead into bench/data, which is not copied."""
TYPES = os.environ.get("MYPY_CACHE_DIR") or str(ROOT / ".mypy_cache")
"""The checkout's own cache, in which the files of the copy are found: a second instead of half a minute."""
LARGE = 1 << 20
"""Bytes from which a file, a model for instance, is linked instead of copied."""


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A copy of this checkout, and no daemon of it afterwards."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in COPIED:
        skipped = shutil.ignore_patterns("data")
        shutil.copytree(ROOT / name, folder / name, copy_function=_copy, ignore=skipped)
    for file in ROOT.iterdir():
        if file.is_file() and not file.name.startswith(".git"):
            shutil.copy2(file, folder)
    yield folder
    _run(folder, "python -m cli daemon stop")


def _copy(source: str, target: str) -> None:
    if Path(source).stat().st_size > LARGE:
        with suppress(OSError):  # another file system
            os.link(source, target)
            return
    shutil.copy2(source, target)


def _run(checkout: Path, script: str) -> subprocess.CompletedProcess[str]:
    home = checkout.parent / "home"
    home.mkdir(exist_ok=True)
    environment = {
        "HOME": str(home),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "SUBCONSCIOUS_HOME": str(home / "state"),
        "SUBCONSCIOUS_EMBEDDER": "none",
        "MYPY_CACHE_DIR": TYPES,
    }
    command = ["/bin/sh", "-e", "-c", script]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


def _apply(checkout: Path, example: str, diff: str) -> str:
    """Apply a change; return the file that it changes."""
    file = diff.splitlines()[1].removeprefix("+++ b/")
    command = ["git", "apply", "--recount", "-"]
    done = subprocess.run(command, cwd=checkout, input=diff, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        f"the example {example!r} in docs/extending.md no longer applies to {file}: change its diff there;"
        f" if the product now has it, choose another example\n{done.stderr}"
    )
    return file


def _write(checkout: Path, block: str) -> str:
    """Write a new file, whose first line names it; return its name."""
    first, _, content = block.partition("\n")
    name = first.removeprefix("# ")
    (checkout / name).write_text(content, encoding="utf-8")
    return name


def test_the_examples_are_found() -> None:
    assert len(EXAMPLES) == 8
    assert all("```sh" in text and "```text" in text for text in EXAMPLES.values())


@pytest.mark.slow
@pytest.mark.timeout(300)  # up to half a minute alone; it runs other programs, which a busy machine delays
def test_the_examples_work_as_they_are_written(checkout: Path) -> None:
    """One checkout for all: a copy, its types and the tests of its lists take longer than what an example does."""
    changed: set[str] = set()
    for example in EXAMPLES:
        files = _follow(checkout, example)
        product = {name for name in files if not name.startswith(NOT_PRODUCT)} - GENERATED
        assert len(product) == FILES.get(example, 2), (example, product)
        changed |= files
    _succeed(checkout, f"mypy --strict {' '.join(sorted(name for name in changed if name.endswith('.py')))}")
    _succeed(checkout, f"python -m pytest -q -p no:cacheprovider -m 'not slow' {LISTS}")


def _follow(checkout: Path, example: str) -> set[str]:
    """Do what an example says, and compare what its commands print; return the files that it changes by hand."""
    changed: set[str] = set()
    output = ""
    for language, block in BLOCK.findall(EXAMPLES[example]):
        if language == "diff":
            changed.add(_apply(checkout, example, block))
        elif language == "python":
            changed.add(_write(checkout, block))
        elif language == "sh":
            output = _succeed(checkout, block)
        else:
            _assert_in_order(block.splitlines(), output)
    return changed


def _succeed(checkout: Path, script: str) -> str:
    """Run a script; return its output. Fails if the script does."""
    done = _run(checkout, script)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _assert_in_order(lines: list[str], output: str) -> None:
    for line in lines:
        _, found, rest = output.partition(line)
        assert found, f"{line!r} is missing in what follows: {output}"
        output = rest
