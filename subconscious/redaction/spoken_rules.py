"""Rules for secrets that are named in a sentence or a list: "the password of the admin is ...", recovery codes."""

from __future__ import annotations

import re

from .plausible import is_symbol_password, is_written_password, looks_secret
from .rule import Rule, entropy

FULL_NAME = (
    r"pa?s{1,2}wo?r?s?d|passwort|kennwort|contrase(?:n|\u00f1)a|mot de passe|senha|wachtwoord|has\u0142o"
    r"|\u043f\u0430\u0440\u043e\u043b[\u044c\u0435\u044f\u044e]|\u5bc6\u7801|\u5bc6\u78bc|\u30d1\u30b9\u30ef\u30fc\u30c9"
    r"|\ube44\ubc00\ubc88\ud638|\uc554\ud638|passord|l(?:\u00f6|o)senord|adgangskode|salasana|heslo|jelsz\u00f3|parola|lozinka"
    r"|\u015fifre|kata sandi|m\u1eadt kh\u1ea9u|\u03ba\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2"
    r"|\u0643\u0644\u0645\u0629 (?:\u0627\u0644\u0645\u0631\u0648\u0631|\u0627\u0644\u0633\u0631)|\u092a\u093e\u0938\u0935\u0930\u094d\u0921|\u05e1\u05d9\u05e1\u05de\u05d4"
)
"""The word for a password in widely spoken languages, with common misspellings."""

HINTS = (
    "pas psw pw pssw kennwort contrase senha wachtwoord has\u0142o \u043f\u0430\u0440\u043e\u043b \u5bc6\u7801 \u5bc6\u78bc"
    " \u30d1\u30b9\u30ef\u30fc\u30c9 \ube44\ubc00\ubc88\ud638 \uc554\ud638 mot l\u00f6senord losenord adgangskode salasana heslo"
    " jelsz\u00f3 parola lozinka \u015fifre sandi kh\u1ea9u \u03ba\u03c9\u03b4\u03b9\u03ba \u0643\u0644\u0645\u0629"
    " \u092a\u093e\u0938 \u05e1\u05d9\u05e1\u05de"
)
"""Lower-case parts of the words in FULL_NAME: a text that contains none of these parts contains none of the words."""

_IS = (
    r"(?:is|was|ist|war|lautet|es|era|c'?est|est|\u00e9|\u00e8|jest|to|je|\u00e4r|er|on|adalah|l\u00e0|\u2014|\u2013|-"
    r"|\u044d\u0442\u043e|auf|a|en|\u00e0|op|til|till|su)"
)
"""Words between a password's name and its value in a sentence."""

_GAP = r"""(?:[^\s.!?;:="'`(){}<>]|\.(?=\w)|[ \t]){0,60}?"""
"""Up to 60 characters of the same sentence."""

_VALUE = r"""["'`]?(?P<secret>(?=[^\s,;"'`<>\\]{0,79}?[\d!@#^&*+=/~?$%])[^\s,;"'`<>\\]{6,80}+)"""
"""A value with a digit or a sign. An ordinary word must not match, or the real value after the word would be missed."""
LOGIN = (
    r"\b(?:log(?:ged|ging)?[ -]?in|login|sign(?:ed|ing)?[ -]?in|ssh|connect(?:ed|ing)?|authenticat\w{1,4}|(?:an)?melde\w{0,2}|logge?\w{0,2}|einlogge\w{0,2}"
    r"|connecte\w{0,2}|inicia\w{0,2} sesi\u00f3n|entra\w{0,2}|entre)\b"
)
_WITH = r"\s(?:with|using|mit|avec|con|com)\s{1,3}"

_NAME = rf"(?:{FULL_NAME}|\bpw\b|\bpwd\b)"
AS = (
    rf"\s{{1,3}}(?:as|is|was|als|ist|war|comme|est|como|es|era|come|\u00e9|\u00e8|jako|jest)\s{{1,3}}(?:\w{{1,12}}\s{{1,3}}){{0,2}}?{_NAME}"
    r"(?![\w-]|\s(?:manager|safe|store|vault|field|hash|polic|storage|plugin|format))"
)
"""Matches what follows a value if its name comes after it, as in "... is the password"."""

ACCOUNT = (
    r"\b(?:creds?|credentials?|log-?in|account|zugang|zugangsdaten|anmeldedaten|login-?daten|identifiants?|credencia(?:les|is)|credenziali"
    r"|inloggegevens)\b"
)
ACCOUNT_HINTS = ("cred", "login", "log-in", "account", "zugang", "anmelde", "identifiant", "inlog")
LOGIN_HINTS = ("log", "sign", "ssh", "connect", "authent", "meld", "sesi", "entr")
_USER = r"""["'`]?[A-Za-z][\w.@+-]{0,60}["'`]?"""
_AND = r"(?:\s{0,3}[/|:]\s{0,3}|,?\s{1,3}(?:and|und|et|y|e|en|plus|&|with|mit|pw|pass)\s{1,3})"
_SECOND_FACTOR = r"(?:2fa|mfa|totp|otp|oathtool|two-?factor|authenticator|zwei-?faktor|setup[ -]key)"
_BASE32 = r"(?:[A-Z2-7]{16,64}|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15})"

_ENDS = ".,;:!?)]}"
_SIGNS = frozenset("!#$%&*^~?+=_-")
_INNER_SIGN = re.compile(r"[\w][!#$%&*^~+][\w]")
"""A punctuation mark within a word, as in passwords: then a "!" or "?" at the end is part of the password."""

_ADDRESS = re.compile(r"@[\w-]{1,60}\.|/|^[\d.:-]+$|^v?\d+(?:\.\d+)+|\.\w{1,5}$|^\w+=|^\d{1,4}-[a-z]+$")

_CODE = r"(?:\d{4} \d{4}|[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{4,12}){0,4})"
_NUMBER = r"(?:(?:\d{1,2}[.)]|[-*])[ \t]{1,3})?"
_CODES = rf"{_CODE}(?:[ \t]{{0,4}}(?:,|\r?\n)[ \t]{{0,8}}{_NUMBER}{_CODE}){{1,20}}+"


def _said(match: re.Match[str], value: str) -> bool:
    """Whether a value a few words after a password's name is a password."""
    del match
    stripped = value.rstrip(_ENDS)
    if _ADDRESS.search(stripped):
        return False
    value = value.rstrip(".,;:)]}") if _INNER_SIGN.search(stripped) else stripped
    return is_symbol_password(value) or (looks_secret(value) and is_written_password(value))


def _shown(match: re.Match[str], value: str) -> bool:
    """Whether a value that somebody logs in with is a password: it has punctuation and digits among letters."""
    stripped = value.rstrip(_ENDS)
    signs = any(sign in _SIGNS for sign in stripped) and any(sign.isdigit() for sign in stripped)
    return signs and len(stripped) >= 8 and not stripped.startswith("-") and _said(match, value)


def _paired(match: re.Match[str], value: str) -> bool:
    """Whether a value beside a user's name is a password, not a word, name or path."""
    return looks_secret(value.rstrip(_ENDS)) and _said(match, value)


def _base32(match: re.Match[str], value: str) -> bool:
    """Whether a value near a word such as "TOTP" is a second factor's key: random letters and digits from 2 to 7."""
    del match
    return any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value) and entropy(value) >= 3


def _codes(match: re.Match[str], value: str) -> bool:
    """Whether a list below a name such as "recovery codes" has random codes: seven of ten have digits."""
    del match
    codes = re.findall(_CODE, value)
    return sum(any(sign.isdigit() for sign in code) for code in codes) >= 0.7 * len(codes)


RULES = (
    Rule(
        "password",
        tuple(HINTS.split()),
        rf"(?i:{_NAME}{_GAP}(?:\s{_IS}\s{{1,3}}|['\u2019]s\s{{1,3}}|[ \t]{{0,2}}[:\uff1a]\s{{0,3}}){_VALUE})",
        _said,
    ),
    Rule("password", tuple(HINTS.split()), rf"(?i:{_NAME}[ \t]{{1,3}}{_VALUE})", _said),
    Rule(
        "password",
        tuple(HINTS.split()),
        rf"(?i:{_NAME}[^\n?]{{0,120}}\?\*{{0,3}}[ \t]{{0,3}}\r?\n{_GAP}{_VALUE})",
        _said,
    ),
    Rule("password", tuple(HINTS.split()), rf"(?i:(?<![^\s(\"'`]){_VALUE}[\"'`]?(?={AS}))", _said),
    Rule(
        "password",
        ACCOUNT_HINTS,
        rf"(?i:{ACCOUNT}[^\n.;!?]{{0,40}}?[\s:=(]{_USER}{_AND}{_VALUE})",
        _paired,
    ),
    Rule(
        "password",
        LOGIN_HINTS,
        rf"(?i:{LOGIN}{_GAP}{_WITH}{_USER}{_AND}{_VALUE})",
        _paired,
    ),
    Rule(
        "second factor",
        ("2fa", "mfa", "otp", "oathtool", "factor", "authenticator", "faktor", "setup"),
        rf"(?<![\w-])(?i:{_SECOND_FACTOR})[^\n]{{0,60}}?(?<![\w/+=.-])(?P<secret>{_BASE32})(?![\w/+=-])",
        _base32,
    ),
    Rule(
        "password",
        LOGIN_HINTS,
        rf"(?i:{LOGIN}{_GAP}{_WITH}{_VALUE})",
        _shown,
    ),
    Rule(
        "recovery code",
        ("code", "c\u00f3digo"),
        r"(?i:(?:recovery|backup|rescue|2fa|mfa|two-factor|wiederherstellungs|reserve|secours|recuperaci\u00f3n|respaldo|recupera\u00e7\u00e3o)"
        rf"[ -]?(?:codes?|c\u00f3digos)\b[^\n:]{{0,60}}[:\n]\s{{0,8}}{_NUMBER}(?P<secret>{_CODES}))",
        _codes,
    ),
)
