"""A session that decides something, and what the next one is given."""

from __future__ import annotations

import json
from typing import Any

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support.daemons import drained

DECISION = "We decided to keep all amounts in integer cents, because floats lost a cent."


def context(answer: bytes) -> str:
    """What the model is given by a hook's output."""
    if not answer:
        return ""
    said: dict[str, Any] = json.loads(answer)
    return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))


def blocked(answer: bytes) -> str:
    """What the client shows of a command that the hook has carried out; the model hears nothing of it."""
    said: dict[str, Any] = json.loads(answer)
    assert said["decision"] == "block"
    assert context(answer) == ""
    return str(said["reason"])


def captured(home: Home, speaker: Speaker, status: str | None = None) -> list[dict[str, Any]]:
    asked = {"cwd": str(speaker.project), "status": status}
    found: list[dict[str, Any]] = wire.call(home, "captures", asked)["captures"]
    return found


def decide(home: Home, speaker: Speaker, text: str = DECISION) -> None:
    speaker.say(text)
    speaker.hook("drop", "Stop", last_assistant_message="Noted.")
    drained(home)
