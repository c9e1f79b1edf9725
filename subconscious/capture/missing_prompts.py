"""Learns from prompts that are in no transcript, because the client was killed before it wrote them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain
from time import time

from subconscious.app import App
from subconscious.authorship.attestation import NOT_TYPED, VOUCHED
from subconscious.authorship.forgery import hold
from subconscious.capture.admission import Provenance, keep
from subconscious.capture.evaluation import judge
from subconscious.capture.ingest import PROMPT_LENGTH
from subconscious.capture.session_updates import stated, story_without_threats
from subconscious.capture.transcript_source import Source, is_written
from subconscious.context.entry import Entry
from subconscious.domain.errors import UnreadableTranscriptError
from subconscious.domain.model import Judged, Origin, Role, Turn
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction import ledger
from subconscious.redaction.cleaning import clean
from subconscious.sessions import Sketch
from subconscious.store import events, sessions
from subconscious.store.capture_rows import SessionRef
from subconscious.store.rows import content_hash
from subconscious.supersession import merging, reproaches
from subconscious.system.projects import head
from subconscious.transcripts.speech import PLAN

UNWRITTEN = "its prompt is in no transcript"
"""The reason to review a statement whose prompt no transcript has: somebody else may have written the prompt."""


async def expect(app: App, entry: Entry) -> None:
    """Store a prompt until the transcript contains it: a client that is killed may never write it there.

    Prompts of other coding agents are not stored: only the transcript shows which ones a model wrote for a sub-agent.
    """
    if entry.client or not app.recall_context(entry.options).settings.capture or not entry.payload.prompt_id:
        return
    with ledger.reading(f"session/{entry.payload.session_id}"):
        text = (await asyncio.to_thread(clean, entry.payload.prompt)).strip()
    if not text or text.startswith((*NOT_TYPED, PLAN)):  # the assistant wrote the plan that an approval submits
        return
    branch, _ = await asyncio.to_thread(head, entry.folder)
    prompt = sessions.Prompt(entry.payload.session_id, entry.payload.prompt_id, text, min(entry.at, time()), branch)
    async with app.database.write() as tx:
        await sessions.insert_prompt(tx, prompt)


async def learn_unwritten(app: App, ctx: RecallContext, source: Source) -> None:
    """Learn from prompts of a finished session that its transcript lacks.

    If there is no transcript at all, nothing is learned: the user configured the client not to write any.
    """
    written = await asyncio.to_thread(_is_written, source.path)
    heard = [
        Turn(p.prompt_id, p.session_id, Role.USER, Origin.USER, p.text, p.at, source.path, 0, 0, p.branch)
        for p in (await sessions.unwritten_prompts(ctx.database, source.session_id) if written else [])
    ]
    judged = await asyncio.to_thread(judge, heard, ctx.settings, ctx.calibration)
    persons = {turn.text for turn in heard if await _is_vouched_for(app, source, turn)}
    judged = [one if _words(one, heard) in persons else hold(one, UNWRITTEN) for one in judged]
    typed = [turn for turn in heard if turn.text in persons]
    sketch = Sketch.from_json(await sessions.sketch(ctx.database, source.session_id)).after(typed, stated(judged))
    repeats = await merging.repeated(ctx, judged, source.project_id, heard)
    reminded = await reproaches.reminded(ctx, typed, source.project_id)
    async with ctx.database.write() as tx:
        if typed and ctx.settings.capture and ctx.settings.summaries:
            await sessions.save_story(tx, source.session_id, story_without_threats(sketch))
        await keep(ctx, tx, judged, Provenance(SessionRef(source.project_id, source.session_id)), repeats)
        await reproaches.count(tx, reminded, source.session_id, {*chain.from_iterable(repeats.replaced.values())})
        prompts = [turn.text[:PROMPT_LENGTH] for turn in typed]
        await sessions.update_from_transcript(tx, source.session_id, branch="", prompts=prompts)
        await sessions.delete_prompts(tx, source.session_id)
    await app.embedding.refresh(repeats.changed)
    app.embedding.wake()


def _is_written(path: str) -> bool:
    try:
        return is_written(path)
    except UnreadableTranscriptError:
        return False


async def _is_vouched_for(app: App, source: Source, turn: Turn) -> bool:
    """Whether a hook of the user's client reported a prompt, to this daemon or to an earlier one."""
    known_of = await events.history(app.database, "prompt", f"{source.session_id}/{turn.id}")
    known = any(event["action"] == VOUCHED and event["reason"] == content_hash(turn.text) for event in known_of)
    return known or app.sessions.vouched.stored(source.session_id, turn.id, turn.text)


def _words(judged: Judged, heard: Sequence[Turn]) -> str:
    return next((turn.text for turn in heard if turn.id == judged[0].evidence.turn_id), "")
