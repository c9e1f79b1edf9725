"""A prompt that leans on what was said before gets the words that it leaves out: "and why?". Pure.

Without a model: of the last messages the few words that matter, names before others, the latest before older ones. A
prompt that says enough itself, or that asks nothing ("thanks", "go on"), stays as it is: better silent than wrong.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from subconscious.search.words import names, terms
from subconscious.store.codewords import code_parts

MESSAGES = 5
"""Messages that are looked back at."""
ENOUGH = 4
"""Words of its own that a prompt stands on."""
LENT = 4
"""Words that it is lent at most."""
LETTERS = 2000
"""Characters of a message that are looked at, its last ones: there the talk was when the prompt was typed."""
NAMED = 3.0
FADE = 0.6
"""What each older message counts, against the next."""

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
    """``prompt`` with the words that it takes for granted; ``before`` are the last messages, the latest last."""
    own = terms(prompt)
    if len(own) >= ENOUGH or not (_BACK.search(prompt[:LETTERS]) and _ASKS.search(prompt[:LETTERS])):
        return prompt
    messages = [message[-LETTERS:] for message in before[-MESSAGES:]]
    lent = [word for word in _weighed(messages) if word not in own]
    return " ".join((prompt, *(_as_written(word, messages) for word in lent[:LENT])))


def _weighed(messages: Sequence[str]) -> list[str]:
    """Words of some messages, folded, those first that the talk was most about; a name stands for its parts too."""
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
    """A folded word as it was written last: capitals are what names are known by."""
    for message in reversed(messages):
        if found := re.search(re.escape(word), message, re.IGNORECASE):
            return found[0]
    return word
