"""Checks whether Codex's model was already at work when a prompt arrived.

If it was, a command that the model ran may have written the prompt.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from subconscious.authorship import peers
from subconscious.clients import codex
from subconscious.system.safe_files import open_regular

_TRANSCRIPT = re.compile(r"/rollout-[^/]{1,200}\.jsonl(?: \(deleted\))?\Z")
_BEGUN, _ENDED = "task_started", ("task_complete", "turn_aborted")
_MARKS = re.compile(
    rb'"type":"(?:response_item|event_msg","payload":\{"type":"(?:task_started|task_complete|turn_aborted))"'
)
_HEAD = 200
"""The number of bytes at the beginning of a line that are searched for the line's type."""

LONGEST = 64 << 20
"""The maximum size in bytes of a transcript that is read; a larger one proves nothing."""

WRITTEN_SECONDS, LOOK_SECONDS = 0.5, 0.05
"""How long, in seconds, Codex may take to write that a turn began; and the seconds between two checks for it."""

UNKNOWN = "Codex does not have the session's transcript open, so it can't be seen who typed the prompt"
BUSY = "the prompt came while Codex was at work, so a command may have written it"


def doubt_of_turn(pid: int, turn: str, transcript: str) -> str:
    """Return why a command, rather than a person, may have written a prompt; "" if the prompt began a turn.

    ``pid`` is the process that hands the prompt over, ``turn`` the id of the prompt's turn, and ``transcript`` the path
    of the session's transcript. Also "" if the process does not run for Codex, and on systems other than Linux.
    """
    client = _codex(pid)
    if client is None:
        return ""
    if not transcript:  # a sub-agent's prompt: if its hook waited here, the sub-agent would end too early
        return UNKNOWN
    until = time.monotonic() + WRITTEN_SECONDS
    was_busy = False
    while True:
        found = {path: _lines(file) for path, file in _open_transcripts(client.pid).items()}
        if transcript in found:
            turns = _Turns(turn, peers.time_of(client))
            turns.read(found.values())
            was_busy = was_busy or turns.busy
            # A turn that ends during this loop may be the turn in which a command handed the prompt over.
            if turns.begun or not was_busy:
                return BUSY if turns.busy else ""
        if time.monotonic() > until:
            return BUSY if was_busy else UNKNOWN
        time.sleep(LOOK_SECONDS)


def starts_hooks_like_commands(pid: int) -> bool:
    """Whether a process runs for Codex, which starts hooks in the same way as the commands of its model.

    So in a session of Codex, a hook proves something only if it hands over a prompt: the prompt can be compared with
    the transcript.
    """
    return _codex(pid) is not None


def _codex(pid: int) -> peers.Process | None:
    client = peers.client_process(pid) if sys.platform == "linux" else None
    return client if client is not None and client.name in codex.CLIENT.programs else None


def _open_transcripts(pid: int) -> dict[str, Path]:
    """Return the kernel's link to each transcript that a process has open, by path."""
    found: dict[str, Path] = {}
    try:
        for link in (peers.PROC / str(pid) / "fd").iterdir():
            target = str(link.readlink())
            if _TRANSCRIPT.search(target):
                found[target] = link
    except OSError:
        return {}
    return found


def _lines(file: Path) -> list[bytes]:
    try:
        with open_regular(file) as opened:
            raw = opened.read(LONGEST + 1)
    except OSError:
        return []
    return raw.splitlines() if len(raw) <= LONGEST else []


class _Turns:
    """The open turns of a client: whether the prompt's turn has begun, and whether the client was already at work."""

    def __init__(self, turn: str, since: float) -> None:
        """``turn`` is the id of the prompt's turn. Turns that began before ``since`` (epoch seconds) count as ended."""
        self._turn = turn
        self._since = since
        self._open: set[str] = set()
        self.begun = False
        self.busy = False

    def read(self, files: Iterable[list[bytes]]) -> None:
        """Update ``begun`` and ``busy`` from the lines of all open transcripts, one list per file."""
        for lines in files:
            for line in _events(lines):
                self._note(line)
        self.busy = self.busy or bool(self._open)

    def _note(self, line: dict[str, Any]) -> None:
        said = line["payload"]
        if line["type"] == "response_item":
            meta = said.get("internal_chat_message_metadata_passthrough")
            mine = isinstance(meta, dict) and meta.get("turn_id") == self._turn
            self.busy = self.busy or (mine and bool(codex.records(line)))
        elif said["type"] in _ENDED:
            self._open.discard(str(said.get("turn_id")))
            self.busy = self.busy or said.get("turn_id") == self._turn
        elif said.get("turn_id") == self._turn:
            self.begun = True
        elif not _is_before(said.get("started_at"), self._since):
            self._open.add(str(said.get("turn_id")))


def _is_before(at: object, since: float) -> bool:
    return isinstance(at, int | float) and at < since - 1.0  # ``at`` is in whole seconds


def _events(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the parsed lines about turns and responses. They may be forged: only the types are sure to be strings."""
    for raw in lines:
        if not _MARKS.search(raw, 0, _HEAD):
            continue
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        said = line.get("payload") if isinstance(line, dict) and isinstance(line.get("type"), str) else None
        if isinstance(said, dict) and isinstance(said.get("type"), str):
            yield line
