"""The variables that coding agents besides Claude Code set for everything that their model runs.

Light, and so not a part of ``subconscious.clients``: every terminal command looks for them, to know who runs it.
"""

from __future__ import annotations

CODEX = ("CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID")
CURSOR = ("CURSOR_AGENT",)
GEMINI = ("GEMINI_CLI",)

ALL = (*CODEX, *CURSOR, *GEMINI)
