"""How likely a memory is useful to a prompt: the probability that the thresholds of surfacing apply to. Pure.

A logistic function of how a memory was found, of what it has in common with the prompt beyond what the project's other
memories have, and of what it is. `bench/surfacing_train.py` fits the weights on labelled pairs of real prompts and
memories.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from subconscious.failures.wording import is_observed
from subconscious.model import Hit, Origin
from subconscious.search.relevance import Asked
from subconscious.search.words import names, terms

DAY = 86_400.0
RECENT_DAYS = 7.0
MANY_NAMES = 3
MANY_TERMS = 12
MUCH_TEXT = 20.0
"""BM25 score from which more of it says no more."""

UNSEEN = 0.4
"""The cosine of what the words alone found."""

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "constant": 0.0,
        "cosine": 0.0,
        "likeness": 0.0,
        "share": 0.0,
        "text": 0.0,
        "names": 0.0,
        "met": 0.0,
        "terms": 0.0,
        "first": 0.0,
        "margin": 0.0,
        "recent": 0.0,
        "rule": 0.0,
        "decision": 0.0,
        "observed": 0.0,
        "output": 0.0,
    }
)


def measured(prompt: str, hit: Hit, hits: Sequence[Hit], place: int, now: float) -> dict[str, float]:
    """The numbers that the probability is computed from. ``hits`` are all that were found, ``place`` is its own."""
    memory = hit.memory
    asked = Asked.of(prompt)
    about = " ".join((*memory.tags, *memory.files))
    told = f"{memory.content} {memory.rationale} {about}"
    score = {engine.engine: engine.score for engine in hit.engines}
    cosine = score.get("vector", UNSEEN)
    behind = hits[place + 1].rank if place + 1 < len(hits) else 0.0
    shared = names(prompt) & names(told)
    return {
        "cosine": cosine,
        "likeness": cosine - _usual(hits, hit),
        "share": asked.share(told),
        "text": min(1.0, score.get("text", 0.0) / MUCH_TEXT),
        "names": min(1.0, len(shared) / MANY_NAMES),
        "met": asked.met(told),
        "terms": min(1.0, len(terms(prompt)) / MANY_TERMS),
        "first": 1.0 if place == 0 else 0.0,
        "margin": max(0.0, hit.rank - behind),
        "recent": math.exp(-max(0.0, now - memory.said_at) / (RECENT_DAYS * DAY)),
        "rule": 1.0 if memory.origin is Origin.USER and memory.kind != "decision" else 0.0,
        "decision": 1.0 if memory.kind == "decision" else 0.0,
        "observed": 1.0 if is_observed(memory.extractor) else 0.0,
        "output": 1.0 if memory.origin is Origin.TOOL else 0.0,
    }


def _usual(hits: Sequence[Hit], hit: Hit) -> float:
    """How near the other memories that were found are; that of one that was found alone is unknown."""
    others = [one.cosine or UNSEEN for one in hits if one is not hit]
    return sum(others) / len(others) if others else UNSEEN


def probability(numbers: Mapping[str, float]) -> float:
    """How likely a memory with these numbers is useful, 0..1."""
    raw = WEIGHTS["constant"] + sum(WEIGHTS[name] * value for name, value in numbers.items())
    return 1.0 / (1.0 + math.exp(-raw))
