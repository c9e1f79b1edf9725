"""The registry of kinds: what sorts of things are remembered.

To add a kind, add a row; validation, the model's schema, half-lives, promotion and searches by kind derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One row: ``half_life`` in days, None for kinds that never decay.

    ``worth`` is what it saves to know a memory of this kind, from 1 to 10, before its words are looked at: 4 to 6 is
    minutes, from 7 on hours. ``asked`` is a pattern of the words by which a search asks for the kind.
    """

    name: str
    meaning: str
    category: str
    half_life: float | None
    worth: float = 3.0
    asked: str = ""


KINDS: dict[str, Kind] = {
    row.name: row
    for row in (
        Kind(
            *("decision", "what was decided, and why", "semantic", 180, 5.0),
            asked="decisions|decided|decide|(?:which|what) decision",
        ),
        Kind("learning", "what was found out about the code or its world", "semantic", 180, 4.0, "learnings"),
        Kind("blocker", "what stands in the way", "episodic", 30, 7.0, "blockers|blocked by"),
        Kind("progress", "how far the work has come", "episodic", 7, 2.0, "how far"),
        Kind("preference", "how the user wants things done", "procedural", 180, 4.0, "preferences|prefers?|preferred"),
        Kind("lesson", "what a correction taught", "procedural", 365, 5.0, "lessons"),
        Kind("dead_end", "what was tried and did not work", "episodic", 180, 6.0, "dead[- ]ends?"),
        Kind("pattern", "what keeps coming back", "procedural", 90, 5.0, "(?:which|what|our) patterns?"),
        Kind("research", "what was read and compared", "semantic", 60, 3.0, "(?:what|our|the) research"),
        Kind("review", "what a review said", "episodic", 90, 3.0),
        Kind("retrospective", "what went well and what did not", "episodic", 90, 3.0, "retrospectives?"),
        Kind("inception", "how something began, and its aim", "semantic", 180, 4.0),
        Kind("elicitation", "what was asked for, and answered", "semantic", 90, 3.0),
        Kind("meta", "what several memories say together", "semantic", None, 5.0),
    )
}
