"""What a person typed as one of our commands, read from the prompt's payload and carried out here.

The model has no part in it: its tool calls never come this way. Both the answer to the hook and the job of the same
entry come by here, whichever is first; a capture's key makes the second find what the first did.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from time import time

from subconscious import surfacing
from subconscious.errors import SubconsciousError
from subconscious.flow.giving import Start, save_given
from subconscious.flow.recalling import recall
from subconscious.flow.remembering import Provenance, clean
from subconscious.model import Hit, Memory, Origin
from subconscious.projects import head
from subconscious.quoting import quote, within_quotes
from subconscious.search.tiers import Tiers, tell
from subconscious.search.understanding import understand
from subconscious.store import captures, memories
from subconscious.store.capture_rows import QUARANTINED, Place
from subconscious.store.connect import HURRIED
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from subconscious.surfacing.marks import marks_of

from . import correcting, reasoning, typed_review
from .acts import Telling, refuse_held, remember, set_archived
from .core import Core
from .entry import Entry
from .reviewing import suspicion_note
from .typed_review import Said, refuse
from .vouching import is_a_persons

COMMAND = re.compile(r"\s*+/(?:subconscious:)(?P<verb>[a-z]+)(?:\s+(?P<rest>.*))?\s*$", re.DOTALL)
REVIEW = "review"
CORRECT = "correct"
NUMBERS = re.compile(r"(?P<ids>(?:[#\[]*\d{1,15}\]?(?:[\s,;]+|$))+)")
CORRECTION = re.compile(r"(?P<ids>[#\[]{0,2}\d{1,15}\]?)[\s,;:]+(?P<words>\S.*)", re.DOTALL)
TYPED = "typed in the client"
RECALL_LIMIT = 8
RECALL_TOKENS = 1500
LONGEST_ID = 16
"""Digits from which on a number is no memory's."""

LONGEST = 10_000
"""Characters of what is typed behind a command; the terminal's requests have the same bound."""

Verb = Callable[[Core, Entry, Project, str], Awaitable[Said]]
Change = Callable[[Core, Entry, Project, str, str], Awaitable[str]]
"""The last is why the command is not taken for a person's, or ""."""


async def answer(core: Core, entry: Entry, project: Project, doubt: str) -> Said:
    """Carry out the command that a prompt is, if it is one, for the hook that waits.

    ``doubt`` says why the hook is not taken for one of a person's session, or "".
    """
    match = COMMAND.match(entry.payload.prompt)
    if match is None or match["verb"] not in (*VERBS, *CHANGING, *JUDGING, CORRECT, REVIEW):
        return Said("")
    text = (match["rest"] or "").strip()
    if len(text) > LONGEST:
        return _done(
            f"Subconscious did nothing: a command takes {LONGEST} characters at most, and this has {len(text)}."
        )
    HURRIED.set(False)  # a command is waited for; what it asks of the store may be much, and holds up nobody else
    try:
        if match["verb"] == REVIEW:
            return await typed_review.answer(core, entry, project, text, doubt)
        if match["verb"] in CHANGING:
            return _done(await CHANGING[match["verb"]](core, entry, project, text, doubt))
        if match["verb"] in (*JUDGING, CORRECT):
            return _done(await _judge(core, entry, match["verb"], text, doubt))
        return await VERBS[match["verb"]](core, entry, project, text)
    except SubconsciousError as error:
        return _done(f"Subconscious could not do this: {quote(error.message, 500)}. {error.remedy}")


def _done(text: str) -> Said:
    """The answer to a command that leaves nothing to do for the model."""
    return Said(text, done=True)


async def make_up(core: Core, entry: Entry, project: Project) -> None:
    """Carry out, should nobody have waited for the answer, the command that a prompt is, if it changes something."""
    match = COMMAND.match(entry.payload.prompt)
    if match is None or match["verb"] not in (*CHANGING, REVIEW):
        return
    text = (match["rest"] or "").strip()
    if len(text) > LONGEST:
        return
    with suppress(SubconsciousError):  # nobody is there to be told
        if match["verb"] != REVIEW:
            await _make_up(core, entry, project, match["verb"], text)
        elif text:
            await typed_review.make_up(core, entry, project, text)


async def _make_up(core: Core, entry: Entry, project: Project, verb: str, text: str) -> None:
    persons = await is_a_persons(core, entry, verb, text)
    if persons is not None:
        await CHANGING[verb](core, entry, project, text, "" if persons else "its prompt stands in no transcript")


async def _remember(core: Core, entry: Entry, project: Project, text: str, doubt: str) -> str:
    """Keep it as the person's word; what may be somebody else's waits for them."""
    if doubt:
        await refuse(core, entry, doubt)
    text = " ".join(clean(text).split())
    if not text:
        return "Subconscious was asked to remember, but not what. Usage: /subconscious:remember TEXT"
    branch, commit = await asyncio.to_thread(head, entry.folder)
    told = Telling(
        text=text,
        origin=Origin.ASSISTANT if doubt else Origin.USER,
        turn_id=entry.name,
        at=min(entry.at, time()),
        file=entry.payload.transcript_path,
        branch=branch,
    )
    where = Provenance(
        Place(project.id, entry.payload.session_id),
        commit=commit,
        actor="assistant" if doubt else "user",
        verified=not doubt,
    )
    capture = await remember(core, core.mind(entry.options), told, where)
    if doubt:
        return f"Subconscious lets this wait for the user's review: {doubt}."
    if capture["status"] in ("review", QUARANTINED):
        return f"Subconscious has not remembered this yet, it waits for the user's decision: {capture['reason']}."
    if capture["memory_id"] is None:
        return f"Subconscious knows this already: {capture['reason']}."
    memory = await memories.get(core.database, capture["memory_id"])
    said = f"Subconscious has remembered this, as memory {memory.id} ({memory.kind}): {within_quotes(memory.content)}"
    core.lately.tell(entry.payload.session_id, f"The user has typed /subconscious:remember. {said}")
    return said


async def _recall(core: Core, entry: Entry, project: Project, text: str) -> Said:
    if not text:
        return _done("Subconscious was asked to recall, but not what. Usage: /subconscious:recall WORDS")
    mind = core.mind(entry.options, asked=True, hurried=True)
    meant = understand(text, Filter(), datetime.now().astimezone())
    await core.notes.refresh(core, project.id)
    hits = await recall(mind, meant, project.id, RECALL_LIMIT, mind.wanted(text))
    if not hits:
        return _done(f"Subconscious has no memory of: {within_quotes(text, 200)}")
    branch, _ = await asyncio.to_thread(head, entry.folder)
    budget = surfacing.Budget(RECALL_TOKENS, mind.settings.start_characters, RECALL_LIMIT)
    chosen = mind.settings
    room = Tiers(chosen.tier_minimal, chosen.tier_compact, chosen.tier_standard).room(chosen.tier)
    context = surfacing.compose(
        hits,
        budget,
        branch,
        marks=lambda memory: marks_of(memory, branch, mind.standing),
        tell=lambda memory: quote(tell(memory, text, room).text),
    )
    await save_given(mind, Start(entry.payload.session_id, project.id, "recall", branch, "asked for"), context)
    return Said(context.text)


async def _why(core: Core, entry: Entry, project: Project, text: str) -> Said:
    """Tell the reasons of a memory, or of those that answer a question."""
    if not text:
        return _done(
            "Subconscious was asked why, but not of what. Usage: /subconscious:why QUESTION, or a memory's number"
        )
    mind = core.mind(entry.options, asked=True, hurried=True)
    number = text.strip("#[]")
    if number.isascii() and number.isdigit() and len(number) < LONGEST_ID:
        await refuse_held(core, [int(number)])
        hits = [Hit(await memories.get(core.database, int(number)), 1.0, 1.0)]
    else:
        hits = await recall(mind, text, project.id, reasoning.ANSWERS)
    if not hits:
        return _done(f"Subconscious has no memory of: {within_quotes(text, 200)}")
    branch, _ = await asyncio.to_thread(head, entry.folder)
    found = await reasoning.explain(mind, hits, project.id)
    context = found.framed(surfacing.Budget(RECALL_TOKENS, mind.settings.start_characters, RECALL_LIMIT), branch)
    await save_given(mind, Start(entry.payload.session_id, project.id, "why", branch, "asked for"), context)
    return Said(context.text)


async def _unarchive(core: Core, entry: Entry, project: Project, text: str, doubt: str) -> str:
    del project
    ids = _ids(text)
    if not ids:
        return "Subconscious was asked to bring back a memory, but not which. Usage: /subconscious:unarchive ID"
    if doubt:
        await refuse(core, entry, doubt)
        return f"Subconscious did nothing: a person brings memories back, and {doubt}."
    back = await set_archived(core, ids, False, "user", "asked for in the client")
    return f"Subconscious has brought back: {_named(back)}"


async def _forget(core: Core, entry: Entry, project: Project, text: str, doubt: str) -> str:
    """To forget is to archive: it can be brought back."""
    del project
    ids = _ids(text)
    if not ids:
        return "Subconscious was asked to forget, but not which memory. Usage: /subconscious:forget ID"
    if doubt:
        await refuse(core, entry, doubt)
        return f"Subconscious did nothing: a person says what is forgotten here, and {doubt}."
    await refuse_held(core, ids)  # the answer has the words
    gone = await set_archived(core, ids, True, "user", "asked for in the client")
    return f"Subconscious has archived (/subconscious:unarchive brings it back): {_named(gone)}"


def _ids(text: str) -> list[int]:
    return [int(word) for word in re.findall(r"\b\d{1,15}\b", text)]


def _named(found: Sequence[Memory]) -> str:
    return "; ".join(f"memory {memory.id}: {within_quotes(memory.summary)}" for memory in found)


async def _status(core: Core, entry: Entry, project: Project, text: str) -> Said:
    del entry, text
    held = await memories.counts(core.database, project.id)
    waits = await captures.waiting(core.database, project.id)
    note = await suspicion_note(core, project.id)
    return _done(
        f"Subconscious is on. Project {within_quotes(project.name, 100)}: {held['project']} memories;"
        f" in all {held['active']} active, {held['archived']} archived."
        f" {waits} captures of this project wait for review{f'; {note}' if note else ''}"
        " (/subconscious:review, or `subconscious review` in a terminal)."
    )


async def _judge(core: Core, entry: Entry, verb: str, text: str, doubt: str) -> str:
    """Carry out what a person says of memories; in doubt whether a person does, nothing. No job makes up for it."""
    match = (CORRECTION if verb == CORRECT else NUMBERS).fullmatch(text)
    if match is None:
        usage = "ID NEW WORDS" if verb == CORRECT else "ID..."
        return f"Subconscious did nothing. Usage: /subconscious:{verb} {usage}"
    ids = _ids(match["ids"])
    if doubt := doubt or core.vouched.doubt_of_decision(entry):
        await refuse(core, entry, doubt)
        return f"Subconscious did nothing: a person decides this, and {doubt}. {_in_a_terminal(verb, ids)}"
    if verb == CORRECT:
        return await _correct(core, ids[0], match["words"])
    return await JUDGING[verb](core, ids)


def _in_a_terminal(verb: str, ids: Sequence[int]) -> str:
    words = " --refined TEXT" if verb == CORRECT else ""
    return f"In a terminal of yours: subconscious {verb} {' '.join(map(str, ids))}{words}"


async def _feedback(core: Core, ids: Sequence[int], outcome: str, told: str) -> str:
    await refuse_held(core, ids)
    return f"Subconscious has noted it as {told}: {_named(await correcting.judge(core, ids, outcome, TYPED))}"


async def _useful(core: Core, ids: Sequence[int]) -> str:
    return await _feedback(core, ids, "accepted", "useful")


async def _wrong(core: Core, ids: Sequence[int]) -> str:
    told = await _feedback(core, ids, "rejected", "wrong")
    return f"{told}. It ranks lower now; /subconscious:forget takes it out of use"


async def _pin(core: Core, ids: Sequence[int]) -> str:
    await refuse_held(core, ids)
    return f"Subconscious has pinned (every session starts with it): {_named(await correcting.pin(core, ids, True))}"


async def _unpin(core: Core, ids: Sequence[int]) -> str:
    await refuse_held(core, ids)
    return f"Subconscious has unpinned: {_named(await correcting.pin(core, ids, False))}"


async def _correct(core: Core, memory_id: int, words: str) -> str:
    done = await correcting.correct(core, correcting.Wish(memory_id, "refined", text=words, reason=TYPED))
    replacement = done.replacement
    return f"Subconscious has put memory {memory_id} in your words: {_named([replacement] if replacement else [])}"


CHANGING: dict[str, Change] = {"forget": _forget, "remember": _remember, "unarchive": _unarchive}
"""Verbs that a job carries out too, should nobody have waited for the answer; each does it once all the same."""

JUDGING: dict[str, Callable[[Core, Sequence[int]], Awaitable[str]]] = {
    "pin": _pin,
    "unpin": _unpin,
    "useful": _useful,
    "wrong": _wrong,
}
"""Verbs by which a person says what memories are worth: what decides on captures decides on these."""

VERBS: dict[str, Verb] = {"recall": _recall, "status": _status, "why": _why}
