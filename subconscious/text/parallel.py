"""Decides whether two statements are like entries of a list: they differ in subject, but agree in form or numbering.

"The mail service listens on 7071" differs in subject and value from "the billing service listens on 7070", so both can
be true. A statement that replaces another has the same subject, or another form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from subconscious.text.statement import Statement, parse

LONGEST_SPAN = 2
"""The maximum number of words in which the subjects, or the values, of statements of the same form may differ."""

_TOPIC = re.compile(r"(?:for|in|on|at|für|bei|pour|para|en) (?P<topic>(?!(?:the|an?|our|now|der|die|das)\b)[\w-]+)\b")
"""A pattern of a topic before a statement: "for tests we use SQLite"."""

Part = tuple[str, bool]
"""A word that carries meaning, and whether it is negated."""


def are_parallel(one: str, other: str) -> bool:
    """Whether the subjects and the values of two statements differ, and the words between subject and value agree.

    If both begin with a topic ("for tests we ..."), only the topics are compared.
    """
    topics = _TOPIC.match(one.casefold()), _TOPIC.match(other.casefold())
    if topics[0] and topics[1]:
        return topics[0]["topic"] != topics[1]["topic"]
    first, second = _parts(parse(one)), _parts(parse(other))
    spans = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    kinds = [kind for kind, *_ in spans]
    if kinds[:2] != ["replace", "equal"] or "replace" not in kinds[2:] or {"insert", "delete"} & set(kinds):
        return False
    return all(
        max(end - begin, its_end - its_begin) <= LONGEST_SPAN
        for kind, begin, end, its_begin, its_end in spans
        if kind == "replace"
    )


def _parts(side: Statement) -> Sequence[Part]:
    return [(word.key, word.negated) for word in side.words]


def are_counted_apart(new: str, old: str) -> bool:
    """Whether two statements name things of one kind with different numbers: step 1, step 2."""
    mine, its = _counted(new), _counted(old)
    return any(mine[sort].isdisjoint(its[sort]) for sort in mine.keys() & its.keys())


def have_numbered_subjects(new: str, old: str) -> bool:
    """Whether two statements begin with different numbered things: "node 1 runs ...", "node 2 runs ...".

    Elsewhere in a statement, a numbered thing may be the value that has changed: "the API moved to server 2".
    """
    mine, its = (_NUMBERED_SUBJECT.match(text.casefold()) for text in (new, old))
    return mine is not None and its is not None and mine.groups() != its.groups()


def _counted(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for match in _COUNTED.finditer(text.casefold()):
        found.setdefault(match["sort"], set()).add(match["number"])
    return found


def are_lettered_apart(new: str, old: str) -> bool:
    """Whether two statements name things of one kind with different letters: "rev a", "rev b"."""
    mine, its = (dict(_LETTERED.findall(text.casefold())) for text in (new, old))
    return any(mine[sort] != its[sort] for sort in mine.keys() & its.keys())


_COUNTED = re.compile(
    r"(?P<sort>\b(?:number|no\.|nr\.?|case|step|stage|phase|part|ticket|issue|bug|pr|task|story|item|test|rule|option|room|"
    r"table|shard|node|worker|tenant|customer|team|floor|build|chapter|fall|schritt|teil|paso|caso|étape|etapa|passo)|#)"
    r"\s?#?(?P<number>\d+)\b"
)

_NUMBERED_SUBJECT = re.compile(
    r"(?:(?:on|in|for|from|at|the|our)\s+)*(?:(?!(?:to|on|in|at|use|uses|is|are|keep|allow)\b)[\w-]+\s+){0,2}?"
    r"(number|no\.|case|step|stage|phase|part|ticket|issue|bug|pr|task|story|item|rule|option|room|table|shard|worker|"
    r"tenant|customer|team|floor|chapter|server|region|rack|level|topic|zone|machine|host|cluster|replica|partition|"
    r"sprint|milestone|round|wave|layer|tier|site|building|camera|sensor|board|device|slot|line|lane|track|group|batch|"
    r"week|node(?=\s?#?\d\b)|fall|schritt|teil|stufe|paso|caso|étape|etapa|passo)"
    r"\s?#?(\d{1,5})\b(?![.,]?\d)"
)
"""A pattern of a numbered thing as the subject, except "node 20", which is probably a version of Node.js."""

_LETTERED = re.compile(
    r"\b(?P<sort>rev|revision|variant|option|plan|phase|group|team|room|line|board|type|class|site|zone|track|variante|"
    r"gruppe|zone|typ|groupe|grupo|tipo|opción|opção)\s(?P<number>[a-z])\b"
)
