"""The main path: what is said in one session is given to the next, once, and framed as memory."""

from collections.abc import Iterator

import pytest

from tests.client.fake_api import SUMMARY_REQUEST, TOO_LONG, FakeApi, Request, says
from tests.client.machine import Machine
from tests.client.snapshots import Snapshots

pytestmark = [pytest.mark.client, pytest.mark.timeout(90, func_only=True)]

DECISION = "We decided to keep all amounts in integer cents, because floats lost a cent."
WORDS = "amounts in integer cents"


@pytest.fixture
def learned(snapshots: Snapshots, api: FakeApi) -> Iterator[Machine]:
    """A machine that heard the decision in a session which is over."""
    with snapshots.after(DECISION, api) as machine:
        yield machine


@pytest.fixture(scope="module")
def shared(snapshots: Snapshots) -> Iterator[Machine]:
    """Another such machine, for all tests that tell it nothing new; each has prompts of its own."""
    with FakeApi() as api, snapshots.restored("shared by tests of memory", hear_decision, api) as machine:
        machine.start_daemon()
        yield machine


def hear_decision(machine: Machine) -> None:
    machine.talk(DECISION)
    machine.drain()


def test_decision_reaches_the_next_session(shared: Machine) -> None:
    shared.talk("Where were we?")
    injected = _injected(shared.api, "Where were we?")
    assert WORDS in injected
    assert "past session" in injected.lower()


def test_decision_stays_in_its_project(shared: Machine) -> None:
    other = shared.make_project(shared.root / "other")
    shared.talk("Where were we elsewhere?", cwd=other)
    assert WORDS not in shared.api.asked("Where were we elsewhere?")[0].given


def test_decision_is_known_in_a_folder_of_the_project(shared: Machine) -> None:
    (shared.project / "src").mkdir()
    shared.talk("Where were we in here?", cwd=shared.project / "src")
    assert WORDS in _injected(shared.api, "Where were we in here?")


def test_what_was_given_is_not_learned_again(shared: Machine) -> None:
    shared.api.when("Where were we last week?", says(f"From memory: {DECISION}"))
    shared.talk("Where were we last week?", "Thanks.")
    shared.drain()
    assert "From memory: " in str(shared.api.asked("Thanks.")[0].messages)
    assert [row["recurrence"] for row in shared.remembered(WORDS)] == [1]


def test_resume_does_not_repeat(shared: Machine) -> None:
    session = shared.talk("Where were we yesterday?")
    shared.drain()
    shared.talk("Go on.", resume=session.id)
    assert shared.api.asked("Go on.")[0].given.count(WORDS) == 1


def test_clear_gives_again(shared: Machine) -> None:
    with shared.session() as session:
        session.say("Where were we this morning?")
        before = session.id
        session.say("/clear")
        session.say("A fresh start.")
        session.end()
        shared.assert_untroubled(session)
    assert session.id != before
    assert _injected(shared.api, "A fresh start.").count(WORDS) == 1


def test_fork_keeps_one_memory(learned: Machine, api: FakeApi) -> None:
    session = learned.talk("We decided to round half to even, because the bank does.")
    learned.drain()
    fork = learned.talk("Another way.", resume=session.id, fork=True)
    learned.drain()
    assert fork.id != session.id
    assert api.asked("Another way.")[0].given.count(WORDS) == 1
    assert [row["recurrence"] for row in learned.remembered("round half to even")] == [1]


def _requested(summary: Request) -> str:
    """Return what the client asks of a summary, hooks' instructions included."""
    return summary.prompt.partition(SUMMARY_REQUEST)[2]


@pytest.mark.parametrize("automatic", [False, True], ids=["manual", "automatic"])
def test_compaction_loses_nothing(learned: Machine, api: FakeApi, automatic: bool) -> None:
    with learned.session() as session:
        session.say("We decided to round half to even, because the bank does.")
        session.say("Fine.")
        # On a busy machine a hook may miss the daemon, and the client then summarises without it.
        for _ in range(3):
            if automatic:
                api.once("And now?", TOO_LONG)
            else:
                session.say("/compact")
            session.say("And now?")
            if "round half to even" in _requested(api.summaries[-1]):
                break
        session.end()
        learned.assert_untroubled(session)
    learned.drain()
    assert "round half to even" in _requested(api.summaries[-1])
    assert WORDS in _injected(api, "And now?", index=-1)
    assert [row["recurrence"] for row in learned.remembered("round half to even")] == [1]


def test_a_prompt_is_given_what_it_is_about_and_another_is_not(learned: Machine, api: FakeApi) -> None:
    learned.stop_daemon()
    (learned.state / "config.toml").write_text("start_memories = 0\nhandover = false\n")
    learned.talk("Good morning.")  # which starts the daemon
    learned.drain()
    asked = "Why do we keep amounts in integer cents and not as a float?"
    learned.talk("Tell me a joke.", asked, "Thanks, go on.")
    assert WORDS not in _injected(api, "Tell me a joke.")
    assert _injected(api, asked).count(WORDS) == 1
    assert "past session" in _injected(api, asked).lower()
    # The turn before holds it still; nothing was added.
    assert api.asked("Thanks, go on.")[0].given.count(WORDS) == api.asked(asked)[0].given.count(WORDS)


def test_state_is_for_its_owner_only(shared: Machine) -> None:
    ours = [path for path in shared.state.rglob("*") if not path.is_symlink()]
    assert [path for path in ours if path.stat().st_mode & 0o077] == []


@pytest.fixture
def awake(snapshots: Snapshots, api: FakeApi) -> Iterator[Machine]:
    """A machine that has heard nothing of interest."""
    with snapshots.after("Good morning.", api) as machine:
        yield machine


def test_typed_remember_is_carried_out(awake: Machine) -> None:
    machine = awake
    machine.talk("/subconscious:remember Deploys happen only on Tuesdays.")
    machine.drain()
    remembered = machine.remembered("Deploys happen only on Tuesdays")
    assert [(row["origin"], row["archived_at"]) for row in remembered] == [("user", None)]


def test_typed_remember_survives_a_missing_daemon(awake: Machine) -> None:
    machine = awake
    machine.stop_daemon()
    machine.talk("/subconscious:remember Deploys happen only on Tuesdays.")
    machine.drain()
    # The start's hook wakes a daemon: if that is quicker than the prompt, the client's own hook says that a person
    # typed it; if not, nobody can in a session that a program may speak in, and it waits.
    told = [row["status"] for row in machine.rows("implicit_captures") if "Tuesdays" in row["content"]]
    assert told in (["captured"], ["review"])


def _injected(api: FakeApi, prompt: str, index: int = 0) -> str:
    """What a request holds beyond the words of the two speakers: system messages and reminders."""
    request = api.asked(prompt)[index]
    reminders = [text for text in request.said("user") if "<system-reminder>" in text]
    return "\n".join([*request.said("system"), *reminders])
