"""Selects the previous session to hand over to a new session, and renders the hand-over.

The previous session is the last one on this branch, or else the last one of the project if it ended within two days.
Sessions that did no work of their own (`sessions.own_work`) are passed over. If the previous session changed nothing,
the work before it is handed over, too. Neither a session that is still running nor work that was merged is handed over.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import time

from subconscious.domain.model import Memory, Session
from subconscious.framing import rules
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions import MAIN_BRANCHES, Handover
from subconscious.sessions.handover import quotes_in, sentences_within, whole_sentences
from subconscious.sessions.likeness import story_words, words_of
from subconscious.sessions.own_work import asked_for_something, changed_something, did_work, is_pending
from subconscious.store import handovers, links, memories
from subconscious.system.projects import is_created_from, is_finished
from subconscious.text.quoting import quote, within_quotes, word
from subconscious.text.stops import split

LOOKED_AT = 20
"""The number of latest sessions that are examined."""

PASSED_OVER = 2
"""How many sessions without work are passed over: after more of them, the work before them is hardly gone on with."""

RECENT = 48 * 3600.0
"""For this many seconds after its last event, the last session of a project is handed over to any branch."""

MERGE_SECONDS = 0.15
"""The seconds that Git has to find out whether a branch was merged, while the memories are chosen."""

LEAST = 40
"""A part that does not fit is cut only if there is more room than this; an answer is shown only if it is longer."""

NAMED_AMONG = 5
"""How many of the latest sessions are compared with a branch's name: few, because the new session has to wait."""

FEWEST_NAMED, MOST_OF_NAME = 2, 2 / 3
"""A branch counts as named after a session if the session's hand-over contains enough words of the branch's name.

At least FEWEST_NAMED of the name's words, and at least the share MOST_OF_NAME of them, must occur.
"""

BRIEF_REPORT = 300
"""The maximum number of characters of a report at a session's start if the work is finished and on a main branch."""

ASKED_LENGTH = 80
"""The maximum number of characters of the request that are shown before sentences of an answer."""

LABELS = {
    "asked": "asked",
    "done": "done",
    "decided": "the user stated",
    "failed": "last command that failed",
    "open": "left open",
    "reported": "the assistant reported",
}
RETOLD = LABELS | {"decided": "decided", "failed": "failed"}
"""Labels of a hand-over that a model worded."""

QUOTED = {"asked", "decided"}
"""Parts that contain several texts in quotation marks."""

_SENTENCE_END = re.compile(r"(?<=[.!?;]) ")


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """Where a session begins, which determines what is handed over.

    ``folder`` is the session's checkout, "" if there is none. Sessions that ended before ``since`` are not handed over.
    """

    session_id: str
    project_id: str
    branch: str = ""
    folder: str = ""
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class Left:
    """An earlier session and its hand-over. ``given`` is false if the hand-over must not be shown to the new session.

    ``branched`` means that it is the project's last session, and the new branch was created from its branch's head.
    ``event`` is the event name under which the hand-over is recorded as shown; "" stands for the event of the hook
    that is being answered. ``before`` is the work before a session that changed nothing.
    """

    session: Session
    handover: Handover
    given: bool = True
    branched: bool = False
    event: str = ""
    before: Left | None = None

    @property
    def records(self) -> tuple[Left, ...]:
        """Return this session, and the work before it if that is handed over, too."""
        return (self,) if self.before is None else (self, self.before)

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Return the sessions that are handed over."""
        return tuple(one.session for one in self.records)

    @property
    def files(self) -> tuple[str, ...]:
        """Return the names of the files that the sessions changed."""
        return tuple(file for one in self.records for file in one.handover.files)


async def left_behind(ctx: RecallContext, place: StartingPoint) -> Left | None:
    """Return the session that the new session may continue; None if there is none."""
    finished = await handovers.finished_sessions(ctx.database, place.project_id, place.session_id, LOOKED_AT)
    known = _with_work(finished)
    session = _gone_on_with(known, place) or _gone_on_with(
        _those(finished[: PASSED_OVER + 1], asked_for_something), place
    )
    if session is None:
        return None
    left = await _judged(ctx, place, session, newest=session in (known or finished)[:1])
    if left.given:
        left = await _without_replaced(ctx, await asyncio.to_thread(_without_stated, ctx, left))
    if not left.given or changed_something(left.handover):
        return left
    earlier = known[known.index(session) + 1 :] if session in known else []
    before = _gone_on_with(_those(earlier, is_pending), place)
    work = await _judged(ctx, place, before, newest=False) if before is not None else None
    if work is None or not work.given:
        return left
    return replace(left, before=await _without_replaced(ctx, await asyncio.to_thread(_without_stated, ctx, work)))


def _without_stated(ctx: RecallContext, left: Left) -> Left:
    """Return a hand-over without quotations of the user that files say which the client loads itself."""
    told = left.handover
    if told.retold:
        return left

    def kept(text: str) -> str:
        return ", ".join(f'"{one}"' for one in quotes_in(text) if not ctx.client_texts.source(one, loaded=True))

    return replace(left, handover=replace(told, asked=kept(told.asked), decided=kept(told.decided)))


async def _without_replaced(ctx: RecallContext, left: Left) -> Left:
    """Return a hand-over without quotations of the user whose memory was archived or superseded by a later one."""
    told = left.handover
    if told.retold or not told.decided:
        return left
    stated = await memories.stated_in(ctx.database, left.session.id)
    gone = await links.superseded(ctx.database, [memory.id for memory in stated], left.session.project_id)
    old = [memory for memory in stated if memory.id in gone or (memory.archived_at and not memory.unconfirmed)]
    known = [_folded(memory.content) for memory in old]

    def kept(text: str) -> str:
        quotes = (one for one in quotes_in(text) if not any(_folded(one).rstrip("\u2026") in said for said in known))
        return ", ".join(f'"{one}"' for one in quotes)

    return replace(left, handover=replace(told, asked=kept(told.asked), decided=kept(told.decided)))


def _with_work(sessions: Iterable[Session]) -> list[Session]:
    """Return the sessions that did work, except those that too many sessions without work on their branch followed."""
    found: list[Session] = []
    idle: Counter[str] = Counter()
    for session in sessions:
        if not did_work(Handover.from_json(session.handover)):
            idle[session.branch] += 1
        elif idle[session.branch] <= PASSED_OVER:
            found.append(session)
    return found


def _those(sessions: Iterable[Session], fits: Callable[[Handover], bool]) -> list[Session]:
    return [session for session in sessions if fits(Handover.from_json(session.handover))]


async def _judged(ctx: RecallContext, place: StartingPoint, session: Session, *, newest: bool) -> Left:
    """Return a session with its hand-over, and whether it may be given: it is wanted, new, and its work not merged.

    ``newest``: the session is the last one that did work, so that a new branch may continue it.
    """
    handover = Handover.from_json(session.handover)
    stands = {*await handovers.in_context(ctx.database, place.session_id)} if place.session_id else set()
    news = session.id not in stands and session.last_event_at > place.since
    wanted = ctx.settings.handover and news and not handover.finished and bool(session.handover)
    over = wanted and await asyncio.to_thread(is_finished, place.folder, session.branch, MERGE_SECONDS)
    branched = wanted and newest and await asyncio.to_thread(_is_branched, session, place)
    return Left(session, handover, given=wanted and not over, branched=branched)


def _is_branched(session: Session, place: StartingPoint) -> bool:
    """Whether a branch was created from the head of the branch of a recent session."""
    is_new = place.branch not in (*MAIN_BRANCHES, session.branch) and time() - session.last_event_at <= RECENT
    return is_new and is_created_from(place.folder, place.branch, session.branch, session.last_event_at)


def _gone_on_with(known: Sequence[Session], place: StartingPoint) -> Session | None:
    """Return the latest session on this branch, else the latest of the last two days; None if there is none.

    For a branch without sessions, a recent session with work that the branch is named after is preferred to the latest.
    """
    here = (session for session in known if place.branch and session.branch == place.branch)
    recent = [session for session in known if time() - session.last_event_at <= RECENT]
    return next(here, None) or _work_of(place.branch, recent[:NAMED_AMONG]) or next(iter(recent), None)


def _work_of(branch: str, sessions: Sequence[Session]) -> Session | None:
    """Return the latest session with work that a branch is named after."""
    if branch in MAIN_BRANCHES:
        return None
    return next((one for one in sessions if is_named_after(branch, Handover.from_json(one.handover))), None)


def is_named_after(branch: str, story: Handover) -> bool:
    """Whether a branch's name describes the work of a session. False for a main branch."""
    name = set() if branch in MAIN_BRANCHES else words_of(branch.rpartition("/")[2].replace("-", " ").replace("_", " "))
    words = story_words(story)
    return len(name & words) >= max(FEWEST_NAMED, MOST_OF_NAME * len(name))


def fits_a_start(left: Left, branch: str) -> bool:
    """Whether a session gets a hand-over at its start: the work was on the same branch, or was interrupted recently.

    The first session on a new branch also gets the work that the branch is named after, and the last session's work if
    the branch was created from its head. On a main branch, only work of
    the last two days counts. If the branch is unknown, every hand-over is shown. In replayed sessions, readers rated
    hand-overs of recent work on the same branch as fair or helpful, and hand-overs from other branches or of older work
    on a main branch as useless.
    """
    recent = time() - left.session.last_event_at <= RECENT
    broke_off = left.session.status == "interrupted" and recent
    here = left.session.branch == branch and (recent or branch not in MAIN_BRANCHES)
    return here or broke_off or left.branched or not branch or is_named_after(branch, left.handover)


def for_a_start(left: Left, branch: str) -> Left | None:
    """Return what a session gets of a hand-over at its start, shortened (`briefly`); None if it gets nothing."""
    before = for_a_start(left.before, branch) if left.before is not None else None
    return replace(briefly(left), before=before) if fits_a_start(left, branch) else before


def lines_of(
    left: Left,
    given: Iterable[Memory],
    room: int,
    *,
    ways_out: Iterable[Memory] = (),
    earlier: bool = False,
) -> str:
    """Return a rendered hand-over of at most ``room`` characters; "" if nothing fits.

    ``given`` are memories in the session's context; statements that repeat them are left out. ``ways_out`` are memories
    that may name the command that worked instead of the failed one. ``earlier`` is true for a session that is shown
    because a prompt resembles it. If not everything fits, the requests between the first and the last are left out
    first. The work before a session that changed nothing gets half of the room, if it needs that much.
    """
    head = _earlier(left.session) if earlier else _heading(left)
    if left.before is None:
        return _record(left, head, given, room, ways_out)
    before_head = f"Record of the last work before that session ({_when_and_where(left.before.session)}):"
    reserved = len(_record(left.before, before_head, given, room // 2, ways_out))
    own = _record(left, head, given, room - reserved, ways_out)
    return own + _record(left.before, before_head if own else _heading(left.before), given, room - len(own), ways_out)


def _record(left: Left, heading: str, given: Iterable[Memory], room: int, ways_out: Iterable[Memory]) -> str:
    """Return the heading and the parts of one session's hand-over; "" if nothing fits."""
    known = [_folded(memory.content) for memory in given]
    if not _is_known(left.handover.failed, known):
        failed = _with_way_out(left.handover.failed, ways_out)
        left = replace(left, handover=replace(left.handover, failed=failed))
    head = f"- {heading}\n"
    room -= len(head)
    parts = list(_parts(left, known))
    if sum(map(len, parts)) > room:
        fewer = replace(left.handover, asked=_first_and_last(left.handover.asked))
        parts = list(_parts(replace(left, handover=fewer), known))
    lines = []
    for line in parts:
        if len(line) > room:
            fits = sentences_within(quote(line), room - 5) if room > LEAST else ""
            line = f"    {fits}\n" if fits else ""
        room -= len(line)
        lines.append(line)
    return head + "".join(lines) if any(lines) else ""


def briefly(left: Left) -> Left:
    """Return a hand-over, with a shorter report if the work is finished and on a main branch: the code shows the rest.

    Work counts as finished if the hand-over has no open points.
    """
    story = left.handover
    if left.session.branch not in MAIN_BRANCHES or story.open:
        return left
    return replace(left, handover=replace(story, reported=whole_sentences(story.reported, BRIEF_REPORT)))


def _first_and_last(asked: str) -> str:
    """Return the first and the last of several quoted requests; any other text unchanged."""
    requests = quotes_in(asked)
    return f'"{requests[0]}", "{requests[-1]}"' if len(requests) > 2 else asked


def answer_line(left: Left, given: Iterable[Memory], room: int) -> str:
    """Return a line with an earlier session's answer, of at most ``room`` characters; "" if no sentence fits."""
    story = left.handover
    head = answer_head(left.session, story.asked)
    known = [_folded(memory.content) for memory in given]
    text = "" if _is_known(story.reported, known) else sentences_within(quote(story.reported), room - len(head) - 1)
    return f"{head}{text}\n" if len(text) > LEAST else ""


def answer_head(session: Session, asked: str) -> str:
    """Return the words that introduce sentences of an earlier answer: date and request."""
    request = f", asked {within_quotes(asked, ASKED_LENGTH)}" if asked else ""
    return f"- From an earlier session ({rules.date_of(session.last_event_at)}{request}): the assistant reported: "


def _with_way_out(failed: str, ways_out: Iterable[Memory]) -> str:
    """Return a failed command, followed by what worked instead if a memory says so."""
    found = (one.content.partition(f"{failed} failed here; ")[2] for one in ways_out if failed)
    way_out = next(filter(None, found), "").rstrip(".")
    return f"{failed} ({way_out})" if way_out else failed


def _heading(left: Left) -> str:
    session = left.session
    if session.status == "interrupted":
        told = rules.interruption(replace(session, left_open=left.handover.open))
        return f"{told}. Record of that session{_on_branch(session)}:"
    day = rules.date_of(session.last_event_at)
    return f"Hand-over: record of the last session{_on_branch(session) or ' here'} ({day}):"


def _when_and_where(session: Session) -> str:
    return f"{rules.date_of(session.last_event_at)}{_on_branch(session)}"


def _on_branch(session: Session) -> str:
    return f" on branch {word(session.branch)}" if session.branch else ""


def _earlier(session: Session) -> str:
    branch = f", branch {word(session.branch)}" if session.branch else ""
    return f"Record of an earlier session that this prompt resembles ({rules.date_of(session.last_event_at)}{branch}):"


def _parts(left: Left, known: Sequence[str]) -> Iterator[str]:
    interrupted = left.session.status == "interrupted"
    headed = {"open"} if interrupted else set()
    asked = [*known, _folded(left.session.last_prompt)] if interrupted else known  # the heading quotes the last prompt
    labels = RETOLD if left.handover.retold else LABELS
    for name, text in left.handover.parts():
        quoted = name in QUOTED and not left.handover.retold
        news = _without_known(text, asked if name == "asked" else known, quoted=quoted)
        if name not in headed and news:
            yield f"    {labels[name]}: {quote(news)}\n"


def _without_known(text: str, known: Sequence[str], *, quoted: bool) -> str:
    """Return a part without the statements or sentences that memories in the context contain already."""
    if quoted:
        return ", ".join(f'"{one}"' for one in quotes_in(text) if not _is_known(one, known))
    return " ".join(one for one in split(_SENTENCE_END, text) if not _is_known(one, known))


def _is_known(text: str, known: Sequence[str]) -> bool:
    """Whether ``text`` repeats a memory in the context (``known``): one of the two contains the other."""
    folded = _folded(text)
    return any(one and (one in folded or folded in one) for one in known)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace('"', "'").split()).strip("'. ")
