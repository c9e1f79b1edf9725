"""What a hostile member of a team tries with a client of their own; the server must refuse each.

Mallory may log in, and is an author in a project of their own. The rows of another project are what they want.
"""

from __future__ import annotations

import json
from collections import Counter

import psycopg

from tests.support.postgres import Postgres

MALLORY = "mallory"
SEEN = "SELECT count(*), coalesce(sum(hashtext(v::text)), 0) FROM subconscious.versions AS v WHERE project_id <> {own}"

READS = (
    "SELECT uid FROM subconscious.versions WHERE project_id = {other} LIMIT 9",
    "SELECT uid FROM subconscious.versions WHERE project_id = {other} OR true AND project_id <> {own} LIMIT 9",
    "SELECT uid FROM subconscious.memories WHERE project_id = {other} LIMIT 9",
    "SELECT person FROM subconscious.members WHERE project_id = {other} LIMIT 9",
    "SELECT about FROM subconscious.events WHERE project_id = {other} LIMIT 9",
    "SELECT name FROM subconscious.projects WHERE id = {other}",
    "SELECT uid FROM subconscious.search({other}, 'we', NULL, '', 9)",
    "SELECT uid FROM subconscious.search(NULL, 'we', NULL, '', 9)",
    "SELECT uid FROM subconscious.versions_0 LIMIT 9",
    "COPY subconscious.versions_0 TO STDOUT",
    "SELECT person FROM subconscious.uses LIMIT 9",
    "SET row_security = off; SELECT uid FROM subconscious.versions LIMIT 9",
    "SELECT most_common_vals FROM pg_stats WHERE schemaname = 'subconscious' AND attname = 'uid'",
    "SELECT pg_read_file('PG_VERSION')",
)
FORGERIES = (
    "INSERT INTO subconscious.versions (project_id, uid, digest, version)"
    " VALUES ({other}, '{uid}', '{digest}', '{row}')",
    "INSERT INTO subconscious.versions (project_id, uid, digest, version, author)"
    " VALUES ({own}, '{uid}', '{digest}', '{row}', 'person00')",
    "INSERT INTO subconscious.versions (project_id, uid, digest, version, confirmed_by)"
    " VALUES ({own}, '{uid}', '{digest}', '{row}', 'person00')",
    "INSERT INTO subconscious.members VALUES ({other}, 'mallory', 'maintainer', 'person00')",
    "INSERT INTO subconscious.events (project_id, person, act) VALUES ({other}, 'person00', 'confirm')",
    "UPDATE subconscious.versions SET author = 'mallory'",
    "DELETE FROM subconscious.versions",
    "SELECT subconscious.set_member({other}, 'mallory', 'maintainer')",
    "SELECT subconscious.confirm({other}, '{uid}', '{digest}', true)",
    "SELECT subconscious.replace_versions({other}, '{uid}', ARRAY['{digest}'])",
    "SELECT subconscious.purge({other}, '{uid}')",
    "SELECT subconscious.use({other}, ARRAY['{uid}'], ARRAY[current_date])",
    "SELECT subconscious.note({other}, 'confirm', 'x', 'y')",
    "SET ROLE person00",
    "SET SESSION AUTHORIZATION person00",
    "SET ROLE subconscious_functions",
    "GRANT person00 TO mallory",
    "ALTER TABLE subconscious.versions DISABLE ROW LEVEL SECURITY",
    "CREATE FUNCTION subconscious.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
)
INJECTIONS = (
    "x'); DROP TABLE subconscious.versions CASCADE; --",
    "' OR project_id <> 0 --",
    "x' UNION SELECT uid FROM subconscious.versions --",
    "a & b | !c:* <-> \\'",
    "$$; SELECT 1; $$",
)


def _row(uid: str, **changes: object) -> str:
    return json.dumps({"record": {"uid": uid, "memory": {"content": "Amounts are floats.", **changes}}})


def _refused(server: Postgres, statement: str, values: tuple[object, ...] = ()) -> bool:
    """Whether the server refuses a statement, or answers with nothing."""
    try:
        with psycopg.connect(server.url(MALLORY), autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            while cursor.nextset():
                pass
            return cursor.description is not None and not cursor.fetchall()
    except psycopg.Error:
        return True


def _oversized(uid: str) -> tuple[str, ...]:
    return (
        _row(uid, content="x" * 8001),
        _row(uid, padding="x" * 70_000),
        _row(uid, content=""),
        _row(uid, content=7),
        _row("f" * 32),
        "[" * 20_000 + "]" * 20_000,
    )


def attack(server: Postgres, other: int) -> tuple[dict[str, str], bool]:
    """Try everything; return "refused of tried" by sort, and whether the rows of others are as they were."""
    ((own,),) = server.sql("SELECT subconscious.create_project('mallorys')", person=MALLORY)
    ((uid, digest),) = server.sql(f"SELECT uid, digest FROM subconscious.versions WHERE project_id = {other} LIMIT 1")
    named = {"own": own, "other": other, "uid": uid, "digest": digest, "row": _row(uid)}
    before = server.sql(SEEN.format(own=own))
    tried: Counter[str] = Counter()
    refused: Counter[str] = Counter()

    def attempt(sort: str, statement: str, values: tuple[object, ...] = ()) -> None:
        tried[sort] += 1
        refused[sort] += _refused(server, statement, values)

    for statement in READS:
        attempt("another project's rows", statement.format(**named))
    for statement in FORGERIES:
        attempt("forged authors, marks and roles", statement.format(**named))
    for text in INJECTIONS:
        attempt("injections", "SELECT uid FROM subconscious.search(%s, %s, NULL, '', 9)", (own, text))
        attempt("injections", "SELECT uid FROM subconscious.search(%s, %s, NULL, '', 9)", (other, text))
    insert = "INSERT INTO subconscious.versions (project_id, uid, digest, version) VALUES (%s, %s, %s, %s)"
    for row in _oversized("e" * 32):
        attempt("rows of another size or form", insert, (own, "e" * 32, "d" * 32, row))
    unchanged = server.sql(SEEN.format(own=own)) == before
    return {sort: f"{refused[sort]} of {tried[sort]}" for sort in tried}, unchanged
