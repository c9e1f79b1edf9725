"""``subconscious mcp``: the server that a client starts, and that lives as long as it."""

from __future__ import annotations

from argparse import Namespace

from subconscious.errors import SubconsciousError
from subconscious.settings import load_settings

from .ask import home


def serve(options: Namespace) -> None:
    """Serve the model's tools over stdin and stdout."""
    from .tools.server import serve as run

    run(options.handed, offered=_offered())


def _offered() -> bool:
    """Whether the tools are switched on. What is wrong with the settings is told by the first tool that is called."""
    try:
        settings = load_settings(home().root)
    except SubconsciousError:
        return True
    return settings.mcp and not settings.off
