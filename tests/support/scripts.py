"""Scripted exchanges, and what is captured of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from subconscious.capture.draft import Draft
from subconscious.capture.offline import drafts, extract
from subconscious.domain.model import Candidate, Turn
from subconscious.redaction.cleaning import clean
from subconscious.transcripts import read_turns

STEP = "The kiln controller requires `KilnDriver.warm_up()` before `fire()`, because the relay drops the first command."


class Script:
    """A session's lines, written as the client writes them."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def add(self, kind: str, content: object, **keys: Any) -> Script:
        number = len(self.lines)
        line = {
            "type": kind,
            "uuid": f"u{number}",
            "sessionId": "s1",
            "timestamp": f"2026-03-01T10:{number % 60:02}:00Z",
            "cwd": "/home/dev/kiln",
            "gitBranch": "glaze",
            "message": {"role": kind, "content": content},
        }
        self.lines.append(line | keys)
        return self

    def user(self, text: str, **keys: Any) -> Script:
        return self.add("user", text, **keys)

    def says(self, text: str, **keys: Any) -> Script:
        return self.add("assistant", [{"type": "text", "text": text}], **keys)

    def runs(self, command: str, output: str = "", *, failed: bool = False) -> Script:
        return self.uses("Bash", {"command": command}, output, failed=failed)

    def uses(self, tool: str, given: dict[str, Any], output: str = "", *, failed: bool = False) -> Script:
        name = f"toolu_{len(self.lines)}"
        self.add("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": given}])
        result = {"type": "tool_result", "tool_use_id": name, "content": output, "is_error": failed}
        return self.add("user", [result])

    def turns(self, folder: Path) -> tuple[Turn, ...]:
        path = folder / "session.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return read_turns(path, final=True, clean=clean).turns


def found(script: Script, folder: Path, source: str) -> list[Draft]:
    return [draft for draft in drafts(script.turns(folder)) if draft.source == source]


def captured(script: Script, folder: Path) -> list[Candidate]:
    return extract(script.turns(folder))
