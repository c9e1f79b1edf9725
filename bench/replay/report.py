"""Score a replay with the needs scorer, compare it with trivial strategies, and locate the knowledge of each need."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.replay.knowledge import DISCARDED, NEVER, STORED, UNCONFIRMED, WAITING
from bench.replay.labels import tells
from bench.replay.run import Outcome, Place, Row

BASELINES = {
    "last-answer": "the last answer of the session before",
    "last-prompts": "the last 10 prompts",
    "rules": "the last 40 sentences with a rule's words",
}
SERVED = "served"
STORED_NOT_GIVEN = "stored, not given"
ROWS = (SERVED, STORED_NOT_GIVEN, UNCONFIRMED, WAITING, DISCARDED, NEVER)
ORDER = ("start", "prompt", "tool", "error")
CHARACTERS_A_TOKEN = 4
MOST_REASONS = 8
LONGEST_REASON = 90
LONGEST_NEED = 100


@dataclass(frozen=True, slots=True)
class Scorer:
    """The scorer's script and its input."""

    script: Path
    labels: Sequence[Path]
    histories: Path

    def given(self, rows: Iterable[Row], names: Sequence[str]) -> Row:
        """Score the given memories."""
        return self._of_rows("--given", rows, names)

    def known(self, rows: Iterable[Row], names: Sequence[str]) -> Row:
        """Score what could have been given."""
        return self._of_rows("--known", rows, names)

    def baseline(self, strategy: str, names: Sequence[str]) -> Row:
        """Score a trivial strategy on the same sessions."""
        return self._run("--baseline", strategy, "--sessions", str(self.histories), "--history", *names)

    def _of_rows(self, option: str, rows: Iterable[Row], names: Sequence[str]) -> Row:
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            write_rows(Path(file.name), rows)
            return self._run(option, file.name, "--history", *names)

    def _run(self, *options: str) -> Row:
        command = [sys.executable, str(self.script), *map(str, self.labels), *options, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"the scorer failed: {done.stderr.strip()}")
        scored: Row = json.loads(done.stdout)
        return scored


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as the scorer reads them."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def scores(outcomes: Sequence[Outcome], scorer: Scorer, variant: str) -> Iterator[str]:
    """The scorer's figures for the replay, each of its histories, and the trivial strategies."""
    names = [one.history for one in outcomes]
    yield _line("", ("needs", "by", "sessions", "", "", "mis-", "items a", "tokens a"))
    yield _line("", ("served", "value", "helped", "needed", "fair", "leading", "session", "session"))
    given = [row for one in outcomes for row in one.given]
    yield _score(f"replay, {variant}", scorer.given(given, names))
    if len(outcomes) > 1:
        for one in outcomes:
            yield _score(f"  {one.history}", scorer.given(one.given, [one.history]))
    for strategy, words in BASELINES.items():
        yield _score(f"trivial: {words}", scorer.baseline(strategy, names))
    if naive := [row for one in outcomes for row in one.naive]:
        yield _score("naive: best 3 captures for 3 prompts", scorer.given(naive, names))


def _score(name: str, scored: Row) -> str:
    helped = f"{scored['sessions_helped']} of {scored['sessions_with_needs']}"
    shares = (f"{scored[key]:.1%}" for key in ("needed", "fair", "misleading"))
    served = (f"{scored[key]:.1%}" for key in ("served", "served_by_value"))
    return _line(
        name, (*served, helped, *shares, f"{scored['items_a_session']:.1f}", f"{scored['tokens_a_session']:.0f}")
    )


def _line(name: str, cells: Iterable[str]) -> str:
    return f"{name:44}" + "".join(f"{cell:>10}" for cell in cells)


def stored(outcomes: Sequence[Outcome], scorer: Scorer) -> Iterator[str]:
    """The needs that stored or unconfirmed memories could have served."""
    scored = scorer.known([row for one in outcomes for row in one.known], [one.history for one in outcomes])
    sources = ", ".join(f"{source} {count}" for source, count in scored["by_source"].items())
    yield f"could have been served from what was stored or unconfirmed: {scored['known']:.1%} of {scored['distinct']}"
    yield f"  needs by source: {sources}"


def places(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Where the knowledge of each need was, in distinct needs by history and by source."""
    found = [(one.history, _row_of(one, place), place) for one in outcomes for place in one.places]
    weights = _weights(outcomes)
    columns = [one.history for one in outcomes] if len(outcomes) > 1 else []
    columns += sorted({place.need["source"] for _, _, place in found})
    counts: Counter[tuple[str, str]] = Counter()
    for history, row, place in found:
        weight = weights[place.need["id"]]
        for column in ("all", history, place.need["source"]):
            counts[row, column] += weight  # type: ignore[assignment]
    total = sum(counts[row, "all"] for row in ROWS)
    yield f"{'':20}{'all':>7}{'':7}" + "".join(f"{column:>12}" for column in columns)
    for row in ROWS:
        share = f"{counts[row, 'all'] / total:>6.0%} " if total else " " * 7
        yield f"{row:20}{counts[row, 'all']:>7.1f}{share}" + "".join(f"{counts[row, one]:>12.1f}" for one in columns)


def reasons(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Why the knowledge of needs waits, or was discarded."""
    weights = _weights(outcomes)
    why: dict[str, Counter[str]] = defaultdict(Counter)
    for one in outcomes:
        for place in one.places:
            row = _row_of(one, place)
            if row in (WAITING, DISCARDED):
                why[row][place.reason] += weights[place.need["id"]]  # type: ignore[assignment]
    for row, counts in sorted(why.items()):
        for reason, count in counts.most_common(MOST_REASONS):
            yield f"{row:12}{count:>6.1f}  {reason[:LONGEST_REASON]}"


def each_need(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """One line for each need that was not served."""
    for one in outcomes:
        for place in one.places:
            if (row := _row_of(one, place)) != SERVED:
                need = place.need
                why = f" ({place.reason[:LONGEST_REASON]})" if place.reason else ""
                yield f"{need['id']} {need['source']} at {need['moment']}: {row}{why}: {need['need'][:LONGEST_NEED]}"


def captured(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The results of all captures, by speaker."""
    counts: Counter[tuple[str, str]] = sum((one.captured for one in outcomes), Counter())
    origins = sorted({origin for origin, _ in counts})
    yield f"{'':20}" + "".join(f"{origin:>12}" for origin in origins)
    for place in dict.fromkeys(place for _, place in sorted(counts, key=lambda key: -counts[key])):
        yield f"{place:20}" + "".join(f"{counts[origin, place]:>12}" for origin in origins)


def _row_of(outcome: Outcome, place: Place) -> str:
    if is_served(outcome.given, place.need):
        return SERVED
    return STORED_NOT_GIVEN if place.place == STORED else place.place


def is_served(given: Iterable[Row], need: Row) -> bool:
    """Whether something given in a need's session, at its moment or before, tells it: the scorer's rule."""
    return any(
        row["session"] == need["session"]
        and any(source < need["session"] for source in row["sources"])
        and ORDER.index(row["moment"]) <= ORDER.index(need["moment"])
        and tells(row["text"], need["match"])
        for row in given
    )


def _weights(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """What each need counts: needs of the same words in one history are one, in shares of its sessions."""
    needs: list[Any] = [place.need for one in outcomes for place in one.places]
    times = Counter((need["history"], need["need"]) for need in needs)
    return {need["id"]: 1 / times[need["history"], need["need"]] for need in needs}


def effort(outcomes: Sequence[Outcome], sessions: int) -> Iterator[str]:
    """The duration of the replay by event, and the size of the contexts with their frames."""
    seconds: Counter[str] = sum((Counter(one.seconds) for one in outcomes), Counter())
    parts = ", ".join(f"{name} {took:.0f} s" for name, took in seconds.most_common())
    framed = sum(one.framed for one in outcomes) / CHARACTERS_A_TOKEN / max(1, sessions)
    yield f"with their frames the contexts take {framed:.0f} tokens a session"
    yield f"{sum(one.events for one in outcomes):,} events; time: {parts}"
