"""Checks whether memories support every sentence that a model wrote about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.links.reading import Sentence, sentences
from subconscious.llm.lenient import Text
from subconscious.text.same_statement import differences
from subconscious.text.wording import content_words, is_name

COVERED = 0.7
"""The share of a sentence's terms (0 to 1) that the memories cited as its sources must contain."""

_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def _numbers(value: Any) -> Any:
    whole = [item for item in value if isinstance(item, int)] if isinstance(value, list) else []
    return [item for item in whole if not isinstance(item, bool)]


class Statement(BaseModel):
    """A sentence that a model wrote, and in ``notes`` the numbers of the memories that the sentence is based on."""

    text: Annotated[Text, Field(json_schema_extra={"maxLength": 500})] = ""
    notes: Annotated[list[int], BeforeValidator(_numbers)] = []


def covered(text: str, sources: Sequence[str]) -> bool:
    """Whether the sources contain the numbers, names and most words of every sentence of a text, and negate none."""
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
    # The caller has compared numbers and names with all sources: only a negation can still change the meaning.
    return nearest is not None and "negation" not in differences(sentence.text, nearest.text)


def _names(text: str) -> set[str]:
    """Return the names in a text; a word that is capitalised only because it starts a sentence is not a name."""
    opening = {found[0] for one in sentences(text) if (found := content_words(one.text))}
    return {
        word.casefold() for word in content_words(text) if is_name(word) and not (word in opening and word.istitle())
    }


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(text)}
