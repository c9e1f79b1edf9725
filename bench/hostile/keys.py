"""A key in one session's environment is used for that session's requests only, at the approved address."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.hostile.case import NotHeld, Stage, case, hold
from bench.sessions import Speaker
from tests.support import client_stub, terminal
from tests.support.fake_openai import FakeOpenAI

KEYS = {"first": "sk-not-a-key-of-anybody-1", "second": "sk-not-a-key-of-anybody-2"}
SECONDS = 40
"""Time that a busy machine may take, the import of an SDK included."""


def begin(stage: Stage, model: FakeOpenAI) -> None:
    if sys.platform != "linux":
        raise NotHeld("not tried: whose hook it is, is read from /proc")
    model.keys = set(KEYS.values())
    stage.configure(**model.config)
    stage.start()


def session_of(stage: Stage, name: str, **environ: str) -> Speaker:
    """A session in a person's client with its own variables; it makes a statement for a model to read."""
    session = stage.speaker(name)
    session.environment |= environ
    payload = session.payload("UserPromptSubmit", prompt="go on")
    client_stub.submit(payload, terminal.environment(stage.home) | session.environment, session.project)
    session.say(f"The {name} kiln fires at noon.")
    session.hook("drop", "SessionEnd", reason="other")
    return session


def asked_with(model: FakeOpenAI, name: str) -> set[str]:
    """The keys with which the model was asked about a session."""
    return {key for key, body in model.requests if f"{name} kiln".encode() in body}


def await_true(happened: Callable[[], bool], otherwise: str) -> None:
    until = time.monotonic() + SECONDS
    while not happened():
        hold(time.monotonic() < until, otherwise)
        time.sleep(0.05)


@case("keys", "keys that two sessions export: each is used for its session, none for a third, none is written")
def keys_of_sessions(stage: Stage) -> None:
    with FakeOpenAI() as model:
        begin(stage, model)
        session_of(stage, "third")
        for name, key in KEYS.items():
            session_of(stage, name, SUBCONSCIOUS_OPENAI_KEY=key)
        for name, key in KEYS.items():
            await_true(lambda name=name: bool(asked_with(model, name)), f"the {name} session's key is not used")  # type: ignore[misc]
            hold(asked_with(model, name) == {key}, f"the {name} session was read with {asked_with(model, name)}")
        hold(not asked_with(model, "third") & set(KEYS.values()), "a session's key was used for another session")
        written = b"".join(path.read_bytes() for path in Path(stage.home.root).rglob("*") if path.is_file())
        hold(not any(key.encode() in written for key in KEYS.values()), "a key was written to the state folder")


@case("keys", "a session that names an address of its own gets neither its key nor another's sent there", quick=False)
def address_of_a_session(stage: Stage) -> None:
    with FakeOpenAI() as model, FakeOpenAI() as elsewhere:
        begin(stage, model)
        first, second = KEYS
        session_of(stage, first, SUBCONSCIOUS_OPENAI_KEY=KEYS[first], SUBCONSCIOUS_OPENAI_URL=elsewhere.url)
        session_of(stage, second, SUBCONSCIOUS_OPENAI_KEY=KEYS[second])
        await_true(lambda: bool(asked_with(model, first)), "the first session was not read where the settings say")
        await_true(lambda: bool(asked_with(model, second)), "the second session's key is not used")
        hold(not elsewhere.requests, f"{len(elsewhere.requests)} requests went where a session pointed")
