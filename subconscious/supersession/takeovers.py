"""Asks the user at a session's start whether a new statement replaces an older one, and accepts "yes" or "no".

Only the first prompt of the session that was shown the question can be the reply: the assistant has said nothing
before it, so the word can't be meant for the assistant. Shown questions are kept in the daemon's memory only,
with the client that showed them, so that no tool can turn a prompt into a reply by writing a file.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from uuid import uuid4

from subconscious.app.sessions import Shown
from subconscious.context.entry import Said
from subconscious.store import links, sessions, takeovers
from subconscious.store.takeovers import Question
from subconscious.system.safe_files import open_regular
from subconscious.text.quoting import within_quotes
from subconscious.transcripts.records_of import records_of
from subconscious.wire.daemon import OpenQuestion

if TYPE_CHECKING:
    from subconscious.app import App
    from subconscious.context.entry import Entry
    from subconscious.store.projects import Project

YES = frozenset("yes y yep yeah ja j oui o si sí sì sim s да はい ええ 是 是的 对 好 네 예".split())
NO = frozenset("no n nope nein non não nao нет いいえ 否 不 不是 아니요 아니오".split())
"""Words for "yes" and "no" in the languages in which statements are recognised."""

_WORD = re.compile(r"\s*(?P<word>\w+)\s*[.!\u3002\uff01]?\s*")

LONGEST = 80
"""The most characters of each statement in a question, so that it stays one short line."""

REPLACED = "Replaced. Undo: `subconscious undo` in a terminal."
KEPT_BOTH = "Kept both. Undo: `subconscious undo` in a terminal."
SETTLED = "Nothing changed: the question was answered already, or one of the two statements is no longer in use."


def answer_in(prompt: str) -> bool | None:
    """Return True or False for a prompt that is a single word for yes or no; None for any other prompt."""
    found = _WORD.fullmatch(prompt)
    word = found["word"].casefold() if found else ""
    return True if word in YES else False if word in NO else None


def wording(question: Question) -> str:
    """Return the text of a question, without instructions for answering it."""
    return f"does {within_quotes(question.new, LONGEST)} replace {within_quotes(question.old, LONGEST)}?"


async def ask(app: App, entry: Entry, project: Project, doubt: str) -> str:
    """Return the line that asks the question at a session's start, and record that it was shown; "" if there is none.

    A session without a model's name in its payload is headless: nobody could answer, so no question is asked. ``doubt``
    is the reason why the hook is not trusted, or "".
    """
    settings = app.recall_context(entry.options).settings
    if doubt or not entry.payload.model or not (settings.receipts and settings.links):
        return ""
    question = await takeovers.next_question(app.database, project.id)
    if question is None:
        return ""
    async with app.database.write() as tx:
        await takeovers.note_shown(tx, question.link_id)
    session_id = entry.payload.session_id
    app.sessions.questions.show(session_id, Shown(question.link_id, app.sessions.vouched.client_of(session_id)))
    return f'Subconscious: {wording(question)} Type "yes" or "no" (or ignore this).'


async def describe(app: App, project_id: str, *, to_person: bool) -> OpenQuestion | None:
    """Return the open question of a project for the terminal; the wording is "" unless ``to_person`` is true."""
    question = await takeovers.next_question(app.database, project_id)
    if question is None:
        return None
    return {
        "link_id": question.link_id,
        "new_id": question.new_id,
        "old_id": question.old_id,
        "times_shown": question.times_shown,
        "wording": wording(question) if to_person else "",
    }


async def reminder(app: App, project_id: str) -> str:
    """Return a line on the open question of a project and how to answer it in Claude Code; "" if there is none."""
    question = await takeovers.next_question(app.database, project_id)
    if question is None:
        return ""
    return f"\nOpen question: {wording(question)} /subconscious:review yes, or /subconscious:review no."


async def take_back(app: App, session_id: str) -> None:
    """Forget that a question was shown, because the output of the session's start hook did not reach the client."""
    shown = app.sessions.questions.take(session_id)
    if shown is not None:
        async with app.database.write() as tx:
            await takeovers.note_shown(tx, shown.link_id, -1)


async def answer(app: App, entry: Entry, doubt: str) -> Said:
    """Carry out the reply in a session's first prompt; if the prompt is not a reply, the question stays open for later.

    ``doubt`` is the reason why the hook is not trusted, or "".
    """
    session_id = entry.payload.session_id
    shown, is_yes = app.sessions.questions.take(session_id), answer_in(entry.payload.prompt)
    if shown is None or is_yes is None or doubt or shown.client != app.sessions.vouched.client_of(session_id):
        return Said("")
    # If an earlier prompt did not reach this daemon, the assistant has answered it and may have asked something.
    if await asyncio.to_thread(_has_assistant_lines, entry.payload.transcript_path):
        return Said("")
    app.sessions.questions.note_answer(entry)
    text = await _settle(app, entry, shown.link_id, is_yes)
    return Said(text, done=True)


async def _settle(app: App, entry: Entry, link_id: int, is_yes: bool) -> str:
    async with app.database.write() as tx:
        # No line of the transcript will contain this prompt, so it must not wait for one.
        await sessions.mark_written(tx, entry.payload.session_id, [entry.payload.prompt_id])
    question = await decide(app, link_id, is_yes)
    if question is None:
        return SETTLED
    if is_yes:
        news = f"{within_quotes(question.new)} replaces {within_quotes(question.old)}"
        app.sessions.recent_turns.add_note(entry.payload.session_id, f"The user has confirmed to Subconscious: {news}.")
    return REPLACED if is_yes else KEPT_BOTH


async def decide(app: App, link_id: int, is_yes: bool) -> Question | None:
    """Carry out the user's reply to an open question; return the question, or None if it was no longer open."""
    question = await takeovers.by_link(app.database, link_id)
    if question is None:
        return None
    async with app.database.write() as tx:
        link = await links.find(tx, link_id)
        if link is None or link.status != "proposed":
            return None
        status, reason = ("active", "the user answered yes") if is_yes else ("refused", "the user answered no")
        await links.change(tx, link, "user", reason, uuid4().hex, status=status)
        await takeovers.close(tx, link_id)
    return question


async def answer_in_review(app: App, project_id: str, is_yes: bool) -> str:
    """Carry out a reply to the open question, typed as a command; return the text to show."""
    question = await takeovers.next_question(app.database, project_id)
    if question is None or await decide(app, question.link_id, is_yes) is None:
        return "Subconscious: no question is open in this project."
    return REPLACED if is_yes else KEPT_BOTH


def _has_assistant_lines(path: str) -> bool:
    """Whether a transcript contains something that the assistant said; True if it exists but can't be read."""
    try:
        with open_regular(path) as file:
            lines = records_of(file, 0, final=True, hints=[b"assistant"])
            return any(record.get("type") == "assistant" for _, records in lines for record in records or ())
    except FileNotFoundError:
        return False  # the client writes the file after the first prompt
    except (OSError, ValueError):
        return True
