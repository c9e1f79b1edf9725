"""Judges whether two memories are linked, by which type and in which direction, with confidence and evidence. Pure.

Words that state a relation come first (`cues.py`). For other pairs, a small linear model over `features.py` decides;
``bench/links_train.py`` makes its coefficients, which are few enough to be read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from subconscious.links import cues
from subconscious.links.features import features, ordered
from subconscious.links.reading import Note, Reading, stem, worth
from subconscious.text.linear import logistic
from subconscious.text.same_statement import same_statement

VERSION = f"rules-{cues.VERSION}"
"""The version of the rules; memories that were searched with another version are searched again."""

SAME_FILES = 0.8
"""Added to the log odds of two memories that name the same files."""

SHOWN_TERMS = 5
LEAST_WORTH = 0.4

EVIDENCE = 300
"""Characters of evidence that are stored."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the model over standardised features: (value - ``mean``) / ``scale``.

    ``linked`` are the coefficients of being linked, calibrated by ``slope`` and ``offset``; ``types`` those of each
    type. ``cosine`` estimates the cosine from the lexical likeness.
    """

    names: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    linked: tuple[float, ...]
    types: Mapping[str, tuple[float, ...]]
    slope: float
    offset: float
    cosine: tuple[float, float]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Weights:
        """Read the weights from their JSON object."""
        types = {name: tuple(row) for name, row in found["types"].items()}
        lists = {name: tuple(found[name]) for name in ("names", "mean", "scale", "linked", "cosine")}
        return cls(**lists, types=types, slope=found["slope"], offset=found["offset"])

    def assumed_cosine(self, lexical: float) -> float:
        """Estimate the cosine of two memories without embeddings from the likeness of their words."""
        return self.cosine[0] + self.cosine[1] * lexical

    def likelihood(self, found: Mapping[str, float], more: float = 0.0) -> float:
        """Return the probability that the two are linked, 0..1; ``more`` is added to the log odds."""
        return logistic(self.slope * self._score(self.linked, found) + self.offset + more)

    def shares(self, found: Mapping[str, float]) -> dict[str, float]:
        """Return the probability of each type for two memories that are linked; sums to 1."""
        scores = {name: self._score(row, found) for name, row in self.types.items()}
        most = max(scores.values())
        grown = {name: math.exp(score - most) for name, score in scores.items()}
        whole = sum(grown.values())
        return {name: value / whole for name, value in grown.items()}

    def _score(self, row: tuple[float, ...], found: Mapping[str, float]) -> float:
        """Return the linear score; the last number of ``row`` is the constant."""
        return row[-1] + sum(
            weight * (found[name] - mean) / scale
            for weight, name, mean, scale in zip(row[:-1], self.names, self.mean, self.scale, strict=True)
        )


@cache
def shipped() -> Weights:
    """Return the released weights."""
    return Weights.of(json.loads(files("subconscious.links").joinpath("weights.json").read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The most likely link of two memories.

    ``linked`` is the probability of any link, ``confidence`` that of this one. ``forward``: from the first of the two
    to the second. ``stated``: words of a memory state it.
    """

    type: str
    forward: bool
    linked: float
    confidence: float
    evidence: str
    stated: bool


def judge(
    one: Reading, other: Reading, cosine: float | None = None, weights: Weights | None = None, odds: float = 0.0
) -> PairVerdict:
    """Compare two memories; ``cosine`` is None if their embeddings are unknown.

    ``odds`` are added to the log odds where links are rarer or more common than in the training data, one in four.
    """
    weights = weights or shipped()
    new, old = ordered(one, other)
    if same_statement(new.note.text, old.note.text, cosine or 0.0):
        # A repetition neither causes nor supersedes a statement: the two memories are merged, not linked.
        return PairVerdict("EXTENDS", new is one, 0.0, 0.0, "they say the same", stated=False)
    numbers = features(new, old, 0.0 if cosine is None else cosine)
    if cosine is None:
        numbers["cosine"] = weights.assumed_cosine(numbers["lexical"])
    same_files = new.note.files & old.note.files
    likely = weights.likelihood(numbers, odds + (SAME_FILES if same_files else 0.0))
    if hits := cues.stated(new, old):
        return _stated(hits[0], likely, from_first=hits[0].from_new == (new is one))
    shares = weights.shares(numbers)
    kind = max(shares, key=lambda name: shares[name])
    evidence = _shared(new, old, cosine, same_files)
    return PairVerdict(kind, new is one, likely, likely * shares[kind], evidence[:EVIDENCE], stated=False)


def _stated(hit: cues.StatedLink, likely: float, *, from_first: bool) -> PairVerdict:
    linked = 1 - (1 - likely) * (1 - hit.sure)
    return PairVerdict(hit.type, from_first, linked, hit.sure, hit.evidence[:EVIDENCE], stated=True)


def _shared(new: Reading, old: Reading, cosine: float | None, same_files: frozenset[str]) -> str:
    """Return the evidence of a link that no words state: shared terms, names and files, the cosine."""
    shared = [term for term in new.terms if term in old.terms and worth(term) > LEAST_WORTH]
    weighty = sorted(shared, key=lambda term: (-new.terms[term] * old.terms[term], term))
    names = sorted(new.names & old.names, key=lambda name: (-len(name), name))[:2]
    spoken = [*names, *(_word(term, new.note) for term in weighty[:SHOWN_TERMS])]
    parts = (
        f"both mention {', '.join(dict.fromkeys(spoken))}" if spoken else "",
        f"files {', '.join(sorted(same_files)[:3])}" if same_files else "",
        "" if cosine is None else f"cosine {cosine:.2f}",
    )
    return "; ".join(part for part in parts if part)


def _word(term: str, note: Note) -> str:
    """Return a word of the note with this stem."""
    words = (word.casefold() for word in re.findall(r"\w+", f"{note.title} {note.text}"))
    return next((word for word in words if stem(word) == term), term)
