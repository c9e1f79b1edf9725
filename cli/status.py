"""``subconscious status``: one screen that says whether all is well."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from typing import Any

from subconscious.client import call, hello
from subconscious.errors import DaemonError, SettingsError

from . import screen
from .ask import ask, here, home
from .origin import require_person


def status(options: Namespace) -> None:
    """Print what is remembered and how the daemon is, or every setting."""
    if options.settings:
        _settings(options)
        return
    answer = ask("status", cwd=here())
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
    project, memories, review = answer["project"], answer["memories"], answer["review"]
    return [
        ("project", f"{project['name']} ({project['root']})" if project else ""),
        (
            "memories",
            f"{memories['project']} here, {memories['active']} in all, {memories['archived']} archived",
        ),
        ("review", f"{review} waiting: subconscious review" if review else "nothing waits"),
        ("sessions", _counts(answer["sessions"])),
        (
            "work",
            f"{_counts(answer['jobs'])}; {screen.counted(answer['spool'], 'entry', 'entries')} in the spool",
        ),
        ("embedder", _embedder(answer)),
        ("state", answer["home"]),
    ]


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _embedder(answer: dict[str, Any]) -> str:
    embedder = answer["embedder"]
    told = [f"{embedder['name']}, {embedder['state']}", f"{embedder['pending']} pending"]
    return screen.listed([*told, f"{answer['vector_index']} index", *filter(None, [embedder.get("error")])])


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
        print(f"{name:<22} {json.dumps(value):<10} {meaning}")
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
            return load_settings(place.root).model_dump(), None
        except SettingsError as error:
            return Settings.model_construct().model_dump(), error
