"""The offline extractor behind the interface that the shared evaluation calls.

``session``: a transcript's path -> what would be captured or queued, within the cap, strongest first.
``prompt``: a text a person typed -> kinds that would be captured or queued.
``record``: a sentence of an issue or a commit -> "decision" where it would be captured or queued.
``correction``: a prompt -> "correction", from its words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from subconscious.capture.detectors import corrections
from subconscious.capture.draft import Draft, candidate
from subconscious.capture.gate import admit
from subconscious.capture.offline import EXTRACTOR, extract
from subconscious.capture.passages import plain
from subconscious.capture.session_limits import Entry, settle
from subconscious.capture.weighing import probability, words_and_pairs
from subconscious.domain.model import Admission, Candidate, Decision, Origin, Role, Turn
from subconscious.embeddings.local import LocalEmbedder
from subconscious.redaction.cleaning import clean
from subconscious.settings.settings import Settings
from subconscious.text.examined import examined_text
from subconscious.text.sentences import sentences
from subconscious.transcripts import read_turns

SETTINGS = Settings()
CORRECTS = 0.65
"""Probability from which a prompt counts as a correction by its text alone: one opener in eleven."""

DECIDED = 0.25
"""Least probability that a sentence of a record states a decision."""


def session(path: str) -> list[str]:
    return [candidate.content for candidate, _ in judged(path)]


def judged(path: str) -> list[tuple[Candidate, Admission]]:
    """Candidates of a transcript that find a place, with the gate's word."""
    turns = read_turns(Path(path), final=True, max_bytes=1 << 30, clean=clean).turns
    heard = {turn.id: turn.quotable_text for turn in turns}
    found = [(one, admit(one, SETTINGS, heard=heard[one.evidence.turn_id])) for one in extract(turns)]
    found = [pair for pair in found if pair[1].decision is not Decision.DISCARD]
    confidences = [pair[1].confidence + (pair[1].decision is Decision.AUTO) for pair in found]
    places = choose(confidences, [pair[0].content for pair in found], SETTINGS.session_captures)
    return [found[at] for at in places]


def prompt(text: str) -> list[str]:
    turn = Turn("t", "s", Role.USER, Origin.USER, text, 0.0, "", 0, 0)
    found = [one for one in extract([turn]) if admit(one, SETTINGS, heard=text).decision is not Decision.DISCARD]
    return [one.kind for one in found]


def record(text: str) -> list[str]:
    found = [*extract_record(text)]
    return [one.kind for one in found if one.raw_confidence >= SETTINGS.review_threshold][:1] or prompt(text)


def correction(text: str) -> list[str]:
    meaning = embedder().embed([text[: corrections.LETTERS]])[0]
    return ["correction"] if corrections.chance(text, meaning) >= CORRECTS else []


@cache
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def choose(confidences: Sequence[float], contents: Sequence[str], cap: int) -> list[int]:
    """Return the indices of the captures that fit into the cap, strongest first."""
    entries = [Entry(at, one, said) for at, (one, said) in enumerate(zip(confidences, contents, strict=True))]
    out = settle(entries, cap)
    return sorted((at for at in range(len(entries)) if at not in out), key=lambda at: -confidences[at])


def extract_record(text: str) -> list[Candidate]:
    """Return the decisions that a record states: a commit's message, an issue, a note; sentence by sentence."""
    text = examined_text(text)
    turn = Turn("record", "", Role.USER, Origin.USER, text, 0.0, "", 0, 0)
    drafted = (
        (
            Draft(turn, "decision", plain(sentence), sentence, "record", reason="reads like a decision"),
            decided(sentence),
        )
        for sentence in sentences(text)
    )
    return [candidate(draft, sure, EXTRACTOR) for draft, sure in drafted if draft.content]


def decided(sentence: str) -> float:
    """Return the confidence that a sentence of a record (a commit, an issue, a note) states a decision."""
    chance = probability("decision", list(words_and_pairs(sentence)))
    return 0.7 + 0.19 * (chance - DECIDED) / (1 - DECIDED) if chance >= DECIDED else 0.69 * chance / DECIDED
