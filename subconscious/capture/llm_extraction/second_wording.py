"""What the second look makes of the user's own words: a remark of the moment becomes a statement that stands alone.

People refer to what was said before ("the second one, and rename it"). The second look words such a note anew. If that
mainly adds names to what the user typed, the user stays the author. Otherwise the model is, and the wording must pass
the checks of a finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from subconscious.capture.evaluation import FOR_A_SECOND_LOOK, reservation_of
from subconscious.capture.llm_extraction.origins import words
from subconscious.capture.llm_extraction.second_look import Look, refusal, vouches
from subconscious.domain.model import Candidate, Decision, Level, Origin
from subconscious.poisoning.echo import Traced, trace
from subconscious.poisoning.gate import screen
from subconscious.poisoning.reservations import COPIED, REVIEWED_KINDS, of_own_words
from subconscious.redaction.cleaning import clean
from subconscious.store.capture_rows import candidate_from
from subconscious.store.second_looks import WaitingCapture
from subconscious.text.standalone import unclear
from subconscious.text.wording import SUMMARY_LENGTH, content_words, is_name, shorten, squeeze

SHORTEST = 3
"""The minimum number of content words of a new wording."""

RESOLVED = 1 / 3
"""The maximum share of words (0 to 1), besides names, that a wording of the user's may take from the conversation."""

NEEDS_ITS_SESSION = "it can't be understood without its conversation"


@dataclass(frozen=True, slots=True)
class Worded:
    """A candidate in the words of the second look, and why sessions must not be shown it; "" if they may be."""

    candidate: Candidate
    reservation: str


def worded_anew(awaited: Sequence[WaitingCapture], said: Mapping[int, Look]) -> dict[int, Worded]:
    """Return the user's notes that the second look confirms, by capture id, in the words to keep.

    ``said`` are the reviews by number of the note. Reads transcripts: run it in a thread.
    """
    found = {}
    for number, one in enumerate(awaited, start=1):
        look = said.get(number)
        waits = one.decision is Decision.REVIEW and one.capture["origin"] == Origin.USER
        if look is not None and waits and vouches(look) and (kept := _kept(one, look)):
            found[one.capture["id"]] = kept
    return found


def _kept(one: WaitingCapture, look: Look) -> Worded | None:
    candidate = candidate_from(one.capture)
    anew = _anew(candidate, one.before, look) if look.wording else None
    if anew is not None:
        return anew
    if unclear(candidate.content) or (look.wording and _added(look.wording, candidate, "")):
        return Worded(candidate, NEEDS_ITS_SESSION)
    alone = one.reservation == FOR_A_SECOND_LOOK and not refusal(look, candidate.content)
    return Worded(candidate, "") if alone else None


def _anew(candidate: Candidate, before: str, look: Look) -> Worded | None:
    """Return the candidate in the words of the second look; None if sessions must not be shown these."""
    said = squeeze(clean(look.wording))
    if len(words(said)) < SHORTEST or unclear(said) or refusal(look, said):
        return None
    anew = replace(candidate, content=said, summary=shorten(said, SUMMARY_LENGTH))
    traced = _traced(replace(anew, kind=_kind_of_finding(anew), origin=Origin.ASSISTANT))
    if len(_added(said, candidate, before)) <= RESOLVED * len(words(said)) and traced.copied < COPIED:
        verdict = screen(anew)
        why = of_own_words(anew, verdict, quoted=False)
    else:
        anew = traced.candidate
        verdict = screen(anew)
        why = reservation_of(traced, verdict)
    return None if why or verdict.level is not Level.NONE else Worded(anew, "")


def _kind_of_finding(candidate: Candidate) -> str:
    return candidate.kind if candidate.kind in REVIEWED_KINDS else "decision"


def _traced(candidate: Candidate) -> Traced:
    """Return the candidate with what the whole transcript says of its words, also after the user's remark."""
    file = Path(candidate.evidence.file)
    end = file.stat().st_size if file.is_file() else candidate.evidence.start
    return trace([replace(candidate, evidence=replace(candidate.evidence, start=end))])[0]


def _added(said: str, candidate: Candidate, before: str) -> set[str]:
    """Return the words, besides names, that the user did not type before or in the note."""
    typed = [line.partition(": ")[2] for line in before.splitlines() if line.startswith(f"{Origin.USER}: ")]
    known = words("\n".join((candidate.content, candidate.evidence.quote, *typed)))
    return {word for word in content_words(said) if word.casefold() not in known and not is_name(word)}
