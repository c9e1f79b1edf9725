"""Statements in the words of the second look: remarks that stand alone, findings without what nothing supports.

People refer to what was said before ("the second one, and rename it"). The second look words such a note anew. The user
stays the author only if that adds names of the session's own code to what the user typed. Otherwise the model is, and
the wording must pass the checks of a finding. A finding may only lose words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from subconscious.capture.evaluation import CLAIMED, CLAIMED_TO_A_MODEL, FOR_A_SECOND_LOOK, reservation_of
from subconscious.capture.llm_extraction.origins import words
from subconscious.capture.llm_extraction.second_look import Look, refusal, says, turns_or_broadens, vouches
from subconscious.domain.model import Candidate, Decision, Level, Origin, Strength
from subconscious.poisoning.echo import LOOKBACK, Traced, in_code, trace
from subconscious.poisoning.gate import screen
from subconscious.poisoning.reservations import REVIEWED_KINDS, of_own_words, reservation
from subconscious.redaction.cleaning import clean
from subconscious.store.capture_rows import candidate_from
from subconscious.store.second_looks import WaitingCapture
from subconscious.text.same_statement import differences
from subconscious.text.standalone import unclear
from subconscious.text.wording import SUMMARY_LENGTH, content_words, is_name, shorten, squeeze

SHORTEST = 3
"""The minimum number of content words of a new wording."""

MOST_WINDOWS = 6
"""How many parts of a transcript are searched for the words; of a longer rest, no new wording is used."""

NEEDS_ITS_SESSION = "it can't be understood without its conversation"

_CODE = re.compile(r"`([^`\n]{1,200})`")


@dataclass(frozen=True, slots=True)
class Worded:
    """A candidate in the words of the second look, and why sessions must not be shown it; "" if they may be.

    ``made_from`` is the note that the second look was shown.
    """

    candidate: Candidate
    reservation: str
    made_from: WaitingCapture

    def fits(self, one: WaitingCapture) -> bool:
        """Whether the note and the gate's decision are still those that the second look was shown."""
        before = self.made_from
        same = (before.decision, before.reservation) == (one.decision, one.reservation)
        return same and before.capture["content"] == one.capture["content"]


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
        kept: tuple[Candidate, str] | None = None
        if candidate.origin is Origin.USER and _is_of_its_words(one.reservation, candidate):
            kept = _of_user(candidate, one, look)
        elif candidate.origin is not Origin.USER and one.reservation == "" and (shorter := _shortened(candidate, look)):
            kept = shorter, ""
        if kept is not None:
            found[one.capture["id"]] = Worded(*kept, one)
    return found


def _is_of_its_words(why: str | None, candidate: Candidate) -> bool:
    """Whether a reservation about the user's words is about these words, so that others may do without it."""
    return why in ("", FOR_A_SECOND_LOOK, of_own_words(candidate, screen(candidate), quoted=False))


def _shortened(candidate: Candidate, look: Look) -> Candidate | None:
    """Return a finding without the words that nothing supports; None if there is no such wording.

    The meaning must not be reversed or broadened, except where the second look found no evidence for a condition.
    """
    said, supported = squeeze(clean(look.wording)), candidate.content
    for phrase in look.unsupported:
        supported = supported.replace(phrase, " ")
    kept, known = words(said), words(f"{candidate.content}\n{candidate.evidence.quote}")
    if not kept <= known or 2 * len(kept) < len(words(candidate.content)):
        return None
    if not _is_usable(said, look) or turns_or_broadens(said, supported):
        return None
    traced = _traced(_with_words(candidate, said))
    if traced is None or screen(traced.candidate).level is not Level.NONE:
        return None
    return None if reservation_of(traced, screen(traced.candidate)) else traced.candidate


def _of_user(candidate: Candidate, one: WaitingCapture, look: Look) -> tuple[Candidate, str] | None:
    """Return the user's note in the words to keep, and its reservation; None if the gate's decision stands.

    What may be given also without a model stays so. All else must be called clear: silence confirms nothing.
    """
    if look.wording and (anew := _anew(candidate, squeeze(clean(look.wording)), look)):
        return anew, ""
    if unclear(candidate.content):
        return candidate, NEEDS_ITS_SESSION
    if one.reservation == "" or look.clear is None:
        return None
    if look.clear is False:
        return candidate, NEEDS_ITS_SESSION
    alone = one.reservation == FOR_A_SECOND_LOOK and not refusal(look, candidate.content)
    return (candidate, "") if alone else None


def _anew(candidate: Candidate, said: str, look: Look) -> Candidate | None:
    """Return the user's note in the words of the second look; None if sessions must not be shown these."""
    if not _is_usable(said, look) or turns_or_broadens(said, candidate.content):
        return None
    anew = _with_words(candidate, said)
    if _is_the_users(said, candidate):
        verdict = screen(anew)
        why = of_own_words(anew, verdict, quoted=False)
    else:
        kind = candidate.kind if candidate.kind in REVIEWED_KINDS else "decision"
        traced = _traced(replace(anew, kind=kind, origin=Origin.ASSISTANT, strength=Strength.INFERRED))
        if traced is None:
            return None
        anew, verdict = traced.candidate, screen(traced.candidate)
        why = reservation(traced, verdict) or (CLAIMED if traced.prosaic >= CLAIMED_TO_A_MODEL else "")
    return None if why or verdict.level is not Level.NONE else anew


def _with_words(candidate: Candidate, said: str) -> Candidate:
    return replace(candidate, content=said, summary=shorten(said, SUMMARY_LENGTH), rationale="")


def _is_usable(said: str, look: Look) -> bool:
    """Whether a wording is a statement that stands alone, without a phrase that nothing supports."""
    if len(words(said)) < SHORTEST or unclear(said) or any(says(said, phrase) for phrase in look.unsupported):
        return False
    return not refusal(look.model_copy(update={"unsupported": []}), said)


def _is_the_users(said: str, candidate: Candidate) -> bool:
    """Whether a wording adds nothing to the user's words but names of the session's own code and commands."""
    prose, names = _added(said, candidate)
    if prose or "number" in differences(said, candidate.content):
        return False
    return in_code(candidate.evidence.file, names)


def _added(said: str, candidate: Candidate) -> tuple[set[str], set[str]]:
    """Return the words and the names of a wording that are not in the user's note.

    A number is a word, because it makes a claim, and so is a capitalised word, which may begin a sentence.
    """
    known = words(f"{candidate.content}\n{candidate.evidence.quote}")
    code = {span for span in _CODE.findall(said) if not words(span) <= known}
    added = {word for word in content_words(_CODE.sub(" ", said)) if word.casefold() not in known}
    names = {word for word in added if is_name(word) and not word.isdigit() and not word[1:].islower()}
    return added - names, names | code


def _traced(candidate: Candidate) -> Traced | None:
    """Return the candidate with the worst that the transcript says of its words, before and after the note's turn.

    None if the transcript is gone, or too long to be searched.
    """
    file, begin = Path(candidate.evidence.file), candidate.evidence.start
    if not candidate.evidence.file or not file.is_file():
        return None
    end = file.stat().st_size
    places = [*range(begin, end, LOOKBACK), end]
    if len(places) > MOST_WINDOWS:
        return None
    moved = [replace(candidate, evidence=replace(candidate.evidence, start=place)) for place in places]
    found = [trace([one], spoken={candidate.evidence.turn_id})[0] for one in moved]
    origin = Origin.least_trusted(*(one.candidate.origin for one in found))
    return replace(
        found[0],
        candidate=replace(candidate, origin=origin),
        copied=max(one.copied for one in found),
        retold=max(one.retold for one in found),
        prosaic=max(one.prosaic for one in found),
        foreign=tuple(command for one in found for command in one.foreign),
        grounded=any(one.grounded for one in found),
        anchored=any(one.anchored for one in found),
        lookalike=next((one.lookalike for one in found if one.lookalike), ""),
    )
