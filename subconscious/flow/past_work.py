"""What an earlier session found or did that a prompt is about: told with the prompt.

A start is given the story of the last session alone. What was designed, built or looked into a week before is found
here, by the words and the meaning of the prompt: the few sentences of one answer that it is about. Sessions of which no
answers are stored are told by their whole story.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from time import time

from subconscious.flow.continuing import HANDED
from subconscious.flow.handover import Left
from subconscious.flow.mind import Mind
from subconscious.model import Memory, Session
from subconscious.store import captures, handovers
from subconscious.summaries import MAIN_BRANCHES, PLAN, Handover
from subconscious.summaries.answers import stands_alone
from subconscious.summaries.handover import joined
from subconscious.summaries.likeness import Likeness, gist, likest
from subconscious.summaries.recalled import Compared, closest
from subconscious.summaries.sketch import Answer
from subconscious.summaries.telling import is_routine

LOOKED_AT = 100
"""The latest sessions of a project that are compared."""

COMPARED = 2
"""Sessions, the likest by words, that are compared by meaning: each is embedded, once for as long as it is cached."""

A_SESSION = 4
"""Sessions that one session is told of in all, the one at its start included."""

TOLD_SHORTLY = "prompt/answer"
"""The event by which some sentences of an answer were told, and not a whole story."""

LIKELY = 0.35
"""Probability from which a sentence of an answer is given: of the labelled pairs that reach it, two of three help."""

SHORTEST_REFUSED = 20
"""Characters of what was refused from which a longer sentence that holds it is refused, too."""

NEAR = 0.65
"""Cosine that few texts exceed: what would not be likely enough with it need not be embedded."""

BESIDE = 0.2
"""Probability from which further sentences of the same answer are told beside it."""

SENTENCES = 3
"""Sentences of one answer that are told."""

USEFUL = 0.3
"""Probability from which a story is told. Of the labelled pairs that reach it, six of ten are what the prompt needs."""


WORTH_EMBEDDING = 0.05
"""Probability by words alone, at an ordinary cosine, below which a story is not compared by meaning."""

ORDINARY = 0.4
LONGEST = 400
"""Characters of a prompt that are compared by meaning: what it asks for stands at its beginning."""


Told = tuple[Session, Handover]


async def worked_on(
    mind: Mind, session_id: str, project_id: str, text: str, handed: Collection[str] = ()
) -> Left | None:
    """Find what a prompt is given of an earlier session; None if nothing is likely to help.

    ``handed`` are sessions that are handed over with the same prompt.
    """
    if not mind.settings.handover or is_routine(text):
        return None
    told = await handovers.ledger(mind.database, session_id) | {*handed}
    if len(told) >= A_SESSION:
        return None
    words = text.removeprefix(PLAN).strip()
    sessions = await handovers.finished(mind.database, project_id, session_id, LOOKED_AT)
    known = [(session, _parsed(session.handover)) for session in sessions]
    given = await handovers.of_session(mind.database, session_id)
    prompted = {one.from_id for one in given if _is_prompted(one)}
    in_full = {*handed, *(one.from_id for one in given if one.event == HANDED)}
    in_full |= {session.id for session in sessions if session.id in told and session.branch not in MAIN_BRANCHES}
    answered = [one for one in known if one[1].answers and one[0].id not in told & prompted]
    refused = await captures.refused(mind.database, project_id) if answered else []
    if found := await _answer_to(mind, words, list(_tellable(answered, in_full, refused))):
        return found
    whole = _current([one for one in known if not one[1].answers], told)
    near = await asyncio.to_thread(likest, words, [story for _, story in whole], COMPARED)
    return await _best(mind, words, whole, near)


def _is_prompted(given: handovers.Given) -> bool:
    return not given.event.startswith("start/") and given.event != HANDED


@lru_cache(maxsize=LOOKED_AT)
def _parsed(stored: str) -> Handover:
    """Cached: each prompt is compared with all of them."""
    return Handover.from_json(stored)


@dataclass(frozen=True, slots=True)
class _Likely:
    """A sentence and how likely it helps."""

    one: Compared
    chance: float


async def _answer_to(mind: Mind, words: str, said: Sequence[tuple[Session, Answer]]) -> Left | None:
    """The sentences of one answer that a prompt is about, in the form of a story; None where none is likely enough."""
    answers = [answer for _, answer in said]
    near = await asyncio.to_thread(closest, words, answers, time())
    likely = await _weighed(mind, words, answers, [one for one in near if one.probability(NEAR, NEAR) >= LIKELY])
    best = max(likely, key=lambda found: found.chance, default=None)
    if best is None or best.chance < LIKELY:
        return None
    beside = [found for found in likely if found.one.place == best.one.place and found.chance >= BESIDE]
    chosen = sorted(sorted(beside, key=lambda found: -found.chance)[:SENTENCES], key=lambda found: found.one.line)
    session, answer = said[best.one.place]
    told_of = Handover(asked=answer.asked, reported=joined([answer.told[found.one.line] for found in chosen]))
    return Left(session, told_of, event=TOLD_SHORTLY)


def _tellable(known: Sequence[Told], told: Collection[str], refused: Sequence[str]) -> Iterator[tuple[Session, Answer]]:
    """All answers, without what a person refused, and what a hand-over that was given in full says already."""
    against = [folded for text in refused if (folded := _folded(text))]
    for session, story in known:
        reported = story.reported if session.id in told else ""
        for answer in story.answers:
            lines = (one for one in answer.told if one not in reported)
            kept = tuple(one for one in lines if stands_alone(one) and not _is_refused(_folded(one), against))
            yield session, replace(answer, told=kept)


def _is_refused(sentence: str, against: Sequence[str]) -> bool:
    return any(sentence in text or (text in sentence and len(text) >= SHORTEST_REFUSED) for text in against)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(". ")


async def _weighed(mind: Mind, words: str, answers: Sequence[Answer], near: Sequence[Compared]) -> list[_Likely]:
    """The sentences with how likely they help. Every text that is embedded costs time, so the hopeless are left out.

    Where one is not embedded none of the others is: a remote embedder may be late, and would be late each time.
    """
    asked = await mind.embed(words[:LONGEST]) if near else None
    found: list[_Likely] = []
    for one in near if asked is not None else ():
        answer = answers[one.place]
        vector = await mind.embed(answer.told[one.line])
        if vector is None:
            return []
        cosine = float(asked @ vector)
        if one.probability(cosine, NEAR) >= BESIDE:
            vector = await mind.embed(answer.asked) if answer.asked else None
            found.append(_Likely(one, one.probability(cosine, float(asked @ vector) if vector is not None else 0.0)))
    return found


def _current(known: Sequence[Told], told: Collection[str]) -> list[Told]:
    """The stories, the latest first, that say something new and that no later session has overtaken."""
    heard = {story.asked for session, story in known if session.id in told}
    return [
        (session, story)
        for place, (session, story) in enumerate(known)
        if story.asked not in {"", *heard} and (story.reported or story.done)
        if not any(_overtakes(later, story) for _, later in known[:place])
    ]


def _overtakes(later: Handover, story: Handover) -> bool:
    """Whether a later session changed most of the files that a story is about: it tells a state that is gone."""
    return 2 * len({*later.files} & {*story.files}) > len(story.files) > 0


async def _best(mind: Mind, words: str, found: Sequence[Told], near: Sequence[Likeness]) -> Left | None:
    near = [one for one in near if one.probability(ORDINARY) >= WORTH_EMBEDDING]
    asked = await mind.embed(words[:LONGEST]) if near else None
    if asked is None:
        return None
    likely = 0.0
    best: Likeness | None = None
    for one in near:
        vector = await mind.embed(gist(found[one.place][1]))
        chance = one.probability(float(asked @ vector)) if vector is not None else 0.0
        if chance > likely:
            best, likely = one, chance
    return Left(*found[best.place]) if best is not None and likely >= USEFUL else None


async def changed_since(mind: Mind, project_id: str, file: str, memories: Sequence[Memory]) -> dict[int, int]:
    """In how many later sessions a file of this name was changed, by memory; the session that said it apart."""
    known = await handovers.finished(mind.database, project_id, "", LOOKED_AT)
    changed = [session for session in known if file in Handover.from_json(session.handover).files]
    return {
        memory.id: sum(one.last_event_at > memory.said_at and one.id != memory.session_id for one in changed)
        for memory in memories
    }
