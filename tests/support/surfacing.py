"""What sessions are given."""

from __future__ import annotations

import json
from pathlib import Path

from bench.sessions import Speaker
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import new_session

ASKED = "why does the UploadWorker retry a failed chunk upload"


def remember(home: Home, speaker: Speaker, *texts: str) -> list[int]:
    """Memories of a project, as its person's words."""
    asked = [terminal.ask(home, "remember", text=text, cwd=str(speaker.project))["result"] for text in texts]
    assert all("memory" in result for result in asked), asked
    return [result["memory"]["id"] for result in asked]


def given(speaker: Speaker, prompt: str = ASKED) -> str:
    """What a prompt is given besides itself."""
    answer = speaker.ask("UserPromptSubmit", prompt=prompt, prompt_id="p")
    told: str = json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""
    return told


def begun(home: Home, project: Path) -> Speaker:
    """A session that was greeted, when there was nothing to be told yet."""
    speaker = new_session(home, project)
    assert speaker.ask("SessionStart", source="startup") == b""
    return speaker
