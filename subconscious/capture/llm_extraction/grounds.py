"""Looks up the quotes of a proposal in the transcript: the evidence, what the user typed, and the context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from subconscious.capture.kernel import leans
from subconscious.capture.llm_extraction import quotes
from subconscious.capture.llm_extraction.proposals import Quoted, Statement
from subconscious.capture.passages import LONGEST
from subconscious.domain.model import Act, Origin, Role, Turn
from subconscious.text.sentences import sentences
from subconscious.text.wording import content_words

FEWEST_WORDS = 3
"""The minimum number of content words of a user's sentence that is stored verbatim."""


@dataclass(frozen=True, slots=True)
class LocatedQuote:
    """The result of looking up a quote: ``said`` is the verbatim span, "" if the quote was not found."""

    turn: Turn
    said: str


@dataclass(frozen=True, slots=True)
class Grounds:
    """The quotes of a proposal as found in the transcript.

    ``evidence`` is the quote that is shown with the candidate, ``stated`` all quotes that the user typed, ``also``
    further quotes that support the proposal. ``told`` has quotes that only explain references or show what happened,
    even from tool output, and ``context`` their turns.
    """

    evidence: LocatedQuote
    stated: tuple[LocatedQuote, ...] = ()
    context: tuple[Turn, ...] = ()
    also: tuple[LocatedQuote, ...] = ()
    told: tuple[LocatedQuote, ...] = ()

    @property
    def support(self) -> str:
        """Return all quotes except the evidence, with their speakers, for a model that checks the wording."""
        others = (*self.stated, *self.also, *self.told)
        lines = (f"{one.turn.origin}: {one.said}" for one in others if one != self.evidence)
        return "\n".join(dict.fromkeys(lines))


def grounds(proposal: Statement, turns: Sequence[Turn]) -> Grounds:
    """Return the quotes of a proposal as found in the turns; a typed quote is preferred as evidence."""
    stated = tuple(_all_stated(proposal.directive, turns))
    told = tuple(place for place in (_look_up(one, turns, shown=True) for one in proposal.context) if place.said)
    context = tuple(place.turn for place in told)
    shown = [Quoted(turn=proposal.turn, quote=proposal.quote), *proposal.also]
    first, *rest = (_look_up(one, turns) for one in shown)
    also = tuple(place for place in rest if place.said)
    if stated:
        return Grounds(stated[0], stated, context, tuple(one for one in (first, *also) if one.said), told)
    evidence = first if first.said or not also else also[0]
    typed = bool(evidence.said) and is_typed(evidence.turn)
    return Grounds(evidence, (evidence,) if typed else (), context, also, told)


def elsewhere(proposal: Statement, found: Grounds, turns: Sequence[Turn]) -> Grounds | None:
    """Return a proposal's quotes with its main quote as evidence; None if that quote was typed or is not found.

    Typed quotes are moved to ``also``: they do not support the wording, and must not make the user its author.
    """
    place = _look_up(Quoted(turn=proposal.turn, quote=proposal.quote), turns)
    if not place.said or is_typed(place.turn):
        return None
    return Grounds(place, (), found.context, (*found.stated, *found.also), found.told)


def is_typed(turn: Turn) -> bool:
    """Whether the user typed a turn."""
    return turn.role is Role.USER and turn.origin is Origin.USER and turn.act is Act.NONE


def _all_stated(found: Iterable[Quoted], turns: Sequence[Turn]) -> Iterable[LocatedQuote]:
    """Yield the quotes that are found in a turn that the user typed, even if the model names another turn."""
    for quoted in found:
        named = _named(quoted, turns)
        order = [*([named] if named else []), *turns]
        places = (LocatedQuote(turn, quotes.find(quoted.quote, turn.text)) for turn in order if is_typed(turn))
        if place := next((one for one in places if one.said), None):
            yield place


def _look_up(quoted: Quoted, turns: Sequence[Turn], *, shown: bool = False) -> LocatedQuote:
    """Return a quote with its turn: the turn that the model names, else the least trusted turn that contains the quote.

    If no turn contains the quote, the returned turn is the named one; failing that, the last one. If ``shown`` is true, tool output is
    searched, too.
    """

    def text(turn: Turn) -> str:
        return f"{turn.quotable_text}\n{turn.shown}" if shown else turn.quotable_text

    named = _named(quoted, turns)
    if named is not None and (said := quotes.find(quoted.quote, text(named))):
        return LocatedQuote(named, said)
    places = [LocatedQuote(turn, said) for turn in turns if (said := quotes.find(quoted.quote, text(turn)))]
    return max(places, key=lambda place: place.turn.origin.distrust, default=LocatedQuote(named or turns[-1], ""))


def _named(quoted: Quoted, turns: Sequence[Turn]) -> Turn | None:
    return turns[quoted.turn - 1] if 0 < quoted.turn <= len(turns) else None


def own_words(place: LocatedQuote) -> str:
    """Return the whole sentences from which a quote of the user is taken; "" if they are unclear alone or too long.

    A part of a sentence may say the opposite of the whole.
    """
    text = place.turn.text
    begin = text.find(place.said)
    end = begin + len(place.said)
    at, spans = 0, []
    for sentence in sentences(text):
        at = text.find(sentence, at)
        spans.append((at, at + len(sentence)))
        at += len(sentence)
    met = [span for span in spans if span[0] < end and span[1] > begin]
    whole = text[met[0][0] : met[-1][1]] if met else ""
    says_enough = len(content_words(whole)) >= FEWEST_WORDS and not leans(whole) and not whole.endswith("?")
    return whole if says_enough and len(whole) <= LONGEST else ""
