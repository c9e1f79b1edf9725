"""Patterns of sentences that change a password: "changed the password to ...", "das Passwort auf ... gesetzt".

A preposition alone may just as well name a place or a purpose ("das Passwort auf web01", "the password to web01"). So a
verb of change is required: before the password's name, between the name and the preposition, or after the value.
"""

from __future__ import annotations

import re

_VERB = (
    r"\b(?:(?:re)?set|rotated?|updated?|switch(?:ed)?|setz(?:e|en|te)?|gesetzt|stell(?:e|te)?|mis|mets|mettez|puse|zet"
    r"|(?:chang|cambi|mud|troc|troqu|alter|modifi|impost|(?:ge)?wijzig|(?:ge)?\u00e4nder)\w{1,6}"
    r"(?<!ar)(?<!er)(?<!are)(?<!ing))\b"
)
"""A verb of change, without Romance infinitives and "changing", which are subjects of sentences about passwords."""

_AUXILIARY = r"(?:was|is|has been|got|wurde|ist|werd|a \u00e9t\u00e9|ha sido|fue|se|foi|\u00e8 stata)\s{1,3}"
_WORD = r"[^\s.,;:!?]{1,24}"
_BEFORE = re.compile(rf"(?i:{_VERB}(?:\s{{1,3}}{_WORD}){{0,3}}\s{{1,3}}(?:{_WORD})?\Z)")
"""A verb of change a few words before the password's name."""

NEAR = 80
"""How many characters before the password's name are searched for the verb."""

SET_AFTER = r"(?:gesetzt|setzen|gezet|zetten)\b"
_CHANGED_AFTER = r"(?:ge\u00e4ndert|\u00e4ndern|umgestellt|gewijzigd|wijzigen|veranderd)\b"
AFTER = rf"(?:\s{{1,3}}(?:{SET_AFTER}|{_CHANGED_AFTER}))"
"""A verb of change after the value, as in German and Dutch."""

DIRECT = rf"(?:(?P<direct>(?:{_AUXILIARY})?{_VERB})\s{{1,3}})?"
"""A verb of change between the password's name and the preposition."""

TO = rf"\s{{1,3}}{DIRECT}(?P<by>to|\u00e0|a|en|para|naar)\s{{1,3}}"
"""The text between the password's name and its new value."""
ON = rf"\s{{1,3}}{DIRECT}(?:(?:wurde|werd|ist|is|jetzt|nu)\s{{1,3}})?(?:auf|op)\s{{1,3}}"
"""The same with prepositions that mostly name a place."""

_ONLY_AFTER = {"en": ("passe", "mdp"), "para": ("senha", "passe")}
"""Names of a password after which a preposition gives its new value; in other languages it names a place or use."""


def is_changed(match: re.Match[str]) -> bool:
    """Whether the text before the value says that the password is, was or has to be changed."""
    names = _ONLY_AFTER.get((match.groupdict().get("by") or "").lower())
    if names and not any(name in match[0].lower() for name in names):
        return False
    return bool(match["direct"] or _BEFORE.search(match.string[max(0, match.start() - NEAR) : match.start()]))
