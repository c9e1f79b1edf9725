"""Removes the speaker from a sentence, so that it is a plain statement for a later reader.

"Good - the files are `Record<string, unknown>`, so I need to cast" becomes "The files are `Record<string, unknown>`,
so it is necessary to cast". Only the wording changes; the quote is kept verbatim.
"""

from __future__ import annotations

import re

from subconscious.capture.kernel import CAUSE
from subconscious.capture.narration import LEADING, LONGEST

_PREAMBLE = re.compile(
    r"\A(?:(?:now |so |ok(?:ay)?,? )*i(?:'ve| have)? (?:can |now |also |just |see|understand|found|identified|noticed|realized|confirmed|"
    r"have|a|the|clear|full|real|issue|problem|picture|pattern|cause|bug|what|is|happening|going on|why|it|that|exactly|,)(?:[ ,]|(?=[.:!—–-])))++"
    r"[^.:!—–`-]{0,30}[.:!—–-]+\s+(?=\S)|\A(?:the (?:issue|problem|bug|cause|reason|fix|answer|catch|key|real issue)|"
    r"summary|verdict|bottom line|root cause|short answer|point)(?: is)?[:.!—–-]+\s+(?=\S)|"
    r"\A(?:in short|note|so yes|yes|no|exactly|correct|valid|compiles clean|fixed|done|however|interestingly|specifically|importantly)"
    r"(?: is)?[:.!,—–-]+\s+(?=\S)",
    re.IGNORECASE,
)
"""Opening words of a sentence, with the punctuation and space after them. Names such as "No-op" do not match."""

_LABEL = re.compile(r"\A(?:question|point|catch|call|idea|find)[!.:—–-]+(?:\s+|\Z)", re.IGNORECASE)
_TAIL = re.compile(
    r"(?:(?:[,;:]|\s?[—–]+|\s-+)\s+(?:so |and |but |then )?|\s+(?:so|and|but|then)\s+)"
    r"(?:i'll|i will|i'm going to|let me|i'd|(?-i:let's(?! [A-Z]))|want me to|should i|shall i)\b[^.]*\.?\Z",
    re.IGNORECASE,
)
"""A clause about the next step, at the end of a sentence. The name "Let's Encrypt" does not match."""

_TODO = re.compile(r"\A(?:I(?:'ll| will)?|(?i:we)(?:'ll| will)?)(?: also| just| now)? (?:need|have) to\b")
"""The beginning of a task of the assistant. "You need to" does not match, because it addresses a person."""

_SHA = re.compile(
    r"\A(?:fixed|done|addressed|added|updated|resolved) (?:in|by|with) (?:commit )?"
    r"`?(?=\w*\d)(?=\w*[a-f])[0-9a-f]{7,40}\b`?\s*(?:[-—–:.,!]+(?:\s+|\Z)|\Z)",
    re.IGNORECASE,
)
"""The beginning of a reply to a reviewer that names a commit, as in "Fixed in 1a2b3c4"."""

_WORDS = (
    (
        re.compile(r"\b(?:I|we|you)(?:'ll| will)?(?: also| just| now)? (?:need|have) to\b", re.IGNORECASE),
        "it is necessary to",
    ),
    (
        re.compile(
            r"(?:(?:\A|(?<=[.;:,—–] )|(?<=, so )|(?<=, and )|(?<=, but )|(?<= - ))I|(?:\A|(?<=[.;:] ))(?i:we))(?:'ve| have)?"
            r"(?: also| now| just)? (?=(?:add|fix|replac|renam|chang|remov|mov|extract|creat|updat|switch|us|kept|made|wrote)\w*)",
        ),
        "",
    ),
    (
        re.compile(
            r"\b(?:my|our|your) (?=(?:fix|change|branch|implementation|code|test|config|shell|repo\w*|hook)\w*)",
            re.IGNORECASE,
        ),
        "the ",
    ),
    (re.compile(r"\b(?:I|we) can(?:'t|not)\b", re.IGNORECASE), "one can't"),
)


def impersonal(sentence: str) -> str:
    """Return a sentence without references to its speaker; "" if it states a task or is too long."""
    said = sentence.strip()
    if len(said) > LONGEST:
        return ""
    while (less := _less(said)) != said:
        said = less
    return said


def _less(said: str) -> str:
    """Remove a sentence's opening words, the next step at its end, and the first person; return "" for a task."""
    less = said
    while (opened := _opened(less)) != less:
        less = opened
    less = _TAIL.sub(".", less).strip()
    if _TODO.match(less) and not CAUSE.search(less):
        return ""
    for pattern, words in _WORDS:
        less = pattern.sub(words, less)
    begins = said.startswith(less.partition(" ")[0])
    return less[:1].upper() + less[1:] if not begins and re.match(r"[a-z]+,? [a-z(`]", less) else less


def _opened(said: str) -> str:
    for opener in (LEADING, _PREAMBLE, _LABEL, _SHA):
        said = opener.sub("", said, count=1)
    return said.strip()
