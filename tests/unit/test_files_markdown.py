"""Notes of an export, read by a real Markdown parser (CommonMark) with Obsidian's links between notes."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from subconscious.files.folder import open_folder
from subconscious.files.record import LinkTo, Record
from subconscious.files.vault import update
from tests.support.records import make_record, texts

UIDS = [digit * 32 for digit in "abcd"]
WIKI_LINK = re.compile(r"\[\[([^\]|\n]+)(?:\|([^\]\n]+))?\]\]")
MARKUP = {"html_block", "html_inline", "image"}
"""What must not come from a memory: Obsidian would fetch the pictures."""

HOSTILE = (
    "See [[nowhere]] | [x] #1",
    "# not a heading",
    "<img src=x onerror=alert(1)>",
    "![[embedded]] and ![picture](http://example.com/x.png)",
    "1. use `pnpm`\n\n    indented\n\n```\nfence",
    "---\nid: 7\n---",
    "\\![picture](http://example.com/x.png) \\[[gone]] \\\\[[gone]] \\<b>bold</b>\n\\# no heading",
    "a *b* _c_ [link](javascript:alert(1)) <https://example.com>",
)


def _wiki_link(state: StateInline, silent: bool) -> bool:
    found = WIKI_LINK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("wiki_link", "", 0).meta = {"target": found[1]}
    state.pos = found.end()
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").use(front_matter_plugin)
    parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    return parser


def _tokens(file: Path) -> Iterator[Token]:
    for token in _parser().parse(file.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def _shown(tokens: list[Token]) -> list[Token]:
    """The tokens without our comment, which keeps the exact record."""
    return [one for one in tokens if not (one.type == "html_block" and one.content.startswith("<!-- "))]


def _export(folder: Path, contents: list[str]) -> None:
    links = [
        LinkTo(target=uid, type="SUPPORTS", status="active", confidence=1, created_by="user", created_at=0)
        for uid in UIDS
    ]
    records: list[Record] = [
        make_record(content, uid, links=tuple(link for link in links if link.target != uid))
        for content, uid in zip(contents, UIDS, strict=False)
    ]
    with open_folder(folder) as opened:
        update(opened, "markdown", records)


def _check(folder: Path) -> int:
    """Assert that all links lead to notes, and that no text became HTML or a picture; return the number of links."""
    files = sorted(folder.rglob("*.md"))
    names = {str(file.relative_to(folder)).removesuffix(".md") for file in files} | {file.stem for file in files}
    number = 0
    for file in files:
        tokens = _shown(list(_tokens(file)))
        assert tokens[0].type == "front_matter", file
        targets = [one.meta["target"] for one in tokens if one.type == "wiki_link"]
        targets += [found[1] for found in WIKI_LINK.finditer(tokens[0].content)]
        assert set(targets) <= names, (file, targets)
        number += len(targets)
        types = {one.type for one in tokens}
        assert types.isdisjoint(MARKUP), (file, types)
    return number


def test_no_link_is_dead_and_no_text_becomes_html_or_a_picture(tmp_path: Path) -> None:
    for number, content in enumerate(HOSTILE):
        folder = tmp_path / str(number)
        _export(folder, [content, "Amounts are integer cents."])
        # One link each as property and in the text, in the lists by kind and by month, and those of the overview.
        assert _check(folder) >= 8


@settings(max_examples=25)
@given(st.lists(texts(), min_size=1, max_size=3))
def test_no_text_becomes_html_or_a_picture(contents: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        _export(Path(place, "vault"), contents)
        _check(Path(place, "vault"))


def test_a_dead_link_would_be_found(tmp_path: Path) -> None:
    _export(tmp_path / "vault", ["Amounts are integer cents."])
    (tmp_path / "vault" / "Other.md").write_text("---\nx: 1\n---\n\n[[gone]]\n")
    with pytest.raises(AssertionError, match="gone"):
        _check(tmp_path / "vault")
