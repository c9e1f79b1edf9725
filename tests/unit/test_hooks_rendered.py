"""The start that a hook prints when no daemon answers."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from hooks import rendered

PROJECT = "/srv/shop"
STARTUP, RESUME = b'{"source": "startup"}', b'{"source": "resume"}'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder with the rendered start of a project."""
    (tmp_path / "rendered" / "paths").mkdir(parents=True)
    (tmp_path / "rendered" / "p1").mkdir()
    files = {f"paths/{hashlib.sha256(PROJECT.encode()).hexdigest()}": b"p1", "p1/start": b"7.9\nkept words\n"}
    for name, content in files.items():
        path = tmp_path / "rendered" / name
        path.write_bytes(content)
        path.chmod(0o600)
    (tmp_path / "spool").mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", PROJECT)
    for name in ("SUBCONSCIOUS_SURFACE", "CLAUDE_PLUGIN_OPTION_SURFACE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def printed(home: Path, payload: bytes, capfdbinary: pytest.CaptureFixture[bytes]) -> bytes:
    rendered.main(os.fspath(home), payload)
    return capfdbinary.readouterr().out


def test_it_is_printed_without_its_first_line_and_its_memories_are_spooled(
    home: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert printed(home, STARTUP, capfdbinary) == b"kept words\n"
    (entry,) = (home / "spool").glob("*.entry")
    header = entry.read_bytes().partition(b"\n")[0]
    assert b"\tGiven\t" in header
    assert header.endswith(b"given=7.9")


def test_a_resumed_session_has_it_already(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert printed(home, RESUME, capfdbinary) == b""


@pytest.mark.parametrize("name", ["SUBCONSCIOUS_SURFACE", "CLAUDE_PLUGIN_OPTION_SURFACE"])
@pytest.mark.parametrize(
    ("value", "expected"), [("false", b""), ("OFF", b""), ("true", b"kept words\n"), ("", b"kept words\n")]
)
def test_it_can_be_switched_off(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    name: str,
    value: str,
    expected: bytes,
) -> None:
    monkeypatch.setenv(name, value)
    assert printed(home, STARTUP, capfdbinary) == expected
