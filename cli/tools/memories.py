"""Tools on memories: what matters for a task, finding, reading, asking to remember."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from subconscious.errors import RequestError

from .arguments import Ids, Listing, One, Query, Statement, Task, TierName
from .past import happenings, meeting
from .results import Admission, Context, Detail, Note, Notes
from .tiers import fitting, note, within
from .tool import CHARACTERS_A_TOKEN, Asking, Layer, Tool

SHOWN_SESSIONS = 5
SHOWN_HISTORY = 10
OTHERS = "`memory_search` finds those of this project"


def matters(wish: Task, daemon: Asking) -> Context:
    """What is remembered about a task, and where the last sessions broke off."""
    asked = {"query": wish.task, "tokens": wish.tokens, "session_id": daemon.session or None}
    hits = daemon.ask("recall", **asked, **wish.manner())["hits"]
    found = [note(hit["memory"], wish.tier, hit["relevance"]) for hit in hits]
    sessions = daemon.ask("sessions", limit=SHOWN_SESSIONS)["sessions"]
    left = [meeting(session, "minimal") for session in sessions if session["left_open"]][:1]
    room = wish.tokens * CHARACTERS_A_TOKEN
    return Context(memories=fitting(found, Layer.ORCHESTRATION, room), left_open=left)


def search(wish: Query, daemon: Asking) -> Notes:
    """A page of what fits a query, the best first."""
    last = wish.offset + wish.limit
    session = daemon.session or None
    how = wish.filters() | wish.manner() | {"section": wish.section or None}
    hits = daemon.ask("search", query=wish.query, limit=last + 1, session_id=session, **how)["hits"]
    page = [_note(hit, wish.tier) for hit in hits[wish.offset : last]]
    kept = fitting(page, Layer.DISCOVERY)
    seen = wish.offset + len(kept)
    return Notes(memories=kept, next=seen if kept and seen < len(hits) else 0)


def _note(hit: Mapping[str, Any], tier: TierName) -> Note:
    """Return a hit with the detail of its tier, or only the section that was asked for."""
    found = note(hit["memory"], tier, hit["relevance"])
    return found.model_copy(update={"content": hit["told"]["text"]}) if "told" in hit else found


def listing(wish: Listing, daemon: Asking) -> Notes:
    """A page of memories, the newest first."""
    answer = daemon.ask("list", limit=wish.limit, offset=wish.offset, **wish.filters())
    kept = fitting([note(memory, wish.tier) for memory in answer["memories"]], Layer.DISCOVERY)
    seen, total = wish.offset + len(kept), answer["total"]
    return Notes(memories=kept, next=seen if kept and seen < total else 0, total=total)


def get(wish: Ids, daemon: Asking) -> Notes:
    """Memories by their ids; those that don't fit are asked for again, by the ids that are missing."""
    found = [note(_own(number, daemon)["memory"], wish.tier) for number in dict.fromkeys(wish.ids)]
    return Notes(memories=fitting(found, Layer.SURGICAL), total=len(found))


def show(wish: One, daemon: Asking) -> Detail:
    """A memory with its evidence, its history, and where it was given."""
    answer = _own(wish.id, daemon)
    events = [(event["at"], f"{event['action']} by {event['actor']}", event["reason"]) for event in answer["history"]]
    given = [(one["at"], one["event"], one["reason"]) for one in answer["surfaces"][:SHOWN_HISTORY]]
    room = Layer.DETAIL.room
    history = happenings(events[-SHOWN_HISTORY:], room // 4)
    surfaces = happenings(given, room // 4)
    whole: Note = within(note(answer["memory"], "full"), room // 2)
    return Detail(memories=[whole], history=history, given=surfaces)


def _own(number: int, daemon: Asking) -> Mapping[str, Any]:
    """A memory as the daemon shows it. Raises RequestError for another project's."""
    answer = daemon.ask("show", id=number)
    if not is_own(answer["memory"], daemon):
        raise RequestError(f"memory {number} belongs to another project", OTHERS)
    if answer["memory"].get("archived_at") is not None:  # by a rollback, perhaps
        raise RequestError(
            f"memory {number} was taken out of use", "the user can bring it back: subconscious unarchive"
        )
    return answer


def is_own(memory: Mapping[str, Any], daemon: Asking) -> bool:
    """Whether it is this project's, or the user's for all projects."""
    return bool(memory["scope"] == "user" or memory["project_id"] == daemon.project)


def remember(wish: Statement, daemon: Asking) -> Admission:
    """Hand a statement to the gate: what the model asks for, a person decides."""
    answer = daemon.ask(
        "remember",
        text=wish.text,
        kind=wish.kind or None,
        tags=wish.tags or None,
        session_id=daemon.session or None,
    )
    memory, capture = answer.get("memory") or {}, answer.get("capture") or {}
    return Admission(
        decision=answer["decision"],
        reason=answer.get("reason") or "",
        memory=memory.get("id", 0),
        capture=capture.get("id", 0),
    )


TOOLS = (
    Tool(
        "memory_context",
        Layer.ORCHESTRATION,
        "What past sessions know that matters for a task: decisions, preferences, lessons, dead ends, what was left"
        " open. Call before larger work.",
        Task,
        Context,
        ("recall", "sessions"),
        matters,
    ),
    Tool(
        "memory_search",
        Layer.DISCOVERY,
        "Find memories by meaning and words, best first.",
        Query,
        Notes,
        ("search",),
        search,
    ),
    Tool("memory_list", Layer.DISCOVERY, "Memories, newest first.", Listing, Notes, ("list",), listing),
    Tool("memory_get", Layer.SURGICAL, "Read memories by id.", Ids, Notes, ("show",), get),
    Tool(
        "memory_show",
        Layer.DETAIL,
        "One memory whole: evidence, origin, history, where it was given.",
        One,
        Detail,
        ("show",),
        show,
    ),
    Tool(
        "memory_remember",
        Layer.SURGICAL,
        "Propose a lasting statement for memory. It is checked, and waits for the user's review.",
        Statement,
        Admission,
        ("remember",),
        remember,
        reads=False,
    ),
)
