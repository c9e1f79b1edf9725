"""Names the branch in statements that are for one branch: "on this branch no migrations"."""

from __future__ import annotations

import re

from subconscious.text.wording import content_words

_ONLY = r"(?:just|only|alone|nur|solo|s[o\u00f3]lo|s[o\u00f3]|seulement)"
_HERE = re.compile(
    rf"(?:,\s*|\b)(?:{_ONLY} )*"
    r"(?:(?:for|on|in) this (?:feature )?branch"
    r"|(?:f\u00fcr|auf|in) diese[mnrs] (?:feature[- ]?)?(?:branch|zweig)"
    r"|(?:pour|sur|dans) (?:cette|ce) branche?"
    r"|(?:(?:para|en) est[ae]|nest[ae]) (?:rama|ramo|branch)"
    r"|(?:per|su|in) quest[oa] (?:ramo|branch))\b"
    rf"(?: {_ONLY}\b)*",
    re.IGNORECASE,
)
"""Words that limit a statement to the branch on which it is made."""

_NAME = re.compile(r"[\w.+#/-]{1,100}")
_SCOPED = re.compile(r"On the branch (?P<name>[\w.+#/-]{1,100}): ")

_FEWEST_WORDS = 2
"""The minimum number of words that carry meaning in the rest of a statement."""


def without_scope(text: str) -> str:
    """Return a statement for "this branch" without those words; "" if it is none."""
    found = _HERE.search(text)
    if found is None:
        return ""
    head, tail = text[: found.start()].rstrip(), text[found.end() :]
    rest = f"{head}{tail}" if head else tail.lstrip(" ,:")
    return rest if len(content_words(rest)) >= _FEWEST_WORDS else ""


def scoped(text: str, branch: str) -> str:
    """Return a statement with the branch that it is for."""
    return f"On the branch {branch}: {text}"


def is_name(branch: str) -> bool:
    """Whether a branch's name can be part of a sentence."""
    return bool(_NAME.fullmatch(branch))


def branch_of(content: str) -> str:
    """Return the branch that a statement is for, if it begins with that; else ""."""
    found = _SCOPED.match(content)
    return found["name"] if found else ""
