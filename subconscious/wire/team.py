"""Results of the requests about a team's store, as they are sent over the socket."""

from __future__ import annotations

from typing import TypedDict

from subconscious.wire.files import HeldMemory, ReceivedVersion


class TeamMember(TypedDict):
    """A person's role in a project of a team's store."""

    person: str
    role: str


class TeamRefusal(TypedDict):
    """A change to a memory that the server refused, and why."""

    act: str
    uid: str
    reason: str


class TeamResult(TypedDict):
    """Response to the requests ``team``, ``team_join``, ``team_leave``, ``team_confirm`` and ``team_member``.

    ``store`` is the address without a password, "" if none is configured. ``name``, ``person`` and ``role`` are "" if
    this project is not connected. ``waiting`` counts changes to send, ``received`` versions of others that are stored
    here. ``trouble`` says why the last attempt to reach the server failed, ``remedy`` what to do.
    """

    store: str
    name: str
    person: str
    role: str
    waiting: int
    received: int
    synced_at: float | None
    trouble: str
    remedy: str
    refused: list[TeamRefusal]
    projects: list[str]
    members: list[TeamMember]


class TeamSyncResult(TypedDict):
    """Response to the request ``team_sync``."""

    sent: int
    held: list[HeldMemory]
    refused: list[str]
    received: list[ReceivedVersion]
    broken: int


class TeamSetupResult(TypedDict):
    """Response to the request ``team_setup``: the version numbers of the migrations that were applied to the server."""

    applied: list[int]
