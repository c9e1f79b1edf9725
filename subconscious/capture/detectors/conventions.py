"""Detects conventions of a project: checks and wrappers that are run repeatedly, and checks of a pre-commit hook.

Checks and wrappers are derived from the commands themselves, which the user allowed. The hook's checks are derived from
sentences of the assistant. Nothing is derived from the text of an error or a web page.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from subconscious.capture.detectors.commands import CHECKS, short_command
from subconscious.capture.draft import WRAPPER, Draft
from subconscious.capture.exchange import Exchange
from subconscious.domain.model import Role, Turn

_RUNNERS = {
    "bun": "as its JavaScript runtime and package manager",
    "npm": "as its package manager",
    "pnpm": "as its package manager",
    "yarn": "as its package manager",
    "cargo": "(Rust)",
    "go": "(Go)",
    "uv": "as its Python package manager",
    "poetry": "as its Python package manager",
    "mise": "as its task runner",
    "make": "as its task runner",
    "just": "as its task runner",
    "task": "as its task runner",
    "nox": "as its task runner",
    "tox": "as its task runner",
    "gradle": "as its build tool",
    "mvn": "as its build tool",
    "rake": "as its task runner",
    "mix": "(Elixir)",
    "dotnet": "(.NET)",
}
_NAMES = "|".join(_RUNNERS)
_CHECK = re.compile(
    rf"(?:^|&&|;)\s*(?P<check>(?:(?P<runner>{_NAMES})(?: run)? "
    r"(?P<task>(?:test|lint|typecheck|type-check|check|build|vet|fmt|format|clippy|css)[\w:-]*)|pytest|ruff check|ruff format|mypy))(?=\s|\Z)"
)
_ALONE = re.compile(r"\s*(?:cd [\w./~-]+ && )?[\w./:=, -]+(?: 2>&1)?(?: \| (?:tail|head)(?: -[n ]{0,2}\d+)?)?\s*\Z")
"""Matches a line that runs a single command, perhaps after `cd`, and perhaps piped into `head` or `tail`."""

_WRAPPED = re.compile(rf"(?:^|&&|;)\s*(?P<wrapper>[a-z][\w-]{{1,15}}) (?P<command>(?:git|{_NAMES}) \w+)")
_BARE = re.compile(r"(?:^|&&|;)\s*(?P<command>git \w+)")
_NO_WRAPPERS = {
    "sudo",
    "time",
    "env",
    "cd",
    "echo",
    "nohup",
    "npx",
    "exec",
    "command",
    "which",
    "grep",
    "man",
    "rm",
    "npm",
    "timeout",
    *"if then else elif do while until for case select ls cat cp mv mkdir touch type watch xargs eval ssh repeat test".split(),
}
"""Words that can precede a command without being a wrapper script of the project."""
_PURPOSES = (
    ("runs the test suite", r"test|pytest"),
    ("auto-fixes lint and formatting", r"fix|fmt|format"),
    ("lints", r"lint|clippy|vet|ruff check"),
    ("runs the typecheck", r"type-?check|mypy"),
    ("builds", r"build|css"),
    ("checks", r"check"),
)
_HOOK = re.compile(r"(?<![^.\n])[^.\n]*?\bpre-?commit (?:hook|check)s?\b[^.\n]*", re.IGNORECASE)
_OF_HOOK = {"test": "the tests of its suite", "lint": "lint", "typecheck": "typecheck"}
"""The checks of a pre-commit hook, in the order in which a sentence lists them."""

_TOOLCHAINS = frozenset(("go", "cargo", "dotnet", "mix"))
"""Tools with standard commands that need no memory: every project in that language is tested with them."""

_UNMEANT = re.compile(
    r"\b(?:no|not|without|never|skip\w*|bypass\w*|remov\w*|disabl\w*|could|should|would|might|if|add(?:ing)?|let me|i'll|want)\b|"
    r"n't\b|--no-verify",
    re.IGNORECASE,
)
"""Words that show that a hook is denied, wished for or bypassed, and did not run."""

_FEWEST_RUNS = 2
_FEWEST_WRAPPED = 3
_EXAMPLES = ("git status", "git diff")
_COMMIT = "git commit"


@dataclass(slots=True)
class _Seen:
    """What a session shows: checks that ran, commands with and without a wrapper, and sentences about a hook."""

    ran: Counter[str] = field(default_factory=Counter)
    under: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    bare: Counter[str] = field(default_factory=Counter)
    turns: dict[str, Turn] = field(default_factory=dict)
    hook: dict[str, tuple[Turn, str]] = field(default_factory=dict)


def is_check(command: str) -> bool:
    """Whether a command line runs one check of the project, such as `make test`, and nothing else."""
    return bool(_CHECK.match(short_command(command)) and _ALONE.match(command))


def conventions(exchanges: Sequence[Exchange]) -> Iterator[Draft]:
    """Yield the conventions that a session shows."""
    seen = _Seen()
    for turn in (turn for exchange in exchanges for turn in exchange.turns):
        if turn.role is Role.TOOL and not turn.failed:
            _note_commands(seen, turn)
        elif turn.role is Role.ASSISTANT and turn.text:
            _note_hook(seen, turn)
    yield from _checks(seen)
    yield from _hook(seen)
    yield from _wrapper(seen)


def _note_commands(seen: _Seen, turn: Turn) -> None:
    for command in turn.commands:
        line = short_command(command) or command.splitlines()[0]
        for check in _CHECK.finditer(line):
            seen.ran[check["check"]] += 1
            seen.turns.setdefault(check["check"], turn)
        for found in _WRAPPED.finditer(line):
            if found["wrapper"] not in _NO_WRAPPERS and found["wrapper"] not in _RUNNERS:
                seen.under[found["wrapper"]][found["command"]] += 1
                seen.turns.setdefault(found["wrapper"], turn)
        seen.bare.update(found["command"] for found in _BARE.finditer(line))


def _note_hook(seen: _Seen, turn: Turn) -> None:
    for said in (found for found in _HOOK.finditer(turn.text) if not _UNMEANT.search(found[0])):
        for name, pattern in CHECKS.items():
            if pattern.search(said[0]):
                seen.hook.setdefault(name, (turn, said[0].strip()))


def _checks(seen: _Seen) -> Iterator[Draft]:
    used = [check for check, _ in seen.ran.most_common(5)]
    if seen.ran.total() < _FEWEST_RUNS or all(check.split()[0] in _TOOLCHAINS for check in used):
        return
    runner = used[0].split()[0]
    told = ", ".join(f"`{check}` {_purpose(check)}" for check in sorted(used))
    begin = f"The project uses `{runner}` {_RUNNERS[runner]}" if runner in _RUNNERS else "How the project is verified"
    text = f"{begin}: {told}. These are the standard commands to verify changes after edits, before committing."
    yield Draft(
        seen.turns[used[0]],
        "pattern",
        text,
        used[0],
        "convention",
        signs=("convention:checks",),
        habit="checks",
        reason="run again and again",
    )


def _purpose(check: str) -> str:
    return next((purpose for purpose, pattern in _PURPOSES if re.search(pattern, check)), "checks")


def _hook(seen: _Seen) -> Iterator[Draft]:
    checks = [name for name in _OF_HOOK if name in seen.hook]
    if len(checks) < _FEWEST_RUNS:
        return
    turn, quote = seen.hook[checks[0]]
    runs = _listed([_OF_HOOK[name] for name in checks])
    text = (
        f"A pre-commit hook of this project enforces {runs}: they run automatically before every commit, and a commit is"
        " allowed only when all of them pass."
    )
    yield Draft(
        turn,
        "pattern",
        text,
        quote,
        "convention",
        signs=("convention:hook",),
        habit="hook",
        reason="a pre-commit hook was seen at work",
    )


def _wrapper(seen: _Seen) -> Iterator[Draft]:
    for wrapper, under in sorted(seen.under.items(), key=lambda one: -one[1].total())[:1]:
        if (count := under.total()) >= _FEWEST_WRAPPED and count > seen.bare.total() - seen.bare[_COMMIT]:
            yield Draft(
                seen.turns[wrapper],
                "pattern",
                _wrapped(wrapper, seen),
                wrapper,
                "convention",
                signs=("convention:wrapper",),
                habit=WRAPPER,
                reason="a wrapper used again and again",
            )


def _wrapped(wrapper: str, seen: _Seen) -> str:
    """Return sentences that name the tools that a wrapper runs, and the commands that are run without the wrapper."""
    under = seen.under[wrapper]
    tools = sorted({command.split()[0] for command in under}, reverse=True)
    shown = [f"{wrapper} {command}" for command in _EXAMPLES if under[command]]
    examples = f" (as {_quoted(shown)})" if shown else ""
    runner = next((check.split()[0] for check, _ in seen.ran.most_common(1)), "")
    bare = [_COMMIT] if seen.bare[_COMMIT] and not under[_COMMIT] else []
    bare += [runner] if runner in _RUNNERS and runner not in tools else []
    return (
        f"The project uses the command prefix `{wrapper}`, a wrapper around standard tools: {_quoted(tools)} commands are run "
        f"through it{examples} instead of the plain, bare commands.{_direct(bare)}"
    )


def _direct(bare: Sequence[str]) -> str:
    """Return a sentence that names the commands that run without the wrapper."""
    verb = "are" if len(bare) > 1 else "is"
    return f" But {_quoted(bare)} {verb} used directly, as plain commands." if bare else ""


def _listed(words: Sequence[str]) -> str:
    """Join words into an English list: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _quoted(commands: Sequence[str]) -> str:
    """Join commands into an English list: `a`, `b` and `c`."""
    return _listed([f"`{command}`" for command in commands])
