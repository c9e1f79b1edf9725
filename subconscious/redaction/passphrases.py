"""Rules for passphrases: three or more plain words that the text calls a password, such as "passphrase: a b c d".

Random words have no signs of their own, so the words decide: a passphrase has hardly any function words ("in", "the"),
does not begin like a statement about a password ("is stored", "is wrong") and has no word of the subject ("vault").
"""

from __future__ import annotations

import re

from .passphrase_words import ASKS, FUNCTION, NOUNS, ORDINARY, PURPOSES, SHAPES, STATE, SUBJECT
from .password_changes import AFTER, ON, TO, is_changed
from .rule import Rule
from .spoken_rules import FULL_NAME, HINTS

FEWEST = 3
"""The fewest words of a passphrase."""
FEWEST_BEFORE_MORE = 4
"""The fewest words if the sentence goes on after them without a sign: "is purple elephants dance quietly for now"."""
MOST = 8
LONG = 5
"""The fewest words of a passphrase with a word about passwords; FEWEST_BEFORE_MORE if that word is ORDINARY."""
LIGHT_IF_QUOTED = 0.5
"""The greatest share of function words in a quoted passphrase: people quote sentences, too."""
LIGHT_IF_NAMED = 0.25
"""The same for a value without quotes after "passphrase:"."""
LETTERS = 3
"""The fewest letters of at least half of the words."""

_PHRASE = (
    r"pass[ -]?(?:phrase|code)s?|(?:secret|recovery|seed|backup|mnemonic|unlock|master)[ -]phrase"
    r"|wiederherstellungs(?:phrase|satz)|merksatz"
    r"|phrase (?:secr[\u00e8e]te|de passe|de r[\u00e9e]cup[\u00e9e]ration|mn[\u00e9e]monique)"
    r"|frase (?:secreta|de paso|de contrase[\u00f1n]a|de acceso|de acesso|de senha|de recuperaci[\u00f3o]n"
    r"|de recupera\u00e7\u00e3o|segreta|di accesso|di recupero|d['\u2019]accesso)|frase-(?:passe|senha)|palavra-passe"
    r"|wachtwoordzin|wachtzin|l\u00f6senfras|adgangss\u00e6tning"
    r"|\u043f\u0430\u0440\u043e\u043b\u044c\u043d\w{1,3} \u0444\u0440\u0430\u0437\w{1,2}"
)
"""Names of secrets that always consist of words."""

PHRASE_HINTS = tuple(
    "passphrase,passcode,pass ,pass-,phrase,frase,merksatz,wachtzin,wachtwoordzin,palavra,l\u00f6senfras"
    ",adgangss\u00e6tning,\u0444\u0440\u0430\u0437".split(",")
)
_HINTS = (*HINTS.split(), *PHRASE_HINTS)
NAME = rf"(?P<name>{_PHRASE}|{FULL_NAME}|\bpw\b|\bpwd\b)(?:et|en|n|s)?(?![^\W_])"
_FOR = (
    r"(?:for|of|to|on|in|at|f\u00fcr|von|vom|des|der|zum|zur|im|pour|du|de|del|della|da|do|dos|das|para|per|van|voor"
    r"|f\u00f6r|till|til|\u0434\u043b\u044f|\u043e\u0442|na)"
)
_TOKEN = r"(?:[^\s.,;:!?=\"'`(){}<>\u2019]|['\u2019](?=\w)|\.(?=\w)){1,30}+"
OF = rf"(?:\s{{1,3}}{_FOR}(?:\s{{1,3}}{_TOKEN}){{1,5}}?)?"
"""What the password is for: "of the deploy key"."""

_NOW = r"(?:\s{1,3}(?:now|currently|again|nun|jetzt|maintenant|ahora|agora|adesso|ora|nu|teraz|nog))?"
_IS = (
    r"(?:(?:is|was|ist|war|est|c['\u2019]?est|es|era|\u00e9|\u00e8|jest|\u00e4r|er|\u044d\u0442\u043e|\u2014|\u2013|-"
    r"|(?:will|should|must|shall|can|could) be|has been|sera|sar\u00e0|ser\u00e1|blir|bliver|wordt)"
    rf"{_NOW}|(?<=has\u0142o\s)to|lautet{_NOW}|reads|equals)"
)
STATES = rf"(?:\s{{1,3}}(?P<verb>{_IS})\s{{1,3}}|['\u2019]s\s{{1,3}})"
_GIVES = rf"""(?:\s{{1,3}}{_IS})?(?:\\?["'`\]]|[*_]{{1,2}}){{0,2}}\s{{0,3}}(?::=|=>|[:=\uff1a])[*_]{{0,2}}\s{{0,4}}"""
_BECOMES = r"\s{1,3}(?:(?:to|as|auf|als|\u00e0|a|en|como|come|op|til|till|na|com|con|with|mit|avec)\s{1,3})?"
_EXAMPLE = "correct horse"
"""The first words of the best-known passphrase, which could also begin a statement."""

_WORD = r"[^\W_]{1,24}+"
_ENDS = r"(?=[ \t]*+(?:\Z|[,;!?)\]}#\r\n|\\\u2014\u2013]|\.(?!\w)|-\s))"
_QUOTE = r"""(?P<quote>\\?["'`]|[\u201c\u201e\u2018\u201a]|[\u00ab\u00bb\u2039]\s?)"""
_CLOSED = r"""(?:\s?\\?["'`\u201c\u201d\u2018\u2019\u00ab\u00bb\u203a])"""


def _words(value: str) -> list[str]:
    return re.split(r"[\s-]+", value.lower().replace("\u2019", "'"))


def _is_phrase(words: list[str], most_light: float) -> bool:
    """Whether words can be a passphrase: hardly any is about passwords, and few are function words."""
    light = sum(word in FUNCTION for word in words)
    real = sum(len(word) >= LETTERS and word.isalpha() for word in words)
    about = [word for word in words if SUBJECT.fullmatch(word)]
    fewest = FEWEST_BEFORE_MORE if ORDINARY.issuperset(about) else LONG
    apart = words[0] not in ASKS and len(about) <= (not light and len(words) >= fewest)
    return apart and light <= most_light * len(words) and 2 * real >= len(words)


def _quoted(match: re.Match[str], value: str) -> bool:
    """Whether a quoted value beside a password's name is a passphrase."""
    del match
    words = _words(value)
    return _is_phrase(words, LIGHT_IF_QUOTED) and not (_states(words) and not FUNCTION.isdisjoint(words))


def _given(match: re.Match[str], value: str) -> bool:
    """Whether the words after "password:" are a passphrase."""
    words = _words(value)
    states = _states(words) and len(words) == FEWEST and "-" not in value
    return _is_phrase(words, 0) and not states and not _goes_on(match, words)


def _named(match: re.Match[str], value: str) -> bool:
    """Whether the words after "passphrase:" are a passphrase, which may be a sentence."""
    del match
    words = _words(value)
    return _is_phrase(words, LIGHT_IF_NAMED) and not (_states(words) and not FUNCTION.isdisjoint(words))


def _stated(match: re.Match[str], value: str) -> bool:
    """Whether the words after "the password is" are a passphrase."""
    words = _words(value)
    if "-" in value or value.lower().startswith(_EXAMPLE):
        return _is_phrase(words, 0)
    verb = (match["verb"] or "is").lower().split()[0]
    shape = SHAPES.get(_SAME_SHAPES.get(verb, verb), SHAPES["is"])
    shaped = words[0] not in NOUNS and shape.fullmatch(words[0])
    return _is_phrase(words, 0) and not _states(words) and not shaped and not _goes_on(match, words)


def _changed(match: re.Match[str], value: str) -> bool:
    """Whether the words after "changed the password to" are a passphrase."""
    words = _words(value)
    purpose = words[0] in PURPOSES or (words[-1].endswith("ly") and words[-1] not in NOUNS)
    return len(words) >= FEWEST_BEFORE_MORE and not purpose and is_changed(match) and _is_phrase(words, 0)


def _set(match: re.Match[str], value: str) -> bool:
    """Whether the words between "Passwort auf" and a verb such as "gesetzt" are a passphrase."""
    del match
    return _is_phrase(_words(value), 0)


def _states(words: list[str]) -> bool:
    """Whether words begin like a statement about a password, with any verb."""
    return words[0] in STATE or (words[0].endswith(("ed", "ly")) and words[0] not in NOUNS)


def _goes_on(match: re.Match[str], words: list[str]) -> bool:
    """Whether the sentence goes on after few words, so that they may be its beginning."""
    return len(words) < FEWEST_BEFORE_MORE and match.string[match.end() :].lstrip(" \t")[:1].isalnum()


_SAME_SHAPES = {
    "war": "ist",
    "c'est": "est",
    "c\u2019est": "est",
    "cest": "est",
    "sera": "est",
    "era": "es",
    "ser\u00e1": "es",
    "sar\u00e0": "\u00e8",
    "e": "\u00e8",
    "er": "\u00e4r",
    "blir": "\u00e4r",
    "bliver": "\u00e4r",
}
"""Verbs after which the same forms follow as after another."""

LIGHT = rf"(?:{'|'.join(sorted(map(re.escape, FUNCTION)))})(?![^\W_])"
_PART = rf"(?!{LIGHT}){_WORD}(?!['\u2019]\w)"
_HYPHENS = rf"{_WORD}(?:-{_WORD}){{{FEWEST - 1},{MOST - 1}}}"
_REST = rf"{{{FEWEST - 1},{MOST - 1}}}"
_PLAIN = rf"(?P<secret>{_PART}(?:[ \t]{{1,3}}{_PART}){_REST}|{_HYPHENS})(?:{_ENDS}|(?=[ \t]{{1,3}}{LIGHT}))"
_MANY = rf"(?P<secret>{_PART}(?:[ \t]{{1,3}}{_PART}){{{FEWEST_BEFORE_MORE - 1},{MOST - 1}}}?)"
_SENTENCE = rf"(?P<secret>{_WORD}(?:[ \t]{{1,3}}{_WORD}){_REST}|{_HYPHENS}){_ENDS}"
_SAID = r"(?:['\u2019]\w{1,3}+)?"
_WITHIN = rf"(?P<secret>{_WORD}{_SAID}(?:[ -]{_WORD}{_SAID}){_REST}){_CLOSED}"
_IS_ONE = r"\s{1,3}(?:as|is|was|als|ist|war|comme|est|como|es|era|come|\u00e9|\u00e8|jako|jest)\s{1,3}(?:\w{1,16}\s{1,3}){0,3}?"
_NOT_OF_ONE = r"(?!\s(?:manager|safe|store|vault|field|hash|polic|storage|plugin|format|hint|prompt|label))"

RULES = (
    Rule("password", _HINTS, rf"(?i:{NAME}{OF}(?:{STATES}|{_GIVES}|{_BECOMES}){_QUOTE}{_WITHIN})", _quoted),
    Rule("password", _HINTS, rf"(?i:{_QUOTE}{_WITHIN}{_IS_ONE}{NAME}{_NOT_OF_ONE})", _quoted),
    Rule("password", _HINTS, rf"(?i:{NAME}{OF}{_GIVES}{_PLAIN})", _given),
    Rule("password", PHRASE_HINTS, rf"(?i:(?P<name>{_PHRASE}){OF}{_GIVES}{_SENTENCE})", _named),
    Rule("password", _HINTS, rf"(?i:{NAME}{OF}{STATES}{_PLAIN})", _stated),
    Rule("password", _HINTS, rf"(?i:{NAME}{OF}{TO}{_PLAIN})", _changed),
    Rule("password", _HINTS, rf"(?i:{NAME}{OF}{ON}{_MANY}(?={AFTER}))", _set),
)
