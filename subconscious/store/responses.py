"""How sessions responded to memories that they received: used, repeated or violated.

A memory is used if an assistant's reply or a tool call draws on it, repeated if the user states it again, and violated
if the user had to repeat it in a session that had received it. Only these three responses count for decay, rank and
promotion; receiving a memory does not. They are derived from the surfaces (which session received which memory), from
the recorded judgements of whether it was used, and from each memory's history.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from subconscious.domain.hits import Surface
from subconscious.store.connect import Database
from subconscious.store.merges import MERGED
from subconscious.store.rows import qmarks

ASKED_FOR = ("fork", "recall", "why", "mcp")
"""Events on which a session asked for a memory, or inherited it as a fork; such surfaces are not counted."""


@dataclass(frozen=True, slots=True)
class Responses:
    """How often a memory was used, repeated and violated.

    ``given`` is the number of ended sessions that received the memory and did some work. ``unheeded`` counts those
    that received it after its latest response and did not respond; ``followed`` counts the unheeded ones that changed
    files: probably they followed the memory, because the user had no reason to repeat it.
    """

    used: int = 0
    repeated: int = 0
    violated: int = 0
    unheeded: int = 0
    given: int = 0
    followed: int = 0


NONE = Responses()

_OVER = "coalesce(t.status, '') <> 'open'"
_STORY = "CASE WHEN json_valid(t.handover) THEN t.handover ELSE '{}' END"
_UNTOLD = "coalesce(t.handover, '') = ''"
"""SQL condition: the session has no hand-over, so it is unknown what the session did."""


def _tells(*parts: str) -> str:
    """Return an SQL condition: the session has no hand-over, or its hand-over has at least one of ``parts``."""
    told = ", ".join(f"json_extract({_STORY}, '$.{part}')" for part in parts)
    return f"({_UNTOLD} OR coalesce({told}, '') <> '')"


_CHANGED = _tells("done", "files", "finished")
_WORKED = _tells("done", "files", "finished", "failed", "reported")


@dataclass(slots=True)
class _History:
    """The responses to one memory, by session.

    ``given`` maps the id of a session to four values: when it received the memory, whether it used the memory, whether
    it has ended and did some work, and whether it has ended and changed files.
    ``repeated`` and ``violated`` map the id of a session to the time of its latest response of this kind.
    """

    given: dict[str, tuple[float, bool, bool, bool]] = field(default_factory=dict)
    repeated: dict[str, float] = field(default_factory=dict)
    violated: dict[str, float] = field(default_factory=dict)

    def responses(self) -> Responses:
        used = [at for at, was_used, *_ in self.given.values() if was_used]
        latest = max([*used, *self.repeated.values(), *self.violated.values()], default=0.0)
        return Responses(
            used=len(used),
            repeated=len(self.repeated.keys() - self.violated.keys()),
            violated=len(self.violated),
            unheeded=sum(at > latest and over for at, _, over, _ in self.given.values()),
            given=sum(over for _, _, over, _ in self.given.values()),
            followed=sum(at > latest and changed for at, _, _, changed in self.given.values()),
        )


async def of_memories(database: Database, ids: Sequence[int]) -> dict[int, Responses]:
    """Return the responses to each memory, by its id; memories that were never received or repeated are left out.

    A response to a memory that was merged into another one counts for that other memory.
    """
    if not ids:
        return {}
    found: defaultdict[int, _History] = defaultdict(_History)
    for row in await database.rows(_given(ids), (*ids, *ids, *ASKED_FOR)):
        given = (row["at"], bool(row["used"]), bool(row["over"]), bool(row["changed"]))
        known = found[row["memory_id"]].given
        before = known.get(row["session_id"], given)
        at, was_used = min(before[0], given[0]), before[1] or given[1]
        known[row["session_id"]] = (at, was_used, before[2] and given[2], before[3] and given[3])
    for row in await database.rows(_said(ids), (*ids, *map(str, ids))):
        known_of = found[int(row["memory_id"])]
        said = known_of.violated if row["violated"] else known_of.repeated
        said[row["session_id"]] = max(said.get(row["session_id"], 0.0), row["at"])
    return {memory_id: history.responses() for memory_id, history in found.items()}


async def received(database: Database, project_id: str) -> list[int]:
    """Return the ids of active memories that a session received, or into which a received memory was merged."""
    rows = await database.rows(
        "SELECT m.id FROM memories AS m WHERE m.project_id = ? AND m.archived_at IS NULL"  # noqa: S608
        " AND (EXISTS (SELECT 1 FROM surfaces WHERE memory_id = m.id)"
        f" OR m.id IN (SELECT into_id FROM {MERGED} AS gone JOIN surfaces AS s ON s.memory_id = gone.memory_id))",
        (project_id,),
    )
    return [row[0] for row in rows]


async def of_surfaces(database: Database, given: Sequence[Surface]) -> list[str]:
    """Return how the session of each surface responded to its memory; "" if that is not known yet.

    Examples are "used: ...", "not used" and "violated: ...".
    """
    ids = list({surface.memory_id for surface in given})
    judged = await database.rows(
        "SELECT s.session_id, s.memory_id, s.at, o.used, o.reason FROM surfaces AS s"  # noqa: S608
        f" JOIN surface_outcomes AS o ON o.surface_id = s.id WHERE s.memory_id IN ({qmarks(ids)})",
        ids,
    )
    uses = {(row["session_id"], row["memory_id"], row["at"]): (row["used"], row["reason"]) for row in judged}
    said = await database.rows(_said(ids), (*ids, *map(str, ids))) if ids else ()
    violated: dict[tuple[str, int], float] = {}
    for row in (row for row in said if row["violated"]):
        place = (row["session_id"], int(row["memory_id"]))
        violated[place] = max(violated.get(place, 0.0), row["at"])
    return [_became(surface, uses, violated) for surface in given]


def _became(
    surface: Surface, uses: Mapping[tuple[str, int, float], tuple[int, str]], violated: Mapping[tuple[str, int], float]
) -> str:
    if violated.get((surface.session_id, surface.memory_id), 0.0) >= surface.at:
        return "violated: the user said it again"
    used, why = uses.get((surface.session_id, surface.memory_id, surface.at), (None, ""))
    if used is None:
        return ""
    return f"used: {why}" if used else "not used"


def _given(ids: Iterable[int]) -> str:
    """Return SQL that selects the sessions that received each memory; a session without a record counts as ended.

    ``over`` is also false for a session whose hand-over mentions nothing that was done, reported or failed: the user
    only said hello, or refused a proposal. Such a session does not show whether a memory is useful.
    """
    return (
        "WITH meant (id, into_id) AS (SELECT id, id FROM memories WHERE id IN"  # noqa: S608
        f" ({qmarks(ids)}) UNION SELECT memory_id, into_id FROM {MERGED} WHERE into_id IN ({qmarks(ids)}))"
        " SELECT meant.into_id AS memory_id, s.session_id, min(s.at) AS at, max(coalesce(o.used, 0)) AS used,"
        f" max({_OVER} AND {_WORKED}) AS over, max({_OVER} AND {_CHANGED}) AS changed"
        " FROM meant CROSS JOIN surfaces AS s ON s.memory_id = meant.id"
        " LEFT JOIN surface_outcomes AS o ON o.surface_id = s.id LEFT JOIN sessions AS t ON t.id = s.session_id"
        f" WHERE s.event NOT IN ({qmarks(ASKED_FOR)}) GROUP BY 1, 2"
    )


def _said(ids: Iterable[int]) -> str:
    """Return SQL that selects all repetitions of each memory, and whether each repetition was a violation."""
    return (
        "SELECT m.id AS memory_id, m.session_id, m.said_at AS at, 0 AS violated FROM memories AS m"  # noqa: S608
        f" WHERE m.id IN ({qmarks(ids)}) AND m.session_id IS NOT NULL AND EXISTS"
        f" (SELECT 1 FROM {MERGED} AS gone JOIN memories AS old ON old.id = gone.memory_id"
        "  WHERE gone.into_id = m.id AND old.session_id IS NOT m.session_id)"
        " UNION ALL SELECT subject_id, session_id, at, action = 'violated' FROM events"
        " WHERE subject = 'memory' AND action IN ('recur', 'violated')"
        f" AND session_id IS NOT NULL AND subject_id IN ({qmarks(ids)})"
    )
