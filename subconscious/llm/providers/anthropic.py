"""The Messages API and Message Batches API of Anthropic, or of a compatible server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anthropic

from subconscious.domain.errors import BadAnswerError, BadRequestError, ProviderError
from subconscious.llm.providers import Access, BatchState, Reply, Request, Usage
from subconscious.llm.providers.prices import default_model, model_row
from subconscious.llm.providers.sdk import OutputModes, SdkCalls, open_http
from subconscious.llm.providers.structured import instruction, schema_of
from subconscious.llm.providers.wire import charged, clean, failure, garbled, need_key, need_url

NAME = "anthropic"
SELLER = "Anthropic"
BASE_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"
TOOL = "answer"
UNSUPPORTED = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "uniqueItems"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
"""Keywords of JSON schema that the API rejects."""

STATUS_OF = {
    "authentication_error": 401,
    "permission_error": 403,
    "billing_error": 402,
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "timeout_error": 504,
    "api_error": 500,
    "not_found_error": 404,
}
"""The HTTP status for each type of error in a batch, as a single call would have returned it."""


class AnthropicProvider:
    """Claude through Anthropic's API.

    Structured output is requested by the output format; if the server rejects that, by a forced tool call, and
    finally by an instruction in the prompt.
    """

    name = NAME

    def __init__(self, access: Access) -> None:
        key = need_key(access, NAME, "console.anthropic.com")
        base_url = need_url(access.base_url or BASE_URL)
        self.model = access.model or default_model(NAME)
        self._row = model_row(NAME, self.model)
        self._modes = OutputModes("format", "tool", "words")
        http = open_http(base_url, {"x-api-key": key, "anthropic-version": VERSION}, access.timeout)
        self._client = anthropic.AsyncAnthropic(
            api_key=key,
            base_url=base_url,
            timeout=access.timeout,
            max_retries=0,
            http_client=http,
            open_telemetry=False,
            webhook_key="",
        )
        self._calls = SdkCalls(anthropic, http, SELLER, base_url, access.timeout)

    async def ask(self, request: Request) -> Reply:
        """Request one message."""
        return await self._modes.first(self._ask, request)

    async def _ask(self, request: Request, mode: str) -> Reply:
        body = self._body(request, mode)
        message = await self._calls(self._client.messages.create(**body))
        return self._reply(message)

    async def check(self) -> None:
        """Check key and model by looking up the model."""
        await self._calls(self._client.models.retrieve(self.model))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def submit(self, requests: Mapping[str, Request]) -> str:
        """Create a message batch."""
        mode = self._modes.left[0]
        items: Any = [{"custom_id": key, "params": self._body(request, mode)} for key, request in requests.items()]
        batch = await self._calls(self._client.messages.batches.create(requests=items))
        return batch.id

    async def poll(self, batch_id: str) -> BatchState:
        """Return the state of a batch."""
        try:
            batch = await self._calls(self._client.messages.batches.retrieve(batch_id))
        except BadRequestError:
            return BatchState.LOST
        if batch.processing_status != "ended":
            return BatchState.RUNNING
        if batch.results_url is None:  # archived: results are kept for 29 days
            return BatchState.LOST
        return BatchState.EXPIRED if batch.request_counts.expired else BatchState.ENDED

    async def results(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """Yield the results of a batch, read line by line."""
        async for line in self._calls.each(self._client.messages.batches.results(batch_id)):
            outcome = line.result
            if outcome.type == "succeeded":
                yield line.custom_id, self._outcome(outcome.message)
            elif outcome.type == "errored":
                error = outcome.error.error
                body = {"error": {"type": error.type, "message": error.message}}
                yield line.custom_id, failure(STATUS_OF.get(error.type, 400), {}, body, SELLER)

    def _outcome(self, message: Any) -> Reply | ProviderError:
        try:
            return self._reply(message)
        except ProviderError as error:
            return error

    def _body(self, request: Request, mode: str) -> dict[str, Any]:
        system = clean(request.system)
        if mode == "words":
            system = f"{system}\n\n{instruction(request.schema)}"
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens + self._row.get("room", 0),
            "system": system,
            "messages": [{"role": "user", "content": clean(request.text)}],
        }
        if "thinking" in self._row:
            body["thinking"] = {"type": self._row["thinking"]}
        return body | self._shape(request, mode)

    def _shape(self, request: Request, mode: str) -> dict[str, Any]:
        if mode == "words":
            return {}
        schema = schema_of(request.schema, UNSUPPORTED)
        if mode == "format":
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        tool = {"name": TOOL, "description": "Give the answer.", "input_schema": schema}
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}

    def _reply(self, message: Any) -> Reply:
        """Return the reply in a message; it may be in a tool call or in text, depending on the request."""
        if not isinstance(message, anthropic.types.Message) or message.content is None:
            raise garbled(SELLER)
        usage = _usage(message.usage)
        _must_be_whole(message.stop_reason, usage)
        text = _said(message)
        if not text.strip():
            raise charged(BadAnswerError("the model's answer is empty", "the request is repeated later"), usage)
        return Reply(text, usage, message.model or self.model)


def _said(message: Any) -> str:
    used = [json.dumps(block.input) for block in message.content if block.type == "tool_use"]
    return used[0] if used else "".join(block.text or "" for block in message.content if block.type == "text")


def _must_be_whole(reason: str | None, usage: Usage) -> None:
    if reason == "refusal":
        raise charged(BadAnswerError("the model refused to answer", "no action is needed"), usage)
    if reason in {"max_tokens", "model_context_window_exceeded"}:
        raise charged(
            BadAnswerError("the model's answer was cut off at the output token limit", "choose another model"), usage
        )


def _usage(usage: Any) -> Usage:
    """Return the usage. The API reports cached and other input separately; ``Usage.input`` is the sum."""
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return Usage((usage.input_tokens or 0) + cached + written, usage.output_tokens or 0, cached, written=written)
