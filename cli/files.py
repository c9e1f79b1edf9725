"""Memories as files: ``subconscious export``, and ``subconscious import`` of what it wrote or other tools keep."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subconscious.errors import RequestError
from subconscious.files.folder import open_folder
from subconscious.files.other_tools import TOOLS, usual_place
from subconscious.files.reading import Item, is_export, read_export, read_note
from subconscious.files.record import Record
from subconscious.files.vault import Written, mark_taken, update
from subconscious.projects import root_of
from subconscious.safe_files import is_missing

from . import screen
from .ask import ask, here
from .origin import require_person

PATIENCE = 600.0
"""Seconds that one request may take, on a machine that is busy."""

A_PAGE = 500
"""Memories of one answer to an export."""
A_REQUEST = 100
"""Notes of one request of an import: each is compared with what is stored."""
REQUEST_BYTES = 4 << 20
"""Bytes of one such request; a larger note is refused, and the daemon takes a few times as much."""

SHOWN = 10
"""Notes of each state that are named; the rest are counted."""

STATES = {
    "restore": "to restore, with origin, confidence and status",
    "new": "new, of unknown author",
    "edited": "edited since the export",
    "conflict": "edited, and changed in the store too",
    "unchanged": "unchanged",
    "older": "older than what is stored, which stays",
    "known": "imported before",
    "refused": "refused",
}
"""The states of a preview in the order in which it lists them."""

CHANGING = ("restore", "new", "edited", "conflict")
"""States in which an import changes something."""

BECAME = ("restored", "stored", "corrected", "waits", "quarantined", "known", "discarded", "refused")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memories are exported."""

    project: str | None
    everywhere: bool
    statuses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Memories as they were; ``newest`` is the number of the store's latest event by then."""

    records: list[Record]
    quarantined: int
    newest: int


def export(options: Namespace) -> int:
    """Write memories into a folder; with ``--watch`` keep it current until Ctrl-C."""
    wanted = Wanted(options.project, options.all, tuple(options.status))
    out = Path(options.out).expanduser().absolute() if options.out else Path.home() / "subconscious-export"
    if options.watch:
        from .files_watch import watch_folder  # brings watchfiles, which nothing else of the terminal needs

        return watch_folder(out, options, wanted)
    page, done = write(out, options.format, wanted)
    if options.json:
        counts = {"folder": str(out), "memories": len(page.records), "quarantined": page.quarantined}
        screen.as_json(counts | as_row(done))
    else:
        print_export(out, len(page.records), page.quarantined, done)
    return 0


def write(out: Path, form: str, wanted: Wanted) -> tuple[Fetched, Written]:
    """Fetch what is wanted and make the folder hold it."""
    found = fetch(wanted)
    with open_folder(out) as folder:
        return found, update(folder, form, found.records)


def fetch(wanted: Wanted) -> Fetched:
    """Return all wanted memories."""
    records: list[Record] = []
    first = page = ask_page(wanted, 0, A_PAGE)
    while True:
        records += [Record.model_validate(one) for one in page["records"]]
        if page["next"] is None:
            # The number of the first page: what changes while the others are fetched is looked for again.
            return Fetched(records, page["quarantined"], first["newest"])
        page = ask_page(wanted, page["next"], A_PAGE)


def ask_page(wanted: Wanted, after: int, limit: int) -> Row:
    """Return one page of an export."""
    return ask(
        "export",
        PATIENCE,
        cwd=here(),
        project=wanted.project,
        everywhere=wanted.everywhere or None,
        statuses=wanted.statuses or None,
        after=after or None,
        limit=limit,
    )


def as_row(done: Written) -> Row:
    """Return what an export changed as JSON values."""
    counts = {"written": len(done.written), "unchanged": done.unchanged, "removed": len(done.removed)}
    return counts | {"edited": list(done.edited)}


def print_export(out: Path, number: int, quarantined: int, done: Written) -> None:
    """Print what an export changed."""
    print(f"{screen.counted(number, 'memory', 'memories')} in {screen.line(out)}")
    changed = (
        f"{screen.counted(len(done.written), 'file')} written",
        f"{done.unchanged} unchanged",
        f"{len(done.removed)} removed",
    )
    print(f"  {', '.join(changed)}")
    if done.edited:
        print_edited(out, done.edited)
    if quarantined:
        print(f"  {screen.counted(quarantined, 'memory', 'memories')} left out, since they are in quarantine")


def print_edited(out: Path, edited: Sequence[str]) -> None:
    """Name the files that an export left as they are."""
    print(f"  {screen.counted(len(edited), 'file')} left as you edited them:")
    for name in edited[:SHOWN]:
        print(f"    {screen.line(name)}")
    if len(edited) > SHOWN:
        print(f"    and {len(edited) - SHOWN} more")
    print(f"  read them back: subconscious import {screen.line(out)}")


def is_import_of_files(options: Namespace) -> bool:
    """Whether an import is of one of our exports or of another tool, and not of transcripts and notes."""
    return options.tool is not None or (len(options.paths) == 1 and is_export(Path(options.paths[0]).expanduser()))


def import_files(options: Namespace) -> int:
    """Show what an import would do, ask, and do it."""
    if options.tool is None:
        return import_export(Path(options.paths[0]).expanduser().absolute(), options)
    path = _tool_path(options)
    if is_missing(path):
        raise RequestError(f"there is no {path}", f"give {TOOLS[options.tool].gives}")
    project = "" if options.all else Path(root_of(_folder(options))).name
    # Other tools do not record reliably who said what, so nobody is asked to vouch for it.
    return bring_in(list(TOOLS[options.tool].read(path, project)), options, may_vouch=False)


def _tool_path(options: Namespace) -> Path:
    """Return the file or folder of another tool: the one that is named, or where the tool keeps it."""
    if len(options.paths) > 1:
        raise RequestError("one path at a time", f"give {TOOLS[options.tool].gives}")
    if options.paths:
        return Path(options.paths[0]).expanduser().absolute()
    if usual := usual_place(options.tool, root_of(_folder(options)), os.environ.get("CLAUDE_CONFIG_DIR", "")):
        return usual
    raise RequestError(f"say where {options.tool} keeps its memories", f"give {TOOLS[options.tool].gives}")


def _folder(options: Namespace) -> str:
    """The folder whose project the import is for."""
    return str(Path(options.project).expanduser().absolute()) if options.project else here()


def import_export(path: Path, options: Namespace, names: Collection[str] | None = None) -> int:
    """Import an export, or those of its notes that are named; edits that are taken over may be replaced then."""
    found = read_export(path) if names is None else (read_note(path / name, name) for name in names)
    items = [item for item in found if item is not None]
    return bring_in(items, options, taken=lambda fates: _mark_taken(path, items, fates))


def _mark_taken(path: Path, items: Sequence[Item], fates: Sequence[Row]) -> None:
    done = {fate["name"] for fate in fates if fate["became"] in ("corrected", "stored", "waits", "quarantined")}
    statements = {item.name: item.statement for item in items if item.record and item.statement and item.name in done}
    if statements and path.is_dir():
        with open_folder(path) as folder:
            mark_taken(folder, statements)


def bring_in(
    items: Sequence[Item],
    options: Namespace,
    *,
    may_vouch: bool = True,
    taken: Callable[[Sequence[Row]], None] = lambda _: None,
) -> int:
    """Preview, ask and import; ``taken`` is called with what became of the notes."""
    folder = _folder(options)
    rows = preview(items, folder)
    if options.json and not options.yes:
        screen.as_json({"notes": rows})
        return 0
    if not options.json:
        print_preview(rows)
    todo = [
        item for item, row in zip(items, rows, strict=True) if row["state"] in ("restore", "new", "edited", "conflict")
    ]
    if not todo:
        if options.json:
            screen.as_json({"notes": []})
        else:
            print("There is nothing to import.")
        return 0
    vouched = False
    if not options.yes:
        if not _confirmed("Import?"):
            print("Nothing was imported.")
            return 0
        vouched = may_vouch and _vouched(rows)
    fates = carry_out(todo, folder, vouched=vouched)
    taken(fates)
    return _finish(options, fates)


def _finish(options: Namespace, fates: Sequence[Row]) -> int:
    if options.json:
        screen.as_json({"notes": list(fates)})
    else:
        print_results(fates)
    return 0


def preview(items: Sequence[Item], folder: str) -> list[Row]:
    """Return what an import would do with each note, in their order."""
    rows: list[Row] = []
    for batch in batches([_bounded(item) for item in items]):
        sound = [item for item in batch if not item.problem]
        answer = _plan(sound, folder) if sound else []
        planned = iter(answer)
        rows += [_refused(item) if item.problem else next(planned) for item in batch]
    return _without_doubles(rows, items)


def _plan(items: Sequence[Item], folder: str) -> list[Row]:
    found: list[Row] = ask("files_plan", PATIENCE, cwd=folder, notes=[item.as_request() for item in items])["notes"]
    return found


def _refused(item: Item) -> Row:
    return {"name": item.name, "state": "refused", "about": "", "id": None, "now": "", "reason": item.problem}


def _without_doubles(rows: list[Row], items: Sequence[Item]) -> list[Row]:
    """Refuse the second of two notes about one memory, also where two requests brought them."""
    first: dict[str, str] = {}
    for row, item in zip(rows, items, strict=True):
        uid = str((item.record or {}).get("uid", ""))
        if not uid or row["state"] == "refused":
            continue
        if uid in first:
            row |= {"state": "refused", "reason": f"{first[uid]} is the same memory"}
        first.setdefault(uid, item.name)
    return rows


def batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Divide notes into requests that are neither too many nor too large."""
    batch: list[Item] = []
    total = 0
    for item in items:
        size = 0 if item.problem else _size(item)
        if batch and (len(batch) >= A_REQUEST or total + size > REQUEST_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch


def _size(item: Item) -> int:
    return len(json.dumps(item.as_request()))


def _bounded(item: Item) -> Item:
    """The item, or why it is refused where no request could bring it."""
    if item.problem or _size(item) <= REQUEST_BYTES:
        return item
    return Item(item.name, problem=f"it is larger than {REQUEST_BYTES >> 20} MB")


def print_preview(rows: Sequence[Row]) -> None:
    """Print what would become of each note."""
    for state, meaning in STATES.items():
        found = [row for row in rows if row["state"] == state]
        if not found:
            continue
        print(screen.paint(f"{screen.counted(len(found), 'note')} {meaning}", "bold"))
        if state in ("unchanged", "known"):
            continue
        for row in found[:SHOWN]:
            _print_row(row)
        if len(found) > SHOWN:
            print(f"  and {len(found) - SHOWN} more")


def _print_row(row: Row) -> None:
    if row["state"] == "refused":
        print(screen.wrapped(screen.line(f"{row['name']}: {row['reason']}"), 2))
        return
    if row["now"]:
        print(screen.wrapped(screen.line(f"{row['name']} (memory {row['id']})"), 2))
        print(screen.paint(screen.wrapped(f"- {screen.line(row['now'])}", 4), "red"))
        print(screen.paint(screen.wrapped(f"+ {screen.line(row['about'])}", 4), "green"))
    else:
        print(screen.wrapped(screen.line(row["about"]), 2))
    if row["reason"]:
        print(screen.paint(screen.wrapped(screen.line(row["reason"]), 4), "dim"))


def _vouched(rows: Iterable[Row]) -> bool:
    """Whether the person answers for the words of notes that this store did not write."""
    number = Counter(row["state"] for row in rows)
    strange = number["new"] + number["edited"]
    if not strange:
        return False
    print(f"\n{screen.counted(strange, 'note')} could hold anybody's words, so what they say waits for your review.")
    print("If you vouch for them, new ones count as your own words, and edited ones correct their memory.")
    return _confirmed("Do you vouch for them?")


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise RequestError("nobody is there to say yes", "add --yes, or --json to see what would be imported")
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def carry_out(items: Sequence[Item], folder: str, *, vouched: bool) -> list[Row]:
    """Import notes, and then what links them; return what became of each."""
    require_person("import")
    fates: list[Row] = []
    for batch in batches(items):
        notes = [item.as_request() for item in batch]
        fates += ask("files_take", PATIENCE, cwd=folder, notes=notes, vouched=vouched or None, origin="user")["notes"]
    # Links need both of their ends, so they come after all memories.
    for batch in batches([item for item in items if item.record and not item.statement]):
        ask("files_take", PATIENCE, cwd=folder, notes=[i.as_request() for i in batch], links=True, origin="user")
    return fates


def print_results(fates: Sequence[Row]) -> None:
    """Print what became of the notes."""
    counted = Counter(fate["became"] or fate["state"] for fate in fates)
    print(screen.paint("Imported", "bold"))
    screen.fields([(name, counted[name]) for name in BECAME if counted[name]])
    for fate in fates:
        if fate["became"] == "refused" or fate["state"] == "refused":
            print(screen.wrapped(f"{fate['name']}: {fate['reason']}", 2))
    if counted["waits"]:
        print("Decide what waits: `subconscious review`.")
    if counted["quarantined"]:
        print("See what may be poisoned: `subconscious review --status quarantined`.")
