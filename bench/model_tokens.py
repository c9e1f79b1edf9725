"""Count the tokens that are sent to a model per session, and whether anything is sent twice.

    python -m bench.model_tokens FOLDER... [--most 60]

Each FOLDER has one project's `<sid>.jsonl`; they are replayed in order through the daemon's code, without an embedder.
A stand-in answers with one candidate for each 1,000 tokens, a verbatim sentence of the user, and approves all in the
second look. So the requests are as long as with a real model; answers count 700 tokens a chunk and 120 a note. A
session that only says hello is played first: none of it may be sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.fake_models import PASSED
from bench.quiet import quiet
from bench.reader_answers import HOUR, plan
from bench.replay.stage import stage
from subconscious.llm.providers import Request
from subconscious.settings.settings import Settings

GREETING = "hello-0000"
A_CANDIDATE = 1000
"""Tokens of a session for which a model proposes one candidate, as the instruction asks."""

LONG = 160
"""Characters from which two consecutive turns count as sent twice: shorter ones recur by chance."""

ANSWERED, A_NOTE, STORY, A_VERDICT = 700, 120, 250, 60

Row = dict[str, Any]


@dataclass
class Reader:
    """A stand-in for a model that records the requests."""

    fresh: Counter[str] = field(default_factory=Counter)
    """Pairs of turns that were sent as new, and how often: single ones may recur, as errors do."""

    def __call__(self, request: Request) -> str:
        """Answer a request as a model that finds as many statements as it may."""
        if request.purpose == "review":
            numbers = re.findall(r'"number": (\d+)', request.text)
            return json.dumps({"looks": [PASSED | {"number": int(number)} for number in numbers]})
        if request.purpose == "poisoning":
            return json.dumps({"level": "none", "threat": "none", "why": "It is harmless."})
        found = list(self._candidates(request.text)) if request.purpose == "capture" else []
        return json.dumps({"candidates": found})

    def _candidates(self, text: str) -> Iterator[Row]:
        seen, _, told = text.partition("Turns 1 to ")[2].partition(" were read before:")
        turns = re.findall(r"^\[(\d+)\] (.*(?:\n(?!\[\d+\] ).*)*)", told, re.MULTILINE)
        fresh = [(int(number), said) for number, said in turns if int(number) > int(seen or 0)]
        pairs = (f"{one}\n{other}" for (_, one), (_, other) in pairwise(fresh))
        self.fresh.update(pair for pair in pairs if len(pair) > LONG)
        typed = [(number, said.removeprefix("user: ")) for number, said in fresh if said.startswith("user: ")]
        for number, said in typed[-max(1, len(told) // 4 // A_CANDIDATE) :]:
            yield PROPOSED | {"turn": number, "quote": said[:200], "content": said[:200], "summary": said[:100]}


PROPOSED = {"kind": "decision", "standing": "standing", "confirmed_by": "user", "true_at_end": True, "keep": 0.9}


@dataclass(frozen=True, slots=True)
class Sent:
    """The tokens sent for one session by purpose, and estimated tokens of the answers."""

    asked: dict[str, int]
    answered: int

    @property
    def total(self) -> int:
        """All tokens."""
        return sum(self.asked.values()) + self.answered


async def play(folder: Path, transcripts: Path, reader: Reader, home: Path) -> dict[str, Sent]:
    """Replay one project; return the requests of each of its sessions."""
    history = plan(transcripts, [], folder)
    async with stage(history, home, Settings(embedder="none"), reader) as made:
        for event in history.events():
            await made.live_until(event.at)
            await made.hand_over(event)
        await made.live_until(made.clock.now + 2 * HOUR)
        rows = await made.app.database.rows("SELECT session_id, purpose, input_tokens FROM llm_calls")
        notes = await made.app.database.rows("SELECT session_id, count(*) FROM second_looks GROUP BY 1")
    return _by_session([one.sid for one in history.sessions], [tuple(row) for row in rows], dict(map(tuple, notes)))


def _by_session(ids: Sequence[str], calls: Sequence[Any], notes: dict[str, int]) -> dict[str, Sent]:
    asked: defaultdict[str, Counter[str]] = defaultdict(Counter)
    answered: Counter[str] = Counter()
    for session, purpose, tokens in calls:
        asked[session][purpose] += tokens
        room = {"review": STORY + A_NOTE * notes.get(session, 0), "capture": ANSWERED}
        answered[session] += room.get(purpose, A_VERDICT)
    return {one: Sent(dict(asked[one]), answered[one]) for one in ids}


def greeting(folder: Path) -> None:
    """Write a project whose only session says hello."""
    said = (("user", "hello"), ("assistant", "Hello! How can I help you today?"))
    rows = [
        {
            "type": who,
            "uuid": who,
            "timestamp": f"2026-01-05T08:00:0{number}Z",
            "cwd": "/nowhere/hello",
            "message": {"role": who, "content": text},
        }
        for number, (who, text) in enumerate(said)
    ]
    (folder / f"{GREETING}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def told(sent: dict[str, Sent], reader: Reader) -> Iterator[str]:
    """The figures in a few lines."""
    of_greeting = sent.pop(GREETING)
    totals = sorted(one.total for one in sent.values())
    yield f"sessions                 {len(totals)}, of which nothing is sent {sum(1 for one in totals if not one)}"
    yield f"tokens a session         median {at(totals, 0.5)}, 95 % {at(totals, 0.95)}, most {totals[-1]}"
    for purpose in sorted({purpose for one in sent.values() for purpose in one.asked}):
        sizes = sorted(one.asked[purpose] for one in sent.values() if purpose in one.asked)
        yield f"  sent for {purpose:<15} median {at(sizes, 0.5)}, 95 % {at(sizes, 0.95)}, {len(sizes)} sessions"
    yield f"of a greeting            {of_greeting.total}"
    yield f"pairs told as new        {sum(reader.fresh.values())}, of which twice {_twice(reader)}"


def _twice(reader: Reader) -> int:
    return sum(1 for times in reader.fresh.values() if times > 1)


def at(ordered: Sequence[int], share: float) -> int:
    """The quantile for that share."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


@quiet()
def measure(folders: Sequence[Path], most: int) -> tuple[dict[str, Sent], Reader]:
    """Replay the folders, one store each, until so many sessions were read."""
    reader = Reader()
    sent: dict[str, Sent] = {}
    with tempfile.TemporaryDirectory(prefix="tokens-") as made:
        hello = Path(made) / "hello"
        hello.mkdir()
        greeting(hello)
        for number, transcripts in enumerate([hello, *folders]):
            laid, home = Path(made) / f"laid-{number}", Path(made) / f"home-{number}"
            laid.mkdir()
            home.mkdir()
            sent |= asyncio.run(play(laid, transcripts, reader, home))
            if len(sent) > most:
                break
    return dict(list(sent.items())[: most + 1]), reader


def main() -> int:
    """Print the figures; the exit code says whether a greeting was sent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--most", type=int, default=60)
    options = parser.parse_args()
    sent, reader = measure(options.folders, options.most)
    silent = sent[GREETING].total == 0
    print("\n".join(told(sent, reader)))
    return int(not silent)


if __name__ == "__main__":
    raise SystemExit(main())
