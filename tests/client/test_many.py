"""Many sessions at once share one daemon."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client.machine import Machine

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.timeout(180, func_only=True)]

CHOICES = {
    "invoices": "PDF",
    "queues": "Redis streams",
    "passwords": "argon2",
    "dates": "UTC timestamps",
    "identifiers": "ULIDs",
    "logs": "JSON lines",
    "migrations": "plain SQL files",
    "caching": "memcached",
    "mail": "a local relay",
    "search": "trigram indexes",
    "uploads": "object storage",
    "retries": "exponential backoff",
    "currencies": "ISO codes",
    "addresses": "one text column",
    "exports": "CSV with a header",
    "secrets": "sealed boxes",
    "webhooks": "signed bodies",
    "reports": "materialised views",
    "sessions": "signed cookies",
    "backups": "nightly snapshots",
}


def test_twenty_first_sessions_share_one_daemon(machine: Machine) -> None:
    with ThreadPoolExecutor(len(CHOICES)) as pool:
        list(pool.map(lambda subject: _talk(machine, _decision(subject)), CHOICES))
    machine.drain()
    rows = machine.rows("implicit_captures")
    statuses = {choice: [row["status"] for row in rows if choice in row["content"]] for choice in CHOICES.values()}
    # On a busy machine a hook may miss the daemon, and then nothing vouches for its prompt: it waits for a person.
    assert {choice: found for choice, found in statuses.items() if found not in (["captured"], ["review"])} == {}
    stored = [choice for choice, found in statuses.items() if found == ["captured"]]
    assert stored
    assert [choice for choice in stored if len(machine.remembered(choice)) != 1] == []
    assert machine.spool() == []
    assert list(machine.processes()) == [machine.daemon_pid]


def _talk(machine: Machine, prompt: str) -> None:
    """Hold a session that ends well.

    With twenty clients on two cores a hook may need longer than the client allows it, so that is no failure here.
    """
    with machine.session() as session:
        session.say(prompt)
        session.end()
    assert session.client.returncode == 0, session.stderr


def _decision(subject: str) -> str:
    return f"We decided to use {CHOICES[subject]} for {subject}, because it was the simplest that held."
