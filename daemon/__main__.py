"""``python -m subconscious.daemon run``: be the daemon, unless there is one. Other verbs are the terminal face's."""

from __future__ import annotations

import logging
import os
import resource
import sqlite3
import sys
from logging.handlers import RotatingFileHandler

from subconscious.client import write_refusal
from subconscious.errors import SettingsError, StoreError, SubconsciousError
from subconscious.home import Home, find_home
from subconscious.programs import safe_path
from subconscious.safe_files import append_regular
from subconscious.store.presence import as_damage, require_usable

from .discretion import DiscreetFormatter
from .lock import Lock, become_daemon

LOG_BYTES = 2 * 2**20

OPEN_FILES = 4096
"""Files the daemon may have open, callers included."""


def main() -> int:
    """Run the daemon in the foreground; return the exit code: 0 also when another one runs already."""
    if sys.argv[1:] != ["run"]:
        print("usage: python -m subconscious.daemon run", file=sys.stderr)  # noqa: T201
        return 2
    home = find_home()
    if home is None:
        print("there is no place for the state folder; set SUBCONSCIOUS_HOME", file=sys.stderr)  # noqa: T201
        return 1
    os.umask(0o077)
    try:
        home.make()
        home.mend()
    except (SubconsciousError, OSError) as error:
        print(f"the state folder can't be used: {error}", file=sys.stderr)  # noqa: T201
        return 1
    # Hooks hand on the PATH of their session, whose programs must not serve the others.
    os.environ["PATH"] = safe_path()
    _widen()
    try:
        _log_to(home)
    except OSError as error:
        print(f"the log can't be written: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return serve(home)


def _widen() -> None:
    """Let as many files be open as the system allows, within reason: callers must not use up what the store needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(home: Home, *, handle_signals: bool = True) -> int:
    """Be the daemon of a state folder until it leaves, unless another one runs; return the exit code.

    Only the main thread of a process can handle signals.
    """
    log = logging.getLogger("subconscious.daemon")
    try:
        lock = become_daemon(home)
        if lock is None:
            return 0
        try:
            _start(home, lock, handle_signals=handle_signals)
        finally:
            # Only now: programs that wait for the lock may delete, copy or open the database.
            lock.release()
    except SubconsciousError as error:
        log.error("%s %s; %s", error.code, error.message, error.remedy)  # noqa: TRY400 - the remedy says it all
        return 1
    return 0


def _start(home: Home, lock: Lock, *, handle_signals: bool) -> None:
    """Run the daemon; leave a note for hooks and terminals where database or settings forbid it."""
    home.refusal.unlink(missing_ok=True)
    try:
        # Before the slow imports: a session that begins waits less than a second for this.
        require_usable(home.database)
        _live(home, lock, handle_signals=handle_signals)
    except SettingsError as error:
        write_refusal(home, error)
        raise
    except (StoreError, sqlite3.Error) as error:
        refused = as_damage(error, home.database)
        if refused is None:
            raise
        write_refusal(home, refused)
        raise refused from error


def _live(home: Home, lock: Lock, *, handle_signals: bool) -> None:
    # Imported only now: most of the start, and wasted on a process that is not to be the daemon.
    import asyncio

    from subconscious.settings import load_settings, require_written

    from .heap import return_large_blocks
    from .lifecycle import run

    return_large_blocks()
    require_written(home.root)
    settings = load_settings(home.root)
    with asyncio.Runner() as runner:
        runner.run(run(home, settings, lock, handle_signals=handle_signals))


def log_handler(home: Home) -> logging.Handler:
    """A handler for a log file of limited size, in which secrets are redacted."""
    handler = RotatingFileHandler(home.log / "daemon.log", maxBytes=LOG_BYTES, backupCount=2, encoding="utf-8")
    handler.setFormatter(DiscreetFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler


def _log_to(home: Home) -> None:
    """Log to a file that can't grow for ever; stderr is /dev/null or that same file."""
    # Opened once to see that it is a file: the handler would wait for ever for somebody to read from a FIFO.
    os.close(append_regular(home.log / "daemon.log"))
    logging.basicConfig(
        level=os.environ.get("SUBCONSCIOUS_LOG", "INFO").upper(),
        handlers=[log_handler(home)],
    )
    # It tells of every change, at level INFO: a line for each hook that fires.
    logging.getLogger("watchfiles").setLevel(logging.WARNING)


if __name__ == "__main__":
    sys.exit(main())
