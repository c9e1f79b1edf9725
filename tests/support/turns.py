"""Turns of a session."""

from __future__ import annotations

from typing import Any

from subconscious.domain.model import Origin, Role, Turn


def turn(text: str, role: Role = Role.USER, origin: Origin | None = None, **own: Any) -> Turn:
    origin = origin or {Role.USER: Origin.USER, Role.ASSISTANT: Origin.ASSISTANT, Role.TOOL: Origin.TOOL}[role]
    return Turn(f"id-{text[:20]}", "s", role, origin, text, 5.0, "f.jsonl", 10, 90, branch="main", **own)
