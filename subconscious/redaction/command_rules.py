"""Rules for passwords passed to a command: as an argument, on its standard input, or by a script that types them."""

from __future__ import annotations

import re

from .plausible import is_password, looks_secret
from .rule import Rule

_VALUE = r"""["']?(?P<secret>[^\s"'\\|;&<>]{4,200}+)"""
_ON = r"[^\n|;&]{0,80}?"
"""Other arguments of the same command."""

_TAKES_INPUT = (
    r"(?:sudo\s{1,3}(?:-\w{1,8}\s{1,3}(?:\w{1,32}\s{1,3})?){0,3}?-\w{0,4}S\b|(?:sudo\s{1,3})?chpasswd\b|passwd\b|cryptsetup\b|su\s"
    r"|[^\n|;&]{0,100}?(?:-stdin\b|--with-token\b|--passphrase-fd\s0\b))"
)
"""Commands that read a password from their standard input."""


def _argument(match: re.Match[str], value: str) -> bool:
    """Whether the value of an option such as -p is a password; in some commands the option means a port or a path."""
    del match
    return looks_secret(value) and not value.startswith(("-", "/", "."))


def _given(match: re.Match[str], value: str) -> bool:
    """Whether an argument that can only be a password is a real one, not a placeholder."""
    del match
    return is_password(value) and not value.startswith(("-", "/"))


RULES = (
    Rule(
        "password",
        ("-p",),
        rf"""\s(?:-[uUl]|--?(?i:user(?:name)?|login))[\s=]{{1,3}}["']?[\w.@\\-]{{1,60}}["']?\s(?:{_ON}\s)?-p\s{{1,3}}{_VALUE}""",
        _argument,
    ),
    Rule("password", ("7z", "rar "), rf"\b(?:7z\w?|(?:un)?rar)\s(?:{_ON}\s)?-h?p{_VALUE}", _given),
    Rule("password", ("zip ",), rf"\b(?:un)?zip\s(?:{_ON}\s)?-P\s{{0,3}}{_VALUE}", _given),
    Rule("password", ("openssl",), rf"\bopenssl\s(?:{_ON}\s)?-[kK]\s{{1,3}}{_VALUE}", _given),
    Rule(
        "password",
        ("htpasswd",),
        rf"\bhtpasswd\s{{1,3}}-\w{{0,6}}b\w{{0,6}}\s{{1,3}}(?:[^\s|;&]{{1,100}}\s{{1,3}}){{1,3}}{_VALUE}[\"']?(?=\s{{0,3}}(?:[\n|;&>]|$))",
        _argument,
    ),
    Rule(
        "password",
        ("echo ", "printf "),
        rf"""\b(?:echo|printf)\s{{1,3}}(?:-\w{{1,3}}\s{{1,3}})?["']?(?:[\w.-]{{1,40}}:)?{_VALUE}(?:\\n)?["']?\s{{0,3}}\|\s{{0,3}}{_TAKES_INPUT}""",
        _given,
    ),
    Rule("secret", ("secret",), rf"\bsecrets?\s{{1,3}}set\s(?:{_ON}\s)?(?:--body|-b)[\s=]{{1,3}}{_VALUE}", _given),
    Rule(
        "secret",
        ("secret",),
        rf"\b(?:secrets?\s{{1,3}}set\s(?:{_ON}\s)?|--from-literal[\s=])[\"']?[A-Za-z_][\w.-]{{0,60}}={_VALUE}",
        _argument,
    ),
    Rule(
        "password",
        ("assword", "assphrase"),
        rf"(?:assword|assphrase)[^\n]{{0,60}}?\bsend(?:_?\w{{1,8}})?\s?\(?\s?(?:--\s)?\\?{_VALUE}(?:\\{{1,2}}[rn])?\\?[\"']",
        _given,
    ),
)
