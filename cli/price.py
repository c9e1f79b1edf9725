"""The price tag of an import with a model: what it would cost with whom, and keeping within what a person allows."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from subconscious.errors import RequestError

from . import screen
from .ask import ask

READING_SECONDS = 600.0
"""Time that handing one session over may take, on a machine that is busy."""

Row = dict[str, Any]


def tell(tags: Row, chosen: Sequence[Row], options: Namespace) -> None:
    """Show what a model would cost; with ``--with-model``, what it will cost."""
    if not tags or not tags["sessions"]:
        return
    about = "about " if tags["estimated"] else ""
    words = f"{about}{_thousands(tags['tokens'])} tokens in {screen.counted(tags['calls'], 'call')}"
    asked = options.with_model
    print(screen.paint("A language model reads them too" if asked else "With a language model, if you want", "bold"))
    print(f"      {screen.counted(tags['sessions'], 'session')}, {words}")
    screen.fields(tuple((f"{offer['provider']} {offer['model']}".strip(), _terms(offer)) for offer in tags["offers"]))
    if not asked:
        print("`--with-model` asks the provider that is set; `--max-cost DOLLARS` holds it to a sum.")
        return
    spared = sum(1 for row in unread(chosen) if row not in afford(chosen, options.max_cost))
    if spared:
        print(f"{screen.counted(spared, 'session')} left out: they would go beyond {_dollars(options.max_cost)}.")
    print(f"The cap of {_dollars(tags['cost_per_day'])} a day holds: what goes beyond it waits for the next.")


def _terms(offer: Row) -> str:
    if offer["cost"] is None:
        price = "what it costs is not known"
    elif offer["cost"] == 0:
        price = "$0, it runs on your machine"
    else:
        batch = "" if offer["batch"] is None else f", {_dollars(offer['batch'])} in its batches (within a day)"
        price = f"{_dollars(offer['cost'])}{batch}; at the very most {_dollars(offer['most'])}"
    return price if offer["configured"] else f"would cost: {price}" if offer["cost"] else f"not set: {price}"


def _dollars(sum_of: float) -> str:
    return f"${sum_of:.2f}" if sum_of >= 0.01 or sum_of == 0 else "less than $0.01"


def _thousands(number: int) -> str:
    return f"{number / 1000:.0f}k" if number >= 10_000 else f"{number:,}"


def check(options: Namespace, tags: Row) -> None:
    """Refuse what can't be held to its word: no provider, or a cap on what nobody knows the price of."""
    if not options.with_model:
        if options.max_cost is not None:
            raise RequestError("offline an import costs nothing", "give --max-cost with --with-model")
        return
    offer = next((offer for offer in tags.get("offers", ()) if offer["configured"]), None)
    if offer is None:
        raise RequestError(
            "no provider is set, so there is no model to read with",
            'set provider = "anthropic" in config.toml, or another; without --with-model nothing is needed',
        )
    if options.max_cost is not None and offer["most"] is None:
        raise RequestError(
            f"what {offer['provider']} {offer['model']} costs is not known, so it can't be held to --max-cost",
            "leave it out: what has no known price still counts against cost_per_day",
        )


def unread(files: Sequence[Row]) -> list[Row]:
    """The sessions that no model has read."""
    return [row for row in files if (row.get("model") or {}).get("calls")]


def afford(files: Sequence[Row], most: float | None) -> list[Row]:
    """The sessions that a model may read: the newest first, as long as they can't cost more than ``most`` together."""
    wanted = sorted(unread(files), key=lambda row: -float(row["last"]))
    if most is None:
        return wanted
    left, kept = most, []
    for row in wanted:
        if row["model"]["most"] <= left:
            left -= row["model"]["most"]
            kept.append(row)
    return kept


def read(files: Sequence[Row]) -> Row:
    """Hand sessions over; how many, in how many calls, and why not the others."""
    total: Row = {"sessions": 0, "calls": 0, "tokens": 0, "not_read": {}}
    for row in files:
        fate = ask("import_read", READING_SECONDS, transcript=row["path"], origin="user")
        if fate["reason"]:
            total["not_read"][row["path"]] = fate["reason"]
            continue
        total["sessions"] += 1
        total["calls"] += fate["calls"]
        total["tokens"] += fate["tokens"]
    return total


def tell_read(total: Row) -> None:
    """Say what was handed over."""
    print(screen.paint("For the model", "bold"))
    screen.fields((("sessions", total["sessions"]), ("calls", total["calls"]), ("tokens", total["tokens"])))
    for path, reason in total["not_read"].items():
        print(screen.paint(screen.wrapped(f"{path}: {reason}", 6), "dim"))
    if total["calls"]:
        print("They are read in the background, also across restarts: `subconscious status` says how far that is.")
