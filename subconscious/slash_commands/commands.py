"""Runs slash commands that a person typed, read from the payload of the prompt's hook.

The model can't use them, because its tool calls don't pass through this hook. A command can run twice: for the hook,
and for the job of the same spool entry. The second run finds the result of the first by the key of the capture.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from time import time

from subconscious.app import App
from subconscious.authorship.attestation import is_typed_by_person
from subconscious.capture.admission import Provenance
from subconscious.context.entry import Entry
from subconscious.domain.errors import NotFoundError, SubconsciousError
from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory, Origin
from subconscious.framing import rules
from subconscious.links import reasoning
from subconscious.memories import corrections
from subconscious.memories.memory_commands import RememberRequest, remember, set_archived
from subconscious.poisoning.quarantine import refuse_held
from subconscious.recall.marks import marks_of
from subconscious.recall.pipeline import recall
from subconscious.recall.selection import matches
from subconscious.recall.tiers import Tiers, shorten
from subconscious.recall.understanding import understand
from subconscious.redaction.cleaning import clean
from subconscious.review.decisions import suspicion_note
from subconscious.slash_commands import review
from subconscious.slash_commands.review import Said, refusal, refuse
from subconscious.store import captures, links, memories
from subconscious.store.capture_rows import QUARANTINED, SessionRef
from subconscious.store.filters import Filter
from subconscious.store.projects import Project
from subconscious.supersession import takeovers
from subconscious.surfacing.receipts import replaces
from subconscious.surfacing.session_start import Start, save_given
from subconscious.system.projects import head
from subconscious.text.quoting import quote, within_quotes

COMMAND = re.compile(r"\s*+/(?:subconscious:)(?P<name>[a-z]+)(?:\s+(?P<rest>.*))?\s*$", re.DOTALL)
REVIEW = "review"
CORRECT = "correct"
NUMBERS = re.compile(r"(?P<ids>(?:[#\[]*\d{1,15}\]?(?:[\s,;]+|$))+)")
CORRECTION = re.compile(r"(?P<ids>[#\[]{0,2}\d{1,15}\]?)[\s,;:]+(?P<words>\S.*)", re.DOTALL)
TYPED = "typed in the client"
RECALL_LIMIT = 8
RECALL_TOKENS = 1500
MAX_ID_DIGITS = 15
"""The maximum number of digits of a memory's id."""

MAX_LENGTH = 10_000
"""The maximum number of characters after a command's name; requests of the command line have the same limit."""

ReadCommand = Callable[[App, Entry, Project, str], Awaitable[Said]]
ChangeCommand = Callable[[App, Entry, Project, str, str], Awaitable[str]]
"""Runs a command. The last argument (``doubt``) is the reason to doubt that a person typed it; "" if there is none."""


async def answer(app: App, entry: Entry, project: Project, doubt: str) -> Said:
    """Run the command in a prompt for the waiting hook; return an empty response if the prompt is not a command.

    ``doubt`` is the reason to doubt that a person typed the prompt; "" if there is none. ``app`` reads without
    priority: a command may need larger queries, which must not delay other hooks.
    """
    match = COMMAND.match(entry.payload.prompt)
    if match is None or match["name"] not in (*READING, *CHANGING, *RATING, CORRECT, REVIEW):
        return Said("")
    text = (match["rest"] or "").strip()
    if len(text) > MAX_LENGTH:
        return _done(
            f"Subconscious changed nothing: a command takes at most {MAX_LENGTH} characters, this one has {len(text)}."
        )
    try:
        if match["name"] == REVIEW:
            return await review.answer(app, entry, project, text, doubt)
        if match["name"] in CHANGING:
            return _done(await CHANGING[match["name"]](app, entry, project, text, doubt))
        if match["name"] in (*RATING, CORRECT):
            return _done(await _rate(app, entry, match["name"], text, doubt))
        return await READING[match["name"]](app, entry, project, text)
    except SubconsciousError as error:
        return _done(f"Subconscious could not do this: {quote(error.message, 500)}. {error.remedy}")


def _done(text: str) -> Said:
    """Return a response that ends the turn, so that the model is not called."""
    return Said(text, done=True)


async def run_missed(app: App, entry: Entry, project: Project) -> None:
    """Run a command that changes something, after its hook timed out."""
    match = COMMAND.match(entry.payload.prompt)
    if match is None or match["name"] not in (*CHANGING, REVIEW):
        return
    text = (match["rest"] or "").strip()
    if len(text) > MAX_LENGTH:
        return
    with suppress(SubconsciousError):  # no hook waits for the error
        if match["name"] != REVIEW:
            await _run_missed(app, entry, project, match["name"], text)
        elif text:
            await review.run_missed(app, entry, project, text)


async def _run_missed(app: App, entry: Entry, project: Project, name: str, text: str) -> None:
    persons = await is_typed_by_person(app, entry, name, text)
    if persons is not None:
        await CHANGING[name](app, entry, project, text, "" if persons else "its prompt is in no transcript")


async def _remember(app: App, entry: Entry, project: Project, text: str, doubt: str) -> str:
    """Store a statement of the user; if ``doubt`` is a reason why perhaps no person typed it, queue it for review."""
    if doubt:
        await refuse(app, entry, doubt)
    text = " ".join(clean(text).split())
    if not text:
        return "Subconscious: there is no text to store. Usage: /subconscious:remember TEXT"
    branch, commit = await asyncio.to_thread(head, entry.folder)
    request = RememberRequest(
        text=text,
        origin=Origin.ASSISTANT if doubt else Origin.USER,
        turn_id=entry.name,
        at=min(entry.at, time()),
        file=entry.payload.transcript_path,
        branch=branch,
    )
    provenance = Provenance(
        SessionRef(project.id, entry.payload.session_id),
        commit=commit,
        actor="assistant" if doubt else "user",
        verified=not doubt,
    )
    capture = await remember(app, app.recall_context(entry.options), request, provenance)
    if doubt:
        return f"Subconscious: this waits for your review, because {doubt}. To decide: /subconscious:review"
    if capture["status"] in ("review", QUARANTINED):
        return f"Subconscious: this waits for your review ({capture['reason']}). To decide: /subconscious:review"
    if capture["memory_id"] is None:
        return f"Subconscious: nothing new is stored: {capture['reason']}."
    memory = await memories.get(app.database, capture["memory_id"])
    stored = f"stored as memory {memory.id} ({memory.kind}): {within_quotes(memory.content)}"
    note = f"The user typed /subconscious:remember; Subconscious {stored}"
    app.sessions.recent_turns.add_note(entry.payload.session_id, note, once=entry.name)
    old = [one.summary for one in (await links.replaced_by(app.database, [memory.id])).get(memory.id, ())]
    return f"Subconscious: {stored}{f' ({replaces(old)})' if old else ''}"


async def _recall(app: App, entry: Entry, project: Project, text: str) -> Said:
    if not text:
        return _done("Subconscious: no words were given. Usage: /subconscious:recall WORDS")
    ctx = app.recall_context(entry.options, asked=True, hurried=True)
    query = understand(text, Filter(), datetime.now().astimezone())
    await app.notes.refresh(project.id)
    hits = matches(await recall(ctx, query, project.id, RECALL_LIMIT, ctx.wanted(text)), text)
    if not hits:
        return _done(f"Subconscious: no memory matches {within_quotes(text, 200)}")
    branch, _ = await asyncio.to_thread(head, entry.folder)
    budget = rules.Budget(RECALL_TOKENS, ctx.settings.start_characters, RECALL_LIMIT)
    settings = ctx.settings
    max_characters = Tiers(settings.tier_minimal, settings.tier_compact, settings.tier_standard).characters(
        settings.tier
    )
    context = rules.compose(
        hits,
        budget,
        branch,
        marks=lambda memory: marks_of(memory, branch, ctx.worktree_state),
        tell=lambda memory: quote(shorten(memory, text, max_characters).text),
    )
    await save_given(ctx, Start(entry.payload.session_id, project.id, "recall", branch, "asked for"), context)
    return Said(context.text)


async def _why(app: App, entry: Entry, project: Project, text: str) -> Said:
    """Explain the reasons for memories: the memory with the id that the user typed, or the answers to a question."""
    if not text:
        return _done(
            "Subconscious: no question was given. Type one, or a memory's id, after the command: /subconscious:why 12"
        )
    ctx = app.recall_context(entry.options, asked=True, hurried=True)
    number = text.strip("#[]")
    if number.isascii() and number.isdigit() and len(number) <= MAX_ID_DIGITS:
        await refuse_held(app.database, [int(number)])
        hits = [Hit(await memories.get(app.database, int(number)), 1.0, 1.0)]
    else:
        hits = matches(await recall(ctx, text, project.id, reasoning.ANSWERS), text)
    if not hits:
        return _done(f"Subconscious: no memory matches {within_quotes(text, 200)}")
    branch, _ = await asyncio.to_thread(head, entry.folder)
    found = await reasoning.explain(ctx, hits, project.id)
    context = found.framed(rules.Budget(RECALL_TOKENS, ctx.settings.start_characters, RECALL_LIMIT), branch)
    await save_given(ctx, Start(entry.payload.session_id, project.id, "why", branch, "asked for"), context)
    return Said(context.text)


async def _unarchive(app: App, entry: Entry, project: Project, text: str, doubt: str) -> str:
    del project
    ids = _ids(text)
    if not ids:
        return "Subconscious: no memory is named. Usage: /subconscious:unarchive ID..."
    if doubt:
        await refuse(app, entry, doubt)
        return refusal("bring memories back", doubt)
    restored = await set_archived(app, ids, False, "user", "asked for in the client")
    return f"Subconscious brought back {_named(restored)}"


async def _forget(app: App, entry: Entry, project: Project, text: str, doubt: str) -> str:
    """Archive memories; they can be made active again."""
    del project
    ids = _ids(text)
    if not ids:
        return "Subconscious: no memory is named. Usage: /subconscious:forget ID..."
    if doubt:
        await refuse(app, entry, doubt)
        return refusal("archive memories here", doubt)
    await refuse_held(app.database, ids)  # the answer contains their text
    archived = await set_archived(app, ids, True, "user", "asked for in the client")
    undo = f"/subconscious:unarchive {' '.join(map(str, ids))}"
    return f"Subconscious archived {_named(archived)}\nTo bring {'it' if len(ids) == 1 else 'them'} back: {undo}"


def _ids(text: str) -> list[int]:
    """Return the numbers in a text. Raises NotFoundError for a number that is too long to be a memory's id."""
    found = re.findall(r"\b\d+\b", text, re.ASCII)
    for word in found:
        if len(word) > MAX_ID_DIGITS:
            raise NotFoundError(f"there is no memory {word}", "`subconscious list` shows those that exist")
    return [int(word) for word in found]


def _named(found: Sequence[Memory]) -> str:
    return "; ".join(f"memory {memory.id}: {within_quotes(memory.summary)}" for memory in found)


async def _status(app: App, entry: Entry, project: Project, text: str) -> Said:
    del entry, text
    counts = await memories.counts(app.database, project.id)
    waiting = await captures.waiting(app.database, project.id)
    unconfirmed = await captures.unconfirmed(app.database, project.id)
    note = await suspicion_note(app, project.id)
    here = _counted(counts["project"], "memory", "memories")
    to_do = f"{_waiting(waiting, unconfirmed, note)}{await takeovers.reminder(app, project.id)}"
    return _done(
        f"Subconscious is on. Project {within_quotes(project.name, 100)}: {here}; {counts['active']} in all projects,"
        f" {counts['archived']} archived. {to_do}"
    )


def _waiting(number: int, unconfirmed: int, note: str) -> str:
    """Return a message: how many captures wait, why the most suspicious ones may be poisoned, and how to see them.

    ``unconfirmed`` is how many unconfirmed memories there are; a review offers them as well.
    """
    if not number and unconfirmed:
        known = _counted(unconfirmed, "unconfirmed memory", "unconfirmed memories")
        return f"You can confirm {known}: /subconscious:review"
    if not number:
        return "Nothing waits for review."
    waits = f"{_counted(number, 'capture', 'captures')} {'waits' if number == 1 else 'wait'} for your review"
    return f"{waits}{f'; {note}' if note else ''}: /subconscious:review"


def _counted(number: int, noun: str, plural: str) -> str:
    return f"{number} {noun if number == 1 else plural}"


async def _rate(app: App, entry: Entry, name: str, text: str, doubt: str) -> str:
    """Rate or correct memories if a person typed the command. The command is not run later if its hook timed out."""
    match = (CORRECTION if name == CORRECT else NUMBERS).fullmatch(text)
    if match is None:
        usage = "ID NEW WORDS" if name == CORRECT else "ID..."
        return f"Subconscious changed nothing. Usage: /subconscious:{name} {usage}"
    ids = _ids(match["ids"])
    if doubt := doubt or app.sessions.vouched.doubt_of_decision(entry):
        await refuse(app, entry, doubt)
        return f"{refusal('decide this', doubt)} {_in_a_terminal(name, ids)}"
    if name == CORRECT:
        return await _correct(app, ids[0], match["words"])
    return await RATING[name](app, ids)


def _in_a_terminal(name: str, ids: Sequence[int]) -> str:
    words = " --refined TEXT" if name == CORRECT else ""
    return f"Run this in your own terminal: subconscious {name} {' '.join(map(str, ids))}{words}"


async def _feedback(app: App, ids: Sequence[int], outcome: str, mark: str) -> str:
    await refuse_held(app.database, ids)
    marked = await corrections.record_feedback(app, ids, outcome, TYPED)
    return f"Subconscious marked as {mark}: {_named(marked)}"


async def _useful(app: App, ids: Sequence[int]) -> str:
    return await _feedback(app, ids, "accepted", "useful")


async def _wrong(app: App, ids: Sequence[int]) -> str:
    marked = await _feedback(app, ids, "rejected", "wrong")
    return f"{marked}\nSearches rank this lower now. To archive: /subconscious:forget {' '.join(map(str, ids))}"


async def _pin(app: App, ids: Sequence[int]) -> str:
    await refuse_held(app.database, ids)
    return f"Subconscious pinned {_named(await corrections.pin(app, ids, True))}\nSessions start with pinned memories."


async def _unpin(app: App, ids: Sequence[int]) -> str:
    await refuse_held(app.database, ids)
    return f"Subconscious unpinned {_named(await corrections.pin(app, ids, False))}"


async def _correct(app: App, memory_id: int, words: str) -> str:
    done = await corrections.correct(app, corrections.CorrectionRequest(memory_id, "refined", text=words, reason=TYPED))
    replacement = done.replacement
    return f"Subconscious replaced memory {memory_id} with your words: {_named([replacement] if replacement else [])}"


CHANGING: dict[str, ChangeCommand] = {"forget": _forget, "remember": _remember, "unarchive": _unarchive}
"""Commands that a job runs if their hook timed out; running one of them twice has no further effect."""

RATING: dict[str, Callable[[App, Sequence[int]], Awaitable[str]]] = {
    "pin": _pin,
    "unpin": _unpin,
    "useful": _useful,
    "wrong": _wrong,
}
"""Commands that rate memories. Like decisions on captures, they are refused unless a person typed them."""

READING: dict[str, ReadCommand] = {"recall": _recall, "status": _status, "why": _why}
