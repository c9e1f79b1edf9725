"""What was said last in each session, for prompts that lean on it: in memory alone, and not for long."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import TypeVar

from subconscious.model import Role, Turn
from subconscious.search.rewriting import LETTERS, MESSAGES

SECONDS = 30 * 60.0
"""Time after which talk is over: nobody leans on what they said before lunch."""
SESSIONS = 100

Note = TypeVar("Note")


class Lately:
    """The last messages of the sessions that spoke last."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._said: OrderedDict[str, deque[tuple[float, str]]] = OrderedDict()
        self._asked: OrderedDict[str, str] = OrderedDict()
        self._shown: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._told: OrderedDict[str, list[str]] = OrderedDict()

    def hear(self, session_id: str, turns: Iterable[Turn]) -> None:
        """Take note of what people and the assistant said; what tools print is no talk."""
        said = [turn.text[-LETTERS:] for turn in turns if turn.role is not Role.TOOL and turn.text.strip()]
        if not said:
            return
        kept = self._said.setdefault(session_id, deque(maxlen=MESSAGES))
        kept.extend((self._clock(), text) for text in said)
        self._said.move_to_end(session_id)
        while len(self._said) > SESSIONS:
            self._said.popitem(last=False)

    def ask(self, session_id: str, prompt: str) -> None:
        """Take note of the prompt that a session works on: its line in the transcript is read later."""
        self._asked[session_id] = prompt
        self._asked.move_to_end(session_id)
        while len(self._asked) > SESSIONS:
            self._asked.popitem(last=False)

    def asked(self, session_id: str) -> str:
        """The prompt that a session works on, however long that takes; "" where it is not known."""
        return self._asked.get(session_id, "")

    def has_asked(self, session_id: str) -> bool:
        """Whether a prompt of the session is known, or must have been: it was resumed or compacted."""
        return session_id in self._asked

    def messages(self, session_id: str) -> Sequence[str]:
        """What was said there last, the latest last."""
        now = self._clock()
        return [text for at, text in self._said.get(session_id, ()) if now - at < SECONDS]

    def show(self, session_id: str, capture_ids: Sequence[int]) -> None:
        """Take note of the captures that a session's person was shown, in their order there."""
        _keep(self._shown, session_id, tuple(capture_ids))

    def shown(self, session_id: str) -> Sequence[int]:
        """The captures of the list that was shown last."""
        return self._shown.get(session_id, ())

    def tell(self, session_id: str, text: str) -> None:
        """Keep what the model has to hear with the next prompt: the command that it comes from began no turn."""
        _keep(self._told, session_id, [*self._told.get(session_id, ()), text][-MESSAGES:])

    def untold(self, session_id: str) -> Sequence[str]:
        """What the model has not heard yet; it is given once."""
        return self._told.pop(session_id, ())

    def clear(self) -> None:
        """Forget everything: something is purged, and it may have been said here."""
        for notes in (self._said, self._asked, self._shown, self._told):
            notes.clear()

    def forget(self, session_id: str) -> None:
        """The session has begun anew."""
        self._said.pop(session_id, None)
        self._asked.pop(session_id, None)
        self._told.pop(session_id, None)


def _keep(notes: OrderedDict[str, Note], session_id: str, note: Note) -> None:
    notes[session_id] = note
    notes.move_to_end(session_id)
    while len(notes) > SESSIONS:
        notes.popitem(last=False)
