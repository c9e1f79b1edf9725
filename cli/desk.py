"""Review at a terminal: one capture after the other, one key for each decision."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import time
from types import FrameType
from typing import Any

from subconscious.errors import SubconsciousError

from . import review, screen, suspicion
from .ask import ask
from .keys import END, read_key, read_line
from .memories import speaker

KEYS = "a approve  e edit  r reject  t teach  s skip  u undo  q quit"
HELD_KEYS = "l let out  r reject  t teach  s skip  u undo  q quit"
"""To teach is to reject, and to flag from then on what says the same."""

Capture = dict[str, Any]


def sit(captures: list[Capture], waiting: int = 0) -> None:
    """Go through captures until all are seen or the person leaves; ``waiting`` is how many wait in all."""
    _Desk(captures, waiting).work()


class _Desk:
    def __init__(self, captures: list[Capture], waiting: int) -> None:
        self._captures = captures
        self._more = max(0, waiting - len(captures))
        self._place = 0
        self._done: list[tuple[int, str]] = []
        self._waiting = False
        self._resized = False
        self._deeds: dict[str, Callable[[Capture], None]] = {
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
        """Show a capture, wait for a key, do what it stands for."""
        with _on_resize(self._resize):
            while self._place < len(self._captures):
                self._show()
                if not self._step(self._captures[self._place]):
                    break
        self._tell_end()

    def _step(self, capture: Capture) -> bool:
        """One decision; False when the person leaves."""
        while (key := self._key()) not in self._deeds:
            if key in ("q", END):
                print()
                return False
        print(key)
        try:
            self._deeds[key](capture)
        except SubconsciousError as error:
            print(screen.paint(screen.wrapped(f"{error.message}; {error.remedy}"), "yellow"))
            self._place += 1
        return True

    def _key(self) -> str:
        """The next key that is pressed."""
        self._catch_up()
        self._waiting = True
        try:
            return read_key().lower()
        finally:
            self._waiting = False

    def _resize(self) -> None:
        """Show anew, if nothing else is being shown: a signal comes at any time, and print can't be entered twice."""
        self._resized = True
        if self._waiting:
            self._waiting = False
            self._catch_up()
            self._waiting = True

    def _catch_up(self) -> None:
        while self._resized:
            self._resized = False
            self._show()

    def _show(self) -> None:
        capture = self._captures[self._place]
        print(f"\n{screen.paint('─' * screen.width(), 'dim')}")
        number = f"{self._place + 1} of {len(self._captures)}"
        told = [capture["kind"], f"said by {speaker(capture)}", screen.when(capture["said_at"])]
        print(screen.paint(screen.wrapped(f"{number}  [{capture['id']}] {screen.listed(told)}"), "dim"))
        print(f"\n{screen.paint(screen.wrapped(suspicion.marked(capture), 2), 'bold')}\n")
        screen.fields(_rows(capture))
        keys = HELD_KEYS if capture["status"] == "quarantined" else KEYS
        print(f"\n{screen.paint(keys, 'dim')} > ", end="", flush=True)

    def _approve(self, capture: Capture) -> None:
        if capture["status"] == "quarantined":
            print("It is in quarantine: let it out first (l); it then waits for your review like any other.")
        else:
            self._decide("approve", capture)

    def _release(self, capture: Capture) -> None:
        self._decide("release", capture)

    def _teach(self, capture: Capture) -> None:
        self._decide("reject", capture, teach=True)

    def _reject(self, capture: Capture) -> None:
        reason = read_line("why (Enter for no reason): ")
        if reason is not None:
            self._decide("reject", capture, reason=reason.strip() or None)

    def _edit(self, capture: Capture) -> None:
        if capture["status"] == "quarantined":
            print("It is in quarantine: let it out first (l).")
            return
        wording = read_line("new words: ", screen.line(capture["content"]))
        if wording and wording.strip():
            self._decide("edit", capture, text=wording)

    def _skip(self, capture: Capture) -> None:
        del capture
        self._place += 1

    def _undo(self, capture: Capture) -> None:
        del capture
        if not self._done:
            print("Nothing was decided yet.")
            return
        place, _ = self._done.pop()
        ask("undo", ids=[self._captures[place]["id"]], origin="user")
        self._place = place

    def _decide(self, cmd: str, capture: Capture, **args: Any) -> None:
        (now,) = ask(cmd, ids=[capture["id"]], origin="user", **args)["captures"]
        print(screen.paint(f"{review.decided(now)}.", "green"))
        self._done.append((self._place, now["status"]))
        self._place += 1

    def _tell_end(self) -> None:
        statuses = [status for _, status in self._done]
        counts = [f"{statuses.count(status)} {status}" for status in sorted(set(statuses))]
        left = len(self._captures) - len(self._done)
        print(f"\n{screen.listed([*counts, f'{left + self._more} left'])}.")


def _rows(capture: Capture) -> list[tuple[str, object]]:
    """Name and value of all that a decision may rest on."""
    parts = capture["parts"]
    context = screen.line(capture["context"] or capture["evidence"])
    likes = "\n".join(line.removeprefix("similar: ") for line in review.similar(capture))
    return [
        ("suspicion", "\n".join(suspicion.lines(capture)).removeprefix("suspicion: ")),
        ("session", screen.line(capture.get("session_id") or "")),
        ("in context", f'"{context}"' if context != screen.line(capture["content"]) else ""),
        ("confidence", f"{review.confidence(capture).removeprefix('confidence ')}, {parts['strength']}"),
        ("waits since", screen.line(capture["reason"])),
        ("similar", likes),
        ("proposal", review.proposal(capture)),
        ("leaves", _days_left(capture) if capture["status"] == "review" else ""),
    ]


def _days_left(capture: Capture) -> str:
    days = (capture["expires_at"] - time()) / 86_400 if capture["expires_at"] else 0
    return f"in {screen.counted(int(days), 'day')}, if you do not decide" if days >= 1 else "today"


@contextmanager
def _on_resize(resize: Callable[[], None]) -> Iterator[None]:
    """Call ``resize`` when the window gets another size."""
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
