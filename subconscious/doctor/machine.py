"""The machine: its Python, its disk, and whether we are switched off."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping

from subconscious.doctor.findings import Finding, Patient, fault, fine, sh

OLDEST_PYTHON = (3, 11)
LEAST_FREE = 200 * 2**20
"""Bytes below which the disk counts as full."""


def python() -> Iterator[Finding]:
    """Whether this Python is new enough."""
    detail = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= OLDEST_PYTHON:
        yield fine("python", detail)
    else:
        yield fault("python", f"{detail} is too old", "install Python 3.11 or newer")


def pause(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the environment switches everything off."""
    if environ.get("SUBCONSCIOUS_OFF", "").lower() not in ("", "0", "false"):
        detail = "SUBCONSCIOUS_OFF is set: sessions started from here are neither watched nor helped"
        yield fault("pause", detail, "unset SUBCONSCIOUS_OFF")


def disk(patient: Patient) -> Iterator[Finding]:
    """Whether there is room."""
    place = next(folder for folder in (patient.home.root, *patient.home.root.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE:
        yield fault("disk", f"only {free // 2**20} MB free on {place}", f"df -h {sh(place)} # and make room")
    else:
        yield fine("disk", f"{free / 2**30:.1f} GB free")


def vectors(_: Patient) -> Iterator[Finding]:
    """Which index finds the nearest vectors."""
    loads = hasattr(sqlite3.Connection, "enable_load_extension")
    detail = "sqlite-vec" if loads else "an exact numpy scan (this Python's SQLite loads no extensions)"
    yield Finding("vector index", ok=True, detail=detail)
