"""Defines drafts: statements that detectors found, before they have a confidence and become candidates."""

from __future__ import annotations

from dataclasses import dataclass

from subconscious.capture.passages import LONGEST
from subconscious.domain.model import Candidate, Evidence, Origin, Strength, Turn
from subconscious.text import wording

PRACTISED = "practised-1"
"""The name of the extractor of habits: sentences with a fixed wording about commands that ran and worked."""

WRAPPER = "wrapper"
"""The name of the habit of running commands through a wrapper."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement that a detector found. ``source`` names the detector, ``signs`` are features for the scoring model.

    ``habit`` is the name of the habit that the draft states. It is set only if the draft has a fixed wording, in which
    just the commands come from the session.
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
    """Return the candidate made from a draft."""
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
