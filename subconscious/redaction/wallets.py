"""Keys of cryptocurrency wallets: seed phrases (BIP-39, English list) and private keys in base58 (WIF)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .rule import Span

KIND = "seed phrase"
FEWEST = 12
"""The number of words of the shortest seed phrase."""

_WORD = re.compile(r"[A-Za-z]{1,40}+")
_BETWEEN = re.compile(r"""[\s,;|"'\[\]>*#-]{0,6}(?:\d{1,2}[.):]?)?[\s"'*]{0,4}""")
"""Characters that may separate two words of a phrase: whitespace, commas, quotes, list numbers."""

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@cache
def _words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("bip39-english.txt").read_text(encoding="ascii").split())


def find(text: str) -> Iterator[Span]:
    """Yield every run of twelve or more words of the list. Prose has none: "the", "and", "is" and "to" are not listed."""
    listed, matches = _words(), list(_WORD.finditer(text))
    at = FEWEST - 1
    while at < len(matches):
        # Every twelfth word is tested first: a run of twelve contains one of them.
        if matches[at][0].lower() in listed:
            first, last = _run(text, matches, at)
            words = [match[0].lower() for match in matches[first : last + 1]]
            # Random words rarely repeat: "test test ... junk" is a public example phrase or filler.
            if len(words) >= FEWEST and len(set(words)) > len(words) / 2:
                yield Span(matches[first].start(), matches[last].end(), KIND)
            at = last
        at += FEWEST


def _run(text: str, matches: list[re.Match[str]], at: int) -> tuple[int, int]:
    """Return the indexes of the first and last word of the run that contains the word at index ``at``."""
    first = last = at
    while first and _are_joined(text, matches[first - 1], matches[first], matches[first - 1][0]):
        first -= 1
    while last + 1 < len(matches) and _are_joined(text, matches[last], matches[last + 1], matches[last + 1][0]):
        last += 1
    return first, last


def _are_joined(text: str, one: re.Match[str], other: re.Match[str], word: str) -> bool:
    return word.lower() in _words() and _BETWEEN.fullmatch(text, one.end(), other.start()) is not None


def is_private_key(match: re.Match[str], key: str) -> bool:
    """Whether the checksum of a key in wallet import format is valid."""
    del match
    number = 0
    for sign in key:
        number = number * 58 + _BASE58.index(sign)
    raw = number.to_bytes(38 if len(key) == 52 else 37, "big") if number.bit_length() <= 304 else b""
    body, checksum = raw[:-4], raw[-4:]
    return bool(body) and hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4] == checksum
