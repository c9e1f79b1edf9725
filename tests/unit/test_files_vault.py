"""The folder of an export: what is written, kept, removed and refused; and how it is read back."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from subconscious.domain.errors import RequestError
from subconscious.files.folder import open_folder
from subconscious.files.reading import LARGEST_NOTE, Item, is_export, read_export
from subconscious.files.record import LinkTo, Record, as_json
from subconscious.files.vault import MANIFEST, Written, edited_files, mark_taken, update
from tests.support.records import make_record

A, B, C = ("a" * 32, "b" * 32, "c" * 32)


def export(path: Path, *records: Record, form: str = "markdown") -> Written:
    with open_folder(path) as folder:
        return update(folder, form, records)


def files_of(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def read(path: Path) -> list[Item]:
    return list(read_export(path))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def test_a_vault_has_a_note_for_each_memory_and_lists_of_them(out: Path) -> None:
    link = LinkTo(target=B, type="SUPPORTS", status="active", confidence=1, created_by="user", created_at=0)
    lost = link.model_copy(update={"target": C})
    export(out, make_record("Use tabs.", A, links=(link, lost)), make_record("No spaces.", B, kind="lesson"))
    assert sorted(files_of(out)) == [
        MANIFEST,
        "Memories.md",
        "by kind/decision.md",
        "by kind/lesson.md",
        "by month/2026-09.md",
        "memories/no-spaces-bbbbbbbb.md",
        "memories/use-tabs-aaaaaaaa.md",
    ]


def test_no_link_of_a_vault_is_dead(out: Path) -> None:
    link = LinkTo(target=B, type="SUPPORTS", status="active", confidence=1, created_by="user", created_at=0)
    lost = link.model_copy(update={"target": C})
    records = [make_record("See [[nowhere]] | [x] #1", A, links=(link, lost)), make_record("B [[ ]] |", B)]
    export(out, *records)
    paths = {str(file.relative_to(out)).removesuffix(".md") for file in out.rglob("*.md")}
    names = paths | {path.rpartition("/")[2] for path in paths}
    linked = []
    for file in out.rglob("*.md"):
        shown = re.sub(r"<!-- .*? -->", "", file.read_text(encoding="utf-8"))
        linked += re.findall(r"(?<!\\)\[\[([^\]|]+)", shown)
    assert set(linked) <= names
    assert len(linked) == 2 + 2 + 2 + 2  # one link as property and in the text, two lists, the overview


def test_all_is_for_its_owner_alone(out: Path) -> None:
    out.mkdir(mode=0o755)
    export(out, make_record())
    modes = {path.stat().st_mode & 0o777 for path in [out, *out.rglob("*")] if path.is_dir()}
    assert modes == {0o700}
    assert {path.stat().st_mode & 0o777 for path in out.rglob("*") if path.is_file()} == {0o600}


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_a_second_export_writes_only_changed_notes(out: Path, form: str) -> None:
    export(out, make_record("One.", A), make_record("Two.", B), form=form)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert export(out, make_record("One.", A), make_record("Two.", B), form=form).written == ()
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()} == before


def test_stale_notes_are_removed_and_other_files_stay(out: Path) -> None:
    export(out, make_record("One.", A), make_record("Two.", B, kind="lesson"))
    (out / "mine.md").write_text("My own note.")
    (out / ".obsidian").mkdir()
    done = export(out, make_record("One.", A))
    assert done.removed == ("by kind/lesson.md", "memories/two-bbbbbbbb.md")
    assert done.written == ("by month/2026-09.md", "Memories.md")
    assert (out / "mine.md").read_text() == "My own note."


def test_a_note_keeps_its_name_when_its_summary_changes(out: Path) -> None:
    export(out, make_record("One.", A))
    export(out, make_record("Something else.", A))
    assert [path.name for path in (out / "memories").iterdir()] == ["one-aaaaaaaa.md"]


def test_an_edited_note_is_neither_overwritten_nor_removed(out: Path) -> None:
    export(out, make_record("One.", A), make_record("Two.", B))
    for name in ("one-aaaaaaaa", "two-bbbbbbbb"):
        note = out / "memories" / f"{name}.md"
        note.write_text(note.read_text().replace("\nOne.\n", "\nEdited.\n").replace("\nTwo.\n", "\nEdited.\n"))
    for _ in range(2):
        done = export(out, make_record("One, again.", A))
        assert done.edited == ("memories/one-aaaaaaaa.md", "memories/two-bbbbbbbb.md")
    assert [item.statement for item in read(out)] == ["Edited.", "Edited."]


def test_a_link_hides_no_edit(out: Path) -> None:
    export(out, make_record("One.", A))
    (out / "memories" / "link.md").symlink_to("/etc/passwd")
    (out / "new.md").write_text("A note.")
    with open_folder(out) as folder:
        assert edited_files(folder, ["memories/link.md", "new.md"]) == ["memories/link.md", "new.md"]


def test_an_edit_that_was_imported_is_replaced_by_the_next_export(out: Path) -> None:
    export(out, make_record("One.", A))
    note = out / "memories" / "one-aaaaaaaa.md"
    written = note.read_bytes()
    note.write_bytes(written.replace(b"\nOne.\n", b"\nEdited.\n"))
    with open_folder(out) as folder:
        mark_taken(folder, {"memories/one-aaaaaaaa.md": "Something else."})
    assert export(out, make_record("One.", A)).edited == ("memories/one-aaaaaaaa.md",)
    with open_folder(out) as folder:
        assert edited_files(folder, ["memories/one-aaaaaaaa.md", "Memories.md", "none.md"]) == [
            "memories/one-aaaaaaaa.md"
        ]
        mark_taken(folder, {"memories/one-aaaaaaaa.md": "Edited.", "none.md": "Edited."})
    assert export(out, make_record("One.", A)).written == ("memories/one-aaaaaaaa.md",)
    assert note.read_bytes() == written


def test_other_edits_than_imported_ones_are_kept_as_a_copy(out: Path) -> None:
    name = "memories/one-aaaaaaaa.md"
    export(out, make_record("One.", A, evidence="They said so."))
    note = out / name
    note.write_text(note.read_text().replace("\nOne.\n", "\nTwo.\n").replace("They said so.", "They did not."))
    edited = note.read_bytes()
    with open_folder(out) as folder:
        (copy,) = mark_taken(folder, {name: "Two."})
        assert mark_taken(folder, {name: "Two."}) == []
    export(out, make_record("One.", A))
    assert b"They did not." not in note.read_bytes()
    assert (out / copy).read_bytes() == edited
    assert [item.name for item in read(out)] == [name]


def test_edited_tags_leave_no_copy(out: Path) -> None:
    name = "memories/one-aaaaaaaa.md"
    export(out, make_record("One.", A, tags=("money",)))
    note = out / name
    note.write_text(note.read_text().replace('tags: ["money"]', "tags:\n  - cents"))
    with open_folder(out) as folder:
        assert mark_taken(folder, {name: None}) == []
    assert export(out, make_record("One.", A, tags=("cents",))).edited == ()
    assert 'tags: ["cents"]' in note.read_text()


def test_an_export_that_was_interrupted_is_completed(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [make_record("One.", A), make_record("Two.", B)]
    export(out, records[0])
    replace = os.replace
    done: list[object] = []

    def failing(*args: object, **kwargs: object) -> None:
        if len(done) == 3:
            raise OSError("no space left")
        done.append(args)
        replace(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", failing)
    changed = [make_record("One.", A, tags=("new",)), records[1]]
    with pytest.raises(OSError, match="no space"):
        export(out, *changed)
    monkeypatch.undo()
    assert export(out, *changed).edited == ()
    whole = out.with_name("whole")
    export(whole, *changed)
    assert files_of(out) == files_of(whole)


def test_a_folder_with_other_things_is_refused(out: Path) -> None:
    out.mkdir()
    (out / "thesis.md").write_text("mine")
    with pytest.raises(RequestError, match=r"neither empty nor an earlier export \(thesis.md"):
        export(out, make_record())
    assert files_of(out) == {"thesis.md": b"mine"}


def test_links_and_devices_are_refused(out: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out.symlink_to(elsewhere)
    with pytest.raises(RequestError, match="it is a link"):
        export(out, make_record())
    out.unlink()
    export(out, make_record("One.", A))
    kept = tmp_path / "kept"
    (out / "memories").rename(kept)
    (out / "memories").symlink_to(elsewhere)
    with pytest.raises(RequestError, match="is a link"):
        export(out, make_record("Two.", B))
    (out / "memories").unlink()
    (out / "memories").mkdir()
    os.mkfifo(out / "memories" / "one-aaaaaaaa.md")
    with pytest.raises(RequestError, match="is a link, a device"):
        export(out, make_record("One.", A))
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.md", "/etc/passwd.md", "memories/../../x.md", "other/x.md", "x.sh", 7]
)
def test_a_manifest_can_name_no_file_that_an_export_does_not_write(out: Path, tmp_path: Path, name: object) -> None:
    victim = tmp_path / "x.md"
    victim.write_text("mine")
    export(out, make_record())
    manifest = json.loads((out / MANIFEST).read_text())
    manifest["files"] = {str(name): "0"} if isinstance(name, str) else [name]
    (out / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(RequestError, match="damaged"):
        export(out, make_record())
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_an_export_is_read_back(out: Path, form: str) -> None:
    records = [make_record("One.", A), make_record("Two.\n\n## Reason\n", B)]
    export(out, *records, form=form)
    assert is_export(out)
    assert [item.record for item in read(out)] == [as_json(record) for record in records]
    assert not any(item.statement or item.problem for item in read(out))


def test_json_has_a_version_that_is_checked(out: Path) -> None:
    export(out, make_record(), form="json")
    file = out / "memories.json"
    document = json.loads(file.read_text())
    assert (document["format"], document["version"]) == ("subconscious export", 1)
    file.write_text(json.dumps(document | {"version": 2}))
    assert "version 2" in read(file)[0].problem
    file.write_text(file.read_text()[:-40])
    assert "cut off" in read(out)[0].problem


def test_hostile_files_get_a_line_each_and_the_rest_is_read(out: Path, tmp_path: Path) -> None:
    export(out, make_record("One.", A))
    notes = out / "memories"
    (tmp_path / "secret").write_text("secret")
    (notes / "link.md").symlink_to(tmp_path / "secret")
    (notes / "device.md").symlink_to("/dev/zero")
    os.mkfifo(notes / "fifo.md")
    (notes / "folder.md").mkdir()
    (notes / "latin.md").write_bytes("Stra\xdfe".encode("latin-1"))
    (notes / "binary.md").write_bytes(b"a\0b")
    (notes / "bomb.md").write_text("---\na: &a [x]\nb: &b [*a, *a]\n---\nx\n")
    (notes / "half.md").write_text("---\nid: 1\n")
    with (notes / "huge.md").open("wb") as file:
        file.truncate(LARGEST_NOTE + 1)
    (out / "linked").symlink_to(tmp_path)
    found = {item.name: item.problem for item in read(out)}
    assert {name.rpartition("/")[2]: problem for name, problem in found.items() if problem} == {
        "link.md": "it is a symbolic link, not a regular file",
        "device.md": "it is a symbolic link, not a regular file",
        "fifo.md": "it is a FIFO, not a regular file",
        "latin.md": "it is not UTF-8 text",
        "binary.md": "it is not text",
        "bomb.md": "line 2: use only plain values and lists of plain values",
        "half.md": "its front matter has no closing line of dashes; the file may be incomplete",
        "huge.md": "it is larger than 1 MB",
    }
    assert found["memories/one-aaaaaaaa.md"] == ""
