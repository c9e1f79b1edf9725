"""BERT's uncased tokenizer: converts a text to the ids of word pieces.

It returns the same ids as ``BertNormalizer``, ``BertPreTokenizer`` and ``WordPiece`` of the `tokenizers` package
(Devlin et al. 2018, https://github.com/google-research/bert, tokenization.py), without its 30 MB of dependencies. There
are two differences: "[SEP]" and similar words in a text are text, not control tokens; and combining marks added to
Unicode since 2015, which the reference doesn't know, are recognised.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
CONTINUES = "##"
LONGEST_WORD = 100
"""The most characters of a word; a longer word becomes one unknown token."""

SIGMA = "\N{GREEK SMALL LETTER SIGMA}"

CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),  # 0x2B820 would be right; the reference has this value, and the ids must agree
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Code points of ideographs, each of which is a separate word."""


class _Table(dict[int, str]):
    """A table for ``str.translate`` that computes each character's replacement when first needed."""

    def __init__(self, replacement: Callable[[str], str]) -> None:
        super().__init__()
        self._replacement = replacement

    def __missing__(self, point: int) -> str:
        self[point] = replacement = self._replacement(chr(point))
        return replacement


def _clean(character: str) -> str:
    """Return a character's replacement: a space for whitespace, "" for control characters, spaces around ideographs."""
    if character in "\t\n\r":
        return " "
    if character in "\0\ufffd" or unicodedata.category(character) in {"Cc", "Cf", "Co"}:
        return ""
    if character.isspace():
        return " "
    point = ord(character)
    return f" {character} " if any(low <= point <= high for low, high in CJK) else character


def _split(character: str) -> str:
    """Return "" for an accent (a combining mark), punctuation between spaces, and other characters unchanged."""
    category = unicodedata.category(character)
    if category == "Mn":
        return ""
    return f" {character} " if category[0] == "P" or _ascii_symbol(character) else character


def _ascii_symbol(character: str) -> bool:
    return "!" <= character <= "~" and not character.isalnum()


CLEANED = _Table(_clean)
SPLIT = _Table(_split)


def words_of(text: str) -> list[str]:
    """Return the words and punctuation marks of a text, in lower case and without accents."""
    decomposed = unicodedata.normalize("NFD", text.translate(CLEANED))
    # Python gives a sigma at a word's end its final form; the reference lower-cases letter by letter.
    return decomposed.translate(SPLIT).replace("\N{GREEK CAPITAL LETTER SIGMA}", SIGMA).lower().split()


class WordPiece:
    """A tokenizer with a vocabulary: the id of a piece is its index."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: index for index, piece in enumerate(vocabulary)}
        self._longest = max(map(len, vocabulary))
        self._unknown = self._ids[UNKNOWN]

    def encode(self, text: str, limit: int) -> list[int]:
        """Return the ids of a text's pieces between the ids of [CLS] and [SEP]; at most ``limit`` ids in all."""
        ids = [self._ids[START]]
        for word in words_of(text):
            ids += self._pieces(word)
            if len(ids) >= limit:
                break
        return [*ids[: limit - 1], self._ids[END]]

    def _pieces(self, word: str) -> list[int]:
        """Return the ids of the longest pieces from left to right, or the unknown token if a part is not a piece."""
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        ids = list(self._greedy(word))
        return [self._unknown] if self._unknown in ids else ids

    def _greedy(self, word: str) -> Iterator[int]:
        start = 0
        while start < len(word):
            prefix = CONTINUES if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    yield piece
                    start = end
                    break
            else:
                yield self._unknown
                return


@cache
def bert_uncased() -> WordPiece:
    """Return the tokenizer of bert-base-uncased; MiniLM has the same vocabulary of 30,522 pieces."""
    return WordPiece(vocabulary())


def forget() -> None:
    """Free the memory of the vocabulary (4 MB); the next text loads it again."""
    bert_uncased.cache_clear()
    vocabulary.cache_clear()


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the pieces by id: control pieces, punctuation and letters, then words, the most frequent word first."""
    text = (resources.files(__package__) / "vocab.txt").read_text(encoding="utf-8")
    return tuple(text.rstrip("\n").split("\n"))
