"""``subconscious review``: shows the captures that wait for review, and carries out decisions on them."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from subconscious.domain.errors import RequestError

from . import interactive_review, screen, status, suspicion
from .ask import ask, here
from .memories import source
from .origin import inside_client, origin, require_person

if TYPE_CHECKING:
    from subconscious.wire.captures import ReviewedCapture
    from subconscious.wire.daemon import StatusResult
    from subconscious.wire.requests import CapturesRequest


QUARANTINED = "quarantined"
DEFAULT_OFFERED = 3
"""The number of captures that a review offers at a time without --limit."""

DEFAULT_LISTED = 100
"""The number of captures that are shown without --limit, if --session, --json or another --status is given."""

UNDECIDED = ("review", "unconfirmed", QUARANTINED)
"""The statuses of captures on which a person can still decide."""

AIMS = {"approve": "approved", "reject": "rejected"} | dict.fromkeys(("release", "restore", "undo"), "review")
"""The status that a capture gets from each decision, by the name of the request that sends the decision."""

MAX_EVIDENCE_LENGTH = 240
"""The most characters of the evidence in the short form of a capture."""


def waiting(options: Namespace) -> None:
    """Review undecided captures one by one; without a terminal, with --list or for a decided status, only print them.

    Refused inside a coding agent: the model must not read captures that no person has approved.
    """
    require_person("read waiting captures")
    offers = options.status == "review" and not options.session and not options.json
    answer = ask(
        "captures",
        cwd=here(),
        status=options.status,
        session_id=options.session,
        everywhere=options.everywhere or None,
        limit=options.limit or (DEFAULT_OFFERED if offers else DEFAULT_LISTED),
        details=options.status in UNDECIDED or None,
        offered=offers or None,
        origin=origin(),
    )
    captures = answer["captures"]
    now = ask("status", cwd=here(), origin=origin()) if offers else None
    if now and (question := status.question(now.get("question"))):
        print(screen.wrapped(question))
    if options.json:
        screen.as_json(captures)
    elif captures and options.status in UNDECIDED and not options.list and _can_press_keys():
        interactive_review.review_each(captures, answer.get("waiting", 0))
    else:
        _print(captures, options.status)
        _print_more(answer.get("waiting", 0) - len(captures))
        if now and not captures and not options.everywhere:
            _print_elsewhere(now)


def _print_more(number: int) -> None:
    """Print how many more captures wait than were shown."""
    if number > 0:
        waits = "waits" if number == 1 else "wait"
        print(f"{number} more {waits}: decide on these, then run subconscious review again (--limit 20 shows more)")


def _print_elsewhere(now: StatusResult) -> None:
    """Print how many captures wait in other projects, if none waits in this one."""
    if number := 0 if now["review"] else now.get("review_everywhere", 0):
        waits = "waits" if number == 1 else "wait"
        print(f"{number} {waits} in other projects: subconscious review --everywhere")


def print_waiting() -> None:
    """Print how to decide on waiting captures, and why the most suspicious of them may be poisoned."""
    now = ask("status", cwd=here())
    print(f"To decide: subconscious review{'' if now['review'] else ' --everywhere'}")
    if why := now.get("suspicion"):  # an older daemon does not send it
        print(screen.paint(screen.wrapped(screen.line(f"{why}.")), "yellow"))


def _can_press_keys() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not inside_client()


def _print(captures: list[ReviewedCapture], status: str) -> None:
    for capture in captures:
        card(capture)
    if not captures:
        print(NOTHING.get(status, f"No capture is {status}."))
    elif status == QUARANTINED:
        print("\nDecide: subconscious review release ID... or review reject ID... [--teach]")
    elif status in UNDECIDED:
        print("\nDecide: subconscious review approve ID... or subconscious review reject ID...")
    elif status != "captured":
        print("\nTo put one back into the queue: subconscious review restore ID...")


NOTHING = {"review": "Nothing waits for review.", QUARANTINED: "Nothing is in quarantine."}


def card(capture: ReviewedCapture) -> None:
    """Print a capture: its text, status, kind, suspicion, evidence, why it waits, and similar memories."""
    print(screen.wrapped(screen.statement(capture), 6, f"{capture['id']:>4}"))
    details = [
        "waiting" if capture["status"] == "review" else capture["status"],
        capture["kind"],
        confidence(capture),
        source(capture),
        screen.when(capture["said_at"]),
    ]
    print(screen.paint(screen.wrapped(screen.listed(details), 6), "dim"))
    for words in suspicion.lines(capture):
        print(screen.paint(screen.wrapped(words, 6), "yellow"))
    for words in (_quoted(capture), screen.line(capture["reason"]), *similar(capture), proposal(capture)):
        if words:
            print(screen.paint(screen.wrapped(words, 6), "dim"))


def show_capture(options: Namespace) -> None:
    """Print a capture in full for ``subconscious show``, with its suspicion and the commands that decide on it."""
    require_person("read waiting captures")
    (capture,) = ask("captures", ids=[options.id], details=True, origin=origin())["captures"]
    if options.json:
        screen.as_json({"capture": capture})
        return
    card(capture)
    if screen.line(capture["content"]) != screen.statement(capture):
        print(screen.wrapped(f"in full: {screen.line(capture['content'])}", 6))
    print(f"\n{STATES.get(capture['status'], 'It is not a memory.')}")
    print(_next_step(capture))


STATES = {
    "review": "It waits for your review. Sessions do not get it until you approve it.",
    QUARANTINED: "It is in quarantine, because it may be poisoned. Sessions do not get it.",
}
"""What the status of a capture without a memory means."""


def _next_step(capture: ReviewedCapture) -> str:
    number, status = capture["id"], capture["status"]
    if capture["memory_id"] is not None:
        return f"Stored as memory {capture['memory_id']}: subconscious show {capture['memory_id']}"
    if status == QUARANTINED:
        return f"Decide: subconscious review release {number}, or subconscious review reject {number}"
    if status == "review":
        return f"Decide: subconscious review approve {number}, or subconscious review reject {number}"
    return f"To put it back into the queue: subconscious review restore {number}"


def confidence(capture: ReviewedCapture) -> str:
    """Return the confidence of a capture; if it was adjusted, also the stated and the calibrated confidence."""
    details = f"confidence {capture['confidence']:.2f}"
    parts = capture.get("parts")
    if not parts or f"{parts['raw']:.2f}" == f"{capture['confidence']:.2f}" == f"{parts['calibrated']:.2f}":
        return details
    return f"{details} (stated {parts['raw']:.2f}, calibrated {parts['calibrated']:.2f})"


def similar(capture: ReviewedCapture) -> list[str]:
    """Return a line for each similar memory."""
    return [
        f"similar: memory {known['id']} ({known['likeness']:.2f}): {screen.line(known['summary'])}"
        for known in capture.get("similar", ())
    ]


def proposal(capture: ReviewedCapture) -> str:
    """Return the decision that triage proposes, with its reason; "" if it proposes none."""
    proposed = capture.get("proposal", {"decision": "look", "sort": "open"})
    if proposed["sort"] == "open":
        return ""
    asks = "look closely" if proposed["decision"] == "look" else f"{proposed['decision']}?"
    return f"{asks}: {screen.line(proposed['why'])}"


def _quoted(capture: ReviewedCapture) -> str:
    evidence = screen.line(capture.get("context") or capture["evidence"])
    if not evidence or evidence == screen.statement(capture):
        return ""
    return f'"{evidence if len(evidence) <= MAX_EVIDENCE_LENGTH else evidence[: MAX_EVIDENCE_LENGTH - 1] + "…"}"'


def approve(options: Namespace) -> int:
    """Approve captures that wait for review: store them as memories."""
    if options.all:
        return _decide(options, "approve", all=True, limit=1000, cwd=here(), everywhere=options.everywhere or None)
    return _decide(options, "approve", ids=options.ids)


def codes(options: Namespace) -> None:
    """Show the decisions that were typed in sessions, each with the code that confirms it there.

    On a terminal only, because other output can be read by a program, which could then confirm the decision.
    """
    require_person("read the codes that confirm decisions")
    del options
    if not sys.stdout.isatty():
        raise RequestError(
            "the codes that confirm decisions are shown on a terminal only",
            "run `subconscious review code` in your own terminal, without a pipe",
        )
    decisions = ask("codes", origin="user")["decisions"]
    for decision in decisions:
        wording = f" as {screen.line(decision['wording'])!r}" if decision["wording"] else ""
        ids = screen.listed([capture["id"] for capture in decision["captures"]])
        print(f"\nSession {screen.line(decision['session_id'])} asks to {decision['deed']} {ids}{wording}:")
        for capture in decision["captures"]:
            card(capture)
        print(f"If you typed that, confirm it in that session: /subconscious:review code {decision['code']}")
    if not decisions:
        print("No decision waits to be confirmed by a code.")


def reject(options: Namespace) -> int:
    """Reject captures that wait for review."""
    return _decide(options, "reject", ids=options.ids, teach=options.teach or None)


def release(options: Namespace) -> int:
    """Release captures from quarantine."""
    return _decide(options, "release", ids=options.ids)


def lessons(options: Namespace) -> None:
    """Print the lessons that `reject --teach` stored, or delete some of them."""
    if options.forget:
        require_person("delete lessons")
        answer = ask("forget_lesson", ids=options.forget, origin="user")
    else:
        answer = ask("lessons")
    if options.json:
        screen.as_json(answer["lessons"])
        return
    for lesson in answer["lessons"]:
        details = (
            f"{screen.line(lesson['threat'])}, from capture {lesson['capture_id']}: {screen.line(lesson['summary'])}"
        )
        print(screen.wrapped(details, 6, f"{lesson['id']:>4}"))
    if not answer["lessons"]:
        print("There are no lessons yet. To teach one: subconscious review reject ID... --teach")


def edit(options: Namespace) -> int:
    """Store a capture in other words."""
    return _decide(options, "edit", ids=[options.id], text=" ".join(options.text), kind=options.kind)


def restore(options: Namespace) -> int:
    """Put rejected, expired or discarded captures back into the queue."""
    return _decide(options, "restore", ids=options.ids)


def undo(options: Namespace) -> int:
    """Undo the latest decision on captures."""
    options.reason = None
    return _decide(options, "undo", ids=options.ids)


def decided(capture: ReviewedCapture) -> str:
    """Return the status of a capture, with the id of its memory, or of the older memory that it repeats.

    If a decision had no effect on it, the text says so.
    """
    state = "waiting" if capture["status"] == "review" else capture["status"]
    number, memory = capture["id"], capture["memory_id"]
    if capture.get("unchanged"):
        return f"Nothing changed: {number} is already {state}{f', memory {memory}' if memory else ''}"
    if memory in (None, number):
        return f"{number} is {state}{f', memory {number}' if memory else ''}"
    return f"{number} is {state}; it repeats memory {memory}"


def _decide(options: Namespace, cmd: CapturesRequest, **args: Any) -> int:
    """Send a decision and print its results; return exit code 1 if a capture already had another decision."""
    require_person(f"{cmd} captures")
    answer = ask(cmd, reason=options.reason, origin="user", **args)
    captures = answer["captures"]
    failed = any(one.get("unchanged") and one["status"] != AIMS.get(cmd) for one in captures)
    if options.json:
        screen.as_json(captures)
        return int(failed)
    for capture in captures:
        text = f"{decided(capture)}: {screen.line(capture['summary'])}"
        print(screen.wrapped(text, 2)[2:])
        for words in suspicion.lines(capture) if capture["status"] in UNDECIDED else ():
            print(screen.paint(screen.wrapped(words, 6), "yellow"))
    if not captures:
        print("Nothing waits for review." if not answer.get("left_out") else "Nothing was approved.")
    if answer.get("left_out"):
        print(screen.paint(screen.wrapped(f"{answer['left_out']}: subconscious review"), "yellow"))
    if failed and cmd in ("approve", "edit", "reject"):
        print("To decide again: subconscious review undo ID, then approve, edit or reject it.")
    return int(failed)
