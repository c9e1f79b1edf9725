"""Tier 2 of the poisoning check: a model judges the texts that tier 1 flagged.

The text is sent as JSON between markers with a random number that its author can't know. The reply must match a schema,
in which level and threat are choices of fixed words, so the text can't change its form. On any failure, the verdict of
tier 1 is kept. The model alone can't clear a text that the patterns find dangerous.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from subconscious.domain.errors import BadAnswerError, BadRequestError, ProviderError
from subconscious.domain.model import Finding, Level, Threat, Verdict
from subconscious.llm.prompts import prompt
from subconscious.llm.providers import Ask, Request

log = logging.getLogger("subconscious.poisoning")

PURPOSE = "poisoning"
VERSION = 1
RULE = "second-look"
LONGEST = 6_000
"""The most characters of each field of a note that are sent. A note is one capture or memory, as shown to the model."""

LONGEST_NOTE = 12_000
"""The most characters of a whole note in the request, escapes included; this limits its tokens."""

LONGEST_REASON = 400

SENT = ("kind", "content", "evidence", "rationale", "tags", "files", "origin")
"""The fields of a note that are sent."""
LEVELS = Literal["none", "low", "medium", "high", "critical"]
THREATS = Literal[
    "none",
    "instruction injection",
    "authority claim",
    "exfiltration",
    "code injection",
    "social engineering",
    "self-reinforcement",
    "temporal trick",
    "contradiction",
    "source mismatch",
]


def _reason(value: Any) -> Any:
    return value[:LONGEST_REASON] if isinstance(value, str) else value


Note = Mapping[str, object]
"""A capture or memory as shown to the model: field names with texts or lists of texts."""


class Opinion(BaseModel):
    """The model's judgement, and the JSON schema that its reply must match."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: LEVELS
    threat: THREATS
    # Some APIs can't enforce a maximum length, and a reason that is too long must not invalidate the reply.
    why: Annotated[str, BeforeValidator(_reason), Field(json_schema_extra={"maxLength": LONGEST_REASON})]


async def second_look(ask: Ask, note: Note, verdict: Verdict) -> Verdict | None:
    """Return the verdict combined with a model's judgement of a note; None if no provider can answer now.

    If the reply can't be used, ``verdict`` is returned unchanged: another request would cost money and fail again.
    """
    try:
        opinion = await ask(request(note))
    except (BadAnswerError, BadRequestError) as error:
        log.info("a model's check of a suspicious statement failed, and is not retried: %s", error.message)
        return verdict
    except ProviderError as error:
        log.info("a model's check of a suspicious statement is postponed: %s", error.message)
        return None
    return combined(verdict, opinion) if isinstance(opinion, Opinion) else None


def request(note: Note) -> Request:
    """Return the request about one note."""
    asked = prompt("poisoning", VERSION)
    shown = _shown({name: note[name] for name in SENT if note.get(name)})
    # Escaped to ASCII: no invisible characters, no change of the writing direction, no line breaks.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "note": json.dumps(shown)})
    return Request(PURPOSE, asked.system, text, Opinion, max_tokens=300)


def combined(verdict: Verdict, opinion: Opinion) -> Verdict:
    """Return the verdict of both tiers. The model may raise any level, but lower high or critical only to medium."""
    stated = Level(opinion.level)
    least = Level.MEDIUM if verdict.level.rank >= Level.HIGH.rank else Level.NONE
    level = max((stated, least), key=lambda one: one.rank)
    threat = next((one for one in Threat if one.value == opinion.threat), None)
    if threat is None and stated is not Level.NONE:
        threat = verdict.threats[0] if verdict.threats else Threat.INSTRUCTION
    why = " ".join(opinion.why.split()) or "no reason given"
    found = Finding(RULE, threat or Threat.INSTRUCTION, stated, f"a model's opinion ({stated}): {why}", "")
    return replace(verdict, level=level, findings=(*verdict.findings, found))


def _shown(note: Note) -> Note:
    """Return the fields of a note, the long ones truncated until the whole is short enough."""
    longest = LONGEST
    shown = note
    while longest > 1:
        shown = {name: _cut(value, longest) for name, value in note.items()}
        if len(json.dumps(shown)) <= LONGEST_NOTE:
            break
        longest //= 2
    return shown


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, list | tuple):
        return [_cut(one, longest) for one in value[:longest]]
    return value[:longest] if isinstance(value, str) else value
