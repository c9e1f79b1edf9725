from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import time

import pytest

from cli.__main__ import main
from cli.holder import kill
from subconscious.doctor import examine, installation, running
from subconscious.doctor.findings import Finding
from subconscious.doctor.folder import filesystem
from subconscious.settings.home import Home
from subconscious.store.backups import create_copy
from subconscious.store.check import check
from subconscious.store.connect import open_database
from subconscious.store.migrate import migrate
from subconscious.upkeep import restore
from subconscious.wire import hello
from tests.support.stub_daemon import StubDaemon

MOUNTS = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
40 21 0:44 / /mnt/c rw - 9p drvfs rw
41 21 0:45 / /net/my\\040share rw shared:1 - nfs4 server:/x rw
42 21 0:46 / /net rw - tmpfs none rw
"""


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """What is made is its owner's alone, as the daemon and the hooks have it."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture
async def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A healthy installation, as a first session leaves it."""
    monkeypatch.setattr(installation, "MIN_FREE_BYTES", 0)
    home = Home(tmp_path / "state")
    home.make()
    database = await open_database(home.database)
    await migrate(database)
    await database.close()
    environment = home.env / "abc-cpython-3.11"
    environment.mkdir(parents=True)
    (environment / ".complete").write_text("0.1.0\n")
    (home.env / "current").symlink_to(environment.name)
    return home


def faults(home: Home, mounts: str = MOUNTS, **environ: str) -> dict[str, Finding]:
    findings = examine({"SUBCONSCIOUS_HOME": str(home.root), **environ}, mounts)
    return {finding.name: finding for finding in findings if not finding.ok}


def _tree(home: Home) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in home.root.rglob("*")}


def test_a_healthy_installation_has_no_faults(home: Home) -> None:
    with StubDaemon(home):
        assert faults(home) == {}


def test_an_idle_daemon_is_no_fault(home: Home) -> None:
    assert faults(home) == {}
    home.socket.touch(mode=0o600)
    assert faults(home) == {}


def _answering(**changes: object) -> dict[str, object]:
    provider = {"name": "openai", "model": "m", "reachable": True, "breaker": "closed", "error": None}
    provider |= {name: value for name, value in changes.items() if name != "state"}
    spending = {"spent_today": 1.0, "cap": 10.0, "state": changes.get("state", "free")}
    return {"provider": {"providers": [provider], "spending": spending, "waiting": {"buried": 0}}}


def test_a_model_is_tried_through_the_daemon(home: Home) -> None:
    with StubDaemon(home, _answering()) as daemon:
        assert faults(home) == {}
    assert [request.args for request in daemon.requests if request.cmd == "provider"] == [{"check": True}]
    error = {"at": 0, "code": "E050", "message": "the key is refused", "remedy": "make a new key"}
    with StubDaemon(home, _answering(reachable=False, error=error)):
        found = faults(home)["model"]
    assert "the key is refused" in found.detail
    assert "E050" not in found.detail
    assert found.remedy == "make a new key"
    with StubDaemon(home, _answering(breaker="open")):
        assert "paused after repeated failures" in faults(home)["model"].detail
    with StubDaemon(home, _answering(state="reached")):
        assert "cost_per_day" in faults(home)["spend"].remedy


def findings(home: Home) -> dict[str, str]:
    return {one.name: one.detail for one in examine({"SUBCONSCIOUS_HOME": str(home.root)})}


def test_the_doctor_says_where_a_key_comes_from(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s")
    with StubDaemon(home, _answering(key="this session's environment")) as daemon:
        assert findings(home)["model"] == "openai m answers; key from this session's environment"
    asked = [request.args for request in daemon.requests if request.cmd == "provider"]
    assert asked == [{"check": True, "session_id": "s"}]
    with StubDaemon(home, _answering(key="", sessions_with_own_key=2)):
        assert "the only keys are in the environment of sessions (sessions: 2)" in findings(home)["model"]
    error = {"at": 0, "code": "E050", "message": "the key is refused", "remedy": "make a new key"}
    with StubDaemon(home, _answering(reachable=False, own_keys=[{"refused": True, "error": error}])):
        assert "with the key of a session's environment: the key is refused" in faults(home)["model"].detail


def test_a_model_that_is_set_but_can_not_be_tried(home: Home) -> None:
    (home.root / "config.toml").write_text('provider = "openai"\n')
    (home.root / "config.toml").chmod(0o600)
    assert faults(home) == {}
    with StubDaemon(home):
        assert "could not be checked" in faults(home)["model"].detail


def test_a_key_that_others_may_read(home: Home) -> None:
    config = home.root / "config.toml"
    config.write_text('openai_key = "k"\n')
    config.chmod(0o644)
    assert "go-rwx" in faults(home)["permissions"].remedy


def test_a_daemon_that_cannot_start(home: Home) -> None:
    log = home.log / "daemon.log"
    log.write_text("2026-11-22 03:00:00,000 INFO subconscious.daemon: left\n")
    assert faults(home) == {}
    log.write_text("Traceback (most recent call last):\nImportError: no module named numpy\n")
    found = faults(home)["daemon"]
    assert "no module named numpy" in found.detail
    assert str(log) in found.remedy


def test_looking_changes_nothing(home: Home) -> None:
    before = _tree(home)
    examine({"SUBCONSCIOUS_HOME": str(home.root)}, MOUNTS)
    assert _tree(home) == before


def test_a_fresh_machine_has_no_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "MIN_FREE_BYTES", 0)
    assert faults(Home(tmp_path / "none")) == {}
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("environ", [{"SUBCONSCIOUS_HOME": "relative"}, {"SUBCONSCIOUS_HOME": "/proc/1/x"}])
def test_no_state_folder(environ: dict[str, str]) -> None:
    found = {finding.name: finding for finding in examine(environ, MOUNTS)}["state folder"]
    assert not found.ok
    assert found.remedy == f"export SUBCONSCIOUS_HOME=/var/tmp/subconscious-{os.getuid()}"


def test_a_state_folder_open_to_others(home: Home) -> None:
    home.root.chmod(0o755)
    assert faults(home)["state folder"].remedy == f"chmod 700 {home.root}"


def test_a_home_folder_that_can_not_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")
    environ = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    told = [one for one in examine(environ, MOUNTS) if one.name == "state folder" and one.remedy]
    assert len(told) == 1
    assert str(tmp_path / f"subconscious-{os.getuid()}") in told[0].detail
    assert "SUBCONSCIOUS_HOME=" in told[0].remedy


def test_a_state_folder_on_a_shared_file_system(home: Home) -> None:
    mounts = f"{MOUNTS}43 21 0:47 / {home.root.parent} rw - cifs //server/x rw\n"
    found = faults(home, mounts)["state folder"]
    assert "cifs" in found.detail
    assert found.remedy.startswith("export SUBCONSCIOUS_HOME=/var/tmp/")


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/home/dev", "ext4"), ("/mnt/c/x", "9p"), ("/mnt/cd", "ext4"), ("/net/my share/x", "nfs4"), ("/net", "tmpfs")],
)
def test_the_file_system_is_that_of_the_deepest_mount(path: str, kind: str) -> None:
    assert filesystem(Path(path), MOUNTS) == kind
    assert filesystem(Path(path), "") == ""


def test_a_pause(home: Home) -> None:
    assert faults(home, SUBCONSCIOUS_OFF="1")["pause"].remedy == "unset SUBCONSCIOUS_OFF"
    assert "pause" not in faults(home, SUBCONSCIOUS_OFF="0")


@pytest.mark.parametrize("text", ["auto_threshold = 7", "no_such_setting = 1", "= broken"])
def test_a_wrong_config(home: Home, text: str) -> None:
    config = home.root / "config.toml"
    config.write_text(text)
    config.chmod(0o600)
    assert str(config) in faults(home)["settings"].remedy


@pytest.mark.parametrize("name", ["config.toml", "memory.db"])
def test_a_file_open_to_others(home: Home, name: str) -> None:
    path = home.root / name
    path.touch()
    path.chmod(0o644)
    assert faults(home)["permissions"].remedy == f"chmod go-rwx {path}"


def test_many_files_open_to_others_are_one_fault(home: Home) -> None:
    for number in range(3):
        (home.spool / f"{number}.entry").touch()
        (home.spool / f"{number}.entry").chmod(0o644)
    found = faults(home)["permissions"]
    assert "and 2 more are accessible" in found.detail
    assert subprocess.run(found.remedy, shell=True, check=True).returncode == 0
    assert "permissions" not in faults(home)


def test_a_folder_that_is_a_link(home: Home, tmp_path: Path) -> None:
    home.log.rmdir()
    home.log.symlink_to(tmp_path)
    assert "is a symbolic link" in faults(home)["permissions"].detail


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_of_somebody_else(home: Home) -> None:
    os.chown(home.database, 65534, 65534)
    found = faults(home)["permissions"]
    assert "not owned by you" in found.detail
    subprocess.run(found.remedy.removeprefix("sudo "), shell=True, check=True)
    assert "permissions" not in faults(home)


def test_an_environment_that_could_not_be_made(home: Home) -> None:
    failure = {"reason": "no module venv", "remedy": "sudo apt install python3-venv", "time": 1, "attempts": 2}
    (home.env / "failure").write_text(json.dumps(failure))
    found = faults(home)["environment"]
    assert "no module venv" in found.detail
    assert found.remedy == "sudo apt install python3-venv"
    (home.env / "failure").write_text("torn")
    assert faults(home)["environment"].remedy.startswith("rm ")


def test_an_environment_that_is_not_whole(home: Home) -> None:
    (home.env / "current" / ".complete").unlink()
    assert faults(home)["environment"].remedy.startswith(f"rm {home.env / 'current'}")


@pytest.mark.slow
def test_a_wedged_daemon(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "hello", partial(hello, timeout=0.1))
    monkeypatch.setattr(running, "PROVIDER_SECONDS", 0.1)
    with StubDaemon(home) as daemon:
        daemon.silent = True
        assert faults(home)["daemon"].remedy == "subconscious daemon stop --force"


@pytest.mark.parametrize(
    ("version", "remedy"), [("0.0.1", "subconscious daemon start"), ("99.0", "claude plugin update")]
)
def test_a_daemon_of_another_version(home: Home, version: str, remedy: str) -> None:
    with StubDaemon(home, version=version):
        assert faults(home)["daemon"].remedy.startswith(remedy)


def test_a_damaged_database(home: Home) -> None:
    copy = create_copy(home.database, 1)
    home.database.write_bytes(b"not a database" * 1000)
    assert faults(home)["database"].remedy.startswith("subconscious restore latest")
    restore.put_back(home, restore.find(home, "latest"))
    assert faults(home) == {}
    assert copy.exists()


def test_a_damaged_database_without_a_copy(home: Home) -> None:
    page = bytearray(home.database.read_bytes())
    page[4096 : 4096 * 4] = b"\xff" * 4096 * 3
    home.database.write_bytes(page)
    assert "no copy" in faults(home)["database"].remedy


def test_a_database_of_a_newer_program(home: Home) -> None:
    _sql(home, "INSERT INTO schema_migrations VALUES (999, 'future', 0)")
    found = faults(home)["database"]
    assert "newer version" in found.detail
    assert found.remedy.startswith("claude plugin update")


def test_a_database_in_use_is_read_without_a_trace(home: Home) -> None:
    writer = sqlite3.connect(home.database)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE more (x)")
    before = set(_tree(home))
    assert check(home.database).memories == 0
    assert set(_tree(home)) == before
    writer.close()


def test_buried_jobs(home: Home) -> None:
    _sql(
        home,
        "INSERT INTO jobs (name, event, lane, state, reason, created_at)"
        " VALUES ('a.entry', 'Stop', 's', 'buried', 'the transcript is gone', 0)",
    )
    found = faults(home)["jobs"]
    assert "the transcript is gone" in found.detail
    assert str(home.log / "daemon.log") in found.remedy


def test_embeddings_that_wait_too_long(home: Home) -> None:
    for age, faulty in ((3600, False), (2 * 86400, True)):
        _sql(home, _memory(time() - age))
        assert ("embeddings" in faults(home)) is faulty


def test_memories_that_wait_for_another_model_have_waited_since_it_is_wanted(home: Home) -> None:
    _sql(home, _memory(time() - 2 * 86400))
    model = "INSERT INTO embedding_models (name, base, dim, wanted_at) VALUES ('new', 'new', 3, ?)"
    _sql(home, model.replace("?", str(time() - 3600)))
    assert "embeddings" not in faults(home)
    _sql(home, f"UPDATE embedding_models SET wanted_at = {time() - 2 * 86400}")
    assert faults(home)["embeddings"].remedy == "subconscious doctor --fix"


def test_an_embedder_that_is_not_used_is_reported(home: Home) -> None:
    embedder = {"name": "openai", "code": "E050", "error": "wrong key; correct embedder_key; local is used meanwhile"}
    with StubDaemon(home, {"status": {"embedder": embedder}}) as daemon:
        found = faults(home)["embedder"]
        assert "openai: wrong key" in found.detail
        assert "subconscious doctor --fix" in found.remedy
        daemon.answers["status"] = {"embedder": embedder | {"code": ""}}
        assert faults(home) == {}


def test_a_database_of_before_there_were_models_is_sound(home: Home) -> None:
    _sql(home, "DROP TABLE embedding_models")
    assert check(home.database).schema


def test_fix_makes_the_daemon_retry(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    replies = {"embed": {"pending": 3}, "mend": {"mended": {"search index entries without an active memory": 2}}}
    with StubDaemon(home, replies) as daemon:
        main(["doctor", "--fix"])
        told = capsys.readouterr().out
        assert "Repaired: search index entries without an active memory (2)" in told
        assert "Embedding 3 memories again" in told
        main(["doctor", "--fix", "--json"])
        json.loads(capsys.readouterr().out)
        assert [request.cmd for request in daemon.requests].count("embed") == 2


def test_a_spool_that_waits_too_long(home: Home) -> None:
    entry = home.spool / "1-2-3.entry"
    entry.write_text("x")
    assert faults(home) == {}
    os.utime(entry, (0, time() - 3 * 86400))
    found = faults(home)["spool"]
    assert "for 3.0 days" in found.detail
    assert found.remedy == "subconscious daemon drain"


def test_a_spool_beyond_its_cap(home: Home) -> None:
    with (home.spool / "1-2-3.entry").open("wb") as entry:
        entry.truncate(300 * 2**20)
    assert "being lost" in faults(home)["spool"].detail
    (home.run / "spool-full").write_text("1763780000 4 entries removed\n")
    found = faults(home)["spool"]
    assert "4 entries removed" in found.detail
    assert str(home.run / "spool-full") in found.remedy


def test_a_full_disk(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "MIN_FREE_BYTES", 2**80)
    assert faults(home)["disk"].remedy.startswith("df -h ")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('{"enabledPlugins": {"subconscious@subconscious": true}}', "enabled in Claude Code"),
        ('{"enabledPlugins": {"subconscious@subconscious": false}}', "not enabled"),
        ('{"disableAllHooks": true}', "switched off"),
        ("[]", "unknown"),
        ("{", "unknown"),
    ],
)
def test_the_plugin_is_a_note(home: Home, tmp_path: Path, settings: str, told: str) -> None:
    (tmp_path / "settings.json").write_text(settings)
    environ = {"SUBCONSCIOUS_HOME": str(home.root), "CLAUDE_CONFIG_DIR": str(tmp_path)}
    found = {finding.name: finding for finding in examine(environ, MOUNTS)}["plugin"]
    assert found.ok
    assert told in found.detail


def test_the_screen_and_its_exit_code(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBCONSCIOUS_HOME", str(home.root))
    monkeypatch.delenv("SUBCONSCIOUS_OFF", raising=False)
    assert main(["doctor"]) == 0
    assert "All is well." in capsys.readouterr().out
    home.root.chmod(0o755)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert f"chmod 700 {home.root}\n" in out
    assert "\n1 fault." in out
    assert main(["doctor", "--json"]) == 1
    assert any(not finding["ok"] for finding in json.loads(capsys.readouterr().out))


def test_only_the_holder_of_the_lock_is_killed(home: Home) -> None:
    (home.run / "daemon.json").write_text(json.dumps({"pid": os.getpid()}))
    assert kill(home) is None
    home.lock.touch()
    assert kill(home) is None
    with home.lock.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The lock is held, but the process that the note names is these tests, no daemon.
        assert kill(home) is None


def _sql(home: Home, statement: str) -> None:
    connection = sqlite3.connect(home.database)
    with connection:
        connection.execute(statement)
    connection.close()


def _memory(created_at: float) -> str:
    return (
        "INSERT INTO memories (scope, kind, category, summary, content, origin, confidence, raw_confidence,"
        " extractor, created_at, said_at, content_hash) VALUES"
        f" ('user', 'decision', 'semantic', 's', 'c', 'user', 1, 1, 'x', {created_at}, 0, '')"
    )


CAPTURED = (
    "INSERT INTO implicit_captures (capture_key, project_id, session_id, status, decision, scope, kind, summary,"
    " content, content_hash, evidence, turn_id, transcript, byte_start, byte_end, origin, strength, raw_confidence,"
    " confidence, extractor, said_at, created_at, level) VALUES ('{key}', 'p', '{session}', '{status}',"
    " '{decision}', 'project', 'decision', 's', 'c', 'h', 'e', 't', 'f', 0, 1, '{origin}', 'explicit',"
    " {stated}, {worth}, 'offline-1', 1, 1, '{level}')"
)


async def _captured(home: Home, changes: dict[str, object], sessions: int = 10) -> None:
    """Sessions that each brought one candidate."""
    database = await open_database(home.database)
    await migrate(database)
    await database.close()
    _sql(home, "INSERT INTO projects (id, name, root, created_at) VALUES ('p', 'p', '/', 0)")
    for place in range(sessions):
        row = {"status": "review", "decision": "review", "origin": "user", "stated": 0.9, "worth": 0.9, "level": "none"}
        _sql(home, CAPTURED.format(**(row | changes), key=place, session=place))


def _capture_finding(home: Home) -> Finding:
    (found,) = [one for one in examine({"SUBCONSCIOUS_HOME": str(home.root)}) if one.name == "capture"]
    return found


@pytest.mark.parametrize(
    ("changes", "config", "why"),
    [
        ({"worth": 0.6}, "", "below the threshold (statements: 10)"),
        ({}, "auto_threshold = 0.97\n", "auto_threshold = 0.97"),
        ({"level": "medium"}, "", "the poisoning check flagged 10"),
        ({"stated": 0.72, "worth": 0.72}, "", "the highest confidence is 0.72"),
        ({"origin": "tool", "stated": 0.98, "worth": 0.98}, "", "none of the candidates was in your own words"),
        ({}, "", "statements of yours that reached the threshold, but wait for review or were dropped"),
    ],
)
@pytest.mark.slow
async def test_stopped_automatic_capture_is_reported_with_the_reason(
    home: Home, changes: dict[str, object], config: str, why: str
) -> None:
    await _captured(home, changes)
    (home.root / "config.toml").write_text(config)
    found = _capture_finding(home)
    assert not found.ok
    assert "nothing was stored without asking in the last 10 sessions" in found.detail
    assert why in found.detail
    assert found.remedy


async def test_automatic_capture_that_works_is_no_fault(home: Home) -> None:
    await _captured(home, {"worth": 0.6}, sessions=9)
    assert _capture_finding(home).ok  # too few sessions to tell
    _sql(
        home,
        CAPTURED.format(
            key=99, session=99, status="captured", decision="auto", origin="user", stated=0.9, worth=0.9, level="none"
        ),
    )
    assert _capture_finding(home).detail == "stored without asking: 1 of the last 10 candidates"
    (home.root / "config.toml").write_text("capture = false\n")
    assert _capture_finding(home).ok
