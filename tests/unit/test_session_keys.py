"""Keys of sessions: each session's own, what it said last, in memory alone."""

from __future__ import annotations

from daemon.session_keys import MOST_SESSIONS, SessionKeys

OPENAI, ANTHROPIC = "SUBCONSCIOUS_OPENAI_KEY", "SUBCONSCIOUS_ANTHROPIC_KEY"


def test_each_session_has_its_own_keys() -> None:
    keys = SessionKeys()
    assert keys.hear("a", {OPENAI: "k1"})
    assert keys.hear("b", {OPENAI: "k2", ANTHROPIC: "k3"})
    assert not keys.hear("c", {})
    assert [dict(keys.of(one)) for one in "abc"] == [
        {"openai_key": "k1"},
        {"openai_key": "k2", "anthropic_key": "k3"},
        {},
    ]
    assert keys.sessions == ["a", "b"]
    assert keys.all == {"k1", "k2", "k3"}


def test_what_a_session_says_last_holds() -> None:
    keys = SessionKeys()
    keys.hear("a", {OPENAI: "k1", ANTHROPIC: "k2"})
    assert not keys.hear("a", {OPENAI: "k1", ANTHROPIC: "k2"})
    assert keys.hear("a", {OPENAI: "k3"})
    assert keys.of("a") == {"openai_key": "k3"}
    assert keys.hear("a", {})
    assert (keys.of("a"), keys.sessions) == ({}, [])


def test_the_plugin_s_option_outranks_the_variable() -> None:
    keys = SessionKeys()
    keys.hear("a", {"openai_key": "of the plugin", OPENAI: "k1", ANTHROPIC: "k2"})
    assert keys.of("a") == {"anthropic_key": "k2"}


def test_only_keys_of_models_are_a_session_s_own() -> None:
    keys = SessionKeys()
    said = {"SUBCONSCIOUS_EMBEDDER_KEY": "k", "SUBCONSCIOUS_OPENAI_URL": "u", "SUBCONSCIOUS_PROVIDER": "p", OPENAI: ""}
    assert not keys.hear("a", said)
    assert keys.of("a") == {}


def test_only_so_many_sessions_are_held() -> None:
    keys = SessionKeys()
    for number in range(MOST_SESSIONS):
        keys.hear(str(number), {OPENAI: str(number)})
    keys.hear("0", {OPENAI: "0"})  # it speaks again
    keys.hear("new", {OPENAI: "new"})
    assert len(keys.sessions) == MOST_SESSIONS
    assert (keys.of("0"), keys.of("1")) == ({"openai_key": "0"}, {})
    assert "new" not in repr(keys)
