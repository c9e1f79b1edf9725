"""Statements in the words of the second look: remarks that stand alone, findings without what nothing supports.

People refer to what was said before ("the second one, and rename it"). The second look words such a note anew. If that
mainly adds names to what the user typed, the user stays the author. Otherwise the model is, and the wording must pass
the checks of a finding. A finding that is true except for some words is worded without them, and checked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from subconscious.capture.evaluation import FOR_A_SECOND_LOOK, reservation_of
from subconscious.capture.llm_extraction.origins import words
from subconscious.capture.llm_extraction.second_look import Look, refusal, turns_or_broadens, vouches
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
    """Return the notes that the second look confirms and that are kept in other words, by capture id.

    ``said`` are the reviews by number of the note. Other words never lift a reservation that does not come from the old
    ones, such as that no hook reported the prompt. Reads transcripts: run it in a thread.
    """
    found = {}
    for number, one in enumerate(awaited, start=1):
        look = said.get(number)
        if look is None or one.decision is not Decision.REVIEW or not vouches(look):
            continue
        candidate = candidate_from(one.capture)
        if candidate.origin is Origin.USER:
            kept = _kept(candidate, one, look) if _is_of_its_words(one.reservation, candidate) else None
        else:
            kept = _without_unsupported(candidate, look) if one.reservation == "" else None
        if kept:
            found[one.capture["id"]] = kept
    return found


def _is_of_its_words(reservation: str | None, candidate: Candidate) -> bool:
    """Whether a reservation about the user's words is about these words, so that others may do without it."""
    return reservation in ("", FOR_A_SECOND_LOOK, of_own_words(candidate, screen(candidate), quoted=False))


def _without_unsupported(candidate: Candidate, look: Look) -> Worded | None:
    """Return a finding in the words of the second look; None if there are none, or none that may be used.

    The meaning must not be reversed or broadened, except where the second look found no evidence for a condition.
    """
    said, supported = squeeze(clean(look.wording)), candidate.content
    for phrase in look.unsupported:
        supported = supported.replace(phrase, " ")
    if not _is_usable(said, look) or turns_or_broadens(said, supported):
        return None
    anew = replace(candidate, content=said, summary=shorten(said, SUMMARY_LENGTH))
    verdict = screen(anew)
    if verdict.level is not Level.NONE or reservation_of(_traced(anew), verdict):
        return None
    return Worded(anew, "")


def _is_usable(said: str, look: Look) -> bool:
    """Whether a wording is a statement that stands alone, without a phrase that nothing supports."""
    kept = words(said)
    if len(kept) < SHORTEST or unclear(said) or any(words(phrase) <= kept for phrase in look.unsupported):
        return False
    return not refusal(look.model_copy(update={"unsupported": []}), said)


def _kept(candidate: Candidate, one: WaitingCapture, look: Look) -> Worded | None:
    """Return the user's note in the words to keep; None if nothing of the gate's decision changes."""
    if look.clear is False:
        return Worded(candidate, NEEDS_ITS_SESSION)
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
    if not _is_usable(said, look):
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
    """Return the candidate with what the whole transcript says of its words, also after the note's turn."""
    file = Path(candidate.evidence.file)
    end = file.stat().st_size if file.is_file() else candidate.evidence.start
    place = replace(candidate.evidence, start=end)
    return trace([replace(candidate, evidence=place)], spoken={place.turn_id})[0]


def _added(said: str, candidate: Candidate, before: str) -> set[str]:
    """Return the words, besides names, that the user did not type before or in the note."""
    typed = [line.partition(": ")[2] for line in before.splitlines() if line.startswith(f"{Origin.USER}: ")]
    known = words("\n".join((candidate.content, candidate.evidence.quote, *typed)))
    return {word for word in content_words(said) if word.casefold() not in known and not is_name(word)}
