"""The address of a team's store: no password, no options of libpq, and TLS unless it stays on this machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from subconscious.domain.errors import SettingsError
from subconscious.store.team.address import parse


@pytest.mark.parametrize(
    ("store", "why"),
    [
        ("postgresql://ann:secret@db.example.org/team", "contains a password"),
        ("mysql://ann@db.example.org/team", "does not start with"),
        ("postgresql://db.example.org/team", "contains no user name"),
        ("postgresql://ann@db.example.org", "names no database"),
        ("postgresql://ann@/team", "names no server"),
        ("postgresql://ann@db.example.org/team?sslmode=disable", "verify-full"),
        ("postgresql://ann@db.example.org/team?sslmode=require", "verify-full"),
        ("postgresql://ann@db.example.org/team?passfile=/etc/passwd", "not allowed"),
        ("postgresql://ann@db.example.org/team?options=-c%20role=x", "not allowed"),
        ("postgresql://ann@db.example.org/team?host=/tmp", "two servers"),
        ("postgresql://ann@a.example.org,b.example.org/team", "several servers"),
        ("postgresql://ann@/team?host=evil.example.org", "folder of a socket"),
        ("postgresql://ann@db.example.org/team?sslrootcert=ca.crt", "full path"),
        ("postgresql://ann@db.example.org:port/team", "not an address"),
        ("postgresql://an%0An@db.example.org/team", "control characters"),
    ],
)
def test_addresses_that_are_refused(store: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as raised:
        parse(store)
    assert "secret" not in raised.value.message


@pytest.mark.parametrize(
    "host", ["db.example.org", "10.1.2.3", "192.168.1.1", "localhost.example.org", "127.0.0.1.nip.io"]
)
def test_what_leaves_this_machine_is_encrypted_and_verified(host: str) -> None:
    found = parse(f"postgresql://ann@{host}/team").parameters("dummy")
    assert (found["sslmode"], found["sslrootcert"]) == ("verify-full", "system")
    assert (found["require_auth"], found["sslcertmode"]) == ("scram-sha-256", "disable")


@pytest.mark.parametrize(
    "store",
    [
        "postgresql://ann@/team?host=/run/postgresql",
        "postgresql://ann@127.0.0.1/team",
        "postgresql://ann@[::1]/team",
        "postgresql://ann@localhost/team",
    ],
)
def test_what_stays_on_this_machine_may_be_plain(store: str) -> None:
    assert parse(store).is_local


def test_no_variable_and_no_file_of_libpq_supplies_a_password() -> None:
    found = parse("postgresql://ann@/team?host=/tmp").parameters("")
    assert found["password"] == ""
    assert found["passfile"] == "/nonexistent/pgpass"


@pytest.mark.slow
def test_a_daemon_without_a_team_s_store_does_not_load_its_client() -> None:
    code = (
        "import sys, daemon.lifecycle, daemon.commands, cli.team;"
        " print([name for name in sys.modules if name.startswith('psycopg')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
