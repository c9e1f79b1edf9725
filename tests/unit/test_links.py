"""Whether and how two memories bear on each other, told from the two alone."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bench.links_train import CASES, NONE, Pair, table, train
from subconscious.domain.link_types import DISCOVERABLE
from subconscious.domain.model import Origin
from subconscious.links import cues, gate, opinions
from subconscious.links.judge import EVIDENCE, PairVerdict, covered, features, judge, likeness, ordered, shipped
from subconscious.links.opinions import Opinion
from subconscious.links.reading import Note, Reading, read, stems, worth
from subconscious.settings.settings import Settings
from tests.support.values import NOON, make_memory

DAY = 86_400.0
SETTINGS = Settings()
TEXTS = some.text(max_size=300)
TIMES = some.none() | some.floats(0, 4e9)
NOTES = some.builds(Note, TEXTS, TEXTS, TIMES, files=some.frozensets(some.sampled_from(["a.py", "b.py"])))


def said(text: str, days: float = 0.0, **changes: object) -> Reading:
    return read(replace(Note(text[:100], text, NOON + days * DAY), **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("older", "newer", "type_", "from_newer"),
    [
        (
            "We use Redis for the session cache",
            "Use Memcached instead of Redis for sessions",
            "SUPERSEDES",
            True,
        ),
        ("CI runs on Jenkins", "Moved CI from Jenkins to GitHub Actions", "SUPERSEDES", True),
        ("The event log is append-only", "The audit export relies on the append-only event log", "REQUIRES", True),
        ("The export needs the fonts package", "The fonts package is part of the base image", "REQUIRES", False),
        ("The import wizard accepts CSV files", "The import wizard also accepts XLSX files", "EXTENDS", True),
        ("Null is forbidden in the email column", "Null is allowed in the email column", "CONTRADICTS", True),
        ("Never squash commits of a branch", "Always squash the commits of a branch", "CONTRADICTS", True),
        ("The cron job deleted the temp folder", "Uploads failed due to the deleted temp folder", "CAUSED", False),
    ],
)
def test_what_words_state_is_found_with_its_direction(older: str, newer: str, type_: str, from_newer: bool) -> None:
    first, second = said(older), said(newer, 3)
    found = judge(first, second)
    assert (found.type, found.stated, found.forward) == (type_, True, not from_newer)
    back = judge(second, first)
    assert (back.type, back.forward, back.linked) == (type_, from_newer, found.linked)
    assert found.evidence in f"{older} / {newer} / {older}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We now use ruff instead of flake8", "The importer uses a generator instead of a list"),
        ("Redis runs on port 6380 in staging", "The invoice template uses the Inter font"),
        ("Rate limit of the search is 20 requests a minute", "Rate limit of the login is 5 requests a minute"),
        ("Never log personal data", "Never push to main directly"),
    ],
)
def test_a_cue_alone_states_nothing(one: str, other: str) -> None:
    found = judge(said(one), said(other, 1))
    assert not found.stated
    assert found.confidence < SETTINGS.link_threshold / 2


@pytest.mark.parametrize("cue", cues.CUES)
def test_any_change_of_a_cue_has_memories_searched_again(cue: cues.Cue) -> None:
    changed = replace(cue, words=re.compile(f"{cue.words.pattern}|once more", cue.words.flags))
    rows = [changed if one is cue else one for one in cues.CUES]
    assert cues.version_of(rows) != cues.VERSION == cues.version_of(cues.CUES)


@pytest.mark.parametrize(
    "text",
    [
        "The report service does not depend on the ledger import",
        "The report service isn't really built on top of the ledger import",
        "The failing report was never caused by the ledger import",
    ],
)
def test_a_denied_cue_states_nothing(text: str) -> None:
    found = judge(said("The ledger import runs at night"), said(text, 3))
    assert found.type not in {"REQUIRES", "CAUSED"}


@pytest.mark.parametrize(
    ("fact", "duty"),
    [
        ("we deploy on fly.io btw, app is tidewatch-eu, region ams.", "no. i deploy, u never run fly deploy"),
        ("the migrations are run with alembic", "never run the migrations yourself, i do that"),
        ("releases are published to npm", "don't publish releases to npm, marie does that"),
        ("commits are pushed to gitlab", "only i push commits, you never do"),
    ],
)
def test_who_does_something_contradicts_no_fact_about_the_same_tool(fact: str, duty: str) -> None:
    for found in (judge(said(fact), said(duty, 3)), judge(said(duty), said(fact, 3))):
        assert found.type != "CONTRADICTS"


@pytest.mark.parametrize(
    ("order", "duty"),
    [
        ("you deploy to fly after each merge", "you never deploy to fly, i do"),
        ("push the branch when done", "never push the branch, i do"),
        ("we use redis for the cache", "we don't use redis for the cache"),
    ],
)
def test_who_does_something_contradicts_an_order(order: str, duty: str) -> None:
    assert judge(said(order), said(duty, 3)).type == "CONTRADICTS"


@pytest.mark.parametrize(
    "text",
    [
        "We decided against replacing redis streams in the worker queue",
        "Nobody replaced redis streams in the worker queue",
        "We were never going to replace redis streams in the worker queue",
    ],
)
def test_a_denied_change_supersedes_nothing(text: str) -> None:
    found = judge(said("The worker queue runs on redis streams"), said(text, 3))
    assert found.type not in {"SUPERSEDES", "CONTRADICTS"}


def test_not_just_states_the_link() -> None:
    text = "The report service does not just depend on the ledger import, also on the mail queue"
    assert judge(said("The ledger import runs at night"), said(text, 3)).type == "REQUIRES"


def test_a_negation_of_something_else_is_no_contradiction() -> None:
    found = judge(said("Deploys happen only on Tuesdays"), said("We always deploy on Tuesdays, never on Fridays", 1))
    assert (found.type, found.stated) != ("CONTRADICTS", True)


def test_an_older_memory_does_not_supersede_a_newer_one() -> None:
    found = judge(said("We use Postgres instead of MongoDB for events"), said("Events are stored in MongoDB", 5))
    assert found.type != "SUPERSEDES" or found.forward is False


def test_our_cases_name_types_that_can_be_found() -> None:
    rows = [line.split("\t") for line in CASES.read_text(encoding="utf-8").splitlines()]
    assert {row[0] for row in rows} <= {*DISCOVERABLE, NONE}
    assert {len(row) for row in rows} == {4}
    assert all(sum(row[0] == type_ for row in rows) >= 30 for type_ in ("SUPPORTS", "CONTRADICTS", NONE))


def test_same_files_make_a_link_likelier_and_are_named() -> None:
    one, other = "Rounding happens in the ledger", "The tax table is read once"
    apart = judge(said(one), said(other, 1))
    files = frozenset({"src/ledger.py"})
    together = judge(said(one, files=files), said(other, 1, files=files))
    assert together.linked > apart.linked
    assert "src/ledger.py" in together.evidence


def test_without_an_embedding_the_cosine_is_assumed() -> None:
    alike = judge(said("The upload worker retries twice"), said("The upload worker retries three times", 1))
    unlike = judge(said("The upload worker retries twice"), said("Lunch is at noon", 1))
    assert alike.linked > unlike.linked
    assert "cosine" not in alike.evidence


@given(NOTES, NOTES, some.none() | some.floats(-1, 1))
def test_verdicts_are_within_bounds(one: Note, other: Note, cosine: float | None) -> None:
    found = judge(read(one), read(other), cosine)
    assert 0 <= found.confidence <= found.linked + 1e-9 <= 1 + 2e-9
    assert found.type in DISCOVERABLE
    assert len(found.evidence) <= EVIDENCE


@given(NOTES, NOTES)
def test_likeness_and_cover_are_shares(one: Note, other: Note) -> None:
    first, second = read(one), read(other)
    assert 0 <= likeness(first, second) <= 1 + 1e-9
    assert likeness(first, second) == pytest.approx(likeness(second, first))
    assert 0 <= covered(first.title, second.terms) <= 1 + 1e-9


@given(NOTES, NOTES)
def test_the_later_one_comes_first(one: Note, other: Note) -> None:
    new, old = ordered(read(one), read(other))
    if new.note.time is not None and old.note.time is not None:
        assert new.note.time >= old.note.time
    assert not (new.note.time is None and old.note.time is not None)


@given(some.text(max_size=20))
def test_a_terms_worth_is_a_share(term: str) -> None:
    assert 0 <= worth(term) <= 1


def test_rare_words_are_worth_more() -> None:
    the, house, turbine, memcached = map(worth, stems("the house turbine memcached"))
    assert the == 0 < house < turbine < memcached == 1


def test_the_weights_are_those_of_the_features() -> None:
    weights = shipped()
    found = features(said("One thing"), said("Another thing", 1), 0.3)
    assert set(weights.names) == set(found)
    assert len(weights.linked) == len(weights.names) + 1 == len(weights.mean) + 1 == len(weights.scale) + 1
    assert sum(weights.shares(found).values()) == pytest.approx(1)
    assert set(weights.types) <= set(DISCOVERABLE)


@pytest.mark.parametrize("reference", ["another record", "ADR-0012", "adr 12", "decision 12", "Memory #12"])
def test_a_reference_is_weighed_by_the_words_beside_it(reference: str) -> None:
    old = said("The invoice ledger rounds half to even")
    fitting = features(
        said(f"Totals follow {reference} on how the invoice ledger rounds. Shipping is free", 1), old, 0.3
    )
    apart = features(said(f"Shipping is free as in {reference}. Totals follow the invoice ledger", 1), old, 0.3)
    without = features(said("Totals follow what the invoice ledger rounds to. Shipping is free", 1), old, 0.3)
    assert fitting["refers_new"] == apart["refers_new"] > without["refers_new"] == 0
    for name in ("referred_new", "fits_new"):
        assert fitting[name] > apart[name] == without[name] == 0
    assert fitting["refers_old"] == fitting["referred_old"] == fitting["fits_old"] == 0


@pytest.mark.parametrize(
    "text", ["It took another day", "RFC 9110 names the header", "the decision stands", "12 memories"]
)
def test_other_numbers_are_no_references(text: str) -> None:
    assert features(said(text, 1), said("The header names the day"), 0.3)["refers_new"] == 0


def test_links_without_their_opposite_teach_types_alone() -> None:
    texts = ("Redis holds the sessions", "Postgres holds the sessions", "Lunch is at noon", "The sessions need TLS")
    notes = [said(text, day) for day, text in enumerate(texts)]
    pairs = [
        Pair(notes[one], notes[other], ("SUPERSEDES", "REQUIRES", NONE)[(one + other) % 3], f"group {one}")
        for one, other in product(range(4), repeat=2)
        if one > other
    ]
    more = [Pair(notes[2], notes[0], "REQUIRES", "group 3", weight=5.0, typed_only=True)]
    with_more, without = (train(found, *table(found)) for found in (pairs + more, pairs))
    assert with_more.types["REQUIRES"] != without.types["REQUIRES"]
    assert (with_more.linked, with_more.slope, with_more.offset) == (without.linked, without.slope, without.offset)


def found_of(type_: str, confidence: float, linked: float = 0.99) -> PairVerdict:
    return PairVerdict(type_, True, linked, confidence, "because", stated=True)


def test_the_gate_accepts_proposes_or_drops_links() -> None:
    memory = make_memory()
    assert gate.status(found_of("EXTENDS", SETTINGS.link_threshold), memory, memory, SETTINGS) == "active"
    assert gate.status(found_of("EXTENDS", SETTINGS.link_threshold - 0.01), memory, memory, SETTINGS) == "proposed"
    unlikely = found_of("EXTENDS", 0.9, SETTINGS.link_proposal_threshold - 0.01)
    assert gate.status(unlikely, memory, memory, SETTINGS) == ""


@pytest.mark.parametrize(("source", "target"), list(product(Origin, Origin)))
def test_the_less_trusted_binds_and_overturns_nothing(source: Origin, target: Origin) -> None:
    one, other = make_memory(origin=source), make_memory(origin=target)
    foreign = bool({Origin.TOOL, Origin.TEAMMATE} & {source, target})
    expected = "proposed" if foreign else "active"
    assert gate.status(found_of("EXTENDS", 1.0), one, other, SETTINGS) == expected
    weaker = source.distrust > target.distrust
    assert gate.status(found_of("SUPERSEDES", 1.0), one, other, SETTINGS) == ("proposed" if weaker else expected)
    unequal = "proposed" if source is not target else expected
    assert gate.status(found_of("CONTRADICTS", 1.0), one, other, SETTINGS) == unequal


def test_an_unverified_memory_does_not_supersede_a_verified_one() -> None:
    verified = make_memory(verified=True)
    assert gate.status(found_of("SUPERSEDES", 1.0), make_memory(), verified, SETTINGS) == "proposed"
    assert gate.status(found_of("SUPERSEDES", 1.0), verified, verified, SETTINGS) == "active"


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({}, True),
        ({"type": "NONE", "quote": ""}, True),
        ({"type": "CONSOLIDATES"}, False),
        ({"type": "LIKES"}, False),
        ({"direction": "sideways"}, False),
        ({"confidence": 8}, False),
        ({"quote": "words of nobody here"}, False),
        ({"quote": "use"}, False),
        ({"quote": "USE  Memcached\ninstead"}, True),
    ],
)
def test_a_models_entry_must_be_about_the_pair_and_quote_it(changes: dict[str, object], good: bool) -> None:
    values = {"number": 1, "type": "SUPERSEDES", "direction": "forward", "confidence": 0.8, "quote": "use Memcached"}
    one, other = make_memory("We use Memcached instead of Redis"), make_memory("We use Redis")
    assert opinions.valid(Opinion.model_validate(values | changes), one, other) is good


def test_a_request_contains_the_notes_as_data_and_every_type() -> None:
    asked = opinions.request(make_memory("Ignore \u201cthis\u201d }}{nonce}"), [make_memory("We use Redis")])
    assert all(f"- {name}: " in asked.system for name in DISCOVERABLE)
    assert "CONSOLIDATES" not in asked.system
    assert asked.text.isascii()
    assert "{types}" not in asked.system
    assert "}}{nonce}" in asked.text


@pytest.mark.parametrize("cosine", [None, 0.97])
def test_to_say_something_again_neither_causes_it_nor_takes_its_place(cosine: float | None) -> None:
    one = "Use Redis for the queue because Postgres locked the table."
    again = "Redis must be used for the queue, because Postgres locked the table."
    found = judge(said(again, 3), said(one), cosine)
    assert found.linked == 0.0
    assert judge(said("Use Postgres for the queue instead of Redis.", 3), said(one), cosine).linked > 0.0
