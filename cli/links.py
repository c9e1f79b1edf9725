"""Verbs on links: look at them, make them, say which are right."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import screen, suspicion
from .ask import ask, here
from .memories import speaker
from .origin import origin, require_person, session

Row = dict[str, Any]


def links(options: Namespace) -> None:
    """Print a memory's links, from both ends; without one, those that are proposed and wait."""
    asked = {"id": options.id, "types": options.type or None}
    found = ask("links", cwd=here(), origin=origin(), **asked, **_extent(options))["links"]
    if options.json:
        screen.as_json(found)
        return
    for link in found:
        _print(link, _seen(link) if options.id else sentence(link))
    if not found:
        print(_none(options))
    elif any(link["status"] == "proposed" for link in found):
        print("\nright: subconscious confirm LINK; wrong: subconscious unlink LINK")
        print("of another type: subconscious relink LINK TYPE")


def _none(options: Namespace) -> str:
    if options.id:
        return f"Memory {options.id} has no such links.\n  make one: subconscious link {options.id} SUPPORTS ID"
    return "No links wait for your word here.\n  those of a memory: subconscious links ID"


def _seen(link: Row) -> str:
    """A link as it reads from the memory that was asked about."""
    return f"{link['name']} {link['other']['id']}: {screen.line(link['other']['summary'])}"


def sentence(link: Row) -> str:
    """A link as it reads from its source."""
    source, target = link["source"], link["target"]
    return (
        f"{source['id']} {link['type']} {target['id']}: {screen.line(source['summary'])}"
        f" / {screen.line(target['summary'])}"
    )


def _print(link: Row, told: str) -> None:
    print(screen.wrapped(told, 6, f"{link['id']:>4}"))
    print(screen.paint(screen.wrapped(", ".join(state(link)), 6), "dim"))
    if link["evidence"]:
        print(screen.paint(screen.wrapped(f'"{screen.line(link["evidence"])}"', 6), "dim"))
    _warn(link)


def _warn(link: Row) -> None:
    """Print which end of a link looks poisoned, and why."""
    for side in (link["source"], link["target"]):
        if why := side.get("suspicion"):
            suspicion.note({"suspicion": f"memory {side['id']}: {why}"})


def state(link: Row) -> list[str]:
    """What a link is: status, confidence, who made it, when."""
    sure = f"confidence {link['confidence']:.2f}"
    return [screen.line(link["status"]), sure, _maker(link), screen.when(link["created_at"])]


def _maker(link: Row) -> str:
    made = {"user": "made by you", "assistant": "proposed by the assistant"}
    return made.get(link["created_by"], f"found by {screen.line(link['created_by'])}")


def conflicts(options: Namespace) -> None:
    """Print what can't hold together: both sides, with dates and origins."""
    found = ask("conflicts", cwd=here(), origin=origin(), **_extent(options))["links"]
    if options.json:
        screen.as_json(found)
        return
    for link in found:
        certain = "" if link["status"] == "active" else f" ({screen.line(link['status'])})"
        print(screen.paint(f"{link['source']['id']} and {link['target']['id']}{certain}, as link {link['id']}", "bold"))
        for side in (link["source"], link["target"]):
            _print_side(side)
        if link["evidence"]:
            print(screen.wrapped(f'because: "{screen.line(link["evidence"])}"', 6))
    if found:
        print("\nsettle one: subconscious link NEWER SUPERSEDES OLDER")
        print("if there is none: subconscious unlink LINK")
    else:
        print("Nothing contradicts each other here, as far as is known.")


def _print_side(side: Row) -> None:
    print(screen.wrapped(screen.line(side["summary"]), 6, f"{side['id']:>4}"))
    told = f"{screen.line(side['kind'])}, {screen.when(side['said_at'])}, said by {speaker(side)}"
    print(screen.paint(screen.wrapped(told, 6), "dim"))
    suspicion.note(side)


def _extent(options: Namespace) -> dict[str, Any]:
    return {"status": options.status, "everywhere": options.everywhere or None, "limit": options.limit}


def link(options: Namespace) -> None:
    """Link two memories; what the assistant links waits for a person."""
    wanted = {"source": options.source, "type": options.type, "target": options.target, "reason": options.reason}
    answer = ask("link", cwd=here(), origin=origin(), session_id=session(), **wanted)
    made = answer["link"]
    if options.json:
        screen.as_json(answer)
        return
    said = "Linked" if made["status"] == "active" else f"Is {made['status']}"
    print(screen.wrapped(f"{said if answer['changed'] else 'Known'}, as link {made['id']}: {sentence(made)}"))
    if made["status"] == "proposed":
        _warn(made)
        print(f"  a person confirms it: subconscious confirm {made['id']}")


def confirm(options: Namespace) -> None:
    """Say that links are right."""
    require_person("confirm a link")
    _tell(options, ask("confirm_link", ids=options.ids, reason=options.reason, origin="user")["links"], "Confirmed")


def unlink(options: Namespace) -> None:
    """Say that links are wrong."""
    require_person("refuse a link")
    _tell(options, ask("unlink", ids=options.ids, reason=options.reason, origin="user")["links"], "No longer linked")


def relink(options: Namespace) -> None:
    """Say what a link really is."""
    require_person("change a link")
    wanted = {"id": options.id, "type": options.type, "reverse": options.reverse or None, "reason": options.reason}
    _tell(options, [ask("relink", origin="user", **wanted)["link"]], "Now")


def _tell(options: Namespace, changed: list[Row], said: str) -> None:
    if options.json:
        screen.as_json(changed)
        return
    for one in changed:
        print(screen.wrapped(f"{said}: {sentence(one)}"))
