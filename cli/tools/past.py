"""Tools on past sessions, and on the status of Subconscious."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from subconscious.domain.errors import NotFoundError

from .arguments import NoArguments, SessionId, Sessions
from .results import Event, SessionDetail, SessionPage, SessionSummary, State
from .tiers import cut, day, fitting
from .tool import DaemonClient, Layer, Tool

if TYPE_CHECKING:
    from subconscious.wire.sessions import Session

MAX_TITLE_LENGTH = 160
MAX_SUMMARY_LENGTH = 800
MAX_GIVEN = 20


def session_summary(session: Session, tier: str) -> SessionSummary:
    """Return a session of the daemon's answer; the tier ``minimal`` leaves out branch, turns, tags and summary."""
    values: dict[str, Any] = {
        "id": session["id"],
        "day": day(session["last_event_at"]),
        "title": cut(session["title"] or session["first_prompt"], MAX_TITLE_LENGTH),
        "status": session["status"],
        "left_open": cut(session["left_open"], MAX_TITLE_LENGTH),
    }
    if tier != "minimal":
        values |= {"branch": session["branch"], "turns": session["turns"], "tags": list(session["tags"])}
        values["summary"] = cut(session["summary"], MAX_SUMMARY_LENGTH)
    return SessionSummary(**values)


def fitting_events(events: Iterable[tuple[float, str, str]], max_characters: int) -> list[Event]:
    """Return as many of the events (time, description, reason) as fit."""
    values = [Event(day=day(at), what=what, reason=cut(reason or "", MAX_TITLE_LENGTH)) for at, what, reason in events]
    return fitting(values, Layer.DETAIL, max_characters)


def sessions(arguments: Sessions, daemon: DaemonClient) -> SessionPage:
    """Return a page of this project's sessions, the latest first."""
    last = arguments.offset + arguments.limit
    found = daemon.ask("sessions", limit=last + 1)["sessions"]
    kept = fitting([session_summary(one, arguments.tier) for one in found[arguments.offset : last]], Layer.EXPLORATION)
    seen = arguments.offset + len(kept)
    return SessionPage(sessions=kept, next=seen if kept and seen < len(found) else 0)


def session(arguments: SessionId, daemon: DaemonClient) -> SessionDetail:
    """Return a session with its summary, its last prompt and the memories that it was shown."""
    found = daemon.ask("sessions", session_id=arguments.session_id)["sessions"]
    own = [one for one in found if one["project_id"] == daemon.project]
    if len(own) != 1:
        what = "no session" if not own else "more than one session"
        raise NotFoundError(
            f"{what} of this project has an id that begins with {arguments.session_id}",
            "`memory_sessions` lists the sessions",
        )
    whole = session_summary(own[0], "standard").model_copy(
        update={"last_prompt": cut(own[0]["last_prompt"], MAX_SUMMARY_LENGTH)}
    )
    given = daemon.ask("why_surfaced", session_id=own[0]["id"], limit=MAX_GIVEN)["surfaces"]
    values = [(one["at"], f"{one['event']}: [{one['memory_id']}] {one['summary']}", one["reason"]) for one in given]
    return SessionDetail(session=whole, given=fitting_events(values, Layer.DETAIL.max_characters // 2))


def status(arguments: NoArguments, daemon: DaemonClient) -> State:
    """Return the number of memories, the captures that wait for a person, and warnings."""
    del arguments
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
        SessionPage,
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
        NoArguments,
        State,
        ("status",),
        status,
    ),
)
