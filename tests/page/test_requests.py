"""The requests that the page makes, and the command that opens it."""

from __future__ import annotations

import sys

import pytest

from bench.page_store import REDIS, SESSIONS, Furnished
from subconscious import wire
from subconscious.domain.errors import DaemonError
from subconscious.settings.home import Home
from tests.support import terminal
from tests.support.page_client import request


def test_the_timeline_has_everything_once_whatever_the_size_of_a_page(served: Home, shop: Furnished) -> None:
    whole = terminal.call(served, "timeline", cwd=str(shop.root), limit=100)
    assert whole["next"] is None
    assert [item["at"] for item in whole["items"]] == sorted((item["at"] for item in whole["items"]), reverse=True)
    assert whole["sessions"] == {session_id: title for session_id, title, _ in SESSIONS}
    paged: list[object] = []
    start: dict[str, int] = {}
    while True:
        found = terminal.call(served, "timeline", cwd=str(shop.root), limit=4, **start)
        paged += found["items"]
        if found["next"] is None:
            break
        start = {f"before_{name}": number for name, number in found["next"].items()}
    key = str
    assert sorted(paged, key=key) == sorted(whole["items"], key=key)


def test_the_timeline_says_what_was_given_and_used(served: Home, shop: Furnished) -> None:
    items = terminal.call(served, "timeline", everywhere=True, limit=100)["items"]
    prompted, began = [item for item in items if item["sort"] == "given"]
    assert [memory["response"] for memory in began["memories"]] == ["", "used: 3 of its 5 own words", "not used"]
    assert [memory["relevance"] for memory in prompted["memories"]] == [0.83]
    archived = next(item for item in items if (item["sort"], item.get("action")) == ("change", "archive"))
    assert (archived["actor"], archived["change"], archived["number"]) == ("user", True, 1)


def test_the_timeline_says_whether_a_change_still_holds(served: Home, shop: Furnished) -> None:
    def effects() -> dict[str, tuple[str, bool]]:
        items = terminal.call(served, "timeline", cwd=str(shop.root), limit=100)["items"]
        own = [item for item in items if item.get("subject_id") == str(shop.archived) and item["subject"] == "memory"]
        return {item["action"]: (item["effect"], item["holds"]) for item in own}

    assert effects() == {"archive": ("archived", True), "create": ("", False)}
    terminal.call(served, "unarchive", ids=[shop.archived])
    assert effects() == {"unarchive": ("restored", True), "archive": ("archived", False), "create": ("", True)}


def test_the_timeline_names_what_was_replaced_and_by_what(served: Home, shop: Furnished) -> None:
    items = terminal.call(served, "timeline", cwd=str(shop.root), limit=100)["items"]
    linked = [link for item in items if item["sort"] == "change" for link in item["linked"]]
    (replaced,) = [link for link in linked if link["type"] == "SUPERSEDES"]
    assert (replaced["id"], replaced["other"]) == (shop.postgres, shop.redis)
    assert replaced["other_summary"] == REDIS


def test_another_project_s_timeline_has_nothing_of_this_one(served: Home, shop: Furnished) -> None:
    other = shop.root.parent / "other"
    other.mkdir()
    assert terminal.call(served, "timeline", cwd=str(other))["items"] == []


def test_the_assistant_reads_no_timeline(served: Home, shop: Furnished) -> None:
    with pytest.raises(DaemonError, match="only a person may read the timeline"):
        wire.call(served, "timeline", {"cwd": str(shop.root)})


def test_projects_are_counted(served: Home, shop: Furnished) -> None:
    answer = wire.call(served, "projects")
    assert answer["review"] == 3
    (found,) = answer["projects"]
    assert (found["root"], found["memories"]) == (str(shop.root), 10)


def test_what_fades_next_is_in_order(served: Home, shop: Furnished) -> None:
    coming = wire.call(served, "decay", {"cwd": str(shop.root)})["next"]
    days = [row["due_in_days"] for row in coming]
    assert days == sorted(days)
    assert coming[0]["memory"]["id"] == shop.redis, "it was replaced"


def test_captures_of_the_week_are_counted(served: Home, shop: Furnished) -> None:
    assert wire.call(served, "stats", {"cwd": str(shop.root)})["week"] == {"review": 3}


def test_links_of_all_projects_need_no_folder(served: Home) -> None:
    found = wire.call(served, "links", {"types": ["SUPERSEDES"], "status": "active", "everywhere": True})
    assert [link["type"] for link in found["links"]] == ["SUPERSEDES"]


def test_the_command_prints_a_link_that_works(served: Home, shop: Furnished) -> None:
    done, shown = terminal.run([sys.executable, "-m", "cli", "ui", "--json"], served, shop.root)
    assert done == 0, shown
    link = shown.replace("\n", "").partition('"url": "')[2].partition('"')[0]
    assert request(link).status == 200
    done, shown = terminal.run([sys.executable, "-m", "cli", "ui", "--close"], served, shop.root)
    assert (done, shown.strip()) == (0, "The web page is closed.")
