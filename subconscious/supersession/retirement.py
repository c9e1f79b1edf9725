"""Retires the memories and waiting captures that a user's sentences end (`supersession/endings.py`).

The search runs before the transaction that stores a batch; the retirement is part of the transaction. A retired memory
is archived and can be restored; if the same message states a new value, the memory of that value supersedes it instead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import time
from typing import TYPE_CHECKING

import aiosqlite

from subconscious.domain.hits import Hit
from subconscious.domain.model import Act, Admission, Candidate, Decision, Memory, Origin, Relation, Role, Turn
from subconscious.recall.recall_context import RecallContext
from subconscious.store import consolidations, decisions, full_text, links, memories, review_queue, sessions
from subconscious.store.filters import Filter
from subconscious.supersession import succession
from subconscious.supersession.ended import akin, ended_by, is_for_a_time, keys, names_same
from subconscious.supersession.ending_patterns import End
from subconscious.supersession.endings import LONGEST, Ending, endings
from subconscious.supersession.expiry import ends_at
from subconscious.supersession.merging import may_be_certain
from subconscious.supersession.relating import FAR, LOOKED_AT, REPLACING
from subconscious.text.occasion import FEWEST_WORDS, bare, question
from subconscious.text.own_correction import without_lead
from subconscious.text.sentences import sentences

if TYPE_CHECKING:
    import numpy

COMPARED = 500
"""The number of latest memories, and of latest waiting captures, that a user's sentence can end."""

MOST_COMPARED = 8
"""The most memories whose vectors are compared with an ending, if the ending's words match no memory."""

MOST_PASSING, MOST_RELATED = 12, 3
"""How many of the latest temporary or waiting statements are embedded, and how many of those the pair model compares."""

LIKELY = 0.3
"""The least cosine between a sentence and a lasting statement that the sentence may take back."""

MOST_SENTENCES = 8
"""The most sentences of a message that is compared with temporary statements."""

LONGEST_TURN = 4000
"""The most characters of a message that is read for endings; longer ones are assumed to be pasted."""

TAKEN_BACK = "taken back in the same session"
SAYS_NO_MORE = "only says that something is no longer valid"

Judged = tuple[Candidate, Admission]


@dataclass(frozen=True, slots=True)
class Retired:
    """A memory or capture to retire, with the reason and the id of the turn that ended it."""

    reason: str
    turn_id: str
    ending: Ending
    memory: int | None = None
    capture: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The memories and captures that a batch of turns ends, and the batch's candidates, some of them now discarded."""

    judged: list[Judged]
    retired: list[Retired] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement that may be ended. ``candidate`` is its index among the batch's candidates, None if it is stored."""

    text: str
    turn_id: str = ""
    session_id: str | None = None
    at: float = 0.0
    memory: Memory | None = None
    capture: int | None = None
    candidate: int | None = None
    is_typed: bool = False


async def ended(
    ctx: RecallContext,
    turns: Sequence[Turn],
    judged: Sequence[Judged],
    project_id: str,
    session_id: str,
    doubtful: Collection[str] = (),
) -> Ended:
    """Return what the user's turns end. Turns with an id in ``doubtful``, which no hook attested, end nothing."""
    typed = [turn for turn in turns if _is_typed(turn) and turn.id not in doubtful]
    if not typed or not ctx.settings.capture:
        return Ended(list(judged))
    found = [(turn, ending) for turn in typed for ending in endings(turn.text)]
    known = await _statements(ctx, project_id)
    by_meaning = await _ends_by_meaning(ctx, typed, judged, known, project_id)
    found += [(turn, ending) for turn, ending, _ in by_meaning]
    again = [turn for turn in typed if without_lead(turn.text)]
    if not found and not again:
        return Ended(list(judged))
    session = await sessions.get(ctx.database, session_id)
    search = _Search(typed, list(judged), known, session.last_prompt if session else "", session_id)
    search.cosines = {ending: await _cosines(ctx, ending, known) for _, ending in found}
    search.meant = {ending: text for _, ending, text in by_meaning}
    search.correct(again)
    return search.carry_out(found)


async def _ends_by_meaning(
    ctx: RecallContext,
    typed: Sequence[Turn],
    judged: Sequence[Judged],
    known: Sequence[_Statement],
    project_id: str,
) -> list[tuple[Turn, Ending, str]]:
    """Return the user's sentences that end a statement by their meaning, each with the text of that statement.

    The end of something is rarely worth storing ("found the bug, cache back on", "legal lost interest in the copies"), so
    sentences that are not stored are compared here; stored ones are compared in `supersession/relating.py`. Only
    a person's statement can be ended: a finding with "until" or "while" describes how something works.
    """
    theirs = [one for one in known if one.is_typed]
    temporary = dict.fromkeys(one.text for one in theirs if is_for_a_time(bare(one.text)))
    passing = await _embedded(ctx, list(temporary)[:MOST_PASSING])
    lasting = [one for one in theirs if one.text not in temporary]
    stored = " ".join(one.evidence.quote for one, admission in judged if admission.decision is Decision.AUTO)
    found = []
    for turn in typed if theirs else ():
        for sentence in _that_may_end(turn.text):
            if sentence in stored:
                continue
            text = await _ends(ctx, sentence, passing) or await _takes_back(ctx, sentence, lasting, project_id)
            if text is not None:
                ending = Ending(End.OVER, "", sentence, turn.text.find(sentence), alone=False)
                found.append((turn, ending, text))
    return found


def _that_may_end(text: str) -> list[str]:
    """Return a short message's sentences except questions, and the message as a whole; [] for a long message."""
    said = [one for one in sentences(text) if not one.rstrip().endswith("?") and len(one) <= LONGEST]
    whole = [text.strip()] if len(said) > 1 and len(text) <= LONGEST else []
    return [*said, *whole] if len(said) <= MOST_SENTENCES else []


async def _embedded(ctx: RecallContext, texts: Sequence[str]) -> list[tuple[str, numpy.ndarray]]:
    vectors = [(text, await ctx.embed_now(bare(text))) for text in texts]
    return [(text, vector) for text, vector in vectors if vector is not None]


async def _ends(ctx: RecallContext, sentence: str, passing: Sequence[tuple[str, numpy.ndarray]]) -> str | None:
    """Return the most similar temporary statement that a sentence replaces; None if it replaces none."""
    mine = await ctx.embed_now(sentence)
    if mine is None:
        return None
    near = [(float(mine @ vector), text) for text, vector in passing]
    nearest = [text for cosine, text in sorted(near, reverse=True)[:MOST_RELATED] if cosine >= FAR]
    relations = await ctx.relate(sentence, [bare(text) for text in nearest])
    ended = [text for text, found in zip(nearest, relations, strict=False) if found in REPLACING]
    return ended[0] if ended else None


async def _takes_back(ctx: RecallContext, sentence: str, lasting: Sequence[_Statement], project_id: str) -> str | None:
    """Return the lasting statement that a sentence takes back; None if it takes back none.

    A sentence that states a new value does not count, because tasks and exceptions mention lasting rules, too. If the
    sentence names what it takes back by a number or a code name ("the 6h thing"), the statement must contain it.
    """
    near = await _nearest(ctx, sentence, lasting, project_id) if len(sentence.split()) >= FEWEST_WORDS else []
    topics = [one.topic for one in endings(sentence) if one.end is not End.OVER]
    near = [text for text in near if all(names_same(topic, text) for topic in topics)]
    relations = await ctx.relate(sentence, [bare(text) for text in near]) if near else []
    return next((text for text, found in zip(near, relations, strict=False) if found is Relation.ENDS), None)


async def _nearest(ctx: RecallContext, sentence: str, lasting: Sequence[_Statement], project_id: str) -> list[str]:
    """Return the statements most similar to a sentence, from the vector index of memories and the latest captures."""
    mine = await ctx.embed_now(sentence) if ctx.index is not None and lasting else None
    if mine is None or ctx.index is None:
        return []
    memories_of = {one.memory.id: one.text for one in lasting if one.memory is not None}
    found = await ctx.index.search((project_id, full_text.USER_WIDE), mine, LOOKED_AT) if memories_of else []
    near = [(cosine, memories_of[number]) for number, cosine in found if number in memories_of]
    waiting = [one.text for one in lasting if one.capture is not None]
    near += [(float(mine @ vector), text) for text, vector in await _embedded(ctx, waiting[:MOST_PASSING])]
    return [text for cosine, text in sorted(near, reverse=True)[:MOST_RELATED] if cosine >= LIKELY]


async def _cosines(ctx: RecallContext, ending: Ending, known: Sequence[_Statement]) -> dict[str, float]:
    """Return the cosine of an ending and each memory that shares a word with it, by memory text; {} without an embedder."""
    words = keys(ending.topic)
    near = [one.text for one in known if one.memory is not None and words & keys(one.text)][:MOST_COMPARED]
    mine = await ctx.embed_now(ending.evidence) if near else None
    if mine is None:
        return {}
    vectors = {text: await ctx.embed_now(text) for text in near}
    return {text: float(mine @ vector) for text, vector in vectors.items() if vector is not None}


def _is_typed(turn: Turn) -> bool:
    typed = turn.origin is Origin.USER and turn.role is Role.USER and turn.act is Act.NONE
    return typed and not turn.sidechain and 0 < len(turn.text) <= LONGEST_TURN


async def _statements(ctx: RecallContext, project_id: str) -> list[_Statement]:
    """Return the valid memories of a project that are not pinned, and its waiting captures."""
    active = await memories.latest(ctx.database, Filter(project_id), COMPARED)
    in_force = await succession.still_in_force(ctx.database, active, project_id)
    held = [
        _Statement(
            one.content, one.turn_id, one.session_id, one.said_at, memory=one, is_typed=one.origin is Origin.USER
        )
        for one in in_force
        if not one.pinned and one.kind != "meta"
    ]
    queue = await review_queue.latest_waiting(ctx.database, project_id, COMPARED)
    return held + [
        _Statement(one.content, at=one.said_at, capture=one.id, is_typed=one.origin == Origin.USER) for one in queue
    ]


class _Search:
    """Finds the statements that the endings of some turns refer to, turn by turn."""

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
        """Return the stored statements that the endings refer to, and the candidates with their new decisions."""
        for turn, ending in found:
            meant = self._meant(turn, ending)
            for one in meant:
                self._retire(one, turn, ending)
            if (ending.alone and (meant or ending.end is not End.LEFT)) or (
                meant and ending.end in (End.OVER, End.ALLOWED)
            ):
                self._discard_sentence(turn, ending)
        return Ended(self._judged, self._retired)

    def correct(self, turns: Iterable[Turn]) -> None:
        """Replace answers that the user corrects in a later message: "neither, seconds", then "wait no, millis".

        The correction is then stored without review, because users correct only what matters.
        """
        for turn in turns:
            for place, judged in enumerate(self._judged):
                candidate, admission = judged
                asked = question(candidate.content)
                sure = admission.decision is Decision.AUTO
                if not asked or candidate.evidence.turn_id != turn.id or not (sure or may_be_certain(*judged)):
                    continue
                quote = candidate.evidence.quote
                ending = Ending(End.LEFT, "", quote, max(0, turn.text.find(quote)), alone=False)
                earlier = [
                    one
                    for one in self._said_before(turn, ending)
                    if one.session_id == self._session and one.turn_id != turn.id and question(one.text) == asked
                ]
                for one in earlier:
                    self._retire(one, turn, ending)
                if earlier and not sure:
                    reason = f"{admission.reason}; corrects an answer"
                    self._judged[place] = candidate, replace(admission, decision=Decision.AUTO, reason=reason)

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
        """Return the statements before an ending: stored ones, waiting ones, and those of this batch."""
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
        """Return the last statement before the ending in the same message; failing that, of the previous message.

        If the ending names a rule ("drop that rule"), the statement may be from any earlier message of the session. If
        the ending follows a question or an unfinished sentence ("can we drop X for.. nah forget it"), only a statement
        made there is taken back.
        """
        own = [one for one in said if one.turn_id == turn.id]
        earlier = [one for one in sentences(turn.text[: ending.start]) if not _MURMUR.fullmatch(one)]
        before = earlier[-1] if earlier else ""
        if _OPEN_END.search(before) and not (own and self._is_within(own[-1], before)):
            return []
        if own:
            return own[-1:]
        if before and _SECOND_THOUGHT.match(ending.evidence):
            return []
        here = [one for one in said if one.session_id == self._session and one.capture is None]
        latest = max(here, key=lambda one: (self._order.get(one.turn_id, -1), one.at), default=None)
        if latest is None or not (_NAMES_A_RULE.search(ending.evidence) or self._is_previous(latest, turn)):
            return []
        return [one for one in here if one.turn_id == latest.turn_id][-1:]

    def _is_within(self, one: _Statement, sentence: str) -> bool:
        """Whether ``sentence``, from the same message, contains the statement or is part of it."""
        quote = one.text if one.candidate is None else self._judged[one.candidate][0].evidence.quote
        return sentence in quote or quote.strip() in sentence

    def _is_previous(self, one: _Statement, turn: Turn) -> bool:
        """Whether a statement was made in the message before a turn."""
        place = self._order[turn.id]
        if place:
            return one.turn_id == self._typed[place - 1].id
        return bool(one.memory) and one.text.rstrip(".\u2026 ") in self._before

    def _retire(self, one: _Statement, turn: Turn, ending: Ending) -> None:
        reason = f'ended by a sentence that the user typed: "{ending.evidence}"'
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


_OPEN_END = re.compile(
    r"(?<!\W)(?=\W+$)\W*(?:\?|\.{2}|\u2026|[-\u2013\u2014])"
    r"|^(?:(?:and|und|et|y|e|so|ok|btw|also|oh|hm+)\W+)*(?:(?:can|could|should|shall|would|do|did) (?:we|you|i|u)|what if|how about"
    r"|(?:k\u00f6nn\w+|soll\w*|kannst) (?:wir|du|ich)|on (?:peut|pourrait)|tu peux|podemos|puedes|podr\w+|pode(?:mos)?)\b",
    re.IGNORECASE,
)
"""Matches a question, even without a question mark, or an unfinished sentence ("can we drop X for..")."""

_MURMUR = re.compile(
    r"(?:\W*\b(?:hm+|mm+|uh+m?|um+|oh|ok|well|wait|hold on|no|nah|nope|actually|sorry|a?ugh|argh|ach|nein|non)\b)+\W*",
    re.IGNORECASE,
)
"""A sentence without content, such as "hmm.." before "scrap that"."""

_SECOND_THOUGHT = re.compile(r"(?:nah|nope|no|wait|hold on|actually|ach|doch|nein|non|mejor|n\u00e3o)\b", re.IGNORECASE)
"""The first word of an ending that takes back only the sentence directly before it: "nah forget it"."""

_NAMES_A_RULE = re.compile(
    r"\b(?:rule|decision|convention|policy|requirement|restriction|agreement|Regel|Entscheidung|r[eè]gle|d[eé]cision|"
    r"regla|regra|decis\w+)\b",
    re.IGNORECASE,
)


async def retire(tx: aiosqlite.Connection, found: Ended, kept: Iterable[Memory | None], act: str = "") -> list[int]:
    """Retire the ended statements; return the ids of the archived memories, which must be removed from the index.

    If the same message states the new value, the memory of that value supersedes the old memory. Otherwise the old
    memory is archived, and so are the memories that it had superseded, unless the sentence takes back the last statement
    ("scrap that"): then these become valid again.
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
    ids = [number, *([] if ending.end is End.LAST else await links.superseded_by(tx, number))]
    return await _archive(tx, ids, retired.reason, act)


def _says(memory: Memory, ending: Ending) -> bool:
    """Whether a memory comes from the sentence that ends something, so that it states the new value."""
    return ending.evidence in memory.evidence or memory.evidence.strip() in ending.evidence


async def _archive(tx: aiosqlite.Connection, ids: Sequence[int], reason: str, act: str) -> list[int]:
    from subconscious.store import vectors

    gone = []
    for number in ids:
        memory = await memories.find(tx, number)
        if memory is not None and await memories.archive(tx, memory, "daemon", reason, act):
            gone.append(number)
    gone += await consolidations.archive_dependents(tx, gone, "daemon", reason, act)
    await vectors.activate(tx, gone, False)
    return gone


def has_ended(memory: Memory, now: float) -> bool:
    """Whether the time limit that a memory states itself ("until Friday", "this week") has passed.

    Always false for a pinned memory.
    """
    if memory.pinned:
        return False
    return (end := ends_at(memory.content, memory.said_at)) is not None and end <= now


async def holding_hits(ctx: RecallContext, hits: Sequence[Hit], project_id: str | None) -> list[Hit]:
    """Return the hits with memories that are valid now, for proactive surfacing."""
    held = {memory.id for memory in await in_force(ctx, [hit.memory for hit in hits], project_id, time())}
    return [hit for hit in hits if hit.memory.id in held]


async def in_force(ctx: RecallContext, found: Sequence[Memory], project_id: str | None, now: float) -> list[Memory]:
    """Return the memories, without those whose own words set a time limit that has passed.

    If links are enabled, superseded memories are left out too, and so are archived ones, except for unconfirmed ones.
    """
    held = await succession.still_in_force(ctx.database, found, project_id) if ctx.settings.links else list(found)
    return [memory for memory in held if not has_ended(memory, now)]
