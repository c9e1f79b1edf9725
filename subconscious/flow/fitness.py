"""Says which memories a session may be given without asking for them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from subconscious.capture.draft import PRACTISED
from subconscious.claude_files.told import NOTHING
from subconscious.flow.holding import holding_hits
from subconscious.flow.mind import Mind
from subconscious.model import Hit, Memory, Origin
from subconscious.search.understanding import Wanted
from subconscious.store.filters import Filter
from subconscious.store.responses import Responses
from subconscious.surfacing.portfolio import MOST_UNHEEDED

_LASTS = re.compile(
    r"\b(?:always|never|every ?time|whenever|wherever|from now on|in future|must|no longer|prefer|convention"
    r"|policy|don['\u2019]?t|do not|(?:should|shall|may) not|shouldn['\u2019]?t"
    r"|immer|nie|niemals|jede[rsn]?|siempre|nunca|toujours|jamais)\b",
    re.IGNORECASE,
)
"""Words that make a statement hold beyond its task."""

_ANSWERS = "(asked: "
"""How capture marks the question that an answer belongs to."""

_FOR_THE_TASK = re.compile(
    r"\A\W*(?:(?:ok|okay|and|so|but|also|now|then|yes|no)\W+)*"
    r"(?:let['\u2019]?s|let us|we should|(?:can|could) (?:you|we)|please|i(?:['\u2019]d| would) like|i want"
    r"|for (?:this|the) (?:pr|task|branch|change|feature))\b|\bthe new\b|\(asked: ",
    re.IGNORECASE,
)
"""How a wish about the work at hand is worded."""


def unasked(text: str) -> Wanted:
    """What is looked for when nobody asked: not Claude's own notes, which the client loads itself."""
    return Wanted(text, Filter(notes=False))


async def told_elsewhere(mind: Mind, hits: Sequence[Hit]) -> dict[int, str]:
    """The memories among hits that the client itself tells every session, each with the file that says so."""
    if mind.elsewhere is NOTHING or not hits:
        return {}
    sources = await asyncio.to_thread(
        lambda: {hit.memory.id: mind.elsewhere.source(hit.memory.content, loaded=True) for hit in hits}
    )
    return {number: source for number, source in sources.items() if source}


def is_finding(memory: Memory) -> bool:
    """Whether a memory is what a session found out, and no person stands for it."""
    return memory.origin is not Origin.USER and not memory.verified and not memory.pinned


def is_for_one_task(memory: Memory) -> bool:
    """Whether a user said something for the task at hand: a wish or an answer without a word that makes it last."""
    settled = memory.pinned or memory.verified or memory.recurrence > 1 or memory.origin is not Origin.USER
    said = memory.content.partition(_ANSWERS)[0]  # the question may have such words, too
    return not settled and bool(_FOR_THE_TASK.search(memory.content)) and not _LASTS.search(said)


def is_heard(memory: Memory, known: Responses) -> bool:
    """Whether sessions respond to a memory, so that it need not rest; a person's pin outweighs that nobody does.

    Sessions show a habit without having been given it, so showing it is no response.
    """
    told = known.given if memory.extractor == PRACTISED else known.unheeded
    return memory.pinned or told < MOST_UNHEEDED


def fits_a_start(memory: Memory, sure: float) -> bool:
    """Whether a session may start with a memory: not with a finding that one session made and another one used.

    Two sessions must have found it, or a person stands for it. What prompts and files bring is not affected.
    """
    return not is_finding(memory) or memory.recurrence > 1 or memory.confidence >= sure


async def fit_to_start(mind: Mind, hits: Sequence[Hit], project_id: str) -> list[Hit]:
    """The hits that a session may start with: in force, sure enough, and not told by the client's own files."""
    sure = [hit for hit in hits if fits_a_start(hit.memory, mind.settings.auto_threshold)]
    in_force = await holding_hits(mind, sure, project_id)
    elsewhere = await told_elsewhere(mind, in_force)
    return [hit for hit in in_force if hit.memory.id not in elsewhere]
