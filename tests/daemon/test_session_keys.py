"""A key that a session only exports is used for that session: by the real daemon, at a provider on loopback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.app import App
from subconscious.capture.llm_extraction.refinement_worker import Refining
from subconscious.doctor import examine
from subconscious.domain.model import Decision, Origin
from subconscious.memories import poisoning_recheck
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import model_readings
from subconscious.store.model_readings import NewText
from subconscious.store.projects import Project
from tests.daemon.test_watching import ODD
from tests.support.daemons import configure, drained, eventually, new_session
from tests.support.fake_openai import FakeOpenAI
from tests.support.refining import PATIENCE, waits
from tests.support.reviewing import typed
from tests.support.rollbacks import brought

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="whose hook it is, is read from /proc")

VARIABLE = "SUBCONSCIOUS_OPENAI_KEY"
ONE, TWO = "sk-of-session-one", "sk-of-session-two"


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as model:
        model.keys = {ONE, TWO}
        yield model


@pytest.fixture
def asking(stopped: Home, model: FakeOpenAI) -> Home:
    """A state folder whose daemon has a provider, and no key for it."""
    configure(stopped, **model.config)
    wire.ensure_daemon(stopped)
    return stopped


def session_of(home: Home, folder: Path, key: str = "", **environ: str) -> Speaker:
    speaker = new_session(home, folder)
    speaker.environment |= {VARIABLE: key} if key else {}
    speaker.environment |= environ
    typed(speaker, home, "go on")
    return speaker


def finish(home: Home, speaker: Speaker, words: str) -> None:
    """Say something and end, so that the model is to read the session."""
    speaker.say(words)
    speaker.hook("drop", "SessionEnd", reason="other")
    drained(home)


def asked_with(model: FakeOpenAI, words: str) -> set[str]:
    """The keys with which the model was asked about a session that said these words."""
    return {key for key, body in model.requests if words.encode() in body}


def provider(home: Home, **args: Any) -> dict[str, Any]:
    found: dict[str, Any] = wire.call(home, "provider", args, 30)["providers"][0]
    return found


def test_two_sessions_are_asked_about_with_their_keys_and_a_third_waits(
    asking: Home, model: FakeOpenAI, tmp_path: Path
) -> None:
    one = session_of(asking, tmp_path / "one", ONE)
    two = session_of(asking, tmp_path / "two", TWO)
    third = session_of(asking, tmp_path / "third")
    finish(asking, third, "The third one fires the kiln at night.")
    finish(asking, one, "The first one fires the kiln at noon.")
    finish(asking, two, "The second one fires the kiln at dawn.")
    assert eventually(lambda: bool(asked_with(model, "at noon") and asked_with(model, "at dawn")), PATIENCE)
    assert (asked_with(model, "at noon"), asked_with(model, "at dawn")) == ({ONE}, {TWO})
    assert asked_with(model, "at night") <= {""}, "no session's key serves another"
    assert eventually(lambda: waits(asking)["due"] == 1 and bool(waits(asking)["reason"]), PATIENCE)
    kept = b"".join(path.read_bytes() for path in asking.root.rglob("*") if path.is_file())
    assert ONE.encode() not in kept
    assert ONE not in str(wire.call(asking, "status", {"session_id": one.id}))
    pid = wire.call(asking, "status")["pid"]
    assert ONE.encode() not in Path(f"/proc/{pid}/environ").read_bytes()


def test_a_daemon_that_begins_anew_waits_for_the_session_s_next_prompt(
    asking: Home, model: FakeOpenAI, tmp_path: Path
) -> None:
    one = session_of(asking, tmp_path / "one", ONE)
    one.say("The first one fires the kiln at noon.")
    one.hook("drop", "Stop")
    drained(asking)
    wire.call(asking, "stop")
    wire.await_absence(asking, 20)
    wire.ensure_daemon(asking)
    one.hook("drop", "PreCompact", trigger="auto")
    assert eventually(lambda: "key" in waits(asking)["reason"], PATIENCE)
    assert asked_with(model, "at noon") <= {""}
    typed(one, asking, "go on")
    assert eventually(lambda: ONE in asked_with(model, "at noon"), PATIENCE)
    assert eventually(lambda: waits(asking)["due"] == 0, PATIENCE)


def test_a_key_that_nobody_s_client_handed_over_is_not_used(asking: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    speaker = new_session(asking, tmp_path / "project")
    speaker.environment[VARIABLE] = ONE
    speaker.hook("ask", "UserPromptSubmit", prompt="go on")
    finish(asking, speaker, "The first one fires the kiln at noon.")
    assert eventually(lambda: "key" in waits(asking)["reason"], PATIENCE)
    assert ONE not in asked_with(model, "at noon")


def test_config_outranks_the_plugin_and_the_plugin_a_variable(stopped: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    configure(stopped, **model.config)
    wire.ensure_daemon(stopped)
    model.keys = {"of-config", "of-plugin", ONE}
    option = {"CLAUDE_PLUGIN_OPTION_OPENAI_KEY": "of-plugin"}
    finish(stopped, session_of(stopped, tmp_path / "one", ONE, **option), "One fires the kiln at noon.")
    assert eventually(lambda: bool(asked_with(model, "at noon")), PATIENCE)
    # The plugin of another session, which has none, takes that of all away; that session's variable stays its own.
    finish(stopped, session_of(stopped, tmp_path / "two", ONE), "Two fires the kiln at dawn.")
    assert eventually(lambda: bool(asked_with(model, "at dawn")), PATIENCE)
    wire.call(stopped, "stop")
    wire.await_absence(stopped, 20)
    configure(stopped, **model.config, openai_key='"of-config"')
    (stopped.root / "config.toml").chmod(0o600)
    wire.ensure_daemon(stopped)
    finish(stopped, session_of(stopped, tmp_path / "three", ONE, **option), "Three fires the kiln at night.")
    assert eventually(lambda: bool(asked_with(model, "at night")), PATIENCE)
    found = [asked_with(model, when) for when in ("at noon", "at dawn", "at night")]
    assert found == [{"of-plugin"}, {ONE}, {"of-config"}]
    assert provider(stopped)["key"] == "config.toml"


def test_a_session_s_address_is_nobody_s(asking: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    """Neither its own key nor another's goes where a session points."""
    with FakeOpenAI() as elsewhere:
        there = {"SUBCONSCIOUS_OPENAI_URL": elsewhere.url}
        finish(asking, session_of(asking, tmp_path / "two", TWO, **there), "Two fires the kiln at dawn.")
        finish(asking, session_of(asking, tmp_path / "one", ONE), "One fires the kiln at noon.")
        assert eventually(lambda: bool(asked_with(model, "at noon") and asked_with(model, "at dawn")), PATIENCE)
        assert elsewhere.requests == []


def test_status_and_doctor_say_where_a_key_comes_from(asking: Home, model: FakeOpenAI, tmp_path: Path) -> None:
    assert (provider(asking)["key"], provider(asking)["sessions_with_own_key"]) == ("", 0)
    one = session_of(asking, tmp_path / "one", ONE)
    assert provider(asking, session_id=one.id)["key"] == "this session's environment"
    assert provider(asking, session_id="another")["key"] == ""
    assert provider(asking)["sessions_with_own_key"] == 1
    session_of(asking, tmp_path / "two", "sk-wrong")
    finish(asking, session_of(asking, tmp_path / "three", "sk-wrong"), "Three fires the kiln at night.")
    assert eventually(lambda: "E050" in str(wire.call(asking, "status")["warnings"]), PATIENCE)
    warned = str(wire.call(asking, "status")["warnings"])
    assert "with the key of a session's environment" in warned
    assert "sk-wrong" not in warned
    found = {one.name: one for one in examine({"SUBCONSCIOUS_HOME": str(asking.root)})}
    assert "sk-wrong" not in str(found)


async def test_what_waited_for_a_session_s_key_is_due_at_once(app: App, tmp_path: Path) -> None:
    async with app.database.write() as tx:
        for number, session in enumerate("ab"):
            await model_readings.record_new_text(tx, NewText(f"/{session}", session, "p", 0, "", 10, 10), 1)
            await model_readings.retry_later(tx, number + 1, 1e12, "no key", failed=False)
        await tx.execute("UPDATE model_readings SET retry_at = ?", (9e9,))
    app.hear_keys("a", {VARIABLE: ONE})
    await Refining(app)._unlock()
    rows = await app.database.rows("SELECT session_id, retry_at FROM model_readings ORDER BY id")
    assert [tuple(row) for row in rows] == [("a", 0), ("b", 9e9)]
    assert app.sessions.rekeyed == set()


async def test_a_flagged_session_without_a_key_does_not_keep_others_from_a_second_look(
    app: App, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    app.llm.reconfigure(Settings(provider="anthropic"))
    for number in range(poisoning_recheck.ASKED_A_ROUND + 1):
        await brought(app.database, project, "keyless", f"{ODD} {number}", origin=Origin.TOOL, decision=Decision.REVIEW)
    await brought(app.database, project, "s", f"{ODD} At last.", origin=Origin.TOOL, decision=Decision.REVIEW)
    app.hear_keys("s", {"SUBCONSCIOUS_ANTHROPIC_KEY": ONE})

    async def answer(request: Any, session_id: str = "", project_id: str = "") -> Any:
        seen.append(session_id)
        return None  # no opinion: the note waits on

    monkeypatch.setattr(app.llm, "ask", answer)
    await poisoning_recheck.ask_again(app)
    assert seen == ["s"]


async def test_the_source_of_a_key_is_known(app: App) -> None:
    app.llm.reconfigure(Settings(provider="anthropic"))
    app.hear_keys("s", {"SUBCONSCIOUS_ANTHROPIC_KEY": ONE})
    assert app.llm.channels_for("s")[0].access.key == ONE
    assert (app.key_source("anthropic", "s"), app.key_source("anthropic")) == ("this session's environment", "")
    app.adopt({"anthropic_key": "of the plugin"})
    assert app.key_source("anthropic") == "the plugin's options"
    app.hear_keys("s", {})
    assert app.key_source("anthropic", "s") == "the plugin's options"
