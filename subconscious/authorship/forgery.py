"""Finds transcript lines that are marked as typed by the user, although no hook of the client reported them.

Any command can write such a line. If hooks report prompts of a session, every other line of that session that is marked
as typed waits for review. A report counts only if the daemon found that the client itself ran the hook.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from time import time

from subconscious.app import App
from subconscious.authorship.attestation import COMMANDED, EARLY, UNHEARD, VOUCHED, knows_session
from subconscious.domain.model import Act, Decision, Judged, Origin, Turn
from subconscious.store import events
from subconscious.store.rows import content_hash
from subconscious.transcripts.turn_builder import TYPED_MARK

HOOK_SECONDS = 2.0
"""The seconds after a prompt during which its hook may still be running; no hook takes longer."""

UNTYPED = "nothing confirms that you typed it: no hook of Claude Code reported this prompt"
"""The reason of a capture that waits for review because no hook of the client reported its prompt."""

WITH_REFUSAL = "typed while refusing a tool or a plan, which Claude Code reports to no hook, so nothing confirms it"
"""The reason for review if the transcript has the user's words in the result of a tool call."""

UNHEARD_PROMPT = "typed while the daemon was not running, so nothing confirms that you typed it"
"""The reason for review if the same prompt was spooled while no daemon was running."""


async def may_be_forged(app: App, session_id: str) -> bool:
    """Whether lines of a session's transcript that are marked as typed are trusted only if a hook reported them.

    Call this before reading the transcript: a prompt that is reported later says nothing about lines read earlier.
    """
    return not await knows_session(app, session_id) or bool(await _vouched_texts(app, session_id))


async def doubted(app: App, session_id: str, turns: Sequence[Turn], *, first: bool = False) -> set[str]:
    """Return the ids of the typed turns that no hook of the client reported.

    In a session without hooks, all turns are returned. If hooks ran but reported no prompt, none are. Otherwise, dialog
    choices are left out, because they run no hook.

    If ``first`` is true, ``turns`` are the first of the session that are read, and two other kinds are accepted:
    prompts that hooks wrote to the spool before any daemon ran, and turns before the first reported prompt, because no
    daemon may have been running yet. The second kind is not accepted if a hook reported a command: the transcript does
    not show commands as prompts, so the command may have been typed before these turns.
    """
    if not await knows_session(app, session_id):
        return {turn.id for turn in turns}
    vouched = await _vouched_texts(app, session_id)
    typed = [turn for turn in turns if turn.act is Act.NONE and turn.origin is Origin.USER and turn.text]
    known = [at for at, turn in enumerate(typed) if _is_vouched(app, session_id, turn, vouched)]
    if not (vouched or known):
        return set()
    begin = known[0] if first and known and COMMANDED not in vouched else 0
    early = await _texts(app, EARLY, session_id) if first else set()
    doubtful = [turn for at, turn in enumerate(typed) if at >= begin and at not in known]
    return {turn.id for turn in doubtful if content_hash(turn.text) not in early}


async def vouched_for(app: App, session_id: str, turns: Sequence[Turn]) -> set[str]:
    """Return the ids of the turns that a hook reported."""
    vouched = await _vouched_texts(app, session_id)
    return {turn.id for turn in turns if _is_vouched(app, session_id, turn, vouched)}


def _is_vouched(app: App, session_id: str, turn: Turn, vouched: Collection[str]) -> bool:
    return content_hash(turn.text) in vouched or app.sessions.vouched.stored(session_id, turn.prompt_id, turn.text)


def fresh(turns: Sequence[Turn]) -> set[str]:
    """Return the ids of the turns typed in the last ``HOOK_SECONDS``: their hooks may still be running."""
    now = time()
    return {turn.id for turn in turns if now - HOOK_SECONDS < turn.time <= now}


async def _vouched_texts(app: App, session_id: str) -> set[str]:
    """Return a digest for each prompt of a session that a hook reported, to this daemon or to an earlier one."""
    return await _texts(app, VOUCHED, session_id)


async def _texts(app: App, mark: str, session_id: str) -> set[str]:
    return await events.reasons_of(app.database, mark, "prompt", f"{session_id}/")


def waiting(judged: Sequence[Judged], doubtful: Mapping[str, str]) -> list[Judged]:
    """Return all candidates; those from doubtful turns are marked with the reason, and wait for a person's review."""
    turns = [one[0].evidence.turn_id for one in judged]
    return [hold(one, doubtful[turn]) if turn in doubtful else one for turn, one in zip(turns, judged, strict=True)]


async def reasons(app: App, session_id: str, turns: Sequence[Turn], doubtful: Collection[str]) -> dict[str, str]:
    """Return, by turn id, why no hook reported each doubtful turn; a general reason if the cause is unknown."""
    unheard = await _texts(app, UNHEARD, session_id) if doubtful else set()
    return {turn.id: _reason(turn, unheard) for turn in turns if turn.id in doubtful}


def _reason(turn: Turn, unheard: Collection[str]) -> str:
    if turn.id.endswith(TYPED_MARK):
        return WITH_REFUSAL
    return UNHEARD_PROMPT if content_hash(turn.text) in unheard else UNTYPED


def hold(judged: Judged, reason: str) -> Judged:
    """Return a candidate marked as doubtful; instead of being stored at once, it waits for review."""
    candidate, admission = judged
    admission = replace(admission, reservation=reason, doubtful=True)
    if admission.decision is not Decision.AUTO:
        return candidate, admission
    return candidate, replace(admission, decision=Decision.REVIEW, reason=reason)
