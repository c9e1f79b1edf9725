"""What the answers of a session tell, sentence by sentence: a later prompt is given those that it is about.

A hand-over has room for the last report alone. Here every long answer that ended a turn is looked through. A sentence
is kept if it tells the session's own work, as in a hand-over; or if it states what the code that the session read or
wrote attests and no tool's prose claims, by the measure of unconfirmed memories. In both cases no tool may have said
nearly the same before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from subconscious.capture import wording
from subconscious.model import Candidate, Evidence, Origin, Strength
from subconscious.poisoning.echo import Traced, trace
from subconscious.poisoning.gate import screen
from subconscious.poisoning.reservations import is_attested, reservation
from subconscious.summaries.handover import (
    REPORT,
    REQUEST_LENGTH,
    Transcript,
    changed_files,
    harmless,
    is_own_work,
    is_status,
    permits,
    sentences_of,
)
from subconscious.summaries.sketch import Answer, Report, Sketch
from subconscious.summaries.telling import first_words

MOST_ANSWERS = 30
"""Answers of one session that are kept, the latest."""

MOST_TOLD = 12
"""Sentences of one answer that are kept."""


def with_answers(sketch: Sketch, transcript: Transcript) -> Sketch:
    """Return the sketch with what its new reports tell. Reads the transcript: run it in a thread."""
    reports = sketch.new_reports
    if not reports:
        return sketch
    written = (*changed_files(sketch), *sketch.deeds.symbols)
    known = {sentence for answer in sketch.answers for sentence in answer.told}
    found = [answer for answer in _answers(reports, written, transcript, known) if answer.told]
    return replace(sketch, reports=(), latest=None, answers=(*sketch.answers, *found)[-MOST_ANSWERS:])


def _answers(
    reports: Sequence[Report], written: Collection[str], transcript: Transcript, known: set[str]
) -> Iterator[Answer]:
    """What each report tells that no earlier one told; the transcript is read once for all of them."""
    said = [(report, sentence) for report in reports for sentence in _sentences(report, known)]
    traces = trace([_candidate(sentence, report, transcript) for report, sentence in said], {REPORT})
    for report in reports:
        told = (one for (its, _), one in zip(said, traces, strict=True) if its is report)
        kept = dict.fromkeys(one.candidate.content for one in told if _may_be_told(one, written))
        yield Answer(report.at, _request(report.asked), tuple(kept)[:MOST_TOLD])


def _sentences(report: Report, known: Collection[str]) -> Iterator[str]:
    return (one for one in sentences_of(report.text) if one not in known and not is_status(one))


def _candidate(sentence: str, report: Report, transcript: Transcript) -> Candidate:
    return Candidate(
        kind="learning",
        summary=sentence,
        content=sentence,
        evidence=Evidence(sentence, REPORT, str(transcript.path), report.place, report.place),
        origin=Origin.ASSISTANT,
        strength=Strength.INFERRED,
        raw_confidence=0.0,
        extractor="report",
        time=report.at,
    )


def _may_be_told(traced: Traced, written: Collection[str]) -> bool:
    """Whether a sentence tells the session's own work, or what its code attests, in the assistant's words."""
    candidate = traced.candidate
    if candidate.origin is not Origin.ASSISTANT:
        return False
    if is_own_work(candidate.content, written):
        return True
    return is_attested(traced) and not reservation(traced, screen(candidate))


def _request(text: str) -> str:
    """The request that an answer belongs to, in a few words; "" where it only holds for its moment."""
    asked = first_words(text) or wording.squeeze(text)
    return "" if permits(text) else harmless(wording.shorten(asked, REQUEST_LENGTH))
