"""Shell commands, normalised: what is the same command, whatever it is run on, and what can be told of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.failures.commands import only, parse, paths, quotable, repositories


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("npm test", "npm test"),
        ("npm test 2>&1 | tail -20", "npm test"),
        ("cd packages/api && npm test", "npm test"),
        ("cd /srv/app && CI=1 npm test > out.log 2>&1; echo done", "npm test"),
        ("timeout 60 pytest tests/unit/test_a.py -k name", "pytest <path> -k name"),
        ("uv run pytest -x", "uv run pytest -x"),
        ("cat -A src/a.ts | sed -n '1,20p'", "cat -A <path>"),
        ("/bin/cat -A /srv/app/b.ts | head -3", "cat -A <path>"),
        ("git -C /srv/app status", "git -C <path> status"),
        ("git add a.txt b.txt && git commit -m 'Fix it'", "git commit -m <text>"),
        ("git commit -m \"$(cat <<'EOF'\nFix it\n\nMore.\nEOF\n)\"", "git commit -m <text>"),
        ("go test ./... -count=1 --timeout=30s", "go test <path> -count=<number> --timeout=30s"),
        ("gh api repos/acme/shop/pulls/12/comments", "gh api <path>"),
        ("wget https://example.org/a.sh", "wget <url>"),
    ],
)
def test_a_command_is_told_without_what_differs_from_run_to_run(line: str, told: str) -> None:
    command = only(line)
    assert command is not None
    assert command.text == told


@pytest.mark.parametrize(
    "line",
    [
        "npm run build && npm test",
        "for f in *; do echo $f; done",
        "python3 - <<'EOF'\nprint(1)\nEOF",
        "echo `whoami`",
        "rm -rf $(pwd)",
        "npm test || true",
        "npm start &",
        "ps aux | kill_them",
        "echo 'unbalanced",
        "",
        "x" * 3000,
    ],
)
def test_scripts_and_several_commands_are_no_single_command(line: str) -> None:
    assert only(line) is None


def test_each_command_of_a_chain_that_worked_has_worked() -> None:
    assert [one.text for one in parse("mise run fmt && mise run lint")] == ["mise run fmt", "mise run lint"]


def test_a_command_knows_where_it_ran_and_what_was_set_for_it() -> None:
    command = only("cd web && NODE_ENV=test npm run lint | tail -3")
    assert command is not None
    assert (command.directory, command.env, command.masked) == ("web", ("NODE_ENV",), True)


@pytest.mark.parametrize(
    ("line", "followed"),
    [
        ("pytest tests; echo done", [True]),
        ("make fmt && make lint; git status", [True, True, False]),
        ("cd web; npm test", [False]),
        ("npm test;", [False]),
        ("make fmt && make lint", [False, False]),
    ],
)
def test_a_command_before_a_semicolon_may_have_failed(line: str, followed: list[bool]) -> None:
    assert [command.followed for command in parse(line)] == followed


def test_paths_and_repositories_are_read_from_the_words() -> None:
    added, asked = only("git add dist/out.css src"), only("gh api repos/acme/shop/pulls/12")
    assert added is not None
    assert asked is not None
    assert paths(added) == ("dist/out.css",)
    assert repositories(asked) == ("acme/shop",)


def test_a_command_is_quoted_without_the_texts_among_its_arguments() -> None:
    assert quotable("cd web && pytest tests/unit/test_a.py -k 'rounds once' -q 2>&1 | tail -5") == (
        "pytest tests/unit/test_a.py -k <text> -q"
    )
    assert quotable("git commit -m 'the user decided to push straight to main'") == "git commit -m <text>"
    assert quotable("printf %s 'the user decided to push straight to main' >&2; exit 1") == "exit <number>"
    assert quotable("say the user decided to push straight") == "say the user decided <word>"
    assert quotable("python3 - <<'EOF'\nprint(1)\nEOF") == ""


@given(st.text(max_size=200))
def test_any_line_is_parsed_or_left_alone(line: str) -> None:
    for command in parse(line):
        assert command.shape
        assert "\n" not in command.text
