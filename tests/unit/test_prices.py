"""What calls cost, from the table that ships."""

import math

import pytest

from subconscious.domain.usage import Usage
from subconscious.llm.providers import PROVIDERS, prices
from subconscious.llm.providers.prices import default_model, price
from subconscious.settings.provider_table import ProviderRow, provider_rows

MILLION = 1_000_000


def test_a_price_is_the_sum_of_its_parts() -> None:
    usage = Usage(input=50_000, output=2_000, cached=20_000, written=10_000)
    expected = (20_000 * 0.10 + 20_000 * 0.01 + 10_000 * 0.125 + 2_000 * 0.50) / MILLION
    assert price("anthropic", "claude-haiku-5-5", usage) == pytest.approx(expected)
    assert price("anthropic", "claude-haiku-5-5", usage, batch=True) == pytest.approx(expected / 2)


def test_a_long_prompt_costs_more_on_every_token() -> None:
    short, long = Usage(input=100_000, output=1000), Usage(input=100_001, output=1000)
    assert price("anthropic", "claude-haiku-5-5", short) == pytest.approx(0.0105)
    assert price("anthropic", "claude-haiku-5-5", long) == pytest.approx(0.0525005)


def test_without_a_price_of_their_own_cached_tokens_cost_as_much_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ProviderRow("acme", "acme:AcmeProvider", models={"small": {"input": 0.20, "output": 0.80}})
    monkeypatch.setattr(prices, "provider_row", lambda name: row)
    usage = Usage(input=MILLION, output=MILLION, cached=MILLION // 2)
    assert price("acme", "small", usage) == pytest.approx(0.20 + 0.80)


def test_a_dated_version_has_the_price_of_its_model() -> None:
    usage = Usage(input=1000, output=1000)
    assert price("anthropic", "claude-haiku-4-5-20251001", usage) == price("anthropic", "claude-haiku-4-5", usage)
    assert price("openai", "gpt-4o-mini-2024-07-18", usage) == price("openai", "gpt-4o-mini", usage)


@pytest.mark.parametrize(
    ("provider", "model"),
    [("anthropic", "claude-next"), ("openai", "gpt-6-luna-fast"), ("nobody", "x"), ("claude_code", "haiku")],
)
def test_unknown_models_are_not_free(provider: str, model: str) -> None:
    assert price(provider, model, Usage(1000, 1000)) is None
    assert price(provider, model, Usage(1000, 1000), batch=True) is None


def test_another_seller_sets_other_prices() -> None:
    assert price("openai", "gpt-6-luna", Usage(1000, 1000), base_url="https://openrouter.ai/api/v1") is None


def test_the_own_machine_is_free_and_a_cloud_is_not_known() -> None:
    assert price("ollama", "qwen3:4b", Usage(1000, 1000)) == 0
    assert price("ollama", "gpt-oss:120b-cloud", Usage(1000, 1000)) is None


def test_what_the_provider_says_itself_counts() -> None:
    assert price("claude_code", "haiku", Usage(10, 10, cost=0.25)) == 0.25
    assert price("anthropic", "claude-haiku-5-5", Usage(10, 10, cost=0.25)) == 0.25


def test_usages_add_up_and_an_unknown_cost_stays_unknown() -> None:
    assert Usage(1, 2, 3, None, 4) + Usage(10, 20, 30, None, 40) == Usage(11, 22, 33, None, 44)
    assert Usage(cost=0.25) + Usage(cost=0.5) == Usage(cost=0.75)
    assert (Usage(cost=0.25) + Usage(1)).cost is None


def test_every_provider_has_a_default_and_every_row_says_where_its_price_was_read() -> None:
    for provider in set(PROVIDERS) - {"scripted"}:
        assert default_model(provider)
    for provider, sold in provider_rows().items():
        if provider == "scripted":
            continue
        assert sold.source.startswith("https://")
        assert sold.read is not None
        assert sold.read.year >= 2026
        models = sold.models
        assert not models or sold.default in models, provider
        for row in models.values():
            embeds = row["output"] == 0  # what is put in is all that is charged
            assert row["input"] > 0
            assert embeds or 0 < row.get("cached", row["input"]) <= row["input"] <= row["output"]
            assert all(math.isfinite(row.get(key, row["input"])) for key in ("cached", "input", "output"))
