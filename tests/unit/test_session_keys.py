"""Keys of sessions: each session's own, what it said last, in memory alone."""

from __future__ import annotations

from subconscious.app.sessions import MOST_KEYED_SESSIONS, SessionKeys

OPENAI, ANTHROPIC = "SUBCONSCIOUS_OPENAI_KEY", "SUBCONSCIOUS_ANTHROPIC_KEY"


def test_each_session_has_its_own_keys() -> None:
    keys = SessionKeys()
    assert keys.put("a", {OPENAI: "k1"})
    assert keys.put("b", {OPENAI: "k2", ANTHROPIC: "k3"})
    assert not keys.put("c", {})
    assert [dict(keys.of(one)) for one in "abc"] == [
        {"openai_key": "k1"},
        {"openai_key": "k2", "anthropic_key": "k3"},
        {},
    ]
    assert keys.sessions == ["a", "b"]
    assert keys.all == {"k1", "k2", "k3"}


def test_the_latest_keys_of_a_session_apply() -> None:
    keys = SessionKeys()
    keys.put("a", {OPENAI: "k1", ANTHROPIC: "k2"})
    assert not keys.put("a", {OPENAI: "k1", ANTHROPIC: "k2"})
    assert keys.put("a", {OPENAI: "k3"})
    assert keys.of("a") == {"openai_key": "k3"}
    assert keys.put("a", {})
    assert (keys.of("a"), keys.sessions) == ({}, [])


def test_the_plugin_s_option_outranks_the_variable() -> None:
    keys = SessionKeys()
    keys.put("a", {"openai_key": "of the plugin", OPENAI: "k1", ANTHROPIC: "k2"})
    assert keys.of("a") == {"anthropic_key": "k2"}


def test_only_keys_of_models_are_a_session_s_own() -> None:
    keys = SessionKeys()
    said = {"SUBCONSCIOUS_EMBEDDER_KEY": "k", "SUBCONSCIOUS_OPENAI_URL": "u", "SUBCONSCIOUS_PROVIDER": "p", OPENAI: ""}
    assert not keys.put("a", said)
    assert keys.of("a") == {}


def test_the_number_of_sessions_is_bounded() -> None:
    keys = SessionKeys()
    for number in range(MOST_KEYED_SESSIONS):
        keys.put(str(number), {OPENAI: str(number)})
    keys.put("0", {OPENAI: "0"})  # it speaks again
    keys.put("new", {OPENAI: "new"})
    assert len(keys.sessions) == MOST_KEYED_SESSIONS
    assert (keys.of("0"), keys.of("1")) == ({"openai_key": "0"}, {})
    assert "new" not in repr(keys)
