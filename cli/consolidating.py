"""Sums up what says much of the same: shows the groups first."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import screen, suspicion
from .ask import ask, here
from .fading import agreed
from .origin import require_person


def consolidate(options: Namespace) -> None:
    """Show what says much of the same, and sum it up if a person wants that."""
    everywhere = options.everywhere or None
    found = ask("clusters", cwd=here(), everywhere=everywhere, limit=options.limit)
    if options.preview:
        _show(options, found)
        return
    require_person("sum up memories")
    if not options.json:
        _show(options, found)
    if not found["total"] or not agreed(options, "Sum these up? The memories themselves stay, and it can be undone."):
        return
    _tell(options, ask("consolidate", cwd=here(), everywhere=everywhere, origin="user"))


def _show(options: Namespace, found: dict[str, Any]) -> None:
    if options.json:
        screen.as_json(found)
        return
    for one in found["clusters"]:
        screen.heading(screen.line(one["summary"]))
        for memory in one["memories"]:
            print(screen.wrapped(screen.line(memory["summary"]), 6, f"{memory['id']:>4}"))
            suspicion.note(memory)
        told = [one["memories"][0]["kind"], f"cosine {one['cohesion']:.2f}", _fate(one)]
        print(screen.paint(screen.wrapped(screen.listed(told), 6), "dim"))
    if not found["vectors"]:
        print("Without an embedder it is not known what says the same: see `subconscious status`.")
    elif not found["total"]:
        print("Nothing says so much of the same that it should be summed up.")
    elif found["total"] > len(found["clusters"]):
        print(f"\n{len(found['clusters'])} of {found['total']}; more with --limit {found['total']}")


def _fate(one: dict[str, Any]) -> str:
    return "at once" if one["decision"] == "auto" else f"for review, as {screen.line(one['reason'])}"


def _tell(options: Namespace, done: dict[str, Any]) -> None:
    if options.json:
        screen.as_json(done)
        return
    said = [
        f"{len(done['made'])} summed up" if done["made"] else "",
        f"{len(done['proposed'])} wait for you: subconscious review" if done["proposed"] else "",
        f"{done['asked']} asked of the model" if done["asked"] else "",
        f"{done['left']} left for another day" if done["left"] else "",
    ]
    print(screen.wrapped(f"{screen.listed([one for one in said if one]) or 'Nothing was changed'}."))
