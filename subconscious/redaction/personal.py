"""Rules for personal data, by setting: cards and bank accounts, email and IP addresses, telephone numbers."""

from __future__ import annotations

import ipaddress
import re

from .rule import Rule

_CARD_LENGTHS = frozenset({15, 16})
_IMPERSONAL = re.compile(
    r"^(?:git|hg|no-?reply|donotreply|\d+\+[\w-]+)@|[@.](?:example|test|invalid|localhost|local)(?:\.\w+)?$",
    re.IGNORECASE,
)
"""Email addresses of machines, and addresses without an owner."""


def _is_card(match: re.Match[str], value: str) -> bool:
    del match
    digits = [int(sign) for sign in value if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and len(digits) in _CARD_LENGTHS and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_account(match: re.Match[str], value: str) -> bool:
    del match
    signs = value.replace(" ", "")
    return 15 <= len(signs) <= 34 and int("".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4])) % 97 == 1


def _is_personal_address(match: re.Match[str], value: str) -> bool:
    del match
    return not _IMPERSONAL.search(value)


def _is_telephone(match: re.Match[str], value: str) -> bool:
    del match
    return 8 <= sum(sign.isdigit() for sign in value) <= 15


def _is_public(match: re.Match[str], value: str) -> bool:
    """Whether an IP address is public; private and documentation addresses identify nobody."""
    del match
    try:
        return ipaddress.ip_address(value).is_global
    except ValueError:
        return False


RULES = {
    "payment": (
        Rule(
            "card number",
            (),
            r"(?<![\w.+/=-])(?:[45]\d{3}|2[2-7]\d\d|6011|65\d\d)(?P<mark>[ -]?)\d{4}(?P=mark)\d{4}(?P=mark)\d{4}(?![\w.+/=-])"
            r"|(?<![\w.+/=-])3[47]\d\d[ -]?\d{6}[ -]?\d{5}(?![\w.+/=-])",
            _is_card,
        ),
        Rule(
            "bank account",
            (),
            r"(?<![\w/+=-])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![\w/+=-])",
            _is_account,
        ),
    ),
    "email": (
        Rule(
            "email address",
            ("@",),
            r"(?<![\w.%+-])[A-Za-z0-9._%+-]{1,64}+@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w-])",
            _is_personal_address,
        ),
    ),
    "phone": (
        Rule(
            "phone number",
            (),
            r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]\d{2,4}){1,4}|\+\d{9,14}"
            r"|\(\d{3}\) ?\d{3}[-.]\d{4}|\d{3}-\d{3}-\d{4})(?![\w-])",
            _is_telephone,
        ),
    ),
    "ip": (
        Rule("IP address", (".",), r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)", _is_public),
        Rule(
            "IP address",
            ("::", ":"),
            r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]{0,36}:)[0-9A-Fa-f:]{6,39}(?![\w:.])",
            _is_public,
        ),
    ),
}
"""The rules by type of data; each type has a setting."""
