"""Merges a model's findings with existing captures and memories, without duplicates.

The findings of the rules are stored at once and compared with the model's findings later. If both say the same, a
waiting capture gets the model's wording. A new statement must pass ``gate.py`` like any other. Captures that became
memories, or on which a person decided, keep their wording.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiosqlite

from subconscious.capture.admission import Provenance, admit_memory, keep, last_word
from subconscious.capture.evaluation import weigh
from subconscious.capture.llm_extraction import extractor as model
from subconscious.capture.llm_extraction import reconciliation
from subconscious.capture.llm_extraction.chunks import Chunk, Measure, take, tokens
from subconscious.capture.llm_extraction.proposals import Answer
from subconscious.capture.llm_extraction.quotes import overlap
from subconscious.capture.llm_extraction.second_look import around
from subconscious.capture.session_limits import hold_cap
from subconscious.domain.model import Admission, Candidate, Decision, Judged, Memory, Origin, Turn
from subconscious.domain.observed import OBSERVED
from subconscious.llm.providers import Request
from subconscious.recall.pipeline import recall
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.understanding import ParsedQuery
from subconscious.redaction.cleaning import clean
from subconscious.store import captures, decisions, memories, surfaces
from subconscious.store.capture_rows import UNCONFIRMED, candidate_from, capture_key
from subconscious.store.capture_rows import SessionRef as Spot
from subconscious.store.filters import Filter
from subconscious.store.model_readings import ReadingPosition, Span
from subconscious.supersession.merging import ECHO
from subconscious.text.same_statement import same_statement
from subconscious.text.wording import shorten
from subconscious.transcripts import State, read_turns
from subconscious.wire.captures import Capture

STEP = 256 * 1024
"""How many bytes of a transcript are between two positions from which reading can start again."""

COMPARED = 40
"""The maximum number of captures with which a candidate is compared by meaning: the latest of its session and kind."""

NEIGHBOURS = 5
"""The maximum number of similar memories with which a candidate is compared."""

LONGEST_KNOWN = 240
"""The maximum number of characters of a known memory that the model is shown."""

LEADING_WORDS = 600
"""How many characters at the end of the user's text in a chunk are used to search for known memories."""

OPEN = ("review", "discarded")
"""Statuses of captures that may still change if the model finds the same statement."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The next chunk of a span (an unread part of a transcript), and the position of the chunk after it.

    ``left`` is the number of unread tokens after this chunk. ``more`` is true if there is another chunk.
    """

    chunk: Chunk
    place: ReadingPosition
    left: int
    more: bool


@dataclass(frozen=True, slots=True)
class Gone:
    """The result if the rest of a transcript can't be read, with the reason."""

    reason: str


def read_on(span: Span, measure: Measure) -> Piece | Gone | None:
    """Return the next chunk of a span; None if nothing is left. Slow: run it in a thread.

    Return Gone if the file was removed or replaced. Raises TranscriptError if the file can't be read.
    """
    offset, state = span.place.anchor, State.from_json(json.loads(span.place.state or "{}"))
    turns: list[Turn] = []
    marks = [(offset, state, 0)]
    while offset < span.until and tokens(turns[span.place.seen :]) <= measure.tokens:
        reach = min(STEP, span.until - offset)
        reading = read_turns(
            Path(span.path), offset, state, clean=clean, final=True, max_bytes=reach, tool_excerpts=True
        )
        if reading.restarted or reading.foreign or reading.offset == offset:
            return Gone(reading.reason or f"{span.path} was replaced by another file")
        turns.extend(reading.turns)
        offset, state = reading.offset, reading.state
        marks.append((offset, state, len(turns)))
    chunk = take(turns, span.place.seen, measure)
    if chunk is None:
        return None
    end = span.place.seen + len(chunk.fresh)
    more = end < len(turns) or offset < span.until
    left = max(1, span.tokens - tokens(chunk.fresh)) if more else 0
    return Piece(chunk, _place_behind(marks, end, measure.overlap), left, more)


def _place_behind(marks: Sequence[tuple[int, State, int]], end: int, overlap: int) -> ReadingPosition:
    """Return the last of the positions ``marks`` from which reading on includes the ``overlap`` turns before ``end``."""
    offset, state, before = next(mark for mark in reversed(marks) if mark[2] <= max(0, end - overlap))
    return ReadingPosition(offset, json.dumps(state.to_json()), end - before)


async def ask_of(ctx: RecallContext, chunk: Chunk, project_id: str) -> Request:
    """Return the request for a chunk; its turns and the known memories were redacted when they were read and stored."""
    return model.request(chunk, await _known(ctx, chunk, project_id), ctx.settings.model_scores)


async def _known(ctx: RecallContext, chunk: Chunk, project_id: str) -> list[str]:
    """Return known memories of other sessions, shortened: first those that match the chunk, then the latest."""
    most = ctx.settings.known_summaries
    said = " ".join(turn.text for turn in chunk.fresh if turn.origin is Origin.USER)[-LEADING_WORDS:]
    fitting = [hit.memory for hit in await recall(ctx, said, project_id, most)] if said else []
    latest = await memories.recent(ctx.database, project_id, most)
    session_id = chunk.turns[-1].session_id
    found = {one.id: one.content for one in (*fitting, *latest) if one.session_id != session_id}
    return [shorten(content, LONGEST_KNOWN) for content in list(found.values())[:most]]


def judge(ctx: RecallContext, answer: Answer, chunk: Chunk, extractor: str) -> list[Judged]:
    """Return a model's proposals as candidates, with the decisions on them. CPU-bound: run it in a thread."""
    found = model.candidates(answer, chunk, extractor, clean)
    return weigh(found, chunk.turns, ctx.settings, ctx.calibration)


@dataclass(frozen=True, slots=True)
class Finding:
    """A judged candidate, and what it repeats.

    ``capture_id`` is the id of a capture of the same session, ``memory_id`` that of a memory; None if it repeats none.
    """

    judged: Judged
    capture_id: int | None = None
    memory_id: int | None = None


async def compare(ctx: RecallContext, judged: Sequence[Judged], spot: Spot) -> list[Finding]:
    """For each candidate, find the capture of its session or the stored memory that it repeats.

    This is slow, because it compares meanings: call it before the transaction begins.
    """
    known = await captures.listing(ctx.database, session_id=spot.session_id, limit=10_000) if spot.session_id else []
    meanings = _Meanings(ctx)
    found = []
    for candidate, admission in judged:
        repeated = await _same_capture(candidate, known, meanings)
        memory = None if repeated else await _same_memory(ctx, candidate, spot.project_id)
        found.append(
            Finding((candidate, admission), repeated["id"] if repeated else None, memory.id if memory else None)
        )
    return found


class _Meanings:
    """Similarity of texts by cached embeddings; 0 without an embedder."""

    def __init__(self, ctx: RecallContext) -> None:
        self._ctx = ctx
        self._made: dict[str, Any] = {}

    async def cosine(self, one: str, other: str) -> float:
        vectors = [await self._of(text) for text in (one, other)]
        return 0.0 if vectors[0] is None or vectors[1] is None else float(vectors[0] @ vectors[1])

    async def _of(self, text: str) -> Any:
        if text not in self._made:
            self._made[text] = await self._ctx.embed(text)
        return self._made[text]


async def _same_capture(candidate: Candidate, known: Sequence[Capture], meanings: _Meanings) -> Capture | None:
    keys, turn = {capture_key(candidate), capture_key(replace(candidate, extractor=""))}, candidate.evidence.turn_id
    # There are many discarded captures; only those from the same turn matter.
    near = [one for one in known if one["turn_id"] == turn or one["status"] != "discarded"]
    for capture in near:
        if capture["capture_key"] in keys or _says_same(candidate, capture, 0.0):
            return capture
    for capture in [one for one in near if one["kind"] == candidate.kind][-COMPARED:]:
        if _says_same(candidate, capture, await meanings.cosine(candidate.content, capture["content"])):
            return capture
    return None


def _says_same(candidate: Candidate, capture: Capture, cosine: float) -> bool:
    """Whether a candidate repeats a capture; if their kinds differ, both must quote the same words."""
    quoted = candidate.evidence.turn_id == capture["turn_id"] and overlap(candidate.evidence.quote, capture["evidence"])
    if not (quoted or candidate.kind == capture["kind"]):
        return False
    # One text may say more than the other, because the fuller wording is kept.
    return same_statement(candidate.content, capture["content"], cosine, may_add=True, one_quote=quoted)


async def _same_memory(ctx: RecallContext, candidate: Candidate, project_id: str) -> Memory | None:
    hits = await recall(
        ctx, ParsedQuery(candidate.content, Filter(kinds=(candidate.kind,), notes=False)), project_id, NEIGHBOURS
    )
    for hit in hits:
        same = same_statement(candidate.content, hit.memory.content, hit.cosine, may_add=True)
        if same and hit.memory.scope is candidate.scope:
            return hit.memory
    return None


async def join(
    ctx: RecallContext,
    tx: aiosqlite.Connection,
    findings: Sequence[Finding],
    where: Provenance,
    looked_at: Sequence[Turn] | None = None,
) -> list[tuple[int, Memory | None]]:
    """Store new candidates and refine waiting ones, in the caller's transaction; return the changed captures.

    ``looked_at`` are the turns in which the candidates were found. Unless it is None, new candidates wait for the
    model's second look at the session's end.
    """
    changed = []
    for finding in findings:
        if finding.memory_id is not None and finding.capture_id is None:
            changed += await _repeat(ctx, tx, finding.judged, finding.memory_id, where)
        elif looked_at is None:
            changed += await _take_in(ctx, tx, finding, where)
        else:
            changed += await _take_in_held(ctx, tx, finding, where, looked_at)
    if changed and where.place.session_id:
        await hold_cap(tx, where.place.session_id, ctx.settings)
    return changed


async def _take_in(
    ctx: RecallContext, tx: aiosqlite.Connection, finding: Finding, where: Provenance
) -> list[tuple[int, Memory | None]]:
    if finding.capture_id is not None:
        return await _refine(ctx, tx, finding.judged, finding.capture_id, where)
    return await keep(ctx, tx, [finding.judged], where)


async def _take_in_held(
    ctx: RecallContext, tx: aiosqlite.Connection, finding: Finding, where: Provenance, turns: Sequence[Turn]
) -> list[tuple[int, Memory | None]]:
    candidate, admission = finding.judged
    taken = await _take_in(ctx, tx, replace(finding, judged=reconciliation.held(finding.judged)), where)
    before = around(candidate.evidence.turn_id, candidate.evidence.quote, turns)
    before = "\n".join(filter(None, (before, candidate.support)))
    await reconciliation.expect(tx, [capture_id for capture_id, _ in taken], admission, before)
    return taken


async def _refine(
    ctx: RecallContext, tx: aiosqlite.Connection, judged: Judged, capture_id: int, where: Provenance
) -> list[tuple[int, Memory | None]]:
    """Give the model's wording to a capture that no person has decided on; its evidence, origin and history are kept.

    The candidate is stored separately if the gate refuses it, the origins differ, or the capture is unconfirmed.
    """
    candidate, admission = judged[0], await last_word(ctx, judged, where)
    capture = await captures.require(tx, capture_id)
    origin = Origin(capture["origin"])
    if capture["status"] not in (*OPEN, UNCONFIRMED):
        return []
    if origin is Origin.USER is not candidate.origin and capture["status"] != "discarded":
        return []  # the user's own statement is kept
    refused = admission.decision not in (Decision.AUTO, Decision.REVIEW)
    if refused or capture["status"] == UNCONFIRMED or candidate.origin is not origin:
        # The model's candidate may be worded better, or have a more or less trusted origin. If the candidate passes
        # the second look, it replaces the capture.
        return await keep(ctx, tx, [judged], where)
    if not _waits(capture):
        return []
    worded = replace(
        candidate_from(capture),
        kind=candidate.kind,
        summary=candidate.summary,
        content=candidate.content,
        rationale=candidate.rationale,
        sentiment=candidate.sentiment,
        raw_confidence=candidate.raw_confidence,
        extractor=candidate.extractor,
        tags=candidate.tags or tuple(capture["tags"]),
        files=tuple(dict.fromkeys((*capture["files"], *candidate.files)))[:10],
    )
    await decisions.reword(tx, capture, worded, admission, ctx.settings.review_expiry_days)
    return [(capture_id, await admit_memory(ctx, tx, capture_id, (worded, admission), where))]


def _waits(capture: Capture) -> bool:
    """Whether a model may reword a capture: rules found it, and it is neither stored, quarantined nor decided on."""
    undecided = capture["status"] == "review" or (capture["status"] == "discarded" and capture["reason"] != ECHO)
    return undecided and capture["decided_at"] is None and not capture["extractor"].startswith(("model-", OBSERVED))


async def _repeat(
    ctx: RecallContext, tx: aiosqlite.Connection, judged: Judged, memory_id: int, where: Provenance
) -> list[tuple[int, Memory | None]]:
    """Count a repetition of a memory, unless the same session made the memory or was shown it; keep its wording."""
    candidate, admission = judged[0], await last_word(ctx, judged, where)
    memory = await memories.require(tx, memory_id)
    given = await surfaces.given_hashes(ctx.database, where.place.session_id or "")
    heard_again = (
        admission.decision is Decision.AUTO
        and memory.archived_at is None
        and memory.content_hash not in given
        and memory.session_id != where.place.session_id
    )
    if not heard_again and admission.decision is not Decision.QUARANTINE:
        reason = ECHO if memory.content_hash in given else f"repeats memory {memory_id}"
        admission = Admission(Decision.DISCARD, admission.confidence, reason)
    capture_id = await captures.insert(tx, candidate, admission, where.place, ctx.settings.review_expiry_days)
    if capture_id is None:
        return []
    if heard_again:
        await memories.restate(tx, memory, candidate.time, where.place.session_id, candidate.origin)
        await captures.bind(tx, capture_id, memory_id)
    return [(capture_id, memory if heard_again else None)]
