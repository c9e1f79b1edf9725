"""Prices and default models, from the table of providers."""

from __future__ import annotations

import re
from typing import Any

from subconscious.domain.usage import Usage
from subconscious.settings.provider_table import provider_row

MILLION = 1_000_000
DATED = re.compile(r"[-@](?:\d{8}|\d{4}-\d\d-\d\d)$")
"""A date at the end of a model's name: such a version has the price of the model without the date."""


def default_model(provider: str) -> str:
    """Return the model that is used if no setting names one; "" if the provider has no default."""
    return provider_row(provider).default


def model_row(provider: str, model: str) -> dict[str, Any]:
    """Return the row of a model in the table of providers; an empty row for an unknown model."""
    models = provider_row(provider).models
    return models.get(model) or models.get(DATED.sub("", model)) or {}


def price(provider: str, model: str, usage: Usage, batch: bool = False, base_url: str = "") -> float | None:
    """Return the cost of a call in US dollars, None if it is unknown.

    With a custom ``base_url`` the price is unknown, even for a known model.
    """
    if usage.cost is not None:
        return usage.cost
    seller = provider_row(provider)
    if seller.local:
        return None if "cloud" in model.rpartition(":")[2] else 0.0
    row = {} if base_url else model_row(provider, model)
    return _cost(row, usage) * (seller.batch if batch else 1) if row else None


def _cost(row: dict[str, Any], usage: Usage) -> float:
    long = row.get("long", {})
    for_input, for_output = (long["input"], long["output"]) if long and usage.input > long["over"] else (1, 1)
    plain = usage.input - usage.cached - usage.written
    cached, written = row.get("cached", row["input"]), row["input"] * row.get("written", 1)
    asked = plain * row["input"] + usage.cached * cached + usage.written * written
    return float((asked * for_input + usage.output * row["output"] * for_output) / MILLION)
