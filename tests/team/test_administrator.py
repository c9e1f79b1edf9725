"""Setup by an administrator who is no superuser, as on managed servers, where nobody is one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import psycopg
import pytest

from subconscious.domain.errors import TeamError
from subconscious.store.migrate import Migration
from subconscious.store.team import migrate as module
from subconscious.store.team.migrate import migrate, migrations, newest
from tests.support import postgres
from tests.support.postgres import ADMIN, Postgres
from tests.team.conftest import People

BOSS = "The-Boss"  # a name that SQL must quote
NUMBERS = itertools.count(1)

MEMBERSHIPS = (
    "SELECT roleid::regrole::text, grantor::regrole::text, admin_option, inherit_option, set_option"
    f" FROM pg_auth_members WHERE member = '\"{BOSS}\"'::regrole ORDER BY 1, 2"
)
PRIVILEGES = """
SELECT 'schema', nspname::text, nspowner::regrole::text, nspacl::text, '', ''
    FROM pg_namespace WHERE nspname = 'subconscious'
UNION ALL SELECT 'table', c.oid::regclass::text, relowner::regrole::text, relacl::text,
    format('%s %s %s', relkind, relrowsecurity, relforcerowsecurity),
    (SELECT string_agg(attname || attacl::text, ' ' ORDER BY attname) FROM pg_attribute
        WHERE attrelid = c.oid AND attacl IS NOT NULL)
    FROM pg_class AS c WHERE relnamespace = 'subconscious'::regnamespace
UNION ALL SELECT 'function', p.oid::regprocedure::text, proowner::regrole::text, proacl::text,
    prosecdef::text, proconfig::text
    FROM pg_proc AS p WHERE pronamespace = 'subconscious'::regnamespace
UNION ALL SELECT 'policy', polrelid::regclass::text || '.' || polname, polcmd::text, polroles::regrole[]::text,
    pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)
    FROM pg_policy
UNION ALL SELECT 'role', rolname, rolcanlogin::text, rolsuper::text, rolbypassrls::text, rolcreaterole::text
    FROM pg_roles WHERE rolname LIKE 'subconscious%'
ORDER BY 1, 2
"""


@pytest.fixture(scope="module")
def managed() -> Iterator[Postgres]:
    """A server on which no superuser has prepared anything, with an administrator who is none."""
    if why := postgres.unavailable():
        pytest.skip(why)
    with postgres.server(migrated=False) as made:
        for name in (BOSS, "other"):
            made.sql(f'CREATE ROLE "{name}" LOGIN CREATEROLE CREATEDB')
        yield made


@pytest.fixture
def server(managed: Postgres) -> Iterator[Postgres]:
    """The server with a database that belongs to the administrator and has pgvector; its roles go with the test."""
    with_database(managed, BOSS)
    managed.sql("CREATE EXTENSION vector")
    yield managed
    for name in (managed.database, "second"):
        managed.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", database="postgres")
    kept = f"'{ADMIN}', '{BOSS}', 'other'"
    made = f"SELECT rolname FROM pg_roles WHERE rolname NOT LIKE 'pg\\_%' AND rolname NOT IN ({kept})"
    for (name,) in managed.sql(made, database="postgres"):
        managed.sql(f'DROP ROLE "{name}"', database="postgres")


def with_database(managed: Postgres, owner: str) -> None:
    managed.database = f"managed_{next(NUMBERS)}"
    managed.sql(f'CREATE DATABASE {managed.database} OWNER "{owner}"', database="postgres")


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> Migration:
    """The program with one more migration, which changes a table and a function as their owners."""
    added = Migration(
        newest() + 1,
        "next",
        "SET LOCAL ROLE subconscious_owner; ALTER TABLE subconscious.projects ADD note text; RESET ROLE;"
        "SET LOCAL ROLE subconscious_functions;"
        "ALTER FUNCTION subconscious.search SET hnsw.ef_search = '50'; RESET ROLE;",
    )
    known = [*migrations(), added]
    monkeypatch.setattr(module, "migrations", lambda: known)
    return added


async def test_a_team_works_without_a_superuser(server: Postgres, people: People) -> None:
    ann, ben = [await people.person(name, server.url(name)) for name in ("ann", "ben")]
    assert (await ann.ask("team_setup", store=server.url(BOSS)))["applied"] == [one.version for one in migrations()]
    for person in (ann, ben):
        server.sql(f"CREATE ROLE {person.name} LOGIN IN ROLE subconscious_member", person=BOSS)
    await ann.ask("team_join", name="shop", create=True)
    await ann.ask("team_member", person="ben", role="author")
    await ben.ask("team_join", name="shop")
    await ann.share("Amounts are kept in integer cents.")
    assert (await ann.sync()).sent == 1
    (hit,) = await ben.search("how are amounts kept?")
    assert (hit["content"], hit["by"]) == ("Amounts are kept in integer cents.", "ann")
    assert len((await ben.sync()).received) == 1
    assert (await ann.ask("team_setup", store=server.url(BOSS)))["applied"] == []


async def test_the_administrator_keeps_no_membership(server: Postgres) -> None:
    before = server.sql(MEMBERSHIPS)
    assert before == []
    await migrate(server.url(BOSS), "")
    created = [
        (role, ADMIN, True, False, False)  # what the server gives to the creator of a role
        for role in ("subconscious_functions", "subconscious_member", "subconscious_owner")
    ]
    assert server.sql(MEMBERSHIPS) == created
    await migrate(server.url(BOSS), "")
    assert server.sql(MEMBERSHIPS) == created
    for refused in ("SELECT * FROM subconscious.versions", "SET ROLE subconscious_owner"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            server.sql(refused, person=BOSS)


async def test_a_setting_that_keeps_memberships_keeps_none_of_these(server: Postgres) -> None:
    server.sql(f"ALTER ROLE \"{BOSS}\" SET createrole_self_grant = 'set, inherit'")
    try:
        await migrate(server.url(BOSS), "")
        assert {grantor for _role, grantor, *_options in server.sql(MEMBERSHIPS)} == {ADMIN}
    finally:
        server.sql(f'ALTER ROLE "{BOSS}" RESET createrole_self_grant')


async def test_the_store_is_that_of_a_superuser(server: Postgres) -> None:
    await migrate(server.url(BOSS), "")
    found = server.sql(PRIVILEGES)
    server.sql("CREATE DATABASE second", database="postgres")
    await migrate(server.url(ADMIN, database="second"), "")
    assert server.sql(PRIVILEGES, database="second") == found
    assert len(found) > 40


async def test_an_upgrade_and_a_second_database(server: Postgres, next_version: Migration) -> None:
    assert await migrate(server.url(BOSS), "") == list(range(1, next_version.version + 1))
    server.sql("CREATE DATABASE second", database="postgres", person=BOSS)
    server.sql("CREATE EXTENSION vector", database="second")
    assert await migrate(server.url(BOSS, database="second"), "") == list(range(1, next_version.version + 1))


async def test_a_superuser_s_store_is_upgraded_with_the_admin_option(
    server: Postgres, monkeypatch: pytest.MonkeyPatch, next_version: Migration
) -> None:
    with monkeypatch.context() as before:
        before.setattr(module, "migrations", migrations)
        await migrate(server.url(ADMIN), "")
    with pytest.raises(TeamError, match="which another administrator created") as refused:
        await migrate(server.url(BOSS), "")
    server.sql(remedy_of(refused.value))
    before_upgrade = server.sql(MEMBERSHIPS)
    assert await migrate(server.url(BOSS), "") == [next_version.version]
    assert server.sql(MEMBERSHIPS) == before_upgrade


async def test_roles_of_another_administrator_are_not_taken(server: Postgres) -> None:
    server.sql("CREATE ROLE subconscious_owner", person="other")
    with pytest.raises(TeamError, match="which another administrator created"):
        await migrate(server.url(BOSS), "")
    assert server.sql("SELECT FROM pg_namespace WHERE nspname = 'subconscious'") == []


async def test_a_role_that_may_create_no_roles_is_told_so(server: Postgres) -> None:
    server.sql(f"CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE {server.database} TO plain")
    with pytest.raises(TeamError, match="plain may not create roles") as refused:
        await migrate(server.url("plain"), "")
    server.sql(remedy_of(refused.value))
    assert await migrate(server.url("plain"), "") == [one.version for one in migrations()]


async def test_without_the_extension_the_error_says_what_to_do(server: Postgres) -> None:
    server.sql("DROP EXTENSION vector")
    with pytest.raises(TeamError, match='permission denied to create extension "vector"') as refused:
        await migrate(server.url(BOSS), "")
    assert f"in the database {server.database}: CREATE EXTENSION vector SCHEMA public" in refused.value.remedy
    assert server.sql("SELECT FROM pg_roles WHERE rolname LIKE 'subconscious%'") == [], "nothing was changed"
    server.sql(remedy_of(refused.value))
    assert await migrate(server.url(BOSS), "") == [one.version for one in migrations()]


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        ("CREATE SCHEMA elsewhere; ALTER EXTENSION vector SET SCHEMA elsewhere", "in the schema elsewhere"),
        ("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'", "version 0.7.4"),
    ],
)
async def test_an_extension_that_can_t_be_used_is_named(server: Postgres, spoiled: str, message: str) -> None:
    server.sql(spoiled)
    with pytest.raises(TeamError, match=message) as refused:
        await migrate(server.url(BOSS), "")
    assert "ALTER EXTENSION vector" in remedy_of(refused.value)


def remedy_of(error: TeamError) -> str:
    """Return the SQL that an error advises."""
    _, _, advice = error.remedy.partition(": ")
    return advice.partition("; then")[0]
