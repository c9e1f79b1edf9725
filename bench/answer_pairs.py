"""Fit how likely a sentence of an earlier session's answer helps with a prompt: `python -m bench.answer_pairs`.

A pair is one of a session's first two prompts and a sentence of an earlier session of the project, among those that
share the most with it. A reader who saw both, and no number, said whether the sentence would help.
`bench/data/answer_pairs.tsv` holds labels and numbers, no text; the likeliest sentence of each other project's sessions
is useless without being read. Printed are the weights of `subconscious/sessions/answers.py`, and what thresholds let
through, each session judged by weights that were fitted without it. Deterministic.
"""

from __future__ import annotations

from pathlib import Path

from bench.story_pairs import report

DATA = Path(__file__).parent / "data" / "answer_pairs.tsv"


def main() -> None:
    """Print the report."""
    print("\n".join(report(DATA)))


if __name__ == "__main__":
    main()
