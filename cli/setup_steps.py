"""``subconscious setup`` without options: import past sessions, choose a model, choose what sessions get."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from subconscious.domain.errors import SubconsciousError
from subconscious.settings.config_file import write_settings
from subconscious.system.safe_files import is_missing, read_beginning

from . import screen
from .ask import ask, here, home
from .imports import import_past

AS_OF = "- As of "
LARGEST_START = 1 << 16
RENDERING_SECONDS = 120.0


def walk(options: Namespace, choose_model: Callable[[Namespace], int]) -> int:
    """Run all steps, even if one fails, and print why it failed; return the highest exit code."""
    steps: tuple[tuple[str, Callable[[], int]], ...] = (
        ("Past sessions", lambda: _import(options)),
        ("A model that helps", lambda: choose_model(options)),
        ("What a session gets", _surfacing),
    )
    codes = [_run(f"{number} of {len(steps)}  {title}", step) for number, (title, step) in enumerate(steps, 1)]
    print("\nDone. To see the state: subconscious status. To change a step: subconscious setup")
    return max(codes)


def _run(title: str, step: Callable[[], int]) -> int:
    screen.heading(title)
    try:
        return step()
    except SubconsciousError as error:
        print(screen.paint(screen.wrapped(screen.line(error.message)), "yellow"))
        print(f"  {screen.line(error.remedy)}")
        return 1


def _import(options: Namespace) -> int:
    """Offer the import of this project's past sessions, without a model."""
    chosen: dict[str, object] = {
        "paths": [],
        "tool": None,
        "all": False,
        "project": None,
        "with_model": False,
        "max_cost": None,
        "brief": True,  # the next step is about models
    }
    return import_past(Namespace(**vars(options) | chosen))


def _surfacing() -> int:
    """Show the memories that the next session starts with, ask whether sessions should get any, and save a change."""
    settings = ask("status", cwd=here())["settings"]
    is_on, most = bool(settings["surface"]), settings["start_tokens"]
    print(
        screen.wrapped(f"A session starts with at most {most} tokens of memories; a few more come with your prompts.")
    )
    if is_on and (text := _next_start()):
        print("The next session in this folder starts with:\n")
        print(screen.paint(screen.wrapped(text, 2), "dim"))
    wanted = _answer(f"Give memories to sessions? {'[Y/n]' if is_on else '[y/N]'} ", is_on)
    if wanted == is_on:
        print("Nothing was changed.")
        return 0
    write_settings(home().root / "config.toml", {"surface": wanted})
    ask("stop")  # the next request starts a daemon with the new settings
    print(f"From now on, sessions get {'memories' if wanted else 'no memories'} (`surface` in config.toml).")
    return 0


def _answer(question: str, default: bool) -> bool:
    try:
        typed = input(question).strip().lower()
    except EOFError:
        return default
    return {"y": True, "yes": True, "n": False, "no": False}.get(typed, default)


def _next_start() -> str:
    """Return the text that the model gets when a session starts here; "" if there is none."""
    start = Path(ask("pull", RENDERING_SECONDS, cwd=here())["folder"]) / "start"
    if is_missing(start):
        return ""
    # The first line lists the memories; the rest is what the hook prints.
    _, _, output = read_beginning(start, LARGEST_START).partition(b"\n")
    said = json.loads(output) if output else {}
    text = screen.clean(said.get("hookSpecificOutput", {}).get("additionalContext", ""))
    # The file is for sessions that start without a daemon. The line that says so would be wrong here.
    return "\n".join(line for line in text.splitlines() if not line.startswith(AS_OF))
