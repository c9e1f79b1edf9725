"""Selects the sentences and list items of a passage that state facts and reasons.

Replies to a reviewer, remarks that matter only while the session runs, and sentences that make no sense without an
unselected sentence are not selected. A passage without a selected sentence does not become a candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from subconscious.capture.narration import is_narration, sentence_spans
from subconscious.text.wording import content_words

CAUSE = re.compile(
    r"\b(?:root cause|(?:the|a) (?:real |actual |main |critical )?(?:problem|issue|bug|cause|reason|culprit)\b|because|caused by|due to|so that|"
    r"instead of|rather than|requires?|must|never|always|only|otherwise|without|fails?|breaks?|conflict\w*)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:your question|you asked|you(?:'re| are) (?:absolutely )?right|worth (?:considering|thinking|a comment)|not blocking|consider adding|"
    r"comments? addressed|all conflicts|conflicts resolved|HEAD's|keep(?:s|ing)? HEAD|kept HEAD|draft PR|i think|great question|non-blocking|"
    r"as expected|this session|pre-existing (?:\w+ )?changes|unrelated changes|my (?:changes?|fix|test|new code|edit)|false positive|bugbot|"
    r"copilot comments?|reviewers?|looks (?:great|good)|option \d|let me|re-read|minor suggestions?|no critical|tests? updated|lint clean|"
    r"(?:we|you) could|tests should|test cases|snapshot|what we should|same fix for|consider(?:ing)?|i fixed|i added|"
    r"(?:resolved|resolving) the conflict|merged origin|no (?:merge )?conflicts?|compiles clean|something like|the changes needed|i'd recommend|"
    r"good question|looking at|replied to|already fixed|out of sync|workarounds|tests pass|we should add|the issues are|great point|i agree|"
    r"build failed|expected outcome|quick fix|uncommitted|left untouched|your branch)\b"
    r"|\bTest[A-Z_]\w++[^\n]*\bTest[A-Z_]\w",
    re.IGNORECASE,
)
"""Remarks that matter only while the session runs: replies, reviewers' advice, merge conflicts, lists of tests."""

_MOMENT = re.compile(
    r"\b(?:the user (?:wants?|asked|asks|confirmed|requested|chose)|(?:valid|fair|good) points?|point is valid|(?:not a|no) blockers?|"
    r"for this PR|PR (?:title|description)|if you(?:'d like| want| think| prefer)|i (?:can|could) (?:add|also|do|now)|next time|"
    r"(?:the|this) change is clean|nice to have|low priority|minor inefficiency|(?:is|are) already (?:imported|available)|"
    r"i would|i'd|i've|i(?: just| actually| also)? (?:do )?(?:need|have to)|i understand|i can see|i see|you can now|"
    r"should (?:now )?(?:be gone|work|pass)|needs? (?:to be |an? )?(?:updat|chang|remov|fix)\w+|commits? (?:succeeded|ahead|behind)|"
    r"push when|(?:hooks?|lint|checks?|[\d,]+) (?:all )?pass(?:ed)?|all (?:green|pass(?:ed|ing)?|clean)|working tree is clean|"
    r"git status shows|you(?:'re| are) (?:interpreting|seeing)|you might be|comment repl(?:y|ies)|ready (?:for|to)|"
    r"(?:in|into) (?:that|one) commit|(?:try|start) (?:starting|running|a new)|as part of this)\b",
    re.IGNORECASE,
)
"""Remarks to the user of the session, or about the request. No later reader needs them."""

_LEANING = re.compile(
    r"\W*(?:it|this|that|they|these|those|he|she|both|same|here|there|the (?:same|latter|former|above|following|other)|so|this way|"
    r"otherwise|then|also|but|and|in (?:that|this) case|the (?:fix|change|changes|issue|problem)(?= (?:is|was|are|applies)\b))\b",
    re.IGNORECASE,
)
_TEST = re.compile(r"[\W_]*+(?:Added [\W_]*+)?Test[A-Z_]\w+")
_FRAGMENT = re.compile(r"[a-z]+ ")
_CLICK = re.compile(r"[\W_]*(?:\d+\. )?(?:Click|Select|Choose|Go to|Scroll|Fill in|Note the)\b")
_OF_TESTS = re.compile(r"\b\d+ (?:new )?tests?\b|\btest coverage\b|[._]test\.\w+`? [-—]")
_OF_A_REVIEW = re.compile(r"\bPRs?(?: ?#\d+)?\b|(?<!\w)#\d{2,}\b")
_LOOKS = re.compile(
    r"\btext-(?:xs|sm|base|lg)\b|\bclassName\b|\b(?:bg|max-w|px|py|btn|font|border)-\w+|\bchevron\b|\bhover\b"
)
"""Descriptions of styles, which the source shows and which change often."""

_NUMBER = re.compile(r"[ \t]*\d{1,2}[.)][ \t]+")
_LINE = re.compile(r"\n+")

_VAGUE = frozenset(  # one text, because a list with one word per line would be long
    """
    addressed after all already applied approach artifacts assessment assistant assumptions background before behavior
    behaviour benefits bottom bug bugs cause change changed changes clean clear committed complete completed concern
    concerns conclusion concrete confirmed context correct correctly created current currently decision decisions design
    detail details differences done error errors example existing expected explanation fair fields file files final
    first fix fixed fixes flow following found four goal good great here high-level how i i've identified implementation
    implementing implemented important improvements insight instructions issue issues items key level line lines location
    made main minor modified new note notes now observations one only other output overview part parts per phase plan
    point points pr problem problems proposed purpose quick reason reasons recommendation redundant remaining required
    requirement requirements response result results review root same scope second session set setup simple
    simplifications situation small solution specific specifically steps still straightforward structure succeeded
    success summary task tasks test tests things three two types update updated updates user valid verdict verified was
    way what's whole work working works yes you're
    """.split()
)
"""Words that name nothing: a heading made of such words tells a later reader nothing."""


def is_vague(name: str) -> bool:
    """Whether a heading or an introductory line names nothing specific."""
    return all(word.lower().strip("'") in _VAGUE for word in content_words(name))


def units(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of sentences and list items between two offsets."""
    at = start
    for gap in (*_LINE.finditer(text, start, end), None):
        stop = gap.start() if gap else end
        number = _NUMBER.match(text, at, stop)
        first = number.end() if number else at  # the "3." of a list is not a sentence
        yield from sentence_spans(text, first, stop)
        at = gap.end() if gap else end


def kernel(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the sentences and list items of a passage that are worth keeping, in order."""
    found = list(units(text, start, end))
    said = [text[slice(*place)] for place in found]
    wanted = [not (is_narration(one) or is_passing(one) or is_broken(one) or is_trifle(one)) for one in said]
    return [place for at, place in enumerate(found) if wanted[at] and not _orphan(said, wanted, at)]


def is_passing(said: str) -> bool:
    """Whether a sentence, heading or introductory line matters only while the session runs."""
    return bool(_PASSING.search(said) or _MOMENT.search(said))


def is_broken(said: str) -> bool:
    """Whether a sentence is a fragment or a line of a list of tests."""
    return said.count("`") % 2 == 1 or bool(_TEST.match(said) or _FRAGMENT.match(said))


def is_trifle(said: str) -> bool:
    """Whether a sentence is about tests, a review, clicks or styles."""
    return bool(_CLICK.match(said) or _OF_TESTS.search(said) or _OF_A_REVIEW.search(said) or _LOOKS.search(said))


def leans(said: str) -> bool:
    """Whether a sentence begins with a reference to the sentence before it."""
    return bool(_LEANING.match(said))


def _orphan(said: Sequence[str], wanted: Sequence[bool], at: int) -> bool:
    """Whether a sentence depends on the one before or introduces the one after, and that sentence is left out."""
    if said[at].rstrip(" *_").endswith(":"):
        return at + 1 == len(said) or not wanted[at + 1]
    return at > 0 and leans(said[at]) and not wanted[at - 1]
