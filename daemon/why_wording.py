"""Has the provider's model word why something is so: for a person at the terminal, and not for long."""

from __future__ import annotations

import asyncio
import logging

from subconscious.consolidate import why
from subconscious.errors import ProviderError
from subconscious.model import Trust

from .core import Core
from .reasoning import Explanation

log = logging.getLogger("subconscious.daemon")

SECONDS = 12.0
"""Time that a person waits for the words; the chains of reasons are shown without them."""


async def worded(core: Core, question: str, found: Explanation, project_id: str) -> str:
    """Return the answer in words; "" if no model may be asked, none answers in time, or there is nothing to word."""
    hits = [hit for hit in found.hits.values() if hit.repute is None or hit.repute.trust is not Trust.SUSPECT]
    notes = [hit.memory for hit in hits][: why.MOST_NOTES]
    if len(notes) < 2 or not (core.settings.refine and core.llm.may_ask()):
        return ""
    try:
        async with asyncio.timeout(SECONDS):
            answer = await core.llm.ask(why.request(question, notes, found.steps), project_id=project_id)
    except (ProviderError, TimeoutError) as error:
        log.info("why something is so is shown without a model's words: %s", error or "no answer in time")
        return ""
    return why.wording(answer, notes) if isinstance(answer, why.Worded) else ""
