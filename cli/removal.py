"""``subconscious uninstall``: stop the daemon, then delete what Subconscious has put on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from subconscious.client import AbsentError, hello
from subconscious.errors import RequestError
from subconscious.home import Home

from . import running, screen
from .ask import home
from .origin import require_person

MEMORIES = ("memory.db*", ".memory.db*", "backups*", "broken", "config.toml", "redaction.key", "export.key")
"""What is kept with the memories: with it, a later installation goes on where this one ended."""
WORKING = ("bin", "env", "log", "rendered", "run", "spool", "vectors-*")
PLUGIN = "claude plugin uninstall subconscious@subconscious"


def uninstall(options: Namespace) -> int:
    """Remove everything, or all but the memories; exit code 1 where nothing was removed."""
    require_person("uninstall it")
    place = home()
    keep = _wants_to_keep(options, place)
    if keep is None:
        print("Nothing was removed.")
        return 1
    _stop(place)
    gone = [path for path in _ours(place, keep=keep) if _remove(path)]
    left = _leave(place)
    print(f"Removed {screen.counted(len(gone), 'file or folder', 'files and folders')} of {place.root}.")
    if left:
        print(f"Left there: {screen.listed(left)}.")
    # The plugin's hooks would make the environment anew with the next session.
    print(f"If the plugin is still in Claude Code: {PLUGIN}")
    return 0


def _wants_to_keep(options: Namespace, place: Home) -> bool | None:
    """Whether the memories stay; None where a person changed their mind."""
    if options.keep_memories or options.all:
        return bool(options.keep_memories)
    if not sys.stdin.isatty():
        raise RequestError("say what becomes of the memories", "add --keep-memories, or --all to delete them for good")
    print(f"This stops the daemon and removes what lies in {place.root}.")
    try:
        answer = input("Delete the memories, too? There is no undo. [k]eep them, [d]elete them, [N]othing: ")
    except EOFError:
        return None
    return {"k": True, "d": False}.get(answer.strip().lower()[:1])


def _stop(place: Home) -> None:
    try:
        hello(place)
    except AbsentError:
        return
    running.stop(Namespace(force=True))


def _ours(place: Home, *, keep: bool) -> Iterator[Path]:
    """What is to go, the links to our own command first: they lead into what goes with them."""
    launcher = place.root / "bin" / "subconscious"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        link = Path(folder or ".") / "subconscious"
        if link.is_symlink() and link.resolve() == launcher.resolve():
            yield link
    for pattern in (*WORKING, *(() if keep else MEMORIES)):
        yield from sorted(place.root.glob(pattern))


def _remove(path: Path) -> bool:
    """Delete a file, a link or a folder of ours; whether there was one."""
    if path.is_symlink() or path.is_file():
        path.unlink()
        return True
    if path.is_dir():
        shutil.rmtree(path)
        return True
    return False


def _leave(place: Home) -> list[str]:
    """Remove the state folder if it is empty; what is left in it."""
    left = sorted(path.name for path in place.root.iterdir()) if place.root.is_dir() else []
    if not left and not place.root.is_symlink() and place.root.is_dir():
        place.root.rmdir()
    return left
