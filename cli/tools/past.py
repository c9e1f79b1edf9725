"""Tools on what was: sessions, what they were given, and how the memory is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from subconscious.errors import NotFoundError

from .arguments import Nothing, SessionId, Sessions
from .results import Happening, Meeting, Meetings, SessionDetail, State
from .tiers import cut, day, fitting
from .tool import Asking, Layer, Tool

LONGEST_TITLE = 160
LONGEST_SUMMARY = 800
MOST_GIVEN = 20


def meeting(session: Mapping[str, Any], tier: str) -> Meeting:
    """A session of the daemon's answer."""
    told: dict[str, Any] = {
        "id": session["id"],
        "day": day(session["last_event_at"]),
        "title": cut(session["title"] or session["first_prompt"], LONGEST_TITLE),
        "status": session["status"],
        "left_open": cut(session["left_open"], LONGEST_TITLE),
    }
    if tier != "minimal":
        told |= {"branch": session["branch"], "turns": session["turns"], "tags": list(session["tags"])}
        told["summary"] = cut(session["summary"], LONGEST_SUMMARY)
    return Meeting(**told)


def happenings(events: Iterable[tuple[float, str, str]], room: int) -> list[Happening]:
    """As many of the events as fit."""
    told = [Happening(day=day(at), what=what, reason=cut(reason or "", LONGEST_TITLE)) for at, what, reason in events]
    return fitting(told, Layer.DETAIL, room)


def sessions(wish: Sessions, daemon: Asking) -> Meetings:
    """A page of this project's sessions, the latest first."""
    last = wish.offset + wish.limit
    found = daemon.ask("sessions", limit=last + 1)["sessions"]
    kept = fitting([meeting(one, wish.tier) for one in found[wish.offset : last]], Layer.EXPLORATION)
    seen = wish.offset + len(kept)
    return Meetings(sessions=kept, next=seen if kept and seen < len(found) else 0)


def session(wish: SessionId, daemon: Asking) -> SessionDetail:
    """One session: what it was about, where it stopped, what it was given."""
    found = daemon.ask("sessions", session_id=wish.session_id)["sessions"]
    own = [one for one in found if one["project_id"] == daemon.project]
    if len(own) != 1:
        what = "no session" if not own else "more than one session"
        raise NotFoundError(f"{what} of this project begins with {wish.session_id}", "`memory_sessions` lists them")
    whole = meeting(own[0], "standard").model_copy(update={"last_prompt": cut(own[0]["last_prompt"], LONGEST_SUMMARY)})
    given = daemon.ask("why_surfaced", session_id=own[0]["id"], limit=MOST_GIVEN)["surfaces"]
    told = [(one["at"], f"{one['event']}: [{one['memory_id']}] {one['summary']}", one["reason"]) for one in given]
    return SessionDetail(session=whole, given=happenings(told, Layer.DETAIL.room // 2))


def status(wish: Nothing, daemon: Asking) -> State:
    """How much is remembered, what waits for a person, what is wrong."""
    del wish
    answer = daemon.ask("status")
    return State(
        version=answer["version"],
        active=answer["memories"]["active"],
        here=answer["memories"]["project"],
        waiting_for_review=answer["review"],
        quarantined=answer["quarantined"],
        warnings=answer["warnings"],
    )


TOOLS = (
    Tool(
        "memory_sessions",
        Layer.EXPLORATION,
        "This project's past sessions, latest first: titles, summaries, what was left open.",
        Sessions,
        Meetings,
        ("sessions",),
        sessions,
    ),
    Tool(
        "memory_session",
        Layer.DETAIL,
        "One past session: summary, last prompt, which memories it was given and why.",
        SessionId,
        SessionDetail,
        ("sessions", "why_surfaced"),
        session,
    ),
    Tool(
        "memory_status",
        Layer.DISCOVERY,
        "Counts, what waits for the user's review, warnings.",
        Nothing,
        State,
        ("status",),
        status,
    ),
)
