"""Converts dataclasses of the library to the typed dictionaries of responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Fields = TypeVar("Fields")


def fields_of(described: type[Fields], value: DataclassInstance, **more: object) -> Fields:
    """Return the fields of a dataclass, together with ``more``, as the typed dictionary ``described``."""
    return cast("Callable[..., Fields]", described)(**asdict(value) | more)


def list_of(described: type[Fields], values: Iterable[DataclassInstance]) -> list[Fields]:
    """Return the fields of each dataclass as the typed dictionary ``described``."""
    return [fields_of(described, value) for value in values]
