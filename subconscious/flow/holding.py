"""What typed words end (`capture/endings.py`): memories, captures that wait, and statements of the same message.

They are looked for before the transaction that stores what was read, and retired within it. A memory goes out of use
whole and can be brought back; where the message says what holds instead, that supersedes it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import time
from typing import TYPE_CHECKING

import aiosqlite

from subconscious.capture.ended import akin, ended_by, is_for_a_time, keys
from subconscious.capture.endings import LONGEST, End, Ending, endings
from subconscious.capture.relation import Relation
from subconscious.capture.sentences import sentences
from subconscious.flow import succession
from subconscious.flow.mind import Mind
from subconscious.flow.relating import FAR, bare
from subconscious.model import Act, Admission, Candidate, Decision, Hit, Memory, Origin, Role, Turn
from subconscious.store import consolidations, decisions, links, memories, sessions, waiting
from subconscious.store.filters import Filter
from subconscious.surfacing.expiry import ends_at

if TYPE_CHECKING:
    import numpy

COMPARED = 500
"""Memories of a project, the latest, among which what an ending names is looked for."""

MOST_COMPARED = 8
"""Memories whose meaning is compared with that of an ending whose words fit none."""

MOST_PASSING, MOST_RELATED = 12, 3
"""Temporary statements, the latest, among which the nearest to a sentence are sought, and nearest that are compared."""

MOST_SENTENCES = 8
"""Sentences of a message that are compared with them; a longer one tells a story."""

LONGEST_TURN = 4000
"""Characters of a message that is read for endings; longer ones are pasted."""

TAKEN_BACK = "taken back in the same session"
SAYS_NO_MORE = "says only that something no longer holds"

Judged = tuple[Candidate, Admission]


@dataclass(frozen=True, slots=True)
class Retired:
    """One thing that is ended: a memory, a capture, or the content of a candidate; why, and by which turn."""

    reason: str
    turn_id: str
    ending: Ending
    memory: int | None = None
    capture: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """What the turns of a batch end, and what is left of its candidates."""

    judged: list[Judged]
    retired: list[Retired] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Statement:
    """Something that may be ended. ``candidate`` is its place among those of the batch."""

    text: str
    turn_id: str = ""
    session_id: str | None = None
    at: float = 0.0
    memory: Memory | None = None
    capture: int | None = None
    candidate: int | None = None


async def ended(
    mind: Mind,
    turns: Sequence[Turn],
    judged: Sequence[Judged],
    project_id: str,
    session_id: str,
    doubtful: Collection[str] = (),
) -> Ended:
    """Find what is ended by the turns that a person typed, without those of which nobody vouches that they did."""
    typed = [turn for turn in turns if _is_typed(turn) and turn.id not in doubtful]
    if not typed or not mind.settings.capture:
        return Ended(list(judged))
    found = [(turn, ending) for turn in typed for ending in endings(turn.text)]
    known = await _statements(mind, project_id)
    by_meaning = await _ends_by_meaning(mind, typed, judged, known)
    found += [(turn, ending) for turn, ending, _ in by_meaning]
    if not found:
        return Ended(list(judged))
    session = await sessions.get(mind.database, session_id)
    search = _Search(typed, list(judged), known, session.last_prompt if session else "", session_id)
    search.cosines = {ending: await _cosines(mind, ending, known) for _, ending in found}
    search.meant = {ending: text for _, ending, text in by_meaning}
    return search.carry_out(found)


async def _ends_by_meaning(
    mind: Mind, typed: Sequence[Turn], judged: Sequence[Judged], known: Sequence[_Statement]
) -> list[tuple[Turn, Ending, str]]:
    """Compare typed sentences with what holds for a time only; return those that end it, with the text that ends.

    The end of something temporary is rarely a statement that is worth keeping ("found the bug, cache back on"), so it
    is looked for in all that is typed. What is stored itself is compared where it is stored (`flow/relating.py`).
    """
    passing = await _embedded(mind, [one.text for one in known if is_for_a_time(one.text)][:MOST_PASSING])
    stored = " ".join(one.evidence.quote for one, admission in judged if admission.decision is Decision.AUTO)
    found = []
    for turn in typed if passing else ():
        for sentence in _that_may_end(turn.text):
            if sentence not in stored and (text := await _ends(mind, sentence, passing)) is not None:
                ending = Ending(End.OVER, "", sentence, turn.text.find(sentence), alone=False)
                found.append((turn, ending, text))
    return found


def _that_may_end(text: str) -> list[str]:
    """Return the sentences of a short message that tell something, and the message as a whole."""
    said = [one for one in sentences(text) if not one.rstrip().endswith("?") and len(one) <= LONGEST]
    whole = [text.strip()] if len(said) > 1 and len(text) <= LONGEST else []
    return [*said, *whole] if len(said) <= MOST_SENTENCES else []


async def _embedded(mind: Mind, texts: Sequence[str]) -> list[tuple[str, numpy.ndarray]]:
    vectors = [(text, await mind.at_hand(bare(text))) for text in texts]
    return [(text, vector) for text, vector in vectors if vector is not None]


async def _ends(mind: Mind, sentence: str, passing: Sequence[tuple[str, numpy.ndarray]]) -> str | None:
    """Return the nearest temporary statement that a sentence replaces."""
    mine = await mind.at_hand(sentence)
    if mine is None:
        return None
    near = [(float(mine @ vector), text) for text, vector in passing]
    nearest = [text for cosine, text in sorted(near, reverse=True)[:MOST_RELATED] if cosine >= FAR]
    relations = await mind.relate(sentence, [bare(text) for text in nearest])
    ended = [text for text, found in zip(nearest, relations, strict=False) if found is Relation.REPLACES]
    return ended[0] if ended else None


async def _cosines(mind: Mind, ending: Ending, known: Sequence[_Statement]) -> dict[str, float]:
    """How near the memories that share a word with an ending are to it; nothing without an embedder at hand."""
    words = keys(ending.topic)
    near = [one.text for one in known if one.memory is not None and words & keys(one.text)][:MOST_COMPARED]
    mine = await mind.at_hand(ending.evidence) if near else None
    if mine is None:
        return {}
    vectors = {text: await mind.at_hand(text) for text in near}
    return {text: float(mine @ vector) for text, vector in vectors.items() if vector is not None}


def _is_typed(turn: Turn) -> bool:
    typed = turn.origin is Origin.USER and turn.role is Role.USER and turn.act is Act.NONE
    return typed and not turn.sidechain and 0 < len(turn.text) <= LONGEST_TURN


async def _statements(mind: Mind, project_id: str) -> list[_Statement]:
    """The memories in force in a project and the captures that wait there."""
    active = await memories.latest(mind.database, Filter(project_id), COMPARED)
    in_force = await succession.still_in_force(mind.database, active, project_id)
    held = [
        _Statement(one.content, one.turn_id, one.session_id, one.said_at, memory=one)
        for one in in_force
        if not one.pinned and one.kind != "meta"
    ]
    queue = await waiting.latest(mind.database, project_id, COMPARED)
    return held + [_Statement(one.content, capture=one.id) for one in queue]


class _Search:
    """Looks for what the endings of some turns mean, turn by turn."""

    def __init__(
        self, typed: list[Turn], judged: list[Judged], known: list[_Statement], before: str, session_id: str
    ) -> None:
        self._typed = typed
        self._judged = judged
        self._known = known
        self._before = before
        self._session = session_id
        self._order = {turn.id: place for place, turn in enumerate(typed)}
        self._retired: list[Retired] = []
        self.cosines: dict[Ending, dict[str, float]] = {}
        self.meant: dict[Ending, str] = {}

    def carry_out(self, found: Iterable[tuple[Turn, Ending]]) -> Ended:
        """Retire what each ending means."""
        for turn, ending in found:
            meant = self._meant(turn, ending)
            for one in meant:
                self._retire(one, turn, ending)
            if (ending.alone and (meant or ending.end is not End.LEFT)) or (
                meant and ending.end in (End.OVER, End.ALLOWED)
            ):
                self._discard_sentence(turn, ending)
        return Ended(self._judged, self._retired)

    def _meant(self, turn: Turn, ending: Ending) -> list[_Statement]:
        said = self._said_before(turn, ending)
        if ending in self.meant:
            return [one for one in said if one.text == self.meant[ending]]
        if ending.end is End.LAST:
            return self._last(turn, ending, said)
        meant = [said[place] for place in ended_by(ending, [one.text for one in said])]
        return meant or self._akin(ending, said)

    def _akin(self, ending: Ending, said: Sequence[_Statement]) -> list[_Statement]:
        known = self.cosines.get(ending, {})
        near = [one for one in said if one.text in known]
        return [near[place] for place in akin(ending, [one.text for one in near], [known[one.text] for one in near])]

    def _said_before(self, turn: Turn, ending: Ending) -> list[_Statement]:
        """What was said before a sentence: what is stored or waits, and the statements of this batch."""
        gone = {one.memory for one in self._retired}, {one.capture for one in self._retired}
        stored = [
            one
            for one in self._known
            if (one.memory is None or one.memory.id not in gone[0])
            and (one.capture is None or one.capture not in gone[1])
            and one.at <= turn.time
        ]
        return stored + [one for one in self._candidates() if self._is_before(one, turn, ending)]

    def _candidates(self) -> Iterable[_Statement]:
        for place, (candidate, admission) in enumerate(self._judged):
            if admission.decision in (Decision.AUTO, Decision.REVIEW):
                turn_id = candidate.evidence.turn_id
                yield _Statement(candidate.content, turn_id, self._session, candidate.time, candidate=place)

    def _is_before(self, one: _Statement, turn: Turn, ending: Ending) -> bool:
        if one.turn_id == turn.id and one.candidate is not None:
            quote = self._judged[one.candidate][0].evidence.quote
            return 0 <= turn.text.find(quote) < ending.start and quote not in ending.evidence
        return self._order.get(one.turn_id, -1) < self._order[turn.id] and one.at <= turn.time

    def _last(self, turn: Turn, ending: Ending, said: Sequence[_Statement]) -> list[_Statement]:
        """What was said last: in this message, or in the one before it; a rule or decision, in this session."""
        own = [one for one in said if one.turn_id == turn.id]
        if own:
            return own[-1:]
        here = [one for one in said if one.session_id == self._session and one.capture is None]
        latest = max(here, key=lambda one: (self._order.get(one.turn_id, -1), one.at), default=None)
        if latest is None or not (_NAMES_A_RULE.search(ending.evidence) or self._is_previous(latest, turn)):
            return []
        return [one for one in here if one.turn_id == latest.turn_id][-1:]

    def _is_previous(self, one: _Statement, turn: Turn) -> bool:
        """Whether something was said in the message right before a turn."""
        place = self._order[turn.id]
        if place:
            return one.turn_id == self._typed[place - 1].id
        return bool(one.memory) and one.text.rstrip(".\u2026 ") in self._before

    def _retire(self, one: _Statement, turn: Turn, ending: Ending) -> None:
        reason = f'ended by what was typed: "{ending.evidence}"'
        if one.candidate is not None:
            self._discard(one.candidate, TAKEN_BACK)
            return
        number = one.memory.id if one.memory else None
        self._retired.append(Retired(reason, turn.id, ending, number, one.capture))

    def _discard_sentence(self, turn: Turn, ending: Ending) -> None:
        for place, (candidate, _) in enumerate(self._judged):
            if candidate.evidence.turn_id == turn.id and candidate.evidence.quote.strip() in ending.evidence:
                self._discard(place, SAYS_NO_MORE)

    def _discard(self, place: int, reason: str) -> None:
        candidate, admission = self._judged[place]
        self._judged[place] = candidate, replace(admission, decision=Decision.DISCARD, reason=reason)


_NAMES_A_RULE = re.compile(
    r"\b(?:rule|decision|convention|policy|requirement|restriction|agreement|Regel|Entscheidung|r[eè]gle|d[eé]cision|"
    r"regla|regra|decis\w+)\b",
    re.IGNORECASE,
)


async def retire(tx: aiosqlite.Connection, found: Ended, kept: Iterable[Memory | None], act: str = "") -> list[int]:
    """Retire what was ended; return the memories that left the index.

    Where the same message says what holds now, that supersedes it. Else it is archived, and what it had superseded
    does not come back with it, unless it was itself only just said.
    """
    made = [one for one in kept if one is not None and one.origin is Origin.USER]
    gone: list[int] = []
    for one in found.retired:
        if one.capture is not None:
            await decisions.displace(tx, one.capture, one.reason, act)
        elif one.memory is not None:
            gone += await _retire_memory(tx, one.memory, one, made, act)
    return gone


async def _retire_memory(
    tx: aiosqlite.Connection, number: int, retired: Retired, made: Iterable[Memory], act: str
) -> list[int]:
    ending = retired.ending
    successor = next((one for one in made if one.turn_id == retired.turn_id and _says(one, ending)), None)
    if successor is not None and ending.end in (End.LEFT, End.DENIED):
        await succession.take_over(tx, successor, [number])
        return []
    ids = [number, *([] if ending.end is End.LAST else await links.behind(tx, number))]
    return await _archive(tx, ids, retired.reason, act)


def _says(memory: Memory, ending: Ending) -> bool:
    """Whether a memory states the sentence that ends something: it then tells what holds instead."""
    return ending.evidence in memory.evidence or memory.evidence.strip() in ending.evidence


async def _archive(tx: aiosqlite.Connection, ids: Sequence[int], reason: str, act: str) -> list[int]:
    from subconscious.store import vectors

    gone = []
    for number in ids:
        memory = await memories.found(tx, number)
        if memory is not None and await memories.archive(tx, memory, "daemon", reason, act):
            gone.append(number)
    gone += await consolidations.fall(tx, gone, "daemon", reason, act)
    await vectors.activate(tx, gone, False)
    return gone


def has_ended(memory: Memory, now: float) -> bool:
    """Whether the time until which a memory holds by its own words is over: "until Friday", "this week"."""
    return (end := ends_at(memory.content, memory.said_at)) is not None and end <= now


async def holding_hits(mind: Mind, hits: Sequence[Hit], project_id: str | None) -> list[Hit]:
    """Those of some hits whose memories hold now: what a session is given without asking."""
    held = {memory.id for memory in await in_force(mind, [hit.memory for hit in hits], project_id, time())}
    return [hit for hit in hits if hit.memory.id in held]


async def in_force(mind: Mind, found: Sequence[Memory], project_id: str | None, now: float) -> list[Memory]:
    """Those of some memories that hold: in use, superseded by none, and not past their end."""
    held = await succession.still_in_force(mind.database, found, project_id) if mind.settings.links else list(found)
    return [memory for memory in held if not has_ended(memory, now)]
