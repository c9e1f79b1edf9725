"""``subconscious remember``, ``recall``, ``search``, ``list`` and ``show``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from subconscious.domain.errors import DaemonError, OnlyCaptureError
from subconscious.domain.observed import IN_TOOL_CALLS, is_observed

from . import screen, suspicion, wording
from .ask import ask, here, print_substitution
from .origin import origin, session

if TYPE_CHECKING:
    from subconscious.wire.history import Event, Succession
    from subconscious.wire.links import ReasonMemory
    from subconscious.wire.memories import (
        Memory,
        PromotionStatus,
        RecallResult,
        RememberResult,
        SearchResult,
        ShowResult,
        Surface,
    )
    from subconscious.wire.sessions import WhySurfacedResult


SEARCH_EVERYWHERE = "\n  try: subconscious search --everywhere QUERY"
SPEAKERS = {
    "user": "you",
    "assistant": "the assistant",
    "teammate": "a teammate",
    "tool": "a tool's output, or the assistant after reading it",
}

TRUST_NOTES = {"LOW": "low trust", "SUSPECT": "suspect: may be poisoned"}
"""Notes that are shown with memories of less than normal trust."""

ON_BRANCH = "on branch "
"""The prefix of the mark of a memory that was stated on another branch."""

PAUSED = "paused: sessions did not use it"
"""The mark of a memory that new sessions do not start with any more."""


def remember(options: Namespace) -> None:
    """Send a statement to the daemon; print whether it was stored, waits for review, or was not stored."""
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
        _print_admission(answer)


def _print_admission(answer: RememberResult) -> None:
    memory, capture = answer.get("memory"), answer.get("capture")
    number, reason = capture["id"] if capture else None, screen.line(answer.get("reason", ""))
    kept = f"Stored as {memory['id']} ({screen.line(memory['kind'])})." if memory else ""
    print(
        {
            "auto": kept,
            "review": f"Waits for review as capture {number}: {reason}",
            "quarantine": f"In quarantine as capture {number}: {reason}",
            "discard": f"Not stored: {reason}",
        }[answer["decision"]]
    )
    for old in answer.get("replaced", ()):
        print(screen.wrapped(f"It replaces memory {old['id']}: {screen.statement(old)}", 2))
    if answer["decision"] == "review" and capture:
        for words in suspicion.lines(capture):
            print(screen.paint(screen.wrapped(words, 2), "yellow"))
        print(f"  subconscious review approve {number}")


def recall(options: Namespace) -> None:
    """Print the text that the model would get for a question."""
    how = {"tokens": options.tokens, "tier": options.tier, "section": options.section} | _search_options(options)
    answer = ask("recall", query=" ".join(options.query), cwd=here(), **how, **_memory_filters(options))
    if options.json:
        screen.as_json(answer)
    elif answer["hits"]:
        print(screen.clean(answer["text"]))
    else:
        print(f"No memory of this project answers that.{_retry_hint(answer) or SEARCH_EVERYWHERE}")
        print_substitution()


def search(options: Namespace) -> None:
    """Print the memories found, the best first."""
    how = {"tier": options.tier, "section": options.section} | _search_options(options)
    answer = ask("search", query=" ".join(options.query), cwd=here(), origin=origin(), **how, **_filters(options))
    hits = answer["hits"]
    if options.json:
        screen.as_json(hits)
        return
    for hit in hits:
        card(
            {**hit["memory"], "suspicion": hit.get("suspicion")},
            f"relevance {hit['relevance']:.2f}",
            *hit.get("marks", ()),
        )
        if "told" in hit:
            print(screen.wrapped(hit["told"]["text"], 6))
    for found in answer.get("team", ()):
        by = f"shared by {found['by']}, " + ("confirmed" if found["confirmed_by"] else "unconfirmed")
        print(screen.wrapped(screen.line(f"{found['content']}"), 6, "team  "))
        print(screen.paint(screen.wrapped(screen.line(f"{found['kind']}, {by}"), 6), "dim"))
    if not hits and not answer.get("team"):
        print(f"Nothing found.{_retry_hint(answer) or _scope_hint(options)}")
        print_substitution()


def _search_options(options: Namespace) -> dict[str, Any]:
    return {name: getattr(options, name, None) for name in ("preset", "mode", "budget")} | {
        "nearest": options.nearest or None,
        "session_id": session(),
    }


def _retry_hint(answer: SearchResult | RecallResult) -> str:
    """Return a hint after a search without results: list the nearest memories, or ignore the threshold of the mode."""
    if far := answer.get("far", 0):  # an older daemon does not send it
        return f"\n  No match; to list the nearest {far}: --nearest"
    mode = answer.get("mode", "any")
    return "" if mode == "any" else f"\n  No results meet the threshold of {mode}; to show all matches: --mode any"


def list_memories(options: Namespace) -> None:
    """Print memories, the newest first."""
    answer = ask("list", cwd=here(), offset=options.offset, **_filters(options))
    memories, total = answer["memories"], answer["total"]
    if options.json:
        screen.as_json(memories)
        return
    paused = _paused(memories)
    for memory in memories:
        card(memory, *((PAUSED,) if memory["id"] in paused else ()))
    _print_rest(options, len(memories), total)


def _paused(memories: Sequence[Memory]) -> Sequence[int]:
    """Return the ids of active memories that new sessions do not start with, because the last ones did not use them."""
    active = [memory["id"] for memory in memories if not memory["archived_at"]]
    if not active:
        return ()
    try:
        return ask("why_surfaced", ids=active, limit=1, origin=origin()).get("paused", ())  # not from an older daemon
    except DaemonError:
        return ()  # the list is worth more than this mark


def _print_rest(options: Namespace, shown: int, total: int) -> None:
    seen = options.offset + shown
    if total == 0:
        sort = "archived " if options.archived else "unconfirmed " if options.unconfirmed else ""
        chosen = any(value is not None for value in _memory_filters(options).values())
        print(f"No {sort}memories {'with these options' if chosen else 'here yet'}.{_scope_hint(options)}")
        print_substitution()
    elif not shown:
        print(f"There {'is only 1 memory' if total == 1 else f'are only {total} memories'}; use a smaller --offset")
    elif seen < total:
        print(f"\n{seen} of {total} shown; for the next: --offset {seen}")


def _scope_hint(options: Namespace) -> str:
    if options.everywhere:
        return "\n  try: subconscious remember TEXT, or subconscious demo"
    return "\n  try: --everywhere for all projects, or subconscious remember TEXT"


def _filters(options: Namespace) -> dict[str, Any]:
    return _memory_filters(options) | {
        "archived": options.archived or None,
        "unconfirmed": options.unconfirmed or None,
        "everywhere": options.everywhere or None,
        "limit": options.limit,
    }


def _memory_filters(options: Namespace) -> dict[str, Any]:
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


def card(memory: Memory | ReasonMemory, *more: str) -> None:
    """Print a memory: its statement, then its kind, date, speaker and marks such as "pinned"."""
    print(screen.wrapped(screen.statement(memory), 6, f"{memory['id']:>4}"))
    details = [
        memory["kind"],
        screen.when(memory["said_at"]),
        source(memory),
        *dict.fromkeys((*more, *_marks(memory))),
    ]
    print(screen.paint(screen.wrapped(screen.listed(details), 6), "dim"))
    suspicion.note(memory)


def source(memory: Mapping[str, Any]) -> str:
    """Return who made a statement, such as "said by you"; or a note that it was only observed in tool calls."""
    if is_observed(str(memory.get("extractor", ""))):
        return IN_TOOL_CALLS
    return f"said by {SPEAKERS.get(memory['origin'], screen.line(memory['origin']))}"


def doubts(memory: Mapping[str, Any]) -> Iterable[str]:
    """Yield reasons to doubt a memory: conflicts, newer versions, staleness, low trust."""
    for label, name in (("conflicts with", "conflicts"), ("superseded by", "superseded_by")):
        if memory.get(name):
            yield f"{label} {' '.join(f'[{number}]' for number in memory[name])}"
    if memory.get("stale"):
        yield "stale"
    if memory.get("trust") in TRUST_NOTES:
        yield TRUST_NOTES[memory["trust"]]


def _marks(memory: Mapping[str, Any]) -> Iterable[str]:
    marks = {
        "an agent's own note": memory.get("extractor") == "claude-note",
        "all projects": memory["scope"] == "user",
        "pinned": memory["pinned"],
        "verified": memory["verified"],
        "archived": memory["archived_at"] and not memory.get("unconfirmed"),
        "unconfirmed": memory.get("unconfirmed"),
        "project knowledge": (standing := memory.get("standing")) and standing["status"] == "promoted",
    }
    return [*(mark for mark, applies in marks.items() if applies), *doubts(memory)]


def show(options: Namespace) -> None:
    """Print a memory with its origin, history and the sessions that got it; or a capture; or a branch's memories."""
    if options.branch is not None:
        _show_branch(options)
        return
    try:
        answer = ask("show", id=options.id, cwd=here(), origin=origin())
    except DaemonError as error:
        if error.code != OnlyCaptureError.code:
            raise
        from .review import show_capture  # imports this module

        show_capture(options)
        return
    if options.json:
        screen.as_json(answer)
        return
    memory = answer["memory"]
    print(screen.paint(screen.wrapped(f"{memory['id']}  {screen.statement(memory)}"), "bold"))
    why = ask("why_surfaced", id=memory["id"], limit=1, origin=origin())
    out = "new sessions no longer start with it, because recent sessions did not use it" if why.get("left_out") else ""
    notes = [("warning", _warnings(answer)), ("branch", _branches(answer))]
    _show_content(memory, [*notes, ("priority", _priority(answer["priority"], why)), ("left out", out)])
    screen.heading("Where it comes from")
    screen.fields([*_provenance(memory), *_merges(answer)])
    _show_history(answer["history"], answer.get("successions", []))  # an older daemon does not send them
    _show_surfaces(answer["surfaces"])


def _priority(priority: float, why: WhySurfacedResult) -> str:
    """Return a memory's priority, with how many sessions used the memory, and in how many the user repeated it."""
    responses = why.get("responses")
    if not priority or responses is None:  # an older daemon does not send them
        return f"{priority:+.2f}" if priority else ""
    causes = [
        ("used in", responses["used"]),
        ("you repeated it in", responses["repeated"]),
        ("you had to repeat it in", responses["violated"]),
    ]
    told = screen.listed([f"{cause} {screen.counted(number, 'session')}" for cause, number in causes if number])
    return f"{priority:+.2f}: {told}"


def _warnings(answer: ShowResult) -> str:
    """Return the warnings about a memory: what has changed since the statement, and why it may be poisoned."""
    marks = [mark for mark in answer["marks"] if not mark.startswith(ON_BRANCH)]
    return screen.listed([*marks, *filter(None, [answer["memory"].get("suspicion")])])


def _branches(answer: ShowResult) -> str:
    """Return the other branch on which a memory was stated, or "": a note, not a reason to doubt the memory."""
    return screen.listed([mark.removeprefix(ON_BRANCH) for mark in answer["marks"] if mark.startswith(ON_BRANCH)])


def _merges(answer: ShowResult) -> list[tuple[str, str]]:
    """Return two rows: the memory into which this one was merged, and those merged into it. Old daemons send none."""
    now, before = answer.get("merged_into"), screen.listed(list(map(str, answer.get("merged", []))))
    return [
        ("merged", f"into memory {now}, its duplicate; `subconscious unarchive` separates them" if now else ""),
        ("merged in", f"memory {before}" if before else ""),
    ]


def _show_branch(options: Namespace) -> None:
    """Print the memories learned on a branch of this project, the latest first."""
    answer = ask("list", cwd=here(), branch=options.branch, limit=options.limit)
    if options.json:
        screen.as_json(answer)
        return
    for memory in answer["memories"]:
        card(memory)
    shown, total, branch = len(answer["memories"]), answer["total"], screen.line(answer["branch"])
    if total == 0:
        print(f"Nothing has been learned on {branch} yet.\n  for all branches: subconscious list")
    elif shown < total:
        print(f"\n{shown} of {total} learned on {branch}; more with --limit {total}")


def _show_content(memory: Memory, more: list[tuple[str, object]]) -> None:
    if screen.line(memory["content"]) != screen.statement(memory):
        print(f"\n{screen.wrapped(memory['content'], 2)}")
    if memory["rationale"]:
        print(f"\n{screen.wrapped('because ' + memory['rationale'], 2)}")
    print()
    screen.fields(
        [
            ("kind", f"{memory['kind']} ({memory['category']})"),
            ("scope", "in all projects" if memory["scope"] == "user" else "this project"),
            ("confidence", f"{memory['confidence']:.2f} (raw {memory['raw_confidence']:.2f})"),
            ("trust", screen.line(memory.get("trust", "")).lower()),
            ("promotion", promotion(memory.get("standing"))),
            ("tags", screen.listed(memory["tags"])),
            ("files", screen.listed(memory["files"])),
            (
                "repeated",
                screen.counted(memory["recurrence"] - 1, "time") if memory["recurrence"] > 1 else "",
            ),
            ("used", _uses(memory)),
            ("state", screen.listed(list(_marks(memory)))),
            *more,
        ]
    )


def promotion(standing: PromotionStatus | None) -> str:
    """Return a memory's promotion status, such as "promoted" (project knowledge), and the parts of its score."""
    if not standing:  # an older daemon does not send it
        return ""
    estimated = f"estimated impact {standing['impact']:.0f} and estimated specificity {standing['specificity']:.0f}"
    parts = f"the mean of repetition {standing['recurrence']:.0f}, {estimated}"
    flaw = f": {screen.line(standing['flaw'])}" if standing["flaw"] else ""
    return f"{standing['status']}, score {standing['score']:.1f} of 10 ({parts}){flaw}"


def _uses(memory: Memory) -> str:
    if not memory["uses"]:
        return "not yet"
    return f"{screen.counted(memory['uses'], 'time')}, last {screen.when(memory['last_used_at'])}"


def _provenance(memory: Memory) -> list[tuple[str, object]]:
    span = f", bytes {memory['byte_start']}-{memory['byte_end']}" if memory["byte_end"] else ""
    return [
        ("source", f"{source(memory)}, {screen.when(memory['said_at'])}"),
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


def _show_history(events: list[Event], successions: list[Succession]) -> None:
    screen.heading("History")
    lines = [(event["at"], _changed(event)) for event in events]
    for one in successions:
        known = "superseded" if one["holds"] else "no longer superseded"
        lines.append((one["at"], f"{known} by memory {one['by']} (recorded by {_actor(one['actor'])})"))
    for at, text in sorted(lines, key=lambda line: line[0]):
        print(screen.wrapped(text, 23, f"  {screen.stamp(at)}"))


def _changed(event: Event) -> str:
    reason = f" ({screen.line(event['reason'])})" if event.get("reason") else ""
    return f"{wording.done(event['action'], 'memory')} by {_actor(event['actor'])}{reason}"


def _actor(name: str) -> str:
    return screen.line(wording.ACTORS.get(name, name))


def _show_surfaces(surfaces: list[Surface]) -> None:
    screen.heading("Sessions it was shown to")
    if not surfaces:
        print("  none yet")
    for surface in surfaces:
        details = f"{surface['event']}: {screen.line(surface['reason'])} (session {surface['session_id'][:8]})"
        print(screen.wrapped(details, 23, f"  {screen.stamp(surface['at'])}"))
