"""Environment variables that coding agents other than Claude Code set for every command that their model runs.

Not in ``subconscious.clients``, which is slow to import: every command checks these variables to know who runs it.
"""

from __future__ import annotations

CODEX = ("CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID")
CURSOR = ("CURSOR_AGENT",)
GEMINI = ("GEMINI_CLI",)

ALL = (*CODEX, *CURSOR, *GEMINI)
