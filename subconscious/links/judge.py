"""Whether two memories are linked, how, in which direction, how surely, and on what it rests. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from subconscious.links import cues
from subconscious.links.features import features, ordered
from subconscious.links.linear import Weights, shipped
from subconscious.links.reading import Note, Reading, stem, worth
from subconscious.text.same_statement import same_statement

VERSION = f"rules-{cues.VERSION}"
"""With which a memory was searched; another one searches it again."""

SAME_FILES = 0.8
"""What it adds to the log odds that two are about the same files."""

SHOWN_TERMS = 5
LEAST_WORTH = 0.4

EVIDENCE = 300
"""Characters of evidence that are kept."""


@dataclass(frozen=True, slots=True)
class Found:
    """A link between two: ``linked`` is how likely they bear on each other at all, ``confidence`` that it is this way.

    ``forward``: from the first of the two that were compared to the second. ``stated``: words say so.
    """

    type: str
    forward: bool
    linked: float
    confidence: float
    evidence: str
    stated: bool


def judge(
    one: Reading, other: Reading, cosine: float | None = None, weights: Weights | None = None, odds: float = 0.0
) -> Found:
    """Compare two memories; ``cosine`` None where their embeddings are not known.

    ``odds`` are added to the log odds where links are rarer, or commoner, than one in four, as they were in training.
    """
    weights = weights or shipped()
    new, old = ordered(one, other)
    if same_statement(new.note.text, old.note.text, cosine or 0.0):
        # To say something again neither causes it nor takes its place; the two are merged, not linked.
        return Found("EXTENDS", new is one, 0.0, 0.0, "they say the same", stated=False)
    numbers = features(new, old, 0.0 if cosine is None else cosine)
    if cosine is None:
        numbers["cosine"] = weights.assumed(numbers["lexical"])
    same = new.note.files & old.note.files
    likely = weights.likelihood(numbers, odds + (SAME_FILES if same else 0.0))
    hits = cues.stated(new, old)
    if hits:
        best = hits[0]
        linked = 1 - (1 - likely) * (1 - best.sure)
        return Found(best.type, best.from_new == (new is one), linked, best.sure, best.evidence[:EVIDENCE], stated=True)
    shares = weights.shares(numbers)
    kind = max(shares, key=lambda name: shares[name])
    evidence = _shared(new, old, cosine, same)
    return Found(kind, new is one, likely, likely * shares[kind], evidence[:EVIDENCE], stated=False)


def _shared(new: Reading, old: Reading, cosine: float | None, same: frozenset[str]) -> str:
    """What a link that no words state was inferred from."""
    shared = [term for term in new.terms if term in old.terms and worth(term) > LEAST_WORTH]
    weighty = sorted(shared, key=lambda term: (-new.terms[term] * old.terms[term], term))
    names = sorted(new.names & old.names, key=lambda name: (-len(name), name))[:2]
    spoken = [*names, *(_word(term, new.note) for term in weighty[:SHOWN_TERMS])]
    parts = (
        f"both speak of {', '.join(dict.fromkeys(spoken))}" if spoken else "",
        f"files {', '.join(sorted(same)[:3])}" if same else "",
        "" if cosine is None else f"cosine {cosine:.2f}",
    )
    return "; ".join(part for part in parts if part)


def _word(term: str, note: Note) -> str:
    """A word of a note in place of its stem."""
    words = (word.casefold() for word in re.findall(r"\w+", f"{note.title} {note.text}"))
    return next((word for word in words if stem(word) == term), term)
