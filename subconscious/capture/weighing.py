"""Gives each draft its raw confidence: the prior of its strength, refined by what the small model thinks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from subconscious.capture import wording
from subconscious.capture.draft import Draft
from subconscious.capture.linear import joint_probability, probability, words_and_pairs
from subconscious.capture.looks import looks

_SETTLED = {"answer", "approved"}
"""What a person settled by an act: the model has no say in it."""

QUEUE = 0.38
"""Probability from which what the model weighs waits for a person."""

_BELOW, _ABOVE = ((0.0, 0.3), (0.2, 0.5)), ((0.60, 0.75), (0.72, 0.80), (0.90, 0.86), (1.0, 0.89))
"""From the model's probability to the confidence: ends just below what is stored at once."""

_STRUGGLE = 0.9
"""Least worth of a failure with its repair: readers found 50 of 61 right, and there are few among much that is said."""

CORRECTS = 0.5
"""Probability from which words typed after an interrupt correct what the assistant was doing."""

DECIDED = 0.25
"""Probability from which a sentence of a record states a decision."""


def signs(draft: Draft) -> Iterator[str]:
    """Give what the model weighs of a draft beside its words and looks: its place, and where it comes from."""
    yield from (f"s:{sign}" for sign in draft.signs)
    yield f"src:{draft.source}"
    yield f"origin:{draft.turn.origin}"


def confidence(draft: Draft) -> float:
    """Return a draft's raw confidence, 0..1."""
    if draft.source in _SETTLED:
        named = bool(wording.tags(draft.content))
        return draft.strength.prior + 0.02 * named
    return climb(worth(draft))


def worth(draft: Draft) -> float:
    """Return how much a draft is worth a person's look, 0..1."""
    chance = joint_probability("worth", words_and_pairs(draft.content), signs(draft), looks(draft))
    return lifted(draft, chance)


def lifted(draft: Draft, chance: float) -> float:
    """Put what was seen to fail, and what helped, before what was only said."""
    return max(chance, _STRUGGLE) if draft.source == "struggle" else chance


def decided(sentence: str) -> float:
    """Return the confidence that a sentence of a record (a commit, an issue, a note) states a decision."""
    chance = probability("decision", list(words_and_pairs(sentence)))
    return 0.7 + 0.19 * (chance - DECIDED) / (1 - DECIDED) if chance >= DECIDED else 0.69 * chance / DECIDED


def climb(chance: float, queue: float = QUEUE) -> float:
    """Map a probability to a confidence, along the ladder's straight pieces; the queue begins at ``queue``."""
    ladder = (*_BELOW, (queue, 0.70), *_ABOVE)
    for (low, bottom), (high, top) in pairwise(ladder):
        if chance <= high:
            return bottom + (top - bottom) * (chance - low) / (high - low)
    return ladder[-1][1]
