"""What a model makes of the reasons of memories: sentences that the memories cover, and nothing else."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.capture.wording import squeeze
from subconscious.consolidate.synthesis import Statement, covered
from subconscious.model import Memory
from subconscious.prompts import prompt
from subconscious.providers import Request
from subconscious.reasons import Step

PURPOSE = "why"
VERSION = 1

MOST_NOTES = 12
MOST_SENTENCES = 4
LONGEST = 800
"""Characters of a memory that are sent, and of its reason."""

ANSWER_TOKENS = 500


def _entries(value: Any) -> Any:
    found = [one for one in value if isinstance(one, dict | Statement)] if isinstance(value, list) else []
    return found[:MOST_SENTENCES]


class Worded(BaseModel):
    """A model's answer to why something is so."""

    sentences: Annotated[
        list[Statement], BeforeValidator(_entries), Field(json_schema_extra={"maxItems": MOST_SENTENCES})
    ] = []


def request(question: str, notes: Sequence[Memory], steps: Iterable[Step]) -> Request:
    """Ask for the answer to a question, given the memories of its reasons and how they are linked."""
    asked = prompt(PURPOSE, VERSION)
    numbers = {memory.id: at for at, memory in enumerate(notes, start=1)}
    shown = {
        "question": question[:LONGEST],
        "notes": [_note(at, memory) for at, memory in enumerate(notes, start=1)],
        "links": [_link(step, numbers) for step in steps if {step.since, step.memory_id} <= numbers.keys()],
    }
    # Escaped to ASCII: no invisible sign, no other direction of writing, no line of its own.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "notes": json.dumps(shown)})
    return Request(PURPOSE, asked.system, text, Worded, max_tokens=ANSWER_TOKENS)


def _note(number: int, memory: Memory) -> dict[str, Any]:
    said_at = datetime.fromtimestamp(memory.said_at, UTC).date().isoformat()
    note = {"number": number, "text": memory.content[:LONGEST], "said_at": said_at, "by": str(memory.origin)}
    return note | ({"because": memory.rationale[:LONGEST]} if memory.rationale else {})


def _link(step: Step, numbers: dict[int, int]) -> dict[str, Any]:
    return {"note": numbers[step.since], "how": step.name, "other": numbers[step.memory_id]}


def wording(answer: Worded, notes: Sequence[Memory]) -> str:
    """Return the answer, each sentence with the memories that it rests on; "" if one says more than they do."""
    lines = []
    for one in answer.sentences:
        cited = [notes[number - 1] for number in one.notes if 0 < number <= len(notes)]
        if not one.text.strip() or not covered(one.text, [f"{note.content}\n{note.rationale}" for note in cited]):
            return ""
        lines.append(f"{squeeze(one.text)} [{', '.join(str(note.id) for note in cited)}]")
    return " ".join(lines)
