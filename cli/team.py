"""``subconscious team``: exchanges memories with a team through a PostgreSQL database, the team's store."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from getpass import getpass
from typing import TYPE_CHECKING

from subconscious.domain.errors import RequestError
from subconscious.settings.config_file import write_settings
from subconscious.system.safe_files import replace_file

from . import screen
from .ask import ask, here, home
from .confirmation import agreed
from .origin import require_person

if TYPE_CHECKING:
    from subconscious.wire.team import TeamResult

PATIENCE = 600.0
"""Seconds to wait for a request that may install PostgreSQL's client first."""

PASSWORD_FILE = "store.password"  # noqa: S105 - the name of a file

OUTCOMES = {
    "unconfirmed": "unconfirmed (subconscious review --status unconfirmed)",
    "stored": "stored, as confirmed by a maintainer",
    "waits": "to review (subconscious review)",
    "quarantined": "in quarantine (subconscious review --status quarantined)",
    "refused": "refused",
}


def status(options: Namespace) -> int:
    """Show which of the team's projects this project is connected to, what waits to be sent, and the members."""
    found = ask("team", PATIENCE, cwd=here(), check=True)
    _show(found, options)
    return 1 if found["trouble"] else 0


def join(options: Namespace) -> int:
    """Connect this project with a project in the team's store; if an address is given, configure it first."""
    require_person("join a team's store")
    if options.store and not _configure(options):
        return 1
    values = {"name": options.name, "create": options.create or None, "store": options.store}
    found = ask("team_join", PATIENCE, cwd=here(), origin="user", **values)
    if not options.json:
        shared = len(ask("shared", cwd=here())["memories"])
        print(f"Joined {screen.line(found['name'])} as {screen.line(found['person'])} ({found['role']}).")
        print(
            f"{screen.counted(shared, 'memory', 'memories')} that this project shares "
            f"{'is' if shared == 1 else 'are'} being sent. To list them: subconscious share"
        )
        print("What others share is stored as unconfirmed. To review it first: subconscious trust --remove team:*")
        return 0
    screen.as_json(found)
    return 0


def _configure(options: Namespace) -> bool:
    """Write the address into config.toml and the password into a separate file; return False if the user declines."""
    if not agreed(options, f"Use {screen.line(options.store)} as the team's store?"):
        return False
    password = getpass("Password (empty for none): ") if not options.yes else ""
    home().make()
    if password:
        replace_file(home().root / PASSWORD_FILE, password.encode())
    write_settings(home().root / "config.toml", {"store": options.store})
    return True


def leave(options: Namespace) -> int:
    """Stop exchanging this project's memories."""
    require_person("leave a team's store")
    found = ask("team_leave", cwd=here(), origin="user")
    if options.json:
        screen.as_json(found)
    else:
        print(
            "This project no longer exchanges memories. What it shared is still on the server. To remove it there:"
            " join again, then unshare or purge it, then run `subconscious team sync`, and only then leave."
        )
    return 0


def sync(options: Namespace) -> int:
    """Send this project's changes to the team's store, and receive the changes of others, now."""
    require_person("exchange memories with a team")
    done = ask("team_sync", PATIENCE, cwd=here(), origin="user")
    if options.json:
        screen.as_json(done)
        return 0
    print(f"{screen.counted(done['sent'], 'change')} sent.")
    for row in done["held"]:
        print(screen.wrapped(screen.line(f"memory {row['id']} was not sent: {row['reason']}"), 2))
    for reason in done["refused"]:
        print(screen.wrapped(screen.line(f"refused by the server: {reason}"), 2))
    counted = Counter(row["became"] for row in done["received"])
    for became, meaning in OUTCOMES.items():
        if counted[became]:
            print(f"{screen.counted(counted[became], 'version')} {meaning}")
    if done["broken"]:
        print(screen.paint(f"{screen.counted(done['broken'], 'row')} of the server left out as invalid", "yellow"))
    return 0


def confirm(options: Namespace) -> int:
    """Confirm memories for the whole team, as a maintainer."""
    require_person("confirm memories for a team")
    found = ask("team_confirm", cwd=here(), ids=options.ids, back=options.back or None, origin="user")
    if options.json:
        screen.as_json(found)
    else:
        print(f"{screen.counted(found['waiting'], 'change')} to send: subconscious team sync")
    return 0


def member(options: Namespace) -> int:
    """If a person is named, give that person a role; then list the members of this project."""
    if options.person:
        require_person("change who is in a team")
        if not options.role:
            raise RequestError(
                "no role was given", "add a role (reader, author or maintainer), or none to remove the person"
            )
    found = ask("team_member", PATIENCE, cwd=here(), person=options.person or None, role=options.role, origin="user")
    if options.json:
        screen.as_json(found)
        return 0
    for one in found["members"]:
        print(f"{screen.line(one['person'])}  {one['role']}")
    return 0


def setup(options: Namespace) -> int:
    """Prepare a database for teams, as its administrator."""
    require_person("prepare a database")
    password = os.environ.pop("PGPASSWORD", "") or getpass("Password of the administrator (empty for none): ")
    done = ask("team_setup", PATIENCE, cwd=here(), store=options.store, password=password, origin="user")
    if options.json:
        screen.as_json(done)
        return 0
    applied = done["applied"]
    print(f"Prepared: migrations {', '.join(map(str, applied))}." if applied else "The database is up to date.")
    return 0


def _show(found: TeamResult, options: Namespace) -> None:
    if options.json:
        screen.as_json(found)
        return
    if not found["store"]:
        print("No team's store is configured: subconscious team join NAME --store postgresql://YOU@HOST/DATABASE")
        return
    synced = screen.when(found["synced_at"]) if found["synced_at"] else "never"
    screen.fields(
        (
            ("store", screen.line(found["store"])),
            ("project", screen.line(found["name"]) or "none yet; to connect with one: subconscious team join NAME"),
            ("you", screen.line(f"{found['person']}, {found['role']}") if found["person"] else ""),
            ("last exchange", synced if found["name"] else ""),
            ("to send", str(found["waiting"]) if found["name"] else ""),
            ("received", str(found["received"]) if found["name"] else ""),
            ("members", screen.line(", ".join(f"{one['person']} ({one['role']})" for one in found["members"]))),
            ("projects in it", "" if found["name"] else screen.line(", ".join(found["projects"]))),
        )
    )
    for one in found["refused"]:
        print(screen.wrapped(screen.line(f"refused ({one['act']} {one['uid']}): {one['reason']}"), 2))
    if found["trouble"]:
        print(screen.paint(screen.wrapped(screen.line(found["trouble"])), "yellow"))
        print(f"  {screen.line(found['remedy'])}")
