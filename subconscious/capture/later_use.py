"""Decides whether a finding is useful to a later session, and rewords it for readers who did not see the session.

Most findings that raters rejected describe how a page looks, judge a single change, or list steps. Findings are easier
to understand without the headings and numbers of the text that they come from.
"""

from __future__ import annotations

import re

from subconscious.capture.kernel import is_vague
from subconscious.capture.lasting import MOST_LEADS, MOST_POINTS, without_added_names, without_lines
from subconscious.domain.model import Candidate
from subconscious.text.wording import content_words

MOST_FILES = 4
"""The maximum number of changed files that are listed after a finding."""

MOST_EDITS = 2
"""The maximum number of semicolons in a report of edits: a report with more is a list of notes."""

FEWEST_OF_LOOKS = 2
"""A finding with at least this many different words for parts of a page describes the look of the page."""

_STYLES = re.compile(
    r"\b(?:text-(?:xs|sm|base|lg|xl|white|[a-z]+-\d+)|(?:bg|max-w|min-w|px|py|mt|mb|gap|btn|font|border|rounded|hover|flex|grid)-[\w/]+"
    r"|className|styles?\.css)\b"
)
"""Names of styles, which the style sheet explains."""

_LOOKS = re.compile(
    r"\b(?:padding|margins?|widths?|widened|colou?rs?|icons?|badges?|banners?|buttons?|modals?|tooltips?|fonts?|styl(?:es?|ed|ing)|bold"
    r"|gradients?|hover|tabs|indicators?|rounded|layout|labels)\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"\bit's fine\b|\bno issues?\b|\bno (?:\w+ ){0,4}(?:changes?|action) (?:is |are )?needed\b|\blooks? (?:good|fine|correct)\b"
    r"|\bis (?:correct|legitimate|appropriate|cleaner)\b|\bare legitimate\b|\bminor (?:nits?|cleanup)\b|\bis straightforward\b"
    r"|\bminimal change\b|\bchange needed\b|\bthe fix (?:is|works|removes|ensures)\b|\bwith this fix\b|\bworks as expected\b"
    r"|\b\d+ lines of\b",
    re.IGNORECASE,
)
"""Words that judge a change, such as "looks good"."""

_STATE_OF_WORK = re.compile(
    r"\blooks like\b|\bbranch (?:has|had|have)\b|\bmain`? (?:side|added|has)\b|\bcompil(?:er?|ation) errors?\b|\bnew file:"
    r"|\bnew (?:section|subsection|sub-component)\b|\breported success\b|\bstash(?:es|ed)?\b"
    r"|\b(?:the|this)(?: \w+)? diff (?:includes|shows|contains)\b|\bworking tree\b"
    r"|\b(?:the|this) (?:commit|push|build|pipeline|run) (?:failed|succeeded|was (?:blocked|rejected|aborted))\b"
    r"|\b(?:the|all|\d+) (?:\w+ )?failures? (?:is|are|was|were) all\b|\bpre-existing (?:\w+ )?(?:failures?|errors?)\b"
    r"|\bnot (?:related to|caused by) (?:the|this) change\b|\bsomeone else's\b|\bno need to worry\b"
    r"|\bneeds? to be cleaned up\b|\b(?:is|are)(?:n't| not) (?:[\w-]+ ){0,6}yet\b",
    re.IGNORECASE,
)
"""Words about the state of the work: branches, new files, compilation, failures, remaining work."""

_NOUN = (
    r"(?:value|check|change|code|logic|function|method|field|flag|result|output|condition|error|failure|loop|parameter|variable"
    r"|argument|block|file|class|struct|helper|handler|feature|section|step|approach|solution|pattern|fallback|case|command"
    r"|script|component|module|option|setting|query|response|string|default|comment|(?:integration |unit )?test)s?"
)
_UNNAMED = re.compile(
    rf"\W*(?:the (?:new |old |current |other |whole |actual |correct |right |empty )?{_NOUN}"
    r" (?:is|are|was|were|isn't|aren't|has|have|does|do|can|will|would|now|only|just|also|already|comes?|gets?|uses?|takes?"
    r"|returns?|verif(?:y|ies)|checks?|runs?|shows?|adds?|contains?|works?|fails?)\b(?! that\b))",
    re.IGNORECASE,
)
"""Beginnings that name the subject only by a general noun: "The value is set before ..."."""

_CUT_LEAD = re.compile(r"\b(?:that|which|who|it|they|to|this|these)\s*: +(?=[`A-Z])")
"""An introduction that breaks off before its colon, as in "it fails because it: The file ..."."""

FEWEST_NAMES = 2
"""With at least this many names in backticks, a statement is clear even if it begins with a general noun."""

_QUOTED = re.compile(r"`[^`]+`")
_CODE = re.compile(r"`[^`]*`|\([^()]*\)|(?<!\S)[^\s_./\\]*+[_./\\]\S*+")
_PROSE = re.compile(r"[^\W\d_]{2,}")

FEWEST_POINTS, FEWEST_OF_A_POINT = 3, 5
"""The minimum number of points in a list, and of words in a point that states something (names are not counted)."""

_COURSE = re.compile(r"\b(?:when(?:ever)?|while|during|after|before|because|since|until|unless)\b", re.IGNORECASE)
"""Words for when or why something happens."""

_OPENING = re.compile(
    r"\W{0,4}(?:(?:yeah|yes|yep|exactly(?: right)?|right|good (?:catch|point|question)|short answer|in short|found (?:it|the (?:bug|issue|problem|cause))"
    r"|confirmed|done|fixed|perfect|great)\s*(?:,|[.!:\u2014\u2013-]))+\s*",
    re.IGNORECASE,
)
"""Beginnings of an answer that address the person who asked."""

_NUMBER = re.compile(
    r"(?:[a-h]|\d{1,2})[.)]\s+|(?:steps?|phases?|bugs?|issues?|problems?|tasks?|fix|parts?) ?#?\d+(?:-\d+)?\s*[:\u2014\u2013-]+\s*",
    re.IGNORECASE,
)
"""The number of a point in its list."""

_LEAD = re.compile(r"(?P<name>[^:.;`\n]{1,60}): +(?=\S)")
_VAGUE = re.compile(
    r"\b(?:finding|thoughts?|interpretation|answer|insights?|cleaned|cleanup|features?|causes|normal)\b", re.IGNORECASE
)
"""Further vague words in headings, in addition to those in ``kernel.py``."""

_FILES = re.compile(r" \((?P<names>[\w./-]+\.\w{1,8}(?:, [\w./-]+\.\w{1,8})*)\)\Z")


def of_no_later_use(candidate: Candidate, *, reports_edits: bool = False) -> str:
    """Return why a finding is useless to later sessions, such as "is cut short"; "" if it may be useful.

    If ``reports_edits`` is true, the finding may list several edits, because together they are one change.
    """
    said = without_added_names(candidate.content)
    if _is_of_looks(said):
        return "describes how a page looks"
    if _VERDICT.search(said):
        return "judges a change of its session"
    if _STATE_OF_WORK.search(said):
        return "reports the state of the work"
    if _CUT_LEAD.search(said):
        return "is cut short"
    if _UNNAMED.match(said) and len(_QUOTED.findall(said)) < FEWEST_NAMES:
        return "does not name its subject"
    return "is a list of notes" if _is_list(said, reports_edits=reports_edits) else ""


def _is_of_looks(said: str) -> bool:
    """Whether a text describes styles or parts of a page, without saying when or why something happens."""
    parts = {word.casefold() for word in _LOOKS.findall(said)}
    return bool(_STYLES.search(said)) or (len(parts) >= FEWEST_OF_LOOKS and not _COURSE.search(said))


def _is_list(said: str, *, reports_edits: bool) -> bool:
    """Whether a finding only lists many separate points. A list of successive events does not count."""
    if reports_edits:
        return said.count(";") > MOST_EDITS
    is_long = said.count(";") > MOST_POINTS or said.count(": ") > MOST_LEADS
    return (is_long or _lists_names(said)) and not _COURSE.search(said)


def _lists_names(said: str) -> bool:
    """Whether most points of a list consist of names and hardly any other words."""
    points = [point for point in re.split(r";|\n", said) if point.strip()]
    short = sum(len(_PROSE.findall(_CODE.sub(" ", point))) < FEWEST_OF_A_POINT for point in points)
    return len(points) >= FEWEST_POINTS and 2 * short > len(points)


def for_a_stranger(text: str) -> str:
    """Return a finding without vague headings, greetings, numbers of list items, and line numbers.

    Of the files listed at its end, only the first few are kept.
    """
    said = without_lines(text)
    while (rest := _without_opening(said)) != said:
        said = rest
    said = _with_few_files(said)
    return said[:1].upper() + said[1:] if said.split(" ", 1)[0].isalpha() and said != text else said


def _without_opening(text: str) -> str:
    for opening in (_OPENING, _NUMBER):
        if found := opening.match(text):
            return text[found.end() :] or text
    lead = _LEAD.match(text)
    vague = lead is not None and bool(content_words(lead["name"])) and is_vague(_VAGUE.sub("", lead["name"]))
    return text[lead.end() :] if lead and vague else text


def _with_few_files(text: str) -> str:
    """Return a finding with at most ``MOST_FILES`` of the files that are listed at its end, each once."""
    found = _FILES.search(text)
    if found is None:
        return text
    names = list(dict.fromkeys(found["names"].split(", ")))[:MOST_FILES]
    return f"{text[: found.start()]} ({', '.join(names)})"
