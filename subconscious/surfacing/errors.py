"""Extracts the features of an error, and computes the probability that a memory is about the same error.

The probability does not depend on other memories: it counts shared codes, names, folders and rare words. The output of
a tool is compared and never stored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import zip_longest

from subconscious.domain.model import Memory
from subconscious.text.terms import STOP_WORDS, stem

HEAD, TAIL = 1000, 3000
"""The most characters of an output that are read at its beginning, and at its end, where failures are reported."""
MOST = 16
"""The most words of an error that are searched for."""

CONSTANT = -3.0
SPECIFIC = 3.0
FURTHER = 1.0
GENERAL = 1.2
A_WORD, MOST_WORDS = 0.6, 4
"""The weight of each shared word, and how many words count. Words alone are never enough: many errors share them."""
WARNS, WARNING_KINDS = 0.6, frozenset({"dead_end", "blocker", "learning", "lesson"})
"""The weight of a memory about a problem, and the kinds of such memories."""

_CODE = re.compile(
    r"\b(?:[A-Z]{1,6}-?\d{3,6}|E[A-Z]{4,}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|0x[0-9a-fA-F]{6,}|SIG[A-Z]{3,5})\b"
)
_STATUS = re.compile(r"\b(?:status(?: code)?|http(?:/[\d.]+)?|response)\W{1,3}([45]\d\d)\b", re.IGNORECASE)
_KINDS_OF_ERROR = "Error|Exception|Warning|Failure|Timeout|Fault"
_NAME = re.compile(rf"\b([A-Z]\w*(?:{_KINDS_OF_ERROR}))\b(?!\.[A-Z]\w*(?:{_KINDS_OF_ERROR})\b)")
_THING = re.compile(r"['\"`\u2018\u201c]([\w@./:-]{3,80})['\"`\u2019\u201d]")
_WORD = re.compile(r"[^\W\d_][\w-]{2,40}")
_PATH = re.compile(r"(?<![\w.@/-])/?((?:[\w.@-]{1,60}/){2,20})[\w.@-]{1,80}")
_FOLDER = re.compile(r"`\.?/?([\w@-]{2,40}(?:/[\w@-]{2,40}){1,4})/?`")
"""A folder in a memory, with at least one folder above it."""
_FAILING = re.compile(r"\b(?:fail\w*|errors?|broken?|breaks|missing|crash\w*|left ?overs?|stale)\b", re.IGNORECASE)

MOST_FOLDERS = 50

GENERAL_NAMES = frozenset(
    "assertionerror attributeerror error exception fatalerror importerror indexerror ioerror keyerror"
    " modulenotfounderror nameerror oserror parseerror rangeerror referenceerror runtimeerror syntaxerror"
    " timeouterror typeerror userwarning deprecationwarning valueerror filenotfounderror".split()
)
"""Names of error classes that say little about an error."""

GENERAL_CODES = frozenset(
    {"EXIT", "ERROR", "ENOENT", "FAILED", "EXPECTED", "ERR", "EISDIR", "EEXIST", "EACCES", "EPERM"}
)

COMMON = STOP_WORDS | frozenset(
    "actual argument arguments array assert assertion at attribute bad bash build call called cannot character"
    " class code column command compile could current data default defined directory does error errors exception"
    " exists exit expected expression fail failed failure fatal file files first found function got home import"
    " index input instead integer internal invalid key last line list local match message method missing module"
    " most name new node none not null number object open option output package parameter pass passed path project"
    " python read received recent required result return returned root run running script string such test tests"
    " text this traceback trace true false tried trying type types undefined unexpected unknown use used user usr"
    " value values version warning was with".split()
)
"""Words that occur in all kinds of errors."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The features of an error: codes and specific names, general names, words (all in lower case), and folders."""

    specific: frozenset[str] = frozenset()
    general: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """The folders of the files that the error names."""

    @property
    def terms(self) -> list[str]:
        """Return the search terms, the most specific first."""
        found = [part for name in sorted(self.specific) for part in re.findall(r"\w+", name)]
        return list(dict.fromkeys([*found, *sorted(self.general), *self.words]))[: 2 * MOST]

    @property
    def folder_names(self) -> list[str]:
        """Return the names of all folders, those nearest to the root first."""
        split = [folder.split("/") for folder in self.folders]
        names = (part for level in zip_longest(*split, fillvalue="") for part in level if re.fullmatch(r"\w{2,}", part))
        return list(dict.fromkeys(names))[: 2 * MOST]

    def folder_named(self, text: str) -> str:
        """Return a folder that ``text`` calls failing and in which the error has files; "" if there is none."""
        named = _FOLDER.findall(text) if _FAILING.search(text) else []
        return next((one for one in named if any(f"/{one}/" in f"/{folder}/" for folder in self.folders)), "")


def fault_of(output: str) -> Fault:
    """Return the features of an error in the output of a tool."""
    text = output if len(output) <= HEAD + TAIL else f"{output[:HEAD]}\n{output[-TAIL:]}"
    names = {name.casefold() for name in _NAME.findall(text)}
    codes = {code.casefold() for code in _CODE.findall(text) if code not in GENERAL_CODES}
    codes |= {f"{status}" for status in _STATUS.findall(text)}
    things = {thing.casefold() for thing in _THING.findall(text) if re.search(r"[a-z][-_.@:]\w|[a-z][A-Z]", thing)}
    specific = codes | (names - GENERAL_NAMES) | things
    words = [word.casefold() for word in _WORD.findall(text)]
    kept = (word for word in words if word not in COMMON and word not in names and word not in specific)
    folders = tuple(dict.fromkeys(found.rstrip("/") for found in _PATH.findall(text)))[:MOST_FOLDERS]
    return Fault(frozenset(specific), frozenset(names & GENERAL_NAMES), tuple(dict.fromkeys(kept))[:MOST], folders)


def likeness(memory: Memory, fault: Fault, rare: Collection[str]) -> tuple[float, tuple[str, ...]]:
    """Return the probability that a memory is about an error, and the terms that both contain.

    Of the error's words only those in ``rare`` count.
    """
    text = f"{memory.summary} {memory.content} {memory.rationale} {' '.join(memory.tags)}".casefold()
    own = [name for name in sorted(fault.specific) if _stands_in(name, text)]
    own += filter(None, [fault.folder_named(memory.content)])
    general = [name for name in sorted(fault.general) if _stands_in(name, text)]
    stems = {stem(word) for word in re.findall(r"\w+", text)}
    parts = {part for name in own for part in re.findall(r"\w+", name)}
    words = [word for word in fault.words if word in rare and word not in parts and stem(word) in stems]
    raw = (
        CONSTANT
        + SPECIFIC * bool(own)
        + FURTHER * (len(own) > 1)
        + GENERAL * bool(general)
        + A_WORD * min(MOST_WORDS, len(words))
        + WARNS * (memory.kind in WARNING_KINDS)
    )
    return 1.0 / (1.0 + math.exp(-raw)), (*own, *general, *words[:MOST_WORDS])


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
