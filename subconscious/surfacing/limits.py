"""Limits the memories that a session receives without asking; gives a reason for each one left out. Does no I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory
from subconscious.framing.rules import Held

WORTH_TELLING = 0.4
"""The least relevance at which a memory that is not shown is recorded, with the reason.

Less relevant memories are about something else.
"""

TWICE = "another memory says the same in the same words"


@dataclass(frozen=True, slots=True)
class Given:
    """A memory that a session received unasked: when, and with which file (``about``: its path, or "")."""

    memory_id: int
    at: float
    about: str = ""
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits in force. If ``about`` is 0, there is no separate limit of memories per file."""

    session: int
    about: int
    at_once: int
    cooldown: float
    relevance: float
    kinds_off: tuple[str, ...] = ()
    characters: int = 1 << 30
    """The most characters of all memories that the session receives."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a session has received: the hashes of all memories in its context, and the memories shown unasked."""

    session_id: str
    ledger: Collection[str] = ()
    given: Sequence[Given] = ()


@dataclass(frozen=True, slots=True)
class Sifted:
    """The memories to show, best first, and those that are held back although they are relevant (`WORTH_TELLING`)."""

    fit: tuple[Hit, ...]
    held: tuple[Held, ...]


def room(limits: Limits, seen: Seen, about: str = "") -> int:
    """Return how many memories may be shown now; ``about`` is the path of the file that they are for, or ""."""
    left = min(limits.at_once, limits.session - len(seen.given)) if characters_left(limits, seen) else 0
    if about and limits.about:
        left = min(left, limits.about - sum(one.about == about for one in seen.given))
    return max(0, left)


def characters_left(limits: Limits, seen: Seen) -> int:
    """Return how many characters of memories the session may still receive."""
    return max(0, limits.characters - sum(one.characters for one in seen.given))


def sift(
    hits: Sequence[Hit],
    limits: Limits,
    seen: Seen,
    now: float,
    about: str = "",
    elsewhere: Mapping[int, str] = MappingProxyType({}),
    vetted: Collection[int] = (),
) -> Sifted:
    """Return the memories to show, and the relevant ones that are held back, with the reasons.

    ``elsewhere`` has, by memory id, the file that already says what the memory says. The memories with the ids in
    ``vetted``, and unconfirmed ones, have already passed other thresholds.
    """
    left = room(limits, seen, about)
    fit: list[Hit] = []
    held: list[Held] = []
    worded: set[str] = set()  # a memory of the project and one of the user may have the same wording
    for hit in hits:
        exempt = hit.memory.unconfirmed or hit.memory.id in vetted
        why = ("" if exempt else _irrelevant(hit, limits)) or against(hit, limits, seen, now)
        why = why or (f"{elsewhere[hit.memory.id]} states it already" if hit.memory.id in elsewhere else "")
        why = why or (TWICE if hit.memory.content_hash in worded else "")
        if not why and len(fit) < left:
            fit.append(hit)
            worded.add(hit.memory.content_hash)
        elif hit.relevance >= WORTH_TELLING:
            held.append(Held(hit.memory.id, hit.relevance, why or _full(limits, seen, about)))
    return Sifted(tuple(fit), tuple(held))


def usage_of(limits: Limits, seen: Seen, about: str = "", least: float | None = None) -> dict[str, str]:
    """Return how much of each limit is used, for `why-surfaced`.

    ``least`` is the minimum relevance for the memory in question, if it differs from that for other memories.
    """
    used = {
        "session": f"{len(seen.given)} of {limits.session}",
        "cooldown": f"{limits.cooldown / 60:g} minutes",
        "relevance": f"at least {limits.relevance:g}",
    }
    if least not in (None, limits.relevance):
        used["relevance"] = f"at least {least:g} ({limits.relevance:g} for other memories)"
    if about and limits.about:
        used["file"] = f"{sum(one.about == about for one in seen.given)} of {limits.about}"
    return used


def _irrelevant(hit: Hit, limits: Limits) -> str:
    return f"relevance {hit.relevance:.2f} is below {limits.relevance:g}" if hit.relevance < limits.relevance else ""


def against(hit: Hit, limits: Limits, seen: Seen, now: float) -> str:
    """Return why a memory is not shown even if there is room; "" if it may be shown."""
    memory = hit.memory
    if memory.kind in limits.kinds_off:
        return f"the kind {memory.kind} is switched off"
    if memory.content_hash in seen.ledger:
        return "it is in the context already"
    if memory.session_id == seen.session_id:
        return "this session stated it itself"
    if _cooling(memory, limits, seen, now):
        return f"the session received it less than {limits.cooldown / 60:g} minutes ago"
    return ""


def _cooling(memory: Memory, limits: Limits, seen: Seen, now: float) -> bool:
    # If the clock was set back, the difference is negative, and the memory counts as just received.
    return any(one.memory_id == memory.id and now - one.at < limits.cooldown for one in seen.given)


def _full(limits: Limits, seen: Seen, about: str) -> str:
    if len(seen.given) >= limits.session:
        return f"the session's limit of memories ({limits.session}) is reached"
    if not characters_left(limits, seen):
        return f"the session's limit of characters ({limits.characters}) is reached"
    if about and limits.about and sum(one.about == about for one in seen.given) >= limits.about:
        return f"the limit of memories for this file ({limits.about}) is reached"
    return "more relevant memories were shown instead"
