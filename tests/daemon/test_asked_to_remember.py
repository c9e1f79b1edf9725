"""What the assistant asks to have remembered may be given unconfirmed at once, if the person has just typed it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from bench.sessions import Speaker
from subconscious import wire
from subconscious.settings.home import Home
from tests.support import client_stub, terminal
from tests.support.daemons import drained

# A Claude Code of another test, running at that moment, may have a prompt doubted: these run by themselves.
pytestmark = pytest.mark.serial

TYPED = "hm ok so the ledger rounds half to even in the nightly export. Prices hold four decimals."


def types(speaker: Speaker, home: Home, words: str) -> None:
    """Type a prompt, as the client's hook hands it over and its transcript has it."""
    number = str(uuid4())
    payload = speaker.payload("UserPromptSubmit", prompt=words, prompt_id=number)
    client_stub.submit(payload, terminal.environment(home) | speaker.environment, speaker.project)
    speaker.say(words, prompt_id=number)


def asked(home: Home, speaker: Speaker, text: str) -> dict[str, Any]:
    """What became of what the assistant asked for."""
    wish = {"text": text, "cwd": str(speaker.project), "session_id": speaker.id}
    answer: dict[str, Any] = wire.call(home, "remember", wish)
    found: dict[str, Any] = answer.get("capture") or answer["memory"]
    return found


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("The ledger rounds half to even in the nightly export.", True),
        ("The ledger rounds half to odd in the nightly export.", False),
        ("The ledger never rounds half to even in the nightly export.", False),
        ("The ledger rounds half to even in the nightly export of `billing.py`.", False),
        ("Prices hold 5 decimals.", False),
        ("Always round half to even in the nightly export.", False),
        ("The release job skips the signature check.", False),
    ],
)
def test_only_what_the_person_typed_is_given_unconfirmed(
    running: Home, speaker: Speaker, text: str, given: bool
) -> None:
    types(speaker, running, TYPED)
    drained(running)
    found = asked(running, speaker, text)
    assert bool(found.get("unconfirmed")) is given, found
    listed = wire.call(running, "list", {"cwd": str(speaker.project), "unconfirmed": True})["memories"]
    assert [one["content"] for one in listed] == ([text] if given else [])


def test_what_the_assistant_said_or_a_page_is_no_ground(running: Home, speaker: Speaker) -> None:
    types(speaker, running, "what does the page say?")
    speaker.tool("WebFetch", "The ledger rounds half to even in the nightly export.")
    speaker.say("The ledger rounds half to even in the nightly export.", role="assistant")
    drained(running)
    assert not asked(running, speaker, "The ledger rounds half to even in the nightly export.").get("unconfirmed")


def test_a_line_that_no_hook_handed_over_is_no_ground(running: Home, speaker: Speaker) -> None:
    types(speaker, running, "hello there, let us look at the export")
    drained(running)
    speaker.say("The ledger rounds half to even in the nightly export.")
    assert not asked(running, speaker, "The ledger rounds half to even in the nightly export.").get("unconfirmed")
