"""Snapshots of a machine, mostly after one session, restored for many tests at the same path.

A transcript is known by its inode, and the store knows its project by its path, so files are restored in place.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.client.fake_api import FakeApi
from tests.client.machine import Machine


@contextmanager
def ended(machine: Machine) -> Iterator[Machine]:
    """Use a machine, and leave no process of it behind."""
    try:
        yield machine
    finally:
        try:
            machine.stop_daemon()
        finally:
            machine.signal_all(signal.SIGKILL)


class Snapshots:
    """Machines that something has happened on, such as a session, each made when a test first asks for it."""

    def __init__(self, make_machine: Callable[[FakeApi], Machine]) -> None:
        self._make_machine = make_machine
        self._machines: dict[str, Machine] = {}

    @contextmanager
    def after(self, prompt: str, api: FakeApi) -> Iterator[Machine]:
        """A machine with a running daemon that has worked off one session, which was this prompt."""

        def hear(machine: Machine) -> None:
            machine.talk(prompt)
            machine.drain()

        with self.restored(prompt, hear, api) as machine:
            machine.start_daemon()
            yield machine

    @contextmanager
    def restored(self, name: str, prepare: Callable[[Machine], None], api: FakeApi) -> Iterator[Machine]:
        """A machine as it was when a function had prepared it, without a daemon; prepared once for each name."""
        if name not in self._machines:
            self._machines[name] = self._prepared(prepare)
        machine = replace(self._machines[name], api=api)
        restore(_copy_of(machine), machine.root)
        with ended(machine):
            yield machine

    def _prepared(self, prepare: Callable[[Machine], None]) -> Machine:
        with FakeApi() as api:
            machine = self._make_machine(api)
            with ended(machine):
                prepare(machine)
        shutil.copytree(machine.root, _copy_of(machine), symlinks=True)
        return machine


def _copy_of(machine: Machine) -> Path:
    return machine.root.with_name(f"{machine.root.name}-copy")


def restore(copy: Path, place: Path) -> None:
    """Make a folder equal to its copy; a file that still exists keeps its inode."""
    for entry in list(place.iterdir()):
        if not os.path.lexists(copy / entry.name) or _sort(entry) != _sort(copy / entry.name):
            _remove(entry)
    for kept in copy.iterdir():
        target = place / kept.name
        if kept.is_symlink():
            _remove(target)
            target.symlink_to(kept.readlink())
        elif kept.is_dir():
            target.mkdir(exist_ok=True)
            restore(kept, target)
        elif not _is_unchanged(target, kept):
            shutil.copyfile(kept, target)
        if not kept.is_symlink():
            shutil.copystat(kept, target)


def _is_unchanged(target: Path, kept: Path) -> bool:
    """Whether a file has the size and time of its copy, as most of the thousand files of an installation have."""
    if not target.exists():
        return False
    now, before = target.stat(), kept.stat()
    return (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def _sort(path: Path) -> str:
    return "link" if path.is_symlink() else "folder" if path.is_dir() else "file" if path.is_file() else "other"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
