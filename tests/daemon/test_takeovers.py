"""The question whether a statement replaces another: at which starts it is shown, and which prompts answer it."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from daemon.events import EVENTS
from daemon.spool import Spool
from subconscious.app import App
from subconscious.app.work import Work
from subconscious.authorship.attestation import COMMANDED, VOUCHED, record_prompt
from subconscious.capture.missing_prompts import expect
from subconscious.context.entry import Entry, parse_entry
from subconscious.domain.model import Level, Memory, Origin, Verdict
from subconscious.history import undoing
from subconscious.hook_responses import Answers
from subconscious.settings.settings import Settings
from subconscious.store import events, jobs, links, memories, poison, sessions, takeovers
from subconscious.supersession import succession
from subconscious.supersession import takeovers as asking
from tests.support.values import make_memory

OLD, NEW = "We use Redis for the events.", "From now on we use NATS instead of Redis."
LINE = f'Subconscious: does "{NEW}" replace "{OLD}"? Type "yes" or "no" (or ignore this).'
MODEL = "claude-opus-4-8"
NUMBERS = count(1)


@dataclass
class Session:
    """A session whose hooks ask, as the client's own unless there is a ``doubt``."""

    app: App
    folder: Path
    id: str
    client: str = "100-1"

    @property
    def transcript(self) -> Path:
        return self.folder / f"{self.id}.jsonl"

    async def start(self, source: str = "startup", model: str = MODEL, doubt: str = "") -> str:
        """What the user is shown at a start."""
        return str((await self._ask("SessionStart", doubt, source=source, model=model)).get("systemMessage", ""))

    async def type(self, prompt: str, doubt: str = "") -> str:
        """What the user is shown instead of a turn; "" if the prompt goes to the model."""
        said = await self._ask("UserPromptSubmit", doubt, prompt=prompt, prompt_id=f"p{next(NUMBERS)}")
        return str(said["reason"]) if said.get("decision") == "block" else ""

    async def _ask(self, event: str, doubt: str, **payload: str) -> dict[str, Any]:
        entry = self.entry(event, **payload)
        if not doubt:
            self.app.sessions.vouched.add_session(self.id, self.client)
        if not doubt and event == "UserPromptSubmit":
            self.app.sessions.vouched.add(entry)
        answer = await Answers(self.app, Spool(self.app).sweep).answer(entry, doubt)
        if event == "UserPromptSubmit":
            await record_prompt(self.app, entry)
        said: dict[str, Any] = json.loads(answer) if answer else {}
        return said

    def entry(self, event: str, **payload: str) -> Entry:
        said = {"session_id": self.id, "transcript_path": str(self.transcript), "cwd": str(self.folder), **payload}
        header = f"subconscious 1\t{event}\t1\t{self.folder}\t\t0.1.0\t\n"
        return parse_entry(f"{next(NUMBERS):020d}-1-00000000.entry", (header + json.dumps(said)).encode())


Begin = Callable[[str], Session]


@pytest.fixture
def begin(app: App, tmp_path: Path) -> Begin:
    """Make a session in the project."""
    return lambda number: Session(app, tmp_path, f"session-{number}")


@dataclass(frozen=True)
class Doubt:
    """A statement that may replace an older one, and the link that proposes it."""

    new: int
    old: int
    link: int


async def stored(app: App, project_id: str, content: str, at: float, **changes: Any) -> Memory:
    made = make_memory(content, project_id=project_id, said_at=at, **changes)
    async with app.database.write() as tx:
        return await memories.insert(tx, made)


Put = Callable[..., Awaitable[Doubt]]


@pytest.fixture
async def put(app: App, tmp_path: Path) -> Put:
    """Put two statements into the project of which the later may replace the earlier."""
    project = await app.project_of(str(tmp_path))

    async def put(new: str = NEW, old: str = OLD, **changes: Any) -> Doubt:
        before = await stored(app, project.id, old, 1_000.0)
        after = await stored(app, project.id, new, 2_000.0, **changes)
        async with app.database.write() as tx:
            await succession.propose(tx, after, before.id)
            made = await links.between(tx, after.id, before.id)
        return Doubt(after.id, before.id, made[0].id if made else 0)

    return put


@pytest.fixture
async def doubt(put: Put) -> Doubt:
    """An open question."""
    return await put()


async def status(app: App, doubt: Doubt) -> str:
    async with app.database.write() as tx:
        return (await links.require(tx, doubt.link)).status


async def in_force(app: App, doubt: Doubt) -> set[int]:
    both = await memories.get_many(app.database, [doubt.new, doubt.old])
    project_id = both[doubt.new].project_id
    return {one.id for one in await succession.still_in_force(app.database, list(both.values()), project_id)}


def asks(shown: str) -> bool:
    """Whether a start shows a question."""
    return "replace" in shown


async def test_yes_replaces_and_undo_reverts_it(app: App, begin: Begin, doubt: Doubt) -> None:
    assert await in_force(app, doubt) == {doubt.new, doubt.old}
    session = begin("1")
    assert LINE in (await session.start()).splitlines()
    assert await session.type("yes") == asking.REPLACED
    assert await in_force(app, doubt) == {doubt.new}
    (told,) = app.sessions.recent_turns.pop_notes(session.id)
    assert NEW in told
    assert OLD in told
    history = await events.history(app.database, "link", str(doubt.link))
    assert [(event["actor"], event["action"]) for event in history] == [("daemon", "link"), ("user", "relink")]
    await undoing.undo_acts(app, undoing.UndoRequest(number=1))
    assert await in_force(app, doubt) == {doubt.new, doubt.old}
    assert not asks(await begin("2").start())


@pytest.mark.parametrize("word", ["No", "nein", " non ", "n.", "いいえ", "不"])
async def test_no_keeps_both_and_is_never_asked_again(app: App, begin: Begin, doubt: Doubt, word: str) -> None:
    session = begin("1")
    await session.start()
    assert await session.type(word) == asking.KEPT_BOTH
    assert await status(app, doubt) == "refused"
    assert await in_force(app, doubt) == {doubt.new, doubt.old}
    assert not asks(await begin("2").start())


async def test_another_prompt_leaves_it_for_the_next_start_and_the_third_is_silent(
    app: App, begin: Begin, doubt: Doubt
) -> None:
    first, second, third = (begin(number) for number in "123")
    assert LINE in await first.start()
    assert await first.type("yes, and fix the upload") == ""
    assert await first.type("yes") == ""
    assert LINE in await second.start()
    assert not asks(await third.start())
    assert await third.type("yes") == ""
    assert await status(app, doubt) == "proposed"
    assert await in_force(app, doubt) == {doubt.new, doubt.old}


@pytest.mark.parametrize("source", ["resume", "clear", "compact"])
async def test_only_a_session_that_begins_is_asked(begin: Begin, doubt: Doubt, source: str) -> None:
    assert not asks(await begin("1").start(source))


async def test_a_headless_session_is_not_asked(app: App, begin: Begin, doubt: Doubt) -> None:
    session = begin("1")
    assert not asks(await session.start(model=""))
    assert await session.type("yes") == ""
    assert await status(app, doubt) == "proposed"
    assert LINE in await begin("2").start()


async def test_nothing_is_asked_where_receipts_are_switched_off(app: App, begin: Begin, doubt: Doubt) -> None:
    app.settings = Settings(embedder="none", receipts=False)
    assert not asks(await begin("1").start())


async def test_a_hook_that_is_not_the_clients_is_neither_asked_nor_believed(
    app: App, begin: Begin, doubt: Doubt
) -> None:
    assert not asks(await begin("forged").start(doubt="a command asked"))
    session = begin("1")
    assert LINE in await session.start()
    assert await session.type("yes", doubt="a command asked") == ""
    assert await session.type("yes") == ""
    assert await status(app, doubt) == "proposed"


async def test_another_client_in_the_same_session_does_not_answer(app: App, begin: Begin, doubt: Doubt) -> None:
    session = begin("1")
    await session.start()
    session.client = "200-2"
    assert await session.type("yes") == ""
    assert await status(app, doubt) == "proposed"


async def test_a_yes_to_the_assistant_is_not_an_answer_although_a_prompt_was_missed(
    app: App, begin: Begin, doubt: Doubt
) -> None:
    session = begin("1")
    await session.start()
    said = {"type": "assistant", "message": {"role": "assistant", "content": "Shall I delete it?"}}
    session.transcript.write_text(json.dumps(said) + "\n")
    assert await session.type("yes") == ""
    assert await status(app, doubt) == "proposed"


async def test_a_transcript_that_is_no_file_makes_no_prompt_an_answer(app: App, begin: Begin, doubt: Doubt) -> None:
    session = begin("1")
    await session.start()
    session.transcript.mkdir()
    assert await session.type("yes") == ""


async def test_the_answer_of_a_second_session_changes_nothing(app: App, begin: Begin, doubt: Doubt) -> None:
    one, other = begin("1"), begin("2")
    await one.start()
    assert LINE in await other.start()
    await one.type("yes")
    assert await other.type("no") == asking.SETTLED
    assert await status(app, doubt) == "active"


async def test_a_start_that_did_not_reach_the_client_does_not_count(app: App, begin: Begin, doubt: Doubt) -> None:
    session = begin("1")
    answers = Answers(app, Spool(app).sweep)
    for _ in range(3):
        before = await answers.before(session.id)
        assert LINE in await session.start()
        await answers.take_back(before)
    assert await session.type("yes") == ""
    assert LINE in await session.start()


async def test_one_question_at_a_time(app: App, begin: Begin, doubt: Doubt, put: Put) -> None:
    assert LINE in await begin("1").start()
    await put("Releases go out on Friday.", "Releases go out on Monday.")
    assert LINE in await begin("2").start()
    shown = await begin("3").start()
    assert shown.count("replace") == 1
    assert "Friday" in shown


@pytest.mark.parametrize("origin", [Origin.ASSISTANT, Origin.TOOL])
async def test_only_what_the_user_typed_is_asked_about(put: Put, begin: Begin, origin: Origin) -> None:
    await put(origin=origin)
    assert not asks(await begin("1").start())


async def test_what_is_out_of_use_is_not_asked_about(app: App, begin: Begin, doubt: Doubt) -> None:
    async with app.database.write() as tx:
        await memories.archive(tx, await memories.require(tx, doubt.old), "user", "forgotten")
    assert not asks(await begin("1").start())


async def test_what_looks_poisoned_is_not_asked_about_and_hides_no_other_question(
    app: App, begin: Begin, doubt: Doubt, put: Put
) -> None:
    newer = await put("Releases go out on Friday.", "Releases go out on Monday.")
    async with app.database.write() as tx:
        await poison.record_check(tx, newer.new, Verdict(level=Level.LOW))
    assert LINE in await begin("1").start()


async def test_an_answer_is_no_prompt_of_the_session(app: App, begin: Begin, doubt: Doubt) -> None:
    session = begin("1")
    await session.start()
    await session.type("yes")
    assert await events.reasons_of(app.database, VOUCHED, "prompt", f"{session.id}/") == {COMMANDED}
    # The job of the same prompt runs before the hook has its answer, or after it.
    (row,) = await app.database.rows("SELECT prompt_id FROM prompts WHERE session_id = ?", (session.id,))
    await expect(app, session.entry("UserPromptSubmit", prompt="yes", prompt_id=row["prompt_id"]))
    assert await sessions.unwritten_prompts(app.database, session.id) == []


async def test_a_yes_in_the_spool_answers_nothing(app: App, begin: Begin, doubt: Doubt) -> None:
    session = begin("1")
    await session.start()
    entry = session.entry("UserPromptSubmit", prompt="yes", prompt_id="forged")
    header = f"subconscious 1\tUserPromptSubmit\t{time.time_ns()}\t{session.folder}\t\t0.1.0\t\n"
    said = {"session_id": session.id, "prompt": "yes", "prompt_id": "forged", "cwd": str(session.folder)}
    (app.home.spool / entry.name).write_text(header + json.dumps(said))
    spool = Spool(app)
    await spool.sweep()
    async with app.database.write() as tx:
        job = await jobs.lease(tx, time.time(), 60.0)
    assert job is not None
    await EVENTS[job.event](Work(app, job, entry))
    assert await status(app, doubt) == "proposed"


async def test_status_and_review_show_it_and_review_answers_it(app: App, begin: Begin, doubt: Doubt) -> None:
    session = begin("1")
    for command in ("/subconscious:status", "/subconscious:review"):
        assert f'does "{NEW}" replace "{OLD}"?' in await session.type(command)
    assert "a command asked" in await session.type("/subconscious:review yes", doubt="a command asked")
    assert await status(app, doubt) == "proposed"
    assert await session.type("/subconscious:review yes") == asking.REPLACED
    assert await status(app, doubt) == "active"
    assert "no question is open" in await session.type("/subconscious:review no")


async def test_status_has_the_words_for_the_terminal_and_numbers_for_the_model(
    app: App, begin: Begin, doubt: Doubt
) -> None:
    project = await app.project_of(str(begin("1").folder))
    told = await asking.describe(app, project.id, to_person=True)
    assert told is not None
    assert told["wording"] == f'does "{NEW}" replace "{OLD}"?'
    assert (told["link_id"], told["new_id"], told["old_id"]) == (doubt.link, doubt.new, doubt.old)
    shown = await asking.describe(app, project.id, to_person=False)
    assert shown == told | {"wording": ""}
    assert await asking.describe(app, "another project", to_person=True) is None


async def test_an_answer_that_is_undone_is_not_asked_again(app: App, begin: Begin, doubt: Doubt) -> None:
    session = begin("1")
    await session.start()
    await session.type("yes")
    async with app.database.write() as tx:
        await links.change(tx, await links.require(tx, doubt.link), "user", "undone", status="proposed")
    assert not asks(await begin("2").start())
    assert await takeovers.by_link(app.database, doubt.link) is not None


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        *((word, True) for word in ("yes", "Y", "JA!", "sí", "はい", "是")),
        ("no.", False),
        *((prompt, None) for prompt in ("yes please", "", "y/n", "ok", '"yes"', "yes?")),
    ],
)
def test_one_word_is_an_answer(prompt: str, meant: bool | None) -> None:
    assert asking.answer_in(prompt) is meant
