"""Lines of a transcript that claim to be typed, and that no hook of the client's handed over.

Any command can write such a line. Where hooks hand prompts over, what stands there besides waits for a person.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from time import time

from subconscious.flow.remembering import Judged
from subconscious.model import Act, Decision, Origin, Turn
from subconscious.store import events
from subconscious.store.rows import content_hash

from .core import Core
from .vouching import COMMANDED, VOUCHED, knows_session

HOOK_SECONDS = 2.0
"""Time that a prompt's hook has to hand over what the client has just written down: longer than any hook waits."""

UNTYPED = "no hook of the client handed its prompt over"
"""Why words wait that could be another's."""


async def may_be_forged(core: Core, session_id: str) -> bool:
    """Whether lines of a session need a hook that vouches for them. To be asked before its transcript is read.

    What is vouched for afterwards says nothing of the lines that were read: they stood there before it.
    """
    return not await knows_session(core, session_id) or bool(await _vouched_texts(core, session_id))


async def doubted(core: Core, session_id: str, turns: Sequence[Turn], *, first: bool = False) -> set[str]:
    """The ids of the turns that nobody vouches for.

    Of a session that no hook spoke for these are all; where hooks vouch for prompts, those that no hook handed over.
    Of the ``first`` that are read of a session, what stands before the first prompt that was handed over is believed:
    there was no daemon yet. Unless that was a command, of which no line tells where it stood. What was chosen in a
    dialog is no prompt, and no hook hears of it.
    """
    if not await knows_session(core, session_id):
        return {turn.id for turn in turns}
    told = await _vouched_texts(core, session_id)
    typed = [turn for turn in turns if turn.act is Act.NONE and turn.origin is Origin.USER and turn.text]
    known = [at for at, turn in enumerate(typed) if _is_vouched(core, session_id, turn, told)]
    if not (told or known):
        return set()
    begin = known[0] if first and known and COMMANDED not in told else 0
    return {turn.id for at, turn in enumerate(typed) if at >= begin and at not in known}


async def vouched_for(core: Core, session_id: str, turns: Sequence[Turn]) -> set[str]:
    """The ids of the turns that a hook handed over."""
    told = await _vouched_texts(core, session_id)
    return {turn.id for turn in turns if _is_vouched(core, session_id, turn, told)}


def _is_vouched(core: Core, session_id: str, turn: Turn, told: Collection[str]) -> bool:
    return content_hash(turn.text) in told or core.vouched.stored(session_id, turn.prompt_id, turn.text)


def fresh(turns: Sequence[Turn]) -> set[str]:
    """The ids of the turns that were typed a moment ago: who vouches for them may be on the way."""
    now = time()
    return {turn.id for turn in turns if now - HOOK_SECONDS < turn.time <= now}


async def _vouched_texts(core: Core, session_id: str) -> set[str]:
    """Digests of what was vouched for, to this daemon or to one before."""
    return await events.reasons(core.database, VOUCHED, "prompt", f"{session_id}/")


def waiting(judged: Sequence[Judged], doubtful: Collection[str]) -> list[Judged]:
    """Let candidates of such turns wait for a person."""
    return [hold(one, UNTYPED) if one[0].evidence.turn_id in doubtful else one for one in judged]


def hold(judged: Judged, reason: str) -> Judged:
    """What nobody vouches for is not kept at once."""
    candidate, admission = judged
    admission = replace(admission, reservation=reason, doubtful=True)
    if admission.decision is not Decision.AUTO:
        return candidate, admission
    return candidate, replace(admission, decision=Decision.REVIEW, reason=reason)
