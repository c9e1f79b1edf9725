"""What a statement does to an earlier one, by the model that is shipped."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from bench import relation_unseen
from bench import relations as written
from subconscious.domain.model import Relation
from subconscious.embeddings.local import LocalEmbedder
from subconscious.supersession.pair_comparison import ENDS, REPLACES, SAME_SURE, compared
from subconscious.supersession.pair_model import relations
from subconscious.text.claims import replaces

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
        ("carts moved to postgres last night", "redis holds the carts"),
    ],
)
def test_what_holds_instead_replaces(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relation(new, old, embedder) is Relation.REPLACES


def test_what_only_lifts_a_ban_ends_it(embedder: LocalEmbedder) -> None:
    new, old = "the auditors have left, ledger changes are ok again", "no ledger changes while the auditors are here"
    assert relation(new, old, embedder) is Relation.ENDS


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("prod is on mysql 5", "staging runs mysql 8"),
        ("the mobile app is in flutter", "the admin panel is in angular"),
        ("fridays the import runs at 14h", "mondays the import runs at 10h"),
        ("reports older than a year are deleted", "reports are sent as pdf"),
        ("run the linter", "run the linter before each commit"),
        ("we moved off Kafka last month", "Don't use Kafka for events."),
        ("the queue feeds the index", "the index feeds the queue"),
        ("keep branch names short", "keep branches short"),
    ],
)
def test_look_alikes_are_neither(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relation(new, old, embedder) is Relation.NEITHER


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("we settled on a fixed lock order: catalog first, then shard", "the importer keeps a copy, refreshed at noon"),
        ("we pin every tool to an exact version from here on", "cashiers wear gloves, nothing tappable is below 18 mm"),
        ("the nightly report moved to monday", "staging gets wiped on sundays"),
        ("no, the poster stays black and white, we agreed on that", "greyed-out days aren't always sold out"),
        ("a stitch file has at most 65535 stitches", "the bootloader slot is 48k, hard limit"),
    ],
)
def test_statements_about_other_things_are_neither(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relations(new, [old], embedder) == [Relation.NEITHER]


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
@pytest.mark.slow
def test_look_alikes_are_never_the_same(name: str, embedder: LocalEmbedder) -> None:
    rows = (line.split("\t") for line in (DATA / f"same_statement_{name}.tsv").read_text().splitlines())
    apart = [row for row in rows if row[0] == "apart"][:LOOK_ALIKES]
    joined = [row for row in apart if relation(row[3], row[2], embedder) is Relation.SAME]
    assert apart
    assert not joined


@pytest.mark.parametrize(
    ("new", "old", "cosine", "open_"),
    [
        ("inject what you need", "no module globals", 0.4, True),
        ("amounts are ints, no floats", "amounts are floats", 0.8, False),
    ],
)
def test_a_denial_rules_the_same_out_where_most_words_agree(new: str, old: str, cosine: float, open_: bool) -> None:
    for later, earlier in ((new, old), (old, new)):
        assert compared(later, earlier, cosine).may_be_same() is open_


def test_near_copies_may_be_the_same_unless_they_differ_in_what_counts() -> None:
    old = "Sessions must be closed with close() when done."
    turned = compared("Call close() when you are done with a session.", old, 0.9)
    assert turned.may_be_same()
    assert turned.bar() == SAME_SURE
    for new in (
        "Sessions must not be closed with close() when done.",
        "Sessions are closed with stop() when done.",
    ):
        assert not compared(new, old, 0.95).may_be_same(), new


@pytest.mark.parametrize("new", ["forget about conventional commits", "conventional commits are no longer needed"])
def test_an_end_does_not_say_the_same(new: str) -> None:
    assert not compared(new, "use conventional commits", 0.8).may_be_same()


def test_the_end_of_what_holds_for_a_time_needs_less_evidence() -> None:
    new = "the sandbox answers again"
    assert compared(new, "mock payments until the sandbox is back", 0.5).replacing_bar() == ENDS
    assert compared(new, "mock payments in tests", 0.5).replacing_bar() == REPLACES
    assert ENDS < REPLACES


def test_there_are_written_pairs_of_every_sort() -> None:
    marks = [pair.mark for pair in written.written()]
    assert marks.count("=") >= 250
    assert marks.count(">") >= 250
    assert marks.count("!") + marks.count("x") >= 250
    assert marks.count("~") >= 450


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Remember: without a VPN the deploy does not work.", "Remember: without a VPN the deploy works."),
        ("The nightly job never locks the table.", "The nightly job locks the table."),
    ],
)
def test_the_contrary_in_the_same_words_is_not_the_same(new: str, old: str) -> None:
    for later, earlier in ((new, old), (old, new)):
        assert not compared(later, earlier, 0.97).may_be_same()


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The glaze number 16 wants 16 hours in the kiln.", "The glaze number 3 wants 3 hours in the kiln."),
        ("Step 4 runs on the small machine.", "Step 2 runs on the large machine."),
        ("ticket #12 waits for Ana", "ticket #7 waits for Ben"),
    ],
)
def test_what_is_counted_is_apart(new: str, old: str) -> None:
    seen = compared(new, old, 0.9)
    assert not seen.may_be_same()
    assert not seen.may_replace()


def test_another_value_of_the_same_may_replace() -> None:
    assert compared("The timeout of step 2 is 10 s.", "The timeout of step 2 is 5 s.", 0.9).may_replace()


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("the swiss shop shows prices without vat", "the german shop shows prices with vat"),
        ("rev b board runs at 64 mhz", "rev a board runs at 48 mhz"),
        ("the geocoder listens on 8089", "the tile server listens on 8088"),
    ],
)
def test_entries_of_one_list_replace_each_other_by_no_rule_and_no_model(
    new: str, old: str, embedder: LocalEmbedder
) -> None:
    assert not replaces(new, old)
    assert relation(new, old, embedder) is Relation.NEITHER


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("amounts -> Decimal, no floats", "use decimal for amounts"),
        ("no exported function without a unit test", "every exported function needs a unit test"),
    ],
)
def test_what_is_rejected_beside_the_choice_and_what_is_denied_twice_is_no_denial(new: str, old: str) -> None:
    assert not compared(new, old, 0.8).denies
    assert not compared(old, new, 0.8).denies


def test_one_word_exchanged_needs_more_evidence_and_rules_the_same_out_among_many() -> None:
    few = compared("the search folks sit in lisbon", "The search team is in Lisbon.", 0.7)
    assert few.exchanged
    assert few.may_be_same()
    assert few.bar() == SAME_SURE
    many = compared(
        "the nightly job copies invoices to the archive disk", "the nightly job copies invoices to the backup disk", 0.9
    )
    assert many.exchanged
    assert not many.may_be_same()


def test_a_word_that_is_added_needs_more_evidence() -> None:
    assert compared("keep branch names short", "keep branches short", 0.8).bar() == SAME_SURE


def test_a_reminder_is_no_part_of_what_it_repeats(embedder: LocalEmbedder) -> None:
    old = "never edit theme files by hand"
    for new in ("i said it before, no edits to theme files by hand", "again: no edits to theme files by hand pls"):
        assert relation(new, old, embedder) is Relation.SAME, new


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("the freeze isn't over yet", "merge freeze until the release is out"),
        ("the router refactoring is almost done", "no new endpoints while the router refactoring is going on"),
        ("For production we use Postgres.", "For tests we use SQLite."),
        ("We support Firefox.", "We support Chrome."),
        ("we decided against replacing redis streams", "the worker queue runs on redis streams"),
        ("nobody replaced redis streams in the queue", "the worker queue runs on redis streams"),
        ("we were never going to replace redis streams", "the worker queue runs on redis streams"),
        ("wir haben Redis nicht ersetzt", "die Queue läuft auf Redis"),
        ("no hemos cambiado Redis", "la cola usa Redis"),
        ("in the admin panel we replaced moment with date-fns", "we use moment for dates"),
    ],
)
def test_what_is_not_over_and_what_holds_beside_it_is_not_replaced(new: str, old: str) -> None:
    assert not compared(new, old, 0.6).may_replace()


@pytest.mark.parametrize(
    "new",
    [
        "nobody liked it, so we replaced redis streams with nats",
        "we no longer use redis streams, nats replaced them",
        "we're replacing redis streams with nats",
        "we switched the queue to nats, redis was not fast enough",
    ],
)
def test_a_change_beside_a_denial_may_replace(new: str) -> None:
    assert compared(new, "the worker queue runs on redis streams", 0.6).may_replace()


def test_the_pairs_that_check_the_model_are_not_trained_on() -> None:
    trained = {(one.new, one.old) for one in written.written()}
    unseen = {(one.new, one.old) for one in written.written(relation_unseen.UNSEEN)}
    assert len(unseen) > 700
    assert not trained & unseen


def test_a_check_of_unseen_pairs_counts_by_mark(embedder: LocalEmbedder) -> None:
    repeat = written.Pair("css is written with sass", "we write our css in Sass", written.SAME, "a0", "=")
    look_alike = written.Pair("run the linter", "run the linter before each commit", written.NEITHER, "a1", "~")
    lines = list(relation_unseen.report(relation_unseen.decisions([repeat, look_alike], embedder)))
    assert "= same (1 pairs): same 1, replaces 0, ends 0, may replace 0, neither 0" in lines
    assert "~ neither (1 pairs): same 0, replaces 0, ends 0, may replace 0, neither 1" in lines


@pytest.mark.parametrize(
    "said",
    [
        ("не трогать папку миграций", "деплой только по вторникам", "используй pnpm, не npm"),
        ("არ შეეხო მიგრაციების საქაღალდეს", "დეპლოი მხოლოდ სამშაბათს", "უპასუხე მოკლედ"),
        ("لا تلمس مجلد الترحيلات", "النشر يوم الثلاثاء فقط", "أجب باختصار"),
        ("마이그레이션 폴더는 건드리지 마", "배포는 화요일에만", "답변은 짧게"),
        ("xqzt", "xqzu", "zkqwxv plrmtn"),
        ("csak kedden telepítünk", "ne nyúlj a migrációs mappához", "válaszolj röviden"),
        ("mọi số tiền tính bằng xu", "đừng đụng vào thư mục migrations", "trả lời ngắn gọn"),
        ("älä koske migraatiokansioon", "käytä pnpm:ää, ei npm:ää", "vastaa lyhyesti"),
    ],
)
def test_statements_that_the_model_cannot_read_are_never_one(said: tuple[str, ...], embedder: LocalEmbedder) -> None:
    for new, old in permutations(said, 2):
        assert relations(new, [old], embedder) == [Relation.NEITHER]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("node 2 runs on port 8082", "node 1 runs on port 8081"),
        ("phase 2 is done", "phase 1 is done"),
        ("region 2 has 5 replicas", "region 1 has 3 replicas"),
        ("room 12 is the server room", "server 2 is in paris"),
        ("the board 3 is broken", "board 2 is broken"),
        ("parallel fact number 4 is about topic 4", "parallel fact number 3 is about topic 3"),
    ],
)
def test_what_is_said_of_another_numbered_thing_replaces_nothing(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relations(new, [old], embedder) == [Relation.NEITHER]
    assert not replaces(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("node 1 runs on port 8082", "node 1 runs on port 8081"),
        ("we deploy on node 20", "we deploy on node 18"),
        ("we keep 5 replicas", "we keep 3 replicas"),
    ],
)
def test_another_number_of_the_same_thing_replaces_the_earlier_one(new: str, old: str) -> None:
    assert replaces(new, old)


@pytest.mark.parametrize(
    ("new", "old"), [("12 30", "19"), ("1.5", "use 1.5"), ("\u2192", "deploys go through Jenkins")]
)
def test_a_text_without_words_repeats_and_replaces_nothing(new: str, old: str, embedder: LocalEmbedder) -> None:
    assert relations(new, [old], embedder) == [Relation.NEITHER]
    assert not replaces(new, old)
