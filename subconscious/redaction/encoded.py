"""Finds base64-encoded texts that contain a secret."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from .rule import Span

LONGEST = 8_000
"""The most characters that are decoded at once; a longer run is decoded in parts."""
OVERLAP = 2_000
"""The characters that two parts share, so that a secret across their border is whole in one of them."""

_RUN = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,}+={0,2}")
_SAMPLE = 24
"""The number of characters that are decoded first: most long runs are hashes, names and pictures, not encoded text."""

_URL_SAFE = str.maketrans("-_", "+/")


def find(text: str, kind_of: Callable[[str], str]) -> Iterator[Span]:
    """Yield every run of base64 that encodes a secret; ``kind_of`` returns the kind of a secret in a text, or ""."""
    for run in _RUN.finditer(text):
        kinds = (kind_of(decoded) for part in _parts(run[0]) if (decoded := decode(part)))
        if kind := next(filter(None, kinds), ""):
            yield Span(*run.span(), kind)


def _parts(run: str) -> Iterator[str]:
    """Yield the overlapping parts of a run; each begins where four characters begin that encode three bytes."""
    last = max(1, len(run) - OVERLAP)
    return (run[start : start + LONGEST] for start in range(0, last, LONGEST - OVERLAP))


def decode(run: str) -> str:
    """Return the ASCII text that a run encodes; "" if it encodes none."""
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
    """Yield the base64 forms of a single value, without the padding."""
    raw = value.encode("utf-8", "surrogatepass")
    yield base64.b64encode(raw).decode().rstrip("=")
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
    yield base64.b64encode(raw + b"\n").decode().rstrip("=")  # as ``echo VALUE | base64`` prints it
