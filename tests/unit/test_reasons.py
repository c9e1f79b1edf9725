"""Words for why a session is given a memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.memory import memory_of
from subconscious.domain.hits import EngineHit, Hit
from subconscious.surfacing import reasons
from subconscious.surfacing.reasons import Known

UPLOADS = "Chunked uploads over the proxy fail after 60 seconds; the worker parks sk4242 chunks."


def _hit(text: str = UPLOADS, engine: str = "text", **values: object) -> Hit:
    memory = replace(memory_of("p", text, 0.0, "decision"), **values)  # type: ignore[arg-type]
    return Hit(memory, 0.8, 1.0, (EngineHit(engine, 1, 1.0),) if engine else ())


def test_a_prompt_shares_words_with_a_memory_as_the_memory_writes_them() -> None:
    found = reasons.of_prompt("why do UPLOADS through the proxies fail?", [_hit()], [])
    assert list(found.values()) == ["fits the prompt: shares uploads, proxy and fail"]


def test_tokens_with_digits_are_not_repeated() -> None:
    assert reasons.shared_words("sk4242 60 seconds", _hit().memory) == ["seconds"]


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        ("vector", "fits the prompt: similar in meaning"),
        ("graph", "fits the prompt: linked to memories that fit"),
        ("text", "fits the prompt"),
    ],
)
def test_without_a_common_word_the_engine_tells_why(engine: str, reason: str) -> None:
    assert reasons.fitting(reasons.FITS, "tulips", _hit(engine=engine)) == reason


def test_what_a_prompt_is_bound_to_has_its_own_reason() -> None:
    hit = _hit()
    assert reasons.of_prompt("uploads", [], [hit]) == {hit.memory.id: reasons.NAMES_STEP}


def test_a_rule_is_told_from_what_was_promoted() -> None:
    rule = _hit(kind="preference")
    assert reasons.at_start(rule, "rule", Known()) == "a standing preference of the user"
    assert reasons.at_start(_hit(), "rule", Known()) == reasons.PROMOTED


@pytest.mark.parametrize(
    ("hit", "reason"),
    [
        (_hit(files=("src/worker.py", "a.py")), "a decision about worker.py, on which the last session worked"),
        (_hit(branch="uploads"), "a decision made on the branch uploads"),
        (_hit(), "a decision that fits the branch and the latest prompts: shares Chunked and parks"),
    ],
)
def test_a_decision_is_about_files_a_branch_or_the_latest_prompts(hit: Hit, reason: str) -> None:
    assert reasons.at_start(hit, "decision", Known("park the chunks?", "uploads", ("worker.py",))) == reason


def test_what_no_search_found_is_only_recent() -> None:
    assert reasons.at_start(_hit(engine=""), "other", Known("uploads")) == reasons.RECENT
    assert reasons.at_start(_hit(), "other", Known("uploads")) == f"{reasons.FIT}: shares uploads"


def test_words_are_listed() -> None:
    assert [reasons.listed(words) for words in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
