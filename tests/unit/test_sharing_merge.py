"""The merge of shared memories: the same in any order, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.sharing.merge import Entry, EntryError, State, digest_of, dump, merge, parse

VERSIONS = [{"at": float(at), "record": {"memory": {"content": f"text {at}"}}} for at in range(6)]
DIGESTS = [digest_of(version) for version in VERSIONS]
UIDS = [letter * 32 for letter in "abc"]
COMMITS = ["", "1" * 40, "2" * 40]


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    replaced = draw(st.frozensets(st.sampled_from(DIGESTS), max_size=3))
    kept = draw(st.frozensets(st.integers(0, 5))) - {DIGESTS.index(one) for one in replaced}
    return Entry({DIGESTS[one]: VERSIONS[one] for one in kept}, replaced, draw(st.sampled_from(COMMITS)))


states: st.SearchStrategy[State] = st.dictionaries(st.sampled_from(UIDS), entries())


@given(states, states, states)
def test_order_and_repetition_do_not_matter(one: State, two: State, three: State) -> None:
    assert merge(one, two) == merge(two, one)
    assert merge(merge(one, two), three) == merge(one, merge(two, three))
    assert merge(one, one) == one
    assert merge(merge(one, two), two) == merge(one, two)


@given(states, states)
def test_no_version_is_lost_unless_it_was_replaced(one: State, two: State) -> None:
    both = merge(one, two)
    for state in (one, two):
        for uid, entry in state.items():
            assert entry.replaced <= both[uid].replaced
            assert entry.versions.keys() <= both[uid].versions.keys() | both[uid].replaced
    for uid, entry in both.items():
        sides = [state[uid] for state in (one, two) if uid in state]
        assert entry.versions.keys() <= {key for side in sides for key in side.versions}


@given(entries())
def test_an_entry_survives_git(entry: Entry) -> None:
    raw = dump(UIDS[0], entry)
    assert b"\n" not in raw
    assert parse(raw, entry.commit) == (UIDS[0], entry)


@given(st.permutations(range(6)))
def test_the_latest_decision_comes_first(order: list[int]) -> None:
    entry = Entry({DIGESTS[one]: VERSIONS[one] for one in order})
    assert entry.ranked() == DIGESTS[::-1]


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"[]", b"\xff", b'{"subconscious": 2}', b'{"subconscious": 1, "uid": "../x"}', b"[" * 100_000),
        b'{"subconscious": 1, "uid": "%s", "versions": {}, "replaced": []}' % UIDS[0].encode(),
        b'{"subconscious": 1, "uid": "%s", "versions": [1], "replaced": []}' % UIDS[0].encode(),
        b'{"subconscious": 1, "uid": "%s", "versions": [{"at": NaN}], "replaced": []}' % UIDS[0].encode(),
        b'{"subconscious": 1, "uid": "%s", "versions": [{"at": 1e999}], "replaced": []}' % UIDS[0].encode(),
        b'{"subconscious": 1, "uid": "%s", "versions": [], "replaced": ["x"]}' % UIDS[0].encode(),
        b'{"subconscious": 1, "uid": "%s", "versions": [], "replaced": [[]]}' % UIDS[0].encode(),
        b'{"subconscious": 1, "uid": "%s", "versions": [%s], "replaced": []}'
        % (UIDS[0].encode(), b",".join([b"{}"] * 60)),
        b'"' + b"x" * (2 << 20) + b'"',
    ],
    ids=lambda raw: raw[:20].decode("latin-1") + str(len(raw)),
)
def test_invalid_entries_are_rejected(raw: bytes) -> None:
    with pytest.raises(EntryError):
        parse(raw)


def test_an_entry_about_another_memory_is_refused() -> None:
    with pytest.raises(EntryError, match="uid does not match"):
        parse(dump(UIDS[0], Entry({})), name=UIDS[1])


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_the_time_of_a_version_may_be_anything(at: object) -> None:
    assert Entry({"a" * 32: {"at": at}, "b" * 32: {"at": 1}}).ranked()
