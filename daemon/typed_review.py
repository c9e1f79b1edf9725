"""``/subconscious:review`` as a person typed it: the list, and their decisions (SPEC A4, N13).

What waits is shown to the person, never to the model: it goes into the hook's message, not into the context. A
decision counts when the hook that handed the prompt over belongs to a person's session; without such a hook, when
the client's own transcript holds the prompt.
"""

from __future__ import annotations

import logging
import re
from typing import Any, NamedTuple

from subconscious import surfacing
from subconscious.model import Origin
from subconscious.quoting import visible, within_quotes
from subconscious.store import captures, events
from subconscious.store.capture_rows import QUARANTINED
from subconscious.store.projects import Project

from .core import Core
from .entry import Entry
from .reviewing import Wish, carry_out, looked_at, offered
from .vouching import is_a_persons

log = logging.getLogger("subconscious.daemon")

SHOWN = 10
"""Captures in quarantine of one list: a screen of them."""

DECISION = re.compile(
    r"(?P<deed>approve|reject|teach|release|edit|restore|undo)\b\s*(?P<rest>.*)", re.DOTALL | re.IGNORECASE
)
QUARANTINE = ("quarantine", "quarantined")
NUMBERS = re.compile(r"(?:[#\[]*\d{1,15}\]?(?:[\s,;:]+|$))+")
NUMBER = re.compile(r"[#\[]*(\d{1,15})\]?[\s,;:]+")
USAGE = (
    "Usage: /subconscious:review, then approve ID..., approve all, reject ID... WHY, teach ID... (reject, and flag what"
    " says the same), edit ID NEW WORDS, restore ID..., undo ID...; /subconscious:review quarantine, then release ID..."
)


class Said(NamedTuple):
    """What the model is told, and what only the person is shown."""

    context: str
    message: str = ""


async def answer(core: Core, entry: Entry, project: Project, text: str, doubt: str) -> Said:
    """Answer the hook that handed the prompt over: the list, or what became of the decision."""
    if not text:
        return await _listing(core, project)
    if text.lower() in QUARANTINE:
        return await _held_listing(core, project)
    if (wish := await _wish(core, entry, project, text)) is None:
        return Said(f"Subconscious did not understand: {within_quotes(text, 200)}. {USAGE}")
    if doubt:
        await refuse(core, entry, doubt)
        return Said(f"Subconscious did nothing: a person decides on captures, and {doubt}.")
    return Said(_told(wish, await carry_out(core, wish)))


async def make_up(core: Core, entry: Entry, project: Project, text: str) -> None:
    """Carry out a decision whose hook found nobody to ask: its prompt must stand in the client's transcript."""
    persons = await is_a_persons(core, entry, "review", text)
    if persons and (wish := await _wish(core, entry, project, text)) is not None:
        await carry_out(core, wish)
    if persons is False:
        await refuse(core, entry, "its prompt does not stand in the session's transcript")


async def refuse(core: Core, entry: Entry, doubt: str) -> None:
    """Keep it on record that a typed command was not believed."""
    log.warning("a typed decision was refused: %s", doubt)
    async with core.database.write() as tx:
        await events.record(tx, "refused", "typed", entry.name, reason=doubt)


async def _listing(core: Core, project: Project) -> Said:
    waits = await captures.waiting(core.database, project.id) + await captures.unconfirmed(core.database, project.id)
    held = await captures.quarantined(core.database, project.id)
    apart = f" {held} are in quarantine (/subconscious:review quarantine)." if held else ""
    if not waits:
        return Said(f"Subconscious: nothing of this project waits for review.{apart}")
    found = await offered(core, project.id)
    lines = [line for capture in found for line in _lines(capture)]
    first = (
        f"Subconscious: {waits} captured statement{'' if waits == 1 else 's'} of this project for your review.{apart}"
    )
    rest = waits - len(found)
    more = [f"{rest} more wait: decide on these, then /subconscious:review shows the next."] if rest > 0 else []
    return Said(
        f"Subconscious has shown the user, and only the user, {len(found)} of {waits} captures that wait for review.",
        "\n".join([first, *lines, *more, USAGE]),
    )


async def _held_listing(core: Core, project: Project) -> Said:
    """What is kept apart, for the person alone: it may be an attack on whoever reads it."""
    found = await captures.listing(core.database, project_id=project.id, status=QUARANTINED, limit=SHOWN)
    if not found:
        return Said("Subconscious: nothing of this project is in quarantine.")
    lines = [line for capture in await looked_at(core, found) for line in (*_lines(capture), *_suspicions(capture))]
    held = await captures.quarantined(core.database, project.id)
    first = f"Subconscious: {held} captured statement{'' if held == 1 else 's'} of this project may be poisoned."
    return Said(
        f"Subconscious has shown the user, and only the user, the {held} captures that are in quarantine.",
        "\n".join([first, *lines, "release ID... lets one out, reject ID... or teach ID... refuses it."]),
    )


def _suspicions(capture: dict[str, Any]) -> list[str]:
    return [f"      {capture['level']}: {found['threat']}, {_plain(found['why'])}" for found in capture["verdict"][:3]]


def _lines(capture: dict[str, Any]) -> list[str]:
    speaker = surfacing.speaker(Origin(capture["origin"]), capture["extractor"])
    said = f"{capture['kind']}, {speaker}, confidence {capture['confidence']:.2f}"
    proposal = capture["proposal"]
    hint = "" if proposal["decision"] == "look" else f"; {proposal['decision']}? {_plain(proposal['why'])}"
    return [f"{capture['id']:>4}  {_plain(capture['content'])}", f"      ({said}{hint})"]


def _plain(text: str) -> str:
    """One line without anything that would steer a terminal or hide from its reader."""
    return " ".join(visible(text).split())


async def _wish(core: Core, entry: Entry, project: Project, text: str) -> Wish | None:
    """What the words after the command ask for; None when they make no sense."""
    match = DECISION.fullmatch(text.strip())
    if match is None:
        return None
    deed, rest = match["deed"].lower(), match["rest"].strip()
    if deed == "approve" and rest.lower() == "all":
        waiting = await captures.listing(core.database, project_id=project.id, status="review", limit=1000)
        return Wish(deed, tuple(capture["id"] for capture in waiting), once=entry.name)
    if deed == "edit":
        one = NUMBER.match(rest)
        return Wish(deed, (int(one[1]),), wording=rest[one.end() :], once=entry.name) if one else None
    numbers = NUMBERS.match(rest)
    if numbers is None:
        return None
    ids = tuple(map(int, re.findall(r"\d+", numbers[0])))
    return Wish(deed, ids, reason=rest[numbers.end() :].strip(), once=entry.name)


def _told(wish: Wish, changed: list[dict[str, Any]]) -> str:
    """What became of each. The words of what is no memory stay out of the model's context."""
    if not changed:
        return "Subconscious: nothing of this project waits for review."
    return f"Subconscious has carried out '{wish.deed}': " + "; ".join(map(_state, changed))


def _state(capture: dict[str, Any]) -> str:
    states = {"review": "waits for review", QUARANTINED: "is in quarantine"}
    waits = states.get(capture["status"], f"is {capture['status']}")
    number, memory = capture["id"], capture["memory_id"]
    if memory == number:
        return f"capture {number} {waits}, as memory {number}"
    return f"capture {number} {waits}" + (f", said already by memory {memory}" if memory else "")
