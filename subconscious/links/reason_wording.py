"""Has a provider's model explain in its own words why something is so, for a person at the terminal.

The model receives memories that are reasons. Its answer is used only if the memories support every sentence of it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.app import App
from subconscious.domain.errors import ProviderError
from subconscious.domain.model import Memory
from subconscious.domain.trust import Trust
from subconscious.framing.rules import date_of
from subconscious.links.coverage import Statement, covered
from subconscious.links.reasoning import Explanation
from subconscious.links.reasons import Step
from subconscious.llm.prompts import prompt
from subconscious.llm.providers import Request
from subconscious.text.wording import squeeze

log = logging.getLogger("subconscious.links")

SECONDS = 12.0
"""The most seconds that a person waits for the explanation; then the chains of reasons are shown without it."""

PURPOSE = "why"
VERSION = 1

MOST_NOTES = 12
MOST_SENTENCES = 4
LONGEST = 800
"""The most characters of a memory's content, and of its rationale, that are sent."""

ANSWER_TOKENS = 500


def _entries(value: Any) -> Any:
    found = [one for one in value if isinstance(one, dict | Statement)] if isinstance(value, list) else []
    return found[:MOST_SENTENCES]


class Worded(BaseModel):
    """A model's answer to the question why something is so."""

    sentences: Annotated[
        list[Statement], BeforeValidator(_entries), Field(json_schema_extra={"maxItems": MOST_SENTENCES})
    ] = []


async def worded(app: App, question: str, found: Explanation, project_id: str) -> str:
    """Return a model's explanation.

    It is "" if there are fewer than two memories, if no model may be asked, if the model does not answer in time, or if
    the memories don't support its answer.
    """
    hits = [hit for hit in found.hits.values() if hit.repute is None or hit.repute.trust is not Trust.SUSPECT]
    notes = [hit.memory for hit in hits][:MOST_NOTES]
    if len(notes) < 2 or not (app.settings.refine and app.llm.may_ask()):
        return ""
    try:
        async with asyncio.timeout(SECONDS):
            answer = await app.llm.ask(request(question, notes, found.steps), project_id=project_id)
    except (ProviderError, TimeoutError) as error:
        log.info("the reasons are shown without a model's explanation: %s", error or "no answer in time")
        return ""
    return wording(answer, notes) if isinstance(answer, Worded) else ""


def request(question: str, notes: Sequence[Memory], steps: Iterable[Step]) -> Request:
    """Return the request for an explanation, with the memories that are reasons, and their links."""
    asked = prompt(PURPOSE, VERSION)
    numbers = {memory.id: at for at, memory in enumerate(notes, start=1)}
    shown = {
        "question": question[:LONGEST],
        "notes": [_note(at, memory) for at, memory in enumerate(notes, start=1)],
        "links": [_link(step, numbers) for step in steps if {step.since, step.memory_id} <= numbers.keys()],
    }
    # Escaped to ASCII: no invisible characters, no change of the writing direction, no line breaks.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "notes": json.dumps(shown)})
    return Request(PURPOSE, asked.system, text, Worded, max_tokens=ANSWER_TOKENS)


def _note(number: int, memory: Memory) -> dict[str, Any]:
    said_at = date_of(memory.said_at)
    note = {"number": number, "text": memory.content[:LONGEST], "said_at": said_at, "by": str(memory.origin)}
    return note | ({"because": memory.rationale[:LONGEST]} if memory.rationale else {})


def _link(step: Step, numbers: dict[int, int]) -> dict[str, Any]:
    return {"note": numbers[step.since], "how": step.name, "other": numbers[step.memory_id]}


def wording(answer: Worded, notes: Sequence[Memory]) -> str:
    """Return the model's sentences, each with the ids of its sources; "" if any sentence is not supported by them."""
    lines = []
    for one in answer.sentences:
        cited = [notes[number - 1] for number in one.notes if 0 < number <= len(notes)]
        if not one.text.strip() or not covered(one.text, [f"{note.content}\n{note.rationale}" for note in cited]):
            return ""
        lines.append(f"{squeeze(one.text)} [{', '.join(str(note.id) for note in cited)}]")
    return " ".join(lines)
