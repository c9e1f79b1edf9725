"""Decides which requests may reach the web page, by a request's headers and the page's keys alone.

Browsers send a cookie to all ports of a host, so another web server on this machine would receive this page's
cookie. To prevent that, the cookie is limited to a secret path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from secrets import token_urlsafe
from time import monotonic

COOKIE = "subconscious"
LINK_SECONDS = 600.0
"""Seconds for which a link to the web page is valid."""

LINK_PATH = "/open/"
SAFE_METHODS = ("GET", "HEAD")

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
        " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not no-referrer: with it, browsers send "Origin: null" with a form, and the origin could not be checked.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Sent with each response. Scripts and styles come from our own files only; nothing may embed the page."""


def _key() -> str:
    return token_urlsafe(32)


@dataclass(slots=True)
class Keys:
    """The secrets of an open page: its path, its cookie's value, and the token of the link that is still unused."""

    path: str = field(default_factory=_key)
    cookie: str = field(default_factory=_key)
    _token: str = ""
    _expires: float = 0.0

    @property
    def base(self) -> str:
        """The beginning of all paths of the web page."""
        return f"/{self.path}/"

    def new_link(self) -> str:
        """Return the path of a new link; an earlier link that has not been used stops working."""
        self._token, self._expires = _key(), monotonic() + LINK_SECONDS
        return f"{LINK_PATH}{self._token}"

    def use_link(self, path: str) -> bool:
        """Return whether ``path`` is the path of the link; if it is, the link becomes invalid."""
        fresh = bool(self._token) and monotonic() < self._expires
        if not (fresh and _same(path, f"{LINK_PATH}{self._token}")):
            return False
        self._token = ""
        return True

    def opens(self, path: str, cookies: Mapping[str, str]) -> bool:
        """Return whether a request has the page's secret path and cookie, so that it may be answered."""
        return _same(path[: len(self.base)], self.base) and _same(cookies.get(COOKIE, ""), self.cookie)


def _same(given: str, wanted: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def refusal(method: str, headers: Mapping[str, str], origin: str, *, link: bool) -> str:
    """Return why a request is refused because of its headers; "" if it is accepted.

    ``origin`` is the page's own origin; ``link`` is true if the request is for the link that opens the page. In a DNS
    rebinding attack, the Host header names another host. A request from a foreign page has another Origin header;
    browsers send that header with every POST request.
    """
    if headers.get("host", "") != origin.removeprefix("http://"):
        return "the request names another host"
    if method not in (*SAFE_METHODS, "POST"):
        return "the web page accepts only GET, HEAD and POST"
    site = headers.get("sec-fetch-site", "same-origin")
    if method == "POST":
        foreign = headers.get("origin") != origin or site != "same-origin"
        return "another page made the request" if foreign else ""
    # The link may be clicked anywhere, such as in a terminal that is itself a web page. It can be used once.
    return "" if link or site in ("same-origin", "none") else "another page made the request"
