"""Finds the failures in a series of tool calls, and the call that then worked for the same purpose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from subconscious.failures import hazards, variants
from subconscious.failures.checks import CHECKS, rejected_by
from subconscious.failures.commands import only, parse
from subconscious.failures.observation import EDITS, Observation, command_key, digest, inside
from subconscious.failures.runs import Run
from subconscious.failures.shell_errors import shell_error
from subconscious.failures.signature import signatures

WINDOW = 12
"""The number of calls after a failure that are searched for its way out."""
MINUTES = 30.0
"""The most minutes between a failure and its way out."""

_UNKNOWN = {
    "skill": re.compile(r"(?:<tool_use_error>)?Unknown skill: "),
    "agent": re.compile(r"(?:<tool_use_error>)?Agent type '[^'\n]*' not found"),
}
_NO_FILE = re.compile(r"(?:<tool_use_error>)?(?:File|Path) does not exist")
_EDIT_ERRORS = {
    "indentation": re.compile(r"(?:<tool_use_error>)?String to replace not found"),
    "unread": re.compile(r"(?:<tool_use_error>)?File has not been read yet"),
    "changed": re.compile(r"(?:<tool_use_error>)?File has been (?:unexpectedly )?(?:modified|changed)"),
}
"""Patterns of the messages with which Claude Code refuses an edit, by the type of failure."""
_NAME = re.compile(r"[A-Za-z][\w:-]{0,39}")
_SUFFIX = re.compile(r"\.\w{1,8}")
_ALIKE_LINES = 0.6
"""The share (0 to 1) of the shorter text's lines that the other text must contain, apart from the indentation."""


def observe(runs: Sequence[Run], root: str) -> Iterator[Observation]:
    """Yield the failures among some calls, with their way out if there is one; ``root`` is the folder of the project.

    Calls without a key (see `command_key`), such as lines with several commands, are left out. Each known linter check
    that rejected code is a separate failure, and so is a failure that a shell's error explains.
    """
    for at, run in enumerate(runs):
        yield from _rejections(run)
        yield from _named_by_shell(run)
        if variants.failed(run) and (key := command_key(run.tool, run.given)):
            found = Observation(run, signatures(run.error), key)
            later = [one for one in runs[at + 1 : at + 1 + WINDOW] if one.at - run.at <= MINUTES * 60]
            yield (_way_out(found, later, root) if found.signatures else None) or found


def _rejections(run: Run) -> Iterator[Observation]:
    """Yield the checks with which a linter rejected code, even if a pipe hid its exit code.

    Commands that only show text (they run no linter) and lines that can't be parsed are skipped. In a line such as
    "lint || true", only the part before ``||`` is parsed.
    """
    if run.tool != "Bash" or all(map(variants.only_looks, parse(run.command.partition("||")[0]))):
        return
    for name in rejected_by(run.error):
        of_check = replace(run, id=f"{run.id}:{name}")
        found = Observation(of_check, (), "", sort="check", failed=name, way_out=CHECKS[name])
        yield replace(found, quote=run.command, trouble=digest("check", name))


def _named_by_shell(run: Run) -> Iterator[Observation]:
    named = shell_error(run.tool, run.given, run.error, failed=run.failed)
    if named is not None:
        of_error = Observation(replace(run, id=f"{run.id}:{named.sort}"), (), "", sort=named.sort, failed=named.failed)
        yield replace(of_error, quote=run.command, trouble=named.trouble, doubt=named.doubt)


def working(run: Run) -> str:
    """Return the key of a call that certainly worked; "" if it may have failed."""
    command = only(run.command) if run.tool == "Bash" else None
    hidden = run.tool == "Bash" and (command is None or command.masked or command.followed)
    return "" if run.failed or hidden or run.tool in EDITS else command_key(run.tool, run.given)


def _way_out(found: Observation, later: Sequence[Run], root: str) -> Observation | None:
    if found.run.tool == "Bash":
        return variants.way_out(found, later, root)
    if found.run.tool in EDITS:
        return _of_edit(found, later)
    if found.run.tool in ("Skill", "Task", "Agent"):
        return _of_name(found)
    return _of_path(found, later, root)


def _of_path(found: Observation, later: Sequence[Run], root: str) -> Observation | None:
    """Return the failure to read a file, with the right path if it was then read from another folder; else None."""
    run = found.run
    wrong = inside(run.file, root)
    same = (one for one in later if one.tool == run.tool and not one.failed and one.file)
    read = next((one for one in same if PurePosixPath(one.file).name == PurePosixPath(wrong).name), None)
    if not _NO_FILE.match(run.error) or read is None:
        return None
    right = inside(read.file, root)
    if right == wrong or not all(path and not path.startswith(("/", "~", "..")) for path in (wrong, right)):
        return None
    doubt = "" if hazards.tellable(wrong) and hazards.tellable(right) else "its name has unusual characters"
    found = replace(found, sort="path", failed=wrong, way_out=right, quote=read.file, until=read.start)
    return replace(found, trouble=digest("path", wrong, right), doubt=doubt or hazards.doubtful(wrong, right))


def _of_name(found: Observation) -> Observation | None:
    """Return the failure to call a skill or a type of agent that does not exist; None for other failures."""
    sort = "skill" if found.run.tool == "Skill" else "agent"
    name = found.run.text("skill" if sort == "skill" else "subagent_type")
    if not _UNKNOWN[sort].match(found.run.error) or not _NAME.fullmatch(name):
        return None
    return replace(found, sort=sort, failed=name, quote=name, trouble=digest(sort, name), doubt=hazards.doubtful(name))


def _of_edit(found: Observation, later: Sequence[Run]) -> Observation | None:
    run = found.run
    sort = next((name for name, pattern in _EDIT_ERRORS.items() if pattern.match(run.error)), "")
    edits = [one for one in later if one.tool in EDITS and one.file == run.file and not one.failed]
    if not sort or not edits:
        return None
    found = replace(found, quote=run.file, until=edits[0].start)
    if sort == "indentation":
        how = next(filter(None, (_indented(run.text("old_string"), one.text("old_string")) for one in edits)), "")
        suffix = PurePosixPath(run.file).suffix
        known = how and _SUFFIX.fullmatch(suffix)
        return replace(found, sort=how, failed=suffix, trouble=digest(how, suffix)) if known else None
    read = any(one.tool == "Read" and one.file == run.file and one.start < edits[0].start for one in later)
    return replace(found, sort=sort, trouble=digest(sort)) if read else None


def _indented(failed: str, worked: str) -> str:
    """Return the indentation of the text that worked, "tabs" or "spaces"; "" if not only the indentation differs."""
    old, new = _margins(failed), _margins(worked)
    shared = set(old) & set(new)
    if not shared or len(shared) < _ALIKE_LINES * min(len(old), len(new)):
        return ""
    other = [text for text in shared if old[text] != new[text]]
    if not other:
        return ""
    return "tabs" if 2 * sum("\t" in new[text] for text in other) > len(other) else "spaces"


def _margins(text: str) -> dict[str, str]:
    """Return a mapping from each line's text, without its indentation, to its indentation."""
    lines = (line for line in text.splitlines() if line.strip())
    return {line.strip(): line[: len(line) - len(line.lstrip())] for line in lines}
