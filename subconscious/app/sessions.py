"""The state of sessions that the daemon keeps in memory only: verified prompts, questions, suppressed memories."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import time
from typing import Any

from subconscious.context.decision_codes import Codes
from subconscious.context.entry import Entry
from subconscious.domain.model import Role, Turn
from subconscious.framing.rules import Held
from subconscious.recall.recent_turns import RecentTurns
from subconscious.settings.settings import KEYS, PREFIX
from subconscious.wire.fields import fields_of
from subconscious.wire.sessions import SuppressedMemory

REMEMBERED = 10_000
"""The most verified prompts that are kept, which is more than a user types while one daemon runs."""

MOST_SESSIONS = 100
"""The most sessions for which shown questions are kept."""

SUPPRESSED_SESSIONS = 100
MOST_SUPPRESSED = 50
"""The most suppressed memories that are kept for each session."""

MOST_TRANSCRIPTS = 50
MOST_TURNS = 2000
"""The most turns that are kept of one exchange (a prompt and what followed it); the oldest are dropped."""

Mark = tuple[str, str, bytes]
"""A prompt: the session's id, the prompt's id, and a digest of the prompt's words."""


class Vouched:
    """The prompts that a hook of the user's own client sent while this daemon ran.

    The stored text of a prompt is redacted, so its digest differs from the digest of the prompt itself.
    """

    def __init__(self) -> None:
        self._prompts: OrderedDict[Mark, None] = OrderedDict()
        self._stored: OrderedDict[Mark, None] = OrderedDict()
        self._deciding: OrderedDict[Mark, str] = OrderedDict()
        self._sessions: OrderedDict[str, str] = OrderedDict()

    def add(self, entry: Entry) -> None:
        """Record that a prompt, and so its session, was verified."""
        self.add_session(entry.payload.session_id)
        _keep(self._prompts, _mark_of(entry))

    def add_decision(self, entry: Entry, doubt: str) -> None:
        """Record why a decision in a prompt needs a code; "" if it needs none."""
        _keep(self._deciding, _mark_of(entry), doubt)

    def doubt_of_decision(self, entry: Entry) -> str:
        """Return why a decision in a prompt needs a code to count as a person's; "" if it needs none."""
        return self._deciding.get(_mark_of(entry), "the request did not come from a hook of a running session")

    def add_session(self, session_id: str, client: str = "") -> None:
        """Record that a hook of ``client`` verified the session; "" keeps the client that was recorded before."""
        _keep(self._sessions, session_id, client or self.client_of(session_id))

    def client_of(self, session_id: str) -> str:
        """Return the name of the client whose hook was the last to verify a session; "" if no hook has verified it."""
        return self._sessions.get(session_id, "")

    def knows_session(self, session_id: str) -> bool:
        """Return whether a session was verified."""
        return session_id in self._sessions

    def add_stored(self, entry: Entry, text: str) -> None:
        """Record that the stored text of a prompt was verified."""
        _keep(self._stored, _mark(entry.payload.session_id, entry.payload.prompt_id, text))

    def __contains__(self, entry: Entry) -> bool:
        return _mark_of(entry) in self._prompts

    def stored(self, session_id: str, prompt_id: str, text: str) -> bool:
        """Return whether the stored text of a prompt was verified."""
        return _mark(session_id, prompt_id, text) in self._stored


def _keep(marks: OrderedDict[Any, Any], mark: Any, value: str | None = None) -> None:
    marks[mark] = value
    if len(marks) > REMEMBERED:
        marks.popitem(last=False)


def _mark_of(entry: Entry) -> Mark:
    return _mark(entry.payload.session_id, entry.payload.prompt_id, entry.payload.prompt.strip())


def _mark(session_id: str, prompt_id: str, text: str) -> Mark:
    return session_id, prompt_id, sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Shown:
    """A question shown at a session's start (whether one memory replaces another), and the client that showed it."""

    link_id: int
    client: str


class Questions:
    """Sessions that were shown a question and have had no prompt yet, and the prompts that answered a question."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, Shown] = OrderedDict()
        self._answers: OrderedDict[str, None] = OrderedDict()

    def show(self, session_id: str, shown: Shown) -> None:
        """Record that a session was shown a question."""
        self._shown[session_id] = shown
        if len(self._shown) > MOST_SESSIONS:
            self._shown.popitem(last=False)

    def take(self, session_id: str) -> Shown | None:
        """Return the question that a session was shown, and remove it; None if there is none."""
        return self._shown.pop(session_id, None)

    def note_answer(self, entry: Entry) -> None:
        """Record that a prompt answered a question."""
        self._answers[entry.name] = None
        if len(self._answers) > MOST_SESSIONS:
            self._answers.popitem(last=False)

    def is_answer(self, entry: Entry) -> bool:
        """Return whether a prompt answered a question. The client writes such a prompt to no transcript."""
        return entry.name in self._answers


class Suppressed:
    """The latest memories that a limit suppressed (kept out of a session's context), for the latest sessions."""

    def __init__(self) -> None:
        self._suppressed: OrderedDict[str, deque[SuppressedMemory]] = OrderedDict()

    def note(self, session_id: str, event: str, held: Sequence[Held]) -> None:
        """Record the memories that were suppressed at an event."""
        if not held:
            return
        kept = self._suppressed.setdefault(session_id, deque(maxlen=MOST_SUPPRESSED))
        at = time()
        kept.extend(fields_of(SuppressedMemory, one, session_id=session_id, event=event, at=at) for one in held)
        self._suppressed.move_to_end(session_id)
        while len(self._suppressed) > SUPPRESSED_SESSIONS:
            self._suppressed.popitem(last=False)

    def of(self, session_id: str | None = None, memory_id: int | None = None) -> list[SuppressedMemory]:
        """Return the memories suppressed in a session, or the times that a memory was suppressed, latest first."""
        found = [
            one
            for session, kept in self._suppressed.items()
            for one in kept
            if session_id in (None, session) and memory_id in (None, one["memory_id"])
        ]
        return sorted(found, key=lambda one: -one["at"])


MOST_KEYED_SESSIONS = 256
"""The most sessions for which keys are kept. The keys of the least recent session are dropped; that session sends them
again with its next prompt."""

SHARED = frozenset({"embedder_key"})
"""Settings with one key for all sessions: one embedder makes the vectors of all."""


class SessionKeys:
    """Keys by session and setting. They are never written or logged."""

    def __init__(self) -> None:
        self._keys: OrderedDict[str, dict[str, str]] = OrderedDict()

    def put(self, session_id: str, secrets: Mapping[str, str]) -> bool:
        """Replace the keys of a session; return whether they changed.

        A key among the plugin's options takes priority over the variable of the same setting.
        """
        before, now = self._keys.pop(session_id, {}), _own(secrets)
        if now:
            self._keys[session_id] = now
        if len(self._keys) > MOST_KEYED_SESSIONS:
            self._keys.popitem(last=False)
        return now != before

    def of(self, session_id: str) -> Mapping[str, str]:
        """Return the keys of a session, by setting."""
        return self._keys.get(session_id, {})

    @property
    def sessions(self) -> list[str]:
        """The sessions with keys."""
        return list(self._keys)

    @property
    def all(self) -> set[str]:
        """All keys."""
        return {key for keys in self._keys.values() for key in keys.values()}


def _own(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the keys in a session's variables, by setting. Keys that the plugin's options also set are left out."""
    variables = {name.removeprefix(PREFIX).lower(): key for name, key in secrets.items() if name.startswith(PREFIX)}
    return {name: key for name, key in variables.items() if name in KEYS - SHARED and key and not secrets.get(name)}


@dataclass(frozen=True, slots=True)
class _Exchange:
    offset: int
    turns: tuple[Turn, ...]


class RunningExchanges:
    """The turns of each transcript's last exchange (a prompt and what followed it), as far as it has been read.

    A transcript is read while it grows. The last reply of a turn is often written after the hook that reports the end
    of the turn, so it is read in a batch of its own, without the prompt that it answers and the edits that it reports.
    """

    def __init__(self) -> None:
        self._running: OrderedDict[str, _Exchange] = OrderedDict()

    def before(self, path: str, offset: int) -> tuple[Turn, ...]:
        """Return the turns of the running exchange; none unless the transcript was read up to exactly this offset."""
        known = self._running.get(path)
        return known.turns if known is not None and known.offset == offset else ()

    def is_answered(self, path: str) -> bool:
        """Whether the last turn that was read from a transcript is text of the assistant; False if nothing was read."""
        known = self._running.get(path)
        last = known.turns[-1] if known is not None and known.turns else None
        return last is not None and last.role is Role.ASSISTANT and bool(last.text)

    def note(self, path: str, offset: int, turns: Sequence[Turn]) -> None:
        """Store the turns of a transcript's last exchange, after the transcript was read up to an offset."""
        self._running[path] = _Exchange(offset, tuple(turns[-MOST_TURNS:]))
        self._running.move_to_end(path)
        while len(self._running) > MOST_TRANSCRIPTS:
            self._running.popitem(last=False)

    def clear(self) -> None:
        """Drop all turns."""
        self._running.clear()


class Sessions:
    """The state of all sessions. None of it survives the daemon."""

    def __init__(self) -> None:
        self.vouched = Vouched()
        self.questions = Questions()
        self.suppressed = Suppressed()
        self.recent_turns = RecentTurns()
        self.running_exchanges = RunningExchanges()
        self.keys = SessionKeys()
        # Decisions that wait for a code, which a person reads in a terminal.
        self.codes = Codes()
        # Sessions whose keys have changed, "" for all of them: their work no longer has to wait for a key.
        self.rekeyed: set[str] = set()
        # Names of spool entries written before the daemon listened (their hooks are not verified), except doubted ones.
        self.unheard: set[str] = set()
        # The session that was resumed last in each project. The client reports a fork as a resumption of its parent;
        # the fork's own id first appears with its first prompt.
        self.resumed: dict[str, str] = {}
