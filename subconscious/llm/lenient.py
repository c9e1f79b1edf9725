"""Field types for models' answers that are read leniently: a value of another type counts as empty."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else ""


def _objects(value: Any) -> Any:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


Text = Annotated[str, BeforeValidator(_text)]
"""A text field; a value of another type becomes ""."""

OBJECTS = BeforeValidator(_objects)
"""The validator of a list of objects; items of another type are dropped."""
