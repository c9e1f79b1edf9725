"""Mutation test: change one place of the code at a time and run the tests that cover it.

    python -m bench.mutants [--count 40] [--seed 1] [--tree DIR] [--only NAME...] [--seconds 240]

The places are chosen by the hash of their words, room by room, so that the same faults are made in another version of
the code (``--tree``), whatever was inserted elsewhere. Tests run in a copy of the tree; nothing is written to it.
A mutant that survives is either the same program in other words or a missing test.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("subconscious", "daemon", "cli", "hooks")
SKIPPED = ("subconscious/demo", "hooks/maker.py", "hooks/interpreters.py", "hooks/environment.py")
"""What only tests of whole machines cover, which take minutes."""

LEFT_OUT = ("client", "model", "fuzz", "serial")
"""Markers of tests that are not run."""

MOST_FILES = 8
"""Test files that name a mutant's module and are run in addition to those of its room."""

COVERED_BY = {
    "daemon": ["tests/daemon/test_sessions.py", "tests/daemon/test_review.py"],
    "hooks": ["tests/unit/test_hooks_drop.py", "tests/unit/test_hooks_ask.py", "tests/unit/test_hooks_wake.py"],
    "cli/tools": ["tests/unit/test_mcp_tools.py", "tests/daemon/test_mcp.py"],
    "cli": ["tests/unit/test_cli.py", "tests/unit/test_cli_upkeep.py"],
    "subconscious/authorship": ["tests/daemon/test_forgery.py", "tests/unit/test_attested.py"],
    "subconscious/capture": ["tests/unit/test_capture_structure.py", "tests/unit/test_offline.py"],
    "subconscious/doctor": ["tests/unit/test_doctor.py"],
    "subconscious/history": ["tests/daemon/test_changes.py", "tests/daemon/test_sessions.py"],
    "subconscious/links": ["tests/unit/test_links.py", "tests/unit/test_found.py", "tests/daemon/test_links.py"],
    "subconscious/llm": [
        *("tests/unit/test_llm_client.py", "tests/unit/test_llm_limits.py"),
        *("tests/contract/test_providers.py", "tests/contract/test_provider_wires.py"),
    ],
    "subconscious/memories": ["tests/daemon/test_changes.py", "tests/daemon/test_purge.py"],
    "subconscious/poisoning": ["tests/unit/test_poisoning_rules.py", "tests/unit/test_poisoning_gate.py"],
    "subconscious/recall": ["tests/unit/test_recall.py", "tests/unit/test_fusion.py", "tests/unit/test_flow.py"],
    "subconscious/redaction": ["tests/unit/test_redaction.py"],
    "subconscious/review": ["tests/daemon/test_review.py"],
    "subconscious/sessions": ["tests/unit/test_flow.py", "tests/daemon/test_sessions.py"],
    "subconscious/store": ["tests/unit/test_store.py", "tests/unit/test_links_store.py"],
    "subconscious/supersession": ["tests/unit/test_flow.py", "tests/daemon/test_merging.py"],
    "subconscious/surfacing": ["tests/unit/test_surfacing.py", "tests/unit/test_surfacing_rules.py"],
    "subconscious/transcripts": ["tests/unit/test_transcripts.py"],
    "subconscious": [],
}
"""Test files that exercise a room without naming each of its modules."""

ALSO = {
    "hooks/greet.py": ["tests/daemon/test_mcp_greeter.py"],
    "subconscious/memories/fading_api.py": ["tests/daemon/test_fading.py"],
    "subconscious/privacy/api.py": ["tests/daemon/test_purge.py"],
    "subconscious/sharing/receiving.py": ["tests/team/test_exchange.py"],
    "subconscious/store/team/": ["tests/team/test_exchange.py"],
    "subconscious/store/vectors/": ["tests/contract/test_vector_index.py"],
}
"""Test files that exercise a part of a room, and do not say so by a name or an import."""

FLIPS = {"==": "!=", "!=": "==", "<=": "<", ">=": ">", "<": "<=", ">": ">=", "in": "not in", "not in": "in"}
FLIPS |= {"is": "is not", "is not": "is"}
SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}


@dataclass(frozen=True)
class Mutant:
    """One change of one line: columns ``start`` to ``end`` of it become ``text``."""

    path: str
    line: int
    start: int
    end: int
    text: str
    before: str

    @property
    def name(self) -> str:
        """Its identifier in every version of the code."""
        return hashlib.sha256(f"{self.path}|{self.before.strip()}|{self.start}|{self.text}".encode()).hexdigest()[:8]

    @property
    def after(self) -> str:
        """The line as it becomes."""
        return self.before[: self.start] + self.text + self.before[self.end :]


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """All mutants of a file."""
    lines = source.split("\n")
    for body in ast.walk(ast.parse(source)):
        if not isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for statement in body.body:
            for node in ast.walk(statement):
                for start, end, text in _changes(node, lines):
                    yield Mutant(path, _line(node), start, end, text, lines[_line(node) - 1])


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _changes(node: ast.AST, lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Columns of a node's line and their replacements. Lines that are not ASCII are skipped."""
    line = lines[_line(node) - 1]
    if not _line(node) or getattr(node, "end_lineno", 0) != _line(node) or not line.isascii():
        return
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign = SIGNS[type(node.ops[0])]
        yield from _replaced(line, node.left, sign, FLIPS[sign])
    elif isinstance(node, ast.BoolOp):
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        yield from _replaced(line, node.values[0], *words)
    elif isinstance(node, (ast.stmt, ast.Constant, ast.UnaryOp)):
        yield from _emptied(node, line)


def _replaced(line: str, left: ast.expr, word: str, other: str) -> Iterator[tuple[int, int, str]]:
    """Another operator behind an operand."""
    place = line.find(f" {word} ", left.end_col_offset or 0) + 1
    if place:
        yield place, place + len(word), other


def _emptied(node: ast.stmt | ast.Constant | ast.UnaryOp, line: str) -> Iterator[tuple[int, int, str]]:
    """Another constant, no negation, nothing returned, nothing called."""
    start, end = node.col_offset, node.end_col_offset or 0
    match node:
        case ast.Constant(value=bool() as value):
            yield start, end, str(not value)
        case ast.Constant(value=int() as value):
            yield start, end, str(value + 1)
        case ast.UnaryOp(op=ast.Not()):
            yield start, start + len("not "), ""
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield start, end, "return None"
        case ast.Expr(value=called) if _is_call(called) and not line.strip().startswith("log."):
            yield start, end, "pass"


def _is_call(node: ast.expr) -> bool:
    return isinstance(node.value if isinstance(node, ast.Await) else node, ast.Call)


def room_of(path: str) -> str:
    """The room of a file, as named in COVERED_BY."""
    return next(room for room in COVERED_BY if path.startswith(f"{room}/"))


def chosen(tree: Path, count: int, seed: int) -> list[Mutant]:
    """That many mutants, evenly from all rooms."""
    rooms: dict[str, dict[str, Mutant]] = {room: {} for room in COVERED_BY}
    for room in ROOMS:
        for file in sorted((tree / room).rglob("*.py")):
            path = str(file.relative_to(tree))
            if not path.startswith(SKIPPED):
                found = mutants_of(path, file.read_text(encoding="utf-8"))
                rooms[room_of(path)].update({mutant.name: mutant for mutant in found})
    shuffled = [sorted(found.values(), key=lambda mutant: _rank(mutant, seed)) for found in rooms.values()]
    return [mutant for turn in zip_longest(*shuffled) for mutant in turn if mutant][:count]


def _rank(mutant: Mutant, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}|{mutant.name}".encode()).digest()


def tests_of(tree: Path, path: str) -> list[str]:
    """Test files that cover a file: those that import it, the unit tests first, then those of its room."""
    module = path.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")
    word = re.compile(rf"\b{re.escape(module)}\b|from {re.escape(package)} import [^\n]*(\([^)]*)?\b{name}\b")
    folders = ("unit", "migrations", "contract", "daemon")
    files = [file for folder in folders for file in sorted((tree / "tests" / folder).glob("test_*.py"))]
    # A test file is named after its subject, or imports it.
    called = [file for file in files if re.search(rf"_{name.rstrip('s')}s?(_|\b)", file.stem)]
    naming = [file for file in files if word.search(file.read_text(encoding="utf-8"))]
    found = [str(file.relative_to(tree)) for file in (*called, *naming)]
    of_room = [file for file in COVERED_BY[room_of(path)] if (tree / file).exists()]
    also = [file for part, files in ALSO.items() if path.startswith(part) for file in files]
    return list(dict.fromkeys([*also, *found[:MOST_FILES], *of_room])) or ["tests/unit"]


def copied(tree: Path, folder: Path) -> Path:
    """A copy of what git knows of a tree, and of its environment."""
    listed = ["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(listed).decode().split("\0"):
        if name and (tree / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, folder / name)
    return folder


def fate(tree: Path, mutant: Mutant, seconds: float) -> str:
    """Whether the tests detect a mutant: killed, survived, or the reason why it is unknown."""
    file = tree / mutant.path
    source = file.read_text(encoding="utf-8")
    lines = source.split("\n")
    lines[mutant.line - 1] = mutant.after
    file.write_text("\n".join(lines), encoding="utf-8")
    known = (tree / "pyproject.toml").read_text(encoding="utf-8")  # another version may have fewer markers
    fast = " and ".join(f"not {marker}" for marker in LEFT_OUT if f'"{marker}: ' in known)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", fast]
    try:
        done = subprocess.run(
            [*command, *tests_of(tree, mutant.path)], cwd=tree, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return "time-out"
    finally:
        file.write_text(source, encoding="utf-8")
    # 2: a module can't even be imported any more.
    return {0: "survived", 1: "killed", 2: "killed", 5: "no tests"}.get(done.returncode, "no run")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--count", type=int, default=40)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--tree", type=Path, default=ROOT)
    words.add_argument("--only", nargs="*", default=[], metavar="NAME")
    words.add_argument("--seconds", type=float, default=240.0, help="for the tests of one mutant")
    options = words.parse_args()
    fates: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(options.tree.resolve(), Path(folder))
        for mutant in chosen(tree, options.count, options.seed):
            if options.only and mutant.name not in options.only:
                continue
            begun = time.monotonic()
            result = fate(tree, mutant, options.seconds)
            fates[result] = fates.get(result, 0) + 1
            place = f"{mutant.path}:{mutant.line}"
            print(f"{mutant.name}  {result:<8}  {time.monotonic() - begun:5.0f} s  {place}", flush=True)
            print(f"    - {mutant.before.strip()}\n    + {mutant.after.strip()}", flush=True)
    print(", ".join(f"{number} {result}" for result, number in fates.items()))


if __name__ == "__main__":
    main()
