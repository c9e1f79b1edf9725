"""Loads the redaction policy from the settings, and writes the log of redactions."""

from __future__ import annotations

import asyncio
import secrets

from subconscious.domain.errors import DaemonError
from subconscious.redaction import KnownSecrets, Policy, ledger, policy
from subconscious.redaction.ledger import Entry
from subconscious.settings.home import Home
from subconscious.settings.settings import Settings
from subconscious.store import redactions
from subconscious.store.connect import Database
from subconscious.store.redactions import Finding
from subconscious.system.safe_files import NotRegularError, TooLargeError, is_missing, read_regular, replace_file

KEY_BYTES = 32
LONGEST_KEY = 4096


async def load_policy(home: Home, database: Database, settings: Settings) -> None:
    """Redact every text from now on according to these settings and the exceptions that a person allowed."""
    strategies = {sort: str(getattr(settings, f"redact_{sort}")) for sort in (policy.SECRETS, *policy.PERSONAL)}
    key = await asyncio.to_thread(_key, home)
    known = policy.in_use().known if policy.in_use().key == key else KnownSecrets()
    known.load(await redactions.hashes(database))
    policy.use(Policy(strategies, key, await redactions.allowed(database), known))


def _key(home: Home) -> bytes:
    """Return the key that salts the hashes. It is not in the database, so that a copy of the database reveals nothing."""
    path = home.root / "redaction.key"
    if is_missing(path):
        replace_file(path, secrets.token_hex(KEY_BYTES).encode())
    try:
        return read_regular(path, LONGEST_KEY).strip()
    except (NotRegularError, TooLargeError) as error:
        raise DaemonError(
            f"{path} can't be used as the redaction key: {error.strerror}",
            f"move {path} away: the daemon then makes a new key, but forgets the hashes of known secrets and of the"
            " values that you excluded with `subconscious redactions allow`",
        ) from error


async def record_findings(database: Database, most: int) -> None:
    """Write the findings since the last call to the log of redactions, which keeps at most ``most`` findings."""
    if entries := ledger.take():
        found = [_finding(entry) for entry in entries]
        async with database.write() as tx:
            await redactions.record(tx, found, most)
            if policy.in_use().known.pop_changed():
                # The value may have been stored before it was recognised as a secret: scan stored data again.
                await redactions.save_state(tx, {})


def _finding(entry: Entry) -> Finding:
    find = entry.find
    return Finding(entry.at, entry.place, find.kind, find.sort, find.strategy, find.hash, find.length)
