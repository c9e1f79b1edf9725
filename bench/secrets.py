"""Compare redaction with public detectors: recall, false alarms, coverage and time on given corpora.

    python -m bench.secrets --corpora DIR [--transcripts DIR] [--hostile]

DIR holds ``*.jsonl``: an object a line, with ``label`` (secret, clean, nearmiss) and ``text`` and ``value``, or both as
base64 of a JSON pair in ``b64``. The rules of gitleaks are run as they are, by Python's re; detect-secrets (no entropy
plugins) where it is installed. found: anything was reported. covered: the labelled value is gone, or stands within what
was reported. Times are the processor's. No text is printed, for it may once have been a secret.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import json
import math
import re
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subconscious.redaction import gitleaks, redact
from subconscious.redaction.gitleaks import python_pattern
from subconscious.redaction.rule import entropy

Detector = Callable[[str], list[str]]
"""The values that are found in a text."""

HOSTILE = (
    *(
        "a",
        " ",
        "<",
        "eyJ",
        "-eyJaaaaaaaaaa",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "password=",
        "password: ",
        "pass-",
    ),
    *(
        "login -p",
        "mysql ",
        "curl -u ",
        "bearer ",
        "glpat-",
        "token:   ",
        "identified by '",
        "user ",
        "api_key",
        "key=\n",
    ),
    *(
        "-pass",
        "a_b-",
        "A1b2C3d4",
        "hf_aB1",
        "ABSK",
        "hvs.",
        "1111 ",
        "a@a.",
        "::",
        'auth=("a","',
        "secret,'",
        "password_____",
    ),
)
"""Texts whose repetition is the slowest for some pattern."""


def ours(text: str) -> list[str]:
    redacted = redact(text)
    return ["", redacted.text] if redacted.count else []


def plain_gitleaks() -> Detector:
    """Gitleaks' own rules with its keywords, entropy and allowlists, as a user of them in Python would run them."""
    book = tomllib.loads(Path(gitleaks.__file__).with_name("gitleaks.toml").read_text(encoding="utf-8"))
    everywhere = _allowance(book["allowlist"])
    rules = [
        (
            re.compile(python_pattern(row["regex"])),
            tuple(word.lower() for word in row["keywords"]),
            row.get("entropy", 0.0),
            [everywhere, *map(_allowance, row.get("allowlists", ()))],
        )
        for row in book["rules"]
        if "regex" in row
    ]

    def detect(text: str) -> list[str]:
        lowered, found = text.lower(), []
        for pattern, words, least, allowances in rules:
            for match in pattern.finditer(text) if any(word in lowered for word in words) else ():
                secret = next((group for group in match.groups() if group), match[0])
                if entropy(secret) > least and not any(allowed(match, secret) for allowed in allowances):
                    found.append(secret)
        return found

    return detect


def _allowance(row: dict[str, Any]) -> Callable[[re.Match[str], str], bool]:
    patterns = [re.compile(python_pattern(each)) for each in row.get("regexes", ())]
    words = [word.lower() for word in row.get("stopwords", ())]
    target = row.get("regexTarget", "secret")

    def allowed(match: re.Match[str], secret: str) -> bool:
        line = match.string[match.string.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
        looked_at = {"secret": secret, "match": match[0], "line": line}[target]
        by_word = any(word in secret.lower() for word in words)
        return any(pattern.search(looked_at) for pattern in patterns) or (by_word and row.get("condition") != "AND")

    return allowed


def detect_secrets() -> Detector:
    """detect-secrets with all plugins but those that go by entropy alone."""
    scan = importlib.import_module("detect_secrets.core.scan")
    settings = importlib.import_module("detect_secrets.settings")
    plugins = importlib.import_module("detect_secrets.core.plugins.util")
    names = [each.__name__ for each in plugins.get_mapping_from_secret_type_to_class().values()]
    chosen = {"plugins_used": [{"name": name} for name in names if "Entropy" not in name]}
    held = settings.transient_settings(chosen)
    held.__enter__()

    def detect(text: str) -> list[str]:
        assert held  # its end would put the standard plugins back
        return [s.secret_value for line in text.splitlines() for s in scan.scan_line(line) if s.secret_value]

    return detect


def detectors() -> dict[str, Detector]:
    found = {"subconscious": ours, "gitleaks rules": plain_gitleaks()}
    if importlib.util.find_spec("detect_secrets"):
        public = detect_secrets()
        found["detect-secrets"] = public
        found["both"] = lambda text, rules=found["gitleaks rules"]: rules(text) + public(text)  # type: ignore[misc]
    return found


@dataclass
class Tally:
    """A detector's results on the texts of one label of one corpus."""

    texts: int = 0
    found: int = 0
    known: int = 0
    covered: int = 0
    seconds: list[float] = field(default_factory=list)


def records(path: Path) -> Iterator[tuple[str, str, str]]:
    """(label, text, value) of a corpus."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, value = json.loads(base64.b64decode(row["b64"])) if "b64" in row else (row["text"], row.get("value", ""))
        soft = row["label"] == "secret" and str(row.get("category", "")).startswith("soft/")
        yield "soft" if soft else row["label"], text, value if value and value in text else ""


def judge(detect: Detector, rows: Iterable[tuple[str, str, str]]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    for label, text, value in rows:
        began = time.process_time()
        found = detect(text)
        tally = tallies[label]
        tally.seconds.append(time.process_time() - began)
        tally.texts += 1
        tally.found += bool(found)
        if value:
            tally.known += 1
            tally.covered += _is_covered(found, value)
    return tallies


def _is_covered(found: list[str], value: str) -> bool:
    if found[:1] == [""]:  # ours: the text that is left
        return value not in found[1]
    return any(value in each or (each in value and len(each) >= 0.6 * len(value)) for each in found)


def wilson(part: int, whole: int) -> str:
    """The 95 % interval of a rate."""
    z, share = 1.96, part / whole
    middle = share + z * z / (2 * whole)
    width = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return f"{100 * (middle - width) / scale:5.1f}-{100 * (middle + width) / scale:5.1f}"


def report(name: str, corpora: dict[str, list[tuple[str, str, str]]], detect: Detector) -> None:
    print(f"\n{name}\n{'corpus/label':34} {'texts':>7} {'found %':>8} {'95 %':>12} {'covered %':>10}")
    times, right, wrong = [], 0, 0
    for corpus, rows in corpora.items():
        for label, tally in sorted(judge(detect, rows).items()):
            times += tally.seconds
            right += tally.found if label == "secret" else 0
            wrong += tally.found if label == "clean" else 0
            covered = f"{100 * tally.covered / tally.known:10.1f}" if tally.known else f"{'-':>10}"
            rate = f"{100 * tally.found / tally.texts:8.2f} {wilson(tally.found, tally.texts):>12}"
            print(f"{corpus + '/' + label:34} {tally.texts:7} {rate} {covered}")
    times.sort()
    precision = f"{100 * right / (right + wrong):.1f} %" if right + wrong else "-"
    middle, late = (1e6 * times[int(share * len(times))] for share in (0.5, 0.99))
    print(f"precision over all corpora {precision}; a text takes {middle:.0f} us, 99 % within {late:.0f} us")


def transcript_lines(folder: Path) -> list[tuple[str, str, str]]:
    """Every distinct line of text in transcripts: secrets among them are rare enough to count as none."""
    lines = {
        line
        for path in sorted(folder.rglob("*.jsonl"))
        for record in path.read_text(encoding="utf-8", errors="replace").splitlines()
        for text in _texts(_parsed(record))
        for line in text.splitlines()
        if line.strip()
    }
    return [("clean", line, "") for line in sorted(lines)]


def _parsed(record: str) -> Any:
    try:
        return json.loads(record)
    except ValueError:
        return None


NOT_TEXT = frozenset(
    {"signature", "uuid", "parentUuid", "id", "sessionId", "requestId", "data", "messageId", "tool_use_id"}
)
"""Data that the client writes into a transcript and that is not read."""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in NOT_TEXT:
                yield from _texts(item)


def time_sizes(rows: list[tuple[str, str, str]]) -> None:
    """Time for a turn of 500 characters of ordinary text, and for a line of a million."""
    text = " ".join(row[1].strip() for row in rows)
    turns = [text[at : at + 500] for at in range(0, min(len(text), 1_000_000), 500)]
    taken = sorted(_timed(turn) for turn in turns)
    print(
        f"\n500 characters: {1e3 * taken[len(taken) // 2]:.2f} ms, 99 %: {1e3 * taken[int(0.99 * len(taken))]:.2f} ms"
    )
    print(f"one line of {len(text[:1_000_000]):,} characters: {_timed(text[:1_000_000]):.1f} s")


def time_hostile(size: int) -> None:
    """The slowest repetitions at one size and at four times that: linear is four times as long."""
    taken = sorted(((_timed(unit * (size // len(unit))), unit) for unit in HOSTILE), reverse=True)[:5]
    for seconds, unit in taken:
        more = _timed(unit * (4 * size // len(unit)))
        print(f"{unit[:24]!r:28} {size:,}: {seconds:.2f} s, {4 * size:,}: {more:.2f} s ({more / seconds:.1f} times)")


def _timed(text: str) -> float:
    began = time.process_time()
    redact(text)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--transcripts", type=Path)
    parser.add_argument("--hostile", action="store_true")
    options = parser.parse_args()
    corpora = {path.stem: list(records(path)) for path in sorted(options.corpora.glob("*.jsonl"))}
    if options.transcripts:
        corpora["transcript lines"] = transcript_lines(options.transcripts)
    redact("warm up: password = 'kzq12wmx'")
    for name, detect in detectors().items():
        report(name, corpora, detect)
    if options.transcripts:
        time_sizes(corpora["transcript lines"])
    if options.hostile:
        time_hostile(250_000)


if __name__ == "__main__":
    main()
