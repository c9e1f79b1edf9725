"""Splits text without spaces between words into pairs of letters, so that two texts can be compared."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

_RANGES = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)),  # Thai, Lao, Burmese, Khmer
    *((0x3041, 0x3096), (0x30A1, 0x30FA), (0x30FC, 0x30FE), (0xFF66, 0xFF9D)),  # Japanese
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F)),  # Chinese
    (0xAC00, 0xD7A3),  # Korean: words have spaces between them, but endings vary with their place in the sentence
)
_LETTERS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES)
_MARKS = "".join(
    chr(code) for first, last in _RANGES[:3] for code in range(first, last) if unicodedata.category(chr(code))[0] == "M"
)
"""Signs of vowels and tones, which belong to the letter before them."""

_RUN = re.compile(f"[{_LETTERS}]+")
_LETTER = re.compile(f".[{_MARKS}]*")
_PARTICLES = re.compile("[\u3041-\u3096]+|\u3092.|.\u3092")
"""Pairs of Japanese letters for endings and particles, and pairs with the particle of the object."""

_WORD = re.compile(r"\w+")
_WORD_OR_RUN = re.compile(rf"[{_LETTERS}]+|[^\W{_LETTERS}]+")


def is_unspaced(text: str) -> bool:
    """Whether a text has letters of a language that puts no spaces between words, or of Korean."""
    return not text.isascii() and _RUN.search(text) is not None


def number_of_letters(text: str) -> int:
    """Return how many letters of a text belong to the languages that `is_unspaced` recognises."""
    return 0 if text.isascii() else sum(map(len, _RUN.findall(text)))


def without_runs(text: str) -> str:
    """Return a text with spaces in place of words that `pairs_of` splits."""
    return _RUN.sub(" ", text)


def pairs_of(text: str) -> list[str]:
    """Return the pairs of neighbouring letters in words without spaces between them, except particles and endings."""
    pairs = (pair for run in _RUN.findall(text) for pair in map("".join, pairwise(_LETTER.findall(run))))
    return [pair for pair in pairs if pair not in _GRAMMAR and not _PARTICLES.fullmatch(pair)]


def split(text: str) -> list[str]:
    """Return the words of a text; in place of words without spaces between them, pairs of letters."""
    if not is_unspaced(text):
        return _WORD.findall(text)
    found: list[str] = []
    for word in _WORD_OR_RUN.findall(text):
        found += _pairs(word) if _RUN.match(word) else (word,)
    return found


def _pairs(run: str) -> list[str]:
    letters = _LETTER.findall(run)
    return ["".join(pair) for pair in pairwise(letters)] or letters


_GRAMMAR = frozenset(
    pair
    for word in """
    一个 可以 没有 不是 不再 因为 所以 如果 已经 现在 以及 并且 或者 但是 这个 那个 我们 一個 沒有 因為 已經 現在
    습니다 했습니다 합니다 됩니다 입니다 있습니다 없습니다 도록 으로 에서 하는 하고 해서 되어 때문에 그리고 에도 까지
    การ ความ ของ เป็น ไม่ได้ จาก เมื่อ แล้ว โดย เพื่อ หรือ และ ได้ ให้ ใน ใช้ ที่ ซึ่ง ต้อง สามารถ
    """.split()
    for pair in _pairs(word)
)
"""Pairs of letters of frequent words and endings without a meaning of their own: Chinese, Korean, Thai."""
