"""``subconscious stats``: counts of captures, decisions, uses and costs, and the calibration of confidence."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import screen
from .ask import ask, here

if TYPE_CHECKING:
    from subconscious.wire.stats import NamedCalls, ReviewCounts, Spend, StatsResult, StatusCounts, Tenth

BAR_COLUMNS = 32
"""Columns of a full bar."""

EIGHTHS = " ▏▎▍▌▋▊▉"

NAMES = {
    "captured": "captured",
    "unconfirmed": "unconfirmed",
    "review": "waiting",
    "quarantined": "in quarantine",
    "approved": "approved",
    "rejected": "rejected",
    "expired": "expired",
    "discarded": "discarded",
}
"""The displayed name of each status of a capture, in the order of the columns."""

LEGEND = (
    "worth: the confidence that is used instead of the stated one. Recent decisions count more than old ones. A capture"
    " that was shown to sessions, and that you did not reject, counts as a weak approval."
)


def stats(options: Namespace) -> None:
    """Print the counts; with --calibration, the stated confidence and the share of captures that were right."""
    answer = ask("stats", cwd=here(), everywhere=options.everywhere or None)
    if options.json:
        screen.as_json(answer["calibration"] if options.calibration else answer)
    elif options.calibration:
        _print_calibration(answer["calibration"])
    else:
        _print_counts(answer)


def _print_counts(answer: StatsResult) -> None:
    captures, surfaces = answer["captures"], answer["surfaces"]
    sessions = screen.counted(surfaces["sessions"], "session")
    different = screen.counted(surfaces["memories"], "memory", "memories")
    given = f"{screen.counted(surfaces['given'], 'time')}, to {sessions}; {different}"
    memories = answer["memories"]
    screen.fields(
        [
            (
                "memories",
                f"{memories['project']} here, {memories['active']} in all projects, {memories['archived']} archived",
            ),
            ("captures", _counted(captures["status"]) or "none yet"),
            ("reviews", _reviews(answer["reviews"])),
            ("shown", given),
            ("used", _share(surfaces["used"], surfaces["given"])),
            ("models", _spend(answer["spend"])),
        ]
    )
    _print_table("kinds", captures["kinds"])
    _print_table("extractors", captures["extractors"])
    spend = answer["spend"]
    if spend["total"]["calls"]:
        _print_spend("spent by day", spend["days"])
        _print_spend("by session", spend["sessions"])
        _print_spend("by purpose", spend["purposes"])
        _print_spend("by model", spend["models"])


def _share(used: int, given: int) -> str:
    return f"{used} of {given} ({round(100 * used / given)} %)" if given else "none yet"


def _spend(spend: Spend) -> str:
    total, today = spend["total"], spend["today"]
    if not total["calls"]:
        return "none used yet"
    unknown = (
        f" and {total['unknown']} of unknown cost, which count as {dollars(total['assumed'])} against the caps"
        if total["unknown"]
        else ""
    )
    state = "" if today["state"] == "free" else f", the cap is {today['state']}"
    spent = f"{dollars(total['cost'])} in {screen.counted(total['calls'], 'call')}{unknown}"
    return f"{spent}; today {dollars(today['spent_today'])} of {dollars(today['cap'])}{state}"


def dollars(amount: float) -> str:
    """Return an amount with two decimals, or with two significant digits below a cent."""
    return f"${amount:.2f}" if amount >= 0.01 or not amount else f"${amount:.2g}"


def _print_spend(title: str, rows: Sequence[NamedCalls]) -> None:
    screen.heading(f"{title:<32}{'calls':>8}{'tokens':>12}{'cost':>11}{'unknown':>9}")
    for row in rows:
        tokens = row["input_tokens"] + row["output_tokens"]
        name = screen.line(row["name"])[:31] or "-"
        print(f"{name:<32}{row['calls']:>8}{tokens:>12}{dollars(row['cost']):>11}{row['unknown'] or '':>9}".rstrip())


def _counted(counts: Mapping[str, int]) -> str:
    return screen.listed([f"{counts[status]} {name}" for status, name in NAMES.items() if counts.get(status)])


def _reviews(reviews: ReviewCounts) -> str:
    if reviews["accepted"] is None:
        return f"you have reviewed none yet (aim: {reviews['aim']:.0%} accepted)"
    edited = f", {reviews['edited']} of them approved in your own words" if reviews["edited"] else ""
    counts = {name: reviews[name] for name in ("approved", "rejected", "expired")}
    return f"{reviews['accepted']:.0%} accepted (aim: {reviews['aim']:.0%}): {_counted(counts)}{edited}"


def _print_table(title: str, rows: Mapping[str, StatusCounts]) -> None:
    if not rows:
        return
    # What is in quarantine is printed above; its column would not fit into 80 characters.
    columns = {status: name for status, name in NAMES.items() if status != "quarantined"}
    screen.heading(f"{title:<13}{''.join(f'{name:>{len(name) + 1}}' for name in columns.values())}")
    for row, counts in rows.items():
        cells = "".join(f"{counts.get(status, 0) or '':>{len(name) + 1}}" for status, name in columns.items())
        print(f"{screen.line(row)[:12]:<13}{cells}".rstrip())


def _print_calibration(curves: Mapping[str, Sequence[Tenth]]) -> None:
    if not curves:
        print("You have decided on no capture yet, so the stated confidence is used.\n  to decide: subconscious review")
        return
    for extractor, tenths in curves.items():
        screen.heading(screen.line(extractor))
        title = f"{'stated':<9} {'observed (bar) against stated (mark)':<{BAR_COLUMNS + 6}} right     of   worth"
        print(screen.paint(title, "dim"))
        for tenth in reversed(tenths):
            if tenth["samples"]:
                print(_row(tenth))
    print(f"\n{screen.wrapped(LEGEND)}")


def _row(tenth: Tenth) -> str:
    low, observed = tenth["low"], tenth["right"] / tenth["samples"]
    drawn = f"{bar(observed, tenth['stated']):<{BAR_COLUMNS + 6}}"
    return f"{low:.1f}-{low + 0.1:.1f}   {drawn} {observed:>5.0%} {tenth['samples']:>6.1f}  {tenth['worth']:>6.2f}"


def bar(observed: float, stated: float, blocks: bool | None = None) -> str:
    """Return a bar whose length shows the observed share; a mark shows the stated confidence."""
    blocks = _shows_blocks() if blocks is None else blocks
    full, eighth = divmod(round(observed * BAR_COLUMNS * 8), 8)
    drawn = ("█" * full + EIGHTHS[eighth]).rstrip() if blocks else "#" * full
    cells = list(drawn.ljust(BAR_COLUMNS + 1))
    cells[min(BAR_COLUMNS, int(stated * BAR_COLUMNS))] = "│" if blocks else "|"
    return "".join(cells)


def _shows_blocks() -> bool:
    return "utf" in (sys.stdout.encoding or "").lower()
