"""What a session's answers leave for later prompts, and which prompt is given which sentences of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

import pytest

from bench import answer_pairs, story_pairs
from subconscious.domain.model import Admission, Decision
from subconscious.review import rules
from subconscious.sessions import Handover, Sketch, Transcript, past_work, with_answers
from subconscious.sessions import answers as past_answers
from subconscious.sessions.answers import closest
from subconscious.sessions.continuing import HANDED
from subconscious.sessions.handover import handover_of, permits
from subconscious.sessions.sentences import stands_alone, without_lines
from subconscious.sessions.sketch import Answer
from subconscious.sessions.telling import is_routine
from subconscious.store import captures, handovers, memories
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.surfacing.proactive import Prompt, surface_prompt
from subconscious.text.quoting import CLOSING, OPENING
from subconscious.transcripts import State, read_turns
from tests.support.candidates import make_candidate
from tests.support.minds import store
from tests.unit.test_past_work import BRANCH, COLOURS, LICENCE, meaning, minded, nothing, over

CODE = "def charge(order):\n    gateway.capture(order.total)\n"
DEED = "Changed `charge()` so that a partial refund keeps its currency, because totals are kept per order."
FINDING = "Uploads stop early because charge() in src/pay/charge.py captures the total at once."
LAST = "Renamed the invoice template and moved its footer into a partial of its own, which all letters share."
PAD = "Nothing else of the order flow was touched, so the other callers work as they did before this change."


def use(name: str, result: str, **given: str) -> tuple[Mapping[str, Any], str]:
    return {"name": name, "input": given}, result


def transcript(folder: Path, *turns: tuple[str, Sequence[tuple[Mapping[str, Any], str]], str]) -> Path:
    """Write a session: what was asked, the tools that were used, and the answer, turn by turn."""
    rows: list[Mapping[str, Any]] = []
    for asked, tools, answer in turns:
        rows.append({"type": "user", "message": {"role": "user", "content": asked}})
        for at, (tool, result) in enumerate(tools):
            block = {"type": "tool_use", "id": f"u{len(rows)}-{at}", **tool}
            rows.append({"type": "assistant", "message": {"role": "assistant", "content": [block]}})
            found = {"type": "tool_result", "tool_use_id": block["id"], "content": result}
            rows.append({"type": "user", "message": {"role": "user", "content": [found]}})
        said = {"role": "assistant", "content": [{"type": "text", "text": answer}]}
        rows.append({"type": "assistant", "message": said})
    path = folder / "session.jsonl"
    path.write_text(
        "".join(
            json.dumps({"uuid": f"l{at}", "timestamp": "2026-01-05T10:00:00Z", "sessionId": "s", **row}) + "\n"
            for at, row in enumerate(rows)
        )
    )
    return path


def answers(path: Path) -> tuple[Answer, ...]:
    reading = read_turns(path, 0, State(), final=True)
    sketch = with_answers(Sketch().after(reading.turns), Transcript(path, reading.offset))
    return Sketch.from_json(sketch.to_json()).answers


def sentences(path: Path) -> list[str]:
    return [sentence for answer in answers(path) for sentence in answer.told]


EDITED = use("Edit", "ok", file_path="/p/src/pay/charge.py", old_string="x", new_string=CODE)
READ = use("Read", CODE, file_path="/p/src/pay/charge.py")


def test_every_long_answer_is_kept_with_its_request(tmp_path: Path) -> None:
    path = transcript(
        tmp_path,
        ("Fix the refunds in charge.py", [EDITED], f"{DEED} {PAD}"),
        ("Rename the invoice template", [], f"{LAST} {PAD}"),
    )
    found = answers(path)
    assert [answer.asked for answer in found] == ["Fix the refunds in charge.py", "Rename the invoice template"]
    assert [answer.told[0] for answer in found] == [DEED, LAST]


def test_what_a_tool_said_is_not_kept(tmp_path: Path) -> None:
    planted = "Changed builds fetch their parts from the fast mirror of the platform team instead of the old one."
    page = use("WebFetch", planted, url="https://example.com")
    path = transcript(tmp_path, ("Why do uploads stop?", [EDITED, page], f"{DEED} {planted} {PAD}"))
    assert sentences(path) == [DEED]


def test_what_the_session_did_not_write_is_not_explained(tmp_path: Path) -> None:
    assert sentences(transcript(tmp_path, ("Why?", [READ], f"{FINDING} {DEED} {PAD}"))) == [DEED]
    assert sentences(transcript(tmp_path, ("Why?", [EDITED], f"{FINDING} {DEED} {PAD}"))) == [FINDING, DEED]


def test_bare_states_are_not_kept(tmp_path: Path) -> None:
    report = f"{DEED}\nCommitted as 1a2b3c4.\nAll 12 tests pass.\nEverything is done.\n{PAD}"
    path = transcript(tmp_path, ("Fix the refunds", [EDITED], report))
    assert sentences(path) == [DEED]


def test_a_row_of_a_table_is_told_as_a_sentence(tmp_path: Path) -> None:
    table = "| File | Change |\n|---|---|\n| `charge.py` | Rounds each refund once | ok |\n| Build | PASS |"
    path = transcript(tmp_path, ("Fix the refunds", [EDITED], f"{DEED}\n\n{table}\n\n{PAD}"))
    assert sentences(path) == [DEED, "`charge.py`: Rounds each refund once"]


def test_an_answer_that_the_assistant_went_on_from_is_none(tmp_path: Path) -> None:
    path = transcript(tmp_path, ("Fix it", [], f"{DEED} {PAD}"), ("go on", [EDITED], "Done."))
    rows = path.read_text().splitlines(keepends=True)
    path.write_text("".join(rows[:2] + rows[3:]))
    assert sentences(path) == []


@pytest.mark.parametrize(
    ("request_", "gives"),
    [
        ("I allow you to commit with '--no-verify'", True),
        ("you can skip the checks for this one", True),
        ("allow users to upload two files", False),
        ("you can find the log in var/", False),
    ],
)
def test_a_permission_is_not_told_again(tmp_path: Path, request_: str, gives: bool) -> None:
    assert permits(request_) is gives
    path = transcript(tmp_path, (request_, [EDITED], f"{DEED} {PAD}"))
    (answer,) = answers(path)
    assert (answer.asked == "") is gives
    reading = read_turns(path, 0, State(), final=True)
    assert (handover_of(Sketch().after(reading.turns)).asked == "") is gives


@pytest.mark.parametrize(
    ("asked", "routine"),
    [
        ("commit", True),
        ("commit and push, then update the changelog.md", True),
        ("now open a draft PR please", True),
        ("fix the tests", True),
        ("fix the rounding tests", False),
        ("commit the new parser", False),
    ],
)
def test_routine_is_about_no_session_in_particular(tmp_path: Path, asked: str, routine: bool) -> None:
    assert is_routine(asked) is routine
    (answer,) = answers(transcript(tmp_path, (asked, [EDITED], f"{DEED} {PAD}")))
    assert (answer.asked == "") is routine


async def test_a_routine_prompt_is_given_no_earlier_work(database: Database, project: Project) -> None:
    routine = Answer(time() - 3600.0, "commit", ("Left `draft.txt` out of the commit, as the release notes said.",))
    story = Handover(asked='"commit"', done='commit "Add notes"', answers=(routine,))
    await over(database, project, {"commit": story, "licence": LICENCE, "colours": COLOURS})
    assert await given(database, project, "commit, then open a draft PR") == ""
    assert "draft.txt" in await given(database, project, "is draft.txt left out of the commit of the release notes?")


def test_answers_are_stored_with_the_hand_over() -> None:
    told = (Answer(3.5, "Fix it", (DEED, LAST)), Answer(4.0, "", (FINDING,)))
    left = Handover(asked='"Fix it"', answers=told)
    assert Handover.from_json(left.to_json()) == left
    broken = json.dumps({"asked": "x", "answers": [[1, 2], "y", [1.0, "a", 3], [5, "a", "b"]]})
    assert Handover.from_json(broken).answers == (Answer(5.0, "a", ("b",)),)


ASKED = "Can you track the branch name of a checkpoint in metadata.json?"
TOLD = Answer(
    time() - 86_400.0,
    "store the branch of a checkpoint in metadata.json",
    (
        "Added `Branch` to the checkpoint metadata that WriteCommitted stores in metadata.json.",
        "The branch name in metadata.json stays empty on a detached head of a checkpoint.",
        "Moved the button tests.",
    ),
)
ANSWERED = replace(BRANCH, reported="Renamed a test.", answers=(TOLD, Answer(1.0, "rename it", ("Renamed a test.",))))
ALL = {"branch": ANSWERED, "licence": LICENCE, "colours": COLOURS}


async def given(database: Database, project: Project, text: str = ASKED, **settings: object) -> str:
    return (await surface_prompt(minded(database, **settings), Prompt("now", project.id, text, "main"))).text


async def test_a_prompt_is_given_the_sentences_that_it_is_about(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    told = await given(database, project)
    assert 'asked "store the branch of a checkpoint in metadata.json"' in told
    assert TOLD.told[0] in told
    assert TOLD.told[1] in told
    assert "button" not in told
    assert "Renamed a test" not in told
    assert len(told) - len(OPENING) - len(CLOSING) <= 600
    assert [one.event for one in await handovers.of_session(database, "now")] == ["prompt/answer"]
    assert await given(database, project) == ""


@pytest.mark.parametrize("text", ["commit and push", "Why is the sky dark at night?"])
async def test_other_prompts_are_given_no_answer(database: Database, project: Project, text: str) -> None:
    await over(database, project, ALL)
    assert await given(database, project, text) == ""


async def test_words_alone_are_not_enough_for_an_answer(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    ctx = replace(minded(database), embed=nothing)
    assert (await surface_prompt(ctx, Prompt("now", project.id, ASKED, "main"))).text == ""


async def test_what_a_person_rejected_is_not_told_from_an_answer(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    async with database.write() as tx:
        said = make_candidate(TOLD.told[0])
        place = SessionRef(project.id, "branch")
        number = await captures.insert(tx, said, Admission(Decision.REVIEW, 0.8, "x"), place, 7)
        assert number is not None
        await rules.reject(tx, number, "wrong")
    told = await given(database, project)
    assert TOLD.told[0] not in told
    assert TOLD.told[1] in told


@pytest.mark.parametrize("actor", ["user", "daemon"])
async def test_what_a_person_forgot_is_not_told_from_an_answer(
    database: Database, project: Project, actor: str
) -> None:
    await over(database, project, ALL)
    number = await store(database, project, TOLD.told[0])
    async with database.write() as tx:
        await memories.archive(tx, await memories.get(database, number), actor, "x")
    assert (TOLD.told[0] in await given(database, project)) is (actor == "daemon")


async def test_nobody_waits_for_an_embedder_that_is_late(database: Database, project: Project) -> None:
    await over(database, project, ALL)
    embedded: list[str] = []

    async def late(text: str) -> Any:
        embedded.append(text)
        return await meaning(text) if text == ASKED else None

    ctx = replace(minded(database), embed=late)
    assert (await surface_prompt(ctx, Prompt("now", project.id, ASKED, "main"))).text == ""
    assert len([text for text in embedded if text in TOLD.told]) == 1


async def test_two_answers_fit_the_budget_of_a_session(database: Database, project: Project) -> None:
    alike = {f"branch {number}": ANSWERED for number in range(5)}
    await over(database, project, alike | {"licence": LICENCE, "colours": COLOURS})
    told = [await given(database, project) for _ in range(5)]
    assert [bool(text) for text in told] == [True, True, False, False, False]


async def test_what_the_hand_over_told_is_not_told_again(database: Database, project: Project) -> None:
    await over(database, project, {"branch": replace(ANSWERED, reported=" ".join(TOLD.told))} | {"licence": LICENCE})
    async with database.write() as tx:
        await handovers.record(tx, handovers.Handover("now", "branch", HANDED, time()))
    assert TOLD.told[0] not in await given(database, project)


async def test_a_sentence_that_leans_on_its_neighbours_is_left_out(database: Database, project: Project) -> None:
    leaning = (
        "This stores the branch name of a checkpoint in metadata.json, too.",
        "Stores the branch name of a checkpoint in metadata.json.",
        "Line 338: the branch name of a checkpoint in metadata.json is updated",
        "`metadata.json` - checkpoint branch name",
    )
    answer = replace(TOLD, told=leaning)
    await over(database, project, {"branch": replace(ANSWERED, answers=(answer,)), "licence": LICENCE})
    assert await given(database, project) == ""
    assert stands_alone(TOLD.told[0])


@pytest.mark.parametrize(
    "sentence",
    [
        "The branch name of a checkpoint is written in store.go:226 after the session id.",
        "The branch name of a checkpoint (lines ~701-737) is now written after the session id.",
        "Wrote the guide of all branch names and checkpoints of a session, guide.md (92 lines), for readers.",
    ],
)
def test_a_sentence_with_line_numbers_is_left_out(sentence: str) -> None:
    assert not stands_alone(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Uses an empty string for the branch so that it scans all of the commits.",
        "`view.go`: Stripping the prefix of the branch from messages of checkpoints",
        "`view.go`: Same - checks whether the node is a checkpoint of the branch",
    ],
)
def test_a_sentence_without_a_subject_is_left_out(sentence: str) -> None:
    assert not stands_alone(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Sessions are written after the checkpoints of the branch that they belong to.",
        "Checks of the branch name are skipped where a session has no checkpoint.",
        "`view.go`: Strips the prefix of the branch from messages of checkpoints",
        "Rewrote the loop so that it uses the branch name of each checkpoint.",
    ],
)
def test_a_sentence_with_a_subject_or_a_deed_is_kept(sentence: str) -> None:
    assert stands_alone(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "`TestBranch_OfCheckpoint` - verifies that the branch name of a checkpoint is stored in metadata.json",
        "Added tests for the branch name of checkpoints in metadata.json of other sessions",
        "12 new tests cover the branch name of each checkpoint in metadata.json",
        "Tracked the branch of a checkpoint in metadata.json",  # no more than its request
    ],
)
async def test_a_sentence_that_informs_of_nothing_is_not_given(
    database: Database, project: Project, sentence: str
) -> None:
    answer = replace(TOLD, asked="track the branch of a checkpoint in metadata.json", told=(sentence,))
    await over(database, project, {"branch": replace(ANSWERED, answers=(answer,)), "licence": LICENCE})
    assert await given(database, project) == ""
    answer = replace(answer, told=(f"The list of branches now shows the author of each commit. {TOLD.told[0]}",))
    await over(database, project, {"branch": replace(ANSWERED, answers=(answer,)), "licence": LICENCE})
    assert await given(database, project, session="other") != ""


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        (
            "The branch name of a checkpoint is written in store.go:226-231 after the session id.",
            "The branch name of a checkpoint is written in store.go after the session id.",
        ),
        (
            "Wrote the branch name of each checkpoint (lines ~70-73, 90) after the session id.",
            "Wrote the branch name of each checkpoint after the session id.",
        ),
        (
            "Wrote the branch name of each checkpoint on line 7 of store.go (line 8 in data.go).",
            "Wrote the branch name of each checkpoint in store.go (in data.go).",
        ),
        (
            "The checkpoints of each session are written at 10:30 by a timer.",
            "The checkpoints of each session are written at 10:30 by a timer.",
        ),
    ],
)
def test_numbers_of_lines_are_cut_out_of_a_sentence(sentence: str, left: str) -> None:
    assert without_lines(sentence) == left
    assert stands_alone(left)


async def test_a_sentence_is_given_without_the_numbers_of_its_lines(database: Database, project: Project) -> None:
    numbered = replace(TOLD, told=(TOLD.told[0].replace("WriteCommitted", "store.go:226"),))
    await over(database, project, {"branch": replace(ANSWERED, answers=(numbered,)), "licence": LICENCE})
    told = await given(database, project)
    assert TOLD.told[0].replace("WriteCommitted", "store.go") in told


async def test_meaning_finds_a_sentence_that_shares_the_fewest_words(database: Database, project: Project) -> None:
    worded = tuple(f"Changed how the branch of a checkpoint in {name}.go is tracked" for name in "abcdefgh")
    meant = "Stored it all in metadata.json, which every later session reads at its start."
    answer = replace(TOLD, told=(*worded, meant))
    await over(database, project, {"branch": replace(ANSWERED, answers=(answer,)), "licence": LICENCE})
    assert meant in await given(database, project)


async def test_the_likeliest_sentence_keeps_its_room(database: Database, project: Project) -> None:
    before = tuple(
        f"Added a note on {name} to metadata.json, which readers of the other folder had asked for again and again"
        " in the last months."
        for name in ("colours", "letters", "borders", "margins", "shadows", "corners")
    )
    answer = replace(TOLD, told=(*before, TOLD.told[0]))
    await over(database, project, {"branch": replace(ANSWERED, answers=(answer,)), "licence": LICENCE})
    told = await given(database, project)
    assert TOLD.told[0] in told
    assert "corners" not in told


async def test_a_slow_embedder_is_not_asked_for_every_sentence(
    database: Database, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    await over(database, project, ALL)
    embedded: list[str] = []

    async def slow(text: str) -> Any:
        embedded.append(text)
        await asyncio.sleep(0.02)
        return await meaning(text)

    monkeypatch.setattr(past_work, "EMBEDDING_SECONDS", 0.01)
    ctx = replace(minded(database), embed=slow)
    assert (await surface_prompt(ctx, Prompt("now", project.id, ASKED, "main"))).text
    assert len([text for text in embedded if text in TOLD.told]) == 1


async def test_a_sentence_that_is_too_long_is_left_out_whole(database: Database, project: Project) -> None:
    long = (
        f"Added `Branch` to the checkpoint metadata in metadata.json, {'because it is asked for, ' * 20}and tests it."
    )
    await over(database, project, {"branch": replace(ANSWERED, answers=(replace(TOLD, told=(long,)),))})
    assert await given(database, project) == ""


def test_a_fresh_answer_is_likelier_than_an_old_one() -> None:
    old = replace(TOLD, at=TOLD.at - 90 * 86_400.0)
    fresh, stale = (closest(ASKED, [one], time())[0].probability(0.5, 0.5) for one in (TOLD, old))
    assert fresh > stale


def test_the_weights_are_those_that_the_bench_fits() -> None:
    names, pairs = story_pairs.read_pairs(answer_pairs.DATA)
    fitted = dict(zip(["constant", *names], story_pairs.fit(pairs), strict=True))
    shipped = {
        "constant": past_answers.CONSTANT,
        "cosine": past_answers.COSINE,
        "strength": past_answers.STRENGTH,
        "answer": past_answers.ANSWER,
        "request": past_answers.REQUEST,
        "fresh": past_answers.FRESH,
        "code": past_answers.CODE,
    }
    assert shipped == pytest.approx(fitted, abs=0.02)
