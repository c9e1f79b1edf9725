"""A model lends a search the words that an answer may use instead of its own.

Only where somebody waits for the answer anyway. Of what the model says words are taken and nothing else; they steer
where it is looked, while how relevant a hit is goes by the words that were asked.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from subconscious.prompts import prompt
from subconscious.providers import Request
from subconscious.search.rewriting import LETTERS, MESSAGES
from subconscious.search.words import terms

PURPOSE = "rewording"
VERSION = 1
LENT = 8
"""Words that a search is lent at most."""
LONGEST = 40
"""Characters of a word."""
TOKENS = 200


class Words(BaseModel):
    """The only shape that an answer may have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: list[str] = Field(max_length=20)


def request(query: str, before: Sequence[str]) -> Request:
    """The question about one search; ``before`` are the session's last messages, the latest last."""
    asked = prompt(PURPOSE, VERSION)
    search = {"looked_for": query[:LETTERS], "messages": [message[-LETTERS:] for message in before[-MESSAGES:]]}
    # Escaped to ASCII: no invisible sign, no other direction of writing, no line of its own.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "search": json.dumps(search, ensure_ascii=True)})
    return Request(PURPOSE, asked.system, text, Words, max_tokens=TOKENS)


def lent(query: str, answer: Words) -> str:
    """Those of a model's words that the query lacks."""
    own, kept = set(terms(query)), list[str]()
    for word in answer.words:
        new = set(terms(word)) - own
        if new and len(word) <= LONGEST:
            kept.append(word)
            own |= new
    return " ".join(kept[:LENT])
