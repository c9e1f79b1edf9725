"""Finds statements in texts that the assistant publishes: pull requests, issues, replies to review comments.

The texts are part of commands that the user allowed, and are worded for readers who don't know the session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from subconscious.capture.detectors.answers import worked
from subconscious.capture.detectors.findings import FEWEST_WORDS, is_changelog, is_skipped
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.impersonal import impersonal
from subconscious.capture.kernel import is_broken, is_passing, is_trifle, units
from subconscious.capture.narration import is_narration
from subconscious.capture.passages import LONGEST, Passage, passages, plain, points
from subconscious.domain.model import Role, Turn
from subconscious.text.wording import content_words, cut_clause, tags

_WRITES = re.compile(
    r"\bgh (?:(?:pr|issue) (?:create|edit|comment|review)|api\b(?:(?!\bgh api\b)[^\n])*?(?:/replies|/comments))"
)
_HERE = re.compile(r"<<-?\s*[\"'\\]?(?P<mark>\w+)[\"']?\n")
_BODY = re.compile(
    r"(?:--body[ =]|-b |-[fF] body=)(?:\"(?P<double>(?!\$\()(?:[^\"\\]|\\.)+)\"|'(?P<single>[^']+)')", re.DOTALL
)
_TITLE = re.compile(r"--title[ =](?:\"(?P<double>(?:[^\"\\]|\\.)+)\"|'(?P<single>[^']+)')")
_ESCAPED = re.compile(r"\\([`\"$\\!])")


@dataclass(frozen=True, slots=True)
class Written:
    """A text that a command publishes, as written in the command, and the title of the text."""

    text: str
    title: str


def published(exchange: Exchange) -> Iterator[Draft]:
    """Yield the statements in the texts that the commands of an exchange publish."""
    for turn in exchange.turns:
        for command in turn.commands if turn.role is Role.ASSISTANT else ():
            text = written(command)
            if text is not None and worked(exchange.turns, turn, command):
                yield from _drafts(exchange, turn, text)


def written(command: str) -> Written | None:
    """Return the text that a command publishes with ``gh``, from a here-document or an option; None if there is none."""
    writes = _WRITES.search(command)
    if writes is None:
        return None
    given = command[writes.start() :]
    body = _BODY.search(given)
    text = _set_in(given) or (body and (body["double"] or body["single"])) or ""
    title = _TITLE.search(given)
    told = _ESCAPED.sub(r"\1", title["double"] or title["single"]) if title else ""
    return Written(text, plain(told)) if text else None


def _set_in(command: str) -> str:
    """Return the text of a command's first here-document; "" if there is none.

    The beginning and the end are searched separately: a single pattern would try each beginning with each end.
    """
    opener = _HERE.search(command)
    if opener is None:
        return ""
    ends = re.compile(rf"^[ \t]*{re.escape(opener['mark'])}(?=[ \t)\"']*$)", re.MULTILINE)
    end = ends.search(command, opener.end())
    return command[opener.end() : end.start()].rstrip("\n") if end else ""


def _drafts(exchange: Exchange, turn: Turn, told: Written) -> Iterator[Draft]:
    cuts = {(cut.start, cut.end): cut for cut in (*passages(told.text), *points(told.text))}
    for passage in cuts.values():
        said = "" if is_skipped(passage) else _said(told.text, passage)
        names = len(tags(said))
        if len(content_words(said)) < FEWEST_WORDS or said.endswith((":", "?")) or is_changelog(said):
            continue
        about = told.title or ("" if names > 1 else exchange.topic)
        if not (about or names):
            continue
        content = f"{about}: {cut_clause(said, LONGEST - len(about) - 2)}" if about else cut_clause(said, LONGEST)
        quote = told.text[passage.start : passage.end].strip()
        sort = "body" if told.title else "answer"
        marks = ("published", f"published:{sort}", "cut:published", f"lead:{bool(passage.lead)}")
        yield Draft(turn, "learning", content, quote, "published", signs=marks, reason="written for others to read")


def _said(text: str, passage: Passage) -> str:
    places = units(text, passage.start, passage.end)
    told = [impersonal(_ESCAPED.sub(r"\1", text[slice(*place)])) for place in places]
    return plain("\n".join(one for one in told if one and not _is_idle(one)))


def _is_idle(one: str) -> bool:
    return is_narration(one) or is_passing(one) or is_broken(one) or is_trifle(one)
