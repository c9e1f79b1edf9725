"""Captures to rows and back: a candidate and what was judged of it, as column values."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from subconscious.model import (
    Admission,
    Candidate,
    Decision,
    Evidence,
    Origin,
    Scope,
    Strength,
    Verdict,
)
from subconscious.store.rows import content_hash, plain, stored

TABLE = "implicit_captures"
DAY = 86_400.0
SAME_NAME = (
    "kind",
    "summary",
    "content",
    "raw_confidence",
    "extractor",
    "rationale",
    "sentiment",
    "branch",
)
STATUS = {
    Decision.AUTO: "captured",
    Decision.REVIEW: "review",
    Decision.QUARANTINE: "quarantined",
    Decision.DISCARD: "discarded",
}
QUARANTINED = "quarantined"
"""A status that the table writes as discarded with a mark: whoever does not know the mark leaves such a row alone."""

UNCONFIRMED = "unconfirmed"
"""A capture that waits and of which an unconfirmed memory was made: the table writes it as one that waits, with its
memory. Whoever decides on it, or lets it expire, ends the memory's state by that alone."""

OPENED = (
    f"CASE WHEN quarantined THEN '{QUARANTINED}' WHEN status = 'review' AND memory_id IS NOT NULL THEN '{UNCONFIRMED}'"
    " ELSE status END"
)
"""SQL: the status as it is returned."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a candidate was met: its project and session."""

    project_id: str
    session_id: str | None


def capture_key(candidate: Candidate) -> str:
    """What was said where. A turn read twice, from a resumed file or a retried job, gives the same key."""
    quote = content_hash(candidate.evidence.quote)
    return hashlib.sha256(f"{candidate.evidence.turn_id}\0{quote}\0{candidate.kind}".encode()).hexdigest()[:32]


def outcome(admission: Admission) -> dict[str, Any]:
    """What the gate and the poisoning check said, as column values."""
    held = admission.decision is Decision.QUARANTINE
    return {
        "status": "discarded" if held else STATUS[admission.decision],
        "decision": (Decision.DISCARD if held else admission.decision).value,
        "quarantined": int(held),
        "reason": admission.reason,
        "confidence": admission.confidence,
        "reservation": admission.reservation,
        **judged(admission.verdict or Verdict()),
    }


def judged(verdict: Verdict) -> dict[str, Any]:
    """A verdict as column values."""
    findings = json.dumps([asdict(finding) for finding in verdict.findings], ensure_ascii=False)
    return {"level": verdict.level.value, "verdict": findings, "rules": verdict.rules}


def opened(row: Any) -> dict[str, Any]:
    """Return a row for an answer: with the status "quarantined" where it applies, and its findings parsed."""
    capture = plain(row) | {"verdict": json.loads(row["verdict"]), "quarantined": bool(row["quarantined"])}
    if capture["quarantined"]:
        capture |= {"status": QUARANTINED, "decision": Decision.QUARANTINE.value}
    elif capture["status"] == "review" and capture["memory_id"] is not None:
        capture["status"] = UNCONFIRMED
    return capture


def columns_of(candidate: Candidate) -> dict[str, Any]:
    """What a candidate says, as column values."""
    values = stored(candidate)
    quoted = values.pop("evidence")
    del values["reason"]
    return values | {
        "said_at": values.pop("time"),
        "evidence": quoted["quote"],
        "turn_id": quoted["turn_id"],
        "transcript": quoted["file"],
        "byte_start": quoted["start"],
        "byte_end": quoted["end"],
    }


def candidate_of(capture: dict[str, Any]) -> Candidate:
    """Make the candidate again from the capture that kept it."""
    return Candidate(
        evidence=Evidence(
            capture["evidence"],
            capture["turn_id"],
            capture["transcript"],
            capture["byte_start"],
            capture["byte_end"],
        ),
        origin=Origin(capture["origin"]),
        strength=Strength(capture["strength"]),
        scope=Scope(capture["scope"]),
        time=capture["said_at"],
        tags=tuple(capture["tags"]),
        files=tuple(capture["files"]),
        **{name: capture[name] for name in SAME_NAME},
    )


def written(status: str) -> dict[str, Any]:
    """A status as the table has it, and the mark beside it."""
    held = status == QUARANTINED
    plain = {QUARANTINED: "discarded", UNCONFIRMED: "review"}.get(status, status)
    return {"status": plain, "quarantined": int(held)}
