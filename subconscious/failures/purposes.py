"""Recognises what a command is for (testing, linting, ...) by its words, even if two commands share no word."""

from __future__ import annotations

import re

from subconscious.failures.commands import Command

_PURPOSES = {
    "test": "test tests pytest unittest tox nox jest vitest mocha ava karma rspec minitest phpunit pest ctest nextest",
    "lint": "lint linter ruff flake8 pylint eslint oxlint stylelint golangci clippy rubocop shellcheck phpstan",
    "types": "typecheck types tsc mypy pyright pyre",
    "format": "fmt format formatter prettier black gofmt rustfmt",
    "build": "build compile webpack esbuild rollup",
}
_PURPOSE_OF = {word: purpose for purpose, words in _PURPOSES.items() for word in words.split()}
"""Words of commands that check or build a project. Deploying and migrating are no purposes: a wrong way would harm."""

_LANGUAGES = {
    "Python": "python pytest unittest tox nox uv poetry pdm hatch pipenv pipx ruff flake8 pylint mypy pyright black",
    "JavaScript": (
        "node npm pnpm yarn bun npx deno jest vitest mocha ava karma eslint oxlint stylelint tsc prettier webpack"
        " esbuild rollup"
    ),
    "Go": "go gofmt golangci-lint",
    "Rust": "cargo rustfmt",
    "Ruby": "ruby rake bundle rspec rubocop rails",
    "PHP": "php composer phpunit pest phpstan",
    "Java": "gradle mvn",
    ".NET": "dotnet",
    "Elixir": "mix",
    "C": "cmake ctest",
}
_LANGUAGE_OF = {program: language for language, programs in _LANGUAGES.items() for program in programs.split()}
_FOR_ALL = frozenset("make just task mise bazel earthly rtx nx turbo".split())
"""Programs that run the tasks of a project in any language."""

_PARTS = re.compile(r"[^a-z0-9]+")
_VERSION = re.compile(r"[\d.]+\Z")


def same_purpose(old: Command, new: Command) -> str:
    """Return the purpose that two commands share, such as "test"; "" if they have none or different ones.

    Also "" if they are for different languages: in a project with several, `npm test` does not replace `pytest`.
    """
    purposes, languages = (_purposes(old), _purposes(new)), {_language(old), _language(new)} - {""}
    shared = len(purposes[0]) == 1 and purposes[0] == purposes[1] and len(languages) < 2
    return next(iter(purposes[0])) if shared else ""


def is_whole(command: Command) -> bool:
    """Whether a command names a task alone, as in `make test`: no option, no file, and no part (`make test-fast`)."""
    words = command.shape[1:]
    tasks = [word for word in words if not _PURPOSE_OF.keys().isdisjoint(_PARTS.split(word.casefold()))]
    return not any(word.startswith(("-", "<")) for word in words) and all(map(str.isalnum, tasks))


def _purposes(command: Command) -> set[str]:
    """Return the purposes that the words of a command name; none for programs that run no tasks."""
    program = _program(command)
    if program not in _LANGUAGE_OF and program not in _FOR_ALL and not _is_of_project(command):
        return set()
    words = [word for word in command.shape if not word.startswith(("-", "<"))]
    parts = {part for word in words for part in _PARTS.split(word.casefold())}
    return {_PURPOSE_OF[part] for part in parts if part in _PURPOSE_OF}


def _language(command: Command) -> str:
    return _LANGUAGE_OF.get(_program(command), "")


def _program(command: Command) -> str:
    """Return the name of the program without its version: "python" for `python3.12`."""
    return _VERSION.sub("", command.program.rpartition("/")[2])


def _is_of_project(command: Command) -> bool:
    """Whether the program is a file of the project, such as `./dev`."""
    return "/" in command.program
