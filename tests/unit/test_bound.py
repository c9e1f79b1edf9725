"""What a prompt or a file shows to matter: failures with a type of files, lint checks, and habits of a step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hooks.known_files import may_be_known
from subconscious.capture.admission import Provenance, memory_of
from subconscious.domain.model import Admission, Decision, Origin
from subconscious.failures.checks import CHECKS as CHECKS_OF_LINTERS
from subconscious.failures.wording import EXTRACTOR, ONCE, TEMPLATES, of_checks
from subconscious.recall.file_binding import Touched
from subconscious.store import captures, memories, sessions, unconfirmed
from subconscious.store.capture_rows import SessionRef
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.supersession import confirmation
from subconscious.surfacing.bound import binding_of
from subconscious.surfacing.proactive import (
    BOUND_AT_ONCE,
    MOST_BOUND,
    Prompt,
    SurfacingEvent,
    surface_error,
    surface_file,
    surface_prompt,
)
from subconscious.surfacing.published_files import END, HEADER, lines_of
from subconscious.surfacing.session_start import Start, surface_start
from tests.support.candidates import make_candidate
from tests.support.minds import make_mind, store
from tests.support.values import NOON, make_memory
from tests.unit.test_file_names import payload
from tests.unit.test_portfolio import over

TABS = (
    "Editing files of type `.tsx` failed here, as the indentation of the text to replace was not that of the file: such"
    " files are indented with tabs; the same text with one or more tabs added to each line then worked."
)
SPACES = (
    "Editing files of type `.py` failed here, as the indentation of the text to replace was not that of the file; the"
    " same text with the file's own spaces then worked."
)
SHOWN = "`cat -A <path>` failed here; `xxd <path>` then worked."
LINT = "The lint check `nilerr` failed here: code must not `return nil` where an error is not nil."
SKILL = "Calling the skill `commit` failed here: that skill does not exist."
COMMAND = "`docker-compose up` failed here; `docker compose up` then worked."
TESTED = "`npm test` failed here; `pnpm test` then worked."
CHANGELOG = "Changes of this project are noted in CHANGELOG.md, in the same commit as the change."
STAGED = "Only the files modified for the current task are staged before committing, by explicit file paths."
CHECKS = (
    "The project uses `bun` as its package manager: `bun run lint` lints. These are the standard commands to verify"
    " changes after edits, before committing."
)
REPAIRED = (
    "`bun run lint` failed after edits due to formatting: a separate auto-fix pass, `bun run lint:fix`, was required."
)
QUOTES = TEMPLATES["glob"]
TAGGED = "Tests of this project are run with a build tag: `go test -tags=integration`."


async def observed(database: Database, project: Project, content: str, recurrence: int = 2) -> int:
    extractor = "observed-1" if "failed here" in content else "practised-1"
    kind = "learning" if extractor == "observed-1" else "pattern"
    return await store(
        database,
        project,
        content,
        kind=kind,
        extractor=extractor,
        origin=Origin.ASSISTANT,
        recurrence=recurrence,
        confidence=0.9,
    )


async def started(database: Database, project: Project, session: str = "now") -> list[int]:
    context = await surface_start(make_mind(database), Start(session, project.id, "start/startup", "main"))
    return [hit.memory.id for hit in context.hits]


async def prompted(database: Database, project: Project, text: str, session: str = "now") -> list[int]:
    context = await surface_prompt(make_mind(database), Prompt(session, project.id, text))
    return [hit.memory.id for hit in context.hits]


async def touched(
    database: Database, project: Project, path: str, session: str = "now", *, changed: bool = True, written: str = ""
) -> list[int]:
    occasion = SurfacingEvent(session, project.id, "file")
    file = Touched(path, "/repo", changed=changed, written=written)
    context = await surface_file(make_mind(database), occasion, file)
    return [hit.memory.id for hit in context.hits]


@pytest.mark.parametrize("content", [TABS, LINT, SKILL, CHANGELOG, CHECKS, TAGGED, TESTED, QUOTES])
async def test_no_start_is_given_what_only_some_sessions_need(
    database: Database, project: Project, content: str
) -> None:
    command = await observed(database, project, COMMAND)
    await observed(database, project, content, recurrence=9)
    assert await started(database, project) == [command]


async def test_what_a_person_pinned_is_given_at_starts_all_the_same(database: Database, project: Project) -> None:
    pinned = await store(database, project, TABS, extractor="observed-1", pinned=True)
    assert await started(database, project) == [pinned]


async def test_a_failed_edit_comes_with_the_first_file_of_its_type(database: Database, project: Project) -> None:
    tabs = await observed(database, project, TABS)
    assert await touched(database, project, "src/app.go") == []
    assert await touched(database, project, "src/App.tsx", changed=False) == [tabs]
    assert await touched(database, project, "src/Other.tsx") == []


async def test_a_failed_edit_comes_with_a_file_of_a_similar_type_too(database: Database, project: Project) -> None:
    tabs = await observed(database, project, TABS)
    script = await observed(database, project, SPACES)
    assert await touched(database, project, "src/app.ts", changed=False) == [tabs]
    assert await prompted(database, project, "Move the header of src/App.tsx") == []
    assert await prompted(database, project, "Why does src/app.py fail?") == [script]


async def test_what_was_said_of_one_type_is_not_said_of_a_similar_one(database: Database, project: Project) -> None:
    both = {await observed(database, project, TABS), await observed(database, project, TABS.replace(".tsx", ".ts"))}
    given = await prompted(database, project, "Move the header of src/App.tsx")
    assert len(given) == 1
    assert set(given) <= both
    assert await touched(database, project, "src/app.ts", changed=False) == []


async def test_a_build_tag_comes_with_a_change_of_the_files_that_are_named_after_it(
    database: Database, project: Project
) -> None:
    tagged = await observed(database, project, TAGGED)
    assert await touched(database, project, "cmd/main.go") == []
    assert await touched(database, project, "docs/integration.md") == []
    assert await touched(database, project, "cmd/integration_test/env.go", changed=False) == []
    for number in range(4):
        assert await touched(database, project, "cmd/integration_test/env.go", f"s{number}") == [tagged]
        await over(database, project, f"s{number}", NOON + number)


async def test_a_failed_edit_is_given_in_few_words(database: Database, project: Project) -> None:
    await observed(database, project, TABS, recurrence=3)
    prompt = Prompt("now", project.id, "Move the header of src/App.tsx")
    text = (await surface_prompt(make_mind(database), prompt)).text
    assert (
        "Files of type `.tsx` are indented with tabs here: edits failed in 3 sessions until the text to replace had all"
        " tabs of each line.\n"
    ) in text


async def test_what_is_known_about_tabs_is_one_note_for_all_types(database: Database, project: Project) -> None:
    await observed(database, project, TABS, recurrence=3)
    script = await observed(database, project, TABS.replace(".tsx", ".py"))
    await observed(database, project, SHOWN)
    given = await surface_prompt(make_mind(database), Prompt("now", project.id, "Why does src/app.py fail?"))
    assert [hit.memory.id for hit in given.hits] == [script]
    assert (
        "Files of type `.py` and `.tsx` are indented with tabs here: edits failed in 3 sessions until the text to"
        " replace had all tabs of each line. `cat -A <path>` failed here; `xxd <path>` then worked.\n"
    ) in given.text
    assert await prompted(database, project, "Move the header of src/App.tsx") == []


async def test_a_command_that_shows_tabs_waits_for_what_makes_sessions_look_for_them(
    database: Database, project: Project
) -> None:
    shown = await observed(database, project, SHOWN, recurrence=9)
    assert await started(database, project) == []
    assert await prompted(database, project, "`cat -A <path>` fails here, why?") == [shown]


async def test_what_every_formatter_of_a_language_does_is_not_given(database: Database, project: Project) -> None:
    await observed(database, project, TABS.replace(".tsx", ".go"), recurrence=9)
    assert await started(database, project) == []
    assert await touched(database, project, "cmd/main.go") == []
    assert await prompted(database, project, "Why does cmd/main.go fail?") == []


async def test_a_lint_check_comes_with_a_change_of_the_language_that_it_looks_at(
    database: Database, project: Project
) -> None:
    lint = await observed(database, project, LINT)
    assert await touched(database, project, "cmd/main.go", changed=False) == []
    assert await touched(database, project, "web/App.tsx") == []
    assert await prompted(database, project, "What does cmd/main.go do?") == []
    assert await touched(database, project, "cmd/main.go", written="total := 0\n") == []
    rejected = "if err != nil {\n\treturn nil\n}\n"
    assert await touched(database, project, "cmd/main.go", written=rejected) == []
    assert await touched(database, project, "cmd/main.go", written="total := 0\n" * 9 + rejected) == [lint]


async def test_a_check_of_length_is_not_predicted(database: Database, project: Project) -> None:
    await observed(database, project, LINT.replace("nilerr", "funlen"))
    assert await touched(database, project, "cmd/main.go", written="total := 0\n" * 300) == []


@pytest.mark.parametrize(
    ("content", "fits", "does_not"),
    [
        (TABS, "Move the header of frontend/App.tsx", "Move the header of frontend/app.css"),
        (SKILL, "commit this and update the docs", "why is the committee page empty?"),
        (SKILL, "comit", "what comes next?"),
        (CHANGELOG, "please commit your changes", "why is the page empty?"),
        (CHECKS, "`bun run lint` reports two errors", "why does bun hang?"),
        (TAGGED, "go test -tags=integration fails", "why does go hang?"),
        (TESTED, "npm test reports two errors", "why is the test page empty?"),
        (QUOTES, "run gh api repos/acme/shop/pulls?state=open", "is the shop open?"),
    ],
)
async def test_a_prompt_that_calls_for_it_is_given_it_once(
    database: Database, project: Project, content: str, fits: str, does_not: str
) -> None:
    memory = await observed(database, project, content)
    assert await prompted(database, project, does_not) == []
    assert await prompted(database, project, fits) == [memory]
    assert await prompted(database, project, fits) == []


@pytest.mark.parametrize(
    ("content", "path"),
    [(TESTED, "src/App.tsx"), (REPAIRED, "src/App.tsx"), (TESTED.replace("npm", "make"), "a/b.rs")],
)
async def test_a_check_that_failed_comes_with_a_change_that_the_tool_works_on(
    database: Database, project: Project, content: str, path: str
) -> None:
    memory = await observed(database, project, content)
    assert await touched(database, project, "docs/notes.md") == []
    assert await touched(database, project, path, changed=False) == []
    assert await touched(database, project, path) == [memory]


async def test_the_most_often_seen_come_first_and_only_so_many(database: Database, project: Project) -> None:
    checks = ("vet", "lint", "test", "build", "check", "typecheck", "jest")
    made = [await observed(database, project, TESTED.replace("test", name), at + 2) for at, name in enumerate(checks)]
    given = [await touched(database, project, f"src/f{number}.ts") for number in range(3)]
    assert given[0] == made[: -BOUND_AT_ONCE - 1 : -1]
    assert [one for batch in given for one in batch] == made[: -MOST_BOUND - 1 : -1]


def lint(name: str) -> str:
    return f"The lint check `{name}` failed here: {CHECKS_OF_LINTERS[name]}."


async def test_a_session_is_given_two_lint_checks_one_at_a_time(database: Database, project: Project) -> None:
    checks = ("nilerr", "wrapcheck", "noctx")
    made = [await observed(database, project, lint(name), at + 1) for at, name in enumerate(checks)]
    vet = await observed(database, project, "`go vet` failed here; `make vet` then worked.")
    code = "total := 0\n" * 9 + "page, err := http.Get(url)\nif err != nil {\n\treturn nil\n}\nreturn page, err\n"
    given = [await touched(database, project, f"cmd/f{number}.go", written=code) for number in range(3)]
    assert [set(batch) for batch in given] == [{made[2], vet}, {made[1]}, set()]


async def test_lint_checks_that_fail_again_and_again_are_one_list(database: Database, project: Project) -> None:
    checks = ("goconst", "nilerr", "wrapcheck")
    made = [await observed(database, project, lint(name), at + 2) for at, name in enumerate(checks)]
    await observed(database, project, lint("useTemplate"), recurrence=9)
    occasion = SurfacingEvent("now", project.id, "file")
    file = Touched("cmd/main.go", "/repo", changed=True, written="total := 0\n" * 9)
    given = await surface_file(make_mind(database), occasion, file)
    assert [hit.memory.id for hit in given.hits] == [made[2]]
    assert (
        "Lint checks that rejected code here: `wrapcheck` in 4 sessions (errors of other packages have to be wrapped,"
        " as with fmt.Errorf and %w, before they are returned), `nilerr` in 3 (code must not `return nil` where an"
        " error is not nil), `goconst` in 2 (a string that is repeated has to become a constant, in tests too).\n"
    ) in given.text
    assert await touched(database, project, "cmd/other.go", written="total := 0\n" * 9) == []


async def test_a_list_of_lint_checks_waits_for_a_large_change_and_rests(database: Database, project: Project) -> None:
    made = {await observed(database, project, lint(name)) for name in ("goconst", "nilerr", "wrapcheck")}
    assert await touched(database, project, "cmd/main.go", written="total := 0\n" * 7) == []
    assert await touched(database, project, "cmd/main.go", written="total := 0\n" * 9, changed=False) == []
    given = set()
    for number in range(9):
        given |= {*await touched(database, project, "cmd/main.go", f"s{number}", written="total := 0\n" * 9)}
        await over(database, project, f"s{number}", NOON + number)
    assert given == made
    assert await touched(database, project, "cmd/main.go", "last", written="total := 0\n" * 9) == []


async def test_it_leaves_a_session_its_own_allowance(database: Database, project: Project) -> None:
    for number in range(4):
        await store(
            database, project, f"The UploadWorker in Upload.tsx retries a failed chunk upload twice. Case {number}."
        )
    tabs = await observed(database, project, TABS)
    found = await prompted(database, project, "why does the UploadWorker in Upload.tsx retry a failed chunk upload")
    assert tabs in found
    assert len(found) == 4


async def test_what_a_prompt_states_itself_is_not_given_with_it(database: Database, project: Project) -> None:
    said = "The UploadWorker in Upload.tsx retries a failed chunk upload twice"
    known = await store(database, project, f"{said}.")
    assert await prompted(database, project, f"No! {said}, so don't wait.", "now") == []
    asked = "why does the UploadWorker in Upload.tsx retry a chunk"
    assert await prompted(database, project, asked, "other") == [known]


async def test_it_leaves_errors_their_own_allowance_too(database: Database, project: Project) -> None:
    for name in ("test", "lint", "check"):
        await observed(database, project, TESTED.replace("test", name))
    assert len(await touched(database, project, "src/App.tsx")) == BOUND_AT_ONCE
    known = await store(database, project, "Tests fail in `tmp/clones/`, a clone that was left over.", kind="learning")
    occasion = SurfacingEvent("now", project.id, "error")
    context = await surface_error(make_mind(database), occasion, "1 fail in /repo/tmp/clones/a1/src/cart.test.ts")
    assert [hit.memory.id for hit in context.hits] == [known]


async def test_what_three_sessions_left_unheeded_rests_until_a_prompt_names_it(
    database: Database, project: Project
) -> None:
    tabs = await observed(database, project, TABS)
    for number in range(3):
        assert await touched(database, project, "src/App.tsx", f"s{number}") == [tabs]
        await over(database, project, f"s{number}", NOON + number)
    assert await touched(database, project, "src/App.tsx", "fourth") == []
    assert await prompted(database, project, "Move the header of src/App.tsx", "fifth") == [tabs]


async def test_a_skill_that_is_missing_rests_after_three_sessions_that_did_not_call_it(
    database: Database, project: Project
) -> None:
    skill = await observed(database, project, SKILL)
    for number in range(3):
        assert await prompted(database, project, "commit this", f"s{number}") == [skill]
        await over(database, project, f"s{number}", NOON + number)
    assert await prompted(database, project, "commit this", "fourth") == []
    async with database.write() as tx:
        await memories.restate(tx, await memories.get(database, skill), NOON + 9, "fifth", Origin.ASSISTANT)
    assert await prompted(database, project, "commit this", "sixth") == [skill]


async def test_a_repair_that_is_needed_again_does_not_rest(database: Database, project: Project) -> None:
    repair, habit = await observed(database, project, REPAIRED), await observed(database, project, CHANGELOG)
    for number in range(3):
        assert await touched(database, project, "src/App.tsx", f"s{number}") == [repair][: 2 - number]
        assert await prompted(database, project, "commit this", f"s{number}") == [habit]
        await over(database, project, f"s{number}", NOON + number)
    assert await touched(database, project, "src/App.tsx", "fourth") == []
    async with database.write() as tx:
        await memories.restate(tx, await memories.get(database, repair), NOON + 9, "fifth", Origin.ASSISTANT)
        await memories.restate(tx, await memories.get(database, habit), NOON + 9, "fifth", Origin.ASSISTANT)
    assert await touched(database, project, "src/App.tsx", "sixth") == [repair]
    assert await prompted(database, project, "commit this", "sixth") == []


async def test_a_repair_that_sessions_respond_to_rests_later(database: Database, project: Project) -> None:
    repair = await observed(database, project, REPAIRED)
    async with database.write() as tx:
        await memories.restate(tx, await memories.get(database, repair), NOON, "before", Origin.ASSISTANT)
    for number in range(4):
        assert await touched(database, project, "src/App.tsx", f"s{number}") == ([repair] if number < 3 else [])
        await over(database, project, f"s{number}", NOON + number + 1)


async def test_a_repair_that_rests_comes_with_a_prompt_that_names_its_command(
    database: Database, project: Project
) -> None:
    repair = await observed(database, project, REPAIRED)
    for number in range(2):
        await touched(database, project, "src/App.tsx", f"s{number}")
        await over(database, project, f"s{number}", NOON + number)
    assert await touched(database, project, "src/App.tsx", "third") == []
    assert await prompted(database, project, "Add a header, then run bun run lint.", "third") == [repair]


async def test_a_warning_that_three_sessions_did_not_need_is_not_retired(database: Database, project: Project) -> None:
    tabs = await met_once(database, project, TABS)
    for number in range(confirmation.MISSES):
        assert await prompted(database, project, "Move the header of src/App.tsx", f"s{number}") == [tabs]
        await over(database, project, f"s{number}", NOON + number)
    async with database.write() as tx:
        await tx.execute(
            "INSERT INTO surface_outcomes (surface_id, memory_id, used, at) SELECT id, memory_id, 0, 1.0 FROM surfaces"
            " WHERE id NOT IN (SELECT surface_id FROM surface_outcomes)"
        )
        await confirmation.conclude(tx, tabs)
    assert await prompted(database, project, "Move the header of src/App.tsx", "fourth") == [tabs]


async def test_a_wrong_path_is_not_given_with_the_file_that_was_found(database: Database, project: Project) -> None:
    path = "Looking for `cli/commands/resume.go` failed here; the file then found is `cli/resume.go`."
    await met_once(database, project, path)
    assert await touched(database, project, "cli/resume.go") == []
    wrong = await met_once(database, project, path.replace("`cli/resume.go`", "`cli/session/resume.go`"))
    assert await touched(database, project, "cli/commands/resume.go", "other") == [wrong]
    stored = await observed(database, project, path)
    assert stored not in await touched(database, project, "cli/resume.go", "third")


async def test_a_habit_that_nothing_in_the_project_shows_does_not_rest(database: Database, project: Project) -> None:
    staged = await observed(database, project, STAGED)
    for number in range(4):
        assert await prompted(database, project, "commit this", f"s{number}") == [staged]
        await over(database, project, f"s{number}", NOON + number)


async def met_once(database: Database, project: Project, content: str) -> int:
    """Store a failure that one session met, as an unconfirmed memory."""
    place = SessionRef(project.id, "earlier")
    said = replace(make_candidate(content), origin=Origin.ASSISTANT, extractor=ONCE)
    admission = Admission(Decision.REVIEW, 0.75, "seen in what was run")
    async with database.write() as tx:
        await sessions.record_activity(tx, "earlier", project.id, NOON, transcript="", cwd="/p")
        number = await captures.insert(tx, said, admission, place, 7)
        assert number is not None
        memory = await unconfirmed.insert(tx, number, memory_of(said, admission, Provenance(place)))
    return memory.id


async def test_what_failed_once_is_given_unconfirmed_where_it_may_fail_again(
    database: Database, project: Project
) -> None:
    tabs, skill = await met_once(database, project, TABS), await met_once(database, project, SKILL)
    await met_once(database, project, LINT)
    assert await started(database, project) == []
    rejected = "total := 0\n" * 9 + "if err != nil {\n\treturn nil\n}\n"
    assert await touched(database, project, "cmd/main.go", written=rejected) == []
    assert await touched(database, project, "src/App.go") == []
    assert await touched(database, project, "src/App.tsx") == [tabs]
    assert await prompted(database, project, "commit this") == [skill]
    ctx = make_mind(database)
    context = await surface_prompt(ctx, Prompt("other", project.id, "commit this"))
    assert "unconfirmed" in context.text
    ctx = replace(ctx, settings=ctx.settings.model_copy(update={"unconfirmed": False}))
    assert (await surface_prompt(ctx, Prompt("third", project.id, "commit this"))).text == ""


async def test_a_session_is_given_two_unconfirmed_failures_one_at_a_time(database: Database, project: Project) -> None:
    skills = [await met_once(database, project, SKILL.replace("commit", name)) for name in ("commit", "push", "tag")]
    known = await observed(database, project, TABS)
    text = "commit, push and tag what you changed in App.tsx"
    given = [await prompted(database, project, text) for _ in range(3)]
    assert [len([one for one in batch if one in skills]) for batch in given] == [1, 1, 0]
    assert known in given[0]


async def test_a_failure_that_is_confirmed_is_bound_like_others(database: Database, project: Project) -> None:
    tabs = await met_once(database, project, TABS)
    async with database.write() as tx:
        capture = await unconfirmed.capture_of(tx, tabs)
        assert capture is not None
        await confirmation.confirm(tx, capture, confirmation.USED)
    assert (await memories.get(database, tabs)).extractor == EXTRACTOR
    assert await touched(database, project, "src/App.tsx") == [tabs]


def test_a_users_own_words_are_bound_to_nothing() -> None:
    assert binding_of(make_memory(TABS)) is None
    assert binding_of(make_memory("Always run `bun run lint` before committing.")) is None


def test_a_hook_asks_about_files_of_a_type_that_a_memory_is_bound_to(tmp_path: Path) -> None:
    path = tmp_path / "run" / "file-names"
    path.parent.mkdir()
    path.touch(0o600)
    path.write_bytes(HEADER + "".join(f"{line}\n" for line in sorted(lines_of(TABS, (), by_user=False))).encode() + END)
    assert may_be_known(str(tmp_path), payload("/repo/src/App.tsx"))
    assert not may_be_known(str(tmp_path), payload("/repo/src/app.py"))


def test_a_long_list_of_lint_checks_explains_those_that_failed_most() -> None:
    names = ("wrapcheck", "nilerr", "errcheck", "unparam", "goconst", "maintidx")
    said = of_checks([(name, 9 - place) for place, name in enumerate(names)])
    assert said.endswith(f"`unparam` in 6 ({CHECKS_OF_LINTERS['unparam']}); also `goconst`, `maintidx`.")


@pytest.mark.parametrize(("server", "fits", "other"), [("gopls", "a.go", "a.ts"), ("LSP", "a.rs", "a.md")])
def test_stale_diagnostics_are_told_with_a_change_or_a_merge(server: str, fits: str, other: str) -> None:
    content = f"Diagnostics of the language server ({server}) are often stale here right after edits and merges: ..."
    binding = binding_of(make_memory(content=content, extractor="practised-1"))
    assert binding is not None
    assert binding.fits_file(Touched(fits, changed=True))
    assert not binding.fits_file(Touched(fits, changed=False))
    assert not binding.fits_file(Touched(other, changed=True))
    assert binding.fits_prompt("resolve the merge conflicts")
    assert not binding.fits_prompt("add a test")
