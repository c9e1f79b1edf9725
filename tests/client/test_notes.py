"""Claude Code's own notes, as the real client has the model write them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from subconscious.claude_files.client_folders import notes_folder
from tests.client.fake_api import FakeApi, says, uses
from tests.client.machine import Machine, Row

pytestmark = [pytest.mark.client, pytest.mark.timeout(90, func_only=True)]

FACT = "The invoices of the Lisbon office are printed on the old laser printer."
NOTE = f"""---
name: lisbon-printer
description: Which printer has the invoices of Lisbon
metadata:
  type: reference
---

{FACT}
"""
RULE = "Amounts are stored as integer cents, never as floats."


def folder_of(api: FakeApi, prompt: str) -> Path:
    """The folder that the client tells the model to keep its notes in."""
    (named,) = set(re.findall(r"`(/\S*/memory/)`", api.asked(prompt)[0].given))
    return Path(named)


def search(machine: Machine, query: str) -> list[Row]:
    hits: list[Row] = machine.request("search", query=query, cwd=str(machine.project))["hits"]
    return hits


def test_a_note_that_the_client_writes_is_found_and_not_given(machine: Machine, api: FakeApi) -> None:
    machine.talk("Hello.")
    folder = folder_of(api, "Hello.")
    assert folder == notes_folder(machine.config, str(machine.project))
    file = folder / "lisbon-printer.md"
    api.when("Note the printer.", uses("Write", file_path=str(file), content=NOTE), says("Noted."))
    machine.talk("Note the printer.")
    machine.drain()
    assert FACT in file.read_text()  # the client adds lines of its own before that
    (hit,) = search(machine, "Which printer has the Lisbon invoices?")
    assert FACT in hit["memory"]["content"]
    assert (hit["memory"]["kind"], hit["memory"]["tags"]) == ("research", ["reference", "lisbon-printer"])
    machine.talk("Which printer has the Lisbon invoices?")
    assert "laser printer" not in api.asked("Which printer has the Lisbon invoices?")[0].given
    file.unlink()
    assert search(machine, "Which printer has the Lisbon invoices?") == []


def test_what_the_client_loads_is_not_given_by_us(machine: Machine, api: FakeApi) -> None:
    machine.talk(f"We decided: {RULE}")
    machine.drain()
    machine.talk("Where were we?")
    assert RULE in api.asked("Where were we?")[0].given
    (machine.project / "CLAUDE.md").write_text("@AGENTS.md\n")
    (machine.project / "AGENTS.md").write_text(f"- {RULE}\n")
    machine.talk("And where are we now?")
    assert api.asked("And where are we now?")[0].given.count(RULE) == 1  # by the client
