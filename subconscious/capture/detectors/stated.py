"""Finds explicit statements of the user: sentences with a cue, which is a phrase such as "we decided".

Only text that the user typed is read. A cue determines the kind and strength of a sentence, and refinements lower the
strength. Precision comes first: a missed statement is better than an invented one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from subconscious.capture.detectors.cues import CUES, Cue
from subconscious.capture.detectors.refinements import LONGEST_STATEMENT, REFINEMENTS, Statement
from subconscious.domain.model import Candidate, Evidence, Origin, Strength, Turn
from subconscious.text import wording
from subconscious.text.sentences import sentences

EXTRACTOR = "offline-1"

_APOSTROPHES = ("\u2019", "'")
"""The typographic apostrophe and the plain one. Both are one character long, so that offsets stay valid."""

_LONGEST_TURN = 200_000
_CLAUSE = re.compile(r"(?:[,;:\u2013\u2014]|\s-|\b(?:and|so|but|because|then|if|whether|when))\s+(?=\S)")
_MOST_CLAUSES = 12
_CORRECTION = re.compile(
    r"(?:no|nope|actually|stop|wrong|wait|again,? (?:this|that)|that'?s (?:wrong|not)|not correct|this is not|"
    r"this (?:should|must) not)\b",
    re.IGNORECASE,
)
_LEVELS = (Strength.EXPLICIT, Strength.IMPLIED, Strength.INFERRED)

_KINDS_OF_NOTES = (
    (
        "preference",
        re.compile(r"\b(?:i|we) (?:always |really )?(?:prefer|like|want|hate)|\b(?:always|never)\b", re.IGNORECASE),
    ),
    ("decision", re.compile(r"\b(?:decided|agreed|settled)\b", re.IGNORECASE)),
    ("dead_end", re.compile(r"\b(?:did(?:n't| not) work|does(?:n't| not) work|failed)\b", re.IGNORECASE)),
)


def extract(turns: Sequence[Turn]) -> list[Candidate]:
    """Return the statements in the typed turns, each once, in their order."""
    found: dict[str, Candidate] = {}
    for turn in turns:
        if turn.origin is Origin.USER and len(turn.text) <= _LONGEST_TURN:
            for candidate in _candidates(turn):
                found.setdefault(candidate.content.casefold(), candidate)
    return list(found.values())


def _candidates(turn: Turn) -> Iterator[Candidate]:
    corrected = turn.after_interrupt or bool(_CORRECTION.match(turn.text))
    for sentence in sentences(turn.text):
        match = _match(sentence.replace(*_APOSTROPHES))
        if match is not None:
            cue, statement = match[0], _statement(sentence, match[1], turn.text)
            yield _candidate(turn, cue, statement, corrected=corrected)


def _match(sentence: str) -> tuple[Cue, re.Match[str]] | None:
    """Return the first cue of the table that begins the sentence or one of its clauses, with the match, or None."""
    starts = [0]
    for clause in _CLAUSE.finditer(sentence):
        starts.append(clause.end())
        if len(starts) == _MOST_CLAUSES:
            break
    for cue in CUES:
        for start in starts:
            if found := cue.pattern.match(sentence, start):
                return cue, found
    return None


def _statement(sentence: str, found: re.Match[str], text: str) -> Statement:
    """Return a sentence split at its cue; a cue that covers the whole sentence is the statement itself."""
    rest = found.string[found.end("cue") :]
    return Statement(
        sentence=sentence,
        before=found.string[: found.start("cue")],
        cue=found["cue"],
        said=rest if wording.content_words(rest) else found["cue"],
        rest=rest,
        turn_text=text,
    )


def _summary(cue: Cue, statement: Statement) -> str:
    """Return the statement (with the cue if ``cue.kept``), or the whole sentence if content words precede the cue."""
    said = statement.cue + statement.rest if cue.kept else statement.said
    if wording.content_words(statement.before):
        said = statement.sentence
    return wording.summary(said)


def _candidate(turn: Turn, cue: Cue, statement: Statement, *, corrected: bool) -> Candidate:
    strength, reason = _strength(cue, statement, corrected=corrected)
    quote = wording.cut_clause(statement.sentence, LONGEST_STATEMENT)
    content = wording.squeeze(quote)
    kind = _kind(cue, statement)
    return Candidate(
        kind=kind,
        summary=_summary(cue, statement),
        content=content,
        evidence=Evidence(quote=quote, turn_id=turn.id, file=turn.file, start=turn.start, end=turn.end),
        origin=turn.origin,
        strength=strength,
        raw_confidence=_confidence(strength, content),
        extractor=EXTRACTOR,
        time=turn.time,
        scope=wording.scope(content, kind),
        reason=reason,
        rationale=wording.rationale(content),
        sentiment=wording.sentiment(content),
        branch=turn.branch,
        tags=wording.tags(content),
        files=wording.files(content),
    )


def _strength(cue: Cue, statement: Statement, *, corrected: bool) -> tuple[Strength, str]:
    """Return the cue's strength, lowered if there are signs of doubt, and a reason that names the cue and the signs."""
    reasons = [refinement for refinement in REFINEMENTS if refinement.applies(statement)]
    names = [refinement.name for refinement in reasons]
    if cue.corrects and not corrected:
        names.insert(0, "it corrects nothing that was said or done")
    steps = len(_LEVELS) if any(refinement.to_floor for refinement in reasons) else len(names)
    level = min(_LEVELS.index(cue.strength) + steps, len(_LEVELS) - 1)
    lowered = f"; lowered: {', '.join(names)}" if names else ""
    return _LEVELS[level], f'says "{cue.name}"{lowered}'


def _confidence(strength: Strength, content: str) -> float:
    """Return the confidence for a strength, raised slightly if the statement has names, and again for a reason."""
    named = bool(wording.tags(content))
    reasoned = bool(wording.rationale(content))
    return round(strength.prior + 0.02 * named + 0.02 * reasoned, 2)


def _kind(cue: Cue, statement: Statement) -> str:
    """Return the kind of memory for a cue; after a cue such as "note", the statement's words may decide instead."""
    if cue.kept:
        return cue.kind
    own = (kind for kind, pattern in _KINDS_OF_NOTES if pattern.search(statement.said))
    return next(own, cue.kind)
