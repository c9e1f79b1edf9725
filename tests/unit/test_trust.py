"""How far a memory can be trusted: the table of docs/protocol.md, and that doubt never helps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.model import Level, Origin
from subconscious.domain.trust import Trust, trust_of
from tests.support.values import make_memory

USER, ASSISTANT, TEAMMATE, TOOL = Origin

TABLE: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"verified": True, "origin": TOOL, "confidence": 0.1}, {"stale": True, "disputed": True}, "VERIFIED"),
    ({"verified": True}, {"level": Level.MEDIUM}, "VERIFIED"),
    ({"verified": True}, {"level": Level.HIGH}, "SUSPECT"),
    ({"origin": USER}, {"level": Level.MEDIUM}, "SUSPECT"),
    ({"origin": USER}, {}, "HIGH"),
    ({"origin": USER, "confidence": 0.69}, {}, "MEDIUM"),
    ({"origin": USER}, {"stale": True}, "MEDIUM"),
    ({"origin": USER}, {"disputed": True}, "MEDIUM"),
    ({"origin": USER}, {"level": Level.LOW}, "MEDIUM"),
    ({"origin": USER}, {"stale": True, "disputed": True}, "LOW"),
    ({"origin": USER, "recurrence": 3}, {"stale": True}, "HIGH"),
    ({"origin": USER, "recurrence": 3}, {"disputed": True}, "MEDIUM"),
    ({"origin": USER, "recurrence": 9, "confidence": 0.5}, {"stale": True}, "MEDIUM"),
    ({"origin": ASSISTANT}, {}, "MEDIUM"),
    ({"origin": ASSISTANT, "recurrence": 50}, {}, "MEDIUM"),
    ({"origin": ASSISTANT}, {"stale": True}, "LOW"),
    ({"origin": TEAMMATE}, {}, "LOW"),
    ({"origin": TEAMMATE, "verified": True}, {}, "VERIFIED"),
    ({"origin": TOOL}, {}, "LOW"),
    ({"origin": TOOL, "confidence": 0.2}, {"stale": True, "disputed": True, "level": Level.LOW}, "LOW"),
]


@pytest.mark.parametrize(("memory", "seen", "trust"), TABLE)
def test_the_table(memory: dict[str, Any], seen: dict[str, Any], trust: str) -> None:
    assert trust_of(make_memory(**memory), **seen) is Trust(trust)


memories = st.builds(
    lambda origin, confidence, recurrence, verified: make_memory(
        origin=origin, confidence=confidence, recurrence=recurrence, verified=verified
    ),
    st.sampled_from(Origin),
    st.floats(0, 1),
    st.integers(1, 9),
    st.booleans(),
)
ORDER = list(Trust)


@given(memories, st.sampled_from(Level), st.booleans(), st.booleans())
def test_doubt_never_helps(memory: Any, level: Level, disputed: bool, stale: bool) -> None:
    now = ORDER.index(trust_of(memory, level=level, disputed=disputed, stale=stale))
    assert now <= ORDER.index(trust_of(memory, level=level, disputed=True, stale=stale))
    assert now <= ORDER.index(trust_of(memory, level=level, disputed=disputed, stale=True))
    assert now <= ORDER.index(trust_of(memory, level=level.shifted(1), disputed=disputed, stale=stale))


@given(memories, st.sampled_from(Level), st.booleans())
def test_without_a_person_nothing_is_trusted_beyond_its_origin(memory: Any, level: Level, stale: bool) -> None:
    reach = {USER: Trust.HIGH, ASSISTANT: Trust.MEDIUM, TEAMMATE: Trust.LOW, TOOL: Trust.LOW}[memory.origin]
    if not memory.verified:
        assert ORDER.index(trust_of(memory, level=level, stale=stale)) >= ORDER.index(reach)
