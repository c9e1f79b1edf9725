"""Updates a session after new turns: its summary and hand-over, and the memories about its files and topics."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from subconscious.capture.transcript_source import Batch, Source
from subconscious.domain.model import Decision, Judged, Level, Origin, Turn
from subconscious.poisoning import check_text
from subconscious.recall.recall_context import RecallContext
from subconscious.redaction.cleaning import clean
from subconscious.sessions import Sketch, Transcript, handover_of, read_deeds, tell, with_answers
from subconscious.store import fading, sessions
from subconscious.text import wording
from subconscious.text.examined import examined_text
from subconscious.text.terms import names, terms
from subconscious.transcripts import Reading
from subconscious.transcripts.records import AGENT_FILE


def attested_part(source: Source, batch: Batch) -> Reading:
    """Return the turns of a batch that the session's summary may use: prompts that no hook reported are left out.

    No turns are left if the summary is final (``source.settled``).
    """
    if source.settled:
        return replace(batch.reading, turns=(), branch="")
    attested = tuple(turn for turn in batch.reading.turns if turn.id not in batch.doubtful)
    return replace(batch.reading, turns=attested)


async def story_of(
    ctx: RecallContext, source: Source, position: int, reading: Reading, judged: Sequence[Judged]
) -> sessions.Story | None:
    """Return the session's new summary; None if summaries are off or final, or if the file is a sub-agent's."""
    wanted = ctx.settings.capture and ctx.settings.summaries and not source.settled
    if not wanted or Path(source.path).name.startswith(AGENT_FILE):
        return None
    begin = 0 if reading.restarted else position
    before = Sketch.from_json(await sessions.sketch(ctx.database, source.session_id))
    known = Sketch() if begin == 0 else before
    deeds = await asyncio.to_thread(read_deeds, Path(source.path), begin, reading.offset, known.deeds, clean)
    stopped = reading.state.interrupted
    sketch = await asyncio.to_thread(known.after, reading.turns, stated(judged), stopped=stopped)
    transcript = Transcript(Path(source.path), reading.offset)
    return await asyncio.to_thread(story_without_threats, replace(sketch, deeds=deeds), transcript)


def story_without_threats(sketch: Sketch, transcript: Transcript | None = None) -> sessions.Story:
    """Return a session's summary without parts that could steer the next session, which may receive it."""
    sketch = sketch if transcript is None else with_answers(sketch, transcript)
    summary = tell(sketch)
    title, text, left_open = (_harmless(part) for part in (summary.title, summary.text, summary.left_open))
    return sessions.Story(
        title, text, summary.tags, left_open, sketch.to_json(), handover_of(sketch, transcript).to_json()
    )


_LABELS = re.compile(r"\b(?:Asked|The user stated|Done|The assistant reported): ")
"""Fixed words of a summary. They are not checked, because they look like an attack that claims "the user stated"."""


def _harmless(text: str) -> str:
    return "" if check_text(_LABELS.sub("", text)).level.rank >= Level.MEDIUM.rank else text


def stated(judged: Sequence[Judged]) -> list[str]:
    """Return the user's stored statements; those that wait for a review are not shown to the next session."""
    return [
        candidate.content
        for candidate, admission in judged
        if candidate.origin is Origin.USER and admission.decision is Decision.AUTO
    ]


async def touched(ctx: RecallContext, project_id: str, turns: Sequence[Turn], judged: Iterable[Judged]) -> list[int]:
    """Return the ids of memories about the files or topics that these turns worked on."""
    if not ctx.settings.capture:
        return []
    # In a thread, and with only the examined part of each message: a pasted megabyte would delay all requests.
    files, topics = await asyncio.to_thread(_worked_on, turns, judged)
    return await fading.about(ctx.database, project_id, files, topics) if files or topics else []


def _worked_on(turns: Sequence[Turn], judged: Iterable[Judged]) -> tuple[set[str], set[str]]:
    """Return the files and topics that turns are about."""
    spoken = [examined_text(turn.text) for turn in turns if turn.origin is Origin.USER]
    topics = {word for text in spoken for word in (*terms(text), *names(text))}
    topics.update(tag.casefold() for candidate, _ in judged for tag in candidate.tags)
    return {file for turn in turns for file in turn.files}.union(*map(wording.files, spoken)), topics
