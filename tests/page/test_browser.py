"""The page in a real Chromium: what a person does there, and what nobody else can."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from bench.page_store import ARCHIVED, HOSTILE, POSTGRES, REDIS, SESSIONS, Furnished
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.browser import AXE

PLACES = {
    "timeline": "timeline",
    "timeline, searched": "timeline?q=redis",
    "nothing on the timeline": "timeline?q=zzzz",
    "memories": "memories",
    "archived": "memories?state=archived",
    "memory": "memory/{postgres}",
    "changed": "timeline?show=changed",
    "review": "review",
    "quarantine": "review?tab=quarantine",
    "sessions": "sessions",
    "session": f"session/{SESSIONS[2][0]}",
    "graph": "graph",
    "graph of a memory": "graph?id={postgres}",
    "fading": "fading",
    "health": "health",
    "nothing found": "memories?q=zzzz",
}

WAIT_FOR = {"health": ".findings", "fading": ".chart canvas", "graph of a memory": "[data-drawn=yes] canvas"}

RUN_AXE = """async () => (await axe.run({resultTypes: ['violations']})).violations
    .map((one) => one.id + ': ' + one.nodes.map((node) => node.html).join(' | ').slice(0, 400))"""


FOCUSED = """() => {
    const element = document.activeElement;
    return {text: element.textContent.trim(), outlined: getComputedStyle(element).outlineStyle !== 'none'};
}"""


def base_of(page: Page) -> str:
    found = re.match(r"http://127\.0\.0\.1:\d+/[^/]+/", page.url)
    assert found
    return found[0]


def go(page: Page, place: str, shop: Furnished) -> None:
    page.goto(base_of(page) + place.format(postgres=shop.postgres, hostile=shop.hostile))


def faults(page: Page) -> list[str]:
    """What axe finds. Its script is run by the tests' protocol, which the page's policy does not concern."""
    page.evaluate(AXE)
    return list(page.evaluate(RUN_AXE))


@pytest.mark.timeout(240, func_only=True)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_can_be_used_by_everybody(page: Page, shop: Furnished, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for name, place in PLACES.items():
        go(page, place, shop)
        if name in WAIT_FOR:
            page.wait_for_selector(WAIT_FOR[name])
        assert faults(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
        assert page.title() != "owned"


def test_what_a_memory_says_is_never_run(page: Page, shop: Furnished) -> None:
    for place in ("memories", "memory/{hostile}", "graph?id={hostile}", "fading", "timeline", "memories?q=onerror"):
        go(page, place, shop)
        expect(page.get_by_text(HOSTILE).first).to_be_visible()
        assert page.locator("main script, main img, main iframe").count() == 0


def test_search_finds_what_replaced_the_redis_decision(page: Page, shop: Furnished) -> None:
    go(page, "memories", shop)
    page.keyboard.press("/")
    page.keyboard.type("redis", delay=20)
    page.wait_for_url("**/memories?q=redis**")
    old = page.locator(".rows li", has=page.locator(".text", has_text=REDIS))
    expect(old.get_by_text("Replaced by")).to_be_visible()
    new = page.locator(".rows li", has=page.locator(".text", has_text=POSTGRES))
    expect(new.get_by_text(f"Replaces {shop.redis} {REDIS}")).to_be_visible()
    old.get_by_role("link", name=POSTGRES).click()
    expect(page.get_by_role("heading", name=POSTGRES)).to_be_visible()
    section = page.locator("section", has=page.get_by_role("heading", name="What this replaced"))
    section.get_by_role("link", name=REDIS).click()
    section = page.locator("section", has=page.get_by_role("heading", name="What replaced this"))
    expect(section.get_by_role("link", name=POSTGRES)).to_be_visible()


def test_a_replacement_is_a_change_on_the_timeline(page: Page, shop: Furnished) -> None:
    page.get_by_role("link", name="Changed").click()
    entry = page.locator(".events > li", has_text="Replaced")
    expect(entry.locator(".what")).to_contain_text(REDIS)
    expect(entry.locator(".note")).to_have_text(f"with {POSTGRES}")
    entry.get_by_role("button", name="Use both again").click()
    expect(entry.get_by_text("taken back")).to_be_visible()


def test_why_a_session_was_given_a_memory(page: Page, shop: Furnished) -> None:
    go(page, "sessions", shop)
    page.get_by_role("link", name=SESSIONS[2][1]).click()
    given = page.locator("section", has=page.get_by_role("heading", name="What it was given"))
    started = given.locator("ol.handed > li")
    reasons = ["A decision that fits the branch and your latest prompts", "A standing preference", "A decision made on"]
    for row, why, badge in zip(started.all(), reasons, ["use not known yet", "used", "not used"], strict=True):
        expect(row).to_contain_text(f"Why: {why}")
        expect(row.locator(".badge")).to_have_text(badge)
    expect(given.get_by_text("An answer used 3 of the memory's 5 distinctive words.")).to_be_visible()
    prompted = given.locator("ul.handed > li")
    expect(prompted).to_contain_text("Why: It fits your prompt: both say uploads, proxy and fail. relevance: high")
    expect(prompted.get_by_title("0.83 of 1")).to_have_count(1)


def test_a_session_lists_all_that_was_learned_from_it(page: Page, served: Home, shop: Furnished) -> None:
    """Also memories that no capture led to; those that are archived, too."""
    go(page, f"session/{SESSIONS[1][0]}", shop)
    learned = page.locator("section", has=page.get_by_role("heading", name="What was learned from it"))
    items = terminal.call(served, "timeline", cwd=str(shop.root), limit=100)["items"]
    made = [item for item in items if item.get("action") == "create" and item["session_id"] == SESSIONS[1][0]]
    remembered = [item["about"] for item in made if item["subject"] == "memory"]
    assert len(remembered) == 5
    for words in remembered:
        expect(learned.locator("li", has_text=words)).to_have_count(1)
    expect(learned.locator("li", has_text=ARCHIVED)).to_contain_text("archived since")


def test_three_questions_are_answered_with_few_clicks(page: Page, shop: Furnished) -> None:
    """From the first page: why was I given this, undo the archive, what replaced the Redis decision."""
    expect(page.locator(".given .handed li", has_text=POSTGRES)).to_contain_text("Why: A decision that fits the branch")
    page.get_by_role("link", name="Changed").click()
    yesterday = page.locator(".day", has=page.get_by_role("heading", name="Yesterday"))
    yesterday.locator(".events li", has_text=ARCHIVED).get_by_role("button", name="Bring back").click()
    expect(page.get_by_role("status")).to_contain_text(f"Brought back: {ARCHIVED}")
    page.get_by_role("link", name="Memories").first.click()
    page.get_by_role("searchbox", name="Search").fill("redis")
    row = page.locator(".rows li", has=page.locator(".text", has_text=REDIS))
    expect(row).to_contain_text(f"Replaced by {shop.postgres} {POSTGRES}")


def test_many_are_archived_and_brought_back_by_one_button(page: Page, shop: Furnished) -> None:
    go(page, "memories", shop)
    expect(page.get_by_role("button", name="Archive selected")).to_be_disabled()
    for words in (REDIS, POSTGRES):
        page.locator(".rows li", has=page.locator(".text", has_text=words)).get_by_role("checkbox").check()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("button", name="Archive selected").click()
    expect(page.get_by_role("status")).to_contain_text("Archived 2 memories:")
    expect(page.locator(".rows").get_by_text(REDIS)).to_have_count(0)
    page.get_by_role("status").get_by_role("button", name="Bring back").click()
    expect(page.get_by_role("status")).to_contain_text("Brought back 2 memories:")
    expect(page.locator(".rows .text").get_by_text(REDIS)).to_be_visible()


def test_the_archive_says_when_and_why_and_brings_back(page: Page, served: Home, shop: Furnished) -> None:
    go(page, "memories", shop)
    page.get_by_role("link", name="Archived (1)").click()
    row = page.locator(".rows li", has_text=ARCHIVED)
    expect(row.locator(".note")).to_have_text(
        re.compile(r"Archived yesterday at \d\d:\d\d by you: it runs by cron now")
    )
    row.get_by_role("button", name="Bring back").click()
    notice = page.get_by_role("status")
    expect(notice).to_contain_text(f"Brought back: {ARCHIVED}")
    expect(page.get_by_role("heading", name="The archive is empty")).to_be_visible()
    expect(page.get_by_role("link", name="In use (11)")).to_be_visible()
    notice.get_by_role("button", name="Archive again").click()
    expect(notice).to_contain_text(f"Archived again: {ARCHIVED}")
    expect(page.get_by_role("link", name="Archived (1)")).to_be_visible()
    assert terminal.call(served, "show", id=shop.archived)["memory"]["archived_at"] is not None


def test_a_row_s_button_leaves_selected_memories_alone(page: Page, served: Home, shop: Furnished) -> None:
    terminal.call(served, "archive", ids=[shop.redis])
    go(page, "memories?state=archived", shop)
    page.locator(".rows li", has_text=REDIS).get_by_role("checkbox").check()
    page.get_by_role("button", name=f"Bring back: {ARCHIVED}").click()
    expect(page.get_by_role("status")).to_contain_text(f"Brought back: {ARCHIVED}")
    assert terminal.call(served, "show", id=shop.redis)["memory"]["archived_at"] is not None


def test_a_search_counts_the_matches_of_every_state(page: Page, shop: Furnished) -> None:
    go(page, "memories?state=archived&q=redis", shop)
    expect(page.get_by_role("heading", name="Nothing archived matches")).to_be_visible()
    page.get_by_role("link", name="2 matches in use: show them").click()
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("redis")
    expect(page.locator(".rows .text").get_by_text(REDIS)).to_be_visible()


def test_what_is_folded_away_is_not_selected(page: Page, shop: Furnished) -> None:
    go(page, "memories?q=redis", shop)
    page.evaluate("""document.querySelector("[data-bulk]").insertAdjacentHTML("beforeend",
        "<details><summary>x</summary><input type=checkbox name=id value=99></details>")""")
    page.get_by_role("checkbox", name="All").check()
    expect(page.get_by_text("2 selected")).to_be_visible()


@pytest.mark.parametrize("way", ["keyboard", "mouse"])
def test_the_kind_is_chosen_with_keyboard_or_mouse(page: Page, shop: Furnished, way: str) -> None:
    go(page, "memories", shop)
    choice = page.get_by_label("Kind")
    if way == "keyboard":
        choice.focus()
        page.keyboard.type("bloc")
        page.keyboard.press("Enter")
    else:
        box = choice.bounding_box()
        assert box
        page.mouse.click(box["x"] + 20, box["y"] + 10)
        option = choice.get_by_role("option", name="decision").bounding_box()
        assert option
        page.mouse.click(option["x"] + 20, option["y"] + 10)
    page.wait_for_url("**kind=**")
    expect(page.locator(".rows > li")).not_to_have_count(10)


def test_an_archived_memory_is_brought_back_from_the_timeline(page: Page, served: Home, shop: Furnished) -> None:
    page.get_by_role("link", name="Changed").click()
    archived = page.locator(".events > li", has=page.get_by_text("Archived", exact=True))
    archived.get_by_role("button", name="Bring back").click()
    notice = page.get_by_role("status")
    expect(notice).to_contain_text(f"Brought back: {ARCHIVED}")
    expect(archived.get_by_text("brought back since")).to_be_visible()
    expect(archived.get_by_role("button")).to_have_count(0)
    back = page.locator(".events > li", has=page.get_by_text("Brought back", exact=True))
    expect(back.get_by_role("button", name="Archive again")).to_be_visible()
    expect(page.get_by_text(re.compile(r"event \d"))).to_have_count(0)
    notice.get_by_role("link", name=ARCHIVED).click()
    page.wait_for_url(f"**/memory/{shop.archived}")
    assert terminal.call(served, "show", id=shop.archived)["memory"]["archived_at"] is None


def test_a_memory_gets_other_words(page: Page, shop: Furnished) -> None:
    go(page, "memory/{postgres}", shop)
    page.locator("summary", has_text="Edit").click()
    page.get_by_label("What it should say").fill("Sessions live in Postgres.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Sessions live in Postgres.")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("The new words are stored")


def test_the_review_is_done_with_keys(page: Page, served: Home, shop: Furnished) -> None:
    go(page, "review", shop)
    cards = page.locator(".card")
    page.keyboard.press("j")
    expect(cards.nth(0)).to_be_focused()
    page.keyboard.press("a")
    expect(page.locator(".decided")).to_contain_text("Approved")
    expect(cards.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(cards.nth(0)).to_be_focused()
    page.keyboard.press("u")
    expect(page.locator(".decided")).to_have_count(0)
    expect(cards.nth(0)).to_be_focused()
    page.keyboard.press("e")
    page.get_by_label("What it should say").first.fill("No deploys on Fridays.")
    page.get_by_role("button", name="Approve in these words").first.click()
    expect(page.locator(".decided")).to_contain_text("No deploys on Fridays.")
    expect(cards.nth(1)).to_be_focused()
    page.keyboard.press("r")
    expect(page.locator(".decided")).to_have_count(2)
    captures = terminal.call(served, "captures", cwd=str(shop.root), status="approved")["captures"]
    assert [capture["id"] for capture in captures] == [shop.waiting]


def test_the_timeline_is_live(page: Page, served: Home, shop: Furnished) -> None:
    expect(page.locator("#live.on")).to_be_visible()
    terminal.call(served, "remember", text="The logo is blue.", cwd=str(shop.root))
    expect(page.get_by_text("The logo is blue.")).to_be_visible()


def test_the_timeline_stays_as_it_is_while_a_person_is_in_it(page: Page, served: Home, shop: Furnished) -> None:
    expect(page.locator("#live.on")).to_be_visible()
    page.locator("#items a").first.focus()
    terminal.call(served, "remember", text="The logo is blue.", cwd=str(shop.root))
    fresh = page.get_by_role("button", name="Show what is new")
    expect(fresh).to_be_visible()
    expect(page.get_by_text("The logo is blue.")).to_have_count(0)
    fresh.click()
    expect(page.get_by_text("The logo is blue.")).to_be_visible()
    expect(fresh).to_be_hidden()


def test_a_search_of_the_timeline_shows_what_happened_with_a_memory(page: Page, served: Home, shop: Furnished) -> None:
    """Live news and the other tabs keep to the words."""
    expect(page.locator("#live.on")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Search the timeline")).to_be_focused()
    page.keyboard.type("Redis SESSIONS", delay=20)
    page.wait_for_url("**/timeline?q=Redis%20SESSIONS**")
    expect(page.locator("#items")).to_contain_text(REDIS)
    expect(page.get_by_text(ARCHIVED)).to_have_count(0)
    assert page.locator(".day h2").count() > 0
    for text in ("The logo is blue.", "Redis sessions end after an hour."):
        terminal.call(served, "remember", text=text, cwd=str(shop.root))
    expect(page.get_by_text("Redis sessions end after an hour.")).to_be_visible()
    expect(page.get_by_text("The logo is blue.")).to_have_count(0)
    page.get_by_role("link", name="Changed").click()
    page.wait_for_url("**/timeline?show=changed&q=Redis+SESSIONS")
    expect(page.locator(".events > li", has_text="Replaced")).to_have_count(1)
    page.locator(".events > li", has_text="Replaced").get_by_role("button", name="Use both again").click()
    page.wait_for_url("**/timeline?show=changed&q=Redis+SESSIONS")
    page.get_by_label("Search the timeline").fill("zzzz")
    expect(page.get_by_text("Nothing has these words.")).to_be_visible()
    expect(page.get_by_role("link", name="Changed")).to_have_count(1)


def test_the_slash_goes_to_the_search_from_everywhere(page: Page, shop: Furnished) -> None:
    go(page, "sessions", shop)
    page.keyboard.press("/")
    page.wait_for_url("**/memories#q")
    expect(page.locator("#q")).to_be_focused()


@pytest.mark.parametrize("place", ["review", "memories", "graph?id={postgres}"])
def test_the_keyboard_reaches_everything_and_shows_where_it_is(page: Page, shop: Furnished, place: str) -> None:
    go(page, place, shop)
    reached = []
    for _ in range(100):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
        if reached[-1]["text"] == "Close it now":
            break
    assert reached[0]["text"] == "Skip to the content"
    assert reached[-1]["text"] == "Close it now", "the focus does not leave a part of the page"
    assert [one for one in reached if not one["outlined"]] == []


def test_a_graph_is_found_by_words(page: Page, shop: Furnished) -> None:
    go(page, "graph", shop)
    page.get_by_label("Draw what is linked to a memory").fill("redis")
    page.keyboard.press("Enter")
    page.get_by_role("link", name=REDIS).click()
    expect(page.locator("[data-drawn=yes] canvas").first).to_be_visible()


def test_code_in_a_memory_is_shown_as_code(page: Page, served: Home, shop: Furnished) -> None:
    """Records, notes and imported files have several lines; what is typed has one."""
    text = "When the import fails, run this:\n\n```sh\nif true; then\n    make resume\nfi\n```"
    with sqlite3.connect(served.database) as connection:
        connection.execute("UPDATE memories SET content = ? WHERE id = ?", (text, shop.postgres))
    connection.close()
    go(page, "memory/{postgres}", shop)
    assert page.locator("pre code").inner_text() == "if true; then\n    make resume\nfi"
    assert faults(page) == []


def test_a_chain_of_replacements_is_listed_and_drawn(page: Page, served: Home, shop: Furnished) -> None:
    sqlite, cookies = "Sessions live in SQLite from now on.", "Sessions live in signed cookies from now on."
    newer = terminal.call(served, "correct", id=shop.postgres, way="refined", text=sqlite)["replacement"]
    newest = terminal.call(served, "correct", id=newer["id"], way="refined", text=cookies)["replacement"]
    go(page, "graph", shop)
    chain = page.locator("section", has=page.get_by_role("heading", name="What replaced what")).locator(".chains > li")
    expect(chain).to_have_count(1)
    expect(chain.locator(".chain li .text")).to_have_text(
        [cookies, f"replaced {sqlite}", f"which replaced {POSTGRES}", f"which replaced {REDIS}"]
    )
    chain.get_by_role("link", name=cookies).click()
    page.wait_for_url(f"**/graph?id={newest['id']}")
    drawing = page.locator("[data-drawn=yes]")
    expect(drawing.locator("canvas").first).to_be_visible()
    listed = page.locator(".tree li", has_text="replaces")
    assert [re.sub(r"\s+", " ", row) for row in listed.all_inner_texts()] == [
        f"replaces {words}" for words in (sqlite, POSTGRES, REDIS)
    ]
    nodes = page.evaluate(
        """async (box) => (await (await fetch(box)).json()).edges
            .filter((edge) => edge.label === 'replaces').map((edge) => [edge.source, edge.target])""",
        drawing.get_attribute("data-graph"),
    )
    ends = [newest["id"], newer["id"], shop.postgres, shop.redis]
    assert sorted(nodes) == sorted([str(new), str(old)] for new, old in pairwise(ends))


EMPTY = {
    "timeline": "Talk to Claude Code in this project",
    "timeline?show=given": "Start Claude Code in this project",
    "timeline?show=changed": "Begin with the memories",
    "memories": "Say what you decided in Claude Code",
    "memories?state=archived": "can be brought back",
    "memories?q=zebra": "Use fewer or other words",
    "review": "See what was stored",
    "review?tab=quarantine": "until you decide",
    "sessions": "Start Claude Code in this project",
    "graph": "A new value for the same thing",
    "fading": "Say what you decided in Claude Code",
    "health": "shows how the last session was judged",
}
"""What each page says when there is nothing: what to do, or what would be there."""


@pytest.mark.parametrize("shop", ["empty"], indirect=True)
def test_empty_pages_say_what_to_do(page: Page, shop: Furnished) -> None:
    for place, words in EMPTY.items():
        go(page, place, shop)
        expect(page.get_by_text(words).first).to_be_visible()
        expect(page.get_by_text(re.compile(r"\ball 0 memories|None|undefined"))).to_have_count(0)
        assert faults(page) == [], place


def test_it_can_be_closed(page: Page, served: Home, shop: Furnished) -> None:
    page.get_by_role("button", name="Close it now").click()
    expect(page.get_by_role("heading", name="The page is closed")).to_be_visible()


@contextmanager
def attacker(script: str) -> Iterator[str]:
    """Another web server of this machine, with a page that runs a script."""

    class Attack(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("Cookie", ""))
            body = f"<!doctype html><title>x</title><script>{script}</script>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    cookies: list[str] = []
    with HTTPServer(("127.0.0.1", 0), Attack) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
    assert set(cookies) <= {""}, "the browser sent our cookie to another server"


def test_a_page_of_another_server_changes_and_reads_nothing(page: Page, served: Home, shop: Furnished) -> None:
    """Even if it knows the secret path: it is of the same site, so the browser sends the cookie along."""
    base = base_of(page)
    script = f"""
        window.read = fetch("{base}memories", {{credentials: "include"}}).then(() => "read", () => "refused");
        window.sent = fetch("{base}memories/change", {{method: "POST", credentials: "include", mode: "no-cors",
            headers: {{"Content-Type": "application/x-www-form-urlencoded"}},
            body: "do=archive&id={shop.postgres}"}}).then(() => "sent", () => "unread");
    """
    other = page.context.new_page()
    with attacker(script) as url:
        other.goto(url)
        assert other.evaluate("window.read") == "refused"
        assert other.evaluate("window.sent") == "unread"
        other.evaluate(f"window.frame = document.createElement('iframe'); frame.src = '{base}memories'")
        other.close()
    assert terminal.call(served, "show", id=shop.postgres)["memory"]["archived_at"] is None
