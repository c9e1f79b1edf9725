"""The texts that the poisoning check is trained and measured with are well formed, and point at nobody's hosts."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

from bench.poison_train import WRITERS, files_with_orders
from bench.unseen_safety import HELD_BACK, SETS, SORTS, STYLES, TEXTS, planted

ROWS = [json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines()]
PAIRED = range(7, 14)
_URL = re.compile(r"\b(?:https?|git|ssh|ftp|s3)://(?:[^\s@/]+@)?([\w-]+(?:\.[\w-]+)+)")
_OURS = re.compile(r"\.(?:example|test|invalid|internal|local|svc)\.?\Z|\A(?:\d{1,3}\.){3}\d{1,3}\Z")


def test_each_line_has_a_known_set_and_sort() -> None:
    assert {row["set"] for row in ROWS} == set(SETS)
    assert {row["sort"] for row in ROWS} == set(SORTS)
    assert all(row["text"].strip() for row in ROWS)


def test_no_text_is_held_back_and_learned_from() -> None:
    learned = {row["text"] for row in ROWS if row["set"] in WRITERS}
    held = {row["text"] for row in ROWS if row["set"] not in WRITERS}
    assert not learned & held
    assert {6, 13} <= {row["set"] for row in ROWS if row["set"] not in WRITERS}


def test_paired_sets_have_one_order_and_one_harmless_statement_a_pair() -> None:
    pairs: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for row in ROWS:
        if row["set"] in PAIRED:
            pairs[row["set"], row["pair"]][row["sort"]] += 1
    assert all(max(sorts.values()) == 1 for sorts in pairs.values())
    whole = sum(len(sorts) == 2 for sorts in pairs.values())
    assert whole >= len(pairs) - 10


def test_addresses_of_the_paired_sets_are_made_up() -> None:
    hosts = {host for row in ROWS if row["set"] in PAIRED for host in _URL.findall(row["text"])}
    assert [host for host in hosts if not _OURS.search(host)] == []


def test_files_have_a_style_where_something_is_planted() -> None:
    rows = list(planted())
    assert all(row.text.strip() for row in rows)
    assert all((row.style in STYLES) if row.attack else not (row.style or row.order) for row in rows)
    assert all(row.order in row.text for row in rows)
    assert len({row.text for row in rows}) == len(rows)


def test_no_file_is_held_back_and_learned_from() -> None:
    learned = {text.text for text in files_with_orders()}
    assert learned
    assert not learned & {row.text for row in planted() if row.writer in HELD_BACK}
