"""What a memory says, as HTML."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from subconscious.page.markup import blocks, inline, statement
from subconscious.page.memories import likely
from subconscious.page.wording import tone
from subconscious.text.quoting import visible

CODE = "When it fails, run this:\n\n```python\nif row is None:\n    raise ValueError\n```\n\nThen `make resume`."


def test_code_keeps_its_lines_and_its_indentation() -> None:
    assert blocks(CODE) == (
        '<p class="content">When it fails, run this:</p>'
        '<pre tabindex="0"><code>if row is None:\n    raise ValueError</code></pre>'
        '<p class="content">Then <code>make resume</code>.</p>'
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run `make`, then `make test`.", "Run <code>make</code>, then <code>make test</code>."),
        ("Run ```sh make``` now.", "Run <code>sh make</code> now."),
        ("A `tick that does not end", "A `tick that does not end"),
        ("`` a`b ``", "<code>a`b</code>"),
    ],
)
def test_code_is_between_as_many_backticks(text: str, shown: str) -> None:
    assert inline(text) == shown


@given(st.text(alphabet=st.sampled_from("ab `\n<>&\"'é"), max_size=60))
def test_nothing_but_code_and_paragraphs_becomes_an_element(text: str) -> None:
    for shown in (inline(text), blocks(text)):
        assert isinstance(shown, Markup)
        assert set(re.findall(r"<[^>]*>", shown)) <= {
            "<code>",
            "</code>",
            '<pre tabindex="0">',
            "</pre>",
            '<p class="content">',
            "</p>",
        }


@given(st.text(alphabet=st.sampled_from("ab <>&\"'é\u202e"), max_size=60))
def test_a_text_without_code_stays_as_it_is(text: str) -> None:
    assert unescape(inline(text)) == visible(text)


@pytest.mark.parametrize(
    ("memory", "shown"),
    [
        ({"content": "All amounts\nare cents.", "summary": "All…"}, "All amounts are cents."),
        ({"content": CODE, "summary": "When…"}, "When it fails, run this:"),
        ({"content": "```\nmake resume\n```", "summary": "x"}, "make resume"),
        ({"content": "a long note", "summary": "its title", "extractor": "claude-note"}, "its title"),
        ({"content": "word " * 100, "summary": "x"}, f"{'word ' * 58}word…"),
    ],
)
def test_a_list_shows_what_a_memory_says_cut_at_a_word(memory: dict[str, str], shown: str) -> None:
    assert statement(memory) == shown


def hit(relevance: float, *engines: str) -> dict[str, object]:
    return {"relevance": relevance, "engines": [{"engine": name} for name in engines]}


def test_hits_without_the_words_and_little_in_common_are_less_likely() -> None:
    assert likely([]) == 0
    assert likely([hit(0.5, "text"), hit(0.05, "text"), hit(0.3, "vector"), hit(0.05, "vector"), hit(0.01)]) == 3
    assert likely([hit(0.5, "vector"), hit(0.4, "vector")]) == 2


@pytest.mark.parametrize(
    ("subject", "action", "shown"),
    [
        ("memory", "create", "new"),
        ("capture", "approved", "new"),
        ("link", "create", "other"),
        ("memory", "archive", "gone"),
    ],
)
def test_the_timeline_marks_what_is_new_and_what_is_gone(subject: str, action: str, shown: str) -> None:
    assert tone({"subject": subject, "action": action}) == shown
