"""Friction: what comes back in several sessions is one trouble, whoever's words; what does not is none."""

from __future__ import annotations

from itertools import count
from typing import Any, cast

import numpy

from subconscious.domain.model import Decision, Origin, Strength
from subconscious.knowledge.friction import candidate, recurring
from subconscious.store import promotion
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.wire.captures import Capture
from tests.support.friction import told
from tests.support.values import NOON

STALE = "The build fails because the lock file is stale."
_numbers = count(1)


def trouble(session: str, content: str = STALE, **changes: Any) -> Capture:
    number = next(_numbers)
    values: dict[str, Any] = {
        "id": number,
        "memory_id": None,
        "session_id": session,
        "kind": "blocker",
        "content": content,
    }
    values |= {"origin": "assistant", "said_at": NOON + number, "turn_id": f"t{number}", "transcript": "/t.jsonl"}
    values |= {"evidence": content, "byte_start": 0, "byte_end": 9, "tags": ["build"], "files": []}
    return cast("Capture", values | changes)


def test_it_takes_three_sessions_and_not_three_times() -> None:
    assert recurring([trouble("a"), trouble("a"), trouble("b")], {}, 3) == []
    (one,) = recurring([trouble("a"), trouble("b"), trouble("a"), trouble("c")], {}, 3)
    assert list(one.sessions) == ["a", "b", "c"]
    assert len(one.captures) == 4


def test_other_wording_is_met_by_meaning() -> None:
    other = "Stale pnpm-lock breaks CI once more."
    found = [trouble("a", memory_id=1), trouble("b", other, memory_id=2), trouble("c", memory_id=1)]
    near = {1: numpy.array([1.0, 0.0]), 2: numpy.array([0.9, 0.43589])}
    assert recurring(found, {}, 3) == []
    assert len(recurring(found, near, 3)) == 1


def test_learnings_without_trouble_are_no_friction() -> None:
    plain = "The ledger keeps amounts in cents."
    assert recurring([trouble(name, plain, kind="learning") for name in "abc"], {}, 3) == []
    assert len(recurring([trouble(name, kind="learning") for name in "abc"], {}, 3)) == 1


def test_a_pattern_is_as_trusted_as_the_least_of_its_words() -> None:
    found = [trouble("a", origin="user"), trouble("b", origin="user"), trouble("c", origin="tool")]
    (one,) = recurring(found, {}, 3)
    proposed = candidate(one)
    assert (proposed.kind, proposed.origin, proposed.strength) == ("pattern", Origin.TOOL, Strength.INFERRED)
    assert proposed.evidence.quote in STALE
    assert all(name in proposed.rationale for name in ("3 sessions", "(a)", "(b)", "(c)"))


async def test_quarantined_and_discarded_captures_are_no_friction(database: Database, project: Project) -> None:
    await told(database, project, "a", STALE)
    await told(database, project, "b", STALE, decision=Decision.QUARANTINE)
    await told(database, project, "c", STALE, decision=Decision.DISCARD)
    assert [one["session_id"] for one in await promotion.troubles(database, project.id, 10)] == ["a"]


def test_two_errors_of_one_sort_are_two_troubles() -> None:
    one, other = "The build fails with E050 in CI.", "The build fails with E051 in CI."
    assert recurring([trouble("a", one), trouble("b", other), trouble("c", one)], {}, 3) == []
