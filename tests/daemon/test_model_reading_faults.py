"""A transcript that a model can't read on is given up, and the others are read."""

from __future__ import annotations

from time import time

import pytest

from subconscious.app import App
from subconscious.capture.llm_extraction import refinement
from subconscious.capture.llm_extraction.refinement_worker import Refining
from subconscious.domain.errors import TranscriptError
from subconscious.store import model_readings
from subconscious.store.model_readings import NewText
from subconscious.store.projects import Project


@pytest.mark.parametrize("error", [TranscriptError("it is a FIFO"), ValueError("a fault of the reader")])
async def test_a_transcript_whose_reading_fails_each_time_ends_nothing_else(
    app: App, project: Project, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def unreadable(*_: object) -> None:
        raise error

    monkeypatch.setattr(refinement, "read_on", unreadable)
    async with app.database.write() as tx:
        await model_readings.record_new_text(tx, NewText("/gone.jsonl", "s", project.id, 0, "", 900, 500), enough=100)
        await tx.execute("UPDATE model_readings SET attempts = 99")
    span = await model_readings.next_due(app.database, time())
    assert span is not None
    await Refining(app)._failed(span, error)
    assert await model_readings.next_due(app.database, time()) is None
