"""Names the branch in statements that are for one branch: "on this branch no migrations"."""

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
"""Such words at the beginning. "Only" after them may limit what follows: "on this branch only run unit tests"."""

_LAST = re.compile(
    rf"\s{_HERE}(?: {_ONLY}\b)?"
    r"(?= ?(?:[.!]{0,3}\s{0,3}\Z|[,;(]|[-\u2013\u2014] |(?:because|since|weil|car|porque)\b))",
    re.IGNORECASE,
)
"""Such words at the end of a statement, perhaps before its reason."""

_ELSEWHERE = re.compile(
    r"\b(?:branch\w{0,2}|zweige?n?|ramas?|ramos?|(?:main|master|trunk|develop)(?!/|\.\w)|else|elsewhere|everywhere|anywhere"
    r"|otherwise|others|rest|but|whereas|unlike|usually|normally|generally|general|sonst|\u00fcberall|anderswo|anderen"
    r"|aber|sondern|normalerweise|ailleurs|partout|sinon|autres|mais|normalement|resto|dem[a\u00e1]s|otr[oa]s|pero|sino"
    r"|normalmente|outr[oa]s|mas|altrove|ovunque|altri|ma)\b",
    re.IGNORECASE,
)
"""Words for other branches or the usual case, and those that begin a contrast."""

_SEVERAL_PARTS = re.compile(
    rf"[,;:()\u2013\u2014]| - |\b(?:{_ONLY}|and|or|so|because|since|if|when|where|until|unless|that|which|who|what|than"
    r"|then|except|besides|apart|und|oder|denn|weil|wenn|dass|was|wo|bis|falls|au(?:\u00df|ss)er|et|ou|car|si|quand|que"
    r"|qui|sauf|hormis|uniquement|y|e|o|porque|cuando|donde|salvo|excepto|menos|se|quando|onde|exceto|fora|sen\u00e3o"
    r"|somente|apenas|che)\b",
    re.IGNORECASE,
)
"""Signs that words at the end may limit only a part of what is before them, or that this is an exception."""

_NO_END = re.compile(
    r"(?:(?:not|even|also|save|auch|nicht|pas|no|n[a\u00e3]o|fuera|made|done|work|rely|depend|like)|\w+ed)",
    re.IGNORECASE,
)
"""Words after which "on this branch" is an exception, or what they refer to: "the files added on this branch"."""

_MORE = re.compile(
    rf"\b(?:{_NEGATION}|always|must|should|{_ONLY}|immer|siempre|sempre|toujours|and|und|et|y|e|on|in|for|at|auf|im|f\u00fcr"
    r"|bei|sur|dans|pour|en|para|em|na|nas|nos|per|su)\b",
    re.IGNORECASE,
)
"""Words after a statement for one branch with which a second one may begin, or which name another place."""

_NAME = re.compile(r"[\w.+#/-]{1,100}")
_SCOPED = re.compile(r"On the branch (?P<name>[\w.+#/-]{1,100}): ")

_FEWEST_WORDS = 2
"""The minimum number of words that carry meaning in the rest of a statement."""


def without_scope(text: str) -> str:
    """Return a statement for "this branch" without those words; "" if it is none, or not certainly as a whole."""
    rest = _after_scope(text) or _before_scope(text)
    certain = not _ELSEWHERE.search(rest) and len(content_words(rest)) >= _FEWEST_WORDS
    return rest if certain else ""


def _after_scope(text: str) -> str:
    """Return the statement after "on this branch", if a text begins with that; else ""."""
    found = _FIRST.match(text)
    return text[found.end() :] if found else ""


def _before_scope(text: str) -> str:
    """Return the statement that ends with "on this branch" with the reason after it; "" if there is none."""
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
    """Whether more than a reason may stand after the words at the end of a statement."""
    first = re.search(r"\w+", tail)
    return bool(_MORE.search(tail)) or (first is not None and first[0].casefold() in IMPERATIVES)


def scoped(text: str, branch: str) -> str:
    """Return a statement with the branch that it is for."""
    return f"On the branch {branch}: {text}"


def is_name(branch: str) -> bool:
    """Whether a branch's name can be part of a sentence."""
    return bool(_NAME.fullmatch(branch))


def branch_of(content: str) -> str:
    """Return the branch that a statement is for, if it begins with that; else ""."""
    found = _SCOPED.match(content)
    return found["name"] if found else ""


def have_same_scope(one: str, other: str) -> bool:
    """Whether two statements are for the same branch, or both for all branches."""
    return branch_of(one) == branch_of(other)
