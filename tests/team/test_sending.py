"""Sending many memories: each is committed before the next, so that nobody waits for another's whole batch."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from subconscious.domain.errors import TeamError
from subconscious.store.team import queries
from subconscious.store.team.address import Address, parse
from subconscious.store.team.connection import Server
from subconscious.store.team.queries import NewVersion
from subconscious.team.background import of
from tests.support.postgres import ADMIN, Postgres
from tests.team.conftest import Person

Team = tuple[Person, Person, Person]
HELD = "c" * 32


def version(sign: str) -> NewVersion:
    uid = sign * 32
    return NewVersion(uid, uid, {"record": {"uid": uid, "memory": {"content": f"Service {sign} has a queue."}}})


def hold_back(connection: psycopg.Connection, project: int, uid: str) -> None:
    """Insert a version and commit nothing: who inserts the same one waits for that."""
    connection.execute("SET session_replication_role = replica")  # without triggers
    connection.execute(
        "INSERT INTO subconscious.versions (project_id, uid, digest, change, author, shared_at, version) VALUES"
        " (%s, %s, %s, 1, 'ann', now(), jsonb_build_object('record', jsonb_build_object('uid', %s::text,"
        " 'memory', jsonb_build_object('content', 'x'))))",
        (project, uid, uid, uid),
    )


async def test_what_a_sender_has_sent_is_there_while_the_rest_waits(team: Team, server: Postgres) -> None:
    ((project,),) = server.sql("SELECT id FROM subconscious.projects")
    ann = Server(parse(server.url("ann")), "")
    with psycopg.connect(server.url(ADMIN)) as other:
        hold_back(other, project, HELD)
        sending = asyncio.ensure_future(ann.run(queries.publish, project, [version(one) for one in "abcd"], {}))
        async with asyncio.timeout(4):
            while server.sql("SELECT uid FROM subconscious.versions ORDER BY uid") != [("a" * 32,), ("b" * 32,)]:
                assert not sending.done()
                await asyncio.sleep(0.02)
        other.rollback()
    assert await sending == {}
    await ann.close()
    assert server.sql("SELECT count(*) FROM subconscious.versions") == [(4,)]


async def test_who_waits_too_long_for_others_sends_later_and_searches_on(
    team: Team, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Address.parameters

    def impatient(self: Address, password: str) -> dict[str, str]:
        found = original(self, password)
        return found | {"options": found["options"].replace("lock_timeout=5000", "lock_timeout=100")}

    monkeypatch.setattr(Address, "parameters", impatient)
    _, ben, _ = team
    await of(ben.app).close()  # the next connection is impatient
    await ben.share("Amounts are kept in integer cents.")
    with psycopg.connect(server.url(ADMIN)) as other:
        other.execute("SELECT pg_advisory_xact_lock(hashtext('subconscious.changes'), hashint8(1))")
        with pytest.raises(TeamError, match="other members are writing"):
            await ben.sync()
        reached = of(ben.app).store.in_use
        assert reached is not None
        assert reached.breaker.seconds_left == 0
        assert await ben.search("in what unit are amounts kept?") == []
        other.rollback()
    assert (await ben.sync()).sent == 1


async def test_a_correction_and_what_it_replaces_are_committed_together(team: Team, server: Postgres) -> None:
    ((project,),) = server.sql("SELECT id FROM subconscious.projects")
    ann = Server(parse(server.url("ann")), "")
    old = version("a")
    new = NewVersion(old.uid, HELD, old.version)
    await ann.run(queries.publish, project, [old], {})
    with psycopg.connect(server.url(ADMIN)) as other:
        hold_back(other, project, HELD)
        other.execute("UPDATE subconscious.versions SET uid = %s, version = %s WHERE digest = %s", _as(new))
        sending = asyncio.ensure_future(ann.run(queries.publish, project, [new], {old.uid: [old.digest]}))
        async with asyncio.timeout(4):
            while server.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == [(0,)]:
                await asyncio.sleep(0.02)
        assert server.sql("SELECT digest, live FROM subconscious.versions") == [(old.digest, True)]
        other.rollback()
    assert await sending == {}
    await ann.close()
    found = server.sql("SELECT digest, live FROM subconscious.versions ORDER BY digest")
    assert found == [(old.digest, False), (new.digest, True)]


def _as(new: NewVersion) -> tuple[str, str, str]:
    import json

    return new.uid, json.dumps(new.version), new.digest
