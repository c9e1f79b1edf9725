from __future__ import annotations

from typing import Any

import pytest

from subconscious.context.approval import GUARDED, guarded, needs_word, refused
from subconscious.settings.settings import Settings


@pytest.mark.parametrize(
    ("name", "held", "wanted"),
    [
        ("archive_policy", "weighted", "exp30"),
        ("half_lives", {}, {"lesson": 1.0}),
        ("auto_threshold", 0.9, 0.5),
        ("provider", "none", "openai"),
        ("provider", "anthropic", "openai"),
        ("openai_url", "", "http://elsewhere"),
        ("embedder", "local", "openai"),
        ("embedder_prompts", False, True),
        ("cost_per_day", 10.0, 100.0),
        ("poisoning", True, False),
        ("redact_secrets", "block", "redact"),
        ("provider_fallback", [], ["openai"]),
    ],
)
def test_a_change_towards_less_care_needs_a_persons_word(name: str, held: Any, wanted: Any) -> None:
    assert needs_word(name, held, wanted)


@pytest.mark.parametrize(
    ("name", "held", "wanted"),
    [
        ("auto_threshold", 0.9, 0.95),
        ("provider", "openai", "none"),
        ("embedder", "openai", "local"),
        ("embedder_prompts", True, False),
        ("cost_per_day", 10.0, 0.0),
        ("poisoning", False, True),
        ("redact_email", "off", "redact"),
        ("provider_fallback", ["openai"], []),
        ("openai_url", "http://mine", "http://mine"),
    ],
)
def test_a_change_towards_more_care_takes_effect_at_once(name: str, held: Any, wanted: Any) -> None:
    assert not needs_word(name, held, wanted)


def test_what_was_accepted_is_not_refused_whatever_json_makes_of_it() -> None:
    settings = Settings(provider="openai", provider_fallback=("ollama",), cost_per_day=50)
    assert refused(settings, guarded(settings)) == {}
    assert set(refused(settings, guarded(Settings()))) == {"provider", "provider_fallback", "cost_per_day"}


def test_no_key_is_guarded_for_what_is_guarded_stands_in_the_history() -> None:
    assert not [name for name in GUARDED if name.endswith("_key")]
