"""Judges whether two memories are linked, by which type and in which direction, with confidence and evidence. Pure.

Words that state a relation decide first (`cues.py`). For other pairs, a small linear model decides from features of
the pair, in which the later memory comes first. ``bench/links_train.py`` computes the model's coefficients.
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
from subconscious.links.reading import Note, Reading, stem, worth
from subconscious.text.denied_change import denies_change
from subconscious.text.linear import logistic
from subconscious.text.same_statement import same_statement

VERSION = f"rules-{cues.VERSION}"
"""The version of the rules; memories that were searched with another version are searched again."""

SAME_FILES = 0.8
"""A number that is added to the log odds of a link between two memories that name a common file."""

SHOWN_TERMS = 5
LEAST_WORTH = 0.4

EVIDENCE = 300
"""The most characters of a link's evidence that are stored."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the linear model; features are standardised as (value - ``mean``) / ``scale``.

    ``linked`` are the coefficients of the probability that two memories are linked, calibrated by ``slope`` and
    ``offset``. ``types`` are the coefficients of each link type. ``cosine`` are the coefficients by which a cosine is
    estimated from the similarity of the words.
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
        """Create the weights from a parsed JSON object."""
        types = {name: tuple(row) for name, row in found["types"].items()}
        lists = {name: tuple(found[name]) for name in ("names", "mean", "scale", "linked", "cosine")}
        return cls(**lists, types=types, slope=found["slope"], offset=found["offset"])

    def assumed_cosine(self, lexical: float) -> float:
        """Return an estimate of the cosine of two memories that lack embeddings, from the similarity of their words."""
        return self.cosine[0] + self.cosine[1] * lexical

    def likelihood(self, found: Mapping[str, float], more: float = 0.0) -> float:
        """Return the probability that two memories are linked, 0 to 1; ``more`` is added to the log odds."""
        return logistic(self.slope * self._score(self.linked, found) + self.offset + more)

    def shares(self, found: Mapping[str, float]) -> dict[str, float]:
        """Return the probability of each link type for two memories that are linked; the probabilities sum to 1."""
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
    """Return the weights that are shipped with the package."""
    return Weights.of(json.loads(files("subconscious.links").joinpath("weights.json").read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The most likely link of two memories.

    ``linked`` is the probability of any link, ``confidence`` the probability of this link. ``forward`` means that it
    leads from the first memory to the second, ``stated`` that words of a memory state it.
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
    """Return the most likely link of two memories; ``cosine`` is the cosine of their embeddings, None if unknown.

    ``odds`` is added to the log odds of a link, as a correction if pairs are linked more or less often than in the
    training data (every fourth pair).
    """
    weights = weights or shipped()
    new, old = ordered(one, other)
    if same_statement(new.note.text, old.note.text, cosine or 0.0):
        # A repetition neither causes nor supersedes a statement: other code merges the two memories.
        return PairVerdict("EXTENDS", new is one, 0.0, 0.0, "they say the same", stated=False)
    numbers = features(new, old, 0.0 if cosine is None else cosine)
    if cosine is None:
        numbers["cosine"] = weights.assumed_cosine(numbers["lexical"])
    same_files = new.note.files & old.note.files
    likely = weights.likelihood(numbers, odds + (SAME_FILES if same_files else 0.0))
    if hits := cues.stated(new, old):
        return _stated(hits[0], likely, from_first=hits[0].from_new == (new is one))
    shares = weights.shares(numbers)
    if denies_change(new.note.text):
        shares.pop("SUPERSEDES", None)
    kind = max(shares, key=lambda name: shares[name])
    evidence = _shared(new, old, cosine, same_files)
    return PairVerdict(kind, new is one, likely, likely * shares[kind], evidence[:EVIDENCE], stated=False)


def _stated(hit: cues.StatedLink, likely: float, *, from_first: bool) -> PairVerdict:
    linked = 1 - (1 - likely) * (1 - hit.sure)
    return PairVerdict(hit.type, from_first, linked, hit.sure, hit.evidence[:EVIDENCE], stated=True)


def _shared(new: Reading, old: Reading, cosine: float | None, same_files: frozenset[str]) -> str:
    """Return the evidence for a link that neither memory states: shared terms, names and files, and the cosine."""
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
    """Return a word of the note that has the stem ``term``."""
    words = (word.casefold() for word in re.findall(r"\w+", f"{note.title} {note.text}"))
    return next((word for word in words if stem(word) == term), term)


DAY = 86_400.0
RARE = 0.9
"""The weight (0 to 1) from which a term counts as rare."""

CUES = {
    "change": r"replac\w+|supersed\w+|deprecat\w+|obsolet\w+|no longer|instead|rather than|migrat\w+|switch\w*|remov\w+"
    r"|drop\w*|abandon\w*|mov\w+ (?:away|from|to)|revert\w*|previous\w*|originally|earlier|existing|current\w*|old"
    r"|legacy|new",
    "need": r"requir\w+|depend\w*|rel(?:y|ies) on|needs?|prerequisite|assum\w+|must|based on|using|uses?"
    r"|(?:defined|introduced) (?:in|by)",
    "more": r"exten\w+|amend\w*|build\w* on|in addition|additional\w*|also|further|updat\w+|clarif\w+|refin\w+|add\w*"
    r"|improv\w+|generali[sz]\w+|enhanc\w+",
}
_CUES = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in CUES.items()}
_DENSITIES = {
    "change": r"replac\w*|supersed\w*|deprecat\w*|obsolet\w*|no longer|instead|remov\w+|drop\w*|abandon\w*|migrat\w+"
    r"|switch\w*|revert\w*|legacy",
    "need": r"requir\w+|depend\w*|relies|rely|prerequisite\w*|assum\w+|(?:defined|specified|introduced) (?:in|by)"
    r"|interact\w*|compatib\w+",
    "more": r"exten[ds]\w*|extension|amend\w*|addition\w*|also|further\w*|clarif\w+|refin\w+|option\w*|allow\w*"
    r"|enable\w*|adds?|support",
    "problem": r"problem\w*|issue\w*|drawback\w*|confus\w+|unfortunately|difficult\w*|complex\w*|limit\w+|fail\w*"
    r"|slow\w*|pain\w*|broken",
}
_DENSE = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in _DENSITIES.items()}
_TURNS = re.compile(
    r"\b(?:remov\w+|drop\w*|replac\w+|migrat\w+|switch\w*|mov\w+|deprecat\w+|revert\w*|simplif\w+|unif\w+|v?2(?:\.0)?"
    r"|new|moderni\w+|revis\w+|adopt\w*)\b",
    re.IGNORECASE,
)
_DECIDES = re.compile(r"\b(?:we will|we have decided|we decided)\b|# decision", re.IGNORECASE)
_REFERS = re.compile(
    r"\b(?:another (?:record|decision|memory)|ADR[- ]?\d+|(?:decision|memory) (?:record )?(?:no\.? ?|#)?\d+)\b",
    re.IGNORECASE,
)


def ordered(one: Reading, other: Reading) -> tuple[Reading, Reading]:
    """Return two memories, the later one first; a memory without a date counts as earlier.

    With equal dates or none, the memory that contains more of the other's title comes first.
    """
    times = one.note.time, other.note.time
    if times[0] != times[1]:
        later = times[1] is None or (times[0] is not None and times[0] > times[1])
    else:
        later = covered(other.title, one.terms) >= covered(one.title, other.terms)
    return (one, other) if later else (other, one)


def features(new: Reading, old: Reading, cosine: float) -> dict[str, float]:
    """Return all features of a pair by name. The names must be those in the trained weights."""
    gap = _gap(new, old)
    shared = new.terms.keys() & old.terms.keys()
    covers = covered(old.title, new.terms), covered(new.title, old.terms)
    found = {
        "cosine": cosine,
        "lexical": likeness(new, old),
        "cover_most": max(covers),
        "cover_least": min(covers),
        "titles": _titles(new.title, old.title),
        "pairs": math.log1p(len(new.pairs & old.pairs)),
        "title_pairs": max(_share(old.title_pairs, new.pairs), _share(new.title_pairs, old.pairs)),
        "told_new": _mentions(old, new),
        "told_old": _mentions(new, old),
        "names": len(new.names & old.names) / math.sqrt((1 + len(new.names)) * (1 + len(old.names))),
        "rare": math.log1p(sum(worth(term) >= RARE for term in shared)),
        "numbers": math.log1p(sum(len(number) > 2 for number in new.numbers & old.numbers)),
        "least_words": math.log1p(min(new.words, old.words)),
        "size": math.log((new.words + 30) / (old.words + 30)),
        "gap": math.log1p(gap) / 8 if gap is not None else 0.7,
        "gap_unknown": float(gap is None),
        "same_time": float(gap is not None and gap * DAY < 1),
        "new_of_title": sum(weight for term, weight in new.title.items() if term not in old.title),
        "old_of_title": sum(weight for term, weight in old.title.items() if term not in new.title),
        "turns": float(bool(_TURNS.search(new.note.title))),
        "decides": float(bool(_DECIDES.search(new.note.text))),
    }
    sides = (new, old, "new"), (old, new, "old")
    for where, of, name in sides:
        found |= _near(where, of, name) | _refers(where, of, name)
    return found | _dense(new)


def covered(title: Mapping[str, float], terms: Mapping[str, float]) -> float:
    """Return the share of a title's weighted terms that a text contains, 0 to 1."""
    whole = sum(title.values())
    return sum(weight for term, weight in title.items() if term in terms) / whole if whole else 0.0


def likeness(one: Reading, other: Reading) -> float:
    """Return the cosine of the weighted terms of two texts, 0 to 1."""
    few, many = sorted((one, other), key=lambda reading: len(reading.terms))
    return sum(weight * many.terms.get(term, 0.0) for term, weight in few.terms.items()) / (few.length * many.length)


def _mentions(of: Reading, where: Reading) -> float:
    """Return how often the memory ``where`` mentions the terms of the title of the memory ``of``."""
    whole = sum(of.title.values())
    mentioned = sum(weight * math.log1p(where.counts.get(term, 0)) for term, weight in of.title.items())
    return mentioned / whole if whole else 0.0


def _titles(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    norms = [math.sqrt(sum(weight * weight for weight in title.values())) for title in (one, other)]
    dot = sum(weight * other.get(term, 0.0) for term, weight in one.items())
    return dot / (norms[0] * norms[1]) if all(norms) else 0.0


def _share(few: frozenset[str], many: frozenset[str]) -> float:
    return len(few & many) / len(few) if few else 0.0


def _gap(new: Reading, old: Reading) -> float | None:
    if new.note.time is None or old.note.time is None:
        return None
    return abs(new.note.time - old.note.time) / DAY


def _near(where: Reading, of: Reading, name: str) -> dict[str, float]:
    """Return features: the largest share (0 to 1) of the title of ``of`` that one sentence of ``where`` contains.

    One feature covers all sentences, and one per cue the sentences with that cue. Their names end with ``name``.
    """
    whole = sum(of.title.values()) or 1.0
    found = dict.fromkeys((f"near_{name}", *(f"{cue}_{name}" for cue in _CUES)), 0.0)
    for sentence in where.sentences:
        share = sum(weight for term, weight in of.title.items() if term in sentence.terms) / whole
        if not share:
            continue
        found[f"near_{name}"] = max(found[f"near_{name}"], share)
        for cue, words in _CUES.items():
            if share > found[f"{cue}_{name}"] and words.search(sentence.text):
                found[f"{cue}_{name}"] = share
    return found


def _refers(where: Reading, of: Reading, name: str) -> dict[str, float]:
    """Return features: how often ``where`` refers to other records, and how much of ``of`` such a sentence contains.

    The second is computed for the title and for all terms of ``of``. The features' names end with ``name``.
    """
    whole = sum(of.title.values()) or 1.0
    number, titled, fits = 0, 0.0, 0.0
    for sentence in where.sentences:
        if references := _REFERS.findall(sentence.text):
            number += len(references)
            titled = max(titled, sum(weight for term, weight in of.title.items() if term in sentence.terms) / whole)
            fits = max(fits, sum(of.terms.get(term, 0.0) for term in sentence.terms) / of.length)
    return {f"refers_{name}": math.log1p(number), f"referred_{name}": titled, f"fits_{name}": fits}


def _dense(new: Reading) -> dict[str, float]:
    text = new.note.text
    return {
        f"dense_{name}": math.sqrt(100 * len(words.findall(text)) / (new.words + 20)) for name, words in _DENSE.items()
    }
