"""``subconscious mcp``: the MCP server. A client starts the server, and stops it by closing the server's stdin."""

from __future__ import annotations

from argparse import Namespace

from subconscious.domain.errors import SubconsciousError
from subconscious.settings.settings import load_settings

from .ask import home


def serve(options: Namespace) -> None:
    """Serve the tools over stdin and stdout."""
    from .tools.server import serve as run

    run(options.handed, offered=_offered())


def _offered() -> bool:
    """Return whether the tools are switched on; True for invalid settings, so that the first call reports the error."""
    try:
        settings = load_settings(home().root)
    except SubconsciousError:
        return True
    return settings.mcp and not settings.off
