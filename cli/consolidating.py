"""``subconscious consolidate``: summarizes groups of similar memories, after showing them."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from . import screen, suspicion
from .ask import ask, here
from .confirmation import agreed
from .origin import require_person

if TYPE_CHECKING:
    from subconscious.wire.upkeep import Cluster, ClustersResult, ConsolidateResult


def consolidate(options: Namespace) -> None:
    """Show groups of similar memories, and summarize each group if the user agrees."""
    everywhere = options.everywhere or None
    found = ask("clusters", cwd=here(), everywhere=everywhere, limit=options.limit)
    if options.preview:
        _show(options, found)
        return
    require_person("summarize memories")
    if not options.json:
        _show(options, found)
    if not found["total"] or not agreed(
        options, "Summarize these groups? The memories are kept, and this can be undone."
    ):
        return
    _print_result(options, ask("consolidate", cwd=here(), everywhere=everywhere, origin="user"))


def _show(options: Namespace, found: ClustersResult) -> None:
    if options.json:
        screen.as_json(found)
        return
    for cluster in found["clusters"]:
        screen.heading(screen.line(cluster["summary"]))
        for memory in cluster["memories"]:
            print(screen.wrapped(screen.line(memory["summary"]), 6, f"{memory['id']:>4}"))
            suspicion.note(memory)
        details = [cluster["memories"][0]["kind"], f"cosine {cluster['cohesion']:.2f}", _outcome(cluster)]
        print(screen.paint(screen.wrapped(screen.listed(details), 6), "dim"))
    if not found["vectors"]:
        print(
            "Similar memories can't be found: the embedding model is not ready. To see its state: subconscious status"
        )
    elif not found["total"]:
        print("No memories are similar enough to be summarized.")
    elif found["total"] > len(found["clusters"]):
        print(f"\n{len(found['clusters'])} of {found['total']}; more with --limit {found['total']}")


def _outcome(cluster: Cluster) -> str:
    return (
        "summarized at once"
        if cluster["decision"] == "auto"
        else f"waits for your review: {screen.line(cluster['reason'])}"
    )


def _print_result(options: Namespace, done: ConsolidateResult) -> None:
    if options.json:
        screen.as_json(done)
        return
    counts = [
        f"{len(done['made'])} summarized" if done["made"] else "",
        f"{len(done['proposed'])} waiting for your review: subconscious review" if done["proposed"] else "",
        f"{done['asked']} sent to the model" if done["asked"] else "",
        f"{done['left']} left for the next run" if done["left"] else "",
    ]
    print(screen.wrapped(f"{screen.listed(list(filter(None, counts))) or 'Nothing was changed'}."))
