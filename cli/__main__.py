"""The program ``subconscious``: runs the command that its arguments name, and prints errors with their remedies."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from subconscious.domain.errors import DaemonError, SubconsciousError

from .arguments import parser
from .quoted import quoted
from .screen import clean, paint

INTERRUPTED = 130
BROKEN_PIPE = 141
"""Exit codes for termination by SIGINT and by SIGPIPE, as a shell reports them: 128 + the signal's number."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0 for success, 1 for failure, 130 or 141 if it was interrupted.

    Raises SystemExit for wrong usage (code 2) and after printing help (code 0).
    """
    _prepare_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except SubconsciousError as error:
        return _print_error(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()  # the reader has closed the pipe (`| head`)
        return BROKEN_PIPE
    except KeyError as error:
        # The daemon may be newer than this program, and its answer may lack a field that this program reads.
        return _print_error(DaemonError(f"the daemon's answer lacks {error}", "run `subconscious doctor`"))
    except OSError as error:
        if error.filename is None and error.errno in (errno.ENOSPC, errno.EFBIG):
            _discard_output()
            return _print_error(
                DaemonError(f"the output can't be written: {error.strerror}", "free space on the disk you write to")
            )
        return _print_error(DaemonError(str(error), "run `subconscious doctor`"))
    return code


def _discard_output() -> None:
    """Discard all further output. Otherwise Python would fail again when it flushes stdout at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str] | None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    # Without arguments, the default function runs. Naming any one command here avoids building the parsers of all.
    options = parser(arguments[0] if arguments else "status").parse_args(arguments)
    module, _, name = options.function.partition(":")
    # Imported late, so that `--help` does not load the modules of all commands.
    command = getattr(import_module(f".{module}", __package__), name)
    with quoted(options):
        return int(command(options) or 0)


def _print_error(error: SubconsciousError) -> int:
    with suppress(OSError):
        print(f"{paint('error:', 'red', sys.stderr)} {clean(error.message)}", file=sys.stderr)
        if error.remedy:
            print(f"  {clean(error.remedy)}", file=sys.stderr)
    return 1


def _prepare_streams() -> None:
    """Make stdout and stderr escape characters that the terminal's encoding lacks, instead of failing.

    A closed stream (`>&-`) is replaced by one that discards what is written to it.
    """
    nowhere = Path(os.devnull)
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
