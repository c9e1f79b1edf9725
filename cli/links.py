"""``subconscious links``, ``link``, ``confirm``, ``unlink``, ``relink`` and ``conflicts``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import screen, suspicion
from .ask import ask, here
from .memories import source
from .origin import origin, require_person, session

if TYPE_CHECKING:
    from subconscious.wire.links import Link, LinkEnd, LinkFields


def links(options: Namespace) -> None:
    """Print the links of a memory in both directions; without an id, the proposed links."""
    asked = {"id": options.id, "types": options.type or None}
    found = ask("links", cwd=here(), origin=origin(), **asked, **_extent(options))["links"]
    if options.json:
        screen.as_json(found)
        return
    for link in found:
        _print(link, _from_memory(link) if options.id else sentence(link))
    if not found:
        print(_none(options))
    elif any(link["status"] == "proposed" for link in found):
        print("\nTo confirm one: subconscious confirm LINK\nTo remove a wrong one: subconscious unlink LINK")
        print("To change its type: subconscious relink LINK TYPE")


def _none(options: Namespace) -> str:
    if options.id:
        return f"Memory {options.id} has no such links.\n  to add one: subconscious link {options.id} SUPPORTS OTHER_ID"
    return "No links wait for your decision here.\n  to list the links of one memory: subconscious links ID"


def _from_memory(link: Link) -> str:
    """Return a link without the memory whose links are listed: the relation and the other memory."""
    return f"{link['name']} {link['other']['id']}: {screen.line(link['other']['summary'])}"


def sentence(link: Link) -> str:
    """Return a link as ``SOURCE TYPE TARGET`` (two ids and the type), followed by the summaries of both memories."""
    source, target = link["source"], link["target"]
    return (
        f"{source['id']} {link['type']} {target['id']}: {screen.line(source['summary'])}"
        f" / {screen.line(target['summary'])}"
    )


def _print(link: Link, details: str) -> None:
    print(screen.wrapped(details, 6, f"{link['id']:>4}"))
    print(screen.paint(screen.wrapped(", ".join(state(link)), 6), "dim"))
    if link["evidence"]:
        print(screen.paint(screen.wrapped(f'"{screen.line(link["evidence"])}"', 6), "dim"))
    _warn(link)


def _warn(link: Link) -> None:
    """Print which memory of a link looks poisoned, and why."""
    for side in (link["source"], link["target"]):
        if why := side.get("suspicion"):
            suspicion.note({"suspicion": f"memory {side['id']}: {why}"})


def state(link: LinkFields) -> list[str]:
    """Return a link's status, confidence, creator and date."""
    confidence = f"confidence {link['confidence']:.2f}"
    return [screen.line(link["status"]), confidence, _maker(link), screen.when(link["created_at"])]


def _maker(link: LinkFields) -> str:
    made = {"user": "made by you", "assistant": "proposed by the assistant"}
    return made.get(link["created_by"], f"found by {screen.line(link['created_by'])}")


def conflicts(options: Namespace) -> None:
    """Print pairs of memories that contradict each other, with dates and origins."""
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
        print("\nIf one replaces the other: subconscious link NEWER_ID SUPERSEDES OLDER_ID")
        print("If they do not contradict each other: subconscious unlink LINK")
    else:
        print("No contradictions are known here.")


def _print_side(side: LinkEnd) -> None:
    print(screen.wrapped(screen.line(side["summary"]), 6, f"{side['id']:>4}"))
    details = f"{screen.line(side['kind'])}, {screen.when(side['said_at'])}, {source(side)}"
    print(screen.paint(screen.wrapped(details, 6), "dim"))
    suspicion.note(side)


def _extent(options: Namespace) -> Mapping[str, Any]:
    return {"status": options.status, "everywhere": options.everywhere or None, "limit": options.limit}


def link(options: Namespace) -> None:
    """Link two memories; a link made by the assistant is a proposal."""
    args = {"source": options.source, "type": options.type, "target": options.target, "reason": options.reason}
    answer = ask("link", cwd=here(), origin=origin(), session_id=session(), **args)
    made = answer["link"]
    if options.json:
        screen.as_json(answer)
        return
    label = "Linked" if made["status"] == "active" else screen.line(made["status"]).capitalize()
    print(screen.wrapped(f"{label if answer['changed'] else 'Linked already'}, as link {made['id']}: {sentence(made)}"))
    if made["status"] == "proposed":
        _warn(made)
        print(f"  to confirm it: subconscious confirm {made['id']}")


def confirm(options: Namespace) -> None:
    """Confirm proposed links."""
    require_person("confirm a link")
    _print_changed(
        options, ask("confirm_link", ids=options.ids, reason=options.reason, origin="user")["links"], "Confirmed"
    )


def unlink(options: Namespace) -> None:
    """Remove links that are wrong."""
    require_person("remove a link")
    _print_changed(
        options, ask("unlink", ids=options.ids, reason=options.reason, origin="user")["links"], "No longer linked"
    )


def relink(options: Namespace) -> None:
    """Change the type or the direction of a link."""
    require_person("change a link")
    args = {"id": options.id, "type": options.type, "reverse": options.reverse or None, "reason": options.reason}
    _print_changed(options, [ask("relink", origin="user", **args)["link"]], "Now")


def _print_changed(options: Namespace, changed: Sequence[Link], label: str) -> None:
    if options.json:
        screen.as_json(changed)
        return
    for one in changed:
        print(screen.wrapped(f"{label}: {sentence(one)}"))
