"""Tier 2: a model's opinion on what was flagged, asked so that the flagged text can't answer for it.

The text stands as JSON between markers of a random number that it can't know; the answer is a choice among fixed words.
Whatever goes wrong, the first tier's verdict stays. A model alone never sets free what the patterns hold for dangerous.
"""

from __future__ import annotations

import json
import logging
import secrets
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from subconscious.errors import BadAnswerError, BadRequestError, ProviderError
from subconscious.model import Finding, Level, Threat, Verdict
from subconscious.prompts import prompt
from subconscious.providers import Ask, Request

log = logging.getLogger("subconscious.poisoning")

PURPOSE = "poisoning"
VERSION = 1
RULE = "second-look"
LONGEST = 6_000
"""Characters of each part of a note that are sent."""

LONGEST_NOTE = 12_000
"""Characters of a whole note as it is sent, escapes included: they bound the tokens of a question."""

LONGEST_REASON = 400

TOLD = ("kind", "content", "evidence", "rationale", "tags", "files", "origin")
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


class Opinion(BaseModel):
    """The only shape that an answer may have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: LEVELS
    threat: THREATS
    # Some APIs take no bound on a text: a reason that is too long must not cost the verdict.
    why: Annotated[str, BeforeValidator(_reason), Field(json_schema_extra={"maxLength": LONGEST_REASON})]


async def second_look(ask: Ask, note: dict[str, Any], verdict: Verdict) -> Verdict | None:
    """Ask about a flagged note; return the verdict with the answer, or None if the provider can't be asked now.

    An answer that can't be used leaves the first verdict as it is: another try would be paid for and end alike.
    """
    try:
        opinion = await ask(request(note))
    except (BadAnswerError, BadRequestError) as error:
        log.info("a second look is given up: %s", error.message)
        return verdict
    except ProviderError as error:
        log.info("no second look: %s", error.message)
        return None
    return weighed(verdict, opinion) if isinstance(opinion, Opinion) else None


def request(note: dict[str, Any]) -> Request:
    """The question about one note."""
    asked = prompt("poisoning", VERSION)
    shown = _shown({name: note[name] for name in TOLD if note.get(name)})
    # Escaped to ASCII: no invisible sign, no other direction of writing, no line of its own.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "note": json.dumps(shown)})
    return Request(PURPOSE, asked.system, text, Opinion, max_tokens=300)


def weighed(verdict: Verdict, opinion: Opinion) -> Verdict:
    """Join both tiers: a model may make it worse without limit, better only down to medium where patterns say high."""
    said = Level(opinion.level)
    least = Level.MEDIUM if verdict.level.rank >= Level.HIGH.rank else Level.NONE
    level = max((said, least), key=lambda one: one.rank)
    threat = next((one for one in Threat if one.value == opinion.threat), None)
    if threat is None and said is not Level.NONE:
        threat = verdict.threats[0] if verdict.threats else Threat.INSTRUCTION
    why = " ".join(opinion.why.split()) or "no reason given"
    found = Finding(RULE, threat or Threat.INSTRUCTION, said, f"a model's opinion ({said}): {why}", "")
    return replace(verdict, level=level, findings=(*verdict.findings, found))


def _shown(note: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a note, the long ones cut until the whole is short enough to be sent."""
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
