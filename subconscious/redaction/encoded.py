"""Finds base64-encoded texts that contain a secret."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

from .rule import Span

LONGEST = 8_000
"""The most characters of one encoded text that are read."""

_RUN = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{11,{LONGEST}}}+={{0,2}}")
_SAMPLE = 24
"""The number of characters that are decoded first: most long runs are hashes, names and pictures, not encoded text."""

_URL_SAFE = str.maketrans("-_", "+/")


def find(text: str, kind_of: Callable[[str], str]) -> Iterator[Span]:
    """Yield every run of base64 that encodes a secret; ``kind_of`` returns the kind of a secret in a text, or ""."""
    for run in _RUN.finditer(text):
        decoded = decode(run[0])
        if decoded and (kind := kind_of(decoded)):
            yield Span(*run.span(), kind)


def decode(run: str) -> str:
    """Return the ASCII text that a run of base64 encodes; "" if it encodes something else."""
    return _decoded(run) if _decoded(run[:_SAMPLE]) else ""


def _decoded(run: str) -> str:
    body = run.rstrip("=").translate(_URL_SAFE)
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        text = base64.b64decode(body + "=" * (-len(body) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text if all(sign.isprintable() or sign in "\r\n\t" for sign in text) else ""


def spellings(value: str) -> Iterator[str]:
    """Yield the base64 forms of a value, without padding, and its percent-encoded form if that is different."""
    raw = value.encode("utf-8", "surrogatepass")
    yield base64.b64encode(raw).decode().rstrip("=")
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
    yield base64.b64encode(raw + b"\n").decode().rstrip("=")  # as ``echo VALUE | base64`` prints it
    if (quoted := quote(raw, safe="")) != value:
        yield quoted
