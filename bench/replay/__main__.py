"""Replay histories of sessions through the daemon's own code and score the given memories.

    python -m bench.replay HISTORIES NEEDS... [--variant unattended|reviewed|all] [--naive] [--verbose]

HISTORIES is a folder with a folder for each history: `plan.json` (sid, start, end, branch and cwd of each session, in
order) and `<sid>.jsonl` (transcripts). NEEDS are files of labels, or a folder of them; histories without labels are
left out. Each session's events reach the daemon's code as the hooks hand them over, at the time they happened, on a
clock of the bench's own: starts, prompts, files read and written, failed tools, ends of turns, compactions, ends of
sessions. Sessions that overlapped in time overlap here, and a transcript holds only what was written by then. Nights
and silences pass between them, with the daemon's upkeep. Everything else is as shipped, with the local embedder and
without a model.

How to read the figures:

- **needs served**: of what sessions needed to be told from earlier ones, the share that was given at the right moment.
  A need of several sessions counts once. "by value" weighs needs by what they save.
- **needed, fair, misleading**: of the text given, the share that the session needed, that was true, that was wrong by
  then. The rest was of no use.
- The **trivial strategies** are what must be beaten. The naive one (`--naive`) gives each session's first three prompts
  the three nearest captures each, whatever became of them, without any threshold.
- **Where the knowledge was** when the session began: `stored, not given` is lost by the choice of what is given,
  `waiting` because nobody reviews, `discarded` by the gate (or expired, merged, archived), `never a candidate` by
  capture. Counts are distinct needs; one of several sessions counts in shares.

Variants: `unattended`: nobody reviews; the figure that counts. `reviewed`: somebody approves, before each session,
whatever a label confirms: an upper bound, for nobody reviews like that. `all`: everything that waits with a confidence
of 0.75 or more is approved, right or wrong.

`--answers FOLDER` lets readers stand in for a model: what it is asked is written there and their answers are read, as
`python -m bench.reader_answers` does it.

`--out` writes what was given (with the prompt, where one asked for it), `--known` what was stored or unconfirmed at
each start, as the scorer reads them. The scorer is the script that comes with the labels: `eval/needs_eval.py` beside
the folder of needs, or `--eval`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from bench.replay import report
from bench.replay.labels import read_labels
from bench.replay.run import SURE, VARIANTS, Outcome, replay_one

WORDS = {
    "unattended": "nobody reviews",
    "reviewed": "somebody approves what a label confirms: AN UPPER BOUND",
    "all": f"everything that waits with {SURE} or more is approved",
}
PROCESSES = 2


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.replay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("histories", type=Path)
    parser.add_argument("needs", type=Path, nargs="+")
    parser.add_argument("--variant", choices=VARIANTS, default="unattended")
    parser.add_argument("--history", nargs="+", help="only these")
    parser.add_argument("--out", type=Path, metavar="GIVEN", help="write what was given")
    parser.add_argument("--known", type=Path, metavar="KNOWN", help="write what was known when each session began")
    parser.add_argument("--eval", type=Path, metavar="SCRIPT", help="the scorer")
    parser.add_argument("--naive", action="store_true", help="score the naive strategy too")
    parser.add_argument("--verbose", action="store_true", help="list each need that was not served")
    parser.add_argument("--answers", type=Path, metavar="FOLDER", help="what readers answer in a model's place")
    options = parser.parse_args()
    scorer = report.Scorer(options.eval or _scorer_beside(options.needs[0]), options.needs, options.histories)
    if not scorer.script.is_file():
        parser.error(f"there is no scorer at {scorer.script}: --eval names it")
    names = _names(options)
    if not names or not set(options.history or ()) <= set(names):
        parser.error(f"histories with both a plan and labels: {', '.join(names) or 'none'}")
    outcomes = _replayed(options, names)
    if options.out:
        report.write_rows(options.out, (row for one in outcomes for row in one.given))
    if options.known:
        report.write_rows(options.known, (row for one in outcomes for row in one.known))
    for line in _told(outcomes, scorer, options):
        print(line)
    return 1 if any(one.failed for one in outcomes) else 0


def _scorer_beside(needs: Path) -> Path:
    folder = (needs if needs.is_dir() else needs.parent).resolve()
    return folder.parent / "eval" / "needs_eval.py"


def _names(options: argparse.Namespace) -> list[str]:
    labelled = read_labels(options.needs)
    planned = sorted(plan.parent.name for plan in options.histories.glob("*/plan.json"))
    return [name for name in planned if name in labelled and name in (options.history or planned)]


def _replayed(options: argparse.Namespace, names: Sequence[str]) -> list[Outcome]:
    """Replay each history in a separate process, in any order: they share nothing."""
    one = partial(
        replay_one,
        options.histories,
        options.needs,
        options.variant,
        options.naive,
        answers=options.answers,
    )
    if len(names) == 1:
        return [one(names[0])]
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(one, names))


def _told(outcomes: Sequence[Outcome], scorer: report.Scorer, options: argparse.Namespace) -> Iterator[str]:
    sessions = sum(one.sessions for one in outcomes)
    told = ", ".join(f"{one.history} ({one.sessions} sessions)" for one in outcomes)
    yield f"Replay of {told}; {options.variant}: {WORDS[options.variant]}"
    yield ""
    yield from report.scores(outcomes, scorer, options.variant)
    yield ""
    yield from report.stored(outcomes, scorer)
    yield ""
    yield "Where the knowledge of needs was when their session began (distinct needs):"
    yield from report.places(outcomes)
    yield ""
    yield from report.reasons(outcomes)
    if options.verbose:
        yield ""
        yield from report.each_need(outcomes)
    yield ""
    yield "What became of all captures, by who said it:"
    yield from report.captured(outcomes)
    yield ""
    yield from report.effort(outcomes, sessions)
    for one in outcomes:
        yield from (f"{one.history}: a job failed: {failure}" for failure in one.failed)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets must be the same in every run, also in the processes that replay.
        command = [sys.executable, "-m", "bench.replay", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | {"PYTHONHASHSEED": "0"})
    sys.exit(main())
