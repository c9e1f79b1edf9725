"""Finds what an earlier session did or found out about the subject of a prompt.

At its start, a session only gets the hand-over of the previous session. Older designs, changes and investigations are
found here by the words and the meaning of a prompt, and a few sentences of one of the assistant's answers are shown.
For sessions without stored answers, the whole hand-over is compared and shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from time import time

from subconscious.domain.model import Memory, Session
from subconscious.recall.recall_context import RecallContext
from subconscious.sessions import MAIN_BRANCHES, PLAN, Handover
from subconscious.sessions.answers import Compared, closest
from subconscious.sessions.continuing import HANDED
from subconscious.sessions.handover import joined
from subconscious.sessions.likeness import Likeness, gist, likest, words_of
from subconscious.sessions.previous_session import Left, answer_head
from subconscious.sessions.sentences import is_about_tests, stands_alone, without_lines
from subconscious.sessions.sketch import Answer
from subconscious.sessions.telling import is_routine
from subconscious.store import captures, handovers
from subconscious.text.quoting import quote

LOOKED_AT = 100
"""The number of latest sessions of a project that are compared with a prompt."""

COMPARED = 2
"""How many of the sessions that share the most words with a prompt are also compared by meaning.

Each of these comparisons needs an embedding.
"""

A_SESSION = 4
"""The maximum number of earlier sessions that one session gets text from, including those handed over to it."""

TOLD_SHORTLY = "prompt/answer"
"""The event name that is recorded when sentences of an answer are shown; a whole hand-over has a different one."""

ANSWER_LENGTH = 600
"""The maximum number of characters of an answer's sentences that are shown, including the words that introduce them.

Two longer extracts in a session help more often than three short ones, because neighbouring sentences explain each
other.
"""

LIKELY = 0.3
"""The minimum probability of helping for a sentence of an answer to be shown.

Six of ten labelled pairs above this value were helpful.
"""

SHORTEST_REFUSED = 20
"""Sentences that contain a rejected text are left out if the rejected text has at least this many characters."""

NEAR = 0.65
"""A cosine that few texts exceed. A sentence that would be unlikely to help even at this cosine is not embedded."""

EMBEDDING_SECONDS = 0.1
"""The seconds after which no further sentence is embedded, because the prompt waits. Most sentences are cached."""

BESIDE = 0.2
"""The minimum probability of helping for further sentences of the same answer to be added."""

SENTENCES = 5
"""The maximum number of sentences of one answer that are shown."""

FEWEST_NEW_WORDS = 3
"""A sentence must have at least this many words that the request before its answer does not contain."""

USEFUL = 0.3
"""The minimum probability of helping for a whole hand-over to be shown.

Six of ten labelled pairs above this value were helpful.
"""


WORTH_EMBEDDING = 0.05
"""A hand-over is compared by meaning only if it would help with at least this probability at the cosine ORDINARY."""

ORDINARY = 0.4
LONGEST = 400
"""The maximum number of characters of a prompt that are compared by meaning: prompts begin with what they ask for."""


Known = tuple[Session, Handover]


async def worked_on(
    ctx: RecallContext, session_id: str, project_id: str, text: str, handed: Collection[str] = ()
) -> Left | None:
    """Return an earlier session with the text to add to a prompt's context; None if nothing is likely to help.

    ``handed`` are the ids of sessions that are handed over with the same prompt. Nothing is added for a prompt that is
    an approved plan: of 33 plans in replayed sessions that got sentences of earlier answers, one needed them.
    """
    if not ctx.settings.handover or is_routine(text) or text.startswith(PLAN):
        return None
    had = await handovers.in_context(ctx.database, session_id) | {*handed}
    if len(had) >= A_SESSION:
        return None
    words = text.strip()
    sessions = await handovers.finished_sessions(ctx.database, project_id, session_id, LOOKED_AT)
    known = [(session, _parsed(session.handover)) for session in sessions]
    given = await handovers.of_session(ctx.database, session_id)
    prompted = {one.from_id for one in given if _is_prompted(one)}
    in_full = {*handed, *(one.from_id for one in given if one.event == HANDED)}
    in_full |= {session.id for session in sessions if session.id in had and session.branch not in MAIN_BRANCHES}
    answered = [one for one in known if one[1].answers and one[0].id not in had & prompted]
    refused = await captures.rejected_texts(ctx.database, project_id) if answered else []
    if found := await _answer_to(ctx, words, list(_usable(answered, in_full, refused))):
        return found
    whole = _current([one for one in known if not one[1].answers], had)
    near = await asyncio.to_thread(likest, words, [story for _, story in whole], COMPARED)
    return await _best(ctx, words, whole, near)


def _is_prompted(given: handovers.Handover) -> bool:
    return not given.event.startswith("start/") and given.event != HANDED


@lru_cache(maxsize=LOOKED_AT)
def _parsed(stored: str) -> Handover:
    """Return a parsed hand-over. Cached, because each prompt is compared with all of them."""
    return Handover.from_json(stored)


@dataclass(frozen=True, slots=True)
class _Likely:
    """A sentence and the probability that it helps."""

    one: Compared
    chance: float


async def _answer_to(ctx: RecallContext, words: str, said: Sequence[tuple[Session, Answer]]) -> Left | None:
    """Return the sentences of the one answer that a prompt is about, as a hand-over; None if none is likely enough."""
    answers = [answer for _, answer in said]
    near = await asyncio.to_thread(closest, words, answers, time())
    near = [one for one in near if one.probability(NEAR, NEAR) >= LIKELY and _informs(answers[one.place], one.line)]
    likely = await _weighed(ctx, words, answers, near)
    best = max(likely, key=lambda found: found.chance, default=None)
    if best is None or best.chance < LIKELY:
        return None
    session, answer = said[best.one.place]
    beside = [found for found in likely if found.one.place == best.one.place and found.chance >= BESIDE]
    room = ANSWER_LENGTH - len(answer_head(session, answer.asked))
    chosen = _within(room, answer, sorted(beside, key=lambda found: -found.chance)[:SENTENCES])
    return Left(session, Handover(asked=answer.asked, reported=joined(chosen)), event=TOLD_SHORTLY)


def _within(room: int, answer: Answer, likely: Sequence[_Likely]) -> list[str]:
    """Return the likeliest sentences of an answer that fit into ``room`` characters, in their original order."""
    lines: list[int] = []
    for found in likely:
        length = len(quote(answer.told[found.one.line])) + len("; ")
        if length <= room:
            lines.append(found.one.line)
            room -= length
    return [answer.told[line] for line in sorted(lines)]


def _usable(known: Sequence[Known], had: Collection[str], refused: Sequence[str]) -> Iterator[tuple[Session, Answer]]:
    """Yield each answer with its session, reduced to the sentences that may be quoted.

    Left out are sentences that a person rejected, that can't be understood alone, or that the present session already
    got in a hand-over. ``had`` are the ids of the sessions whose hand-overs the present session got.
    """
    against = [folded for text in refused if (folded := _folded(text))]
    for session, story in known:
        reported = story.reported if session.id in had else ""
        for answer in story.answers:
            lines = (without_lines(one) for one in answer.told if one not in reported)
            kept = tuple(one for one in lines if stands_alone(one) and not _is_refused(_folded(one), against))
            yield session, replace(answer, told=kept)


def _informs(answer: Answer, line: int) -> bool:
    """Whether a sentence of an answer adds enough words to its request and is not only about tests."""
    sentence = answer.told[line]
    return not is_about_tests(sentence) and len(words_of(sentence) - words_of(answer.asked)) >= FEWEST_NEW_WORDS


def _is_refused(sentence: str, against: Sequence[str]) -> bool:
    return any(sentence in text or (text in sentence and len(text) >= SHORTEST_REFUSED) for text in against)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(". ")


async def _weighed(
    ctx: RecallContext, words: str, answers: Sequence[Answer], near: Sequence[Compared]
) -> list[_Likely]:
    """Return the likely sentences with their probabilities.

    If one sentence can't be embedded, the result is empty: a remote embedder that is slow once would be slow for each
    sentence. ``near`` begins with the best matches by words; sentences not reached in EMBEDDING_SECONDS are left out.
    """
    asked = await ctx.embed(words[:LONGEST]) if near else None
    found: list[_Likely] = []
    until = time() + EMBEDDING_SECONDS  # a replay stops this clock, so its result doesn't depend on speed
    for one in near if asked is not None else ():
        if time() > until:
            break
        answer = answers[one.place]
        vector = await ctx.embed(answer.told[one.line])
        if vector is None:
            return []
        cosine = float(asked @ vector)
        if one.probability(cosine, NEAR) >= BESIDE:
            vector = await ctx.embed(answer.asked) if answer.asked else None
            found.append(_Likely(one, one.probability(cosine, float(asked @ vector) if vector is not None else 0.0)))
    return found


def _current(known: Sequence[Known], had: Collection[str]) -> list[Known]:
    """Return the hand-overs, latest first, that are new to the session and that no later session made obsolete."""
    heard = {story.asked for session, story in known if session.id in had}
    return [
        (session, story)
        for place, (session, story) in enumerate(known)
        if story.asked not in {"", *heard} and (story.reported or story.done)
        if not any(_overtakes(later, story) for _, later in known[:place])
    ]


def _overtakes(later: Handover, story: Handover) -> bool:
    """Whether a later session changed most files of an earlier one, which makes the earlier hand-over outdated."""
    return 2 * len({*later.files} & {*story.files}) > len(story.files) > 0


async def _best(ctx: RecallContext, words: str, found: Sequence[Known], near: Sequence[Likeness]) -> Left | None:
    near = [one for one in near if one.probability(ORDINARY) >= WORTH_EMBEDDING]
    asked = await ctx.embed(words[:LONGEST]) if near else None
    if asked is None:
        return None
    likely = 0.0
    best: Likeness | None = None
    for one in near:
        vector = await ctx.embed(gist(found[one.place][1]))
        chance = one.probability(float(asked @ vector)) if vector is not None else 0.0
        if chance > likely:
            best, likely = one, chance
    return Left(*found[best.place]) if best is not None and likely >= USEFUL else None


async def changed_since(ctx: RecallContext, project_id: str, file: str, memories: Sequence[Memory]) -> dict[int, int]:
    """Return, by memory id, how many other sessions changed a file of this name after the memory was stated."""
    known = await handovers.finished_sessions(ctx.database, project_id, "", LOOKED_AT)
    changed = [session for session in known if file in Handover.from_json(session.handover).files]
    return {
        memory.id: sum(one.last_event_at > memory.said_at and one.id != memory.session_id for one in changed)
        for memory in memories
    }
