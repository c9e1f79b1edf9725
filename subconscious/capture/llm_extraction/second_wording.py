"""Rewords the user's statements as a model's review (the second look) proposes, so that they are clear on their own.

Users refer to what was said before ("the second one, and rename it"). The model's second look rewrites such a note. The
user remains its author only if the new wording keeps all of the user's words and adds only names from code that the
session looked at. Otherwise the model is the author, and the wording must pass the checks for a model's finding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import aiosqlite

from subconscious.capture.evaluation import CLAIMED, CLAIMED_TO_A_MODEL, FOR_A_SECOND_LOOK
from subconscious.capture.llm_extraction.origins import words
from subconscious.capture.llm_extraction.second_look import Look, refusal, says, turns_or_broadens, vouches
from subconscious.domain.model import Candidate, Decision, Level, Origin, Strength
from subconscious.poisoning.echo import LOOKBACK, Traced, in_code, trace
from subconscious.poisoning.gate import screen
from subconscious.poisoning.reservations import REVIEWED_KINDS, of_own_words, reservation
from subconscious.redaction.cleaning import clean
from subconscious.store import captures
from subconscious.store.capture_rows import candidate_from
from subconscious.store.second_looks import WaitingCapture
from subconscious.text.codewords import code_parts
from subconscious.text.same_statement import differences
from subconscious.text.standalone import unclear
from subconscious.text.wording import SUMMARY_LENGTH, shorten, squeeze

SHORTEST = 3
"""The minimum number of content words of a new wording."""

MOST_WINDOWS = 6
"""How many parts of a transcript are searched for a wording; if there are more, the wording is not used."""

MOST_NAMES = 2
"""How many names of code a wording may add to the user's words."""

FILLERS = frozenset("yeah yes ok okay hm hmm well please pls thanks".split())
"""Words of the user that a new wording may omit."""

TURNED = frozenset(("number", "scope", "modality"))
"""With one of these differences from the user's words, a new wording does not have the user as author."""

PARTICLES = frozenset("down in off on out over under up".split())
"""Words that do not count as content words, but change the meaning if one replaces another: "when the flag is off"."""

NEEDS_ITS_SESSION = "it can't be understood without its conversation"

_SYMBOL = re.compile(r"[A-Za-z_][\w-]*(?:[./][\w-]+)*(?:\(\))?")
_SHAPED = re.compile(r"\w[_./]\w|[a-z\d][A-Z]|\(\)")
"""Matches what only names of code have: an inner separator, a capital after a lower-case letter, or "()"."""


@dataclass(frozen=True, slots=True)
class Worded:
    """A candidate with the wording to store, and the reservation: why it must not be shown to sessions, or "".

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

    def review(self, look: Look) -> Look:
        """Return the review without the parts about the old wording, if the note has a new one."""
        same = self.candidate.content == self.made_from.capture["content"]
        return look if same else look.model_copy(update={"unsupported": [], "wording": ""})


async def store_wording(tx: aiosqlite.Connection, one: WaitingCapture, worded: Worded) -> WaitingCapture:
    """Store the author of a note's wording, and return the reworded note; `decisions.reword` stores the text."""
    said = worded.candidate
    author = {"origin": said.origin.value, "strength": said.strength.value}
    await captures.change(tx, "refined", one.capture["id"], author)
    capture = one.capture | {
        "kind": said.kind,
        "content": said.content,
        "summary": said.summary,
        "rationale": said.rationale,
        "origin": said.origin.value,
        "strength": said.strength.value,
    }
    return replace(one, capture=capture, reservation=worded.reservation)


def worded_anew(awaited: Sequence[WaitingCapture], said: Mapping[int, Look]) -> dict[int, Worded]:
    """Return the user's notes that the second look confirms, with the wording to store, by capture id.

    ``said`` maps the number of a note to its review. A new wording lifts only a reservation about the old wording,
    not others, such as that no hook reported the prompt. Reads transcripts: run it in a thread.
    """
    found = {}
    for number, one in enumerate(awaited, start=1):
        look = said.get(number)
        if look is None or one.decision is not Decision.REVIEW or not vouches(look):
            continue
        candidate = candidate_from(one.capture)
        if candidate.origin is not Origin.USER or not _is_of_its_words(one.reservation, candidate):
            continue
        if kept := _kept(candidate, one, look):
            found[one.capture["id"]] = Worded(*kept, one)
    return found


def _is_of_its_words(why: str | None, candidate: Candidate) -> bool:
    """Whether there is no reservation, or one about the wording, which another wording may not need."""
    return why in ("", FOR_A_SECOND_LOOK, of_own_words(candidate, screen(candidate), quoted=False))


def _kept(candidate: Candidate, one: WaitingCapture, look: Look) -> tuple[Candidate, str] | None:
    """Return the user's note with the wording to store, and its reservation; None to keep the gate's decision.

    A note that keeps its wording loses its reservation only if the model says that the note is clear.
    """
    said = squeeze(clean(look.wording))
    usable = bool(said) and _is_usable(said, look) and not turns_or_broadens(said, candidate.content)
    if usable and _is_the_users(said, candidate) and (anew := _of_the_user(candidate, said)):
        return anew, ""
    hard = bool(unclear(candidate.content)) or look.clear is False
    if usable and hard and one.reservation != "" and (anew := _of_the_model(candidate, said)):
        return anew, ""
    if unclear(candidate.content):
        return candidate, NEEDS_ITS_SESSION
    if one.reservation == "" or look.clear is None:
        return None
    if look.clear is False:
        return candidate, NEEDS_ITS_SESSION
    alone = one.reservation == FOR_A_SECOND_LOOK and not refusal(look, candidate.content)
    return (candidate, "") if alone else None


def _of_the_user(candidate: Candidate, said: str) -> Candidate | None:
    """Return the note with the wording ``said`` and the user as author; None if it must not be shown to sessions."""
    anew = _with_words(candidate, said)
    verdict = screen(anew)
    why = of_own_words(anew, verdict, quoted=False)
    return None if why or verdict.level is not Level.NONE else anew


def _of_the_model(candidate: Candidate, said: str) -> Candidate | None:
    """Return the note with the wording ``said`` as the assistant's finding; None if it must not be shown to sessions.

    Unless the note is very short, ``said`` must have at least half of its words.
    """
    typed = words(candidate.content) - FILLERS
    if len(typed) >= SHORTEST and 2 * len(typed & words(said)) < len(typed):
        return None
    kind = candidate.kind if candidate.kind in REVIEWED_KINDS else "decision"
    anew = replace(_with_words(candidate, said), kind=kind, origin=Origin.ASSISTANT, strength=Strength.INFERRED)
    traced = _traced(anew)
    if traced is None:
        return None
    verdict = screen(traced.candidate)
    why = reservation(traced, verdict) or (CLAIMED if traced.prosaic >= CLAIMED_TO_A_MODEL else "")
    return None if why or verdict.level is not Level.NONE else traced.candidate


def _with_words(candidate: Candidate, said: str) -> Candidate:
    return replace(candidate, content=said, summary=shorten(said, SUMMARY_LENGTH), rationale="")


def _is_usable(said: str, look: Look) -> bool:
    """Whether a wording is long enough, clear without context, and free of what the review objects to."""
    if len(words(said)) < SHORTEST or unclear(said) or any(says(said, phrase) for phrase in look.unsupported):
        return False
    return not refusal(look.model_copy(update={"unsupported": []}), said)


def _is_the_users(said: str, candidate: Candidate) -> bool:
    """Whether a new wording keeps the user's words, and adds only a few names from code that the session looked at.

    Without these names, the wording must mean the same. A name may replace words of the user only if it consists of
    them (`CloseButton`): the parts of another name could hide that a word was replaced.
    """
    known = words(f"{candidate.content}\n{candidate.evidence.quote}")
    names = {name for name in _SYMBOL.findall(said) if _SHAPED.search(name) and not words(name) <= known}
    rest = _SYMBOL.sub(lambda name: "" if name[0] in names else name[0], said)
    parts = [set(code_parts(name).casefold().split()) for name in names]
    kept = words(rest).union(*(one for one in parts if one <= known))
    if words(rest) - known or words(candidate.content) - kept - FILLERS or len(names) > MOST_NAMES:
        return False
    before, after = _particles(candidate.content), _particles(said)
    if (before - after and after - before) or turns_or_broadens(rest, candidate.content):
        return False
    if differences(said, candidate.content) & TURNED:
        return False
    return in_code(candidate.evidence.file, names)


def _particles(text: str) -> frozenset[str]:
    """Return the particles of a text, except those within names of code."""
    plain = _SYMBOL.sub(lambda name: "" if _SHAPED.search(name[0]) else name[0], text)
    return PARTICLES.intersection(re.findall(r"\w+", plain.casefold()))


def _traced(candidate: Candidate) -> Traced | None:
    """Trace a candidate's words in all parts of the transcript, before and after its turn, and combine the results.

    The least trusted origin and the highest shares count. Return None if the file is gone or too long to search.
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
