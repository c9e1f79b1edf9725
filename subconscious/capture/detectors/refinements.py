"""Signs that a sentence with a cue ("we decided") is no firm statement: questions, conditions, hearsay, hedges.

To add a sign, add a row; the sign's name is shown to people. Each sign lowers the cue's strength by one step; a sign marked
``to_floor`` lowers it to the lowest step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from subconscious.text.wording import content_words, is_name


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence split at its cue: text before the cue, the cue, text after it, and the statement itself (``said``)."""

    sentence: str
    before: str
    cue: str
    rest: str
    said: str
    turn_text: str


@dataclass(frozen=True, slots=True)
class Refinement:
    """A sign that a cue is to be trusted less. ``name`` is the reason that people see: "lowered: it is negated"."""

    name: str
    applies: Callable[[Statement], bool]
    to_floor: bool = False


_QUESTION = re.compile(
    r"(?:\W|\b(?:ok|so|and|but|also|well|actually|wait|no)\b)*(?:should|shall|did|do|does|can|could|would|will|is|are|was|were|"
    r"have|has|why|what|how|where|which|who|isn'?t|aren'?t|don'?t (?:we|you|i)|didn'?t)\s"
    r"(?:we|you|i|it|the|this|that|there|they|not)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|whether|unless|suppose|assuming|in case|imagine|until|once|when)\b", re.IGNORECASE)
_CONDITION_OF_RULE = re.compile(r"\b(?:always|never|from now on|don'?t use)\b", re.IGNORECASE)
_BARE_CASE = re.compile(r"(?:if|when) (?:there is|there's|it|error)\b", re.IGNORECASE)
_NEGATED = re.compile(r"(?:n't|\bnot|\bnever)\s(?:yet\s)?(?:really\s)?(?:decide|agree|settle|chose)", re.IGNORECASE)
_REPORTED = re.compile(
    r"\b(?:said|says|say|told|tells|asked|wrote|writes|claims?|suggest\w*|recommend\w*|according to|apparently|heard|"
    r"he|she|they|the docs?|documentation|reviewer|comment)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|i guess|i think|not sure|unsure|seems?|could be|i suppose|or maybe|"
    r"for now|for the moment|temporarily|this time|just once|tbd)\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"\b(?:this|these) (?:pr|branch|commit|session|case|one|test|tests|comment|file|function|line|change|"
    r"phase|task|step|issue|bug|error|part|method|section|page|plan)s?\b"
    r"|\b(?:above|below|here|right now|first,? then|before (?:you|we|continuing))\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\W*(?:(?:use|do|take|keep|try|implement|follow|go with)\s+)?"
    r"(?:that|this|it|those|these|them|one|both|either|option\b[\w\s#]{0,6}|\(?[a-d1-9]\)?\b(?!\w)"
    r"|(?:the|your|that|this) (?:\w+ )?(?:one|option|plan|suggestion|approach|above|same|latter|former|idea|proposal"
    r"|recommendation|choice|way|rest))"
    r"\W*(?:\b(?:please|then|for now|now|and|but|instead|too|as well|again|for this)\b.{0,40})?\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_NUMBERED = re.compile(
    r"\b(?:option|approach|variant|alternative|choice) #?(?:[a-e]|\d|one|two|three)\b", re.IGNORECASE
)
_POINTING = re.compile(
    r"\W*(?:it|this|that|they|these|those|he|she|there)\b(?! (?:project|repo|codebase|team))", re.IGNORECASE
)
_ENGLISH = re.compile(
    r"\b(?:the|a|an|to|of|in|is|are|be|for|with|we|i|it|that|on|not|use|always|never|instead|from|and|as|all|my|our"
    r"|do|don'?t|does|any|every|no|when|please|should|must|only|by|at|this|these|else|you|your|but|or|if|so)\b",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"\w[^\w]+\w.*\b(?:and|so|but|then|because)\s+\Z", re.IGNORECASE | re.DOTALL)
_RULE = re.compile(r"(?:always|never)\s+\Z", re.IGNORECASE)
_PASTE = re.compile(r"\b(?:low|medium|high|critical) severity\b", re.IGNORECASE)

LONGEST_STATEMENT = 400
_LONGEST_TYPED = 1500


def _is_question(statement: Statement) -> bool:
    return statement.sentence.rstrip("\"'`) ").endswith("?") or bool(_QUESTION.match(statement.sentence))


def _is_condition(statement: Statement) -> bool:
    if _BARE_CASE.match(statement.sentence):
        return True  # describes a case, like an item in a list of steps, and is not a rule
    if _CONDITION_OF_RULE.search(statement.cue):
        return False  # "when X, always Y" is a rule with its condition
    return bool(_CONDITION.search(statement.before))


def _is_continued(statement: Statement) -> bool:
    """Whether "always" or "never" continues a clause, so that it applies only to the subject of that clause."""
    return bool(_RULE.match(statement.cue) and _CONTINUED.search(statement.before))


def _is_quoted(statement: Statement) -> bool:
    before = statement.before
    return before.count('"') % 2 == 1 or before.count("`") % 2 == 1 or before.count("“") > before.count("”")


def _is_vague(statement: Statement) -> bool:
    return any(_VAGUE.match(part) for part in (statement.said, statement.rest) if part.strip())


def _says_little(statement: Statement) -> bool:
    words = content_words(statement.sentence)
    weight = len(words) + sum(is_name(word) for word in content_words(statement.said))
    return weight < 3 or not content_words(statement.said)


def _is_foreign(statement: Statement) -> bool:
    letters = [character for character in statement.sentence if character.isalpha()]
    strange = sum(not character.isascii() for character in letters)
    unknown = len(statement.sentence.split()) >= 5 and not _ENGLISH.search(statement.sentence)
    return unknown or strange * 10 > len(letters)


def _is_pasted(statement: Statement) -> bool:
    text = statement.turn_text
    return len(text) > _LONGEST_TYPED or bool(_PASTE.search(text))


REFINEMENTS = (
    Refinement("it is a question", _is_question, to_floor=True),
    Refinement("it depends on a condition", _is_condition, to_floor=True),
    Refinement("it is negated", lambda s: bool(_NEGATED.search(s.before + s.cue)), to_floor=True),
    Refinement("it is in quotation marks", _is_quoted, to_floor=True),
    Refinement("it reports what others say", lambda s: bool(_REPORTED.search(s.before)), to_floor=True),
    Refinement("it refers to something that is not named", _is_vague, to_floor=True),
    Refinement("it says too little", _says_little, to_floor=True),
    Refinement("it does not read as English", _is_foreign, to_floor=True),
    Refinement("it begins with a reference to other text", lambda s: bool(_POINTING.match(s.said))),
    Refinement("it names a choice by its number", lambda s: bool(_NUMBERED.search(s.sentence))),
    Refinement("it continues another clause", _is_continued),
    Refinement("it is hedged", lambda s: bool(_HEDGE.search(s.sentence))),
    Refinement("it is about the current task", lambda s: bool(_TASK.search(s.sentence))),
    Refinement("it is long", lambda s: len(s.sentence) > LONGEST_STATEMENT),
    Refinement("its text may be pasted", _is_pasted),
)
"""All signs, in the order in which a candidate's reason lists those that apply."""
