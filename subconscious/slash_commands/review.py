"""The slash command ``/subconscious:review``: lists waiting captures and applies typed decisions.

The list is shown to the user in the hook's message, not added to the model's context. A decision is applied at once if
it is certain that no command of a Claude Code session opened this session's terminal. Otherwise the user must type a
code, which is shown in a terminal outside of Claude Code.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from subconscious.app import App
from subconscious.authorship.attestation import was_handed_over
from subconscious.context.decision_codes import Wish, digest_of
from subconscious.context.entry import Entry
from subconscious.context.entry import Said as Said
from subconscious.domain.model import Origin
from subconscious.framing import rules
from subconscious.poisoning.suspicions import suspicion
from subconscious.review.decisions import apply_decision, approvable, left_out, offered, suspicion_note, with_details
from subconscious.store import captures, events
from subconscious.store.capture_rows import QUARANTINED
from subconscious.store.projects import Project
from subconscious.supersession import takeovers
from subconscious.text.quoting import quote, visible, within_quotes
from subconscious.wire.captures import ReviewedCapture

log = logging.getLogger("subconscious.slash_commands")

MAX_QUARANTINED = 10
"""The maximum number of captures in the list of the quarantine: as many as fit on a screen."""

DECISION = re.compile(
    r"(?P<action>approve|reject|teach|release|edit|restore|undo)\b\s*(?P<rest>.*)", re.DOTALL | re.IGNORECASE
)
CODE = re.compile(r"code\s+([\w -]{1,40})", re.IGNORECASE)
ALL = re.compile(r"approve\s+all", re.IGNORECASE)
MAX_APPROVED = 1000
QUARANTINE = ("quarantine", "quarantined")
NUMBERS = re.compile(r"(?:[#\[]*\d{1,15}\]?(?:[\s,;:]+|$))+")
NUMBER = re.compile(r"[#\[]*(\d{1,15})\]?[\s,;:]+")
POSITIONS = re.compile(r"(?P<drop>drop\s+)?(?P<positions>\d{1,2}(?:[\s,]+\d{1,2})*)", re.IGNORECASE)
"""A decision by numbers of the list that was just shown: "1 3", "drop 2"."""
KEEP = "To keep 1 and 3: /subconscious:review 1 3. To drop 2: /subconscious:review drop 2. The others keep waiting."
MORE = "Also: edit ID NEW WORDS, teach ID (drop, and flag later statements like it), approve all, undo ID, quarantine."
ACTIONS = tuple("approve reject teach release edit restore undo drop quarantine code yes no".split())
USAGE = (
    "Usage: /subconscious:review shows the list; then /subconscious:review with 1 3 (keep these numbers of the list),"
    " drop NUMBER..., approve ID..., approve all (except suspicious ones), reject ID... WHY, teach ID... (reject,"
    " and flag later statements like it), edit ID NEW WORDS, restore ID..., undo ID..., quarantine, release ID..., or"
    " yes or no to an open question"
)


async def answer(app: App, entry: Entry, project: Project, text: str, doubt: str) -> Said:
    """Return the list, or the result of a decision, to the waiting hook; the model is not called."""
    return (await _answer(app, entry, project, text, doubt))._replace(done=True)


async def _answer(app: App, entry: Entry, project: Project, text: str, doubt: str) -> Said:
    if not text:
        return await _listing(app, entry, project)
    if text.lower() in QUARANTINE:
        return await _quarantine_listing(app, project)
    if code := CODE.fullmatch(text):
        return await _redeem(app, entry, code[1], doubt)
    if (is_yes := takeovers.answer_in(text)) is not None:
        return await _answer_question(app, entry, project, is_yes, doubt)
    if (decision := await _parse_decision(app, entry, project, text)) is None:
        return Said(_not_understood(app, entry, text))
    if doubt:
        await refuse(app, entry, doubt)
        return Said(refusal("decide on captures", doubt))
    if doubt := app.sessions.vouched.doubt_of_decision(entry):
        await refuse(app, entry, doubt)
        return await _ask_for_code(app, entry, decision, doubt)
    return Said(await _apply(app, project, text, decision))


def refusal(action: str, doubt: str) -> str:
    """Return the message about a command that was refused because it is not certain that a person typed it."""
    return (
        f"Subconscious changed nothing: only you can {action}, and it is not certain that you typed this prompt:"
        f" {doubt}."
    )


def _not_understood(app: App, entry: Entry, text: str) -> str:
    """Return why a decision is not understood: unknown numbers of the list, or a word with its probable spelling."""
    if POSITIONS.fullmatch(text):
        shown = len(app.sessions.recent_turns.listed_captures(entry.payload.session_id))
        places = f"its numbers are 1 to {shown}" if shown > 1 else "its only number is 1"
        why = f"the list does not have all of these numbers; {places}" if shown else "no list has been shown yet"
        return f"Subconscious changed nothing: {why}. To show the list: /subconscious:review"
    typed, _, rest = text.partition(" ")
    near = get_close_matches(typed.lower(), ACTIONS, n=1)
    what = f"Subconscious did not understand {within_quotes(text, 200)}."
    if near and near[0] != typed.lower():
        meant = quote(f"{near[0]} {rest}".strip(), 200)
        return f"{what} Did you mean /subconscious:review {meant}?"
    return f"{what} {USAGE}"


async def _answer_question(app: App, entry: Entry, project: Project, is_yes: bool, doubt: str) -> Said:
    """Answer the open question whether a statement replaces another; no code is needed to change one link."""
    if doubt:
        await refuse(app, entry, doubt)
        return Said(refusal("answer this", doubt))
    return Said(await takeovers.answer_in_review(app, project.id, is_yes))


async def _apply(app: App, project: Project, text: str, decision: Wish) -> str:
    """Apply a decision; return its result, and how many captures ``approve all`` has left out."""
    result = _result(await apply_decision(app, decision))
    if not ALL.fullmatch(text):
        return result
    _, number = await approvable(app, project.id, MAX_APPROVED)
    return f"{result}. {left_out(number)}" if number else result


async def _ask_for_code(app: App, entry: Entry, decision: Wish, doubt: str) -> Said:
    """Store a decision until the person confirms it with the code that a terminal shows."""
    chosen = await captures.get_many(app.database, list(decision.ids))
    app.sessions.codes.add(entry.payload.session_id, decision, digest_of(decision, chosen))
    return Said(
        f"Subconscious has not done this yet: only you can decide on captures, and it is not certain that you typed"
        f" this prompt: {doubt}. To confirm it, run"
        " `subconscious review code` in a terminal that you opened before Claude Code, and type the code here:"
        " /subconscious:review code CODE. Or decide in that terminal: subconscious review"
    )


async def _redeem(app: App, entry: Entry, code: str, doubt: str) -> Said:
    """Apply the decision that a code confirms, if the captures are unchanged since the terminal showed them."""
    if doubt:
        await refuse(app, entry, doubt)
        return Said(refusal("decide on captures", doubt))
    waiting = app.sessions.codes.redeem(entry.payload.session_id, code)
    if waiting is None:
        await refuse(app, entry, "the code is wrong or has expired")
        return Said(
            "Subconscious changed nothing: the code is wrong, was used, or has expired. Type the decision again."
        )
    chosen = await captures.get_many(app.database, list(waiting.wish.ids))
    if digest_of(waiting.wish, chosen) != waiting.digest:
        return Said(
            "Subconscious changed nothing: the captures have changed since the code was shown. Type the decision again."
        )
    # The prompt with the decision was recorded as refused: record the decision for the prompt with the code.
    decision = replace(waiting.wish, once=entry.name)
    return Said(_result(await apply_decision(app, decision)))


async def run_missed(app: App, entry: Entry, project: Project, text: str) -> None:
    """Apply a decision if its hook was connected, but timed out before the response.

    Only the connection proves that a person typed it: any process can write a spool entry or a line of a transcript.
    """
    if await was_handed_over(app, entry):
        if (
            not app.sessions.vouched.doubt_of_decision(entry)
            and (decision := await _parse_decision(app, entry, project, text)) is not None
        ):
            await apply_decision(app, decision)
    elif not await events.history(app.database, "typed", entry.name):
        await refuse(app, entry, "the request did not come from a hook of a running session")


async def refuse(app: App, entry: Entry, doubt: str) -> None:
    """Record that a typed command was refused, and why."""
    log.warning("a typed decision was refused: %s", doubt)
    async with app.database.write() as tx:
        await events.record(tx, "refused", "typed", entry.name, reason=doubt)


async def _listing(app: App, entry: Entry, project: Project) -> Said:
    waiting = await captures.waiting(app.database, project.id) + await captures.unconfirmed(app.database, project.id)
    quarantined = await captures.quarantined(app.database, project.id)
    quarantine_note = (
        f" {quarantined} {'is' if quarantined == 1 else 'are'} in quarantine (/subconscious:review quarantine)."
        if quarantined
        else ""
    )
    if not waiting:
        question = await takeovers.reminder(app, project.id)
        return Said(f"Subconscious: nothing waits for review in this project.{quarantine_note}{question}")
    found = await offered(app, project.id)
    app.sessions.recent_turns.set_listed_captures(entry.payload.session_id, [capture["id"] for capture in found])
    lines = [line for position, capture in enumerate(found, 1) for line in _numbered(position, capture)]
    what = f"{waiting} captured statement{' waits' if waiting == 1 else 's wait'} for your review in this project."
    note = await suspicion_note(app, project.id)
    first = f"Subconscious: {what}{f' {note}.' if note else ''}{quarantine_note}"
    rest = waiting - len(found)
    waits = "waits" if rest == 1 else "wait"
    more = [f"{rest} more {waits}: decide on these, then /subconscious:review shows the next."] if rest > 0 else []
    return Said(
        f"Subconscious has shown the user, and only the user, {len(found)} of {waiting} captures that wait for review.",
        "\n".join([first, *lines, "", KEEP, *more, MORE]) + await takeovers.reminder(app, project.id),
    )


async def _quarantine_listing(app: App, project: Project) -> Said:
    """Return the captures in quarantine, for the user only, because they may be attacks on the model."""
    found = await captures.listing(app.database, project_id=project.id, status=QUARANTINED, limit=MAX_QUARANTINED)
    if not found:
        return Said("Subconscious: nothing is in quarantine in this project.")
    lines = [line for capture in await with_details(app, found) for line in _lines(capture)]
    quarantined = await captures.quarantined(app.database, project.id)
    statements = f"{quarantined} captured statement{'' if quarantined == 1 else 's'}"
    first = f"Subconscious: {statements} of this project may be poisoned."
    return Said(
        f"Subconscious has shown the user, and only the user, captures that are in quarantine (in all: {quarantined}).",
        "\n".join(
            [
                first,
                *lines,
                "To release: /subconscious:review release ID... To reject: reject ID... or teach ID...",
            ]
        ),
    )


def _numbered(position: int, capture: ReviewedCapture) -> list[str]:
    """Return the lines of a capture in the list: position, text, suspicion, and why it waits."""
    first, *rest = _lines(capture)
    reason = [f"      waits: {_plain(capture['reason'])}"] if capture["reason"] else []
    number = f"{capture['id']:>4}  "
    return [f"{position:>2}. {first.removeprefix(number)}", *rest, *reason]


def _lines(capture: ReviewedCapture) -> list[str]:
    speaker = rules.speaker(Origin(capture["origin"]), capture["extractor"])
    result = f"capture {capture['id']}, {capture['kind']}, {speaker}, confidence {capture['confidence']:.2f}"
    proposal = capture["proposal"]
    hint = "" if proposal["decision"] == "look" else f"; {proposal['decision']}? {_plain(proposal['why'])}"
    warning = [f"      ! {_plain(suspicion(capture))}"] if suspicion(capture) else []
    return [f"{capture['id']:>4}  {_plain(capture['content'])}", f"      ({result}{hint})", *warning]


def _plain(text: str) -> str:
    """Return a text on one line, without characters that control a terminal or are invisible."""
    return " ".join(visible(text).split())


async def _parse_decision(app: App, entry: Entry, project: Project, text: str) -> Wish | None:
    """Return the decision in the text after the command; None if it is not understood."""
    if positions := POSITIONS.fullmatch(text.strip()):
        return _decision_by_position(app, entry, positions)
    match = DECISION.fullmatch(text.strip())
    if match is None:
        return None
    action, rest = match["action"].lower(), match["rest"].strip()
    if action == "approve" and rest.lower() == "all":
        ids, _ = await approvable(app, project.id, MAX_APPROVED)
        return Wish(action, ids, once=entry.name)
    if action == "edit":
        one = NUMBER.match(rest)
        return Wish(action, (int(one[1]),), wording=rest[one.end() :], once=entry.name) if one else None
    numbers = NUMBERS.match(rest)
    if numbers is None:
        return None
    ids = tuple(map(int, re.findall(r"\d+", numbers[0])))
    return Wish(action, ids, reason=rest[numbers.end() :].strip(), once=entry.name)


def _decision_by_position(app: App, entry: Entry, typed: re.Match[str]) -> Wish | None:
    """Return the decision on captures that are named by their numbers in the list; None for unknown numbers."""
    shown = app.sessions.recent_turns.listed_captures(entry.payload.session_id)
    positions = [int(position) for position in re.findall(r"\d+", typed["positions"])]
    if not all(1 <= position <= len(shown) for position in positions):
        return None
    return Wish(
        "reject" if typed["drop"] else "approve", tuple(shown[position - 1] for position in positions), once=entry.name
    )


def _result(changed: Sequence[ReviewedCapture]) -> str:
    """Return the result for each capture, without its text, which must not enter the model's context."""
    if not changed:
        return "Subconscious: nothing waits for review in this project."
    return f"Subconscious: {'; '.join(map(_state, changed))}"


def _state(capture: ReviewedCapture) -> str:
    states = {"review": "waits for review", QUARANTINED: "is in quarantine"}
    waiting = states.get(capture["status"], f"is {capture['status']}")
    number, memory = capture["id"], capture["memory_id"]
    if capture.get("unchanged"):
        return f"capture {number} {waiting} already, so nothing changed"
    if memory == number:
        return f"capture {number} {waiting}, stored as memory {number}"
    return f"capture {number} {waiting}" + (f"; it repeats memory {memory}" if memory else "")
