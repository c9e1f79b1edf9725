"""The web page's words for a memory shown to a session: why, how relevant it was, and whether it was used."""

from __future__ import annotations

import re
from collections.abc import Mapping

_RANKS = re.compile(r": (?P<ranks>[a-z]+ rank \d+(?:, [a-z]+ rank \d+)*)$", re.ASCII)
"""Matches the search ranks that earlier versions wrote at the end of a reason."""

ASKED: Mapping[str, str] = {"mcp": "Claude looked it up", "recall": "You asked for it", "why": "You asked for it"}
"""The reason shown for a memory that was requested, by the beginning of the event's name."""

WRITTEN: Mapping[str, str] = {
    "fits the prompt": "It fits your prompt",
    "fits the branch and the latest prompts": "It fits the branch and your latest prompts",
    "fits the branch and the latest words": "It fits the branch and your latest prompts",
    "recent in this project": "One of the latest memories of this project",
    "pinned": "You pinned it",
    "a standing rule of the user, or project knowledge": "A standing rule of yours, or knowledge of this project",
    "promoted to knowledge of this project": "It counts as knowledge of this project: its score is high",
}
"""The page's words for a recorded reason, or for the part of it before the colon."""

BEFORE_FILE: Mapping[str, str] = {
    "names the file": "It names the file {}",
    "bound to the file": "It is about the file {}",
    "about files of this type": "It is about files of the type of {}",
}
"""The page's words for recorded reasons that refer to a file; ``{}`` stands for the file's name."""

_VERBS = re.compile(r"\A(?:names|shares)\b")
"""Matches reasons that begin with a verb and therefore need a subject."""

_SHARE = re.compile(r"\d+ of its ", re.ASCII)
"""Matches the record that an answer repeated some of a memory's words or names, such as "3 of its names"."""

_OWN = re.compile(r"of its (\d+) own words", re.ASCII)

HIGH, FAIR = 0.75, 0.5
"""The lowest relevance, 0 to 1, that the page calls high, and the lowest that it calls fair.

A memory shown with a prompt has at least 0.6, unless it is unconfirmed.
"""

NOT_MEASURED = ("start", "mcp", "recall", "why", "fork")
"""Events at which memories are not chosen by relevance."""


def why(reason: str, event: str, about: str = "") -> str:
    """Return why a memory was shown to a session, as a sentence without its full stop."""
    plain = _RANKS.sub("", reason).strip()
    asked = next((words for name, words in ASKED.items() if event.startswith(name)), "")
    if asked or not plain:
        return asked or "The reason was not recorded"
    if plain in BEFORE_FILE:
        return BEFORE_FILE[plain].format(about or "that was touched")
    what, colon, how = plain.partition(": ")
    sentence = WRITTEN.get(what) or _subjected(what)
    return _to_reader(f"{sentence}{_how(how, what)}" if colon else sentence)


def _how(how: str, what: str) -> str:
    """Return the second part of a reason, which says how the memory fits."""
    if what not in WRITTEN and not what.startswith("a decision"):
        return f": {how}"
    words = how.removeprefix("shares ")
    return f": both say {words}" if words != how else f": {how}"


def _subjected(what: str) -> str:
    whole = f"it {what}" if _VERBS.match(what) else what
    return whole[:1].upper() + whole[1:]


def _to_reader(text: str) -> str:
    """Return a text in which "the user" is addressed as "you"."""
    return text.replace(" of the user", " of yours").replace("the latest prompts", "your latest prompts")


def relevance(value: float, event: str) -> str:
    """Return how relevant a memory was; "" if it was not chosen by relevance."""
    if event.startswith(NOT_MEASURED) or not value:
        return ""
    return "high" if value >= HIGH else "fair" if value >= FAIR else "low"


def outcome(response: str) -> tuple[str, str, str]:
    """Return whether a session used a memory: the words and the colour of the badge, and how it was used."""
    state, _, how = response.partition(": ")
    if state == "used":
        return "used", "good", _used(how)
    if state == "violated":
        return "not followed", "warn", "You had to say it again"
    return ("not used", "", "") if state else ("use not known yet", "open", "")


def _used(how: str) -> str:
    """Return how a session used a memory, as a sentence without its full stop."""
    if how == "named by its number":
        return "An answer names it by its number"
    if not _SHARE.match(how):
        return how
    return "An answer used " + _OWN.sub(r"of the memory's \1 distinctive words", how)


FILTERS = {"outcome": outcome, "relevance": relevance, "why": why}
"""The filters of the templates, by name."""
