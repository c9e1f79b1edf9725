"""Checks each request to the web page, and limits the load. A refused request gets one line of text."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from subconscious.authorship.tcp_peers import TcpPeers
from subconscious.page.access import COOKIE, HEADERS, LINK_PATH, Keys, refusal

log = logging.getLogger("subconscious.page")

MOST_AT_ONCE = 4
"""The most requests answered at the same time: a page requests several parts, and hooks must not wait for them."""

LARGEST_BODY = 1 << 18
"""The largest form, in bytes: room for some thousand selected memories, or for one long text."""

ENTRY = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Subconscious</title>
<link rel="icon" href="{base}static/icon.svg">
<meta http-equiv="refresh" content="0; url={base}"></head><body><p><a href="{base}">Open the page</a></p></body></html>
"""
"""The response to the link that opens the web page: it sets the cookie and loads the page.

A redirect would fail if the link was clicked on another site: browsers don't send a SameSite=Strict cookie with it.
"""

AGAIN = "Run `subconscious ui` in a terminal of your own and open the link that it prints."


class Guard:
    """The ASGI application that checks requests before it passes them to the web page."""

    def __init__(self, page: ASGIApp, keys: Keys, peers: TcpPeers, port: int, heard: Callable[[], None]) -> None:
        self._page = page
        self._keys = keys
        self._peers = peers
        self._port = port
        self._heard = heard
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        answer = await self._examine(scope)
        if answer is not None:
            await answer(scope, receive, send)
        elif scope["path"].endswith("/live"):
            # A stream that stays open does not prove that a person is present, and must not occupy a slot forever.
            await self._page(scope, receive, _with_headers(send, scope["path"]))
        else:
            if not _is_for_news(scope):
                self._heard()
            async with self._slots:
                await self._page(scope, receive, _with_headers(send, scope["path"]))

    async def _examine(self, scope: Scope) -> Response | None:
        """Return the response to the opening link or to a refused request; None if the application must answer."""
        headers, path = Headers(scope=scope), scope["path"]
        link = path.startswith(LINK_PATH)
        why = refusal(scope["method"], headers, f"http://127.0.0.1:{self._port}", link=link)
        # Before the secrets are checked, so that a program that is refused can't use up the link.
        why = why or await asyncio.to_thread(self._peers.doubt, scope["client"][1], self._port)
        if not why and not _is_bounded(scope, headers):
            why = "the form is too large"
        if why:
            log.warning("the web page refused a request: %s", why)
            return _refused(f"Refused: {why}.")
        if link and scope["method"] == "GET" and self._keys.use_link(path):
            return self._entry()
        if link:
            return _refused(f"This link has already been used, or has expired. {AGAIN}")
        if not self._keys.opens(path, cookie_parser(headers.get("cookie", ""))):
            return _refused(f"Your browser has no access to this page. {AGAIN}")
        return None

    def _entry(self) -> Response:
        answer = HTMLResponse(ENTRY.format(base=self._keys.base), headers=dict(HEADERS) | {"Cache-Control": "no-store"})
        # No expiry: the cookie lasts until the browser exits, and the page closes long before that.
        answer.set_cookie(COOKIE, self._keys.cookie, path=self._keys.base, httponly=True, samesite="strict")
        return answer


def _refused(text: str) -> Response:
    return PlainTextResponse(f"{text}\n", status_code=403, headers=dict(HEADERS))


def _is_bounded(scope: Scope, headers: Headers) -> bool:
    """Return whether a request states the size of its body, within the limit. The server reads no more than stated."""
    length = headers.get("content-length", "")
    return scope["method"] != "POST" or (length.isdecimal() and len(length) < 10 and int(length) <= LARGEST_BODY)


def _is_for_news(scope: Scope) -> bool:
    """Whether the page itself sent the request to update the timeline; such requests don't keep the page open."""
    return scope["method"] == "GET" and b"news=1" in scope["query_string"].split(b"&")


def _with_headers(send: Send, path: str) -> Send:
    """Return a ``send`` function that adds the headers of ``HEADERS`` to every response."""
    # Static files may be cached: their path is as secret as the page's.
    added = {**HEADERS, "Cache-Control": "private, max-age=3600" if "/static/" in path else "no-store"}

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            named = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *(
                    (name.encode(), value.encode())
                    for name, value in added.items()
                    if name.lower().encode() not in named
                ),
            ]
        await send(message)

    return send_with_headers
