"""The written messages that a judge of typed sentences is trained and tested on (bench/data/speech)."""

from __future__ import annotations

import json
from collections import Counter

from bench.speech import FOLDER, KINDS, NOTHING, PLACES, hashed, sentences

LANGUAGES = ("de", "fr", "es", "pt", "ja", "zh")


def test_every_sentence_is_a_part_of_its_message_with_a_label_that_fits() -> None:
    for one in sentences():
        assert one.text in one.message
        assert one.kind in (KINDS if one.keep else NOTHING), one.text


def test_no_message_stands_twice_with_the_same_turn_before() -> None:
    lines = [json.loads(line) for file in FOLDER.glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
    counts = Counter((line["text"], line["before"]) for line in lines)
    assert [said for said, count in counts.items() if count > 1] == []
    assert len(lines) >= 4000
    languages = Counter(line["lang"] for line in lines)
    assert all(languages[language] >= 60 for language in LANGUAGES)


def test_more_is_not_kept_than_kept() -> None:
    told = [one for one in sentences() if one.writer != "i"]  # whose sessions have as little to keep as real ones
    assert 0.3 < sum(one.keep for one in told) / len(told) < 0.5


def test_features_are_scaled_and_within_their_places() -> None:
    for one in sentences()[:50]:
        seen = hashed(one)
        assert all(0 <= place < 2 * PLACES for place in seen)
        assert abs(sum(value * value for value in seen.values()) - 2) < 1e-6
