"""Finds statements that the user made by choosing an answer to a question, or by approving a plan."""

from __future__ import annotations

import re
from collections.abc import Iterator

from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange, topic
from subconscious.capture.kernel import is_trifle, leans
from subconscious.capture.passages import LONGEST, Passage, points
from subconscious.domain.model import Act, Strength, Turn
from subconscious.text import wording
from subconscious.text.stops import split
from subconscious.transcripts.speech import ANSWERS

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
_COUNTER = re.compile(r"\?[^\w?]*\Z")
"""Replies that are questions, and therefore decide nothing."""

_DECIDED = " Decided: "
_SENTENCE = re.compile(r"(?<=[.!?])\s+")

MOST_OF_A_PLAN = 3
"""The maximum number of decisions kept from one plan. Most of a plan describes work, which the code will show."""

_LONGEST_DECISION = 280
_SHORTEST_DECISION = 40
_WEIGHTY = 2
"""The minimum number of signs that a passage of a plan is a decision (see ``_weight``)."""

_DECISIONS = re.compile(
    r"decisions?\b|alternatives?\b|rejected\b|trade-?offs?\b|out of scope\b|non-?goals?\b|constraints?\b|not (?:doing|included)\b|"
    r"what (?:stays|does not change|doesn't change|we (?:won't|don't))\b",
    re.IGNORECASE,
)
"""Headings of the part of a plan that says which options were chosen or rejected."""

_CHOICE = re.compile(
    r"\b(?:instead of|rather than|in favou?r of|as opposed to|no longer|deliberately|intentionally|by design|out of scope|unchanged|"
    r"reject(?:s|ed)?|chose[n]?|prefer(?:red)?|not worth|(?:will|must|should) not|won't|single source of truth)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(r"\b(?:(?:do|does|is|are) not|don't|doesn't|isn't|aren't)\b", re.IGNORECASE)
"""Words that rule something out below a heading about decisions. Elsewhere they may only describe a problem."""

_THINKING = re.compile(
    r"\bactually\b|\bhmm+\b|\bwait\b|\?|\bor maybe\b|\bcrash(?:es|ed)\b|\bthe (?:bug|error|problem) is\b", re.IGNORECASE
)
"""Passages that weigh options or describe a problem, and decide nothing."""

_REASON = re.compile(
    r"\b(?:because|since|so that|otherwise|to avoid|to keep|to prevent|which (?:means|would|avoids|keeps)|avoids?|due to)\b",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"\W*(?:\d+\W+)?(?:add|create|update|run|write|test|verify|check|remove|delete|rename|move|modify|change|edit|replace|implement|extract|"
    r"import|install|commit|open|read|export|wire|register|call|pass|line|lines|file|new file)\b",
    re.IGNORECASE,
)
"""Beginnings of steps of the work. A step is done once, and the code shows it from then on."""

_EMPTY = frozenset("based tradeoffs approach option choose works best".split())
_FEWEST_WORDS = 6
_FEWEST_NAMES = 2
"""The minimum number of content words in a question: with fewer, a later reader can't tell what was chosen."""


def answers(exchange: Exchange) -> Iterator[Draft]:
    """Yield the user's answers that settle a question, chosen or typed, each together with the question."""
    for turn in exchange.turns:
        for line in turn.text.splitlines() if turn.act is Act.ANSWERED else ():
            question, _, answer = line.partition(ANSWERS)
            if answer.strip() and _chooses(answer) and not _PASSING.search(question):
                yield _answer(turn, line, question, answer)


def _chooses(answer: str) -> bool:
    """Whether a reply settles a question: it neither asks a question itself nor postpones the choice."""
    return not _UNDECIDED.match(answer) and not _COUNTER.search(answer)


def _answer(turn: Turn, line: str, question: str, answer: str) -> Draft:
    free = ":" not in answer
    named = [word for word in wording.content_words(question) if word.lower() not in _EMPTY]
    vague = (
        len(named) < _FEWEST_NAMES or (free and bool(_UNSURE.search(answer))) or len(wording.content_words(answer)) < 2
    )
    content = f"{_brief(question, LONGEST - len(answer) - len(_DECIDED))}{_DECIDED}{answer}"
    return Draft(
        turn,
        "decision",
        content,
        line,
        "answer",
        strength=Strength.IMPLIED if vague else Strength.EXPLICIT,
        signs=("answer:vague" if vague else "answer:choice", "answer:free" if free else "answer:option"),
        summary=f"{wording.shorten(answer, 60)} ({question}",
        reason="a question that the person answered",
    )


def _brief(question: str, room: int) -> str:
    """Return the last sentences of a question that fit into ``room`` characters, at least the last one."""
    said = split(_SENTENCE, question)
    while len(said) > 1 and len(" ".join(said)) > room:
        del said[0]
    return " ".join(said)


def plans(exchange: Exchange) -> Iterator[Draft]:
    """Yield the decisions in an approved plan: options that were chosen or ruled out, and why. Steps are left out."""
    turn = exchange.turns[0]
    title = topic(turn) if turn.act is Act.APPROVED else ""
    if not title:
        return
    weighed = [(_weight(passage), passage) for passage in points(turn.text, _LONGEST_DECISION)]
    best = sorted((one for one in weighed if one[0] >= _WEIGHTY), key=lambda one: -one[0])[:MOST_OF_A_PLAN]
    for _, passage in best:
        yield Draft(
            turn,
            "decision",
            f"{passage.wording.rstrip()} (plan: {title})",
            turn.text[passage.start : passage.end],
            "approved",
            strength=Strength.EXPLICIT,
            signs=("approved",),
            summary=passage.wording,
            reason="a decision in a plan that the person approved",
        )


def _weight(passage: Passage) -> int:
    """Return how many signs show that a passage is a decision; 0 if it is unclear without context or is a step."""
    said = passage.wording
    if len(said) < _SHORTEST_DECISION or not said.rstrip().endswith((".", "!", ")")) or leans(said) or is_trifle(said):
        return 0
    if _THINKING.search(said) or _STEP.match(said) or len(wording.content_words(said)) < _FEWEST_WORDS:
        return 0
    settled = any(_DECISIONS.search(heading) for heading in passage.headings)
    chosen = bool(_CHOICE.search(said)) or (settled and bool(_DENIAL.search(said)))
    return settled + chosen + bool(_REASON.search(said)) if chosen else 0
