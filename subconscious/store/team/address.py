"""The address of a team's store: parsed strictly, without a password, and with TLS unless the server is local.

libpq reads many settings from an address, from environment variables and from files (another host, a password file, a
service). So only the few options below are accepted, and all settings that decide which server is contacted are set
explicitly.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from subconscious.domain.errors import SettingsError

EXAMPLE = "postgresql://ann@db.example.org/team"
SCHEMES = ("postgresql", "postgres")
OPTIONS = frozenset({"host", "sslrootcert", "sslmode"})
CONNECT_SECONDS = 5
STATEMENT_MS = 10_000

PASSWORD_FILE = "store.password"  # noqa: S105 - the name of a file
"""The name of the file in the state folder that contains the password, if no setting or plugin option does."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a team's store: server, database, and the role that logs in."""

    host: str
    """A host name, an IP address, or the folder of a Unix socket."""
    port: int
    database: str
    user: str
    root_certificate: str = ""

    @property
    def is_local(self) -> bool:
        """Whether the connection stays on this machine, so that it needs no TLS."""
        if self.host.startswith("/") or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def shown(self) -> str:
        """The address as it is shown to people."""
        return f"{self.user}@{self.host}:{self.port}/{self.database}"

    @property
    def place(self) -> str:
        """The server and the database, without the role that logs in."""
        return f"{self.host}:{self.port}/{self.database}"

    def parameters(self, password: str) -> dict[str, str]:
        """Return the parameters for libpq."""
        found = {
            "host": self.host,
            "port": str(self.port),
            "dbname": self.database,
            "user": self.user,
            "application_name": "subconscious",
            "connect_timeout": str(CONNECT_SECONDS),
            "gssencmode": "disable",
            "channel_binding": "prefer",
            "options": f"-c statement_timeout={STATEMENT_MS} -c lock_timeout=5000"
            " -c idle_in_transaction_session_timeout=15000 -c search_path=pg_catalog,public",
            "tcp_user_timeout": "10000",
            "keepalives_idle": "30",
            "client_encoding": "UTF8",
            "target_session_attrs": "read-write",
        }
        if self.is_local:
            # A server on this machine may recognise the user by the socket (peer), and may not support TLS.
            found |= {"sslmode": "prefer", "require_auth": "scram-sha-256,none"}
        else:
            found |= {"sslmode": "verify-full", "sslrootcert": self.root_certificate or "system"}
            found |= {"require_auth": "scram-sha-256", "sslcertmode": "disable"}
        # Always set both, so that libpq takes no password from an environment variable or a password file.
        return found | {"password": password, "passfile": "/nonexistent/pgpass"}


def parse(text: str) -> Address:
    """Return the address that a setting contains.

    Raises SettingsError if the address is not valid; the message says what to write instead.
    """
    try:
        parts = urlsplit(text)
        port = parts.port or 5432
        options = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError as error:
        raise _wrong("it is not an address") from error
    if parts.scheme not in SCHEMES:
        raise _wrong("it does not start with postgresql://")
    if parts.password is not None:
        raise SettingsError(
            "the address of the team's store contains a password",
            f"remove it there, and write it into ~/.subconscious/{PASSWORD_FILE} (mode 0600) or into `store_key`",
        )
    if unknown := sorted(options.keys() - OPTIONS):
        raise _wrong(f"the option {unknown[0][:40]} is not allowed in it")
    if options.get("sslmode", "verify-full") != "verify-full":
        raise _wrong("sslmode can only be verify-full")
    found = Address(
        host=_host(options.get("host") or parts.hostname or "", parts.hostname),
        port=port,
        database=unquote(parts.path.removeprefix("/")),
        user=unquote(parts.username or ""),
        root_certificate=_certificate(options.get("sslrootcert", "")),
    )
    if not found.user:
        raise _wrong("it contains no user name")
    if not found.database:
        raise _wrong("it names no database")
    if any(not one.isprintable() for one in (found.host, found.database, found.user)):
        raise _wrong("it has control characters")
    return found


def _host(host: str, named: str | None) -> str:
    if not host:
        raise _wrong("it names no server")
    if named and host != named:
        raise _wrong("it names two servers")
    if "," in host:
        raise _wrong("it names several servers")
    if not named and not host.startswith("/"):
        raise _wrong("host= may only name the folder of a socket")
    return host


def _certificate(path: str) -> str:
    if path and path != "system" and not Path(path).is_absolute():
        raise _wrong("sslrootcert needs the full path of a file")
    return path


def _wrong(why: str) -> SettingsError:
    return SettingsError(f"the setting 'store' can't be used: {why}", f'write it as store = "{EXAMPLE}"')
