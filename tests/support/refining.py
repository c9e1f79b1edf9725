"""A scripted model that finds statements in sessions, and helpers to check the outcome."""

from __future__ import annotations

from typing import Any

from subconscious import wire
from subconscious.settings.home import Home
from subconscious.store.second_looks import WAITS
from tests.support.fake_openai import Row, candidate, numbered

PATIENCE = 40.0
"""Seconds that a busy machine may take, the import of an SDK included."""
HINTED = "hm, the bank seems to round half to even, what does kiln.py do with it"


def sees(words: str, **own: Any) -> Any:
    """A model that finds one statement."""
    return lambda text: [candidate(number, words, **own)] if (number := numbered(text, words)) else []


def captured(home: Home) -> list[Row]:
    found: list[Row] = wire.call(home, "captures", {"limit": 1000})["captures"]
    return found


def of_model(home: Home) -> list[Row]:
    """What a model found and the second look is done with."""
    return [capture for capture in found_by_model(home) if capture["reservation"] != WAITS]


def found_by_model(home: Home) -> list[Row]:
    """What a model found, be it looked at a second time or not."""
    return [capture for capture in captured(home) if capture["extractor"].startswith("model-")]


def waits(home: Home) -> Row:
    found: Row = wire.call(home, "status")["refining"]
    return found
