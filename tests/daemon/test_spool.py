"""Entries of the spool that no hook makes: each is set aside with its reason, and those behind it are worked off."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon import spool
from daemon.spool import Spool
from subconscious.app import App
from subconscious.context.entry import MAX_BYTES, BrokenEntryError, read_entry
from subconscious.redaction import remaining_copies
from subconscious.store import jobs

HEADER = b"subconscious 1\tStop\t1790000000000000000\t/p\t\t0.1.0\t\n"
GOOD = "00000000000000000009-1-aa.entry"
BAD = "00000000000000000001-1-aa.entry"


def _write(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def _fill_folder(path: Path) -> None:
    path.mkdir()
    (path / "file").write_text("words")


def _make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)


SHAPES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a FIFO": (os.mkfifo, "a FIFO"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "symbolic link"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "symbolic link"),
    "a link to a whole entry": (lambda path: path.symlink_to(GOOD), "symbolic link"),
    "a folder": (_fill_folder, "a folder"),
    "too large": (_make_large, "larger than"),
    "too many values": (_write(HEADER + b'{"session_id": "s", "more": [' + b"[]," * 300_000 + b"[]]}"), "values"),
    "too deep": (_write(HEADER + b'{"session_id": "s", "more": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "JSON"),
    "a header without an end": (_write(b"subconscious 1\tStop" * 100_000), "header"),
    "empty": (_write(b""), "header"),
}


def whole(session: str = "s") -> bytes:
    return HEADER + json.dumps({"session_id": session, "cwd": "/p"}).encode()


async def reason_of(app: App, name: str) -> str:
    rows = await app.database.rows("SELECT state, reason FROM jobs WHERE name = ?", (name,))
    assert [row["state"] for row in rows] == ["buried"]
    return str(rows[0]["reason"])


async def settled(swept: Spool) -> None:
    """Wait for what is set aside in the background."""
    if swept._large_task is not None:
        await swept._large_task


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_bad_entry_is_set_aside_and_the_next_one_is_taken(app: App, shape: str) -> None:
    make, reason = SHAPES[shape]
    make(app.home.spool / BAD)
    (app.home.spool / GOOD).write_bytes(whole())
    swept = Spool(app)
    await swept.sweep()
    await settled(swept)
    assert reason in await reason_of(app, BAD)
    assert await jobs.states(app.database, [GOOD]) == {GOOD: "ready"}
    assert os.path.lexists(app.home.buried / BAD)
    assert spool.entry_names(app.home.spool) == [GOOD]
    assert await swept.waiting() == 1


async def test_a_bad_entry_that_can_not_be_moved_is_left_and_counts_no_more(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    (app.home.spool / BAD).write_bytes(b"broken")
    (app.home.spool / GOOD).write_bytes(whole())

    def refuse(path: Path, target: Path) -> Path:
        raise PermissionError(1, "immutable", str(path))

    monkeypatch.setattr(Path, "replace", refuse)
    swept = Spool(app)
    for _ in range(3):
        await swept.sweep()
    assert await jobs.states(app.database, [GOOD]) == {GOOD: "ready"}
    assert await swept.waiting() == 1


async def test_an_entry_of_a_name_that_was_set_aside_before_replaces_nothing(app: App) -> None:
    (app.home.buried / BAD).mkdir()
    for content in (b"first", b"second"):
        (app.home.spool / BAD).write_bytes(content)
        await Spool(app).bury(BAD)
    kept = sorted(path.read_bytes() for path in app.home.buried.iterdir() if path.is_file())
    assert kept == [b"first", b"second"]


async def test_a_large_entry_loses_its_secrets_before_it_is_set_aside(app: App) -> None:
    secret = "ghp_" + "a1B2" * 9
    (app.home.spool / BAD).write_bytes(b"broken " + b"word " * 20_000 + secret.encode() + b" word" * 20_000)
    swept = Spool(app)
    await swept.sweep()
    assert await swept.waiting() == 0
    await settled(swept)
    kept = (app.home.buried / BAD).read_bytes()
    assert kept.startswith(b"broken")
    assert secret.encode() not in kept


def test_parts_of_a_text_change_as_the_whole_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remaining_copies, "PART_LETTERS", 16)
    change = remaining_copies.in_parts(lambda text: text.replace("secret", "[gone]"))
    for before in range(40):
        text = "x" * before + "secret" + "y" * 50
        assert change(text) == text.replace("secret", "[gone]")


def test_a_purge_finds_words_in_entries_that_are_too_large_and_passes_by_what_is_no_file(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remaining_copies, "PART_BYTES", 1000)
    for name, words in (("1-large.entry", b"we chose teal"), ("2-large.entry", b"we chose grey")):
        (app.home.buried / name).write_bytes(b"x" * (MAX_BYTES + 995) + words)
    os.mkfifo(app.home.buried / "3-pipe.entry")
    (app.home.spool / "4-folder.entry").mkdir()
    assert remaining_copies.drop_entries(app.home, [], ["we chose teal"]) == ["1-large.entry"]
    assert [path.name for path in remaining_copies.text_files(app.home)] == []


def test_a_text_beyond_the_bound_is_cut_and_the_entry_understood(tmp_path: Path) -> None:
    path = tmp_path / GOOD
    path.write_bytes(HEADER + json.dumps({"session_id": "s", "prompt": "word " * 1_000_000}).encode())
    assert len(read_entry(path).payload.prompt) == 1 << 20


def test_an_entry_that_is_gone_is_not_broken(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_entry(tmp_path / GOOD)
    (tmp_path / GOOD).symlink_to("nowhere")
    with pytest.raises(BrokenEntryError):
        read_entry(tmp_path / GOOD)


def draft_of(name: str) -> str:
    return f".{name}.tmp"


async def adopted(swept: Spool) -> int:
    """Look twice, as the upkeep does: what did not change in between has no writer."""
    assert await swept.adopt_half_written() == 0
    return await swept.adopt_half_written()


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_draft_that_is_no_entry_is_set_aside_and_a_whole_one_joins(app: App, shape: str) -> None:
    SHAPES[shape][0](app.home.spool / draft_of(BAD))
    (app.home.spool / draft_of(GOOD)).write_bytes(whole())
    assert await adopted(Spool(app)) == 2
    assert os.path.lexists(app.home.buried / BAD)
    assert [path.name for path in app.home.spool.iterdir() if path.is_file()] == [GOOD]


async def test_a_draft_replaces_nothing_and_loses_its_secrets_before_it_is_set_aside(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "ghp_" + "a1B2" * 9
    (app.home.buried / BAD).write_bytes(b"set aside before")
    (app.home.spool / draft_of(BAD)).write_bytes(b"broken " + b"word " * 20_000 + secret.encode())
    replace = Path.replace

    def look(path: Path, target: Path) -> Path:
        assert secret.encode() not in path.read_bytes()
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", look)
    assert await adopted(Spool(app)) == 1
    kept = {path.name: path.read_bytes()[:10] for path in app.home.buried.iterdir()}
    assert kept == {BAD: b"set aside ", f"1.{BAD}": b"broken wor"}


async def test_what_a_killed_daemon_was_writing_out_joins_the_spool(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the words and their place: whatever name they have then, they are found."""

    def die(path: Path, target: Path) -> Path:
        raise SystemExit

    monkeypatch.setattr(Path, "replace", die)
    monkeypatch.setattr(Path, "rename", die)
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
    with pytest.raises(SystemExit):
        await Spool(app).accept(GOOD, whole())
    monkeypatch.undo()
    assert spool.entry_names(app.home.spool) == []
    assert await adopted(Spool(app)) == 1
    assert (app.home.spool / GOOD).read_bytes() == whole()
    assert len(list(app.home.spool.iterdir())) == 2, "it, and the folder of those set aside"


async def test_a_draft_that_can_not_be_moved_holds_nobody_up(app: App, caplog: pytest.LogCaptureFixture) -> None:
    (app.home.spool / draft_of(BAD)).write_bytes(whole())
    (app.home.spool / BAD).mkdir()
    swept = Spool(app)
    await adopted(swept)
    await swept.sweep()
    await swept.adopt_half_written()
    assert caplog.text.count("can't be moved or deleted") == 1
