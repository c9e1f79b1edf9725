"""What keeps a memory that fits from being given unasked: pure, and each with its reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from subconscious.model import Hit, Memory

WORTH_TELLING = 0.4
"""Relevance from which it is told why a memory was held back: below, it was not about the same thing."""

TWICE = "another memory says the same in the same words"


@dataclass(frozen=True, slots=True)
class Given:
    """One memory that a session was given unasked: when, and what it was about (a file, or nothing in particular)."""

    memory_id: int
    at: float
    about: str = ""
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """One memory that fits and is not given, and why."""

    memory_id: int
    relevance: float
    why: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What is in force; ``about`` 0 means that what is given for one file is not counted apart."""

    session: int
    about: int
    at_once: int
    cooldown: float
    relevance: float
    kinds_off: tuple[str, ...] = ()
    characters: int = 1 << 30
    """Of all memories that the session is given, together."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a session has: what stands in its context by hash, and what it was given unasked."""

    session_id: str
    ledger: Collection[str] = ()
    given: Sequence[Given] = ()


@dataclass(frozen=True, slots=True)
class Sifted:
    """What may be given, best first, and what is held back."""

    fit: tuple[Hit, ...]
    held: tuple[Held, ...]


def room(limits: Limits, seen: Seen, about: str = "") -> int:
    """How many memories may be given now."""
    left = min(limits.at_once, limits.session - len(seen.given)) if characters_left(limits, seen) else 0
    if about and limits.about:
        left = min(left, limits.about - sum(one.about == about for one in seen.given))
    return max(0, left)


def characters_left(limits: Limits, seen: Seen) -> int:
    """How many characters of memories the session may still be given."""
    return max(0, limits.characters - sum(one.characters for one in seen.given))


def sift(
    hits: Sequence[Hit],
    limits: Limits,
    seen: Seen,
    now: float,
    about: str = "",
    elsewhere: Mapping[int, str] = MappingProxyType({}),
) -> Sifted:
    """Part what may be given from what is held back; ``elsewhere`` names files that tell the session a memory."""
    left = room(limits, seen, about)
    fit: list[Hit] = []
    held: list[Held] = []
    worded: set[str] = set()  # two memories may have one wording: of two kinds, of the project and of the user
    for hit in hits:
        why = _against(hit, limits, seen, now)
        why = why or (f"{elsewhere[hit.memory.id]} says it already" if hit.memory.id in elsewhere else "")
        why = why or (TWICE if hit.memory.content_hash in worded else "")
        if not why and len(fit) < left:
            fit.append(hit)
            worded.add(hit.memory.content_hash)
        elif hit.relevance >= WORTH_TELLING:
            held.append(Held(hit.memory.id, hit.relevance, why or _full(limits, seen, about)))
    return Sifted(tuple(fit), tuple(held))


def told(limits: Limits, seen: Seen, about: str = "") -> dict[str, str]:
    """The limits in force, as they stood before something was given."""
    stood = {
        "session": f"{len(seen.given)} of {limits.session}",
        "cooldown": f"{limits.cooldown / 60:g} minutes",
        "relevance": f"{limits.relevance:g}",
    }
    if about and limits.about:
        stood["file"] = f"{sum(one.about == about for one in seen.given)} of {limits.about}"
    return stood


def _against(hit: Hit, limits: Limits, seen: Seen, now: float) -> str:
    """Why a memory is not given, however much room there is; "" if it may be."""
    memory = hit.memory
    if hit.relevance < limits.relevance:
        return f"relevance {hit.relevance:.2f} is below {limits.relevance:g}"
    if memory.kind in limits.kinds_off:
        return f"the kind {memory.kind} is switched off"
    if memory.content_hash in seen.ledger:
        return "it stands in the context already"
    if memory.session_id == seen.session_id:
        return "this session said it itself"
    if _cooling(memory, limits, seen, now):
        return f"it was given less than {limits.cooldown / 60:g} minutes ago"
    return ""


def _cooling(memory: Memory, limits: Limits, seen: Seen, now: float) -> bool:
    # A clock that was set back makes nothing older than it is: the time that is left counts, not the distance.
    return any(one.memory_id == memory.id and now - one.at < limits.cooldown for one in seen.given)


def _full(limits: Limits, seen: Seen, about: str) -> str:
    if len(seen.given) >= limits.session:
        return f"the session was given {len(seen.given)} of {limits.session}"
    if not characters_left(limits, seen):
        return f"the session was given all of {limits.characters} characters"
    if about and limits.about and sum(one.about == about for one in seen.given) >= limits.about:
        return f"the file was given {limits.about} of {limits.about}"
    return "better ones took the room"
