"""Reading and deciding the review, as a person and as a prompt."""

from __future__ import annotations

from typing import Any

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import client_stub, terminal

DECISION = "We decided to keep all amounts in integer cents, because floats lost a cent."


def listed(home: Home, speaker: Speaker, status: str | None = None, **args: object) -> list[dict[str, Any]]:
    asked = {"cwd": str(speaker.project), "status": status, **args}
    return list(wire.call(home, "captures", asked)["captures"])


def person(home: Home, cmd: str, **args: object) -> list[dict[str, Any]]:
    answer = terminal.ask(home, cmd, **args)
    assert answer["ok"], answer
    return list(answer["result"]["captures"])


def active(home: Home, speaker: Speaker) -> list[str]:
    return [memory["content"] for memory in wire.call(home, "list", {"cwd": str(speaker.project)})["memories"]]


def typed(speaker: Speaker, home: Home, words: str) -> tuple[str, str]:
    """Type in the client: what the model and what the person is told."""
    payload = speaker.payload("UserPromptSubmit", prompt=words)
    return client_stub.submit(payload, terminal.environment(home) | speaker.environment, speaker.project)
