"""Commands that a session ran and files that it changed, as uses of the memories that name them."""

from __future__ import annotations

from time import perf_counter

import pytest

from subconscious.recall.run_commands import changed, is_undue, ran
from tests.support.values import make_memory


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("tests only via ./dev test, never pytest directly", "cd /repo && ./dev test"),
        ("tests only via `./dev test`", "./dev test -q 2>&1 | tail -20"),
        ("run scripts/test before you commit", "./scripts/test -n0 tests/unit"),
        ("we use pnpm test not npm test", "CI=1 pnpm test"),
        ("use uv add for new packages, never pip install", "uv add httpx"),
        ("build with npm run build:prod", "npm run build:prod"),
        ("push with git push --force-with-lease", "git push --force-with-lease"),
        ("don't commit without running make lint", "make lint"),
        ("never forget to run make lint", "make lint"),
        ("Tests nur mit ./dev test, nie pytest direkt", "./dev test"),
        ("use docker compose up instead of docker-compose up", "docker compose up -d"),
        ("checks run with `tox`", "tox"),
        ("tests: ./dev test", "./dev test"),
        ("make lint before every push", "make lint"),
        ("we moved to uv: run `uv sync` after a pull", "uv sync"),
        ("run `make lint` only, the rest is done by CI", "make lint"),
        ("use `make seed` when you need data", "make seed"),
        ("before a push run make lint", "make lint"),
        ('use "make lint" for that', "make lint"),
        ("tests are run by python -m unittest here", "python -m unittest discover"),
        ("run the tests w cargo nextest not cargo test, always", "cargo nextest run"),
        ("check it w/ make lint", "make lint"),
        ("build w/make all", "make all"),
    ],
)
def test_a_command_that_a_memory_names_is_a_use(said: str, command: str) -> None:
    assert ran(make_memory(said), "add a page", [command])
    assert not ran(make_memory(said), f"run {command.rpartition('&& ')[2]} please", [command])


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("tests only via ./dev test, never pytest directly", "pytest -q"),
        ("tests only via ./dev test", "./dev lint"),
        ("never run make deploy", "make deploy"),
        ("don\u2019t use npm test or npm install here", "npm install"),
        ("use pnpm test instead of npm test", "npm test"),
        ("npm test is broken here", "npm test"),
        ("npm test must not be run on main", "npm test"),
        ("only the release manager may run make deploy", "make deploy"),
        ("make deploy nie ausführen", "make deploy"),
        ("no terraform apply without asking", "terraform apply"),
        ("Ask before make deploy.", "make deploy"),
        ("Ask before you run `make deploy`.", "make deploy"),
        ("Leave make deploy to CI.", "make deploy"),
        ("make deploy needs Anna's approval.", "make deploy"),
        ("Run make deploy only with Anna's approval.", "make deploy"),
        ("Running make deploy wipes the database.", "make deploy"),
        ("Before running make deploy, tell Anna.", "make deploy"),
        ("Vor make deploy immer Anna fragen.", "make deploy"),
        ("CI runs make deploy at night.", "make deploy"),
        ("The demo data is wiped by make deploy.", "make deploy"),
        ("make deploy takes an hour", "make deploy"),
        ("refrain from using `make release`", "make release"),
        ("quit using `make release`", "make release"),
        ("I hate using `make release`", "make release"),
        ("evita usar `make release`", "make release"),
        ("deja de usar `make release`", "make release"),
        ("\u00e9vite d'utiliser `make release`", "make release"),
        ("arr\u00eate d'utiliser `make release`", "make release"),
        ("h\u00f6r auf mit `make release`", "make release"),
        ("it broke when I ran with `make release`", "make release"),
        ("prod went down when someone executed `make release`", "make release"),
        ("run `terraform apply` only if Anna is there", "terraform apply"),
        ("immer `terraform apply` nur mit Anna", "terraform apply"),
        ("we used to use `npm install`, now it's pnpm", "npm install"),
        ("we switched from using `npm install` to pnpm", "npm install"),
        ("use `npm install` sparingly", "npm install"),
        ("people keep running `make migrate` by hand, stop that", "make migrate"),
        ("look at git status first", "git status"),
        ("ls -la shows the links", "ls -la"),
        ("build with npm run build", "npm run lint"),
        ("make it fast", "make"),
        ("use go for the worker", "go test ./..."),
        ("tests only via ./dev test", 'git commit -m "./dev test passes"'),
        ("tests only via ./dev test", "./dev tests"),
        ("run the tests w cargo nextest not cargo test, always", "cargo test"),
        ("ship w/o npm test", "npm test"),
    ],
)
def test_other_commands_are_not(said: str, command: str) -> None:
    assert not ran(make_memory(said), "add a page", [command])


@pytest.mark.parametrize(
    ("said", "asked", "used"),
    [
        ("new settings are documented in docs/limits.md", "add a timeout", True),
        ("new settings are documented in limits.md", "add a timeout", True),
        ("new settings are documented in docs/limits.md", "add a timeout to limits.md", False),
        ("never edit docs/limits.md by hand", "add a timeout", False),
        ("new settings are documented in docs/options.md", "add a timeout", False),
        ("the entry point is main.py", "add a timeout", False),
    ],
)
def test_a_changed_file_that_only_the_memory_names_is_a_use(said: str, asked: str, used: bool) -> None:
    files = [("/repo/docs/limits.md", "/repo"), ("/repo/main.py", "/repo")]
    assert bool(changed(make_memory(said), asked, files)) == used


def test_many_long_commands_are_compared_quickly() -> None:
    rules = [make_memory(f"npm run check{number} is slow, tests only via ./dev test") for number in range(50)]
    commands = [f"npm run build package{number} with many words here" for number in range(600)]
    begin = perf_counter()
    assert not any(ran(rule, "add a page", commands) or is_undue(rule, commands[0]) for rule in rules)
    assert perf_counter() - begin < 5.0


def test_a_command_is_undue_only_where_the_memory_says_so() -> None:
    memory = make_memory("tests only via ./dev test, never run npm test")
    assert is_undue(memory, "cd web && npm test")
    assert not is_undue(memory, "./dev test")
    assert not is_undue(memory, "npm install")
