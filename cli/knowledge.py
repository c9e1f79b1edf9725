"""Verbs on what a project knows: promote, pull, memory."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import screen
from .ask import ask, here
from .memories import card, speaker, standing
from .origin import origin

PATIENCE = 120.0
"""Seconds that rendering and comparing may take."""


def promote(options: Namespace) -> None:
    """Print how memories stand, the best first; render them, unless that is not wanted."""
    answer = ask("standings", PATIENCE, cwd=here(), limit=options.limit)
    if not options.preview:
        answer |= ask("pull", PATIENCE, cwd=here())
    if options.json:
        screen.as_json(answer)
        return
    for memory in answer["memories"]:
        card(memory, standing(memory["standing"]))
    counts = answer["counts"]
    told = [f"{counts.get(name, 0)} {name}" for name in ("promoted", "observed", "passing", "flagged")]
    print(f"\n{screen.listed(told)}. Impact and specificity are estimates, read off the words.")
    if not options.preview:
        print(screen.wrapped(f"Rendered: {screen.line(answer['folder'])}"))


def pull(options: Namespace) -> None:
    """Render this project's files now."""
    answer = ask("pull", PATIENCE, cwd=here())
    if options.json:
        screen.as_json(answer)
        return
    print(screen.line(answer["folder"]))
    for name in answer["files"]:
        print(f"  {screen.line(name)}")


def memory(options: Namespace) -> None:
    """Print what is worth telling of this project: what is asked for, or what follows from what there is."""
    answer = ask("digest", PATIENCE, cwd=here(), mode=options.mode, origin=origin())
    if options.json:
        screen.as_json(answer)
        return
    SHOWN[answer["mode"]](answer)
    if options.mode is None:
        print(screen.paint(f"\nThis was `subconscious memory {answer['mode']}`.", "dim"))


def _summary(answer: dict[str, Any]) -> None:
    session = answer["session"]
    if session is None:
        print("No session was watched here yet.")
        return
    print(screen.paint(screen.wrapped(screen.line(session["title"] or session["first_prompt"])), "bold"))
    screen.fields(
        (
            ("summary", screen.line(session["summary"])),
            ("left open", screen.line(session["left_open"])),
            ("tags", screen.listed(session["tags"])),
            ("last heard", screen.when(session["last_event_at"])),
            ("session", screen.line(session["id"])),
        )
    )


def _tags(answer: dict[str, Any]) -> None:
    for row in answer["tags"]:
        told = f"{screen.counted(row['memories'], 'memory', 'memories')}, {screen.counted(row['sessions'], 'session')}"
        print(f"  {screen.line(row['tag'])}  {screen.paint(told, 'dim')}")
    if not answer["tags"]:
        print("Nothing here has a tag yet.")


def _patterns(answer: dict[str, Any]) -> None:
    for known in answer["patterns"]:
        card(known)
    if answer["friction"]:
        screen.heading("Keeps coming back (proposed as patterns each night; subconscious review decides)")
    for one in answer["friction"]:
        print(screen.wrapped(screen.line(one["content"]), 4))
        days = sorted({screen.stamp(session["at"])[:10] for session in one["sessions"]})
        told = [one["kind"], f"said by {speaker(one)}", screen.counted(len(one["sessions"]), "session"), *days]
        print(screen.paint(screen.wrapped(screen.listed(told), 4), "dim"))
    if not answer["patterns"] and not answer["friction"]:
        print("Nothing keeps coming back here.")


def _synthesis(answer: dict[str, Any]) -> None:
    print(screen.clean(answer["text"]))


SHOWN = {"summarize": _summary, "tag": _tags, "patterns": _patterns, "synthesize": _synthesis}
