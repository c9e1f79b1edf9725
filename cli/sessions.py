"""``subconscious sessions``, ``capture`` and ``why-surfaced``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from subconscious.domain.errors import NotFoundError, TranscriptError

from . import screen, suspicion
from .ask import ask, here
from .origin import origin, require_person
from .review import card

if TYPE_CHECKING:
    from subconscious.wire.sessions import ExplainedSurface, Session, SuppressedMemory, WhySurfacedResult

MAX_ID_DIGITS = 15
"""The most digits of a memory's id; a longer number is taken for a session's id."""

READING_SECONDS = 600.0
"""Seconds that reading a transcript may take: one can contain a month of work."""


def capture(options: Namespace) -> None:
    """Learn from a transcript and print the new captures."""
    require_person("learn from a transcript")
    transcript = Path(options.transcript).expanduser().absolute()
    if not transcript.is_file():
        place = "Claude Code keeps transcripts in ~/.claude/projects/*/*.jsonl"
        raise TranscriptError(f"there is no file {transcript}", place)
    answer = ask("capture", READING_SECONDS, transcript=str(transcript), cwd=here(), origin="user")
    if options.json:
        screen.as_json(answer)
        return
    captures = answer["captures"]
    print(f"{screen.counted(answer['turns'], 'turn')} read, {screen.counted(len(captures), 'new capture')}.")
    for found in captures:
        card(found)


def sessions(options: Namespace) -> None:
    """Print sessions, the latest first, or one in full."""
    asked = {"everywhere": options.everywhere or None, "limit": options.limit, "session_id": options.id}
    found = ask("sessions", cwd=here(), **asked)["sessions"]
    if options.id and not found:
        raise NotFoundError(f"there is no session {options.id}", "`subconscious sessions` shows those that exist")
    if options.json:
        screen.as_json(found)
        return
    for session in found:
        _print_session(session)
        if options.id:
            _print_whole(session)
        elif session["status"] == "interrupted" and session["left_open"]:
            print(screen.wrapped(f"left open: {screen.line(session['left_open'])}", 4))
    if not found:
        print("No session has been recorded here yet. Install the plugin, then start Claude Code in this project.")


def _print_session(session: Session) -> None:
    began = screen.line(session["title"] or session["first_prompt"]) or "(no prompt)"
    print(screen.wrapped(began if len(began) <= 160 else f"{began[:159]}…", 4))
    details = [
        session["status"],
        screen.when(session["last_event_at"]),
        screen.counted(session["turns"], "turn"),
    ]
    marks = [*details, *filter(None, [session["branch"]])]
    for words in (screen.listed(marks), screen.listed(session["tags"]), screen.line(session["id"])):
        if words:
            print(screen.paint(screen.wrapped(words, 4), "dim"))


def _print_whole(session: Session) -> None:
    """Print the summary and the data of a session."""
    last = screen.line(session["last_prompt"])
    screen.fields(
        (
            ("summary", screen.line(session["summary"])),
            ("left open", screen.line(session["left_open"])),
            ("last prompt", last if len(last) <= 300 else f"{last[:299]}…"),
            ("began", screen.stamp(session["started_at"])),
            ("folder", screen.line(session["cwd"])),
            ("transcript", screen.line(session["transcript"])),
        )
    )


def why_surfaced(options: Namespace) -> None:
    """Print the memories that sessions were shown, each with its reason, ranks and decay, and whether it was used."""
    what = options.what or ""
    number = int(what) if what.isascii() and what.isdigit() and len(what) <= MAX_ID_DIGITS else None
    session = options.session or (what if number is None else None)
    asked = {"id": number, "session_id": session or None, "limit": options.limit}
    answer = ask("why_surfaced", cwd=here(), origin=origin(), **asked)
    surfaces = answer["surfaces"]
    if options.json:
        screen.as_json(surfaces)
        return
    for surface in surfaces:
        _print_surface(surface)
    for suppressed in answer["held"]:
        _print_suppressed(suppressed)
    for handover in answer.get("handovers", ()):
        source = screen.line(handover["from_id"])
        words = f"hand-over of session {source} ({handover['event']}, {screen.when(handover['at'])})"
        print(screen.paint(screen.wrapped(words, 6), "dim"))
    if answer.get("responses"):
        print(screen.wrapped(f"{_responded(answer)}.", 4))
    if not (surfaces or answer.get("handovers")):
        print(_nothing_given(number, session))


def _nothing_given(number: int | None, session: str | None) -> str:
    if session:
        why = f"Session {screen.line(session)} was shown no memory. If several ids begin like this, type more of it."
        return f"{why}\n  to list sessions: subconscious sessions"
    if number is not None:
        return "This memory has not been shown to a session yet."
    return "No memory has been shown to a session yet. Memories are shown when a session starts."


def _responded(answer: WhySurfacedResult) -> str:
    """Return how sessions responded to a memory, and whether new sessions no longer start with it for that reason."""
    responses = answer["responses"]
    times = {"used": responses["used"], "repeated": responses["repeated"], "violated": responses["violated"]}
    counts = ", ".join(f"{name} {screen.counted(number, 'time')}" for name, number in times.items())
    since = screen.counted(responses["unheeded"], "session")
    out = ", so sessions do not start with it any more (repeat it, or pin it)" if answer.get("left_out") else ""
    return f"In total: {counts}; the last {since} did not use it{out}"


def _print_suppressed(suppressed: SuppressedMemory) -> None:
    when = f"{suppressed['event']}, {screen.when(suppressed['at'])}, session {suppressed['session_id']}"
    words = screen.line(f"held back: {suppressed['why']} ({when})")
    print(screen.paint(screen.wrapped(words, 6, f"{suppressed['memory_id']:>4}"), "dim"))


def _print_surface(surface: ExplainedSurface) -> None:
    print(screen.wrapped(screen.line(surface["summary"]), 6, f"{surface['memory_id']:>4}"))
    suspicion.note(surface)
    ranks = [f"{hit['engine']} rank {hit['rank']} ({hit['score']:.3g})" for hit in surface["engines"]]
    details = [
        f"position {surface['position']}",
        f"relevance {surface['relevance']:.2f}",
        f"decay {surface['decay']:.2f}",
        *([f"priority {surface['priority']:+.2f}"] if surface["priority"] else []),
        *ranks,
    ]
    given = f"{surface['event']}, {screen.when(surface['at'])}, session {surface['session_id']}"
    limits_passed = [f"{name} {how}" for name, how in surface["limits"].items()]
    about = f"file: {surface['about']}" if surface["about"] else ""
    limits = f"limits: {', '.join(limits_passed)}" if limits_passed else ""
    response = f"then: {surface['response']}" if surface.get("response") else ""
    for words in filter(None, (given, f"why: {surface['reason']}", screen.listed(details), about, limits, response)):
        print(screen.paint(screen.wrapped(screen.line(words), 6), "dim"))
