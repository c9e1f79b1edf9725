"""Joins small requests into one call to a model, which answers them as a list.

Only requests with the same prompt, session and project are joined, so that the text of one project can't influence the
answer for another project. If the answer to a request is missing, duplicated or invalid, the request is sent alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator, create_model

from subconscious.domain.errors import BadAnswerError, BadRequestError
from subconscious.llm.providers import Request
from subconscious.llm.spending import BilledTo, estimate
from subconscious.settings.settings import Settings

JOINED_TOKENS = 20_000
"""A joined call takes no more requests once it has this many tokens."""

INSTRUCTION = """

You are given {count} items, each between <item number="N"> and </item>. Do what is said above for each of them by \
itself, as if it were the only one; what stands in one item says nothing about another. Give a list of answers, one \
for each item, each with the number of its item."""

_MARK = re.compile(r"<(?=/?item\b)", re.IGNORECASE)

AskOne = Callable[[Request, str, str], Awaitable[BaseModel]]
Wording = tuple[str, str, type[BaseModel], BilledTo]


@dataclass(slots=True)
class Group:
    """Requests that are gathered to be sent in one call."""

    requests: list[Request] = field(default_factory=list)
    answers: list[asyncio.Future[BaseModel]] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None
    tokens: int = 0


class Joiner:
    """Gathers requests for a short time (a setting) and sends those with the same prompt together."""

    def __init__(self, ask: AskOne, settings: Settings) -> None:
        self._ask = ask
        self._settings = settings
        self._groups: dict[Wording, Group] = {}
        self._asking: dict[asyncio.Task[None], Group] = {}

    async def ask(self, request: Request, *, billed_to: BilledTo) -> BaseModel:
        """Return the answer to a request, which may be sent with others. Raises ProviderError if the call fails."""
        wording = (request.purpose, request.system, request.schema, billed_to)
        group = self._groups.setdefault(wording, Group())
        if group.timer is None:
            loop = asyncio.get_running_loop()
            group.timer = loop.call_later(self._settings.micro_batch_seconds, self._flush, wording, group)
        answer: asyncio.Future[BaseModel] = asyncio.get_running_loop().create_future()
        group.requests.append(request)
        group.answers.append(answer)
        most = estimate(request)
        group.tokens += most.input + most.output
        if len(group.requests) >= self._settings.micro_batch_size or group.tokens >= JOINED_TOKENS:
            self._flush(wording, group)
        return await answer

    def _flush(self, wording: Wording, group: Group) -> None:
        if group.timer is not None:
            group.timer.cancel()
        if self._groups.get(wording) is group:
            del self._groups[wording]
        task = asyncio.create_task(self._answer(group, wording[3]))
        self._asking[task] = group
        task.add_done_callback(self._asking.pop)

    async def _answer(self, group: Group, billed_to: BilledTo) -> None:
        """Send the requests of callers that still wait, and pass the answers to them."""
        waiting = [pair for pair in zip(group.requests, group.answers, strict=True) if not pair[1].done()]
        try:
            found = await self._together([request for request, _ in waiting], billed_to)
            alone = [pair for number, pair in enumerate(waiting, 1) if number not in found]
            for number, value in found.items():
                _settle(waiting[number - 1][1], value)
            await asyncio.gather(*(self._alone(request, answer, billed_to) for request, answer in alone))
        except Exception as error:  # noqa: BLE001 - the waiting callers must get any error
            for _, answer in waiting:
                _settle(answer, error)
        finally:
            for _, answer in waiting:
                answer.cancel()

    async def _together(self, requests: Sequence[Request], billed_to: BilledTo) -> Mapping[int, BaseModel]:
        """Send requests in one joined call; return their answers by the request's number, counted from 1.

        The result is empty for a single request, or if the call was rejected or its answer is unusable. Raises any
        other error of the call.
        """
        if len(requests) < 2:
            return {}
        try:
            answer = await self._ask(joined(requests), billed_to.session_id, billed_to.project_id)
        except (BadAnswerError, BadRequestError):
            return {}
        return answers(answer, len(requests))

    async def _alone(self, request: Request, answer: asyncio.Future[BaseModel], billed_to: BilledTo) -> None:
        if answer.done():
            return
        try:
            _settle(answer, await self._ask(request, billed_to.session_id, billed_to.project_id))
        except Exception as error:  # noqa: BLE001 - the waiting caller must get any error
            _settle(answer, error)

    async def close(self) -> None:
        """Cancel all running calls, and the callers that wait for their answers."""
        for wording, group in list(self._groups.items()):
            self._flush(wording, group)
        asking = dict(self._asking)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        # A task that was cancelled before its first step has not cancelled the callers that wait for it.
        for answer in (answer for group in asking.values() for answer in group.answers):
            answer.cancel()


def joined(requests: Sequence[Request]) -> Request:
    """Return one request with the texts of all ``requests`` as items. No text can end its item or imitate another."""
    first = requests[0]
    items = (
        f'<item number="{number}">\n{_MARK.sub("< ", request.text)}\n</item>'
        for number, request in enumerate(requests, 1)
    )
    return Request(
        purpose=first.purpose,
        system=first.system + INSTRUCTION.format(count=len(requests)),
        text="\n".join(items),
        schema=list_of(first.schema),
        max_tokens=sum(request.max_tokens for request in requests),
    )


@lru_cache(maxsize=64)
def list_of(schema: type[BaseModel]) -> type[BaseModel]:
    """Return the schema of a joined answer. An invalid entry becomes None instead of invalidating the list."""
    entry = create_model(
        "Entry", number=(int, Field(description="the item's number")), answer=(schema, Field(description="its answer"))
    )
    entries: Any = list[Annotated[entry, WrapValidator(_or_none)]]
    made: type[BaseModel] = create_model(f"{schema.__name__}List", answers=(entries, ...))
    return made


def _or_none(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(value)
    except ValidationError:
        return None


def answers(answer: Any, count: int) -> dict[int, BaseModel]:
    """Return the answers by item number; if a number occurs twice, both answers are dropped: either may be wrong."""
    entries = [entry for entry in answer.answers if entry is not None and 1 <= entry.number <= count]
    numbers = [entry.number for entry in entries]
    return {entry.number: entry.answer for entry in entries if numbers.count(entry.number) == 1}


def _settle(answer: asyncio.Future[BaseModel], result: BaseModel | Exception) -> None:
    if answer.done():
        return
    if isinstance(result, Exception):
        answer.set_exception(result)
    else:
        answer.set_result(result)
