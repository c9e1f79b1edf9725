"""The extractor that asks a model of language.

The model proposes; what it says of itself counts for nothing. The evidence is looked up, the origin is that of the turns
that the wording draws on, and the gate comes afterwards, as with the offline extractor's candidates.
"""

from __future__ import annotations

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
VERSION = 4
"""Which wording of the prompt is asked."""

ANSWER_TOKENS = 4096
"""Room for an answer with as many candidates as there may be."""

_LONGEST_RATIONALE = 300
_LONGEST_TAG = 40

VERBATIM = "in the person's own words: what the model added is another's"

SURE_OF_USER = 0.8
"""A model's score from which a person's own words are as good as .9 means; people's decisions correct it."""

_WAITS, _STORED = 0.7, 0.9

Clean = Callable[[str], str]
"""Takes out what must never be stored, once more: a model could put together again what was cut apart."""


def extractor(provider: str, model: str) -> str:
    """The name that captures carry, and that calibration goes by: one a provider, model and prompt."""
    return f"model-{VERSION}:{provider}/{model}"


def request(chunk: Chunk, known: Sequence[str], scale: str = "keep") -> Request:
    """Ask for what is worth keeping of a chunk, given summaries of what is known."""
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
    """Make candidates of an answer, each statement once; evidence that stands nowhere is left for the gate to refuse."""
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
        kind=wording.shorten(tidy(proposal.kind).casefold(), _LONGEST_TAG),
        summary=worded.summary,
        content=worded.content,
        evidence=Evidence(place.said or tidy(proposal.quote), turn.id, turn.file, turn.start, turn.end),
        origin=origin,
        strength=Strength.EXPLICIT if origin is Origin.USER else Strength.INFERRED,
        raw_confidence=_scaled(proposal.confidence, origin, turn),
        extractor=name,
        time=turn.time,
        scope=wording.scope(place.said, proposal.kind) if origin is Origin.USER else Scope.PROJECT,
        reason="; ".join(filter(None, (_reason(proposal), worded.note))),
        rationale=worded.rationale,
        sentiment=wording.sentiment(worded.content),
        branch=turn.branch,
        tags=_tags(proposal, tidy),
        files=_files(proposal, chunk.turns, tidy),
    )


@dataclass(frozen=True, slots=True)
class _Worded:
    """A wording and whose it is; ``note`` says why it is not the model's."""

    content: str
    summary: str
    rationale: str
    origin: Origin
    note: str = ""


def _grounded(proposal: Statement, chunk: Chunk, tidy: Clean) -> tuple[Grounds, _Worded]:
    """Look up what a proposal rests on and word it.

    Where the wording is not the user's, what they typed is not what shows that it is true: its evidence is the other
    quote, whose words are compared with what tools had said before.
    """
    found = grounds(proposal, chunk.turns)
    worded = _worded(proposal, found, chunk, tidy)
    if worded.origin is Origin.USER or not found.stated:
        return found, worded
    other = elsewhere(proposal, found, chunk.turns)
    return (other, _worded(proposal, other, chunk, tidy)) if other else (found, worded)


def _worded(proposal: Statement, found: Grounds, chunk: Chunk, tidy: Clean) -> _Worded:
    """Choose the wording: the model's, without its reason if that is another's, or else what the person typed.

    What a person said stays theirs, whatever a model adds to it; what is added by others is left out.
    """
    content = wording.cut_clause(tidy(proposal.content), LONGEST).strip()
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
    """Return the sentences that a person typed of it, all of one message, as far as they fit; "" where they say too little."""
    said = [wording.squeeze(own_words(one)) for one in found.stated if one.turn is found.evidence.turn]
    whole = " ".join(dict.fromkeys(filter(None, said)))
    return whole if len(whole) <= LONGEST else said[0]


def _with_origin(worded: _Worded, found: Grounds, chunk: Chunk) -> _Worded:
    place = found.evidence
    text = f"{worded.content} {worded.rationale} {worded.summary}"
    others = [one.turn for one in found.stated if one.turn is not place.turn]
    origin = origin_of(text, place.said, place.turn, chunk.turns, stated=others, context=found.context)
    return replace(worded, origin=origin)


def _reason(proposal: Statement) -> str:
    if not proposal.measured:
        return "its scores are not all between 0 and 1"
    return f"a model's reading: {proposal.scores}"


def _scaled(score: float, origin: Origin, turn: Turn) -> float:
    """Map a model's score onto the thresholds: of what a person typed, ten of ten from ``SURE_OF_USER`` on were right.

    So it is for a plan that a person let through, or an answer that they chose, as it is without a model.
    """
    settled = turn.act is not Act.NONE and origin is not Origin.TOOL
    if score <= _WAITS or not (settled or origin is Origin.USER):
        return score
    if score >= SURE_OF_USER:
        return round(_STORED + (1 - _STORED) * (score - SURE_OF_USER) / (1 - SURE_OF_USER), 4)
    return round(_WAITS + (_STORED - _WAITS) * (score - _WAITS) / (SURE_OF_USER - _WAITS), 4)


def _tags(proposal: Statement, tidy: Clean) -> tuple[str, ...]:
    named = (wording.shorten(tidy(tag), _LONGEST_TAG) for tag in proposal.tags)
    return tuple(dict.fromkeys(filter(None, named)))[:5]


def _files(proposal: Statement, turns: Sequence[Turn], tidy: Clean) -> tuple[str, ...]:
    """Keep the files that the chunk knows; a model makes up paths, too."""
    touched = {PurePath(file).name for turn in turns for file in turn.files}
    named = (tidy(file) for file in proposal.files)
    known = (file for file in named if file and (PurePath(file).name in touched or _mentioned(file, turns)))
    return tuple(dict.fromkeys(known))[:5]


def _mentioned(file: str, turns: Sequence[Turn]) -> bool:
    return any(file in turn.quotable_text for turn in turns)
