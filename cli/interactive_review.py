"""Interactive review on a terminal: shows one capture at a time and reads a key for the decision."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import time
from types import FrameType
from typing import TYPE_CHECKING, Any

from subconscious.domain.errors import SubconsciousError

from . import review, screen, suspicion
from .ask import ask
from .memories import source

if TYPE_CHECKING:
    from subconscious.wire.captures import ReviewedCapture
    from subconscious.wire.requests import CapturesRequest


KEYS = "a approve  e edit  r reject  t teach  s skip  u undo  q quit"
QUARANTINE_KEYS = "l release from quarantine  r reject  t teach  s skip  u undo  q quit"
"""The keys for a capture in quarantine. ``teach`` rejects it, and flags later statements with the same meaning."""

UNCHANGED = "decided before"
"""Stands for the status of a capture on which a decision was made elsewhere during the review."""


def review_each(captures: list[ReviewedCapture], waiting: int = 0) -> None:
    """Review captures until all have been shown or the user quits.

    ``waiting`` is the number of captures that wait, including those that are not in ``captures``.
    """
    _InteractiveReview(captures, waiting).work()


class _InteractiveReview:
    def __init__(self, captures: list[ReviewedCapture], waiting: int) -> None:
        self._captures = captures
        self._not_loaded = max(0, waiting - len(captures))
        self._position = 0
        self._done: list[tuple[int, str]] = []
        self._waiting = False
        self._resized = False
        self._actions: dict[str, Callable[[ReviewedCapture], None]] = {
            "a": self._approve,
            "e": self._edit,
            "r": self._reject,
            "t": self._teach,
            "l": self._release,
            "s": self._skip,
            " ": self._skip,
            "u": self._undo,
            "z": self._undo,
        }

    def work(self) -> None:
        """Show each capture, wait for a key and run its action."""
        with _on_resize(self._resize):
            while self._position < len(self._captures):
                self._show()
                if not self._step(self._captures[self._position]):
                    break
        self._print_end()

    def _step(self, capture: ReviewedCapture) -> bool:
        """Read a key and run its action; return False when the user quits."""
        while (key := self._key()) not in self._actions:
            if key in ("q", END):
                print()
                return False
        print(key)
        try:
            self._actions[key](capture)
        except SubconsciousError as error:
            print(screen.paint(screen.wrapped(f"{error.message}; {error.remedy}"), "yellow"))
            self._position += 1
        return True

    def _key(self) -> str:
        """Return the next key that is pressed."""
        # Set first: a resize after this redraws at once, and ``_redraw`` below handles an earlier one.
        self._waiting = True
        try:
            self._redraw()
            return read_key().lower()
        finally:
            self._waiting = False

    def _resize(self) -> None:
        """Record a resize; redraw at once only while waiting for a key, because print is not reentrant."""
        self._resized = True
        if self._waiting:
            self._redraw()

    def _redraw(self) -> None:
        """Show the capture again after a resize; repeat this if the window is resized during the redrawing."""
        while self._resized:
            self._resized = self._waiting = False
            self._show()
            self._waiting = True

    def _show(self) -> None:
        capture = self._captures[self._position]
        print(f"\n{screen.paint('─' * screen.width(), 'dim')}")
        number = f"{self._position + 1} of {len(self._captures)}"
        details = [capture["kind"], source(capture), screen.when(capture["said_at"])]
        print(screen.paint(screen.wrapped(f"{number}  [{capture['id']}] {screen.listed(details)}"), "dim"))
        print(f"\n{screen.paint(screen.wrapped(suspicion.marked(capture), 2), 'bold')}\n")
        screen.fields(_rows(capture))
        keys = QUARANTINE_KEYS if capture["status"] == "quarantined" else KEYS
        print(f"\n{screen.paint(keys, 'dim')} > ", end="", flush=True)

    def _approve(self, capture: ReviewedCapture) -> None:
        if capture["status"] == "quarantined":
            print("It is in quarantine. Press l to release it; then it waits for your review.")
        else:
            self._decide("approve", capture)

    def _release(self, capture: ReviewedCapture) -> None:
        self._decide("release", capture)

    def _teach(self, capture: ReviewedCapture) -> None:
        self._decide("reject", capture, teach=True)

    def _reject(self, capture: ReviewedCapture) -> None:
        reason = read_line("why (Enter for no reason): ")
        if reason is not None:
            self._decide("reject", capture, reason=reason.strip() or None)

    def _edit(self, capture: ReviewedCapture) -> None:
        if capture["status"] == "quarantined":
            print("It is in quarantine. Press l to release it first.")
            return
        wording = read_line("new words: ", screen.line(capture["content"]))
        if wording and wording.strip():
            self._decide("edit", capture, text=wording)

    def _skip(self, capture: ReviewedCapture) -> None:
        del capture
        self._position += 1

    def _undo(self, capture: ReviewedCapture) -> None:
        del capture
        if not self._done:
            print("You have not reviewed any capture yet, so there is nothing to undo.")
            return
        position, status = self._done.pop()
        if status != UNCHANGED:  # otherwise, a decision made elsewhere would be undone
            ask("undo", ids=[self._captures[position]["id"]], origin="user")
        self._position = position

    def _decide(self, cmd: CapturesRequest, capture: ReviewedCapture, **args: Any) -> None:
        (decided_capture,) = ask(cmd, ids=[capture["id"]], origin="user", **args)["captures"]
        unchanged = decided_capture.get("unchanged", False)  # decided on meanwhile, perhaps in another terminal
        print(screen.paint(f"{review.decided(decided_capture)}.", "yellow" if unchanged else "green"))
        self._done.append((self._position, UNCHANGED if unchanged else decided_capture["status"]))
        self._position += 1

    def _print_end(self) -> None:
        statuses = [status for _, status in self._done]
        counts = [f"{statuses.count(status)} {status}" for status in sorted(set(statuses))]
        left = len(self._captures) - len(self._done)
        print(f"\n{screen.listed([*counts, f'{left + self._not_loaded} left'])}.")


def _rows(capture: ReviewedCapture) -> list[tuple[str, object]]:
    """Return the rows (name, value) that are shown for a capture."""
    parts = capture["parts"]
    context = screen.line(capture["context"] or capture["evidence"])
    similar = "\n".join(line.removeprefix("similar: ") for line in review.similar(capture))
    return [
        ("suspicion", "\n".join(suspicion.lines(capture)).removeprefix("suspicion: ")),
        ("session", screen.line(capture.get("session_id") or "")),
        ("in context", f'"{context}"' if context != screen.line(capture["content"]) else ""),
        ("confidence", f"{review.confidence(capture).removeprefix('confidence ')}, {parts['strength']}"),
        ("waits because", screen.line(capture["reason"])),
        ("similar", similar),
        ("proposal", review.proposal(capture)),
        ("expires", _days_left(capture) if capture["status"] == "review" else ""),
    ]


def _days_left(capture: ReviewedCapture) -> str:
    days = (capture["expires_at"] - time()) / 86_400 if capture["expires_at"] else 0
    return f"in {screen.counted(int(days), 'day')}, if you do not decide" if days >= 1 else "today"


@contextmanager
def _on_resize(resize: Callable[[], None]) -> Iterator[None]:
    """Call ``resize`` when the size of the window changes."""
    if not hasattr(signal, "SIGWINCH"):
        yield
        return

    def redraw(number: int, frame: FrameType | None) -> None:
        del number, frame
        resize()

    before = signal.signal(signal.SIGWINCH, redraw)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


ESCAPE = b"\x1b"
END = "\x04"
"""The key that is returned at the end of the input: the character of Ctrl-D."""


def read_key() -> str:
    """Wait for a key and return its character; "" for a key without one, such as an arrow."""
    with _without_lines() as raw:
        if not raw:
            return _first_of_line()
        source = sys.stdin.fileno()
        pressed = os.read(source, 1)
        if pressed == ESCAPE:
            _skip_sequence(source)
            return ""
        return pressed.decode("utf-8", "ignore") if pressed else END


def _skip_sequence(source: int) -> None:
    """Skip the rest of an escape sequence: an arrow key sends a bracket, digits and a letter at once."""
    brackets = b"[O"
    while select.select([source], [], [], 0.02)[0]:
        byte = os.read(source, 1)
        if byte not in brackets and b"@" <= byte <= b"~":
            return
        brackets = b""


def _first_of_line() -> str:
    try:
        return input().strip()[:1]
    except EOFError:
        return END


@contextmanager
def _without_lines() -> Iterator[bool]:
    """Make the terminal send single keys without echo; yield whether that was possible."""
    source = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(source)
    except termios.error:
        before = []
    if not before or os.environ.get("TERM") == "dumb":
        yield False
        return
    try:
        # TCSADRAIN keeps keys that were pressed before the question.
        tty.setcbreak(source, termios.TCSADRAIN)
        yield True
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


def read_line(prompt: str, given: str = "") -> str | None:
    """Read a line, prefilled with ``given`` where readline is available; return None on Ctrl-C or Ctrl-D."""
    try:
        with _prefilled(given):
            return input(prompt)
    except (EOFError, KeyboardInterrupt):
        print()
        return None


@contextmanager
def _prefilled(text: str) -> Iterator[None]:
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield
    finally:
        readline.set_startup_hook(None)
