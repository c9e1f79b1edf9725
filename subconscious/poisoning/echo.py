"""Whether an assistant's words are a tool's (SPEC N4, N4a): what a file said stays the file's when it is said again.

Only what is said again in nearly the same words can be seen. What is told in other words can't; the gate and the
patterns are there for that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from subconscious.model import Candidate, Origin
from subconscious.transcripts.heard import Heard, Saying, heard

LOOKBACK = 2 << 20
"""Bytes of a transcript before a statement that are searched for who said it first."""

SHARE = 0.5
"""Share of a statement's runs of words that a tool must have said before."""

RUN = 4
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(
    r"https?://[^\s\"'<>)\]]{4,200}|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{2,40}|\b[\w-]{2,60}==\d[\w.]{0,20}"
)


def traced(candidates: Iterable[Candidate], confirmed: Collection[str] = ()) -> list[Candidate]:
    """The candidates, each with the origin that its words have; a transcript is read once.

    ``confirmed`` are the turns that a person has let through: a plan, an answered question. There it does not matter
    that the assistant had said so after a tool before; a tool's own words stay a tool's.
    """
    found = list(candidates)
    by_file: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in found:
        if candidate.origin is Origin.ASSISTANT:
            by_file[candidate.evidence.file].append(candidate)
    said = {file: _said(file, mine) for file, mine in by_file.items()}
    return [
        _traced(one, said[one.evidence.file], confirmed)
        if one.origin is Origin.ASSISTANT and one.evidence.file
        else one
        for one in found
    ]


def _said(file: str, candidates: Sequence[Candidate]) -> list[Saying]:
    """All that was said where the candidates may have it from, as plain words."""
    starts = [candidate.evidence.start for candidate in candidates]
    return [
        replace(one, text=_plain(one.text)) for one in heard(Path(file), max(0, min(starts) - LOOKBACK), max(starts))
    ]


def _traced(candidate: Candidate, said: Sequence[Saying], confirmed: Collection[str]) -> Candidate:
    quote, place = candidate.evidence.quote, candidate.evidence.start
    tools = {Heard.TOOL} if candidate.evidence.turn_id in confirmed else {Heard.TOOL, Heard.RETOLD}
    near = [one for one in said if place - LOOKBACK <= one.start < place]
    by_tools = [one.text for one in near if one.by in tools]
    by_people = [one.text for one in near if one.by is Heard.PERSON]
    if not (_repeats(quote, by_tools, by_people) or _names(quote, by_tools, by_people)):
        return candidate
    reason = "; ".join(filter(None, (candidate.reason, "a tool's output said so before")))
    return replace(candidate, origin=Origin.least_trusted(candidate.origin, Origin.TOOL), reason=reason)


def _repeats(quote: str, tools: Sequence[str], people: Sequence[str]) -> bool:
    """Whether tools said most of a quote before, and no person did."""
    runs = list(_runs(quote))
    by_tools = sum(any(run in text for text in tools) for run in runs)
    by_people = sum(any(run in text for text in people) for run in runs)
    return bool(runs) and by_tools >= SHARE * len(runs) and by_people < by_tools


def _names(quote: str, tools: Sequence[str], people: Sequence[str]) -> bool:
    """Whether a quote names an address or a package that a tool brought up, and no person."""
    named = [_plain(match[0]) for match in _ADDRESS.finditer(quote)]
    return any(
        any(name in text for text in tools) and not any(name in text for text in people) for name in named if name
    )


def _runs(text: str) -> Iterator[str]:
    words = _plain(text).split()
    for at in range(max(1, len(words) - RUN + 1)) if words else ():
        yield " ".join(words[at : at + RUN])


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
