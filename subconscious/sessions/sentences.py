"""Splits answers into sentences, and recognises those that are clear later, without the sentences around them."""

from __future__ import annotations

import re

from subconscious.text import unspaced

SENTENCE = re.compile(
    r"(?<=[.!?])[\"')\]]*\s+|\n+"
    r"|(?<=[\u3002\uff01\uff1f])(?![\u300d\u300f\u201d\u2019\uff09])"
)
MARKUP = re.compile(r"^[#>*\-\s]+|\*\*|__|`{3}\w*|^\d+[.)]\s+", re.MULTILINE)

FEWEST_WORDS = 5
"""The minimum number of words, not counting code, of a sentence that is clear by itself."""

FEWEST_LETTERS = 12
"""The minimum number of letters instead, for languages without spaces between words."""

_LEANS = re.compile(
    r"\W*(?:(?:this|that|these|those|it|they|both(?! `)|he|she|here|there|so|but|and|also|then|thus|otherwise"
    r"|instead|however|likewise|similarly|same|again|only|either|neither|another|others?|used"
    r"|the (?:latter|former|other|rest|same|above|following|fix|change|problem|issue|test|error))\b"
    r"|(?:lines?|steps?|phases?|cases?|options?|items?|points?|bugs?|fix(?:es)?|changes?|tests?|[a-z]) ?\(?\d+\b"
    r"|[a-z0-9][.)] |all (?:\d+|of|three|four|five|these|those)\b|[a-z]+ (?:sees|does|gets)\b"
    r"|(?:adds|allows|calls|checks|contains|creates|ensures|falls|gives|handles|includes|keeps|loads|makes|parses|points"
    r"|prevents|prints|reads|removes|replaces|returns|runs|sets|shows|skips|stores|supports|takes|tracks|updates|uses"
    r"|validates|verifies|writes)\b(?! (?:and|are|for|from|have|in|of|that|to|were)\b)"
    r"|`[^`]{1,80}`: (?:same|[a-z]{3,12}ing)\b"
    r"|(?-i:[A-Z])[a-z]{2,}s (?=`|(?:an?|the|that|if|when|whether|all|each|its|to|no|any|new|both)\b))",
    re.IGNORECASE,
)
"""Beginnings of sentences that depend on the sentence before: references, numbers, or no subject."""

_TESTS = re.compile(
    r"[^\w`]*(?:`?(?:(?-i:Test[A-Z_])\w*|test_\w+)\b"
    r"|(?:added|created|extended|updated|wrote) (?:[a-z\d]+ ){0,3}tests?\b|\d+ (?:new )?tests?\b)",
    re.IGNORECASE,
)
"""Beginnings of sentences about tests, which later sessions can read in the tests themselves."""

_CODE = re.compile(r"`[^`]{0,200}`|\([^()]{0,200}\)")

_LINE = re.compile(r"\.\w{1,5}:\d+\b|\blines? ~?\d|\b\d+ lines\)", re.IGNORECASE)
"""Line numbers, which the next edit changes."""

_NUMBERS = r"~?\d+(?:(?: ?[-\u2013,&] ?| and )~?\d+)*"
_AFTER_FILE = re.compile(rf"(\.[A-Za-z]\w{{0,4}}):{_NUMBERS}")
_IN_BRACKETS = re.compile(rf" \((?:(?:at|on|in) )?lines? {_NUMBERS}\)", re.IGNORECASE)
_BEFORE_FILE = re.compile(
    rf"(?<= )(?:at|on|in) lines? {_NUMBERS} (?:of|in)(?= )|(?<=\()lines? {_NUMBERS} in(?= )", re.IGNORECASE
)
"""Line numbers that can be removed from a sentence without breaking it."""


def without_lines(sentence: str) -> str:
    """Return a sentence without references to lines, such as the ":42" of "x.py:42" or "(line 42)".

    The next edit changes the numbers.
    """
    return _BEFORE_FILE.sub("in", _IN_BRACKETS.sub("", _AFTER_FILE.sub(r"\1", sentence)))


def stands_alone(sentence: str) -> bool:
    """Whether a sentence of an answer can be understood without the sentences around it."""
    plain = _CODE.sub(" ", sentence)
    words = re.findall(r"[^\W\d_]{2,}", plain)
    long = len(words) >= FEWEST_WORDS or unspaced.number_of_letters(plain) >= FEWEST_LETTERS
    whole = long and not sentence.endswith("\u2026")
    return whole and not _LEANS.match(sentence) and not _LINE.search(sentence)


def is_about_tests(sentence: str) -> bool:
    """Whether a sentence only lists tests or says that some were written."""
    return bool(_TESTS.match(sentence))
