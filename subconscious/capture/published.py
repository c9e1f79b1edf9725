"""What the assistant writes for others to read: a pull request's body, an issue, an answer to a reviewer's comment.

It stands in the commands that a person allowed, and is worded for readers who were not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.findings import FEWEST_WORDS, is_changelog, is_skipped
from subconscious.capture.impersonal import impersonal
from subconscious.capture.kernel import is_broken, is_passing, is_trifle, units
from subconscious.capture.narration import is_narration
from subconscious.capture.passages import LONGEST, Passage, passages, plain, points
from subconscious.capture.wording import content_words, cut_clause, tags
from subconscious.model import Role, Turn

_WRITES = re.compile(r"\bgh (?:(?:pr|issue) (?:create|edit|comment|review)|api\b[^\n]*(?:/replies|/comments))")
_HERE = re.compile(r"<<-?\s*[\"'\\]?(?P<mark>\w+)[\"']?\n(?P<text>.*?)\n\s*(?P=mark)\b", re.DOTALL)
_BODY = re.compile(
    r"(?:--body[ =]|-b |-[fF] body=)(?:\"(?P<double>(?!\$\()(?:[^\"\\]|\\.)+)\"|'(?P<single>[^']+)')", re.DOTALL
)
_TITLE = re.compile(r"--title[ =](?:\"(?P<double>(?:[^\"\\]|\\.)+)\"|'(?P<single>[^']+)')")
_ESCAPED = re.compile(r"\\([`\"$\\!])")


@dataclass(frozen=True, slots=True)
class _Written:
    """A text for others, as it stands in the command, and its title."""

    text: str
    title: str


def published(exchange: Exchange) -> Iterator[Draft]:
    """Give what is stated in the texts for others that an exchange writes."""
    for turn in exchange.turns:
        for command in turn.commands if turn.role is Role.ASSISTANT else ():
            written = _written(command)
            if written is not None:
                yield from _drafts(exchange, turn, written)


def _written(command: str) -> _Written | None:
    found = (_HERE.search(command) or _BODY.search(command)) if _WRITES.search(command) else None
    if found is None:
        return None
    groups = found.groupdict()
    title = _TITLE.search(command)
    told = _ESCAPED.sub(r"\1", title["double"] or title["single"]) if title else ""
    return _Written(groups.get("text") or groups.get("double") or groups.get("single") or "", plain(told))


def _drafts(exchange: Exchange, turn: Turn, written: _Written) -> Iterator[Draft]:
    cuts = {(cut.start, cut.end): cut for cut in (*passages(written.text), *points(written.text))}
    for passage in cuts.values():
        said = "" if is_skipped(passage) else _said(written.text, passage)
        names = len(tags(said))
        if len(content_words(said)) < FEWEST_WORDS or said.endswith((":", "?")) or is_changelog(said):
            continue
        about = written.title or ("" if names > 1 else exchange.topic)
        if not (about or names):
            continue
        content = f"{about}: {cut_clause(said, LONGEST - len(about) - 2)}" if about else cut_clause(said, LONGEST)
        quote = written.text[passage.start : passage.end].strip()
        sort = "body" if written.title else "answer"
        marks = ("published", f"published:{sort}", "cut:published", f"lead:{bool(passage.lead)}")
        yield Draft(turn, "learning", content, quote, "published", signs=marks, reason="written for others to read")


def _said(text: str, passage: Passage) -> str:
    places = units(text, passage.start, passage.end)
    told = [impersonal(_ESCAPED.sub(r"\1", text[slice(*place)])) for place in places]
    return plain("\n".join(one for one in told if one and not _is_idle(one)))


def _is_idle(one: str) -> bool:
    return is_narration(one) or is_passing(one) or is_broken(one) or is_trifle(one)
