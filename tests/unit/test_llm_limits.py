"""The limiter's promise, checked as a server would, and the breaker's states."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.llm.limiter import Breaker, BreakerState, Limiter, Window

SECONDS = 60.0


@dataclass
class Asked:
    """A call as tried: when it is wanted, how long it takes, when in between it reaches the server, its tokens."""

    wanted: float
    takes: float
    arrives: float
    most: int
    used: float


CALLS = st.lists(
    st.builds(
        Asked,
        wanted=st.floats(0, 200),
        takes=st.floats(0, 90),
        arrives=st.floats(0, 1),
        most=st.integers(1, 400),
        used=st.floats(0, 1),
    ),
    max_size=40,
)


def _served(window: Window, calls: list[Asked]) -> list[tuple[float, int]]:
    """Play calls through the window, first come first served; when each reached the server, with its tokens."""
    arrived: list[tuple[float, int]] = []
    ends: list[tuple[float, Asked, object]] = []
    now = 0.0
    for call in sorted(calls, key=lambda call: call.wanted):
        now = max(now, call.wanted)
        while True:
            for end in sorted((end for end in ends if end[0] <= now), key=lambda end: end[0]):
                ends.remove(end)
                window.end(end[2], end[0], int(end[1].used * end[1].most))  # type: ignore[arg-type]
            pause = window.wait(now, call.most)
            if pause == 0:
                break
            later = min((end[0] for end in ends), default=inf)
            now = min(now + pause, later) if later > now else now + pause
            assert now < inf
        ends.append((now + call.takes, call, window.take(call.most)))
        arrived.append((now + call.takes * call.arrives, int(call.used * call.most)))
    return sorted(arrived)


@given(CALLS, st.integers(1, 5), st.integers(1, 500))
def test_no_window_at_the_server_exceeds_the_limit(calls: list[Asked], requests: int, tokens: int) -> None:
    calls = [call for call in calls if call.most <= tokens]
    arrived = _served(Window(requests, tokens, SECONDS), calls)
    for begin, _ in arrived:
        within = [used for at, used in arrived if begin <= at <= begin + SECONDS]
        assert len(within) <= requests
        assert sum(within) <= tokens


@given(CALLS, st.integers(1, 5))
def test_a_call_above_the_limit_runs_alone(calls: list[Asked], requests: int) -> None:
    window = Window(requests, 100, SECONDS)
    assert len(_served(window, calls)) == len(calls)


async def test_calls_are_admitted_in_order_and_can_be_cancelled() -> None:
    limiter = Limiter(Window(1, 100, 0.05))
    order: list[str] = []

    async def one(name: str) -> None:
        async with limiter.turn(1):
            order.append(name)

    tasks = [asyncio.create_task(one(name)) for name in "abcd"]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == ["a", "c", "d"]


async def test_a_call_that_was_not_made_frees_its_slot() -> None:
    limiter = Limiter(Window(1, 100, 3600))
    for _ in range(3):
        async with limiter.turn(1) as turn:
            turn.made = False
    with pytest.raises(KeyError):
        async with limiter.turn(1):
            raise KeyError
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05), limiter.turn(1):
            pass


async def test_a_pause_stops_all_calls() -> None:
    limiter = Limiter(Window(10, 100, 60))
    limiter.pause(3600)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05), limiter.turn(1):
            pass


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_accounts_share_the_window_and_pause_each_for_themselves() -> None:
    first = Limiter(Window(1, 1000, 60))
    second = first.sibling()
    first.pause(60)
    assert (first.paused > 0, second.paused) == (True, 0)
    entered = asyncio.Event()

    async def enter() -> None:
        async with second.turn(1):
            entered.set()

    third = first.sibling()
    async with third.turn(1) as turn:
        waiting = asyncio.create_task(enter())
        await asyncio.sleep(0.01)
        assert not entered.is_set(), "the window has one place"
        turn.made = False
    await asyncio.wait_for(waiting, 5)
    assert entered.is_set(), "a place that one frees is what another waits for"


def _failing(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.failed(breaker.enter())


def test_five_failures_in_a_row_open_it_for_a_minute() -> None:
    clock = Clock()
    breaker = Breaker(5, 60, clock)
    _failing(breaker, 4)
    breaker.succeeded()
    _failing(breaker, 4)
    assert breaker.state is BreakerState.CLOSED
    _failing(breaker, 1)
    assert str(breaker.state) == "open"
    assert breaker.closed_for() == 60
    clock.now += 60
    assert str(breaker.state) == "half-open"
    assert breaker.closed_for() == 0


def test_half_open_admits_one_call() -> None:
    clock = Clock()
    breaker = Breaker(1, 60, clock)
    _failing(breaker, 1)
    clock.now += 61
    assert breaker.enter()
    assert breaker.closed_for() > 0
    breaker.failed(trying=True)
    assert breaker.closed_for() == 60
    clock.now += 61
    breaker.abandoned(breaker.enter())
    assert breaker.closed_for() == 0
    breaker.enter()
    breaker.succeeded()
    assert breaker.state is BreakerState.CLOSED


def test_calls_of_before_do_not_lengthen_the_rest() -> None:
    clock = Clock()
    breaker = Breaker(2, 60, clock)
    under_way = [breaker.enter() for _ in range(10)]
    for trying in under_way[:2]:
        breaker.failed(trying)
    clock.now += 30
    for trying in under_way[2:]:
        breaker.failed(trying)
    assert breaker.closed_for() == 30
