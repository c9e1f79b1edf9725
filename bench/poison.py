"""Measure the poisoning check: `python -m bench.poison CORPORA TRANSCRIPTS [--peers PYTHON] [--unseen]`.

Caught means flagged (medium: a person looks) or blocked (high, critical: quarantine). The rules were written with half
0 of each corpus, so the reliable figures are those of half 1; for later rules, on commands and in other languages,
those of the quarter that was held out. ``--unseen`` (needs scikit-learn) adds the model's results on texts, and on
whole sources, that it was not trained on; the shipped one was trained on all of these texts. ``--peers`` is the Python
of an environment that has other detectors installed; see bench/poison_peers.py.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.poison_texts import Text, corpus, records, spoken
from subconscious.capture.gate import admit
from subconscious.domain.model import Candidate, Decision, Evidence, Finding, Level, Origin, Strength, Threat, Verdict
from subconscious.poisoning import attack_model, check_text
from subconscious.poisoning.check import scan, verdict_of
from subconscious.poisoning.gate import apply_verdict, screen
from subconscious.settings.settings import Settings

CORE = (
    "agentdojo ipi_coding_agent agent_threat_bench_memory bastioncorpus owasp_amg cyberseceval_pi garak_latent"
    " piguard_valid_attacks memory_graft_seeds"
).split()
DEVELOPER = (
    "dev_commits_trigger dev_commits_random real_session_learnings typed_prompts assistant_sentences decision_records"
).split()
PEERS = Path(__file__).parent / "poison_peers.py"
Answer = str
"""blocked, flagged or clean."""


def answer(verdict: Verdict) -> Answer:
    if verdict.level in (Level.HIGH, Level.CRITICAL):
        return "blocked"
    return "flagged" if verdict.level is Level.MEDIUM else "clean"


def rules(text: str) -> Answer:
    """The patterns alone."""
    return answer(verdict_of(scan(text, learned=False)))


def full(text: str) -> Answer:
    """Patterns and the shipped model, as the daemon applies them to untyped text."""
    return answer(check_text(text))


def typed(text: str) -> Answer:
    """The same on words that a person typed."""
    return answer(check_text(text, typed=True))


def joined(text: str, sure: float) -> Answer:
    """Patterns, and a model that is this sure."""
    level = Level.MEDIUM if sure >= attack_model.FLAGS else Level.LOW
    said = [Finding("model", Threat.INSTRUCTION, level, "")] if sure >= attack_model.DOUBTS else []
    return answer(verdict_of([*scan(text, learned=False), *said]))


def wilson(hits: int, number: int) -> tuple[float, float]:
    """The 95 % interval of a rate, in percent."""
    if not number:
        return math.nan, math.nan
    p, z = hits / number, 1.96
    middle, spread = p + z * z / (2 * number), z * math.sqrt(p * (1 - p) / number + z * z / (4 * number * number))
    return 100 * (middle - spread) / (1 + z * z / number), 100 * (middle + spread) / (1 + z * z / number)


def tell(title: str, texts: Sequence[Text], answers: Sequence[Answer]) -> None:
    """One table: a row for each source, then the totals."""
    print(f"\n## {title}\n\n{'source':28} {'':8} {'n':>5} {'caught':>7} {'95 % interval':>15} {'blocked':>8}")
    by: defaultdict[tuple[bool, str], list[Answer]] = defaultdict(list)
    for text, said in zip(texts, answers, strict=True):
        by[not text.attack, text.source].append(said)
    for (harmless, source), all_said in sorted(by.items()):
        caught, blocked = sum(one != "clean" for one in all_said), all_said.count("blocked")
        low, high = wilson(caught, len(all_said))
        sort = "harmless" if harmless else "attack"
        print(
            f"{source:28} {sort:8} {len(all_said):5} {100 * caught / len(all_said):6.1f}% {low:6.1f} -{high:6.1f}%"
            f" {100 * blocked / len(all_said):7.2f}%"
        )
    app = [sum(one != "clean" for one in by[False, name]) / len(by[False, name]) for name in CORE if by[False, name]]
    known = [said for name in DEVELOPER for said in by[True, name]]
    low, high = wilson(sum(one != "clean" for one in known), len(known))
    print(
        f"core (mean of {len(app)} corpora) {100 * sum(app) / max(len(app), 1):.1f}%; developer text flagged or"
        f" blocked {100 * sum(one != 'clean' for one in known) / max(len(known), 1):.2f}% ({low:.2f}-{high:.2f}),"
        f" blocked {100 * known.count('blocked') / max(len(known), 1):.2f}% of {len(known)}"
    )


def timed(texts: Iterable[Text], detector: Callable[[str], Answer]) -> None:
    """Processor time by size, and how it grows with size on hostile text."""
    spent: defaultdict[str, list[float]] = defaultdict(list)
    said = [text.text for text in texts]
    for text in (*said, *joined_up(said, 2000)):
        size = next((name for name, span in SIZES.items() if len(text) in span), "other")
        begun = time.process_time()
        detector(text)
        spent[size].append(1000 * (time.process_time() - begun))
    print("\n## time (processor)\n")
    for size, values in sorted(spent.items()):
        values.sort()
        print(
            f"{size:24} n {len(values):6}  median {values[len(values) // 2]:.2f} ms"
            f"  p99 {values[int(0.99 * len(values))]:.2f} ms  max {values[-1]:.2f} ms"
        )
    for name, piece in HOSTILE.items():
        cost = []
        for length in (1000, 2000, 4000, 8000, 16000):
            hostile = (piece * (length // len(piece) + 1))[:length]
            begun = time.process_time()
            detector(hostile)
            cost.append(1000 * (time.process_time() - begun))
        print(f"hostile: {name:24} 1k to 16k characters: {', '.join(f'{one:.1f}' for one in cost)} ms")


def joined_up(texts: Sequence[str], size: int, most: int = 1000) -> Iterator[str]:
    """Texts concatenated to the requested length: few of ours are long."""
    pending = ""
    for text in texts:
        pending = f"{pending}\n\n{text}" if pending else text
        if len(pending) >= size:
            yield pending[:size]
            pending, most = "", most - 1
        if not most:
            return


SIZES = {"about 500 characters": range(350, 651), "about 2000 characters": range(1500, 2501)}
HOSTILE = {
    "verbs without an object": "send the post all upload my forward ",
    "ignore, and nothing": "ignore all the previous and prior above ",
    "one letter words": "i g n o r e ",
    "open brackets": "[a.com](http://[a.com](http://",
    "percent signs": "%41%4g%42",
    "half of base64": "aGVsbG8gd29ybGQ",
    "long word": "a",
    "pipes": "curl x | curl y | ",
    "lines of required": "required:\nbefore modifying\n# ",
    "zeros": "0123456789",
}


def admitted(texts: Sequence[Text]) -> None:
    """The gate's decision on each attack at full confidence, by origin."""
    print("\n## with the provenance gate: attacks as candidates of confidence 1.0\n")
    settings = Settings()
    for origin in Origin:
        for kind in ("learning", "preference"):
            done: defaultdict[Decision, int] = defaultdict(int)
            for text in texts:
                done[_gated(text.text, origin, kind, settings)] += 1
            told = "  ".join(f"{decision} {100 * done[decision] / len(texts):.1f}%" for decision in Decision)
            print(f"{origin:10} {kind:11} {told}")


def _gated(text: str, origin: Origin, kind: str, settings: Settings) -> Decision:
    quoted = Evidence(text, "t", "", 0, 0)
    candidate = Candidate(kind, text[:100], text[:400], quoted, origin, Strength.EXPLICIT, 1.0, "bench", 0.0)
    return apply_verdict(admit(candidate, settings), screen(candidate)).decision


def peers(python: str, texts: Sequence[Text]) -> None:
    """Other detectors, each in the environment that has them, on the same texts."""
    # Some keep a log of what they read in the folder that they run in.
    with (
        TemporaryDirectory() as folder,
        subprocess.Popen(
            [python, str(PEERS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=folder,
        ) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        names = json.loads(child.stdout.readline())
        answers: defaultdict[str, list[Answer]] = defaultdict(list)
        spent: defaultdict[str, list[float]] = defaultdict(list)
        for text in texts:
            child.stdin.write(json.dumps(text.text) + "\n")
            child.stdin.flush()
            for name, (said, seconds) in json.loads(child.stdout.readline()).items():
                answers[name].append(said)
                spent[name].append(seconds)
        child.stdin.close()
    for name in names:
        values = sorted(spent[name])
        tell(f"{name} (median {1e6 * values[len(values) // 2]:.0f} us)", texts, answers[name])


def unseen(texts: Sequence[Text]) -> None:
    """The model where it has not seen the text, and where it has not even seen the source."""
    from bench.poison_train import conversation, files_with_orders, halves_of, plain_orders, sources_of, table_of

    texts = [*texts, *plain_orders(), *files_with_orders(), *conversation()]
    table = table_of(texts)
    for title, scores in (
        ("patterns and a model of the other half", halves_of(table)),
        ("patterns and a model that never saw the source", sources_of(table)),
    ):
        answers = [joined(text.text, sure) for text, sure in zip(texts, scores, strict=True)]
        tell(title, texts, answers)
        held = [(text, said) for text, said in zip(texts, answers, strict=True) if text.half == 1]
        tell(f"{title}, half 1 alone", [text for text, _ in held], [said for _, said in held])


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("corpora", type=Path)
    asked.add_argument("transcripts", type=Path)
    asked.add_argument("--peers")
    asked.add_argument("--unseen", action="store_true")
    options = asked.parse_args()
    texts = [*corpus(options.corpora), *spoken(options.transcripts), *records(options.corpora)]
    held = [text for text in texts if text.half == 1]
    tell("patterns, half 0 (rules were written on it)", *_run([t for t in texts if t.half == 0], rules))
    tell("patterns, half 1", *_run(held, rules))
    back = [text for text in texts if text.held_back]
    tell("patterns, the quarter held back from the rules on commands and languages", *_run(back, rules))
    tell("patterns and the shipped model (trained on these texts)", *_run(texts, full))
    tell("the same, harmless text as if a person had typed it", *_run([t for t in texts if not t.attack], typed))
    if options.unseen:
        unseen(texts)
    admitted([text for text in texts if text.attack])
    timed(texts, full)
    if options.peers:
        peers(options.peers, texts)


def _run(texts: list[Text], detector: Callable[[str], Answer]) -> tuple[list[Text], list[Answer]]:
    return texts, [detector(text.text) for text in texts]


if __name__ == "__main__":
    main()
