"""File names of notes: readable, unique, and the same on every file system."""

from __future__ import annotations

import re
import unicodedata

LONGEST_BYTES = 80
"""Bytes of the readable part: file systems allow 255 in all, and paths on some systems 260 characters."""

KEY_LENGTH = 8

_NO_WORD = re.compile(r"[\W_]+")


def slug(text: str) -> str:
    """Return the words of a text in lower case, joined by hyphens; "memory" where there are none.

    Composed letters and lower case only: macOS decomposes them, and Windows ignores the case.
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    joined = _NO_WORD.sub("-", plain).strip("-")
    cut = joined.encode("utf-8", "ignore")[:LONGEST_BYTES].decode("utf-8", "ignore")
    if len(cut) < len(joined) and "-" in cut:
        cut = cut.rpartition("-")[0]
    return cut.strip("-") or "memory"


def note_name(summary: str, uid: str) -> str:
    """Return a note's name without its ending. The end of the name keeps two notes with one summary apart."""
    return f"{slug(summary)}-{uid[:KEY_LENGTH]}"


def note_names(summaries: dict[str, str], known: dict[str, str]) -> dict[str, str]:
    """Return a name for each uid. A note that has a name in this folder keeps it when its summary changes."""
    names = {uid: known[uid] for uid in summaries if uid in known}
    taken = {name.casefold() for name in names.values()}
    for uid, summary in summaries.items():
        if uid not in names:
            name = note_name(summary, uid)
            name = f"{name}{uid[KEY_LENGTH:]}" if name.casefold() in taken else name
            names[uid] = name
            taken.add(name.casefold())
    return names
