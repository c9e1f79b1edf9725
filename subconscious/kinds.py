"""The registry of kinds: what sorts of things are remembered.

To add a kind, add a row; the extractor's cues, validation, the listing in docs and half-lives derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One row: ``half_life`` in days, None for kinds that never decay."""

    name: str
    meaning: str
    category: str
    half_life: float | None


KINDS: dict[str, Kind] = {
    row.name: row
    for row in (
        Kind("decision", "what was decided, and why", "semantic", 180),
        Kind("learning", "what was found out about the code or its world", "semantic", 180),
        Kind("blocker", "what stands in the way", "episodic", 30),
        Kind("progress", "how far the work has come", "episodic", 7),
        Kind("preference", "how the user wants things done", "procedural", 180),
        Kind("lesson", "what a correction taught", "procedural", 365),
        Kind("dead_end", "what was tried and did not work", "episodic", 180),
        Kind("pattern", "what keeps coming back", "procedural", 90),
        Kind("research", "what was read and compared", "semantic", 60),
        Kind("review", "what a review said", "episodic", 90),
        Kind("retrospective", "what went well and what did not", "episodic", 90),
        Kind("inception", "how something began, and its aim", "semantic", 180),
        Kind("elicitation", "what was asked for, and answered", "semantic", 90),
        Kind("meta", "what several memories say together", "semantic", None),
    )
}
