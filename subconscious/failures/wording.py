"""The sentence about a failure and its way out: a fixed template with placeholders for commands and paths."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from subconscious.domain.model import OBSERVED_OFTEN, OBSERVED_ONCE
from subconscious.failures.checks import CHECKS

EXTRACTOR = OBSERVED_OFTEN
"""The name of the extractor of memories that were learned from tool calls alone."""

ONCE = OBSERVED_ONCE
"""The name of the extractor of memories about failures that only one session met."""

FAILED_HERE = " failed here"

TEMPLATES: Mapping[str, str] = {
    "instead": "`{failed}` failed here; `{way_out}` then worked.",
    "without": "`{failed}` with `{dropped}` failed here; without it, it then worked.",
    "directory": "`{failed}` failed here in {dropped}; in {way_out} it then worked.",
    "repository": "`{failed}` for the repository `{dropped}` failed here; with `{way_out}` it then worked.",
    "repair": "`{failed}` failed here; after `{way_out}` the same command then worked.",
    "skill": "Calling the skill `{failed}` failed here: that skill does not exist.",
    "agent": "Starting the agent `{failed}` failed here: that type of agent does not exist.",
    "glob": (
        "Commands with an unquoted `?`, `*` or `[` failed here where no file matched, as the shell is zsh: such"
        " arguments need quotes."
    ),
    "worktree": "Checking out the branch `{failed}` failed here: another worktree has it checked out.",
    "check": "The lint check `{failed}` failed here: {way_out}.",
    "path": "Looking for `{failed}` failed here; the file then found is `{way_out}`.",
    "tabs": (
        "Editing files of type `{failed}` failed here, as the indentation of the text to replace was not that of the"
        " file: such files are indented with tabs; the same text with one or more tabs added to each line then worked."
    ),
    "spaces": (
        "Editing files of type `{failed}` failed here, as the indentation of the text to replace was not that of the"
        " file; the same text with the file's own spaces then worked."
    ),
    "unread": "Editing files that had not been read failed here; reading them first, then editing them worked.",
    "changed": (
        "Editing files that had changed since they were read failed here; reading them again just before each edit then"
        " worked."
    ),
}
"""The templates, by how the way out differs from the failed call."""

_TIMES = re.compile(re.escape(FAILED_HERE))

_INDENTATION = ", as the indentation of the text to replace was not that of the file"
_SHORTER = ((f"{_INDENTATION}; ", ": "),)
"""Shorter wordings to display. Stored sentences keep the long wording, so that decisions about them stay valid."""

_TYPES = r"`\.\w{1,10}`(?:(?:, | and )`\.\w{1,10}`)*"
_TABS = re.compile(re.escape(TEMPLATES["tabs"]).replace(re.escape("`{failed}`"), f"(?P<types>{_TYPES})"))
"""The sentence about edits of files that are indented with tabs, for one or several file types."""

_FOUND = re.compile(r"; the file then found is `(?P<path>[^`]+)`\.\Z")

_WHITESPACE = re.compile(r"`(?:cat -(?:A|[vet]{1,3})|od -c|sed -n l)\b[^`]*` failed here\b")
"""A sentence about a failed command that shows tabs and spaces."""


def sentence(sort: str, slots: Mapping[str, str]) -> str:
    """Return the sentence about a failure and its way out."""
    return TEMPLATES[sort].format(**{name: slots.get(name, "") for name in ("failed", "way_out", "dropped")})


def is_ours(content: str, sort: str, slots: Mapping[str, str]) -> bool:
    """Whether a text is exactly the sentence made from these values, and no value quoted in it contains a backquote."""
    if sort == "check" and CHECKS.get(slots.get("failed", "")) != slots.get("way_out"):
        return False
    quoted = {name: slot for name, slot in slots.items() if sort != "check" or name == "failed"}
    return sort in TEMPLATES and not any("`" in slot for slot in quoted.values()) and content == sentence(sort, slots)


def found_path(content: str) -> str:
    """Return the path of the file that was found instead of a missing one; "" for any other sentence."""
    found = _FOUND.search(content)
    return found["path"] if found else ""


def tabbed_types(content: str) -> tuple[str, ...]:
    """Return the file types that a sentence describes as indented with tabs; none for any other sentence."""
    found = _TABS.match(content)
    return tuple(re.findall(r"\.\w+", found["types"])) if found else ()


def shows_whitespace(content: str) -> bool:
    """Whether a sentence is about a command that shows tabs and spaces, which sessions run after a failed edit."""
    return bool(_WHITESPACE.match(content))


def of_types(types: Sequence[str], ways_out: Sequence[str] = ()) -> str:
    """Return a sentence about the file types that are indented with tabs, followed by the sentences ``ways_out``."""
    *others, last = (f"`{one}`" for one in types)
    named = f"{', '.join(others)} and {last}" if others else last
    return " ".join((TEMPLATES["tabs"].replace("`{failed}`", named), *ways_out))


EXPLAINED = 4
"""The most checks in a list that are explained; of further checks, the list contains only the names."""


def of_checks(rejected: Sequence[tuple[str, int]]) -> str:
    """Return one sentence about several lint checks, from their names and the number of sessions that met them."""
    known = [(name, times) for name, times in rejected if name in CHECKS]
    first, *others = (f"`{name}` in {times} {{}}({CHECKS[name]})" for name, times in known[:EXPLAINED])
    listed = ", ".join((first.format("sessions "), *(one.format("") for one in others)))
    named = ", ".join(f"`{name}`" for name, _ in known[EXPLAINED:])
    return f"Lint checks that rejected code here: {listed}{f'; also {named}' if named else ''}."


def rendered(content: str, sessions: int) -> str:
    """Return a sentence as it is shown to a session: shorter, and with the number of sessions that met the failure."""
    if tabs := _TABS.match(content):
        times = f"in {sessions} sessions " if sessions > 1 else ""
        return (
            f"Files of type {tabs['types']} are indented with tabs here: edits failed {times}until the text to replace"
            f" had all tabs of each line.{content[tabs.end() :]}"
        )
    for words, shorter in _SHORTER:
        content = content.replace(words, shorter)
    return _TIMES.sub(f"{FAILED_HERE} in {sessions} sessions", content, count=1) if sessions > 1 else content
