"""The request and the reply of the second look: a model's review of a session's candidates, instead of a person's.

There is one request per session with all candidates, called notes, their quotes and the text around them. The model can
reject a note. A note that the model confirms counts as reviewed, but its origin and the results of ``gate.py`` and
the poisoning check are unchanged. A note that the model neither confirms nor rejects waits for a person.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from subconscious.capture.llm_extraction.origins import words
from subconscious.domain.link_types import DISCOVERABLE
from subconscious.domain.model import Origin, Turn
from subconscious.llm.prompts import prompt
from subconscious.llm.providers import Request
from subconscious.sessions.story import Story, read_text, read_texts
from subconscious.text.same_statement import differences

PURPOSE = "review"
VERSION = 5

MOST = 40
"""The maximum number of notes in one request; further notes wait for a person."""

MOST_STORED = 30
MOST_LINKS = 3
"""The maximum number of links used for one note."""

AROUND = 900
"""How many characters before and around a quote are shown to the model, in addition to the quote itself."""

TURNS_BEFORE = 3
STORY_TOKENS = 350
ANSWER_TOKENS = 120
"""The estimated number of tokens of a reply for each note."""

_CONDITION = re.compile(r"\b(?:after|before|except|if|only|unless|until|when|where|while|without)\b")

_WORD = re.compile(r"[^\W_]+")

TURNED = frozenset(("negation", "opposite", "direction"))
"""Differences from the note that a new wording of it must not have."""

FATES = {
    "superseded": "a later statement of its session replaces it",
    "disproved": "it turned out wrong in its session",
    "double": "another candidate of its session says the same",
}


def _flag(value: Any) -> Any:
    """Parse true, false, "yes" or "no"; return None for any other value. None never counts as a confirmation."""
    if isinstance(value, str):
        return {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().casefold())
    return value if isinstance(value, bool) else None


def _number(value: Any) -> Any:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _numbers(value: Any) -> Any:
    return [one for one in value if _number(one)] if isinstance(value, list) else []


def _entries(value: Any) -> Any:
    return [one for one in value if isinstance(one, (dict, Look))] if isinstance(value, list) else []


class Bearing(BaseModel):
    """The relation of a note to a stored memory, according to a model."""

    id: Annotated[int, BeforeValidator(_number)] = 0
    type: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"enum": list(DISCOVERABLE)})] = ""
    direction: Annotated[
        str, BeforeValidator(read_text), Field(json_schema_extra={"enum": ["forward", "backward"]})
    ] = ""
    quote: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"maxLength": 300})] = ""


def _bearings(value: Any) -> Any:
    return [one for one in value if isinstance(one, (dict, Bearing))][:MOST_LINKS] if isinstance(value, list) else []


class Look(BaseModel):
    """A model's review of one note."""

    number: Annotated[int, BeforeValidator(_number)] = 0
    entailed: Annotated[bool | None, BeforeValidator(_flag)] = None
    unsupported: Annotated[list[str], BeforeValidator(read_texts), Field(json_schema_extra={"maxItems": 8})] = []
    instruction_like: Annotated[bool | None, BeforeValidator(_flag)] = None
    known: Annotated[bool | None, BeforeValidator(_flag)] = None
    repeats: Annotated[int, BeforeValidator(_number)] = 0
    useless: Annotated[bool | None, BeforeValidator(_flag)] = None
    clear: Annotated[bool | None, BeforeValidator(_flag)] = None
    fate: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"enum": ["stands", *FATES]})] = ""
    by: Annotated[int, BeforeValidator(_number)] = 0
    replaces: Annotated[list[int], BeforeValidator(_numbers), Field(json_schema_extra={"maxItems": 5})] = []
    links: Annotated[list[Bearing], BeforeValidator(_bearings), Field(json_schema_extra={"maxItems": MOST_LINKS})] = []
    wording: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"maxLength": 400})] = ""
    why: Annotated[str, BeforeValidator(read_text), Field(json_schema_extra={"maxLength": 200})] = ""


def _told(value: Any) -> Any:
    return value if isinstance(value, (dict, Story)) else {}


class Looks(BaseModel):
    """The JSON schema of the reply: a hand-over of the session, and a review of each note."""

    story: Annotated[Story, BeforeValidator(_told)] = Story()
    looks: Annotated[list[Look], BeforeValidator(_entries), Field(json_schema_extra={"maxItems": MOST})] = []


@dataclass(frozen=True, slots=True)
class Note:
    """A candidate as it is shown to the model; ``around`` is the text before and around its quote."""

    content: str
    kind: str
    quote: str
    said_by: str
    around: str = ""

    def to_json(self, number: int) -> dict[str, Any]:
        """Return the note as JSON for the request."""
        shown = {"number": number, "kind": self.kind, "note": self.content, "quote": self.quote, "by": self.said_by}
        return shown | ({"around": self.around} if self.around else {})


def around(turn_id: str, quote: str, turns: Sequence[Turn]) -> str:
    """Return the end of the turns before a quote, and the text around the quote in its own turn."""
    at = next((place for place, turn in enumerate(turns) if turn.id == turn_id), None)
    if at is None:
        return ""
    before = [turn for turn in turns[max(0, at - TURNS_BEFORE) : at] if turn.text]
    told = [f"{turn.origin}: {turn.text[-AROUND // (2 * len(before)) :]}" for turn in before]
    text = turns[at].quotable_text
    begin = max(0, text.find(quote) - AROUND // 4)
    return "\n".join([*told, f"{turns[at].origin}: {text[begin : begin + AROUND // 2 + len(quote)]}"])


def request(
    notes: Sequence[Note], stored: Mapping[int, str], types: str = "", session: Mapping[str, Any] | None = None
) -> Request:
    """Return the request about a session's notes.

    ``stored`` are memories, by id, that the notes may repeat, replace or relate to. ``types`` lists the types of links,
    ``session`` is the session's record.
    """
    asked = prompt(PURPOSE, VERSION)
    shown = {
        "notes": [note.to_json(number) for number, note in enumerate(notes[:MOST], start=1)],
        "stored": [{"id": number, "memory": text} for number, text in list(stored.items())[:MOST_STORED]],
        "session": dict(session or {}),
    }
    # Escaped to ASCII: no invisible characters, no change of the writing direction, no line breaks.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "notes": json.dumps(shown, ensure_ascii=True)})
    room = 300 + STORY_TOKENS + ANSWER_TOKENS * min(MOST, len(notes))
    return Request(PURPOSE, asked.system.replace("{types}", types), text, Looks, max_tokens=room)


def entries(answer: Looks, number_of_notes: int) -> dict[int, Look]:
    """Map the numbers of notes to their reviews. Reviews with an unknown or repeated number are left out."""
    numbers = [look.number for look in answer.looks]
    return {
        look.number: look
        for look in answer.looks
        if 1 <= look.number <= number_of_notes and numbers.count(look.number) == 1
    }


def refusal(look: Look, content: str) -> str:
    """Return why a note is rejected; "" if it is not rejected."""
    if look.entailed is False:
        return _explained("its quote does not support it", look.why)
    if look.instruction_like:
        return _explained("it tells its reader to do something", look.why)
    if foreign := [one for one in look.unsupported if words(one) & words(content) or _has_phrase(content, one)]:
        return f"nothing in its session supports {', '.join(map(repr, foreign[:3]))}"
    if look.known:
        return "a memory says it already"
    if look.fate in FATES:
        return _explained(FATES[look.fate], look.why)
    return _explained("a later session can't use it", look.why) if look.useless else ""


def vouches(look: Look) -> bool:
    """Whether a review calls the note supported, new, still valid and not an instruction; `refusal` checks the rest."""
    return look.entailed is True and look.instruction_like is False and look.known is False and look.fate == "stands"


def reworded(look: Look, note: Note) -> str:
    """Return the model's new wording of a note if all its words are in the note, its quote or context; else ""."""
    known = words(f"{note.content} {note.quote} {note.around}")
    return look.wording if look.wording and words(look.wording) <= known else ""


def trimmed(look: Look, note: Note) -> str:
    """Return the model's new wording of a note if it only omits words of the note; "" if there is no such wording.

    The new wording must not reverse the meaning, nor claim more by omitting a condition.
    """
    said = look.wording
    if not said or said == note.content or note.said_by == Origin.USER or not _only_omits(said, note.content):
        return ""
    if any(says(said, phrase) for phrase in look.unsupported) or turns_or_broadens(said, note.content):
        return ""
    return said


def _only_omits(wording: str, content: str) -> bool:
    """Whether ``wording`` has only words of ``content``, in the same order; even words such as "all" count."""
    rest = iter(_WORD.findall(content.casefold()))
    said = _WORD.findall(wording.casefold())
    return bool(said) and all(word in rest for word in said)


def says(text: str, phrase: str) -> bool:
    """Whether a text has all content words of a phrase, or the phrase itself, such as "always"."""
    told = words(phrase)
    return told <= words(text) if told else _has_phrase(text, phrase)


def _has_phrase(text: str, phrase: str) -> bool:
    """Whether a text contains the words of a phrase, one after the other; even words such as "all" count."""
    said, told = (" ".join(_WORD.findall(one.casefold())) for one in (text, phrase))
    return bool(told) and f" {told} " in f" {said} "


def turns_or_broadens(wording: str, content: str) -> bool:
    """Whether a new wording reverses the meaning of a note, or claims more because a condition is missing."""
    broader = set(_CONDITION.findall(content.casefold())) - set(_CONDITION.findall(wording.casefold()))
    return bool(broader or differences(wording, content) & TURNED)


def _explained(reason: str, why: str) -> str:
    return f"{reason}: {' '.join(why.split())[:200]}" if why else reason
