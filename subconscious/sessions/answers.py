"""Stores sentences of the assistant's answers with a session, so that relevant ones can be shown with later prompts.

A hand-over has little room for anything but the last report. Here, every answer that ended a turn (a report) is
examined. A sentence is kept under the same conditions as in a hand-over: it is about the session's own work, states no
rules, and does not repeat the output of a tool. `closest` finds the sentences that a prompt is about.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from subconscious.domain.model import Candidate, Evidence, Origin, Strength
from subconscious.poisoning.claims import is_of_session
from subconscious.poisoning.echo import trace
from subconscious.sessions.handover import REQUEST_LENGTH, changed_files, harmless, permits
from subconscious.sessions.likeness import LENGTH, MUCH, rarity_of, strength_of, words_of
from subconscious.sessions.reports import REPORT, Transcript, is_status, report_sentences
from subconscious.sessions.sketch import Answer, Report, Sketch
from subconscious.sessions.telling import first_words, is_routine
from subconscious.text import wording
from subconscious.text.terms import stem, terms

MOST_ANSWERS = 30
"""The number of latest answers that are kept of one session."""

MOST_TOLD = 12
"""The most sentences that are kept of one answer."""


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
    found = trace([_candidate(sentence, report, transcript) for report, sentence in said], {REPORT})
    for report in reports:
        sentences = (one for (its, _), one in zip(said, found, strict=True) if its is report)
        kept = dict.fromkeys(one.candidate.content for one in sentences if is_of_session(one))
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


ANSWERS, SENTENCES = 6, 24
"""How many answers have their sentences compared with a prompt by words, and how many sentences then by meaning.

Useful sentences often share few words with the prompt but belong to an answer that shares many.
"""

DAY = 86_400.0
FRESH_DAYS = 3.0
"""The age in days at which the freshness of an answer is one half."""

CONSTANT = -6.62
COSINE, STRENGTH, ANSWER, REQUEST, FRESH, CODE = 3.19, 1.81, 1.42, 2.54, 2.53, 0.74
"""Weights of a logistic regression, fitted to labelled pairs of real prompts and sentences of earlier sessions."""

_CODE = re.compile(r"`[^`]+`|\w+\.[a-z]{1,4}\b|[a-z]\w*[A-Z]\w*|\w+_\w+")


@dataclass(frozen=True, slots=True)
class Compared:
    """How a sentence matches a prompt. ``place`` is the index of its answer, ``line`` its index in that answer."""

    place: int
    line: int
    strength: float
    answer: float
    fresh: float
    code: bool

    def probability(self, cosine: float, request: float) -> float:
        """Return the probability that the sentence helps.

        ``cosine`` is that of the prompt and the sentence, ``request`` that of the prompt and the answer's request.
        """
        raw = CONSTANT + COSINE * cosine + REQUEST * request + STRENGTH * self.strength
        return 1.0 / (1.0 + math.exp(-raw - ANSWER * self.answer - FRESH * self.fresh - CODE * self.code))


def closest(prompt: str, answers: Sequence[Answer], now: float) -> list[Compared]:
    """Return the sentences that share the most words with a prompt, the best first."""
    asked = frozenset(stem(term) for term in terms(prompt))
    said = [_words(answer.text) for answer in answers]
    rarity = rarity_of(asked, said)
    shares = _shares(asked, said, rarity)
    near = [place for place in sorted(range(len(said)), key=lambda place: (-shares[place], place)) if shares[place]]
    lines = [(place, line) for place in near[:ANSWERS] for line in range(len(answers[place].told))]
    worded = [words_of(answers[place].told[line]) for place, line in lines]
    strengths = _shares(asked, worded, rarity)
    best = sorted(range(len(lines)), key=lambda one: (-strengths[one], lines[one]))[:SENTENCES]
    return [
        Compared(
            *lines[one],
            strength=strengths[one],
            answer=shares[lines[one][0]],
            fresh=_freshness(answers[lines[one][0]], now),
            code=bool(_CODE.search(answers[lines[one][0]].told[lines[one][1]])),
        )
        for one in best
    ]


def _shares(asked: frozenset[str], said: Sequence[frozenset[str]], rarity: Mapping[str, float]) -> list[float]:
    """Return, for each text, the weight of the words that it shares with the prompt: 0 to 1, normalised by length."""
    usual = sum(map(len, said)) / max(1, len(said)) or 1.0
    found = (strength_of(asked & words, rarity) / (1 - LENGTH + LENGTH * len(words) / usual) for words in said)
    return [min(1.0, one / MUCH) for one in found]


def _freshness(answer: Answer, now: float) -> float:
    return 1.0 / (1.0 + max(0.0, now - answer.at) / (FRESH_DAYS * DAY))


@lru_cache(maxsize=1000)
def _words(text: str) -> frozenset[str]:
    """Return the words of a text. Cached, because all answers of a project are compared with each prompt."""
    return words_of(text)
