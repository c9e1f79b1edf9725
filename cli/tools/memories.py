"""Tools on memories: context for a task, search, list, read, remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subconscious.domain.errors import RequestError

from .arguments import Ids, Listing, One, Query, Statement, Task, TierName
from .past import fitting_events, session_summary
from .results import Admission, Context, Detail, Note, Notes
from .tiers import fitting, note, team_note, within
from .tool import CHARACTERS_PER_TOKEN, DaemonClient, Layer, Tool

if TYPE_CHECKING:
    from subconscious.wire.memories import Hit, Memory, ShowResult

SHOWN_SESSIONS = 5
SHOWN_HISTORY = 10
SEARCH_HINT = "`memory_search` finds those of this project"


def context(arguments: Task, daemon: DaemonClient) -> Context:
    """Return memories that matter for a task, and, of the last five sessions, the latest that left something open."""
    args = {"query": arguments.task, "tokens": arguments.tokens, "session_id": daemon.session or None}
    hits = daemon.ask("recall", **args, **arguments.search_options())["hits"]
    found = [note(hit["memory"], arguments.tier, hit["relevance"]) for hit in hits]
    sessions = daemon.ask("sessions", limit=SHOWN_SESSIONS)["sessions"]
    left = [session_summary(session, "minimal") for session in sessions if session["left_open"]][:1]
    max_characters = arguments.tokens * CHARACTERS_PER_TOKEN
    return Context(memories=fitting(found, Layer.ORCHESTRATION, max_characters), left_open=left)


def search(arguments: Query, daemon: DaemonClient) -> Notes:
    """Return a page of search results, the best first."""
    last = arguments.offset + arguments.limit
    session = daemon.session or None
    how = arguments.filters() | arguments.search_options() | {"section": arguments.section or None}
    answer = daemon.ask("search", query=arguments.query, limit=last + 1, session_id=session, **how)
    hits = answer["hits"]
    page = [_note(hit, arguments.tier) for hit in hits[arguments.offset : last]]
    kept = fitting(page, Layer.DISCOVERY)
    seen = arguments.offset + len(kept)
    if arguments.offset == 0 and len(kept) == len(page):  # team hits have no ids: first page only
        kept = fitting([*page, *(team_note(hit, arguments.tier) for hit in answer.get("team", ()))], Layer.DISCOVERY)
    return Notes(memories=kept, next=seen if kept and seen < len(hits) else 0)


def _note(hit: Hit, tier: TierName) -> Note:
    """Return a hit with the fields of the tier; its content is the requested section, if there is one."""
    found = note(hit["memory"], tier, hit["relevance"])
    return found.model_copy(update={"content": hit["told"]["text"]}) if "told" in hit else found


def listing(arguments: Listing, daemon: DaemonClient) -> Notes:
    """Return a page of memories, the newest first."""
    answer = daemon.ask("list", limit=arguments.limit, offset=arguments.offset, **arguments.filters())
    kept = fitting([note(memory, arguments.tier) for memory in answer["memories"]], Layer.DISCOVERY)
    seen, total = arguments.offset + len(kept), answer["total"]
    return Notes(memories=kept, next=seen if kept and seen < total else 0, total=total)


def get(arguments: Ids, daemon: DaemonClient) -> Notes:
    """Return memories by their ids, as many as fit; the model can ask again for the missing ones."""
    found = [note(_own(number, daemon)["memory"], arguments.tier) for number in dict.fromkeys(arguments.ids)]
    return Notes(memories=fitting(found, Layer.SURGICAL), total=len(found))


def show(arguments: One, daemon: DaemonClient) -> Detail:
    """Return a memory with its evidence, its history, and the sessions that it was shown to."""
    answer = _own(arguments.id, daemon)
    events = [(event["at"], f"{event['action']} by {event['actor']}", event["reason"]) for event in answer["history"]]
    given = [(one["at"], one["event"], one["reason"]) for one in answer["surfaces"][:SHOWN_HISTORY]]
    max_characters = Layer.DETAIL.max_characters
    history = fitting_events(events[-SHOWN_HISTORY:], max_characters // 4)
    surfaces = fitting_events(given, max_characters // 4)
    whole: Note = within(note(answer["memory"], "full"), max_characters // 2)
    return Detail(memories=[whole], history=history, given=surfaces)


def _own(number: int, daemon: DaemonClient) -> ShowResult:
    """Return the daemon's answer about a memory. Raises RequestError if it is archived or of another project."""
    answer = daemon.ask("show", id=number)
    if not is_own(answer["memory"], daemon):
        raise RequestError(f"memory {number} belongs to another project", SEARCH_HINT)
    if answer["memory"].get("archived_at") is not None:  # it may have been withdrawn by a rollback
        raise RequestError(f"memory {number} is archived", "the user can bring it back: subconscious unarchive")
    return answer


def is_own(memory: Memory, daemon: DaemonClient) -> bool:
    """Return whether a memory belongs to this project, or to the user for all projects."""
    return bool(memory["scope"] == "user" or memory["project_id"] == daemon.project)


def remember(arguments: Statement, daemon: DaemonClient) -> Admission:
    """Send a statement to the daemon, which checks it; what the model proposes waits for a person's review."""
    answer = daemon.ask(
        "remember",
        text=arguments.text,
        kind=arguments.kind or None,
        tags=arguments.tags or None,
        session_id=daemon.session or None,
    )
    memory, capture = answer.get("memory"), answer.get("capture")
    return Admission(
        decision=answer["decision"],
        reason=answer.get("reason") or "",
        memory=memory["id"] if memory else 0,
        capture=capture["id"] if capture else 0,
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
        context,
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
