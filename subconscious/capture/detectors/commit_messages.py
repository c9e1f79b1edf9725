"""Finds statements in commit messages, which are written for later readers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.passages import LONGEST, plain, points
from subconscious.domain.model import Role, Turn
from subconscious.text.wording import content_words, cut_clause

_HERE = re.compile(
    r"(?>\bgit\b[^\n]*?\bcommit\b)[^\n]*?<<-?\s*[\"'\\]?(?P<mark>\w+)[\"']?\n(?P<text>.*?)\n\s*(?P=mark)\b", re.DOTALL
)
_INLINE = re.compile(
    r"(?>\bgit\b[^\n]*?\bcommit\b)[^\n]*?\s-a?m\s+(?P<quote>[\"'])(?P<text>(?!\$\().*?)(?<!\\)(?P=quote)", re.DOTALL
)
_FEWEST_WORDS = 6
_TRAILER = re.compile(r"^(?:[A-Z][\w-]+-[Bb]y: .*|\s*🤖 .*|[A-Z][\w-]+: [\w-]{6,}\s*)\Z")


def message(command: str) -> tuple[str, str] | None:
    """Return a command's commit message without trailers, as written and stripped; None if there is no message."""
    found = _HERE.search(command) or _INLINE.search(command)
    if found is None:
        return None
    lines = found["text"].splitlines()
    while lines and (not lines[-1].strip() or _TRAILER.match(lines[-1].strip())):
        lines.pop()
    kept = "\n".join(lines)
    return (kept, kept.strip()) if kept.strip() else None


def commits(exchange: Exchange) -> Iterator[Draft]:
    """Yield the commit messages in an exchange, except messages of one line, which Git's log already shows."""
    for turn in exchange.turns:
        for command in turn.commands if turn.role is Role.ASSISTANT else ():
            if found := message(command):
                yield from _of_message(turn, *found)


def _of_message(turn: Turn, quote: str, text: str) -> Iterator[Draft]:
    subject, _, body = text.partition("\n")
    body = plain(body)
    if len(content_words(body)) < _FEWEST_WORDS:
        return
    subject = subject.strip().rstrip(".")
    room = LONGEST - len(subject) - 2
    content = f"{subject}: {cut_clause(body, max(room, 100))}"
    kind = "learning" if re.match(r"fix|bug", subject, re.IGNORECASE) else "decision"
    yield Draft(turn, kind, content, quote, "commit", signs=("commit",), reason="a commit's message", summary=subject)
    yield from _points(turn, kind, subject, text)


def _points(turn: Turn, kind: str, subject: str, text: str) -> Iterator[Draft]:
    """Yield the points of a message that lists several, each with the message's subject line."""
    found = points(text.partition("\n")[2])
    for point in found if len(found) > 1 else ():
        said = point.wording
        if len(content_words(said)) < _FEWEST_WORDS or len(said) > LONGEST - len(subject) - 2:
            continue
        quote = text.partition("\n")[2][point.start : point.end]
        signs = ("commit", "commit:point")
        yield Draft(
            turn, kind, f"{subject}: {said}", quote, "commit point", signs=signs, reason="a point of a commit's message"
        )
