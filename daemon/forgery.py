"""Lines of a transcript that claim to be typed, and that no hook of the client's handed over (SPEC N13).

Any command can write such a line. Where hooks hand prompts over, what stands there besides waits for a person.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from subconscious.flow.remembering import Judged
from subconscious.model import Act, Decision, Origin, Turn
from subconscious.store import events
from subconscious.store.rows import content_hash

from .core import Core

VOUCHED = "vouched"
"""The event by which a prompt is a person's, whichever daemon heard of it."""

UNTYPED = "no hook of the client handed its prompt over"
"""Why words wait that could be another's."""


async def doubted(core: Core, session_id: str, turns: Sequence[Turn], *, whole: bool) -> set[str]:
    """The ids of the turns that nobody vouches for, in a session in which hooks do vouch.

    Of a ``whole`` transcript what stands before the first prompt that was handed over is believed: there was no daemon
    yet. What was chosen in a dialog is no prompt, and no hook hears of it.
    """
    told = await events.reasons(core.database, VOUCHED, "prompt", f"{session_id}/")
    typed = [turn for turn in turns if turn.act is Act.NONE and turn.origin is Origin.USER and turn.text]
    known = [
        at
        for at, turn in enumerate(typed)
        if content_hash(turn.text) in told or core.vouched.stored(session_id, turn.prompt_id, turn.text)
    ]
    if not (told or known):
        return set()
    begin = known[0] if whole and known else 0
    return {turn.id for at, turn in enumerate(typed) if at >= begin and at not in known}


def waiting(judged: Sequence[Judged], doubtful: Collection[str]) -> list[Judged]:
    """Let candidates of such turns wait for a person."""
    return [hold(one, UNTYPED) if one[0].evidence.turn_id in doubtful else one for one in judged]


def hold(judged: Judged, reason: str) -> Judged:
    """What nobody vouches for is not kept at once."""
    candidate, admission = judged
    if admission.decision is not Decision.AUTO:
        return judged
    return candidate, replace(admission, decision=Decision.REVIEW, reason=reason)
