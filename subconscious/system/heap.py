"""Returns freed memory to the operating system; by default, glibc keeps the memory of an unloaded model."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator, Sequence
from functools import _lru_cache_wrapper
from pathlib import Path

M_MMAP_THRESHOLD = -3
"""glibc's number for the parameter (malloc.h)."""

LARGE = 128 << 10
"""The size in bytes from which an allocation has its own pages, which are returned to the system when it is freed.

This is glibc's default, but setting it makes it constant: otherwise freeing the first large block, such as the model
during loading, raises the threshold to its size, and later large blocks come from the heap and fragment it.
"""


LARGE_CACHE = 1000
"""The capacity from which a function cache is cleared; smaller ones contain patterns, which are slow to compile."""

MADV_DONTNEED = 4
"""Linux's number for the ``madvise`` advice that pages are not needed."""


def return_large_blocks() -> None:
    """Make glibc return each large block to the system when it is freed; does nothing without glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE)


def empty_caches() -> None:
    """Empty the large function caches, which only save time."""
    gc.unfreeze()  # objects that were frozen at the start would not be listed
    for one in gc.get_objects():
        if isinstance(one, _lru_cache_wrapper) and (one.cache_parameters()["maxsize"] or 0) >= LARGE_CACHE:
            one.cache_clear()


def drop_libraries(names: Sequence[str]) -> None:
    """Drop the pages of loaded libraries; they are read from the file again when needed.

    Only read-only mappings without a changed page are dropped, so no data is lost.
    """
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    if madvise is None:
        return
    for begin, end in list(_unchanged(names)):
        madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_DONTNEED)


def _unchanged(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each read-only, unmodified mapping of some files; nothing outside Linux."""
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
    """Return the free pages of the heap to the system; does nothing without glibc."""
    gc.collect()
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
