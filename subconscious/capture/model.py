"""The extractor that asks a model of language (SPEC A6, A8, N1).

The model proposes; what it says of itself counts for nothing. The evidence is looked up, the origin is that of the turns
that the wording draws on, and the gate comes afterwards, as with the offline extractor's candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from subconscious.capture import proposals, quotes, wording
from subconscious.capture.chunks import Chunk
from subconscious.capture.origins import origin_of
from subconscious.capture.passages import LONGEST
from subconscious.capture.proposals import Proposal, Proposals
from subconscious.model import Candidate, Evidence, Origin, Scope, Strength, Turn
from subconscious.prompts import prompt
from subconscious.providers import Request
from subconscious.transcripts.records import storable

PURPOSE = "capture"
VERSION = 1
"""Which wording of the prompt is asked."""

ANSWER_TOKENS = 4096
"""Room for an answer with as many candidates as there may be."""

_LONGEST_RATIONALE = 300
_LONGEST_TAG = 40

Clean = Callable[[str], str]
"""Takes out what must never be stored, once more: a model could put together again what was cut apart."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a quote was looked for: ``said`` is the verbatim span, "" where it stands nowhere."""

    turn: Turn
    said: str


def extractor(provider: str, model: str) -> str:
    """The name that captures carry, and that calibration goes by: one a provider, model and prompt (SPEC N3)."""
    return f"model-{VERSION}:{provider}/{model}"


def request(chunk: Chunk, known: Sequence[str]) -> Request:
    """Ask for what is worth keeping of a chunk, given summaries of what is known."""
    asked = prompt(PURPOSE, VERSION)
    listed = "\n".join(f"- {wording.squeeze(summary)}" for summary in known) or "(nothing)"
    return Request(
        purpose=PURPOSE,
        system=asked.system.replace("{most}", str(proposals.MOST)),
        text=asked.text.format_map({"known": listed, "read": chunk.known, "transcript": chunk.text}),
        schema=Proposals,
        max_tokens=ANSWER_TOKENS,
    )


def candidates(answer: Proposals, chunk: Chunk, name: str, clean: Clean) -> list[Candidate]:
    """Make candidates of an answer, each statement once; evidence that stands nowhere is left for the gate to refuse."""
    found: dict[str, Candidate] = {}
    for proposal in answer.candidates:
        made = _candidate(proposal, chunk, name, lambda text: wording.squeeze(clean(storable(text))))
        if made.raw_confidence > getattr(found.get(made.content.casefold()), "raw_confidence", -1.0):
            found[made.content.casefold()] = made
    return list(found.values())


def _candidate(proposal: Proposal, chunk: Chunk, name: str, tidy: Clean) -> Candidate:
    place = _look_up(proposal, chunk.turns)
    content = wording.cut_clause(tidy(proposal.content), LONGEST).strip()
    rationale = wording.shorten(tidy(proposal.rationale), _LONGEST_RATIONALE)
    summary = wording.shorten(tidy(proposal.summary) or content, wording.SUMMARY_LENGTH)
    origin = origin_of(f"{content} {rationale} {summary}", place.said, place.turn, chunk.turns)
    turn = place.turn
    return Candidate(
        kind=wording.shorten(tidy(proposal.kind).casefold(), _LONGEST_TAG),
        summary=summary,
        content=content,
        evidence=Evidence(place.said or tidy(proposal.quote), turn.id, turn.file, turn.start, turn.end),
        origin=origin,
        strength=Strength.EXPLICIT if origin is Origin.USER else Strength.INFERRED,
        raw_confidence=proposal.confidence,
        extractor=name,
        time=turn.time,
        scope=wording.scope(place.said, proposal.kind) if origin is Origin.USER else Scope.PROJECT,
        reason=_reason(proposal),
        rationale=rationale,
        sentiment=wording.sentiment(content),
        branch=turn.branch,
        tags=_tags(proposal, tidy),
        files=_files(proposal, chunk.turns, tidy),
    )


def _look_up(proposal: Proposal, turns: Sequence[Turn]) -> _Found:
    """Find the quote in the turn that is named, or else in one other: the least trusted one that holds it.

    Where it stands nowhere the turn that was named, or the last, has to stand for the transcript.
    """
    named = turns[proposal.turn - 1] if 0 < proposal.turn <= len(turns) else None
    if named is not None and (said := quotes.find(proposal.quote, named.heard)):
        return _Found(named, said)
    places = [_Found(turn, said) for turn in turns if (said := quotes.find(proposal.quote, turn.heard))]
    return max(places, key=lambda place: place.turn.origin.distrust, default=_Found(named or turns[-1], ""))


def _reason(proposal: Proposal) -> str:
    if not proposal.measured:
        return "its scores are not all between 0 and 1"
    return "a model's reading: " + ", ".join(f"{name} {part:.2f}" for name, part in proposal.parts.items())


def _tags(proposal: Proposal, tidy: Clean) -> tuple[str, ...]:
    named = (wording.shorten(tidy(tag), _LONGEST_TAG) for tag in proposal.tags)
    return tuple(dict.fromkeys(filter(None, named)))[:5]


def _files(proposal: Proposal, turns: Sequence[Turn], tidy: Clean) -> tuple[str, ...]:
    """Keep the files that the chunk knows; a model makes up paths, too."""
    touched = {PurePath(file).name for turn in turns for file in turn.files}
    named = (tidy(file) for file in proposal.files)
    known = (file for file in named if file and (PurePath(file).name in touched or _mentioned(file, turns)))
    return tuple(dict.fromkeys(known))[:5]


def _mentioned(file: str, turns: Sequence[Turn]) -> bool:
    return any(file in turn.heard for turn in turns)
