from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.system import json_bounds
from subconscious.system.json_bounds import has_too_many_values

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('ab",[]{}\\:\u00e9\n')),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.sampled_from('ab",[{\\')), inner),
)


def values_in(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(1 + values_in(inner) for inner in value.values())
    return 1 + sum(map(values_in, value)) if isinstance(value, list) else 1


@pytest.fixture(autouse=True)
def _nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_bounds, "SMALL_BYTES", 0)


@given(VALUES, st.booleans())
def test_counts_within_a_small_factor_and_never_what_stands_in_strings(value: Any, ascii_only: bool) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only).encode()
    found = values_in(value)
    assert not has_too_many_values(raw, 3 * found + 2)
    assert has_too_many_values(raw, found // 3 - 1)


@given(st.binary())
def test_whatever_the_bytes_are_it_ends(raw: bytes) -> None:
    assert has_too_many_values(raw, 4 * len(raw) + 2) is False


@pytest.mark.parametrize("part", [b"[],", b"{},", b"1,", b'"",', b'"",""', b'"a":1,', b"["])
def test_many_values_are_too_many(part: bytes) -> None:
    assert has_too_many_values(b"[" + part * 10_000, 5000)


@pytest.mark.parametrize("text", ['a,b,"c"\n' * 10_000, "[{" * 10_000, "\\" * 10_000, '"' * 10_000])
def test_a_text_is_one_value_whatever_it_holds(text: str) -> None:
    assert not has_too_many_values(json.dumps({"content": text}).encode(), 10)
