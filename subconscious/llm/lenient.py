"""Parts of models' answers that are read leniently: what is not of the expected type counts as empty."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else ""


def _objects(value: Any) -> Any:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


Text = Annotated[str, BeforeValidator(_text)]
"""A text; "" for anything else."""

OBJECTS = BeforeValidator(_objects)
"""Reads a list of objects; other items are dropped."""
