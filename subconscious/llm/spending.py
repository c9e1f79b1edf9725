"""Estimates and records the cost of calls, and enforces the caps.

Before a call, its maximum cost is reserved in the transaction that checks the caps; after the call the reservation is
replaced by the actual cost. So concurrent calls can't exceed a cap together. A call without a known price is recorded
with an unknown cost, and counts against the caps with ``cost_assumed`` dollars per million tokens.
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

from subconscious.domain.errors import CapReachedError
from subconscious.llm.providers import Reply, Request, Usage
from subconscious.llm.providers.prices import model_row, price
from subconscious.settings.settings import Settings
from subconscious.store import events, spend
from subconscious.store.connect import Database
from subconscious.store.spend import Call, Outcome
from subconscious.wire import daemon as wire

log = logging.getLogger("subconscious.llm")

BYTES_A_TOKEN = 3
"""The bytes per token in estimates. It is low to be safe: English text has four or five."""

SUBSCRIPTION = "claude_code"
"""The provider whose calls count against a daily cap of tokens, in addition to the caps in dollars."""

OVERHEAD_TOKENS = 400
"""Tokens that a provider adds to a request: a tool's description, the markup of messages."""


def estimate(request: Request, room: int = 0) -> Usage:
    """Return the most tokens that a request can take; ``room`` is the number of tokens for the model's thinking."""
    words = len((request.system + request.text).encode("utf-8", "replace")) + _length_of(request.schema)
    return Usage(words // BYTES_A_TOKEN + OVERHEAD_TOKENS, request.max_tokens + room)


@lru_cache(maxsize=64)
def _length_of(schema: type[BaseModel]) -> int:
    return len(json.dumps(schema.model_json_schema()).encode())


@dataclass(frozen=True, slots=True)
class BilledTo:
    """The session and project that a call's cost is recorded for."""

    session_id: str = ""
    project_id: str = ""


@dataclass(frozen=True, slots=True)
class PricedModel:
    """What the price of a call depends on: provider, model, server, and whether the call is in a batch."""

    provider: str
    model: str
    base_url: str = ""
    batch: bool = False

    def most(self, request: Request) -> Usage:
        """Return the most tokens that a request to this model can take."""
        return estimate(request, model_row(self.provider, self.model).get("room", 0))


class Spending:
    """Records the costs of calls in one database, and enforces the caps on them."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.settings = settings
        self._database = database

    def dollars(self, priced: PricedModel, usage: Usage) -> float | None:
        """Return the price of ``usage`` in dollars; None if it is unknown or the server reports no tokens."""
        if usage.cost is None and usage.input == usage.output == 0:
            return None
        return price(priced.provider, priced.model, usage, batch=priced.batch, base_url=priced.base_url)

    def counted(self, priced: PricedModel, usage: Usage) -> float:
        """Return the dollars to count for ``usage`` against the caps: its price, or an assumed price if it has none."""
        known = self.dollars(priced, usage)
        return (usage.input + usage.output) * self.settings.cost_assumed / 1e6 if known is None else known

    def answered(self, priced: PricedModel, reply: Reply, most: Usage) -> Outcome:
        """Return the record of an answered call."""
        used = reply.usage if reply.usage.input or reply.usage.output else most
        priced = replace(priced, model=reply.model or priced.model)
        return Outcome(
            outcome="answered",
            model=priced.model,
            input_tokens=used.input,
            output_tokens=used.output,
            cached_tokens=reply.usage.cached,
            cost=self.dollars(priced, reply.usage),
            reserved=self.counted(priced, used),
        )

    def failed(self, priced: PricedModel, most: Usage, code: str, *, charged: bool) -> Outcome:
        """Return the record of a failed call: free, or with an unknown cost if it may have been ``charged``."""
        reserved = self.counted(priced, most) if charged else 0.0
        return Outcome(code, priced.model, 0, 0, 0, None if charged and reserved else 0.0, reserved)

    async def reserve(self, call: Call) -> int:
        """Record a call and reserve its cost; return the record's id.

        Raises CapReachedError if the call would exceed a cap.
        """
        async with self._database.write() as tx:
            return await self.reserve_in(tx, call)

    async def reserve_in(self, tx: aiosqlite.Connection, call: Call) -> int:
        """Do the same as ``reserve``, but in the caller's transaction."""
        if call.provider == SUBSCRIPTION:
            await self._hold_tokens(tx, call.input_tokens + call.output_tokens)
        await self._hold(tx, "day", _today().isoformat(), await _spent_today(tx), call.reserved)
        if call.session_id:
            spent = await spend.of_session(tx, call.session_id)
            await self._hold(tx, "session", call.session_id, spent, call.reserved)
        return await spend.begin(tx, call)

    async def _hold_tokens(self, tx: aiosqlite.Connection, more: int) -> None:
        """Raise CapReachedError if ``more`` tokens would exceed the daily cap for a subscription."""
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
        """Log a warning about a cap, once per day or session."""
        if await events.latest(tx, f"cap a {scope}", which) is None:
            log.warning("%s", words)
            await events.record(tx, "warned", f"cap a {scope}", which, reason=words)

    async def withdraw(self, call_id: int) -> None:
        """Delete the record of a call that was not made."""
        async with self._database.write() as tx:
            await spend.withdraw(tx, call_id)

    async def complete(self, call_id: int, outcome: Outcome) -> None:
        """Record the outcome of a call."""
        async with self._database.write() as tx:
            await spend.complete(tx, call_id, outcome)

    async def allows(self, more: float) -> bool:
        """Whether ``more`` dollars can be spent without exceeding today's cap."""
        return await _spent_today(self._database.reader) + more <= self.settings.cost_per_day

    async def note(self, priced: PricedModel, purpose: str, usage: Usage) -> None:
        """Record a call that was already made, with its cost."""
        counted = self.counted(priced, usage)
        call = Call(time(), priced.provider, priced.model, purpose, "", "", counted)
        cost = self.dollars(priced, usage)
        async with self._database.write() as tx:
            done = Outcome("answered", priced.model, usage.input, usage.output, usage.cached, cost, counted)
            await spend.complete(tx, await spend.begin(tx, call), done)

    async def state(self) -> wire.Spending:
        """Return the daily caps in dollars and tokens, and what was spent today, for `status`."""
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
    """Return the dollars that count against today's cap."""
    return await spend.since(tx, _today().timestamp(), tomorrow())


def _today() -> datetime:
    """Return the start of today in local time."""
    return datetime.fromtimestamp(time()).replace(hour=0, minute=0, second=0, microsecond=0).astimezone()


def tomorrow() -> float:
    """Return the start of tomorrow in local time, in seconds since the epoch."""
    # Without a UTC offset, because tomorrow's can differ from today's (daylight saving time).
    return (_today().replace(tzinfo=None) + timedelta(days=1)).timestamp()
