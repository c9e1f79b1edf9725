"""Whose a line of a transcript is that claims to be typed: decided once its hook has had its chance."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any

import pytest

from subconscious.app import App
from subconscious.authorship.attestation import EARLY, UNHEARD, record_prompt, record_spooled_prompt, vouch
from subconscious.authorship.forgery import UNHEARD_PROMPT, UNTYPED
from subconscious.capture.ingest import learn
from subconscious.capture.missing_prompts import expect
from subconscious.capture.transcript_source import Source, _read
from subconscious.context.entry import Entry, Payload
from subconscious.store import captures, sessions
from subconscious.store.projects import Project
from subconscious.transcripts import Reading

FIRST = "We decided to keep all amounts in integer cents."
SECOND = "From now on, run the linter before every commit."


@pytest.fixture
async def source(app: App, project: Project, tmp_path: Path) -> Source:
    """A session that hooks follow, and its transcript, which holds nothing that anybody typed."""
    path = tmp_path / "s.jsonl"
    path.write_text('{"type":"queue-operation","operation":"enqueue"}\n')
    async with app.database.write() as tx:
        await sessions.record_activity(tx, "s", project.id, time(), transcript=str(path), cwd="")
    app.sessions.vouched.add_session("s")
    return Source("s", project.id, str(path), watched=True)


def write(source: Source, number: str, text: str, ago: float = 0.0) -> None:
    at = datetime.fromtimestamp(time() - ago, UTC).isoformat()
    message = {"role": "user", "content": text}
    record = {"type": "user", "uuid": f"u{number}", "promptId": number, "sessionId": "s", "timestamp": at, "cwd": "/"}
    with Path(source.path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record | {"message": message}) + "\n")


async def hand_over(app: App, number: str, text: str, after: float = 0.0) -> None:
    await asyncio.sleep(after)
    payload = Payload("s", prompt=text, prompt_id=number)
    entry = Entry("e", "UserPromptSubmit", time(), "/", "", "", {}, payload)
    app.sessions.vouched.add(entry)
    await record_prompt(app, entry)


async def kept(app: App, source: Source) -> dict[str, str]:
    await learn(app, app.recall_context(), source)
    return {row["content"].split()[0]: row["status"] for row in await captures.listing(app.database)}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that comes may take as long as a busy machine needs."""
    monkeypatch.setattr("subconscious.capture.transcript_source.HOOK_SECONDS", 30.0)
    monkeypatch.setattr("subconscious.authorship.forgery.HOOK_SECONDS", 30.0)


@pytest.mark.usefixtures("patient")
async def test_a_prompt_whose_hook_is_on_its_way_is_a_persons(app: App, source: Source) -> None:
    write(source, "1", FIRST)
    await hand_over(app, "1", FIRST)
    write(source, "2", SECOND)
    hook = asyncio.create_task(hand_over(app, "2", SECOND, after=0.2))
    assert await kept(app, source) == {"We": "captured", "From": "captured"}
    await hook


@pytest.mark.parametrize("ago", [0.0, 60.0])
async def test_what_no_hook_hands_over_waits(
    app: App, source: Source, ago: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subconscious.capture.transcript_source.HOOK_SECONDS", 0.3)
    write(source, "1", FIRST)
    await hand_over(app, "1", FIRST)
    write(source, "2", SECOND, ago)
    assert await kept(app, source) == {"We": "captured", "From": "review"}


async def test_what_was_typed_before_there_was_a_daemon_is_believed(app: App, source: Source) -> None:
    """Even if the file had been looked at when nothing was typed in it."""
    assert await kept(app, source) == {}
    write(source, "1", FIRST, ago=5)
    write(source, "2", SECOND)
    await hand_over(app, "2", SECOND)
    assert await kept(app, source) == {"We": "captured", "From": "captured"}


@pytest.mark.usefixtures("patient")
async def test_the_line_of_the_first_vouched_prompt_may_come_after_its_hook(app: App, source: Source) -> None:
    write(source, "1", FIRST, ago=9)
    await hand_over(app, "2", SECOND)

    async def client() -> None:
        await asyncio.sleep(0.3)
        write(source, "2", SECOND)

    writing = asyncio.create_task(client())
    assert await kept(app, source) == {"We": "captured", "From": "captured"}
    await writing


async def test_what_is_vouched_for_later_says_nothing_of_what_was_read(
    app: App, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(source, "1", FIRST, ago=5)

    async def slow(*_: object) -> dict[str, object]:
        await hand_over(app, "2", SECOND)  # while the batch is being judged
        return {}

    monkeypatch.setattr("subconscious.capture.ingest.opinions_of", slow)
    assert await kept(app, source) == {"We": "captured"}


async def test_what_was_added_behind_the_first_prompts_waits(app: App, source: Source) -> None:
    write(source, "1", FIRST, ago=9)
    await hand_over(app, "1", FIRST)
    assert await kept(app, source) == {"We": "captured"}
    write(source, "2", SECOND, ago=8)
    write(source, "3", "Go on.", ago=7)
    await hand_over(app, "3", "Go on.")
    assert await kept(app, source) == {"We": "captured", "From": "review"}


@pytest.mark.slow
async def test_what_was_added_behind_a_command_waits(app: App, source: Source) -> None:
    """A command is no words of a person's: which lines stood before it can't be told."""
    await hand_over(app, "1", "/init")
    write(source, "1", "<command-message>init</command-message>\n<command-name>/init</command-name>", ago=60)
    assert await kept(app, source) == {}
    write(source, "9", FIRST, ago=30)
    write(source, "2", "Go on.", ago=9)
    await hand_over(app, "2", "Go on.")
    assert await kept(app, source) == {"We": "review"}


async def test_prompts_from_before_the_first_daemon_are_accepted_before_a_command(app: App, source: Source) -> None:
    """As on the first day: a statement while the environment is made, then `/subconscious:status`."""
    early = Payload("s", prompt=FIRST, prompt_id="1")
    await record_spooled_prompt(app, Entry("e", "UserPromptSubmit", time(), "/", "", "", {}, early), EARLY)
    write(source, "1", FIRST, ago=60)
    write(source, "9", SECOND, ago=30)
    await hand_over(app, "2", "/subconscious:status")
    assert await kept(app, source) == {"We": "captured", "From": "review"}


async def test_a_time_to_come_is_not_waited_for(app: App, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    write(source, "1", FIRST)
    await hand_over(app, "1", FIRST)
    assert await kept(app, source) == {"We": "captured"}
    write(source, "2", SECOND, ago=-900)
    monkeypatch.setattr("subconscious.capture.transcript_source.asyncio.sleep", None)  # nobody may wait
    assert await kept(app, source) == {"We": "captured", "From": "review"}


async def test_what_was_read_is_read_again_only_if_more_was_written(
    app: App, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subconscious.capture.transcript_source.HOOK_SECONDS", 0.5)
    await hand_over(app, "1", FIRST)
    write(source, "2", SECOND)
    times: list[str] = []

    def read_and_tell(path: str, *given: Any) -> Reading:
        times.append(path)
        return _read(path, *given)

    monkeypatch.setattr("subconscious.capture.transcript_source._read", read_and_tell)
    assert await kept(app, source) == {"From": "review"}
    assert len(times) == 1


async def test_each_caller_is_looked_at(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever hands over again what a person typed is not believed for that."""
    monkeypatch.setattr(
        "subconscious.authorship.attestation.doubt_of_hook", lambda process, root: "" if process == 1 else "no hook"
    )
    entry = Entry("e", "UserPromptSubmit", time(), "/", "", "", {}, Payload("s", prompt="/subconscious:forget 1"))
    assert await vouch(app, entry, 1) == ""
    assert await vouch(app, entry, 2) == "no hook"


async def test_what_nobody_vouches_for_ends_nothing(app: App, source: Source) -> None:
    write(source, "1", FIRST, ago=60.0)
    await hand_over(app, "1", FIRST)
    assert await kept(app, source) == {"We": "captured"}
    write(source, "2", "forget what I said about the amounts", ago=60.0)
    await kept(app, source)
    assert [row["archived_at"] for row in await app.database.rows("SELECT * FROM memories")] == [None]
    write(source, "3", "forget what I said about the amounts", ago=60.0)
    await hand_over(app, "3", "forget what I said about the amounts")
    await kept(app, source)
    assert [bool(row["archived_at"]) for row in await app.database.rows("SELECT * FROM memories")] == [True]


async def test_an_approved_plan_that_is_handed_over_as_a_prompt_is_not_typed(app: App, source: Source) -> None:
    for number, text in (("1", "Implement the following plan:\n\n# Plan: Never use floats"), ("2", FIRST)):
        payload = Payload(source.session_id, prompt=text, prompt_id=number)
        await expect(app, Entry("e", "UserPromptSubmit", time(), "/", "", "", {}, payload))
    assert [one.prompt_id for one in await sessions.unwritten_prompts(app.database, source.session_id)] == ["2"]


@pytest.mark.parametrize("unheard", [True, False])
async def test_the_reason_says_that_no_daemon_was_running(app: App, source: Source, unheard: bool) -> None:
    write(source, "1", FIRST, ago=60)
    write(source, "2", SECOND, ago=30)
    await hand_over(app, "1", FIRST)
    if unheard:
        spooled = Entry("e", "UserPromptSubmit", time(), "/", "", "", {}, Payload("s", prompt=SECOND, prompt_id="2"))
        await record_spooled_prompt(app, spooled, UNHEARD)
    await kept(app, source)
    (row,) = await captures.listing(app.database, status="review")
    assert (row["content"], row["reason"]) == (SECOND, UNHEARD_PROMPT if unheard else UNTYPED)
