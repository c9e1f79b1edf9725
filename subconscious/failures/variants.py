"""Finds what worked instead of a failed shell command: a variant of it, another folder, or a step before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import takewhile
from pathlib import PurePosixPath

from subconscious.failures import hazards
from subconscious.failures.commands import MOST_WORDS, WORD, Command, only, parse, paths, repositories
from subconscious.failures.observation import EDITS, Observation, digest, inside
from subconscious.failures.runs import Run
from subconscious.failures.signature import PACKAGE_MANAGERS, alike, of_the_call, of_the_manager, signatures

MOST_CHANGED = 2
"""The most words of the failed command that a way out may lack, and the most that it may add.

Words before the program, such as a wrapper, do not count.
"""

_LOOKING = frozenset(
    "awk cat diff du file find fd grep head jq less ls nl od rg sed stat tail test tree type wc which xxd".split()
)
"""Programs that change nothing: they may run between a failure and its way out, and may replace each other."""
_GIT_LOOKING = frozenset("add diff log ls-files rev-parse show status".split())
_SAME_NAME = 0.75
SHORT_OUTPUT = 4
"""The most lines of an output that can be an error message and nothing else."""


def failed(run: Run) -> bool:
    """Whether a call failed. If the exit code is hidden, as in a pipeline, only a short usage error shows a failure."""
    if run.failed or run.tool != "Bash":
        return run.failed
    command = only(run.command)
    hidden = command is not None and (command.masked or command.followed)
    return hidden and run.error.strip().count("\n") < SHORT_OUTPUT and of_the_call(run.error)


def way_out(found: Observation, later: Sequence[Run], root: str) -> Observation | None:
    """Return the failure of a command with the call that then worked; None if no call did.

    Nothing is learned once a file was edited, because the edit may be what helped.
    """
    command = only(found.run.command)
    if command is None or not _short(command):
        return None
    between: list[tuple[Run, Command]] = []
    for run in later:
        if run.tool in EDITS and not run.failed:
            return None
        if run.tool != "Bash" or failed(run) or alike(signatures(run.error), found.signatures):
            continue
        # A followed command may have failed without any effect on the line's exit code.
        for worked in (one for one in parse(run.command) if _short(one) and not one.followed):
            pair = _Pair(found, command, run, worked, root, direct=run is later[0])
            if (one := pair.variant() or pair.repaired(between)) or worked.shape == command.shape:
                return one
            if not only_looks(worked):
                between.append((run, worked))
    return None


def _short(command: Command) -> bool:
    """Whether a command is short enough to be shown in full."""
    return len(command.shape) <= MOST_WORDS and WORD not in command.shape


def only_looks(command: Command) -> bool:
    """Whether a command only reads or stages files, so that it may run between a failure and its way out."""
    git = command.program == "git" and bool(_GIT_LOOKING & set(command.shape[1:3]))
    return git or command.program in _LOOKING


@dataclass(frozen=True, slots=True)
class _Pair:
    """A failed command, and a command that worked later."""

    found: Observation
    failed: Command
    run: Run
    worked: Command
    root: str
    direct: bool
    """Whether no other call was made between the two."""

    def variant(self) -> Observation | None:
        """Return the failure with its way out if a variant of the call worked; else None.

        The failure must be a usage error, or an error that says that the project uses another package manager.
        """
        swapped = self._other_manager()
        if not of_the_call(self.found.run.error) and not swapped:
            return None
        if self.worked.words == self.failed.words:
            return self._elsewhere()
        if self.worked.shape == self.failed.shape:
            return self._without() or self._of_repository()
        change = changed(self.failed, self.worked) or swapped
        if not change:
            return None
        return self._observed(
            "instead",
            change,
            way_out=self.worked.text,
            needle=(self.worked.program,) if swapped else _needle(self.worked, self.failed),
            way_out_key=digest("Bash", *self.worked.shape),
        )

    def _other_manager(self) -> str:
        """Return "npm to pnpm" if the right package manager ran the same script directly afterwards; "" otherwise.

        No other command may have run in between, because it might be what helped.
        """
        old, new = self.failed, self.worked
        alone = self.direct and only(self.run.command) is not None and not new.masked
        if not alone or old.program == new.program or not _script(old) or _script(old) != _script(new):
            return ""
        there = _folder(self.found.run, old, self.root) == _folder(self.run, new, self.root)
        wrong = there and of_the_manager(self.found.run.error, old.program, new.program)
        return f"{old.program} to {new.program}" if wrong else ""

    def repaired(self, between: Sequence[tuple[Run, Command]]) -> Observation | None:
        """Return the failure with its way out if the command works after one other command; else None.

        The other command may be a formatter or a generator, for example.
        """
        same = self.worked.shape == self.failed.shape and not self.worked.masked
        if not same or len({other.shape for _, other in between}) != 1:
            return None
        run, repair = between[0]
        if repair.program in ("git", "gh") or repair.shape == self.failed.shape:
            return None
        step = replace(self, run=run, worked=repair)
        return step._observed("repair", self.failed.text, way_out=repair.text, needle=_needle(repair, self.failed))

    def _elsewhere(self) -> Observation | None:
        here, there = (
            _folder(self.found.run, self.failed, self.root),
            _folder(self.run, self.worked, self.root),
        )
        if not here or not there or here == there:
            return None
        return self._observed("directory", self.failed.text, way_out=_place(there), dropped=_place(here))

    def _without(self) -> Observation | None:
        """Return the failure with its way out if the command works without one (ignored or missing) path; else None."""
        gone = [word for word in self.failed.words if word not in self.worked.words]
        kept = all(word in self.failed.words for word in self.worked.words)
        if not kept or len(gone) != 1 or gone[0] not in paths(self.failed):
            return None
        return self._observed("without", self.failed.program, dropped=inside(gone[0], self.root))

    def _of_repository(self) -> Observation | None:
        """Return the failure with its way out if the command works with another owner of the repository; else None."""
        named, meant = set(repositories(self.failed)), set(repositories(self.worked))
        wrong, right = sorted(named - meant), sorted(meant - named)
        if self.failed.program != "gh" or not len(wrong) == len(right) == 1 or _name(wrong[0]) != _name(right[0]):
            return None
        return self._observed("repository", wrong[0], way_out=right[0], dropped=wrong[0], needle=(right[0],))

    def _observed(self, sort: str, what: str, **slots: object) -> Observation:
        observed = replace(self.found, sort=sort, failed=self.failed.text, **slots)  # type: ignore[arg-type]
        named = [slot for slot in observed.slots.values() if slot]
        same = self.worked.shape == self.failed.shape
        return replace(
            observed,
            trouble=digest(sort, what, observed.dropped, "" if sort == "instead" else observed.way_out),
            doubt=hazards.hazard(self.worked, None if same or sort == "repair" else self.failed) or _doubt(named),
            until=self.run.start,
            quote=self.run.command,
        )


def _name(repository: str) -> str:
    return repository.partition("/")[2]


def _doubt(slots: Sequence[str]) -> str:
    if not all(map(hazards.tellable, slots)):
        return "it contains characters that can't be quoted in a sentence"
    return hazards.doubtful(*slots)


def changed(old: Command, new: Command) -> str:
    """Return how ``new`` differs from ``old`` if both have the same purpose; "" if the purposes differ."""
    return _wrapped(old.shape, new.shape) or _renamed(old, new)


def _wrapped(old: tuple[str, ...], new: tuple[str, ...]) -> str:
    """Return which words before the program, as in ``uv run pytest``, are new or missing; "" if more has changed."""
    if len(new) < len(old) and old[-len(new) :] == new and not new[0].startswith(("-", "<")):
        return f"less {' '.join(old[: -len(new)])} before {new[0]}"
    if len(old) < len(new) and new[-len(old) :] == old:
        return f"more {' '.join(new[: -len(old)])} before {old[0]}"
    return ""


def _renamed(old: Command, new: Command) -> str:
    """Return the change if only the program, the options or a task's spelling differ; "" for other changes."""
    gone = [word for word in old.shape if word not in new.shape]
    come = [word for word in new.shape if word not in old.shape]
    if len(gone) > MOST_CHANGED or len(come) > MOST_CHANGED or not (gone or come):
        return ""
    same_target = bool(set(paths(old)) & set(paths(new)))
    if old.program != new.program:
        if old.program in _LOOKING and new.program in _LOOKING:
            return f"{_options(old)} to {_options(new)}" if same_target else ""
        return f"{old.program} to {new.program}" if old.words[1:] == new.words[1:] and old.words[1:] else ""
    options = all(word.startswith(("-", "<")) for word in (*gone, *come))
    same_task = any(word in new.shape[1:] for word in old.shape[1:] if not word.startswith(("<", "-")))
    same = options and (same_target or same_task)
    return f"{old.program}: {' '.join(gone)} to {' '.join(come)}" if same or _misspelt(gone, come) else ""


def _script(command: Command) -> list[str]:
    """Return the script that a package manager runs, with its arguments; an empty list for other commands.

    "run" may be left out, except with bun: commands of bun itself may have the same names as scripts.
    """
    words = [word for word in command.words[1:] if word != "--"]
    run = words[:1] == ["run"]
    known = command.program in PACKAGE_MANAGERS and (run or command.program != "bun")
    return words[run:] if known else []


def _misspelt(gone: Sequence[str], come: Sequence[str]) -> bool:
    """Whether one name replaced another with nearly the same spelling, such as ``tests`` and ``test``."""
    if not len(gone) == len(come) == 1 or gone[0].startswith(("<", "-")):
        return False
    return SequenceMatcher(None, gone[0], come[0]).ratio() >= _SAME_NAME


def _options(command: Command) -> str:
    return " ".join((command.program, *(word for word in command.shape[1:] if word.startswith("-"))))


def _needle(way_out: Command, instead_of: Command) -> tuple[str, ...]:
    """Return words that show that a text suggested a way out, if they occur together in one line of the text.

    These are the new words of the way out or, if words were only removed, the first words of the failed command.
    """
    new = [word for word in way_out.shape if word not in instead_of.shape and not word.startswith("<")]
    return tuple(new) or (" ".join(takewhile(lambda word: not word.startswith("<"), instead_of.shape)),)


def _folder(run: Run, command: Command, root: str) -> str:
    """Return the folder where a command ran, relative to the project; "" if it is unknown or outside."""
    base = PurePosixPath(run.cwd or root)
    target = _normal(base / command.directory if command.directory else base)
    return inside(target, root) if root and PurePosixPath(target).is_relative_to(root) else ""


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            del parts[-1:]
        else:
            parts.append(part)
    return str(PurePosixPath(*parts)) if parts else "/"


def _place(folder: str) -> str:
    return "the folder of the project" if folder == "." else f"the folder {folder}"
