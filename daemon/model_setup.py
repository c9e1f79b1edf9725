"""Choosing a model: what a session of this project would cost with it, and a trial on the last one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subconscious import refining
from subconscious.capture import model
from subconscious.capture.chunks import Chunk, chunks, tokens
from subconscious.capture.proposals import Answer
from subconscious.errors import ProviderError, RequestError, TranscriptError
from subconscious.flow.remembering import clean
from subconscious.llm.client import LLMClient
from subconscious.model import Decision, Session
from subconscious.programs import find_program
from subconscious.provider_table import provider_row
from subconscious.providers import PROVIDERS, Usage
from subconscious.providers.prices import price
from subconscious.settings import Settings
from subconscious.store import sessions
from subconscious.transcripts import read_turns

from .core import Core
from .import_model import ANSWERED, measure_of

LOOKED_AT = 20
"""The latest sessions of a project of which is told what a model would be sent."""

LONGEST_READ = 16 << 20
"""Bytes of a transcript that are read for that."""

LAST_QUESTION = Usage(2_400, 900)
"""Tokens of the question at a session's end and of its answer, by `python -m bench.model_tokens`."""

USUAL = (9_300, 22_000)
"""Tokens of a session, median and 95 %, of the sessions that `python -m bench.model_tokens` was run on."""

ENOUGH = 3
"""Sessions of a project from which its own figures are told instead."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a model takes of one session: tokens that are sent, and that it answers."""

    input: int
    output: int

    @property
    def total(self) -> int:
        """Both together."""
        return self.input + self.output


async def plan(core: Core, project_id: str) -> dict[str, Any]:
    """Say what a session of a project takes, and what each provider would ask for that; nothing is sent."""
    known = await sessions.listing(core.database, project_id, LOOKED_AT)
    taken = await asyncio.to_thread(
        _taken_of, [Path(one.transcript) for one in known if one.transcript], core.llm.settings
    )
    usual = Taken(USUAL[0] - ANSWERED, ANSWERED)
    own = len(taken) >= ENOUGH
    middle = _at(taken, 0.5) if own else usual
    return {
        "sessions": len(taken),
        "measured": own,
        "median": middle.total,
        "most": _at(taken, 0.95).total if own else USUAL[1],
        "provider": core.llm.settings.provider,
        "tokens_per_day": core.llm.settings.claude_code_tokens_per_day,
        "cost_per_day": core.llm.settings.cost_per_day,
        "offers": [_offer(name, core.llm.settings, middle) for name in PROVIDERS if provider_row(name).about],
    }


def _taken_of(paths: Sequence[Path], settings: Settings) -> list[Taken]:
    """What sessions take, the least first; those of which nothing would be sent count, too, and those gone do not."""
    found = [_taken(path, settings) for path in paths if path.is_file()]
    return sorted(found, key=lambda one: one.total)


def _taken(path: Path, settings: Settings) -> Taken:
    read = [one for one in _chunks(path, settings) if one.speaks]
    if not read:
        return Taken(0, 0)
    asked = [model.request(chunk, [], settings.model_scores) for chunk in read]
    sent = sum(len(one.system) + len(one.text) for one in asked) // 4
    return Taken(sent + LAST_QUESTION.input, ANSWERED * len(read) + LAST_QUESTION.output)


def _chunks(path: Path, settings: Settings) -> list[Chunk]:
    try:
        reading = read_turns(path, 0, final=True, max_bytes=LONGEST_READ, clean=clean, glimpses=True)
    except TranscriptError:
        return []
    return list(chunks(reading.turns, measure_of(settings)))


def _at(taken: Sequence[Taken], share: float) -> Taken:
    return taken[min(len(taken) - 1, int(share * len(taken)))] if taken else Taken(0, 0)


def _offer(name: str, settings: Settings, taken: Taken) -> dict[str, Any]:
    """What one provider would ask for a session, and whether anything is missing for it."""
    row, own = provider_row(name), settings.of_provider(name)
    sold, url = own.get("model") or row.default, own.get("url", "")
    return {
        "provider": name,
        "model": sold,
        "cost": price(name, sold, Usage(taken.input, taken.output), base_url=url),
        "about": row.about,
        "lacks_key": row.needs_key(url) and not own.get("key"),
        "found": not row.program or bool(own.get("command") or find_program(row.program)),
    }


async def trial(core: Core, project_id: str, provider: str) -> dict[str, Any]:
    """Have a provider read the first part of the last session, and say what would become of what it finds.

    Nothing is stored but what the call cost. A provider that can't be asked is no error: why not is the answer.
    """
    if provider not in PROVIDERS:
        raise RequestError(f"there is no provider {provider!r}", f"providers are: {', '.join(PROVIDERS)}")
    settings = core.settings_for_trial(provider)
    session, chunk = await _last_read(core, project_id, settings)
    client = LLMClient(core.database, settings, core.llm.opener)
    try:
        return await _tried(core, client, session, chunk) if chunk else await _reached(client, provider)
    except ProviderError as error:
        return {"session": "", "found": [], "code": error.code, "error": error.message, "remedy": error.remedy}
    finally:
        await client.close()


async def _reached(client: LLMClient, provider: str) -> dict[str, Any]:
    """There is no session to try it on: see whether it can be asked at all."""
    error = (await client.check())[provider]
    if error is not None:
        raise error
    return {"session": "", "found": [], "error": "", "remedy": ""}


async def _last_read(core: Core, project_id: str, settings: Settings) -> tuple[Session | None, Chunk | None]:
    """The latest session in which something was said, and its first part."""
    for session in await sessions.listing(core.database, project_id, LOOKED_AT):
        path = Path(session.transcript)
        found = await asyncio.to_thread(_chunks, path, settings) if session.transcript and path.is_file() else []
        if chunk := next((one for one in found if one.speaks), None):
            return session, chunk
    return None, None


async def _tried(core: Core, client: LLMClient, session: Session | None, chunk: Chunk) -> dict[str, Any]:
    assert session is not None  # noqa: S101 - there is a chunk of it
    mind = core.mind()
    request = await refining.ask_of(mind, chunk, session.project_id)
    answered = await client.answer(request, session.id, session.project_id)
    assert isinstance(answered.value, Answer)  # noqa: S101 - the request's schema
    name = model.extractor(answered.provider, answered.model)
    judged = await asyncio.to_thread(refining.judge, mind, answered.value, chunk, name)
    kept = [one for one, admission in judged if admission.decision in (Decision.AUTO, Decision.REVIEW)]
    told = [{"content": one.content, "kind": one.kind, "origin": one.origin} for one in kept]
    title = session.title or session.first_prompt
    return {"session": title, "tokens": tokens(chunk.fresh), "found": told, "error": "", "remedy": ""}
