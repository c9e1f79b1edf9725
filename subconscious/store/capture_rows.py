"""Converts captures to rows and back, and candidates and their assessments to column values."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, cast

from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Origin, Scope, Strength, Verdict
from subconscious.store.rows import column_values, content_hash, json_values
from subconscious.wire.captures import Capture

TABLE = "implicit_captures"
DAY = 86_400.0
STATUS = {
    Decision.AUTO: "captured",
    Decision.REVIEW: "review",
    Decision.QUARANTINE: "quarantined",
    Decision.DISCARD: "discarded",
}
QUARANTINED = "quarantined"
"""The status of a quarantined capture, stored as `discarded` plus a flag.

Older versions of the program, which don't know the flag, treat such a row as discarded.
"""

UNCONFIRMED = "unconfirmed"
"""The status of a capture that waits for review and has an unconfirmed memory; stored as `review` plus the memory's id.

A decision on the capture, or its expiry, also ends the memory's unconfirmed state.
"""

SHOWN_STATUS = (
    f"CASE WHEN quarantined THEN '{QUARANTINED}' WHEN status = 'review' AND memory_id IS NOT NULL THEN '{UNCONFIRMED}'"
    " ELSE status END"
)
"""SQL expression for the status that callers see: `quarantined` and `unconfirmed` are stored as other statuses."""


@dataclass(frozen=True, slots=True)
class SessionRef:
    """The project and session that a candidate comes from."""

    project_id: str
    session_id: str | None


def capture_key(candidate: Candidate) -> str:
    """Return a key that identifies a statement and its place in the transcript.

    If a turn is read twice, from a resumed file or by a retried job, the key is the same. For a model's candidates, the
    key also depends on the wording, so it differs from the key of a capture that rules made from the same quote.
    """
    quote = content_hash(candidate.evidence.quote)
    said = f"\0{content_hash(candidate.content)}" if candidate.by_model else ""
    return hashlib.sha256(f"{candidate.evidence.turn_id}\0{quote}\0{candidate.kind}{said}".encode()).hexdigest()[:32]


def admission_columns(admission: Admission) -> dict[str, Any]:
    """Return the results of the admission gate and the poisoning check as column values."""
    held = admission.decision is Decision.QUARANTINE
    return {
        "status": "discarded" if held else STATUS[admission.decision],
        "decision": (Decision.DISCARD if held else admission.decision).value,
        "quarantined": int(held),
        "reason": admission.reason,
        "confidence": admission.confidence,
        "reservation": admission.reservation,
        **verdict_columns(admission.verdict or Verdict()),
    }


def verdict_columns(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as column values."""
    findings = json.dumps([asdict(finding) for finding in verdict.findings], ensure_ascii=False)
    return {"level": verdict.level.value, "verdict": findings, "rules": verdict.rules}


def capture_from(row: Any) -> Capture:
    """Return the capture in a row, with parsed findings and the status that callers see (see ``SHOWN_STATUS``)."""
    capture = json_values(row) | {"verdict": json.loads(row["verdict"]), "quarantined": bool(row["quarantined"])}
    if capture["quarantined"]:
        capture |= {"status": QUARANTINED, "decision": Decision.QUARANTINE.value}
    elif capture["status"] == "review" and capture["memory_id"] is not None:
        capture["status"] = UNCONFIRMED
    return cast("Capture", capture)


def candidate_columns(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as column values."""
    values = column_values(candidate)
    quoted = values.pop("evidence")
    del values["reason"], values["support"]
    return values | {
        "said_at": values.pop("time"),
        "evidence": quoted["quote"],
        "turn_id": quoted["turn_id"],
        "transcript": quoted["file"],
        "byte_start": quoted["start"],
        "byte_end": quoted["end"],
    }


def candidate_from(capture: Capture) -> Candidate:
    """Rebuild the candidate from which a capture was made."""
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
        kind=capture["kind"],
        summary=capture["summary"],
        content=capture["content"],
        raw_confidence=capture["raw_confidence"],
        extractor=capture["extractor"],
        rationale=capture["rationale"],
        sentiment=capture["sentiment"],
        branch=capture["branch"],
    )


def status_columns(status: str) -> dict[str, Any]:
    """Return the columns that store a status: `quarantined` as `discarded` plus a flag, `unconfirmed` as `review`."""
    held = status == QUARANTINED
    plain = {QUARANTINED: "discarded", UNCONFIRMED: "review"}.get(status, status)
    return {"status": plain, "quarantined": int(held)}
