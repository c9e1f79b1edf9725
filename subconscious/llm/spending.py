"""What a call may cost, and whether the caps allow it.

Before a call its cost is estimated at the most, reserved in the same transaction as it is held against the caps, and
replaced by what it did cost afterwards: calls that run at once can't overshoot together. What has no known price is
recorded as unknown, and counts against the caps as ``cost_assumed`` dollars a million tokens, never as nothing.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from time import time

import aiosqlite
from pydantic import BaseModel

from subconscious.errors import CapReachedError
from subconscious.providers import Reply, Request, Usage
from subconscious.providers.prices import model_row, price
from subconscious.settings import Settings
from subconscious.store import events, spend
from subconscious.store.connect import Database
from subconscious.store.spend import Call, Outcome

log = logging.getLogger("subconscious.llm")

BYTES_A_TOKEN = 3
"""On the safe side: English text has four or five."""

SUBSCRIPTION = "claude_code"
"""The provider whose calls count against a subscription's limits rather than by the dollar."""

OVERHEAD_TOKENS = 400
"""What a provider adds of its own: the tool's description, the frame of the messages."""


def estimate(request: Request, room: int = 0) -> Usage:
    """The tokens that a request takes at the most; ``room`` is what a model may think beyond its answer."""
    words = len((request.system + request.text).encode("utf-8", "replace")) + _length_of(request.schema)
    return Usage(words // BYTES_A_TOKEN + OVERHEAD_TOKENS, request.max_tokens + room)


@lru_cache(maxsize=64)
def _length_of(schema: type[BaseModel]) -> int:
    return len(json.dumps(schema.model_json_schema()).encode())


@dataclass(frozen=True, slots=True)
class Purse:
    """Whose money it is."""

    session_id: str = ""
    project_id: str = ""


@dataclass(frozen=True, slots=True)
class Sold:
    """What is paid for: whose model, by which way."""

    provider: str
    model: str
    base_url: str = ""
    batch: bool = False

    def most(self, request: Request) -> Usage:
        """The tokens that a request takes of this model at the most."""
        return estimate(request, model_row(self.provider, self.model).get("room", 0))


class Spending:
    """The caps over one database."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.settings = settings
        self._database = database

    def dollars(self, sold: Sold, usage: Usage) -> float | None:
        """What a usage costs; None where nobody can tell. A server that tells no tokens tells no cost either."""
        if usage.cost is None and usage.input == usage.output == 0:
            return None
        return price(sold.provider, sold.model, usage, batch=sold.batch, base_url=sold.base_url)

    def counted(self, sold: Sold, usage: Usage) -> float:
        """What a usage counts against the caps: its price, or where there is none the one that is assumed."""
        known = self.dollars(sold, usage)
        return (usage.input + usage.output) * self.settings.cost_assumed / 1e6 if known is None else known

    def answered(self, sold: Sold, reply: Reply, most: Usage) -> Outcome:
        """The record of a call that was answered."""
        told = reply.usage if reply.usage.input or reply.usage.output else most
        sold = replace(sold, model=reply.model or sold.model)
        return Outcome(
            outcome="answered",
            model=sold.model,
            input_tokens=told.input,
            output_tokens=told.output,
            cached_tokens=reply.usage.cached,
            cost=self.dollars(sold, reply.usage),
            reserved=self.counted(sold, told),
        )

    def failed(self, sold: Sold, most: Usage, code: str, *, charged: bool) -> Outcome:
        """The record of a call that was not: for nothing, or for nobody knows what."""
        reserved = self.counted(sold, most) if charged else 0.0
        return Outcome(code, sold.model, 0, 0, 0, None if charged and reserved else 0.0, reserved)

    async def reserve(self, call: Call) -> int:
        """Put a call on record if the caps allow it; return the record's id. Raises CapReachedError."""
        async with self._database.write() as tx:
            return await self.reserve_in(tx, call)

    async def reserve_in(self, tx: aiosqlite.Connection, call: Call) -> int:
        """``reserve`` within a transaction of the caller's."""
        if call.provider == SUBSCRIPTION:
            await self._hold_tokens(tx, call.input_tokens + call.output_tokens)
        await self._hold(tx, "day", _today().isoformat(), await _spent_today(tx), call.reserved)
        if call.session_id:
            spent = await spend.of_session(tx, call.session_id)
            await self._hold(tx, "session", call.session_id, spent, call.reserved)
        return await spend.begin(tx, call)

    async def _hold_tokens(self, tx: aiosqlite.Connection, more: int) -> None:
        """A subscription is not billed by the token, but its limits are the person's own work."""
        cap = self.settings.claude_code_tokens_per_day
        spent = await spend.tokens_since(tx, SUBSCRIPTION, _today().timestamp(), tomorrow())
        if spent + more > cap:
            raise CapReachedError(
                f"the cap of {cap} tokens a day for Claude Code is reached: {spent} spent, the next call may take"
                f" {more}",
                "wait, or raise claude_code_tokens_per_day in config.toml and run `subconscious daemon stop`",
                tomorrow(),
            )

    async def _hold(self, tx: aiosqlite.Connection, scope: str, which: str, spent: float, more: float) -> None:
        cap: float = getattr(self.settings, f"cost_per_{scope}")
        if more > 0 and spent + more > cap:
            raise CapReachedError(
                f"the cap of ${cap:g} a {scope} is reached: ${spent:.2f} spent, the next call may take ${more:.2f}",
                f"wait, or raise cost_per_{scope} in config.toml and run `subconscious daemon stop`",
                tomorrow(),
            )
        if more > 0 and spent + more >= cap * self.settings.cost_warning:
            await self._warn(tx, scope, which, f"${spent + more:.2f} of the ${cap:g} a {scope} are spent or reserved")

    async def _warn(self, tx: aiosqlite.Connection, scope: str, which: str, words: str) -> None:
        """Warn once of each day and each session."""
        if await events.latest(tx, f"cap a {scope}", which) is None:
            log.warning("%s", words)
            await events.record(tx, "warned", f"cap a {scope}", which, reason=words)

    async def withdraw(self, call_id: int) -> None:
        """Take back the record of a call that was never made."""
        async with self._database.write() as tx:
            await spend.withdraw(tx, call_id)

    async def complete(self, call_id: int, outcome: Outcome) -> None:
        """Write down what became of a call."""
        async with self._database.write() as tx:
            await spend.complete(tx, call_id, outcome)

    async def allows(self, more: float) -> bool:
        """Whether the day's cap allows so many dollars more."""
        return await _spent_today(self._database.reader) + more <= self.settings.cost_per_day

    async def note(self, sold: Sold, purpose: str, usage: Usage) -> None:
        """Put a call on record that was made already, and cost what it cost."""
        counted = self.counted(sold, usage)
        call = Call(time(), sold.provider, sold.model, purpose, "", "", counted)
        cost = self.dollars(sold, usage)
        async with self._database.write() as tx:
            done = Outcome("answered", sold.model, usage.input, usage.output, usage.cached, cost, counted)
            await spend.complete(tx, await spend.begin(tx, call), done)

    async def state(self) -> dict[str, float | str]:
        """The day's cap, for `status`."""
        spent = await _spent_today(self._database.reader)
        cap = self.settings.cost_per_day
        near = spent >= cap * self.settings.cost_warning
        tokens = await spend.tokens_since(self._database.reader, SUBSCRIPTION, _today().timestamp(), tomorrow())
        return {
            "spent_today": spent,
            "cap": cap,
            "state": "reached" if spent >= cap else "near" if near else "free",
            "tokens_today": tokens,
            "tokens_cap": self.settings.claude_code_tokens_per_day,
        }


async def _spent_today(tx: aiosqlite.Connection) -> float:
    """Dollars that count against this day's cap."""
    return await spend.since(tx, _today().timestamp(), tomorrow())


def _today() -> datetime:
    """The beginning of this day, where the person is."""
    return datetime.fromtimestamp(time()).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)


def tomorrow() -> float:
    """When the next day begins: the day after today's beginning plus 30 hours, for a day may have 25."""
    return (_today() + timedelta(hours=30)).replace(hour=0).timestamp()
