"""Compares answers of the daemon with the types that describe them (subconscious/wire)."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_overloads, get_type_hints, is_typeddict

from subconscious.wire import requests


@cache
def result_types() -> dict[str, Any]:
    """Return the result type of each request, as callers see it; a union if it depends on the arguments."""
    found: dict[str, Any] = {}
    for variant in get_overloads(requests.Ask.__call__):
        hints = get_type_hints(variant, vars(requests))
        for name in get_args(hints["cmd"]):
            found[name] = found[name] | hints["return"] if name in found else hints["return"]
    return found


def variants(described: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type itself."""
    return get_args(described) if get_origin(described) in (Union, types.UnionType) else (described,)


def check_answer(cmd: str, answer: Any) -> None:
    """Assert that the answer to a request has the fields and types of its result type."""
    wrong = mismatches(answer, result_types()[cmd])
    assert not wrong, f"{cmd}: {'; '.join(wrong[:10])}"


def completed(cmd: str, answer: Any) -> Any:
    """Return a partial answer with the required fields that it lacks, empty. Raises AssertionError for wrong fields."""
    whole = _complete(json.loads(json.dumps(answer)), result_types()[cmd])
    check_answer(cmd, whole)
    return whole


def _complete(value: Any, described: Any) -> Any:
    described = min(variants(described), key=lambda one: _distance(value, one))
    if is_typeddict(described) and isinstance(value, dict):
        required, hints = _hints(described)
        given = {name: _complete(one, hints[name]) if name in hints else one for name, one in value.items()}
        return {name: _empty(hints[name]) for name in required} | given
    if get_origin(described) is list and isinstance(value, list):
        return [_complete(one, *get_args(described)) for one in value]
    if get_origin(described) is dict and isinstance(value, dict):
        return {name: _complete(one, get_args(described)[1]) for name, one in value.items()}
    return value


def _distance(value: Any, described: Any) -> int:
    """Return how many of the given fields a type does not have, or has with another literal value."""
    if not (is_typeddict(described) and isinstance(value, dict)):
        return 0 if not mismatches(value, described) else len(value) + 1 if isinstance(value, dict) else 1
    hints = _hints(described)[1]
    literals = {name for name, hint in hints.items() if get_origin(hint) is Literal}
    return len(value.keys() - hints.keys()) + sum(value.get(name) not in get_args(hints[name]) for name in literals)


def _empty(described: Any) -> Any:
    if type(None) in variants(described):
        return None
    if is_typeddict(described):
        return _complete({}, described)
    if described is Any:
        return None
    return get_args(described)[0] if get_origin(described) is Literal else (get_origin(described) or described)()


def mismatches(value: Any, described: Any, path: str = "") -> list[str]:
    """Return the places at which a value is not as its type says: missing and unknown fields, other types."""
    return min((list(_mismatches(value, one, path)) for one in variants(described)), key=len)


def _mismatches(value: Any, described: Any, path: str) -> Iterator[str]:
    if is_typeddict(described) and isinstance(value, dict):
        yield from _fields(value, described, path)
    elif get_origin(described) in (list, tuple) and isinstance(value, list):
        inner = get_args(described)
        for at, one in enumerate(value):
            yield from mismatches(one, inner[at % len(inner)], f"{path}[{at}]")
    elif get_origin(described) is dict and isinstance(value, dict):
        for name, one in value.items():
            yield from mismatches(one, get_args(described)[1], f"{path}.{name}")
    elif not _fits(value, described):
        yield f"{path or 'the result'} is {value!r}, not {described}"


def _fields(value: dict[str, Any], described: Any, path: str) -> Iterator[str]:
    required, hints = _hints(described)
    yield from (f"{path}.{name} is missing" for name in required - value.keys())
    yield from (f"{path}.{name} is unknown" for name in value.keys() - hints.keys())
    for name in value.keys() & hints.keys():
        yield from mismatches(value[name], hints[name], f"{path}.{name}")


@cache
def _hints(described: Any) -> tuple[frozenset[str], dict[str, Any]]:
    # Not __required_keys__: postponed annotations hide NotRequired from it.
    marked = get_type_hints(described, include_extras=True)
    required = frozenset(name for name, hint in marked.items() if get_origin(hint) is not NotRequired)
    return required, get_type_hints(described)


def _fits(value: Any, described: Any) -> bool:
    if described is Any:
        return True
    if get_origin(described) is Literal:
        return value in get_args(described)
    if described is float:  # JSON has one sort of number
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is described
