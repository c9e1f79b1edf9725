"""Undoes changes at a person's request, and then updates other parts of the daemon, such as the search index."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from subconscious.app import App
from subconscious.app.reconfigure import put_in_force
from subconscious.context.approval import accepted
from subconscious.domain.errors import SubconsciousError
from subconscious.domain.model import Origin
from subconscious.poisoning.suspicions import noted, of_events
from subconscious.redaction.active_policy import load_policy
from subconscious.redaction.cleaning import clean
from subconscious.store import redactions, reversal, subjects
from subconscious.store.reversal import Step
from subconscious.wire import undo as wire
from subconscious.wire.history import Event
from subconscious.wire.undo import AffectedMemory, Undone, UndoResult

MOVES = ("archive", "unarchive")
"""The actions that archive memories, or restore archived ones."""

Titles = Mapping[tuple[str, str], str]
"""Short texts about subjects, by subject and id."""


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """The changes to undo: those with ids in ``events``; if that is empty, the latest ``number`` changes.

    For the latest changes, ``daemon`` includes those by the daemon, and ``project_id`` limits them to a project.
    """

    events: tuple[int, ...] = ()
    number: int = 1
    daemon: bool = False
    reason: str = ""
    preview: bool = False
    project_id: str | None = None


async def undo_acts(app: App, request: UndoRequest) -> UndoResult:
    """Undo changes, and return them; with ``preview``, change nothing, and only return what would change.

    Raises RequestError if a change can't be undone.
    """
    chosen = request.events or await reversal.latest(
        app.database, request.number, daemon=request.daemon, project_id=request.project_id
    )
    async with app.database.write() as tx:
        acts = await reversal.acts(tx, chosen)
        done = await reversal.undo(tx, acts, clean(request.reason))
        if request.preview:
            # The preview is a real run that is rolled back, so that it includes every effect and refusal.
            await tx.rollback()
    if not request.preview:
        await _apply_effects(app, done)
    events = [step.event for step in done]
    known = await subjects.titles(app.database, events)
    suspected = await of_events(app.database, events)
    followed = _consequences(acts, done, known, suspected)
    return {
        "acts": [_act_row(act, done, known, suspected) for act in acts],
        "fallen": [one for one, step in followed if (step.after or {}).get("archived_at") is not None],
        "revived": [one for one, step in followed if (step.after or {}).get("archived_at") is None],
        "done": not request.preview and bool(done),
    }


async def only_moves(app: App, request: UndoRequest) -> tuple[int, ...] | None:
    """Return the events to undo if they, and what their undo would change, are only memories that the user moved.

    Moved means archived or restored. Return () if there is nothing to undo, and None if there are other changes, or
    changes that can't be undone.
    """
    chosen = request.events or await reversal.latest(
        app.database, request.number, daemon=request.daemon, project_id=request.project_id
    )
    async with app.database.write() as tx:
        try:
            acts = await reversal.acts(tx, chosen)
            done = await reversal.undo(tx, acts, "")
        except SubconsciousError:
            return None
        finally:
            await tx.rollback()
    changes = [event for act in acts for event in act] + [step.event for step in done]
    moves = [event for event in changes if event["subject"] == "memory" and event["action"] in MOVES]
    is_allowed = len(moves) == len(changes) and all(event["actor"] == "user" for event in changes)
    return tuple(chosen) if is_allowed else None


def _act_row(act: Sequence[Event], done: Sequence[Step], known: Titles, suspected: Titles) -> Undone:
    """Return a group of changes as a row of the response, identified by its newest event.

    ``done`` are all steps of the undo; the row lists those of this group. ``known`` are the titles of the changed
    objects (memories, captures, ...), and ``suspected`` the reasons to suspect them of poisoning.
    """
    ids = {event["id"] for event in act}
    newest = act[0]
    return {
        "id": newest["id"],
        "at": newest["at"],
        "actor": actor_of(act),
        "reason": newest["reason"],
        "speaker": speaker_of(act),
        "steps": [_step_row(step, known, suspected) for step in done if step.event["id"] in ids],
    }


def _step_row(step: Step, known: Titles, suspected: Titles) -> wire.Step:
    event = step.event
    return {
        "id": event["id"],
        "action": event["action"],
        "subject": event["subject"],
        "subject_id": event["subject_id"],
        "about": known.get(_subject(step), ""),
        "before": step.before,
        "after": step.after,
        **noted(suspected.get(_subject(step))),
    }


def _subject(step: Step) -> tuple[str, str]:
    return step.event["subject"], step.event["subject_id"]


def actor_of(act: Sequence[Event]) -> str:
    """Return who made a group of changes.

    This is the user if the user made any of the changes; the daemon may have made others, such as archiving a memory
    that the user replaced.
    """
    return "user" if any(event["actor"] == "user" for event in act) else act[0]["actor"]


def speaker_of(act: Sequence[Event]) -> str:
    """Return the least trusted origin of the memories that the events created; "" if they created none."""
    made = [event["after"] or {} for event in act if event["action"] == "create"]
    origins = [Origin(values["origin"]) for values in made if "origin" in values]
    return str(Origin.least_trusted(*origins)) if origins else ""


def _consequences(
    acts: Sequence[Sequence[Event]], done: Sequence[Step], known: Titles, suspected: Titles
) -> list[tuple[AffectedMemory, Step]]:
    """Return further effects of an undo: summaries archived with their sources, and memories restored from a merge."""
    ids = {event["id"] for act in acts for event in act}
    steps = [step for step in done if step.event["id"] not in ids]
    return [(_affected(step, known, suspected), step) for step in steps]


def _affected(step: Step, known: Titles, suspected: Titles) -> AffectedMemory:
    memory_id, subject = int(step.event["subject_id"]), _subject(step)
    return {"id": memory_id, "about": known.get(subject, ""), **noted(suspected.get(subject))}


async def _apply_effects(app: App, done: Sequence[Step]) -> None:
    if changed := reversal.changed_memories(done):
        await app.embedding.refresh(list(changed))
        app.embedding.wake()
    for subject in {step.event["subject"] for step in done} & EFFECTS.keys():
        await EFFECTS[subject](app)
    await app.calibrate()


async def _settings(app: App) -> None:
    await put_in_force(app, await accepted(app.database, app.settings))


async def _allowed(app: App) -> None:
    """Scan all stored data again, because some values are no longer exempt from redaction."""
    async with app.database.write() as tx:
        await redactions.save_state(tx, {})
    await load_policy(app.home, app.database, app.config.current)


async def _readings_and_questions(app: App) -> None:
    app.signals.gathered.set()
    app.signals.questioned.set()


EFFECTS: dict[str, Callable[[App], Awaitable[None]]] = {
    "settings": _settings,
    "redaction": _allowed,
    "reading": _readings_and_questions,
    "question": _readings_and_questions,
}
"""Functions to call after changes have been undone, by the subject of the changes."""
