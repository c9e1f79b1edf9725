"""What an error is known by, and how sure it is that a memory speaks of the same one.

Absolute: what codes, names and rare words two texts share, never how they rank. A tool's output is compared and
forgotten.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass

from subconscious.model import Memory
from subconscious.search.words import STOP_WORDS, stem

HEAD, TAIL = 1000, 3000
"""Characters of an output that are looked at: what failed stands at either end."""
MOST = 16
"""Words of an error by which memories are looked for."""

CONSTANT = -3.0
SPECIFIC = 3.0
FURTHER = 1.0
GENERAL = 1.2
A_WORD, MOST_WORDS = 0.6, 4
"""Words alone, however many, are never enough: errors of one sort are told in the same ones."""
WARNS, WARNING_KINDS = 0.6, frozenset({"dead_end", "blocker", "learning", "lesson"})
"""Kinds that tell of what goes wrong."""

_CODE = re.compile(
    r"\b(?:[A-Z]{1,6}-?\d{3,6}|E[A-Z]{4,}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|0x[0-9a-fA-F]{6,}|SIG[A-Z]{3,5})\b"
)
_STATUS = re.compile(r"\b(?:status(?: code)?|http(?:/[\d.]+)?|response)\W{1,3}([45]\d\d)\b", re.IGNORECASE)
_KINDS_OF_ERROR = "Error|Exception|Warning|Failure|Timeout|Fault"
_NAME = re.compile(rf"\b([A-Z]\w*(?:{_KINDS_OF_ERROR}))\b(?!\.[A-Z]\w*(?:{_KINDS_OF_ERROR})\b)")
_THING = re.compile(r"['\"`\u2018\u201c]([\w@./:-]{3,80})['\"`\u2019\u201d]")
_WORD = re.compile(r"[^\W\d_][\w-]{2,40}")

GENERAL_NAMES = frozenset(
    "assertionerror attributeerror error exception fatalerror importerror indexerror ioerror keyerror"
    " modulenotfounderror nameerror oserror parseerror rangeerror referenceerror runtimeerror syntaxerror"
    " timeouterror typeerror userwarning deprecationwarning valueerror filenotfounderror".split()
)
"""Names that say what sort of thing went wrong, and not what."""

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
"""Words that errors of every sort have."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What an error is known by, folded: its codes and the names that are its own, names that many have, words."""

    specific: frozenset[str] = frozenset()
    general: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()

    @property
    def terms(self) -> list[str]:
        """What to look for, the most telling first."""
        found = [part for name in sorted(self.specific) for part in re.findall(r"\w+", name)]
        return list(dict.fromkeys([*found, *sorted(self.general), *self.words]))[: 2 * MOST]


def fault_of(output: str) -> Fault:
    """Read what failed out of a tool's error."""
    text = output if len(output) <= HEAD + TAIL else f"{output[:HEAD]}\n{output[-TAIL:]}"
    names = {name.casefold() for name in _NAME.findall(text)}
    codes = {code.casefold() for code in _CODE.findall(text) if code not in GENERAL_CODES}
    codes |= {f"{status}" for status in _STATUS.findall(text)}
    things = {thing.casefold() for thing in _THING.findall(text) if re.search(r"[a-z][-_.@:]\w|[a-z][A-Z]", thing)}
    specific = codes | (names - GENERAL_NAMES) | things
    words = [word.casefold() for word in _WORD.findall(text)]
    kept = (word for word in words if word not in COMMON and word not in names and word not in specific)
    return Fault(frozenset(specific), frozenset(names & GENERAL_NAMES), tuple(dict.fromkeys(kept))[:MOST])


def likeness(memory: Memory, fault: Fault, rare: Collection[str]) -> tuple[float, tuple[str, ...]]:
    """How sure it is, 0..1, that a memory speaks of an error, and what they share; of words only the ``rare`` count."""
    text = f"{memory.summary} {memory.content} {memory.rationale} {' '.join(memory.tags)}".casefold()
    own = [name for name in sorted(fault.specific) if _stands_in(name, text)]
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
