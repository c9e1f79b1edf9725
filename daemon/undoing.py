"""Takes acts back for a person, and lets every part of the daemon know."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subconscious.flow.remembering import clean
from subconscious.model import Origin
from subconscious.store import redactions, reversal, titles
from subconscious.store.reversal import Step

from . import redacting
from .accepted import accepted
from .core import Core
from .in_force import put_in_force
from .suspicions import noted, of_events

Titles = Mapping[tuple[str, str], str]
"""Words about things, by subject and id."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants taken back: the acts of these events, or else the latest ``number``.

    ``daemon`` lets what the daemon did by itself count among the latest, ``project_id`` only what is of that project.
    """

    events: tuple[int, ...] = ()
    number: int = 1
    daemon: bool = False
    reason: str = ""
    preview: bool = False
    project_id: str | None = None


async def take_back(core: Core, wish: Wish) -> dict[str, Any]:
    """Do it, or with ``preview`` only find out what that would do; raises RequestError where it can't be done."""
    chosen = wish.events or await reversal.latest(
        core.database, wish.number, daemon=wish.daemon, project_id=wish.project_id
    )
    async with core.database.write() as tx:
        acts = await reversal.acts(tx, chosen)
        done = await reversal.take_back(tx, acts, clean(wish.reason))
        if wish.preview:
            # Done and taken back: nothing else can tell what would happen, refusals included.
            await tx.rollback()
    if not wish.preview:
        await _let_know(core, done)
    events = [step.event for step in done]
    known = await titles.of_events(core.database, events)
    suspected = await of_events(core, events)
    followed = _followed(acts, done, known, suspected)
    return {
        "acts": [_told(act, done, known, suspected) for act in acts],
        "fallen": [one for one, step in followed if (step.after or {}).get("archived_at") is not None],
        "revived": [one for one, step in followed if (step.after or {}).get("archived_at") is None],
        "done": not wish.preview and bool(done),
    }


def _told(act: Sequence[Mapping[str, Any]], done: Sequence[Step], known: Titles, suspected: Titles) -> dict[str, Any]:
    """One act as it is told to a person, who is known by its newest event."""
    ids = {event["id"] for event in act}
    steps = [
        {name: step.event[name] for name in ("id", "action", "subject", "subject_id")}
        | _about(step, known, suspected)
        | {"before": step.before, "after": step.after}
        for step in done
        if step.event["id"] in ids
    ]
    first = act[0]
    told = {name: first[name] for name in ("id", "at", "actor", "reason")}
    return told | {"speaker": speaker_of(act), "steps": steps}


def speaker_of(act: Sequence[Mapping[str, Any]]) -> str:
    """Whose words an act stored, where it stored any: the daemon does it, but a person may have said them."""
    made = [event["after"] or {} for event in act if event["action"] == "create"]
    origins = [Origin(values["origin"]) for values in made if "origin" in values]
    return str(Origin.least_trusted(*origins)) if origins else ""


def _about(step: Step, known: Titles, suspected: Titles) -> dict[str, str]:
    """What a step is about, in the words by which a person knows it, and why that looks poisoned."""
    thing = (step.event["subject"], step.event["subject_id"])
    return {"about": known.get(thing, "")} | noted(suspected.get(thing))


def _followed(
    acts: Sequence[Sequence[Mapping[str, Any]]], done: Sequence[Step], known: Titles, suspected: Titles
) -> list[tuple[dict[str, Any], Step]]:
    """What went with something that it sums up, or came back since what it was merged into went."""
    ids = {event["id"] for act in acts for event in act}
    steps = [step for step in done if step.event["id"] not in ids]
    return [({"id": int(step.event["subject_id"]), **_about(step, known, suspected)}, step) for step in steps]


async def _let_know(core: Core, done: Sequence[Step]) -> None:
    if changed := reversal.touched(done):
        await core.embedding.refresh(list(changed))
        core.embedding.wake()
    for subject in {step.event["subject"] for step in done} & EFFECTS.keys():
        await EFFECTS[subject](core)
    await core.calibrate()


async def _settings(core: Core) -> None:
    await put_in_force(core, await accepted(core.database, core.settings))


async def _allowed(core: Core) -> None:
    """What is let pass no more is taken out of what was stored meanwhile, too."""
    async with core.database.write() as tx:
        await redactions.save_state(tx, {})
    await redacting.adopt(core)


async def _wanted(core: Core) -> None:
    core.gathered.set()
    core.questioned.set()


EFFECTS: dict[str, Callable[[Core], Awaitable[None]]] = {
    "settings": _settings,
    "redaction": _allowed,
    "reading": _wanted,
    "question": _wanted,
}
"""What else has to know when changes of a subject were taken back."""
