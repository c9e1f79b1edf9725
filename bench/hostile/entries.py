"""Malformed spool entries: huge, endless, deeply nested, numerous, empty."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import chdir, closing, suppress
from pathlib import Path
from sqlite3 import connect

from bench.hostile.case import Stage, case, hold
from bench.hostile.files import learns
from bench.hostile.load import answering, holding_memory

MEGABYTE = 1 << 20
HEADER = b"subconscious 1\tStop\t1790000000000000000\t/p\t\t0.1.0\t\n"


def _payload(**more: object) -> bytes:
    return json.dumps({"session_id": "hostile", "cwd": "/p", "hook_event_name": "Stop", **more}).encode()


def _write(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        draft = path.with_name(f".{path.name}.tmp")
        draft.write_bytes(content)
        draft.rename(path)

    return write


def _listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, chdir(path.parent):
        listener.bind(path.name)


def _full_folder(path: Path) -> None:
    path.mkdir()
    (path / "file").write_text("words")


SHAPES: dict[str, Callable[[Path], None]] = {
    "a FIFO": os.mkfifo,
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a folder": _full_folder,
    "a socket": _listening,
    "70 MB": _write(HEADER + _payload(prompt="word " * 14 * MEGABYTE)),
    "one text of 60 MB": _write(HEADER + b'{"session_id": "' + b"x" * 60 * MEGABYTE + b'"}'),
    "one text of 7 MB": _write(HEADER + _payload(prompt="a line of some words, x = y\n" * (MEGABYTE // 4))),
    "1 MB of empty lists": _write(HEADER + b'{"session_id": "s", "more": [' + b"[]," * (MEGABYTE // 3) + b"[]]}"),
    "JSON nested 100,000 deep": _write(
        HEADER + b'{"session_id": "s", "more": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    ),
    "a header of 1 MB": _write(b"\t" * MEGABYTE),
    "bytes that are no UTF-8": _write(HEADER + b'{"session_id": "\xff\xfe\x80", "prompt": "\xc3("}'),
    "NULs": _write(HEADER + _payload(prompt="a\0b") + b"\0" * 1000),
    "nothing in it": _write(b""),
    "one terabyte, sparse": lambda path: _sparse(path),
}


def _sparse(path: Path) -> None:
    with path.open("wb") as file, suppress(OSError):  # a file system may have a lower limit
        file.truncate(1 << 40)


def _entry(stage: Stage, number: int = 1) -> Path:
    return stage.home.spool / f"{number:020d}-1-{number:08x}.entry"


def _attempt(make: Callable[[Path], None]) -> Callable[[Stage], None]:
    def attempt(stage: Stage) -> None:
        stage.start()
        learns(stage, "first")  # loads what is loaded lazily
        with holding_memory(stage), answering(stage, 4):
            make(_entry(stage))
            learns(stage)
        hold(not os.path.lexists(_entry(stage)), "the entry is still in the spool")

    return attempt


for _shape, _make in SHAPES.items():
    case("entries", f"an entry that is {_shape}", quick=False)(_attempt(_make))


@case("entries", f"{', '.join(SHAPES)}: set aside with their reasons, and none is deleted")
def all_together(stage: Stage) -> None:
    stage.start()
    learns(stage, "first")  # loads what is loaded lazily
    with holding_memory(stage, 250 * MEGABYTE), answering(stage, 8):
        for number, make in enumerate(SHAPES.values(), start=1):
            make(_entry(stage, number))
        learns(stage)
    with closing(connect(f"file:{stage.home.database}?mode=ro", uri=True)) as store:
        reasons = [row[0] for row in store.execute("SELECT reason FROM jobs WHERE state = 'buried'")]
    until = time.monotonic() + 60  # large ones are looked through for secrets first
    while len(aside := list(stage.home.buried.iterdir())) < len(reasons) and time.monotonic() < until:
        time.sleep(0.1)
    # Two are still understood: what is no UTF-8 is shown as such, and a long prompt is a prompt.
    hold(len(reasons) == len(aside) >= len(SHAPES) - 3, f"{len(aside)} entries were set aside: {reasons}")
    hold(all(reasons), "an entry was set aside without a reason")


@case("entries", "entries vanish and grow while they are read")
def restless(stage: Stage) -> None:
    stage.start()
    stop = threading.Event()

    def stir() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            path = _entry(stage, number)
            path.write_bytes(HEADER)
            if number % 2:
                path.unlink(missing_ok=True)
            else:
                with suppress(OSError), path.open("ab") as file:
                    file.write(b"x" * 100_000)
            time.sleep(0.002)

    stirring = threading.Thread(target=stir)
    stirring.start()
    try:
        with holding_memory(stage), answering(stage, 3):
            time.sleep(3)
    finally:
        stop.set()
        stirring.join()
    learns(stage)


@case("entries", "an entry that can't be moved or deleted does not keep the others waiting")
def immovable(stage: Stage) -> None:
    stage.start()
    # A folder of that name with something in it can't be replaced by a file, nor deleted like one.
    place = stage.home.buried / _entry(stage).name
    place.mkdir()
    (place / "file").write_text("words")
    _write(b"broken")(_entry(stage))
    learns(stage)


@case("entries", "100,000 entries of a few bytes", quick=False)
def many(stage: Stage) -> None:
    for number in range(1, 100_001):
        _entry(stage, number).write_bytes(b"tiny")
    stage.start()
    with holding_memory(stage), answering(stage, 60):
        pass
    stage.drain(300)
    learns(stage)
    hold(sum(1 for _ in stage.home.buried.iterdir()) == 100_000, "entries were lost")
