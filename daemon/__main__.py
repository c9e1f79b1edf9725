"""``python -m subconscious.daemon run`` runs the daemon, unless one is already running.

All other commands belong to the terminal (``subconscious.cli``).
"""

from __future__ import annotations

import gc
import logging
import os
import resource
import sqlite3
import sys
import threading
from logging.handlers import RotatingFileHandler

from subconscious.domain.errors import SettingsError, StoreError, SubconsciousError
from subconscious.redaction.log_redaction import RedactingFormatter
from subconscious.settings.home import Home, find_home
from subconscious.store.presence import as_damage, require_usable
from subconscious.system.programs import safe_path
from subconscious.system.safe_files import append_regular
from subconscious.wire import write_refusal

from .lock import Lock, become_daemon

LOG_BYTES = 2 * 2**20

LEAVING_SECONDS = 10.0
"""Seconds that the process may take to end after everything is closed."""

SWITCH_SECONDS = 0.001
"""Seconds for which a busy thread keeps the interpreter's lock while others wait for it; Python's default is 0.005.

An answer waits for the lock about ten times, once after each system call.
"""

OPEN_FILES = 4096
"""The number of files that the daemon must be able to open at once, connections included."""


def main() -> int:
    """Run the daemon in the foreground; return the exit code, 0 if another one already runs."""
    if sys.argv[1:] != ["run"]:
        print("usage: python -m subconscious.daemon run", file=sys.stderr)  # noqa: T201
        return 2
    home = find_home()
    if home is None:
        print("no state folder was found; set SUBCONSCIOUS_HOME to the path of one", file=sys.stderr)  # noqa: T201
        return 1
    os.umask(0o077)
    try:
        home.make()
        home.mend()
    except (SubconsciousError, OSError) as error:
        print(f"the state folder can't be used: {error}", file=sys.stderr)  # noqa: T201
        return 1
    # Hooks pass on the PATH of their session, which may contain programs that must not run for other sessions.
    os.environ["PATH"] = safe_path()
    _widen()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        _log_to(home)
    except OSError as error:
        print(f"the log can't be written: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return serve(home)


def _widen() -> None:
    """Raise the limit of open files, which the database shares, to ``OPEN_FILES`` or as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(home: Home, *, handle_signals: bool = True) -> int:
    """Run the daemon of a state folder, unless another one runs; return the exit code.

    ``handle_signals`` must be false outside the main thread, the only thread that can handle signals.
    """
    log = logging.getLogger("subconscious.daemon")
    try:
        lock = become_daemon(home)
        if lock is None:
            return 0
        try:
            _start(home, lock, handle_signals=handle_signals)
        finally:
            # Last: programs that wait for the lock may delete, copy or open the database.
            lock.release()
    except SubconsciousError as error:
        log.error("%s %s; %s", error.code, error.message, error.remedy)  # noqa: TRY400 - the remedy says it all
        return 1
    return 0


def _start(home: Home, lock: Lock, *, handle_signals: bool) -> None:
    """Run the daemon; if the database or the settings prevent it, write the reason for hooks and terminals to show."""
    home.refusal.unlink(missing_ok=True)
    try:
        # Before the slow imports: a session that starts waits less than a second for the refusal.
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
    # Imports create little garbage; collecting it takes a tenth of their time.
    gc.disable()
    # Imported late: these imports take most of the start-up time, and many processes only find a running daemon.
    import asyncio

    from subconscious.settings.config_file import require_written
    from subconscious.settings.settings import load_settings
    from subconscious.system.heap import return_large_blocks

    from .lifecycle import run

    if handle_signals:  # in its own process, imported modules stay, so the garbage collector can skip them
        gc.freeze()
    gc.enable()
    return_large_blocks()
    require_written(home.root)
    settings = load_settings(home.root)
    with asyncio.Runner() as runner:
        try:
            runner.run(run(home, settings, lock, handle_signals=handle_signals))
        finally:
            if handle_signals:  # in its own process
                _leave_soon()


def _leave_soon() -> None:
    """End the process if it does not end by itself within ``LEAVING_SECONDS``; all data is already written."""
    timer = threading.Timer(LEAVING_SECONDS, _abandon)
    timer.daemon = True
    timer.start()


def _abandon() -> None:
    logging.getLogger("subconscious.daemon").warning(
        "a task or a thread did not end in time: the process exits without waiting for it"
    )
    os._exit(1)


def log_handler(home: Home) -> logging.Handler:
    """Return a handler that writes to a log file of limited size and redacts secrets."""
    handler = RotatingFileHandler(home.log / "daemon.log", maxBytes=LOG_BYTES, backupCount=2, encoding="utf-8")
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler


def _log_to(home: Home) -> None:
    """Log to a file of limited size. The stderr of a daemon started in the background is that file or /dev/null."""
    # Open it once to verify that it is a regular file: the handler would block for ever on a FIFO.
    os.close(append_regular(home.log / "daemon.log"))
    logging.basicConfig(
        level=os.environ.get("SUBCONSCIOUS_LOG", "INFO").upper(),
        handlers=[log_handler(home)],
    )
    # At level INFO, watchfiles logs every change: a line for each hook.
    logging.getLogger("watchfiles").setLevel(logging.WARNING)


if __name__ == "__main__":
    sys.exit(main())
