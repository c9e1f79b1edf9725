from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subconscious.context.entry import BrokenEntryError, parse_entry

PAYLOAD = {"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/p", "hook_event_name": "Stop"}


def raw(header: str = "subconscious 1\tStop\t1790000000000000000\t/p\t\t0.1.0\t", body: bytes | None = None) -> bytes:
    return header.encode() + b"\n" + (json.dumps(PAYLOAD).encode() if body is None else body)


def test_reads_header_and_payload() -> None:
    entry = parse_entry("n", raw())
    assert (entry.event, entry.at, entry.folder) == ("Stop", 1_790_000_000.0, "/p")
    assert entry.payload.session_id == "s1"


def test_undoes_escapes() -> None:
    header = "subconscious 1\tStop\t1\t/a\\tb\\nc\\\\d\t\t0.1.0\tcapture=a\\:b;surface=\\\\:"
    entry = parse_entry("n", raw(header))
    assert entry.project_dir == "/a\tb\nc\\d"
    assert entry.options == {"capture": "a;b", "surface": "\\:"}


def test_the_project_is_where_the_session_began() -> None:
    moved = json.dumps(PAYLOAD | {"cwd": "/p/sub"}).encode()
    assert parse_entry("n", raw(body=moved)).folder == "/p"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b"", "header"),
        (b"no header\n{}", "header"),
        (raw(body=b'{"session_id": "s1"'), "payload"),
        (raw(body=b"[]"), "payload"),
        (raw(body=b"{}"), "session_id"),
        (raw(body=b'{"session_id": ""}'), "session_id"),
        (raw("subconscious 1\tStop\t" + "9" * 400 + "\t/p\t\t0.1.0\t"), "time"),
        (raw("subconscious 1\tStop\tsoon\t/p\t\t0.1.0\t"), "time"),
        (raw("subconscious 9\tStop\t1\t/p\t\t0.1.0\t"), "header"),
        (raw(body=b"[" * 100_000), "payload"),
    ],
)
def test_says_what_is_broken(broken: bytes, reason: str) -> None:
    with pytest.raises(BrokenEntryError, match=reason):
        parse_entry("n", broken)


@pytest.mark.parametrize(
    "more",
    [
        '"cwd": 7, "prompt": null, "tool_input": null',
        '"prompt": "half an emoji \\ud83d"',
        '"tool_response": ' + "9" * 5000,
        '"tool_response": NaN',
        '"unheard": {"of": []}',
    ],
)
def test_what_is_not_used_may_be_anything(more: str) -> None:
    entry = parse_entry("n", raw(body=('{"session_id": "s1", ' + more + "}").encode()))
    assert entry.payload.session_id == "s1"
    assert entry.payload.prompt.encode("utf-8") is not None


@given(st.binary(max_size=300))
def test_any_bytes_parse_or_are_refused(noise: bytes) -> None:
    for candidate in (noise, raw(body=noise), raw() + noise):
        with suppress(BrokenEntryError):
            assert parse_entry("n", candidate).payload.session_id


def test_paths_that_are_no_utf8_can_be_stored() -> None:
    header = b"subconscious 1\tStop\t1\t/p\xff\t\t0.1.0\t\n"
    assert parse_entry("n", header + json.dumps(PAYLOAD).encode()).folder.encode("utf-8")
