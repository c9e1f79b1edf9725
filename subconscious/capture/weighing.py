"""Computes the raw confidence of drafts, which are statements that detectors found.

If a person chose or approved a draft, its strength determines the confidence, else a linear model does, which
``bench/capture_train.py`` trains. The model's numeric features distinguish a reason from a list of edits: the length,
the counts of words by type (causes, hedges, edits, tests, reviews), code names, and the source. Unlike words, these
features also work for projects that are not in the training data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from subconscious.capture.draft import Draft
from subconscious.capture.kernel import CAUSE, leans
from subconscious.capture.passages import LONGEST
from subconscious.text import wording
from subconscious.text.linear import hashed, load_model, logistic, scaled_sum

if TYPE_CHECKING:
    import numpy


PACKAGE = "subconscious.capture"

SIZE = 1 << 13
"""The number of weights of the hashed features."""

WORDS, SIGNS = 1 << 14, 1 << 12
"""The number of weights of words and of signs, in a model that has separate weights for them.

A sign is a feature other than a word.
"""

SIGNS_COUNT = 2.0
"""The weight of the score of the signs, relative to the score of the words."""

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[?!:;`\"]")
_MOST_TOKENS = 200

_SETTLED = {"answer", "approved"}
"""Sources of statements that a person chose or approved, so that no model has to weigh them."""

QUEUE = 0.38
"""The minimum probability at which a draft is queued for review."""

_BELOW, _ABOVE = ((0.0, 0.3), (0.2, 0.5)), ((0.60, 0.75), (0.72, 0.80), (0.90, 0.86), (1.0, 0.89))
"""Pairs (probability, confidence) to interpolate between. All confidences are below the threshold for storing."""

_STRUGGLE = 0.9
"""The minimum probability of a statement about a failure and its repair: raters approved 50 of 61 of them."""


def signs(draft: Draft) -> Iterator[str]:
    """Yield the features of a draft other than its words: signs, source and origin."""
    yield from (f"s:{sign}" for sign in draft.signs)
    yield f"src:{draft.source}"
    yield f"origin:{draft.turn.origin}"


def confidence(draft: Draft) -> float:
    """Return a draft's raw confidence, 0 to 1."""
    if draft.source in _SETTLED:
        named = bool(wording.tags(draft.content))
        return draft.strength.prior + 0.02 * named
    return climb(worth(draft))


def worth(draft: Draft) -> float:
    """Return the probability, 0 to 1, that a draft is worth a person's review."""
    chance = joint_probability("worth", words_and_pairs(draft.content), signs(draft), looks(draft))
    return lifted(draft, chance)


def lifted(draft: Draft, chance: float) -> float:
    """Return ``chance``, a draft's probability, raised if the draft is about an observed failure and its repair."""
    return max(chance, _STRUGGLE) if draft.source == "struggle" else chance


def climb(chance: float, queue: float = QUEUE) -> float:
    """Map a probability to a confidence by linear interpolation. From ``queue`` on, drafts are queued for review."""
    ladder = (*_BELOW, (queue, 0.70), *_ABOVE)
    for (low, bottom), (high, top) in pairwise(ladder):
        if chance <= high:
            return bottom + (top - bottom) * (chance - low) / (high - low)
    return ladder[-1][1]


def tokens(text: str) -> list[str]:
    """Return the words and punctuation marks of a text; every number becomes "#"."""
    found = _TOKEN.findall(text.lower().replace("\u2019", "'"))[:_MOST_TOKENS]
    return ["#" if token.isdigit() else token for token in found]


def words_and_pairs(text: str) -> Iterator[str]:
    """Yield the features of a text: words, pairs of neighbours, beginning, end and length."""
    found = tokens(text)
    yield from (f"w:{token}" for token in found)
    yield from (f"p:{left} {right}" for left, right in pairwise(found))
    yield f"first:{' '.join(found[:1])}"
    yield f"first2:{' '.join(found[:2])}"
    yield f"last:{' '.join(found[-1:])}"
    yield f"size:{min(int(math.log2(len(found) + 1)), 7)}"
    if "\n" in text.strip():
        yield "lines"
    if "http" in text:
        yield "link"
    if re.search(r"\w_\w|[a-z][A-Z]|\w\.\w|/\w", text):
        yield "code"


def probability(model: str, features: Sequence[str] | Iterator[str]) -> float:
    """Return a model's probability, 0 to 1, for some features."""
    weights, bias = load_model(PACKAGE, model)
    return logistic(scaled_sum(weights, hashed(features, SIZE)) + bias)


def joint_probability(model: str, words: Iterable[str], signs: Iterable[str], numbers: Sequence[float]) -> float:
    """Return a model's probability, 0 to 1, for words, signs and numbers, which have separate weights."""
    return jointly(*load_model(PACKAGE, model), words, signs, numbers)


def jointly(
    weights: numpy.ndarray, bias: float, words: Iterable[str], signs: Iterable[str], numbers: Sequence[float]
) -> float:
    """Return the probability, 0 to 1, of words, signs and numbers with the given weights."""
    said, shown = weights[:WORDS], weights[WORDS : WORDS + SIGNS]
    score = scaled_sum(said, hashed(words, WORDS)) + SIGNS_COUNT * scaled_sum(shown, hashed(signs, SIGNS))
    return logistic(score + float(weights[WORDS + SIGNS :] @ numbers) + bias)


_WORDS = {
    "because": r"\b(?:because|since|due to|caused by|root cause|as a result|leads? to|results? in|which (?:means|causes|is why)|so that|therefore|hence)\b",
    "instead": r"\b(?:instead of|rather than|in favou?r of|over)\b",
    "but": r"\b(?:but|however|although|though|even (?:if|though)|despite|while)\b",
    "so": r", so\b",
    "when": r"\b(?:when|if|whenever|unless|until|once)\b",
    "fails": r"\b(?:fail(?:s|ed|ing)?|breaks?|broken|crash\w*|error\w*|panic\w*|bug)\b",
    "silently": r"\b(?:silent(?:ly)?|never|always|only|must|cannot|can\'t|won\'t|doesn\'t|does not|not)\b",
    "not": r"\b(?:not|never|n't|cannot|no longer)\b|n't\b",
    "currently": r"\bcurrent(?:ly)?\b",
    "now": r"\bnow\b",
    "hedge": r"\b(?:likely|probably|might|may|maybe|perhaps|possibly|seems?|appears?|must have|should|could|would)\b",
    "should": r"\b(?:should|needs? to|need|necessary|will)\b",
    "test": r"\btests?\b|\btest[._]",
    "tests_n": r"\b\d+ (?:\w+ )?tests?\b",
    "pr": r"\bPRs?\b|#\d+|\breview\w*|\bcomments?\b|\bbugbot\b|\bcopilot\b",
    "conflict": r"\bconflict\w*|\bmerge\w*|\bHEAD\b",
    "line": r":\d+|\blines? \d+",
    "import": r"\bimports?\b",
    "is": r"\b(?:is|are|was|were|has|have|does|uses?|returns?|contains?|handles|runs|means|requires?)\b",
    "past": r"\b\w+ed\b",
    "this": r"\b(?:this|that|these|those|it|they)\b",
    "we": r"\b(?:we|our|us|I|my|you|your)\b",
    "user": r"\busers?\b",
    "colonend": r"[a-z]:;|:\Z|: ?;",
    "enum": r"\b(?:two|three|four|several|following|these|below)\b[^.]{0,40}:",
    "semi": r";",
    "dash": r" [—–-] ",
    "arrow": r"→|->|=>",
    "paren": r"\(",
    "parenfile": r"\([\w./, -]+\.\w{1,5}\)\Z",
    "quote": r"[\"“]",
    "q": r"\?",
    "tick": r"`[^`]+`",
    "file": r"\b[\w-]+\.(?:go|ts|tsx|py|md|json|sh|ya?ml|js)\b",
    "flag": r"(?<!\w)--?[a-z][\w-]+",
    "num": r"\b\d+\b",
    "decision": r"\b(?:decid\w+|decision|chose|choice|prefer\w*|trade-?off|approach|design)\b",
    "example": r"\b(?:e\.g\.|for example|such as|like)\b",
    "ensure": r"\b(?:ensur\w+|prevent\w*|avoid\w*|allow\w*|guarantee\w*|to keep|so)\b",
    "fix": r"\b(?:fix(?:ed|es)?|solution|workaround|resolved?|solved)\b",
    "exists": r"\b(?:already|exist\w*|still|yet|pre-existing)\b",
    "done": r"\b(?:done|complete\w*|success\w*|verified|confirmed|pass(?:es|ed)?|clean|pushed|committed)\b",
    "option": r"\boption\b|\balternativ\w+",
}
"""Patterns for types of words, matched without regard to case."""

_CASED = {
    "todo": r"\b(?:TODO|next|later|follow-up|remaining|plan(?:ned)?)\b",
    "edit0": r"\A\W*(?:Added?|Updated?|Removed?|Replaced?|Changed?|Renamed?|Moved?|Imported?|Created?|Fixed|Modified|Modify|Deleted?|Extracted?|Refactor\w*|Implemented?|Wrapped|Insert\w*)\b",
    "edit1": r": (?:Added?|Updated?|Removed?|Replaced?|Changed?|Renamed?|Moved?|Imported?|Created?|Fixed|Modified|Modify|Deleted?|Extracted?|Refactor\w*|Implemented?|Wrapped|Insert\w*)\b",
    "css": r"\b(?:className|text-\w+|button|icon|badge|color|CSS|page|tab|modal|UI)\b",
    "func": r"\b\w+\(\)|[a-z][A-Z]\w+",
    "sha": r"\b[0-9a-f]{7,40}\b",
}
"""Patterns for types of words that depend on case."""

_SORTS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _WORDS.items()} | {
    name: re.compile(pattern) for name, pattern in _CASED.items()
}
_HEAD = re.compile(r"\A[^.;`]{8,110}?: (?=\S)")
_QUOTED = re.compile(r"`[^`]+`")
_SENTENCE = re.compile(r"[.!?](?:\s|\Z)")
_ENDED = re.compile(r"[.!)]\Z")
_SOURCES = (
    "commit,commit point,convention,finding,mended,plan,point,practice,published,reply,resolved,sentence,struggle"
).split(",")
"""The sources of drafts that the model weighs."""

_CUTS = ("point", "sentence", "finding", "plan")
_SIGNS = (
    "place:plan,place:last,place:amid,heading,lead,cause,guess,did,will,is,first person,pointing,explains,alone,"
    "cause and is,edit alone,doubt:skipped,doubt:passing,doubt:trifle,doubt:speaker,doubt:wants,told,"
    "edits:0,edits:1,edits:2,edits:3,states:0,states:1,states:2,states:3,points:0,points:1,points:2,points:3"
).split(",")
_MOST = 4
"""Counts of words of one type are limited to this value."""

_SHORT = 200
"""The minimum length in characters that is used for the logarithm of a draft's length."""


def looks(draft: Draft) -> list[float]:
    """Return the numeric features of a draft, scaled to about one; the first is the logarithm of the draft's length."""
    said = draft.content[:LONGEST]
    head = _HEAD.match(said)
    body = said[head.end() :] if head else said
    counts = {name: min(len(pattern.findall(body)), _MOST) for name, pattern in _SORTS.items()}
    shape = _shape(said, body)
    joined = _joined(counts, body)
    alike = {"cause": joined[0], "edit": joined[2], "short": shape[2], "long": shape[4], "now": counts["currently"] > 0}
    return [
        math.log(max(len(said), _SHORT)),
        *shape,
        *(float(value) for count in counts.values() for value in (count > 0, count / 2)),
        *joined,
        *_origin(draft, {**alike, "headed": bool(head)}, joined[0]),
    ]


def _shape(said: str, body: str) -> list[float]:
    many = max(len(said), 1)
    return [
        many / 200,
        (many / 200) ** 2,
        float(many < 120),
        float(120 <= many < 200),
        float(many >= 350),
        len(body) / 200,
        float(len(body) < len(said)),
        (len(said) - len(body)) / 100,
        sum(map(len, _QUOTED.findall(said))) / many,
        min(len(_SENTENCE.findall(said)), 5) / 2,
        float(bool(_ENDED.search(said))),
        min(said.count("; "), 6) / 2,
        float(body[:1].islower()),
        float(body[:1] == "`"),
        float(leans(body)),
        float(leans(said)),
        5 * sum(sign.isupper() for sign in said) / many,
        min(len(said) / max(len(said.split()), 1) / 6, 5.0),
        sum(sign.isalpha() for sign in said) / many,
        min(len(wording.tags(said)), 6) / 3,
    ]


def _joined(counts: Mapping[str, int], body: str) -> list[float]:
    """Return features that combine two types of words: an edit with or without a reason, a failure with its cause."""
    causes = len(CAUSE.findall(body))
    edits = bool(counts["edit0"] or counts["edit1"])
    return [
        float(causes > 0),
        min(causes, 4) / 2,
        float(edits and not causes),
        float(edits and causes > 0),
        float(bool(counts["because"] and counts["is"])),
        float(bool(counts["because"] and counts["fails"])),
    ]


def _origin(draft: Draft, alike: Mapping[str, float], cause: float) -> list[float]:
    decides = draft.kind == "decision"
    return [
        float(decides),
        float(decides and cause),
        *(float(draft.source == source) for source in _SOURCES),
        *(float(draft.source == source and bool(value)) for source in _CUTS for value in alike.values()),
        *(float(sign in draft.signs) for sign in _SIGNS),
        float(draft.turn.origin.name == "USER"),
    ]
