"""Short excerpts of tool calls: their target, errors, test results, short edits.

They give context and can't be quoted as evidence, because much of their text comes from files and programs. Every text
is redacted as a whole before it is shortened: half a secret would not be recognised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath

from subconscious.transcripts.records import Record, blocks, joined_text, string

LONGEST_OUTPUT = 64_000
"""The maximum length of an output that is examined, in characters; the client cuts shell output to half of that."""

LONGEST_ERROR, LONGEST_SUMMARY, LONGEST_CHANGE = 300, 200, 300
"""The maximum lengths, in characters, of an excerpt of an error, of a test result, and of an edit."""

MOST_USES = 6
"""The maximum number of tool calls of one turn that are included."""

_LONGEST_LINE = 200
_ERROR = re.compile(
    r"\b(?:\w*error|\w*exception|fatal|panic\w*|fail(?:ed|ure|s)?|not found|no such|denied|refused|cannot|can't"
    r"|could not|unable|undefined|unexpected|invalid|unknown|timed? ?out|assert\w*)\b",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"^\W*(?:\d+ (?:passed|failed|skipped|errors?|tests?|passing|failing|examples?)\b|Tests?:\s|Test Suites:\s"
    r"|test result:|Ran \d+ tests?|Tests run:|FAILED\b|PASSED\b)|[,;(]\s*\d+ (?:passed|failed)\b",
    re.IGNORECASE,
)

Clean = Callable[[str], str]


def of_results(results: Iterable[Record], names: list[str], clean: Clean) -> str:
    """Return excerpts of a tool's results: the lines of an error, or the result of a test run."""
    excerpts = (_of_result(block, name, clean) for block, name in zip(results, names, strict=True))
    return "\n".join(filter(None, excerpts))


def _of_result(block: Record, name: str, clean: Clean) -> str:
    failed = block.get("is_error") is True
    if not failed and name != "Bash":
        return ""
    content = block.get("content")
    text = content if isinstance(content, str) else joined_text(blocks(content))
    if len(text) > LONGEST_OUTPUT:
        return ""
    lines = [" ".join(line.split())[:_LONGEST_LINE] for line in clean(text).splitlines() if line.strip()]
    if failed:
        return _joined([line for line in lines if _ERROR.search(line)] or lines[-2:], LONGEST_ERROR)
    return _joined([line for line in lines if _SUMMARY.search(line)][-3:], LONGEST_SUMMARY)


def _joined(lines: Iterable[str], longest: int) -> str:
    return " | ".join(dict.fromkeys(lines))[:longest]


def of_uses(uses: Iterable[Record], cwd: str, clean: Clean) -> str:
    """Return excerpts of an assistant's tool calls: files, searches, short edits; commands are handled elsewhere."""
    excerpts = [line for use in uses if (line := _of_use(use, cwd, clean))]
    return "\n".join(excerpts[:MOST_USES])


def _of_use(use: Record, cwd: str, clean: Clean) -> str:
    name = string(use, "name")
    match name:
        case "Read" | "Write":
            return f"{name} {_path(use, 'file_path', cwd, clean)}"
        case "NotebookEdit":
            return f"{name} {_path(use, 'notebook_path', cwd, clean)}"
        case "Edit" | "MultiEdit":
            return f"{name} {_path(use, 'file_path', cwd, clean)}{_change(use, clean)}"
        case "Grep" | "Glob":
            pattern = " ".join(clean(string(use, "input", "pattern")).split())[:_LONGEST_LINE]
            return f"{name} {pattern!r} {_path(use, 'path', cwd, clean)}".rstrip()
        case _:
            return ""


def _path(use: Record, key: str, cwd: str, clean: Clean) -> str:
    path = clean(string(use, "input", key))[:_LONGEST_LINE]
    try:
        return str(PurePath(path).relative_to(cwd)) if path and cwd else path
    except ValueError:
        return path


def _change(use: Record, clean: Clean) -> str:
    """Return an edit as text; "" if it is too long to be shown completely."""
    parts = list(_sides(use, clean))
    return f": {' '.join(parts)}" if parts and sum(map(len, parts)) <= LONGEST_CHANGE else ""


def _sides(use: Record, clean: Clean) -> Iterator[str]:
    for mark, key in (("-", "old_string"), ("+", "new_string")):
        text = string(use, "input", key)
        if text := " ".join(clean(text).split()) if len(text) <= LONGEST_OUTPUT else text:
            yield f"{mark} {text}"
