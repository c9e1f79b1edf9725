"""What a session is told of the one before it: which one that is, and the record of it in words.

The last session on this branch is handed over, or else the last one of the project if that was within two days. A
session that still runs is not over, and work that was merged needs no hand-over.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import time

from subconscious import surfacing
from subconscious.flow.mind import Mind
from subconscious.model import Memory, Session
from subconscious.projects import is_over
from subconscious.quoting import quote, within_quotes, word
from subconscious.store import handovers
from subconscious.summaries import MAIN_BRANCHES, Handover
from subconscious.summaries.handover import sentences_within

LOOKED_AT = 20
"""Sessions among which the one to hand over is looked for."""

RECENT = 48 * 3600.0
"""Seconds within which the last session of a project is handed over, whatever its branch."""

MERGE_SECONDS = 0.15
"""Time that Git has to tell whether a branch was merged, while the memories are chosen."""

LEAST = 40
"""Characters below which what is left of a part says nothing."""

ASKED_LENGTH = 80
"""Characters of the request that are told with sentences of an answer."""

LABELS = {
    "asked": "asked",
    "done": "done",
    "decided": "the user stated",
    "failed": "last command that failed",
    "open": "left open",
    "reported": "the assistant reported",
}
RETOLD = LABELS | {"decided": "decided", "failed": "failed"}
"""Labels of a story that a model worded."""

QUOTED = {"asked", "decided"}
"""Parts that hold several texts in quotation marks."""

_QUESTION = re.compile(r'the assistant had asked: ".*?(?:"; |\Z)')
_SENTENCE_END = re.compile(r"(?<=[.!?;]) ")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session begins: what is handed over depends on it.

    ``folder`` is its checkout, "" where there is none to ask. ``since``: only what ended after that is news to it.
    """

    session_id: str
    project_id: str
    branch: str = ""
    folder: str = ""
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class Left:
    """A session and what it leaves. ``given`` is False where it is known but not to be told.

    ``event`` is the event by which it is told, where that is another one than the one that asks.
    """

    session: Session
    handover: Handover
    given: bool = True
    event: str = ""


async def left_behind(mind: Mind, place: Place) -> Left | None:
    """Find the session whose work is gone on with; None where there is none."""
    known = await handovers.finished(mind.database, place.project_id, place.session_id, LOOKED_AT)
    session = _gone_on_with(known, place)
    if session is None:
        return None
    handover = Handover.from_json(session.handover)
    stands = {*await handovers.ledger(mind.database, place.session_id)} if place.session_id else set()
    news = session.id not in stands and session.last_event_at > place.since
    wanted = mind.settings.handover and news and not handover.finished and bool(session.handover)
    over = wanted and await asyncio.to_thread(is_over, place.folder, session.branch, MERGE_SECONDS)
    return Left(session, handover, given=wanted and not over)


def _gone_on_with(known: Sequence[Session], place: Place) -> Session | None:
    """The latest on this branch, or else the latest of all within the last two days."""
    here = (session for session in known if place.branch and session.branch == place.branch)
    recent = (session for session in known[:1] if time() - session.last_event_at <= RECENT)
    return next(here, None) or next(recent, None)


def fits_a_start(left: Left, branch: str, given: Iterable[Memory] = ()) -> bool:
    """Whether a start gets a session's hand-over: its branch continues, or something was left unfinished.

    On a trunk the next task is likely to be another one: what was finished there is left to the first prompt.
    ``given`` are the memories beside it.
    """
    return goes_on(left, branch) or is_unfinished(left, given)


def goes_on(left: Left, branch: str) -> bool:
    """Whether a start is on the branch that a session worked on, where that is no trunk.

    Outside of Git there is neither a branch nor a commit that could end the work.
    """
    return not branch or (branch not in MAIN_BRANCHES and left.session.branch == branch)


def is_unfinished(left: Left, given: Iterable[Memory] = ()) -> bool:
    """Whether a session left something open, ended with a failure, or was interrupted.

    A question that the assistant ended with is no open end: who wants to answer it goes on with that work. Neither is
    a failed command whose way out is given.
    """
    left_open = _QUESTION.sub("", left.handover.open)
    failed = _without_known(left.handover.failed, [_folded(memory.content) for memory in given], quoted=False)
    return bool(left_open or failed) or left.session.status == "interrupted"


def room_for(left: Left, branch: str, most: int) -> int:
    """Characters that a hand-over may take: half of ``most`` where the work goes on on another branch."""
    return most if left.session.branch == branch else most // 2


def lines_of(left: Left, given: Iterable[Memory], room: int, *, earlier: bool = False, brief: bool = False) -> str:
    """The hand-over as it stands in a session's context, in at most ``room`` characters; "" where nothing fits.

    What the memories beside it say already is left out. ``earlier``: it is given because of its subject. ``brief``:
    without the assistant's report.
    """
    head = f"- {_earlier(left.session) if earlier else _heading(left.session)}\n"
    room -= len(head)
    known = [_folded(memory.content) for memory in given]
    lines = []
    for line in _parts(left, known, brief=brief):
        if len(line) > room:
            fits = sentences_within(quote(line), room - 5) if room > LEAST else ""
            line = f"    {fits}\n" if fits else ""
        room -= len(line)
        lines.append(line)
    return head + "".join(lines) if any(lines) else ""


def answer_line(left: Left, given: Iterable[Memory], room: int) -> str:
    """Some sentences of an earlier session's answer, in at most ``room`` characters; "" where none fits."""
    session, story = left.session, left.handover
    asked = f", asked {within_quotes(story.asked, ASKED_LENGTH)}" if story.asked else ""
    head = f"- From an earlier session ({surfacing.date_of(session.last_event_at)}{asked}): the assistant reported: "
    known = [_folded(memory.content) for memory in given]
    text = "" if _is_known(story.reported, known) else sentences_within(quote(story.reported), room - len(head) - 1)
    return f"{head}{text}\n" if len(text) > LEAST else ""


def _heading(session: Session) -> str:
    day = surfacing.date_of(session.last_event_at)
    branch = f" on branch {word(session.branch)}" if session.branch else ""
    if session.status == "interrupted":
        return f"{surfacing.interruption(session)}. Record of that session{branch}:"
    return f"Hand-over: record of the last session here ({day}{branch}):"


def _earlier(session: Session) -> str:
    branch = f", branch {word(session.branch)}" if session.branch else ""
    return (
        f"Record of an earlier session that this prompt resembles ({surfacing.date_of(session.last_event_at)}{branch}):"
    )


def _parts(left: Left, known: Sequence[str], *, brief: bool) -> Iterator[str]:
    headed = {"open"} if left.session.status == "interrupted" else set()
    headed |= {"reported"} if brief else set()
    labels = RETOLD if left.handover.retold else LABELS
    for name, text in left.handover.parts():
        news = _without_known(text, known, quoted=name in QUOTED and not left.handover.retold)
        if name not in headed and news:
            yield f"    {labels[name]}: {quote(news)}\n"


def _without_known(text: str, known: Sequence[str], *, quoted: bool) -> str:
    """The part without those of its statements or sentences that a memory which is given says; the others stay."""
    if quoted:
        return ", ".join(f'"{one}"' for one in text.strip('"').split('", "') if not _is_known(one, known))
    return " ".join(one for one in _SENTENCE_END.split(text) if not _is_known(one, known))


def _is_known(text: str, known: Sequence[str]) -> bool:
    """Whether a memory that is given says what a part says."""
    folded = _folded(text)
    return any(one and (one in folded or folded in one) for one in known)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace('"', "'").split()).strip("'. ")
