"""Changing the words that are stored, wherever they stand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subconscious.redaction import redact
from subconscious.settings.home import Home
from subconscious.store import purge, text_columns
from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate
from subconscious.store.purge_selection import PURGED, SHORTEST, Wordings

SECRET = "kzq12wmx"
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | st.just(f"password = '{SECRET}'"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("password"), inner),
    max_leaves=12,
).filter(lambda value: isinstance(value, list | dict))


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    home.make()
    database = await open_database(home.database)
    await migrate(database)
    yield database
    await database.close()


def clean(text: str) -> str:
    return redact(text).text


@settings(deadline=None)  # the first call compiles the rules
@given(JSON)
def test_json_stays_json_and_loses_the_secret(value: Any) -> None:
    changed = text_columns.change_text(json.dumps(value), clean)
    assert type(json.loads(changed)) is type(value)
    assert f"'{SECRET}'" not in changed


@given(st.text())
def test_what_has_no_secret_stays_to_the_letter(text: str) -> None:
    spaced = f'{{"a":   {json.dumps(text)}}}'
    if clean(text) == text and clean(spaced) == spaced:
        assert text_columns.change_text(spaced, clean) == spaced


def test_a_name_tells_of_its_value() -> None:
    assert text_columns.change_text(json.dumps({"password": SECRET}), clean) == '{"password": "[redacted: password]"}'


def test_a_key_of_an_object_loses_its_secret() -> None:
    value = {"vars": {"kzq \u00fc1": 1, "plain": 2}}
    changed = text_columns.change_text(json.dumps(value), lambda text: text.replace("kzq \u00fc1", "[gone]"))
    assert json.loads(changed) == {"vars": {"[gone]": 1, "plain": 2}}


@pytest.mark.parametrize("ending", ["PASSWORD = `", "PASSWORD=\\"])
def test_a_text_that_seems_to_go_on_in_the_next_field_hides_no_other_secret(ending: str) -> None:
    value = {"said": ending, "path": "/kiln/x1@2!/a.jsonl", "input": {"password": SECRET, "n": 1}}
    changed = text_columns.change_text(json.dumps(value, separators=(",", ":")), clean)
    assert json.loads(changed) == value | {"input": {"password": "[redacted: password]", "n": 1}}


ENDINGS = ("We never log the password", "/etc/passwd", "Ask Ana for the passphrase", "Kein Passwort", "mot de passe")


@pytest.mark.parametrize("words", [*ENDINGS, "run it with --password", "Rotate the API token", "GITHUB_TOKEN"])
def test_words_that_end_with_the_name_of_a_secret_do_not_make_one_of_what_follows(words: str) -> None:
    event = {"content": words, "origin": "user", "tags": json.dumps([words, "github.event.pull_request.*"])}
    for column, value in (("after", event), ("tags", [words, "github.event.pull_request.*", "sync.yml"])):
        text = json.dumps(value)
        assert text_columns.change_column(column, text, clean) == text


def test_our_own_json_loses_its_secrets_and_keeps_its_keys() -> None:
    said = f"We never log the password = '{SECRET}'"
    event = {"content": said, "origin": "user", "db_password": SECRET, "tags": json.dumps([said]), "password": [SECRET]}
    changed = text_columns.change_column("after", json.dumps(event), clean)
    assert json.loads(changed).keys() == event.keys()
    assert json.loads(changed)["origin"] == "user"
    assert SECRET not in changed


@settings(deadline=None)  # the first call compiles the rules
@given(JSON)
def test_our_own_json_stays_json_and_loses_the_secret(value: Any) -> None:
    changed = text_columns.change_column("after", json.dumps(value), clean)
    assert type(json.loads(changed)) is type(value)
    assert f"'{SECRET}'" not in changed


async def test_every_table_with_words_is_known(database: Database) -> None:
    """Found from the schema: a table that comes with another migration is among them by itself."""
    async with database.write() as tx:
        await tx.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, memory_id INTEGER, words TEXT, status TEXT)")
    found = {table.name: table.words for table in await text_columns.tables(database)}
    assert found["notes"] == ("words",)
    assert {"summary", "content", "rationale", "evidence", "intent", "tags", "files"} <= set(found["memories"])
    assert {"summary", "content", "evidence", "reason"} <= set(found["implicit_captures"])
    assert {"reason", "before", "after"} <= set(found["events"])
    assert set(purge.STORY_COLUMNS) | {"tags"} <= set(found["sessions"])
    assert "text" in found["prompts"]
    assert "state" in found["transcripts"]
    assert not {"memories_fts", "redactions", "schema_migrations"} & found.keys()
    for table in found:
        assert not {"id", "capture_key", "content_hash", "session_id"} & set(found[table])


async def test_a_table_is_gone_through_by_its_keys(database: Database) -> None:
    async with database.write() as tx:
        for number in range(5):
            await tx.execute(
                "INSERT INTO prompts VALUES (?, ?, 0, ?, 0, '')", (f"s{number % 2}", f"p{number}", "words")
            )
    (table,) = [table for table in await text_columns.tables(database) if table.name == "prompts"]
    seen: list[tuple[Any, ...]] = []
    while batch := await text_columns.page(database.reader, table, seen[-1] if seen else (), 2):
        seen += [row.key for row in batch]
    assert seen == [("s0", "p0"), ("s0", "p2"), ("s0", "p4"), ("s1", "p1"), ("s1", "p3")]


WORDS = st.text(alphabet="ab ", min_size=SHORTEST, max_size=30)


@given(
    st.lists(WORDS, min_size=1, max_size=4), st.text(alphabet="ab c", max_size=40), st.text(alphabet="ab c", max_size=9)
)
def test_no_wording_is_left_whole(texts: list[str], before: str, after: str) -> None:
    wordings = Wordings(texts)
    for text in wordings.texts:
        erased = wordings.erase(before + text + after)
        assert PURGED in erased
        assert not any(other in part for other in wordings.texts for part in erased.split(PURGED))


def test_what_shares_a_part_is_known_and_the_rest_stays() -> None:
    wordings = Wordings(["We decided to keep the ledger in cents.", "short"])
    assert wordings.texts == ("We decided to keep the ledger in cents.",)
    assert wordings.shares("Title: we talked. decided to keep the ledger")
    assert not wordings.shares("We decided to sort the list.")
    assert wordings.erase("short and sweet") == "short and sweet"
