"""Measure the capture of typed statements: `python -m bench.typed FILE [--words] [--misses]`.

FILE has messages as JSON lines: ``text``, optionally ``before`` (the assistant's last message), ``lang``, and one of
``kind``, which is "none" if nothing is worth keeping, ``kept``, the statement to keep as a self-contained text ("" for
none), with ``must_contain``, words that it must have, and ``sentences``, which are labelled as in bench/data/speech.
Each message is a separate session. Prints how many would be stored without a person, wait, or be discarded.
``--words`` runs without the embedder.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from subconscious.capture import judge
from subconscious.capture.detectors import typed
from subconscious.capture.evaluation import judge as judged
from subconscious.domain.model import Decision, Origin, Role, Turn
from subconscious.embeddings.local import LocalEmbedder
from subconscious.redaction.cleaning import clean
from subconscious.settings.settings import Settings

SETTINGS = Settings()
RANK = [Decision.AUTO, Decision.REVIEW, Decision.QUARANTINE, Decision.DISCARD]


def fate(message: dict[str, Any], embedder: LocalEmbedder | None) -> tuple[Decision, str]:
    """Return the best result for a message, and its wording."""
    text = clean(message["text"])
    turn = Turn("t", "s", Role.USER, Origin.USER, text, 0.0, "", 0, 0, before=clean(message.get("before") or ""))
    opinions = judge.opinions(typed.spoken(turn), embedder) if embedder else {}
    found = judged([turn], SETTINGS, opinions=opinions)
    best = min(found, key=lambda one: RANK.index(one[1].decision), default=None)
    return (best[1].decision, best[0].content) if best else (Decision.DISCARD, "")


def is_keeper(message: dict[str, Any]) -> bool:
    """Whether a message has something worth keeping."""
    if "sentences" in message:
        return any(one["keep"] for one in message["sentences"])
    return bool(message["kept"]) if "kept" in message else message["kind"] != "none"


def group_of(message: dict[str, Any]) -> str:
    """Return the label under which a message is counted."""
    if not is_keeper(message):
        return "nothing to keep"
    return "statements" if message.get("lang", "en") == "en" else "statements in other languages"


def main() -> None:
    """Print the counts, and with ``--misses`` what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    embedder = None if options.words else LocalEmbedder()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in options.file.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        decision, content = fate(message, embedder)
        wanted = [word.casefold() for word in message.get("must_contain", ())]
        resolved = all(word in content.casefold() for word in wanted)
        group = group_of(message)
        counts[group][decision.value] += 1
        counts[group]["stored and resolved"] += decision is Decision.AUTO and resolved
        if options.misses and (decision is Decision.AUTO and resolved) != is_keeper(message):
            print(f"{decision.value:8} {group:28} {message['text'][:150]!r} -> {content[:150]!r}")
    for group, count in sorted(counts.items()):
        total = sum(count[decision.value] for decision in Decision)
        shares = ", ".join(f"{name} {number} ({number / total:.0%})" for name, number in count.items())
        print(f"{group}: {total}: {shares}")


if __name__ == "__main__":
    main()
