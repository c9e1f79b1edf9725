"""Fakes of the three HTTP APIs on loopback, faithful in what they accept, what they answer and how they fail.

They refuse what the real ones refuse (keys, parameters, schemas beyond their dialect); every refusal repeats the key
and the prompt, as real servers do, so that a test can see whether they leak.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

KEY = "dummy-key-4711"
MODEL = "small-model"
REASONS = {401: "invalid key", 403: "not allowed", 429: "slow down", 500: "boom", 503: "down", 529: "overloaded"}


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it came over the wire."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> dict[str, Any]:
        """Its JSON."""
        value: dict[str, Any] = json.loads(self.content)
        return value


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer, and the manner in which it is sent."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: str = "whole"
    """whole; stall (never comes); stall_mid_body; trickle (a byte now and then); cut; cut_mid_body."""

    @property
    def content(self) -> bytes:
        """Its bytes; what isn't JSON is given as bytes."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class RefusedError(Exception):
    """The API refuses a request."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message


class FakeServer:
    """An HTTP server; a subclass is an API. ``faults`` spoil the next answers, ``says`` makes the model's words."""

    refuses_shapes: frozenset[str] = frozenset()
    """Ways to ask for structure that this server doesn't know, as many compatible ones don't."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.faults: deque[str] = deque()
        self.says: Callable[[str], str] = lambda text: json.dumps({"word": text})
        self.fault_headers: dict[str, str] = {}
        self.redirect_to = ""
        self.connections: set[asyncio.StreamWriter] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.at_once = 0
        self.batches: dict[str, dict[str, Any]] = {}
        self.batch_faults: dict[str, str] = {}
        """By custom id: "errored", "expired" or "refusal"."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._answering = 0
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def asked(self) -> list[Seen]:
        """The questions among what was seen."""
        return [seen for seen in self.seen if seen.path.endswith(("/messages", "/completions", "/api/chat"))]

    def answer(self, seen: Seen) -> Sent:
        """Answer as the API does."""
        raise NotImplementedError

    def error(self, status: int, kind: str, message: str) -> Any:
        """The API's body for an error."""
        return {"error": {"type": kind, "code": kind, "message": message}}

    def spoiled(self, fault: str, seen: Seen) -> Sent | None:
        """The answer to a request that goes wrong; None for a fault of the API's own, which ``answer`` knows."""
        leak = f"{seen.headers.get('authorization')} {seen.headers.get('x-api-key')} {seen.content[:500]!r}"
        if fault.isdigit():
            body = self.error(int(fault), REASONS[int(fault)].replace(" ", "_"), f"{REASONS[int(fault)]} {leak}")
            return Sent(int(fault), body, self.fault_headers)
        if fault == "redirect":
            return Sent(302, b"", {"location": self.redirect_to or f"{self.url}/elsewhere"})
        if fault == "malformed":
            return Sent(200, b'{"id": "x", "choices": [{')
        if fault == "not_json":
            return Sent(200, b"<html>welcome to the hotel</html>", {"content-type": "text/html"})
        if fault == "wrong_shape":
            return Sent(200, {"hello": [1, 2]})
        if fault in {"stall", "stall_mid_body", "trickle", "cut", "cut_mid_body"}:
            return Sent(200, b"x" * 1000, manner=fault)
        return None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=1 << 24)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # What a client did not read would keep the sockets open beyond the end of the test's loop.
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        try:
            while (seen := await _read(reader)) is not None:
                self.seen.append(seen)
                self._answering += 1
                self.at_once = max(self.at_once, self._answering)
                try:
                    await asyncio.sleep(0)  # lets those that came at the same time be counted
                    if not await _send(reader, writer, self._sent(seen)):
                        return
                finally:
                    self._answering -= 1
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            self.connections.discard(writer)
            writer.close()

    def _sent(self, seen: Seen) -> Sent:
        if self.faults:
            sent = self.spoiled(self.faults[0], seen)
            if sent is not None:
                self.faults.popleft()
                return sent
        try:
            return self.answer(seen)
        except RefusedError as refused:
            leak = f"{refused.message}: {KEY} {seen.content[:500]!r}"
            return Sent(refused.status, self.error(refused.status, refused.kind, leak))

    def fault(self) -> str:
        """The next fault, for an API that makes it itself; "" where nothing goes wrong."""
        return self.faults.popleft() if self.faults else ""


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    content = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, path, headers, content)


async def _send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sent: Sent) -> bool:
    """Send an answer in its manner; whether the connection goes on."""
    if sent.manner == "cut":
        return False
    if sent.manner == "stall":
        await reader.read()
        return False
    headers = {"content-type": "application/json", "content-length": str(len(sent.content)), **sent.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {sent.status} x\r\n{lines}\r\n".encode())
    if sent.manner == "whole":
        writer.write(sent.content)
        await writer.drain()
        return True
    for byte in sent.content[:10]:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.1 if sent.manner == "trickle" else 0)
    if sent.manner == "stall_mid_body":
        await reader.read()
    return sent.manner == "trickle" and await _trickle(writer, sent.content[10:])


async def _trickle(writer: asyncio.StreamWriter, content: bytes) -> bool:
    for byte in content:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.1)
    return True


def check_schema(schema: Any, refused: frozenset[str], complain: Callable[[str], Exception]) -> None:
    """Refuse what an API with constrained decoding refuses: open objects, optional fields, foreign keywords."""
    if isinstance(schema, list):
        for each in schema:
            check_schema(each, refused, complain)
    if not isinstance(schema, dict):
        return
    foreign = refused & set(schema)
    if foreign:
        raise complain(f"keyword not permitted: {sorted(foreign)}")
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            raise complain("additionalProperties must be false")
        if set(schema.get("required", [])) != set(schema.get("properties", {})):
            raise complain("all properties must be required")
    for key, value in schema.items():
        check_schema(list(value.values()) if key == "properties" else value, refused, complain)


ODD = frozenset({"$ref", "$defs", "oneOf", "discriminator", "default"})


class AnthropicServer(FakeServer):
    """The Messages API and Message Batches."""

    results_at = ""
    """Where it says that results are, if not here."""

    def error(self, status: int, kind: str, message: str) -> Any:
        names = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
        names |= {400: "invalid_request_error", 529: "overloaded_error"}
        return {"type": "error", "error": {"type": names.get(status, "api_error"), "message": message}}

    def answer(self, seen: Seen) -> Sent:
        if seen.headers.get("x-api-key") != KEY:
            raise RefusedError(401, "", "invalid x-api-key")
        if seen.headers.get("anthropic-version") != "2023-06-01":
            raise RefusedError(400, "", "anthropic-version: header is required")
        match (seen.method, seen.path.partition("?")[0].split("/")[2:]):
            case ("POST", ["messages"]):
                return Sent(200, self._message(seen.body))
            case ("GET", ["models", name]) if name == MODEL:
                return Sent(
                    200, {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
                )
            case ("POST", ["messages", "batches"]):
                return Sent(200, self._submitted(seen.body))
            case ("GET", ["messages", "batches", name]) if name in self.batches:
                return Sent(200, self._batch(name))
            case ("GET", ["messages", "batches", name, "results"]) if name in self.batches:
                return Sent(200, self._results(name), {"content-type": "application/x-jsonl"})
        raise RefusedError(404, "", f"not found: {seen.path}")

    def _message(self, body: dict[str, Any], fault: str = "") -> dict[str, Any]:
        fault = fault or self.fault()
        if body["model"] != MODEL or fault == "unknown_model":
            raise RefusedError(404, "", f"model: {body['model']}")
        if fault == "too_long":
            raise RefusedError(400, "", "prompt is too long: 212000 tokens > 200000 maximum")
        if fault == "credit":
            raise RefusedError(400, "", "Your credit balance is too low to access the Anthropic API.")
        assert body["max_tokens"] > 0
        block = self._block(body, body["messages"][0]["content"])
        reason = {"refusal": "refusal", "max_tokens": "max_tokens"}.get(fault, "end_turn")
        usage = {
            "input_tokens": 90,
            "cache_read_input_tokens": 10,
            "cache_creation_input_tokens": 0,
            "output_tokens": 7,
        }
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [] if fault in {"empty", "refusal"} else [block],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }

    def _block(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        shape = body.get("output_config", {}).get("format")
        if shape is not None:
            self._accept("format", "output_config: Extra inputs are not permitted")
            self._check(shape["schema"])
        tool = "tools" in body
        if tool:
            self._accept("tool", "tools: Extra inputs are not permitted")
            self._check(body["tools"][0]["input_schema"])
            assert body["tool_choice"] == {"type": "tool", "name": body["tools"][0]["name"]}
        said = self.says(text)
        if tool and said.startswith("{"):
            return {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": json.loads(said)}
        return {"type": "text", "text": said}

    def _accept(self, way: str, message: str) -> None:
        if way in self.refuses_shapes:
            raise RefusedError(400, "", message)

    def _check(self, schema: Any) -> None:
        bounds = {"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum"}
        check_schema(schema, ODD | bounds, lambda message: RefusedError(400, "", message))

    def _submitted(self, body: dict[str, Any]) -> dict[str, Any]:
        name = f"msgbatch_{len(self.batches) + 1}"
        keys = [each["custom_id"] for each in body["requests"]]
        if len(set(keys)) < len(keys) or not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", key) for key in keys):
            raise RefusedError(400, "", "custom_id")
        self.batches[name] = {"items": body["requests"], "running": True, "archived": False}
        return self._batch(name)

    def _batch(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        expired = sum(self.batch_faults.get(each["custom_id"]) == "expired" for each in batch["items"])
        counts = {"processing": 0, "succeeded": 1, "errored": 0, "canceled": 0, "expired": expired}
        ended = not batch["running"]
        readable = ended and not batch["archived"]
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "ended_at": "2026-01-01T01:00:00Z" if ended else None,
            "results_url": f"{self.results_at or self.url}/v1/messages/batches/{name}/results" if readable else None,
        }

    def _results(self, name: str) -> bytes:
        lines = [{"custom_id": each["custom_id"], "result": self._result(each)} for each in self.batches[name]["items"]]
        return "".join(json.dumps(line) + "\n" for line in reversed(lines)).encode()

    def _result(self, item: dict[str, Any]) -> dict[str, Any]:
        fault = self.batch_faults.get(item["custom_id"], "")
        if fault == "expired":
            return {"type": "expired"}
        if fault == "errored":
            return {"type": "errored", "error": self.error(529, "", f"overloaded {KEY}")}
        return {"type": "succeeded", "message": self._message(item["params"], fault)}


class OpenAIServer(FakeServer):
    """Chat completions, files and batches. With ``compatible``, another server: it needs no key, older parameters."""

    def __init__(self, compatible: bool = False) -> None:
        super().__init__()
        self.compatible = compatible
        self.files: dict[str, bytes] = {}

    def error(self, status: int, kind: str, message: str) -> Any:
        return {"error": {"message": message, "type": kind, "param": None, "code": kind or None}}

    def answer(self, seen: Seen) -> Sent:
        accepted = {f"Bearer {KEY}", ""} if self.compatible else {f"Bearer {KEY}"}
        if seen.headers.get("authorization", "") not in accepted:
            raise RefusedError(401, "invalid_api_key", "Incorrect API key provided")
        match (seen.method, seen.path.partition("?")[0].split("/")[2:]):
            case ("POST", ["chat", "completions"]):
                return Sent(200, self._completion(seen.body))
            case ("GET", ["models"]):
                return Sent(
                    200, {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "x", "created": 1}]}
                )
            case ("POST", ["files"]):
                return Sent(200, self._uploaded(seen))
            case ("GET", ["files", name, "content"]) if name in self.files:
                return Sent(200, self.files[name], {"content-type": "application/octet-stream"})
            case ("POST", ["batches"]):
                return Sent(200, self._submitted(seen.body))
            case ("GET", ["batches", name]) if name in self.batches:
                return Sent(200, self._batch(name))
        raise RefusedError(404, "not_found", f"not found: {seen.path}")

    def _completion(self, body: dict[str, Any], fault: str = "") -> dict[str, Any]:
        fault = fault or self.fault()
        if body["model"] != MODEL or fault == "unknown_model":
            raise RefusedError(404, "model_not_found", f"The model {body['model']} does not exist")
        if fault == "too_long":
            raise RefusedError(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens.")
        if fault == "credit":
            raise RefusedError(429, "insufficient_quota", "You exceeded your current quota")
        self._check(body)
        said = "" if fault == "empty" else self.says(body["messages"][-1]["content"])
        message = {"role": "assistant", "content": said, "refusal": None}
        if fault == "refusal":
            message |= {"content": None, "refusal": "I can't help with that."}
        reason = "length" if fault == "max_tokens" else "stop"
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 7,
                "total_tokens": 107,
                "prompt_tokens_details": {"cached_tokens": 10},
            },
        }

    def _check(self, body: dict[str, Any]) -> None:
        limit, foreign = "max_completion_tokens", "max_tokens"
        if self.compatible:
            limit, foreign = foreign, limit
        if foreign in body:
            raise RefusedError(400, "unsupported_parameter", f"Unsupported parameter: '{foreign}'")
        assert body[limit] > 0
        shape = body.get("response_format", {"type": "none"})
        if shape["type"] in self.refuses_shapes:
            raise RefusedError(400, "invalid_request_error", "'response_format.type' is not supported")
        if shape["type"] == "json_object":
            assert "JSON" in body["messages"][0]["content"]
        if shape["type"] == "json_schema":
            assert shape["json_schema"]["strict"] is True
            bounds = frozenset() if self.compatible else frozenset({"minLength", "maxLength"})
            complain = lambda message: RefusedError(400, "invalid_json_schema", message)  # noqa: E731
            check_schema(shape["json_schema"]["schema"], ODD | bounds, complain)

    def _uploaded(self, seen: Seen) -> dict[str, Any]:
        boundary = seen.headers["content-type"].partition("boundary=")[2].encode()
        parts = [part for part in seen.content.split(b"--" + boundary) if b'name="file"' in part]
        name = f"file-{len(self.files) + 1}"
        self.files[name] = parts[0].partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        found = {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "batch.jsonl"}
        return found | {"purpose": "batch", "status": "processed"}

    def _submitted(self, body: dict[str, Any]) -> dict[str, Any]:
        assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
        items = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert all((item["method"], item["url"]) == ("POST", body["endpoint"]) for item in items)
        name = f"batch_{len(self.batches) + 1}"
        self.batches[name] = {"items": items, "running": True, "input": body["input_file_id"]}
        return self._batch(name)

    def _batch(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        faults = {each["custom_id"]: self.batch_faults.get(each["custom_id"], "") for each in batch["items"]}
        status = batch.get("status") or ("expired" if "expired" in faults.values() else "completed")
        made = {
            "id": name,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": batch["input"],
            "completion_window": "24h",
            "status": "in_progress" if batch["running"] else status,
            "created_at": 1,
        }
        if batch["running"]:
            return made
        if status == "failed":
            error = {"code": "token_limit_exceeded", "message": f"{KEY} enqueued", "line": None, "param": None}
            return made | {"errors": {"object": "list", "data": [error]}}
        self.files[f"{name}-out"] = self._lines(batch, {"", "refusal"})
        self.files[f"{name}-err"] = self._lines(batch, {"errored", "expired"})
        return made | {"output_file_id": f"{name}-out", "error_file_id": f"{name}-err"}

    def _lines(self, batch: dict[str, Any], wanted: set[str]) -> bytes:
        items = [item for item in batch["items"] if self.batch_faults.get(item["custom_id"], "") in wanted]
        return "".join(json.dumps(self._line(item)) + "\n" for item in reversed(items)).encode()

    def _line(self, item: dict[str, Any]) -> dict[str, Any]:
        fault = self.batch_faults.get(item["custom_id"], "")
        made = {"id": "x", "custom_id": item["custom_id"], "response": None, "error": None}
        if fault == "expired":
            return made | {"error": {"code": "batch_expired", "message": "This request could not be executed."}}
        if fault == "errored":
            body = self.error(500, "server_error", f"boom {KEY}")
            return made | {"response": {"status_code": 500, "request_id": "r", "body": body}}
        body = self._completion(item["body"], fault)
        return made | {"response": {"status_code": 200, "request_id": "r", "body": body}}


class OllamaServer(FakeServer):
    """Ollama's chat and show."""

    def error(self, status: int, kind: str, message: str) -> Any:
        return {"error": message}

    def answer(self, seen: Seen) -> Sent:
        match (seen.method, seen.path):
            case ("POST", "/api/chat"):
                return Sent(200, self._chat(seen.body))
            case ("POST", "/api/show") if seen.body["model"] == MODEL:
                return Sent(200, {"details": {"family": "x"}, "model_info": {}, "capabilities": ["completion"]})
        raise RefusedError(404, "", f"model '{seen.body.get('model')}' not found")

    def _chat(self, body: dict[str, Any]) -> dict[str, Any]:
        fault = self.fault()
        if body["model"] != MODEL or fault == "unknown_model":
            raise RefusedError(404, "", f"model '{body['model']}' not found")
        if fault == "too_long":
            raise RefusedError(400, "", "the input length exceeds the context length")
        assert body["stream"] is False
        assert body["options"]["num_predict"] > 0
        check_schema(body["format"], ODD, AssertionError)
        return {
            "model": MODEL,
            "created_at": "2026-01-01T00:00:00Z",
            "message": {
                "role": "assistant",
                "content": "" if fault == "empty" else self.says(body["messages"][-1]["content"]),
            },
            "done": True,
            "done_reason": "length" if fault == "max_tokens" else "stop",
            "prompt_eval_count": 100,
            "eval_count": 7,
        }
