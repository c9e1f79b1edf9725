"""``subconscious``: read the command line, do the one thing, say errors in one line and a remedy."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from subconscious.errors import DaemonError, SubconsciousError

from .arguments import parser
from .quoted import quoted
from .screen import clean, paint

INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell reports for a program that a signal ended: 128 + SIGINT, 128 + SIGPIPE."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0 done, 1 failed, 2 wrong usage."""
    _never_fail_to_print()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except SubconsciousError as error:
        return _complain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader left (`| head`); Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyError as error:
        # A newer daemon serves older programs too, and may have changed an answer.
        return _complain(DaemonError(f"the daemon's answer lacks {error}", "run `subconscious doctor`"))
    except OSError as error:
        return _complain(DaemonError(str(error), "run `subconscious doctor`"))
    return code


def _run(arguments: Sequence[str] | None) -> int:
    options = parser().parse_args(arguments)
    module, _, name = options.verb.partition(":")
    # Imported only now: `--help` must not wait for what other commands need.
    verb = getattr(import_module(f".{module}", __package__), name)
    with quoted(options):
        return int(verb(options) or 0)


def _complain(error: SubconsciousError) -> int:
    with suppress(OSError):
        print(f"{paint('error:', 'red', sys.stderr)} {clean(error.message)}", file=sys.stderr)
        if error.remedy:
            print(f"  {clean(error.remedy)}", file=sys.stderr)
    return 1


def _never_fail_to_print() -> None:
    """A terminal that can't show a character gets its escape instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
