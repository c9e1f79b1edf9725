"""What the structure of a session gives, from turns as the real reader makes them, source by source."""

from __future__ import annotations

from pathlib import Path

import pytest

from subconscious.capture.offline import drafts
from subconscious.capture.passages import LONGEST
from subconscious.domain.model import Role
from tests.support.scripts import STEP, Script, captured, found


def test_a_finding_keeps_its_names_and_loses_the_narration(tmp_path: Path) -> None:
    script = Script().user("fix the kiln's first firing").says(f"Let me look at the driver. {STEP} Now I'll fix it.")
    (draft,) = found(script, tmp_path, "finding")
    assert STEP in draft.content
    assert "Let me" not in draft.content
    assert "Now I'll" not in draft.content
    assert draft.quote in script.turns(tmp_path)[1].text


def test_a_guess_that_is_taken_back_is_no_finding(tmp_path: Path) -> None:
    guess = "The problem is probably `RelayQueue.flush()`, because it loses the last command before the firing begins."
    script = Script().user("why does it not fire").says(guess)
    assert [draft.content for draft in found(script, tmp_path, "finding")]
    script.says("Actually, `RelayQueue.flush()` was not the cause: the cable is broken.")
    assert not any("probably" in draft.content for draft in found(script, tmp_path, "finding"))


def test_a_check_and_its_repair(tmp_path: Path) -> None:
    script = Script().user("log the temperature").runs("bun run lint", "3 errors", failed=True)
    script.says("Formatting of `kiln.ts` only.").runs("bun run lint:fix").runs("bun run lint")
    (draft,) = found(script, tmp_path, "struggle")
    assert "`bun run lint:fix`" in draft.content
    assert "3 errors" not in draft.content


def test_a_repair_is_told_alike_whatever_was_edited(tmp_path: Path) -> None:
    """The next session meets it with other files; two memories of it would be one too many."""
    told = set()
    for name in ("kiln.ts", "cone.ts"):
        script = Script().user("log the temperature").uses("Write", {"file_path": f"/home/dev/{name}", "content": "x"})
        script.runs("bun run lint", failed=True).says(f"Biome wants `{name}` in one line.").runs("bun run lint:fix")
        told |= {draft.content for draft in found(script, tmp_path, "struggle")}
    (once,) = told
    assert "`bun run lint` (Biome) failed after edits" in once


def test_a_check_that_repairs_itself_first_is_no_lesson(tmp_path: Path) -> None:
    script = Script().user("log the temperature").runs("make fmt && make lint", failed=True).says("The formatter ran.")
    assert found(script.runs("make fmt"), tmp_path, "struggle") == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("TypeScript error: the `Cone` type lacks a field.", "The typecheck of the pre-commit hook blocked a commit"),
        ("The lint found a line of `kiln.ts` too long.", "The lint of the pre-commit hook blocked a commit"),
        ("The remote has moved on since then.", ""),
    ],
)
def test_a_blocked_commit_tells_which_check_to_run_before(tmp_path: Path, said: str, told: str) -> None:
    script = Script().user("commit it").runs("bun run typecheck").says("The hook will run.")
    script.runs("git commit -m x", failed=True).says(said)
    contents = [draft.content for draft in found(script, tmp_path, "struggle")]
    assert [content.startswith(told) for content in contents] == ([True] if told else [])
    assert ("Running `bun run typecheck` before committing catches" in "".join(contents)) == ("typecheck" in told)


def test_the_evidence_of_a_blocked_commit_is_what_was_said_of_it(tmp_path: Path) -> None:
    said = "TypeScript error: the `Cone` type lacks a field."
    script = Script().user("commit it").runs("bun run typecheck").says("The hook will run.")
    (draft,) = found(script.runs("git commit -m x", failed=True).says(said), tmp_path, "struggle")
    assert (draft.turn.role, draft.quote) == (Role.ASSISTANT, said)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("git commit -m x", "Nothing to commit: the test file was taken in by the hook before."),
        ("bun test && git commit -m x", "The test of the relay fails, so the hook was never asked."),
        ("git commit -m x && git push", "The push was rejected by a hook that wants the lint branch."),
    ],
)
def test_a_commit_that_fails_for_another_reason_blames_no_check(tmp_path: Path, command: str, said: str) -> None:
    assert found(Script().user("commit it").runs(command, failed=True).says(said), tmp_path, "struggle") == []


def test_advice_is_never_cut_off_by_a_long_explanation(tmp_path: Path) -> None:
    said = f"The hook's typecheck stops it: the `Cone` type lacks {'one more field of the shelf and ' * 6}the last one."
    script = Script().user("commit it").runs("bun run typecheck").runs("git commit -m x", failed=True).says(said)
    (draft,) = found(script, tmp_path, "struggle")
    assert len(draft.content) <= LONGEST
    assert draft.content.endswith("and saves a round trip.")


@pytest.mark.parametrize(
    "repair", ["git commit -m 'fix: lint'", "npm install", "go generate ./..."], ids=["commit", "install", "generate"]
)
def test_only_what_repairs_a_format_is_a_repair(tmp_path: Path, repair: str) -> None:
    script = Script().user("log the temperature").runs("bun run lint", failed=True).says("Biome reports a dependency.")
    assert found(script.runs(repair), tmp_path, "struggle") == []


def test_a_repair_that_failed_did_not_make_lint_clean(tmp_path: Path) -> None:
    script = Script().user("log the temperature").runs("bun run lint", failed=True).says("Biome wants it in one line.")
    assert found(script.runs("bun run lint:fix", failed=True), tmp_path, "struggle") == []


def test_a_command_of_many_blanks_takes_no_time(tmp_path: Path) -> None:
    """Each blank may begin a redirection; were all tried, this would take minutes."""
    script = Script().user("commit it")
    for _ in range(40):
        script.runs(f"echo a{' ' * 2900}b")
    assert found(script, tmp_path, "struggle") == []


def test_a_test_run_that_meets_foreign_files_is_told_with_the_narrower_run(tmp_path: Path) -> None:
    said = "The failures are from `tmp/clones/` (an old clone) picked up by the test runner."
    script = Script().user("test it").runs("bun run test", failed=True).says(said)
    (without,) = found(script, tmp_path, "struggle")
    (still,) = found(script.runs("bun test tmp/clones/").runs("bun test lib/", failed=True), tmp_path, "struggle")
    assert still.content == without.content, "neither the folder that is to be left out nor a run that failed"
    (narrow,) = found(script.runs("bun test src/ 2>&1 | tail -20"), tmp_path, "struggle")
    assert (
        narrow.content
        == f"{without.content} To run only project tests, scope the run: `bun test src/` in place of `bun run test`."
    )


def test_a_wrapper_that_fails_is_left_to_the_ways_out(tmp_path: Path) -> None:
    """Which are learned from the tool calls themselves (tests/daemon/test_failures.py)."""
    script = Script().user("log the temperature").runs("wrap bun run test", failed=True).runs("bun run test")
    assert found(script, tmp_path, "struggle") == []


def test_a_green_check_is_no_struggle(tmp_path: Path) -> None:
    script = Script().user("log the temperature").runs("bun run lint").says("Lint is clean.").runs("bun run test")
    assert found(script, tmp_path, "struggle") == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The prepare-commit-msg hook rewrote the message of the firing commit.", "git hook interferes"),
        ("The failures are from `tmp/clones/` (an old clone) picked up by the test runner.", "not the project's own"),
        ("This is a worktree, so I can't checkout main here.", "Not possible in this setup"),
    ],
)
def test_what_stands_in_the_way_is_told_with_its_words(tmp_path: Path, said: str, told: str) -> None:
    (draft,) = found(Script().user("commit it").runs("git commit -m x").says(said), tmp_path, "struggle")
    assert told in draft.content
    assert draft.quote.rstrip(".") in said


def test_what_is_run_again_and_again_is_a_convention(tmp_path: Path) -> None:
    script = Script().user("log the temperature")
    once = Script().user("log the temperature").runs("uv run pytest").turns(tmp_path)
    for _ in range(3):
        script.runs("npm run test").runs("npm run lint")
    (draft,) = found(script, tmp_path, "convention")
    assert "`npm run lint` lints" in draft.content
    assert "`npm run test` runs the test suite" in draft.content
    assert not [one for one in drafts(once) if one.source == "convention"]


def test_what_every_project_of_a_language_does_is_no_convention(tmp_path: Path) -> None:
    script = Script().user("log the temperature")
    for _ in range(3):
        script.runs("go test ./kiln").runs("go build ./kiln")
    assert found(script, tmp_path, "convention") == []
    assert found(script.runs("mise run lint"), tmp_path, "convention")


def test_a_wrapper_is_told_with_what_goes_without_it(tmp_path: Path) -> None:
    script = Script().user("log the temperature").runs("wrap git status").runs("wrap git diff").runs("wrap git log -3")
    (only,) = found(script, tmp_path, "convention")
    assert only.content == (
        "The project uses the command prefix `wrap`, a wrapper around standard tools: `git` commands are run through it"
        " (as `wrap git status` and `wrap git diff`) instead of the plain, bare commands."
    )
    (but,) = found(script.runs("git commit -m x"), tmp_path, "convention")
    assert but.content == f"{only.content} But `git commit` is used directly, as plain commands."
    (again,) = found(script.runs("wrap git commit -m y"), tmp_path, "convention")
    assert again.content == only.content, "what goes both ways goes through it"


def test_words_of_the_shell_and_what_mostly_goes_without_it_are_no_wrapper(tmp_path: Path) -> None:
    loop = Script().user("log the temperature")
    mostly = Script().user("log the temperature")
    for number in range(3):
        loop.runs(f"for f in a b; do git add $f{number}; done")
        mostly.runs(f"wrap git show {number}").runs(f"git show {number}").runs(f"git log -{number}")
    assert found(loop, tmp_path, "convention") == []
    assert found(mostly, tmp_path, "convention") == []


@pytest.mark.parametrize(
    "said",
    [
        "There is no pre-commit hook here, so neither lint nor tests run when we commit.",
        "We could add a pre-commit hook that runs lint and the tests.",
        "Let me run the pre-commit checks: lint and tests.",
        "I skipped the pre-commit hook with --no-verify, for lint and tests take too long.",
    ],
)
def test_a_hook_that_is_denied_or_wished_for_enforces_nothing(tmp_path: Path, said: str) -> None:
    assert found(Script().user("commit it").runs("git commit -m x").says(said), tmp_path, "convention") == []


def test_a_hook_is_told_by_the_checks_that_it_runs(tmp_path: Path) -> None:
    script = Script().user("commit it").runs("git commit -m x").says("The pre-commit hook ran all tests.")
    assert found(script, tmp_path, "convention") == []
    script.says("The pre-commit hook ran lint as well.")
    (draft,) = found(script, tmp_path, "convention")
    assert "enforces the tests of its suite and lint" in draft.content


def test_a_commit_counts_for_its_reason_not_for_its_subject(tmp_path: Path) -> None:
    body = "The relay drops the first command, so the driver sends it twice and waits for the echo of the second."
    message = f"Send the first command twice\n\n{body}\n\nCo-Authored-By: Claude <a@b.example>"
    script = Script().user("fix the relay").runs(f"git commit -m \"$(cat <<'EOF'\n{message}\nEOF\n)\"")
    (draft,) = found(script, tmp_path, "commit")
    assert draft.content == f"Send the first command twice: {body}"
    assert not found(Script().user("x").runs("git commit -m 'Fix the relay'"), tmp_path, "commit")


def test_what_is_typed_after_an_interrupt_becomes_a_candidate(tmp_path: Path) -> None:
    script = Script().user("log the temperature").says("I will print it.")
    script.user("[Request interrupted by user]")
    script.user("no, use the logging module instead of print, print is swallowed by the service")
    assert any("logging module" in one.evidence.quote and one.kind == "lesson" for one in captured(script, tmp_path))


def test_a_quote_is_a_part_of_what_was_said_or_run(tmp_path: Path) -> None:
    script = Script().user("fix it. We decided to fire twice.").says(f"{STEP} It must never be skipped.")
    script.runs("bun run lint", failed=True).says("The formatter needs `kiln.ts` in one line.").runs("bun run lint:fix")
    turns = {turn.id: turn for turn in script.turns(tmp_path)}
    assert all(one.evidence.quote in turns[one.evidence.turn_id].quotable_text for one in captured(script, tmp_path))
