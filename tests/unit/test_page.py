"""The page without a browser: who may request it, its words, and the files that it contains."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from time import time

import pytest

from subconscious.authorship import tcp_peers
from subconscious.context.signals import KEPT, AnswerTimes
from subconscious.page import access, server, wording
from subconscious.page.access import Keys, refusal
from subconscious.page.site import BACK, _templates

ROOT = Path(__file__).resolve().parents[2]
BUSY = """
import fcntl, os, socket
held = socket.socket()
high = fcntl.fcntl(held.fileno(), fcntl.F_DUPFD, 500)  # listed behind the files that come and go
held.close()
print(os.fstat(high).st_ino, flush=True)
while True:
    for one in [os.open(os.devnull, os.O_RDONLY) for _ in range(50)]:
        os.close(one)
"""
ORIGIN = "http://127.0.0.1:4567"
OWN = {"host": "127.0.0.1:4567", "origin": ORIGIN, "sec-fetch-site": "same-origin"}


def test_only_the_page_s_own_requests_pass() -> None:
    assert refusal("GET", {"host": OWN["host"]}, ORIGIN, link=False) == ""
    assert refusal("POST", OWN, ORIGIN, link=False) == ""
    assert refusal("POST", {"host": OWN["host"], "origin": ORIGIN}, ORIGIN, link=False) == "", "an older browser"


@pytest.mark.parametrize(
    ("method", "changed"),
    [
        ("GET", {"host": "127.0.0.1:4568"}),
        ("GET", {"host": "rebound.example:4567"}),
        ("GET", {"host": ""}),
        ("GET", {"sec-fetch-site": "cross-site"}),
        ("GET", {"sec-fetch-site": "same-site"}),
        ("POST", {"origin": "http://127.0.0.1:4568"}),
        ("POST", {"origin": "http://127.0.0.1:45670"}),
        ("POST", {"origin": "null"}),
        ("POST", {"origin": ""}),
        ("POST", {"sec-fetch-site": "none"}),
        ("PUT", {}),
        ("DELETE", {}),
        ("OPTIONS", {}),
    ],
    ids=str,
)
def test_all_other_requests_are_refused(method: str, changed: dict[str, str]) -> None:
    assert refusal(method, OWN | changed, ORIGIN, link=False)


def test_the_link_may_be_clicked_anywhere_but_on_no_other_host() -> None:
    assert refusal("GET", {"host": OWN["host"], "sec-fetch-site": "cross-site"}, ORIGIN, link=True) == ""
    assert refusal("GET", {"host": "rebound.example:4567"}, ORIGIN, link=True)


def test_a_link_is_used_up_and_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys()
    link = keys.new_link()
    assert not keys.use_link("/open/")
    assert keys.use_link(link)
    assert not keys.use_link(link)
    late = keys.new_link()
    monkeypatch.setattr(access, "monotonic", lambda: 1e12)
    assert not keys.use_link(late)


def test_answers_are_sent_at_once() -> None:
    """Asyncio sets TCP_NODELAY only where the protocol is named."""
    with server._listen() as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        assert listener.proto == socket.IPPROTO_TCP


@pytest.mark.slow
def test_the_daemon_loads_nothing_of_the_page_before_it_is_opened() -> None:
    code = "import sys, daemon.commands; print(sorted({'jinja2', 'starlette', 'uvicorn'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_page_that_was_not_linked_to_has_no_link() -> None:
    assert not Keys().use_link("/open/")


def test_the_secrets_of_two_pages_differ() -> None:
    one, other = Keys(), Keys()
    assert one.opens(one.base, {"subconscious": one.cookie})
    assert not one.opens(one.base, {"subconscious": other.cookie})
    assert not one.opens(other.base, {"subconscious": one.cookie})
    assert not one.opens("/", {"subconscious": one.cookie})
    assert not one.opens(one.base, {})


@pytest.mark.skipif(sys.platform != "linux", reason="who connects can be seen on Linux only")
def test_the_process_at_the_other_end_of_a_connection_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            own = client.getsockname()[1]
            peer = tcp_peers.peer_of_port(own, port)
            assert peer is not None
            assert list(tcp_peers.holders_of(peer.inode))
            assert tcp_peers.peer_of_port(port, own + 1) is None


@pytest.mark.skipif(sys.platform != "linux", reason="who connects can be seen on Linux only")
def test_a_process_is_found_while_it_opens_and_closes_files() -> None:
    """A browser does so all the time."""
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True) as busy:
        try:
            assert busy.stdout
            inode = int(busy.stdout.readline())
            assert all(busy.pid in tcp_peers.holders_of(inode) for _ in range(30))
        finally:
            busy.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="who connects can be seen on Linux only")
def test_a_connection_that_nobody_has_open_is_doubted(tmp_path: Path) -> None:
    assert tcp_peers.TcpPeers(tmp_path).doubt(1, 2) == "it is unknown who runs this"


@pytest.mark.parametrize("place", ["memories", "memory/12", "memories?q=a%20b&page=2", "session/5f0c-1", "review"])
def test_a_form_may_return_to_a_place_of_the_page(place: str) -> None:
    assert BACK.fullmatch(place)


@pytest.mark.parametrize("place", ["", "//x", "/x", "http://x", "memories/../x/y", "javascript:x", "a\nb", "a/b/c"])
def test_and_nowhere_else(place: str) -> None:
    assert not BACK.fullmatch(place)


def test_every_value_is_escaped_and_shown_without_hidden_characters() -> None:
    made = _templates().from_string('<p title="{{ text }}">{{ text }}</p>')
    shown = made.render(text="<b>\"'&\u202egnp.exe\u200b")
    assert "<b>" not in shown
    assert '""' not in shown
    assert "\u202e" not in shown
    assert "\u200b" not in shown


def test_no_template_marks_a_value_as_safe() -> None:
    for file in (ROOT / "subconscious" / "page" / "templates").iterdir():
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|<script>|\son\w+=|\sstyle=|javascript:|https?://", text), (
            file.name
        )


def test_scripts_of_ours_make_no_html() -> None:
    script = (ROOT / "subconscious" / "page" / "static" / "page.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", script)


def test_what_others_made_is_unchanged_and_named() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    ours = {"page.js", "page.css", "icon.svg"}
    static = ROOT / "subconscious" / "page" / "static"
    others = [file for file in static.iterdir() if file.name not in ours]
    for file in [*others, ROOT / "tests" / "support" / "vendor" / "axe.min.js"]:
        assert str(file.relative_to(ROOT)) in notice
        assert sha256(file.read_bytes()).hexdigest() in notice, file.name


@pytest.mark.parametrize(
    ("ago", "words"), [(0, "just now"), (90, "1 minute ago"), (7200, "2 hours ago"), (400 * 86_400, "1 year ago")]
)
def test_times_are_worded(ago: float, words: str) -> None:
    assert wording.ago(time() - ago) == words


def test_unknown_words_of_the_program_are_shown_as_they_are() -> None:
    assert wording.occasion("start/startup") == "given when it started"
    assert wording.actor({"actor": "daemon", "speaker": "user"}) == "from what you said"
    assert wording.source("user", "offline-1") == "said by you"
    assert wording.source("assistant", "observed-once-1") == "observed in tool calls"
    assert wording.stamp(1e300), "a clock that was wrong"


def test_the_times_of_hooks_are_summed_up() -> None:
    times = AnswerTimes()
    for milliseconds in range(1, KEPT + 101):
        times.note("Stop", milliseconds / 1000)
    (row,) = times.summary()
    assert (row["event"], row["answers"]) == ("Stop", KEPT)
    assert (round(row["median_ms"]), round(row["p95_ms"])) == (201, 290)
