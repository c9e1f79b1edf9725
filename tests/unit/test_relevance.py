from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.hits import EngineHit
from subconscious.recall.relevance import QueryTerms, relevance

NEVER_MET = (EngineHit("text", 1, 1.0),)
CLOSE = (EngineHit("text", 1, 14.0), EngineHit("vector", 1, 0.7))


def test_what_is_asked_for_by_name_is_relevant_and_a_shared_word_is_not() -> None:
    asked = QueryTerms.of("how does the UploadWorker retry a failed chunk upload")
    assert relevance(asked, "The UploadWorker retries a failed chunk upload twice.", CLOSE) > 0.6
    assert relevance(asked, "The invoice worker runs at night.", NEVER_MET) < 0.2


def test_one_shared_word_proves_nothing_however_rare() -> None:
    assert relevance(QueryTerms.of("lint fail"), "Lint fails without a cache.", CLOSE) < relevance(
        QueryTerms.of("lint fails on generated protobuf files without a cache"),
        "Lint fails on generated protobuf files without a cache.",
        CLOSE,
    )


def test_a_name_is_met_as_a_whole_only() -> None:
    asked = QueryTerms.of("ask about Ann")
    assert asked.names_share("Ann: I paint.") == 1.0
    assert asked.names_share("annual report") == 0.0


@given(st.text(), st.text(), st.floats(-1, 1), st.floats(0, 1e6))
def test_relevance_lies_between_0_and_1(query: str, text: str, cosine: float, score: float) -> None:
    engines = (EngineHit("vector", 1, cosine), EngineHit("text", 1, score))
    assert 0.0 <= relevance(QueryTerms.of(query), text, engines) <= 1.0


@given(st.text(), st.text(), st.floats(-1, 1), st.floats(0, 30))
def test_a_nearer_meaning_is_never_less_relevant(query: str, text: str, cosine: float, score: float) -> None:
    asked, words = QueryTerms.of(query), EngineHit("text", 1, score)
    near = relevance(asked, text, (words, EngineHit("vector", 1, min(1.0, cosine + 0.1))))
    assert near >= relevance(asked, text, (words, EngineHit("vector", 1, cosine)))
