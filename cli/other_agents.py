"""``subconscious install``: connects another coding agent, or disconnects it."""

from __future__ import annotations

from argparse import Namespace

from subconscious.clients import CLIENTS
from subconscious.clients.entries import PLACES
from subconscious.clients.installing import changes, is_installed, write, write_launcher
from subconscious.domain.errors import RequestError

from . import screen
from .ask import home
from .confirmation import agreed, print_change
from .origin import require_person


def install(options: Namespace) -> int:
    """Add Subconscious to a client's settings, or remove it from them, after showing what will be written."""
    require_person("change the settings of another coding agent")
    client, state = CLIENTS[options.client], home().root
    if not options.remove and not (state / "env" / "current").exists():
        raise RequestError(
            "the Python environment is not set up yet", "run `subconscious status`: it sets up the environment"
        )
    wanted = changes(client.name, state, remove=options.remove)
    if not wanted:
        if not options.remove:
            write_launcher(state)
        print(f"{client.label} {'has no' if options.remove else 'already has the'} entries for Subconscious.")
        return 0
    for one in wanted:
        print_change(one.path, one.before, one.after)
    if not agreed(options, "Write this?"):
        return 1
    if not options.remove:
        write_launcher(state)
    for one in wanted:
        write(one)
    if options.remove:
        print(f"{client.label} is disconnected. What was learned from it is kept.")
    else:
        print(f"{client.label} has the same memories as Claude Code, from its next session on.")
        if PLACES[client.name].afterwards:
            print(screen.wrapped(PLACES[client.name].afterwards))
    return 0


def disconnect_all() -> None:
    """Remove the entries for Subconscious from the settings of all clients, so that no hook calls a missing program."""
    for client in CLIENTS.values():
        if not is_installed(client.name):
            continue
        try:
            for one in changes(client.name, home().root, remove=True):
                write(one)
            print(f"Disconnected {client.label}.")
        except (RequestError, OSError) as error:
            print(f"{client.label} still has entries for Subconscious in its settings: {error}")
