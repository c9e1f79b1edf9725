"""The extractor that uses a language model.

The model only proposes, and what it says about its sources is not trusted: the evidence is looked up in the transcript,
the origin is that of the turns that the wording comes from, and ``gate.py`` decides on candidates from a model in the
same way as on candidates from the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from subconscious.capture.llm_extraction import proposals
from subconscious.capture.llm_extraction.chunks import Chunk, tokens
from subconscious.capture.llm_extraction.grounds import Grounds, elsewhere, grounds, own_words
from subconscious.capture.llm_extraction.origins import origin_of
from subconscious.capture.llm_extraction.proposals import Answer, Statement
from subconscious.capture.passages import LONGEST
from subconscious.domain.model import Act, Candidate, Evidence, Origin, Scope, Strength, Turn
from subconscious.llm.prompts import prompt
from subconscious.llm.providers import Request
from subconscious.text import wording
from subconscious.transcripts.records import storable

PURPOSE = "capture"
VERSION = 5
"""The version of the prompt."""

ANSWER_TOKENS = 4096
"""The maximum number of tokens of a reply: enough for the largest number of candidates."""

_LONGEST_RATIONALE = 300
_LONGEST_TAG = 40

_PLACE = re.compile(r"(?<=\w) in (?:this|our|the) (?:project|repo|repository|codebase)(?=[ ,.;:]|\Z)", re.IGNORECASE)
"""Words that name the project. They are removed, because each memory belongs to one project."""

_OF_THE_USER = ("lesson", "pattern", "elicitation")
"""Kinds of memories that only the user can state, such as a lesson; from anybody else, they become a "learning"."""

VERBATIM = "in the person's own words, without what the model added"

SURE_OF_USER = 0.8
"""The model's score at which the user's own words get a confidence of .9, before calibration."""

_WAITS, _STORED, _BELOW = 0.7, 0.9, 0.01

Clean = Callable[[str], str]
"""The type of a function that removes secrets and private text.

The function is also applied to replies, because a model may have joined separate parts of a secret.
"""


def extractor(provider: str, model: str) -> str:
    """Return the extractor's name, which captures store and calibration uses: one per provider, model and prompt."""
    return f"model-{VERSION}:{provider}/{model}"


def request(chunk: Chunk, known: Sequence[str], scale: str = "keep") -> Request:
    """Return the request for the statements in a chunk that are worth storing, with summaries of known memories."""
    asked, chosen = prompt(PURPOSE, VERSION), proposals.SCALES[scale]
    size = max(100, round(tokens(chunk.fresh), -2))
    listed = "\n".join(f"- {wording.squeeze(summary)}" for summary in known) or "(nothing)"
    return Request(
        purpose=PURPOSE,
        system=asked.system.replace("{most}", str(proposals.MOST)).replace("{scores}", chosen.asked),
        text=asked.text.format_map({"known": listed, "read": chunk.known, "tokens": size, "transcript": chunk.text}),
        schema=chosen.schema,
        max_tokens=ANSWER_TOKENS,
    )


def candidates(answer: Answer, chunk: Chunk, name: str, clean: Clean) -> list[Candidate]:
    """Return the candidates in a reply, each statement once; ``gate.py`` refuses those without evidence."""
    found: dict[str, Candidate] = {}
    for proposal in answer.candidates:
        made = _candidate(proposal, chunk, name, lambda text: wording.squeeze(clean(storable(text))))
        if made.raw_confidence > getattr(found.get(made.content.casefold()), "raw_confidence", -1.0):
            found[made.content.casefold()] = made
    return list(found.values())


def _candidate(proposal: Statement, chunk: Chunk, name: str, tidy: Clean) -> Candidate:
    found, worded = _grounded(proposal, chunk, tidy)
    place, turn, origin = found.evidence, found.evidence.turn, worded.origin
    return Candidate(
        kind=_kind(proposal, origin, tidy),
        summary=worded.summary,
        content=worded.content,
        evidence=Evidence(place.said or tidy(proposal.quote), turn.id, turn.file, turn.start, turn.end),
        origin=origin,
        strength=Strength.EXPLICIT if origin is Origin.USER else Strength.INFERRED,
        raw_confidence=_score(proposal, worded, turn),
        extractor=name,
        time=turn.time,
        scope=wording.scope(place.said, proposal.kind) if origin is Origin.USER else Scope.PROJECT,
        reason="; ".join(filter(None, (_reason(proposal), worded.note))),
        rationale=worded.rationale,
        sentiment=wording.sentiment(worded.content),
        branch=turn.branch,
        tags=_tags(proposal, tidy),
        files=_files(proposal, chunk.turns, tidy),
        support="\n".join(map(tidy, found.support.splitlines())),
    )


def _kind(proposal: Statement, origin: Origin, tidy: Clean) -> str:
    """Return the kind of memory: the proposed kind, or "learning" if only the user can state the proposed kind."""
    kind = wording.shorten(tidy(proposal.kind).casefold(), _LONGEST_TAG)
    return "learning" if kind in _OF_THE_USER and origin is not Origin.USER else kind


def _score(proposal: Statement, worded: _Worded, turn: Turn) -> float:
    """Return the raw confidence, kept below the threshold for storing if the user's sentence replaces the wording.

    In that case the model scored another wording, and the user's sentence may be a task.
    """
    score = _scaled(proposal.confidence, proposal.waits_from, worded.origin, turn)
    return min(score, _STORED - _BELOW) if worded.note == VERBATIM else score


@dataclass(frozen=True, slots=True)
class _Worded:
    """A wording and its author. ``note`` is "" if the wording is the model's, else it says whose wording it is."""

    content: str
    summary: str
    rationale: str
    origin: Origin
    note: str = ""


def _grounded(proposal: Statement, chunk: Chunk, tidy: Clean) -> tuple[Grounds, _Worded]:
    """Return the evidence of a proposal, and its wording.

    If the user is not the author of the wording, words that the user typed can't be its evidence. Then another quote
    becomes the evidence, and the origin is determined again from that quote.
    """
    found = grounds(proposal, chunk.turns)
    worded = _worded(proposal, found, chunk, tidy)
    if worded.origin is Origin.USER or not found.stated:
        return found, worded
    other = elsewhere(proposal, found, chunk.turns)
    return (other, _worded(proposal, other, chunk, tidy)) if other else (found, worded)


def _worded(proposal: Statement, found: Grounds, chunk: Chunk, tidy: Clean) -> _Worded:
    """Return the wording of a statement, so that the user stays the author of what they said.

    It is the model's wording with rationale; if words in it come from other sources, the wording without rationale;
    failing that, the user's sentences; failing those, the model's wording with a less trusted author.
    """
    content = _PLACE.sub("", wording.cut_clause(tidy(proposal.content), LONGEST)).strip()
    summary = wording.shorten(tidy(proposal.summary) or content, wording.SUMMARY_LENGTH)
    rationale = wording.shorten(tidy(proposal.rationale), _LONGEST_RATIONALE)
    full = _with_origin(_Worded(content, summary, rationale, Origin.USER), found, chunk)
    if not found.stated or full.origin is Origin.USER:
        return full
    bare = _with_origin(
        _Worded(content, wording.shorten(content, wording.SUMMARY_LENGTH), "", Origin.USER), found, chunk
    )
    if bare.origin is Origin.USER:
        return bare
    if said := _typed(found):
        return _Worded(said, wording.shorten(said, wording.SUMMARY_LENGTH), "", Origin.USER, VERBATIM)
    return full


def _typed(found: Grounds) -> str:
    """Return the user's sentences that a proposal quotes, only the first if they are long; "" if all are unclear."""
    said = [wording.squeeze(own_words(one)) for one in found.stated if one.turn is found.evidence.turn]
    whole = " ".join(dict.fromkeys(filter(None, said)))
    return whole if len(whole) <= LONGEST else said[0]


def _with_origin(worded: _Worded, found: Grounds, chunk: Chunk) -> _Worded:
    place = found.evidence
    text = f"{worded.content} {worded.rationale} {worded.summary}"
    others = [one.turn for one in found.stated if one.turn is not place.turn]
    origin = origin_of(text, place.said, place.turn, chunk.turns, stated=others, context=found.context)
    if origin is not Origin.USER:
        origin = Origin.least_trusted(origin, *(one.turn.origin for one in found.also))
    return replace(worded, origin=origin)


def _reason(proposal: Statement) -> str:
    if not proposal.measured:
        return "its scores are not all between 0 and 1"
    return f"a model's scores: {proposal.scores}"


def _scaled(score: float, waits_from: float, origin: Origin, turn: Turn) -> float:
    """Return a model's score on the scale of the thresholds; every extractor uses this scale.

    From ``waits_from`` on, a candidate may be shown to sessions as unconfirmed. From ``SURE_OF_USER`` on, what the user
    typed, approved or chose is stored: ten of ten such candidates were right. Other candidates stay below the threshold
    for storing.
    """
    if score < waits_from:
        return round(score * _WAITS / waits_from, 4)
    if origin is not Origin.USER and (turn.act is Act.NONE or origin is Origin.TOOL):
        return _between(score, (waits_from, 1.0), (_WAITS, _STORED - _BELOW))
    if score >= SURE_OF_USER:
        return _between(score, (SURE_OF_USER, 1.0), (_STORED, 1.0))
    return _between(score, (waits_from, SURE_OF_USER), (_WAITS, _STORED))


def _between(score: float, stated: tuple[float, float], meant: tuple[float, float]) -> float:
    """Return a score, mapped linearly from the range ``stated`` to the range ``meant``."""
    share = (score - stated[0]) / (stated[1] - stated[0])
    return round(meant[0] + (meant[1] - meant[0]) * share, 4)


def _tags(proposal: Statement, tidy: Clean) -> tuple[str, ...]:
    named = (wording.shorten(tidy(tag), _LONGEST_TAG) for tag in proposal.tags)
    return tuple(dict.fromkeys(filter(None, named)))[:5]


def _files(proposal: Statement, turns: Sequence[Turn], tidy: Clean) -> tuple[str, ...]:
    """Return the files of a proposal that occur in the chunk; a model may invent paths."""
    touched = {PurePath(file).name for turn in turns for file in turn.files}
    named = (tidy(file) for file in proposal.files)
    known = (file for file in named if file and (PurePath(file).name in touched or _mentioned(file, turns)))
    return tuple(dict.fromkeys(known))[:5]


def _mentioned(file: str, turns: Sequence[Turn]) -> bool:
    return any(file in turn.quotable_text for turn in turns)
