"""`subconscious explain`: what was seen in each sentence of a session, what lowered it, and what became of it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from . import screen
from .ask import ask, here
from .origin import origin, require_person

PATIENCE = 600.0
"""Seconds to wait at most: a transcript can hold a month of work."""

SPEAKERS = {"user": "You", "assistant": "Claude", "tool": "A tool"}
STYLES = {"stored": "green", "said again": "green", "waiting": "yellow", "quarantined": "yellow"}

INDENT = 8

Sentence = dict[str, Any]


def explain(options: Namespace) -> None:
    """Print what became of each sentence of a session, or would become of one."""
    require_person("have a session explained")
    answer = ask("explain", PATIENCE, cwd=here(), origin=origin(), all=options.all or None, **_named(options.what))
    if options.json:
        screen.as_json(answer)
        return
    if answer["session"] is not None:
        _tell_session(answer)
    for (speaker, sentence), rows in groupby(answer["sentences"], lambda one: (one["origin"], one["sentence"])):
        _tell(speaker, sentence, list(rows))
    _tell_rest(answer)


def _named(words: Sequence[str]) -> dict[str, str]:
    """What the words name: a file, else a sentence where they are several, else a session."""
    text = " ".join(words)
    path = Path(text).expanduser()
    if not text:
        return {}
    if text.endswith(".jsonl") or (len(words) == 1 and path.is_file()):
        return {"transcript": str(path.absolute())}
    return {"text": text} if len(text.split()) > 1 else {"session_id": text}


def _tell_session(answer: dict[str, Any]) -> None:
    session = answer["session"]
    title = f": {screen.line(session['title'])}" if session["title"] else ""
    print(screen.wrapped(f"Session {screen.line(session['id'])}{title}"))
    if not session["known"]:
        print("The daemon does not know this session: this is what would become of it.")
    for path in answer["missing"]:
        print(screen.paint(f"{screen.line(path)} can't be read any more.", "yellow"))


def _tell(speaker: str, sentence: str, rows: Sequence[Sentence]) -> None:
    print(f"\n{screen.wrapped(screen.line(sentence), INDENT, f'{SPEAKERS[speaker]}:')}")
    best = max(rows, key=lambda row: (row["fate"] in STYLES, row["confidence"]))
    if best["seen"]:
        print(screen.paint(screen.wrapped(_seen(best), INDENT), "dim"))
    told = screen.wrapped(screen.line(best["told"]), INDENT)
    print(screen.paint(told, STYLES.get(best["fate"], "dim")))
    if len(rows) > 1:
        more = screen.counted(len(rows) - 1, "weaker reading")
        print(screen.paint(screen.wrapped(f"{more} of it (--json shows them)", INDENT), "dim"))


def _seen(row: Sentence) -> str:
    lowered = f"; lowered: {screen.listed(row['lowered'])}" if row["lowered"] else ""
    kind = f"{row['kind']}, " if row["kind"] else ""
    return f"{kind}{screen.line(row['seen'])}{lowered} (confidence {row['confidence']:.2f})"


def _tell_rest(answer: dict[str, Any]) -> None:
    hidden = sum(answer["unseen"].values())
    if hidden:
        what = screen.counted(hidden, "sentence")
        print(f"\n{what} of Claude's were never a candidate. --all shows them.")
    if not answer["sentences"]:
        print("Nothing was said that could be kept." if answer["turns"] else "Nothing was said in it yet.")
