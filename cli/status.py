"""``subconscious status``, ``attach`` and ``accept-settings``, and plain ``subconscious``."""

from __future__ import annotations

import json
import os
import shlex
from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from subconscious.domain.errors import DaemonError, SettingsError
from subconscious.wire import call, hello

from . import screen
from .ask import ask, here, home
from .origin import origin, require_person, session

if TYPE_CHECKING:
    from subconscious.wire.daemon import (
        LostProject,
        MemoryCounts,
        OpenQuestion,
        Provider,
        ProviderResult,
        Refining,
        StatusResult,
    )


def status(options: Namespace) -> None:
    """Print the state of memories and daemon; with --settings, every setting."""
    if options.settings:
        _settings(options)
        return
    answer = ask("status", cwd=here(), session_id=session(), origin=origin())
    if options.json:
        screen.as_json(answer)
        return
    began = screen.ago(answer["started_at"])
    version = screen.line(answer["version"])
    print(f"Subconscious {version}, daemon started {began} (pid {answer['pid']})")
    print()
    screen.fields(_rows(answer))
    _print_warnings(answer)


def _print_warnings(answer: StatusResult) -> None:
    for warning in [*answer["warnings"], *_pause()]:
        print(screen.paint(screen.wrapped(f"warning: {screen.line(warning)}"), "yellow"))


def overview(options: Namespace) -> None:
    """Print what there is in this project and the commands to use next, for plain ``subconscious``."""
    answer = ask("status", cwd=here(), session_id=session(), origin=origin())
    if options.json:
        screen.as_json(answer)
        return
    screen.fields(_main_rows(answer))
    _print_warnings(answer)
    print(f"\n{screen.paint('Next', 'bold')}")
    screen.fields(_next_commands(answer))
    print("\nAll commands: subconscious --help")


def _next_commands(answer: StatusResult) -> list[tuple[str, str]]:
    """Return the most useful commands now; `review` and `import` only where there is something to review or import."""
    choice = [
        *((IMPORT,) if answer.get("can_import") else ()),  # an older daemon does not send it
        *((REVIEW,) if answer["review"] else ()),
    ]
    stored = answer["memories"]["active"]
    return [*NEXT[:2], *choice, *NEXT[2:]] if stored else [FIRST[0], *choice, *FIRST[1:]]


IMPORT = ("subconscious import", "learn from your past sessions in this project")
REVIEW = ("subconscious review", "decide on captures that wait")

NEXT = (
    ('subconscious search "WORDS"', "find memories by meaning and words"),
    ("subconscious list", "list the latest memories"),
    ('subconscious remember "TEXT"', "store a statement yourself"),
    ("subconscious undo", "undo your latest change"),
)
"""The most useful commands."""

FIRST = (
    ("subconscious demo", "see what is learned from a sample session"),
    ("subconscious setup", "choose what is imported, and whether a model helps"),
    ('subconscious remember "TEXT"', "store a statement yourself"),
    ("subconscious doctor", "check that everything works"),
)
"""The most useful commands as long as nothing is stored."""


def accept(_: Namespace) -> None:
    """Approve and apply the changes in config.toml that need a person's approval."""
    require_person("approve changed settings")
    changed = ask("accept_settings", origin="user")["changed"]
    for name, (before, after) in changed.items():
        print(f"{name}: {json.dumps(before)} -> {json.dumps(after)}")
    if not changed:
        print("No changed setting needs your approval.")


def _pause() -> list[str]:
    paused = os.environ.get("SUBCONSCIOUS_OFF", "") not in ("", "0")
    return ["SUBCONSCIOUS_OFF is set: sessions that start in this terminal are not recorded."] if paused else []


def _main_rows(answer: StatusResult) -> list[tuple[str, object]]:
    """Return the rows about this project, and the rows about what needs a decision of the user."""
    project, memories = answer["project"], answer["memories"]
    return [
        ("project", f"{project['name']} ({project['root']})" if project else ""),
        (
            "memories",
            f"{memories['project']} here, {memories['active']} in all projects, {memories['archived']} archived"
            f"{_unconfirmed(memories)}",
        ),
        ("paused", _paused(answer.get("paused", 0))),  # an older daemon does not send it
        ("renamed", "\n".join(map(_missing_project, answer.get("lost", ())))),
        ("review", _review(answer)),
        ("question", question(answer.get("question"))),
        ("suspicion", screen.line(answer.get("suspicion", ""))),
        ("quarantine", _quarantined(answer.get("quarantined", 0))),
    ]


def _rows(answer: StatusResult) -> list[tuple[str, object]]:
    return [
        *_main_rows(answer),
        ("sessions", _counts(answer["sessions"])),
        ("queue", _queue(answer)),
        ("embedder", _embedder(answer)),
        ("model", _provider(answer.get("provider"))),
        ("model's queue", _unread(answer.get("refining"))),
        ("folder", answer["home"]),
    ]


def _queue(answer: StatusResult) -> str:
    """Return how many events of sessions wait, are being processed, or were set aside as faulty."""
    jobs = answer["jobs"]
    counts = {"waiting": answer["spool"] + jobs["ready"], "in progress": jobs["leased"], "set aside": jobs["buried"]}
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "empty"


def _missing_project(one: LostProject) -> str:
    """Return a line about a project with a missing folder, and the command that takes over the project's memories."""
    root = screen.line(one["root"])
    known = screen.counted(one["memories"], "memory", "memories")
    return (
        f"{known} of {root}, which is missing. If it was renamed to this one: subconscious attach {shlex.quote(root)}"
    )


def attach(options: Namespace) -> None:
    """Take over the memories of a folder that was renamed or moved."""
    require_person("attach a folder")
    root = os.path.abspath(options.root) if "/" in options.root else options.root  # noqa: PTH100 - no such folder
    done = ask("attach", cwd=here(), root=root, origin="user")
    if options.json:
        screen.as_json(done)
    else:
        known = screen.counted(done["memories"], "memory belongs", "memories belong")
        print(screen.wrapped(f"{known} to this folder now (project {screen.line(done['project']['name'])})."))
        print("To reverse this: subconscious undo")


def _review(answer: StatusResult) -> str:
    """Return how many captures wait in this project and in others."""
    here = answer["review"]
    elsewhere = answer.get("review_everywhere", here) - here
    details = (
        f"{screen.counted(here, 'capture waits', 'captures wait')}: subconscious review" if here else "nothing waits"
    )
    return f"{details}; {elsewhere} in other projects: subconscious review --everywhere" if elsewhere else details


def question(open_question: OpenQuestion | None) -> str:
    """Return the open question whether a statement replaces another, with the commands that answer it."""
    if not open_question:
        return ""
    link = open_question["link_id"]
    text = (
        open_question["wording"] or f"does memory {open_question['new_id']} replace memory {open_question['old_id']}?"
    )
    return f"{screen.line(text)} Yes: subconscious confirm {link}. No: subconscious unlink {link}"


def _paused(number: int) -> str:
    """Return how many memories new sessions no longer start with, and how to bring one back."""
    if not number:
        return ""
    known = screen.counted(number, "memory that sessions did not use is", "memories that sessions did not use are")
    return f"{known} no longer given at starts. `subconscious list` marks them, `subconscious pin ID` brings one back"


def _unconfirmed(memories: MemoryCounts) -> str:
    number = memories.get("unconfirmed", 0)  # an older daemon does not send it
    return f", {number} unconfirmed: subconscious list --unconfirmed --everywhere" if number else ""


def _unread(left: Refining | None) -> str:
    """Return how much of the sessions a model still has to read, and why it must wait; "" if all has been read."""
    if left is None:
        return ""
    looks = left.get("looks")  # an older daemon does not send it
    if not (left.get("due") or left.get("gathering") or looks):
        return ""
    reason = left["reason"] or left.get("looks_wait", "")
    waits = f"; {screen.line(reason)}" if reason else ""
    seconds = f"; {screen.counted(looks, 'session')} to check again at the end" if looks else ""
    parts = f"{left['due']} to read now, {left['gathering']} when their sessions pause"
    return f"{parts}, {left['tokens']} tokens{seconds}{waits}"


def _quarantined(number: int) -> str:
    return f"{number} may be poisoned: subconscious review --status quarantined" if number else ""


def _counts(counts: Mapping[str, object]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _embedder(answer: StatusResult) -> str:
    embedder = answer["embedder"]
    details = [f"{embedder['name']}, {embedder['state']}", f"{embedder['pending']} pending"]
    if embedder.get("failed"):
        details.append(f"{embedder['failed']} failed")
    if embedder.get("coming"):
        done = answer["memories"]["active"] - embedder["pending"]
        details.append(f"{done} of {answer['memories']['active']} embedded again for {screen.line(embedder['coming'])}")
    return screen.listed([*details, f"{answer['vector_index']} index", *filter(None, [embedder.get("error")])])


def _provider(provider: ProviderResult | None) -> str:
    """Return the state of the providers, and what they have cost today."""
    providers = [_provider_state(each) for each in provider.get("providers", ())] if provider else []
    if not provider or not providers:
        return "none; everything works without one"
    spending, waiting = provider["spending"], provider["waiting"]
    waits = sum(waiting[state] for state in ("waiting", "sent"))
    details = f"${spending['spent_today']:.2f} of ${spending['cap']:g} spent today"
    if any(each["name"] == "claude_code" for each in provider["providers"]):
        details += f", {spending.get('tokens_today', 0):,} of {spending.get('tokens_cap', 0):,} tokens for Claude Code"
    return f"{', then '.join(providers)}; {details}{f'; {waits} wait for an answer' if waits else ''}"


def _provider_state(each: Provider) -> str:
    error, own = each["error"], each.get("sessions_with_own_key", 0)
    if each["refused"] and error and not own:
        return f"{each['name']}, receives no requests ({error['message']})"
    rest = "" if each["breaker"] == "closed" else f", {each['breaker']}"
    last = f", last error {screen.ago(error['at'])}: {error['message']}" if error else ""
    return f"{each['name']} {each['model']}{_key(each)}{rest}{last}".rstrip()


def _key(each: Provider) -> str:
    """Return where the key comes from, never the key."""
    source, own = each.get("key", ""), each.get("sessions_with_own_key", 0)
    parts = [f"key from {source}"] if source else []
    if own and source != "this session's environment":
        parts.append(f"{screen.counted(own, 'session')} with a key from their own environment")
    return "".join(f", {part}" for part in parts)


def _settings(options: Namespace) -> None:
    """Print the settings of the running daemon; if no daemon answers, those that a new daemon would load.

    If no daemon answers and config.toml is invalid, print the defaults, and raise SettingsError unless --json is given.
    """
    # Imported here, because it takes longer than the rest of the program.
    from subconscious.settings.settings import Settings

    values, complaint = _values()
    rows = {name: (values[name], field.description) for name, field in Settings.model_fields.items()}
    if options.json:
        screen.as_json({name: value for name, (value, _) in rows.items()})
        return
    for name, (value, meaning) in rows.items():
        print(screen.wrapped(f"{json.dumps(value):<10}  {meaning}", 26, name, within_words=True))
    print(f"\nSet them in {home().root / 'config.toml'}, or in the environment as SUBCONSCIOUS_NAME.")
    if complaint:
        raise complaint


def _values() -> tuple[dict[str, Any], SettingsError | None]:
    from subconscious.settings.settings import Settings, load_settings

    state_folder = home()
    try:
        hello(state_folder)
        return dict(call(state_folder, "status", {"cwd": here()})["settings"]), None
    except DaemonError:
        try:
            return load_settings(state_folder.root).model_dump(mode="json"), None
        except SettingsError as error:
            return Settings.model_construct().model_dump(mode="json"), error
