"""The commands of docs/team.md, as a person types them in a terminal, with daemons of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from subconscious import wire
from subconscious.domain.errors import SubconsciousError
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.postgres import Postgres
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.daemon, pytest.mark.timeout(600)]


class Shell:
    """A person with a folder for the project, who types commands."""

    def __init__(self, name: str, place: Path, server: Postgres) -> None:
        self.project = place / name / "shop"
        self.home = Home(place / name / "state")
        self.store = server.url(name)
        self.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)

    def __call__(self, *words: str, code: int = 0, answer: str = "") -> str:
        """Run a command; return what it shows, in one line."""
        command = [sys.executable, "-m", "cli", *words]
        with Terminal(command, terminal.environment(self.home), self.project) as window:
            if answer:
                window.await_text("Type yes: ")
                window.press(f"{answer}\n")
            done = window.end(120)
            shown = " ".join(window.shown.split())
        assert done == code, shown
        return shown

    def close(self) -> None:
        """Stop the daemon."""
        try:
            wire.call(self.home, "stop")
        except SubconsciousError:
            return
        wire.await_absence(self.home, 60)


@pytest.fixture
def people(tmp_path: Path, server: Postgres) -> Iterator[tuple[Shell, Shell]]:
    """Ann and Ben, who have installed it and used nothing of it."""
    both = Shell("ann", tmp_path, server), Shell("ben", tmp_path, server)
    for one in both:
        wire.ensure_daemon(one.home, 120)  # longer than a command waits: the machine may be busy
    yield both
    for one in both:
        one.close()


def test_a_team_shares_confirms_undoes_and_purges(people: tuple[Shell, Shell], server: Postgres) -> None:
    ann, ben = people
    assert "No team's store is configured" in ann("team")
    ann("remember", "Amounts are kept in integer cents, because floats lost a cent.")
    assert "To exchange them: subconscious sync" in ann("share", "1")
    said = ann("team", "join", "shop", "--create", "--store", ann.store, "--yes")
    assert "Joined shop as ann (maintainer). 1 memory that this project shares is being sent." in said
    assert "not a member of a project shop" in ben("team", "join", "shop", "--store", ben.store, "--yes", code=1)
    assert "ben author" in ann("team", "member", "ben", "author")
    assert "Joined shop as ben (author)." in ben("team", "join", "shop", "--store", ben.store, "--yes")
    ann("remember", "Deploys happen on Mondays at nine.")
    assert "They will soon be sent to shop in the team's store" in ann("share", "2")
    ann("team", "sync")
    state = ann("team")
    assert "you ann, maintainer" in state
    assert "to send 0" in state
    ben("team", "sync")
    assert "received 2" in ben("team")
    assert "by ann" in ben("search", "how are amounts kept?")
    ann("team", "confirm", "1")
    ann("team", "sync")
    ben("team", "sync")
    assert "integer cents" in ben("list")
    ann("unshare", "2")
    ann("team", "sync")
    said = ann("purge", "1", "--yes")
    assert "1 of these memories is shared on the team's server. The server erases their text when you next run" in said
    ann("team", "sync")
    ((left,),) = server.sql("SELECT string_agg(v::text, ' ') FROM subconscious.versions AS v")
    assert "cents" not in left
    assert "so they stay on the server" in ann("purge", "--all", code=1, answer="no")
    ann("team", "member", "ben", "none")
    assert "is not a member of shop" in ben("team", "sync", code=1)
    assert "no longer exchanges memories" in ben("team", "leave")
