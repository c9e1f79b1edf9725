"""What files and errors are given by a real daemon, what becomes of it, and what is told beside it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.app import App
from subconscious.domain.model import Origin
from subconscious.recall.file_binding import Touched
from subconscious.settings.home import Home
from subconscious.store import memories
from subconscious.store.projects import Project
from subconscious.surfacing.file_candidates import of_file, of_paths
from subconscious.surfacing.worktree_watch import WorktreeWatch
from tests.support import terminal
from tests.support.daemons import configure, drained, eventually, new_session
from tests.support.surfacing import begun, given, remember
from tests.support.values import make_memory

WORKER = "The retries in upload/worker.py stop after two, because the proxy drops long connections."
REFUSED = "ECONNREFUSED on port 5433 means that the test database is down: start it with make db."
OUTPUT = "Exit code 1\nError: connect ECONNREFUSED 127.0.0.1:5433\n    at TCPConnectWrap.afterConnect"


def told(answer: bytes) -> str:
    words: str = json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""
    return words


def touch(speaker: Speaker, path: str, **own: object) -> str:
    file = str(speaker.project / path)
    return told(speaker.ask("PostToolUse", tool_name="Read", tool_input={"file_path": file}, **own))


def fail(speaker: Speaker, output: str = OUTPUT, **own: object) -> str:
    given = {"command": "npm test"}
    return told(speaker.ask("PostToolUseFailure", tool_name="Bash", tool_input=given, error=output, **own))


def why(home: Home, speaker: Speaker) -> dict[str, Any]:
    return wire.call(home, "why_surfaced", {"session_id": speaker.id})


def test_a_file_is_given_what_is_bound_to_it_once(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, WORKER, "Invoices use the tax table of the year.")
    assert touch(talker, "README.md") == ""
    given = touch(talker, "src/upload/worker.py")
    assert WORKER in given
    assert "tax table" not in given
    assert touch(talker, "src/upload/worker.py") == ""
    (surface,) = why(running, talker)["surfaces"]
    assert (surface["event"], surface["about"]) == ("file", "src/upload/worker.py")
    assert surface["reason"].startswith("names the file")
    assert surface["limits"]["file"] == "0 of 2"


def test_the_names_of_known_files_are_published_while_a_daemon_runs(running: Home, speaker: Speaker) -> None:
    names = running.run / "file-names"
    begun(running, speaker.project)
    assert eventually(lambda: names.exists(), 60)
    assert (names.stat().st_mode & 0o777, b"worker.py" in names.read_bytes()) == (0o600, False)
    remember(running, speaker, WORKER)
    assert not names.exists() or b"worker.py" in names.read_bytes()  # no hook goes by what was right before
    assert eventually(lambda: names.exists() and b"\nworker.py\n" in names.read_bytes(), 60)
    wire.call(running, "stop")
    wire.await_absence(running, 20)
    assert not names.exists()


def test_a_file_is_given_two_and_a_session_so_many(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, session_surfaces=3)
    wire.ensure_daemon(stopped)
    talker = begun(stopped, tmp_path / "project")
    remember(stopped, talker, *(f"{WORKER} Case {number}." for number in range(6)))
    assert touch(talker, "upload/worker.py").count("The retries") == 2
    assert touch(talker, "upload/worker.py") == ""
    held = why(stopped, talker)["held"]
    assert {one["why"] for one in held} >= {"more relevant memories were shown instead"}
    assert touch(talker, "lib/upload/worker.py").count("The retries") == 1  # the session's third


def test_a_failed_tool_is_given_what_knows_its_error(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, REFUSED, "The connection pool holds ten.")
    assert fail(talker, "Exit code 1\nls: cannot access 'x': No such file or directory") == ""
    assert REFUSED in fail(talker)
    (surface,) = why(running, talker)["surfaces"]
    assert "econnrefused" in surface["reason"]
    assert surface["relevance"] >= 0.6


def test_an_output_is_nowhere_kept(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, REFUSED)
    fail(talker, f"{OUTPUT}\nthe very peculiar zanzibar of the output")
    drained(running)
    held = b"".join(path.read_bytes() for path in running.root.rglob("*") if path.is_file() and "env" not in path.parts)
    assert REFUSED.encode() in held
    assert b"zanzibar" not in held


def test_sub_agents_and_interruptions_are_given_nothing(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, WORKER, REFUSED)
    assert touch(talker, "src/upload/worker.py", agent_id="a1") == ""
    assert fail(talker, agent_id="a1") == ""
    assert fail(talker, is_interrupt=True) == ""
    assert why(running, talker)["surfaces"] == []


@pytest.mark.parametrize("setting", ["surface_files", "surface_errors"])
def test_each_can_be_switched_off(stopped: Home, tmp_path: Path, setting: str) -> None:
    configure(stopped, **{setting: False})
    wire.ensure_daemon(stopped)
    talker = begun(stopped, tmp_path / "project")
    remember(stopped, talker, WORKER, REFUSED)
    given = {"surface_files": touch(talker, "src/upload/worker.py"), "surface_errors": fail(talker)}
    assert [name for name, text in given.items() if not text] == [setting]


def test_the_real_hook_prints_what_a_file_is_given(running: Home, speaker: Speaker) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, WORKER)
    file = str(speaker.project / "src" / "upload" / "worker.py")

    def printed() -> bool:
        answer = talker.hook("ask", "PostToolUse", tool_name="Read", tool_input={"file_path": file})
        return WORKER.encode() in answer

    assert eventually(printed, 60)  # a busy machine may miss deadlines; what was missed is given again


def priority(home: Home, number: int) -> float:
    return float(wire.call(home, "show", {"id": number})["priority"])


def test_an_answer_that_used_it_raises_a_priority_and_having_been_given_does_nothing(
    running: Home, speaker: Speaker
) -> None:
    used, ignored = remember(running, speaker, REFUSED, WORKER)
    confidence = wire.call(running, "show", {"id": used})["memory"]["confidence"]
    other = new_session(running, speaker.project)  # greeted by nobody: what it has it is given unasked
    assert REFUSED in fail(other)
    assert WORKER in touch(other, "src/upload/worker.py")
    other.say("Port 5433 is closed, so the test database is down; I start it with make db.", role="assistant")
    other.hook("drop", "Stop", last_assistant_message="Done.")
    drained(running)
    assert priority(running, used) == pytest.approx(0.1)
    assert priority(running, ignored) == 0.0
    other.hook("drop", "Stop", last_assistant_message="5433, make db, ECONNREFUSED.")
    drained(running)
    assert priority(running, used) == pytest.approx(0.1)  # each is judged once
    assert wire.call(running, "show", {"id": used})["memory"]["confidence"] == confidence


def test_a_session_that_runs_the_command_of_a_rule_has_used_it(running: Home, speaker: Speaker) -> None:
    followed, ignored = remember(
        running, speaker, "Always run ./dev test, never pytest directly.", "Never run make deploy on a Friday."
    )
    other = new_session(running, speaker.project)
    start = told(other.ask("SessionStart", source="startup"))
    assert "./dev test" in start
    assert "make deploy" in start
    other.say("add a page for the depots")
    other.run("cd src && ./dev test && make deploy")
    other.say("Done.", role="assistant")
    other.hook("drop", "SessionEnd", reason="exit")
    drained(running)
    assert priority(running, followed) == pytest.approx(0.1)
    assert priority(running, ignored) == 0


def test_what_is_due_is_told_once_with_its_reason(running: Home, speaker: Speaker) -> None:
    soon = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%d")
    (number,) = remember(running, speaker, f"The release freeze holds until {soon}.")
    wire.call(running, "stop")
    wire.await_absence(running, 20)
    wire.ensure_daemon(running)  # whose first round of upkeep reads the date
    assert eventually(lambda: bool(rows(running, "SELECT 1 FROM memory_triggers")))
    _set_back(running, number)
    first, second = new_session(running, speaker.project), new_session(running, speaker.project)
    assert "due since" in told(first.ask("SessionStart", source="startup"))
    assert "due since" not in told(second.ask("SessionStart", source="startup"))
    (surface,) = why(running, first)["surfaces"]
    assert surface["reason"].startswith("due since")


def rows(home: Home, query: str) -> list[tuple[object, ...]]:
    """What the store says."""
    with closing(sqlite3.connect(home.database)) as store:
        return store.execute(query).fetchall()


def _set_back(home: Home, number: int) -> None:
    """As if four days had passed."""
    with closing(sqlite3.connect(home.database, timeout=10)) as store:
        store.execute("UPDATE memory_triggers SET due_at = due_at - ? WHERE memory_id = ?", (4 * 86_400, number))
        store.commit()


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_what_is_bound_to_a_changed_file_and_to_another_branch_is_marked(running: Home, tmp_path: Path) -> None:
    project = tmp_path / "repository"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    (project / "ledger.py").write_text("cents = 1\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    git(project, "checkout", "-qb", "feature")
    talker = new_session(running, project)
    (number,) = remember(running, talker, "ledger.py keeps amounts in integer cents.")

    def marks() -> list[str]:
        talker.ask("UserPromptSubmit", prompt="thanks", prompt_id="p")  # somebody works here
        found: list[str] = wire.call(running, "show", {"id": number, "cwd": str(project)})["marks"]
        return found

    assert marks() == []
    assert eventually(lambda: bool(rows(running, "SELECT 1 FROM memory_files")), 60)
    (project / "ledger.py").write_text("euros = 1.0\n")
    git(project, "commit", "-qam", "euros")
    git(project, "checkout", "-q", "main")
    assert eventually(lambda: "on branch feature, which is not merged here" in marks(), 60)
    git(project, "merge", "-q", "--no-ff", "-m", "merged", "feature")
    assert not any("not merged here" in mark for mark in marks())  # the very next prompt does not repeat it
    assert eventually(lambda: marks() == ["may be outdated: ledger.py changed since"], 60)
    assert terminal.ask(running, "search", query="ledger cents", cwd=str(project))["result"]["hits"][0]["marks"]


LEGACY = "dont touch templates/legacy, thats lenas until she is back"


@pytest.mark.parametrize("said", [LEGACY, "never edit templates/legacy/mail.txt by hand"])
def test_a_prompt_that_names_a_path_is_given_what_restricts_work_on_it(
    running: Home, speaker: Speaker, said: str
) -> None:
    talker = begun(running, speaker.project)
    remember(running, speaker, said, "Invoices use the tax table of the year.")
    assert given(talker, "fix the typo in templates/other/mail.html pls") == ""
    assert said in given(talker, "fix the typo in templates/legacy/mail.txt pls")
    (surface,) = why(running, talker)["surfaces"]
    assert surface["reason"] == "names a folder or file that the prompt names"
    assert touch(talker, "templates/legacy/mail.txt") == ""  # it is in the context already


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("Never edit Übersetzungen/ by hand.", "Übersetzungen/de.po"),
        ("Finger weg vom Ordner ÄNDERUNGEN.", "Änderungen/a.txt"),
        ("Папка Архив: только чтение, не менять.", "Архив/a.txt"),
        ("Never edit straße/ by hand.", "straße/a.txt"),
    ],
)
async def test_folders_of_any_alphabet_are_found(app: App, project: Project, said: str, path: str) -> None:
    async with app.database.write() as tx:
        memory = await memories.insert(tx, make_memory(said, project_id=project.id, origin=Origin.USER))
    ctx = app.recall_context()
    assert [one.id for one, _ in await of_file(ctx, project.id, Touched(path))] == [memory.id]
    assert [one.id for one, _ in await of_paths(ctx, project.id, f"fix the typo in {path} pls", "")] == [memory.id]
    assert await of_file(ctx, project.id, Touched("other/a.txt")) == []


def test_a_file_is_given_what_restricts_work_on_its_folder_even_after_sessions_without_use(
    running: Home, speaker: Speaker
) -> None:
    (number,) = remember(running, speaker, LEGACY)
    for _ in range(4):
        other = new_session(running, speaker.project)
        assert LEGACY in touch(other, "templates/legacy/mail/a.txt")
        other.hook("drop", "SessionEnd", reason="exit")
        drained(running)
    assert wire.call(running, "why_surfaced", {"id": number})["left_out"]
    assert {one["reason"] for one in why(running, other)["surfaces"]} == {"names a folder that the file is in"}
    last = new_session(running, speaker.project)
    assert LEGACY in given(last, "add a line to templates/legacy/mail/a.txt")
    assert LEGACY in touch(new_session(running, speaker.project), "templates/legacy/b.txt")


async def test_a_memory_that_names_a_renamed_branch_is_found(app: App, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "feature")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    git(folder, "branch", "-m", "feature", "billing")
    project = await app.project_of(str(folder))
    contents = ("On the branch feature: never touch migrations", "On the branch other: never touch migrations")
    async with app.database.write() as tx:
        made = [
            await memories.insert(tx, make_memory(one, project_id=project.id, branch="feature")) for one in contents
        ]
    await WorktreeWatch(app).look(project.id, str(folder))
    assert app.worktrees.known.renamed == {(made[0].id, "billing")}
