"""The daemon's environment, made by the real code path: venv, pip, lock, build. Only the code installed is tiny."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import pytest

from hooks import cap, environment, interpreters, maker, packages, programs
from tests.support.hook_calls import CHECKOUT, Hooks, copy_plugin, make_hooks

EXTRAS = CHECKOUT / "subconscious" / "extras"
Found = TypeVar("Found")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "subconscious-memory"
version = "0.1.0"
[project.scripts]
subconscious = "subconscious.cli.__main__:main"
[tool.setuptools]
packages = ["subconscious", "subconscious.cli", "subconscious.daemon"]
[tool.setuptools.package-dir]
"subconscious" = "subconscious"
"subconscious.cli" = "cli"
"subconscious.daemon" = "daemon"
"""
DAEMON = """
import json, os, pathlib
if __name__ == "__main__":
    note = pathlib.Path(f"started-{os.getpid()}")
    note.with_suffix(".tmp").write_text(json.dumps(dict(os.environ, cwd=os.getcwd())))
    note.with_suffix(".tmp").rename(note)
"""
FACE = """
import os, sys
def main():
    print(*sys.argv[1:], os.environ["SUBCONSCIOUS_PLUGIN_ROOT"], sep="|")
"""


def pinned(name: str, lock: str) -> str:
    """What a lock says of one package."""
    found = re.search(rf"^{name}==.*(\n +.*)*", lock, re.MULTILINE)
    assert found
    return found[0] + "\n"


def make_plugin(folder: Path) -> Path:
    """A plugin with our hooks and hardly any code: what takes long in the real one are its dependencies."""
    copy_plugin(folder, ("hooks", "bin"))
    lock = (CHECKOUT / "requirements.lock").read_text()
    files = {
        "requirements.lock": pinned("h11", lock),
        "subconscious/extras/anthropic.lock": pinned("sniffio", (EXTRAS / "anthropic.lock").read_text()),
        "pyproject.toml": PROJECT,
        "subconscious/__init__.py": "",
        "cli/__init__.py": "",
        "cli/__main__.py": FACE,
        "daemon/__init__.py": "",
        "daemon/__main__.py": DAEMON,
        "migrations/__init__.py": "",
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    hooks = make_hooks(tmp_path)
    hooks.plugin = make_plugin(tmp_path / "my plugin")
    hooks.environ = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    hooks.home = tmp_path / "my state"
    return hooks


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Hooks:
    """An environment made in sight of a person, for the tests that only use it."""
    folder = tmp_path_factory.mktemp("made")
    hooks = make_hooks(folder)
    hooks.plugin = make_plugin(folder / "my plugin")
    hooks.environ = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    hooks.home = folder / "my state"
    before = tree(hooks.plugin)
    done = face(hooks, "status", "a b")
    assert (done.returncode, done.stdout) == (0, f"status|a b|{hooks.plugin}\n"), done.stderr
    assert "Setting up" in done.stderr
    assert tree(hooks.plugin) == before, "the plugin's folder was written to"
    return hooks


def face(hooks: Hooks, *arguments: str, program: Path | None = None) -> subprocess.CompletedProcess[str]:
    program = program or hooks.plugin / "bin" / "subconscious"
    return subprocess.run(
        [program, *arguments], env=hooks.base, cwd="/", capture_output=True, text=True, timeout=150, check=False
    )


def tree(folder: Path) -> dict[str, int]:
    return {os.fspath(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


def whole(hooks: Hooks) -> list[Path]:
    return [path.parent for path in (hooks.home / "env").glob("*/.complete") if path.parent.name != "current"]


def started(hooks: Hooks) -> list[dict[str, str]]:
    """What the daemons that were started saw."""
    return [json.loads(note.read_text()) for note in (hooks.home / "run").glob("started-*[0-9]")]


def eventually(look: Callable[[], Found], seconds: float = 120) -> Found:
    until = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.05)
    assert found
    return found


def failure(hooks: Hooks) -> dict[str, Any]:
    path = hooks.home / "env" / "failure"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def start_maker(hooks: Hooks, **environ: str) -> subprocess.Popen[bytes]:
    script = hooks.plugin / "hooks" / "start.py"
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", script, "wake", "--make"], env=hooks.base | environ, start_new_session=True
    )


def messages(done: subprocess.CompletedProcess[bytes]) -> str:
    return str(json.loads(done.stdout)["systemMessage"]) if done.stdout else ""


@pytest.mark.slow
def test_twenty_sessions_at_once_make_one_environment(hooks: Hooks) -> None:
    calls = [
        subprocess.Popen(
            hooks.command("wake", "SessionStart"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=hooks.base | {"ANTHROPIC_API_KEY": "secret", "HTTPS_PROXY": ""},
        )
        for _ in range(20)
    ]
    said = [call.communicate(timeout=30)[0] for call in calls]
    seen = eventually(lambda: started(hooks))[0]
    assert [b"setting itself up" in words for words in said].count(True) == 1
    assert [b"subconscious setup" in words for words in said].count(True) == 1
    assert len([words for words in said if words]) == 1
    assert (hooks.home / "log" / "environment.log").read_text().count(" -m venv ") == 1
    assert len(whole(hooks)) == 1
    assert not {"ANTHROPIC_API_KEY", "HTTPS_PROXY", "PIP_CERT"} & set(seen)
    assert seen["cwd"] == os.fspath(hooks.home / "run")
    assert seen["SUBCONSCIOUS_HOME"] == os.fspath(hooks.home)


@pytest.mark.slow
def test_a_killed_maker_is_made_good_by_the_next(hooks: Hooks) -> None:
    first = start_maker(hooks)
    half = eventually(lambda: list((hooks.home / "env").glob("*-cpython-*")))[0]
    (half / "half").touch()
    os.killpg(first.pid, signal.SIGKILL)
    first.wait(30)
    assert whole(hooks) == []
    assert start_maker(hooks).wait(150) == 0
    assert whole(hooks) == [half]
    assert not (half / "half").exists()
    assert not (hooks.home / "env" / "source").exists()


@pytest.mark.slow
def test_the_maker_keeps_its_lock_while_its_steps_run(hooks: Hooks) -> None:
    with socket.create_server(("127.0.0.1", 0)) as index:
        # An index that does not answer: the step that asks it lives as long as this test wants.
        index.settimeout(120)
        first = start_maker(hooks, PIP_INDEX_URL=f"http://127.0.0.1:{index.getsockname()[1]}/")
        asked, _ = index.accept()
        with asked:
            first.kill()
            first.wait(30)
            assert start_maker(hooks).wait(30) == 0
            assert whole(hooks) == [], "a second maker built where a step of the first still wrote"
            os.killpg(first.pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_failure_is_shown_once_and_retried_later(hooks: Hooks) -> None:
    lock = hooks.plugin / "requirements.lock"
    lock.write_text(re.sub(r"sha256:....", "sha256:0000", lock.read_text()))
    hooks.call("wake", "SessionStart")
    reason = eventually(lambda: failure(hooks))
    log = (hooks.home / "log" / "environment.log").read_text()
    told = [messages(hooks.call("wake", "SessionStart")) for _ in range(2)]
    assert start_maker(hooks).wait(30) == 0
    assert reason["attempts"] == 1
    assert reason["reason"] in told[0]
    assert reason["remedy"] in told[0]
    assert told[1] == ""
    assert (hooks.home / "log" / "environment.log").read_text() == log, "it was tried again"


def test_a_whole_environment_is_used_at_once(made: Hooks) -> None:
    for note in (made.home / "run").glob("started-*"):
        note.unlink()
    assert made.call("wake", "SessionStart").stdout == b""
    assert eventually(lambda: started(made))
    assert len(whole(made)) == 1


def test_the_command_works_through_a_link_and_a_launcher(made: Hooks, tmp_path: Path) -> None:
    (tmp_path / "first").symlink_to(made.plugin / "bin" / "subconscious")
    (tmp_path / "second").symlink_to("first")
    begun = time.monotonic()
    assert face(made, "x", program=tmp_path / "second").stdout == f"x|{made.plugin}\n"
    assert time.monotonic() - begun < 2
    launcher = made.home / "bin" / "subconscious"
    made.environ["SUBCONSCIOUS_PLUGIN_ROOT"] = "-"
    assert face(made, "x", program=launcher).stdout == "x|-\n"


def test_the_launcher_and_the_command_take_no_modules_of_a_session(made: Hooks, tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    for name in ("sitecustomize.py", "usercustomize.py"):
        (tmp_path / name).write_text(f"open({str(mark)!r}, 'w').close()\n")
    theirs = Hooks(made.home, made.programs, made.plugin, {**made.environ, "PYTHONPATH": os.fspath(tmp_path)})
    assert face(theirs, "x").stdout == f"x|{made.plugin}\n"
    theirs.environ["SUBCONSCIOUS_PLUGIN_ROOT"] = "-"
    assert face(theirs, "x", program=made.home / "bin" / "subconscious").stdout == "x|-\n"
    assert not mark.exists()


def test_a_session_s_path_names_no_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "python3"
    theirs.symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "executable", str(theirs))
    assert interpreters._candidates(os.environ["PATH"])[0] == str(theirs), "a person's own terminal"
    assert str(theirs) not in interpreters._candidates(programs.safe_path())
    for mark in maker.MARKS:
        monkeypatch.setenv(mark, "1")
    assert maker._path_in_sight() == programs.safe_path()


def test_what_names_a_program_is_not_handed_to_the_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_PYTHON", "PIP_CONFIG_FILE", "UV_PYTHON", "UV_CONFIG_FILE", "XDG_CONFIG_HOME", "SUBCONSCIOUS_X"):
        monkeypatch.setenv(name, "theirs")
    for name in ("PIP_INDEX_URL", "UV_INDEX_URL", "HTTPS_PROXY", "SSL_CERT_FILE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "kept")
    found = environment.environ_to_install()
    assert "theirs" not in found.values()
    assert list(found.values()).count("kept") == 5
    assert "HTTPS_PROXY" not in environment.cleaned_environ()


def test_an_older_plugin_uses_the_environment_of_a_newer_one(made: Hooks, tmp_path: Path) -> None:
    older = Hooks(made.home, made.programs, tmp_path / "older", made.environ)
    shutil.copytree(made.plugin, older.plugin)
    (older.plugin / "subconscious" / "__init__.py").write_text("# another fingerprint")
    marker = whole(made)[0] / ".complete"
    version = marker.read_text()
    marker.write_text("99.0.0\n")
    try:
        assert face(older, "x").stdout == f"x|{older.plugin}\n"
    finally:
        marker.write_text(version)
    assert len(whole(made)) == 1


def test_a_new_version_of_the_code_shares_the_packages(made: Hooks, tmp_path: Path) -> None:
    newer = Hooks(made.home, made.programs, tmp_path / "newer", made.environ)
    shutil.copytree(made.plugin, newer.plugin)
    (newer.plugin / "cli" / "__main__.py").write_text(FACE.replace("*sys.argv", "'newer', *sys.argv"))
    before = whole(made)
    log = made.home / "log" / "environment.log"
    logged = log.read_text()
    try:
        done = face(newer, "x")
        assert done.stdout == f"newer|x|{newer.plugin}\n", done.stderr
        (new,) = set(whole(made)) - set(before)
        added = log.read_text().removeprefix(logged)
        assert " -m venv " not in added
        assert "requirements.lock" not in added
        shared = "lib/python*/site-packages/h11/__init__.py"
        assert [path.stat().st_ino for path in new.glob(shared)] == [
            path.stat().st_ino for path in before[0].glob(shared)
        ]
        assert face(made, "x").stdout == f"x|{made.plugin}\n", "the older code is as it was"
    finally:
        for path in set(whole(made)) - set(before):
            shutil.rmtree(path)


def test_what_only_installing_needs_is_not_kept(made: Hooks) -> None:
    (site,) = whole(made)[0].glob("lib/python*/site-packages")
    assert {path.name for path in site.iterdir() if path.suffix != ".dist-info"} == {"h11", "subconscious"}
    assert not list(site.glob("h11/**/*.pyc"))
    assert not list(site.glob("h11/tests"))


def add_extra(hooks: Hooks, name: str = "anthropic", **environ: str) -> subprocess.CompletedProcess[str]:
    """What the daemon runs when a provider's SDK is missing: the code within the environment."""
    (package,) = (hooks.home / "env" / "current").glob("lib/python*/site-packages/subconscious")
    command = [sys.executable, "-I", "-S", "-B", os.fspath(package / "hooks" / "start.py"), "extras", name]
    return subprocess.run(
        command, env=hooks.base | environ, capture_output=True, text=True, timeout=120, check=False, cwd="/"
    )


def has_extra(hooks: Hooks) -> bool:
    python = hooks.home / "env" / "current" / "bin" / "python"
    return subprocess.run([python, "-I", "-c", "import sniffio"], capture_output=True, check=False).returncode == 0


def test_an_extra_is_installed_later_and_survives_an_update(hooks: Hooks) -> None:
    assert face(hooks, "x").returncode == 0
    assert not has_extra(hooks)
    offline = add_extra(hooks, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(hooks.home), PIP_CONFIG_FILE="/dev/null")
    assert (offline.returncode, offline.stderr) == (1, "the package index can't be reached\n")
    noted = json.loads((hooks.home / "env" / "failure-anthropic").read_text())
    assert noted["reason"] == "the package index can't be reached"
    assert add_extra(hooks).returncode == 0
    assert has_extra(hooks)
    assert not (hooks.home / "env" / "failure-anthropic").exists()
    (site,) = (hooks.home / "env" / "current").glob("lib/python*/site-packages")
    assert not (site / "pip").exists()
    lock = hooks.plugin / "requirements.lock"
    lock.write_text(lock.read_text() + "# another lock\n")
    assert face(hooks, "x").returncode == 0
    assert len(whole(hooks)) == 2
    assert has_extra(hooks), "an update lost the SDK of the chosen provider"


def test_removed_files_are_restored_if_the_trial_needs_them(tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    for folder in ("numpy/tests/data", "numpy/f2py", "numpy/core"):
        (site / folder).mkdir(parents=True)

    def broken() -> None:
        assert not (site / "numpy" / "tests").exists()
        raise interpreters.MakingError("it needs its tests", "")

    packages.trim(os.fspath(tmp_path), broken)
    assert (site / "numpy" / "tests" / "data").exists()
    packages.trim(os.fspath(tmp_path), lambda: None)
    assert [path.name for path in (site / "numpy").iterdir()] == ["core"]
    assert [path.name for path in tmp_path.iterdir()] == ["lib"]


@pytest.mark.parametrize("wheel", ["/python/ensurepip/_bundled/pip-23.2.1-py3-none-any.whl", ""])
def test_pip_runs_from_pythons_wheel_or_is_installed_meanwhile(wheel: str, tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("")
    steps: list[str] = []

    def run(*command: str) -> str:
        steps.append(" ".join(command[3:]))
        return f"{wheel}\n" if command[3] == "-c" else ""

    packages.install(os.fspath(tmp_path), os.fspath(lock), run, None)
    begun = [step.partition(" --")[0] for step in steps[1:]]
    installed = ["-m ensurepip", "-m pip install", "-m pip uninstall"]
    assert begun == ([f"{wheel}/pip install"] if wheel else installed)
    assert (tmp_path / packages.PACKAGES).exists()


def test_another_lock_shares_nothing(builder: maker.Maker, tmp_path: Path) -> None:
    donor = tmp_path / "env" / "donor-cpython-3.11"
    (donor / "bin").mkdir(parents=True)
    (donor / "bin" / "python").symlink_to(sys.executable)
    (donor / ".complete").write_text("0.1.0\n")
    (donor / packages.PACKAGES).write_text("another lock")
    wanted = f"{tmp_path}/env/{environment.fingerprint()}-cpython-3.11"
    assert not builder._share_packages(wanted)
    shutil.copyfile(maker.LOCK, donor / packages.PACKAGES)
    (donor / ".complete").unlink()
    assert not builder._share_packages(wanted), "it is not whole"
    (donor / ".complete").write_text("0.1.0\n")
    assert builder._share_packages(wanted)
    assert not Path(wanted, ".complete").exists()
    assert not builder._share_packages(wanted.replace("3.11", "3.12")), "it is of another Python"


def test_an_environment_without_its_python_is_incomplete(made: Hooks) -> None:
    python = whole(made)[0] / "bin" / "python"
    target = python.readlink()
    python.unlink()
    python.symlink_to("/nonexistent")
    try:
        assert not environment.is_whole(os.fspath(python.parents[1]))
    finally:
        python.unlink()
        python.symlink_to(target)


def test_a_machine_without_python_gets_a_remedy(made: Hooks, tmp_path: Path) -> None:
    for tool in ("dirname", "readlink", "cat"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    hooks = Hooks(tmp_path / "state", tmp_path, made.plugin, {"PATH": os.fspath(tmp_path)})
    done = face(hooks)
    assert done.returncode == 1
    assert "sudo apt install python3 python3-venv" in done.stderr


def old(path: str) -> interpreters.Interpreter:
    return interpreters.Interpreter(path, (3, 9), "cpython", has_venv=True)


@pytest.fixture
def builder(tmp_path: Path) -> maker.Maker:
    for name in ("env", "run", "log"):
        (tmp_path / name).mkdir()
    return maker.Maker(os.fspath(tmp_path), 0, report=lambda _: None)


def choose(builder: maker.Maker, *pythons: interpreters.Interpreter, uv: str | None = None) -> tuple[str, str | None]:
    found = {python.path: python for python in pythons}
    with (
        mock.patch.object(interpreters, "_candidates", return_value=list(found)),
        mock.patch.object(interpreters, "_probe", lambda path, _: found.get(path)),
        mock.patch("shutil.which", return_value=uv),
    ):
        python, chosen_uv = interpreters.choose_python(builder.path, builder._step, builder._run)
    return python.path, chosen_uv


def test_the_first_python_that_will_do_is_chosen(builder: maker.Maker) -> None:
    brand_new = interpreters.Interpreter("new", (3, 99), "cpython", has_venv=True)
    bare = interpreters.Interpreter("bare", (3, 12), "cpython", has_venv=False)
    good = interpreters.Interpreter("good", (3, 11), "cpython", has_venv=True)
    assert choose(builder, old("old"), brand_new, bare, good) == ("good", None)
    assert choose(builder, brand_new) == ("new", None)
    assert choose(builder, old("old"), bare, uv="/uv") == ("bare", "/uv")


def test_a_missing_python_is_reported_with_the_command_that_installs_it(builder: maker.Maker) -> None:
    with pytest.raises(interpreters.MakingError) as no_venv:
        choose(builder, interpreters.Interpreter("bare", (3, 12), "cpython", has_venv=False))
    with pytest.raises(interpreters.MakingError) as no_python:
        choose(builder, old("old"))
    assert no_venv.value.remedy == "Run: sudo apt install python3.12-venv"
    assert "brew install python" in no_python.value.remedy


def test_programs_that_are_no_python_are_skipped(builder: maker.Maker) -> None:
    probe = partial(interpreters._probe, step=builder._step)
    assert probe("/nonexistent") is None
    assert probe("/bin/true") is None
    assert probe(sys.executable) == interpreters.Interpreter(sys.executable, sys.version_info[:2], "cpython", True)


@pytest.mark.parametrize(("attempts", "pause"), [(1, 60), (2, 300), (3, 1800), (9, 1800)])
def test_each_failure_waits_longer(attempts: int, pause: float) -> None:
    now = time.time()
    assert environment.must_wait({"attempts": attempts, "time": now - pause + 5})
    assert not environment.must_wait({"attempts": attempts, "time": now - pause - 5})
    assert not environment.must_wait({"attempts": attempts, "time": now + 5}), "the clock was set back"


def test_failures_are_counted(builder: maker.Maker) -> None:
    for expected in (1, 2):
        builder._note_failure(interpreters.MakingError("reason", "remedy"))
        noted = environment.read_failure(builder.home)
        assert noted is not None
        assert noted["attempts"] == expected


def test_only_old_unused_environments_are_removed(builder: maker.Maker) -> None:
    folder = Path(builder.folder)
    for name in ("current-one", "unused", "used", "young"):
        (folder / name).mkdir()
        os.utime(folder / name, (0, 0) if name != "young" else None)
    with subprocess.Popen([sys.executable, "-c", "input()", str(folder / "used")], stdin=subprocess.PIPE):
        builder._sweep(str(folder / "current-one"))
    assert sorted(path.name for path in folder.iterdir()) == ["current-one", "used", "young"]


def write_entry(home: Path, age_days: float, size: int = 1) -> Path:
    (home / "spool").mkdir(exist_ok=True)
    at = time.time_ns() - int(age_days * 86_400e9)
    path = home / "spool" / f"{at:020d}-1-00000000.entry"
    path.write_bytes(b"x" * size)
    return path


def test_the_spool_s_cap_takes_the_oldest(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    ancient, older, newer = (write_entry(tmp_path, days, 600) for days in (31, 2, 1))
    with mock.patch.object(cap, "MAX_BYTES", 1300):
        assert cap.hold_cap(os.fspath(tmp_path)) == 1
    assert (ancient.exists(), older.exists()) == (False, True)
    with mock.patch.object(cap, "MAX_BYTES", 1000):
        assert cap.hold_cap(os.fspath(tmp_path)) == 1
    assert (older.exists(), newer.exists()) == (False, True)
    assert len((tmp_path / "run" / "spool-full").read_text().splitlines()) == 2


@pytest.mark.parametrize("age_days", [29, 31, 20 * 365, -365])
def test_age_deletes_nothing(tmp_path: Path, age_days: float) -> None:
    entry = write_entry(tmp_path, age_days)
    draft = entry.rename(entry.with_name(f".{entry.name}.tmp"))
    entry = write_entry(tmp_path, age_days)
    os.utime(draft, (1, 1))
    os.utime(entry, (1, 1))
    assert cap.hold_cap(os.fspath(tmp_path)) == 0
    assert cap.hold_cap(os.fspath(tmp_path / "nowhere")) == 0
    assert (entry.exists(), draft.exists()) == (True, True)


def hold(home: Path, monotonic: float) -> int:
    with mock.patch.object(cap, "MAX_BYTES", 1000), mock.patch("time.monotonic", return_value=monotonic):
        return cap.hold_cap_if_stuck(os.fspath(home))


def test_a_daemon_gets_time_for_the_existing_spool(tmp_path: Path) -> None:
    for days in (3, 2, 1):
        write_entry(tmp_path, days, 600)
    assert [hold(tmp_path, now) for now in (50, 60, 649)] == [0, 0, 0]
    assert hold(tmp_path, 650) == 2


def test_a_spool_that_shrinks_or_a_machine_that_starts_again_begins_another_ten_minutes(tmp_path: Path) -> None:
    entries = [write_entry(tmp_path, days, 600) for days in (4, 3, 2, 1)]
    assert hold(tmp_path, 5000) == 0
    entries[0].unlink()
    assert hold(tmp_path, 6000) == 0
    assert hold(tmp_path, 10) == 0  # after a restart of the machine the monotonic clock begins anew
    assert hold(tmp_path, 620) == 2
    assert hold(tmp_path, 630) == 0
    assert not (tmp_path / "run" / "spool-over").exists()


@pytest.mark.slow
@pytest.mark.timeout(960)
def test_the_real_environment(environments: Path, plugin: Path) -> None:
    """All of it, from the real lock and the real code: the one that the tests of the client run in."""
    made = (environments / "current").resolve()
    assert made.name.startswith(environment.fingerprint() + "-")
    assert (made / packages.PACKAGES).read_bytes() == (plugin / "requirements.lock").read_bytes()
    done = subprocess.run(
        [plugin / "bin" / "subconscious", "--help"],
        env={"PATH": os.defpath, "SUBCONSCIOUS_HOME": os.fspath(environments.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), "it is whole, so nothing is set up"
    assert done.stdout.startswith("usage: subconscious")
