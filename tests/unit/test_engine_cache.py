"""Answers of a moment ago hold for as long as nothing has changed, and not for long."""

from __future__ import annotations

from subconscious.embeddings.engine_cache import MOST, SECONDS, EngineCache
from subconscious.recall.fusion import Fused

ANSWER = [Fused(1, 1.0, ())]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_holds_until_something_happens() -> None:
    found: EngineCache[Fused] = EngineCache()
    found.put("q", found.version(7), ANSWER)
    assert found.get("q", found.version(7)) == ANSWER
    assert found.get("another", found.version(7)) is None
    assert found.get("q", found.version(8)) is None


def test_what_changed_while_engines_were_asked_makes_their_answer_old() -> None:
    found: EngineCache[Fused] = EngineCache()
    before = found.version(7)
    found.clear()
    found.put("q", before, ANSWER)
    assert found.get("q", found.version(7)) is None


def test_a_question_is_not_held_for_long() -> None:
    clock = Clock()
    found: EngineCache[Fused] = EngineCache(clock)
    found.put("q", found.version(7), ANSWER)
    clock.now = SECONDS + 1
    assert found.get("q", found.version(7)) is None


def test_the_oldest_question_gives_way() -> None:
    found: EngineCache[Fused] = EngineCache()
    for number in range(MOST + 1):
        found.put(number, found.version(7), ANSWER)
    assert found.get(0, found.version(7)) is None
    assert found.get(1, found.version(7)) == ANSWER
