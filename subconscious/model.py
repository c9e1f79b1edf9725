"""The values that the rooms hand each other: frozen, typed, without behaviour beyond what can be derived.

Times are seconds since the epoch (UTC, float); offsets are bytes; confidences lie in 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Origin(StrEnum):
    """Whose words they are. Listed from the most to the least trusted."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"

    @property
    def distrust(self) -> int:
        """0 for the most trusted origin; the greater wins when words of two origins meet."""
        return list(Origin).index(self)

    @classmethod
    def least_trusted(cls, *origins: Origin) -> Origin:
        """Whose words they are when words of several are made one: in a merge, a quote, a summary."""
        return max(origins, key=lambda origin: origin.distrust)


CLAUDE_NOTE = "claude-note"
"""The extractor of memories that are copies of Claude Code's own notes; SQL compares it by its text."""


class Role(StrEnum):
    """The speaker of a turn, as the transcript has it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Act(StrEnum):
    """What a person did in a turn, where that says more than the words."""

    NONE = ""
    APPROVED = "approved"
    """A plan of the assistant's was let through; the turn's text is the plan."""
    ANSWERED = "answered"
    """Questions of the assistant's were answered; the turn's text is questions and answers, one pair a line."""


class Strength(StrEnum):
    """How outright a thing was said; gives the offline prior of its confidence."""

    EXPLICIT = "explicit"
    IMPLIED = "implied"
    INFERRED = "inferred"

    @property
    def prior(self) -> float:
        """The raw confidence before refinement: .9, .7, .5."""
        return {Strength.EXPLICIT: 0.9, Strength.IMPLIED: 0.7, Strength.INFERRED: 0.5}[self]


class Decision(StrEnum):
    """What the gate says of a candidate."""

    AUTO = "auto"
    REVIEW = "review"
    QUARANTINE = "quarantine"
    """It looks like an attack: kept apart, until a person lets it go."""
    DISCARD = "discard"


class Scope(StrEnum):
    """Where a memory holds: in its project, or everywhere for this user."""

    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of a transcript, already free of private spans and of our own injected text.

    ``id`` is the client's uuid of the line: resumed and forked sessions repeat lines, uuids don't change.
    ``start`` and ``end`` are the line's byte range in ``file``.
    ``prompt_id`` is the client's id of the prompt, shared with the hook's payload; older clients have none.
    ``text`` of a tool turn is empty unless it is asked for: tool output is large and never captured outright.
    ``commands`` are the shell commands that an assistant's turn runs, or a tool's turn answers, less what a person
    refused; ``files`` likewise.
    ``failed`` says that a tool's turn brings an error. ``act`` is what a person did besides typing. ``before`` is the
    end of what the assistant had said when a person typed: what their words may answer. ``shown`` is what may be told
    of tools as context where that is asked for; nobody may quote it.
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
    def heard(self) -> str:
        """All that a quote of this turn may be taken from: what was said, and the commands given."""
        return "\n".join((self.text, *self.commands))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim span of a turn: what a person is shown when they ask why this is remembered."""

    quote: str
    turn_id: str
    file: str
    start: int
    end: int


MODELS = "model-"
"""How the names of the extractors begin that ask a model of language."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that might be worth remembering; the gate decides."""

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

    @property
    def by_model(self) -> bool:
        """Whether a model of language found it: it may have believed what it read, and is asked a second time."""
        return self.extractor.startswith(MODELS)


class Level(StrEnum):
    """How dangerous a text looks. Listed from the least to the most."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for none; the greater is the worse."""
        return list(Level).index(self)

    def shifted(self, steps: int) -> Level:
        """The level so many steps worse, or better where ``steps`` is negative; none stays none."""
        levels = list(Level)
        return self if self is Level.NONE else levels[max(1, min(self.rank + steps, len(levels) - 1))]


class Threat(StrEnum):
    """What a poisoned text tries."""

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
    """One finding against a text: the threat, its level, the reason, and its position.

    ``part`` names the part of the candidate, ``start`` and ``end`` are characters of it as it was given.
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
    """What the poisoning check says of a text, under which ``rules``; an expected outcome, so a value."""

    level: Level = Level.NONE
    findings: tuple[Finding, ...] = ()
    rules: str = ""

    @property
    def threats(self) -> tuple[Threat, ...]:
        """The classes found, the worst first."""
        worst = sorted(self.findings, key=lambda finding: -finding.level.rank)
        return tuple(dict.fromkeys(finding.threat for finding in worst))


@dataclass(frozen=True, slots=True)
class Admission:
    """The gate's answer: an expected outcome, so a value. ``verdict`` is None while nothing was checked yet.

    ``reservation`` says why it may not be given before it is confirmed: "" if nothing speaks against it, None if that
    was not looked at. ``doubtful``: nobody vouches that a person typed it. ``weak``: nothing but its confidence spoke
    against it.
    """

    decision: Decision
    confidence: float
    reason: str
    verdict: Verdict | None = None
    reservation: str | None = None
    doubtful: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered, with its whole provenance."""

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
        """Whether it is the searchable copy of one of Claude Code's own notes, which follows that file."""
        return self.extractor == CLAUDE_NOTE


@dataclass(frozen=True, slots=True)
class Link:
    """How one memory bears on another; ``type`` is a row of `link_types`, read from source to target.

    ``status``: ``active``, ``proposed`` (shown, but counted in nothing), ``refused`` (a person said no, so it is not
    proposed again) or ``withdrawn`` (with a memory that was taken back).
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
        """The end that is not ``memory_id``."""
        return self.target_id if memory_id == self.source_id else self.source_id


class Trust(StrEnum):
    """How far a memory can be trusted. Listed from the most to the least."""

    VERIFIED = "VERIFIED"
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"
    SUSPECT = "SUSPECT"


@dataclass(frozen=True, slots=True)
class Repute:
    """What is known of a memory besides itself: trust, what it conflicts with, what took its place.

    ``stale``: for long neither said nor used.
    """

    trust: Trust
    conflicts: tuple[int, ...] = ()
    superseded_by: tuple[int, ...] = ()
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """One session of the client, as the daemon knows it."""

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


@dataclass(frozen=True, slots=True)
class EngineHit:
    """One engine's view of one hit: its 1-based rank and its own raw score (higher is better)."""

    engine: str
    rank: int
    score: float


PRIORITY_WEIGHT = 0.15
"""What a priority of 1 adds to a rank, and one of -1 takes from it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found: how relevant it is, its decay factor, and how each engine saw it.

    ``relevance`` (0..1) is calibrated: it means the same for every query, and thresholds apply to it.
    ``rank`` (0..1) compares the hits of one query alone. ``priority`` (-1..1) is what answers made of it.
    ``repute`` is None where nobody looked.
    """

    memory: Memory
    relevance: float
    decay: float
    engines: tuple[EngineHit, ...] = ()
    rank: float = 0.0
    priority: float = 0.0
    repute: Repute | None = None

    @property
    def score(self) -> float:
        """What orders the hits: decay and priority order, they never filter."""
        return self.rank * self.decay * (1.0 + PRIORITY_WEIGHT * self.priority)

    @property
    def cosine(self) -> float:
        """How near it is by meaning; 0 where no engine has compared that."""
        return next((engine.score for engine in self.engines if engine.engine == "vector"), 0.0)


@dataclass(frozen=True, slots=True)
class Surface:
    """One memory given to one session, and why.

    ``about`` is the file it was given for; ``limits`` tells in JSON how the limits stood; ``trigger_id`` names what the
    memory itself says of when it is due.
    """

    session_id: str
    event: str
    at: float
    memory_id: int
    content_hash: str
    position: int
    reason: str
    relevance: float
    decay: float
    engines: tuple[EngineHit, ...] = field(default=())
    about: str = ""
    priority: float = 0.0
    limits: str = "{}"
    trigger_id: int | None = None
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a call to a model was charged for.

    Of ``input``, ``cached`` were read from the provider's cache and ``written`` to it. ``cost`` is in US dollars where
    the provider itself tells it (Claude Code does), else None: unknown, never 0.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float | None = None
    written: int = 0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            (self.cost or 0) + (other.cost or 0) if known else None,
            self.written + other.written,
        )
