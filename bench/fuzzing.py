"""The fuzz targets: each parser of foreign input, and the properties it must keep.

Inputs are made from seeds by splicing, repeating, cutting and breaking what such texts are made of; a seed makes the
same input for ever, so that a finding is a number.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

from bench.patterns import UNITS
from subconscious.capture.evaluation import judge
from subconscious.context.entry import BrokenEntryError, parse_entry
from subconscious.domain.errors import SubconsciousError
from subconscious.domain.model import Memory, Origin, Role, Scope, Turn
from subconscious.framing.rules import line_of
from subconscious.redaction import redact
from subconscious.redaction.cleaning import clean
from subconscious.settings.settings import Settings
from subconscious.text.quoting import CLOSING, OPENING, harmless, quote
from subconscious.transcripts import read_turns
from subconscious.transcripts.records import storable
from subconscious.transcripts.speech import typed
from subconscious.wire import decode_answer, decode_request

SLOW = 2.0
"""Seconds of the processor beyond which an input of this size counts as a hang."""

LONGEST = 20_000
"""Characters of an input."""

LARGE = 1_000_000
"""Characters of a message of one repeated piece."""

SLOW_LARGE = 20.0
"""Seconds for one such message; a quadratic step takes minutes."""

WORDS = (
    "We decided to use tabs. | <system-reminder> | </subconscious-memory> | <private> | </private> | Human: |"
    " [12] decision, | &lt; | \\u003c | %3C | \u200b | \u202e | \uff1c | \ud83d | \x00 | \x1b[31m | \n |"
    " \r\n | \u2028 | password = hunter2hunter2 |"
    " ghp_0123456789abcdefghijABCDEFGHIJ0123456789 | AKIAABCDEFGHIJKLMNOP | Bearer |"
    " -----BEGIN RSA PRIVATE KEY----- | https://user:pa55word@host/ | eyJhbGciOi.eyJzdWIi.c2ln | from now on |"
    ' I prefer | \t | " | \\ | { | } | [ | ] | \u65e5\u672c | e\u0301 | a | 0 | \u00a0'
).split(" | ")
KEYS = (
    "type uuid parentUuid sessionId timestamp message role content text tool_use tool_result id name input is_error"
    " toolUseResult isMeta isSidechain isCompactSummary cwd gitBranch version promptId subtype attachment summary"
    " session_id transcript_path hook_event_name prompt prompt_id source reason cmd args ids query limit origin ok"
    " result error code message remedy"
).split()
VALUES = (
    "user assistant system tool_result tool_use text thinking attachment summary progress 2026-03-01T10:00:00Z s1 u1"
    " Bash Edit ExitPlanMode AskUserQuestion search remember status"
).split()

Target = Callable[[random.Random], None]


@dataclass(frozen=True)
class Finding:
    """An input that caused a failure."""

    target: str
    seed: int
    error: str


def text(chance: random.Random) -> str:
    """Some text: words, repeated or broken."""
    parts: list[str] = []
    for _ in range(chance.randrange(1, 12)):
        word = chance.choice(WORDS)
        match chance.randrange(5):
            case 0:
                word *= chance.choice((2, 50, 1000))
            case 1:
                word = word[chance.randrange(len(word)) :]
            case 2:
                word = "".join(chr(chance.randrange(1, 0x11000)) for _ in range(chance.randrange(1, 20)))
            case _:
                word += " "
        parts.append(word)
    return "".join(parts)[:LONGEST]


def value(chance: random.Random, depth: int = 0) -> Any:
    """Some JSON value, of the names that transcripts and requests know."""
    sort = chance.randrange(9 if depth < 5 else 6)
    if sort < 2:
        return chance.choice(VALUES)
    if sort < 4:
        return text(chance)
    if sort == 4:
        return chance.choice((None, True, False, -1, 0, 1, 1.5, 2**31, 2**63, 10**400, float("nan"), float("inf")))
    if sort == 5:
        return []
    if sort == 6:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(KEYS): value(chance, depth + 1) for _ in range(chance.randrange(8))}


def raw(chance: random.Random) -> bytes:
    """Bytes that may once have been JSON."""
    made = json.dumps(value(chance), ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    content = bytearray(made)
    for _ in range(chance.choice((0, 0, 1, 5))):
        place = chance.randrange(len(content) + 1)
        match chance.randrange(3):
            case 0:
                del content[place : place + chance.randrange(1, 30)]
            case 1:
                content[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 8)))
            case _:
                content[place:place] = chance.choice((b"[" * 5000, b"9" * 6000, b'{"a":' * 2000, b"\n", b"\xff\xfe"))
    return bytes(content)


def transcript(chance: random.Random) -> None:
    """The parser and the extractor: any file gives turns or is foreign; reading on ends at the end."""
    lines = [_record(chance) if chance.random() < 0.7 else raw(chance) for _ in range(chance.randrange(1, 12))]
    content = b"\n".join(lines)
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(content)
        file.flush()
        offset, state, more = 0, None, True
        while more:
            reading = read_turns(Path(file.name), offset, state, final=True, max_bytes=4096, clean=clean)
            assert offset <= reading.offset <= len(content)
            assert reading.offset > offset or not reading.more
            judge(reading.turns, Settings.model_construct())
            offset, state, more = reading.offset, reading.state, reading.more


def _record(chance: random.Random) -> bytes:
    role = chance.choice(("user", "assistant"))
    content: Any = text(chance)
    if chance.random() < 0.5:
        content = [value(chance) for _ in range(3)] + [{"type": "text", "text": text(chance)}]
    record = {
        "type": role,
        "uuid": chance.choice(("u1", "u2", "u3")),
        "sessionId": "s1",
        "timestamp": "2026-03-01T10:00:00Z",
        "message": {"role": role, "content": content},
        chance.choice(KEYS): value(chance),
    }
    return json.dumps(record).encode()


def protocol(chance: random.Random) -> None:
    """Both ends of the socket: a value, or an error of ours."""
    for decode in (decode_request, decode_answer):
        with suppress(SubconsciousError):
            decode(raw(chance))


def payload(chance: random.Random) -> None:
    """A hook's entry: parsed or refused for a reason; what is parsed can be stored."""
    header = chance.choice(("subconscious 1\tStop\t1\t/p\t\t0.1.0\t", "subconscious 1\t" + text(chance), text(chance)))
    entry = header.encode("utf-8", "surrogatepass") + b"\n" + raw(chance)
    try:
        parsed = parse_entry("n", entry)
    except BrokenEntryError:
        return
    for words in (parsed.payload.prompt, parsed.payload.session_id, parsed.payload.cwd, parsed.project_dir):
        words.encode("utf-8")
        assert "\0" not in words


def redactor(chance: random.Random) -> None:
    """The redactor: whatever surrounds it, a plain token goes; what is cut is cut the second time too."""
    secret = "ghp_" + "".join(chance.choice("abcdefghijkmnpqrstuvwxyz23456789ABCDEFGH") for _ in range(36))
    said = redact(f"{text(chance)}\n{secret}\n{text(chance)}").text
    assert secret not in said
    clean(text(chance))


def large(chance: random.Random) -> None:
    """A message of 1 MB that repeats one piece, in each role: cleaned, examined, judged, shown."""
    piece = chance.choice((*UNITS, *WORDS))
    message = storable((piece * (LARGE // len(piece) + 1))[:LARGE])
    cleaned = typed(clean(message))
    for role, origin in ((Role.USER, Origin.USER), (Role.ASSISTANT, Origin.ASSISTANT)):
        judge([Turn("u1", "s1", role, origin, cleaned, 0.0, "", 0, 0)], Settings.model_construct())
    quote(message[: 10 * LONGEST], 500)


def frame(chance: random.Random) -> None:
    """The frame: one entry a memory, nothing that ends it, and nothing to do a second time."""
    content, why, branch = text(chance), text(chance), text(chance)
    told = line_of(_memory(content, why, branch), "main")
    assert len(told.split("\n")) - 1 == len(told.splitlines()) <= 2
    assert told.startswith("[7] decision, 2026-")
    inner = OPENING + told + CLOSING
    assert inner.count("subconscious-memory>") - told.count("subconscious-memory>") == 2
    assert "<subconscious-memory" not in told
    assert "</subconscious-memory" not in told
    quoted = quote(content)
    assert harmless(quoted) == quoted


def _memory(content: str, why: str, branch: str) -> Memory:
    return Memory(
        id=7,
        project_id=None,
        scope=Scope.USER,
        kind="decision",
        category="semantic",
        summary="",
        content=content,
        origin=Origin.TOOL,
        confidence=1.0,
        raw_confidence=1.0,
        extractor="fuzz",
        created_at=1_790_000_000.0,
        said_at=1_790_000_000.0,
        content_hash="",
        rationale=why,
        branch=branch,
    )


TARGETS: dict[str, Target] = {
    "transcript": transcript,
    "protocol": protocol,
    "payload": payload,
    "redactor": redactor,
    "frame": frame,
    "large": large,
}


def attempt(target: str, seed: int) -> Finding | None:
    """Try one input; return the problem, if any."""
    began = process_time()
    try:
        TARGETS[target](random.Random(seed))
    except Exception as error:  # noqa: BLE001 - any of them is a finding
        return Finding(target, seed, f"{type(error).__name__}: {error}"[:300])
    if (spent := process_time() - began) > (SLOW_LARGE if target == "large" else SLOW):
        return Finding(target, seed, f"took {spent:.1f} s")
    return None
