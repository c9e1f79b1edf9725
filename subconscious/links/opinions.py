"""A model's judgements of links that the rules found: the request to the model, and the checks of its answer.

The schema in the request is strict. An invalid entry of an answer is dropped; the other entries count.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.domain.link_types import DISCOVERABLE, LINK_TYPES
from subconscious.domain.model import Memory
from subconscious.llm.lenient import OBJECTS, Text
from subconscious.llm.prompts import prompt
from subconscious.llm.providers import Request
from subconscious.text.same_statement import same_statement

PURPOSE = "links"
VERSION = 1
NONE = "NONE"
LONGEST = 2_000
"""The most characters of each memory that are sent."""

ANSWER_TOKENS = 150
"""The most tokens that a model's answer may have for each memory in the request."""

SHORTEST_QUOTE = 8
TRUST = 0.95
"""The highest confidence of a link that a model has reviewed, even if the model states a higher one."""

FORWARD, BACKWARD = "forward", "backward"


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else -1


class Opinion(BaseModel):
    """A model's opinion on the link between a memory and one of its neighbours."""

    number: Annotated[int, BeforeValidator(_number)] = -1
    type: Annotated[Text, Field(json_schema_extra={"enum": [*DISCOVERABLE, NONE]})] = ""
    direction: Annotated[Text, Field(json_schema_extra={"enum": [FORWARD, BACKWARD]})] = ""
    confidence: Annotated[float, BeforeValidator(_number), Field(json_schema_extra={"minimum": 0, "maximum": 1})] = -1.0
    quote: Annotated[Text, Field(json_schema_extra={"maxLength": 300})] = ""


class Opinions(BaseModel):
    """A model's answer about one memory and its neighbours."""

    links: Annotated[list[Opinion], OBJECTS] = []


def request(memory: Memory, others: Sequence[Memory]) -> Request:
    """Return the request about a memory and the other memories that it may be linked to."""
    asked = prompt(PURPOSE, VERSION)
    notes = {"note": _shown(memory), "others": [{"number": at} | _shown(one) for at, one in enumerate(others, start=1)]}
    # Escaped to ASCII: no invisible characters, no change of the writing direction, no line breaks.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "notes": json.dumps(notes, ensure_ascii=True)})
    system = asked.system.replace("{types}", types())
    return Request(PURPOSE, system, text, Opinions, max_tokens=ANSWER_TOKENS * (len(others) + 1))


def _shown(memory: Memory) -> dict[str, Any]:
    return {"kind": memory.kind, "text": words_of(memory)[:LONGEST], "said_at": round(memory.said_at)}


def types() -> str:
    """Return the link types that may be found, each with its meaning."""
    return "\n".join(f"- {name}: the source {LINK_TYPES[name].meaning} the target." for name in DISCOVERABLE)


def words_of(memory: Memory) -> str:
    """Return the text of a memory that a model's answer may quote as evidence."""
    return f"{memory.content}\n{memory.rationale}".strip()


def valid(opinion: Opinion, memory: Memory, other: Memory) -> bool:
    """Whether an entry states that there is no link, or names an allowed type and quotes one of the two memories.

    An entry that links two memories that say the same is invalid.
    """
    if opinion.type == NONE:
        return True
    if same_statement(memory.content, other.content, cosine=1.0):
        return False
    fixed = opinion.type in DISCOVERABLE and opinion.direction in (FORWARD, BACKWARD) and 0 <= opinion.confidence <= 1
    quote = _plain(opinion.quote)
    return fixed and len(quote) >= SHORTEST_QUOTE and any(quote in _plain(words_of(one)) for one in (memory, other))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
