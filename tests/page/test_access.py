"""Who reaches the page: its link and cookie, and everybody who is refused."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.page_store import Furnished
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.page import guard, server
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.daemons import eventually
from tests.support.page_client import SYSTEM_PYTHON, Answer, request

NOBODY = 65534


@dataclass(frozen=True, slots=True)
class Opened:
    """A page that was opened: its origin, the beginning of its paths, and its cookie."""

    origin: str
    base: str
    cookie: str

    def get(self, path: str, **headers: str) -> Answer:
        return request(f"{self.origin}{self.base}{path}", "GET", {"Cookie": self.cookie, **_named(headers)})

    def post(self, path: str, body: str, **headers: str) -> Answer:
        sent = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded", **_named(headers)}
        return request(f"{self.origin}{self.base}{path}", "POST", sent, body)


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def use(link: str) -> Opened:
    answer = request(link)
    assert answer.status == 200, answer
    cookie = answer.headers["set-cookie"].partition(";")[0]
    base = answer.headers["set-cookie"].partition("Path=")[2].partition(";")[0]
    return Opened(link.partition("/open/")[0], base, cookie)


@pytest.fixture
def opened(link: str) -> Opened:
    return use(link)


def listening(port: int) -> list[str]:
    """The addresses that listen on a port, as the kernel shows them."""
    lines = [line.split() for table in ("tcp", "tcp6") for line in Path("/proc/net", table).read_text().splitlines()]
    return [line[1] for line in lines if line[3] == "0A" and line[1].endswith(f":{port:04X}")]


def archived(home: Home, number: int) -> bool:
    return terminal.call(home, "show", id=number)["memory"]["archived_at"] is not None


def test_the_link_works_once(link: str, served: Home) -> None:
    first = request(link)
    assert first.status == 200
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/;" not in cookie, "all ports of a host share its cookies, so the path has to be a secret"
    again = request(link)
    assert (again.status, "has already been used" in again.text) == (403, True)
    guessed = request(link.partition("/open/")[0] + "/open/x")
    assert guessed.status == 403


def test_a_new_link_replaces_an_unused_one(link: str, served: Home, shop: Furnished) -> None:
    newer = terminal.call(served, "ui", cwd=str(shop.root))["url"]
    assert request(link).status == 403
    assert use(newer).get("timeline").status == 200


def test_reading_needs_the_cookie_and_the_path(opened: Opened) -> None:
    assert opened.get("timeline").status == 200
    assert request(f"{opened.origin}{opened.base}timeline").status == 403
    assert request(f"{opened.origin}{opened.base}timeline", headers={"Cookie": "subconscious=x"}).status == 403
    assert request(f"{opened.origin}/timeline", headers={"Cookie": opened.cookie}).status == 403
    assert request(f"{opened.origin}{opened.base}static/page.js").status == 403


def test_a_rebound_host_is_refused(opened: Opened) -> None:
    port = urlsplit(opened.origin).port
    for host in (f"evil.example:{port}", "127.0.0.1", f"localhost:{port}", "127.0.0.1:1"):
        answer = opened.get("timeline", Host=host)
        assert (answer.status, answer.text) == (403, "Refused: the request names another host.\n")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
def test_a_change_by_another_page_is_refused(
    opened: Opened, served: Home, shop: Furnished, headers: dict[str, str]
) -> None:
    own = {"Origin": opened.origin} if "Sec_Fetch_Site" in headers else {}
    answer = opened.post("memories/change", f"do=archive&id={shop.postgres}", **own, **headers)
    assert (answer.status, answer.text) == (403, "Refused: another page made the request.\n")
    assert not archived(served, shop.postgres)


def test_another_page_reads_nothing(opened: Opened) -> None:
    assert opened.get("memories", Sec_Fetch_Site="cross-site").status == 403
    assert opened.get("memories", Sec_Fetch_Site="same-site").status == 403
    assert opened.get("memories", Sec_Fetch_Site="same-origin").status == 200


def test_a_change_of_the_page_itself_is_a_person_s(opened: Opened, served: Home, shop: Furnished) -> None:
    answer = opened.post("memories/change", f"do=archive&id={shop.postgres}&back=memories", Origin=opened.origin)
    assert (answer.status, answer.headers["location"]) == (303, f"{opened.base}memories")
    history = terminal.call(served, "history", subject="memory", about=str(shop.postgres))["events"]
    assert (history[-1]["action"], history[-1]["actor"]) == ("archive", "user")


@pytest.mark.parametrize("back", ["//evil.example/", "http://evil.example", "memories/../../x", "javascript:1"])
def test_a_form_leads_to_no_other_place(opened: Opened, back: str) -> None:
    answer = opened.post("memories/change", f"do=archive&back={back}", Origin=opened.origin)
    assert answer.headers["location"] == opened.base


def test_every_answer_forbids_scripts_of_others(opened: Opened) -> None:
    for answer in (opened.get("timeline"), opened.get("static/page.js"), opened.get("nowhere"), request(opened.origin)):
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "access-control-allow-origin" not in answer.headers
    assert opened.get("timeline").headers["cache-control"] == "no-store"


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="who connects can be seen on Linux only")
def test_a_tool_of_claude_s_is_refused_and_does_not_use_up_the_link(link: str) -> None:
    answer = request(link, inside=True)
    assert (answer.status, answer.text) == (403, "Refused: this was run inside a coding agent.\n")
    opened = use(link)
    stolen = request(f"{opened.origin}{opened.base}memories", headers={"Cookie": opened.cookie}, inside=True)
    assert stolen.status == 403


@pytest.mark.skipif(os.getuid() != 0 or not Path(SYSTEM_PYTHON).exists(), reason="only root can be another user")
def test_another_user_is_refused(opened: Opened) -> None:
    url = f"{opened.origin}{opened.base}memories"
    answer = request(url, headers={"Cookie": opened.cookie}, user=NOBODY)
    assert (answer.status, answer.text) == (403, "Refused: another user of this machine made the request.\n")


def test_the_assistant_opens_no_page(served: Home, shop: Furnished) -> None:
    for origin in ("user", "assistant"):
        with pytest.raises(DaemonError, match="a person decides whether the web page is opened"):
            wire.call(served, "ui", {"cwd": str(shop.root), "origin": origin})
    assert wire.call(served, "ui_close") == {"closed": False}


def test_it_listens_on_this_machine_only_and_until_it_is_closed(link: str, served: Home) -> None:
    port = urlsplit(link).port
    assert port
    assert listening(port) == [f"0100007F:{port:04X}"]
    assert wire.call(served, "ui_close") == {"closed": True}
    assert listening(port) == []


def test_it_closes_when_nobody_uses_it(served: Home, shop: Furnished, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.4)
    port = urlsplit(terminal.call(served, "ui", cwd=str(shop.root))["url"]).port
    assert port
    assert eventually(lambda: not listening(port))
    monkeypatch.setattr(server, "IDLE_SECONDS", 60.0)
    assert use(terminal.call(served, "ui", cwd=str(shop.root))["url"]), "another one can be opened"


def test_reading_the_timeline_again_by_itself_is_no_use(
    served: Home, shop: Furnished, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 3.0)
    monkeypatch.setattr(server, "LOOK_SECONDS", 0.1)
    opened = use(terminal.call(served, "ui", cwd=str(shop.root))["url"])
    port = urlsplit(opened.origin).port or 0
    assert opened.get("timeline").status == 200
    answered = 0

    def has_closed() -> bool:
        nonlocal answered
        with suppress(OSError, ValueError):  # it may close while it is asked
            answered += opened.get("timeline?show=all&news=1").status == 200
        return not listening(port)

    assert eventually(has_closed), "a page that is left open closes, whatever happens in sessions"
    assert answered > 0


def test_a_silent_connection_is_closed(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.2)
    port = urlsplit(link).port
    with socket.create_connection(("127.0.0.1", port or 0), timeout=10) as silent, suppress(ConnectionError):
        assert silent.recv(1) == b""


def test_a_daemon_that_stops_does_not_wait_for_an_open_page(opened: Opened, served: Home) -> None:
    port = urlsplit(opened.origin).port or 0
    news = f"GET {opened.base}live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {opened.cookie}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as browser:
        browser.sendall(news.encode())
        assert browser.recv(15) == b"HTTP/1.1 200 OK"
        wire.call(served, "stop")
        wire.await_absence(served, 30)
        assert listening(port) == []


def test_too_large_a_form_changes_nothing(opened: Opened, served: Home, shop: Furnished) -> None:
    url, body = f"{opened.origin}{opened.base}memories/change", f"do=archive&id={shop.postgres}&reason="
    headers = {"Cookie": opened.cookie, "Origin": opened.origin}
    answer = request(url, "POST", headers, body, more=guard.LARGEST_BODY)
    assert (answer.status, answer.text) == (403, "Refused: the form is too large.\n")
    assert not archived(served, shop.postgres)


def test_a_fault_of_the_program_is_a_page_that_says_what_to_do(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(environ: object) -> None:
        raise RuntimeError("details of it")

    monkeypatch.setattr("subconscious.page.health.examine", fail)
    answer = opened.get("health/doctor")
    assert answer.status == 500
    assert "subconscious doctor" in answer.text
    assert "details of it" not in answer.text


def test_the_log_contains_no_secret(opened: Opened, served: Home) -> None:
    assert opened.get("timeline").status == 200
    log = (served.log / "daemon.log").read_text()
    assert "the web page is open" in log
    assert opened.base.strip("/") not in log
    assert opened.cookie.partition("=")[2] not in log
