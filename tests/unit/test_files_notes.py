"""Notes of memories: what is written is read back exactly, and what somebody edited is noticed."""

from __future__ import annotations

import json
import re
import unicodedata
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subconscious.domain.model import Memory
from subconscious.files import yaml_subset
from subconscious.files.note import NoteError, as_exported, parse, render
from subconscious.files.other_tools import _observations
from subconscious.files.record import (
    Fields,
    LinkTo,
    Record,
    RecordError,
    as_json,
    export_key,
    is_ours,
    parse_record,
    signed,
)
from subconscious.files.vault import note_name, note_names
from subconscious.files.yaml_subset import FrontMatterError
from tests.support.records import SHOP, any_memory, make_record, said, texts

FEW = settings(max_examples=40)
KEY = b"k" * 32
OTHER = "1" * 32


def record_of(memory: Memory) -> Record:
    values = asdict(memory)
    return Record(
        uid="0" * 32, id=1, project=SHOP, memory=Fields(**{name: values[name] for name in Fields.model_fields})
    )


@FEW
@given(any_memory())
def test_a_note_contains_its_exact_record(memory: Memory) -> None:
    record = signed(record_of(memory), KEY)
    note = parse(render(record, {}, {}))
    assert note.statement is None
    assert note.record == record
    assert is_ours(note.record, KEY)


@FEW
@given(any_memory())
@pytest.mark.slow
def test_an_editor_may_change_line_ends_and_white_space_at_them(memory: Memory) -> None:
    written = render(record_of(memory), {}, {})
    *lines, _ = written.split("\n")
    assert parse("\r\n".join(f"{line}  " if line != "---" else line for line in lines)).statement is None


@FEW
@given(said(), st.text("abc xyz", min_size=3).filter(str.strip))
def test_an_edited_statement_is_noticed_and_read_without_its_escapes(text: str, new: str) -> None:
    record = make_record("The old words.", rationale=text, evidence=text)
    note = parse(render(record, {}, {}).replace("\nThe old words.\n", f"\n{new}\n", 1))
    assert note.record == record
    assert note.statement == new.strip()


@FEW
@given(any_memory(), st.text("abc xyz", min_size=3).filter(str.strip))
@pytest.mark.slow
def test_without_its_imported_edits_a_note_is_the_one_that_was_exported(memory: Memory, new: str) -> None:
    written = render(signed(record_of(memory), KEY), {}, {})
    front, separator, body = written.partition("\n---\n\n")
    title, _, rest = body.partition("\n")
    section = re.search(r"^(## |<!-- subconscious )", rest, re.MULTILINE)
    assert section is not None
    front = re.sub(r"^kind: .*$", 'kind: "failure"', front, flags=re.MULTILINE)
    front = re.sub(r"^tags: .*$", "tags:\n  - new", front, flags=re.MULTILINE)
    edited = f"{front}{separator}{title}\n\n{new}\n\n{rest[section.start() :]}"
    assert parse(edited).front["tags"] == ["new"]
    for there in (written, edited):
        assert as_exported(there).replace("\r\n", "\n") == written.replace("\r\n", "\n")
    assert as_exported(edited.replace("\ncreated: ", "\nmine: 1\ncreated: ", 1)) != written


@FEW
@given(said())
def test_escaped_text_is_read_back(text: str) -> None:
    record = make_record("x")
    shown = render(make_record(text), {}, {}).split("\n# ")[1].partition("\n")[2]
    body = shown.split("\n<!-- subconscious {")[0]
    note = parse(render(record, {}, {}).replace("\nx\n", f"\n{body}\n", 1))
    assert (note.statement or record.memory.content).split() == text.split()


def test_front_matter_has_the_fields_for_filters() -> None:
    link = LinkTo(target=OTHER, type="SUPERSEDES", status="active", confidence=1, created_by="user", created_at=0)
    proposed = link.model_copy(update={"type": "SUPPORTS", "status": "proposed"})
    record = make_record(
        tags=("money", "two words"), branch="main", links=(link, proposed), rationale="Floats lose cents."
    )
    front = parse(render(record, {OTHER: "old-11111111"}, {OTHER: "Old [rule]"})).front
    assert (front["kind"], front["status"], front["origin"], front["project"]) == ("decision", "active", "user", "shop")
    assert front["tags"] == ["money", "two-words"]
    assert front["supersedes"] == ["[[old-11111111]]"]
    assert front["proposed_supports"] == ["[[old-11111111]]"]
    text = render(record, {OTHER: "old-11111111"}, {OTHER: "Old [rule]"})
    assert "- supersedes [[old-11111111|Old  rule]]" in text
    assert "## Reason\n\nFloats lose cents." in text


def test_claude_code_would_know_the_note() -> None:
    record = make_record("Amounts are integer cents.", OTHER)
    front = parse(render(record, {OTHER: "amounts-11111111"}, {})).front
    assert (front["name"], front["description"]) == ("amounts-11111111", record.memory.summary)


def test_there_is_no_link_to_a_note_that_is_not_there() -> None:
    link = LinkTo(target=OTHER, type="SUPPORTS", status="active", confidence=1, created_by="user", created_at=0)
    assert "[[" not in render(make_record("See [[x]] ![[y]]", links=(link,), summary="[[x]]"), {}, {}).replace(
        "\\[[", ""
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\nid: 1\n", "no closing line"),
        ("---\na: &x 1\nb: *x\n---\nx", "line 2"),
        ("---\na: !!python/object x\n---\nx", "line 2"),
        ("---\na:\n  b: 1\n---\nx", "line 3"),
        ("---\na: {b: 1}\n---\nx", "line 2"),
        ("---\na: [[1], [2]]\n---\nx", "line 2"),
        ("---\na: 1\na: 2\n---\nx", "twice"),
        ("---\na: |\n  text\n---\nx", "line 2"),
        ("---\n" + "a: 1\n" * 3000 + "---\nx", "more than"),
        ("# \n\n", "has no text"),
        ("x\n<!-- subconscious {\"version\": 1", "cut off"),
        ("x\n<!-- subconscious {} -->\n", "version"),
        ("x\n<!-- subconscious {\"version\": 2} -->\n", "version 2"),
        ("x\n<!-- subconscious {nonsense} -->\n", "not valid JSON"),
        ("x\n<!-- subconscious " + '{"a":' * 3000 + "1" + "}" * 3000 + " -->\n", "can't be used"),
    ],
)  # fmt: skip
def test_a_broken_note_is_refused_with_its_reason(text: str, problem: str) -> None:
    with pytest.raises(NoteError, match=re.escape(problem)):
        parse(text)


MUCH = 300_000


@pytest.mark.parametrize(
    "text",
    [
        "\\" * MUCH,
        "x\n" + "\\" * MUCH + "\n## Links",
        "[[" * MUCH,
        "# " * MUCH,
        "---\n" * (MUCH // 4),
        "---\n" + " " * MUCH,
        "---\na:" + " " * MUCH + "b\n---\nx",
        "---\na: [" + "[" * MUCH,
        "<!-- subconscious {" * (MUCH // 19),
        "x\n<!-- subconscious {" + "} --> " * (MUCH // 6) + "y",
        "\n" * MUCH + "x",
        " " * MUCH + "x",
    ],
    ids=range(12),
)
@pytest.mark.slow
def test_a_hostile_note_is_parsed_quickly(text: str) -> None:
    """What grows with the square of the length would take hours, and run into the time-out."""
    with suppress(NoteError):
        parse(text)
    with suppress(FrontMatterError):
        yaml_subset.load(text)
    list(_observations("n.md", text))
    list(_observations("n.md", f"- [a] {text}"))
    render(make_record(text), {}, {})


def test_a_note_that_somebody_wrote_has_a_statement_and_no_record() -> None:
    note = parse("---\ntags:\n  - a\n  - 'b c'\nkind: lesson\n---\n# Title\n\nRun the linter first.\n")
    assert (note.record, note.statement) == (None, "Run the linter first.")
    assert note.front == {"tags": ["a", "b c"], "kind": "lesson"}
    assert parse("# Only a title\n").statement == "Only a title"


NAMES = st.from_regex(r"[a-z_]{1,9}", fullmatch=True)
VALUES = texts() | st.booleans() | st.none() | st.integers(-9, 9) | st.lists(texts(), max_size=3)


@FEW
@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_front_matter_is_read_back(values: dict[str, yaml_subset.Value]) -> None:
    assert yaml_subset.load(yaml_subset.dump(values)) == values


def test_folded_values_are_read() -> None:
    listed = '  - Keep amounts\n    in cents\n  - "[[keep-\\\n    amounts]]"'
    text = f'description: "Keep amounts\n  in integer cents"\naliases:\n{listed}\nkind: decision'
    assert yaml_subset.load(text) == {
        "description": "Keep amounts in integer cents",
        "aliases": ["Keep amounts in cents", "[[keep-amounts]]"],
        "kind": "decision",
    }
    with pytest.raises(FrontMatterError, match="line 3"):
        yaml_subset.load("nested:\n  inner: 1")


@FEW
@given(st.text())
def test_any_front_matter_is_read_or_refused(text: str) -> None:
    try:
        yaml_subset.load(text)
    except FrontMatterError:
        return


def test_a_changed_record_is_not_ours() -> None:
    record = signed(make_record(), KEY)
    for changed in (
        record.model_copy(update={"memory": record.memory.model_copy(update={"confidence": 1.0})}),
        record.model_copy(update={"uid": OTHER}),
        record.model_copy(update={"signature": ""}),
        record.model_copy(update={"project": SHOP.model_copy(update={"root": "/elsewhere"})}),
    ):
        assert not is_ours(changed, KEY)
    assert not is_ours(record, b"o" * 32)
    assert is_ours(parse_record(json.loads(json.dumps(as_json(record)))), KEY)


@pytest.mark.parametrize(
    "change",
    [
        {"confidence": 2},
        {"origin": "god"},
        {"kind": "nonsense"},
        {"created_at": float("inf")},
        {"scope": "user"},
        {"extra": 1},
        {"tags": "abc"},
        {"content": ["a"]},
    ],
)
def test_a_record_that_no_store_could_hold_is_refused(change: dict[str, object]) -> None:
    raw = as_json(make_record())
    raw["memory"] = raw["memory"] | change
    with pytest.raises(RecordError):
        parse_record(raw)


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    key = export_key(tmp_path)
    assert export_key(tmp_path) == key
    assert (tmp_path / "export.key").stat().st_mode & 0o777 == 0o600


RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{digit}" for name in ("com", "lpt") for digit in range(1, 10))}


@FEW
@given(texts(500), st.from_regex(r"[0-9a-f]{32}", fullmatch=True))
def test_a_name_is_safe_on_every_system(summary: str, uid: str) -> None:
    name = note_name(summary, uid)
    assert re.fullmatch(r"[\w-]+", name)
    assert len(name.encode()) < 120
    assert name == unicodedata.normalize("NFC", name)
    assert name.partition(".")[0] not in RESERVED
    assert not name.startswith("-")


def test_names_are_unique_in_any_case_and_stay() -> None:
    same = "0" * 8
    names = note_names({same + "a" * 24: "Use Tabs", same + "b" * 24: "use tabs", OTHER: "Straße"}, {})
    assert len({name.casefold() for name in names.values()}) == 3
    assert names[OTHER] == "strasse-11111111"
    assert note_names({OTHER: "Another summary"}, names)[OTHER] == names[OTHER]
