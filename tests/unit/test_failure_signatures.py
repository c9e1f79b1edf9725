"""What an error is known by: the same error on other files has the same signature, another error has none of it."""

from __future__ import annotations

import pytest

from subconscious.failures.signature import alike, of_the_call, signatures

SUBCOMMAND = "Exit code 2\nerror: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS] <COMMAND>"


def test_an_error_is_known_again_with_other_paths_numbers_and_quotes() -> None:
    one = signatures("Exit code 1\nsrc/a.ts(12,4): error TS2322: Type 'A' is not assignable to type 'B'.")
    other = signatures("Exit code 2\nlib/b/c.ts(7,1): error TS2322: Type 'string' is not assignable to type 'Foo'.")
    assert one
    assert alike(one, other)


def test_other_errors_are_not_alike() -> None:
    assert not alike(signatures(SUBCOMMAND), signatures("error: connection refused by the server at 10.0.0.1"))
    assert not alike(signatures(""), signatures(""))


def test_nothing_of_a_message_can_be_read_from_its_signature() -> None:
    for one in signatures("fatal: the password is hunter2 and could not be used"):
        assert len(one) == 16
        assert set(one) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    "error",
    [
        SUBCOMMAND,
        "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]",
        "zsh: command not found: pnpm",
        'npm error Missing script: "tests"',
        "/usr/bin/python3: No module named pytest",
        'error: Script not found "lint"',
        "The following paths are ignored by one of your .gitignore files:\ndist",
        "GraphQL: Could not resolve to a Repository with the name 'acme/shopp'.",
    ],
)
def test_errors_of_the_call_are_told_from_those_of_the_work(error: str) -> None:
    assert of_the_call(error)


@pytest.mark.parametrize(
    "error",
    [
        "src/a.ts(12,4): error TS2322: Type 'A' is not assignable to type 'B'.",
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "Formatter would have printed the following content:",
        "\n".join(["ok"] * 20 + ["error: unknown option"] + ["ok"] * 20),  # somebody else's, in the middle of an output
    ],
)
def test_errors_of_the_work_are_none_of_the_call(error: str) -> None:
    assert not of_the_call(error)
