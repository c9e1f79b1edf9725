"""What a statement does to an earlier one, by the model that is shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import relations as written
from subconscious.capture.relation import Relation, relations
from subconscious.embeddings.local import LocalEmbedder

DATA = Path(__file__).parent / "data"
LOOK_ALIKES = 120
"""Pairs of each set that are compared: all would take half a minute."""


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def relation(new: str, old: str, embedder: LocalEmbedder) -> Relation:
    return relations(new, [old], embedder)[0]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("feature switches are kept in configcat", "our feature flags live in ConfigCat"),
        ("css is written with sass", "we write our css in Sass"),
    ],
)
def test_free_paraphrases_say_the_same(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relation(new, old, embedder) is Relation.SAME


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("the auditors have left, ledger changes are ok again", "no ledger changes while the auditors are here"),
        ("carts moved to postgres last night", "redis holds the carts"),
    ],
)
def test_what_holds_instead_replaces(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relation(new, old, embedder) is Relation.REPLACES


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("prod is on mysql 5", "staging runs mysql 8"),
        ("the mobile app is in flutter", "the admin panel is in angular"),
        ("fridays the import runs at 14h", "mondays the import runs at 10h"),
        ("reports older than a year are deleted", "reports are sent as pdf"),
        ("run the linter", "run the linter before each commit"),
        ("we moved off Kafka last month", "Don't use Kafka for events."),
    ],
)
def test_look_alikes_are_neither(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relation(new, old, embedder) is Relation.NEITHER


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("no passwords in yaml, take them from vault", "passwords come from vault, nothing in yaml files"),
        ("gateway is offline from 21h till 7h", "The gateway is only up between 7 and 21."),
    ],
)
def test_a_denial_on_both_sides_and_equal_amounts_rule_nothing_out(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relation(new, old, embedder) is Relation.SAME


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("every function has a docstring", "dont write docstrings"),
        ("no squashing, keep every commit", "squash merges"),
        ("lib/api is still generated", "everything in lib/api is generated, don't edit"),
        ("コミットメッセージは英語で書く", "コミットメッセージは日本語で書く"),
    ],
)
def test_what_denies_what_persists_and_what_cannot_be_read_is_neither_the_same_nor_lost(
    new: str, old: str, embedder: LocalEmbedder
) -> None:
    assert relation(new, old, embedder) is not Relation.SAME
    if "still" in new:
        assert relation(new, old, embedder) is Relation.NEITHER


@pytest.mark.parametrize("name", ["held_out", "development_4", "swaps"])
def test_look_alikes_are_never_the_same(name: str, embedder: LocalEmbedder) -> None:
    rows = (line.split("\t") for line in (DATA / f"same_statement_{name}.tsv").read_text().splitlines())
    apart = [row for row in rows if row[0] == "apart"][:LOOK_ALIKES]
    joined = [row for row in apart if relation(row[3], row[2], embedder) is Relation.SAME]
    assert apart
    assert not joined


def test_there_are_written_pairs_of_every_sort() -> None:
    marks = [pair.mark for pair in written.written()]
    assert marks.count("=") >= 250
    assert marks.count(">") >= 250
    assert marks.count("!") + marks.count("x") >= 250
    assert marks.count("~") >= 450
