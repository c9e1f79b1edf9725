"""Detects practices of a project in its commands and edits: build tags of tests, replies to reviewers, changelogs.

``PRACTICES`` has one row per practice. One run shows how something can be done; only several runs show that it is
usually done in this way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from subconscious.capture.detectors.answers import worked
from subconscious.capture.detectors.commit_messages import message
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.domain.model import Origin, Role, Turn


@dataclass(frozen=True, slots=True)
class Practice:
    """A practice: ``run`` matches commands, of which ``fewest`` must have worked; ``told`` is the memory's template."""

    name: str
    run: re.Pattern[str]
    told: str
    fewest: int = 1


_FEWEST_RUNS = 2
"""The minimum number of runs that count as a habit: a single run may be an exception."""

PRACTICES = (
    Practice(
        "tests behind a tag",
        re.compile(r"(?P<said>\bgo test\b[^|&;\n]{0,30}?-tags[= ]\w+)"),
        "Tests of this project are run with a build tag: `{said}`.",
        _FEWEST_RUNS,
    ),
    Practice(
        "draft pull requests",
        re.compile(r"(?P<said>\bgh pr create)\b [^|]*?--draft\b", re.DOTALL),
        "Pull requests of this project are opened as drafts from the command line, with `{said} --draft`.",
        _FEWEST_RUNS,
    ),
    Practice(
        "replies to a review",
        re.compile(r"(?P<said>\bgh api repos/[\w.-]+/[\w.-]+/pulls/)\d+/comments/\d+/replies\b"),
        "A review comment on a pull request is answered in its own thread with `{said}<number>/comments/<comment id>/replies "
        "-f body=...`: the pull request's number belongs into the path.",
    ),
)

_TYPED = re.compile(r"(?P<type>feat|fix|docs|chore|refactor|perf|test|ci|build)(?:\([\w/.-]+\))?!?: \S")
_EDITS = {"Edit", "Write"}
_CHANGELOG = "CHANGELOG.md"
_NOTED = f"Changes of this project are noted in {_CHANGELOG}, in the same commit as the change."
_ON_REQUEST = f"Changes of this project are noted in {_CHANGELOG} on request, in the same commit as the change."
_STAGED = re.compile(
    r"(?>\bgit\b[^\n;&|]*?\badd\b)[^\n;&|]*?(?:CHANGELOG\.md|\s(?:-A|--all|-u|\.)(?:\s|\Z))|\bgit\b[^\n;&|]*?\bcommit -\w*a"
)
"""Ways to stage a changed changelog: by its name, or together with all changes."""

_ADDED = re.compile(r"\bgit (?:-\S+ (?:[^-\s]\S* )?)*add (?P<what>[^\n;&|]+)")
_ALL = re.compile(r"\bgit (?:-C \S+ )?commit (?:-[\w-]+ )*(?:-[a-z]*a|--all\b)")
_FILE = re.compile(r"[\"']?[^-\s]\S*\w\.\w+[\"']?\Z")
_LEFT_OUT = re.compile(
    r"\b(?:only|just) (?:stage|commit|add) (?:the )?(?:\w+ )?(?:relevant )?files?\b|"
    r"(?<!\bno )(?<!\bany )(?<!\bwithout )\b(?:unrelated|pre-existing|other (?:uncommitted|unstaged|modified|changed)) (?:\w+ ){0,3}"
    r"(?:changes|files)\b(?! belong)|\bchanges\b[^.\n]{0,40}\b(?:unrelated|pre-existing)\b",
    re.IGNORECASE,
)
"""Sentences in which the assistant leaves unrelated changes out of a commit."""


def practices(exchanges: Sequence[Exchange]) -> Iterator[Draft]:
    """Yield the practices that a session shows, each once."""
    turns = [turn for exchange in exchanges for turn in exchange.turns]
    for row in PRACTICES:
        runs = ((turn, row.run.search(command)) for turn in _worked(turns) for command in turn.commands)
        shown = [(turn, found) for turn, found in runs if found]
        if len(shown) >= row.fewest:
            turn, found = shown[0]
            yield _draft(turn, row.told.format(**found.groupdict()), found[0], row.name)
    yield from _changelog(turns)
    yield from _subjects(turns)
    yield from _staging(turns)


def _worked(turns: Sequence[Turn]) -> Iterator[Turn]:
    return (turn for turn in turns if turn.role is Role.TOOL and not turn.failed)


def _commits(turns: Sequence[Turn]) -> list[tuple[Turn, str, str]]:
    """Return the successful commits: the turn, the message as written in the command, and the message's text."""
    said = [turn for turn in turns if turn.role is Role.ASSISTANT]
    asked = [(turn, command, found) for turn in said for command in turn.commands if (found := message(command))]
    return [(turn, *found) for turn, command, found in asked if worked(turns, turn, command)]


def _changed(turns: Sequence[Turn]) -> Iterator[tuple[Turn, PurePath]]:
    edits = (turn for turn in turns if turn.role is Role.ASSISTANT and _EDITS & set(turn.tools))
    return ((turn, PurePath(file)) for turn in edits for file in turn.files)


def _changelog(turns: Sequence[Turn]) -> Iterator[Draft]:
    """Yield the practice of adding a changelog entry to a commit, if the changelog was changed and staged.

    If the user asked for the entry, the statement says that entries are made on request.
    """
    place = {turn.id: at for at, turn in enumerate(turns)}
    edited = next((place[turn.id] for turn, file in _changed(turns) if file.name == _CHANGELOG), len(turns))
    made = next((commit for commit in _commits(turns) if place[commit[0].id] > edited), None)
    if made is None:
        return
    turn, quote, _ = made
    ran = "\n".join(command for one in turns[edited : place[turn.id] + 1] for command in one.commands)
    if _STAGED.search(ran):
        typed = (one.text for one in turns if one.role is Role.USER and one.origin is Origin.USER)
        requested = any("changelog" in text.casefold() for text in typed)
        yield _draft(turn, _ON_REQUEST if requested else _NOTED, quote, "changelog")


def _subjects(turns: Sequence[Turn]) -> Iterator[Draft]:
    found = [(turn, quote, text) for turn, quote, text in _commits(turns) if _TYPED.match(text)]
    if len(found) >= _FEWEST_RUNS and len(found) == len(_commits(turns)):
        turn, quote, text = found[0]
        subject = text.splitlines()[0]
        yield _draft(
            turn,
            f"Commit subjects of this project begin with a type (Conventional Commits), as in `{subject}`.",
            quote,
            "subjects",
        )


def _staging(turns: Sequence[Turn]) -> Iterator[Draft]:
    """Yield the practice of staging files by name, if the assistant left other changes out of a commit."""
    said = [turn for turn in turns if turn.role is Role.ASSISTANT]  # tool turns have only beginnings of commands
    ran = [(turn, command) for turn in said for command in turn.commands if worked(turns, turn, command)]
    added = [(turn, found) for turn, command in ran for found in _ADDED.finditer(command)]
    named = all(_FILE.match(word) for _, found in added for word in found["what"].split() if word not in ("--", "\\"))
    heard = any(_LEFT_OUT.search(turn.text) for turn in said)
    if heard and added and named and not any(_ALL.search(command) for _, command in ran):
        turn, found = added[0]
        text = (
            "Only the files modified for the current task are staged before committing, by explicit file paths (`git add"
            " <file>`) rather than with `git add -A` or `git add .`: unrelated, pre-existing changes in the working tree are"
            " left uncommitted."
        )
        yield _draft(turn, text, found[0], "staging")


def _draft(turn: Turn, text: str, quote: str, name: str) -> Draft:
    # The statement about subjects quotes a commit, so its wording is not fixed, as that of a habit must be.
    habit = "" if name == "subjects" else name
    signs = (f"practice:{name}",)
    return Draft(turn, "pattern", text, quote, "practice", signs=signs, reason="seen in what was run", habit=habit)
