"""``subconscious export``, and ``subconscious import`` of an export or of another tool's memories."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from subconscious.domain.errors import RequestError
from subconscious.files.folder import open_folder
from subconscious.files.other_tools import TOOLS, usual_place
from subconscious.files.reading import Item, is_export, read_export, read_note
from subconscious.files.record import Record
from subconscious.files.vault import Written, mark_taken, update
from subconscious.system.projects import root_of
from subconscious.system.safe_files import is_missing

from . import screen, suspicion
from .ask import ask, here
from .confirmation import agreed_to_import
from .origin import require_person
from .progress import Progress
from .review import print_waiting

if TYPE_CHECKING:
    from subconscious.wire.files import ExportResult, ImportedNote, PlannedNote

TIMEOUT_SECONDS = 600.0
"""Seconds that one request may take on a busy machine."""

PAGE_SIZE = 500
"""The most memories per answer of an export."""
NOTES_PER_REQUEST = 100
"""The most notes per request of an import; the daemon compares each with the stored memories."""
REQUEST_BYTES = 4 << 20
"""The most bytes per request of an import. A larger note is refused; the daemon's own limit is a few times as high."""

MAX_NAMED = 10
"""The most notes per state, and the most edited files, that are listed by name; the rest are only counted."""
CORRECTING = ("edited", "conflict")
"""States of notes that correct stored memories if the user agrees. All notes in these states are listed."""

STATES = {
    "restore": "to restore, with origin, confidence and status",
    "new": "new, of unknown author",
    "foreign": "from another store's export",
    "edited": "edited since the export",
    "conflict": "edited, and changed in the store too",
    "unchanged": "unchanged",
    "older": "older than the stored memory, which is kept",
    "known": "imported before",
    "refused": "refused",
}
"""The text that the preview shows for each state of a note, in the order in which it lists the states."""

CHANGING = ("restore", "new", "foreign", "edited", "conflict")
"""States in which an import changes the store."""

UNSIGNED = ("new", "foreign", "edited")
"""States of notes that the user is asked to vouch for."""

OUTCOMES = ("restored", "stored", "corrected", "waits", "quarantined", "known", "discarded", "left out", "refused")


@dataclass(frozen=True, slots=True)
class Selection:
    """The memories to export: projects and statuses."""

    project: str | None
    everywhere: bool
    statuses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FetchedMemories:
    """The exported memories. ``quarantined`` counts the memories that are left out because they are in quarantine.

    ``newest`` is the id of the store's latest event when the export began.
    """

    records: list[Record]
    quarantined: int
    newest: int


def export(options: Namespace) -> int:
    """Write memories into a folder; with ``--watch``, update it until Ctrl-C."""
    selection = Selection(options.project, options.all, tuple(options.status))
    out = Path(options.out).expanduser().absolute() if options.out else Path.home() / "subconscious-export"
    if options.watch:
        from .files_watch import watch_folder  # imports watchfiles, which no other command needs

        return watch_folder(out, options, selection)
    page, done = write(out, options.format, selection)
    if options.json:
        counts = {"folder": str(out), "memories": len(page.records), "quarantined": page.quarantined}
        changes = {"written": len(done.written), "unchanged": done.unchanged, "removed": len(done.removed)}
        screen.as_json({**counts, **changes, "edited": list(done.edited)})
    else:
        print_export(out, len(page.records), page.quarantined, done)
    return 0


def write(out: Path, form: str, selection: Selection) -> tuple[FetchedMemories, Written]:
    """Write the selected memories into a folder, and remove notes of memories that are no longer selected."""
    found = fetch(selection)
    with open_folder(out) as folder:
        return found, update(folder, form, found.records)


def fetch(selection: Selection) -> FetchedMemories:
    """Return all selected memories."""
    records: list[Record] = []
    first = page = ask_page(selection, 0, PAGE_SIZE)
    while True:
        records += [Record.model_validate(one) for one in page["records"]]
        if page["next"] is None:
            # The event id of the first page, so that a watch sees changes made while later pages were fetched.
            return FetchedMemories(records, page["quarantined"], first["newest"])
        page = ask_page(selection, page["next"], PAGE_SIZE)


def ask_page(selection: Selection, after: int, limit: int) -> ExportResult:
    """Return one page of an export."""
    return ask(
        "export",
        TIMEOUT_SECONDS,
        cwd=here(),
        project=selection.project,
        everywhere=selection.everywhere or None,
        statuses=selection.statuses or None,
        after=after or None,
        limit=limit,
    )


def print_export(out: Path, number: int, quarantined: int, done: Written) -> None:
    """Print what an export changed; ``number`` memories were exported, ``quarantined`` memories were left out."""
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
        print(f"  {screen.counted(quarantined, 'memory', 'memories')} left out: in quarantine")


def print_edited(out: Path, edited: Sequence[str]) -> None:
    """Print the edited files that an export did not overwrite."""
    print(f"  {screen.counted(len(edited), 'file')} with your edits, not overwritten:")
    for name in edited[:MAX_NAMED]:
        print(f"    {screen.line(name)}")
    if len(edited) > MAX_NAMED:
        print(f"    and {len(edited) - MAX_NAMED} more")
    print(f"  to apply the edits: subconscious import {screen.line(out)}")
    print("  An import reads the statement only. To drop other edits, delete the file and export again.")


def is_import_of_files(options: Namespace) -> bool:
    """Return whether the import reads an export or another tool's memories, rather than transcripts and notes."""
    return options.tool is not None or (len(options.paths) == 1 and is_export(Path(options.paths[0]).expanduser()))


def import_files(options: Namespace) -> int:
    """Preview the import of an export or of another tool's memories, ask, and run it."""
    if options.tool is None:
        return import_export(Path(options.paths[0]).expanduser().absolute(), options)
    path = _tool_path(options)
    if is_missing(path):
        raise RequestError(f"there is no {path}", f"give {TOOLS[options.tool].gives}")
    project = "" if options.all else Path(root_of(_folder(options))).name
    # Other tools do not record reliably who said what, so the user is not asked to vouch for it.
    with _progress(f"Reading the memories of {options.tool}", options):
        items = list(TOOLS[options.tool].read(path, project))
    return import_items(items, options, may_vouch=False)


def _progress(doing: str, options: Namespace, total: int = 0) -> Progress:
    return Progress(doing, total, shown=not options.json)


def _tool_path(options: Namespace) -> Path:
    """Return the file or folder of another tool: the named one, or the tool's usual one."""
    if len(options.paths) > 1:
        raise RequestError("`import --from` takes one path", f"give {TOOLS[options.tool].gives}")
    if options.paths:
        return Path(options.paths[0]).expanduser().absolute()
    if usual := usual_place(options.tool, root_of(_folder(options)), os.environ.get("CLAUDE_CONFIG_DIR", "")):
        return usual
    raise RequestError(f"{options.tool}'s memories are not at their usual place", f"give {TOOLS[options.tool].gives}")


def _folder(options: Namespace) -> str:
    """Return the folder of the project to import into."""
    return str(Path(options.project).expanduser().absolute()) if options.project else here()


def import_export(path: Path, options: Namespace, names: Collection[str] | None = None) -> int:
    """Import an export, or only its notes called ``names``; mark imported edits as such: exports may overwrite them."""
    with _progress("Reading the notes", options):
        found = read_export(path) if names is None else (read_note(path / name, name) for name in names)
        items = [item for item in found if item is not None]
    return import_items(items, options, on_done=lambda results: _mark_taken(path, items, results))


def _mark_taken(path: Path, items: Sequence[Item], results: Sequence[ImportedNote]) -> None:
    done = {result["name"] for result in results if result["became"] in ("corrected", "stored", "waits", "quarantined")}
    restored = {result["name"] for result in results if result["became"] == "restored"}
    done |= {item.name for item in items if item.statement and item.name in restored}
    statements = {item.name: item.statement for item in items if item.record and item.name in done}
    if statements and path.is_dir():
        with open_folder(path) as folder:
            copies = mark_taken(folder, statements)
        if copies:
            print("Some edits could not be applied to a memory. Copies of the edited notes:")
            print("\n".join(f"  {screen.line(copy)}" for copy in copies))


def import_items(
    items: Sequence[Item],
    options: Namespace,
    *,
    may_vouch: bool = True,
    on_done: Callable[[Sequence[ImportedNote]], None] = lambda _: None,
) -> int:
    """Preview notes, ask, and import them.

    If ``may_vouch`` is true, the user is asked to vouch for notes that this store did not sign; with --yes, nobody
    vouches for them.
    ``on_done`` is called with the results after an import, and not at all if nothing is imported.
    """
    folder = _folder(options)
    with _progress("Comparing the notes with the memories", options, len(items)) as progress:
        rows = preview(items, folder, progress, assigned=bool(options.project))
    if options.json and not options.yes:
        screen.as_json({"notes": rows})
        return 0
    if not options.json:
        print_preview(rows)
        _print_elsewhere(rows, options)
    todo = [item for item, row in zip(items, rows, strict=True) if row["state"] in CHANGING]
    if not todo:
        if options.json:
            screen.as_json({"notes": []})
        else:
            print("There is nothing to import.")
        return 0
    vouched = False
    if not options.yes:
        if not agreed_to_import("Import?"):
            print("Nothing was imported.")
            return 0
        vouched = may_vouch and _vouched(rows)
    with _progress("Importing", options, len(todo)) as progress:
        results, event = send_items(todo, folder, progress, vouched=vouched, assigned=bool(options.project))
    on_done(results)
    if options.json:
        screen.as_json({"notes": list(results)})
    else:
        print_results(results)
        print_undo(event)
    return 0


def preview(items: Sequence[Item], folder: str, progress: Progress, *, assigned: bool = False) -> list[PlannedNote]:
    """Return what an import would do with each note, in the order of ``items``.

    With ``assigned``, notes of projects that are unknown here are meant for the project of ``folder``.
    """
    rows: list[PlannedNote] = []
    for batch in batches([_bounded(item) for item in items]):
        sound = [item for item in batch if not item.problem]
        planned = iter(_plan(sound, folder, assigned=assigned) if sound else [])
        rows += [_refused(item) if item.problem else next(planned) for item in batch]
        progress.advance(len(batch), batch[-1].name)
    return _refuse_duplicates(rows, items)


def _plan(items: Sequence[Item], folder: str, *, assigned: bool) -> list[PlannedNote]:
    notes = [item.as_request() for item in items]
    return ask("files_plan", TIMEOUT_SECONDS, cwd=folder, notes=notes, assigned=assigned or None)["notes"]


def _refused(item: Item) -> PlannedNote:
    return {
        "name": item.name,
        "state": "refused",
        "about": "",
        "id": None,
        "now": "",
        "reason": item.problem,
        "project": "",
        "ends": 0,
    }


def _refuse_duplicates(rows: list[PlannedNote], items: Sequence[Item]) -> list[PlannedNote]:
    """Return the rows; a note is refused if an earlier note, even of an earlier request, has the same memory."""
    first: dict[str, str] = {}
    for row, item in zip(rows, items, strict=True):
        uid = str((item.record or {}).get("uid", ""))
        if not uid or row["state"] == "refused":
            continue
        if uid in first:
            row |= {"state": "refused", "reason": f"it is the same memory as {first[uid]}"}
        first.setdefault(uid, item.name)
    return rows


def batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Divide notes into batches, each small enough for one request."""
    batch: list[Item] = []
    total = 0
    for item in items:
        size = 0 if item.problem else _size(item)
        if batch and (len(batch) >= NOTES_PER_REQUEST or total + size > REQUEST_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch


def _size(item: Item) -> int:
    return len(json.dumps(item.as_request()))


def _bounded(item: Item) -> Item:
    """Return the item; if it is larger than a request may be, return a refused item in its place."""
    if item.problem or _size(item) <= REQUEST_BYTES:
        return item
    return Item(item.name, problem=f"it is larger than {REQUEST_BYTES >> 20} MB")


def print_preview(rows: Sequence[PlannedNote]) -> None:
    """Print what the import would do with the notes, grouped by their states."""
    for state, meaning in STATES.items():
        found = [row for row in rows if row["state"] == state]
        if not found:
            continue
        print(screen.paint(f"{screen.counted(len(found), 'note')} {meaning}", "bold"))
        if state in ("unchanged", "known"):
            continue
        most = len(found) if state in CORRECTING else MAX_NAMED
        for row in sorted(found, key=lambda row: "suspicion" not in row)[:most]:
            _print_row(row)
        if len(found) > most:
            print(f"  and {len(found) - most} more")
        if ends := sum(row["ends"] for row in found):
            linked = screen.counted(ends, "link, correction or merge", "links, corrections and merges")
            print(screen.wrapped(f"{linked} between these notes: they end memories, or contradict them.", 2))


def _print_elsewhere(rows: Sequence[PlannedNote], options: Namespace) -> None:
    """Print how many notes are left out because their projects are unknown here, and how to import them."""
    names = [row["reason"] for row in rows if row["state"] == "elsewhere"]
    if not names:
        return
    projects = screen.listed([*dict.fromkeys(names)][:MAX_NAMED])
    path = screen.line(str(options.paths[0])) if options.paths else "PATH"
    print(
        screen.wrapped(
            f"{screen.counted(len(names), 'note')} of other projects left out ({projects}). To import them:"
            f" `subconscious import {path}` in a folder of the project, or `--project FOLDER` for any folder."
        )
    )


def _print_row(row: PlannedNote) -> None:
    if row["state"] == "refused":
        print(screen.wrapped(screen.line(f"{row['name']}: {row['reason']}"), 2))
        return
    if row["now"]:
        print(screen.wrapped(screen.line(f"{row['name']} (memory {row['id']})"), 2))
        print(screen.paint(screen.wrapped(f"- {screen.line(row['now'])}", 4), "red"))
        print(screen.paint(screen.wrapped(f"+ {screen.line(row['about'])}", 4), "green"))
    else:
        print(screen.wrapped(screen.line(row["about"]), 2))
    if row["project"]:
        print(screen.wrapped(f"for {_place(row)}", 4))
    if row["reason"]:
        print(screen.paint(screen.wrapped(screen.line(row["reason"]), 4), "dim"))
    suspicion.note(row, 4)


def _place(row: PlannedNote) -> str:
    """Return which project a row changes, if that is not the project of the import."""
    return "all projects" if row["project"] == "all projects" else f"the project {screen.line(row['project'])}"


def _vouched(rows: Sequence[PlannedNote]) -> bool:
    """Return whether the user vouches for notes that this store did not sign."""
    number = Counter(row["state"] for row in rows)
    unsigned = sum(number[state] for state in UNSIGNED)
    if not unsigned:
        return False
    notes = screen.counted(unsigned, "note")
    if hidden := sum(max(0, number[state] - MAX_NAMED) for state in ("new", "foreign")):
        print(f"\n{screen.counted(hidden, 'new note')} not shown above; `subconscious import PATH --json` lists all.")
    print(f"\n{notes} may contain other people's words, so the imported statements wait for your review.")
    print("If you vouch for them, new notes are stored as your words, and edited notes change the exported memories.")
    if number["foreign"]:
        print("Notes exported from another store become memories with the origin, status and links recorded in them.")
    elsewhere = Counter(_place(row) for row in rows if row["state"] in UNSIGNED and row["project"])
    for place, count in elsewhere.items():
        print(screen.wrapped(f"{count} of them {'belongs' if count == 1 else 'belong'} to {place}."))
    return agreed_to_import("Do you vouch for them?")


def send_items(
    items: Sequence[Item], folder: str, progress: Progress, *, vouched: bool, assigned: bool = False
) -> tuple[list[ImportedNote], int]:
    """Import notes, then their links; return the result of each note, and the id of the event that undoes them all.

    All requests share one ``act``, so that they are undone together: an undo of the links alone would bring superseded
    memories back. The event id is 0 if nothing was changed.
    """
    require_person("import")
    results: list[ImportedNote] = []
    event, act = 0, uuid4().hex
    for batch in batches(items):
        notes = [item.as_request() for item in batch]
        values = {"notes": notes, "vouched": vouched or None, "assigned": assigned or None, "act": act}
        done = ask("files_take", TIMEOUT_SECONDS, cwd=folder, origin="user", **values)
        results += done["notes"]
        event = max(event, done["event"])
        progress.advance(len(batch), batch[-1].name)
    # A link needs both of its memories, so links are sent after all notes.
    restored = {result["name"] for result in results if result["became"] == "restored"}
    foreign: dict[str, Any] = {
        str(item.record["uid"]): result["memory_id"]
        for item, result in zip(items, results, strict=True)
        if item.record and result["state"] == "foreign" and result["became"] == "restored"
    }
    for batch in batches([i for i in items if i.record and (not i.statement or i.name in restored)]):
        linked = {uid: foreign[uid] for item in batch for uid in _linked(item.record or {}) if uid in foreign}
        about: dict[str, Any] = {"vouched": vouched or None, "restored": linked or None, "act": act}
        notes = [item.as_request() for item in batch]
        done = ask("files_take", TIMEOUT_SECONDS, cwd=folder, links=True, origin="user", notes=notes, **about)
        event = max(event, done["event"])
    return results, event


def _linked(record: Mapping[str, Any]) -> Iterator[str]:
    """Return the uids of a record and of the records that it is linked to."""
    yield str(record.get("uid"))
    for group, name in (("links", "target"), ("corrections", "replacement"), ("merges", "into")):
        yield from (str(one[name]) for one in record.get(group, ()))


def print_undo(event: int) -> None:
    """Print the command that undoes a whole import; print nothing if the import changed nothing (``event`` is 0)."""
    if event:
        print(f"To undo this import: subconscious undo --event {event}")


def print_results(results: Sequence[ImportedNote]) -> None:
    """Print how many notes were stored, corrected or refused, and why notes were refused."""
    counted = Counter(result["became"] or result["state"] for result in results)
    print(screen.paint("Imported", "bold"))
    screen.fields([(name, counted[name]) for name in OUTCOMES if counted[name]])
    for result in results:
        if result["became"] == "refused" or result["state"] == "refused":
            print(screen.wrapped(f"{result['name']}: {result['reason']}", 2))
    if counted["left out"]:
        archived = screen.counted(counted["left out"], "archived memory", "archived memories")
        them = "it" if counted["left out"] == 1 else "them"
        print(f"{archived} left out: to import {them} as archived, import again and vouch for {them}.")
    if counted["waits"]:
        print_waiting()
    if counted["quarantined"]:
        print("To see what may be poisoned: subconscious review --status quarantined")
