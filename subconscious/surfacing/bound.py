"""What shows that a session needs an observed failure or a habit: a prompt's words, or the type of a file. Pure.

Such a memory helps only a session that works on such files or is about to take that step. It is given with the prompt
or the file that shows it, and not at a start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from subconscious.capture.draft import PRACTISED
from subconscious.failures.checks import CHECKED_TYPES, may_reject
from subconscious.failures.wording import is_observed
from subconscious.model import Memory
from subconscious.surfacing.files import Touched

_SCRIPTS = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"})
_PYTHON = frozenset({".py", ".pyi"})
_TOOLS = (
    (re.compile(r"`(?:bun|npm|pnpm|yarn|npx|vitest|jest|biome|eslint)\b"), _SCRIPTS),
    (re.compile(r"`go\b"), frozenset({".go"})),
    (re.compile(r"`cargo\b"), frozenset({".rs"})),
    (re.compile(r"`(?:pytest|uv|poetry|ruff|mypy|nox|tox)\b"), _PYTHON),
    (re.compile(r"`(?:gradle|mvn)\b"), frozenset({".java", ".kt", ".kts"})),
    (re.compile(r"`rake\b"), frozenset({".rb", ".rake"})),
    (re.compile(r"`mix\b"), frozenset({".ex", ".exs"})),
    (re.compile(r"`dotnet\b"), frozenset({".cs", ".fs"})),
)
"""The types of the files that tools work on, by the tool's name at the beginning of a command."""

_CODE = frozenset({".c", ".cc", ".cpp", ".h", ".swift", ".php", ".sh"}).union(*(types for _, types in _TOOLS))

_COMMIT = re.compile(r"\b(?:commit\w*|stage|push|changelog|release|pull request|prs?)\b", re.IGNORECASE)
_REVIEW = re.compile(r"\b(?:reviews?|reviewers?|comments?|feedback|pull request|prs?)\b", re.IGNORECASE)
_PULL = re.compile(r"\b(?:pull request|prs?|draft)\b", re.IGNORECASE)

_STEPS = (
    (re.compile(r"staged before committing|in the same commit as|\ACommit subjects\b"), _COMMIT),
    (re.compile(r"\APull requests of this project\b"), _PULL),
    (re.compile(r"\AA review comment on a pull request\b"), _REVIEW),
)
"""Habits about a step that is asked for, with the words that ask for it."""

_VERIFYING = re.compile(
    r"\bstandard commands to verify changes\b|\ATests of this project are run with\b"
    r"|\b(?:single test|tests of a single file) of this project\b"
)
"""Habits about how a change is checked: a prompt that names one of the commands needs them."""

_CHECK_FAILED = re.compile(
    r"`[^`]*\b(?:tests?|lint|typecheck|type-check|check|build|vet|jest|vitest|pytest|tsc|mypy|ruff|clippy)\b[^`]*`"
    r"(?: \([^)]{0,200}\))? failed(?: here\b| after edits due to formatting\b| due to formatting\b)"
)
"""A command that checks a change, and failed for a reason of its own: whoever changes code will run it."""

_EDITS = re.compile(r"Editing files of type `(?P<type>\.\w{1,10})`")
_CHECK = re.compile(r"The lint check `(?P<name>[^`]{1,60})`")
_CALL = re.compile(r"(?:Calling the skill|Starting the agent) `(?P<name>[^`]{1,200})`")
_TYPE = re.compile(r"(?<=[\w*/` (\"'])\.[A-Za-z]\w{0,9}\b(?!\()|(?:\A|(?<=\s))\.[A-Za-z]\w{0,9}\b(?=\s+files?\b)")
"""The end of a file's name, or a type that is named as one."""

_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Binding:
    """The types of files whose reading or changing shows that a memory is needed, and what a prompt says then."""

    read: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    asked: re.Pattern[str] = _NEVER
    check: str = ""
    """The lint check that new code must look likely to fail, if any."""

    def fits_prompt(self, prompt: str) -> bool:
        """Whether a prompt asks for the step, or names a file of a type that is bound even when it is only read."""
        return bool(self.asked.search(prompt)) or not self.read.isdisjoint(_TYPE.findall(prompt))

    def fits_file(self, touched: Touched) -> bool:
        """Whether a file's type shows it, and for a lint check also what was written there."""
        types = self.read | self.changed if touched.changed else self.read
        return PurePath(touched.path).suffix in types and (not self.check or may_reject(self.check, touched.written))


def binding_of(memory: Memory) -> Binding | None:
    """Return what a memory is bound to; None where it may be given at any start."""
    if memory.pinned or not (is_observed(memory.extractor) or memory.extractor == PRACTISED or _is_repair(memory)):
        return None
    return _binding(memory.content)


def _is_repair(memory: Memory) -> bool:
    """Whether a memory tells how a failed check was mended, as capture words it."""
    return bool(_REPAIR.match(memory.content))


_REPAIR = re.compile(
    r"`[^`]{1,120}`(?: \([^)]{0,200}\))? failed(?: after edits)? due to formatting: a separate auto-fix"
)


@lru_cache(maxsize=500)
def _binding(content: str) -> Binding | None:
    return next(_bindings(content), None)


def _bindings(content: str) -> Iterator[Binding]:
    if found := _EDITS.match(content):
        yield Binding(read=frozenset({found["type"]}))
    if check := _CHECK.match(content):
        yield Binding(changed=CHECKED_TYPES.get(check["name"], _CODE), check=check["name"])
    if call := _CALL.match(content):
        name = re.escape(call["name"].rpartition(":")[2])
        yield Binding(asked=re.compile(rf"(?<![\w-]){name}(?![\w-])", re.IGNORECASE))
    yield from (Binding(asked=words) for habit, words in _STEPS if habit.search(content))
    if _VERIFYING.search(content):
        yield Binding(asked=_commands_in(content))
    if _CHECK_FAILED.match(content):
        types = [its for tool, its in _TOOLS if tool.search(content)]
        yield Binding(changed=frozenset().union(*types) if types else _CODE, asked=_commands_in(content))


def _commands_in(content: str) -> re.Pattern[str]:
    """Return a pattern of the commands that a habit names: a prompt with one of them is about these checks."""
    named = [re.escape(command) for command in re.findall(r"`([^`\s]+ [^`]+)`", content)]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(named)})(?![\w-])", re.IGNORECASE) if named else _NEVER


def types_of(content: str) -> frozenset[str]:
    """Return the types of files that a memory of this content may be bound to."""
    found = _binding(content)
    return found.read | found.changed if found else frozenset()
