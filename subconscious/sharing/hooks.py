"""Adds lines to a repository's own Git hooks that run ``subconscious sync`` after a merge and before a push."""

from __future__ import annotations

import re
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from subconscious.domain.errors import RequestError
from subconscious.settings.home import Home
from subconscious.sharing.git import Refs
from subconscious.system.ownership import is_ours
from subconscious.system.safe_files import read_utf8, replace_file

MOMENTS = {"post-merge": "", "pre-push": ' && [ "$1" = {remote} ]'}
"""The hooks by file name, each with the shell condition for its lines: pre-push gets the remote's name as ``$1``."""

BEGIN = "# >>> subconscious sync >>>"
END = "# <<< subconscious sync <<<"
NOTE = "`subconscious sync --remove-hook` removes these lines"

LARGEST_HOOK = 1 << 20

_SHELL = re.compile(r"#! ?/\S*?(?:/env )?\b(?:ba|da|k|z)?sh\b[^\n]*\n")
_BLOCK = re.compile(rf"^{BEGIN}.*?^{END}\n?", re.MULTILINE | re.DOTALL)
_MANAGED = re.compile(r"pre-commit\.com|husky|lefthook|overcommit", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HookChange:
    """A Git hook's file: its text before and after ("" for no file), and in ``obstacle`` why it can't be changed."""

    path: Path
    before: str
    after: str
    obstacle: str = ""


def lines_of(home: Home, moment: str, remote: str) -> str:
    """Return the lines for a hook, which do nothing if the launcher in the state folder is missing.

    They never fail, ask a question, or read the hook's input.
    """
    launcher = shlex.quote(str(home.root / "bin" / "subconscious"))
    condition = MOMENTS[moment].format(remote=shlex.quote(remote))
    name = shlex.quote(remote)
    state = shlex.quote(str(home.root))
    command = f"SUBCONSCIOUS_HOME={state} {launcher} sync --hook {name} </dev/null || :"
    # `if` instead of `&&`: a false condition in the last command would become the hook's exit code and stop the push.
    return f"{BEGIN} {NOTE}\nif [ -x {launcher} ]{condition}; then\n    {command}\nfi\n{END}\n"


def installation(refs: Refs, home: Home, remote: str) -> list[HookChange]:
    """Return the changes that add the lines after the first line of each hook, so that an ``exit`` can't skip them.

    Raises RequestError if another tool manages the hooks of this repository, or if one of the hooks can't be changed.
    """
    if elsewhere := refs.hooks_path():
        raise RequestError(
            f"core.hooksPath is set to {elsewhere!r}, a folder that another tool may manage",
            "add `subconscious sync` to a post-merge and a pre-push hook there",
        )
    found = list(_hooks(refs))
    for change in found:
        if change.obstacle:
            raise RequestError(f"{change.path} {change.obstacle}", "add `subconscious sync` to it by hand")
    return [
        HookChange(one.path, one.before, with_lines(one.before, lines_of(home, one.path.name, remote))) for one in found
    ]


def with_lines(text: str, lines: str) -> str:
    """Return a hook's text with ``lines`` after its first line; lines that were added earlier are replaced."""
    first, _, rest = (without_lines(text) or "#!/bin/sh\n").partition("\n")
    return f"{first}\n{lines}{rest}"


def without_lines(text: str) -> str:
    """Return a hook's text without the lines that ``with_lines`` added."""
    return _BLOCK.sub("", text)


def removal(refs: Refs) -> list[HookChange]:
    """Return the changes that remove the added lines; a hook without other content is deleted."""
    ours = [change for change in _hooks(refs) if _BLOCK.search(change.before)]
    texts = [without_lines(change.before) for change in ours]
    return [
        HookChange(change.path, change.before, "" if text.strip() == "#!/bin/sh" else text, change.obstacle)
        for change, text in zip(ours, texts, strict=True)
    ]


def write(change: HookChange) -> None:
    """Write a hook, or remove it if its new text is ""; an existing hook keeps its mode and becomes executable."""
    if not change.after:
        change.path.unlink()
        return
    mode = change.path.stat().st_mode & 0o777 if change.before else 0o755
    change.path.parent.mkdir(exist_ok=True)
    replace_file(change.path, change.after.encode())
    change.path.chmod(mode | stat.S_IXUSR)


def _hooks(refs: Refs) -> Iterator[HookChange]:
    folder = refs.repository.common / "hooks"
    for moment in MOMENTS:
        path = folder / moment
        try:
            yield HookChange(path, text := _text_of(path), text, _obstacle(path, text))
        except (OSError, ValueError):
            yield HookChange(path, "", "", "can't be read")


def _text_of(path: Path) -> str:
    return read_utf8(path, LARGEST_HOOK) if path.is_symlink() or path.exists() else ""


def _obstacle(path: Path, text: str) -> str:
    """Return why the file of a Git hook must not be changed; "" if it may be changed."""
    if path.is_symlink() or path.parent.is_symlink():
        return "is a symbolic link"
    if text and not is_ours(path):
        return "belongs to another user"
    if text and not _SHELL.match(text):
        return "is not a shell script"
    if _MANAGED.search(without_lines(text)):
        return "is managed by another tool"
    return ""
