"""Measure the offline extractor."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from subconscious.capture.draft import Draft
from subconscious.capture.offline import drafts
from subconscious.flow import clean
from subconscious.model import Turn
from subconscious.transcripts import read_turns

_STOP = frozenset(
    "the a an of to in for and or is are was were be been it its this that with on by as at from not no but has have"
    " had will can".split()
)


def digest(text: str) -> str:
    """The name of a text that is not to be shown."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def content_words(text: str) -> set[str]:
    """Words as the shared evaluation counts them."""
    return {word for word in re.findall(r"[a-z0-9_]{3,}", text.lower()) if word not in _STOP}


def read_labels(path: Path) -> dict[str, int]:
    """Labels by hash of the content."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#")
    return {row[0]: int(row[1]) for row in rows}


class Sessions:
    """The shared transcripts and what was summarised of them."""

    def __init__(self, corpora: Path, transcripts: Path) -> None:
        self._folder = transcripts
        self._index = {row["session"]: row for row in json.loads((transcripts / "INDEX.json").read_text())}
        self.silver: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for line in (corpora / "capture_sessions" / "silver_session_summaries.jsonl").open(encoding="utf-8"):
            row = json.loads(line)
            self.silver[row["group"]].append((row["label"], row["text"]))

    def all(self) -> list[str]:
        return sorted(self._index)

    def path(self, session: str) -> Path:
        repository = str(self._index[session]["repo"]).replace("/", "+")
        return self._folder / repository / f"{session}.jsonl"

    @cache  # noqa: B019 - one object lives as long as the program
    def turns(self, session: str) -> tuple[Turn, ...]:
        return read_turns(self.path(session), final=True, max_bytes=1 << 30, clean=clean).turns

    @cache  # noqa: B019
    def drafts(self, session: str) -> list[Draft]:
        found: dict[str, Draft] = {}
        for draft in drafts(self.turns(session)):
            found.setdefault(draft.content.casefold(), draft)
        return list(found.values())
