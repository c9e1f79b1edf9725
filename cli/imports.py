"""``subconscious import``: shows what it will read, asks, has the daemon read it, tells what came of it."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from subconscious.errors import RequestError

from . import price, screen
from .ask import ask, here
from .files import import_files, is_import_of_files
from .origin import require_person
from .progress import Progress

READING_SECONDS = 600.0
"""Time that one batch of a file may take, on a machine that is busy."""

MEGABYTE = 1e6
STOPPED = 130
SHOWN = 8
"""Projects and files that are named; the rest are counted."""

COUNTS = ("lines", "turns", "captured", "queued", "discarded", "repeated")

Row = dict[str, Any]


def import_past(options: Namespace) -> int:
    """Import what a person names, or the sessions of this project; goes on where it was stopped."""
    require_person("import")
    if is_import_of_files(options):
        return import_files(options)
    found = _plan(options)
    files, tags = found["files"], found.get("model") or {}
    price.check(options, tags)
    chosen = [file for file in files if file["sort"] != "foreign" and file["read"] < file["bytes"]]
    if options.json and not options.yes:
        screen.as_json({"files": files, "model": tags})
        return 0
    if not options.json:
        _tell_plan(files, chosen)
        price.tell(tags, files, options)
    vouched = False
    for_model = price.afford(files, options.max_cost) if options.with_model else []
    if (chosen or for_model) and not options.yes:
        if not _confirmed("Import?"):
            print("Nothing was imported.")
            return 0
        vouched = _vouched(chosen)
    return _carry_out(options, files, chosen, for_model, vouched)


def _plan(options: Namespace) -> Row:
    folder = str(Path(options.project).expanduser().absolute()) if options.project else here()
    named = [str(Path(path).expanduser().absolute()) for path in options.paths]
    missing = [path for path in named if not Path(path).exists()]
    if missing:
        raise RequestError(f"there is no {missing[0]}", "give transcripts, markdown files, or folders of them")
    everywhere = options.all or bool(named)
    args = {"paths": named or [str(_transcripts())], "cwd": folder, "everywhere": everywhere or None}
    found: Row = ask("import_plan", READING_SECONDS, **args, with_model=options.with_model or None)
    return found


def _transcripts() -> Path:
    """Where the client keeps its transcripts."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR", "")
    return (Path(chosen).expanduser() if chosen else Path.home() / ".claude").absolute() / "projects"


def _tell_plan(files: Sequence[Row], chosen: Sequence[Row]) -> None:
    if not files:
        print(f"There is nothing to import below {_transcripts()}. `--all` takes every project, PATH other places.")
        return
    print(screen.paint("To import", "bold"))
    known = [file for file in files if file["sort"] != "foreign" and file not in chosen]
    foreign = [file for file in files if file["sort"] == "foreign"]
    screen.fields(
        (
            ("sessions", _amount(chosen, "session")),
            ("sub-agents", _amount(chosen, "agent")),
            ("notes", _amount(chosen, "note")),
            ("projects", _projects(chosen)),
            ("read before", screen.counted(len(known), "file") if known else ""),
            ("left out", screen.counted(len(foreign), "file") if foreign else ""),
        )
    )
    for file in foreign[:SHOWN]:
        print(screen.paint(screen.wrapped(f"{file['path']}: {file['reason']}", 6), "dim"))
    if chosen:
        print("Offline it is done on this machine, without a language model, and costs nothing.")
    else:
        print("Everything was imported before.")


def _amount(files: Sequence[Row], sort: str) -> str:
    those = [file for file in files if file["sort"] == sort]
    if not those:
        return ""
    size = sum(file["bytes"] - file["read"] for file in those) / MEGABYTE
    days = (_day(min(file["begun"] for file in those)), _day(max(file["last"] for file in those)))
    return f"{screen.counted(len(those), 'file')}, {size:.1f} MB, {' to '.join(dict.fromkeys(days))}"


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d}"


def _projects(files: Sequence[Row]) -> str:
    counted = Counter(screen.line(file["project"]) for file in files if file["sort"] != "agent").most_common()
    named = [f"{project} ({number})" for project, number in counted[:SHOWN]]
    more = [f"and {len(counted) - SHOWN} more"] if len(counted) > SHOWN else []
    return "\n".join([*named, *more])


def _confirmed(question: str) -> bool:
    """Ask; only a person at a terminal can answer."""
    if not sys.stdin.isatty():
        raise RequestError("nobody is there to say yes", "add --yes, or --json to see what would be imported")
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _vouched(chosen: Sequence[Row]) -> bool:
    """Notes are files, which could hold anybody's words: only who vouches for them makes them their own."""
    notes = sum(file["sort"] == "note" for file in chosen)
    if not notes:
        return False
    print(f"\n{screen.counted(notes, 'note')} could hold anybody's words, so what they say waits for your review.")
    return _confirmed("Do you vouch for them, so that they count as your own words?")


def _carry_out(
    options: Namespace, files: Sequence[Row], chosen: Sequence[Row], for_model: Sequence[Row], vouched: bool
) -> int:
    folder = str(Path(options.project).expanduser().absolute()) if options.project and options.paths else None
    fates: list[Row] = []
    stopped = False
    with Progress(sum(file["bytes"] - file["read"] for file in chosen), not options.json) as progress:
        try:
            for file in chosen:
                for fate in _read(file, folder, vouched):
                    fates.append(fate)
                progress.advance(file["bytes"] - file["read"], Path(file["path"]).name)
        except KeyboardInterrupt:
            stopped = True
    handed = price.read(for_model) if for_model and not stopped else None
    _report(options, files, fates, stopped, handed)
    return STOPPED if stopped else 0


def _read(file: Row, folder: str | None, vouched: bool) -> Iterator[Row]:
    more = True
    while more:
        asked = {"transcript": file["path"], "cwd": folder, "vouched": vouched or None, "origin": "user"}
        fate = ask("import_file", READING_SECONDS, **asked)
        yield fate
        more = fate["more"]


def _report(options: Namespace, files: Sequence[Row], fates: Sequence[Row], stopped: bool, handed: Row | None) -> None:
    total = {name: sum(fate[name] for fate in fates) for name in COUNTS}
    skipped: Counter[str] = Counter()
    for fate in fates:
        skipped.update(fate["skipped"])
    reasons = {file["path"]: file["reason"] for file in (*files, *fates) if file["reason"]}
    if options.json:
        told = {"skipped": dict(skipped), "not_imported": reasons, "stopped": stopped, "model": handed}
        screen.as_json(total | told)
        return
    if fates:
        _tell_fates(total, skipped)
    if handed:
        price.tell_read(handed)
    if stopped:
        print("Stopped. What was read is kept; the same command goes on from here.")


def _tell_fates(total: dict[str, int], skipped: Counter[str]) -> None:
    print(screen.paint("Imported", "bold"))
    why = "\n".join(f"{reason}: {number}" for reason, number in skipped.most_common())
    screen.fields(
        (
            ("lines", total["lines"]),
            ("turns", total["turns"]),
            ("skipped lines", why),
            ("remembered", total["captured"]),
            ("to review", total["queued"]),
            ("discarded", total["discarded"]),
            ("known before", total["repeated"]),
        )
    )
    if total["queued"]:
        print("Decide what waits: `subconscious review`.")
