"""What a member with a client of their own can't do: the server refuses it, whatever they send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from subconscious.store.team.migrate import migrate, newest
from tests.support.postgres import ADMIN, Postgres
from tests.support.records import make_record

UID, DIGEST = "a" * 32, "b" * 32
INSERT = (
    "INSERT INTO subconscious.versions (project_id, uid, digest, version) VALUES"
    " ({project}, '{uid}', '{digest}', jsonb_build_object('record', jsonb_build_object('uid', '{uid}',"
    " 'memory', jsonb_build_object('content', {content}, 'rationale', '')))) ON CONFLICT DO NOTHING"
)

Try = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def project(server: Postgres) -> int:
    """A project of Ann's, in which Ben is an author and Cleo a reader; Mallory is in none."""
    ((number,),) = server.sql("SELECT subconscious.create_project('shop')", person="ann")
    for person, role in (("ben", "author"), ("cleo", "reader")):
        server.sql(f"SELECT subconscious.set_member({number}, '{person}', '{role}')", person="ann")
    return int(number)


def inserted(
    server: Postgres, project: int, person: str, *, uid: str = UID, digest: str = DIGEST, content: str = "'Cents.'"
) -> None:
    server.sql(INSERT.format(project=project, uid=uid, digest=digest, content=content), person=person)


def rows(server: Postgres) -> list[tuple[Any, ...]]:
    return server.sql(
        "SELECT uid, author, live, confirmed_by FROM subconscious.versions ORDER BY uid, digest", person=ADMIN
    )


def test_people_see_their_projects_and_no_others(server: Postgres, project: int) -> None:
    inserted(server, project, "ben")
    for table in ("projects", "members", "versions", "memories", "events"):
        for person in ("ann", "ben", "cleo"):
            assert server.sql(f"SELECT * FROM subconscious.{table}", person=person), (table, person)
        assert server.sql(f"SELECT * FROM subconscious.{table}", person="mallory") == []
    assert server.sql("SELECT uid FROM subconscious.search(1, 'cents', NULL, '', 9)", person="cleo") == [(UID,)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no reader"):
        server.sql(f"SELECT * FROM subconscious.search({project}, 'cents', NULL, '', 9)", person="mallory")


@pytest.mark.parametrize("person", ["cleo", "mallory"])
def test_only_authors_write(server: Postgres, project: int, person: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no author"):
        inserted(server, project, person)
    assert rows(server) == []


def test_every_table_is_forced_under_row_level_security_also_for_its_owner(server: Postgres, project: int) -> None:
    inserted(server, project, "ben")
    open_tables = server.sql(
        "SELECT relname FROM pg_class WHERE relnamespace = 'subconscious'::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT (relrowsecurity AND relforcerowsecurity)"
    )
    assert open_tables == [("migrations",)], "it has no data of people"
    with psycopg.connect(server.url(ADMIN), autocommit=True) as connection:
        connection.execute("SET ROLE subconscious_owner")
        for table in ("versions", "memories", "events", "members", "versions_1"):
            assert connection.execute(f"SELECT * FROM subconscious.{table}".encode()).fetchall() == [], table


@pytest.mark.parametrize(
    "statement",
    [
        "SET ROLE ann",
        "SET SESSION AUTHORIZATION ann",
        "SET ROLE subconscious_owner",
        "SET ROLE subconscious_functions",
        "GRANT ann TO mallory",
        "ALTER TABLE subconscious.versions DISABLE ROW LEVEL SECURITY",
        "CREATE FUNCTION subconscious.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "INSERT INTO subconscious.members VALUES (1, 'mallory', 'maintainer', 'ann')",
        "UPDATE subconscious.versions SET author = 'mallory'",
        "DELETE FROM subconscious.events",
        "SELECT * FROM subconscious.versions_1",
        "SELECT * FROM subconscious.uses",
        "SELECT subconscious.note(1, 'confirm', 'x', 'y')",
        "SELECT subconscious.next_change(1)",
        "SELECT subconscious.nearest(1, NULL, '')",
        "SELECT subconscious.set_member(1, 'mallory', 'maintainer')",
        "SELECT subconscious.purge(1, repeat('a', 32))",
        "SELECT subconscious.use(1, ARRAY[repeat('a', 32)], ARRAY[current_date])",
    ],
)
def test_nobody_becomes_somebody_else(server: Postgres, project: int, statement: str) -> None:
    """Mallory has a role of the team and no project."""
    inserted(server, project, "ben")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        server.sql(statement, person="mallory")
    assert rows(server) == [(UID, "ben", True, None)]


def test_settings_of_a_client_change_nobody(server: Postgres, project: int) -> None:
    inserted(server, project, "ben")
    with psycopg.connect(server.url("mallory"), autocommit=True) as connection:
        for name in ("subconscious.person", "role.person", "request.jwt.claims"):
            connection.execute("SELECT set_config(%s, 'ann', false)", (name,))
        connection.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM subconscious.versions")
        connection.execute("SET row_security = on")
        connection.execute("SET search_path = pg_temp, public")
        connection.execute("CREATE TEMP TABLE members (project_id bigint, person text, role text)")
        connection.execute(f"INSERT INTO pg_temp.members VALUES ({project}, 'mallory', 'maintainer')".encode())
        assert connection.execute("SELECT subconscious.my_projects('reader')").fetchall() == [([],)]


@pytest.mark.parametrize(
    "columns",
    ["author", "shared_at", "change", "confirmed_by", "replaced_at", "purged_at"],
)
def test_the_server_sets_the_author_the_time_and_the_marks(server: Postgres, project: int, columns: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        server.sql(
            f"INSERT INTO subconscious.versions (project_id, uid, digest, version, {columns}) VALUES"
            f" ({project}, '{UID}', '{DIGEST}', '{{}}', NULL)",
            person="ben",
        )
    inserted(server, project, "ben")
    assert rows(server) == [(UID, "ben", True, None)]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"content": "repeat('x', 8001)"}, psycopg.errors.CheckViolation),
        ({"content": "''"}, psycopg.errors.CheckViolation),
        ({"content": "7"}, psycopg.errors.CheckViolation),
        ({"content": "NULL"}, psycopg.errors.CheckViolation),
        ({"uid": "A" * 32}, psycopg.errors.CheckViolation),
        ({"uid": "a" * 31 + "'"}, psycopg.errors.SyntaxError),
        ({"digest": "b" * 33}, psycopg.errors.CheckViolation),
    ],
)
def test_rows_of_another_form_or_size_are_refused(
    server: Postgres, project: int, changes: dict[str, str], error: type[psycopg.Error]
) -> None:
    with pytest.raises(error):
        inserted(server, project, "ben", **changes)
    assert rows(server) == []


def test_oversized_rows_are_refused(server: Postgres, project: int) -> None:
    record = make_record("Cents.").model_dump(mode="json") | {"uid": UID, "padding": "x" * 70_000}
    with (
        psycopg.connect(server.url("ben")) as connection,
        pytest.raises(psycopg.errors.CheckViolation),
    ):
        connection.execute(
            "INSERT INTO subconscious.versions (project_id, uid, digest, version) VALUES (%s, %s, %s, %s)",
            (project, UID, DIGEST, Jsonb({"record": record})),
        )
    assert rows(server) == []


def test_an_author_replaces_and_purges_their_own_alone(server: Postgres, project: int) -> None:
    inserted(server, project, "ann")
    inserted(server, project, "ben", digest="c" * 32, content="'Euros.'")
    both = f"ARRAY['{DIGEST}', '{'c' * 32}']"
    assert server.sql(f"SELECT subconscious.replace_versions({project}, '{UID}', {both})", person="ben") == [(1,)]
    assert rows(server) == [(UID, "ann", True, None), (UID, "ben", False, None)]
    assert server.sql(f"SELECT subconscious.purge({project}, '{UID}')", person="ben") == [(1,)]
    ((text,),) = server.sql("SELECT string_agg(version::text, '') FROM subconscious.versions")
    assert "Cents" in text
    assert "Euros" not in text
    for statement in (
        f"SELECT subconscious.confirm({project}, '{UID}', '{DIGEST}', true)",
        f"SELECT subconscious.set_member({project}, 'mallory', 'author')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no maintainer"):
            server.sql(statement, person="ben")


def test_a_purged_memory_stays_purged(server: Postgres, project: int) -> None:
    inserted(server, project, "ben")
    server.sql(f"SELECT subconscious.purge({project}, '{UID}')", person="ben")
    for person in ("ben", "ann"):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="purged"):
            inserted(server, project, person, digest="d" * 32)
    ((left,),) = server.sql("SELECT count(*) FROM subconscious.versions WHERE version::text LIKE '%Cents%'")
    assert left == 0


def test_a_person_s_uses_of_a_day_count_once(server: Postgres, project: int) -> None:
    inserted(server, project, "ben")
    for person in ("ann", "ben", "ben", "cleo"):
        days = "ARRAY[current_date, current_date, current_date - 1, current_date - 400, current_date + 9]"
        uids = f"ARRAY['{UID}', '{UID}', '{UID}', '{UID}', '{UID}']"
        server.sql(f"SELECT subconscious.use({project}, {uids}, {days})", person=person)
    found = server.sql("SELECT people, uses FROM subconscious.memories", person="ann")
    assert found == [(3, 6)], "three people on two days each; none of long ago, and none of the future"


def test_a_project_keeps_a_maintainer(server: Postgres, project: int) -> None:
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="maintainer"):
        server.sql(f"SELECT subconscious.set_member({project}, 'ann', 'reader')", person="ann")
    with pytest.raises(psycopg.errors.UndefinedObject):
        server.sql(f"SELECT subconscious.set_member({project}, 'nobody', 'reader')", person="ann")


def test_a_person_shares_a_limited_number_a_day(server: Postgres, project: int) -> None:
    server.sql("ALTER TABLE subconscious.versions DISABLE TRIGGER USER")
    server.sql(
        "INSERT INTO subconscious.versions (project_id, uid, digest, change, author, shared_at, version)"
        f" SELECT {project}, md5(n::text), md5(n::text), n, 'ben', now(), jsonb_build_object('record',"
        " jsonb_build_object('uid', md5(n::text), 'memory', jsonb_build_object('content', 'x')))"
        " FROM generate_series(1, 5000) AS n"
    )
    server.sql("ALTER TABLE subconscious.versions ENABLE TRIGGER USER")
    with pytest.raises(psycopg.errors.ProgramLimitExceeded):
        inserted(server, project, "ben")
    inserted(server, project, "ann")


async def test_a_prepared_database_is_prepared_once(server: Postgres) -> None:
    assert await migrate(server.url(ADMIN), "") == []
    assert server.sql("SELECT max(version) FROM subconscious.migrations", person="ann") == [(newest(),)]
