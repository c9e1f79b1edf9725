"""Import a folder of transcripts into a fresh store, twice: time, memory, and the outcome of each line.

    python -m bench.import_ DIR [--embedder local]

Through the command a person types and a real daemon. The second run must change nothing: the dumps of the database
before and after it are compared. Prints seconds, the daemon's peak memory (VmHWM), lines by fate.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import Any

from daemon.schedule import ROUND_SECONDS
from subconscious import wire
from subconscious.settings.home import Home

ROOT = Path(__file__).resolve().parents[1]
EMBEDDING_SECONDS = 600.0
SETTLING_SECONDS = ROUND_SECONDS + 5.0
"""Between two looks at whether the background work is done: it rests between its rounds."""
SETTLING_LOOKS = 10


def own_terminal() -> None:
    """Make standard input the terminal that the process belongs to: only a person may import."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def run(home: Home, folder: Path) -> tuple[float, dict[str, Any]]:
    """Seconds and the report of one `subconscious import`."""
    command = [sys.executable, "-m", "cli", "import", str(folder), "--yes", "--json"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    _, terminal = pty.openpty()
    begun = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=kept | {"SUBCONSCIOUS_HOME": str(home.root)},
        stdin=terminal,
        capture_output=True,
        check=False,
        text=True,
        start_new_session=True,
        preexec_fn=own_terminal,
    )
    if done.returncode:
        raise SystemExit(f"the import failed: {done.stderr}")
    return time.perf_counter() - begun, json.loads(done.stdout)


def peak_memory(home: Home) -> float:
    """Megabytes of memory that the daemon has had at most."""
    pid = wire.call(home, "status")["pid"]
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def fingerprint(home: Home) -> str:
    """A hash of the database's content."""
    store = sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)
    digest = hashlib.sha256()
    for line in store.iterdump():
        digest.update(line.encode("utf-8", "replace"))
    store.close()
    return digest.hexdigest()


def settled(home: Home) -> str:
    """The same, after the daemon's background work: links, dates, checks."""
    last = ""
    for _ in range(SETTLING_LOOKS):
        now = fingerprint(home)
        if now == last:
            break
        last = now
        time.sleep(SETTLING_SECONDS)
    return last


def show(report: dict[str, Any]) -> None:
    skipped = sum(report["skipped"].values())
    fates = {"lines": report["lines"], "giving turns": report["lines"] - skipped, "skipped": skipped}
    for name, number in fates.items():
        print(f"  {name:<14} {number:>8}")
    for reason, number in sorted(report["skipped"].items(), key=lambda pair: -pair[1]):
        print(f"    {reason:<22} {number:>8}")
    for name in ("turns", "captured", "queued", "discarded", "repeated"):
        print(f"  {name:<14} {report[name]:>8}")
    for path, reason in report["not_imported"].items():
        print(f"  left out: {path}: {reason}")


def measure(home: Home, folder: Path) -> None:
    wire.ensure_daemon(home)
    idle = peak_memory(home)
    seconds, report = run(home, folder)
    wire.call(home, "drain", {"timeout": EMBEDDING_SECONDS}, EMBEDDING_SECONDS + 5)
    before = settled(home)
    size = sum(file.stat().st_size for file in folder.rglob("*.jsonl")) / 1e6
    print(f"{size:.1f} MB in {seconds:.1f} s; daemon {peak_memory(home):.0f} MB at most ({idle:.0f} MB before)")
    show(report)
    again, second = run(home, folder)
    changed = "nothing" if settled(home) == before and second["lines"] == 0 else "SOMETHING"
    print(f"second run: {again:.1f} s, {second['lines']} lines, changed {changed}")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    words.add_argument("--embedder", default="none", choices=("none", "local"))
    options = words.parse_args()
    home = Home(Path(tempfile.mkdtemp(prefix="bench-")))
    home.make()
    (home.root / "config.toml").write_text(f'embedder = "{options.embedder}"\n')
    try:
        measure(home, options.folder.resolve())
    finally:
        wire.call(home, "stop")
        wire.await_absence(home, 20)
        shutil.rmtree(home.root)


if __name__ == "__main__":
    main()
