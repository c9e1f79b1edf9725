"""``subconscious explain``: what became of each sentence of a session (stored, discarded, ...), and why."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from . import screen
from .ask import ask, here
from .origin import origin, require_person

if TYPE_CHECKING:
    from subconscious.wire.sessions import ExplainedSentence, ExplainedSession, ExplainResult

TIMEOUT_SECONDS = 600.0
"""Seconds to wait for an answer: a transcript can contain a month of work."""

SPEAKERS = {
    "user": "You",
    "assistant": "Claude",
    "teammate": "A teammate",
    "tool": "The assistant (after reading a file or output)",
}
STYLES = {"stored": "green", "repeated": "green", "waiting": "yellow", "quarantined": "yellow"}

INDENT = 8

FOLDED = 3
"""The fewest sentences in a row of which only the first is shown, if the same reason made them no candidates."""


def explain(options: Namespace) -> None:
    """Print the outcome of each sentence of a session or transcript, or the predicted outcome of one sentence."""
    require_person("explain a session")
    answer = ask(
        "explain", TIMEOUT_SECONDS, cwd=here(), origin=origin(), all=options.all or None, **_named(options.what)
    )
    if options.json:
        screen.as_json(answer)
        return
    if answer["session"] is not None:
        _print_session(answer["session"], answer["missing"])
    rows = groupby(answer["sentences"], lambda one: (one["origin"], one["sentence"]))
    for outcome, alike in groupby([list(one) for _, one in rows], _common_outcome):
        _print_alike(list(alike), folded=outcome is not None and not options.all)
    _print_rest(answer)


def _common_outcome(rows: Sequence[ExplainedSentence]) -> tuple[float, str, str] | None:
    """Return a key that sentences of one message share if the same reason made them no candidates; None for others."""
    first = rows[0]
    return (first["time"], first["origin"], first["told"]) if first["fate"] == "never" else None


def _print_alike(sentences: Sequence[Sequence[ExplainedSentence]], *, folded: bool) -> None:
    """Print sentences that follow each other; if ``folded``, only the first of many, as of the rows of pasted text."""
    hidden = len(sentences) - 1 if folded and len(sentences) >= FOLDED else 0
    for rows in sentences[: len(sentences) - hidden]:
        _print_sentence(rows)
    if hidden:
        more = f"and {hidden} more sentences of this message, with the same outcome (--all shows them)"
        print(screen.paint(screen.wrapped(more, INDENT), "dim"))


def _named(words: Sequence[str]) -> dict[str, str]:
    """Return the request's argument: a transcript, a sentence (two or more words), a session, or none."""
    text = " ".join(words)
    path = Path(text).expanduser()
    if not text:
        return {}
    if text.endswith(".jsonl") or (len(words) == 1 and path.is_file()):
        return {"transcript": str(path.absolute())}
    return {"text": text} if len(text.split()) > 1 else {"session_id": text}


def _print_session(session: ExplainedSession, missing: Sequence[str]) -> None:
    title = f": {screen.line(session['title'])}" if session["title"] else ""
    print(screen.wrapped(f"Session {screen.line(session['id'])}{title}"))
    if not session["known"]:
        print("This session was not recorded. If it had been, this would have been learned:")
    for path in missing:
        print(screen.paint(f"{screen.line(path)} can no longer be read.", "yellow"))


def _print_sentence(rows: Sequence[ExplainedSentence]) -> None:
    speaker = SPEAKERS[rows[0]["origin"]]
    print(f"\n{screen.wrapped(screen.line(rows[0]['sentence']), INDENT, f'{speaker}:')}")
    best = max(rows, key=lambda row: (row["fate"] in STYLES, row["confidence"]))
    if best["seen"]:
        print(screen.paint(screen.wrapped(_seen(best), INDENT), "dim"))
    outcome = screen.wrapped(screen.line(best["told"]), INDENT)
    print(screen.paint(outcome, STYLES.get(best["fate"], "dim")))
    if len(rows) > 1:
        more = screen.counted(len(rows) - 1, "weaker interpretation")
        print(screen.paint(screen.wrapped(f"{more} of this sentence (--json shows them)", INDENT), "dim"))


def _seen(row: ExplainedSentence) -> str:
    lowered = f"; lowered: {screen.listed(row['lowered'])}" if row["lowered"] else ""
    kind = f"{row['kind']}, " if row["kind"] else ""
    return f"{kind}{screen.line(row['seen'])}{lowered} (confidence {row['confidence']:.2f})"


def _print_rest(answer: ExplainResult) -> None:
    hidden = sum(answer["unseen"].values())
    if hidden:
        what = screen.counted(hidden, "sentence")
        print(f"\nNot shown: {what} of Claude's that were not candidates; --all shows all")
    if not answer["sentences"]:
        print(
            "No sentence was a candidate for a memory." if answer["turns"] else "Nothing was typed in this session yet."
        )
