"""Purging and redacting what is stored, through a real daemon: afterwards no byte of the state folder knows it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.context.entry import parse_entry
from subconscious.settings.home import Home
from subconscious.store.backups import create_copy
from tests.support import terminal
from tests.support.daemons import configure, drained, eventually, new_session
from tests.support.purging import DECISION, MARK, OTHER, SECRET, knowing, learned, person, written

ROOT = Path(__file__).resolve().parents[2]


def test_a_purged_memory_is_nowhere(running: Home, speaker: Speaker) -> None:
    kept, gone = learned(running, speaker, OTHER), learned(running, speaker, DECISION)
    wire.call(running, "archive", {"ids": [gone], "reason": f"about {MARK}", "origin": "user"})
    wire.call(running, "unarchive", {"ids": [gone], "origin": "user"})
    new_session(running, speaker.project).ask("SessionStart", source="startup")
    create_copy(running.database, 6)
    (running.buried).mkdir(exist_ok=True)
    buried = running.buried / "01-1-aa.entry"
    buried.write_text(f"subconscious 1\tStop\t1\t/\t/\t1\t\n{json.dumps({'session_id': 'x', 'prompt': DECISION})}")
    (running.log / "daemon.log.1").write_text(f"an old line: {DECISION}\n")
    assert len(knowing(running, MARK)) > 3
    plan = wire.call(running, "purge_plan", {"ids": [gone]})
    assert plan == {"memories": 1, "captures": 1, "sessions": 0, "on_server": 0}
    done = person(running, "purge", ids=[gone])
    assert done == {**plan, "entries": 1, "files": 1, "copies": 1}
    assert knowing(running, MARK) == []
    assert wire.call(running, "show", {"id": kept})["memory"]["content"] == OTHER
    assert wire.call(running, "search", {"cwd": str(speaker.project), "query": "integer cents"})["hits"] == []
    speaker.say("And now for something else.")
    speaker.hook("drop", "Stop")
    drained(running)
    assert knowing(running, MARK) == []


def test_purged_statements_are_not_captured_again(running: Home, speaker: Speaker) -> None:
    gone = learned(running, speaker, DECISION)
    person(running, "purge", ids=[gone])
    written(running.database, "DELETE FROM transcripts")
    speaker.hook("drop", "Stop")
    drained(running)
    assert wire.call(running, "list", {"cwd": str(speaker.project)})["memories"] == []


def test_a_purged_session_leaves_others_alone(running: Home, speaker: Speaker) -> None:
    other = new_session(running, speaker.project)
    kept = learned(running, other, OTHER)
    learned(running, speaker, DECISION)
    done = person(running, "purge", session_id=speaker.id[:8])
    assert (done["memories"], done["captures"], done["sessions"]) == (1, 1, 1)
    assert knowing(running, MARK) == []
    (left,) = wire.call(running, "list", {"cwd": str(speaker.project)})["memories"]
    assert left["id"] == kept
    told = {row["id"]: row["title"] for row in wire.call(running, "sessions", {"everywhere": True})["sessions"]}
    assert told[speaker.id] == ""
    assert "pytest" in told[other.id]


def test_everything_can_be_purged_while_the_daemon_runs(running: Home, speaker: Speaker, tmp_path: Path) -> None:
    learned(running, speaker, DECISION)
    elsewhere = new_session(running, tmp_path / "elsewhere")
    learned(running, elsewhere, OTHER)
    assert person(running, "purge", all=True, cwd=str(elsewhere.project))["memories"] == 1
    assert knowing(running, "unittest was slow") == []
    assert knowing(running, MARK)
    running.buried.mkdir(exist_ok=True)
    (running.buried / "01-1-aa.entry").write_text(f"of no session we know: {MARK}")
    assert person(running, "purge", all=True, everywhere=True)["entries"] == 1
    assert knowing(running, MARK) == []
    assert (running.log / "daemon.log").stat().st_size == 0
    for name in (str(speaker.project), str(elsewhere.project), speaker.id, elsewhere.id):
        assert knowing(running, name) == []
    assert _rows_of(running, "sessions", "projects", "project_paths", "transcripts") == [0, 0, 0, 0]
    learned(running, elsewhere, "We decided to sort the ledger by date, because names change.")
    assert knowing(running, "unittest was slow") == []  # what was read before is not read again


def _rows_of(home: Home, *tables: str) -> list[int]:
    with sqlite3.connect(home.database) as connection:
        counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]
    connection.close()
    return counts


def test_vectors_are_made_anew(stopped: Home, tmp_path: Path) -> None:
    configure(stopped, embedder='"local"')
    wire.ensure_daemon(stopped)
    speaker = new_session(stopped, tmp_path / "project")
    kept, gone = learned(stopped, speaker, OTHER), learned(stopped, speaker, DECISION)
    with sqlite3.connect(stopped.database) as connection:
        vectors = dict(connection.execute("SELECT memory_id, vector FROM embeddings").fetchall())
    connection.close()
    person(stopped, "purge", ids=[gone])
    raw = b"".join(path.read_bytes() for path in stopped.root.glob("*.db*"))
    assert vectors[kept] in raw
    assert vectors[gone] not in raw
    assert wire.call(stopped, "search", {"cwd": str(speaker.project), "query": "slow tests"})["hits"]


def test_a_secret_that_was_stored_is_taken_out_everywhere(running: Home, speaker: Speaker) -> None:
    memory = learned(running, speaker, DECISION)
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    said = f"The deploy uses API_KEY={SECRET} for now."
    for table, column in (("memories", "content"), ("implicit_captures", "evidence"), ("sessions", "first_prompt")):
        written(running.database, f"UPDATE {table} SET {column} = ?", said)
    written(running.database, "UPDATE events SET after = ? WHERE subject = 'memory'", json.dumps({"content": said}))
    written(running.database, "UPDATE memories_fts SET content = ?", said)
    written(running.database, "DELETE FROM redaction_state")
    (running.log / "daemon.log.1").write_text(f"an old line: {said}\n")
    create_copy(running.database, 6)
    wire.ensure_daemon(running)
    assert eventually(lambda: knowing(running, SECRET) == [], 60)
    shown = wire.call(running, "show", {"id": memory})
    assert shown["memory"]["content"] == "The deploy uses API_KEY=[redacted: secret] for now."
    assert shown["history"][-1]["action"] == "redact"
    assert SECRET not in json.dumps(shown)
    assert wire.call(running, "search", {"cwd": str(speaker.project), "query": "deploy uses"})["hits"]
    found = wire.call(running, "redactions", {})["findings"]
    assert {"memory", "capture", "session", "events"} & {line["place"].partition("/")[0] for line in found}


def test_a_scan_shows_and_changes_nothing(running: Home, speaker: Speaker) -> None:
    learned(running, speaker, DECISION)
    assert eventually(lambda: wire.call(running, "scan", {})["findings"] == [])
    written(running.database, "UPDATE sessions SET summary = ?", f"password = '{SECRET}'")
    (found,) = wire.call(running, "scan", {})["findings"]
    assert (found["place"], found["column"], found["rule"]) == (f"session/{speaker.id}", "summary", "password")
    assert SECRET not in json.dumps(found)
    assert knowing(running, SECRET)
    assert person(running, "redact_stored")["rows"] == 1
    assert knowing(running, SECRET) == []


def test_buried_entries_contain_no_secret(running: Home, speaker: Speaker) -> None:
    said = f"the key is api_key={SECRET} <private>{MARK}</private>"
    running.spool.joinpath("01-1-aa.entry").write_text(f"of another version\n{json.dumps({'prompt': said})}")
    aside = running.buried / "01-1-aa.entry"
    told = {"prompt": "the key is api_key=[redacted: secret] "}
    assert eventually(lambda: aside.exists() and json.loads(aside.read_text().splitlines()[1]) == told)
    assert knowing(running, SECRET) == knowing(running, MARK) == []


def test_the_header_of_a_buried_entry_is_redacted_and_stays_valid(running: Home, speaker: Speaker) -> None:
    learned(running, speaker, DECISION)
    running.buried.mkdir(exist_ok=True)
    aside = running.buried / "01-1-aa.entry"
    header = f"subconscious 1\tStop\t1700000000000000000\t/kiln/api_key={SECRET}\t/home/kiln\t1\tnote=API_KEY={SECRET}"
    aside.write_text(f"{header}\n{json.dumps({'session_id': 'x'})}")
    assert person(running, "redact_stored")["files"] == 1
    assert knowing(running, SECRET) == []
    entry = parse_entry(aside.name, aside.read_bytes())
    assert (entry.event, entry.at, entry.config_dir) == ("Stop", 1700000000.0, "/home/kiln")
    assert entry.project_dir == "/kiln/api_key=[redacted: secret]"


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("sign", ['"', "\\", "\u00fc", "\u5bc6", "\x1b"])
def test_a_scan_of_a_buried_entry_reads_its_json(running: Home, sign: str, ascii_only: bool) -> None:
    value = f"kz9q-{sign}Wmx7!t"
    running.buried.mkdir(exist_ok=True)
    aside = running.buried / "01-1-aa.entry"
    said = {"session_id": "x", "prompt": f"the password is {value}\n and more"}
    aside.write_text(f"subconscious 1\tStop\t1\t/kiln\t/home\t1\t\n{json.dumps(said, ensure_ascii=ascii_only)}")
    (found,) = wire.call(running, "scan", {})["findings"]
    assert (found["place"], found["length"]) == ("spool/buried/01-1-aa.entry", len(value))
    assert person(running, "redact_stored")["files"] == 1
    told = said | {"prompt": "the password is [redacted: password]\n and more"}
    assert json.loads(aside.read_text().splitlines()[1]) == told


def test_a_secret_that_becomes_known_later_is_removed_from_stored_texts(
    running: Home, speaker: Speaker, tmp_path: Path
) -> None:
    bare = "We decided that the kiln is opened with kz9q-Wmx7!t on Thursdays."
    memory = learned(running, speaker, bare)
    value = "kz9q-Wmx7!t"
    assert knowing(running, value)
    other = new_session(running, tmp_path / "elsewhere")
    other.say(f"The new password is: password = '{value}', thanks.")
    other.hook("drop", "Stop")
    drained(running)
    assert eventually(lambda: knowing(running, value) == [], 30)
    assert wire.call(running, "show", {"id": memory})["memory"]["content"] == bare.replace(
        value, "[redacted: known secret]"
    )
    wire.call(running, "stop")
    wire.await_absence(running, 30)
    wire.ensure_daemon(running)
    speaker.say(f"We decided that the other kiln is opened with {value} on Mondays.")
    speaker.hook("drop", "Stop")
    drained(running)
    assert knowing(running, value) == []


def test_a_person_allows_a_finding(running: Home, speaker: Speaker) -> None:
    speaker.say(f"The test fixture has password = '{SECRET}', keep that.")
    speaker.hook("drop", "Stop")
    drained(running)
    (found, *_) = wire.call(running, "redactions", {})["findings"]
    assert (found["rule"], found["place"], found["length"]) == ("password", f"session/{speaker.id}", len(SECRET))
    assert knowing(running, SECRET) == []
    assert person(running, "allow_finding", digest=found["hash"], reason="a fixture")["allowed"]
    speaker.say(f"We decided that the fixture has password = '{SECRET}'.")
    speaker.hook("drop", "Stop")
    drained(running)
    assert str(running.database) in " ".join(knowing(running, SECRET))
    person(running, "disallow_finding", digest=found["hash"])
    assert eventually(lambda: person(running, "redact_stored")["rows"] >= 0 and knowing(running, SECRET) == [])
    assert terminal.ask(running, "allow_finding", digest="0" * 16)["error"]["code"] == "E022"


@pytest.mark.parametrize("cmd", ["purge", "redact_stored", "allow_finding", "disallow_finding"])
def test_the_model_deletes_nothing(running: Home, speaker: Speaker, cmd: str) -> None:
    memory = learned(running, speaker, DECISION)
    args = {"ids": [memory], "digest": "0" * 16, "origin": "user"}
    script = "import json, sys; from pathlib import Path; from subconscious import wire;"
    script += "from subconscious.settings import home;"
    script += "wire.call(home.Home(Path(sys.argv[1])), sys.argv[2], json.loads(sys.argv[3]))"
    command = [sys.executable, "-c", script, str(running.root), cmd, json.dumps(args)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.returncode != 0
    assert "a person decides what is deleted" in ran.stderr
    assert wire.call(running, "show", {"id": memory})["memory"]["content"] == DECISION


def test_a_memory_that_ends_with_the_word_password_is_kept_in_the_history(running: Home, speaker: Speaker) -> None:
    person(running, "remember", cwd=str(speaker.project), text="We never log the password")
    assert wire.call(running, "scan", {})["findings"] == []
    assert person(running, "redact_stored")["rows"] == 0
    events = wire.call(running, "history", {"subject": "memory", "about": "1"})["events"]
    assert "[redacted" not in json.dumps(events)
