"""``subconscious stats``: what was captured, how it was judged, whether confidence keeps its word."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from . import screen
from .ask import ask, here

BAR = 32
"""Characters of a whole bar."""

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
"""What each status is called, in the order of a capture's life."""

SPENT = {"days": "spent by day", "sessions": "by session", "purposes": "by purpose", "models": "by model"}

LEGEND = (
    "worth: what the gate takes the stated confidence for. Old decisions count less, and so do captures that were"
    " given to sessions without objection."
)


def stats(options: Namespace) -> None:
    """Print the counts, or stated against observed confidence."""
    answer = ask("stats", cwd=here(), everywhere=options.everywhere or None)
    if options.json:
        screen.as_json(answer["calibration"] if options.calibration else answer)
    elif options.calibration:
        _tell_calibration(answer["calibration"])
    else:
        _tell_counts(answer)


def _tell_counts(answer: dict[str, Any]) -> None:
    captures, surfaces = answer["captures"], answer["surfaces"]
    sessions = screen.counted(surfaces["sessions"], "session")
    given = f"{surfaces['given']} given to {sessions}, of {screen.counted(surfaces['memories'], 'memory', 'memories')}"
    memories = answer["memories"]
    screen.fields(
        [
            (
                "memories",
                f"{memories['project']} here, {memories['active']} in all, {memories['archived']} archived",
            ),
            ("captures", _counted(captures["status"]) or "none yet"),
            ("reviews", _reviews(answer["reviews"])),
            ("surfaces", given),
            ("used", _share(surfaces["used"], surfaces["given"])),
            ("models", _spend(answer["spend"])),
        ]
    )
    for title in ("kinds", "extractors"):
        _tell_table(title, captures[title])
    if answer["spend"]["total"]["calls"]:
        for title in SPENT:
            _tell_spend(title, answer["spend"][title])


def _share(used: int, given: int) -> str:
    return f"{used} of {given} ({round(100 * used / given)} %)" if given else "none was given yet"


def _spend(spend: dict[str, Any]) -> str:
    total, today = spend["total"], spend["today"]
    if not total["calls"]:
        return "none was asked"
    unknown = (
        f" and {total['unknown']} of unknown cost, which count as {dollars(total['assumed'])} against the caps"
        if total["unknown"]
        else ""
    )
    state = "" if today["state"] == "free" else f", the cap is {today['state']}"
    spent = f"{dollars(total['cost'])} in {screen.counted(total['calls'], 'call')}{unknown}"
    return f"{spent}; today {dollars(today['spent_today'])} of {dollars(today['cap'])}{state}"


def dollars(amount: float) -> str:
    """Cents, and what is less in as many digits as it takes."""
    return f"${amount:.2f}" if amount >= 0.01 or not amount else f"${amount:.2g}"


def _tell_spend(title: str, rows: list[dict[str, Any]]) -> None:
    screen.heading(f"{SPENT[title]:<32}{'calls':>8}{'tokens':>12}{'cost':>11}{'unknown':>9}")
    for row in rows:
        tokens = row["input_tokens"] + row["output_tokens"]
        name = screen.line(row["name"])[:31] or "-"
        print(f"{name:<32}{row['calls']:>8}{tokens:>12}{dollars(row['cost']):>11}{row['unknown'] or '':>9}".rstrip())


def _counted(counts: dict[str, int]) -> str:
    return screen.listed([f"{counts[status]} {name}" for status, name in NAMES.items() if counts.get(status)])


def _reviews(reviews: dict[str, Any]) -> str:
    if reviews["accepted"] is None:
        return f"none decided yet (aim: {reviews['aim']:.0%} accepted)"
    edited = f", {reviews['edited']} of the approved in your words" if reviews["edited"] else ""
    counts = {status: reviews[status] for status in ("approved", "rejected", "expired")}
    return f"{reviews['accepted']:.0%} accepted (aim: {reviews['aim']:.0%}): {_counted(counts)}{edited}"


def _tell_table(title: str, rows: dict[str, dict[str, int]]) -> None:
    if not rows:
        return
    # These are told above; columns of their own would not fit eighty.
    columns = {status: name for status, name in NAMES.items() if status not in ("quarantined", "unconfirmed")}
    screen.heading(f"{title:<14}{''.join(f'{name:>11}' for name in columns.values())}")
    for row, counts in rows.items():
        cells = "".join(f"{counts.get(status, 0) or '':>11}" for status in columns)
        print(f"{screen.line(row)[:13]:<14}{cells}".rstrip())


def _tell_calibration(curves: dict[str, list[dict[str, Any]]]) -> None:
    if not curves:
        print("Nothing was decided yet: every extractor is taken at its word.\n  decide: subconscious review")
        return
    for extractor, tenths in curves.items():
        screen.heading(screen.line(extractor))
        title = f"{'stated':<9} {'observed (bar) against stated (mark)':<{BAR + 6}} right     of   worth"
        print(screen.paint(title, "dim"))
        for tenth in reversed(tenths):
            if tenth["samples"]:
                print(_row(tenth))
    print(f"\n{screen.wrapped(LEGEND)}")


def _row(tenth: dict[str, Any]) -> str:
    low, observed = tenth["low"], tenth["right"] / tenth["samples"]
    drawn = f"{bar(observed, tenth['stated']):<{BAR + 6}}"
    return f"{low:.1f}-{low + 0.1:.1f}   {drawn} {observed:>5.0%} {tenth['samples']:>6.1f}  {tenth['worth']:>6.2f}"


def bar(observed: float, stated: float, blocks: bool | None = None) -> str:
    """A bar as long as the share observed, with a mark where the stated share would end."""
    blocks = _shows_blocks() if blocks is None else blocks
    full, eighth = divmod(round(observed * BAR * 8), 8)
    drawn = ("█" * full + EIGHTHS[eighth]).rstrip() if blocks else "#" * full
    cells = list(drawn.ljust(BAR + 1))
    cells[min(BAR, int(stated * BAR))] = "│" if blocks else "|"
    return "".join(cells)


def _shows_blocks() -> bool:
    return "utf" in (sys.stdout.encoding or "").lower()
