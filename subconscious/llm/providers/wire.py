"""Shared code of the providers: text encoding, outgoing headers, and errors for failed calls.

``seller`` is the name of the provider in error messages. A message may repeat a server's error code, but not its other
words, which may contain the prompt or the key.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from subconscious import __version__
from subconscious.domain.errors import (
    BadRequestError,
    KeyRefusedError,
    ProviderError,
    RateLimitedError,
    UnavailableError,
)
from subconscious.domain.usage import Usage
from subconscious.llm.providers import Access

T = TypeVar("T")

CONNECT_SECONDS = 10.0
AGENT = f"subconscious/{__version__}"
CHARACTERS_PER_TOKEN = 4

KEPT_HEADERS = frozenset({"accept-encoding", "connection", "content-length", "transfer-encoding"})
IDENTIFIER = re.compile(r"[A-Za-z][\w.-]{0,63}")

LENGTH_WORDS = ("too long", "too large", "context length", "context window", "context size", "maximum context", "n_ctx")
CREDIT_WORDS = ("credit balance", "insufficient_quota", "insufficient credits", "billing_hard_limit")


class ShapeRefusedError(BadRequestError):
    """The server rejected the request, perhaps because of the mode of structured output: another mode may work."""


def clean(text: str) -> str:
    """Return text that UTF-8 can encode: a surrogate pair becomes its character, a lone surrogate U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def tokens(text: str) -> int:
    """Return an estimate of the tokens of a text, for servers that don't report them."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def hush(*names: str) -> None:
    """Prevent libraries from logging requests, which contain prompts, regardless of environment variables."""
    for name in names:
        logging.getLogger(name).setLevel(logging.WARNING)


def need_key(access: Access, name: str, seller: str) -> str:
    """Return the key. Raises KeyRefusedError if there is none, or if it is not a valid header value."""
    if not access.key:
        raise KeyRefusedError(
            f"there is no key for {seller}", f"create a key at {seller} and put it into config.toml as {name}_key"
        )
    if not access.key.isascii() or not access.key.isprintable() or " " in access.key:
        raise KeyRefusedError(f"the key for {seller} contains invalid characters", f"correct {name}_key")
    return access.key


def need_url(base_url: str) -> str:
    """Return a base URL without a trailing slash. Raises BadRequestError if it is invalid."""
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadRequestError("the base URL is invalid", "enter a URL such as http://127.0.0.1:8080/v1")
    return base_url.rstrip("/")


def only_ours(base_url: str, headers: Mapping[str, str]) -> Callable[[Any], Awaitable[None]]:
    """Return a hook for an HTTP client that allows only the host of ``base_url``, and replaces the SDK's headers.

    SDKs add headers from the process environment; some of these replace the key or describe the machine. The hook works
    with httpx and httpx2.
    """
    host = urlsplit(base_url).netloc.rpartition("@")[2].lower()

    async def keep(request: Any) -> None:
        if request.url.netloc.decode().lower() != host:
            raise BadRequestError("the server redirects to another host", "check the provider's base URL")
        sent = request.headers
        kept = {name: sent[name] for name in KEPT_HEADERS if name in sent}
        kind = sent.get("content-type", "")
        if "content-length" in sent or "transfer-encoding" in sent:
            kept["content-type"] = kind if kind.startswith("multipart/form-data") else "application/json"
        sent.clear()
        sent.update({"host": host, **kept, "accept": "application/json", "user-agent": AGENT, **headers})

    return keep


async def within(seconds: float, call: Awaitable[T], seller: str) -> T:
    """Return the result of a call. Raises UnavailableError if it takes more than ``seconds`` in all."""
    try:
        async with asyncio.timeout(seconds):
            return await call
    except TimeoutError:
        raise out_of_time(seller, seconds) from None


def out_of_time(seller: str, seconds: float) -> UnavailableError:
    """Return the error for a call that took too long."""
    return UnavailableError(f"{seller} didn't answer within {seconds:g} s", "the request is retried automatically")


def unreachable(seller: str, base_url: str = "") -> UnavailableError:
    """Return the error for a connection that can't be made, or that ends too early."""
    where = f"check that a server answers at {base_url}" if base_url else "check the network"
    return UnavailableError(f"{seller} can't be reached, or cut the connection", where)


def garbled(seller: str) -> UnavailableError:
    """Return the error for a response that does not come from the API, but from a portal, proxy or crashed server."""
    return UnavailableError(f"{seller} sent a response that its API never sends", "check the provider's base URL")


def charged(error: ProviderError, usage: Usage | None) -> ProviderError:
    """Return an error with the usage that was charged in spite of it."""
    if usage is not None:
        error.usage = usage if error.usage is None else error.usage + usage
    return error


def failure(status: int, headers: Mapping[str, str], body: object, seller: str) -> ProviderError:
    """Return the error for an HTTP error response, from its status, headers and body."""
    text = str(body).lower()
    what = f"{seller} answered {status}{_named(body)}"
    if status in {401, 403}:
        return KeyRefusedError(f"{what}: the key is refused", "check the key and its permissions")
    if status == 402 or (status in {400, 429} and any(word in text for word in CREDIT_WORDS)):
        return KeyRefusedError(f"{what}: the account has no credit left", "add credit, or choose another provider")
    if status == 429:
        return RateLimitedError(what, "the request is retried automatically", retry_after(headers))
    if status >= 500 or status in {408, 409, 425}:
        return UnavailableError(what, "the request is retried automatically", retry_after(headers))
    return _refusal(status, text, what)


def _refusal(status: int, text: str, what: str) -> BadRequestError:
    if status == 413 or any(word in text for word in LENGTH_WORDS):
        return BadRequestError(f"{what}: the request is too long for the model", "choose a model with a larger context")
    if status == 404:
        return BadRequestError(
            f"{what}: the server has no such model or no such API", "check the model and the base URL"
        )
    if 300 <= status < 400:
        return BadRequestError(f"{what}: redirects are not followed", "check the provider's base URL")
    if status in {400, 422}:
        return ShapeRefusedError(what, "check that the model supports this request")
    return BadRequestError(what, "check the provider's base URL and model")


def _named(body: object) -> str:
    """Return the error code in a response's body as " (code)"; "" if it is not a plain identifier."""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    codes = [error.get("code"), error.get("type")] if isinstance(error, Mapping) else []
    found = next((code for code in codes if isinstance(code, str) and IDENTIFIER.fullmatch(code)), "")
    return f" ({found})" if found else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that a server requests in its headers; None if it requests no wait."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    seconds = _number(said)
    return seconds if seconds is not None or said is None else _until(said)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None


def _until(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
