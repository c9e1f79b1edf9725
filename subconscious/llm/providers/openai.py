"""The chat completions API of OpenAI and of many other servers, and OpenAI's Batch API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import openai

from subconscious.domain.errors import BadAnswerError, BadRequestError, KeyRefusedError, ProviderError
from subconscious.llm.providers import Access, BatchState, Reply, Request, Usage
from subconscious.llm.providers.prices import default_model, model_row
from subconscious.llm.providers.sdk import OutputModes, SdkCalls, open_http
from subconscious.llm.providers.structured import instruction, schema_of
from subconscious.llm.providers.wire import charged, clean, failure, garbled, need_key, need_url, tokens

NAME = "openai"
SELLER = "OpenAI"
BASE_URL = "https://api.openai.com/v1"
ENDPOINT: Final = "/v1/chat/completions"
WINDOW: Final = "24h"
UNSUPPORTED = frozenset({"minLength", "maxLength", "uniqueItems"})
"""Keywords of JSON schema that OpenAI's API rejects."""

NO_KEY = "none"
"""The key that is sent to servers that need none, because the SDK requires a key."""

STATES = {
    "completed": BatchState.ENDED,
    "cancelled": BatchState.ENDED,
    "expired": BatchState.EXPIRED,
}
"""The states of an ended batch by OpenAI's name. "failed" is an error; in any other state the batch is running."""


class ChatCompletions:
    """A model with the chat completions API, without batches: most servers that have this API have no Batch API.

    Structured output is requested by a strict schema; if the server rejects that, by JSON mode, and finally by an
    instruction in the prompt.
    """

    name: str
    server = "the server"
    """What errors call a server that is not OpenAI's; a class for one seller names the seller."""

    def __init__(self, access: Access) -> None:
        self._own = bool(access.base_url)
        """Whether the server is not OpenAI's; such a server may need no key, and accepts other parameters."""
        base_url = need_url(access.base_url or BASE_URL)
        key = need_key(access, NAME, "platform.openai.com") if access.key or not self._own else ""
        self._seller = self.server if self._own else SELLER
        self.model = access.model or default_model(self.name)
        self._effort: str = access.options.get("effort") or ("" if self._own else self._row.get("effort", ""))
        self._modes = OutputModes("schema", "object", "words")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        http = open_http(base_url, headers, access.timeout)
        self._client = openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=base_url,
            timeout=access.timeout,
            max_retries=0,
            http_client=http,
        )
        self._calls = SdkCalls(openai, http, self._seller, base_url, access.timeout)

    @property
    def _row(self) -> dict[str, Any]:
        return model_row(self.name, self.model)

    async def ask(self, request: Request) -> Reply:
        """Request one completion."""
        return await self._modes.first(self._ask, request)

    async def _ask(self, request: Request, mode: str) -> Reply:
        body = self._body(request, mode)
        completion = await self._calls(self._client.chat.completions.create(**body))
        if not isinstance(completion, openai.types.chat.ChatCompletion):
            raise garbled(self._seller)
        return self._reply(completion.to_dict(), request)

    async def check(self) -> None:
        """Check whether the key may use the model."""
        try:
            page = await self._calls(self._client.models.list())
        except KeyRefusedError:
            raise
        except BadRequestError:
            if self._own:  # some servers don't list their models
                return
            raise
        known = {model.id for model in page.data or []}
        if known and self.model not in known and not self._own:
            raise BadRequestError(f"{self._seller} has no model {self.model!r} for this key", "choose another model")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _body(self, request: Request, mode: str) -> dict[str, Any]:
        system = clean(request.system)
        if mode != "schema":
            system = f"{system}\n\n{instruction(request.schema)}"
        limit = "max_tokens" if self._own else "max_completion_tokens"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": clean(request.text)}],
            limit: request.max_tokens,
        }
        if self._effort:
            body["reasoning_effort"] = self._effort
        return body | self._shape(request, mode)

    def _shape(self, request: Request, mode: str) -> dict[str, Any]:
        if mode == "words":
            return {}
        if mode == "object":
            return {"response_format": {"type": "json_object"}}
        schema = schema_of(request.schema, frozenset() if self._own else UNSUPPORTED)
        named = {"name": request.schema.__name__[:64], "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def _reply(self, completion: Mapping[str, Any], request: Request | None = None) -> Reply:
        try:
            choice = completion["choices"][0]
            message, reason = choice["message"], choice.get("finish_reason")
            text = message.get("content") or ""
            usage = _usage(completion.get("usage") or {}, request, text)
        except (KeyError, IndexError, TypeError, AttributeError):
            raise garbled(self._seller) from None
        if message.get("refusal") or reason == "content_filter":
            raise charged(BadAnswerError("the model refused to answer", "no action is needed"), usage)
        if reason == "length":
            raise charged(
                BadAnswerError("the model's answer was cut off at the output token limit", "choose another model"),
                usage,
            )
        if not isinstance(text, str) or not text.strip():
            raise charged(BadAnswerError("the model's answer is empty", "the request is repeated later"), usage)
        return Reply(text, usage, completion.get("model") or self.model)


class OpenAIProvider(ChatCompletions):
    """OpenAI, or the server at the address in the settings, with OpenAI's Batch API."""

    name = NAME

    async def submit(self, requests: Mapping[str, Request]) -> str:
        """Upload the requests as a file and create a batch from it."""
        mode = self._modes.left[0]
        lines = (
            {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": self._body(request, mode)}
            for key, request in requests.items()
        )
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        uploaded = await self._calls(self._client.files.create(file=("batch.jsonl", content), purpose="batch"))
        batch = await self._calls(
            self._client.batches.create(input_file_id=uploaded.id, endpoint=ENDPOINT, completion_window=WINDOW)
        )
        return batch.id

    async def poll(self, batch_id: str) -> BatchState:
        """Return the state of a batch. Raises BadRequestError if the batch was refused as a whole."""
        batch = await self._found(batch_id)
        if batch is None:
            return BatchState.LOST
        if batch.status == "failed":
            errors = (batch.errors.data if batch.errors else None) or []
            body = {"error": {"code": errors[0].code, "message": errors[0].message}} if errors else {}
            raise failure(400, {}, body, f"{self._seller} refused the batch:")
        return STATES.get(batch.status, BatchState.RUNNING)

    async def results(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """Yield the results of a batch, from its files of answers and of errors."""
        batch = await self._found(batch_id)
        for file_id in (batch.output_file_id, batch.error_file_id) if batch else ():
            content = await self._calls(self._client.files.content(file_id)) if file_id else None
            for line in content.text.splitlines() if content else ():
                key, outcome = self._outcome(line)
                if outcome is not None:
                    yield key, outcome

    async def _found(self, batch_id: str) -> Any:
        try:
            return await self._calls(self._client.batches.retrieve(batch_id))
        except BadRequestError:
            return None

    def _outcome(self, line: str) -> tuple[str, Reply | ProviderError | None]:
        """Return the key and the result in a line of a result file; None as the result of an unanswered request."""
        try:
            item = json.loads(line)
            key, error, response = item["custom_id"], item.get("error") or {}, item.get("response") or {}
            status, body = int(response.get("status_code") or 500), response.get("body") or {}
        except (ValueError, TypeError, KeyError, AttributeError):
            raise garbled(self._seller) from None
        if error.get("code") in {"batch_expired", "batch_cancelled"}:
            return key, None
        if error or status != 200:
            return key, failure(status, {}, {"error": error} if error else body, self._seller)
        try:
            return key, self._reply(body)
        except ProviderError as refused:
            return key, refused


def _usage(said: Mapping[str, Any], request: Request | None, text: str) -> Usage:
    """Return the usage of a call.

    A usage that the server does not report is estimated, because rate limits count tokens.
    """
    if not said and request is not None:
        return Usage(tokens(request.system) + tokens(request.text), tokens(text))
    details = said.get("prompt_tokens_details") or {}
    return Usage(
        said.get("prompt_tokens") or 0,
        said.get("completion_tokens") or 0,
        details.get("cached_tokens") or 0,
        written=details.get("cache_write_tokens") or 0,
    )
