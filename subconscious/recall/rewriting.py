"""Completes a prompt that refers to earlier messages ("and why?") with words from these messages. No input or output.

No model is used: the few most important words of the last messages are added, names before other words, later messages
before earlier ones. A prompt that is long enough, or that asks nothing ("thanks", "go on"), is left unchanged.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from subconscious.text.codewords import code_parts
from subconscious.text.terms import names, terms

MESSAGES = 5
"""The earlier messages that are searched for words."""
ENOUGH = 4
"""The terms from which a prompt is complete."""
ADDED = 4
"""The most words that are added."""
LETTERS = 2000
"""The characters of a message that are read: its last ones, because a prompt responds to them."""
NAMED = 3.0
FADE = 0.6
"""The weight of a message relative to the next later message."""

_BACK = re.compile(
    r"^\W*+(?:and|but|so|then|also|or|why|how come|what about|how about|what if|really|since when|who decided)\b"
    r"|\b(?:it|its|that|this|those|these|they|them|there|one|same|former|latter|instead|again|before|earlier|above)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?|^\W*+(?:(?:and|but|so)\W*+)?(?:why|how|what|where|when|which|who|is|are|was|were|do|does|did|can|could|should|would"
    r"|remind|explain|tell|show|recall|remember)\b",
    re.IGNORECASE,
)


def completed(prompt: str, before: Sequence[str]) -> str:
    """Return ``prompt`` with the words that it refers to; ``before`` are the last messages, the latest last."""
    own = terms(prompt)
    if len(own) >= ENOUGH or not (_BACK.search(prompt[:LETTERS]) and _ASKS.search(prompt[:LETTERS])):
        return prompt
    messages = [message[-LETTERS:] for message in before[-MESSAGES:]]
    added = [word for word in _weighed(messages) if word not in own]
    return " ".join((prompt, *(_as_written(word, messages) for word in added[:ADDED])))


def _weighed(messages: Sequence[str]) -> list[str]:
    """Return the case-folded words of messages, most important first; a code name replaces its parts."""
    weights: defaultdict[str, float] = defaultdict(float)
    parts: set[str] = set()
    for age, message in enumerate(reversed(messages)):
        parts.update(code_parts(message).casefold().split())
        for word in terms(message):
            weights[word] += FADE**age
        for name in names(message):
            weights[name] += NAMED * FADE**age
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return [word for word, _ in ordered if word not in parts]


def _as_written(word: str, messages: Sequence[str]) -> str:
    """Return a lower-case word in the spelling of its last occurrence: names are recognised by their capitals."""
    for message in reversed(messages):
        if found := re.search(re.escape(word), message, re.IGNORECASE):
            return found[0]
    return word
