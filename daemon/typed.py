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

from . import reasoning, typed_review
from .acts import Telling, refuse_held, remember, set_archived
from .core import Core
from .entry import Entry
from .reviewing import suspicion_note
from .typed_review import Said, refuse
from .vouching import is_a_persons

COMMAND = re.compile(r"\s*+/(?:subconscious:)(?P<verb>[a-z]+)(?:\s+(?P<rest>.*))?\s*$", re.DOTALL)
REVIEW = "review"
RECALL_LIMIT = 8
RECALL_TOKENS = 1500
LONGEST_ID = 16
"""Digits from which on a number is no memory's."""

LONGEST = 10_000
"""Characters of what is typed behind a command; the terminal's requests have the same bound."""

Verb = Callable[[Core, Entry, Project, str], Awaitable[str]]
Change = Callable[[Core, Entry, Project, str, str], Awaitable[str]]
"""The last is why the command is not taken for a person's, or ""."""


async def answer(core: Core, entry: Entry, project: Project, doubt: str) -> Said:
    """Carry out the command that a prompt is, if it is one, for the hook that waits.

    ``doubt`` says why the hook is not taken for one of a person's session, or "".
    """
    match = COMMAND.match(entry.payload.prompt)
    if match is None or match["verb"] not in (*VERBS, *CHANGING, REVIEW):
        return Said("")
    text = (match["rest"] or "").strip()
    if len(text) > LONGEST:
        return Said(
            f"Subconscious did nothing: a command takes {LONGEST} characters at most, and this has {len(text)}."
        )
    HURRIED.set(False)  # a command is waited for; what it asks of the store may be much, and holds up nobody else
    try:
        if match["verb"] == REVIEW:
            return await typed_review.answer(core, entry, project, text, doubt)
        if match["verb"] in CHANGING:
            return Said(await CHANGING[match["verb"]](core, entry, project, text, doubt))
        return Said(await VERBS[match["verb"]](core, entry, project, text))
    except SubconsciousError as error:
        return Said(f"Subconscious could not do this: {quote(error.message, 500)}. {error.remedy}")


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
    return f"Subconscious has remembered this, as memory {memory.id} ({memory.kind}): {within_quotes(memory.content)}"


async def _recall(core: Core, entry: Entry, project: Project, text: str) -> str:
    if not text:
        return "Subconscious was asked to recall, but not what. Usage: /subconscious:recall WORDS"
    mind = core.mind(entry.options, asked=True, hurried=True)
    meant = understand(text, Filter(), datetime.now().astimezone())
    await core.notes.refresh(core, project.id)
    hits = await recall(mind, meant, project.id, RECALL_LIMIT, mind.wanted(text))
    if not hits:
        return f"Subconscious has no memory of: {within_quotes(text, 200)}"
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
    return context.text


async def _why(core: Core, entry: Entry, project: Project, text: str) -> str:
    """Tell the reasons of a memory, or of those that answer a question."""
    if not text:
        return "Subconscious was asked why, but not of what. Usage: /subconscious:why QUESTION, or a memory's number"
    mind = core.mind(entry.options, asked=True, hurried=True)
    number = text.strip("#[]")
    if number.isascii() and number.isdigit() and len(number) < LONGEST_ID:
        await refuse_held(core, [int(number)])
        hits = [Hit(await memories.get(core.database, int(number)), 1.0, 1.0)]
    else:
        hits = await recall(mind, text, project.id, reasoning.ANSWERS)
    if not hits:
        return f"Subconscious has no memory of: {within_quotes(text, 200)}"
    branch, _ = await asyncio.to_thread(head, entry.folder)
    found = await reasoning.explain(mind, hits, project.id)
    context = found.framed(surfacing.Budget(RECALL_TOKENS, mind.settings.start_characters, RECALL_LIMIT), branch)
    await save_given(mind, Start(entry.payload.session_id, project.id, "why", branch, "asked for"), context)
    return context.text


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


async def _status(core: Core, entry: Entry, project: Project, text: str) -> str:
    del entry, text
    held = await memories.counts(core.database, project.id)
    waits = await captures.waiting(core.database, project.id)
    note = await suspicion_note(core, project.id)
    return (
        f"Subconscious is on. Project {within_quotes(project.name, 100)}: {held['project']} memories;"
        f" in all {held['active']} active, {held['archived']} archived."
        f" {waits} captures of this project wait for review{f'; {note}' if note else ''}"
        " (/subconscious:review, or `subconscious review` in a terminal)."
    )


CHANGING: dict[str, Change] = {"forget": _forget, "remember": _remember, "unarchive": _unarchive}
"""Verbs that a job carries out too, should nobody have waited for the answer; each does it once all the same."""

VERBS: dict[str, Verb] = {"recall": _recall, "status": _status, "why": _why}
