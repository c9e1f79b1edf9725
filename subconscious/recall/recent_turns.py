"""Keeps the last messages of each session in memory for half an hour, for prompts that refer to them.

`completed` adds words from these messages to a prompt such as "and why?". No model is used: the few most important
words of the last messages are added, names before other words, later messages before earlier ones. A prompt that is
long enough, or that asks nothing ("thanks", "go on"), is left unchanged.
"""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import TypeVar

from subconscious.domain.model import Role, Turn
from subconscious.text.codewords import code_parts
from subconscious.text.terms import names, terms

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
        """Store the prompt that a session works on, because its transcript line is read only later."""
        _keep(self._prompts, session_id, prompt)

    def prompt(self, session_id: str) -> str:
        """Return the prompt that a session works on, however old it is; "" if unknown."""
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

        A command can run twice, for its hook and for the job of its spool entry. ``once`` is that entry's name: of
        several notes with the same ``once``, only the first is stored.
        """
        if once and once in self._noted:
            return
        _keep(self._noted, once, True)
        _keep(self._notes, session_id, [*self._notes.get(session_id, ()), text][-MESSAGES:])

    def pop_notes(self, session_id: str) -> Sequence[str]:
        """Return the notes for the model, and remove them."""
        return self._notes.pop(session_id, ())

    def clear(self) -> None:
        """Remove all messages, prompts, lists and notes, because they may contain purged text."""
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


MESSAGES = 5
"""The number of earlier messages that are searched for words."""
ENOUGH = 4
"""A prompt with at least this many terms is complete: no words are added."""
ADDED = 4
"""The most words that are added."""
LETTERS = 2000
"""The most characters at the end of a message that are read, because a prompt responds to the end."""
NAMED = 3.0
FADE = 0.6
"""The weight of a message relative to the next later message."""

_BACK = re.compile(
    r"^\W*+(?:and|but|so|then|also|or|why|how come|what about|how about|what if|really|since when|who decided)\b"
    r"|\b(?:it|its|that|this|those|these|they|them|there|one|same|former|latter|instead|again|before|earlier|above)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?|^\W*+(?:(?:and|but|so)\W*+)?(?:why|how|what|where|when|which|who|is|are|was|were|do|does|did|can|could|should|would"
    r"|remind|explain|tell|show|recall|remember)\b",
    re.IGNORECASE,
)


def completed(prompt: str, before: Sequence[str]) -> str:
    """Return ``prompt`` with words added from the messages ``before`` it (latest last) if the prompt refers to them."""
    own = terms(prompt)
    if len(own) >= ENOUGH or not (_BACK.search(prompt[:LETTERS]) and _ASKS.search(prompt[:LETTERS])):
        return prompt
    messages = [message[-LETTERS:] for message in before[-MESSAGES:]]
    added = [word for word in _weighed(messages) if word not in own]
    return " ".join((prompt, *(_as_written(word, messages) for word in added[:ADDED])))


def _weighed(messages: Sequence[str]) -> list[str]:
    """Return the case-folded words of messages, most important first; an identifier replaces its parts."""
    weights: defaultdict[str, float] = defaultdict(float)
    parts: set[str] = set()
    for age, message in enumerate(reversed(messages)):
        parts.update(code_parts(message).casefold().split())
        for word in terms(message):
            weights[word] += FADE**age
        for name in names(message):
            weights[name] += NAMED * FADE**age
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return [word for word, _ in ordered if word not in parts]


def _as_written(word: str, messages: Sequence[str]) -> str:
    """Return a word as the latest message that contains it spells it, because capitals mark a name.

    A word that is in no message is returned unchanged.
    """
    for message in reversed(messages):
        if found := re.search(re.escape(word), message, re.IGNORECASE):
            return found[0]
    return word
