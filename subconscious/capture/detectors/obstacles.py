"""Finds obstacles that are not caused by the task itself.

Examples are a hook that changes commits, failing tests of unrelated files, a tool with misleading output, and a command
that can't work here. They are described in the assistant's own words, with the workaround. ``OBSTACLES`` has a row for
each kind of obstacle: a pattern for its sentences, and the statement made from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from subconscious.capture.detectors.commands import short_command
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.narration import sentence_spans, trim
from subconscious.capture.passages import LONGEST, plain
from subconscious.domain.model import Role, Turn
from subconscious.text.wording import content_words

LONGEST_MESSAGE = 900
"""The maximum length in characters of a message that is searched for obstacles; longer messages are summaries."""

_FEWEST_WORDS = 4
_ROOM = 230

_FOREIGN = "tests of files that are not the project's"
_TESTS = re.compile(r"\A(?P<runner>[\w-]+) (?:run )?test\Z")
_OF_FOLDER = re.compile(r"\A(?P<runner>[\w-]+) test (?P<folder>[\w.-]+/)(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A kind of obstacle: ``said`` matches the assistant's sentence; ``told`` is the template of the memory."""

    name: str
    said: re.Pattern[str]
    told: str


def _row(name: str, said: str, told: str) -> Obstacle:
    return Obstacle(name, re.compile(said, re.IGNORECASE), told)


OBSTACLES = (
    _row(
        "a hook that changes commits",
        r"\b(?:prepare-commit-msg|commit-msg|pre-commit|post-commit|post-?)[ -]?hook\b.*\b(?:rewr\w+|replaced?|amend\w*|auto-amend\w*|"
        r"squash\w*|bundl\w+|combin\w+|renamed)\b|\b(?:squash\w*|amend\w*|bundl\w+)\b.*\bby\b.*\bhook\b",
        "A git hook interferes with commits in this project: {said} The resulting commit's message or scope can differ from "
        "what was intended, silently; check it with `git show` after committing.",
    ),
    _row(
        _FOREIGN,
        r"\b(?:tests?|failures?|bun|jest|vitest|pytest|suite)\b.*\b(?:picked up|picks up|pick up|leftover|left over)\b|"
        r"\bpick(?:s|ed|ing)? up\b.*\btests?\b|\bpicked up\b.*\btest runner\b",
        "The test run picks up test files that are not the project's own, and fails for reasons unrelated to the changes: {said}",
    ),
    _row(
        "output that misleads",
        r"\b(?:falsely report\w*|reports? falsely|misleading(?:ly)? (?:output|report|result|error)\w*|stale output|output filtering|"
        r"(?:filter(?:s|ed|ing)|swallow(?:s|ed|ing)|hid(?:es|ing)?) the output)\b",
        "Misleading output of a tool: {said}",
    ),
    _row(
        "what can't be done here",
        r"\b(?:i|we) (?:can't|cannot|can not) (?:check ?out|run|use|push|commit|access|install|switch|merge|build)\b",
        "Not possible in this setup: {said}",
    ),
    _row(
        "tests that only run elsewhere",
        r"\b(?:ci runs but|only (?:by|in|on) ci|build tags?\b.*\btests?|tests?\b.*\bbuild tags?)\b",
        "Some tests are not run by the local test command: {said}",
    ),
)

_INSTEAD = re.compile(
    r"\b(?:let me|i'll|i will)\s+(?P<what>[^.:\n]{10,120}?\b(?:instead|so (?:that )?the)\b[^.:\n]{0,60})", re.IGNORECASE
)


def obstacles(exchange: Exchange) -> Iterator[Draft]:
    """Yield the obstacles that the assistant mentions in an exchange, each kind once, from its last mention."""
    found: dict[str, Draft] = {}
    for turn in exchange.turns:
        if turn.role is Role.ASSISTANT and 0 < len(turn.text) <= LONGEST_MESSAGE:
            found |= {row.name: draft for row in OBSTACLES if (draft := _draft(row, turn)) is not None}
    if _FOREIGN in found:
        found[_FOREIGN] = _narrowed(found[_FOREIGN], exchange)
    yield from found.values()


def _narrowed(draft: Draft, exchange: Exchange) -> Draft:
    """Add the advice to run only the tests in one folder, if such a run worked in the exchange.

    The folder that contains the unrelated tests is never advised.
    """
    tools = [turn for turn in exchange.turns if turn.role is Role.TOOL]
    well = [short_command(one) for turn in tools if not turn.failed for one in turn.commands]
    runs = [found for turn in tools for one in turn.commands if (found := _TESTS.match(short_command(one)))]
    for narrow in filter(None, map(_OF_FOLDER.match, well)):
        wide = next((found for found in runs if found["runner"] == narrow["runner"]), None)
        if wide and narrow["folder"].rstrip("/") not in draft.content:
            content = (
                f"{draft.content} To run only project tests, scope the run: `{narrow[0]}` in place of `{wide[0]}`."
            )
            return replace(draft, content=content) if len(content) <= LONGEST else draft
    return draft


def _draft(row: Obstacle, turn: Turn) -> Draft | None:
    spans = sentence_spans(turn.text, 0, len(turn.text))
    at = next((at for at, span in enumerate(spans) if row.said.search(turn.text[slice(*span)])), None)
    if at is None:
        return None
    end = spans[at + 1][1] if at + 1 < len(spans) and spans[at + 1][1] - spans[at][0] <= _ROOM else spans[at][1]
    span = trim(turn.text, spans[at][0], end)
    quote = turn.text[slice(*span)].strip() if span else ""
    said = plain(quote).rstrip(" :;,")
    if (
        not row.said.search(quote)
        or not said[:1].isalnum()
        or len(content_words(said)) < _FEWEST_WORDS
        or len(said) > _ROOM
    ):
        return None
    said += "" if said.endswith((".", "!")) else "."
    content = row.told.format(said=said) + _remedy(turn.text)
    return Draft(turn, "learning", content, quote, "struggle", signs=(f"obstacle:{row.name}", "told"), reason=row.name)


def _remedy(text: str) -> str:
    """Return the workaround that the assistant announced, as a sentence."""
    found = _INSTEAD.search(text)
    return f" The way around it: {plain(found['what']).strip()}." if found else ""
