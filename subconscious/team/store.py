"""The connection of this daemon to a team's store: opened when it is first needed, and closed with the daemon."""

from __future__ import annotations

import asyncio
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from subconscious import extras
from subconscious.app import App
from subconscious.domain.errors import SettingsError, TeamError
from subconscious.settings.config_file import is_open
from subconscious.store.team import queue
from subconscious.store.team.address import PASSWORD_FILE, Address, parse
from subconscious.store.team.queue import Joined
from subconscious.system.safe_files import is_missing, read_regular

if TYPE_CHECKING:
    from subconscious.store.team.connection import Server

EXTRA = "team"
LARGEST_PASSWORD = 4096


class TeamStore:
    """Opens and closes the connection to the team's store, if one is configured."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._server: Server | None = None
        self._opened_with: tuple[str, str] = ("", "")

    @property
    def address(self) -> Address | None:
        """The configured address; None without a team's store. Raises SettingsError."""
        store = self._app.config.current.store
        return parse(store) if store else None

    @property
    def in_use(self) -> Server | None:
        """The server, if it has been used since the daemon started."""
        return self._server

    async def server(self) -> Server:
        """Return the connection to the server, a new one if the address or the password has changed.

        Raises SettingsError if no team's store is configured or other users can read the password file, TeamError if
        the packages for the connection are missing.
        """
        address = self.address
        if address is None:
            raise SettingsError("no team's store is configured", "run `subconscious team join NAME --store ADDRESS`")
        password = await asyncio.to_thread(self._password)
        wanted = (self._app.config.current.store, password)
        if self._server is None or self._opened_with != wanted:
            if absence := await asyncio.to_thread(extras.ensure, EXTRA):
                raise TeamError(absence.message, absence.remedy)
            # psycopg is imported only now, so that users without a team's store don't load it.
            connection = await asyncio.to_thread(_imported)
            await self.close()
            self._server, self._opened_with = connection.Server(address, password), wanted
        return self._server

    def _password(self) -> str:
        """Return the password from the settings, the plugin's option or the file in the state folder."""
        if found := self._app.config.for_providers().store_key.get_secret_value():
            return found
        path = self._app.home.root / PASSWORD_FILE
        if is_missing(path):
            return ""
        if is_open(path):
            raise SettingsError(f"other users can read the password file {path}", f"chmod 600 {path}")
        return read_regular(path, LARGEST_PASSWORD, follow=False).decode("utf-8").strip("\r\n")

    async def joined(self, project_id: str) -> Joined | None:
        """Return how a project is connected to the configured server; None if the project is not connected."""
        address = self.address
        found = await queue.joined_as(self._app.database, project_id) if address else None
        return found if found and address and found.place == address.place else None

    async def close(self) -> None:
        """Close all connections."""
        server, self._server = self._server, None
        if server is not None:
            await server.close()


def _imported() -> ModuleType:
    return import_module("subconscious.store.team.connection")
