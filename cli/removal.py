"""``subconscious uninstall``: stops the daemon and deletes the files that Subconscious has made."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from subconscious.domain.errors import RequestError
from subconscious.settings.home import Home
from subconscious.wire import AbsentError, hello

from . import running, screen
from .ask import home
from .confirmation import typed_word
from .origin import require_person
from .other_agents import disconnect_all

KEPT_WITH_MEMORIES = ("memory.db*", ".memory.db*", "backups*", "broken", "config.toml", "redaction.key", "export.key")
"""Files that stay if the user keeps the memories; a later installation uses them again."""
ALWAYS_REMOVED = ("bin", "env", "log", "rendered", "run", "spool", "vectors-*")
PLUGIN_COMMAND = "claude plugin marketplace remove subconscious"
"""Removes the plugin with its marketplace. Uninstalling the plugin alone leaves the marketplace in settings.json."""


def uninstall(options: Namespace) -> int:
    """Remove everything, or all except memories, settings and backups; return exit code 1 if the user declines."""
    require_person("uninstall Subconscious")
    state_folder = home()
    keep = _wants_to_keep(options, state_folder)
    if keep is None:
        print("Nothing was removed.")
        return 1
    _stop(state_folder)
    disconnect_all()
    removed = [path for path in _installed_paths(state_folder, keep=keep) if _remove(path)]
    left = _remove_if_empty(state_folder)
    print(f"Removed {screen.counted(len(removed), 'file or folder', 'files and folders')} of {state_folder.root}.")
    if left:
        print(f"Kept: {screen.listed(left)}.")
    # The hooks of an installed plugin would rebuild the environment in the next session.
    print(f"If the plugin is still installed in Claude Code, remove it: {PLUGIN_COMMAND}")
    return 0


def _wants_to_keep(options: Namespace, state_folder: Home) -> bool | None:
    """Return whether to keep the memories; None if the user decides to remove nothing."""
    if options.keep_memories or options.all:
        return bool(options.keep_memories)
    if not sys.stdin.isatty():
        raise RequestError(
            "it is not clear whether to delete the memories", "add --keep-memories, or --all to delete them for good"
        )
    print(f"This stops the daemon and removes its files from {state_folder.root}.")
    print("The memories stay, unless you delete them, too, with their backups. There is no undo for that.")
    answer = typed_word("Type yes to delete the memories, keep to keep them; anything else removes nothing: ")
    return {"keep": True, "k": True, "yes": False}.get(answer)


def _stop(state_folder: Home) -> None:
    try:
        hello(state_folder)
    except AbsentError:
        return
    running.stop(Namespace(force=True))


def _installed_paths(state_folder: Home, *, keep: bool) -> Iterator[Path]:
    """Yield the paths to remove: the links in PATH to our launcher, then the files in the state folder."""
    launcher = state_folder.root / "bin" / "subconscious"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        link = Path(folder or ".") / "subconscious"
        if link.is_symlink() and link.resolve() == launcher.resolve():
            yield link
    for pattern in (*ALWAYS_REMOVED, *(() if keep else KEPT_WITH_MEMORIES)):
        yield from sorted(state_folder.root.glob(pattern))


def _remove(path: Path) -> bool:
    """Delete a file, link or folder; return whether there was one."""
    if path.is_symlink() or path.is_file():
        path.unlink()
        return True
    if path.is_dir():
        shutil.rmtree(path)
        return True
    return False


def _remove_if_empty(state_folder: Home) -> list[str]:
    """Remove the state folder if it is empty; return the names that are left in it."""
    left = sorted(path.name for path in state_folder.root.iterdir()) if state_folder.root.is_dir() else []
    if not left and not state_folder.root.is_symlink() and state_folder.root.is_dir():
        state_folder.root.rmdir()
    return left
