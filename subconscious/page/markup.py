"""The text of memories as HTML: text in backticks becomes code, everything else is escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from subconscious.domain.model import CLAUDE_NOTE
from subconscious.text.quoting import visible
from subconscious.text.words import cut

FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)\n?^[ \t]*```[ \t]*$\n?", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
"""Matches code between the same number of backticks on both sides."""

LONGEST_STATEMENT = 300
"""The most characters of a memory's text that a list or a heading shows."""


def statement(memory: Mapping[str, Any]) -> str:
    """Return the text of a memory in one line, cut at a word; for an agent's own note, its summary."""
    is_note = memory.get("extractor") == CLAUDE_NOTE
    text = memory["summary"] if is_note else memory.get("content") or memory["summary"]
    return cut(one_line(text), LONGEST_STATEMENT)


def one_line(text: str) -> str:
    """Return a text in one line: the part before the first code block; all of a text that begins with a code block."""
    before, *more = FENCED.split(text)
    return " ".join((before if before.strip() else " ".join(more)).split())


def inline(text: str) -> Markup:
    """Return a text as HTML in which words in backticks are code."""
    prose, *rest = QUOTED.split(text)
    shown = [escape(visible(prose))]
    # After the first part: backticks, code, prose, and so on.
    for code, after in zip(rest[1::3], rest[2::3], strict=True):
        shown += [_code(code.strip()), escape(visible(after))]
    return Markup().join(shown)


def blocks(text: str) -> Markup:
    """Return a text as HTML in which fenced blocks are blocks of code, and words in backticks are code."""
    parts = FENCED.split(text)
    return Markup().join(_block(part) if place % 2 else _prose(part) for place, part in enumerate(parts))


def _code(text: str) -> Markup:
    return Markup("<code>{}</code>").format(visible(text))


def _block(text: str) -> Markup:
    # The block can be scrolled, so it must be reachable with the keyboard.
    return Markup('<pre tabindex="0"><code>{}</code></pre>').format(visible(text))


def _prose(text: str) -> Markup:
    return Markup('<p class="content">{}</p>').format(inline(text.strip("\n"))) if text.strip() else Markup()


FILTERS = {"blocks": blocks, "inline": inline, "one_line": one_line, "statement": statement}
"""The filters of the templates, by name."""
