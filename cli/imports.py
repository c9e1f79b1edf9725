"""``subconscious import`` of past sessions and notes: shows a plan, asks, and has the daemon read the files."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args
from uuid import uuid4

from subconscious.domain.errors import RequestError

from . import price, screen
from .ask import ask, here
from .confirmation import agreed_to_import
from .files import import_files, is_import_of_files, print_undo
from .origin import require_person
from .progress import Progress
from .review import print_waiting

if TYPE_CHECKING:
    from subconscious.wire.imports import ImportFileResult, ImportPlanResult, SourceFile

READING_SECONDS = 600.0
"""Seconds that one batch of a file may take on a busy machine."""

MEGABYTE = 1e6
STOPPED = 130
SHOWN = 8
"""The most projects and files that are listed; the rest are counted."""

Count = Literal["lines", "turns", "captured", "queued", "discarded", "repeated"]
COUNTS: tuple[Count, ...] = get_args(Count)


def import_past(options: Namespace) -> int:
    """Import the named files, or the sessions of this project; continue an import that was interrupted."""
    require_person("import")
    if is_import_of_files(options):
        return import_files(options)
    found = _plan(options)
    files, estimate = found["files"], found["model"]
    price.check_options(options, estimate)
    chosen = [file for file in files if file["sort"] != "foreign" and file["read"] < file["bytes"]]
    if options.json and not options.yes:
        screen.as_json(found)
        return 0
    if not options.json:
        _print_plan(files, chosen)
        if not getattr(options, "brief", False) and (chosen or options.with_model):
            price.print_estimate(estimate, files, options)
    vouched = False
    for_model = price.affordable(files, options.max_cost) if options.with_model else []
    if (chosen or for_model) and not options.yes:
        if not agreed_to_import("Import?"):
            print("Nothing was imported.")
            return 0
        vouched = _vouched(chosen)
    return _carry_out(options, files, chosen, for_model, vouched)


def _plan(options: Namespace) -> ImportPlanResult:
    folder = str(Path(options.project).expanduser().absolute()) if options.project else here()
    named = [str(Path(path).expanduser().absolute()) for path in options.paths]
    missing = [path for path in named if not Path(path).exists()]
    if missing:
        raise RequestError(f"there is no {missing[0]}", "give transcripts, markdown files, or folders of them")
    everywhere = options.all or bool(named)
    args = {"paths": named or [str(_transcripts())], "cwd": folder, "everywhere": everywhere or None}
    with Progress("Looking for sessions and notes to import", shown=not options.json):
        return ask("import_plan", READING_SECONDS, **args, with_model=options.with_model or None)


def _transcripts() -> Path:
    """Return the folder of Claude Code's transcripts."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR", "")
    return (Path(chosen).expanduser() if chosen else Path.home() / ".claude").absolute() / "projects"


def _print_plan(files: Sequence[SourceFile], chosen: Sequence[SourceFile]) -> None:
    if not files:
        print(screen.wrapped(f"There is nothing to import. Claude Code keeps the transcripts in {_transcripts()}."))
        print("  to import from all projects: subconscious import --all")
        print("  to import from another folder: subconscious import PATH")
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
            ("imported", screen.counted(len(known), "file") if known else ""),
            ("left out", screen.counted(len(foreign), "file") if foreign else ""),
        )
    )
    for file in foreign[:SHOWN]:
        print(screen.paint(screen.wrapped(f"{file['path']}: {file['reason']}", 6), "dim"))
    if chosen:
        print("The import runs on this machine, without a language model, and costs nothing.")
    else:
        print("Everything here is imported already." if known else "There is nothing to import here.")


def _amount(files: Sequence[SourceFile], sort: str) -> str:
    those = [file for file in files if file["sort"] == sort]
    if not those:
        return ""
    size = sum(file["bytes"] - file["read"] for file in those) / MEGABYTE
    days = (_day(min(file["begun"] for file in those)), _day(max(file["last"] for file in those)))
    return f"{screen.counted(len(those), 'file')}, {size:.1f} MB, {' to '.join(dict.fromkeys(days))}"


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d}"


def _projects(files: Sequence[SourceFile]) -> str:
    counted = Counter(screen.line(file["project"]) for file in files if file["sort"] != "agent").most_common()
    named = [f"{project} ({number})" for project, number in counted[:SHOWN]]
    more = [f"and {len(counted) - SHOWN} more"] if len(counted) > SHOWN else []
    return "\n".join([*named, *more])


def _vouched(chosen: Sequence[SourceFile]) -> bool:
    """Return whether the user vouches for the notes, which anybody may have written; if not, they wait."""
    notes = sum(file["sort"] == "note" for file in chosen)
    if not notes:
        return False
    notes_counted = screen.counted(notes, "note")
    print(f"\n{notes_counted} may contain other people's words, so the imported statements wait for your review.")
    return agreed_to_import("Store them as your own words instead?")


def _carry_out(
    options: Namespace,
    files: Sequence[SourceFile],
    chosen: Sequence[SourceFile],
    for_model: Sequence[SourceFile],
    vouched: bool,
) -> int:
    project = str(Path(options.project).expanduser().absolute()) if options.project and options.paths else None
    results: list[ImportFileResult] = []
    stopped = False
    total = sum(file["bytes"] - file["read"] for file in chosen)
    act = uuid4().hex
    with Progress("Importing", total, shown=bool(chosen) and not options.json) as progress:
        try:
            for file in chosen:
                results.extend(_read(file, project, vouched, act, progress))
        except KeyboardInterrupt:
            stopped = True
    queued = price.queue(for_model) if for_model and not stopped else None
    _report(options, files, results, stopped, queued)
    return STOPPED if stopped else 0


def _read(
    file: SourceFile, folder: str | None, vouched: bool, act: str, progress: Progress
) -> Iterator[ImportFileResult]:
    """Yield the result of each batch of a file; the progress advances by the bytes of each."""
    name, done = f"{Path(file['path']).name} ({file['bytes'] / MEGABYTE:.1f} MB)", file["read"]
    progress.advance(0, name)
    more = True
    while more:
        asked = {"transcript": file["path"], "cwd": folder, "vouched": vouched or None, "origin": "user", "act": act}
        result = ask("import_file", READING_SECONDS, **asked)
        yield result
        more = result["more"]
        reached = result.get("position", done) if more else file["bytes"]  # an older daemon sends no position
        progress.advance(reached - done, name)
        done = reached


def _report(
    options: Namespace,
    files: Sequence[SourceFile],
    results: Sequence[ImportFileResult],
    stopped: bool,
    queued: price.Queued | None,
) -> None:
    total: dict[str, int] = {name: sum(result[name] for result in results) for name in COUNTS}
    skipped: Counter[str] = Counter()
    for result in results:
        skipped.update(result["skipped"])
    reasons = {file["path"]: file["reason"] for file in (*files, *results) if file["reason"]}
    if options.json:
        report = {"skipped": dict(skipped), "not_imported": reasons, "stopped": stopped}
        screen.as_json({**total, **report, "model": asdict(queued) if queued else None})
        return
    if results:
        _print_results(total)
        if total["captured"] + total["queued"]:
            print_undo(max(result["event"] for result in results))
    if queued:
        price.print_queued(queued)
    if stopped:
        print("Stopped. Nothing that was read is lost; run the same command to continue.")


def _print_results(total: Mapping[str, int]) -> None:
    print(screen.paint("Imported", "bold"))
    screen.fields(
        (
            ("turns", total["turns"]),
            ("stored", total["captured"]),
            ("to review", total["queued"] or ""),
            ("discarded", total["discarded"] or ""),
            ("known already", total["repeated"] or ""),
        )
    )
    if total["queued"]:
        print_waiting()
