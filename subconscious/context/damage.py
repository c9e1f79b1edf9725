"""Known problems of the database, reported at session starts and by `status`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subconscious.settings.home import Home
from subconscious.store import backups, verification
from subconscious.store.presence import repair
from subconscious.system.safe_files import read_regular, replace_file
from subconscious.wire import LARGEST_NOTE


@dataclass
class Damage:
    """Problems of the database.

    ``setbacks`` were found when the daemon started: the database is older or smaller than its latest copy. ``problems``
    were found by the last verification.
    """

    setbacks: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def message(self, database: Path) -> str:
        """Return one line with the first problem and the command that repairs the database; "" without problems."""
        found = [*self.setbacks, *self.problems]
        more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
        return f"{database} may be damaged: {found[0]}{more}; {ADVICE}{repair(database)}" if found else ""


ADVICE = "`subconscious doctor` lists everything; to repair it: "


async def at_start(home: Home) -> Damage:
    """Compare the database with its latest copy, and load the findings of the last verification."""
    return Damage(await asyncio.to_thread(_setbacks, home.database), await asyncio.to_thread(_recalled, home))


def _setbacks(database: Path) -> list[str]:
    copies = backups.listing(database)  # without checksums: those of a large copy would delay the start
    return verification.is_behind(database, copies[0]) if copies else []


def _recalled(home: Home) -> list[str]:
    try:
        found = json.loads(read_regular(home.damage, LARGEST_NOTE))
    except (OSError, ValueError):
        return []
    return [str(one) for one in found] if isinstance(found, list) else []


async def note(home: Home, damage: Damage, problems: Sequence[str]) -> None:
    """Store a verification's problems in a file for the daemon's next start; delete the file if there are none."""
    damage.problems = list(problems)
    if not problems:
        damage.setbacks = []
    await asyncio.to_thread(_write, home, problems)


def _write(home: Home, problems: Sequence[str]) -> None:
    if not problems:
        home.damage.unlink(missing_ok=True)
        return
    replace_file(home.damage, json.dumps(list(problems)).encode())


def verify(database: Path) -> list[str]:
    """Verify the database and its copies in full, and return the problems found; slow."""
    found = verification.problems(database, backups.comparison_copy(database))
    changed = ", ".join(path.name for path in backups.altered_copies(database))
    return [*found, f"copies that have changed since they were made: {changed}"] if changed else found
