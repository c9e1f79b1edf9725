"""Keeps sentences of the assistant's answers with a session, so that later prompts can be given the relevant ones.

A hand-over has little room for anything but the last report. Here, every answer that ended a turn (a report) is
examined. A sentence is kept on the same conditions as in a hand-over: it is about the session's own work, gives no
rules, and does not repeat the output of a tool.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from subconscious.domain.model import Candidate, Evidence, Origin, Strength
from subconscious.poisoning.echo import traced
from subconscious.sessions.handover import (
    REPORT,
    REQUEST_LENGTH,
    Transcript,
    changed_files,
    harmless,
    is_status,
    permits,
    report_sentences,
)
from subconscious.sessions.sketch import Answer, Report, Sketch
from subconscious.sessions.telling import first_words, is_routine
from subconscious.text import wording

MOST_ANSWERS = 30
"""The answers that are kept of one session: the latest."""

MOST_TOLD = 12
"""The sentences that are kept of one answer."""


def with_answers(sketch: Sketch, transcript: Transcript) -> Sketch:
    """Return the sketch with the kept sentences of its new reports. Reads the transcript: run it in a thread."""
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
    """Yield the new sentences of each report. The transcript is read once for all reports."""
    said = [(report, sentence) for report in reports for sentence in _sentences(report, written, known)]
    found = traced([_candidate(sentence, report, transcript) for report, sentence in said], {REPORT})
    for report in reports:
        sentences = (one for (its, _), one in zip(said, found, strict=True) if its is report)
        kept = dict.fromkeys(one.content for one in sentences if one.origin is Origin.ASSISTANT)
        yield Answer(report.at, _request(report.asked), tuple(kept)[:MOST_TOLD])


def _sentences(report: Report, written: Collection[str], known: Collection[str]) -> Iterator[str]:
    return (one for one in report_sentences(report.text, written) if one not in known and not is_status(one))


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


def _request(text: str) -> str:
    """Return the user's request before an answer, in a few words; "" if it is routine or gives a permission."""
    asked = first_words(text) or wording.squeeze(text)
    return "" if permits(text) or is_routine(text) else harmless(wording.shorten(asked, REQUEST_LENGTH))
