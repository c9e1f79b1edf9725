"""docs/files.md shows notes as they are written, and names the tools that can be read."""

from __future__ import annotations

import re
from pathlib import Path

from subconscious.files.note import parse, render
from subconscious.files.other_tools import TOOLS
from subconscious.files.record import LinkTo
from tests.support.records import make_record

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
OTHER = "5d1f00aa" + "0" * 24


def test_the_tools_of_the_table_are_those_that_can_be_read() -> None:
    table = PAGE.partition("## From other tools")[2]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(TOOLS)
    assert re.findall(r"--from ([\w-]+)", table) == list(TOOLS)


def test_the_example_is_a_note_as_it_is_written() -> None:
    example = PAGE.partition("```markdown\n")[2].partition("```")[0]
    shown = example.partition("\n<!-- ")[0]
    link = LinkTo(target=OTHER, type="SUPERSEDES", status="active", confidence=1, created_by="user", created_at=0)
    record = make_record(
        "We keep all amounts in integer cents.",
        summary="Keep amounts in integer cents",
        rationale="Floats lost a cent.",
        evidence="We decided to keep all amounts in integer cents, because floats lost a cent.",
        confidence=0.93,
        branch="main",
        created_at=1_772_445_600.0,
        said_at=1_772_445_600.0,
        session_id="944588c1",
        tags=("money",),
        files=("src/money.py",),
        links=(link,),
    ).model_copy(update={"id": 12})
    names = {OTHER: "amounts-are-floats-5d1f00aa", record.uid: "keep-amounts-in-integer-cents-0c11d2aa"}
    assert render(record, names, {OTHER: "Amounts are floats"}).partition("\n<!-- ")[0] == shown
    assert parse(shown).statement == record.memory.content
