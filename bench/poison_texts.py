"""Texts for the poisoning benchmark: the shared corpora, and harmless developer text of other kinds."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from subconscious.domain.model import Origin, Role
from subconscious.redaction.cleaning import clean
from subconscious.transcripts import read_turns

_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Text:
    """One text of one source. ``half`` is 0 or 1 by its group, so that each case is in one half only.

    ``order``: the part of it that is the attack, if that is known.
    """

    source: str
    attack: bool
    text: str
    group: str
    order: str = ""

    @property
    def half(self) -> int:
        """Which half of its source it belongs to: rules were written on half 0, figures are those of half 1."""
        return int(hashlib.sha1(self.group.encode(), usedforsecurity=False).hexdigest(), 16) % 2

    @property
    def held_back(self) -> bool:
        """Whether it belongs to the quarter that the rules on commands and other languages were written without."""
        return int(hashlib.sha256(self.group.encode()).hexdigest(), 16) % 4 == 0


def corpus(folder: Path) -> Iterator[Text]:
    """All texts of the shared corpora."""
    for path in sorted((folder / "poison").glob("*.jsonl")):
        for line in path.open(encoding="utf-8"):
            row = json.loads(line)
            text = json.loads(base64.b64decode(row["b64"]))[0] if "b64" in row else row["text"]
            yield Text(path.stem, row["label"] == "attack", text, row.get("group") or row["id"])


def spoken(transcripts: Path) -> Iterator[Text]:
    """What people typed, and sentences of the assistant's, in real sessions."""
    for path in sorted(transcripts.glob("*/*.jsonl")):
        reading = read_turns(path, final=True, max_bytes=1 << 30, clean=clean)
        for turn in reading.turns:
            if turn.sidechain or not turn.text:
                continue
            if turn.origin is Origin.USER:
                yield Text("typed_prompts", False, turn.text, path.stem)
            elif turn.role is Role.ASSISTANT:
                said = (part for part in _SENTENCE.split(turn.text) if len(part) > 25)
                yield from (Text("assistant_sentences", False, part, path.stem) for part in said)


def records(folder: Path) -> Iterator[Text]:
    """Paragraphs of public decision records."""
    for line in (folder / "links" / "records.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        for paragraph in row["text"].split("\n\n"):
            if 40 < len(paragraph) < 1500:
                yield Text("decision_records", False, paragraph, row["repo"])
