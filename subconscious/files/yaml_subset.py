"""Reads and writes the subset of YAML that front matter needs: plain keys with scalars or lists of scalars.

A YAML library would be a dependency for a few lines of text, and hostile files exploit YAML's anchors, tags and merges.
Values are written as JSON, which every YAML 1.2 parser reads. The forms that editors write are also read: plain and
quoted scalars, even folded over several lines, and lists in brackets or with a dash on each line. Anything else is
refused with the number of its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

Scalar = str | int | float | bool | None
Value = Scalar | list[Scalar]

MOST_LINES = 2000

_PAIR = re.compile(r"([A-Za-z_][\w -]{0,99}):(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*))?")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?")
_FORBIDDEN = tuple("&*!|>%@`{")
_WORDS: Mapping[str, Scalar] = {"true": True, "false": False, "null": None, "~": None, "": None}
_JSON = json.JSONDecoder()


class FrontMatterError(ValueError):
    """Front matter outside the supported subset; the message names the line."""


def dump(values: Mapping[str, Scalar | Sequence[Scalar]]) -> str:
    """Return the values as YAML, one per line."""
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def load(text: str) -> dict[str, Value]:
    """Return the values of front matter. Raises FrontMatterError for YAML outside the subset."""
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise FrontMatterError(f"the front matter has more than {MOST_LINES} lines")
    found: dict[str, Value] = {}
    open_list: list[Scalar] | None = None
    opened: set[str] = set()
    for number, line in _unfolded(lines):
        item = _ITEM.fullmatch(line)
        if item and open_list is not None:
            open_list.append(_scalar(item[1] or "", number))
            continue
        name, value = _pair(line, number)
        if name in found:
            raise FrontMatterError(f"line {number}: {name} occurs twice")
        if value:
            found[name], open_list = _value(value, number), None
        else:
            found[name] = open_list = []
            opened.add(name)
    return {name: None if name in opened and not value else value for name, value in found.items()}


def _unfolded(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, except empty lines and comments; append indented lines to the line before."""
    whole, first = "", 0
    for number, raw in enumerate(lines, start=2):
        line = raw.rstrip()
        if not line or line.lstrip().startswith("#"):
            continue
        if whole and line[0] in " \t" and not _ITEM.fullmatch(line) and not whole.endswith(":"):
            # A backslash at a line's end joins quoted lines without a space.
            whole = f"{whole[:-1]}{line.lstrip()}" if whole.endswith("\\") else f"{whole} {line.lstrip()}"
            continue
        if whole:
            yield first, whole
        whole, first = line, number
    if whole:
        yield first, whole


def _pair(line: str, number: int) -> tuple[str, str]:
    pair = _PAIR.fullmatch(line)
    if pair is None:
        raise FrontMatterError(f"line {number} does not have the form `name: value`")
    return pair[1], (pair[2] or "").strip()


def _value(text: str, number: int) -> Value:
    if not text.startswith("["):
        return _scalar(text, number)
    try:
        values = json.loads(text)
        if isinstance(values, list) and all(isinstance(one, Scalar) for one in values):
            return values
    except (ValueError, RecursionError):
        if text.endswith("]") and not set(text[1:-1]) & set("\"'{[&*"):
            return [_scalar(part.strip(), number) for part in text[1:-1].split(",") if part.strip()]
    raise FrontMatterError(f"line {number} is not a list of plain values")


def _scalar(text: str, number: int) -> Scalar:
    if text.startswith('"'):
        return _quoted(text, number)
    if text.startswith("'"):
        if len(text) < 2 or not text.endswith("'"):
            raise FrontMatterError(f"line {number}: a quotation mark is missing")
        return text[1:-1].replace("''", "'")
    if text.startswith(_FORBIDDEN) or text.startswith("["):
        raise FrontMatterError(f"line {number}: use only plain values and lists of plain values")
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text) if set(text) & set(".eE") else int(text)
    return text


def _quoted(text: str, number: int) -> str:
    try:
        value, end = _JSON.raw_decode(text)
    except ValueError as error:
        raise FrontMatterError(
            f"line {number}: the quoted value has no closing quotation mark or an invalid backslash (write \\\\ for \\)"
        ) from error
    if not isinstance(value, str) or text[end:].strip():
        raise FrontMatterError(f"line {number}: there is text after a quoted value")
    return value
