"""A model that was taken in by what it read: nothing planted is stored or given, whatever it says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench import repeated
from subconscious.domain.model import Origin
from subconscious.sessions import Handover
from subconscious.sessions.story import Checked, Story
from subconscious.settings.settings import Settings

CASES = repeated.attacks()[::20]
"""A few of each sort; `python -m bench.attacks --repeated` plays all of them."""


def play() -> repeated.Outcome:
    return repeated.play(CASES, taken_in=True, settings=Settings(embedder="none"))


def test_nothing_that_was_planted_is_stored_or_given() -> None:
    outcome = play()
    assert (outcome.breached, outcome.failed) == ([], [])
    assert outcome.proposed >= 4 * len(CASES)
    assert outcome.vouched > len(CASES)
    assert outcome.told > len(CASES)


def test_it_would_be_seen_if_it_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the model's word taken for whose words they are, planted sentences would get through."""
    monkeypatch.setattr("subconscious.capture.llm_extraction.extractor.origin_of", lambda *_, **__: Origin.USER)
    assert play().stored or play().given or play().unconfirmed


def test_an_unexamined_story_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def believed(story: Story, offline: Handover, *_: object) -> Checked:
        return Checked(replace(offline, done=story.done or story.open or story.failed, reported=""))

    monkeypatch.setattr("subconscious.capture.llm_extraction.reconciliation.examined", believed)
    assert play().given
