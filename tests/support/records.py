"""Records of memories for the tests of files: sensible ones, and any that a store could hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hypothesis import strategies as st

from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Memory, Origin
from subconscious.files.record import Fields, Owner, Record
from tests.support.values import NOON, make_memory

SHOP = Owner(id="p1", name="shop", root="/srv/shop")
ODD = (
    *("---", "# Title", "## Reason", "\\## Links", "[[x]]", "![p](http://x.test/p.png)", "-->", "--", "%%", "{{x}}"),
    *("\\", "\\[[x]]", "\\\\![[x]]"),
    *("<!-- subconscious {} -->", "a: b", "- item", "'quoted' \"twice\"", "tab\there", "line\nbreak", "\r\ncarriage"),
    *("\u2028separator", "e\u0301", "\u00e9", "\U0001f980", "\u202eright to left", "\ufeff"),
    *("CON", "a/b\\c:*?", "...", " spaces "),
)


def make_record(content: str = "Amounts are integer cents.", uid: str = "0" * 32, **changes: Any) -> Record:
    """A record with sensible values; ``changes`` are columns of the memory."""
    own = {name: changes.pop(name) for name in ("links", "project", "waiting") if name in changes}
    memory = asdict(make_memory(content, **{"project_id": "p1", **changes}))
    values = {name: memory[name] for name in Fields.model_fields}
    return Record(uid=uid, id=1, memory=Fields(**values), **{"project": SHOP, **own})


def texts(most: int = 200) -> st.SearchStrategy[str]:
    """Texts that a store can hold, with signs that mean something to Markdown, YAML, HTML and file systems."""
    plain = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=most)
    odd = st.sampled_from(ODD)
    return st.one_of(plain, st.lists(odd, max_size=6).map("".join), st.lists(plain | odd, max_size=4).map("\n".join))


def said() -> st.SearchStrategy[str]:
    """The same with something in it."""
    return texts().filter(lambda text: bool(text.strip()))


@st.composite
def any_memory(draw: st.DrawFn, number: int = 0) -> Memory:
    """A memory of any kind, origin and status."""
    archived = draw(st.none() | st.floats(NOON, NOON + 1e6))
    return make_memory(
        draw(said()),
        project_id="p1",
        summary=draw(said()),
        kind=draw(st.sampled_from(sorted(KINDS))),
        origin=draw(st.sampled_from(list(Origin))),
        confidence=draw(st.floats(0, 1)),
        raw_confidence=draw(st.floats(0, 1)),
        rationale=draw(texts()),
        evidence=draw(texts()),
        branch=draw(texts(30)),
        tags=tuple(draw(st.lists(texts(20), max_size=3))),
        files=tuple(draw(st.lists(texts(20), max_size=3))),
        pinned=draw(st.booleans()),
        verified=draw(st.booleans()),
        archived_at=archived,
        created_at=NOON + number + draw(st.floats(0, 0.5)),
        said_at=draw(st.floats(0, 2e9)),
        session_id=draw(st.none() | st.just("session-1")),
    )
