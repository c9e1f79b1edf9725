"""``/subconscious:review`` as a person typed it: the list, and their decisions.

What waits is shown to the person, not put into the context: it goes into the hook's message. A decision counts at
once in a session whose terminal no other session can have opened. Anywhere else it waits for a code that a terminal
outside of Claude Code shows.
"""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import Any, NamedTuple

from subconscious import surfacing
from subconscious.model import Origin
from subconscious.quoting import visible, within_quotes
from subconscious.store import captures, events
from subconscious.store.capture_rows import QUARANTINED
from subconscious.store.projects import Project

from .codes import digest_of
from .core import Core
from .entry import Entry
from .reviewing import carry_out, left_out, looked_at, offered, suspicion_note, unsuspected
from .suspicions import suspicion
from .vouching import was_handed_over
from .wish import Wish

log = logging.getLogger("subconscious.daemon")

SHOWN = 10
"""Captures in quarantine of one list: a screen of them."""

DECISION = re.compile(
    r"(?P<deed>approve|reject|teach|release|edit|restore|undo)\b\s*(?P<rest>.*)", re.DOTALL | re.IGNORECASE
)
CODE = re.compile(r"code\s+([\w -]{1,40})", re.IGNORECASE)
ALL = re.compile(r"approve\s+all", re.IGNORECASE)
MOST_AT_ONCE = 1000
QUARANTINE = ("quarantine", "quarantined")
NUMBERS = re.compile(r"(?:[#\[]*\d{1,15}\]?(?:[\s,;:]+|$))+")
NUMBER = re.compile(r"[#\[]*(\d{1,15})\]?[\s,;:]+")
PLACES = re.compile(r"(?P<drop>drop\s+)?(?P<places>\d{1,2}(?:[\s,]+\d{1,2})*)", re.IGNORECASE)
"""A decision on what was just listed, by its places there: "1 3", "drop 2"."""
KEEP = "To keep 1 and 3: /subconscious:review 1 3. To drop 2: /subconscious:review drop 2. What is left waits."
MORE = "Also: edit ID NEW WORDS, teach ID (drop, and flag what says the same), approve all, undo ID, quarantine."
USAGE = (
    "Usage: /subconscious:review, then the places of what you keep (1 3), drop PLACE..., approve ID..., approve all"
    " (except what looks poisoned), reject ID... WHY, teach ID... (reject, and flag what says the same), edit ID NEW"
    " WORDS, restore ID..., undo ID...; /subconscious:review quarantine, then release ID..."
)


class Said(NamedTuple):
    """What the model is told, and what only the person is shown.

    ``done``: there is nothing left for the model to do, so the person is shown all of it and no turn begins.
    """

    context: str
    message: str = ""
    done: bool = False

    @property
    def shown(self) -> str:
        """What the person is shown of a command that is done."""
        return self.message or self.context


async def answer(core: Core, entry: Entry, project: Project, text: str, doubt: str) -> Said:
    """Answer the hook that handed the prompt over: the list, or what became of the decision. No turn follows."""
    return (await _answer(core, entry, project, text, doubt))._replace(done=True)


async def _answer(core: Core, entry: Entry, project: Project, text: str, doubt: str) -> Said:
    if not text:
        return await _listing(core, entry, project)
    if text.lower() in QUARANTINE:
        return await _held_listing(core, project)
    if code := CODE.fullmatch(text):
        return await _redeem(core, entry, code[1], doubt)
    if (wish := await _wish(core, entry, project, text)) is None:
        return Said(f"Subconscious did not understand: {within_quotes(text, 200)}. {USAGE}")
    if doubt:
        await refuse(core, entry, doubt)
        return Said(f"Subconscious did nothing: a person decides on captures, and {doubt}.")
    if doubt := core.vouched.doubt_of_decision(entry):
        await refuse(core, entry, doubt)
        return await _ask_for_code(core, entry, wish, doubt)
    return Said(await _carry_out(core, project, text, wish))


async def _carry_out(core: Core, project: Project, text: str, wish: Wish) -> str:
    """Carry a decision out; say what became of it, and what an approval of all has left out."""
    said = _told(wish, await carry_out(core, wish))
    if not ALL.fullmatch(text):
        return said
    _, number = await unsuspected(core, project.id, MOST_AT_ONCE)
    return f"{said}. {left_out(number)}" if number else said


async def _ask_for_code(core: Core, entry: Entry, wish: Wish, doubt: str) -> Said:
    """Let a decision wait for the code that the person's terminal shows."""
    chosen = await captures.many(core.database, list(wish.ids))
    core.codes.ask(entry.payload.session_id, wish, digest_of(wish, chosen))
    return Said(
        f"Subconscious did nothing yet: a person decides on captures, and {doubt}. To confirm, run `subconscious review"
        " code` in a terminal that was open before any Claude Code that runs, and type here: /subconscious:review code"
        " CODE. Or decide there with `subconscious review`."
    )


async def _redeem(core: Core, entry: Entry, code: str, doubt: str) -> Said:
    """Carry out the decision that a code confirms, if the captures are as the terminal showed them."""
    if doubt:
        await refuse(core, entry, doubt)
        return Said(f"Subconscious did nothing: a person decides on captures, and {doubt}.")
    waiting = core.codes.redeem(entry.payload.session_id, code)
    if waiting is None:
        await refuse(core, entry, "the code is wrong or has expired")
        return Said("Subconscious did nothing: the code is wrong, used, or has expired. Type the decision again.")
    chosen = await captures.many(core.database, list(waiting.wish.ids))
    if digest_of(waiting.wish, chosen) != waiting.digest:
        return Said("Subconscious did nothing: the captures have changed since the code was shown. Decide again.")
    # The prompt that asked is on record as refused, so it is the code's own prompt that carries the decision.
    wish = replace(waiting.wish, once=entry.name)
    return Said(_told(wish, await carry_out(core, wish)))


async def make_up(core: Core, entry: Entry, project: Project, text: str) -> None:
    """Carry out a decision whose hook was heard but had no time to wait for the answer.

    Nothing else shows that a person decided: any process can write an entry of the spool, and a line of a transcript.
    """
    if await was_handed_over(core, entry):
        if not core.vouched.doubt_of_decision(entry) and (wish := await _wish(core, entry, project, text)) is not None:
            await carry_out(core, wish)
    elif not await events.history(core.database, "typed", entry.name):
        await refuse(core, entry, "no session handed it over")


async def refuse(core: Core, entry: Entry, doubt: str) -> None:
    """Keep it on record that a typed command was not believed."""
    log.warning("a typed decision was refused: %s", doubt)
    async with core.database.write() as tx:
        await events.record(tx, "refused", "typed", entry.name, reason=doubt)


async def _listing(core: Core, entry: Entry, project: Project) -> Said:
    waits = await captures.waiting(core.database, project.id) + await captures.unconfirmed(core.database, project.id)
    held = await captures.quarantined(core.database, project.id)
    apart = f" {held} are in quarantine (/subconscious:review quarantine)." if held else ""
    if not waits:
        return Said(f"Subconscious: nothing of this project waits for review.{apart}")
    found = await offered(core, project.id)
    core.lately.show(entry.payload.session_id, [capture["id"] for capture in found])
    lines = [line for place, capture in enumerate(found, 1) for line in _numbered(place, capture)]
    what = f"{waits} captured statement{'' if waits == 1 else 's'} of this project for your review."
    note = await suspicion_note(core, project.id)
    first = f"Subconscious: {what}{f' {note}.' if note else ''}{apart}"
    rest = waits - len(found)
    more = [f"{rest} more wait: decide on these, then /subconscious:review shows the next."] if rest > 0 else []
    return Said(
        f"Subconscious has shown the user, and only the user, {len(found)} of {waits} captures that wait for review.",
        "\n".join([first, *lines, "", KEEP, *more, MORE]),
    )


async def _held_listing(core: Core, project: Project) -> Said:
    """What is kept apart, for the person alone: it may be an attack on whoever reads it."""
    found = await captures.listing(core.database, project_id=project.id, status=QUARANTINED, limit=SHOWN)
    if not found:
        return Said("Subconscious: nothing of this project is in quarantine.")
    lines = [line for capture in await looked_at(core, found) for line in _lines(capture)]
    held = await captures.quarantined(core.database, project.id)
    first = f"Subconscious: {held} captured statement{'' if held == 1 else 's'} of this project may be poisoned."
    return Said(
        f"Subconscious has shown the user, and only the user, the {held} captures that are in quarantine.",
        "\n".join([first, *lines, "release ID... lets one out, reject ID... or teach ID... refuses it."]),
    )


def _numbered(place: int, capture: dict[str, Any]) -> list[str]:
    """One of the offered captures: its place in the list, its words, why it waits and what is suspicious about it."""
    first, *rest = _lines(capture)
    reason = [f"      waits: {_plain(capture['reason'])}"] if capture["reason"] else []
    number = f"{capture['id']:>4}  "
    return [f"{place:>2}. {first.removeprefix(number)}", *rest, *reason]


def _lines(capture: dict[str, Any]) -> list[str]:
    speaker = surfacing.speaker(Origin(capture["origin"]), capture["extractor"])
    said = f"capture {capture['id']}, {capture['kind']}, {speaker}, confidence {capture['confidence']:.2f}"
    proposal = capture["proposal"]
    hint = "" if proposal["decision"] == "look" else f"; {proposal['decision']}? {_plain(proposal['why'])}"
    warning = [f"      ! {_plain(suspicion(capture))}"] if suspicion(capture) else []
    return [f"{capture['id']:>4}  {_plain(capture['content'])}", f"      ({said}{hint})", *warning]


def _plain(text: str) -> str:
    """One line without anything that would steer a terminal or hide from its reader."""
    return " ".join(visible(text).split())


async def _wish(core: Core, entry: Entry, project: Project, text: str) -> Wish | None:
    """What the words after the command ask for; None when they make no sense."""
    if places := PLACES.fullmatch(text.strip()):
        return _of_places(core, entry, places)
    match = DECISION.fullmatch(text.strip())
    if match is None:
        return None
    deed, rest = match["deed"].lower(), match["rest"].strip()
    if deed == "approve" and rest.lower() == "all":
        ids, _ = await unsuspected(core, project.id, MOST_AT_ONCE)
        return Wish(deed, ids, once=entry.name)
    if deed == "edit":
        one = NUMBER.match(rest)
        return Wish(deed, (int(one[1]),), wording=rest[one.end() :], once=entry.name) if one else None
    numbers = NUMBERS.match(rest)
    if numbers is None:
        return None
    ids = tuple(map(int, re.findall(r"\d+", numbers[0])))
    return Wish(deed, ids, reason=rest[numbers.end() :].strip(), once=entry.name)


def _of_places(core: Core, entry: Entry, typed: re.Match[str]) -> Wish | None:
    """The decision on captures by their places in the list that the session was shown; None for places not in it."""
    shown = core.lately.shown(entry.payload.session_id)
    places = [int(place) for place in re.findall(r"\d+", typed["places"])]
    if not all(1 <= place <= len(shown) for place in places):
        return None
    return Wish("reject" if typed["drop"] else "approve", tuple(shown[place - 1] for place in places), once=entry.name)


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
