"""Tier 2: a model's opinion on what was flagged, asked so that the flagged text can't answer for it.

The text stands as JSON between markers of a random number that it can't know; the answer is a choice among fixed words.
Whatever goes wrong, the first tier's verdict stays. A model alone never sets free what the patterns hold for dangerous.
"""

from __future__ import annotations

import json
import logging
import secrets
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from subconscious.errors import ProviderError
from subconscious.model import Finding, Level, Threat, Verdict
from subconscious.prompts import prompt
from subconscious.providers import Ask, Request

log = logging.getLogger("subconscious.poisoning")

PURPOSE = "poisoning"
VERSION = 1
RULE = "second-look"
LONGEST = 6_000
"""Characters of each part of a note that are sent."""

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


class Opinion(BaseModel):
    """The only shape that an answer may have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: LEVELS
    threat: THREATS
    why: str = Field(max_length=400)


async def second_look(ask: Ask, note: dict[str, Any], verdict: Verdict) -> Verdict | None:
    """Ask about a flagged note; the verdict as it is then, or None when there was no answer to go by."""
    try:
        opinion = await ask(request(note))
    except ProviderError as error:
        log.info("no second look: %s", error.message)
        return None
    if not isinstance(opinion, Opinion):
        return None
    return weighed(verdict, opinion)


def request(note: dict[str, Any]) -> Request:
    """The question about one note."""
    asked = prompt("poisoning", VERSION)
    shown = {name: _short(note[name]) for name in TOLD if note.get(name)}
    # Escaped to ASCII: no invisible sign, no other direction of writing, no line of its own.
    text = asked.text.format_map({"nonce": secrets.token_hex(16), "note": json.dumps(shown, ensure_ascii=True)})
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


def _short(value: Any) -> Any:
    return value[:LONGEST] if isinstance(value, str) else value
