"""``subconscious status``: one screen that says whether all is well."""

from __future__ import annotations

import json
import os
import shlex
from argparse import Namespace
from typing import Any

from subconscious.client import call, hello
from subconscious.errors import DaemonError, SettingsError

from . import screen
from .ask import ask, here, home
from .origin import require_person, session


def status(options: Namespace) -> None:
    """Print what is remembered and how the daemon is, or every setting."""
    if options.settings:
        _settings(options)
        return
    answer = ask("status", cwd=here(), session_id=session())
    if options.json:
        screen.as_json(answer)
        return
    began = screen.ago(answer["started_at"])
    version = screen.line(answer["version"])
    print(f"Subconscious {version}, daemon started {began} (pid {answer['pid']})")
    print()
    screen.fields(_rows(answer))
    for warning in [*answer["warnings"], *_pause()]:
        print(screen.paint(screen.wrapped(f"warning: {screen.line(warning)}"), "yellow"))


def overview(options: Namespace) -> None:
    """Print what plain ``subconscious`` answers: how things are, and the commands that one needs next."""
    options.settings = False
    status(options)
    print(f"\n{screen.paint('Next', 'bold')}")
    screen.fields(NEXT)
    print("\nAll commands: subconscious --help")


NEXT = (
    ('subconscious search "WORDS"', "find what is remembered"),
    ("subconscious list", "the latest memories; show ID tells all of one"),
    ("subconscious review", "decide on what waits"),
    ('subconscious remember "TEXT"', "store a statement"),
    ("subconscious undo", "take your latest change back"),
)
"""The five commands that one needs most."""


def accept(_: Namespace) -> None:
    """Let what stands in config.toml take effect where that needs a person's word."""
    require_person("change what is kept without asking")
    changed = ask("accept_settings", origin="user")["changed"]
    for name, (before, after) in changed.items():
        print(f"{name}: {json.dumps(before)} -> {json.dumps(after)}")
    if not changed:
        print("Nothing has changed that needs your word.")


def _pause() -> list[str]:
    paused = os.environ.get("SUBCONSCIOUS_OFF", "") not in ("", "0")
    return ["SUBCONSCIOUS_OFF is set: sessions from this terminal are not watched."] if paused else []


def _rows(answer: dict[str, Any]) -> list[tuple[str, object]]:
    project, memories = answer["project"], answer["memories"]
    return [
        ("project", f"{project['name']} ({project['root']})" if project else ""),
        (
            "memories",
            f"{memories['project']} here, {memories['active']} in all, {memories['archived']} archived"
            f"{_unconfirmed(memories)}",
        ),
        ("renamed?", "\n".join(map(_lost, answer.get("lost", ())))),
        ("review", _review(answer)),
        ("suspicion", screen.line(answer.get("suspicion", ""))),
        ("quarantine", _held(answer.get("quarantined", 0))),
        ("sessions", _counts(answer["sessions"])),
        (
            "work",
            f"{_counts(answer['jobs'])}; {screen.counted(answer['spool'], 'entry', 'entries')} in the spool",
        ),
        ("embedder", _embedder(answer)),
        ("model", _provider(answer.get("provider") or {})),
        ("to be read by it", _refining(answer.get("refining") or {})),
        ("state", answer["home"]),
    ]


def _lost(one: dict[str, Any]) -> str:
    """A project whose folder is gone, and how this folder takes its memories over."""
    root = screen.line(one["root"])
    known = screen.counted(one["memories"], "memory", "memories")
    return f"{known} of {root}, which is gone: subconscious attach {shlex.quote(root)}"


def attach(options: Namespace) -> None:
    """Let this folder have the memories of one that was renamed or moved."""
    require_person("say which project a folder is")
    root = os.path.abspath(options.root) if "/" in options.root else options.root  # noqa: PTH100 - it is gone
    done = ask("attach", cwd=here(), root=root, origin="user")
    if options.json:
        screen.as_json(done)
    else:
        known = screen.counted(done["memories"], "memory is", "memories are")
        print(screen.wrapped(f"{known} this folder's now, as {screen.line(done['project']['name'])}."))


def _review(answer: dict[str, Any]) -> str:
    """What waits here, and that something waits in other projects."""
    here = answer["review"]
    elsewhere = answer.get("review_everywhere", here) - here
    told = f"{here} waiting: subconscious review" if here else "nothing waits"
    return f"{told}; {elsewhere} in other projects: subconscious review --everywhere" if elsewhere else told


def _unconfirmed(memories: dict[str, Any]) -> str:
    number = memories.get("unconfirmed", 0)  # a daemon of before knows none
    return f", {number} unconfirmed: subconscious list --unconfirmed" if number else ""


def _refining(left: dict[str, Any]) -> str:
    """What a model has still to read, and why it waits; nothing where there is none."""
    looks = left.get("looks")  # a daemon of before knows none
    if not (left.get("due") or left.get("gathering") or looks):
        return ""
    reason = left["reason"] or left.get("looks_wait", "")
    waits = f"; {screen.line(reason)}" if reason else ""
    seconds = f", {screen.counted(looks, 'session')} a second time when over" if looks else ""
    return f"{left['due']} now, {left['gathering']} when they pause, {left['tokens']} tokens{seconds}{waits}"


def _held(number: int) -> str:
    return f"{number} may be poisoned: subconscious review --status quarantined" if number else ""


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _embedder(answer: dict[str, Any]) -> str:
    embedder = answer["embedder"]
    told = [f"{embedder['name']}, {embedder['state']}", f"{embedder['pending']} pending"]
    if embedder.get("failed"):
        told.append(f"{embedder['failed']} failed")
    if embedder.get("coming"):
        done = answer["memories"]["active"] - embedder["pending"]
        told.append(f"{done} of {answer['memories']['active']} embedded anew for {screen.line(embedder['coming'])}")
    return screen.listed([*told, f"{answer['vector_index']} index", *filter(None, [embedder.get("error")])])


def _provider(provider: dict[str, Any]) -> str:
    """Which models are asked, how they stand, what they cost today."""
    asked = [_standing(each) for each in provider.get("providers", ())]
    if not asked:
        return "none: everything works without one"
    spending, waiting = provider["spending"], provider["waiting"]
    waits = sum(waiting[state] for state in ("waiting", "sent"))
    told = f"${spending['spent_today']:.2f} of ${spending['cap']:g} spent today"
    if any(each["name"] == "claude_code" for each in provider["providers"]):
        told += f", {spending.get('tokens_today', 0):,} of {spending.get('tokens_cap', 0):,} tokens for Claude Code"
    return f"{', then '.join(asked)}; {told}{f'; {waits} wait for an answer' if waits else ''}"


def _standing(each: dict[str, Any]) -> str:
    error, own = each["error"], each.get("sessions_with_own_key", 0)
    if each["refused"] and not own:
        return f"{each['name']}, not asked ({error['message']})"
    rest = "" if each["breaker"] == "closed" else f", {each['breaker']}"
    last = f", last error {screen.ago(error['at'])}: {error['message']}" if error else ""
    return f"{each['name']} {each['model']}{_key(each)}{rest}{last}".rstrip()


def _key(each: dict[str, Any]) -> str:
    """Where its key comes from, never the key."""
    source, own = each.get("key", ""), each.get("sessions_with_own_key", 0)
    parts = [f"key from {source}"] if source else []
    if own and source != "this session's environment":
        parts.append(f"{screen.counted(own, 'session')} with a key of their own environment")
    return "".join(f", {part}" for part in parts)


def _settings(options: Namespace) -> None:
    """The values of the running daemon; where none runs, those that it would read."""
    # Imported here: reading settings takes longer than all the rest of this program.
    from subconscious.settings import Settings

    values, complaint = _values()
    rows = {name: (values[name], field.description) for name, field in Settings.model_fields.items()}
    if options.json:
        screen.as_json({name: value for name, (value, _) in rows.items()})
        return
    for name, (value, meaning) in rows.items():
        print(screen.wrapped(f"{json.dumps(value):<10}  {meaning}", 26, name, within_words=True))
    print(f"\nSet them in {home().root / 'config.toml'} or as SUBCONSCIOUS_<NAME>.")
    if complaint:
        raise complaint


def _values() -> tuple[dict[str, Any], SettingsError | None]:
    from subconscious.settings import Settings, load_settings

    place = home()
    try:
        hello(place)
        return dict(call(place, "status", {"cwd": here()})["settings"]), None
    except DaemonError:
        try:
            return load_settings(place.root).model_dump(mode="json"), None
        except SettingsError as error:
            return Settings.model_construct().model_dump(mode="json"), error
