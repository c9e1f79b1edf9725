"""Gives memory back to the system. With glibc's defaults, a model that was unloaded would stay resident."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator, Sequence
from functools import _lru_cache_wrapper
from pathlib import Path

M_MMAP_THRESHOLD = -3
"""glibc's number for the parameter (malloc.h)."""

LARGE = 128 << 10
"""Bytes from which on an allocation has pages of its own, which the system gets back when it is freed.

It is glibc's default, but once set it stays: otherwise the first large block that is freed, such as the model while it
is loaded, raises the threshold to its size, and from then on large blocks come from the heap and fragment it.
"""


LARGE_CACHE = 1000
"""Entries from which on a cache is one of texts, worth emptying. Smaller ones hold patterns, slow to compile anew."""

MADV_DONTNEED = 4
"""Linux's number for the advice."""


def return_large_blocks() -> None:
    """Have each large block returned to the system when it is freed; nothing where the C library is not glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE)


def empty_caches() -> None:
    """Empty the large caches of functions, which only save time."""
    for one in gc.get_objects():
        if isinstance(one, _lru_cache_wrapper) and (one.cache_parameters()["maxsize"] or 0) >= LARGE_CACHE:
            one.cache_clear()


def drop_libraries(names: Sequence[str]) -> None:
    """Drop the pages of loaded libraries; what needs them reads them from the file again.

    Only of mappings that can't be written and of which no page was changed while the library was loaded: nothing of
    them is but in the file.
    """
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    if madvise is None:
        return
    for begin, end in list(_unchanged(names)):
        madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_DONTNEED)


def _unchanged(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the read-only mappings of some files begin and end that are as the file is; none but on Linux."""
    try:
        lines = Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    head: list[str] = []
    for fields in map(str.split, lines):
        if "-" in fields[0]:
            head = fields
        elif fields[0] == "Anonymous:" and fields[1] == "0" and _is_readable_file(head, names):
            begin, end = head[0].split("-")
            yield int(begin, 16), int(end, 16)


def _is_readable_file(head: Sequence[str], names: Sequence[str]) -> bool:
    return len(head) > 5 and "w" not in head[1] and any(name in head[5].rpartition("/")[2] for name in names)


def trim() -> None:
    """Return the free pages of the heap to the system; nothing where the C library is not glibc."""
    gc.collect()
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
