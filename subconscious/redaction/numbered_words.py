"""Rules for passwords that are a word and a number ("Tulpen42"), said beside the name of a password or of a user.

Such a value has no signs of its own: file names, versions and tickets look the same. So it must stand directly after
what names it, with no more between them than what the password is for.
"""

from __future__ import annotations

import re

from .passphrases import NAME, OF, PHRASE_HINTS, STATES
from .plausible import is_numbered_word
from .rule import Rule
from .spoken_rules import ACCOUNT, ACCOUNT_HINTS, AS, HINTS, LOGIN, LOGIN_HINTS

_VALUE = r"""(?:\\?["'`])?(?P<secret>[^\W\d_]{3,24}+[-_.]?\d{1,4})(?![\w@/(\[=-]|[.:]\w)"""
_NAMED = rf"(?:{NAME}|\bmdp\b|\bclave\b|\bpalavra-passe\b)"
_HINTS = (*HINTS.split(), *PHRASE_HINTS, "mdp", "clave")
_ASIDE = r"(?:\s{1,3}\([^\n()]{1,40}\))?"
"""What the password is for, in brackets."""

_SIGN = r"""(?:\\?["'`])?\s{0,3}(?::=|=>|[:=\uff1a])\s{0,4}"""
_TO = (
    r"\s{1,3}(?:(?:(?:was|is|has been|got|wurde|ist|a \u00e9t\u00e9|ha sido|se|foi)\s{1,3})?"
    r"(?:set|changed|reset|updated|rotated|switched|ge\u00e4ndert|gesetzt|chang\w{1,4}|cambi\w{1,4}|mud\w{1,4}|alter\w{1,4}|mis)\s{1,3})?"
    r"(?:(?:wurde|ist|jetzt)\s{1,3})?(?:to|auf|en|\u00e0|a|para|naar|op|na)\s{1,3}"
)
_USER = r"""["'`]?[A-Za-z][\w.@+-]{0,60}["'`]?"""
_BESIDE = r"(?:\s{0,3}:\s{0,3}|\s{0,3}[/|]\s{0,3})"
_ARE = r"(?:\s{0,3}[:=]\s{0,3}|\s{1,3}(?:(?:is|are|was|ist|sind|est|sont|es|son|\u00e9|s\u00e3o|to|jest)\s{1,3})?)"
_PASS = r"\s{0,3}[,;/|]?\s{0,3}\b(?:and\s{1,3})?(?:pass|pw|pwd|mdp)\s{1,3}"


def _stated(match: re.Match[str], value: str) -> bool:
    """Whether the value after "the password is" or "password:" is one; a short number is enough."""
    del match
    return is_numbered_word(value)


def _beside(match: re.Match[str], value: str) -> bool:
    """Whether a value beside a name without a verb or a sign is a password: its number has two digits at least."""
    del match
    return is_numbered_word(value, digits=2)


def _paired(match: re.Match[str], value: str) -> bool:
    """Whether a value after a user's name is a password. "eu/prod12" without spaces is rather a path."""
    path = re.search(r"\S[/|]$", match.string[: match.start("secret")]) is not None
    return is_numbered_word(value, digits=2) and not (path and value.islower())


RULES = (
    Rule("password", _HINTS, rf"(?i:{_NAMED}{OF}{_ASIDE}(?:{STATES}|{_SIGN}){_VALUE})", _stated),
    Rule("password", _HINTS, rf"(?i:{_NAMED}{OF}{_TO}{_VALUE})", _beside),
    Rule("password", _HINTS, rf"(?i:{_NAMED}\s{{1,3}}{_VALUE})", _beside),
    Rule(
        "password",
        _HINTS,
        rf"(?i:{_NAMED}[^\n?]{{0,80}}\?[ \t]{{0,3}}\r?\n(?:[\w'\u2019]{{1,8}}\s){{0,2}}{_VALUE})",
        _beside,
    ),
    Rule("password", _HINTS, rf"(?i:(?<![^\s(\"'`]){_VALUE}[\"'`]?(?={AS}))", _beside),
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
