"""What the answers of a session tell, sentence by sentence: a later prompt is given those that it is about.

A hand-over has room for the last report alone. Here every answer that ended a turn is looked through. A sentence is
kept by the measure of hand-overs: it tells the session's own work and gives no rules, and no tool had said it before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from subconscious.capture import wording
from subconscious.model import Candidate, Evidence, Origin, Strength
from subconscious.poisoning.echo import traced
from subconscious.summaries.handover import (
    REPORT,
    REQUEST_LENGTH,
    Transcript,
    changed_files,
    harmless,
    is_status,
    permits,
    report_sentences,
)
from subconscious.summaries.sketch import Answer, Report, Sketch
from subconscious.summaries.telling import first_words, is_routine

MOST_ANSWERS = 30
"""Answers of one session that are kept, the latest."""

MOST_TOLD = 12
"""Sentences of one answer that are kept."""

FEWEST_WORDS = 5
"""Words besides code that a sentence must have to be understood without its neighbours."""

_LEANS = re.compile(
    r"\W*(?:(?:this|that|these|those|it|they|both(?! `)|he|she|here|there|so|but|and|also|then|thus|otherwise"
    r"|instead|however|likewise|similarly|same|again|only|either|neither|another|others?|used"
    r"|the (?:latter|former|other|rest|same|above|following|fix|change|problem|issue|test|error))\b"
    r"|(?:lines?|steps?|phases?|cases?|options?|items?|points?|bugs?|fix(?:es)?|changes?|tests?|[a-z]) ?\(?\d+\b"
    r"|[a-z0-9][.)] |all (?:\d+|of|three|four|five|these|those)\b|[a-z]+ (?:sees|does|gets)\b"
    r"|(?-i:[A-Z])[a-z]{2,}s (?=`|(?:an?|the|that|if|when|whether|all|each|its|to|no|any|new|both)\b))",
    re.IGNORECASE,
)
"""How a sentence begins that leans on the one before: pointing back, numbered, or without a subject."""

_CODE = re.compile(r"`[^`]{0,200}`|\([^()]{0,200}\)")

_LINE = re.compile(r"\.\w{1,5}:\d+\b|\blines? ~?\d|\b\d+ lines\)", re.IGNORECASE)
"""A place or a length in lines: the next edit moves it."""


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
    """Return the sentences of each report that no earlier one has; the transcript is read once for all of them."""
    said = [(report, sentence) for report in reports for sentence in _sentences(report, written, known)]
    found = traced([_candidate(sentence, report, transcript) for report, sentence in said], {REPORT})
    for report in reports:
        told = (one for (its, _), one in zip(said, found, strict=True) if its is report)
        kept = dict.fromkeys(one.content for one in told if one.origin is Origin.ASSISTANT)
        yield Answer(report.at, _request(report.asked), tuple(kept)[:MOST_TOLD])


def _sentences(report: Report, written: Collection[str], known: Collection[str]) -> Iterator[str]:
    return (one for one in report_sentences(report.text, written) if one not in known and not is_status(one))


def stands_alone(sentence: str) -> bool:
    """Whether a sentence of an answer can be understood later, without the ones around it."""
    words = re.findall(r"[^\W\d_]{2,}", _CODE.sub(" ", sentence))
    whole = len(words) >= FEWEST_WORDS and not sentence.endswith("\u2026")
    return whole and not _LEANS.match(sentence) and not _LINE.search(sentence)


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
    """The request that an answer belongs to, in a few words; "" where it is routine, or only holds for its moment."""
    asked = first_words(text) or wording.squeeze(text)
    return "" if permits(text) or is_routine(text) else harmless(wording.shorten(asked, REQUEST_LENGTH))
