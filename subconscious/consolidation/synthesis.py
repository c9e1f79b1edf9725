"""Summaries by a model: the request, and the check that the sources support every sentence of the answer."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from subconscious.consolidation.summary_text import LONGEST, SYNTHESISED, SummaryText, title
from subconscious.domain.model import Memory
from subconscious.links.coverage import Statement, covered
from subconscious.llm.lenient import OBJECTS, Text
from subconscious.llm.prompts import prompt
from subconscious.llm.providers import Request
from subconscious.text.wording import SUMMARY_LENGTH, shorten, squeeze

PURPOSE = "consolidation"
VERSION = 1
ANSWER_TOKENS = 1000


class Synthesis(BaseModel):
    """A model's answer to a request for a summary."""

    summary: Annotated[Text, Field(json_schema_extra={"maxLength": SUMMARY_LENGTH})] = ""
    sentences: Annotated[list[Statement], OBJECTS] = []


def request(sources: Sequence[Memory]) -> Request:
    """Return the request for a summary of these sources."""
    asked = prompt(PURPOSE, VERSION)
    notes = [{"number": at, "text": one.content[:LONGEST]} for at, one in enumerate(sources, start=1)]
    # Escaped to ASCII: no invisible characters, no change of the writing direction, no line breaks.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "notes": json.dumps(notes, ensure_ascii=True)})
    return Request(PURPOSE, asked.system, text, Synthesis, max_tokens=ANSWER_TOKENS)


def checked(answer: Synthesis, sources: Sequence[Memory]) -> SummaryText | None:
    """Return the model's summary; None if it adds or inverts a statement, or leaves a source out."""
    statements = [one for one in answer.sentences if one.text.strip()]
    cited = {number for one in statements for number in one.notes}
    if not statements or cited != set(range(1, len(sources) + 1)):
        return None
    if not all(covered(one.text, [sources[number - 1].content for number in one.notes]) for one in statements):
        return None
    content = "\n".join(squeeze(one.text) for one in statements)
    summary = squeeze(answer.summary)
    if not summary or not covered(summary, [source.content for source in sources]):
        summary = title(sources)
    return SummaryText(shorten(summary, SUMMARY_LENGTH), content, SYNTHESISED) if len(content) <= LONGEST else None
