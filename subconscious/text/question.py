"""Recognises questions that were typed without a question mark, by how they begin.

"Why" questions are not recognised: many are reproaches that state a rule ("why do I always have to tell you to ...").
"""

from __future__ import annotations

import re

_OPENING = re.compile(
    r"\A\W*(?:(?:ok|okay|hey|hi|hmm*|so|and|but|also|btw|wait|und|aber|sag mal|et|mais|y|pero|e|mas)\b\W*){0,3}",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[:;](?=\s|\Z)|, ?(?!(?:and|or|und|oder|et|ou|y|o|e)\b)| - |\u2013|\u2014|->|\u2192")
"""Signs before an answer in the same sentence ("where do we deploy: fly.io"), or before the main clause of a rule."""

_PRONOUN = r"(?:we|i|you|u|they|it|he|she)"
_THE = rf"(?:{_PRONOUN}|the|a|an|our|my|your|this|that|these|those|there|all|any)"
_IS = r"(?:is|are|was|were|can|could|should|will|would|has|have)"
_IST = (
    "ist sind war waren liegt liegen steht stehen läuft laufen heißt heißen haben hat hab habe nutzen benutzen"
    " verwenden nehmen machen macht mach kann können soll sollen muss geht funktioniert deployen starten starte"
    " kommt kommen"
)
_LANGUAGES = (
    # English: the verb comes before its subject, unlike in "what we store is in cents"
    rf"(?:what|where|who|when|how|which)(?:'?s| {_IS}) {_THE}\b",
    r"(?:what|where|who|when|how|which) (?:do|does|did) (?!not\b)\w",
    rf"(?:what|which|how)(?: (?!{_THE}\b)[\w-]+){{1,3}} (?:{_IS} {_PRONOUN}|(?:do|does|did) {_THE})\b",
    # German
    rf"(?:wo|wie|wer|wann|was|womit|wohin|woher) (?:{'|'.join(_IST.split())})\b",
    r"welche[rsnm]?\b",
    # French
    r"o[ùu] (?:est|sont|se trouve|on|tu|je)\b",
    r"quel(?:le)?s?\b(?! que\b)",
    r"(?:combien(?! de fois)|qu'est-ce|c'est quoi|quand est-ce|est-ce qu'?e?)\b",
    r"comment (?:on|tu|je|est-ce|faire|ça|se|lancer|marche|fonctionne)\b",
    r"qui est\b",
    # Spanish: the accent marks a question
    r"(?:dónde|qué|cuál|cuáles|cómo|cuándo|quién|cuánt[oa]s?(?! veces))\b",
    r"(?:donde (?:est[áa]n?|queda|guardamos)|cual es)\b",
    # Portuguese and Italian
    r"onde (?:ficam?|está|estão|é|a gente|guardamos|roda)\b",
    r"(?:qual|quais|quem é|quant[oa]s(?! vezes)|como (?:faço|faz|funciona|roda|é que))\b",
    r"(?:dove (?:è|sono|si)|qual[ei]|come (?:si|faccio|funziona))\b",
)
_ASKS = re.compile("|".join(_LANGUAGES), re.IGNORECASE)


def is_question(sentence: str) -> bool:
    """Whether a sentence begins like a question and does not also answer it ("where do we deploy: fly.io" does)."""
    plain = sentence.replace("\u2019", "'")
    begin = _OPENING.match(plain)
    return bool(_ASKS.match(plain, begin.end() if begin else 0)) and not _GOES_ON.search(plain)
