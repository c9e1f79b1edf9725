"""Verbs on memories: remember, recall, search, list, show."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from . import screen, suspicion
from .ask import ask, here
from .origin import origin, session

ELSEWHERE = "\n  try: subconscious search --everywhere QUERY"
SPEAKERS = {"user": "you", "assistant": "the assistant", "tool": "a tool's output, or the assistant after reading it"}
OBSERVED = "nobody: observed in tool calls"

DOUBTFUL = {"LOW": "low trust", "SUSPECT": "suspect: may be poisoned"}
"""How a trust is told of that is not the ordinary one."""


def remember(options: Namespace) -> None:
    """Hand a statement to the gate and say what became of it."""
    answer = ask(
        "remember",
        text=" ".join(options.text),
        cwd=here(),
        origin=origin(),
        kind=options.kind,
        scope="user" if options.everywhere else None,
        tags=options.tag or None,
    )
    if options.json:
        screen.as_json(answer)
    else:
        _tell_admission(answer)


def _tell_admission(answer: dict[str, Any]) -> None:
    memory, capture = answer.get("memory") or {}, answer.get("capture") or {}
    print(
        {
            "auto": f"Remembered as {memory.get('id')} ({screen.line(memory.get('kind'))}).",
            "review": f"Waits for review as {capture.get('id')}: {screen.line(answer.get('reason', ''))}",
            "quarantine": f"In quarantine as {capture.get('id')}: {screen.line(answer.get('reason', ''))}",
            "discard": f"Not remembered: {screen.line(answer.get('reason', ''))}",
        }[answer["decision"]]
    )
    if answer["decision"] == "review":
        for words in suspicion.lines(capture):
            print(screen.paint(screen.wrapped(words, 2), "yellow"))
        print(f"  subconscious review approve {capture.get('id')}")


def recall(options: Namespace) -> None:
    """Print what the model would be given for a question."""
    how = {"tokens": options.tokens, "tier": options.tier, "section": options.section} | _manner(options)
    answer = ask("recall", query=" ".join(options.query), cwd=here(), **how, **_narrowing(options))
    if options.json:
        screen.as_json(answer)
    elif answer["hits"]:
        print(screen.clean(answer["text"]))
    else:
        print(f"Nothing is remembered about that here.{_surer(answer) or ELSEWHERE}")


def search(options: Namespace) -> None:
    """Print the memories found, the best first."""
    how = {"tier": options.tier, "section": options.section} | _manner(options)
    answer = ask("search", query=" ".join(options.query), cwd=here(), **how, **_filters(options))
    hits = answer["hits"]
    if options.json:
        screen.as_json(hits)
        return
    for hit in hits:
        card(
            hit["memory"] | {"suspicion": hit.get("suspicion")},
            f"relevance {hit['relevance']:.2f}",
            *hit.get("marks", ()),
        )
        if "told" in hit:
            print(screen.wrapped(hit["told"]["text"], 6))
    if not hits:
        print(f"Nothing found.{_surer(answer) or _elsewhere(options)}")


def _manner(options: Namespace) -> dict[str, Any]:
    return {name: getattr(options, name, None) for name in ("preset", "mode", "budget")} | {
        "nearest": options.nearest or None,
        "session_id": session(),
    }


def _surer(answer: dict[str, Any]) -> str:
    """What to try where nothing is near enough, or where a mode wants hits that are surer than any is."""
    if far := answer.get("far", 0):  # a daemon of before knows none
        return f"\n  No match; to list the nearest {far}: --nearest"
    mode = answer.get("mode", "any")
    return "" if mode == "any" else f"\n  Nothing is sure enough for {mode}; all that was found: --mode any"


def list_memories(options: Namespace) -> None:
    """Print memories, the newest first."""
    answer = ask("list", cwd=here(), offset=options.offset, **_filters(options))
    memories, total = answer["memories"], answer["total"]
    if options.json:
        screen.as_json(memories)
        return
    for memory in memories:
        card(memory)
    _tell_rest(options, len(memories), total)


def _tell_rest(options: Namespace, shown: int, total: int) -> None:
    seen = options.offset + shown
    if total == 0:
        sort = "archived " if options.archived else "unconfirmed " if options.unconfirmed else ""
        print(f"No {sort}memories here yet.{_elsewhere(options)}")
    elif seen < total:
        print(f"\n{seen} of {total}; the next: --offset {seen}")


def _elsewhere(options: Namespace) -> str:
    if options.everywhere:
        return "\n  try: subconscious remember TEXT, or subconscious demo to see how sessions are remembered"
    return "\n  try: --everywhere for all projects, or subconscious remember TEXT"


def _filters(options: Namespace) -> dict[str, Any]:
    return _narrowing(options) | {
        "archived": options.archived or None,
        "unconfirmed": options.unconfirmed or None,
        "everywhere": options.everywhere or None,
        "limit": options.limit,
    }


def _narrowing(options: Namespace) -> dict[str, Any]:
    return {
        "kinds": options.kind or None,
        "tags": options.tag or None,
        "file": options.file,
        "branch": options.branch,
        "since": options.since,
        "until": options.until,
        "min_confidence": options.min_confidence,
        "project": options.project,
    }


def card(memory: dict[str, Any], *more: str) -> None:
    """Print a memory in two lines: what it says, then what it is."""
    print(screen.wrapped(screen.line(memory["summary"]), 6, f"{memory['id']:>4}"))
    told = [
        memory["kind"],
        screen.when(memory["said_at"]),
        f"said by {speaker(memory)}",
        *dict.fromkeys((*more, *_marks(memory))),
    ]
    print(screen.paint(screen.wrapped(screen.listed(told), 6), "dim"))
    suspicion.note(memory)


def speaker(said: dict[str, Any]) -> str:
    """Whose words they are, in words."""
    if str(said.get("extractor", "")).startswith("observed-"):
        return OBSERVED
    return SPEAKERS.get(said["origin"], str(said["origin"]))


def doubts(memory: dict[str, Any]) -> Iterable[str]:
    """What there is to say against a memory: conflicts, what took its place, age, and trust that is not ordinary."""
    for told, name in (("conflicts with", "conflicts"), ("superseded by", "superseded_by")):
        if memory.get(name):
            yield f"{told} {' '.join(f'[{number}]' for number in memory[name])}"
    if memory.get("stale"):
        yield "stale"
    if memory.get("trust") in DOUBTFUL:
        yield DOUBTFUL[memory["trust"]]


def _marks(memory: dict[str, Any]) -> Iterable[str]:
    marks = {
        "a note of Claude's own": memory.get("extractor") == "claude-note",
        "all projects": memory["scope"] == "user",
        "pinned": memory["pinned"],
        "verified": memory["verified"],
        "archived": memory["archived_at"] and not memory.get("unconfirmed"),
        "unconfirmed": memory.get("unconfirmed"),
        "project knowledge": memory.get("standing", {}).get("status") == "promoted",
    }
    return [*(mark for mark, holds in marks.items() if holds), *doubts(memory)]


def show(options: Namespace) -> None:
    """Print one memory with its whole provenance, its history and where it was surfaced; or what a branch brought."""
    if options.branch is not None:
        _show_branch(options)
        return
    answer = ask("show", id=options.id, cwd=here(), origin=origin())
    if options.json:
        screen.as_json(answer)
        return
    memory = answer["memory"]
    print(screen.paint(screen.wrapped(f"{memory['id']}  {screen.line(memory['summary'])}"), "bold"))
    priority = f"{answer['priority']:+.2f}, from what answers used" if answer["priority"] else ""
    _show_content(memory, [("beware", _beware(answer)), ("priority", priority)])
    screen.heading("Where it comes from")
    screen.fields([*_provenance(memory), *_merges(answer)])
    _show_history(answer["history"])
    _show_surfaces(answer["surfaces"])


def _beware(answer: dict[str, Any]) -> str:
    """What moved on since, and why it looks poisoned."""
    return screen.listed([*answer["marks"], *filter(None, [answer["memory"].get("suspicion")])])


def _merges(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """What says it now, and what said it before; a daemon of before knows neither."""
    now, before = answer.get("merged_into"), screen.listed(list(map(str, answer.get("merged", []))))
    return [
        ("merged", f"into memory {now}, which says the same; `subconscious unarchive` parts them" if now else ""),
        ("was said", f"in memory {before}, merged into this one" if before else ""),
    ]


def _show_branch(options: Namespace) -> None:
    """Print what was learned on a branch of this project, the latest first."""
    answer = ask("list", cwd=here(), branch=options.branch, limit=options.limit)
    if options.json:
        screen.as_json(answer)
        return
    for memory in answer["memories"]:
        card(memory)
    shown, total, branch = len(answer["memories"]), answer["total"], screen.line(answer["branch"])
    if total == 0:
        print(f"Nothing was learned on {branch} yet.\n  try: subconscious list, for all branches")
    elif shown < total:
        print(f"\n{shown} of {total} learned on {branch}; more with --limit {total}")


def _show_content(memory: dict[str, Any], more: list[tuple[str, object]]) -> None:
    if memory["content"] != memory["summary"]:
        print(f"\n{screen.wrapped(memory['content'], 2)}")
    if memory["rationale"]:
        print(f"\n{screen.wrapped('because ' + memory['rationale'], 2)}")
    print()
    screen.fields(
        [
            ("kind", f"{memory['kind']} ({memory['category']})"),
            ("holds", "in all projects" if memory["scope"] == "user" else "in its project"),
            ("confidence", f"{memory['confidence']:.2f} (raw {memory['raw_confidence']:.2f})"),
            ("trust", screen.line(memory.get("trust", "")).lower()),
            ("standing", standing(memory.get("standing"))),
            ("tags", screen.listed(memory["tags"])),
            ("files", screen.listed(memory["files"])),
            (
                "met again",
                screen.counted(memory["recurrence"] - 1, "time") if memory["recurrence"] > 1 else "",
            ),
            ("used", _uses(memory)),
            ("state", screen.listed(list(_marks(memory)))),
            *more,
        ]
    )


def standing(one: dict[str, Any] | None) -> str:
    """How a memory stands between passing remark and project knowledge, and by what."""
    if not one:  # a daemon of before knows none
        return ""
    parts = f"recurrence {one['recurrence']:.0f}, impact about {one['impact']:.0f}, specificity about"
    flaw = f": {screen.line(one['flaw'])}" if one["flaw"] else ""
    return f"{one['status']}, {one['score']:.1f} of 10 ({parts} {one['specificity']:.0f}){flaw}"


def _uses(memory: dict[str, Any]) -> str:
    if not memory["uses"]:
        return "never yet"
    return f"{screen.counted(memory['uses'], 'time')}, last {screen.when(memory['last_used_at'])}"


def _provenance(memory: dict[str, Any]) -> list[tuple[str, object]]:
    span = f", bytes {memory['byte_start']}-{memory['byte_end']}" if memory["byte_end"] else ""
    return [
        ("said", f"{screen.when(memory['said_at'])} by {speaker(memory)}"),
        ("evidence", f'"{memory["evidence"]}"' if memory["evidence"] else ""),
        ("session", memory["session_id"]),
        ("turn", memory["turn_id"]),
        ("transcript", memory["transcript"] and f"{memory['transcript']}{span}"),
        ("branch", " at ".join(filter(None, (memory["branch"], memory["commit"][:12])))),
        ("intent", memory["intent"]),
        ("agent", memory["agent"]),
        ("found by", memory["extractor"]),
        ("stored", screen.when(memory["created_at"])),
        ("hash", memory["content_hash"]),
    ]


def _show_history(events: list[dict[str, Any]]) -> None:
    screen.heading("History")
    for event in events:
        reason = f": {screen.line(event['reason'])}" if event.get("reason") else ""
        print(screen.wrapped(f"{event['action']} by {event['actor']}{reason}", 23, f"  {screen.stamp(event['at'])}"))


def _show_surfaces(surfaces: list[dict[str, Any]]) -> None:
    screen.heading("Given to sessions")
    if not surfaces:
        print("  never yet")
    for surface in surfaces:
        told = f"{surface['event']}: {screen.line(surface['reason'])} (session {surface['session_id'][:8]})"
        print(screen.wrapped(told, 23, f"  {screen.stamp(surface['at'])}"))
