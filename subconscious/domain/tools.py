"""Names of the client's tools that several packages distinguish."""

from __future__ import annotations

EDIT_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
"""The tools that change a file."""
