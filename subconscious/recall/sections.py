"""Splits a long memory into named sections when it is read; the stored text is unchanged. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from subconscious.text.terms import stem, terms

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(\S[^\n]{0,200})")
_BOLD = re.compile(r"[ \t]{0,3}(?:\*\*|__)([^*_\n]{1,60}?):?(?:\*\*|__)[ \t]*:?[ \t]*(.*)")
_RECORD = re.compile(
    r"[ \t]{0,3}(context|problem|background|drivers|options|alternatives|decision|outcome|solution|rationale|status"
    r"|consequences|impact|risks|next steps|todo):[ \t]*(.*)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text and its name. The name is "" for the part before the first heading."""

    name: str
    body: str


def sections(text: str) -> list[Section]:
    """Return the sections of a text in order: markdown headings, bold names, and the parts of decision records."""
    found = [(name, "\n".join(lines).strip()) for name, lines in _parts(text)]
    return [Section(name, body) for name, body in found if name or body]


def _parts(text: str) -> Iterator[tuple[str, list[str]]]:
    name, lines, fenced = "", [], False
    for line in text.split("\n"):
        fenced ^= bool(_FENCE.match(line))
        begun = None if fenced else _begun(line)
        if begun is None:
            lines.append(line)
            continue
        yield name, lines
        name, lines = begun[0], [begun[1]]
    yield name, lines


def _begun(line: str) -> tuple[str, str] | None:
    """Return the name of the section that a line starts, and the rest of the line; None for other lines."""
    if found := _HEADING.fullmatch(line.rstrip()):
        return found[1].rstrip("# \t") or found[1], ""
    if found := _BOLD.fullmatch(line) or _RECORD.fullmatch(line):
        return found[1].strip(), found[2]
    return None


def named(parts: Sequence[Section], name: str) -> Section | None:
    """Return the section called ``name``; failing that, the first whose name begins with it, or else contains it."""
    wanted = " ".join(name.casefold().split())
    names = [(" ".join(part.name.casefold().split()), part) for part in parts if part.name]
    for fits in (str.__eq__, str.startswith, str.__contains__):
        for known, part in names:
            if wanted and fits(known, wanted):
                return part
    return None


def nearest(parts: Sequence[Section], asked: str) -> Section | None:
    """Return the section with the most words of a query (those in its name count twice); None if no section has any."""
    wanted = stems(asked)
    scores = [(2 * len(wanted & stems(part.name)) + len(wanted & stems(part.body)), part) for part in parts]
    best = max(scores, key=lambda scored: scored[0], default=None)
    return best[1] if best is not None and best[0] else None


def stems(text: str) -> frozenset[str]:
    """Return the stems of the terms in a text."""
    return frozenset(stem(term) for term in terms(text, limit=len(text)))
