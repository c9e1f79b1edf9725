"""Verbs on sessions: sessions, capture, why-surfaced."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from subconscious.errors import NotFoundError, TranscriptError

from . import screen
from .ask import ask, here
from .origin import require_person
from .review import card

LONGEST_ID = 16
"""Digits from which on a number is no memory's."""

READING_SECONDS = 600.0
"""Time that reading a transcript may take: one can hold a month of work."""


def capture(options: Namespace) -> None:
    """Learn from a transcript and print what was found in it."""
    require_person("learn from a transcript")
    transcript = Path(options.transcript).expanduser().absolute()
    if not transcript.is_file():
        raise TranscriptError(f"there is no file {transcript}", "transcripts lie in ~/.claude/projects/*/*.jsonl")
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
        _tell_session(session)
        if options.id:
            _tell_whole(session)
        elif session["status"] == "interrupted" and session["left_open"]:
            print(screen.wrapped(f"left open: {screen.line(session['left_open'])}", 4))
    if not found:
        print("No session was watched here yet. Install the plugin, then start Claude Code in this project.")


def _tell_session(session: dict[str, Any]) -> None:
    began = screen.line(session["title"] or session["first_prompt"]) or "(no prompt)"
    print(screen.wrapped(began if len(began) <= 160 else f"{began[:159]}…", 4))
    told = [
        session["status"],
        screen.when(session["last_event_at"]),
        screen.counted(session["turns"], "turn"),
    ]
    marks = [*told, *filter(None, [session["branch"]])]
    for words in (screen.listed(marks), screen.listed(session["tags"]), screen.line(session["id"])):
        if words:
            print(screen.paint(screen.wrapped(words, 4), "dim"))


def _tell_whole(session: dict[str, Any]) -> None:
    """Print what a session was about; the parts say themselves whose words they quote."""
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
    """Print what was given to sessions, with the reason, ranks and decay of each, and what became of it."""
    what = options.what or ""
    number = int(what) if what.isascii() and what.isdigit() and len(what) < LONGEST_ID else None
    session = options.session or (what if number is None else None)
    answer = ask("why_surfaced", id=number, session_id=session or None, cwd=here(), limit=options.limit)
    surfaces = answer["surfaces"]
    if options.json:
        screen.as_json(surfaces)
        return
    for surface in surfaces:
        _tell_surface(surface)
    for one in answer["held"]:
        _tell_held(one)
    for one in answer.get("handovers", ()):
        words = f"handed over: session {screen.line(one['from_id'])} ({one['event']}, {screen.when(one['at'])})"
        print(screen.paint(screen.wrapped(words, 6), "dim"))
    if answer.get("responses"):
        _tell_responses(answer["responses"])
    if not (surfaces or answer.get("handovers")):
        print("Nothing was given to a session yet. Memories surface when a session starts.")


def _tell_responses(heeded: dict[str, int]) -> None:
    counts = ", ".join(f"{name} {screen.counted(heeded[name], 'time')}" for name in ("used", "repeated", "violated"))
    since = screen.counted(heeded["unheeded"], "session")
    print(screen.wrapped(f"In all: {counts}; given to {since} in vain since.", 4))


def _tell_held(held: dict[str, Any]) -> None:
    when = f"{held['event']}, {screen.when(held['at'])}, session {held['session_id']}"
    words = screen.line(f"held back: {held['why']} ({when})")
    print(screen.paint(screen.wrapped(words, 6, f"{held['memory_id']:>4}"), "dim"))


def _tell_surface(surface: dict[str, Any]) -> None:
    print(screen.wrapped(screen.line(surface["summary"]), 6, f"{surface['memory_id']:>4}"))
    ranks = [f"{hit['engine']} rank {hit['rank']} ({hit['score']:.3g})" for hit in surface["engines"]]
    told = [
        f"place {surface['position']}",
        f"relevance {surface['relevance']:.2f}",
        f"decay {surface['decay']:.2f}",
        *([f"priority {surface['priority']:+.2f}"] if surface["priority"] else []),
        *ranks,
    ]
    given = f"{surface['event']}, {screen.when(surface['at'])}, session {surface['session_id']}"
    stood = [f"{name} {how}" for name, how in surface["limits"].items()]
    about = f"file: {surface['about']}" if surface["about"] else ""
    limits = f"limits: {', '.join(stood)}" if stood else ""
    became = f"then: {surface['response']}" if surface.get("response") else ""
    for words in filter(None, (given, f"why: {surface['reason']}", screen.listed(told), about, limits, became)):
        print(screen.paint(screen.wrapped(screen.line(words), 6), "dim"))
