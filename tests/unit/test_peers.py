"""Whose process it is, told from a /proc of the test's own making."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from subconscious.authorship import peers, stream_ends

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PTS = 136 << 8
MARK = "CLAUDECODE=1"


class Machine:
    """Processes, each a folder as /proc has them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def process(
        self,
        pid: int,
        parent: int,
        command: str,
        *environment: str,
        session: int = 0,
        terminal: int = 0,
        started: int | None = None,
        state: str = "S",
        hidden: bool = False,
        pipes: tuple[int, ...] = (),
    ) -> int:
        folder = self.root / str(pid)
        (folder / "ns").mkdir(parents=True)
        (folder / "ns" / "mnt").symlink_to("mnt:[1]")
        words = command.split()
        name = Path(words[0]).name
        born = pid if started is None else started
        status = f"{pid} ({name}) {state} {parent} {pid} {session or pid} {terminal} -1{' 0' * 13} {born} 0"
        (folder / "stat").write_text(status)
        (folder / "comm").write_text(f"{name}\n")
        (folder / "cmdline").write_text("\0".join(words) + "\0")
        if not hidden:
            (folder / "environ").write_text("\0".join(["HOME=/home/dev", *environment]) + "\0")
        for kind in ("fd", "fdinfo"):
            (folder / kind).mkdir()
        for number, pipe in enumerate(pipes):
            (folder / "fd" / str(number)).symlink_to(f"pipe:[{pipe}]")
        return pid


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(peers, "PROC", tmp_path)
    return Machine(tmp_path)


def shell(machine: Machine, parent: int, *environment: str, pts: int = 3) -> int:
    """A shell on a terminal, and the command that a person types into it."""
    machine.process(50, parent, "-zsh", *environment, session=50, terminal=PTS + pts)
    return machine.process(60, 50, "python subconscious review", *environment, session=50, terminal=PTS + pts)


def test_a_window_of_the_desktop_is_a_persons(machine: Machine) -> None:
    machine.process(10, 1, "systemd --user")
    machine.process(20, 10, "gnome-terminal-server")
    assert peers.doubt_of_person(shell(machine, 20)) == ""


def test_a_terminal_over_ssh_is_a_persons(machine: Machine) -> None:
    machine.process(10, 1, "sshd:", hidden=True)
    machine.process(20, 10, "sshd: dev@pts/3", hidden=True)
    assert peers.doubt_of_person(shell(machine, 20)) == ""


def client_elsewhere(machine: Machine, started: int, *environment: str, name: str = "claude") -> None:
    machine.process(30, 1, "-zsh", session=30, terminal=PTS + 4, started=1)
    machine.process(31, 30, name, *environment, session=30, terminal=PTS + 4, started=started)


def test_a_terminal_that_is_older_than_every_client_is_a_persons(machine: Machine) -> None:
    machine.process(20, 1, "tmux new")
    client_elsewhere(machine, started=55)
    assert peers.doubt_of_person(shell(machine, 20)) == ""


@pytest.mark.parametrize("opener", [("script -qec review", 1), ("tmux new -d", 1), ("gnome-terminal-server", 10)])
def test_a_terminal_that_was_opened_while_a_client_runs_needs_more(machine: Machine, opener: tuple[str, int]) -> None:
    """Nothing but the time tells a person's new window from one that a detached command opened."""
    machine.process(20, opener[1], opener[0], started=45)
    client_elsewhere(machine, started=40)
    assert "while Claude Code was running" in peers.doubt_of_person(shell(machine, 20))
    assert peers.doubt_of_person(60, at_terminal=False) == ""


def test_clients_that_use_another_state_folder_opened_no_terminal(machine: Machine) -> None:
    client_elsewhere(machine, 40, "SUBCONSCIOUS_HOME=/elsewhere")
    pid = shell(machine, 1)
    assert peers.doubt_of_person(pid, root=Path("/home/dev/.subconscious")) == ""
    assert "the terminal was opened" in peers.doubt_of_person(pid, root=Path("/elsewhere"))
    assert "the terminal was opened" in peers.doubt_of_person(pid)


def test_a_client_that_has_ended_opened_no_terminal(machine: Machine) -> None:
    machine.process(31, 1, "claude", started=40, state="Z")
    assert peers.doubt_of_person(shell(machine, 1)) == ""


def test_a_client_that_is_about_to_end_opened_no_terminal(machine: Machine) -> None:
    """Its memory is gone, and with it the words that name its state folder; its state still says that it runs."""
    ending = machine.process(31, 1, "claude", started=40)
    for name in ("cmdline", "environ"):
        (machine.root / str(ending) / name).write_bytes(b"")
    assert peers.doubt_of_person(shell(machine, 1)) == ""


def test_the_folder_in_the_home_folder_is_the_default(machine: Machine) -> None:
    client_elsewhere(machine, 40)
    pid = shell(machine, 1)
    assert "the terminal was opened" in peers.doubt_of_person(pid, root=Path("/home/dev/.subconscious"))
    assert peers.doubt_of_person(pid, root=Path("/elsewhere")) == ""


def test_a_process_that_was_detached_on_a_terminal_is_no_person(machine: Machine) -> None:
    """A server that the client started shares its terminal, and may leave the client's family."""
    shell(machine, 1)
    pid = machine.process(61, 1, "python attack.py", session=50, terminal=PTS + 3)
    assert "detached" in peers.doubt_of_person(pid)


def test_a_container_whose_terminal_is_held_outside_is_a_persons(machine: Machine) -> None:
    assert peers.doubt_of_person(shell(machine, 0)) == ""


def test_a_tmux_that_the_model_started_is_not(machine: Machine) -> None:
    machine.process(20, 1, "tmux new -d", MARK)
    assert "inside a coding agent" in peers.doubt_of_person(shell(machine, 20))


@pytest.mark.parametrize(
    "client",
    [
        "claude",
        "/home/dev/.local/bin/claude --resume",
        "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
        "/usr/bin/node /usr/local/bin/claude",
    ],
)
def test_what_stands_below_the_client_is_not(machine: Machine, client: str) -> None:
    machine.process(20, 1, client)
    pid = shell(machine, 20)
    for at_terminal in (True, False):
        assert "inside a coding agent" in peers.doubt_of_person(pid, at_terminal=at_terminal)


def test_what_only_speaks_of_the_client_is_no_client(machine: Machine) -> None:
    machine.process(20, 1, "vim notes/claude-code.md")
    assert peers.doubt_of_person(shell(machine, 20)) == ""


def test_without_a_terminal_nobody_is_a_person(machine: Machine) -> None:
    pid = machine.process(60, 1, "python subconscious review approve 1")
    assert "without a terminal" in peers.doubt_of_person(pid)
    assert peers.doubt_of_person(pid, at_terminal=False) == ""


def test_a_terminal_that_the_model_opened_is_not_a_persons(machine: Machine) -> None:
    machine.process(20, 1, "claude")
    machine.process(21, 20, "python attack.py", MARK)
    assert "the terminal was opened" in peers.doubt_of_person(shell(machine, 1))


def test_who_leads_the_session_counts(machine: Machine) -> None:
    machine.process(50, 1, "script -qc sh", MARK, session=50, terminal=PTS + 3)
    pid = machine.process(60, 1, "python subconscious review approve 1", session=50, terminal=PTS + 3)
    assert "detached" in peers.doubt_of_person(pid)


def test_who_hides_or_is_gone_is_not_believed(machine: Machine) -> None:
    pid = machine.process(60, 1, "python subconscious review approve 1", terminal=PTS, hidden=True)
    assert "it is unknown who" in peers.doubt_of_person(pid)
    assert "it is unknown who" in peers.doubt_of_person(4242)
    assert "it is unknown who" in peers.doubt_of_hook(4242)


def test_a_loop_of_parents_ends(machine: Machine) -> None:
    machine.process(20, 60, "sh")
    assert peers.doubt_of_person(machine.process(60, 20, "sh", terminal=PTS)) == ""


STREAMS = (101, 102)


def hook(machine: Machine, parent: int, pipes: tuple[int, ...] = (100, *STREAMS)) -> int:
    run = "/bin/sh /plugins/subconscious/hooks/run ask UserPromptSubmit"
    machine.process(70, parent, run, MARK, pipes=pipes)
    return machine.process(71, 70, "python3 -I -S /plugins/subconscious/hooks/start.py ask", MARK)


def test_a_hook_of_a_persons_session_hands_over_what_they_typed(machine: Machine) -> None:
    machine.process(30, 1, "-zsh", session=30)
    machine.process(31, 30, "claude", session=30, pipes=(7, 8, *STREAMS))
    assert peers.doubt_of_hook(hook(machine, 31)) == ""


@pytest.mark.parametrize("pipes", [(100, 101, 103), (101, 101, 101), (101, 103, 104), (103, 101), ()])
def test_a_command_in_the_place_of_its_shell_is_no_hook(machine: Machine, pipes: tuple[int, ...]) -> None:
    machine.process(30, 1, "-zsh", session=30)
    machine.process(31, 30, "claude", session=30, pipes=(7, 8, *STREAMS))
    assert "ran inside" in peers.doubt_of_hook(hook(machine, 31, pipes))


def test_what_stands_below_no_client_is_no_hook(machine: Machine) -> None:
    assert "not handed over by Claude Code" in peers.doubt_of_hook(hook(machine, 1))


def test_the_kernel_names_the_pair_of_a_socket() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert stream_ends.peer_inode(os.fstat(one.fileno()).st_ino) == os.fstat(other.fileno()).st_ino
        assert stream_ends.peer_inode(2**31) == 0


def test_when_a_client_began_is_told_by_the_clock(machine: Machine) -> None:
    machine.process(31, 1, "claude", started=12_300)
    (told,) = peers.running_clients().values()
    lines = Path("/proc/stat").read_text().splitlines()
    booted = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
    assert told == pytest.approx(booted + 12_300 / os.sysconf("SC_CLK_TCK"), abs=5)


def test_a_launcher_and_its_client_are_one(machine: Machine) -> None:
    machine.process(31, 1, "node /usr/bin/claude", session=31)
    machine.process(32, 31, "claude", session=31, pipes=STREAMS)
    assert peers.doubt_of_hook(hook(machine, 32)) == ""


def test_a_hook_that_the_model_runs_hands_over_nothing(machine: Machine) -> None:
    machine.process(31, 1, "claude")
    machine.process(32, 31, "/bin/bash -c hooks/run", MARK)
    assert "ran inside" in peers.doubt_of_hook(hook(machine, 32))


def test_a_client_of_a_client_hands_over_nothing(machine: Machine) -> None:
    machine.process(31, 1, "claude", session=31)
    machine.process(32, 31, "claude -p", session=32)
    assert "by Claude Code itself" in peers.doubt_of_hook(hook(machine, 32))


AGENTS = {
    "codex": ["node /usr/bin/codex", "/opt/codex/bin/codex --no-daemon"],
    "gemini": ["node --max-old-space-size=4096 /usr/lib/node_modules/.bin/gemini"],
}
"""The processes of other clients, the launcher first."""


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_other_clients_hand_over_what_a_person_types(machine: Machine, agent: str) -> None:
    machine.process(30, 1, "-zsh", session=30, terminal=PTS)
    *launchers, client = AGENTS[agent]
    for number, launcher in enumerate(launchers, 31):
        machine.process(number, number - 1, launcher, session=30, terminal=PTS)
    machine.process(40, 30 + len(launchers), client, session=30, terminal=PTS, pipes=STREAMS)
    assert peers.doubt_of_hook(hook(machine, 40)) == ""


@pytest.mark.parametrize("inner", sorted(AGENTS))
@pytest.mark.parametrize("outer", ["claude", *sorted(AGENTS)])
@pytest.mark.parametrize("session", [31, 45])
def test_a_client_that_another_one_runs_hands_over_nothing(
    machine: Machine, inner: str, outer: str, session: int
) -> None:
    machine.process(31, 1, AGENTS.get(outer, ["claude"])[-1], session=31, terminal=PTS)
    machine.process(39, 31, "bash -c agent", session=session, terminal=PTS)
    machine.process(40, 39, AGENTS[inner][-1], session=session, terminal=PTS, pipes=STREAMS)
    assert "by Claude Code itself" in peers.doubt_of_hook(hook(machine, 40))


def test_commands_of_other_clients_are_marked(machine: Machine) -> None:
    for number, mark in enumerate(("CODEX_THREAD_ID=1", "GEMINI_CLI=1", "CURSOR_AGENT=1")):
        machine.process(100 + number, 1, "-zsh", mark, session=100 + number, terminal=PTS)
        assert "inside a coding agent" in peers.doubt_of_person(100 + number)


def test_a_server_of_many_front_ends_does_not_show_who_types(machine: Machine) -> None:
    machine.process(40, 1, "/opt/codex/bin/codex app-server --listen unix://", session=40, pipes=STREAMS)
    assert "background server" in peers.doubt_of_hook(hook(machine, 40))


def session_of_a_person(machine: Machine, terminal: int = PTS + 3, started: int = 33) -> int:
    machine.process(32, 1, "-zsh", session=32, terminal=terminal, started=started)
    machine.process(33, 32, "claude", session=32, terminal=terminal, pipes=STREAMS, started=started)
    return hook(machine, 33)


def test_a_decision_typed_in_the_only_session_is_a_persons(machine: Machine) -> None:
    pid = session_of_a_person(machine)
    assert (peers.doubt_of_hook(pid), peers.doubt_of_decision(pid)) == ("", "")


def test_a_decision_in_a_terminal_that_another_session_may_have_opened_needs_a_code(machine: Machine) -> None:
    client_elsewhere(machine, started=20)
    pid = session_of_a_person(machine)
    assert peers.doubt_of_hook(pid) == ""  # a person's words, all the same
    assert "the terminal was opened" in peers.doubt_of_decision(pid)


def test_a_decision_in_the_older_of_two_sessions_is_a_persons(machine: Machine) -> None:
    client_elsewhere(machine, started=40)
    assert peers.doubt_of_decision(session_of_a_person(machine)) == ""


def test_a_decision_without_a_terminal_needs_a_code(machine: Machine) -> None:
    pid = session_of_a_person(machine, terminal=0)
    assert peers.doubt_of_hook(pid) == ""
    assert "no terminal" in peers.doubt_of_decision(pid)


@pytest.mark.parametrize("parent", ["", "systemd --user", "tini -s", "containerd-shim -id 1"])
def test_a_detached_client_without_a_terminal_is_not_a_persons(machine: Machine, parent: str) -> None:
    client_elsewhere(machine, started=20)
    if parent:
        machine.process(10, 1, parent, started=1)
    machine.process(33, 10 if parent else 1, "claude -p words", session=33, pipes=STREAMS, started=40)
    assert "another session" in peers.doubt_of_hook(hook(machine, 33))


def test_a_script_that_is_older_than_the_other_sessions_may_start_one(machine: Machine) -> None:
    client_elsewhere(machine, started=20)
    machine.process(32, 1, "/usr/sbin/cron", started=5)
    machine.process(33, 32, "claude -p words", session=33, pipes=STREAMS, started=40)
    assert peers.doubt_of_hook(hook(machine, 33)) == ""
