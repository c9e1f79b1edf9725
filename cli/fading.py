"""``subconscious decay``, ``importance``, ``pin`` and ``unpin``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import screen, suspicion
from .ask import ask, here
from .confirmation import agreed
from .origin import origin, require_person

if TYPE_CHECKING:
    from subconscious.wire.decay import Curve, DueMemory, MemoryDecay, Verdict
    from subconscious.wire.memories import Memory


def decay(options: Namespace) -> None:
    """Show which memories are archived next, how the named memories fade, or what faded; or reset or run the decay."""
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
    details = screen.listed([f"{count} {name}" for name, count in answer["states"].items() if count])
    print(screen.wrapped(f"{screen.counted(answer['active'], 'memory', 'memories')}: {details or 'none yet'}."))
    screen.heading(f"How an unused decision fades (policy {screen.line(answer['policy'])})")
    _draw(answer["curve"], answer["below"])
    screen.heading("What the next run archives")
    for one in answer["due"]:
        _print_due(one)
    if not answer["due"]:
        print("  nothing")
    elif answer["total"] > len(answer["due"]):
        print(f"\n{len(answer['due'])} of {answer['total']}; more with --limit {answer['total']}")


def _print_due(one: DueMemory) -> None:
    memory = one["memory"]
    print(screen.wrapped(screen.line(memory["summary"]), 6, f"{memory['id']:>4}"))
    details = [
        memory["kind"],
        f"days unused: {one['unused_days']:.0f}",
        f"{one['value']:.2f} of its weight left",
        _factors(one),
    ]
    print(screen.paint(screen.wrapped(screen.listed(details), 6), "dim"))
    suspicion.note(memory)


def _factors(verdict: Verdict) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in verdict["factors"].items()) or verdict["why"]


def _draw(points: Curve, mark: float) -> None:
    for row in curve([(day, value) for day, value in points], screen.width() - 2, mark=mark, unit="days"):
        print(f"  {row}")


def _each(options: Namespace) -> None:
    answers = [ask("decay", id=number, origin=origin()) for number in options.ids]
    if options.json:
        screen.as_json(answers)
        return
    for answer in answers:
        _print_one(answer)


def _print_one(answer: MemoryDecay) -> None:
    memory, facts = answer["memory"], answer["facts"]
    print(screen.paint(screen.wrapped(f"{memory['id']}  {screen.line(memory['summary'])}"), "bold"))
    half_life = f"{answer['half_life']:g} days" if answer["half_life"] else "none: it never fades"
    feedback = [f"{name} {times}" for name, times in answer["feedback"].items()]
    screen.fields(
        [
            ("state", answer["state"]),
            ("weight left", f"{answer['value']:.2f} ({_factors(answer)})"),
            ("last used or stored", screen.when(facts["alive_at"])),
            ("worked on", screen.when(facts["touched_at"]) if facts["touched_at"] else ""),
            ("half-life", half_life),
            ("importance", facts["importance"] if facts["importance"] != "normal" else ""),
            ("stability", f"{facts['stability']:.2f}" if facts["stability"] != 1 else ""),
            ("superseded", "yes" if facts["superseded"] else ""),
            ("feedback", screen.listed(feedback)),
            ("confidence", f"{answer['effective_confidence']:.2f} ({memory['confidence']:.2f} as captured)"),
            ("archived", _when_due(answer)),
        ]
    )
    print()
    _draw(answer["curve"], answer["below"])


def _when_due(answer: MemoryDecay) -> str:
    if answer["memory"]["archived_at"]:
        return screen.when(answer["memory"]["archived_at"])
    days = answer["due_in_days"]
    if days is None:
        return "never"
    return "in the next run" if days <= 0 else f"in {screen.counted(days, 'day')}, unless it is used"


def _log(options: Namespace) -> None:
    since = options.since or 0.0
    which = {"everywhere": options.everywhere or None, "limit": options.limit, "since": since}
    found = ask("faded", cwd=here(), **which)["memories"]
    if options.json:
        screen.as_json(found)
        return
    for one in found:
        print(screen.wrapped(screen.line(one["summary"]), 6, f"{one['id']:>4}"))
        details = f"{one['kind']}, {screen.when(one['archived_at'])}, {screen.line(one['reason'])}"
        print(screen.paint(screen.wrapped(details, 6), "dim"))
        suspicion.note(one)
    print("\nTo bring one back: subconscious unarchive ID" if found else "No memory has faded yet.")


def _run(options: Namespace) -> None:
    require_person("archive faded memories")
    due = ask("decay", cwd=here(), everywhere=True, limit=1)["total"]
    if not options.json:
        what = screen.counted(due, "memory", "memories")
        print(f"{what} would be archived. To list them: subconscious decay --everywhere")
    if not due or not agreed(options, "Archive the faded memories? They can be brought back."):
        return
    answer = ask("fade", origin="user")
    if options.json:
        screen.as_json(answer)
    else:
        archived = screen.counted(len(answer["archived"]), "memory", "memories")
        print(f"{archived} archived. Faded, but left for the next run: {answer['left']}.")


def _reset(options: Namespace) -> None:
    require_person("reset decay")
    if not options.ids and not agreed(options, "Restart the fading of all memories of this project?"):
        return
    answer = ask("reset_decay", cwd=here(), ids=options.ids, all=not options.ids or None, origin="user")
    if options.json:
        screen.as_json(answer)
    else:
        print(f"Restarted the fading of {screen.counted(answer['reset'], 'memory', 'memories')}.")


def importance(options: Namespace) -> None:
    """Set the importance of a memory."""
    require_person("set the importance of memories")
    changed = ask("importance", ids=[options.id], importance=options.level, origin="user")["memories"]
    is_deprecated = options.level == "deprecated"
    _print_changed(options, changed, "Deprecated and archived" if is_deprecated else f"Now {options.level}")


def pin(options: Namespace) -> None:
    """Pin memories: they never fade, and each session starts with them."""
    require_person("pin memories")
    _print_changed(options, ask("pin", ids=options.ids, origin="user")["memories"], "Pinned")


def unpin(options: Namespace) -> None:
    """Unpin memories."""
    require_person("unpin memories")
    _print_changed(options, ask("unpin", ids=options.ids, origin="user")["memories"], "No longer pinned")


def _print_changed(options: Namespace, changed: Sequence[Memory], label: str) -> None:
    if options.json:
        screen.as_json(changed)
        return
    for memory in changed:
        print(screen.wrapped(f"{label}: {memory['id']}  {screen.line(memory['summary'])}"))


HEIGHT = 10
MARGIN = 6

Points = Sequence[tuple[float, float]]


def curve(points: Points, width: int, *, top: float = 1.0, mark: float | None = None, unit: str = "") -> list[str]:
    """Return the lines of a text chart of ``points`` (x, y): y from 0 to ``top``, and a dotted line at y = ``mark``."""
    columns = max(10, width - MARGIN - 2)
    heights = [_height(value, top) for value in _sampled(points, columns)]
    level = None if mark is None else _height(mark, top)
    rows = [_row(row, heights, level, top) for row in range(HEIGHT, -1, -1)]
    first, last = f"{points[0][0]:g}", f"{points[-1][0]:g} {unit}".strip()
    axis = " " * (MARGIN + 1) + first + last.rjust(columns - len(first))
    return [*rows, " " * MARGIN + "+" + "-" * columns, axis]


def _sampled(points: Points, columns: int) -> list[float]:
    """Return a value for each column: the value of the last point at or before the column."""
    begin, end = points[0][0], points[-1][0]
    found, index = [], 0
    for column in range(columns):
        at = begin + (end - begin) * column / max(1, columns - 1)
        while index + 1 < len(points) and points[index + 1][0] <= at:
            index += 1
        found.append(points[index][1])
    return found


def _height(value: float, top: float) -> int:
    return round(HEIGHT * max(0.0, min(1.0, value / top))) if top > 0 else 0


def _row(row: int, heights: Sequence[int], level: int | None, top: float) -> str:
    empty = "." if row == level else " "
    label = f"{top * row / HEIGHT:.2f}" if top <= 1 else f"{top * row / HEIGHT:.0f}"
    drawn = "".join("*" if height == row else empty for height in heights)
    return f"{label if row % 5 == 0 else '':>{MARGIN - 1}} |{drawn}".rstrip()
