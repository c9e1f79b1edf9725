"""Coding agents besides Claude Code: their events, transcripts and settings, converted to its forms.

Each has a module and a row in ``CLIENTS``.
"""

from __future__ import annotations

import os

from subconscious.clients import codex, cursor, gemini
from subconscious.clients.client import Client

CLIENTS: dict[str, Client] = {row.name: row for row in (codex.CLIENT, gemini.CLIENT, cursor.CLIENT)}
"""The clients by the name that their hooks pass."""

VARIABLE = "SUBCONSCIOUS_CLIENT"
"""The variable with which their hooks name the client; it comes with the options of an entry."""

__all__ = ["CLIENTS", "VARIABLE", "Client", "instructions_of"]


def instructions_of(client: str, transcript: str) -> tuple[str, ...]:
    """Return the files with instructions that another client loads instead of Claude Code's (`Client.instructions`)."""
    names = CLIENTS[client].instructions if client in CLIENTS else ()
    if transcript.startswith("/"):
        return tuple(os.path.normpath(f"{transcript}/{name}") if name.startswith("../") else name for name in names)
    return tuple(name for name in names if not name.startswith("../"))
