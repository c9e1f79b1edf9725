"""Writes the reasons why memories are added to sessions' contexts, which `why-surfaced` and the web page show."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from subconscious.domain.hits import Hit
from subconscious.domain.model import Memory
from subconscious.surfacing.portfolio import is_rule
from subconscious.text.terms import query_terms, stem

FITS = "fits the prompt"
FIT = "fits the branch and the latest prompts"
"""The reasons for search results: FITS for those added with a prompt, FIT for those added at a session's start."""

NAMES_STEP = "the memory is about a step, a command or a type of files that the prompt names"
OF_TYPE = "about files of this type"
OF_FOLDER = "names a folder that the file is in"
NAMES_PATH = "names a folder or file that the prompt names"

RECENT = "one of the latest memories of this project"
PROMOTED = "promoted to knowledge of this project"
WAY_OUT = "what worked after a failure that recurs in this project"

ENGINES = MappingProxyType({"vector": "similar in meaning", "graph": "linked to memories that fit"})
"""The reason for hits that share no word with the query, by the engine that found them."""

MOST_WORDS, MOST_FILES = 4, 3

_WORD = re.compile(r"[^\W\d_]{3,24}")
"""Words that a reason may repeat. Tokens with digits are left out: they say little, and may be secrets."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known at a session's start: words about its work, its branch, and names of the last session's files."""

    words: str = ""
    branch: str = ""
    files: Collection[str] = ()


def shared_words(asked: str, memory: Memory) -> list[str]:
    """Return the first few words that a query shares with a memory."""
    stems = {stem(term) for term in query_terms(asked)}
    found: dict[str, str] = {}
    for word in _WORD.findall(memory.content):
        if (stemmed := stem(word.casefold())) in stems:
            found.setdefault(stemmed, word)
    return list(found.values())[:MOST_WORDS]


def fitting(what: str, asked: str, hit: Hit) -> str:
    """Return ``what`` ("fits the prompt") and the words that query and hit share, or else how the hit was found."""
    if words := shared_words(asked, hit.memory):
        return f"{what}: shares {listed(words)}"
    found = {engine.engine for engine in hit.engines}
    how = next((words for name, words in ENGINES.items() if name in found), "")
    return f"{what}: {how}" if how else what


def of_prompt(prompt: str, hits: Sequence[Hit], bound: Sequence[Hit]) -> dict[int, str]:
    """Return the reason for each memory added with a prompt, by memory id.

    ``hits`` are the search results, ``bound`` the failures and habits that the prompt makes relevant.
    """
    reasons = {hit.memory.id: fitting(FITS, prompt, hit) for hit in hits}
    return reasons | {hit.memory.id: NAMES_STEP for hit in bound}


def at_start(hit: Hit, group: str, known: Known) -> str:
    """Return the reason why a memory, chosen from ``group``, is added at a session's start."""
    memory = hit.memory
    if group == "pinned":
        return "pinned"
    if group == "rule":
        return f"a standing {memory.kind} of the user" if is_rule(memory) else PROMOTED
    if group == "way out":
        return WAY_OUT
    if group == "decision":
        return _of_decision(hit, known)
    return fitting(FIT, known.words, hit) if hit.engines else RECENT


def _of_decision(hit: Hit, known: Known) -> str:
    """Return the reason for a decision: a file that it is about, its branch, or the words that it shares."""
    names = {file.replace("\\", "/").rpartition("/")[2]: file for file in hit.memory.files}
    if files := [name for name in names if name in known.files]:
        return f"a decision about {listed(files[:MOST_FILES])}, on which the last session worked"
    if known.branch and hit.memory.branch == known.branch:
        return f"a decision made on the branch {known.branch}"
    return fitting("a decision that fits the branch and the latest prompts", known.words, hit)


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
