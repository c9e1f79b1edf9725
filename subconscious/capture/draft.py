"""A candidate before it has a confidence: what would be remembered, and what speaks for and against it."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.capture import wording
from subconscious.capture.passages import LONGEST
from subconscious.model import Candidate, Evidence, Origin, Strength, Turn

PRACTISED = "practised-1"
"""The extractor of habits: our wording around commands that ran and worked."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One row of what an extractor found. ``source`` names where it comes from, ``signs`` what the model weighs.

    ``habit`` names the habit that is told, where no word of the content but commands that were run is anybody's.
    """

    turn: Turn
    kind: str
    content: str
    quote: str
    source: str
    strength: Strength = Strength.INFERRED
    signs: tuple[str, ...] = ()
    origin: Origin | None = None
    files: tuple[str, ...] = ()
    summary: str = ""
    reason: str = ""
    habit: str = ""


def candidate(draft: Draft, confidence: float, extractor: str) -> Candidate:
    """Make the candidate of a draft."""
    turn = draft.turn
    content = wording.cut_clause(wording.squeeze(draft.content), LONGEST).strip()
    return Candidate(
        kind=draft.kind,
        summary=wording.shorten(draft.summary or content, wording.SUMMARY_LENGTH),
        content=content,
        evidence=Evidence(draft.quote, turn.id, turn.file, turn.start, turn.end),
        origin=draft.origin or turn.origin,
        strength=draft.strength,
        raw_confidence=round(confidence, 2),
        extractor=PRACTISED if draft.habit else extractor,
        time=turn.time,
        reason=draft.reason or draft.source,
        rationale=wording.rationale(content),
        sentiment=wording.sentiment(content),
        branch=turn.branch,
        tags=(draft.habit,) if draft.habit else wording.tags(content),
        files=tuple(dict.fromkeys((*wording.files(content), *draft.files)))[:10],
    )
