from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.domain.model import Origin, Role, Turn
from subconscious.redaction.cleaning import clean
from subconscious.sessions import Deeds, Sketch, Summary, read_deeds, tell
from tests.support.values import NOON


def turn(text: str, role: Role = Role.USER, origin: Origin | None = None, **changes: Any) -> Turn:
    whose = origin or (Origin.USER if role is Role.USER else Origin.ASSISTANT)
    return Turn("t", "s", role, whose, text, NOON, "/t.jsonl", 0, 9, **changes)


def answer(text: str, *tools: str, files: tuple[str, ...] = ()) -> Turn:
    return turn(text, Role.ASSISTANT, tools=tools, files=files)


def told(*turns: Turn, decided: Sequence[str] = (), stopped: bool = False, deeds: Deeds | None = None) -> Summary:
    sketch = Sketch(deeds=deeds or Deeds()).after(turns, decided, stopped=stopped)
    return tell(Sketch.from_json(sketch.to_json()))


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        (["can you please fix the rounding in ledger.py? It loses a cent."], "Fix the rounding in ledger.py"),
        (
            ["yes", "commit", "Add a retry to the upload, three times at most."],
            "Add a retry to the upload, three times at most",
        ),
        (
            ['Traceback (most recent call last):\n  File "x.py"\nwhy does the import fail here?'],
            "Why does the import fail here?",
        ),
        (["commit"], "Commit"),
        (
            ["get back to main", "are the subfolder keys random or derived?"],
            "Are the subfolder keys random or derived?",
        ),
        ([], ""),
    ],
)
def test_the_title_is_the_first_real_request(asked: list[str], title: str) -> None:
    assert told(*map(turn, asked)).title == title


def test_a_plan_that_was_approved_gives_the_title() -> None:
    plan = turn("Implement the following plan:\n\n# Plan: Round once\n\n## Context\n...", origin=Origin.ASSISTANT)
    summary = told(plan, answer("All 12 tests pass."), turn("commit"))
    assert summary.title == "Round once"
    assert summary.text == 'Asked: "Round once".'
    assert summary.left_open == "the last prompt was not answered"


def test_the_summary_says_whose_words_it_quotes() -> None:
    summary = told(
        turn("Fix the rounding in ledger.py."),
        answer("Perfect! I rounded once, at the end. All tests pass.", files=("/shop/ledger.py",)),
        decided=["Amounts are integer cents."],
        deeds=Deeds(commits=("Round once",), pulls=("#7",)),
    )
    assert summary.text == (
        'Asked: "Fix the rounding in ledger.py". The user stated: "Amounts are integer cents.". '
        'Done: commit "Round once"; pull request #7. '
        'The assistant reported: "I rounded once, at the end. All tests pass."'
    )
    assert summary.left_open == ""


def test_what_is_left_open() -> None:
    ask = turn("Fix the rounding in ledger.py.")
    assert told(ask).left_open == "the last prompt was not answered"
    assert told(ask, answer("Let me look.", "Read")).left_open == "the assistant was still at work on the last prompt"
    assert told(ask, answer("Let me look.", "Read"), stopped=True).left_open.startswith("the user stopped")
    assert told(ask, answer("Done.\n\nShall I commit?")).left_open == 'the assistant had asked: "Shall I commit?"'
    assert told(ask, answer("Done.")).left_open == ""


def test_tasks_and_failures_are_left_open() -> None:
    deeds = Deeds(failed="pytest -q", tasks={"1": ("Round once", "completed"), "2": ("Test zero", "pending")})
    assert told(turn("go on with it"), deeds=deeds).left_open == (
        'the last prompt was not answered; open on the assistant\'s list: "Test zero"; '
        "the last command that failed: `pytest -q`"
    )
    assert "failed" not in told(turn("go on with it"), answer("It fails for another reason."), deeds=deeds).left_open


def test_tags_are_branch_files_and_terms() -> None:
    turns = [turn(f"Round the invoices, part {number}", branch="feat/cents") for number in range(3)]
    turns.append(answer("", "Edit", files=("/shop/ledger.py", "/home/me/.claude/plans/x.md")))
    assert told(*turns).tags == ("cents", "ledger.py", "invoices", "part", "round")


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("/shop/.claude/skills/release/release.sh", True),
        (".claude/agents/reviewer.md", True),
        ("/shop/.claude/worktrees/fix/shop/ledger.py", True),
        ("/home/me/.claude/plans/x.md", False),
        ("/home/me/.claude/projects/-shop/memory/MEMORY.md", False),
        ("/shop/.claude/settings.local.json", False),
    ],
)
def test_files_of_the_client_are_not_of_the_project(file: str, counts: bool) -> None:
    assert bool(Sketch().after([answer("", "Edit", files=(file,))]).files) is counts


def test_side_chains_are_not_the_session() -> None:
    assert told(turn("Fix the rounding."), turn("Search the web for rates", sidechain=True)).title == "Fix the rounding"


def test_a_sketch_in_batches_is_the_sketch_at_once() -> None:
    turns = [turn(f"Request number {number} about the ledger") for number in range(20)] + [answer("Done.")]
    batches = Sketch().after(turns[:7]).after(turns[7:11]).after(turns[11:])
    assert tell(batches) == tell(Sketch().after(turns))


@given(st.lists(st.tuples(st.text(max_size=600), st.sampled_from(["user", "assistant", "tool"])), max_size=40))
def test_any_session_is_told_within_bounds(said: list[tuple[str, str]]) -> None:
    summary = told(*(turn(text, Role(role), Origin(role)) for text, role in said))
    assert len(summary.title) <= 80
    assert len(summary.text) <= 1600
    assert len(summary.left_open) <= 400
    assert len(summary.tags) <= 5
    assert "\n" not in summary.title + summary.text + summary.left_open


@given(st.lists(st.text(min_size=1, max_size=3000), min_size=1, max_size=60))
def test_a_sketch_stays_small(texts: list[str]) -> None:
    sketch = Sketch()
    for text in texts:
        sketch = sketch.after([turn(text), answer(text, files=(text[:50],))], [text[:400]])
    assert len(sketch.to_json()) < 60_000


@pytest.mark.parametrize("text", ["", "{", "[]", '{"asks": 3}', "null"])
def test_a_sketch_that_makes_no_sense_is_an_empty_one(text: str) -> None:
    assert Sketch.from_json(text) == Sketch()


def use(name: str, key: str = "u1", **given: object) -> dict[str, Any]:
    block = {"type": "tool_use", "id": key, "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [block]}}


def result(key: str = "u1", text: str = "", error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": key, "content": text, "is_error": error}
    return {"type": "user", "message": {"content": [block]}}


def deeds_of(tmp_path: Path, *records: dict[str, Any]) -> Deeds:
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return read_deeds(file, 0, file.stat().st_size, Deeds(), clean)


@pytest.mark.parametrize(
    "command",
    [
        'git commit -m "Round once"',
        "git add -A && git commit -am 'Round once'",
        "git commit -m \"$(cat <<'EOF'\nRound once\n\nWhy.\nEOF\n)\"",
        'cd /shop && git -c user.name=x commit -m "Round once\n\nbody"',
        "git add -A && git commit -qm 'Round once'",
        "git commit -q -m 'Round once' -m 'Why.'",
        "git -C /shop/pay commit -qam 'Round once'",
        "rtk git commit --message='Round once' --quiet",
        "make fmt; git add -A; git commit -qm 'Round once' && git push -q",
        "git commit -qF - <<'EOF' && git push\nRound once\n\nIt's \"why\".\nEOF",
        "git commit -m $'Round once\\n\\nWhy.' 2>&1",
        "(cd pay && git commit -qm 'Round once')  # it's done",
        "bash -lc \"git commit -qm 'Round once'\"",
        "timeout 30 git commit -qsm 'Round once' | tail -3",
    ],
)
def test_commits_are_known_by_their_subject(tmp_path: Path, command: str) -> None:
    assert deeds_of(tmp_path, use("Bash", command=command), result()).commits == ("Round once",)
    assert deeds_of(tmp_path, use("Bash", command=command), result(error=True)).commits == ()


def test_a_failure_stands_until_the_same_succeeds(tmp_path: Path) -> None:
    failing = [use("Bash", command="cd /shop && go test ./..."), result(error=True)]
    assert deeds_of(tmp_path, *failing).failed == "go test ./..."
    assert deeds_of(tmp_path, *failing, use("Bash", command="ls"), result()).failed == "go test ./..."
    assert deeds_of(tmp_path, *failing, use("Bash", command="go test ./pay"), result()).failed == ""
    refused = result(text="The user doesn't want to proceed with this tool use.", error=True)
    assert deeds_of(tmp_path, use("Bash", command="rm -rf x"), refused).failed == ""


def test_a_failure_of_a_command_that_only_looks_leaves_nothing_open(tmp_path: Path) -> None:
    failing = [use("Bash", command="make lint"), result(error=True)]
    looking = [use("Bash", command="cd /shop && grep -n total pay.go | head"), result(error=True)]
    assert deeds_of(tmp_path, *looking).failed == ""
    assert deeds_of(tmp_path, *failing, *looking).failed == "make lint"


def test_changes_are_uncommitted_until_a_commit(tmp_path: Path) -> None:
    change, commit = (
        use("Edit", file_path="/shop/pay.go", new_string="x"),
        use("Bash", command='git commit -m "Round it"'),
    )
    assert not deeds_of(tmp_path, use("Bash", command="ls"), result()).uncommitted
    assert deeds_of(tmp_path, change, commit, result(error=True)).uncommitted
    assert not deeds_of(tmp_path, change, commit, result()).uncommitted
    assert deeds_of(tmp_path, commit, result(), change).uncommitted


@pytest.mark.parametrize(
    ("command", "output", "failed", "is_made"),
    [
        ("git commit -qm 'Round it' || true", "", False, True),
        ("git commit -qm 'Round it' || true", "error: gpg failed to sign the data", False, False),
        ("git commit -qm 'Round it' | tail -1", "no changes added to commit", False, False),
        ("git commit -qm 'Round it'; ls", "nothing added to commit but untracked files present", False, False),
        ("git commit -qm 'Round it'; git status", "nothing to commit, working tree clean", False, True),
        ("make -i test; git commit -qm 'Round it'", "error: 2 tests failed", False, True),
        ("git commit -m 'Round it' && make", "[main 0a1b2c3] Round it\nmake: *** [all] Error 1", True, True),
        ("git commit -qm 'Round it' && git push", "error: failed to push some refs to 'origin'", True, True),
        ("git commit -m 'Round it' 2>&1 | tail -5", "husky - pre-commit script failed (code 1)", False, False),
        ("git commit -m 'Round it' 2>&1 | tail -5", "\u2716   subject may not be empty [subject-empty]", False, False),
        ("git commit -m 'Round it' 2>&1 | tail -5", "Author identity unknown", False, False),
        ("git commit -m 'Round it' | tail -1", "nothing to commit, working tree clean", False, False),
        ("git commit -m 'Round it' | tail -1", "one last line of a hook", False, False),
        ("git commit -m 'Round it' | tail -1", " 2 files changed, 3 insertions(+)", False, True),
        ("git commit -m 'Round it' | tail -1", " create mode 100644 pay.go", False, True),
        ("git commit -m 'Round it' | tail -2", " 1 file changed\n create mode 100644 src/error.py", False, True),
        ("git commit -m 'Round it' | tail -3", " tests/fail.py | 2 +-\n 1 file changed, 1 insertion(+)", False, True),
        ("git commit -m 'Round it' | tail -3", " 1 file changed, 1 insertion(+)\nerror: no disk", False, False),
        ("git commit -m 'Round it' | tail -1", " 1 file modificato, 2 inserimenti(+)", False, True),
        ("git commit -m 'Round it' | tail -1", " 2 bestanden gewijzigd, 1 verwijdering(-)", False, True),
        ("git commit -m 'Round it' && git push 2>&1 | tail -1", "   1234567..abcdef0  main -> main", False, True),
        ("git commit -m 'Round it' && git push 2>&1 | tail -1", " * [new branch]      pay -> pay", False, True),
        ("git commit -m 'Round it' && git push 2>&1 | tail -1", "Everything up-to-date", False, False),
        ("git add -A; git commit -m 'Round it'; git log --oneline -1", "abc1234 (HEAD -> main) Round it", False, True),
        ("git add -A; git commit -m 'Round it'; git log --oneline -1", "abc1234 Add tests", False, False),
        ("git commit -qm 'Handle unknown errors'; git log -1 --oneline", "abc1234 Handle unknown errors", False, True),
        ("git commit -qm 'Round it'; git log -1 --oneline; npx vitest", "Tests  1 failed | 9 passed", False, False),
        ("git commit -m 'Round it' >/dev/null 2>&1; echo $?", "1", False, False),
        ("git commit -m 'Round it' >/dev/null 2>&1; echo exit=$?", "exit=128", False, False),
        ("git commit -m 'Round it' >/dev/null 2>&1; echo $?", "0", False, True),
        ("git commit -m 'Round it'; git log -1", "[main 0a1b2c3] Round it\ncommit 0a1b2c3", False, True),
        ("git diff --stat; git commit -m 'Round it' | cat", " 1 file changed\n1 failed in 0.10s", False, False),
        ("git commit -qam 'Round it' | tail -3", "husky - pre-commit hook exited with code 1", False, False),
        ("git commit -am 'Round it' --quiet; git log -1", "commit 0a1b2c3", False, True),
        ("git commit -m 'Round it' >/dev/null; pytest", "12 passed, 0 failed", False, True),
        ("git commit -m 'Round it' 2>/dev/null; pytest", "12 passed", False, False),
        ("which git commit", "/usr/bin/git", False, False),
        ("make && git commit -qm 'Round it'", "make: *** [all] Error 1", True, False),
        ("git commit --amend --no-edit", "", False, True),
        ("git commit -qm wip", "", False, True),
        ("cd $(mktemp -d) && git init -q && git commit --allow-empty -qm wip", "", False, False),
        ("git -C /tmp/other commit -qm wip", "", False, False),
        ("cd /shop/pay && git commit -qm wip", "", False, True),
        ("git commit --dry-run -m 'Round it'", "", False, False),
        ("echo 'git commit -qm \"Round it\"'", "", False, False),
        ("# git commit -qm 'Round it'\nls", "", False, False),
        ("cat > hook <<'EOF'\ngit commit -qm 'Round it'\nEOF", "", False, False),
        ("git log --grep commit", "", False, False),
        ("git commit-graph write", "", False, False),
        ("git commit -qm <<", "", False, True),
        ("git commit -qm 'Round it\0009\0", "", False, True),
    ],
)
def test_a_commit_counts_unless_it_failed(
    tmp_path: Path, command: str, output: str, failed: bool, is_made: bool
) -> None:
    change = use("Edit", file_path="/shop/pay.go", new_string="x")
    ran = use("Bash", command=command) | {"cwd": "/shop"}
    assert deeds_of(tmp_path, change, ran, result(text=output, error=failed)).uncommitted is not is_made


def test_files_edited_after_the_last_commit_are_uncommitted(tmp_path: Path) -> None:
    commit = [use("Bash", command="git commit -qam 'Round it'"), result()]
    edits = [use("Write", file_path="/shop/pay.go", content="x"), use("NotebookEdit", notebook_path="/shop/a.ipynb")]
    found = deeds_of(tmp_path, use("Edit", file_path="/shop/tax.go"), *commit, *edits)
    assert (found.uncommitted, found.edited) == (True, ("pay.go", "a.ipynb"))
    assert deeds_of(tmp_path, *edits, *commit).edited == ()


def test_lists_of_tasks_old_and_new(tmp_path: Path) -> None:
    old = use("TodoWrite", todos=[{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}, 7])
    assert deeds_of(tmp_path, old).tasks == {"0": ("a", "completed"), "1": ("b", "pending")}
    new = [use("TaskCreate", subject="a"), use("TaskCreate", subject="b"), use("TaskUpdate", taskId="2", status="x")]
    assert deeds_of(tmp_path, *new).tasks == {"1": ("a", "pending"), "2": ("b", "x")}


def test_titles_pull_requests_and_skills(tmp_path: Path) -> None:
    skill = "<command-name>/review</command-name><command-args>7</command-args>"
    found = deeds_of(
        tmp_path,
        {"type": "user", "message": {"content": "<command-name>/clear</command-name>"}},
        {"type": "user", "message": {"content": skill}},
        {"type": "custom-title", "customTitle": "Cents"},
        {"type": "pr-link", "prNumber": 9},
        use("Bash", command="export KEY=AKIAIOSFODNN7EXAMPLE") | {"isSidechain": True},
    )
    assert (found.opened, found.named, found.pulls) == ("/review 7", "Cents", ("#9",))
    assert tell(Sketch(deeds=found)).title == "Cents"


def test_secrets_stay_out_of_deeds(tmp_path: Path) -> None:
    failing = deeds_of(tmp_path, use("Bash", command="aws --key AKIAIOSFODNN7EXAMPLE"), result(error=True))
    assert failing.failed == "aws --key [redacted: AWS key]"


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_records_of_any_shape_do_no_harm(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    odd = [
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": name, "input": value}]}}
        for name in ("Bash", "TodoWrite", "TaskCreate", "TaskUpdate")
    ]
    others = [{"type": "assistant", "message": value}, use("TodoWrite", todos=value), use("TaskUpdate", taskId=value)]
    deeds_of(tmp_path_factory.mktemp("odd"), *odd, *others, result(key="x"))


def test_a_long_answer_is_shortened_between_sentences() -> None:
    steps = [f"Changed step {number} of the worker so that it parks a chunk after two retries." for number in range(60)]
    kept = Sketch().after([turn(" ".join(steps), role=Role.ASSISTANT)]).answer
    sentences = [one for part in kept.split("\u2026") for one in re.split(r"(?<=\.)\s+", part.strip())]
    assert set(sentences) <= set(steps)
    assert sentences[0] == steps[0]
    assert sentences[-1] == steps[-1]
