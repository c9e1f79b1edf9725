"""Use readers in place of a model: export the prompts, then play their answers through the daemon's code.

    python -m bench.reader_answers TRANSCRIPTS FOLDER [--sessions SID...] [--list]

TRANSCRIPTS is a folder of one project's `<sid>.jsonl`; they are replayed in the order of their times. Each request to a
model is written to FOLDER as `<key>.md`; its answer is read from `<key>.json` beside it, and is empty if that is
missing. So answer the written requests, and run it again: the second look reviews the results of the first answers.
Nothing is sent anywhere. Prints the results: numbers per session, and with `--list` the captures themselves. Keep
FOLDER out of the repository: it quotes the transcripts.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.quiet import quiet
from bench.replay.history import History, read_history
from bench.replay.stage import Stage, stage
from subconscious.llm.providers import Request
from subconscious.sessions import Handover
from subconscious.settings.settings import Settings
from subconscious.store.capture_rows import SHOWN_STATUS

ASKED = ("capture", "review")
NOTHING: dict[str, Any] = {"capture": {"candidates": []}, "review": {"looks": [], "story": {}}}
HOUR = 3600.0


@dataclass
class Readers:
    """The requests, and the readers' answers."""

    folder: Path
    asked: Counter[str] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> str:
        """Write a question down; give its answer, if there is one."""
        if request.purpose not in ASKED:
            return "{}"
        # The marker is another one each time; what stands between is the question.
        text = re.sub(r"\b[0-9a-f]{32}\b", "MARKER", request.text)
        # What is known besides may change as answers come in; what is asked about does not.
        self.folder.mkdir(parents=True, exist_ok=True)
        about = text.partition("read before:")[2] or _without_stored(text)
        key = f"{request.purpose}-{hashlib.sha256(about.encode()).hexdigest()[:12]}"
        (self.folder / f"{key}.md").write_text(f"{request.system}\n\n---\n\n{text}\n", encoding="utf-8")
        self.asked[request.purpose] += 1
        self.tokens.append((len(request.system) + len(text)) // 4)
        answer = self.folder / f"{key}.json"
        if answer.exists():
            return answer.read_text(encoding="utf-8")
        self.open.append(key)
        return json.dumps(NOTHING[request.purpose])


def _without_stored(text: str) -> str:
    return text.partition('"stored":')[0] + text.partition('"session":')[2]


def plan(transcripts: Path, chosen: Sequence[str], folder: Path) -> History:
    """Lay the transcripts out as a history: their order is that of their first lines."""
    rows = []
    for path in sorted(transcripts.glob("*.jsonl")):
        if not chosen or path.stem in chosen:
            (folder / path.name).symlink_to(path.resolve())
            rows.append(_planned(path))
    (folder / "plan.json").write_text(json.dumps(sorted(rows, key=lambda row: row["start"])), encoding="utf-8")
    return read_history(folder)


def _planned(path: Path) -> dict[str, Any]:
    lines = list(_read(path))
    times = sorted(line["timestamp"] for line in lines if line.get("timestamp"))
    spoken: dict[str, Any] = next((line for line in lines if line.get("cwd")), {})
    own = {"branch": spoken.get("gitBranch", "main"), "cwd": spoken.get("cwd", "/nowhere/stand-in")}
    return {"sid": path.stem, "start": times[0], "end": times[-1], **own}


def _read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a transcript without torn lines."""
    for line in path.read_bytes().split(b"\n"):
        with suppress(ValueError):
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


async def play(
    history: History, readers: Readers, folder: Path, settings: Settings
) -> tuple[list[dict[str, Any]], dict[str, Handover]]:
    """Replay the history with readers for a model; return its captures, and what each session hands over."""
    async with stage(history, folder, settings, readers) as made:
        for event in history.events():
            await made.live_until(event.at)
            await made.hand_over(event)
        await made.live_until(made.clock.now + 2 * HOUR)
        return await _captures(made), await _stories(made)


async def _stories(made: Stage) -> dict[str, Handover]:
    rows = await made.app.database.rows("SELECT id, handover FROM sessions")
    return {row["id"]: Handover.from_json(row["handover"]) for row in rows}


async def _captures(made: Stage) -> list[dict[str, Any]]:
    rows = await made.app.database.rows(
        f"SELECT session_id, {SHOWN_STATUS} AS status, extractor LIKE 'model-%' AS by_model, kind, origin, content,"
        " reason, reservation, confidence FROM implicit_captures ORDER BY session_id, id"
    )
    return [dict(row) for row in rows]


def told(
    captures: Sequence[dict[str, Any]], stories: Mapping[str, Handover], readers: Readers, *, listed: bool
) -> Iterator[str]:
    """Print the results by session."""
    sizes = sorted(readers.tokens) or [0]
    yield f"asked {dict(readers.asked)}, tokens a question {sizes[len(sizes) // 2]} (at most {sizes[-1]})"
    yield f"still to be answered: {', '.join(readers.open) or 'none'}"
    for session in dict.fromkeys(row["session_id"] for row in captures if row["session_id"]):
        own = [row for row in captures if row["session_id"] == session]
        by = {name: Counter(row["status"] for row in own if bool(row["by_model"]) is flag) for name, flag in SIDES}
        story = stories.get(session, Handover())
        whose = "the reader's story" if story.retold else "the story told offline"
        yield f"{session[:8]}  by the model {dict(by['model'])}, offline {dict(by['offline'])}, {whose}"
        for name, text in story.parts() if listed else ():
            yield f"    {name:<12} {text}"
        for row in own if listed else ():
            if row["by_model"] or row["status"] != "discarded":
                why = row["reservation"] or row["reason"]
                yield f"    {row['status']:<12} {row['origin']:<9} {row['kind']:<10} {row['content']}  [{why[:140]}]"


SIDES = (("model", True), ("offline", False))


def main() -> int:
    """Replay, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", nargs="*", default=[], metavar="SID")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-embedder", action="store_true", help="go by words alone: faster, and nearly the same")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    readers = Readers(options.folder)
    with (
        quiet(),
        tempfile.TemporaryDirectory(prefix="stand-in-") as laid,
        tempfile.TemporaryDirectory(prefix="stand-in-") as home,
    ):
        history = plan(options.transcripts, options.sessions, Path(laid))
        settings = Settings(embedder="none") if options.no_embedder else Settings()
        captures, stories = asyncio.run(play(history, readers, Path(home), settings))
    print("\n".join(told(captures, stories, readers, listed=options.list)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
