"""Whether a person typed a prompt: the client's own hook handed it over, or the client wrote it down.

What lies in the spool proves nothing: any command of the model can put it there.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from datetime import datetime
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Any

from subconscious.flow.remembering import clean
from subconscious.redaction import ledger
from subconscious.safe_files import open_regular
from subconscious.store import events
from subconscious.store.rows import content_hash
from subconscious.transcripts.lines import whole_lines
from subconscious.transcripts.records import parse

from .peers import doubt_of_decision, doubt_of_hook

if TYPE_CHECKING:
    from .core import Core
    from .entry import Entry

VOUCHED = "vouched"
"""The event by which a prompt is a person's, whichever daemon heard of it."""

KNOWN = "known"
"""The event by which a session is one of the client's."""

COMMANDED = "a command"
"""What is on record of a vouched prompt that no line of a person's words will follow."""

NOT_TYPED = ("/", "<task-notification>", "<local-command", "<command-")
"""How such prompts begin: commands, and what the client itself puts in."""

REMEMBERED = 10_000
"""Prompts whose voucher is kept: more than are typed while one daemon lives."""

WRITTEN_SECONDS = 5.0
"""Time that the client may take to write a prompt into its transcript."""

SLACK_SECONDS = 60.0
"""By how much a transcript's time may lie before the hook's."""

REVIEW = "/subconscious:review"
JUDGES = re.compile(r"/subconscious:(?:correct|pin|unpin|useful|wrong)\b")
"""The other commands that take a decision of a person's."""

MARK = b"/subconscious:"
"""What a line holds in which a command of ours was typed."""

_COMMAND_NAME = re.compile(r"<command-name>/subconscious:([a-z]+)</command-name>")

Mark = tuple[str, str, bytes]
"""A session, a prompt's number, and a digest of the words."""


class Vouched:
    """The prompts that a hook of a person's client handed over while this daemon ran.

    What is stored of a prompt is free of secrets, so it has another mark than the prompt itself.
    """

    def __init__(self) -> None:
        self._prompts: OrderedDict[Mark, None] = OrderedDict()
        self._stored: OrderedDict[Mark, None] = OrderedDict()
        self._deciding: OrderedDict[Mark, str] = OrderedDict()
        self._sessions: OrderedDict[str, str] = OrderedDict()

    def add(self, entry: Entry) -> None:
        """Vouch for a prompt, and so for its session."""
        self.add_session(entry.payload.session_id)
        _keep(self._prompts, _mark_of(entry))

    def add_decision(self, entry: Entry, doubt: str) -> None:
        """Note why a decision in a prompt needs a code, or that it needs none ("")."""
        _keep(self._deciding, _mark_of(entry), doubt)

    def doubt_of_decision(self, entry: Entry) -> str:
        """Why a decision in a prompt is not a person's without a code; "" when it is."""
        return self._deciding.get(_mark_of(entry), "no session handed it over")

    def add_session(self, session_id: str, client: str = "") -> None:
        """Vouch for a session, which a client's hook spoke for."""
        _keep(self._sessions, session_id, client or self.client_of(session_id))

    def client_of(self, session_id: str) -> str:
        """The name of the client whose hook spoke last for a session; "" where none did."""
        return self._sessions.get(session_id, "")

    def knows_session(self, session_id: str) -> bool:
        """Whether a session was vouched for."""
        return session_id in self._sessions

    def add_stored(self, entry: Entry, text: str) -> None:
        """Vouch for what is stored of a prompt."""
        _keep(self._stored, _mark(entry.payload.session_id, entry.payload.prompt_id, text))

    def __contains__(self, entry: Entry) -> bool:
        return _mark_of(entry) in self._prompts

    def stored(self, session_id: str, prompt_id: str, text: str) -> bool:
        """Whether what is stored of a prompt was vouched for."""
        return _mark(session_id, prompt_id, text) in self._stored


def _keep(marks: OrderedDict[Any, Any], mark: Any, value: str | None = None) -> None:
    marks[mark] = value
    if len(marks) > REMEMBERED:
        marks.popitem(last=False)


def _mark_of(entry: Entry) -> Mark:
    return _mark(entry.payload.session_id, entry.payload.prompt_id, entry.payload.prompt.strip())


def _mark(session_id: str, prompt_id: str, text: str) -> Mark:
    return session_id, prompt_id, sha256(text.encode("utf-8", "surrogatepass")).digest()


async def vouch(core: Core, entry: Entry, caller: int) -> str:
    """Look at the hook that hands a prompt over: why it is doubted, or "", and then the prompt is vouched for."""
    doubt = await asyncio.to_thread(doubt_of_hook, caller, core.home.root)
    if not doubt:
        core.vouched.add(entry)
        if _may_decide(entry.payload.prompt):
            core.vouched.add_decision(entry, await asyncio.to_thread(doubt_of_decision, caller, core.home.root))
    return doubt


def _may_decide(prompt: str) -> bool:
    """Whether a prompt says more than that the list is to be shown."""
    words = prompt.strip()
    return bool(JUDGES.match(words)) or (words.startswith(REVIEW) and words != REVIEW)


async def write_session_down(core: Core, session_id: str) -> None:
    """Keep it on record that a session is one of the client's, and which, for this daemon and for those that follow."""
    if not core.vouched.knows_session(session_id):
        return
    client = core.vouched.client_of(session_id)
    if any(event["reason"] == client for event in await events.history(core.database, "prompt", session_id)):
        return
    async with core.database.write() as tx:
        await events.record(tx, KNOWN, "prompt", session_id, reason=client)


async def knows_session(core: Core, session_id: str) -> bool:
    """Whether the client's hooks spoke for a session, or began it when no daemon could hear them.

    Any process can write a transcript, and an entry of the spool that names it.
    """
    return core.vouched.knows_session(session_id) or await _is_on_record(core, session_id)


async def _is_on_record(core: Core, session_id: str) -> bool:
    return bool(await events.history(core.database, "prompt", session_id))


async def write_down(core: Core, entry: Entry) -> None:
    """Keep it on record that a prompt was vouched for, in the words that are stored of it.

    It may be another daemon that learns from them.
    """
    if entry not in core.vouched or not core.mind(entry.options).settings.capture:
        return
    with ledger.reading(f"session/{entry.payload.session_id}"):
        text = (await asyncio.to_thread(clean, entry.payload.prompt)).strip()
    if not text or not entry.payload.prompt_id:
        return
    core.vouched.add_stored(entry, text)
    number = f"{entry.payload.session_id}/{entry.payload.prompt_id}"
    async with core.database.write() as tx:
        reason = COMMANDED if text.startswith(NOT_TYPED) else content_hash(text)
        await events.record(tx, VOUCHED, "prompt", number, reason=reason)


async def was_handed_over(core: Core, entry: Entry) -> bool:
    """Whether a hook of a person's client handed a prompt over; False as soon as it was refused to the hook.

    The entry lies in the spool before its hook asks, so its job may begin while the hook is still being looked at: to
    refuse it then would keep the decision that the hook brings from being carried out.
    """
    deadline = monotonic() + WRITTEN_SECONDS
    while entry not in core.vouched and monotonic() < deadline:
        if await events.history(core.database, "typed", entry.name):
            return False
        await asyncio.sleep(0.1)
    return entry in core.vouched


async def is_a_persons(core: Core, entry: Entry, verb: str, text: str) -> bool | None:
    """Whether a person typed a command: True as soon as that is known, None if it was refused to a hook meanwhile.

    The transcript counts only if there was no daemon that the hook could have asked: any process can write both.
    """
    deadline = monotonic() + WRITTEN_SECONDS
    while True:
        if entry in core.vouched:
            return True
        if await events.history(core.database, "typed", entry.name):
            return None
        if entry.name in core.unheard and await asyncio.to_thread(stands_in_transcript, entry, verb, text):
            return True
        if monotonic() > deadline:
            return False
        await asyncio.sleep(0.1)


def stands_in_transcript(entry: Entry, verb: str, text: str) -> bool:
    """Whether the client wrote down that somebody typed this, in a session that no program speaks in."""
    try:
        with open_regular(entry.payload.transcript_path) as file:
            lines = (line.raw for line in whole_lines(file, 0, final=True) if line.raw and MARK in line.raw)
            return any(_is_typed(line, entry, verb, text) for line in lines)
    except (OSError, ValueError):
        return False


def command_line(content: str) -> tuple[str, str] | None:
    """Return the verb and the arguments of our command in a line that the client wrote, or None."""
    name = _COMMAND_NAME.search(content)
    if name is None:
        return None
    _, opened, rest = content[name.end() :].partition("<command-args>")
    arguments, closed, _ = rest.partition("</command-args>")
    return (name[1], arguments.strip()) if opened and closed else None


def _is_typed(line: bytes, entry: Entry, verb: str, text: str) -> bool:
    try:
        record = parse(line) or {}
        written = command_line(record["message"]["content"])
        at = datetime.fromisoformat(record["timestamp"]).timestamp()
    except (ValueError, TypeError, KeyError):
        return False
    typed = record.get("type") == "user" and not record.get("isMeta") and not record.get("isSidechain")
    by_program = str(record.get("entrypoint", "")).startswith("sdk")
    same = written == (verb, text)
    number = record.get("promptId") or entry.payload.prompt_id
    right = number == (entry.payload.prompt_id or number)
    return typed and same and right and not by_program and at > entry.at - SLACK_SECONDS
