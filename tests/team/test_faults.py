"""A server that is dead, slow or lying: nothing is lost, nothing is there twice, and nobody waits for it."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from typing import Any, cast

import pytest

from subconscious.domain.errors import TeamError
from subconscious.store.team import connection as connections
from subconscious.store.team import queries, queue
from subconscious.store.team.address import parse
from subconscious.store.team.connection import Server
from subconscious.team.background import of
from tests.support.postgres import Postgres
from tests.support.proxy import Liar, Proxy
from tests.team.conftest import People, Person

Team = tuple[Person, Person, Person]
STATEMENTS = [f"Service {number} listens on port {4000 + number}." for number in range(12)]


def texts(server: Postgres) -> Counter[str]:
    rows = server.sql("SELECT version #>> '{record,memory,content}' FROM subconscious.versions WHERE live")
    return Counter(text for (text,) in rows)


@pytest.fixture
async def behind_proxy(people: People, team: Team, server: Postgres) -> Any:
    """Ann, whose connection goes through a proxy."""
    socket = f"{server.folder}/.s.PGSQL.{server.port or 5432}"
    async with Proxy(socket) as proxy:
        store = f"postgresql://ann@127.0.0.1:{proxy.port}/{server.database}"
        ann = await people.person("ann", store, project="proxied")
        await ann.ask("team_join", name="shop")
        yield ann, proxy
        await of(ann.app).close()


async def _sent_in_the_end(person: Person) -> None:
    for _ in range(50):
        try:
            await person.sync()
        except TeamError:
            continue
        if not (await queue.counts(person.app.database, person.project.id)).waiting:
            return
    raise AssertionError("it was never sent")


async def test_connections_that_break_off_lose_and_double_nothing(
    behind_proxy: tuple[Person, Proxy], server: Postgres
) -> None:
    ann, proxy = behind_proxy
    for number, text in enumerate(STATEMENTS):
        await ann.share(text)
        exchange = asyncio.ensure_future(ann.sync())
        await asyncio.sleep(0.003 * number)
        proxy.drop()
        await asyncio.gather(exchange, return_exceptions=True)
    await _sent_in_the_end(ann)
    assert texts(server) == Counter(STATEMENTS)


async def test_a_server_that_stalls_costs_a_search_its_deadline_and_a_hook_nothing(
    behind_proxy: tuple[Person, Proxy], server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, proxy = behind_proxy
    await ann.share(STATEMENTS[0])
    await ann.sync()
    proxy.stall()
    monkeypatch.setattr("subconscious.team.searching.SECONDS", 0.2)
    before = proxy.connections
    async with asyncio.timeout(5):  # the server would take longer
        assert await ann.search("which port") == []
    for _ in range(20):
        assert await ann.search("which port") == []
    assert proxy.connections <= before + 1, "a server that does not answer is left alone for a while"
    with pytest.raises(TeamError) as raised:
        await of(ann.app).exchange(await _joined(ann))
    assert "next attempt is in" in raised.value.remedy
    proxy.resume()
    await ann.share(STATEMENTS[1])
    await _sent_in_the_end(ann)
    assert texts(server) == Counter(STATEMENTS[:2])


async def _joined(person: Person) -> queue.Joined:
    joined = await queue.joined_as(person.app.database, person.project.id)
    assert joined is not None
    return joined


async def test_a_round_of_the_daemon_survives_whatever_the_server_does(behind_proxy: tuple[Person, Proxy]) -> None:
    ann, proxy = behind_proxy
    await ann.share(STATEMENTS[0])
    proxy.broken = True
    proxy.drop()
    await of(ann.app).close()
    await of(ann.app).round()
    assert of(ann.app).trouble is not None
    assert (await queue.counts(ann.app.database, ann.project.id)).waiting == 1
    proxy.broken = False
    server = of(ann.app).store.in_use
    assert server is not None
    server.breaker.forgive()
    await of(ann.app).round()
    assert of(ann.app).trouble is None
    assert (await queue.counts(ann.app.database, ann.project.id)).waiting == 0


async def test_a_server_that_is_killed_loses_nothing(people: People) -> None:
    from tests.support import postgres

    if why := postgres.unavailable():
        pytest.skip(why)
    durable = postgres.CONFIG.replace("= off", "= on")
    with postgres.server(config=durable) as server:
        server.add_people(["ann"])
        ann = await people.person("ann", server.url("ann"))
        await ann.ask("team_join", name="shop", create=True)
        for text in STATEMENTS[:4]:
            await ann.share(text)
        await ann.sync()
        for text in STATEMENTS[4:8]:
            await ann.share(text)
        exchange = asyncio.ensure_future(ann.sync())
        await asyncio.sleep(0.02)
        server.kill()
        await asyncio.gather(exchange, return_exceptions=True)
        for text in STATEMENTS[8:]:
            await ann.share(text)
        with pytest.raises(TeamError):
            await ann.sync()
        server.start()
        await _sent_in_the_end(ann)
        assert texts(server) == Counter(STATEMENTS)


async def test_a_server_that_was_put_back_gets_what_it_lost(team: Team, server: Postgres) -> None:
    """As after a failover to a replica that was behind, or from a backup."""
    ann, ben, _ = team
    for text in STATEMENTS[:4]:
        await ann.share(text)
    await ann.sync()
    await ben.sync()
    server.sql("DELETE FROM subconscious.versions WHERE change > (SELECT min(change) + 1 FROM subconscious.versions)")
    await ann.ask("team_sync")
    assert texts(server) == Counter(STATEMENTS[:4])
    await ben.sync()
    assert len(await ben.statuses()) == 4, "and nobody is given it twice"


async def test_a_full_outbox_keeps_what_is_shared_and_drops_the_oldest_uses(team: Team) -> None:
    ann, _, _ = team
    memory = await ann.share(STATEMENTS[0])
    async with ann.app.database.write() as tx:
        await tx.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
            " INSERT INTO team_outbox (project_id, act, uid, day, created_at)"
            " SELECT ?, 'use', printf('%032x', i), i, 0 FROM n",
            (ann.project.id,),
        )
    await ann.uses_all()
    rows = await ann.app.database.rows("SELECT act, count(*), max(day) FROM team_outbox GROUP BY act ORDER BY act")
    assert [tuple(row)[:2] for row in rows] == [("publish", 1), ("use", 5000)]
    assert rows[1][2] > 6000, "the newest is kept"
    assert memory.id


def _bytes(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4, "big") + body


READY = (
    _bytes(b"R", bytes(4))
    + b"".join(
        _bytes(b"S", name + b"\0" + value + b"\0")
        for name, value in (
            (b"server_version", b"18.0"),
            (b"client_encoding", b"UTF8"),
            (b"in_hot_standby", b"off"),
            (b"default_transaction_read_only", b"off"),
        )
    )
    + _bytes(b"K", bytes(8))
    + _bytes(b"Z", b"I")
)


async def test_an_answer_without_an_end_is_broken_off() -> None:
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(READY)
        await reader.read(1000)
        writer.write(_bytes(b"1", b"") + _bytes(b"2", b""))
        column = b"x\0" + bytes(6) + (25).to_bytes(4, "big") + b"\xff\xff" + b"\xff\xff\xff\xff" + bytes(2)
        writer.write(_bytes(b"T", (1).to_bytes(2, "big") + column))
        value = b"x" * 60_000
        row = _bytes(b"D", (1).to_bytes(2, "big") + len(value).to_bytes(4, "big") + value)
        while True:
            writer.write(row)
            await writer.drain()
            sent += len(row)

    async with Liar(endless) as liar:
        server = Server(parse(f"postgresql://ann@127.0.0.1:{liar.port}/team"), "")
        with pytest.raises(TeamError, match="more data than was requested"):
            await server.run(queries.newest_change, 1)
        await server.close()
    assert sent < 8 * connections.MOST_BYTES


async def test_a_server_that_never_greets_is_reported_with_the_limit_that_applied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        server = Server(parse(f"postgresql://ann@127.0.0.1:{mute.getsockname()[1]}/team"), "")
        with pytest.raises(TeamError) as raised:
            await server.run(queries.hello)
        await server.close()
    assert "does not answer within 0.2 seconds" in raised.value.message


async def test_a_server_can_t_ask_for_the_password_in_plain_text() -> None:
    said = bytearray()

    async def curious(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(_bytes(b"R", (3).to_bytes(4, "big")))
        said.extend(await reader.read(1000))

    async with Liar(curious) as liar:
        server = Server(parse(f"postgresql://ann@127.0.0.1:{liar.port}/team"), "dummy-password")
        with pytest.raises(TeamError) as raised:
            await server.run(queries.hello)
        await server.close()
    assert b"dummy-password" not in said
    assert "dummy-password" not in raised.value.message


@pytest.mark.parametrize(
    "row",
    [
        ("A" * 32, "b" * 32, 1, "ann", "{}", None),
        ("a" * 32, "b" * 32, -1, "ann", "{}", None),
        ("a" * 32, "b" * 32, 1, "", "{}", None),
        ("a" * 32, "b" * 32, 1, "a" * 64, "{}", None),
        ("a" * 32, "b" * 32, 1, "ann", "[1]", None),
        ("a" * 32, "b" * 32, 1, "ann", '{"a": "' + "x" * 70_000 + '"}', None),
        ("a" * 32, "b" * 32, 1, "ann", "[" * 30_000 + "]" * 30_000, None),
        ("a" * 32, "b" * 32, 1, "ann", "{}"),
        (None, None, None, None, None, None),
    ],
)
def test_rows_that_are_not_valid_are_dropped(row: tuple[Any, ...]) -> None:
    good = ("a" * 32, "b" * 32, 1, "ann", '{"record": {}}', None)
    found, broken = queries._parsed(queries.RemoteVersion, queries._VERSION_NAMES, [row, good])
    assert (len(found), broken) == (1, 1)


async def test_changes_that_are_not_valid_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    uid, digest = "a" * 32, "b" * 32
    good = (8, uid, digest)

    async def lies(*_: object) -> list[tuple[Any, ...]]:
        return [(8, "A" * 32, digest), (8, uid, "b" * 33), (8, None, None), ("8", uid, digest), (7, uid, digest), good]

    monkeypatch.setattr(queries, "_rows", lies)
    assert await queries.changed(cast("connections.Connection", None), 1, 7) == [good]


async def test_what_a_lying_server_says_is_examined(team: Team, server: Postgres) -> None:
    """The server changes the text of a version, and the name of its author's project, behind its own constraints."""
    ann, ben, cleo = team
    await ann.share(STATEMENTS[0])
    await ann.sync()
    server.sql(
        "UPDATE subconscious.versions SET version ="
        " jsonb_set(version, '{record,memory,content}', '\"Service 0 listens on port 6666.\"')"
    )
    assert [one["became"] for one in (await ben.sync()).received] == ["refused"]
    assert await ben.statuses() == {}
    assert await cleo.search("which port") == []


async def test_no_error_shows_a_password() -> None:
    server = Server(parse("postgresql://ann@127.0.0.1:1/team"), "dummy-password")
    with pytest.raises(TeamError) as raised:
        await server.within(3.0, queries.hello)
    assert "dummy" not in raised.value.message
    assert "refused" in raised.value.message
    assert "dummy" not in server.breaker.error
    await server.close()
