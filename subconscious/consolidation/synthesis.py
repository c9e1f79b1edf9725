"""Summaries by a model: the request, and the check that the sources cover every sentence of the answer."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.consolidation.summary_text import LONGEST, SYNTHESISED, SummaryText, title
from subconscious.domain.model import Memory
from subconscious.links.reading import Sentence, sentences
from subconscious.llm.prompts import prompt
from subconscious.llm.providers import Request
from subconscious.text.same_statement import differences
from subconscious.text.wording import SUMMARY_LENGTH, content_words, is_name, shorten, squeeze

PURPOSE = "consolidation"
VERSION = 1
ANSWER_TOKENS = 1000

COVERED = 0.7
"""Share of a sentence's terms that its sources must contain."""

_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else ""


def _listed(value: Any) -> Any:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _numbers(value: Any) -> Any:
    whole = [item for item in value if isinstance(item, int)] if isinstance(value, list) else []
    return [item for item in whole if not isinstance(item, bool)]


class Statement(BaseModel):
    """A sentence, and the notes that it rests on."""

    text: Annotated[str, BeforeValidator(_text), Field(json_schema_extra={"maxLength": 500})] = ""
    notes: Annotated[list[int], BeforeValidator(_numbers)] = []


class Synthesis(BaseModel):
    """A model's answer about one cluster."""

    summary: Annotated[str, BeforeValidator(_text), Field(json_schema_extra={"maxLength": SUMMARY_LENGTH})] = ""
    sentences: Annotated[list[Statement], BeforeValidator(_listed)] = []


def request(sources: Sequence[Memory]) -> Request:
    """Return the request about one group."""
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


def covered(text: str, sources: Sequence[str]) -> bool:
    """Whether the numbers, names and most words of each sentence are in the sources, and none is negated."""
    whole = "\n".join(sources)
    if not set(_NUMBER.findall(text)) <= set(_NUMBER.findall(whole)) or not _names(text) <= _words(whole):
        return False
    known = list(sentences(whole))
    return bool(sources) and all(_rests_on(sentence, known) for sentence in sentences(text))


def _rests_on(sentence: Sentence, known: Sequence[Sentence]) -> bool:
    has = frozenset[str]().union(*(one.terms for one in known))
    if len(sentence.terms & has) < COVERED * len(sentence.terms):
        return False
    nearest = max(known, key=lambda one: len(sentence.terms & one.terms), default=None)
    # Numbers and names were compared with all sources above: only a negation can still change the meaning.
    return nearest is not None and "negation" not in differences(sentence.text, nearest.text)


def _names(text: str) -> set[str]:
    """Return the names in a text; a capital letter at the start of a sentence makes no name."""
    opening = {found[0] for one in sentences(text) if (found := content_words(one.text))}
    return {
        word.casefold() for word in content_words(text) if is_name(word) and not (word in opening and word.istitle())
    }


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(text)}
