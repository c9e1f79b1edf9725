"""Measure the offline extractor: `python -m bench.capture CORPORA TRANSCRIPTS`.

Prints, for the extractor and for cue words alone: the share of the sessions' summaries that is found, decisions,
corrections from words and from structure, captures per session, seconds, and how often each stated confidence was right
where people read the captures (bench/data/read_*.tsv: hashes and labels). All of it is IN-SAMPLE, because the models
were trained on it, except the readings from the third on: their captures were chosen by models that had not seen their
session. `bench.capture_train` prints the figures for unseen sentences, sessions and repositories.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from time import perf_counter

from bench.capture_detectors import correction, judged, record
from subconscious.capture.detectors import stated
from subconscious.capture.draft import Draft
from subconscious.capture.offline import distinct, drafts, extract
from subconscious.domain.model import Candidate, Decision, Origin, Role, Turn
from subconscious.redaction.cleaning import clean
from subconscious.transcripts import read_turns

_STOP = frozenset(
    "the a an of to in for and or is are was were be been it its this that with on by as at from not no but has have"
    " had will can".split()
)


def digest(text: str) -> str:
    """The name of a text that is not to be shown."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def content_words(text: str) -> set[str]:
    """Words as the shared evaluation counts them."""
    return {word for word in re.findall(r"[a-z0-9_]{3,}", text.lower()) if word not in _STOP}


def read_labels(path: Path, column: int = 1) -> dict[str, float]:
    """Labels by hash of the content: the share of readers who would keep it, or the value of another column."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#")
    return {row[0]: float(row[column]) for row in rows}


class Sessions:
    """The shared transcripts and their summaries."""

    def __init__(self, corpora: Path, transcripts: Path) -> None:
        self._folder = transcripts
        self._index = {row["session"]: row for row in json.loads((transcripts / "INDEX.json").read_text())}
        self.silver: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for line in (corpora / "capture_sessions" / "silver_session_summaries.jsonl").open(encoding="utf-8"):
            row = json.loads(line)
            self.silver[row["group"]].append((row["label"], row["text"]))

    def all(self) -> list[str]:
        return sorted(self._index)

    def path(self, session: str) -> Path:
        repository = str(self._index[session]["repo"]).replace("/", "+")
        return self._folder / repository / f"{session}.jsonl"

    @cache  # noqa: B019 - one object lives as long as the program
    def turns(self, session: str) -> tuple[Turn, ...]:
        return read_turns(self.path(session), final=True, max_bytes=1 << 30, clean=clean).turns

    @cache  # noqa: B019
    def drafts(self, session: str) -> list[Draft]:
        return distinct(drafts(self.turns(session)))


def cue_words(text: str) -> list[str]:
    """The baseline: kinds of the sentences with a cue."""
    turn = Turn("t", "s", Role.USER, Origin.USER, text, 0.0, "", 0, 0)
    return [one.kind for one in stated.extract([turn]) if one.raw_confidence >= QUEUED]


def cue_captures(turns: Iterable[Turn]) -> list[str]:
    """The baseline for sessions: sentences with a cue, by any speaker."""
    heard = [turn for turn in turns if turn.text and turn.role is not Role.TOOL]
    as_user = [Turn(t.id, t.session_id, Role.USER, Origin.USER, t.text, t.time, t.file, t.start, t.end) for t in heard]
    found = sorted(stated.extract(as_user), key=lambda one: -one.raw_confidence)
    return [one.content for one in found][:CAP]


QUEUED = 0.7
CAP = 15


def coverage(sessions: Sessions, captured: Callable[[str], list[str]]) -> dict[str, tuple[int, int]]:
    """How many silver learnings and frictions share half their words with some capture."""
    hits: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for session in sessions.all():
        said = [content_words(text) for text in captured(session)] if sessions.silver[session] else []
        for label, text in sessions.silver[session]:
            gold = content_words(text)
            total[label] += 1
            hits[label] += any(2 * len(gold & one) >= len(gold) for one in said)
    return {label: (hits[label], total[label]) for label in ("learning", "friction")}


def scores(folder: Path, name: str, label: str, detect: Callable[[str], list[str]]) -> str:
    """Precision, recall, F1 of one label, and how often a text without any label is captured as it."""
    rows = [json.loads(line) for line in (folder / "capture" / f"{name}.jsonl").open(encoding="utf-8")]
    found = [(label in row["label"], bool(detect(row["text"]))) for row in rows]
    right, told = sum(a and b for a, b in found), sum(b for _, b in found)
    gold = sum(a for a, _ in found)
    wrong = 100 * (told - right) / (len(found) - gold)
    f1 = 200 * right / (told + gold) if right else 0.0
    return (
        f"P {100 * right / max(told, 1):5.1f}  R {100 * right / gold:5.1f}  F1 {f1:5.1f}  on the others {wrong:4.1f} %"
    )


def structural(corpora: Path, sessions: Sessions) -> tuple[int, int, int]:
    """How many of the corrections in the transcripts become candidates, how many of them are kept, and of how many."""
    rows = [json.loads(x) for x in (corpora / "capture" / "corrections_interrupt.jsonl").open(encoding="utf-8")]
    corrections = [row for row in rows if row["label"] == "correction" and row["group"] in set(sessions.all())]
    groups = {row["group"] for row in corrections}
    said = {group: _quotes(extract(sessions.turns(group))) for group in groups}
    kept = {group: _quotes(one for one, _ in judged(str(sessions.path(group)))) for group in groups}
    begins = [(row["group"], _plain(row["text"])[:60]) for row in corrections]
    return (
        sum(begin in said[group] for group, begin in begins),
        sum(begin in kept[group] for group, begin in begins),
        len(begins),
    )


def _quotes(candidates: Iterable[Candidate]) -> str:
    return "\n".join(_plain(one.evidence.quote) for one in candidates)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def reliability() -> None:
    """Print how often each stated confidence was right, per reading, tenth and way of keeping."""
    for path in sorted(READINGS.glob("read_*.tsv")):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
        print(f"{path.stem}: {len(rows)} captures read")
        for column, name in ((2, "kept"), (3, "stated")):
            by: defaultdict[str, list[int]] = defaultdict(list)
            for row in rows:
                by[row[column]].append(int(row[1]))
            for key, labels in sorted(by.items()):
                print(f"  {name} {key:7} right {100 * sum(labels) / len(labels):5.1f} % of {len(labels)}")


READINGS = Path(__file__).parent / "data"


def main() -> None:
    corpora, transcripts = Path(sys.argv[1]), Path(sys.argv[2])
    sessions = Sessions(corpora, transcripts)
    began = perf_counter()
    found = {session: judged(str(sessions.path(session))) for session in sessions.all()}
    seconds = perf_counter() - began
    ours = coverage(sessions, lambda session: [one.content for one, _ in found[session]])
    cues = coverage(sessions, lambda session: cue_captures(sessions.turns(session)))
    for label, (hits, total) in ours.items():
        print(
            f"silver {label:9} {hits:4}/{total} = {100 * hits / total:4.1f} %"
            f"   cue words {100 * cues[label][0] / total:4.1f} %"
        )
    counts = sorted(len(captures) for captures in found.values())
    auto = sum(admission.decision is Decision.AUTO for captures in found.values() for _, admission in captures)
    mean, median = sum(counts) / len(counts), counts[len(counts) // 2]
    print(f"captures a session: mean {mean:.1f}, median {median}, most {counts[-1]}")
    print(f"auto {auto}, queued {sum(counts) - auto}; {seconds:.1f} s for {len(counts)} sessions")
    print("ConDec decision       ", scores(corpora, "condec_rationale", "decision", record))
    print("          cue words   ", scores(corpora, "condec_rationale", "decision", cue_words))
    print("corrections, text     ", scores(corpora, "corrections_interrupt", "correction", correction))
    print("          cue words   ", scores(corpora, "corrections_interrupt", "correction", cue_words))
    became, stayed, count = structural(corpora, sessions)
    print(
        f"corrections, structure {became}/{count} = {100 * became / count:.1f} % become candidates, {stayed} are kept"
    )
    reliability()


if __name__ == "__main__":
    main()
