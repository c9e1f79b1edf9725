"""The review queue: what waits, and a person's decisions about it."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from subconscious.errors import RequestError

from . import desk, screen, suspicion
from .ask import ask, here
from .memories import speaker
from .origin import inside_client, origin, require_person

QUARANTINED = "quarantined"
OFFERED = 3
"""Captures that are offered at a time, unless --limit says otherwise."""

LISTED = 100

UNDECIDED = ("review", "unconfirmed", QUARANTINED)
"""The statuses on which a person can decide."""

LONGEST_EVIDENCE = 240
"""Characters of the evidence where a capture is told in a few lines."""


def waiting(options: Namespace) -> None:
    """Ask for a decision on what waits, one at a time; print it where nobody can press a key, or what was decided.

    What no person has approved is not for the model to read, so inside the client nothing is listed.
    """
    require_person("read what waits for review")
    offers = options.status == "review" and not options.session and not options.json
    answer = ask(
        "captures",
        cwd=here(),
        status=options.status,
        session_id=options.session,
        everywhere=options.everywhere or None,
        limit=options.limit or (OFFERED if offers else LISTED),
        details=options.status in UNDECIDED or None,
        offered=offers or None,
        origin=origin(),
    )
    captures = answer["captures"]
    if options.json:
        screen.as_json(captures)
    elif captures and options.status in UNDECIDED and not options.list and _can_press_keys():
        desk.sit(captures, answer.get("waiting", 0))
    else:
        _print(captures, options.status)
        _tell_more(answer.get("waiting", 0) - len(captures))


def _tell_more(number: int) -> None:
    """Say how many more wait than were shown."""
    if number > 0:
        waits = "waits" if number == 1 else "wait"
        print(f"{number} more {waits}: decide on these, then run subconscious review again (--limit 20 shows more)")


def _can_press_keys() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not inside_client()


def _print(captures: list[dict[str, Any]], status: str) -> None:
    for capture in captures:
        card(capture)
    if not captures:
        print(NOTHING.get(status, f"Nothing was {status}."))
    elif status == QUARANTINED:
        print("\nDecide: subconscious review release ID... or review reject ID... (--teach)")
    elif status in UNDECIDED:
        print("\nDecide: subconscious review approve ID... or subconscious review reject ID...")
    elif status != "captured":
        print("\nPut back into the queue: subconscious review restore ID...")


NOTHING = {"review": "Nothing waits for review.", QUARANTINED: "Nothing is in quarantine."}


def card(capture: dict[str, Any]) -> None:
    """Print a capture: what it says, what it is, the words it rests on, the gate's reason, what is similar."""
    print(screen.wrapped(screen.line(capture["summary"]), 6, f"{capture['id']:>4}"))
    told = [
        "waiting" if capture["status"] == "review" else capture["status"],
        capture["kind"],
        confidence(capture),
        f"said by {speaker(capture)}",
        screen.when(capture["said_at"]),
    ]
    print(screen.paint(screen.wrapped(screen.listed(told), 6), "dim"))
    for words in suspicion.lines(capture):
        print(screen.paint(screen.wrapped(words, 6), "yellow"))
    for words in (_quoted(capture), screen.line(capture["reason"]), *similar(capture), proposal(capture)):
        if words:
            print(screen.paint(screen.wrapped(words, 6), "dim"))


def confidence(capture: dict[str, Any]) -> str:
    """The confidence, with its parts where they differ from it."""
    told = f"confidence {capture['confidence']:.2f}"
    parts = capture.get("parts")
    if not parts or f"{parts['raw']:.2f}" == f"{capture['confidence']:.2f}" == f"{parts['calibrated']:.2f}":
        return told
    return f"{told} (stated {parts['raw']:.2f}, worth {parts['calibrated']:.2f} today)"


def similar(capture: dict[str, Any]) -> list[str]:
    """A line for each memory that says something similar."""
    return [
        f"similar: memory {known['id']} ({known['likeness']:.2f}): {screen.line(known['summary'])}"
        for known in capture.get("similar", ())
    ]


def proposal(capture: dict[str, Any]) -> str:
    """What triage proposes, where it proposes anything."""
    proposed = capture.get("proposal", {"decision": "look", "sort": "open"})
    if proposed["sort"] == "open":
        return ""
    asks = "look closely" if proposed["decision"] == "look" else f"{proposed['decision']}?"
    return f"{asks}: {screen.line(proposed['why'])}"


def _quoted(capture: dict[str, Any]) -> str:
    evidence = screen.line(capture.get("context") or capture["evidence"])
    if not evidence or evidence == screen.line(capture["summary"]):
        return ""
    return f'"{evidence if len(evidence) <= LONGEST_EVIDENCE else evidence[: LONGEST_EVIDENCE - 1] + "…"}"'


def approve(options: Namespace) -> None:
    """Store what waited."""
    if options.all:
        _decide(options, "approve", all=True, limit=1000, cwd=here(), everywhere=options.everywhere or None)
    else:
        _decide(options, "approve", ids=options.ids)


def codes(options: Namespace) -> None:
    """Show the decisions that sessions asked for, each with the code that confirms it there.

    On a terminal alone: what is written elsewhere is for a program to read.
    """
    require_person("read the codes that confirm decisions")
    del options
    if not sys.stdout.isatty():
        raise RequestError("codes are shown on a terminal only", "run it in your own terminal, without a pipe")
    decisions = ask("codes", origin="user")["decisions"]
    for decision in decisions:
        wording = f" as {screen.line(decision['wording'])!r}" if decision["wording"] else ""
        ids = screen.listed([capture["id"] for capture in decision["captures"]])
        print(f"\nSession {screen.line(decision['session_id'])} asks to {decision['deed']} {ids}{wording}:")
        for capture in decision["captures"]:
            card(capture)
        print(f"If you typed that, type there: /subconscious:review code {decision['code']}")
    if not decisions:
        print("No decision waits for a code.")


def reject(options: Namespace) -> None:
    """Refuse what waited."""
    _decide(options, "reject", ids=options.ids, teach=options.teach or None)


def release(options: Namespace) -> None:
    """Let captures out of quarantine."""
    _decide(options, "release", ids=options.ids)


def lessons(options: Namespace) -> None:
    """Print what refusals have taught, or take some of it back."""
    if options.forget:
        require_person("take back what your refusals taught")
        answer = ask("forget_lesson", ids=options.forget, origin="user")
    else:
        answer = ask("lessons")
    if options.json:
        screen.as_json(answer["lessons"])
        return
    for lesson in answer["lessons"]:
        told = f"{screen.line(lesson['threat'])}, from capture {lesson['capture_id']}: {screen.line(lesson['summary'])}"
        print(screen.wrapped(told, 6, f"{lesson['id']:>4}"))
    if not answer["lessons"]:
        print("Your refusals have taught nothing yet: subconscious review reject ID... --teach")


def edit(options: Namespace) -> None:
    """Store what waited, in better words."""
    _decide(options, "edit", ids=[options.id], text=" ".join(options.text), kind=options.kind)


def restore(options: Namespace) -> None:
    """Put what was closed back into the queue."""
    _decide(options, "restore", ids=options.ids)


def undo(options: Namespace) -> None:
    """Take the latest decision back."""
    options.reason = None
    _decide(options, "undo", ids=options.ids)


def decided(capture: dict[str, Any]) -> str:
    """What a capture is now; a memory has its number, unless another one said the same already."""
    state = "waiting" if capture["status"] == "review" else capture["status"]
    number, memory = capture["id"], capture["memory_id"]
    if memory in (None, number):
        return f"{number} is {state}{f', memory {number}' if memory else ''}"
    return f"{number} is {state}, memory {memory} says it"


def _decide(options: Namespace, cmd: str, **args: Any) -> None:
    require_person(f"{cmd} what waits for review")
    answer = ask(cmd, reason=options.reason, origin="user", **args)
    captures = answer["captures"]
    if options.json:
        screen.as_json(captures)
        return
    for capture in captures:
        # Its status, not the wish: what was decided before stays as it is.
        said = f"{decided(capture)}: {screen.line(capture['summary'])}"
        print(screen.wrapped(said, 2)[2:])
        for words in suspicion.lines(capture) if capture["status"] in UNDECIDED else ():
            print(screen.paint(screen.wrapped(words, 6), "yellow"))
    if not captures:
        print("Nothing waits for review." if not answer.get("left_out") else "Nothing was approved.")
    if answer.get("left_out"):
        print(screen.paint(screen.wrapped(f"{answer['left_out']}: subconscious review"), "yellow"))
