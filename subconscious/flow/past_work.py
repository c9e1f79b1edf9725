"""The earlier session that a prompt goes on with, or that did something alike: its story is told with the prompt.

A start is given the story of the last session alone. What was designed, built or looked into a week before is found
here, by the words and the meaning of the prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from subconscious.flow.handover import Left
from subconscious.flow.mind import Mind
from subconscious.model import Memory, Session
from subconscious.store import handovers
from subconscious.summaries import PLAN, Handover
from subconscious.summaries.likeness import Likeness, gist, likest

LOOKED_AT = 100
"""The latest sessions of a project that are compared."""

COMPARED = 2
"""Sessions, the likest by words, that are compared by meaning: each is embedded, once for as long as it is cached."""

A_SESSION = 3
"""Stories that one session is told in all, the one at its start included."""

USEFUL = 0.3
"""Probability from which a story is told. Of the labelled pairs that reach it, six of ten are what the prompt needs."""


WORTH_EMBEDDING = 0.05
"""Probability by words alone, at an ordinary cosine, below which a story is not compared by meaning."""

ORDINARY = 0.4
LONGEST = 400
"""Characters of a prompt that are compared by meaning: what it asks for stands at its beginning."""


Told = tuple[Session, Handover]


async def worked_on(mind: Mind, session_id: str, project_id: str, text: str) -> Left | None:
    """Find the session whose story a prompt is given; None where none is likely to help."""
    if not mind.settings.handover:
        return None
    told = await handovers.ledger(mind.database, session_id)
    if len(told) >= A_SESSION:
        return None
    known = await handovers.finished(mind.database, project_id, session_id, LOOKED_AT)
    found = _current([(session, Handover.from_json(session.handover)) for session in known], told)
    words = text.removeprefix(PLAN).strip()
    near = await asyncio.to_thread(likest, words, [story for _, story in found], COMPARED)
    return await _best(mind, words, found, near)


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
