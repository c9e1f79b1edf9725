"""``subconscious promote``, ``pull`` and ``memory``: the knowledge of a project."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import screen, suspicion
from .ask import ask, here
from .memories import card, promotion, source
from .origin import origin

if TYPE_CHECKING:
    from subconscious.wire.knowledge import Digest, PatternDigest, Tag
    from subconscious.wire.sessions import Session

TIMEOUT_SECONDS = 120.0
"""Seconds that rendering and comparing memories may take."""


def promote(options: Namespace) -> None:
    """Print memories with their promotion scores, the highest first; without --preview, also write the memory files."""
    answer = ask("standings", TIMEOUT_SECONDS, cwd=here(), limit=options.limit)
    written = None if options.preview else ask("pull", TIMEOUT_SECONDS, cwd=here())
    if options.json:
        screen.as_json({**answer, **(written or {})})
        return
    for memory in answer["memories"]:
        card(memory, promotion(memory["standing"]))
    counts = answer["counts"]
    details = [f"{counts.get(name, 0)} {name}" for name in ("promoted", "observed", "passing", "flagged")]
    scores = "Repetition counts how often a memory was stated; impact and specificity are estimated from its wording."
    note = f"{screen.listed(details)}. {scores}"
    print(f"\n{screen.wrapped(note)}")
    if written:
        print(screen.wrapped(f"Files written to {screen.line(written['folder'])}"))


def pull(options: Namespace) -> None:
    """Write the files of this project's memories now, and print their names."""
    answer = ask("pull", TIMEOUT_SECONDS, cwd=here())
    if options.json:
        screen.as_json(answer)
        return
    print(screen.line(answer["folder"]))
    for name in answer["files"]:
        print(f"  {screen.line(name)}")


def memory(options: Namespace) -> None:
    """Print a digest of this project: the requested one, or one that the daemon chooses."""
    answer = ask("digest", TIMEOUT_SECONDS, cwd=here(), mode=options.mode, origin=origin())
    if options.json:
        screen.as_json(answer)
        return
    _print_digest(answer)
    if options.mode is None:
        print(screen.paint(f"\nTo show this again: subconscious memory {answer['mode']}", "dim"))


def _print_digest(digest: Digest) -> None:
    if digest["mode"] == "summarize":
        _print_session(digest["session"])
    elif digest["mode"] == "tag":
        _print_tags(digest["tags"])
    elif digest["mode"] == "patterns":
        _print_patterns(digest)
    else:
        print(screen.clean(digest["text"]))


def _print_session(session: Session | None) -> None:
    if session is None:
        print("No session has been recorded in this project yet.")
        return
    print(screen.paint(screen.wrapped(screen.line(session["title"] or session["first_prompt"])), "bold"))
    screen.fields(
        (
            ("summary", screen.line(session["summary"])),
            ("left open", screen.line(session["left_open"])),
            ("tags", screen.listed(session["tags"])),
            ("last event", screen.when(session["last_event_at"])),
            ("session", screen.line(session["id"])),
        )
    )


def _print_tags(tags: Sequence[Tag]) -> None:
    for row in tags:
        details = (
            f"{screen.counted(row['memories'], 'memory', 'memories')}, {screen.counted(row['sessions'], 'session')}"
        )
        print(f"  {screen.line(row['tag'])}  {screen.paint(details, 'dim')}")
    if not tags:
        print("No memory here has a tag yet.")


def _print_patterns(answer: PatternDigest) -> None:
    for known in answer["patterns"]:
        card(known)
    if answer["friction"]:
        screen.heading("Recurring statements (proposed as patterns each night; to decide: subconscious review)")
    for one in answer["friction"]:
        print(screen.wrapped(screen.line(one["content"]), 4))
        days = sorted({screen.stamp(session["at"])[:10] for session in one["sessions"]})
        details = [one["kind"], source(one), screen.counted(len(one["sessions"]), "session"), *days]
        print(screen.paint(screen.wrapped(screen.listed(details), 4), "dim"))
        suspicion.note(one, 4)
    if not answer["patterns"] and not answer["friction"]:
        print("Nothing has recurred in this project yet.")
