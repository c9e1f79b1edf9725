"""Rules for passwords that are a word and a number ("Tulpen42"), next to a word for a password or a user's name.

Nothing about such a value is special: file names, versions and tickets look the same. So it must directly follow the
word or name; only what the password is for may come in between. After a preposition, a verb of change is also needed,
because hosts follow prepositions, too ("das Passwort auf web01").
"""

from __future__ import annotations

import re

from .passphrases import LIGHT, NAME, OF, PHRASE_HINTS, STATES
from .password_changes import AFTER, ON, SET_AFTER, TO, is_changed
from .plausible import is_numbered_word
from .rule import Rule
from .spoken_rules import ACCOUNT, ACCOUNT_HINTS, AS, HINTS, LOGIN, LOGIN_HINTS

_VALUE = r"""(?:\\?["'`])?(?P<secret>[^\W\d_]{3,24}+[-_.]?\d{1,4})(?![\w@/(\[=-]|[.:]\w)"""
_NAMED = rf"(?:{NAME}|\bmdp\b|\bpalavra-passe\b)"
_HINTS = (*HINTS.split(), *PHRASE_HINTS, "mdp", "clave")
_KEY = r"\bclave\b"
"""Spanish for "password", but also for any key: only a value directly after it counts, not "clave del pedido ..."."""
_ASIDE = r"(?:\s{1,3}\([^\n()]{1,40}\))?"
"""What the password is for, in brackets."""

_SIGN = r"""(?:\\?["'`])?\s{0,3}(?::=|=>|[:=\uff1a])\s{0,4}"""
_SAYS = r"(?:(?:(?:it|that|das|es|ce|sie|\u00e9l)\s)?(?:it['\u2019]?s|is|ist|lautet|c['\u2019]?est|est|es|\u00e9|\u00e8)\s{1,3})"
"""The beginning of an answer that gives a password: "it's ..."."""
_CLOSES = r"""(?=["'`]?[ \t]{0,3}(?:[.,;!)\r\n]|\Z))"""
"""The end of an answer that consists only of a password."""
_ALONE = rf"(?=[^\w\s-]|\s{{1,3}}(?:{LIGHT}|[^\w\s])|[ \t]{{0,4}}(?:\Z|[\r\n]))"
"""What follows a word for a password that is not part of a longer term, such as "our password server"."""
_AFTER = re.compile(rf"(?i:{AFTER})")
_SET = re.compile(rf"(?i:\s{{1,3}}{SET_AFTER})")
_BACK = re.compile(r"(?i:\s{1,3}(?:zur\u00fcck|terug))")
_USER = r"""["'`]?[A-Za-z][\w.@+-]{0,60}["'`]?"""
_BESIDE = r"(?:\s{0,3}:\s{0,3}|\s{0,3}[/|]\s{0,3})"
_ARE = r"(?:\s{0,3}[:=]\s{0,3}|\s{1,3}(?:(?:is|are|was|ist|sind|est|sont|es|son|\u00e9|s\u00e3o|to|jest)\s{1,3})?)"
_PASS = r"\s{0,3}[,;/|]?\s{0,3}\b(?:and\s{1,3})?(?:pass|pw|pwd|mdp)\s{1,3}"


def _stated(match: re.Match[str], value: str) -> bool:
    """Whether the value after "the password is" or "password:" is a password; a number of one digit is enough."""
    del match
    return is_numbered_word(value)


def _beside(match: re.Match[str], value: str) -> bool:
    """Whether a value next to a word for a password, without a verb or sign, is one: its number needs two digits."""
    del match
    return is_numbered_word(value, digits=2)


def _changed(match: re.Match[str], value: str) -> bool:
    """Whether a value after "changed the password to" is the new password."""
    return is_numbered_word(value, digits=2) and is_changed(match)


def _set(match: re.Match[str], value: str) -> bool:
    """Whether a value after "Passwort auf" is the new password: "gesetzt" follows it, or it begins with a capital."""
    after = match.string[match.end() :]
    if not is_numbered_word(value, digits=2) or _BACK.match(after):
        return False
    if _SET.match(after):
        return True
    return value[0].isupper() and (_AFTER.match(after) is not None or is_changed(match))


def _paired(match: re.Match[str], value: str) -> bool:
    """Whether a value after a user's name is a password. "eu/prod12" without spaces is more likely a path."""
    path = re.search(r"\S[/|]$", match.string[: match.start("secret")]) is not None
    return is_numbered_word(value, digits=2) and not (path and value.islower())


RULES = (
    Rule("password", _HINTS, rf"(?i:(?:{_NAMED}{OF}|{_KEY}){_ASIDE}(?:{STATES}|{_SIGN}){_VALUE})", _stated),
    Rule("password", _HINTS, rf"(?i:{_NAMED}{OF}{TO}{_VALUE})", _changed),
    Rule("password", _HINTS, rf"(?i:{_NAMED}{OF}{ON}{_VALUE}[\"'`]?)", _set),
    Rule("password", _HINTS, rf"(?i:{_NAMED}\s{{1,3}}{_VALUE})", _beside),
    Rule(
        "password",
        _HINTS,
        rf"(?i:{_NAMED}[^\n?]{{0,80}}\?[ \t]{{0,3}}\r?\n(?P<says>{_SAYS})?{_VALUE}(?(says)|{_CLOSES}))",
        _beside,
    ),
    Rule("password", _HINTS, rf"(?i:(?<![^\s(\"'`]){_VALUE}[\"'`]?(?={AS}{_ALONE}))", _beside),
    Rule("password", ACCOUNT_HINTS, rf"(?i:{ACCOUNT}{OF}{_ARE}{_USER}{_BESIDE}{_VALUE})", _paired),
    Rule(
        "password",
        LOGIN_HINTS,
        rf"(?i:{LOGIN}(?:\s{{1,3}}[^\s.,;:?]{{1,30}}){{0,4}}?\s(?:with|using|as|mit|als|avec|con|com)\s{{1,3}}{_USER}{_BESIDE}{_VALUE})",
        _paired,
    ),
    Rule(
        "password",
        ("user", "login", "account", "benutzer", "utilis", "usu"),
        rf"(?i:\b(?:user(?:name)?|login|account|benutzer(?:name)?|utilisateur|usuario|usu\u00e1rio){_ARE}{_USER}{_PASS}{_VALUE})",
        _beside,
    ),
)
