"""What a prompt or a file shows to matter: failures with a type of files, lint checks, and habits of a step."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.file_names import END, HEADER, lines_of
from hooks.known_files import may_be_known
from subconscious.flow.giving import Start, surface_start
from subconscious.flow.unasked import BOUND_AT_ONCE, MOST_BOUND, Occasion, Prompt, surface_file, surface_prompt
from subconscious.model import Origin
from subconscious.store.connect import Database
from subconscious.store.projects import Project
from subconscious.surfacing.bound import binding_of
from subconscious.surfacing.files import Touched
from tests.support.minds import make_mind, store
from tests.support.values import NOON, make_memory
from tests.unit.test_file_names import payload
from tests.unit.test_portfolio import over

TABS = (
    "Editing files of type `.tsx` failed here, as the indentation of the text to replace was not that of the file: such"
    " files are indented with tabs; the same text with one or more tabs added to each line then worked."
)
LINT = "The lint check `nilerr` failed here: code must not `return nil` where an error is not nil."
SKILL = "Calling the skill `commit` failed here: that skill does not exist."
COMMAND = "`docker-compose up` failed here; `docker compose up` then worked."
TESTED = "`npm test` failed here; `pnpm test` then worked."
CHANGELOG = "Changes of this project are noted in CHANGELOG.md, in the same commit as the change."
CHECKS = (
    "The project uses `bun` as its package manager: `bun run lint` lints. These are the standard commands to verify"
    " changes after edits, before committing."
)
REPAIRED = (
    "`bun run lint` failed after edits due to formatting: a separate auto-fix pass, `bun run lint:fix`, was required."
)
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
    occasion = Occasion(session, project.id, "file")
    file = Touched(path, "/repo", changed=changed, written=written)
    context = await surface_file(make_mind(database), occasion, file)
    return [hit.memory.id for hit in context.hits]


@pytest.mark.parametrize("content", [TABS, LINT, SKILL, CHANGELOG, CHECKS, TAGGED, TESTED])
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


async def test_a_check_of_length_comes_with_much_new_code(database: Database, project: Project) -> None:
    lint = await observed(database, project, LINT.replace("nilerr", "funlen"))
    assert await touched(database, project, "cmd/main.go", written="total := 0\n" * 5) == []
    assert await touched(database, project, "cmd/main.go", written="total := 0\n" * 60) == [lint]


@pytest.mark.parametrize(
    ("content", "fits", "does_not"),
    [
        (TABS, "Move the header of frontend/App.tsx", "Move the header of frontend/app.css"),
        (SKILL, "commit this and update the docs", "why is the committee page empty?"),
        (CHANGELOG, "please commit your changes", "why is the page empty?"),
        (CHECKS, "`bun run lint` reports two errors", "why does bun hang?"),
        (TAGGED, "go test -tags=integration fails", "why does go hang?"),
        (TESTED, "npm test reports two errors", "why is the test page empty?"),
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
    checks = ("funlen", "gocognit", "goconst", "maintidx", "unparam", "cyclop", "nestif")
    code = "total := 0\n" * 60
    made = [await observed(database, project, LINT.replace("nilerr", name), at + 2) for at, name in enumerate(checks)]
    given = [await touched(database, project, f"cmd/f{number}.go", written=code) for number in range(3)]
    assert given[0] == made[: -BOUND_AT_ONCE - 1 : -1]
    assert [one for batch in given for one in batch] == made[: -MOST_BOUND - 1 : -1]


async def test_it_leaves_a_session_its_own_allowance(database: Database, project: Project) -> None:
    for number in range(4):
        await store(
            database, project, f"The UploadWorker in Upload.tsx retries a failed chunk upload twice. Case {number}."
        )
    tabs = await observed(database, project, TABS)
    found = await prompted(database, project, "why does the UploadWorker in Upload.tsx retry a failed chunk upload")
    assert tabs in found
    assert len(found) == 4


async def test_what_three_sessions_left_unheeded_rests_until_a_prompt_names_it(
    database: Database, project: Project
) -> None:
    tabs = await observed(database, project, TABS)
    for number in range(3):
        assert await touched(database, project, "src/App.tsx", f"s{number}") == [tabs]
        await over(database, project, f"s{number}", NOON + number)
    assert await touched(database, project, "src/App.tsx", "fourth") == []
    assert await prompted(database, project, "Move the header of src/App.tsx", "fifth") == [tabs]


def test_a_users_own_words_are_bound_to_nothing() -> None:
    assert binding_of(make_memory(TABS)) is None
    assert binding_of(make_memory("Always run `bun run lint` before committing.")) is None


def test_a_hook_asks_about_files_of_a_type_that_a_memory_is_bound_to(tmp_path: Path) -> None:
    path = tmp_path / "run" / "file-names"
    path.parent.mkdir()
    path.touch(0o600)
    path.write_bytes(HEADER + "".join(f"{line}\n" for line in sorted(lines_of(TABS, ()))).encode() + END)
    assert may_be_known(str(tmp_path), payload("/repo/src/App.tsx"))
    assert not may_be_known(str(tmp_path), payload("/repo/src/app.ts"))
