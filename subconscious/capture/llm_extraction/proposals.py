"""The schema of a model's reply: a few candidates with quotes and scores.

The schema in the request is strict, the parsing of replies is less so: a candidate with missing values, or with scores
outside 0 to 1, is parsed, and the gate discards it with a reason. A candidate with a value that can't be parsed, such
as a score in words, is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticOmit

from subconscious.domain.kinds import KINDS

MOST = 12
"""The maximum number of candidates in a reply about one chunk."""

WAITS_FROM = 0.5
"""The minimum score of a candidate that is queued for review; the prompt names this value."""

DOUBTED = 0.4
"""The maximum score of statements that apply only once, or become untrue later in the session: they are discarded."""

CONFIRMING = ("user", "test", "commit")
UNCONFIRMED = 0.9
"""The factor on the score of a candidate that no action or user confirmed."""

QUOTES = 2
"""The maximum number of quotes of each type that a candidate may have besides its evidence."""

WEIGHTS = {"relevance": 0.25, "actionability": 0.30, "novelty": 0.20, "specificity": 0.15, "coherence": 0.10}
"""The weights of the five scores in the confidence, if the setting `model_scores` is "five"."""

CAPTURED_KINDS = tuple(name for name in KINDS if name != "meta")

_SLACK = 0.05
"""How far outside 0..1 a score may be and still count as a rounding error; a score of 8 is on another scale."""


def _listed(value: Any) -> Any:
    """Return a parsed list; models also write a single item, or items separated by commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(value: Any) -> Any:
    return "" if value is None else value


def _if_valid(value: Any, parse: ValidatorFunctionWrapHandler) -> Any:
    """Parse an item of a list; leave out an invalid item, so that the other items are still used."""
    try:
        return parse(value)
    except ValidationError as error:
        raise PydanticOmit from error


def _first(value: Any) -> Any:
    return value[:MOST] if isinstance(value, list) else value


def _number(value: Any) -> Any:
    """Return the score as it was sent, to be parsed later; -1 (an invalid score) if it is missing."""
    return -1.0 if value is None else value


def _words(length: int) -> Any:
    return Field(default="", json_schema_extra={"maxLength": length})


def _quoted(value: Any) -> Any:
    """Return up to ``QUOTES`` quotes. A bare string is accepted as a quote, other values are dropped."""
    found = value if isinstance(value, list) else [value]
    told = [{"quote": one} if isinstance(one, str) else one for one in found]
    return [one for one in told if isinstance(one, Quoted) or _is_quote(one)][:QUOTES]


def _is_quote(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("quote"), str) and isinstance(value.get("turn", 0), int)


def _word(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else ""


def _truth(value: Any) -> Any:
    """Return True for true, "true" and "yes", False for anything else."""
    return value is True or (isinstance(value, str) and value.strip().casefold() in ("true", "yes"))


Word = Annotated[str, BeforeValidator(_word)]
Text = Annotated[str, BeforeValidator(_text)]
Names = Annotated[list[str], BeforeValidator(_listed)]
Part = Annotated[
    float,
    BeforeValidator(_number),
    Field(default=-1.0, json_schema_extra={"minimum": 0, "maximum": 1}),
]


class Quoted(BaseModel):
    """A verbatim quote from one turn."""

    turn: int = 0
    quote: Text = _words(400)


Quotes = Annotated[list[Quoted], BeforeValidator(_quoted), Field(json_schema_extra={"maxItems": QUOTES})]


class Statement(BaseModel):
    """A candidate as the model words it, with its quotes.

    ``quote`` is the main evidence, ``also`` has further evidence. ``directive`` has quotes in which the user makes the
    statement. ``context`` has quotes that explain what its words refer to, or show what happened.
    """

    waits_from: ClassVar[float] = WAITS_FROM

    turn: int = 0
    quote: Text = _words(400)
    also: Quotes = []
    directive: Quotes = []
    context: Quotes = []
    kind: Annotated[Text, Field(json_schema_extra={"enum": list(CAPTURED_KINDS)})] = ""
    summary: Text = _words(100)
    content: Text = _words(400)
    rationale: Text = _words(300)
    tags: Annotated[Names, Field(json_schema_extra={"maxItems": 5})] = []
    files: Annotated[Names, Field(json_schema_extra={"maxItems": 5})] = []

    @property
    def measured(self) -> bool:
        """Whether every score is present and, within rounding, between 0 and 1."""
        raise NotImplementedError

    @property
    def confidence(self) -> float:
        """Return the confidence on the model's own scale; 0 if a score is missing or not between 0 and 1."""
        raise NotImplementedError

    @property
    def scores(self) -> str:
        """Return the scores as text for display."""
        raise NotImplementedError


class Proposal(Statement):
    """One candidate with the values that the gate needs: how long it is valid, what confirms it, how useful it is."""

    standing: Annotated[Word, Field(json_schema_extra={"enum": ["standing", "once"]})] = ""
    confirmed_by: Annotated[Word, Field(json_schema_extra={"enum": ["user", "test", "commit", "nothing"]})] = ""
    true_at_end: Annotated[bool, BeforeValidator(_truth)] = False
    keep: Part

    @property
    def measured(self) -> bool:
        """Whether the candidate has a score that is, within rounding, between 0 and 1."""
        return -_SLACK <= float(self.keep) <= 1 + _SLACK

    @property
    def doubt(self) -> str:
        """Return the reason not to store the candidate, which does not depend on its score; "" if there is none."""
        if self.standing != "standing":
            return "it applies only for the moment"
        return "" if self.true_at_end else "it is no longer true later in its session"

    @property
    def confidence(self) -> float:
        """Return the model's score, lowered if the candidate is doubtful or unconfirmed.

        The result is 0 if the score is missing or not between 0 and 1.
        """
        if not self.measured:
            return 0.0
        keep = min(1.0, max(0.0, float(self.keep)))
        if self.doubt:
            return min(keep, DOUBTED)
        return round(keep if self.confirmed_by in CONFIRMING else keep * UNCONFIRMED, 4)

    @property
    def scores(self) -> str:
        """Return the scores as text for display."""
        told = f"keep {self.keep:.2f}, confirmed by {self.confirmed_by or 'nothing'}"
        return f"{told}; {self.doubt}" if self.doubt else told


class ScoredProposal(Statement):
    """One candidate with five scores, if the setting `model_scores` is "five"."""

    waits_from: ClassVar[float] = 0.7

    relevance: Part
    actionability: Part
    novelty: Part
    specificity: Part
    coherence: Part

    @property
    def parts(self) -> dict[str, float]:
        """Return the parts of the confidence by name, each within 0..1."""
        return {name: min(1.0, max(0.0, float(getattr(self, name)))) for name in WEIGHTS}

    @property
    def measured(self) -> bool:
        """Whether every part is present and, within rounding, between 0 and 1."""
        return all(-_SLACK <= float(getattr(self, name)) <= 1 + _SLACK for name in WEIGHTS)

    @property
    def confidence(self) -> float:
        """Return the weighted sum of the parts; 0 if a part is missing or not between 0 and 1."""
        if not self.measured:
            return 0.0
        return round(sum(weight * self.parts[name] for name, weight in WEIGHTS.items()), 4)

    @property
    def scores(self) -> str:
        """Return the scores as text for display."""
        return ", ".join(f"{name} {part:.2f}" for name, part in self.parts.items())


class Proposals(BaseModel):
    """The JSON schema of a model's reply about one chunk."""

    candidates: Annotated[
        list[Annotated[Proposal, WrapValidator(_if_valid)]],
        BeforeValidator(_first),
        Field(json_schema_extra={"maxItems": MOST}),
    ] = []


class ScoredProposals(BaseModel):
    """The JSON schema of a reply in which candidates have five scores."""

    candidates: Annotated[
        list[Annotated[ScoredProposal, WrapValidator(_if_valid)]],
        BeforeValidator(_first),
        Field(json_schema_extra={"maxItems": MOST}),
    ] = []


Answer = Proposals | ScoredProposals


@dataclass(frozen=True, slots=True)
class Scale:
    """A way to score candidates: the schema of the reply, and the words of the prompt that request it."""

    schema: type[Answer]
    asked: str


SCALES = {
    "keep": Scale(
        Proposals,
        '- `standing`: "standing" if it will hold beyond this task, "once" if it was for this task or moment.'
        ' `confirmed_by`: what showed that it is true: "user" (said or agreed to it), "test" (a run showed it),'
        ' "commit" (it was committed), "nothing". `true_at_end`: whether it is still true at the end of the piece; what'
        " was mended meanwhile is not. `keep`: from 0 to 1. Below .5 it"
        " is thrown away: give that to what you doubt, or better leave it out. From .5 on, a second reader checks it, and"
        " what passes may be shown to a later session as unconfirmed: give .5 to .8 to what is true and will spare somebody"
        " a search or an error. From .8 on, what the user said or approved is stored for good.",
    ),
    "five": Scale(
        ScoredProposals,
        "- Score each candidate from 0 to 1: `relevance` to this project's future sessions, `actionability` (it changes"
        " what one would do), `novelty` (not obvious, not known already), `specificity` (it names things), `coherence`"
        " (clear and free of contradiction within the piece). Use the whole scale; 0.9 and more is for what you would bet"
        " on.",
    ),
}
"""The scales. To add one, add a row, and its name to the setting `model_scores`."""
