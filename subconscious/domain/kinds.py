"""The registry of memory kinds, such as decision, preference and lesson.

To add a kind, add a row; validation, the schema for models, half-lives, promotion and searches by kind derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of memory; ``half_life`` is in days, None for a kind that never decays.

    ``worth`` is an estimate, from 1 to 10, of how much work a memory of this kind saves: 4 to 6 means minutes, 7 or
    more means hours. ``asked`` is a regular expression: a search whose words match it asks for this kind.
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
            *("decision", "decisions and their reasons", "semantic", 180, 5.0),
            asked="decisions|decided|decide|(?:which|what) decision",
        ),
        Kind("learning", "findings about the code or its environment", "semantic", 180, 4.0, "learnings"),
        Kind("blocker", "obstacles", "episodic", 30, 7.0, "blockers|blocked by"),
        Kind("progress", "the state of the work", "episodic", 7, 2.0, "how far"),
        Kind("preference", "how the user wants things done", "procedural", 180, 4.0, "preferences|prefers?|preferred"),
        Kind("lesson", "lessons from corrections", "procedural", 365, 5.0, "lessons"),
        Kind("dead_end", "attempts that did not work", "episodic", 180, 6.0, "dead[- ]ends?"),
        Kind("pattern", "things that recur", "procedural", 90, 5.0, "(?:which|what|our) patterns?"),
        Kind("research", "results of research", "semantic", 60, 3.0, "(?:what|our|the) research"),
        Kind("review", "results of a review", "episodic", 90, 3.0),
        Kind("retrospective", "what went well or badly", "episodic", 90, 3.0, "retrospectives?"),
        Kind("inception", "the beginning of a project and its aim", "semantic", 180, 4.0),
        Kind("elicitation", "requests and their answers", "semantic", 90, 3.0),
        Kind("meta", "a summary of several memories", "semantic", None, 5.0),
    )
}
