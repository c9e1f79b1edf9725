"""A program that requests the page, with any headers: a person's, one inside Claude Code, or another user's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.support import terminal

CLIENT = """
import http.client, json, sys
host, port, method, path, headers, body, more = json.loads(sys.argv[1])
connection = http.client.HTTPConnection(host, port, timeout=20)
connection.request(method, path, (body + "x" * more).encode() if body else None, headers)
answer = connection.getresponse()
print("<<" + json.dumps([answer.status, answer.getheaders(), answer.read().decode()]) + ">>")
"""
SYSTEM_PYTHON = "/usr/bin/python3"
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered."""

    status: int
    headers: Mapping[str, str]
    text: str


def request(
    url: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: str = "",
    *,
    more: int = 0,
    inside: bool = False,
    user: int | None = None,
) -> Answer:
    """Make one request from a process of its own; ``more``: as many letters behind the body."""
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    asked = json.dumps([parts.hostname, parts.port, method, path, dict(headers or {}), body, more])
    # Another user can't run a Python in our own folders.
    python = sys.executable if user is None else SYSTEM_PYTHON
    command = [python, "-I", "-S", "-c", CLIENT, asked]
    if inside or user is not None:
        shown = subprocess.run(command, env=_environment(inside), user=user, capture_output=True, text=True, check=True)
        return _answer(shown.stdout)
    with terminal.Terminal(command, {**_environment(False), "TEST_TERMINAL_COLUMNS": "200"}, ROOT) as person:
        person.end()
        return _answer(person.shown.replace("\n", ""))


def _environment(inside: bool) -> dict[str, str]:
    kept = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    return kept | ({"CLAUDECODE": "1"} if inside else {})


def _answer(shown: str) -> Answer:
    status, headers, text = json.loads(shown[shown.index("<<") + 2 : shown.rindex(">>")])
    return Answer(status, {name.lower(): value for name, value in headers}, text)
