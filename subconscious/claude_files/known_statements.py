"""Finds statements that a session already knows, by comparing a memory's sentences with sentences in loaded files."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from subconscious.text.contrasts import divided
from subconscious.text.folders import restricts
from subconscious.text.occasion import bare
from subconscious.text.same_statement import same_statement
from subconscious.text.statement import parse
from subconscious.text.stops import split

MOST_STATEMENTS = 5000
LONGEST = 600
"""The most characters of a statement; longer sentences are ignored, because they are rarely rules."""
SHARED = 0.5
"""The share (0 to 1) of a sentence's words that a known statement must contain to be compared with the sentence."""
MOST_COMPARED = 8
"""The number of known statements that are compared with a sentence in full: those with the most words in common."""
LENGTH_FACTOR = 2
"""A known statement matches a sentence of n content words only if it has at most LENGTH_FACTOR * (n + 1) such words."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_MARK = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)]|#{1,6}|>)[ \t]+(?:\[[ xX]\][ \t]+)?")
_OUTDATED = re.compile(
    r"(?:to-?do|fixme|deprecated|old|obsolete|outdated|rejected|veraltet|abgelehnt|obsol\u00e8te|obsoleto|antiguo|antigo)s?"
    r"\s*(?::|-\s|\u2013|\u2014)",
    re.IGNORECASE,
)
"""The beginning of a line about something that does not hold, or does not hold yet."""
_FORBIDDEN = re.compile(
    r"\b(?:never|don'?t'?s?|do not|not|avoid|forbidden|banned|no-?gos?|nie|niemals|nicht|verboten|vermeiden|jamais"
    r"|\u00e0 \u00e9viter|ne pas|interdit\w*|nunca|evitar|prohibid\w+|proibid\w+)\b",
    re.IGNORECASE,
)
"""Words in the headings of lists of what must not be done."""
LONGEST_TITLE = 5
"""The maximum number of words of a heading that forbids what is listed under it."""
_LIMITED = re.compile(
    r"(?:in|on|at|for|if|when|before|during|unless|until|inside|f\u00fcr|bei|im|wenn|vor|bis|pour|dans|si|en|para|no|na)\b",
    re.IGNORECASE,
)
"""The first word of a line that limits the items after it to a place or a situation: "For the mobile app:"."""
_EMPHASIS = re.compile(r"`|\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_END = re.compile(r"(?<=[.!?;])[\"')\]]{0,3}\s+")
_WORD = re.compile(r"\w{2,}")
_OPENING = re.compile(
    r"\A(?:(?:ok(?:ay)?|yes|so|also|please)[,:]?\s+)?"
    r"(?:we(?:'ve| have)?\s+(?:decided|agreed)(?:\s+(?:that|to|on))?"
    r"|from now on|(?:decision|rule|remember|note)(?:\s+that)?)"
    r"[:,]?\s+",
    re.IGNORECASE,
)
"""Introductions that are not part of a statement; files usually omit them."""

_REASON = re.compile(r"[\s,;(-]{1,4}(?:because|due to|weil|parce que|porque)\b[^.;:,\u2013\u2014]*", re.IGNORECASE)
_DEMAND = re.compile(
    r"\b(?:(?:must|should|do)(?:n['\u2019]?t| not)|must|should|shall|never|ask|asks|always|only"
    r"|needs? to|has to|have to|m\u00fcss(?:en|t)|musst?|darf|d\u00fcrfen|soll|sollen|nie|niemals"
    r"|frag|frage|fragt|fragen|immer|nur|nicht|keine?[nmrs]?"
    r"|doit|doivent|faut|jamais|demande|demandez|demander|toujours|seulement|uniquement|pas"
    r"|debe|debes|deben|hay que|tiene que|nunca|jam\u00e1s|pregunta|preguntar|siempre|s\u00f3lo|solo|solamente|no"
    r"|deve|devem|tem que|pergunte|perguntar|sempre|s\u00f3|somente|apenas|n\u00e3o"
    r"|until|till|bis|jusqu\w+|hasta|at\u00e9)\b|\d",
    re.IGNORECASE,
)
"""Words that demand, limit or end something, and numbers: a clause with one of them states more than a reason."""
_REJECTED = re.compile(
    r"\b(?:over|instead of|rather than|as opposed to"
    r"|statt|anstatt|anstelle|nicht|keine?[nmrs]?|nie|niemals|pas|jamais|au lieu"
    r"|plut\u00f4t que|en vez|en lugar|nunca|jam\u00e1s|em vez|ao inv\u00e9s|n\u00e3o|invece di|mai"
    r"|in plaats van|niet|nooit|geen)\b",
    re.IGNORECASE,
)
"""Words before what a sentence rejects, which the comparison of statements does not take for a negation."""
_NARROWING = frozenset("in on at for if when before after during unless until inside".split())
"""Roles of words that limit a known statement to a place, an occasion or a condition."""

OWN_WORDS = 3
"""The fewest words of weight with which a reply is compared without its question: "always in UTC" depends on it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a file. ``loaded``: every session loads the file at its start, not only on request."""

    text: str
    source: str
    loaded: bool = True


class KnownStatements:
    """Known statements, indexed by word, to look up the statements of a memory."""

    def __init__(self, known: Sequence[Statement] = ()) -> None:
        parts = (replace(one, text=part) for one in known[:MOST_STATEMENTS] for part in _with_parts(one.text))
        self._said = list(islice(parts, MOST_STATEMENTS))
        self._by_word: dict[str, list[int]] = defaultdict(list)
        for number, statement in enumerate(self._said):
            for word in _words(statement.text):
                self._by_word[word].append(number)

    def source(self, text: str, *, loaded: bool = False) -> str:
        """Return the name of a file that has the first sentence of ``text``; "" unless all sentences are in some file.

        ``loaded``: consider only files that every session loads at its start.
        """
        parts = [part for part in _sentences(_EMPHASIS.sub("", text)) if _words(part)]
        found = [self._source(part, loaded=loaded) for part in parts]
        return found[0] if found and all(found) else ""

    def told(self, text: str) -> str:
        """Return the name of a file that every session loads and that tells it what ``text`` says; "" if none does.

        Unlike in ``source``, the file may lack the reasons that ``text`` gives, and the question that it answers unless
        that names something.
        """
        sentences = _sentences(_EMPHASIS.sub("", _without_question(text)))
        parts = [part for one in sentences for part in divided(_without_reason(one)) if _words(part)]
        found = [self._source(part, loaded=True) for part in parts]
        return self.source(text, loaded=True) or (found[0] if found and all(found) else "")

    def _source(self, sentence: str, *, loaded: bool) -> str:
        words = _words(sentence)
        shared = Counter(number for word in words for number in self._by_word.get(word, ()))
        likely = [number for number, count in shared.most_common(MOST_COMPARED) if count >= SHARED * len(words)]
        known = (self._said[number] for number in likely)
        return next((one.source for one in known if (one.loaded or not loaded) and _contains(one.text, sentence)), "")


NO_STATEMENTS = KnownStatements()


def _without_question(text: str) -> str:
    """Return a reply without its question; unchanged if the reply is short, or if only the question has some name."""
    alone = bare(text)
    names = {word.key for word in parse(text[len(alone) :]).words if word.name}
    own = parse(alone)
    return alone if len(own.heavy) >= OWN_WORDS and names <= own.keys else text


def _without_reason(sentence: str) -> str:
    """Return a sentence without the reasons that it gives; clauses that demand something are kept."""

    def kept(reason: re.Match[str]) -> str:
        return reason[0] if _DEMAND.search(reason[0]) or restricts(reason[0]) else ""

    return _REASON.sub(kept, sentence)


def _with_parts(sentence: str) -> Iterator[str]:
    """Yield a sentence, and what it demands and forbids as sentences of their own."""
    parts = divided(sentence)
    yield sentence
    if len(parts) > 1:
        yield from parts


def statements(text: str) -> Iterator[str]:
    """Yield the sentences of a markdown text: headings, list items and paragraphs, without code and comments."""
    for paragraph in _in_force(_COMMENT.sub("", text)):
        yield from (part for part in _sentences(paragraph) if len(part) <= LONGEST)


def _in_force(text: str) -> Iterator[str]:
    """Yield the paragraphs that say, without their context, what holds.

    Tasks and outdated items are skipped, and items that a heading or the line above them forbids or limits: "Never".
    """
    heading = lead = ""
    for mark, paragraph in _paragraphs(text):
        is_open = "[ ]" in mark or bool(_OUTDATED.match(paragraph) or _OUTDATED.match(f"{lead or heading}:"))
        if "#" in mark:
            heading, lead = paragraph, ""
        elif paragraph and not mark:
            lead = paragraph if paragraph.endswith(":") else ""
        is_limited = bool(mark) and "#" not in mark and (_forbids_all(lead or heading) or bool(_LIMITED.match(lead)))
        if not is_open and not is_limited:
            yield paragraph


def _forbids_all(title: str) -> bool:
    """Whether a heading forbids what is listed under it: "Don'ts"."""
    return len(title.split()) <= LONGEST_TITLE and bool(_FORBIDDEN.search(title.replace("\u2019", "'")))


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a mark and a paragraph in one line. The mark begins a list item, heading or quotation, or is "".

    Empty lines, list items, headings and quotations separate paragraphs.
    """
    mark, paragraph, fenced = "", "", False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or not line.strip() or len(paragraph) > 2 * LONGEST or _FENCE.match(line) or _MARK.match(line):
            yield mark, paragraph
            mark, paragraph = "", ""
        if not fenced and not _FENCE.match(line):
            marked = _MARK.match(line)
            mark = marked[0] if marked else mark
            paragraph = f"{paragraph} {_EMPHASIS.sub('', _MARK.sub('', line)).strip()}".strip()
    yield mark, paragraph


def _sentences(text: str) -> list[str]:
    return [part for part in (piece.strip() for piece in split(_END, " ".join(text.split()))) if part]


def _words(text: str) -> frozenset[str]:
    """Return the first four letters of each word, which inflected forms usually share; used to preselect statements."""
    return frozenset(word[:4] for word in _WORD.findall(_OPENING.sub("", text).casefold()))


def _contains(known: str, sentence: str) -> bool:
    """Return whether a known sentence contains all words of another sentence, and few further words.

    A sentence that forbids something must have all of the known sentence's content words: "never use raw SQL" does not
    state "never use SQL".
    """
    known, sentence = _OPENING.sub("", known), _OPENING.sub("", sentence)
    first, second = parse(known), parse(sentence)
    all_in = (
        second.heavy <= first.by_key.keys() and len(first.by_key) <= LENGTH_FACTOR * len(second.by_key) + LENGTH_FACTOR
    )
    narrower = any(word.role in _NARROWING and word.key not in second.keys for word in first.words)
    if narrower or (_forbids(sentence) and not first.heavy <= second.keys):
        return False
    return all_in and _rejects_the_same(known, sentence) and same_statement(known, sentence, cosine=1.0, may_add=True)


def _forbids(sentence: str) -> bool:
    """Return whether a sentence forbids or rejects something."""
    negated = any(word.negated for word in parse(sentence).words)
    return negated or _REJECTED.search(sentence) is not None


def _rejects_the_same(known: str, sentence: str) -> bool:
    """Return whether a known sentence demands all that another demands, and rejects all that the other rejects.

    "Nutze pnpm statt npm" has all words of "nutze npm", but rejects npm.
    """
    pairs = zip(_demanded_and_rejected(known), _demanded_and_rejected(sentence), strict=True)
    return all(parse(its).heavy <= parse(mine).keys for mine, its in pairs)


def _demanded_and_rejected(sentence: str) -> tuple[str, str]:
    """Return what a sentence says before and after the first word of ``_REJECTED``; a last word rejects all of it."""
    demanded, *rejected = _REJECTED.split(sentence, maxsplit=1)
    after = "".join(rejected)
    return (demanded, after) if not rejected or _WORD.search(after) else ("", demanded)
