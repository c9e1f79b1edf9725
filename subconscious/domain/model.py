"""The values that all features exchange: memories, captures, turns, links, sessions.

Times are seconds since the epoch (float); offsets are in bytes; confidences are from 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Origin(StrEnum):
    """The author of a text. Values are listed from the most to the least trusted."""

    USER = "user"
    ASSISTANT = "assistant"
    TEAMMATE = "teammate"
    """Another person, who shared the memory through Git or a team's store."""
    TOOL = "tool"

    @property
    def is_foreign(self) -> bool:
        """Whether neither the user nor the assistant is the author, so that a person must approve the text."""
        return self in (Origin.TEAMMATE, Origin.TOOL)

    @property
    def distrust(self) -> int:
        """A rank of distrust: 0 for the most trusted origin, larger for less trusted ones."""
        return list(Origin).index(self)

    @classmethod
    def least_trusted(cls, *origins: Origin) -> Origin:
        """Return the least trusted of some origins, for a text made from several texts, such as a summary."""
        return max(origins, key=lambda origin: origin.distrust)


CLAUDE_NOTE = "claude-note"
"""The extractor of memories that are copies of Claude Code's own notes. SQL compares this string."""


class Role(StrEnum):
    """The speaker of a turn, as recorded in the transcript."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Act(StrEnum):
    """An action of the user in a turn, besides typing."""

    NONE = ""
    APPROVED = "approved"
    """The user approved a plan of the assistant; the turn's text is the plan."""
    ANSWERED = "answered"
    """The user answered the assistant's questions; the turn's text has one question and answer per line."""


class Strength(StrEnum):
    """How explicitly a statement was made. This determines its initial confidence, which rules then adjust."""

    EXPLICIT = "explicit"
    IMPLIED = "implied"
    INFERRED = "inferred"

    @property
    def prior(self) -> float:
        """The initial confidence: 0.9, 0.7 or 0.5."""
        return {Strength.EXPLICIT: 0.9, Strength.IMPLIED: 0.7, Strength.INFERRED: 0.5}[self]


class Decision(StrEnum):
    """The decision of the admission gate on a candidate."""

    AUTO = "auto"
    REVIEW = "review"
    QUARANTINE = "quarantine"
    """The candidate looks like an attack and is isolated until a person releases it from quarantine."""
    DISCARD = "discard"


class Scope(StrEnum):
    """Where a memory applies: in its project, or in all projects of the user."""

    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message in a transcript, without spans that the user marked as private and without context that hooks added.

    ``id`` is the client's uuid of the transcript line; it stays the same when a resumed or forked session repeats the
    line. ``start`` and ``end`` are the line's byte range in ``file``. ``prompt_id`` is the client's id of the prompt,
    as in the hook's payload; "" with older clients. The ``text`` of a tool turn is empty: tool output is large and
    never captured directly. ``commands`` and ``files`` belong to the tool calls in an assistant's turn, or to the calls
    that a tool's turn answers, without calls that the user refused. ``failed`` means that the tool returned an error.
    ``before`` is the last part of the assistant's message to which the user may be replying. ``shown`` is an excerpt of
    tool calls or their output, if requested, for context; no evidence may be quoted from it.
    """

    id: str
    session_id: str
    role: Role
    origin: Origin
    text: str
    time: float
    file: str
    start: int
    end: int
    branch: str = ""
    cwd: str = ""
    sidechain: bool = False
    after_interrupt: bool = False
    prompt_id: str = ""
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    failed: bool = False
    act: Act = Act.NONE
    before: str = ""
    shown: str = ""

    @property
    def quotable_text(self) -> str:
        """The text from which evidence may be quoted: the message and the commands."""
        return "\n".join((self.text, *self.commands))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim span of a turn, shown to the user as the source of a memory."""

    quote: str
    turn_id: str
    file: str
    start: int
    end: int


MODELS = "model-"
"""The prefix of the names of extractors that use a language model."""

OBSERVED_ONCE, OBSERVED_OFTEN = "observed-once-1", "observed-1"
"""The extractors of memories about failed tool calls: those seen in one session, and those seen in several."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may be worth remembering; the admission gate decides whether it is stored."""

    kind: str
    summary: str
    content: str
    evidence: Evidence
    origin: Origin
    strength: Strength
    raw_confidence: float
    extractor: str
    time: float
    scope: Scope = Scope.PROJECT
    reason: str = ""
    rationale: str = ""
    sentiment: str = "neutral"
    branch: str = ""
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    support: str = ""
    """Further quotes that a model gave as evidence. Only the model's review of the candidate uses them; not stored."""

    @property
    def by_model(self) -> bool:
        """Whether a language model proposed the candidate; if so, a second call to the model reviews it."""
        return self.extractor.startswith(MODELS)


class Level(StrEnum):
    """How dangerous a text looks. Values are listed from the least to the most dangerous."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """A rank of danger: 0 for none, larger for worse levels."""
        return list(Level).index(self)

    def shifted(self, steps: int) -> Level:
        """Return the level that is ``steps`` worse (better if negative), but at least LOW; NONE stays NONE."""
        levels = list(Level)
        return self if self is Level.NONE else levels[max(1, min(self.rank + steps, len(levels) - 1))]


class Threat(StrEnum):
    """The kind of attack that a poisoned text attempts."""

    INSTRUCTION = "instruction injection"
    AUTHORITY = "authority claim"
    EXFILTRATION = "exfiltration"
    CODE = "code injection"
    SOCIAL = "social engineering"
    REINFORCEMENT = "self-reinforcement"
    TEMPORAL = "temporal trick"
    CONTRADICTION = "contradiction"
    MISMATCH = "source mismatch"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the poisoning check: the threat, its level, the reason, and the position in the text.

    ``part`` is the name of a candidate's field; ``start`` and ``end`` are character offsets in that field.
    """

    rule: str
    threat: Threat
    level: Level
    why: str
    part: str = "content"
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of the poisoning check, with the version of the ``rules`` that it used."""

    level: Level = Level.NONE
    findings: tuple[Finding, ...] = ()
    rules: str = ""

    @property
    def threats(self) -> tuple[Threat, ...]:
        """The kinds of threats found, the worst first."""
        worst = sorted(self.findings, key=lambda finding: -finding.level.rank)
        return tuple(dict.fromkeys(finding.threat for finding in worst))


BY_CONFIDENCE = "confidence "
"""The beginning of the admission gate's reason if only the confidence decided."""

PROBABLY = "it was probably meant to last: "
"""The prefix of the admission gate's reason if a statement may become an unconfirmed memory."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The decision of the admission gate on a candidate. ``verdict`` is None before the poisoning check has run.

    ``reservation`` is the reason why sessions must not receive the statement before a person confirms it; "" means that
    they may, None that this was not checked. ``doubtful`` means that it is uncertain whether a person typed the text,
    ``weak`` that only the low confidence counted against the candidate.
    """

    decision: Decision
    confidence: float
    reason: str
    verdict: Verdict | None = None
    reservation: str | None = None
    doubtful: bool = False
    weak: bool = False

    @property
    def is_unsure(self) -> bool:
        """Whether the confidence alone is the reason why the candidate waits for review or was discarded."""
        undecided = self.decision in (Decision.REVIEW, Decision.DISCARD)
        return undecided and self.reason.removeprefix(PROBABLY).startswith(BY_CONFIDENCE)


class Relation(Enum):
    """The relation of a statement to an earlier one; ``ENDS``: the new statement only withdraws the earlier one."""

    SAME = "same"
    REPLACES = "replaces"
    ENDS = "ends"
    MAY_REPLACE = "may replace"
    NEITHER = "neither"


Judged = tuple[Candidate, Admission]
"""A candidate and the result of the admission gate for it."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored statement with its origin: who stated it, when, and in which session.

    ``created_at`` is when the memory was stored, and never changes. ``said_at`` is when it was last stated: a
    repetition moves it, and an imported memory has the time of its session.
    """

    id: int
    project_id: str | None
    scope: Scope
    kind: str
    category: str
    summary: str
    content: str
    origin: Origin
    confidence: float
    raw_confidence: float
    extractor: str
    created_at: float
    said_at: float
    content_hash: str
    rationale: str = ""
    sentiment: str = "neutral"
    verified: bool = False
    pinned: bool = False
    recurrence: int = 1
    uses: int = 0
    last_used_at: float | None = None
    archived_at: float | None = None
    agent: str = ""
    session_id: str | None = None
    turn_id: str = ""
    transcript: str = ""
    evidence: str = ""
    byte_start: int = 0
    byte_end: int = 0
    branch: str = ""
    commit: str = ""
    intent: str = ""
    embedding_status: str = "pending"
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    unconfirmed: bool = False

    @property
    def is_claude_note(self) -> bool:
        """Whether the memory is the searchable copy of one of Claude Code's own notes."""
        return self.extractor == CLAUDE_NOTE


@dataclass(frozen=True, slots=True)
class Link:
    """A link between two memories; ``type`` is the name of a type in `link_types`, read from source to target.

    ``status`` is ``active``, ``proposed`` (shown, but not used in rankings), ``refused`` (rejected by a person, so not
    proposed again) or ``withdrawn`` (by a model's review, or because a session or a memory was withdrawn).
    """

    id: int
    source_id: int
    target_id: int
    type: str
    status: str
    confidence: float
    created_by: str
    evidence: str
    created_at: float

    def other(self, memory_id: int) -> int:
        """Return the id of the linked memory that is not ``memory_id``."""
        return self.target_id if memory_id == self.source_id else self.source_id


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a coding agent, as the daemon has recorded it."""

    id: str
    project_id: str
    transcript: str
    cwd: str
    status: str
    started_at: float
    last_event_at: float
    ended_at: float | None = None
    end_reason: str = ""
    branch: str = ""
    first_prompt: str = ""
    last_prompt: str = ""
    turns: int = 0
    options: str = "{}"
    title: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    left_open: str = ""
    handover: str = ""
