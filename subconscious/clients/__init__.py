"""Coding agents besides Claude Code: their events, transcripts and settings, converted to Claude Code's formats.

Each agent has a module and a row in ``CLIENTS``.
"""

from __future__ import annotations

import os

from subconscious.clients import codex, cursor, gemini
from subconscious.clients.client import Client

CLIENTS: dict[str, Client] = {row.name: row for row in (codex.CLIENT, gemini.CLIENT, cursor.CLIENT)}
"""The clients, by the names that their hooks use for them."""

CLAUDE_CODE = "claude-code"
"""The name of the agent that a memory is attributed to if no other agent is recorded for it."""

VARIABLE = "SUBCONSCIOUS_CLIENT"
"""The environment variable that names the client of these agents' hooks; spool entries store it as an option."""

__all__ = ["CLAUDE_CODE", "CLIENTS", "VARIABLE", "Client", "instructions_of", "notes_of"]


def instructions_of(client: str, transcript: str) -> tuple[str, ...]:
    """Return the files that another client loads instead of CLAUDE.md; none for Claude Code.

    They have the form of `Client.instructions`, but paths that are relative to the transcript are resolved.
    """
    names = CLIENTS[client].instructions if client in CLIENTS else ()
    found = (_beside(transcript, name) if name.startswith("../") else name for name in names)
    return tuple(name for name in found if name)


def notes_of(client: str, transcript: str) -> str:
    """Return the folder with a client's own notes about the project of a session; "" if it has none."""
    return _beside(transcript, CLIENTS[client].notes) if client in CLIENTS and CLIENTS[client].notes else ""


def _beside(transcript: str, name: str) -> str:
    return os.path.normpath(f"{transcript}/{name}") if transcript.startswith("/") else ""
