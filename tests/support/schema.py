"""The schema that all migrations together make, as readable SQL.

``python -m tests.support.schema`` writes migrations/schema.sql, for people to read; a test holds the file equal.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from subconscious.store.connect import Database, open_database
from subconscious.store.migrate import migrate

FILE = Path(__file__).parents[2] / "migrations" / "schema.sql"
HEAD = "-- The schema after all migrations, for reading. Written by `python -m tests.support.schema`.\n"

# Shadow tables belong to their virtual table, and differ between versions of SQLite.
OBJECTS = """
    SELECT sql FROM sqlite_master AS made
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
      AND NOT EXISTS (SELECT 1 FROM pragma_table_list AS t WHERE t.name = made.name AND t.type = 'shadow')
    ORDER BY tbl_name, CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, name
"""


async def schema(database: Database) -> str:
    """Return every table, index, trigger and view of a migrated database, by table."""
    return HEAD + "".join(f"\n{sql.strip()};\n" for (sql,) in await database.rows(OBJECTS))


async def _write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = await open_database(Path(folder) / "memory.db")
        await migrate(database)
        FILE.write_text(await schema(database), encoding="utf-8")
        await database.close()


if __name__ == "__main__":
    asyncio.run(_write())
