"""What a model makes of several memories: taken only where every sentence is covered by its sources."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.capture.wording import SUMMARY_LENGTH, content_words, is_name, shorten, squeeze
from subconscious.consolidate.telling import LONGEST, SYNTHESISED, Told, headed
from subconscious.links.reading import Sentence, sentences
from subconscious.model import Memory
from subconscious.prompts import prompt
from subconscious.providers import Request
from subconscious.text.same_statement import differences

PURPOSE = "consolidation"
VERSION = 1
ANSWER_TOKENS = 1000

COVERED = 0.7
"""Share of a sentence's terms that its sources must have."""

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
    """The question about one cluster."""
    asked = prompt(PURPOSE, VERSION)
    notes = [{"number": at, "text": one.content[:LONGEST]} for at, one in enumerate(sources, start=1)]
    # Escaped to ASCII: no invisible sign, no other direction of writing, no line of its own.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "notes": json.dumps(notes, ensure_ascii=True)})
    return Request(PURPOSE, asked.system, text, Synthesis, max_tokens=ANSWER_TOKENS)


def told(answer: Synthesis, sources: Sequence[Memory]) -> Told | None:
    """The summing up that a model has worded; None where it adds something, turns something or leaves a source out."""
    said = [one for one in answer.sentences if one.text.strip()]
    cited = {number for one in said for number in one.notes}
    if not said or cited != set(range(1, len(sources) + 1)):
        return None
    if not all(covered(one.text, [sources[number - 1].content for number in one.notes]) for one in said):
        return None
    content = "\n".join(squeeze(one.text) for one in said)
    summary = squeeze(answer.summary)
    if not summary or not covered(summary, [source.content for source in sources]):
        summary = headed(sources)
    return Told(shorten(summary, SUMMARY_LENGTH), content, SYNTHESISED) if len(content) <= LONGEST else None


def covered(text: str, sources: Sequence[str]) -> bool:
    """Whether each sentence has its numbers, names and most of its words from the sources, and does not turn them."""
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
    # Numbers and names were compared with all of the sources: what is left to turn it is a negation.
    return nearest is not None and "negation" not in differences(sentence.text, nearest.text)


def _names(text: str) -> set[str]:
    """Names in a text, but for a capital letter at a sentence's beginning."""
    opening = {found[0] for one in sentences(text) if (found := content_words(one.text))}
    return {
        word.casefold() for word in content_words(text) if is_name(word) and not (word in opening and word.istitle())
    }


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(text)}
