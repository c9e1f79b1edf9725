"""The bench of what a model is sent: a greeting costs nothing, and what is said is told once."""

from __future__ import annotations

import json
from pathlib import Path

from bench.model_tokens import GREETING, measure

SAID = (
    "Amounts are stored as integer cents in ledger.py from now on, because floats lost a cent in the audit.",
    "I changed ledger.py so that amounts are integer cents, and all tests of the ledger pass with that change.",
)


def test_what_is_sent_of_a_session_is_counted_and_a_greeting_costs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    rows = [
        {
            "type": who,
            "uuid": who,
            "timestamp": f"2026-01-05T09:00:0{number}Z",
            "cwd": "/nowhere/ledger",
            "message": {"role": who, "content": text},
        }
        for number, (who, text) in enumerate(zip(("user", "assistant"), SAID, strict=True))
    ]
    (folder / "s1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sent, reader = measure([folder], 5)
    assert sent[GREETING].total == 0
    assert set(sent["s1"].asked) == {"capture", "review"}
    assert sent["s1"].total > sum(sent["s1"].asked.values()) > 1000
    assert list(reader.fresh.values()) == [1]
