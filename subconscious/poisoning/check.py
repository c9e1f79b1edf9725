"""Tier 1 of the poisoning check: rules for every text to be stored, and a small model for texts that no person typed.

For text that a person typed, the verdict is one level lower, and rules about mere instructions to the model are not
applied (`Rule.typed`), because people write such instructions all the time. Text that would switch off instructions or
safety counts in full, whoever wrote it. The model was trained on few sources, so it only flags texts for review.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from subconscious.domain.model import Candidate, Finding, Level, Origin, Threat, Verdict
from subconscious.poisoning import attack_model, sweeping
from subconscious.poisoning.rule import Rule
from subconscious.poisoning.rules import CUES, HIDDEN_ONLY, NARROWED, RULES, SERIOUS, SERIOUS_CUES
from subconscious.poisoning.views import View, views

IN_FULL = (Threat.INSTRUCTION, Level.HIGH)
"""A threat and a level: findings of this threat at this level or above count in full even in typed text."""

_ZERO_WIDTH = re.compile("[A-Za-z][\u200b\u200c\u200d\u2060\ufeff\u00ad]{1,20}[A-Za-z]")
_TAG_RUN = re.compile("(?<!\U0001f3f4)[\U000e0020-\U000e007e]{4,2000}")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MIXED = re.compile("[A-Za-z][\u0400-\u04ff\u0370-\u03ff]|[\u0400-\u04ff\u0370-\u03ff][A-Za-z]")
_DISGUISES = (
    ("invisible-text", Level.HIGH, _TAG_RUN, 1, "it has text in invisible characters"),
    ("split-by-nothing", Level.MEDIUM, _ZERO_WIDTH, 2, "it has invisible characters within words"),
    ("direction", Level.LOW, _DIRECTION, 1, "it changes the direction of writing"),
    ("mixed-alphabets", Level.LOW, _MIXED, 2, "it mixes alphabets within words"),
)


@cache
def rules_version() -> str:
    """Return the version of the rules and the model; it is stored with verdicts."""
    table = repr([(rule.name, rule.level, rule.source, rule.typed) for rule in RULES])
    table += repr((IN_FULL, sorted(NARROWED), sweeping.PATTERNS))
    return hashlib.sha256(table.encode() + attack_model.weights()).hexdigest()[:12]


def check(candidate: Candidate) -> Verdict:
    """Return the verdict on all texts of a candidate, with its origin taken into account."""
    typed = candidate.origin is Origin.USER
    findings = [finding for name, text in _parts(candidate) for finding in scan(text, part=name, typed=typed)]
    return verdict_of(findings, typed=typed)


def check_text(text: str, *, typed: bool = False) -> Verdict:
    """Return the verdict on a text; ``typed`` is true if a person typed it."""
    return verdict_of(scan(text, typed=typed), typed=typed)


def verdict_of(findings: Iterable[Finding], *, typed: bool = False) -> Verdict:
    """Return the verdict for findings: their highest level, but medium for low findings of several rules.

    For typed text, the level is lowered by one unless ``_disarms`` or ``_drops_and_more`` applies to the findings.
    """
    found = tuple(findings)
    level = max((finding.level for finding in found), key=lambda one: one.rank, default=Level.NONE)
    if level is Level.LOW and len({finding.rule for finding in found}) > 1:
        level = Level.MEDIUM
    if typed and not any(map(_disarms, found)) and not _drops_and_more(found):
        level = level.shifted(-1)
    return Verdict(level, found, rules_version())


def _disarms(finding: Finding) -> bool:
    """Whether a finding is an order to drop the instructions of later sessions, which counts in full even if typed."""
    threat, level = IN_FULL
    return finding.threat is threat and finding.level.rank >= level.rank


def _drops_and_more(found: Iterable[Finding]) -> bool:
    """Whether a text asks to drop some instructions and has another serious finding, such as a downloaded command."""
    serious = {finding.rule for finding in found if finding.level.rank >= Level.MEDIUM.rank}
    return bool(serious & NARROWED and serious - NARROWED)


def _parts(candidate: Candidate) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each field of a candidate, except texts that are contained in an earlier one."""
    parts: Mapping[str, str] = {
        "evidence": candidate.evidence.quote,
        "content": candidate.content,
        "summary": candidate.summary,
        "rationale": candidate.rationale,
        "tags": " ".join(candidate.tags),
        "files": " ".join(candidate.files),
    }
    seen: list[str] = []
    for name in ("content", "evidence", "summary", "rationale", "tags", "files"):
        text = parts[name]
        if text and not any(text in known for known in seen):
            seen.append(text)
            yield name, text


def scan(text: str, *, part: str = "content", typed: bool = False, learned: bool = True) -> list[Finding]:
    """Return the findings in a text, one per rule.

    The model judges the text only if ``learned`` is true, ``typed`` is false, and no rule has a finding of level medium
    or above.
    """
    found: dict[str, Finding] = {}
    for view in views(text):
        lowered = _lowered(view.text)
        # A decoded payload is short, and its text is new. A disguised whole text (``again``) mostly repeats the plain
        # view, so only the serious rules are applied to it.
        again = bool(view.trick) and view.within is None
        cues = {cue for cue in (SERIOUS_CUES if again else CUES) if cue in lowered}
        for rule in SERIOUS if again else RULES:
            if cues.isdisjoint(rule.cues) or rule.name in found or not _applies(rule, view, typed=typed):
                continue
            if match := rule.pattern.search(lowered):
                found[rule.name] = _finding(_narrowed(rule, lowered, match), view, match, part)
    for finding in _disguises(text, part):
        found[finding.rule] = finding
    # If a rule has named what is wrong, the model's "it resembles known attacks" would add nothing for a person.
    named = any(finding.level.rank >= Level.MEDIUM.rank for finding in found.values())
    if learned and not typed and not named:
        found |= {finding.rule: finding for finding in _learned(text, part)}
    return list(found.values())


def _applies(rule: Rule, view: View, *, typed: bool) -> bool:
    return (rule.typed or not typed) and (bool(view.trick) or rule.name not in HIDDEN_ONLY)


def _narrowed(rule: Rule, text: str, match: re.Match[str]) -> Rule:
    """Return the rule for a match, one level lower if the match is about some rules only ("ignore eslint's rules")."""
    narrow = rule.narrows is not None and rule.narrows(text, match.start(), match.end())
    return replace(rule, level=rule.level.shifted(-1)) if narrow else rule


def _finding(rule: Rule, view: View, match: re.Match[str], part: str) -> Finding:
    start, end = view.span(match.start(), max(match.end(), match.start() + 1))
    # Disguised words are treated as worse than plain ones.
    level, why = (rule.level.shifted(1), f"{rule.why}, {view.trick}") if view.trick else (rule.level, rule.why)
    return Finding(rule.name, rule.threat, level, why, part, start, end)


def _disguises(text: str, part: str) -> Iterator[Finding]:
    if text.isascii():
        return
    for name, level, pattern, fewest, why in _DISGUISES:
        found = [match.span() for match, _ in zip(pattern.finditer(text), range(fewest), strict=False)]
        if len(found) >= fewest:
            yield Finding(name, Threat.SOCIAL, level, why, part, found[0][0], found[-1][1])


def _learned(text: str, part: str) -> Iterator[Finding]:
    sure, start, end = attack_model.likeliest(text)
    if sure >= attack_model.FLAGS:
        level = Level.MEDIUM
    elif sure >= attack_model.DOUBTS:
        level = Level.LOW
    else:
        return
    yield replace(
        Finding("model", Threat.INSTRUCTION, level, "it resembles known attacks", part),
        start=start,
        end=end,
    )


def _lowered(text: str) -> str:
    """Return the text in lower case with the same length, so that positions stay valid."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(low if len(low := s.lower()) == 1 else s for s in text)
