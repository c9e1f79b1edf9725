"""Finds texts that describe a problem, its cause and its fix under headings, and makes one statement from each text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from subconscious.capture.detectors.findings import changed_files, named, signs, spoken
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.impersonal import impersonal
from subconscious.capture.kernel import is_passing, units
from subconscious.capture.narration import is_narration
from subconscious.capture.passages import Passage, passages, plain
from subconscious.domain.model import Turn
from subconscious.text.wording import content_words, cut_clause

_PARTS = (
    (
        "Problem",
        re.compile(
            r"(?:the )?(?:context|problems?(?: statement)?|issues?|symptoms?|bugs?|before|background|motivation|"
            r"current (?:state|behaviou?r))\W*\Z",
            re.IGNORECASE,
        ),
    ),
    (
        "Cause",
        re.compile(
            r"(?:the )?(?:root |actual |real )?(?:cause|reason)s?\b.*|why\b.*",
            re.IGNORECASE,
        ),
    ),
    (
        "Mended by",
        re.compile(
            r"(?:the |proposed |actual )?(?:fix|solution|resolution|approach|after|change|changes|what (?:was )?(?:changed|done))\b.*",
            re.IGNORECASE,
        ),
    ),
)
_FEWEST_WORDS = 5
_SHARES = {2: 185, 3: 122}
"""Maps the number of parts of a statement (problem, cause, fix) to the maximum length in characters of each part."""


def mended(exchange: Exchange) -> Iterator[Draft]:
    """Yield the problems and causes that are described in an exchange, each together with its fix."""
    for turn in spoken(exchange):
        parts = _parts(turn)
        told = [(name, passage) for name, passage in parts.items()]
        if len(told) < 2 or "Mended by" not in parts:
            continue
        said = [(name, _first(turn.text, passage, _SHARES[len(told)])) for name, passage in told]
        if all(words for _, words in said):
            yield _draft(exchange, turn, told, said)


def _parts(turn: Turn) -> dict[str, Passage]:
    found: dict[str, Passage] = {}
    for passage in passages(turn.text):
        name = next((name for name, pattern in _PARTS if pattern.match(passage.heading)), "")
        found.setdefault(name, passage)
    return {name: found[name] for name, _ in _PARTS if name in found}


def _first(text: str, passage: Passage, room: int) -> str:
    """Return the first factual sentences of a part that fit into ``room`` characters."""
    kept = ""
    for place in units(text, passage.start, passage.end):
        one = plain(impersonal(text[slice(*place)]))
        if is_narration(one) or is_passing(one) or len(content_words(one)) < _FEWEST_WORDS or one.endswith(":"):
            continue
        if kept and len(kept) + len(one) > room:
            break
        kept = f"{kept} {one if one.endswith(('.', '!', ';')) else one + '.'}".strip()
    return cut_clause(kept, room).rstrip(" :;,.")


def _draft(exchange: Exchange, turn: Turn, told: list[tuple[str, Passage]], said: list[tuple[str, str]]) -> Draft:
    first = told[0][1]
    words = ". ".join(f"{name}: {part}" for name, part in said) + "."
    quote = turn.text[first.start : first.end].strip()
    content = named(replace(exchange, topic=exchange.task), Passage(first.start, first.end, words), words) or words
    marks = (*signs(exchange, turn, first, words), "cut:mended")
    return Draft(turn, "learning", content, quote, "mended", signs=marks, files=changed_files(exchange))
