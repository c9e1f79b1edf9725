"""Finds limits in sentences that sound like the end of a rule: "tabs are allowed now, but only in tests". Does no I/O.

A sentence ends no rule if it only reports or doubts that the rule has ended, states a condition, or talks about a text
that mentions the rule (``is_limited``). If it names places or people (``places``), it ends only rules that name the
same ones; `supersession/ended.py` compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from subconscious.supersession.ending_patterns import End
from subconscious.text.month_names import MONTH_NAMES


def is_limited(plain: str, match: re.Match[str], end: End) -> bool:
    """Whether a sentence with an ending ends nothing: the end is denied, reported, conditional or only about a text."""
    said, rest = plain[: match.end()], plain[match.end() :]
    if end is End.LEFT:
        denied = bool(_DENIED.search(said)) and not _NO_LONGER.search(said)
        return denied or bool(_HERE.search(plain) or _REPORTED.search(said) or _DOUBTED.search(rest))
    if end is End.ALLOWED:
        clause = _CLAUSE_END.split(plain[match.start() :])[0]
        if _NEGATED.search(clause) or _SOURCE.search(said) or _REPORTED.search(said):
            return True
    wished = _WISH.search(match[0])
    if wished and _TWICE.search(said):
        return True
    return bool(wished or end in (End.NAMED, End.ALLOWED)) and _goes_on(rest)


def is_reported(before: str) -> bool:
    """Whether the words ``before`` an ending, such as "Ann says", make it a report or a guess."""
    return bool(_REPORTED.search(before))


def _goes_on(rest: str) -> bool:
    """Whether ``rest``, the words after an ending, may limit it. Reasons, places and most other clauses don't.

    Whether a place limits the ending depends on the rule: see ``places``.
    """
    rest = _EMPHASIS.sub("", rest).lstrip(" ")
    if not rest.strip(" .!)") or _REASON.match(rest) or _PLACED.match(rest):
        return False
    if rest[0] not in ",;:.!\u2013\u2014-":
        return True
    added = rest.lstrip(" ,;:.!\u2013\u2014-")
    return bool(_LIMIT.match(added) or _DOUBTED.search(rest) or _MENDED.search(added))


def places(plain: str, match: re.Match[str], end: End) -> Iterator[str]:
    """Yield the words that limit an ending to a place, a person or a case: "report" in "in the report handler".

    A time and, for "we moved off X", the new choice ("auf NATS umgestiegen") are no such limits.
    """
    topics = [match.start(number) for number in range(1, len(match.groups()) + 1)]
    for start, part in _parts(plain, match):
        for found in _PLACE.finditer(part):
            before, after = start + found.start(), start + found.end()
            of_pattern = any(before < topic < after for topic in topics)
            goal = end is End.LEFT and match.start() <= before < match.end() and _TO.match(found[0])
            timed = end is not End.ALLOWED and _TIME.match(part, found.start("what"))
            if not (of_pattern or goal or timed or _EVERYWHERE.match(found["what"])):
                yield found["what"]
        yield from (found[0] for found in _LOCALLY.finditer(part))


def _parts(plain: str, match: re.Match[str]) -> Iterator[tuple[int, str]]:
    """Yield the position and text of clauses that may limit an ending: its own, and those that begin with a place."""
    bounds = [0, match.start(), match.end(), *(found.end() for found in _CLAUSE_END.finditer(plain)), len(plain)]
    for start, stop in pairwise(sorted(set(bounds))):
        before = stop == match.start() and not _CLAUSE_END.search(plain[start:stop])
        if before or start in match.span() or _PLACE.match(plain, start):
            yield start, _REASONS.split(plain[start:stop])[0]


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_DENIED = _pattern(r"\b(?:no|não|nicht|nie|noch|fast|casi|quase|not|never|almost|mañana|amanhã)\b|n't\b")
_NO_LONGER = _pattern(r"\b(?:no longer|no more|any ?more|any longer|ya no|mehr|más|mais|plus)\b")
_WISH = _pattern(r"^(?:so |and )?no more\b|\bfrom now on$")
_TWICE = _pattern(
    r"\b(?:without|lacking|(?:more|less|fewer|longer|other|\w+er) than|unless|ohne|mehr als|sans|sin|sem)\b"
)
"""Words that turn a negative wish into a demand: "no more endpoints without a test"."""

_NEGATED = _pattern(r"\b(?:not|never|nicht|nie(?:mals)?|kein\w*|pas|jamais|nunca|não)\b|n't\b")
_CLAUSE_END = re.compile(r"[,;:]\s")

_HERE = _pattern(
    r"\b(?:here|hier|aquí|ici|aqui|(?:in|on|auf|en|sur|dans|for|no|na) (?:this|my|diese[mnrs]?|cette|ce|esta|este|esse|nesse"
    r"|nesta|meu) (?:branch|pr|test|file|module|script|commit|zweig|datei|fichier|branche|rama|archivo|teste|arquivo)"
    r"|ne?ss[ea] \w+)\b"
)
"""Words that limit an ending such as "we moved off X" to one file, branch or place."""

_SOURCE = _pattern(r"\b(?:nobody|docs?|readme|states?)\b")
_REPORT = (
    r"(?:(?<!\bi )(?<!\bwe )said|says?|claim(?:s|ed)?|th(?:inks?|ought)|believes?|heard|apparently|allegedly|supposedly|"
    r"seems?|looks like|according to|meint\w*|sagt\w*|behauptet\w*|glaub\w*|angeblich|anscheinend|laut|selon|dit|paraît|croit|"
    r"según|dicen?|parece|cre[oe]|segundo [oa]s?|diz(?:em)?|ach[oa])\b"
)
_REPORTED = _pattern(rf"\b{_REPORT}")
"""Words that show a report or a guess, such as "says" or "apparently": these end nothing."""

_DOUBTED = _pattern(
    rf"^[\s,;:\u2013\u2014-]*(?:(?:or )?so |i |ich |je |yo |eu )?{_REPORT}"
    r"|\b(?:(?:that|this|it)(?: is|'s| was) (?:wrong|not true|a (?:bug|mistake|lie))|(?:das )?(?:ist|war) (?:falsch|ein fehler)|"
    r"stimmt (?:so |aber )?nicht|c'est (?:faux|une erreur)|es (?:falso|un error)|é (?:falso|um erro))\b"
)
"""Words after an ending that make it a report or deny it: ", Ann says", "that's wrong"."""

_MENDED = _pattern(
    r"(?:^|[,;.:!] )(?:(?:so|then|please|wrong|bitte) )?(?:fix|(?:add|put|turn) (?:it|that|them) back|why|wrong|falsch|korrigier\w*|"
    r"warum|wieso|corrige\w*|pourquoi|arregl\w+|por qu[eê]|errado|conserta\w*)\b"
)
"""Words after an ending that make it a complaint or a task: "tabs are allowed now, fix that"."""

_EMPHASIS = _pattern(
    r"^(?:[\s,]*\b(?:now|again|too|also|please|pls|thanks|entirely|completely|altogether|for good|for everyone|everywhere|"
    r"after all|anyway|any ?more|any longer|from now on|then|folks|guys|hab(?:e|en)?|bitte|jetzt|wieder|auch|endgültig|maintenant|"
    r"désormais|aussi|ahora|también|agora|também|mais)\b)+"
)
"""Words after an ending that do not limit it, such as "again" or "for good"."""

_WHY = (
    r"(?:because|since|as(?! (?:long|soon)\b)|so|now that|given|thanks to|due to|and|weil|da|denn|wegen|dank|und|"
    r"parce qu\w*|car|puisque|vu que|"
    r"grâce|et|porque|ya que|pues|gracias|y|já que|pois|graças|e)"
)
_REASON = _pattern(rf"[\s,;:\u2013\u2014-]*\b{_WHY}\b(?! (?:only|just|nur|seulement|solo|só)\b)")
_REASONS = _pattern(
    r"\b(?:because|since|now that|due to|weil|denn|wegen|parce qu\w*|car|puisque|porque|ya que|já que|pois)\b"
)

_PREPOSITION = (
    r"(?:(?<!back )in|(?<=apply )to|(?<=applies )to|from(?! now\b)|inside|within|at|under|for|during|outside|"
    r"on(?! (?:a|est|n)\b)|im|ins|bei|beim|für|fürs|auf|am|unter|"
    r"während|außer|dans|en|pour|chez|sur|sous|pendant|para|durante|dentro de|em|num|numa|nas?|^n[oa]s?(?! longer)(?= [\w-]+\s*$))"
)
_PLACED = _pattern(rf"(?:(?!from\b){_PREPOSITION}|by|por|par)\b")
_LIMIT = _pattern(
    rf"(?:(?:but|and|aber|und|mais|pero|mas) )?(?:{_PREPOSITION}|only|just|except|unless|until|if|once|when|while|as long as|one|"
    r"a single|this once|provided|to|nur|einmal|wenn|falls|solange|bis|seulement|uniquement|sauf|si|une fois|quand|tant que|"
    r"solo|sólo|únicamente|excepto|salvo|una vez|cuando|mientras|só|somente|apenas|exceto|uma vez|se|quando|enquanto)\b"
)
"""The beginning of a clause that limits an ending: "allowed now, only in tests"."""

_ARTICLE = (
    r"(?:the|our|your|their|his|her|its|my|a|an|all|every|this|that|these|those|own|de[nrms]|die|das|ein\w*|unser\w*|dein\w*|"
    r"alle\w*|l[aeo]s?|el|l'|un[ae]?|nos|notre|tous|toutes|nuestr\w+|todos|todas|os?|as?|uma?|noss\w+)"
)
_NAME = r"[^\W_](?:[\w./@#'-]*\w)?"
_PLACE = _pattern(rf"\b{_PREPOSITION}\s+(?:{_ARTICLE}\s+)*(?P<what>(?!{_ARTICLE}\b){_NAME})")
_TO = _pattern(r"(?:auf|para|from)\b")
_EVERYWHERE = _pattern(
    r"(?:repo(?:s|sitory)?|projects?|codebase|team|company|whole|general|favou?r|place|sure|good|every\w+|all|us|you|this|that|it|future|"
    r"projekt\w*|firma|zukunft|uns|dich|euch|projet|général|fait|nous|toi|vous|tout|proyecto|equipo|adelante|nosotros|ti|"
    r"todos?|projeto|equipe|geral|nós|você)\b"
)
"""Words after a preposition that limit nothing: they mean the whole project ("in the repo") or everyone ("for us")."""

_TIME = _pattern(
    rf"(?:\d|q[1-4]\b|(?:{MONTH_NAMES}|march|april|may|june|july|august|september|october|november|december)\b|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|"
    r"(?:last |past |previous |letzten |dernière? )?(?:week|month|quarter|year|sprint|release|meeting|retro|sommer|herbst|winter|"
    rf"summer|spring|autumn|woche|monat|jahr|semaine|mois|semana|mes|mês)(?=\W*$|[,;.:]|\s+(?:to|and|{_PREPOSITION})\b)|\w+ reasons?\b)"
)
"""Words after a preposition that say when or why something ended, not where."""

_LOCALLY = _pattern(r"\b(?:locally|lokal|localement|localmente|(?<=en )local)\b")
