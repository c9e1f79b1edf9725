"""``subconscious graph`` and ``why``: memories reached along links."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from subconscious.domain.errors import NotFoundError

from . import screen, suspicion
from .ask import ask, here
from .links import state
from .memories import card, doubts, source
from .options import LONGEST_NUMBER
from .origin import origin

if TYPE_CHECKING:
    from subconscious.wire.links import Branch, GraphResult, ReasonMemory, Reasons, ReasonStep
    from subconscious.wire.memories import Memory

INDENT = 3
"""Columns of indentation per step along a link."""


def graph(options: Namespace) -> None:
    """Print the memories linked with a memory, as a tree or a Mermaid diagram."""
    asked = {"id": options.id, "depth": options.depth, "types": options.type or None}
    answer = ask("graph", cwd=here(), origin=origin(), everywhere=options.everywhere or None, **asked)
    if options.json:
        screen.as_json(answer)
    elif options.mermaid:
        print(screen.clean(answer["mermaid"]), end="")
    else:
        _print_tree(answer)


def _print_tree(answer: GraphResult) -> None:
    memories = {memory["id"]: memory for memory in answer["memories"]}
    root = memories[answer["root"]]
    print(screen.paint(screen.wrapped(f"{root['id']}  {screen.line(root['summary'])}"), "bold"))
    suspicion.note(root, 2)
    for branch in answer["tree"]:
        print(_branch(branch, memories[branch["memory_id"]]))
        if not branch["again"]:
            suspicion.note(memories[branch["memory_id"]], INDENT * branch["depth"] + 2)
    if not answer["tree"]:
        print(f"  it has no links\n  to add one: subconscious link {root['id']} SUPPORTS OTHER_ID")
    if answer["left_out"]:
        print(
            f"\nToo many to show: {screen.counted(answer['left_out'], 'link')} not followed. Try --depth 1 or --type."
        )


def _branch(branch: Branch, memory: Memory) -> str:
    text = f"{screen.line(branch['name'])} {memory['id']}"
    text += " (as above)" if branch["again"] else f": {screen.line(memory['summary'])}"
    marks = list(doubts(memory)) if not branch["again"] else []
    marks += [] if branch["link"]["status"] == "active" else [screen.line(branch["link"]["status"])]
    text += f" ({', '.join(marks)})" if marks else ""
    indent = INDENT * branch["depth"]
    return screen.wrapped(text, indent + 2, " " * indent + "- ")


def why(options: Namespace) -> None:
    """Print the chains of reasons for a memory, or for the memories that answer a question."""
    words = " ".join(options.question)
    number = words.strip("#[]")
    numbered = number.isascii() and number.isdigit()
    if numbered and len(number) > LONGEST_NUMBER:
        raise NotFoundError(f"there is no memory {number}", "`subconscious list` shows those that exist")
    which = {"id": int(number)} if numbered else {"query": words}
    answer = ask("why", cwd=here(), origin=origin(), depth=options.depth, worded=not options.json, **which)
    if options.json:
        screen.as_json(answer)
    elif not answer["answers"]:
        print(
            "No memory of this project answers that.\n  to search all projects: subconscious search --everywhere QUERY"
        )
    elif origin() == "assistant":
        print(screen.clean(answer["text"]))  # framed by the daemon
    else:
        if answer.get("worded"):
            print(screen.wrapped(screen.line(answer["worded"]), 0) + "\n")
        for index, one in enumerate(answer["answers"]):
            print("\n" * bool(index), end="")
            _print_answer(one)


def _print_answer(answer: Reasons) -> None:
    memory = answer["memory"]
    card(memory)
    _print_rationale(memory, 6)
    printed: set[tuple[int, ...]] = set()
    for chain in answer["chains"]:
        for depth, step in enumerate(chain, start=1):
            path = tuple(one["link"]["id"] for one in chain[:depth])
            if path not in printed:
                printed.add(path)
                _print_step(step, 6 + INDENT * (depth - 1))
    if not answer["chains"] and not memory["rationale"]:
        print(f"      no reason is known\n      to add one: subconscious link REASON_ID SUPPORTS {memory['id']}")
    if answer["cut"]:
        print("      there are more chains; try --depth 1, or subconscious graph ID")


def _print_step(step: ReasonStep, indent: int) -> None:
    link, memory = step["link"], step["memory"]
    text = f"{screen.line(step['name'])} {memory['id']}: {screen.line(memory['summary'])}"
    print(screen.wrapped(text, indent + 2, " " * indent + "- "))
    details = [screen.when(memory["said_at"]), source(memory), *doubts(memory)]
    print(screen.paint(screen.wrapped(screen.listed(details), indent + 2), "dim"))
    suspicion.note(memory, indent + 2)
    if memory["evidence"] and memory["evidence"] != memory["summary"]:
        print(screen.paint(screen.wrapped(f'"{screen.line(memory["evidence"])}"', indent + 2), "dim"))
    stated = f': "{screen.line(link["evidence"])}"' if link["evidence"] else ""
    print(screen.paint(screen.wrapped(f"link {link['id']}, {', '.join(state(link))}{stated}", indent + 2), "dim"))
    _print_rationale(memory, indent + 2)


def _print_rationale(memory: ReasonMemory, indent: int) -> None:
    if memory["rationale"]:
        print(screen.wrapped(f"because {screen.line(memory['rationale'])}", indent))
