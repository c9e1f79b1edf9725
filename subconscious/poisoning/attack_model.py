"""A small linear model of the probability that a text is an attack, from words, pairs, and classes of words.

``bench/poison_train.py`` makes its weights. It flags texts, and never blocks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise

from subconscious.poisoning.word_classes import class_features
from subconscious.text.linear import hashed, load_model, logistic, scaled_sum

SIZE = 1 << 18
"""The size of the table of hashed features."""

FLAGS = 0.71
"""The probability from which a text is flagged (level medium)."""

DOUBTS = 0.55
"""The probability from which a text is doubtful (level low)."""

_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
"""Chinese, Japanese, Korean and Thai: each character is a token, as words can't be told apart by spaces."""

_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]{{1,24}}(?:'[a-z]{{1,3}})?|\d{{1,12}}|[@!?:<>#\[\]{{}}$|`\"]")
_MOST_TOKENS = 250

_READ = 4000
"""How many characters of a text are looked at."""

_COMMENT = re.compile(r"[ \t]*(?:#+|//+!?|--+|\*+/?|>+|<!--|/\*+|;+|%+|\"{3}|'{3})[ \t]?")
"""What begins a line of a comment, a quotation or a heading."""

_MARKS = re.compile(f"^{_COMMENT.pattern}", re.MULTILINE)
_ENDS = re.compile(r"(?<=[.!?:;])\s+|(?<=[。！？])")  # noqa: RUF001  # full stops of Chinese and Japanese
_SHORTEST = 12
_MOST_PASSAGES = 60

_NAMES = (
    (
        re.compile(
            r"\b[\w.+-]{1,60}@[\w-]{1,60}\.\w{1,20}|\b(?:https?|ftp|git|ssh|s3)://[^\s`'\"<>)]{1,300}"
            r"|\b(?:[\w-]{1,60}\.){1,6}(?:example|test|invalid|internal|com|net|org|io|dev|app|ai|cloud|xyz)\b(?:[:/][^\s`'\"<>)]{0,200})?"
            r"|\b\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d{1,5})?\b"
        ),
        " xhost ",
    ),
    (
        re.compile(
            r"(?<![\w/.@-])[~.]{0,2}/?(?:[\w.@-]{1,60}/){1,12}[\w.@-]{0,60}"
            r"|\b[\w-]{1,60}\.(?:py|ts|js|json|ya?ml|toml|md|sh|tf|go|rb|java|sql|txt|cfg|conf|lock)\b"
        ),
        " xpath ",
    ),
)
"""Patterns for addresses and paths, each with a word that replaces them: a new text has other addresses and paths."""


def named_alike(text: str) -> str:
    """Return the first 4,000 characters in lower case, with one word in place of each address, and one of each path."""
    text = text[:_READ].lower()
    for pattern, word in _NAMES:
        text = pattern.sub(word, text)
    return text


def features(text: str) -> Iterator[str]:
    """Yield the features of a text: words, pairs, first words, classes. All numbers are one word, all addresses too."""
    text = named_alike(text)
    found = ["0" if token[0].isdigit() else token for token in _TOKEN.findall(text)][:_MOST_TOKENS]
    yield from found
    for left, right in pairwise(found):
        yield f"{left} {right}"
    yield f"^{' '.join(found[:1])}"
    yield f"^{' '.join(found[:2])}"
    yield from class_features(text)


def places(text: str) -> list[int]:
    """Return the indexes of a text's features, each once."""
    return hashed(features(text), SIZE)


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are judged on their own, as start and end: each sentence with the next one.

    An order hides in a README, a comment or an error message, and what surrounds it would outweigh its words. Sentences
    of different paragraphs are not put together, nor those of a comment and of the code beside it.
    """
    found = 0
    for start, end in _blocks(text[:_READ]):
        ends = [match.start() for match in _ENDS.finditer(text, start, end)]
        starts = [start, *ends]
        for at, begin in enumerate(starts):
            stop = starts[at + 2] if at + 2 < len(starts) else end
            if stop - begin >= _SHORTEST and (begin, stop) != (0, len(text)):
                yield begin, stop
                found += 1
            if found == _MOST_PASSAGES:
                return


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each run of lines that are all comments or all none, without a blank line."""
    start: int | None = None
    was_comment = False
    at = 0
    for line in text.splitlines(keepends=True):
        mark = _COMMENT.match(line)
        blank = not line[mark.end() if mark else 0 :].strip()
        if start is not None and (blank or bool(mark) != was_comment):
            yield start, at
            start = None
        if start is None and not blank:
            start, was_comment = at, bool(mark)
        at += len(line)
    if start is not None:
        yield start, at


def likeliest(text: str) -> tuple[float, int, int]:
    """Return the highest probability of an attack in a text: of the whole or of a passage; and where that is."""
    plain = without_marks(text[:_READ])
    parts = ((probability(plain[start:end]), start, end) for start, end in passages(text))
    return max([(probability(text), 0, len(text)), *parts])


def without_marks(text: str) -> str:
    """Return a text with spaces in place of the marks that begin the lines of comments; it stays as long."""
    return _MARKS.sub(lambda match: " " * len(match[0]), text)


def probability(text: str) -> float:
    """Return the probability, 0 to 1, that a text, judged as a whole, is an attack."""
    at = places(text)
    if not at:
        return 0.0
    table, bias = load_model("subconscious.poisoning", "attack")
    return logistic(scaled_sum(table, at) + bias)


def weights() -> bytes:
    """Return the shipped file of weights."""
    return files("subconscious.poisoning").joinpath("weights.npz").read_bytes()
