"""``subconscious sync`` as a Git hook: ``--install-hook``, ``--remove-hook``, and the hook's own run (``--hook``)."""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable

from subconscious.domain.errors import RequestError, SubconsciousError
from subconscious.sharing.git import open_refs
from subconscious.sharing.hooks import installation, removal, write

from . import screen
from .ask import here, home
from .confirmation import agreed, print_change
from .origin import inside_client, require_person

SECONDS = 30
"""The most seconds that a merge or a push waits for a sync."""

SILENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "force",
}
"""Variables that keep Git and ssh from asking for a password during a push; ssh agents and helpers still work."""


def change(options: Namespace) -> int:
    """Add `subconscious sync` to the Git hooks of this repository, or remove it, after showing what will be written."""
    require_person("change Git hooks")
    with open_refs(here()) as refs:
        remote = options.remote or "origin"
        if options.install_hook and not refs.url(remote):
            raise RequestError(f"there is no remote {remote!r}", "`git remote -v` lists the remotes")
        changes = installation(refs, home(), remote) if options.install_hook else removal(refs)
    changes = [one for one in changes if one.before != one.after]
    if not changes:
        print(
            "The Git hooks already run `subconscious sync`; nothing was changed."
            if options.install_hook
            else "No hook runs `subconscious sync`."
        )
        return 0
    for one in changes:
        print_change(one.path, one.before, one.after)
    if not agreed(options, "Write this?"):
        return 1
    for one in changes:
        write(one)
    if options.install_hook:
        print(f"After each merge, and before each push to {screen.line(remote)}, `subconscious sync` runs.")
    return 0


def run(sync: Callable[[], str]) -> int:
    """Sync as a hook: never fail, ask or take long. Print one line if something was synced or failed.

    A merge or push that the model runs syncs nothing: only a person may send memories.
    """
    if inside_client():
        return 0
    os.environ.update(SILENT)
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        said = sync()
    except (SubconsciousError, OSError, KeyError) as error:
        reason = error.message if isinstance(error, SubconsciousError) else str(error)
        said = f"not synced: {reason}. Run `subconscious sync`"
    finally:
        signal.alarm(0)
    if said:
        print(screen.wrapped(f"subconscious: {screen.line(said)}"), file=sys.stderr)
    return 0


def _too_long(*_: object) -> None:
    raise RequestError(f"it took more than {SECONDS} seconds", "")
