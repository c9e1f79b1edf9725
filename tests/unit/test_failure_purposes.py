"""What a command is for, by its words: which command may stand in for one that does not exist."""

from __future__ import annotations

import pytest

from subconscious.failures.commands import only
from subconscious.failures.purposes import is_whole, same_purpose
from subconscious.failures.signature import is_absent


@pytest.mark.parametrize(
    ("failed", "worked", "purpose"),
    [
        ("python3 -m pytest_docker -q", "./dev test", "test"),
        ("pytest", "make test", "test"),
        ("python3.12 -m pytest -q tests/unit", "tox", "test"),
        ("npm test", "just test", "test"),
        ("npm run test:unit", "pnpm vitest run", "test"),
        ("./gradlew test", "mvn test", "test"),
        ("make lint", "golangci-lint run", "lint"),
        ("npm run lint", "pnpm lint", "lint"),
        ("make typecheck", "npx tsc --noEmit", "types"),
        ("make fmt", "cargo fmt", "format"),
        ("npm run build", "make build", "build"),
        # Different purposes, or none.
        ("pytest", "make lint", ""),
        ("pytest", "make", ""),
        ("make check-all", "make verify", ""),
        ("npm run lint:test", "make test", ""),  # which of the two it is for can't be told
        ("./dev deploy", "make deploy", ""),
        ("python manage.py migrate", "make migrate", ""),
        # Another language of the same project.
        ("pytest", "npm test", ""),
        ("go test ./...", "cargo test", ""),
        # Programs that run no tasks.
        ("mkdir test", "./dev test", ""),
        ("cp tests build", "make build", ""),
        ("git checkout test", "make test", ""),
        ("docker compose run test", "make test", ""),
        ("ssh host test", "make test", ""),
        ("pytest", "rm -r tests", ""),
    ],
)
def test_commands_with_one_purpose_are_recognised(failed: str, worked: str, purpose: str) -> None:
    old, new = only(failed), only(worked)
    assert old is not None
    assert new is not None
    assert same_purpose(old, new) == purpose


@pytest.mark.parametrize(
    ("output", "absent"),
    [
        ("Exit code 1\n/usr/bin/python3: No module named pytest_docker", True),
        ("Exit code 127\n/bin/bash: line 1: pytest: command not found", True),
        ("Exit code 127\nsh: 1: vitest: not found", True),
        ("Exit code 127\nbash: ./run_tests.sh: No such file or directory", True),
        ('npm error Missing script: "test"', True),
        ("make: *** No rule to make target 'test'.  Stop.", True),
        ("error: Justfile does not contain recipe `test`", False),
        ("python: can't open file '/srv/run_tests.py': [Errno 2] No such file or directory", True),
        ("E   ModuleNotFoundError: No module named 'requests'", False),
        ("ERROR: file or directory not found: tests/missing.py", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'a.txt'", False),
        ("error: unrecognized arguments: --no-header", False),
        ("1 failed, 3 passed", False),
    ],
)
def test_a_program_that_does_not_exist_is_told_from_other_errors(output: str, absent: bool) -> None:
    assert is_absent(output) is absent


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("make test", True),
        ("tox", True),
        ("pnpm run lint", True),
        ("golangci-lint run", True),
        ("npm run test:unit", False),
        ("make test-fast", False),
        ("pytest tests/unit", False),
        ("pytest -k name", False),
        ("go test ./...", False),
    ],
)
def test_a_command_that_may_check_only_a_part_is_no_whole_task(line: str, whole: bool) -> None:
    command = only(line)
    assert command is not None
    assert is_whole(command) is whole
