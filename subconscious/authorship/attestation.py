"""Attests that a person typed a prompt, if the client's own hook reported it or the client's transcript contains it.

A spool entry proves nothing: any command that the model runs can write one.
"""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING

from subconscious.authorship.open_turns import doubt_of_turn
from subconscious.authorship.peers import doubt_of_decision, doubt_of_hook
from subconscious.redaction import ledger
from subconscious.redaction.cleaning import clean
from subconscious.store import events
from subconscious.store.rows import content_hash
from subconscious.system.safe_files import open_regular
from subconscious.transcripts.lines import whole_lines
from subconscious.transcripts.records import parse

if TYPE_CHECKING:
    from subconscious.app import App
    from subconscious.context.entry import Entry

VOUCHED = "vouched"
"""The event that marks a prompt as a person's, for this daemon and later ones."""

KNOWN = "known"
"""The event that marks a session as started by the client."""

EARLY = "early"
"""The event for a prompt that was spooled before a daemon ran that could have verified its hook."""

COMMANDED = "a command"
"""The reason of a ``VOUCHED`` event, instead of a digest, if the transcript will not show the text as typed."""

UNHEARD = "unheard"
"""The event for a prompt that was spooled while no daemon was running, in a session that an earlier daemon knew."""

NOT_TYPED = ("/", "<task-notification>", "<local-command", "<command-")
"""Beginnings of prompts that are not a person's words: commands, and texts that the client inserts."""

WRITTEN_SECONDS = 5.0
"""The seconds that the client may take to write a prompt into its transcript."""

SLACK_SECONDS = 60.0
"""How many seconds older a transcript line may be than the spool entry that its hook wrote."""

REVIEW = "/subconscious:review"
JUDGES = re.compile(r"/subconscious:(?:correct|pin|unpin|useful|wrong)\b")
"""Matches the commands that express a person's decision, except the review command."""

MARK = b"/subconscious:"
"""A text that each transcript line with a command of this plugin contains."""

_COMMAND_NAME = re.compile(r"<command-name>/subconscious:([a-z]+)</command-name>")


async def vouch(app: App, entry: Entry, caller: int) -> str:
    """Check the hook that reports a prompt. Attest the prompt and return "", or return why the hook is doubted."""
    doubt = await asyncio.to_thread(doubt_of_hook, caller, app.home.root)
    if not doubt:
        said = entry.payload
        doubt = await asyncio.to_thread(doubt_of_turn, caller, said.prompt_id, said.transcript_path)
    if not doubt:
        app.sessions.vouched.add(entry)
        if _may_decide(entry.payload.prompt):
            app.sessions.vouched.add_decision(entry, await asyncio.to_thread(doubt_of_decision, caller, app.home.root))
    return doubt


def _may_decide(prompt: str) -> bool:
    """Whether a prompt contains a decision; the bare review command only asks for the list of waiting captures."""
    words = prompt.strip()
    return bool(JUDGES.match(words)) or (words.startswith(REVIEW) and words != REVIEW)


async def record_session(app: App, session_id: str) -> None:
    """If a hook has verified a session, record this and the hook's client in the database, for later daemons."""
    if not app.sessions.vouched.knows_session(session_id):
        return
    client = app.sessions.vouched.client_of(session_id)
    if any(event["reason"] == client for event in await events.history(app.database, "prompt", session_id)):
        return
    async with app.database.write() as tx:
        await events.record(tx, KNOWN, "prompt", session_id, reason=client)


async def knows_session(app: App, session_id: str) -> bool:
    """Whether hooks of the client ran for a session.

    True if the daemon verified the process of a hook, or if a hook wrote to the spool while no daemon was running and
    no other session can have forged the entry. Transcripts and other spool entries prove nothing: any process can
    write them.
    """
    return app.sessions.vouched.knows_session(session_id) or await _is_on_record(app, session_id)


async def _is_on_record(app: App, session_id: str) -> bool:
    return bool(await events.history(app.database, "prompt", session_id))


async def record_prompt(app: App, entry: Entry) -> None:
    """If a prompt was attested, record that in the database, with the digest of its stored text.

    A later daemon may be the one that reads the prompt in the transcript.
    """
    if entry not in app.sessions.vouched or not app.recall_context(entry.options).settings.capture:
        return
    with ledger.reading(f"session/{entry.payload.session_id}"):
        text = (await asyncio.to_thread(clean, entry.payload.prompt)).strip()
    if not text or not entry.payload.prompt_id:
        return
    app.sessions.vouched.add_stored(entry, text)
    number = f"{entry.payload.session_id}/{entry.payload.prompt_id}"
    async with app.database.write() as tx:
        unwritten = text.startswith(NOT_TYPED) or app.sessions.questions.is_answer(entry)
        reason = COMMANDED if unwritten else content_hash(text)
        await events.record(tx, VOUCHED, "prompt", number, reason=reason)


async def record_spooled_prompt(app: App, entry: Entry, mark: str) -> None:
    """Record a prompt that was spooled while no daemon was running, as the digest of its cleaned text.

    ``mark`` is ``EARLY`` or ``UNHEARD``; ``UNHEARD`` attests nothing, and only explains why a statement waits.
    """
    if not entry.payload.prompt_id or not app.recall_context(entry.options).settings.capture:
        return
    with ledger.reading(f"session/{entry.payload.session_id}"):
        text = (await asyncio.to_thread(clean, entry.payload.prompt)).strip()
    number = f"{entry.payload.session_id}/{entry.payload.prompt_id}"
    async with app.database.write() as tx:
        await events.record(tx, mark, "prompt", number, reason=content_hash(text))


async def was_handed_over(app: App, entry: Entry) -> bool:
    """Whether a hook of a person's client reported a prompt; False if the hook is rejected, or is not verified in time.

    The entry is in the spool before its hook asks the daemon, so its job may start while the hook is still being
    checked. A negative result at that moment would drop the decision in the prompt, so this function waits.
    """
    deadline = monotonic() + WRITTEN_SECONDS
    while entry not in app.sessions.vouched and monotonic() < deadline:
        if await events.history(app.database, "typed", entry.name):
            return False
        await asyncio.sleep(0.1)
    return entry in app.sessions.vouched


async def is_typed_by_person(app: App, entry: Entry, verb: str, text: str) -> bool | None:
    """Whether a person typed a command: True once it is attested, None if its hook is rejected, False on timeout.

    The transcript counts only if no daemon was running when the hook asked: any process can write a transcript.
    """
    deadline = monotonic() + WRITTEN_SECONDS
    while True:
        if entry in app.sessions.vouched:
            return True
        if await events.history(app.database, "typed", entry.name):
            return None
        if entry.name in app.sessions.unheard and await asyncio.to_thread(is_in_transcript, entry, verb, text):
            return True
        if monotonic() > deadline:
            return False
        await asyncio.sleep(0.1)


def is_in_transcript(entry: Entry, verb: str, text: str) -> bool:
    """Whether the transcript shows that the user typed this command, in a session that no program drives."""
    try:
        with open_regular(entry.payload.transcript_path) as file:
            lines = (line.raw for line in whole_lines(file, 0, final=True) if line.raw and MARK in line.raw)
            return any(_is_typed(line, entry, verb, text) for line in lines)
    except (OSError, ValueError):
        return False


def command_line(content: str) -> tuple[str, str] | None:
    """Return the verb and the arguments of this plugin's command in a transcript line; None for other lines."""
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
