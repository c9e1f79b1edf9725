"""How the C library keeps what was freed: with glibc's defaults, a model that was unloaded would stay resident."""

from __future__ import annotations

import ctypes

M_MMAP_THRESHOLD = -3
"""glibc's number for the parameter (malloc.h)."""

LARGE = 128 << 10
"""Bytes from which on an allocation has pages of its own, which the system gets back when it is freed.

It is glibc's default, but once set it stays: otherwise the first large block that is freed, such as the model while it
is loaded, raises the threshold to its size, and from then on large blocks come from the heap and fragment it.
"""


def return_large_blocks() -> None:
    """Have each large block returned to the system when it is freed; nothing where the C library is not glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE)


def trim() -> None:
    """Return the free pages of the heap to the system; nothing where the C library is not glibc."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
