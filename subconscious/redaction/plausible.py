"""Decides whether a value in the position of a secret is one, and not a placeholder, a name, a path or code."""

from __future__ import annotations

import re
from itertools import pairwise

from .rule import entropy

_PLACEHOLDER = re.compile(
    r"x{3}|\*{3}|\.{3}|•|…|[<>]|^[${%@]|[$#]\{|\{\{|\}$|%$|redacted|example|sample|dummy|fake|mock|placeholder|change[-_]?(?:me|this|it)|"
    r"\byour|your[-_]|^my[-_]?|^some[-_]|secret|passw(?!0)|passphrase|token|api[-_]?key|hunter2(?!\w)|foobar|abc123|123456|undefined|"
    r"null|none|nil|process\.env|os\.environ|getenv|^(?:\d+|[a-z]|true|false|empty|default|string|admin|root|user(?:name)?|"
    r"test(?:ing)?\d{0,3}|pass\d*|foo|bar|baz|qux|asdf\w*|qwerty\w*|pwd?|value|required|optional|hidden|secure|invalid|"
    r"wrong|correct|incorrect|bad|good|old|new|valid|plain\w*|basic|bearer|encrypted|hashed|bcrypt|argon2\w*|sha\d+)$",
    re.IGNORECASE,
)
_PLACEHOLDER_MARK = re.compile(
    r"x{3}|\*{3}|\.{3}|•|…|[<>]|^[${%@]|[$#]\{|\{\{|\}$|%$|redacted|example|placeholder|change[-_]?(?:me|this|it)|\byour",
    re.IGNORECASE,
)
"""Signs of a placeholder that real passwords rarely contain."""

_ALTERED_WORD = re.compile(
    r"[A-Za-z]\d+[A-Za-z!@#^&*+=/~?$%-]|[A-Za-z]{3,}\d{4,}$|[A-Za-z0-9][!@#^&*+~?$]+\d*$|^\d+[A-Za-z]{2,}\d"
)
"""Words changed with digits and punctuation, as people do to make passwords."""

_CAPITALS = r"(?>[A-Z]{2,}(?![a-z]))"
"""An acronym. The group is atomic, because a run of capitals could otherwise be divided in exponentially many ways."""

_WORD = rf"(?:[A-Z]?[a-z]+|[A-Z]+|(?:[A-Z]?[a-z]{{3,}}|{_CAPITALS})(?:[A-Z][a-z]{{2,}}|{_CAPITALS})+)"
_WORDS = re.compile(
    rf"{_WORD}?(?:[._/:@-]+{_WORD})*[._/:@-]*\d{{0,3}}|[\d.,:~]+\w{{0,3}}|[A-Za-z]{{1,3}}\d{{1,2}}(?:Array|_t)?"
)
"""Identifiers, paths and names: words joined by punctuation, with a short number at most; numbers with a unit."""

_EXPRESSION = re.compile(
    r"^https?://[^@\s]*$|[(){}\[\]]|=>|::|\b(?:self|this|req|request|config|settings|env|args|options|params)\b\."
)
"""Code: calls, subscripts, attributes of common variables."""

_LETTERS = re.compile(r"[A-Za-z]+\d{0,3}")
_NAME = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+\d{0,2}|[A-Z][a-z]+(?:[A-Z][a-z]+)*\d{0,2}|[A-Z][A-Z_]+\d{0,2}")
_PUNCTUATION = "!@#^&*+=/~?$%"


def looks_secret(value: str) -> bool:
    """Whether a value mixes so many different characters that it is not a word, name, path or placeholder."""
    if len(value) < 6 or _PLACEHOLDER.search(value) or _WORDS.fullmatch(value) or _EXPRESSION.search(value):
        return False
    letters = any(character.isalpha() for character in value)
    others = any(character.isdigit() or character in _PUNCTUATION for character in value)
    return letters and others and entropy(value) >= 2.5


def is_password(value: str) -> bool:
    """Whether a value in a place where only a password can be is a real password: neither too short nor a placeholder."""
    return len(value) >= 4 and not _PLACEHOLDER.search(value)


def is_written_password(value: str) -> bool:
    """Whether a value in a password's position looks like a real password.

    A lower-case word counts as a password; a placeholder, code, an identifier or a capitalised name does not.
    """
    if len(value) < 4 or _EXPRESSION.search(value) or _PLACEHOLDER_MARK.search(value):
        return False
    if _ALTERED_WORD.search(value) or (value[0].isupper() and is_numbered_word(value)):
        return True
    if _PLACEHOLDER.search(value) or _NAME.fullmatch(value):
        return False
    return bool(_LETTERS.fullmatch(value)) or not _WORDS.fullmatch(value)


_NUMBERED_WORD = re.compile(r"(?P<word>[^\W\d_]{3,24})(?P<sign>[-_.]?)(?P<digits>\d{1,4})")
_NUMBERED_THINGS = frozenset(
    "sha base utf iso aes des rsa ecdsa bcrypt scrypt argon pbkdf crypt rot crc hmac blake curve secp int uint float char"
    " varchar nvarchar string text bytes bits array oauth http https ipv win windows ubuntu debian ios android chrome firefox"
    " safari node python java php postgres mysql mac macos test user users admin account root guest host server port step page"
    " line table column field form row section chapter phase sprint ticket issue bug jira version release item option case part"
    " level day week month year quarter min max input value val arg param var tmp key hash salt owasp rfc cve note figure"
    " prod dev stage staging config team schritt seite zeile schicht entry slot group role tier index num count data file pass"
    " bis the from until since about only after before".split()
)
"""Words that name a thing together with a number: an algorithm, a type, a version, a place in a list."""


def is_numbered_word(value: str, *, digits: int = 1) -> bool:
    """Whether a value directly after a password's name is a word and a number, as people choose them: "Tulpen42".

    A number of one digit is enough only after at least five letters: "Key1" is more often a name. If a sign separates
    the word from the number, the word must be capitalised and the number must have two digits.
    """
    parts = _NUMBERED_WORD.fullmatch(value)
    if parts is None or _PLACEHOLDER.search(value) or parts["word"].lower() in _NUMBERED_THINGS:
        return False
    word, number = parts["word"], parts["digits"]
    plain = word[1:].islower() and (word[0].isupper() or not parts["sign"])
    long_enough = len(number) >= 2 if parts["sign"] or len(word) < 5 else len(number) >= digits
    return (plain or (word.isupper() and not parts["sign"])) and long_enough and len(number) >= digits


def looks_password(value: str) -> bool:
    """Whether a value where a password is expected mixes characters as passwords do, or is a word and a number."""
    return (looks_secret(value) and is_written_password(value)) or is_numbered_word(value, digits=2)


_CALL = re.compile(r"[A-Za-z_]{3}[(\[.]|[$%#]\{|\{\{|%\(|\$\(|=>|^[<{\[(].{0,200}[>}\])]$|::")
"""Matches code and template syntax, which has as much punctuation as passwords."""

_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)
_OPERAND = re.compile(r"!{0,2}[A-Za-z_$][\w$]*!?(?:[.?]{1,2}[\w$]+!?)*")


def is_code(value: str) -> bool:
    """Whether an unquoted value with "!" or "?" is code: a name, perhaps negated or with attributes."""
    return ("!" in value or "?" in value) and _OPERAND.fullmatch(value) is not None


def is_symbol_password(value: str) -> bool:
    """Whether a value has punctuation among letters and digits like a password, and is not code."""
    signs = {sign for sign in value if not sign.isalnum() and not sign.isspace()}
    mixed = any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value)
    return (
        len(value) >= 8 and len(signs - set("-_./:")) >= 2 and mixed and not _CALL.search(value) and entropy(value) >= 3
    )


def is_random_key(value: str) -> bool:
    """Whether a long value is random. Unlike in ``is_random``, all letters may have the same case."""
    if is_random(value):
        return True
    if len(value) < 20 or not value.isalnum() or not value.isascii() or _PLACEHOLDER.search(value):
        return False
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(value))
    return changes >= len(value) / 5 and entropy(value) >= 3.3


def is_repeatable(value: str) -> bool:
    """Whether a secret differs enough from ordinary words that all its occurrences in the text can be redacted."""
    if len(value) < 6 or _PLACEHOLDER_MARK.search(value):
        return False
    others = any(sign.isdigit() or sign in _PUNCTUATION for sign in value)
    return (others and not value.isdigit()) or is_distinct(value)


def is_distinct(value: str) -> bool:
    """Whether a value can be recognised in any text, because it is not a word, name, path, version or number."""
    if len(value) < 8 or _PLACEHOLDER_MARK.search(value):
        return False
    if value.isalpha():
        return _CONSONANTS.search(value) is not None
    letters = any(sign.isalpha() for sign in value)
    return letters and not _WORDS.fullmatch(value) and entropy(value) >= 2.5


def is_random(value: str) -> bool:
    """Whether a long value is random: digits among letters of both cases, or hexadecimal, without words."""
    digits = sum(character.isdigit() for character in value)
    if len(value) < 16 or digits < 2 or _PLACEHOLDER.search(value) or _EXPRESSION.search(value):
        return False
    hexadecimal = re.fullmatch(r"[0-9a-f]{32,}|[0-9A-F]{32,}", value) is not None
    longest = 8 if len(value) < 40 else 11
    mixed = value.lower() != value != value.upper() and not re.search(rf"[a-z]{{{longest}}}|[A-Z]{{{longest}}}", value)
    return (hexadecimal or mixed) and entropy(value) >= 3.0
