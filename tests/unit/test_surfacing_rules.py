"""The rules of surfacing that need no store: limits, files, errors, dates, marks, and what an answer used."""

from __future__ import annotations

from datetime import UTC, datetime
from time import time
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.capture import feedback
from subconscious.domain.hits import PRIORITY_WEIGHT, Hit
from subconscious.domain.model import Origin, Role, Turn
from subconscious.framing.rules import date_of, line_of
from subconscious.recall import usage
from subconscious.recall.file_binding import Touched, bond
from subconscious.recall.marks import WorktreeState, branch_factor, marks_of
from subconscious.store.receipts import Receipt
from subconscious.store.surfaces import Unjudged
from subconscious.surfacing.errors import fault_of, likeness
from subconscious.surfacing.limits import Given, Limits, Seen, room, sift
from subconscious.surfacing.receipts import day_of, remembered
from subconscious.text.due_dates import mentions_milestone, triggers_of
from tests.support.values import make_memory

ROOT = "/home/dev/shop"


def bound(file: str, path: str = "src/upload/worker.py", words: str = "", content: str = "It retries twice.") -> float:
    return bond(make_memory(content, files=(file,)), Touched(path, ROOT, words))


@pytest.mark.parametrize(
    "file",
    [
        "src/upload/worker.py",
        "./src/upload/worker.py:31",
        "/home/dev/shop/src/upload/worker.py",
        "/old/place/shop/src/upload/worker.py",  # the checkout has moved, or it is another worktree
        "upload/worker.py",
        "services/shop/src/upload/worker.py",
        "worker.py",
    ],
)
def test_a_memory_is_bound_to_its_file_however_it_names_it(file: str) -> None:
    assert bound(file) >= 0.6


@pytest.mark.parametrize(
    "file",
    [
        "src/billing/worker.py",
        "other/worker.py",
        "/home/dev/shop/lib/worker.py",  # the same name elsewhere in this very checkout
        "worker.pyi",
        "my_worker.py",
        "src/upload",
        "",
    ],
)
def test_it_is_not_bound_to_another(file: str) -> None:
    assert bound(file) == 0.0


def test_a_name_that_every_project_has_needs_words_as_well() -> None:
    said = "The exponential backoff of chunk uploads starts at two seconds."
    assert bound("index.ts", "web/index.ts", content=said) < 0.6
    assert bound("index.ts", "web/index.ts", "const backoff = exponential(chunk)", said) >= 0.6


def test_a_file_that_was_merely_changed_beside_others_binds_less() -> None:
    many = make_memory("It retries twice.", files=("a.py", "b.py", "c.py", "worker.py"))
    assert bond(many, Touched("src/worker.py", ROOT)) < 0.6
    told = make_memory("worker.py retries twice.", files=many.files)
    assert bond(told, Touched("src/worker.py", ROOT)) >= 0.6


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=200))
def test_no_path_breaks_a_bond(file: str, path: str, words: str) -> None:
    assert 0.0 <= bond(make_memory(file, files=(file,)), Touched(path, ROOT, words)) <= 1.0


REFUSED = "Exit code 1\nError: connect ECONNREFUSED 127.0.0.1:5433\n    at TCPConnectWrap.afterConnect"


def sure(content: str, output: str, kind: str = "dead_end") -> float:
    fault = fault_of(output)
    return likeness(make_memory(content, kind=kind), fault, set(fault.words))[0]


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("ECONNREFUSED on 5433 means that the test database is down: run make db.", REFUSED),
        ("TS2345 in the forms came from strict null checks.", "src/a.ts(3,1): error TS2345: Argument of type 'x'"),
        (
            "StaleTokenError after a deploy: the cache keeps the old signing key, restart the gateway.",
            "Traceback (most recent call last):\n  File 'x.py'\ngateway.auth.StaleTokenError: token of yesterday",
        ),
        (
            "The migration deadlocks with the nightly reindex, so a ValueError about the checksum of ledger pages.",
            "ValueError: checksum of ledger page 7 differs after reindex",
        ),
    ],
)
def test_an_error_that_is_known_is_recognised(content: str, output: str) -> None:
    assert sure(content, output) >= 0.6


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("Amounts are integer cents.", REFUSED),
        ("The connection pool holds ten.", REFUSED),
        ("A TypeError means that the form was empty.", "TypeError: undefined is not a function"),
        ("We read files line by line.", "Exit code 2\nls: cannot access 'nothing-here': No such file or directory"),
        ("The tests failed because of the fixture.", "FAILED tests/test_a.py::test_b - assert 1 == 2"),
    ],
)
def test_an_error_that_only_sounds_like_it_is_not(content: str, output: str) -> None:
    assert sure(content, output) < 0.6


def test_what_warns_comes_before_what_tells() -> None:
    said = "ECONNREFUSED on 5433 means that the test database is down."
    assert sure(said, REFUSED, "dead_end") > sure(said, REFUSED, "decision")


@given(st.text(max_size=6000))
def test_no_output_breaks_the_reading_of_errors(output: str) -> None:
    fault = fault_of(output)
    assert len(fault.terms) <= 32
    assert 0.0 <= likeness(make_memory(output[:300] or "x"), fault, set(fault.words))[0] <= 1.0


SAID = datetime(2026, 11, 4, 9, tzinfo=UTC).timestamp()  # a Wednesday


def dates(text: str) -> list[str]:
    found = [trigger.due_at for trigger in triggers_of(text, SAID)]
    return [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") for at in found if at is not None]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The freeze holds until 2026-12-01.", "2026-12-01"),
        ("The certificate expires on 3 March 2027.", "2027-03-03"),
        ("The certificate expires on the 1st of March 2027.", "2027-03-01"),
        ("After Dec 15th, 2026 the old API answers 410.", "2026-12-15"),
        ("We drop Node 18 at the end of January 2027.", "2027-01-31"),
        ("The contract ends in Q2 2027.", "2027-04-01"),
        ("Keep the shim until the end of Q1 2027.", "2027-03-31"),
        ("Freeze until March 3.", "2027-03-03"),
        ("Freeze until 20 November.", "2026-11-20"),
        ("Look at the flaky test again in two weeks.", "2026-11-18"),
        ("The demo is on Friday.", "2026-11-06"),
        ("The vendor is away until next month.", "2026-12-01"),
        ("No deploys before tomorrow.", "2026-11-05"),
        ("Keep it until the end of the next quarter.", "2027-03-31"),
        ("Das Zertifikat läuft am 3. März 2027 ab.", "2027-03-03"),
        ("Ab dem 1. Dezember antwortet die alte API mit 410.", "2026-12-01"),
        ("Le certificat est valable jusqu'au 1er février.", "2027-02-01"),
        ("A partir del 3 de enero usamos pnpm.", "2027-01-03"),
        ("O contrato vale até 3 de março de 2027.", "2027-03-03"),
    ],
)
def test_a_date_ahead_is_a_trigger(text: str, day: str) -> None:
    assert dates(text) == [day]


@pytest.mark.parametrize(
    "text",
    [
        "On 2026-10-01 we decided to use cents.",
        "The incident of 3 March 2025 came from the cache.",
        "Invoices are numbered 2026-13-40.",
        "It may take 3 seconds on a Friday deploy.",
        "The log file is app-2027-01-01.log.",
        "Amounts are integer cents.",
    ],
)
def test_what_lies_behind_or_is_none_is_no_trigger(text: str) -> None:
    assert triggers_of(text, SAID) == []


@pytest.mark.parametrize(
    ("said", "prompt"),
    [
        ("When we upgrade to Python 3.13, drop the typing backport.", "Let's upgrade the project to Python 3.13 today"),
        ("After the 2.0 release the v1 routes go.", "We released 2.0 this morning, what is left?"),
        ("Once Billing is migrated to Stripe, delete the PayPal code.", "we migrated billing to Stripe"),
    ],
)
def test_a_milestone_comes_about_in_a_prompt_that_tells_of_it(said: str, prompt: str) -> None:
    (milestone,) = [trigger.words for trigger in triggers_of(said, SAID) if trigger.due_at is None]
    assert mentions_milestone(milestone, prompt)
    assert not mentions_milestone(milestone, "upgrade the tests and release the lock")
    assert not mentions_milestone(milestone, "which Python 3.13, 2.0 or Stripe Billing do we have?")


@given(st.text(max_size=400), st.floats(0, 4e9))
def test_triggers_lie_ahead_whatever_is_said(text: str, said_at: float) -> None:
    for trigger in triggers_of(text, said_at):
        assert trigger.due_at is None or trigger.due_at > said_at - 86_400


RETRY = make_memory("The UploadWorker retries a chunk 4 times with 250 ms between, in upload/worker.py.", id=12)


def said(*texts: str) -> usage.Said:
    """Return what was said at the times 0, 1, ..."""
    return usage.Said((float(at), text) for at, text in enumerate(texts))


@pytest.mark.parametrize(
    "answer",
    [
        "As memory 12 says, so be it.",
        "It was settled before [12].",
        "UploadWorker waits 250 ms before it tries anew.",
        "It retries each chunk four times, 250 in between.",
    ],
)
def test_an_answer_that_uses_a_memory_is_an_echo(answer: str) -> None:
    assert usage.used(RETRY, said("why does it take so long?"), [said(answer)])


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("why is it slow?", "I will look at the tax table."),
        ("why is it slow?", "The list has rows[12] and more."),
        ("why does the UploadWorker wait 250 ms?", "The UploadWorker waits 250 ms."),  # that was in the question
        ("why is it slow?", ""),
    ],
)
def test_an_answer_that_does_not_is_none(asked: str, answer: str) -> None:
    assert not usage.used(RETRY, said(asked), [said(answer)])


def test_answers_are_read_once_for_all_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=usage._words_of)
    monkeypatch.setattr(usage, "_words_of", read)
    known = {number: make_memory(f"Part {number} lives in src/part{number}.py.", id=number) for number in range(1, 41)}
    turn = Turn(
        "t", "s", Role.ASSISTANT, Origin.ASSISTANT, "Read src/part7.py, part 7.", 11.0, "", 0, 0, commands=("ls",)
    )
    waiting = [Unjudged(number, number, "SessionStart", 10.0) for number in known]
    judged = feedback._weighed(waiting, known, [turn] * 5, "", final=True)
    assert [surface.id for surface, how in judged if how] == [7]
    assert len(judged) == 40
    assert read.call_count <= 10


def test_only_what_was_said_since_the_memory_was_shown_uses_it() -> None:
    answers = said("It was settled in [12].", "UploadWorker waits 250 ms.", "I will look at the tax table.")
    uses = [usage.used(RETRY, said("why?"), [answers], since) for since in (0.0, 1.0, 2.0)]
    assert uses == ["named by its number", "2 of its names and numbers", ""]


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_a_priority_stays_within_its_bounds_and_rises_with_every_response(
    used: int, repeated: int, violated: int
) -> None:
    value = usage.priority(used, repeated, violated)
    assert usage.priority() == 0.0
    assert value == pytest.approx(min(1.0, 0.1 * used + 0.1 * repeated + 0.2 * violated))
    assert all(
        value <= more <= 1.0
        for more in (
            usage.priority(used + 1, repeated, violated),
            usage.priority(used, repeated + 1, violated),
            usage.priority(used, repeated, violated + 1),
        )
    )


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_priority_weighs_the_rank_and_nothing_else(priority: float, rank: float, decay: float) -> None:
    hit = Hit(make_memory(), 0.7, decay, rank=rank, priority=priority)
    assert hit.score == pytest.approx(rank * decay * (1 + 0.15 * priority))
    assert abs(hit.score - rank * decay) <= PRIORITY_WEIGHT * rank * decay + 1e-12
    assert hit.relevance == 0.7


LIMITS = Limits(session=10, about=2, at_once=3, cooldown=300.0, relevance=0.6, kinds_off=("research",))


def hit(number: int, relevance: float = 0.8, **changes: object) -> Hit:
    return Hit(make_memory(f"Memory {number}.", id=number, **changes), relevance, 1.0)


@pytest.mark.parametrize(
    ("one", "seen", "why"),
    [
        (hit(1, 0.5), Seen("s"), "below"),
        (hit(1, kind="research"), Seen("s"), "switched off"),
        (hit(1), Seen("s", {hit(1).memory.content_hash}), "in the context"),
        (hit(1, session_id="s"), Seen("s"), "itself"),
        (hit(1), Seen("s", (), [Given(1, 900.0)]), "5 minutes"),
        (hit(1), Seen("s", (), [Given(1, 2000.0)]), "5 minutes"),  # the clock was set back
        (hit(1), Seen("s", (), [Given(number, 0.0) for number in range(2, 12)]), "memories (10)"),
        (hit(1), Seen("s", (), [Given(2, 0.0, "a.py"), Given(3, 0.0, "a.py")]), "this file (2)"),
    ],
)
def test_what_is_held_back_says_why(one: Hit, seen: Seen, why: str) -> None:
    sifted = sift([one], LIMITS, seen, 1000.0, "a.py")
    assert sifted.fit == ()
    assert why in sifted.held[0].why


def test_one_wording_is_given_once_however_many_memories_have_it() -> None:
    same = [hit(1), Hit(make_memory("Memory 1.", id=2, kind="lesson"), 0.8, 1.0)]
    sifted = sift(same, LIMITS, Seen("s"), 1000.0)
    assert [one.memory.id for one in sifted.fit] == [1]
    assert "same words" in sifted.held[0].why


@given(
    st.lists(st.tuples(st.integers(1, 30), st.floats(0, 1)), max_size=30),
    st.lists(st.tuples(st.integers(1, 30), st.floats(0, 2000), st.sampled_from(["", "a.py"])), max_size=12),
)
def test_no_limit_is_exceeded(found: list[tuple[int, float]], before: list[tuple[int, float, str]]) -> None:
    seen = Seen("s", (), [Given(*one) for one in before])
    sifted = sift([hit(number, relevance) for number, relevance in found], LIMITS, seen, 1000.0, "a.py")
    assert len(sifted.fit) <= room(LIMITS, seen, "a.py")
    assert len(sifted.fit) + len(before) <= max(10, len(before))
    assert all(one.relevance >= 0.6 for one in sifted.fit)
    assert not {one.memory.id for one in sifted.fit} & {number for number, at, _ in before if 1000.0 - at < 300.0}


def test_marks_tell_and_hide_nothing() -> None:
    memory = make_memory(id=3, branch="feature", files=("a.py",))
    assert marks_of(memory, "main") == ("on branch feature",)
    apart = WorktreeState({3: ("a.py",)}, apart=frozenset({(3, "main")}))
    assert marks_of(memory, "main", apart) == (
        "on branch feature, which is not merged here",
        "may be outdated: a.py changed since",
    )
    assert marks_of(memory, "main", WorktreeState(merged=frozenset({(3, "main")}))) == ()
    assert marks_of(memory, "feature", apart) == ("may be outdated: a.py changed since",)
    assert branch_factor(memory, "feature") > branch_factor(memory, "main") > branch_factor(memory, "main", apart)


def test_a_mark_can_not_end_its_line() -> None:
    memory = make_memory(id=3, files=("x",))
    (mark,) = marks_of(memory, "main", WorktreeState({3: ("a\n</subconscious-memory>",)}))
    assert "\n" not in mark
    assert "</subconscious-memory>" not in mark


CLONES = "The tests that fail are in a `tmp/clones/` directory, a clone that was left over."
IN_CLONES = (
    "error: Cannot find module 'x' from '/home/dev/shop/tmp/clones/a1/src/cart.test.ts'\n"
    "tmp/clones/a1/src/cart.test.ts:\n1 fail"
)


def about(content: str, output: str) -> float:
    return likeness(make_memory(content, kind="learning"), fault_of(output), ())[0]


def test_a_memory_about_failures_in_a_folder_is_about_an_error_there() -> None:
    assert about(CLONES, IN_CLONES) >= 0.6
    assert about(CLONES, IN_CLONES.replace("tmp/clones", "src/clones")) < 0.6
    assert about(CLONES, IN_CLONES.replace("tmp/clones", "old/tmp/clones-of")) < 0.6
    assert about("Carts are sorted in `tmp/clones/` by date.", IN_CLONES) < 0.6
    assert about(CLONES.replace("tmp/clones", "tmp"), IN_CLONES) < 0.6


def test_the_names_of_folders_are_searched_for_once_and_the_outer_ones_first() -> None:
    names = fault_of(f"{IN_CLONES}\nat lib/core/run.js:3").folder_names
    assert names[0] in {"home", "tmp", "lib"}
    assert {"tmp", "clones", "lib", "core"} <= {*names}
    assert len(names) == len({*names})


def test_what_a_wrong_clock_dated_ahead_is_dated_today() -> None:
    ahead = make_memory("Use tabs.", said_at=time() + 400 * 86_400)
    assert date_of(time()) in line_of(ahead, "main")
    assert date_of(1e9) == "2001-09-09"
    assert day_of(time() + 86_400 * 9, time()) == "today"
    assert day_of(time() - 86_400, time()) == "yesterday"


def test_a_receipt_names_one_replaced_memory_and_counts_the_others() -> None:
    one = Receipt(3, "Use tabs.", ("Use 4 spaces.", "Use 2 spaces."))
    told = 'Remembered: "Use tabs." (replaces "Use 4 spaces." and 1 more)'
    assert remembered([one]) == told
    assert remembered([one, Receipt(4, "No CRLF.", ("CRLF.",))]) == f'{told}, "No CRLF." (replaces 1 older)'
    assert len(remembered([Receipt(number, "x" * 300, ("y" * 300,)) for number in range(9)])) < 350
    assert remembered([Receipt(3, "Use tabs.")]) == 'Remembered: "Use tabs."'
