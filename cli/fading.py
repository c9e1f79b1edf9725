"""What fades and what stays: decay, importance, pin, unpin."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from . import plot, screen
from .ask import ask, here
from .origin import origin, require_person


def decay(options: Namespace) -> None:
    """Show what would be archived and why, one memory's curve, or what has faded; or change that."""
    if options.reset:
        _reset(options)
    elif options.run:
        _run(options)
    elif options.log:
        _log(options)
    elif options.ids:
        _each(options)
    else:
        _preview(options)


def _preview(options: Namespace) -> None:
    answer = ask("decay", cwd=here(), everywhere=options.everywhere or None, limit=options.limit)
    if options.json:
        screen.as_json(answer)
        return
    told = screen.listed([f"{count} {name}" for name, count in answer["states"].items() if count])
    print(screen.wrapped(f"{screen.counted(answer['active'], 'memory', 'memories')}: {told or 'none yet'}."))
    screen.heading(f"A decision that nobody uses, by the policy {screen.line(answer['policy'])}")
    _draw(answer["curve"], answer["below"])
    screen.heading("What the next run archives")
    for one in answer["due"]:
        _tell_due(one)
    if not answer["due"]:
        print("  nothing")
    elif answer["total"] > len(answer["due"]):
        print(f"\n{len(answer['due'])} of {answer['total']}; more with --limit {answer['total']}")


def _tell_due(one: dict[str, Any]) -> None:
    memory = one["memory"]
    print(screen.wrapped(screen.line(memory["summary"]), 6, f"{memory['id']:>4}"))
    told = [memory["kind"], f"{one['unused_days']:.0f} days unused", f"{one['value']:.2f} left", _factors(one)]
    print(screen.paint(screen.wrapped(screen.listed(told), 6), "dim"))


def _factors(one: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in one["factors"].items()) or str(one["why"])


def _draw(points: list[list[float]], mark: float) -> None:
    for row in plot.curve([(day, value) for day, value in points], screen.width() - 2, mark=mark, unit="days"):
        print(f"  {row}")


def _each(options: Namespace) -> None:
    answers = [ask("decay", id=number, origin=origin()) for number in options.ids]
    if options.json:
        screen.as_json(answers)
        return
    for answer in answers:
        _tell_one(answer)


def _tell_one(answer: dict[str, Any]) -> None:
    memory, facts = answer["memory"], answer["facts"]
    print(screen.paint(screen.wrapped(f"{memory['id']}  {screen.line(memory['summary'])}"), "bold"))
    half_life = f"{answer['half_life']:g} days" if answer["half_life"] else "none: it never fades"
    said = [f"{name} {times}" for name, times in answer["feedback"].items()]
    screen.fields(
        [
            ("state", answer["state"]),
            ("left", f"{answer['value']:.2f} ({_factors(answer)})"),
            ("last alive", screen.when(facts["alive_at"])),
            ("worked on", screen.when(facts["touched_at"]) if facts["touched_at"] else ""),
            ("half-life", half_life),
            ("importance", facts["importance"] if facts["importance"] != "normal" else ""),
            ("stability", f"{facts['stability']:.2f}" if facts["stability"] != 1 else ""),
            ("superseded", "yes" if facts["superseded"] else ""),
            ("feedback", screen.listed(said)),
            ("confidence", f"{answer['effective_confidence']:.2f} ({memory['confidence']:.2f} as captured)"),
            ("archived", _when_due(answer)),
        ]
    )
    print()
    _draw(answer["curve"], answer["below"])


def _when_due(answer: dict[str, Any]) -> str:
    if answer["memory"]["archived_at"]:
        return screen.when(answer["memory"]["archived_at"])
    days = answer["due_in_days"]
    if days is None:
        return "never"
    return "in the next run" if days <= 0 else f"in {screen.counted(days, 'day')}, unless it is used"


def _log(options: Namespace) -> None:
    since = options.since or 0.0
    found = ask("faded", cwd=here(), everywhere=options.everywhere or None, limit=options.limit, since=since)[
        "memories"
    ]
    if options.json:
        screen.as_json(found)
        return
    for one in found:
        print(screen.wrapped(screen.line(one["summary"]), 6, f"{one['id']:>4}"))
        told = f"{one['kind']}, {screen.when(one['archived_at'])}, {screen.line(one['reason'])}"
        print(screen.paint(screen.wrapped(told, 6), "dim"))
    print("\nBring one back: subconscious unarchive ID" if found else "Nothing has faded.")


def _run(options: Namespace) -> None:
    require_person("archive what has faded")
    due = ask("decay", cwd=here(), everywhere=True, limit=1)["total"]
    if not options.json:
        print(
            f"{screen.counted(due, 'memory', 'memories')} of all projects would go; see: subconscious decay --preview"
        )
    if not due or not agreed(options, "Archive what has faded? It can be brought back."):
        return
    answer = ask("fade", origin="user")
    if options.json:
        screen.as_json(answer)
    else:
        print(f"{screen.counted(len(answer['archived']), 'memory', 'memories')} archived, {answer['left']} left.")


def _reset(options: Namespace) -> None:
    require_person("reset decay")
    if not options.ids and not agreed(options, "Let all memories of this project be as fresh as new?"):
        return
    answer = ask("reset_decay", cwd=here(), ids=options.ids, all=not options.ids or None, origin="user")
    if options.json:
        screen.as_json(answer)
    else:
        print(f"{screen.counted(answer['reset'], 'memory is', 'memories are')} as fresh as new.")


def agreed(options: Namespace, question: str) -> bool:
    """Whether the person says yes, beforehand or now; a script has to say it beforehand."""
    if options.yes:
        return True
    if not sys.stdin.isatty():
        print("Nothing was changed. Add --yes to do it.", file=sys.stderr)
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def importance(options: Namespace) -> None:
    """Say how important memories are."""
    require_person("say what is important")
    changed = ask("importance", ids=[options.id], importance=options.level, origin="user")["memories"]
    gone = options.level == "deprecated"
    _tell(options, changed, "Deprecated and archived" if gone else f"Now {options.level}")


def pin(options: Namespace) -> None:
    """Pin memories: they never fade, and every start is given them first."""
    require_person("pin memories")
    _tell(options, ask("pin", ids=options.ids, origin="user")["memories"], "Pinned")


def unpin(options: Namespace) -> None:
    """Unpin memories."""
    require_person("unpin memories")
    _tell(options, ask("unpin", ids=options.ids, origin="user")["memories"], "No longer pinned")


def _tell(options: Namespace, changed: list[dict[str, Any]], said: str) -> None:
    if options.json:
        screen.as_json(changed)
        return
    for memory in changed:
        print(screen.wrapped(f"{said}: {memory['id']}  {screen.line(memory['summary'])}"))
