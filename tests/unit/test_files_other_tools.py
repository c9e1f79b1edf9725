"""What other tools remember, in the formats that they keep it in."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from cli.arguments_data import TOOLS as NAMED
from subconscious.domain.kinds import KINDS
from subconscious.files.other_tools import (
    TOOLS,
    read_basic_memory,
    read_claude_mem,
    read_claude_notes,
    read_mem0,
)
from subconscious.files.reading import Item

MARCH = 1_740_823_200.0


def test_the_command_line_names_the_tools_that_can_be_read() -> None:
    assert tuple(TOOLS) == NAMED


@pytest.fixture
def claude_mem(tmp_path: Path) -> Path:
    """A database with the columns that claude-mem 13.25 makes and that matter here."""
    path = tmp_path / "claude-mem.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(
            "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT,"
            " type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,"
            " created_at_epoch INTEGER, merged_into_project TEXT)"
        )
        database.execute("CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, learned TEXT)")
        rows = [
            (1, "shop", "decision", "Cents", "Amounts are integers.", '["No floats"]', '["money", 5]', MARCH * 1000),
            (2, "other", "bugfix", "Elsewhere", "Of another project.", "[]", "[]", MARCH * 1000),
            (3, "shop", "discovery", None, None, "broken", None, "yesterday"),
            (4, "Shop", "feature", "Only a title", None, None, None, None),
            (5, "shop/receipts", "change", "In a worktree", None, None, None, None),
            (6, "till/receipts", "change", "In a worktree that was merged", None, None, None, None),
        ]
        database.executemany(
            "INSERT INTO observations (id, project, type, title, narrative, facts, concepts, created_at_epoch)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        database.execute("UPDATE observations SET merged_into_project = 'shop' WHERE id = 6")
        database.execute(
            "INSERT INTO session_summaries VALUES (1, 'shop', 'The cache is per process.'), (2, 'shop', '')"
        )
    return path


def by_name(items: list[Item]) -> dict[str, Item]:
    return {item.name: item for item in items}


def test_claude_mem(claude_mem: Path) -> None:
    found = by_name(list(read_claude_mem(claude_mem, "shop")))
    first = found["claude-mem observation 1"]
    assert first.statement == "Cents\nAmounts are integers.\n- No floats"
    assert first.claims == {"kind": "decision", "tags": ["money"], "said": MARCH}
    assert "claude-mem observation 2" not in found
    assert found["claude-mem observation 3"].problem == "it has no text"
    assert found["claude-mem observation 4"].claims["kind"] == "progress"
    assert found["claude-mem summary 1"].statement == "The cache is per process."
    assert found["claude-mem observation 5"].statement == "In a worktree"
    assert found["claude-mem observation 6"].statement == "In a worktree that was merged"
    assert "claude-mem observation 2" in by_name(list(read_claude_mem(claude_mem, "")))


def test_the_write_ahead_log_is_read_without_writing(claude_mem: Path) -> None:
    with closing(sqlite3.connect(claude_mem)) as writer:
        writer.execute("INSERT INTO session_summaries VALUES (9, 'shop', 'Written last.')")
        writer.commit()
        before = {path.name: path.read_bytes() for path in claude_mem.parent.iterdir()}
        assert before["claude-mem.db-wal"]
        assert "claude-mem summary 9" in by_name(list(read_claude_mem(claude_mem, "shop")))
        assert {path.name: path.read_bytes() for path in claude_mem.parent.iterdir()} == before


def test_a_database_that_is_hostile_or_none_gets_one_line(claude_mem: Path, tmp_path: Path) -> None:
    views = tmp_path / "views.db"
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'x' AS title FROM n"
    with closing(sqlite3.connect(views)) as database, database:
        database.execute(f"CREATE VIEW observations AS {endless}")
    cut = tmp_path / "cut.db"
    cut.write_bytes(claude_mem.read_bytes()[:5000])
    text = tmp_path / "text.db"
    text.write_text("x" * 5000)
    fifo = tmp_path / "fifo.db"
    os.mkfifo(fifo)
    problems = {path.stem: [item.problem for item in read_claude_mem(path, "")] for path in (views, cut, text, fifo)}
    assert problems["views"] == ["it is not a database of claude-mem: its tables are missing"]
    assert len(problems["cut"]) == 1
    assert "damaged" in problems["cut"][0]
    assert problems["text"] == ["it is not an SQLite database"]
    assert "FIFO" in problems["fifo"][0]


@pytest.mark.parametrize("wrap", ["results", "memories", ""])
def test_mem0(tmp_path: Path, wrap: str) -> None:
    entries = [
        {
            "id": "6f1c",
            "memory": "Prefers tabs",
            "hash": "0",
            "metadata": {"type": "preference"},
            "categories": ["style"],
            "created_at": "2025-03-01T10:00:00Z",
            "user_id": "dev",
        },
        {"id": "7a2d", "memory": "Uses Python 3.11", "metadata": None, "categories": None, "updated_at": None},
        {"id": "8b3e", "memory": ""},
        "nonsense",
    ]
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"count": 4, wrap: entries} if wrap else entries))
    first, second, empty, broken = read_mem0(file, "")
    assert (first.name, first.statement) == ("mem0 memory 6f1c", "Prefers tabs")
    assert first.claims == {"kind": "preference", "tags": ["style"], "said": MARCH}
    assert second.claims == {"kind": "learning", "tags": []}
    assert (empty.problem, broken.problem) == ("it has no text", "it is not a memory")


@pytest.mark.parametrize("text", ["", "{}", "[", "5", '{"results": 5}', "[" * 100_000, "\udcff"])
def test_a_mem0_file_that_is_none_gets_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mem0.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    (item,) = read_mem0(file, "")
    assert item.problem


OPENMEMORY = {
    "categories": [{"id": "c1", "name": "preferences"}],
    "memories": [
        {"id": "1", "content": "Prefers tabs", "state": "active", "category_ids": ["c1"], "metadata": None},
        {"id": "2", "content": "Prefers spaces", "state": "deleted", "category_ids": []},
    ],
}


def test_the_zip_file_of_openmemory(tmp_path: Path) -> None:
    file = tmp_path / "memories_export_dev.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("memories.json", json.dumps(OPENMEMORY))
        archive.writestr("memories.jsonl.gz", b"")
    first, second = read_mem0(file, "")
    assert (first.statement, first.claims) == ("Prefers tabs", {"kind": "preference", "tags": ["preferences"]})
    assert second.problem == "its state is deleted"


def test_a_zip_file_that_is_none_gets_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty, text, bomb = tmp_path / "empty.zip", tmp_path / "text.zip", tmp_path / "bomb.zip"
    zipfile.ZipFile(empty, "w").close()
    text.write_text("PK")
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memories.json", "[" + " " * 100_000 + "]")
    monkeypatch.setattr("subconscious.files.reading.LARGEST_JSON", 10_000)
    problems = [item.problem for file in (empty, text, bomb, tmp_path / "gone.zip") for item in read_mem0(file, "")]
    assert problems[0] == "it has no memories.json"
    assert problems[1].startswith("it is not a readable zip file")
    assert problems[2].startswith("its memories.json is larger than")
    assert problems[3] == "it can't be read: No such file or directory"


def test_a_page_of_mem0s_memories_names_the_others(tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"count": 2, "next": "?page=2", "results": [{"id": "1", "memory": "Prefers tabs"}]}))
    first, rest = read_mem0(file, "")
    assert (first.statement, rest.problem) == ("Prefers tabs", "it is one page of several; import the other pages, too")


def test_basic_memory(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "money.md").write_text(
        "---\ntitle: Money\ntype: note\nsource:\n  url: a\ntags:\n- shop\n"
        "created: 2025-03-01T10:00:00Z\n---\n# Money\n\n"
        "- [decision] Amounts are integers #cents (floats lost a cent)\n- [x] a task\n- [ ] another\n- [?] one more\n"
        "- [00:01:02] said in a call #call\n1. [tip] Round late\n- Receipts are signed #printing\n\n"
        "```\n- [decision] an example\n```\n\n## Relations\n- relates_to [[Taxes]] #tag\n"
    )
    (notes / "plain.md").write_text("---\nnested:\n  a: 1\n---\nJust prose.\n")
    (notes / "latin.md").write_bytes(b"\xe9")
    found = by_name(list(read_basic_memory(notes, "")))
    first, second = found["money.md observation 1"], found["money.md observation 2"]
    assert first.statement == "Money: Amounts are integers"
    assert first.claims == {
        "kind": "decision",
        "tags": ["shop", "cents"],
        "reason": "floats lost a cent",
        "said": MARCH,
    }
    assert (second.statement, second.claims["kind"]) == ("Money: Round late", "learning")
    third = found["money.md observation 3"]
    assert (third.statement, third.claims["tags"]) == ("Money: Receipts are signed", ["shop", "printing"])
    os.utime(notes / "plain.md", (MARCH, MARCH))
    assert by_name(list(read_basic_memory(notes, "")))["plain.md"].claims["said"] == MARCH
    assert found["plain.md"].statement == "Just prose."
    assert found["latin.md"].problem == "it is not UTF-8 text"
    assert len(found) == 5


def test_claudes_own_notes(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- [a](feedback_tests.md)\n")
    (tmp_path / "feedback_tests.md").write_text(
        "---\nname: tests\ndescription: Run the tests first\ntype: feedback\n---\nRun the tests first, always.\n"
    )
    (tmp_path / "half.md").write_text("---\nname: x\n")
    os.utime(tmp_path / "feedback_tests.md", (MARCH, MARCH))
    found = by_name(list(read_claude_notes(tmp_path, "")))
    assert found["feedback_tests.md"].statement == "Run the tests first, always."
    assert found["feedback_tests.md"].claims == {"kind": "preference", "tags": ["feedback"], "said": MARCH}
    assert "the file may be incomplete" in found["half.md"].problem
    assert all(item.claims["kind"] in KINDS for item in found.values() if not item.problem)
