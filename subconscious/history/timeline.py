"""The timeline: changes (acts) and memories shown to sessions, in one list, latest first, a page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, cast

from subconscious.app import App
from subconscious.domain.model import Memory
from subconscious.history.act_details import effect_of, linked, linked_pairs, still_holds
from subconscious.history.undoing import speaker_of
from subconscious.poisoning.suspicions import noted, of_events
from subconscious.store import events, memories, responses, reversal, sessions, subjects, surfaces
from subconscious.store.subjects import FINAL
from subconscious.store.surfaces import NumberedSurface
from subconscious.wire.history import Event
from subconscious.wire.page import ActItem, GivenItem, LatestResult, TimelineResult

NEWEST = 2**53
PAGE = 200
MOST_PAGES = 10
"""The most pages of events that one request reads: otherwise a project with few changes would read all events."""

MOST_LINKS = 3
"""The most links of one act that are listed."""

LEFT_OUT = ("surface_outcome", "reading", "question", "prompt", "typed", "failure")
"""Subjects that the timeline leaves out, because their events are a session's bookkeeping."""

HEADLINES = ("memory", "correction", "merge", "link", "capture", "session", "settings")
"""Subjects in order of importance: an act is described by its event with the first of these subjects."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The start of a page: the page contains only events and surfaces (memories shown to sessions) with lower ids."""

    event: int = NEWEST
    surface: int = NEWEST


async def page(app: App, start: Cursor, limit: int, project_id: str | None) -> TimelineResult:
    """Return a page of the timeline, the cursor of the next page, and the titles of the sessions in it."""
    acts = await _acts(app, start.event, limit, project_id)
    given = await _given(app, start.surface, limit, project_id)
    taken = sorted([*acts, *given], key=lambda row: -float(row["at"]))[:limit]
    rows = [{name: value for name, value in row.items() if name != "cursor"} for row in taken]
    return {
        "items": cast("list[ActItem | GivenItem]", rows),
        "next": _next(start, taken, limit),
        "sessions": await _titles(app, taken),
    }


def _next(start: Cursor, taken: Sequence[Mapping[str, Any]], limit: int) -> LatestResult | None:
    """Return the cursor of the page after the rows that were taken; None if there are no more rows."""
    if len(taken) < limit:
        return None
    lowest = {sort: [row["cursor"] for row in taken if row["sort"] == sort] for sort in ("change", "given")}
    return {"event": min([start.event, *lowest["change"]]), "surface": min([start.surface, *lowest["given"]])}


async def _acts(app: App, before: int, limit: int, project_id: str | None) -> list[dict[str, Any]]:
    """Return the latest acts, each with its most important event."""
    found: dict[str, list[Event]] = {}
    for _ in range(MOST_PAGES):
        rows = await events.page(app.database, before, PAGE, excluded=LEFT_OUT)
        wanted = rows if project_id is None else await subjects.events_of_project(app.database, rows, project_id)
        for event in filter(_is_shown, wanted):
            found.setdefault(reversal.act_id(event), []).append(event)
        # One act more than needed, because the events of the last act may continue on the next page.
        if len(rows) < PAGE or len(found) > limit:
            break
        before = rows[-1]["id"]
    acts = list(found.values())[:limit]
    heads = [_head(act) for act in acts]
    known = await subjects.titles(app.database, heads)
    suspected = await of_events(app.database, heads)
    involved = await _involved(app, acts, heads)
    return [
        _act_row(act, head, known, suspected) | _details(act, head, involved)
        for act, head in zip(acts, heads, strict=True)
    ]


async def _involved(app: App, acts: Sequence[Sequence[Event]], heads: Sequence[Event]) -> Mapping[int, Memory]:
    """Return, by id, the memories that are the subjects of ``heads``, and the memories that the acts linked."""
    ids = {int(head["subject_id"]) for head in heads if head["subject"] == "memory"}
    ids.update(*(pair[1:] for pair in chain.from_iterable(map(linked_pairs, acts))))
    return await memories.get_many(app.database, sorted(ids))


def _details(act: Sequence[Event], head: Event, known: Mapping[int, Memory]) -> dict[str, Any]:
    memory = known.get(int(head["subject_id"])) if head["subject"] == "memory" else None
    return {
        "effect": effect_of(head),
        "holds": still_holds(head, memory),
        "linked": linked(linked_pairs(act)[:MOST_LINKS], known),
    }


def _is_shown(event: Event) -> bool:
    first = event["subject"] == "settings" and event["before"] is None  # recorded at the first start
    return (reversal.is_change(event) and not first) or event["action"] in FINAL


def _head(act: Sequence[Event]) -> Event:
    ranks = {name: rank for rank, name in enumerate(HEADLINES)}
    return min(act, key=lambda event: ranks.get(event["subject"], len(ranks)))


def _act_row(
    act: Sequence[Event], head: Event, known: Mapping[tuple[str, str], str], suspected: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    thing = (head["subject"], head["subject_id"])
    alike = {event["subject_id"] for event in act if (event["subject"], event["action"]) == (thing[0], head["action"])}
    return {
        "sort": "change",
        "cursor": min(event["id"] for event in act),
        **{name: head[name] for name in ("id", "at", "actor", "action", "subject", "subject_id", "reason")},
        "session_id": head["session_id"] or _session_of(head),
        "about": known.get(thing, ""),
        "number": len(alike),
        "speaker": speaker_of(act),
        "change": any(map(reversal.is_change, act)) and not any(event["action"] in FINAL for event in act),
    } | noted(suspected.get(thing))


def _session_of(event: Event) -> str | None:
    session_id = (event["after"] or {}).get("session_id")
    return session_id if isinstance(session_id, str) else None


async def _given(app: App, before: int, limit: int, project_id: str | None) -> list[dict[str, Any]]:
    """Return the latest events at which sessions were shown memories, each with these memories."""
    rows = await surfaces.page(app.database, before, PAGE, project_id)
    became = await responses.of_surfaces(app.database, [row.surface for row in rows])
    response = {row.id: text for row, text in zip(rows, became, strict=True)}
    known = await memories.get_many(app.database, [row.surface.memory_id for row in rows])
    grouped = [list(group) for _, group in groupby(rows, key=lambda row: _occasion(row))]
    # The last group may continue beyond the page.
    whole = grouped if len(rows) < PAGE else grouped[:-1]
    return [_given_row(group, response, {n: m.summary for n, m in known.items()}) for group in whole[:limit]]


def _occasion(row: NumberedSurface) -> tuple[str, str, float]:
    return row.surface.session_id, row.surface.event, row.surface.at


def _given_row(
    group: Sequence[NumberedSurface], response: Mapping[int, str], summaries: Mapping[int, str]
) -> dict[str, Any]:
    first = group[0].surface
    return {
        "sort": "given",
        "cursor": min(row.id for row in group),
        "at": first.at,
        "session_id": first.session_id,
        "event": first.event,
        "about": first.about,
        "memories": [
            {
                "id": row.surface.memory_id,
                "summary": summaries.get(row.surface.memory_id, ""),
                "reason": row.surface.reason,
                "relevance": row.surface.relevance,
                "response": response[row.id],
            }
            for row in sorted(group, key=lambda row: row.surface.position)
        ],
    }


async def _titles(app: App, rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the titles of sessions by id."""
    ids = {row["session_id"] for row in rows if row["session_id"]}
    found = [await sessions.get(app.database, session_id) for session_id in sorted(ids)]
    return {session.id: session.title or session.first_prompt for session in found if session is not None}
