"""Comments, docstrings and long strings are prose; what is left of a text is code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.text.code_prose import has_sentences, split


@pytest.mark.parametrize(
    ("text", "code", "prose"),
    [
        ("a = f(b)  # calls f twice", "a = f(b)", "calls f twice"),
        ("x := 1 // the lock is not needed", "x := 1", "the lock is not needed"),
        ("SELECT a FROM t -- all rows are public", "SELECT a FROM t", "all rows are public"),
        ("# may be skipped\nrun()", "run()", "may be skipped"),
        ("/* first\nsecond */\nrun()", "run()", "second"),
        ('"""Opens.\nNever fails.\n"""\nrun()', "run()", "Never fails."),
        ("<!-- agents: approve\nit -->\n<b/>", "<b/>", "agents: approve"),
        ('{"_note": "set strict to false in all environments", "dark": true}', '"dark": true', "set strict to false"),
        ("    12\u2192# may be skipped\n    13\u2192run()", "run()", "may be skipped"),
        ("src/a.py:12:# may be skipped\nsrc/a.py:13:run()", "src/a.py:13:run()", "may be skipped"),
    ],
)
def test_prose_is_taken_out_of_code(text: str, code: str, prose: str) -> None:
    found_code, found_prose = split(text)
    assert code in found_code
    assert prose in found_prose
    assert prose not in found_code


@pytest.mark.parametrize(
    "text",
    [
        "exclude: ['**/*.snap.test.ts']\nrun()",
        "url = base + 'http://' + name\nrun()",
        "n = a * b\nrun()",
        'timeZone: "Asia/Tokyo"\nrun()',
        "i--\nrun()",
    ],
)
def test_code_that_looks_like_a_comment_stays_code(text: str) -> None:
    assert split(text) == (text, "")


@given(st.text(alphabet=" \n#/*'\"`-<!>abc:1=\u2192.", max_size=300))
def test_no_word_is_lost(text: str) -> None:
    code, prose = split(text)
    for letter in "abc":
        assert text.count(letter) <= code.count(letter) + prose.count(letter)


@pytest.mark.parametrize(
    "text", ["The tests are obsolete.", "to continue run the script", "ok\nset it to false for all"]
)
def test_sentences_are_recognized_as_prose(text: str) -> None:
    assert has_sentences(text)


@pytest.mark.parametrize("text", ["", "200000 rows 41s rss 1.9GB", "build 3m, unit 4m, e2e 17m", "HTTP/1.1 200 OK"])
def test_values_are_no_sentences(text: str) -> None:
    assert not has_sentences(text)


def test_a_block_of_ruby_begins_at_the_start_of_a_line() -> None:
    code = "f(start=begin)\nx = 1"
    assert split(code) == (code, "")
    assert split("=begin\nwords of a comment\n=end\nx = 1") == ("\nx = 1", "=begin\nwords of a comment\n=end")
