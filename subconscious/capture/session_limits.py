"""Limits how many captures of one session wait for a person or may become unconfirmed memories.

A transcript is read as it grows, so the captures to keep are chosen again with every batch. Beyond ``session_captures``
a stronger capture displaces the weakest waiting one. Captures that are stored or decided on are never displaced.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import aiosqlite

from subconscious.capture.gate import is_below
from subconscious.domain.model import MODELS, Level, Origin
from subconscious.settings.settings import Settings
from subconscious.store import captures, decisions
from subconscious.store.captures import SessionCapture
from subconscious.store.second_looks import WAITS
from subconscious.text.same_statement import DISTINCT, differences
from subconscious.text.words import content_words

MOST_UNCONFIRMED = 3
"""The maximum number of unconfirmed memories from one session. The user's statements have a separate, equal limit."""

TO_A_PERSON = 2
"""The maximum number of captures of one session that wait for a person; the user's statements are not counted."""

TOO_MANY = f"more than {TO_A_PERSON} captures of its session would wait for a person"

TOO_WEAK = "its confidence is too low for a review, and its session has better findings"

ASKED_FOR = "told"
"""The extractor name of statements that somebody asked the assistant to remember."""


async def hold_cap(tx: aiosqlite.Connection, session_id: str, settings: Settings) -> None:
    """Discard the weakest captures of a session until its limits are met.

    Captures that still wait for a model's review (the second look) are not counted.
    """
    found = await captures.of_session(tx, session_id)
    rows = {row["id"]: row for row in found if row["reservation"] != WAITS}
    out = without_place(list(rows.values()), settings)
    left = [row for number, row in rows.items() if number not in out and row["status"] == "review"]
    most = MOST_UNCONFIRMED if settings.unconfirmed else 0
    out |= _too_many(left, most, settings.review_threshold)
    for capture_id, reason in out.items():
        await decisions.displace(tx, capture_id, reason)


def without_place(rows: Sequence[SessionCapture], settings: Settings) -> dict[int, str]:
    """Return the captures of a session to discard, by id, with the reason: they are too many, or repeat others.

    Captures that may become unconfirmed memories have priority, because most of the others are never reviewed.
    """
    rows = _once_a_memory(rows)
    doubted = _says_what_is_doubted(rows)
    free = [row for row in rows if settings.unconfirmed and _may_be_given(row) and row["id"] not in doubted]
    first = [row for row in rows if row["status"] != "review" or row in free]
    entries = [_entry(row, fixed=row["status"] != "review") for row in first]
    out = settle(entries, settings.session_captures)
    entries = [_entry(row, fixed=True) for row in first if row["id"] not in out]
    # An explicit request to remember is reviewed even if an equivalent capture exists.
    entries += [_entry(row, fixed=row["extractor"] == ASKED_FOR) for row in rows if row not in first]
    out |= settle(entries, settings.session_captures)
    return {int(str(number)): why for number, why in out.items()}


def _once_a_memory(rows: Sequence[SessionCapture]) -> list[SessionCapture]:
    """Return the captures; of those that belong to the same stored memory, only the first."""
    known: set[int] = set()
    kept = []
    for row in rows:
        stored = row["memory_id"] if row["status"] != "review" else None
        if stored is None or stored not in known:
            kept.append(row)
        known |= {stored} if stored is not None else set()
    return kept


def _says_what_is_doubted(rows: Sequence[SessionCapture]) -> set[int]:
    """Return the ids of waiting captures that repeat a doubtful capture.

    A capture is doubtful if the poisoning check flagged it, or if a model found it and it must not be shown yet. A
    deceived assistant repeats a claim in other words; a harmless-looking wording must not be chosen instead.
    """
    warned = [row for row in rows if row["level"] != Level.NONE or (row["reservation"] and _is_of_model(row))]
    entries = [_entry(row, fixed=True) for row in warned]
    others = [row for row in rows if row["status"] == "review" and row not in warned]
    return {row["id"] for row in others if settle([*entries, _entry(row)], len(rows))}


def _is_of_model(row: SessionCapture) -> bool:
    return str(row["extractor"]).startswith(MODELS)


def _entry(row: SessionCapture, *, fixed: bool = False) -> Entry:
    return Entry(row["id"], row["confidence"], row["content"], fixed=fixed)


def _may_be_given(row: SessionCapture) -> bool:
    return bool(row["reservation"] == "" and row["level"] == Level.NONE)


def _too_many(waiting: Iterable[SessionCapture], may_be_given: int, threshold: float) -> dict[int, str]:
    """Return the queued captures to discard, by id, with the reason: too many, or a confidence below ``threshold``.

    Findings of the rules, findings of a model, and statements of the user have separate limits, so that no group
    displaces another.
    """
    ranked = sorted(waiting, key=lambda row: (row["memory_id"] is None, -row["confidence"], row["id"]))
    fit = [row for row in ranked if _may_be_given(row)]
    free = []
    for finder in ("user", "model", "rules"):
        rows = [row for row in fit if _finder(row) == finder]
        free += [rows[place]["id"] for place in distinct([row["content"] for row in rows], may_be_given)]
    others = [row for row in ranked if row["id"] not in free]
    weak = [row["id"] for row in others if is_below(row["confidence"], threshold)]
    found = [row for row in others if row["id"] not in weak and row["origin"] != Origin.USER]
    return dict.fromkeys(weak, TOO_WEAK) | dict.fromkeys([row["id"] for row in found][TO_A_PERSON:], TOO_MANY)


def _finder(row: SessionCapture) -> str:
    """Return "user" if the user made the statement; otherwise "model" or "rules", depending on which found it."""
    if row["origin"] == Origin.USER:
        return "user"
    return "model" if _is_of_model(row) else "rules"


DISPLACED = "displaced by stronger captures of its session"
REPEATED = "repeats another capture of its session"
_SAME = 0.7
"""Two captures can repeat each other only if both have more than this share of the shorter one's words (0 to 1)."""

_ALIKE = 0.8
"""If two captures share more than this part of the longer one's words, any difference makes them two statements."""

_OF_LENGTH = frozenset(("number", "negation", "name", "direction"))
"""Differences that may exist only because one quote of a text is longer. They count only above ``_ALIKE``."""

TOLD = 0.2
"""The deduction from the confidence of a capture if an already chosen capture contains all of its words."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A capture that may be kept. ``key`` identifies the capture to the caller; a ``fixed`` capture is always kept."""

    key: Hashable
    confidence: float
    content: str
    fixed: bool = False


OVERLAP = 0.5
"""Two statements are not distinct if one contains at least this share (0 to 1) of the other's words."""


def settle(entries: Iterable[Entry], cap: int) -> dict[Hashable, str]:
    """Return the keys of captures to drop, with the reason: they repeat a stronger capture or exceed ``cap``.

    Captures that share words with a chosen capture rank lower. Of equal captures, the earlier one ranks higher.
    """
    ranked = sorted(entries, key=lambda entry: (not entry.fixed, -entry.confidence))
    words = {entry.key: _words(entry.content) for entry in ranked}
    told = dict.fromkeys(words, 0.0)
    kept: list[Entry] = []
    out: dict[Hashable, str] = {}
    while ranked:
        entry = max(ranked, key=lambda one: (one.fixed, one.confidence - TOLD * told[one.key]))
        ranked.remove(entry)
        said = words[entry.key]
        if not entry.fixed and any(_repeats(entry, other, said, words[other.key]) for other in kept):
            out[entry.key] = REPEATED
        elif not entry.fixed and len(kept) >= cap:
            out[entry.key] = DISPLACED
        else:
            kept.append(entry)
            told = {one.key: max(told[one.key], _share(words[one.key], said)) for one in ranked}
    return out


def _share(said: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the words ``said`` that are also in ``other``, 0 to 1."""
    return len(said & other) / max(len(said), 1)


def distinct(contents: Sequence[str], most: int) -> list[int]:
    """Return the indices of up to ``most`` statements, each distinct (see ``OVERLAP``) from those before."""
    words = [_words(content) for content in contents]
    kept: list[int] = []
    for at, said in enumerate(words):
        if len(kept) < most and not any(
            max(_share(said, words[other]), _share(words[other], said)) >= OVERLAP for other in kept
        ):
            kept.append(at)
    return kept


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in content_words(text))


def _repeats(one: Entry, other: Entry, said: frozenset[str], told: frozenset[str]) -> bool:
    """Whether one capture of a session repeats another.

    Many shared words are enough, even if neither paraphrases the other, because only one of the two would be shown.
    """
    if not said or not told:
        return said == told
    if len(said & told) <= _SAME * min(len(said), len(told)):
        return False
    found = differences(one.content, other.content) & DISTINCT
    if len(said & told) <= _ALIKE * max(len(said), len(told)):
        found -= _OF_LENGTH
    return not found
