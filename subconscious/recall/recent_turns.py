"""Keeps the last messages of each session in memory for half an hour, for prompts that refer to them."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import TypeVar

from subconscious.domain.model import Role, Turn
from subconscious.recall.rewriting import LETTERS, MESSAGES

SECONDS = 30 * 60.0
"""The seconds after which a message is no longer used: prompts rarely refer to anything older."""
SESSIONS = 100

Value = TypeVar("Value")


class RecentTurns:
    """The last messages, prompts and lists of captures of the most recently active sessions."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._messages: OrderedDict[str, deque[tuple[float, str]]] = OrderedDict()
        self._prompts: OrderedDict[str, str] = OrderedDict()
        self._captures: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._notes: OrderedDict[str, list[str]] = OrderedDict()
        self._noted: OrderedDict[str, bool] = OrderedDict()

    def add(self, session_id: str, turns: Iterable[Turn]) -> None:
        """Store the messages of users and assistants; tool output is left out."""
        said = [turn.text[-LETTERS:] for turn in turns if turn.role is not Role.TOOL and turn.text.strip()]
        if not said:
            return
        kept = self._messages.setdefault(session_id, deque(maxlen=MESSAGES))
        kept.extend((self._clock(), text) for text in said)
        self._messages.move_to_end(session_id)
        while len(self._messages) > SESSIONS:
            self._messages.popitem(last=False)

    def set_prompt(self, session_id: str, prompt: str) -> None:
        """Store the prompt that a session works on: its transcript line is read only later."""
        _keep(self._prompts, session_id, prompt)

    def prompt(self, session_id: str) -> str:
        """Return the prompt that a session works on, of any age; "" if unknown."""
        return self._prompts.get(session_id, "")

    def has_prompt(self, session_id: str) -> bool:
        """Whether the session has had a prompt: a prompt is known, or the session was resumed or compacted."""
        return session_id in self._prompts

    def messages(self, session_id: str) -> Sequence[str]:
        """Return the session's messages of the last half hour, the latest last."""
        now = self._clock()
        return [text for at, text in self._messages.get(session_id, ()) if now - at < SECONDS]

    def set_listed_captures(self, session_id: str, capture_ids: Sequence[int]) -> None:
        """Store the captures that were listed for the user of a session, in the order of the list."""
        _keep(self._captures, session_id, tuple(capture_ids))

    def listed_captures(self, session_id: str) -> Sequence[int]:
        """Return the ids of the captures that were listed last."""
        return self._captures.get(session_id, ())

    def add_note(self, session_id: str, text: str, once: str = "") -> None:
        """Store a note that the model must get with the next prompt, because the command that wrote it started no turn.

        A command can run twice, for its hook and for the job of its spool entry. ``once`` is the name of the entry: the
        note is stored once for it.
        """
        if once and once in self._noted:
            return
        _keep(self._noted, once, True)
        _keep(self._notes, session_id, [*self._notes.get(session_id, ()), text][-MESSAGES:])

    def pop_notes(self, session_id: str) -> Sequence[str]:
        """Return the notes for the model, and remove them."""
        return self._notes.pop(session_id, ())

    def clear(self) -> None:
        """Remove everything, because a purged text may be contained in it."""
        for texts in (self._messages, self._prompts, self._captures, self._notes):
            texts.clear()

    def forget(self, session_id: str) -> None:
        """Remove the messages, prompt and notes of a session that was cleared."""
        self._messages.pop(session_id, None)
        self._prompts.pop(session_id, None)
        self._notes.pop(session_id, None)


def _keep(values: OrderedDict[str, Value], session_id: str, value: Value) -> None:
    values[session_id] = value
    values.move_to_end(session_id)
    while len(values) > SESSIONS:
        values.popitem(last=False)
