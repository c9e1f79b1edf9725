"""Distinguishes attacks on all instructions of a model from statements about some rules.

"Ignore all previous instructions" would switch off the instructions of later sessions. "Ignore the rules of eslint in
legacy" and "forget the earlier instructions about pnpm" are harmless statements of a person. Both match the same
pattern, in every language.
"""

from __future__ import annotations

import re

from subconscious.poisoning.views import fold

REACH = 30
"""How many characters after a match are examined together with the match."""

_EARLIER = fold(
    r"\b(?:previo|anterior|arriba|acima|prece[dt]|ci-dessus|sopra|bisherig|vorherig|vorig|vorangeg|vorangehend|früher|obig|vorige|eerdere"
    r"|bovenstaand|wcześniej|poprzedn|powyż|предыдущ|прежн|прошл|ранее|выше|önceki|sebelumnya|trước|tidigare|προηγ)"
    r"|पिछल|السابق|이전|위의|앞의|지금까지|これまで|今まで|以前|前の|先の|上記|之前|上面|以上|先前|前面|此前"
)
_MODEL = fold(
    r"\b(?:tus|tuyas|tuas?|teus|suas|seus|tes|vos|tue|tuoi|deine\w?|eure\w?|ihre|jouw|je|swoje|twoje|сво[ийе]\w{0,2}|тво[ией]\w{0,2}|dina)\b"
    r"|\b(?:s[iy]st[eè]m|seguridad|segurança|sécurité|sicurezza|sicherheit|veiligheid|bezpiecz|безопасн|систем|güvenlik|sistem|keamanan"
    r"|säkerhet|συστήμ|ασφάλ|hệ thống)|सिस्टम|सुरक्षा|النظام|الأمان|시스템|당신|너의|안전|あなた|システム|安全|你的|您的|系统|系統"
)
_ALL = fold(
    r"\b(?:todas?|todos|qualquer|cualquier|toutes|tous|tutt[ei]|alle[rs]?|sämtlich\w{0,2}|jegliche\w?|wszystkie|все|всех|tüm|bütün|semua"
    r"|tất cả|alla|όλες|όλους)\b|सभी|सब|جميع|كل|모든|모두|すべて|全て|全部|所有|一切|任何"
)
_RULES = fold(
    r"regeln|richtlinien|reglas|normas|règles|regole|regras|zasad|regels|regler|aturan|kural|правил|κανόν|quy tắc|नियम|القواعد|규칙|ルール|规则|規則"
)
_WHOLE = re.compile(f"{_EARLIER}|{_MODEL}")
_EVERY, _OF_TOOLS = re.compile(_ALL), re.compile(_RULES)

_SUBJECT = re.compile(
    r"^ (?:about|regarding|concerning|for) (?:(?:the|our|using|how|a) )?"
    r"(?![^.\n]{0,40}(?:safety|ethic|secur|permission|asking|confirm|approv|polic|content|harm))"
    r"(?!(?:all|any|every|this|these|that|you|me|now|everything)\b)[\w`\"'@./-]{2}"
)
"""Matches words after a match that name the subject of the instructions, unless the subject is safety."""

_PLACE = re.compile(
    r"^ (?:in|of|for|on|during|when|while) (?:(?:the|our|an?) )?(?!(?:this|these|those|that|all|every|any|now|you|me|session|conversation|chat|maintenance)\b)\w"
)
_SWEEPS = re.compile(r"\b(?:all|any|every|each|system|developer|operator|your)\b")


def is_partial(text: str, start: int, end: int) -> bool:
    """Whether a non-English match is only about particular rules, such as a linter's, so that it is not an attack."""
    said = text[start:end] + text[end : end + REACH].partition("\n")[0]
    return not (_WHOLE.search(said) or (_EVERY.search(said) and not _OF_TOOLS.search(said)))


def names_subject(text: str, start: int, end: int) -> bool:
    """Whether a match is about instructions on one subject only."""
    return not _SWEEPS.search(text, start, end) and _SUBJECT.match(text[end : end + 80]) is not None


def names_place(text: str, start: int, end: int) -> bool:
    """Whether a match is about switching safety off in one part of a product, not in the model."""
    return not _SWEEPS.search(text, start, end) and _PLACE.match(text[end : end + 60]) is not None


PATTERNS = (*(pattern.pattern for pattern in (_WHOLE, _EVERY, _OF_TOOLS, _SUBJECT, _PLACE, _SWEEPS)), REACH)
"""This module's patterns and REACH, which are part of the rules' version because verdicts depend on them."""
