"""Costs of an import with a language model: the estimate by provider, and the limit that --max-cost sets."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subconscious.domain.errors import RequestError

from . import screen
from .ask import ask

if TYPE_CHECKING:
    from subconscious.wire.imports import ImportOffer, ModelEstimate, SourceFile

SMALLEST_SHOWN = 0.01
"""Smaller amounts, in dollars, are shown as "less than $0.01"."""

READING_SECONDS = 600.0
"""Seconds that queueing one session may take on a busy machine."""


@dataclass(slots=True)
class Queued:
    """Counts of what was queued for the model; ``not_read`` maps the path of each session left out to the reason."""

    sessions: int = 0
    calls: int = 0
    tokens: int = 0
    not_read: dict[str, str] = field(default_factory=dict)


def print_estimate(tags: ModelEstimate, chosen: Sequence[SourceFile], options: Namespace) -> None:
    """Print the cost of an import with a model: an estimate, or with ``--with-model`` the cost of this import."""
    if not tags["sessions"]:
        return
    about = "about " if tags["estimated"] else ""
    words = f"{about}{_thousands(tags['tokens'])} tokens in {screen.counted(tags['calls'], 'call')}"
    asked = options.with_model
    print(screen.paint("A language model reads them, too" if asked else "Optional: with a language model", "bold"))
    print(f"      {screen.counted(tags['sessions'], 'session')}, {words}")
    screen.fields(tuple((f"{offer['provider']} {offer['model']}".strip(), _terms(offer)) for offer in tags["offers"]))
    if not asked:
        print("`--with-model` uses the configured provider; `--max-cost DOLLARS` limits the cost.")
        return
    left_out = sum(1 for row in unread(chosen) if row not in affordable(chosen, options.max_cost))
    if left_out:
        print(f"{screen.counted(left_out, 'session')} left out, to stay below {_dollars(options.max_cost)}.")
    print(f"At most {_dollars(tags['cost_per_day'])} a day is spent; the rest waits for the next day.")


def _terms(offer: ImportOffer) -> str:
    if offer["cost"] is None:
        price = "price unknown"
    elif offer["cost"] == 0:
        price = "$0, it runs on your machine"
    else:
        batch = "" if offer["batch"] is None else f", {_dollars(offer['batch'])} as a batch (answered within a day)"
        price = f"{_dollars(offer['cost'])}{batch}; at most {_dollars(offer['most'] or 0.0)}"
        price = _dollars(offer["most"]) if offer["most"] and offer["most"] < SMALLEST_SHOWN else price
    return price if offer["configured"] else f"{price} (not set up)"


def _dollars(amount: float) -> str:
    return f"${amount:.2f}" if amount >= SMALLEST_SHOWN or amount == 0 else f"less than ${SMALLEST_SHOWN}"


def _thousands(number: int) -> str:
    return f"{number / 1000:.0f}k" if number >= 10_000 else f"{number:,}"


def check_options(options: Namespace, tags: ModelEstimate) -> None:
    """Check the options --with-model and --max-cost.

    Raises RequestError if --with-model is used without a provider, or --max-cost without --with-model or without a
    known price.
    """
    if not options.with_model:
        if options.max_cost is not None:
            raise RequestError(
                "--max-cost needs --with-model",
                "add --with-model, or leave out --max-cost: an import without a model costs nothing",
            )
        return
    offer = next((offer for offer in tags["offers"] if offer["configured"]), None)
    if offer is None:
        raise RequestError(
            "no provider is set, so no model can read the sessions",
            'set provider = "anthropic" (or another provider) in config.toml, or import without --with-model',
        )
    if options.max_cost is not None and offer["most"] is None:
        raise RequestError(
            f"the price of {offer['provider']} {offer['model']} is unknown, so --max-cost can't be applied",
            "leave out --max-cost; the calls still count against the `cost_per_day` setting",
        )


def unread(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Return the sessions that a model has not read, or has not read to the end."""
    return [row for row in files if "model" in row and row["model"]["calls"]]


def affordable(files: Sequence[SourceFile], most: float | None) -> list[SourceFile]:
    """Return the newest unread sessions whose maximum costs add up to at most ``most`` dollars (None: no limit).

    A session that would exceed the limit, or has an unknown cost, is left out; older, cheaper ones may still fit.
    """
    wanted = sorted(unread(files), key=lambda row: -row["last"])
    if most is None:
        return wanted
    left, kept = most, []
    for row in wanted:
        cost = row["model"]["most"]
        if cost is not None and cost <= left:
            left -= cost
            kept.append(row)
    return kept


def queue(files: Sequence[SourceFile]) -> Queued:
    """Queue sessions for the model."""
    queued = Queued()
    for row in files:
        result = ask("import_read", READING_SECONDS, transcript=row["path"], origin="user")
        if result["reason"]:
            queued.not_read[row["path"]] = result["reason"]
            continue
        queued.sessions += 1
        queued.calls += result["calls"]
        queued.tokens += result["tokens"]
    return queued


def print_queued(queued: Queued) -> None:
    """Print what was queued for the model."""
    print(screen.paint("For the model", "bold"))
    screen.fields((("sessions", queued.sessions), ("calls", queued.calls), ("tokens", queued.tokens)))
    for path, reason in queued.not_read.items():
        print(screen.paint(screen.wrapped(f"{path}: {reason}", 6), "dim"))
    if queued.calls:
        print("The model reads them in the background. To see the progress: subconscious status")
