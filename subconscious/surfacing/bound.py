"""Binds observed failures and habits to the prompts and files for which they are relevant. Does no I/O.

A failure or habit only helps a session that works on certain files or is about to take a certain step. So its memory is
shown with a prompt or file of this kind, and not at a session's start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from subconscious.capture.draft import PRACTISED
from subconscious.domain.model import Memory
from subconscious.domain.observed import is_observed
from subconscious.failures.checks import CHECKED_TYPES, may_reject
from subconscious.failures.wording import TEMPLATES, shows_whitespace, tabbed_types
from subconscious.recall.file_binding import Touched
from subconscious.text.edit_distance import slips

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
"""The types of files that tools work on, by the name of the tool in a command."""

_FAMILIES = (_SCRIPTS, _PYTHON, frozenset({".c", ".cc", ".cpp", ".h"}), frozenset({".kt", ".kts"}))
"""Groups of file types that a project formats in the same way."""

_CODE = frozenset({".c", ".cc", ".cpp", ".h", ".swift", ".php", ".sh"}).union(*(types for _, types in _TOOLS))

_TABS_ONLY = frozenset({".go", ".mk"})
"""File types that are always indented with tabs, by their formatter or syntax. Every session knows this already."""

_COMMIT = re.compile(r"\b(?:commit\w*|stage|push|changelog|release|pull request|prs?)\b", re.IGNORECASE)
_REVIEW = re.compile(r"\b(?:reviews?|reviewers?|comments?|feedback|pull request|prs?)\b", re.IGNORECASE)
_PULL = re.compile(r"\b(?:pull request|prs?|draft)\b", re.IGNORECASE)

_MERGE = re.compile(r"\b(?:merge\w*|merging|rebase\w*|conflicts?)\b", re.IGNORECASE)

_STEPS = (
    (re.compile(r"staged before committing|in the same commit as|\ACommit subjects\b"), _COMMIT),
    (re.compile(r"\APull requests of this project\b"), _PULL),
    (re.compile(r"\AA review comment on a pull request\b"), _REVIEW),
)
"""Habits about a step, each with the words of prompts that ask for the step."""

_UNSEEN = re.compile(r"staged before committing")
"""Habits that can be seen neither in the files nor in the history of a project."""

_TAGGED = re.compile(r"\ATests of this project are run with a build tag: `[^`]*-tags[= ](?P<tag>\w{3,30})")
"""Habits about tests that need a build tag. The names of the tests' files or folders usually contain the tag."""

_VERIFYING = re.compile(r"\bstandard commands to verify changes\b|\ATests of this project are run with\b")
"""Habits about checking a change. They are shown with a prompt that names one of their commands."""

_STALE = re.compile(r"\ADiagnostics of the language server \((?P<server>[\w-]+)\) are often stale\b")
_SERVERS = {
    "gopls": frozenset({".go"}),
    "pyright": _PYTHON,
    "tsserver": _SCRIPTS,
    "rust-analyzer": frozenset({".rs"}),
    "clangd": frozenset({".c", ".cc", ".cpp", ".h"}),
}
"""The file types that a language server reads."""

_CHECK_FAILED = re.compile(
    r"`[^`]*\b(?:tests?|lint|typecheck|type-check|check|build|vet|jest|vitest|pytest|tsc|mypy|ruff|clippy)\b[^`]*`"
    r"(?: \([^)]{0,200}\))? failed(?: here\b| after edits due to formatting\b| due to formatting\b)"
)
"""Failures of a command that checks changes: sessions that change code will run it."""

_EDITS = re.compile(r"Editing files of type `(?P<type>\.\w{1,10})`")
_CHECK = re.compile(r"The lint check `(?P<name>[^`]{1,60})`")
SLIPPED = 6
"""The fewest letters of a name that prompts may misspell: a misspelling of a shorter name is often another word."""

_CALL = re.compile(r"(?:Calling the skill|Starting the agent) `(?P<name>[^`]{1,200})`")
_TYPE = re.compile(r"(?<=[\w*/` (\"'])\.[A-Za-z]\w{0,9}\b(?!\()|(?:\A|(?<=\s))\.[A-Za-z]\w{0,9}\b(?=\s+files?\b)")
"""The extension of a file name, or a file type such as ".py files", in a prompt."""

_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Binding:
    """What makes a memory relevant: reading or changing files of these types, or words of a prompt."""

    read: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    asked: re.Pattern[str] = _NEVER
    check: str = ""
    """The name of a lint check: the memory is relevant only to new code that may fail it; "" for all code."""
    path: re.Pattern[str] | None = None
    """The pattern that the path of a file must match, if any."""
    lasting: bool = False
    """Whether each session needs the memory again, because nothing in the project shows it."""

    def fits_prompt(self, prompt: str) -> bool:
        """Whether a prompt has words that make the memory relevant, or names a file of one of the types in ``read``."""
        return bool(self.asked.search(prompt)) or not self.read.isdisjoint(_TYPE.findall(prompt))

    def fits_file(self, touched: Touched) -> bool:
        """Whether a file has a type that makes the memory relevant, and meets the conditions on path and new text."""
        types = self.read | self.changed if touched.changed else self.read
        if PurePath(touched.path).suffix not in types or (self.path and not self.path.search(touched.path)):
            return False
        return not self.check or may_reject(self.check, touched.written)


_PATTERN = re.compile(r"https?://\S{1,100}[?*\[]|(?<![\w*])\*\.\w|\bgh api\b")
"""Matches prompts that probably lead to a command with an argument that a shell would expand as a pattern."""


def binding_of(memory: Memory) -> Binding | None:
    """Return the conditions under which a memory is shown to a session; None if it may be shown at any start."""
    if memory.pinned or not (is_observed(memory.extractor) or memory.extractor == PRACTISED or is_repair(memory)):
        return None
    return _binding(memory.content)


def is_lint_check(memory: Memory) -> bool:
    """Whether a memory is about a lint check that rejected code."""
    bound = binding_of(memory)
    return bound is not None and bool(bound.check)


def is_repair(memory: Memory) -> bool:
    """Whether a memory says how a failed check was repaired, in the words that the capture of repairs uses."""
    return bool(_REPAIR.match(memory.content))


_REPAIR = re.compile(
    r"`[^`]{1,120}`(?: \([^)]{0,200}\))? failed(?: after edits)? due to formatting: a separate auto-fix"
)


@lru_cache(maxsize=500)
def _binding(content: str) -> Binding | None:
    return next(_bindings(content), None)


def _bindings(content: str) -> Iterator[Binding]:
    if shows_whitespace(content):
        yield Binding(asked=_commands_in(content))
    if content == TEMPLATES["glob"]:
        yield Binding(asked=_PATTERN)
    if found := _EDITS.match(content):
        known = _TABS_ONLY.issuperset(tabbed_types(content) or ("",))
        yield Binding() if known else Binding(read=family_of(found["type"]))
    if check := _CHECK.match(content):
        yield Binding(changed=CHECKED_TYPES.get(check["name"], _CODE), check=check["name"])
    if call := _CALL.match(content):
        name = call["name"].rpartition(":")[2]
        typed = "|".join(map(re.escape, (name, *(slips(name) if len(name) >= SLIPPED else ()))))
        yield Binding(asked=re.compile(rf"(?<![\w-])(?:{typed})(?![\w-])", re.IGNORECASE))
    unseen = bool(_UNSEEN.search(content))
    yield from (Binding(asked=words, lasting=unseen) for habit, words in _STEPS if habit.search(content))
    if tagged := _TAGGED.match(content):
        path = re.compile(rf"(?:\A|[/_.-]){re.escape(tagged['tag'])}(?![a-z])", re.IGNORECASE)
        yield Binding(changed=_CODE, asked=_commands_in(content), path=path)
    if stale := _STALE.match(content):
        yield Binding(changed=_SERVERS.get(stale["server"], _CODE), asked=_MERGE)
    if _VERIFYING.search(content):
        yield Binding(asked=_commands_in(content))
    if _CHECK_FAILED.match(content):
        types = [its for tool, its in _TOOLS if tool.search(content)]
        yield Binding(changed=frozenset().union(*types) if types else _CODE, asked=_commands_in(content))


def family_of(file_type: str) -> frozenset[str]:
    """Return the file types that are formatted like ``file_type``, including ``file_type``."""
    return next((family for family in _FAMILIES if file_type in family), frozenset({file_type}))


def _commands_in(content: str) -> re.Pattern[str]:
    """Return a pattern that finds the commands of a habit: a prompt with such a command is about the habit."""
    named = [re.escape(command) for command in re.findall(r"`([^`\s]+ [^`]+)`", content)]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(named)})(?![\w-])", re.IGNORECASE) if named else _NEVER


def types_of(content: str) -> frozenset[str]:
    """Return the file types to which a memory with this text may be bound."""
    found = _binding(content)
    return found.read | found.changed if found else frozenset()
