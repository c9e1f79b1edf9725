"""What a model is asked to answer: a few candidates, each with its quote and the parts of its confidence (SPEC A6).

The schema that goes out is strict, the reading of what comes back is not: whatever is out of bounds costs one candidate
its place, with a reason, and never the others theirs.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.kinds import KINDS

MOST = 12
"""Candidates that one chunk may bring."""

QUOTES = 2
"""Quotes of one sort that a candidate may have beside its evidence."""

WEIGHTS = {"relevance": 0.25, "actionability": 0.30, "novelty": 0.20, "specificity": 0.15, "coherence": 0.10}
"""What each part weighs in the confidence (SPEC A6)."""

CAPTURED_KINDS = tuple(name for name in KINDS if name != "meta")

_SLACK = 0.05
"""By how much a part may lie beyond 0..1 and still be taken for a slip; a score of 8 is of another scale."""


def _listed(value: Any) -> Any:
    """Read a list; models also write one thing, or things with commas between."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(value: Any) -> Any:
    return "" if value is None else value


def _first(value: Any) -> Any:
    return value[:MOST] if isinstance(value, list) else value


def _number(value: Any) -> Any:
    """Read a number; none at all is one that can't be right."""
    return -1.0 if value is None else value


def _words(length: int) -> Any:
    return Field(default="", json_schema_extra={"maxLength": length})


def _quoted(value: Any) -> Any:
    """Read up to ``QUOTES`` quotes; models also write a bare text for one. What is no quote is left out."""
    found = value if isinstance(value, list) else [value]
    told = [{"quote": one} if isinstance(one, str) else one for one in found]
    return [one for one in told if isinstance(one, Quoted) or _is_quote(one)][:QUOTES]


def _is_quote(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("quote"), str) and isinstance(value.get("turn", 0), int)


Text = Annotated[str, BeforeValidator(_text)]
Names = Annotated[list[str], BeforeValidator(_listed)]
Part = Annotated[
    float,
    BeforeValidator(_number),
    Field(default=-1.0, json_schema_extra={"minimum": 0, "maximum": 1}),
]


class Quoted(BaseModel):
    """Words of one turn, copied."""

    turn: int = 0
    quote: Text = _words(400)


Quotes = Annotated[list[Quoted], BeforeValidator(_quoted), Field(json_schema_extra={"maxItems": QUOTES})]


class Proposal(BaseModel):
    """One candidate as a model words it.

    ``directive`` is what the user typed of it, ``context`` what tells what that refers to.
    """

    turn: int = 0
    quote: Text = _words(400)
    directive: Quotes = []
    context: Quotes = []
    kind: Annotated[Text, Field(json_schema_extra={"enum": list(CAPTURED_KINDS)})] = ""
    summary: Text = _words(100)
    content: Text = _words(400)
    rationale: Text = _words(300)
    tags: Annotated[Names, Field(json_schema_extra={"maxItems": 5})] = []
    files: Annotated[Names, Field(json_schema_extra={"maxItems": 5})] = []
    relevance: Part
    actionability: Part
    novelty: Part
    specificity: Part
    coherence: Part

    @property
    def parts(self) -> dict[str, float]:
        """The parts of the confidence by name, within 0..1."""
        return {name: min(1.0, max(0.0, float(getattr(self, name)))) for name in WEIGHTS}

    @property
    def measured(self) -> bool:
        """Whether every part was given, on the scale that was asked for."""
        return all(-_SLACK <= float(getattr(self, name)) <= 1 + _SLACK for name in WEIGHTS)

    @property
    def confidence(self) -> float:
        """The raw confidence (SPEC A6); 0 where a part is missing or of another scale."""
        if not self.measured:
            return 0.0
        return round(sum(weight * self.parts[name] for name, weight in WEIGHTS.items()), 4)


class Proposals(BaseModel):
    """A model's answer to one chunk."""

    candidates: Annotated[list[Proposal], BeforeValidator(_first), Field(json_schema_extra={"maxItems": MOST})] = []
