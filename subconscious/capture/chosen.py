"""What a person settled by an act (SPEC N11): a question answered, a plan approved, an assistant stopped and corrected."""

from __future__ import annotations

import re
from collections.abc import Iterator

from subconscious.capture import wording
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange, topic
from subconscious.capture.passages import LONGEST, Passage, passages
from subconscious.model import Act, Origin, Strength, Turn

_PAIR = re.compile(r"(?P<question>.+?\?)\s+(?P<answer>\S.*)\Z")
_UNDECIDED = re.compile(
    r"(?:you decide|next area|continue|skip|other|done\b|none|not sure|maybe|i don'?t know|hm+|both are|let'?s (?:discuss|talk)|"
    r"(?:what|which|how|why|can|could|is|are|do|does|should|would|where|when) )",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"(?:more questions|ready|which areas|what (?:would|do) you (?:like|want) to do|would you like|do you want me|shall i|should i|"
    r"can i|may i|how (?:would|do) you (?:like|want) (?:me )?to (?:proceed|continue|handle)|proceed)\b|\bto discuss\b|\bnext\b|move on",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:depend(?:s|ing)?|i think|not sure|from my understanding|maybe|we can discuss|for now|hm+)\b", re.IGNORECASE
)
_WHY = re.compile(
    r"(?:context|problem|background|motivation|root cause|goal|why|issue|objective|overview|summary|current state|design decisions?.*|"
    r"decisions?.*|approach|solution|key insight.*)\W*\Z",
    re.IGNORECASE,
)
_LEANING = re.compile(r"(?:but|this|it|that|these|they|so|also|both|goal|--)\b", re.IGNORECASE)
_SHORTEST_WHY = 60
_EMPTY = frozenset("based tradeoffs approach option choose works best".split())
_FEWEST_NAMES = 2
"""Words of a question that say what it is about: with fewer nobody knows later what was chosen."""

_REASONED = re.compile(
    r"\b(?:because|so that|but|however|currently|instead|without|causes?|causing|blocks?|fails?|broken|missing|never|hidden|goal|wants?|"
    r"needs?|should|must|unlike|inconsistent|redundant|don't)\b",
    re.IGNORECASE,
)


def answers(exchange: Exchange) -> Iterator[Draft]:
    """Give the questions that a person answered with a choice: the question names what the choice is about."""
    for turn in exchange.turns:
        for line in turn.text.splitlines() if turn.act is Act.ANSWERED else ():
            pair = _PAIR.match(line)
            if pair and not _UNDECIDED.match(pair["answer"]) and not _PASSING.search(pair["question"]):
                yield _answer(turn, line, pair)


def _answer(turn: Turn, line: str, pair: re.Match[str]) -> Draft:
    free = ":" not in pair["answer"]
    named = [word for word in wording.content_words(pair["question"]) if word.lower() not in _EMPTY]
    vague = (
        len(named) < _FEWEST_NAMES
        or (free and bool(_UNSURE.search(pair["answer"])))
        or len(wording.content_words(pair["answer"])) < 2
    )
    content = f"{pair['question']} Decided: {pair['answer']}"
    return Draft(
        turn,
        "decision",
        content,
        line,
        "answer",
        strength=Strength.IMPLIED if vague else Strength.EXPLICIT,
        signs=("answer:vague" if vague else "answer:choice", "answer:free" if free else "answer:option"),
        summary=f"{wording.shorten(pair['answer'], 60)} ({pair['question']}",
        reason="a question that the person answered",
    )


def plans(exchange: Exchange) -> Iterator[Draft]:
    """Give what an approved plan is for: its title and the reason that it states first."""
    turn = exchange.turns[0]
    title = topic(turn) if turn.act is Act.APPROVED else ""
    why = _why(turn) if title else None
    if why is None:
        return
    content = f"Plan approved: {title}. Why: {wording.cut_clause(why.wording, LONGEST - len(title) - 22)}"
    whole = content.endswith((".", "!", ")"))
    reasoned = whole and bool(_REASONED.search(why.wording))
    yield Draft(
        turn,
        "decision",
        content,
        turn.text[why.start : why.end],
        "approved",
        strength=Strength.EXPLICIT if reasoned else Strength.IMPLIED,
        signs=("approved", "approved:reasoned" if reasoned else "approved:bare"),
        summary=f"Plan approved: {title}",
        reason="a plan that the person approved",
    )


def _why(turn: Turn) -> Passage | None:
    """Return the first passage of a plan under its context or problem that does not lean on what stands before it."""
    under = [p for p in passages(turn.text, LONGEST - 100) if p.headings and _WHY.match(p.heading) and not p.listed]
    return next((p for p in under if len(p.wording) > _SHORTEST_WHY and not _LEANING.match(p.wording)), None)


def corrections(exchange: Exchange) -> Iterator[Draft]:
    """Give what a person typed after stopping the assistant or refusing a tool, with what was going on."""
    turn = exchange.turns[0]
    if not (turn.after_interrupt and turn.origin is Origin.USER and turn.text):
        return
    quote = wording.cut_clause(turn.text, LONGEST)
    yield Draft(
        turn,
        "lesson",
        quote,
        quote,
        "correction",
        signs=("correction",),
        reason="said after an interrupt or a refused tool",
    )
