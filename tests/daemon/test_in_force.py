"""Which settings hold: those of the first start, and after that what a person's word or a person's client says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.app import App
from subconscious.app.reconfigure import put_in_force
from subconscious.capture.llm_extraction.refinement_worker import Refining
from subconscious.doctor import examine
from subconscious.domain.errors import CapReachedError
from subconscious.settings.home import Home
from subconscious.store import model_readings
from subconscious.store.model_readings import NewText, Span
from tests.support import terminal
from tests.support.daemons import configure, drained, eventually, new_session
from tests.support.fake_openai import FakeOpenAI
from tests.support.refining import HINTED, PATIENCE, of_model, sees, waits
from tests.support.reviewing import typed

OPTION = "CLAUDE_PLUGIN_OPTION_PROVIDER"


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as model:
        yield model


def configured(home: Home, model: FakeOpenAI, **values: object) -> None:
    """How a model would be reached; none is chosen unless ``values`` do."""
    reached = {name: value for name, value in model.config.items() if name != "provider"}
    configure(home, **(reached | values))


def again(home: Home) -> None:
    wire.call(home, "stop")
    wire.await_absence(home, 20)
    wire.ensure_daemon(home)


def providers(home: Home) -> list[str]:
    return [one["name"] for one in wire.call(home, "status")["provider"]["providers"]]


def warned(home: Home) -> str:
    return " ".join(wire.call(home, "status")["warnings"])


def set_of(home: Home) -> dict[str, Any]:
    found: dict[str, Any] = wire.call(home, "status")["settings"]
    return found


@pytest.fixture
def chooser(stopped: Home, model: FakeOpenAI, tmp_path: Path) -> Speaker:
    """A session whose person has chosen a provider among the plugin's options."""
    configured(stopped, model)
    wire.ensure_daemon(stopped)
    speaker = new_session(stopped, tmp_path / "project")
    speaker.environment[OPTION] = "openai"
    return speaker


def test_what_the_first_start_finds_holds(stopped: Home, model: FakeOpenAI) -> None:
    configured(stopped, model, provider='"openai"', provider_fallback='["ollama"]', cost_per_day=3)
    wire.ensure_daemon(stopped)
    assert (providers(stopped), warned(stopped)) == (["openai", "ollama"], "")
    assert set_of(stopped)["cost_per_day"] == 3
    configured(stopped, model, provider='"openai"', provider_fallback='["anthropic"]', cost_per_day=300)
    again(stopped)
    assert (providers(stopped), set_of(stopped)["cost_per_day"]) == (["openai", "ollama"], 3)
    assert "cost_per_day = 300.0 is not applied yet" in warned(stopped)
    found = {one.name: one for one in examine({"SUBCONSCIOUS_HOME": str(stopped.root)}) if not one.ok}
    assert "not applied until you approve them: cost_per_day, provider_fallback" in found["settings"].detail
    changed = terminal.ask(stopped, "accept_settings")["result"]["changed"]
    assert changed == {"cost_per_day": [3, 300], "provider_fallback": [["ollama"], ["anthropic"]]}
    assert (providers(stopped), warned(stopped)) == (["openai", "anthropic"], "")
    assert wire.call(stopped, "provider")["spending"]["cap"] == 300


def test_a_provider_that_is_chosen_in_the_client_reads_sessions(chooser: Speaker, model: FakeOpenAI) -> None:
    home = Home(Path(chooser.environment["SUBCONSCIOUS_HOME"]))
    model.script = sees(HINTED)
    typed(chooser, home, "go on")
    assert providers(home) == ["openai"]
    chooser.say(HINTED)
    chooser.hook("drop", "Stop")
    drained(home)
    assert waits(home)["gathering"] == 1
    again(home)  # until a hook speaks, the daemon that is new knows nobody to ask; what waits, waits
    assert (providers(home), waits(home)["gathering"]) == ([], 1)
    typed(chooser, home, "go on")
    assert providers(home) == ["openai"]
    chooser.hook("drop", "SessionEnd", reason="other")
    assert eventually(lambda: bool(of_model(home)), PATIENCE)


def test_a_provider_that_anybody_may_have_written_is_not_asked(chooser: Speaker, model: FakeOpenAI) -> None:
    """An entry of the spool, and a question that no hook of a client's put."""
    home = Home(Path(chooser.environment["SUBCONSCIOUS_HOME"]))
    chooser.ask("UserPromptSubmit", prompt="go on")
    chooser.hook("ask", "UserPromptSubmit", prompt="go on")
    chooser.say(HINTED)
    chooser.hook("drop", "SessionEnd", reason="other")
    drained(home)
    assert providers(home) == []
    assert model.bodies == []


def test_config_takes_no_choice_of_a_persons_away(chooser: Speaker, model: FakeOpenAI) -> None:
    home = Home(Path(chooser.environment["SUBCONSCIOUS_HOME"]))
    configured(home, model, provider='"ollama"')
    again(home)
    typed(chooser, home, "go on")
    assert providers(home) == ["openai"]
    assert "provider = ollama is not applied yet" in warned(home)
    terminal.ask(home, "accept_settings")
    assert providers(home) == ["ollama"]  # config.toml goes before the plugin's options


def test_more_redaction_needs_nobodys_word_and_less_of_it_a_persons(stopped: Home, tmp_path: Path) -> None:
    wire.ensure_daemon(stopped)
    speaker = new_session(stopped, tmp_path / "project")

    def kept(name: str) -> str:
        answer = terminal.ask(
            stopped, "remember", text=f"Write to {name}@tiny-hosting.io about disks.", cwd=str(speaker.project)
        )
        return str(answer["result"]["memory"]["content"])

    assert "one@tiny" in kept("one")
    configure(stopped, redact_email='"redact"')
    again(stopped)
    assert "two@tiny" not in kept("two")
    terminal.ask(stopped, "accept_settings")
    configure(stopped, redact_email='"off"')
    again(stopped)
    assert "three@tiny" not in kept("three")
    assert "redact_email = off is not applied yet" in warned(stopped)
    terminal.ask(stopped, "accept_settings")
    assert "four@tiny" in kept("four")


def test_notes_are_judged_by_what_is_in_force(stopped: Home, tmp_path: Path) -> None:
    wire.ensure_daemon(stopped)
    configure(stopped, auto_threshold=0.1, review_threshold=0.05)
    again(stopped)
    folder = tmp_path / "project"
    folder.mkdir()
    note = folder / "notes.md"
    note.write_text("# Notes\n\nLet's use black for the formatting. What do you think?\n")
    fate = terminal.ask(stopped, "import_file", transcript=str(note), cwd=str(folder), vouched=True)["result"]
    assert fate["captured"] == 0


WAITS = NewText("f.jsonl", "s1", "", 0, "", 10, 50)


async def gathered(app: App) -> Span:
    """Something that is due to be read by a model."""
    async with app.database.write() as tx:
        await model_readings.record_new_text(tx, WAITS, 1)
    span = await model_readings.next_due(app.database, time())
    assert span is not None
    return span


async def test_what_waits_for_a_budget_is_due_as_soon_as_other_settings_are_accepted(app: App) -> None:
    span = await gathered(app)
    async with app.database.write() as tx:
        await model_readings.retry_later(tx, span.id, time() + 9e4, "the cap is reached", failed=False)
    assert await model_readings.next_due(app.database, time()) is None
    app.signals.gathered.clear()
    await put_in_force(app, {"cost_per_day": 5.0})
    assert await model_readings.next_due(app.database, time()) is not None
    assert app.signals.gathered.is_set()


async def test_a_cap_that_was_reached_before_settings_were_accepted_keeps_nothing_waiting(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    span = await gathered(app)

    async def accepted_meanwhile(self: Refining, span: Span) -> None:
        await put_in_force(app, {"cost_per_day": 5.0})
        raise CapReachedError("the cap of $0 is reached", retry_at=time() + 9e4)

    monkeypatch.setattr(Refining, "_read", accepted_meanwhile)
    await Refining(app)._try_to_read(span)
    assert await model_readings.next_due(app.database, time()) is not None
