"""Measure how the time of every regular expression grows with hostile text.

    python -m bench.patterns [--only TEXT] [--size N]

Collects the patterns of every module of the library, the daemon and the terminal, runs each on texts that repeat
what makes patterns backtrack, and prints those whose time grows faster than the text. Each pattern is measured in a
process that can be killed. Exits 1 when one is found.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import math
import multiprocessing
import pkgutil
import re
import string
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from re import _constants as opcodes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from subconscious.capture import narration, passages
from subconscious.capture.detectors import obstacles
from subconscious.failures import hazards, signature
from subconscious.poisoning import reservation_topics, rules, views
from subconscious.redaction import (
    command_rules,
    context_rules,
    gitleaks,
    paired_rules,
    passphrases,
    personal,
    shapes,
    spoken_rules,
)
from subconscious.redaction.rule import LONGEST_MATCH, WINDOW, compiled
from subconscious.sessions import corrected
from subconscious.supersession import ended, endings
from subconscious.text import claim_reader, contrasts, examined, sentences, statement
from subconscious.transcripts import turn_builder

PACKAGES = ("subconscious", "daemon", "cli")

SMALL = 2_000
"""Characters of the first try; linear patterns need about a millisecond for them."""

SUSPICIOUS = 0.002
"""Seconds for `SMALL` characters from which a pattern is tried on more text."""

FACTOR = 4
"""By how much longer the text of the second try is."""

STEEPEST = 9.0
"""The most that the second try may take of the first: a linear pattern takes 4 times as long, a quadratic one 16."""

BOUNDS = {
    "subconscious.capture.detectors.cues.": sentences.LONGEST,
    "subconscious.capture.detectors.refinements.": sentences.LONGEST,
    "subconscious.capture.impersonal": narration.LONGEST,
    "subconscious.capture.narration.": narration.LONGEST,
    "subconscious.capture.detectors.resolved.": narration.LONGEST,
    "subconscious.capture.kernel.": examined.LONGEST_LINE,
    "subconscious.capture.detectors.obstacles.": obstacles.LONGEST_MESSAGE,
    "subconscious.capture.weighing.": passages.LONGEST,
    "subconscious.supersession.endings.": endings.LONGEST,
    "subconscious.supersession.ending_patterns.": endings.LONGEST,
    "subconscious.supersession.ended.": ended.LETTERS,
    "subconscious.text.claim_reader.": claim_reader.LETTERS,
    "subconscious.text.contrasts.": contrasts.LONGEST,
    "subconscious.capture.detectors.practices.": turn_builder.LONGEST_COMMAND,
    "subconscious.capture.detectors.conventions.": turn_builder.LONGEST_COMMAND,
    "subconscious.capture.detectors.commit_messages.": turn_builder.LONGEST_COMMAND,
    "subconscious.poisoning.reservation_topics.": reservation_topics.LETTERS,
    "subconscious.poisoning.reservations.": reservation_topics.LETTERS,
    "subconscious.text.rewrites.": statement.LETTERS,
    "subconscious.sessions.corrected.": corrected.LETTERS,
    "subconscious.sessions.handover.": 1_500,
    "subconscious.sessions.reports.": 1_500,
    "subconscious.failures.commands.": turn_builder.LONGEST_COMMAND,
    "subconscious.failures.hazards._PROSE": hazards.LONGEST_SLOT,
    "subconscious.failures.signature._VARIABLE": signature.LONGEST_LINE,
    "subconscious.redaction.plausible.": 1_100,
    "poisoning: ": views.LONGEST,
    "redaction: ": WINDOW + LONGEST_MATCH,
}
"""The most characters that a module's patterns are given; of all others the time must grow with the text alone."""

LIMIT = 0.1
"""Seconds that a bounded pattern may take on that much text: ``re`` blocks all other threads meanwhile."""

MOST = 500
"""Texts that one pattern is tried on at most."""

PATIENCE = 30.0
"""Seconds that one pattern may take on all texts before its process is killed."""

_WORDS = r"""
aA a1 1.1. x= a- a_ a/ ../ - * # > |- ``` a` ` **a **a** __a [a]( [a] ![ [[ </ <a> <!-- --> &# &lt; \u003c %3C
$( ${a} http:// https://a.b/ a@b. a@ a.b. v1. 1- 12: 2026- \" \\ \n 'a "a a' {"a": {"a":" ["a", (a a( a; -----BEGIN
'a' "a" [1] [12] (a) a() A_B aB.cD a.py /a/b.py:1: --a --a=b -a git error: Error password= token: secret Bearer
""".split()
_SPACED = """a|A|Aa|a.|A.|a,|1.|x =|key:|the|The|We|I|it is|we use|use a|not|don't|of the|to the|a b c|and|or
because|instead of|so that|should|npm run|git -|git commit|a &&|cd a;|at a (
from a|import|line 1,|n't|-|*|#|>|| a|<a|'a'|"a"|[1]|(a)
a.py
""".replace("\n", "|").split("|")
UNITS = (
    *string.punctuation,
    *(first + second for first in "[({<`*_\"'/.-" for second in "](a \n`*"),
    *("a", "A", "1", " ", "\n", "\t", "\u00e9", "\u0301", "\u65e5", "\U0001f600", "\u200b", "\u2028", "\x00"),
    *("ab\n", "\n\n", "\n ", " \n", "\r\n", "\t\n", "- a\n", "# a\n", "```\n", "~~~\n", "\u2019", "\u201c", "\u2026"),
    *("\u2014 ", "\u2192 ", "\u2705 ", "a" * 40 + " ", "1" * 20 + " "),
    *_WORDS,
    *(word + " " for word in _SPACED if word),
)
"""What texts are made of by repeating it."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A pattern on one text: the seconds it took for `SMALL` characters and for `FACTOR` times as many."""

    shape: str
    small: float
    large: float


@dataclass(frozen=True, slots=True)
class Found:
    """A compiled pattern and where it is defined."""

    where: str
    pattern: re.Pattern[str]
    methods: frozenset[str]
    """How it is used: ``match``, ``search`` and so on; empty where the source does not show it."""


@cache
def collect() -> tuple[Found, ...]:
    """Return every pattern of the product once."""
    found: dict[tuple[str, int], Found] = {}
    for one in _all():
        found.setdefault((one.pattern.pattern, one.pattern.flags), one)
    return tuple(found.values())


def _all() -> Iterator[Found]:
    modules = list(_modules())
    sources = {module: Path(str(module.__file__)).read_text(encoding="utf-8") for module in modules}
    everywhere = _methods("\n".join(sources.values()))
    for module in modules:
        here = _methods(sources[module])
        for name, value in vars(module).items():
            used = frozenset(here[name] or everywhere[name])
            for pattern in _within(value, 6):
                yield Found(f"{module.__name__}.{name}", pattern, used)
        for line, method, pattern in _literals(module):
            yield Found(f"{module.__name__}:{line}", pattern, frozenset({method}))
    for name, pattern in secrets():
        yield Found(f"redaction: {name}", pattern, frozenset())
    for rule in rules.RULES:
        yield Found(f"poisoning: {rule.name}", rule.pattern, frozenset({"search"}))


def _methods(source: str) -> Mapping[str, set[str]]:
    """Return the methods that are called on each name anywhere in the source."""
    used: defaultdict[str, set[str]] = defaultdict(set)
    for call in re.finditer(r"\b(\w+)\.(match|fullmatch|search|sub|subn|split|findall|finditer)\(", source):
        used[call[1]].add(call[2])
    return used


_SEARCHES = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})


def _modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        root = importlib.import_module(package)
        yield root
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                yield importlib.import_module(module.name)


def _within(value: Any, depth: int) -> Iterator[re.Pattern[str]]:
    """Patterns in a module's value: itself, or in tables, rows and closures' arguments."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, Mapping):
        for one in (*value.keys(), *value.values()):
            yield from _within(one, depth - 1)
    elif depth and isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _within(one, depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _within(getattr(value, field.name, None), depth - 1)
    elif depth and hasattr(value, "func") and hasattr(value, "args"):
        yield from _within(value.args, depth - 1)


def _literals(module: ModuleType) -> Iterator[tuple[int, str, re.Pattern[str]]]:
    """Patterns that a function gives to ``re`` as a literal."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of, first = node.func.value, node.args[0]
        used = isinstance(of, ast.Name) and of.id == "re" and node.func.attr not in ("compile", "escape")
        if used and isinstance(first, ast.Constant) and isinstance(first.value, str):
            flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(node) else 0
            yield node.lineno, node.func.attr, re.compile(first.value, flags)


def secrets() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The rules of the redaction, which are compiled when a text first needs them."""
    own = (
        shapes.RULES,
        context_rules.RULES,
        spoken_rules.RULES,
        passphrases.RULES,
        command_rules.RULES,
        paired_rules.RULES,
    )
    for rule in chain(*own, gitleaks.rules(), *personal.RULES.values()):
        yield rule.kind, compiled(rule.pattern)


def hostile_texts(pattern: re.Pattern[str], most: int = MOST) -> list[tuple[str, str]]:
    """Return what to begin a text with and what to repeat, for this pattern: at most ``most`` texts."""
    known = [("", unit) for unit in UNITS]
    near = list(dict.fromkeys(one for one in near_misses(pattern) if one[1]))
    kept = max(most - len(known), most // 2)
    return list(dict.fromkeys([*known[: most - len(near[:kept])], *near[:kept]]))


def widest(pattern: str) -> int:
    """Return the most characters that a pattern can match."""
    return int(parser.parse(pattern).getwidth()[1])


def near_misses(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Prefixes of matches: repeated, and continued step by step."""
    for pieces in _samples(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)):
        for end in range(1, len(pieces) + 1):
            begun = "".join(pieces[:end])
            yield "", begun
            yield "", begun + " "
            yield "".join(pieces[: end - 1]), pieces[end - 1]
        whole = "".join(pieces)
        yield "", whole[:-1]
        yield "", whole + "\n"


def _samples(parsed: Any) -> Iterator[list[str]]:
    """Lists of pieces that the pattern's items match, with an alternative of each branch in turn."""
    for choice in range(6):
        pieces = [piece for piece in (_sample(item, choice) for item in parsed) if piece]
        if pieces:
            yield pieces
    for opcode, given in parsed:
        if opcode is opcodes.BRANCH:
            for branch in given[1][:40]:
                yield from list(_samples(branch))[:2]
        elif opcode is opcodes.SUBPATTERN:
            yield from list(_samples(given[3]))[:20]


def _sample(item: tuple[Any, Any], choice: int) -> str:
    """A short text that one item of a parsed pattern matches."""
    opcode, given = item
    if opcode is opcodes.LITERAL:
        return chr(given)
    if opcode is opcodes.NOT_LITERAL:
        return "a" if given != ord("a") else "b"
    if opcode is opcodes.ANY:
        return "a"
    if opcode is opcodes.IN:
        return _member(given, choice)
    if opcode is opcodes.BRANCH:
        return "".join(_sample(one, choice) for one in given[1][choice % len(given[1])])
    if opcode is opcodes.SUBPATTERN:
        return "".join(_sample(one, choice) for one in given[3])
    if opcode is opcodes.ATOMIC_GROUP:
        return "".join(_sample(one, choice) for one in given)
    if opcode in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT, opcodes.POSSESSIVE_REPEAT):
        least, most, inner = given
        times = max(least, 1 if choice % 2 == 0 and most else 0)
        return "".join(_sample(one, choice) for one in inner) * min(times, 40)  # type: ignore[no-any-return]
    return ""


_CATEGORIES = {
    opcodes.CATEGORY_DIGIT: "1",
    opcodes.CATEGORY_SPACE: " ",
    opcodes.CATEGORY_WORD: "a",
    opcodes.CATEGORY_NOT_DIGIT: "a",
    opcodes.CATEGORY_NOT_SPACE: "a",
    opcodes.CATEGORY_NOT_WORD: ".",
}


def _member(members: Any, choice: int) -> str:
    """A character of a class."""
    if members[0][0] is opcodes.NEGATE:
        taken = re.compile(f"[{''.join(map(re.escape, _members(members[1:])))}]") if members[1:] else None
        return next((one for one in "a1 .-" if not (taken and taken.match(one))), "\u00e9")
    signs = _members(members)
    return signs[choice % len(signs)]


def _members(members: Any) -> list[str]:
    signs = []
    for opcode, given in members:
        if opcode is opcodes.LITERAL:
            signs.append(chr(given))
        elif opcode is opcodes.RANGE:
            signs.append(chr(given[0]))
        elif opcode is opcodes.CATEGORY:
            signs.append(_CATEGORIES.get(given, "a"))
    return signs


def text_of(shape: tuple[str, str], size: int) -> str:
    """Return a text of ``size`` characters."""
    begun, unit = shape
    times: int = size // len(unit) + 1
    return f"{begun}{unit * times}"[:size]


def seconds(found: Found, text: str) -> float:
    """Return the processor time of finding everything, and of matching at the beginning and as a whole."""
    begun = time.process_time()
    if found.methods & _SEARCHES or not found.methods:
        for _ in found.pattern.finditer(text):
            pass
    if "match" in found.methods:
        found.pattern.match(text)
    if "fullmatch" in found.methods:
        found.pattern.fullmatch(text)
    return time.process_time() - begun


def growth(found: Found, shape: tuple[str, str], small: int = SMALL) -> Growth | None:
    """Return how the pattern's time grows on a shape, or None where it grows with the text or is negligible."""
    first = seconds(found, text_of(shape, small))
    if first < SUSPICIOUS:
        return None
    second = seconds(found, text_of(shape, FACTOR * small))
    if second > STEEPEST * first:  # again, the better of both: another process may have been in the way
        first = max(first, seconds(found, text_of(shape, small)))
        second = min(second, seconds(found, text_of(shape, FACTOR * small)))
    return Growth(repr(shape), first, second) if second > STEEPEST * first else None


TRIES = 5
"""How often a pattern that seems too slow is measured."""


def too_slow(found: Found, shape: tuple[str, str], small: int = SMALL) -> Growth | None:
    """Return how a pattern's time grows on a shape where it does so without need, else None."""
    bound = next((most for prefix, most in BOUNDS.items() if found.where.startswith(prefix)), 0)
    if not bound:
        return growth(found, shape, small)
    text = text_of(shape, bound)
    best = math.inf
    for _ in range(TRIES):  # other work on the machine only makes it slower
        best = min(best, seconds(found, text))
        if best < LIMIT:
            return None
    return Growth(f"{shape!r} at {bound} characters", best, best)


def _measure(found: Found, small: int, pipe: Connection) -> None:
    for shape in hostile_texts(found.pattern):
        pipe.send(shape)
        if steep := too_slow(found, shape, small):
            pipe.send(steep)
            return
    pipe.send(None)


def measure(found: Found, small: int = SMALL) -> Growth | None:
    """Return the first shape on which a pattern is too slow, measured in a separate process."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(found, small, theirs))
    process.start()
    last: Any = ""
    until = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < until:
            if not ours.poll(max(0.0, min(4.0, until - time.monotonic()))):
                return Growth(repr(last), PATIENCE, PATIENCE)
            answer = ours.recv()
            if answer is None or isinstance(answer, Growth):
                return answer
            last = answer
        return Growth(repr(last), PATIENCE, PATIENCE)
    finally:
        process.kill()
        process.join()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="")
    options.add_argument("--size", type=int, default=SMALL)
    given = options.parse_args()
    patterns = [found for found in collect() if given.only in found.where]
    slow = 0
    for number, found in enumerate(patterns):
        if sys.stderr.isatty() or number % 10 == 0:
            print(f"{number} of {len(patterns)}", file=sys.stderr, flush=True)
        if steep := measure(found, given.size):
            slow += 1
            print(f"{found.where}: {steep.shape} {steep.small:.3f} s -> {steep.large:.3f} s", flush=True)
    print(f"{slow} of {len(patterns)} patterns grow faster than their text")
    sys.exit(bool(slow))


if __name__ == "__main__":
    main()
