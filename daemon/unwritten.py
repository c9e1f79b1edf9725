"""Prompts that a transcript does not hold: a client that is killed, or told to keep nothing, never writes them down."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import time

from subconscious.errors import UnreadableTranscriptError
from subconscious.flow import merging
from subconscious.flow.mind import Mind
from subconscious.flow.remembering import Judged, Provenance, clean, judge, keep
from subconscious.model import Origin, Role, Turn
from subconscious.projects import head
from subconscious.redaction import ledger
from subconscious.store import events, sessions
from subconscious.store.capture_rows import Place
from subconscious.store.rows import content_hash
from subconscious.summaries import Sketch
from subconscious.transcripts.speech import PLAN

from .core import Core
from .entry import Entry
from .forgery import hold
from .learn import PROMPT_LENGTH, Source, is_written, stated, told
from .vouching import NOT_TYPED, VOUCHED

UNWRITTEN = "its prompt stands in no transcript"
"""Why words wait that could be another's."""


async def expect(core: Core, entry: Entry) -> None:
    """Keep what was typed until it stands in the transcript: a client that is killed may never write it there."""
    if not core.mind(entry.options).settings.capture or not entry.payload.prompt_id:
        return
    with ledger.reading(f"session/{entry.payload.session_id}"):
        text = (await asyncio.to_thread(clean, entry.payload.prompt)).strip()
    if not text or text.startswith((*NOT_TYPED, PLAN)):  # an approved plan is a prompt, but the assistant's words
        return
    branch, _ = await asyncio.to_thread(head, entry.folder)
    prompt = sessions.Prompt(entry.payload.session_id, entry.payload.prompt_id, text, min(entry.at, time()), branch)
    async with core.database.write() as tx:
        await sessions.expect(tx, prompt)


async def learn_unwritten(core: Core, mind: Mind, source: Source) -> None:
    """A session is over: learn from the prompts that its transcript does not hold.

    Without a transcript there is nothing to learn: the person told the client to keep none.
    """
    written = await asyncio.to_thread(_is_written, source.path)
    heard = [
        Turn(p.prompt_id, p.session_id, Role.USER, Origin.USER, p.text, p.at, source.path, 0, 0, p.branch)
        for p in (await sessions.unwritten(mind.database, source.session_id) if written else [])
    ]
    judged = await asyncio.to_thread(judge, heard, mind.settings, mind.calibration)
    persons = {turn.text for turn in heard if await _is_vouched_for(core, source, turn)}
    judged = [one if _words(one, heard) in persons else hold(one, UNWRITTEN) for one in judged]
    sketch = Sketch.from_json(await sessions.sketch(mind.database, source.session_id)).after(heard, stated(judged))
    repeats = await merging.repeated(mind, judged, source.project_id)
    async with mind.database.write() as tx:
        if heard and mind.settings.capture and mind.settings.summaries:
            await sessions.summarise(tx, source.session_id, told(sketch))
        await keep(mind, tx, judged, Provenance(Place(source.project_id, source.session_id)), repeats)
        prompts = [turn.text[:PROMPT_LENGTH] for turn in heard]
        await sessions.progress(tx, source.session_id, branch="", prompts=prompts)
        await sessions.forget_prompts(tx, source.session_id)
    await core.embedding.refresh(repeats.changed)
    core.embedding.wake()


def _is_written(path: str) -> bool:
    try:
        return is_written(path)
    except UnreadableTranscriptError:
        return False


async def _is_vouched_for(core: Core, source: Source, turn: Turn) -> bool:
    """Whether a hook of a person's client handed a prompt over, to this daemon or to one before."""
    known_of = await events.history(core.database, "prompt", f"{source.session_id}/{turn.id}")
    known = any(event["action"] == VOUCHED and event["reason"] == content_hash(turn.text) for event in known_of)
    return known or core.vouched.stored(source.session_id, turn.id, turn.text)


def _words(judged: Judged, heard: Sequence[Turn]) -> str:
    return next((turn.text for turn in heard if turn.id == judged[0].evidence.turn_id), "")
