"""Adds the branch's name to statements that are for one branch, such as "on this branch no migrations"."""

from __future__ import annotations

import re

from subconscious.text.function_words import FUNCTION_WORDS
from subconscious.text.vocabulary import IMPERATIVES
from subconscious.text.wording import content_words

_ONLY = r"(?:just|only|alone|nur|solo|s[o\u00f3]lo|s[o\u00f3]|seulement)"
_HERE = (
    r"(?:(?:for|on|in) this (?:feature )?branch"
    r"|(?:f\u00fcr|auf|in) diese[mnrs] (?:feature[- ]?)?(?:branch|zweig)"
    r"|(?:pour|sur|dans) (?:cette|ce) branche?"
    r"|(?:(?:para|en) est[ae]|nest[ae]) (?:rama|ramo|branch)"
    r"|(?:per|su|in) quest[oa] (?:ramo|branch))(?![\w'\u2019])"
)
"""Words that limit a statement to the branch on which it is made."""

_NEGATION = (
    r"(?:don['\u2019]?t|do not|never|no|nie|niemals|nicht|kein\w{0,2}|ne|n['\u2019]|pas|jamais|nunca|n[a\u00e3]o|non"
    r"|mai)"
)
_FIRST = re.compile(
    rf"\s{{0,3}}(?:{_ONLY} (?=(?:for|f\u00fcr|pour|para|per)\b))?{_HERE}(?: {_ONLY}(?= ?[,:]| {_NEGATION}\b))?"
    r"[,:]? {1,3}"
    rf"(?!(?:and|or|of|too|also|as well|{_ONLY}|und|oder|auch|des|vo[nm]|et|ou|aussi|du|de|del|d[ao]|y|e|o"
    r"|tambi[e\u00e9]n|tamb[e\u00e9]m|anche)\b)",
    re.IGNORECASE,
)
"""``_HERE`` at the beginning. "Only" after it may belong to what follows: "on this branch only run unit tests"."""

_LAST = re.compile(
    rf"\s{_HERE}(?: {_ONLY}\b)?"
    r"(?= ?(?:[.!]{0,3}\s{0,3}\Z|[,;(]|[-\u2013\u2014] |(?:because|since|weil|car|porque)\b))",
    re.IGNORECASE,
)
"""``_HERE`` at the end of a statement, or directly before its reason."""

_ELSEWHERE = re.compile(
    r"\b(?:branch\w{0,2}|zweige?n?|ramas?|ramos?|(?:main|master|trunk|develop)(?!/|\.\w)|else|elsewhere|everywhere|anywhere"
    r"|otherwise|others|rest|but|whereas|unlike|usually|normally|generally|general|sonst|\u00fcberall|anderswo|anderen"
    r"|aber|sondern|normalerweise|ailleurs|partout|sinon|autres|mais|normalement|resto|dem[a\u00e1]s|otr[oa]s|pero|sino"
    r"|normalmente|outr[oa]s|mas|altrove|ovunque|altri|ma)\b",
    re.IGNORECASE,
)
"""Words that mention other branches or the usual case, or begin a contrast ("but")."""

_SEVERAL_PARTS = re.compile(
    rf"[,;:()\u2013\u2014]| - |\b(?:{_ONLY}|and|or|so|because|since|if|when|where|until|unless|that|which|who|what|than"
    r"|then|except|besides|apart|und|oder|denn|weil|wenn|dass|was|wo|bis|falls|au(?:\u00df|ss)er|et|ou|car|si|quand|que"
    r"|qui|sauf|hormis|uniquement|y|e|o|porque|cuando|donde|salvo|excepto|menos|se|quando|onde|exceto|fora|sen\u00e3o"
    r"|somente|apenas|che)\b",
    re.IGNORECASE,
)
"""Signs that "on this branch" at the end may apply only to a part of the statement, or be an exception."""

_NO_END = re.compile(
    r"(?:(?:not|even|also|save|auch|nicht|pas|no|n[a\u00e3]o|fuera|made|done|work|rely|depend|like)|\w+ed)",
    re.IGNORECASE,
)
"""Words that "on this branch" may belong to, as an exception or otherwise: "the files added on this branch"."""

_MORE = re.compile(
    rf"\b(?:{_NEGATION}|always|must|should|{_ONLY}|immer|siempre|sempre|toujours|and|und|et|y|e|on|in|for|at|auf|im|f\u00fcr"
    r"|bei|sur|dans|pour|en|para|em|na|nas|nos|per|su)\b",
    re.IGNORECASE,
)
"""Words after "on this branch" that may begin a second statement or name another place."""

_NAME = re.compile(r"[\w.+#/-]{1,100}")
_SCOPED = re.compile(r"On the branch (?P<name>[\w.+#/-]{1,100}): ")

_FEWEST_WORDS = 2
"""The minimum number of content words in a statement without "on this branch"."""


def without_scope(text: str) -> str:
    """Return a statement without "on this branch"; "" if it has no such words, or they may apply to a part only."""
    rest = _after_scope(text) or _before_scope(text)
    certain = not _ELSEWHERE.search(rest) and len(content_words(rest)) >= _FEWEST_WORDS
    return rest if certain else ""


def _after_scope(text: str) -> str:
    """Return what follows "on this branch" at the beginning of a text; "" if the text does not begin so."""
    found = _FIRST.match(text)
    return text[found.end() :] if found else ""


def _before_scope(text: str) -> str:
    """Return a statement without "on this branch" at its end or before its reason; "" if it has no such words there."""
    found = _LAST.search(text)
    if found is None:
        return ""
    head, tail = text[: found.start()], text[found.end() :]
    last = head.rpartition(" ")[2].casefold()
    is_end = bool(content_words(last)) and last not in FUNCTION_WORDS and not _NO_END.fullmatch(last)
    if not is_end or _SEVERAL_PARTS.search(head) or _adds_a_rule(tail):
        return ""
    return f"{head}{tail}"


def _adds_a_rule(tail: str) -> bool:
    """Whether ``tail``, the text after "on this branch", may contain more than a reason."""
    first = re.search(r"\w+", tail)
    return bool(_MORE.search(tail)) or (first is not None and first[0].casefold() in IMPERATIVES)


def scoped(text: str, branch: str) -> str:
    """Return a statement with its branch at the beginning: "On the branch perf: no migrations"."""
    return f"On the branch {branch}: {text}"


def is_name(branch: str) -> bool:
    """Whether a branch's name has only characters that are safe in a sentence, and is not too long."""
    return bool(_NAME.fullmatch(branch))


def branch_of(content: str) -> str:
    """Return the branch named at the beginning of a statement (see ``scoped``); "" if there is none."""
    found = _SCOPED.match(content)
    return found["name"] if found else ""


def have_same_scope(one: str, other: str) -> bool:
    """Whether two statements are for the same branch, or both for all branches."""
    return branch_of(one) == branch_of(other)
