"""Requests for the choice of a model: its cost, a trial, and the approval of the setting."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from subconscious.app import App
from subconscious.app.reconfigure import put_in_force
from subconscious.app.request import Handler
from subconscious.capture.llm_extraction import extractor, refinement
from subconscious.capture.llm_extraction.chunks import Chunk, chunks, tokens
from subconscious.capture.llm_extraction.proposals import Answer
from subconscious.context.approval import accept_only
from subconscious.context.arguments import Args
from subconscious.domain.errors import ProviderError, RequestError, TranscriptError
from subconscious.domain.model import Decision, Session
from subconscious.imports.with_model import ANSWER_TOKENS, measure_of
from subconscious.llm.client import LLMClient
from subconscious.llm.providers import PROVIDERS, Usage
from subconscious.llm.providers.prices import price
from subconscious.poisoning.suspicions import noted, of_verdict
from subconscious.redaction.cleaning import clean
from subconscious.settings.provider_table import provider_row
from subconscious.settings.settings import Settings, load_settings
from subconscious.store import sessions
from subconscious.system.programs import find_program
from subconscious.transcripts import read_turns
from subconscious.wire.daemon import ChangedSettings
from subconscious.wire.imports import ModelOffer, SetupPlanResult, SetupTryResult, TrialStatement

APPROVED = ("provider",)
"""The guarded settings that the choice of a model approves; other changes in config.toml still wait for approval."""


class ModelSetup(Handler):
    """Requests for the choice of a model."""

    # A trial sends text of a session to the provider, so only a person may request it; the same goes for the approval.
    personal: ClassVar[frozenset[str]] = frozenset({"setup_try", "setup_accept"})
    decides: ClassVar[str] = "which model sessions are sent to"

    async def cmd_setup_plan(self, args: Args) -> SetupPlanResult:
        """Return how many tokens of a session a model would receive, and the cost. Sends nothing."""
        return await plan(self.app, (await self.here(args)).id)

    async def cmd_setup_try(self, args: Args) -> SetupTryResult:
        """Have a provider read the last session, without storing the result."""
        return await trial(self.app, (await self.here(args)).id, args.provider)

    async def cmd_setup_accept(self, args: Args) -> ChangedSettings:
        """Approve the provider that is set in config.toml."""
        settings = load_settings(self.app.home.root)
        if settings.provider != args.provider:
            raise RequestError(
                f"the `provider` setting is {settings.provider!r}, not {args.provider!r}",
                "unset the variable SUBCONSCIOUS_PROVIDER, which has priority over config.toml",
            )
        values = await accept_only(self.app.database, settings, self.app.config.accepted, APPROVED)
        self.app.settings = settings
        return {"changed": await put_in_force(self.app, values)}


SESSIONS_READ = 20
"""How many of a project's latest sessions are measured."""

MAX_READ_BYTES = 16 << 20
"""The most bytes of a transcript that are read to measure it."""

SECOND_LOOK_USAGE = Usage(2_400, 900)
"""Sent and received tokens of the call that reviews a session at its end (`python -m bench.model_tokens`)."""

USUAL_TOKENS = (9_300, 22_000)
"""Tokens of a session, median and 95th percentile, measured by `python -m bench.model_tokens`."""

MIN_SESSIONS = 3
"""The minimum number of measured sessions; with fewer, typical figures are shown instead of the project's own."""


@dataclass(frozen=True, slots=True)
class SessionTokens:
    """The tokens of a session that are sent to a model, and the tokens of the model's answers."""

    input: int
    output: int

    @property
    def total(self) -> int:
        """The sum of the sent tokens and the tokens of the answers."""
        return self.input + self.output


async def plan(app: App, project_id: str) -> SetupPlanResult:
    """Return the tokens of a project's sessions (median, 95th percentile), and each provider's cost for the median."""
    known = await sessions.listing(app.database, project_id, SESSIONS_READ)
    measured = await asyncio.to_thread(
        _tokens_of_sessions, [Path(one.transcript) for one in known if one.transcript], app.llm.settings
    )
    default = SessionTokens(USUAL_TOKENS[0] - ANSWER_TOKENS, ANSWER_TOKENS)
    is_measured = len(measured) >= MIN_SESSIONS
    median = _percentile(measured, 0.5) if is_measured else default
    return {
        "sessions": len(measured),
        "measured": is_measured,
        "median": median.total,
        "most": _percentile(measured, 0.95).total if is_measured else USUAL_TOKENS[1],
        "provider": app.llm.settings.provider,
        "tokens_per_day": app.llm.settings.claude_code_tokens_per_day,
        "cost_per_day": app.llm.settings.cost_per_day,
        "offers": [_offer(name, app.llm.settings, median) for name in PROVIDERS if provider_row(name).about],
    }


def _tokens_of_sessions(paths: Sequence[Path], settings: Settings) -> list[SessionTokens]:
    """Return the tokens of each existing transcript, lowest first; a transcript without text to send counts as zero."""
    found = [_tokens_of_session(path, settings) for path in paths if path.is_file()]
    return sorted(found, key=lambda one: one.total)


def _tokens_of_session(path: Path, settings: Settings) -> SessionTokens:
    read = [one for one in _chunks(path, settings) if one.speaks]
    if not read:
        return SessionTokens(0, 0)
    asked = [extractor.request(chunk, [], settings.model_scores) for chunk in read]
    sent = sum(len(one.system) + len(one.text) for one in asked) // 4
    return SessionTokens(sent + SECOND_LOOK_USAGE.input, ANSWER_TOKENS * len(read) + SECOND_LOOK_USAGE.output)


def _chunks(path: Path, settings: Settings) -> list[Chunk]:
    try:
        reading = read_turns(path, 0, final=True, max_bytes=MAX_READ_BYTES, clean=clean, tool_excerpts=True)
    except TranscriptError:
        return []
    return list(chunks(reading.turns, measure_of(settings)))


def _percentile(measured: Sequence[SessionTokens], share: float) -> SessionTokens:
    return measured[min(len(measured) - 1, int(share * len(measured)))] if measured else SessionTokens(0, 0)


def _offer(name: str, settings: Settings, measured: SessionTokens) -> ModelOffer:
    """Return what a session costs with a provider, and whether the provider's key or program is missing."""
    row, provider_settings = provider_row(name), settings.of_provider(name)
    model_name, url = provider_settings.get("model") or row.default, provider_settings.get("url", "")
    return {
        "provider": name,
        "model": model_name,
        "cost": price(name, model_name, Usage(measured.input, measured.output), base_url=url),
        "about": row.about,
        "lacks_key": row.needs_key(url) and not provider_settings.get("key"),
        "found": not row.program or bool(provider_settings.get("command") or find_program(row.program)),
    }


async def trial(app: App, project_id: str, provider: str) -> SetupTryResult:
    """Have a provider read the first part of the last session; return the statements that would be stored or queued.

    Only the cost of the call is stored. If the call fails, the result contains the error.
    """
    if provider not in PROVIDERS:
        raise RequestError(f"there is no provider {provider!r}", f"providers are: {', '.join(PROVIDERS)}")
    settings = app.config.for_trial(provider)
    session, chunk = await _latest_session(app, project_id, settings)
    client = LLMClient(app.database, settings, app.llm.opener)
    try:
        return await _try(app, client, session, chunk) if chunk else await _check_provider(client, provider)
    except ProviderError as error:
        return {"session": "", "found": [], "code": error.code, "error": error.message, "remedy": error.remedy}
    finally:
        await client.close()


async def _check_provider(client: LLMClient, provider: str) -> SetupTryResult:
    """Check that the provider can be reached, when there is no session for a trial. Raises ProviderError."""
    error = (await client.check())[provider]
    if error is not None:
        raise error
    return {"session": "", "found": [], "error": "", "remedy": ""}


async def _latest_session(app: App, project_id: str, settings: Settings) -> tuple[Session | None, Chunk | None]:
    """Return the latest session with text to send, and the first chunk of that text; (None, None) if there is none."""
    for session in await sessions.listing(app.database, project_id, SESSIONS_READ):
        path = Path(session.transcript)
        found = await asyncio.to_thread(_chunks, path, settings) if session.transcript and path.is_file() else []
        if chunk := next((one for one in found if one.speaks), None):
            return session, chunk
    return None, None


async def _try(app: App, client: LLMClient, session: Session | None, chunk: Chunk) -> SetupTryResult:
    assert session is not None  # noqa: S101 - there is a chunk of it
    ctx = app.recall_context()
    request = await refinement.ask_of(ctx, chunk, session.project_id)
    answered = await client.answer(request, session.id, session.project_id)
    assert isinstance(answered.value, Answer)  # noqa: S101 - the request's schema
    name = extractor.extractor(answered.provider, answered.model)
    judged = await asyncio.to_thread(refinement.judge, ctx, answered.value, chunk, name)
    statements: list[TrialStatement] = [
        {"content": one.content, "kind": one.kind, "origin": one.origin, **noted(of_verdict(admission.verdict))}
        for one, admission in judged
        if admission.decision in (Decision.AUTO, Decision.REVIEW)
    ]
    title = session.title or session.first_prompt
    return {"session": title, "tokens": tokens(chunk.fresh), "found": statements, "error": "", "remedy": ""}
