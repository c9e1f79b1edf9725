"""Whether an assistant's words are a tool's (SPEC N4, N4a): what a file said stays the file's when it is said again.

Only what is said again in nearly the same words can be seen. What is told in other words can't; the gate and the
patterns are there for that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from subconscious.model import Candidate, Origin
from subconscious.transcripts.heard import Heard, heard

LOOKBACK = 2 << 20
"""Bytes of a transcript before a statement that are searched for who said it first."""

SHARE = 0.5
"""Share of a statement's runs of words that a tool must have said before."""

RUN = 4
LONGEST_NAME = 8
LONGEST = 4_000
"""Characters of a quote that are looked for."""

Words = tuple[str, ...]

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
        if candidate.origin is Origin.ASSISTANT and candidate.evidence.file:
            by_file[candidate.evidence.file].append(candidate)
    said = {file: _First.of(file, mine) for file, mine in by_file.items()}
    return [_traced(one, said.get(one.evidence.file), confirmed) for one in found]


def _traced(candidate: Candidate, said: _First | None, confirmed: Collection[str]) -> Candidate:
    if said is None or candidate.origin is not Origin.ASSISTANT:
        return candidate
    sorts = (Heard.TOOL,) if candidate.evidence.turn_id in confirmed else (Heard.TOOL, Heard.RETOLD)
    quote, place = candidate.evidence.quote, candidate.evidence.start
    runs, names = _runs(quote), _names(quote)
    by_tools = sum(said.before(run, place, sorts) for run in runs)
    by_people = sum(said.before(run, place, (Heard.PERSON,)) for run in runs)
    repeats = bool(runs) and by_tools >= SHARE * len(runs) and by_people < by_tools
    if not repeats and not any(
        said.before(name, place, sorts) and not said.before(name, place, (Heard.PERSON,)) for name in names
    ):
        return candidate
    reason = "; ".join(filter(None, (candidate.reason, "a tool's output said so before")))
    return replace(candidate, origin=Origin.least_trusted(candidate.origin, Origin.TOOL), reason=reason)


@dataclass(frozen=True, slots=True)
class _First:
    """Where each of the words that matter was said first, by whom."""

    places: Mapping[tuple[Heard, Words], int]

    def before(self, words: Words, place: int, sorts: Iterable[Heard]) -> bool:
        """Whether one of these said so before a place in the transcript."""
        return any(self.places.get((sort, words), place) < place for sort in sorts)

    @classmethod
    def of(cls, file: str, candidates: Sequence[Candidate]) -> _First:
        """Look for the words of the candidates alone, so that a long transcript costs one pass and no memory."""
        starts = [candidate.evidence.start for candidate in candidates]
        quotes = [candidate.evidence.quote for candidate in candidates]
        wanted = {words for quote in quotes for words in (*_runs(quote), *_names(quote))}
        sizes = sorted({len(words) for words in wanted})
        places: dict[tuple[Heard, Words], int] = {}
        for saying in heard(Path(file), max(0, min(starts) - LOOKBACK), max(starts)):
            words = _words(saying.text)
            for size in sizes:
                for run in zip(*(words[at:] for at in range(size)), strict=False):
                    if run in wanted:
                        places.setdefault((saying.by, run), saying.start)
        return cls(places)


def _runs(quote: str) -> list[Words]:
    """The runs of words of a quote; a short one is one run."""
    words = _words(quote[:LONGEST])
    return [tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))] if words else []


def _names(quote: str) -> list[Words]:
    """The addresses and packages that a quote names."""
    return [words for match in _ADDRESS.finditer(quote[:LONGEST]) if (words := tuple(_words(match[0])[:LONGEST_NAME]))]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
