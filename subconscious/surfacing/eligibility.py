"""Decides which memories a session may be given proactively."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from subconscious.capture.draft import PRACTISED
from subconscious.claude_files.known_statements import NO_STATEMENTS
from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory, Origin
from subconscious.recall.recall_context import RecallContext
from subconscious.recall.understanding import ParsedQuery
from subconscious.store.filters import Filter
from subconscious.store.responses import Responses
from subconscious.supersession.retirement import holding_hits
from subconscious.surfacing.bound import is_repair
from subconscious.surfacing.portfolio import MOST_UNHEEDED
from subconscious.text.vocabulary import IMPERATIVES

_LASTS = re.compile(
    r"\b(?:always|never|every ?time|whenever|wherever|from now on|in future|must|no longer|prefer|convention"
    r"|policy|don['\u2019]?t|do not|(?:should|shall|may) not|shouldn['\u2019]?t"
    r"|immer|nie|niemals|jede[rsn]?|siempre|nunca|toujours|jamais)\b",
    re.IGNORECASE,
)
"""Words that make a statement valid beyond its task."""

MOST_UNHEEDED_REPAIRS, MOST_PATIENCE = 2, 3
"""Sessions without a response after which a repair rests, until a session needs it again, and how many more at most.

Few sessions need it in one project and every second one in another, so each earlier response adds one session.
"""

STATED_WORDS = 12
"""Words of a memory that are looked for in a prompt: whole statements are often followed by what capture adds."""

_WORD = re.compile(r"\w+")

_ANSWERS = "(asked: "
"""The words before the question that an answer belongs to, as capture writes them."""

_FOR_THE_TASK = re.compile(
    r"\A\W*(?:(?:ok|okay|and|so|but|also|now|then|yes|no)\W+)*"
    r"(?:let['\u2019]?s|let us|we (?:should|(?:need|have) to)|(?:can|could) (?:you|we)|please|i want"
    r"|i(?:['\u2019]d| would) like|for (?:this|the) (?:pr|task|branch|change|feature))\b|\bthe new\b|\(asked: "
    r"|\bthis (?:is|was|has|can|could|will|would|should|does|won['\u2019]?t|isn['\u2019]?t|doesn['\u2019]?t)\b",
    re.IGNORECASE,
)
"""Wordings of a wish about the current work, or of something that was in view when it was said."""


def unasked(text: str) -> ParsedQuery:
    """Return a proactive search: without Claude's own notes, which the client loads itself."""
    return ParsedQuery(text, Filter(notes=False))


async def told_elsewhere(ctx: RecallContext, hits: Sequence[Hit]) -> dict[int, str]:
    """Return the memories among hits that a file loaded by the client states, each with that file."""
    if ctx.client_texts is NO_STATEMENTS or not hits:
        return {}
    sources = await asyncio.to_thread(
        lambda: {hit.memory.id: ctx.client_texts.source(hit.memory.content, loaded=True) for hit in hits}
    )
    return {number: source for number, source in sources.items() if source}


def is_finding(memory: Memory) -> bool:
    """Whether a memory is a finding of a session that no person confirmed."""
    return memory.origin is not Origin.USER and not memory.verified and not memory.pinned


def is_for_one_task(memory: Memory) -> bool:
    """Whether a user said something for one task: a wish or an answer without a word that makes it lasting."""
    settled = memory.pinned or memory.verified or memory.recurrence > 1 or memory.origin is not Origin.USER
    said = memory.content.partition(_ANSWERS)[0]  # the question may contain such words, too
    return not settled and bool(_FOR_THE_TASK.search(memory.content)) and not _LASTS.search(said)


def is_standing(memory: Memory) -> bool:
    """Whether a rule of a user is for all work: a correction of how one thing is helps only work on that thing.

    A preference always is. A lesson is if it tells what to do or says so, if it was repeated, or if a person confirmed
    it.
    """
    settled = memory.pinned or memory.verified or memory.recurrence > 1
    first = _WORD.search(memory.content.casefold())
    instructs = first is not None and first[0] in IMPERATIVES
    return memory.kind != "lesson" or settled or instructs or bool(_LASTS.search(memory.content))


def is_fact(memory: Memory) -> bool:
    """Whether a user stated once how something is, and did not ask for anything to be done."""
    settled = memory.pinned or memory.verified or memory.recurrence > 1
    stated = memory.kind == "learning" or (memory.kind == "lesson" and not is_standing(memory))
    return stated and memory.origin is Origin.USER and not settled


def is_stated_in(prompt: str, memory: Memory) -> bool:
    """Whether a prompt contains the words with which a memory begins: the user says it again right now."""
    stated = _WORD.findall(memory.content.casefold())[:STATED_WORDS]
    typed = " ".join(_WORD.findall(prompt.casefold()))
    return bool(stated) and f" {' '.join(stated)} " in f" {typed} "


def is_heard(memory: Memory, known: Responses) -> bool:
    """Whether sessions respond to a memory, so that it does not rest. Pinned memories never rest.

    Sessions show a habit without having been given it, so showing it is no response.
    """
    if is_repair(memory):
        responses = known.used + known.repeated + known.violated
        return memory.pinned or known.unheeded < MOST_UNHEEDED_REPAIRS + min(MOST_PATIENCE, responses)
    given = known.given if memory.extractor == PRACTISED else known.unheeded
    return memory.pinned or given < MOST_UNHEEDED


def fits_a_start(memory: Memory, sure: float) -> bool:
    """Whether a session may start with a memory: not with a finding that only one session made.

    Two sessions must have made it, or a person confirmed it. Prompts and files may bring other findings.
    """
    return not is_finding(memory) or memory.recurrence > 1 or memory.confidence >= sure


async def fit_to_start(ctx: RecallContext, hits: Sequence[Hit], project_id: str) -> list[Hit]:
    """Return the hits that a session may start with: in force, certain enough, and not stated in loaded files."""
    sure = [hit for hit in hits if fits_a_start(hit.memory, ctx.settings.auto_threshold)]
    in_force = await holding_hits(ctx, sure, project_id)
    elsewhere = await told_elsewhere(ctx, in_force)
    return [hit for hit in in_force if hit.memory.id not in elsewhere]
