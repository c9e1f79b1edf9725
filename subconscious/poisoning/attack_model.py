"""A small linear model that estimates from a text's words, word pairs and word classes whether it is an attack.

``bench/poison_train.py`` trains its weights. The model only flags texts; it never blocks them.
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
"""The lowest probability at which a text is flagged (level medium)."""

DOUBTS = 0.55
"""The lowest probability at which a text is doubtful (level low)."""

_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
"""Characters of Chinese, Japanese, Korean and Thai: each is a token, because spaces don't separate all words."""

_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]{{1,24}}(?:'[a-z]{{1,3}})?|\d{{1,12}}|[@!?:<>#\[\]{{}}$|`\"]")
_MOST_TOKENS = 250

_READ = 4000
"""The number of characters at the beginning of a text that the model reads."""

_COMMENT = re.compile(r"[ \t]*(?:#+|//+!?|--+|\*+/?|>+|<!--|/\*+|;+|%+|\"{3}|'{3})[ \t]?")
"""Matches the mark that begins a line of a comment, a quotation or a heading."""

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
"""Patterns for addresses and paths, each with the word that replaces every match, because each text has its own."""


def named_alike(text: str) -> str:
    """Return a text's first 4,000 characters in lower case, with each address and path replaced by a fixed word."""
    text = text[:_READ].lower()
    for pattern, word in _NAMES:
        text = pattern.sub(word, text)
    return text


def features(text: str) -> Iterator[str]:
    """Yield the features of a text: words, word pairs, first words, classes. All numbers count as the same word."""
    text = named_alike(text)
    found = ["0" if token[0].isdigit() else token for token in _TOKEN.findall(text)][:_MOST_TOKENS]
    yield from found
    for left, right in pairwise(found):
        yield f"{left} {right}"
    yield f"^{' '.join(found[:1])}"
    yield f"^{' '.join(found[:2])}"
    yield from class_features(text)


def places(text: str) -> list[int]:
    """Return the indexes of a text's features in the table of weights, each index once."""
    return hashed(features(text), SIZE)


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each part of a text that is judged separately: a sentence together with the next one.

    An order may hide in a README, a comment or an error message, where the surrounding words would outweigh it.
    Sentences of different paragraphs are not paired, nor is a comment with the code beside it.
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
    """Yield the start and end of each run of non-blank lines that are either all comments or all other text."""
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
    """Return the highest probability of an attack among a text and its passages, and that part's start and end."""
    plain = without_marks(text[:_READ])
    parts = ((probability(plain[start:end]), start, end) for start, end in passages(text))
    return max([(probability(text), 0, len(text)), *parts])


def without_marks(text: str) -> str:
    """Return a text with the marks that begin comment lines replaced by spaces, so that its length stays the same."""
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
