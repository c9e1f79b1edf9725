"""Checks stored memories for poisoning again when the rules change, and asks a model about flagged ones.

Each maintenance run checks a limited number. Archived and restored memories are recorded in the history; nothing is
deleted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

import aiosqlite

from subconscious.app import App
from subconscious.context.priority import LONGEST, QUIET, aside
from subconscious.domain.model import Finding, Level, Memory, Threat, Verdict
from subconscious.llm.providers import Ask
from subconscious.poisoning import check, rules_version
from subconscious.poisoning.gate import explanation, screen
from subconscious.poisoning.second_look import SENT, VERSION, Note, second_look
from subconscious.poisoning.suspicions import as_candidate
from subconscious.store import captures, consolidations, decisions, memories, merges, poison
from subconscious.store.capture_rows import QUARANTINED, SessionRef
from subconscious.wire.captures import Capture

log = logging.getLogger("subconscious.poisoning")

CHECKED_A_ROUND = 100
CHECKED_AT_ONCE = 10
ASKED_A_ROUND = 4
LOOKED_AT = 100
"""The most flagged captures, and the most flagged memories, that one maintenance run reads from the database.

Texts of sessions without a key for a model are skipped.
"""
HELD = (Level.HIGH, Level.CRITICAL)


async def look_again(app: App) -> int:
    """Check memories that have not been checked with the current rules yet; return how many were quarantined."""
    if not app.config.current.poisoning:
        return 0
    found = await poison.unchecked(app.database, await asyncio.to_thread(rules_version), CHECKED_A_ROUND)
    gone: list[int] = []
    quarantined = 0
    for start in range(0, len(found), CHECKED_AT_ONCE):
        await aside(app.signals, QUIET, LONGEST)
        judged = await asyncio.to_thread(_judge, found[start : start + CHECKED_AT_ONCE])
        changed: set[str | None] = set()
        async with app.database.write() as tx:
            for memory, verdict in judged:
                gone_now, is_new = await note_check(tx, memory, verdict)
                gone += gone_now
                quarantined += bool(gone_now)
                changed |= {memory.project_id} if is_new else set()
        app.signals.unrendered |= changed
    if gone:
        await app.embedding.refresh(gone)
        log.warning("%d memories were quarantined; to see them: subconscious review --status quarantined", quarantined)
    return quarantined


async def note_check(tx: aiosqlite.Connection, memory: Memory, verdict: Verdict) -> tuple[list[int], bool]:
    """Store the result of a poisoning check, and quarantine the memory if its level is high or critical.

    Returns the ids of the memories to update in the vector index (the quarantined one and those restored in its place),
    and whether the result differs from the memory's previous result. The result itself is not recorded as an event.
    """
    gone = await _quarantine(tx, memory, verdict) if verdict.level in HELD else []
    # A failed check has no rules version. Storing the current version avoids a new check in every round.
    is_new = await poison.record_check(tx, memory.id, replace(verdict, rules=verdict.rules or rules_version()))
    return gone, is_new


def _judge(found: Sequence[Memory]) -> list[tuple[Memory, Verdict]]:
    return [(memory, screen(as_candidate(memory), check)) for memory in found]


async def _quarantine(tx: aiosqlite.Connection, memory: Memory, verdict: Verdict) -> list[int]:
    """Archive a memory and the summaries based on it until a person decides; return the ids to update in the index.

    Harmless memories that were merged into the memory are restored. Nothing is done, and [] is returned, if the memory
    has neither a capture for the person to decide on nor a project in which to create one.
    """
    from subconscious.store import vectors  # imports numpy, which would delay the start by a tenth of a second

    bound = await captures.of_memory(tx, memory.id)
    if not bound and memory.project_id is None:
        return []
    why = f"checked again: {explanation(verdict)}"
    if bound:
        await decisions.quarantine(tx, bound[0], verdict, why)
    else:
        place = SessionRef(str(memory.project_id), memory.session_id)
        await captures.insert_quarantined(tx, as_candidate(memory), verdict, place, why, memory.id)
    await memories.archive(tx, memory, "daemon", why)
    fallen = await consolidations.archive_dependents(tx, [memory.id], "daemon", "it may be poisoned")
    gone = [memory.id, *fallen]
    await vectors.activate(tx, gone, False)
    back = [one for one in await merges.merged_into(tx, [memory.id]) if screen(as_candidate(one)).level is Level.NONE]
    await merges.restore(tx, back, "daemon", f"memory {memory.id}, which it was merged into, may be poisoned")
    return [*gone, *(one.id for one in back)]


async def ask_again(app: App) -> int:
    """Ask a model to judge flagged captures and memories.

    Return how many captures it judged, plus how many memories it made us quarantine; 0 without a model.
    """
    if not app.llm.on or not app.config.current.poisoning:
        return 0
    changed, looks = 0, SecondLooks(app)
    for capture in await captures.flagged(app.database, VERSION, LOOKED_AT):
        verdict = await looks.take(capture["session_id"] or "", capture, verdict_of(capture))
        if verdict is not None:
            async with app.database.write() as tx:
                await _apply(app, tx, capture["id"], verdict)
            changed += 1
    return changed + await _ask_about_stored(app)


class SecondLooks:
    """Asks a model to judge flagged captures or memories, a few in each round of maintenance.

    It stops after ``ASKED_A_ROUND`` answers, or after the same number of sessions without an answer. Each request uses
    the key of the session from which the text comes.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._silent: set[str] = set()
        self._answered = 0

    def open_to(self, session_id: str) -> Ask | None:
        """Return the function that sends a request for a session; None if no request may be sent in this round."""
        if ASKED_A_ROUND in (self._answered, len(self._silent)) or session_id in self._silent:
            return None
        # Flagged texts are sent one at a time: of two texts in one request, one could give the answer for both.
        llm = self._app.llm
        return llm.asker(session_id) if llm.may_ask(session_id) else None

    async def take(self, session_id: str, note: Note, verdict: Verdict) -> Verdict | None:
        """Ask a model to judge one flagged memory or capture; return the verdict, None if it does not answer now.

        A session that gets no answer (it may have reached its spending cap) does not block other sessions.
        """
        if (ask := self.open_to(session_id)) is None:
            return None
        found = await second_look(ask, note, verdict)
        if found is None:
            self._silent.add(session_id)
        else:
            self._answered += 1
        return found


async def _ask_about_stored(app: App) -> int:
    """Ask a model about memories that a later check flagged; quarantine those that it finds dangerous."""
    gone: list[int] = []
    quarantined, looks = 0, SecondLooks(app)
    for memory in await poison.flagged(app.database, VERSION, LOOKED_AT):
        if looks.open_to(memory.session_id or "") is None:
            continue
        candidate = as_candidate(memory)
        note = {name: getattr(candidate, name) for name in SENT} | {"evidence": memory.evidence}
        verdict = await looks.take(memory.session_id or "", note, await asyncio.to_thread(screen, candidate))
        if verdict is None:
            continue
        async with app.database.write() as tx:
            if verdict.level in HELD and (gone_now := await _quarantine(tx, memory, verdict)):
                gone += gone_now
                quarantined += 1
            is_new = await poison.record_opinion(tx, memory.id, verdict.level.value, VERSION)
        app.signals.unrendered |= {memory.project_id} if is_new else set()
    if gone:
        await app.embedding.refresh(gone)
    return quarantined


def verdict_of(capture: Capture) -> Verdict:
    """Return the verdict of the poisoning check that is stored with a capture."""
    findings = tuple(
        Finding(
            one["rule"],
            Threat(one["threat"]),
            Level(one["level"]),
            one["why"],
            one["part"],
            one["start"],
            one["end"],
        )
        for one in capture["verdict"]
    )
    return Verdict(Level(capture["level"]), findings, capture["rules"])


async def _apply(app: App, tx: aiosqlite.Connection, capture_id: int, verdict: Verdict) -> None:
    """Move a capture to review or quarantine according to the verdict, unless a person has decided on it."""
    capture = await captures.require(tx, capture_id)
    if capture["status"] not in ("review", QUARANTINED):
        return
    await decisions.rejudge(tx, capture_id, verdict, VERSION)
    held = verdict.level in HELD
    if held and capture["status"] == "review":
        await decisions.quarantine(tx, capture, verdict, explanation(verdict))
    elif not held and capture["status"] == QUARANTINED and capture["memory_id"] is None:
        days = app.settings.review_expiry_days
        await decisions.reopen(tx, capture, "review", days, "second look", explanation(verdict), actor="daemon")
