"""The command line's own words: plain `subconscious`, help in groups, errors with what was meant, completion."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from cli import origin
from cli.__main__ import main
from cli.arguments import parser
from cli.command_line import Group, commands
from subconscious.settings.home import Home
from tests.support.cli_answers import ANSWERS, run
from tests.support.stub_daemon import StubDaemon


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubDaemon]:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(origin, "inside_client", lambda: False)
    with StubDaemon(Home(tmp_path), dict(ANSWERS)) as stub:
        yield stub


COMMANDS = [path for path, _ in commands(parser()) if path]


@pytest.mark.parametrize("name", [path for path in COMMANDS if " " not in path])
@pytest.mark.slow
def test_the_parser_of_one_command_is_the_same_as_in_the_whole(name: str) -> None:
    whole, own = dict(commands(parser())), dict(commands(parser(name)))
    inner = {path for path in whole if path.split()[:1] == [name]}
    assert set(own) == {"", *inner}
    assert all(own[path].format_help() == whole[path].format_help() for path in inner)


def test_without_a_command_it_shows_the_status_and_what_comes_next(
    daemon: StubDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = run(capsys)
    assert (code, error) == (0, "")
    assert [request.cmd for request in daemon.requests] == ["status"]
    assert "memories" in out
    named = re.findall(r"^  subconscious (\w+)", out, re.MULTILINE)
    assert len(named) == 5
    assert set(named) <= set(COMMANDS)
    assert max(map(len, out.replace(str(daemon.home.root), "~").splitlines())) <= 80


def test_help_names_every_command_and_fits_a_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    out = capsys.readouterr().out
    assert caught.value.code == 0
    assert main(["help"]) == 0
    assert capsys.readouterr().out == out
    assert len(out.splitlines()) <= 45
    assert max(map(len, out.splitlines())) <= 80
    assert {path for path in COMMANDS if " " not in path} <= set(out.split())


def test_help_shows_the_options_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["help", "review", "approve"], ["review", "approve", "--help"]):
        with pytest.raises(SystemExit) as caught:
            main(words)
        assert caught.value.code == 0
        assert "usage: subconscious review approve" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["help", "serach"])
    assert "did you mean search?" in capsys.readouterr().err


def test_full_help_describes_every_command_once_in_its_group(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["help", "--all"]) == 0
    out = capsys.readouterr().out
    listed = re.findall(r"^  ([a-z-]+) {2,}\S", out, re.MULTILINE)
    assert sorted(listed) == sorted(path for path in COMMANDS if " " not in path)
    assert all(group in out for group in Group)
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert "…" not in out
    assert "help --all" not in out, "that is what was typed"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("stauts", "did you mean stats or status?"),
        ("serach cents", "did you mean search?"),
        ("provider set local", "there is no command 'provider'; did you mean setup --provider?"),
        ("edit 3 words", "there is no command 'edit'; did you mean correct?"),
        ("timeline", "there is no command 'timeline'; did you mean history?"),
        ("everywhere", "there is no command 'everywhere'\n"),
        ("search", "required: QUERY"),
        ("search  ", "type words to search for"),
        ("recall ", "type words to search for"),
        ("review aprove 3", "did you mean approve?"),
        ("list --lmit 3", "unknown argument '--lmit'; did you mean --limit?"),
        ("list --limit -3", "-3 is below 0"),
        ("list --limit 12345678901234567890", "12345678901234567890 is too large"),
        ("forget 12345678901234567890123456", "there is nothing with the id 12345678901234567890123456"),
        ("review approve 12345678901234567890", "there is nothing with the id 12345678901234567890"),
        ("links #12345678901234567890", "there is nothing with the id 12345678901234567890"),
        ("import ", "the path is empty; for the current folder, write a dot"),
        ("import --project  notes", "the path is empty"),
        ("export --out ", "the path is empty"),
        ("export --project ", "the path is empty"),
        ("capture ", "the path is empty"),
        ("attach ", "the path is empty"),
        ("restore ", "the path is empty"),
        ("list --file ", "the path is empty"),
        ("search x --project ", "the path is empty"),
        ("list --limit 0", "must be 1 or more"),
        ("show abc", "'abc' is not a number"),
        ("search x --mode fast", "'fast' is not a valid value; valid: any, auto,"),
        ("review --status reviewed", "did you mean review"),
        ("daemon", "required: ACTION"),
        ("search x \x1b[2J --y\x1b[2J", "unknown argument"),
    ],
)
def test_wrong_usage_is_told_with_what_was_meant(capsys: pytest.CaptureFixture[str], typed: str, told: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(typed.split(" "))
    out, error = capsys.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert told in error
    assert "--help lists its options" in error
    assert len(error.splitlines()) == 3
    assert "\x1b" not in error


def completed(*words: str) -> list[str]:
    """What bash offers behind these words."""
    script = 'eval "$1"; shift; COMP_WORDS=(subconscious "$@"); COMP_CWORD=$#; _subconscious; echo "${COMPREPLY[@]}"'
    shell = shutil.which("bash")
    assert shell
    done = subprocess.run(
        [shell, "--norc", "-c", script, "bash", script_for("bash"), *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def script_for(shell: str) -> str:
    with redirect_stdout(StringIO()) as out:
        assert main(["completion", shell]) == 0
    return out.getvalue()


def test_bash_completes_commands_and_their_options() -> None:
    assert completed("sta") == ["status", "stats"]
    assert completed("review", "app") == ["approve"]
    assert completed("review", "approve", "--a") == ["--all"]
    assert completed("list", "--archived", "--ev") == ["--everywhere"]
    assert completed("completion", "") == ["--help", "bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_know_every_command(shell: str) -> None:
    script = script_for(shell)
    assert all(f'" {command}"' in script for command in COMMANDS)


def completed_by_fish(line: str, folder: Path) -> list[str]:
    script = f"{script_for('fish')}\ncomplete -C '{line}'"
    return ran(["fish", "--no-config", "-c", script], folder)


def completed_by_zsh(line: str, folder: Path) -> list[str]:
    """What zsh's function offers, before zsh picks those that begin with the last word."""
    stubs = 'compdef() { }; compadd() { shift; print -l -- "$@"; }'
    call = f"words=({line} ''); CURRENT=$(( ${{#words}} )); _subconscious"
    return ran(["zsh", "-f", "-c", "\n".join((stubs, script_for("zsh"), call))], folder)


def ran(command: list[str], folder: Path) -> list[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes_words_first_and_files_where_no_word_matches(tmp_path: Path) -> None:
    (tmp_path / "start.md").touch()
    assert completed_by_fish("subconscious sta", tmp_path) == ["stats", "status"]
    assert completed_by_fish("subconscious review app", tmp_path) == ["approve"]
    assert completed_by_fish("subconscious review approve --a", tmp_path) == ["--all"]
    assert set(completed_by_fish("subconscious completion ", tmp_path)) == {"--help", "bash", "zsh", "fish"}
    assert completed_by_fish("subconscious import start", tmp_path) == ["start.md"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_completes_commands_and_their_options(tmp_path: Path) -> None:
    assert {"status", "review", "--help"} <= set(completed_by_zsh("subconscious", tmp_path))
    assert "approve" in completed_by_zsh("subconscious review", tmp_path)
    assert "--all" in completed_by_zsh("subconscious review approve", tmp_path)
    assert completed_by_zsh("subconscious completion", tmp_path) == ["--help", "bash", "zsh", "fish"]


@pytest.mark.parametrize("output", [">&-", "2>&- >&-"])
def test_a_closed_output_is_no_error(daemon: StubDaemon, output: str) -> None:
    assert run_in_shell(f"list {output}") == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_an_output_on_a_full_disk_is_told_in_one_line(daemon: StubDaemon) -> None:
    code, errors = run_in_shell("list > /dev/full")
    assert code == 1
    assert errors.splitlines() == [
        "error: the output can't be written: No space left on device",
        "  free space on the disk you write to",
    ]


def run_in_shell(command: str) -> tuple[int, str]:
    environment = {
        "PYTHONPATH": str(Path.cwd()),
        "PATH": os.defpath,
        "SUBCONSCIOUS_HOME": os.environ["SUBCONSCIOUS_HOME"],
    }
    script = f"{shlex.quote(sys.executable)} -m cli {command}"
    done = subprocess.run(["/bin/sh", "-c", script], env=environment, capture_output=True, text=True)
    return done.returncode, done.stderr
