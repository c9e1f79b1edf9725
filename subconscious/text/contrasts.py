"""Divides a sentence that says what to do and what not to do: "use uv, never pip" into "use uv" and "never use pip"."""

from __future__ import annotations

import re

from subconscious.text.vocabulary import IMPERATIVES

LONGEST = 300
"""The most characters of a sentence that is divided."""

_OTHER = r"(?P<other>[^\s,;:!?()]++(?:\s[^\s,;:!?()]++){0,3})\Z"
_FORBIDS = r"(?:never|not|no|don't(?:\suse)?|do\snot(?:\suse)?|avoid)"
_AUXILIARY = frozenset(
    "is are was were be been do does did has have had must should shall can could will would may might and or but"
    " if".split()
)
_NOT_LAST = re.compile(
    rf"\A(?P<head>.+?)(?:\s?[,;\u2013\u2014]\s|\s-\s|\s)(?:and\s|but\s)?(?:{_FORBIDS}|instead\sof|rather\sthan)\s{_OTHER}",
    re.IGNORECASE,
)
_NOT_FIRST = re.compile(
    r"\A(?P<head>(?:please\s)?(?:never|don't|do\snot|no|avoid)\s[^,;]+?)(?:\s?[,;\u2013\u2014]\s|\s-\s)"
    r"(?P<always>(?:but\s|just\s|only\s|always\s){0,3})(?P<rest>[^,;]+?)(?P<only>\s(?:only|instead))?\Z",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\A(?:please\s)?(?:never|don't|do\snot|no|avoid)\s+", re.IGNORECASE)
_POLITE = re.compile(r"\A(?:please|always|we|you|and|but|just|only|must|should)\s+", re.IGNORECASE)
_BE = re.compile(r"\A(?P<subject>.+?)\s(?P<be>is|are|must be|should be|be)\s(?P<rest>.+)\Z", re.IGNORECASE)
_PREPOSITION = re.compile(r"\A(?:as|in|with|on|to|by|via|from|at|for)\s", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|until|before|after|while|except|wenn|falls|bis|si|quand|cuando|quando|se)\b"
    r"|\A(?:as|in|with|on|to|by|via|from|at|for|during|inside|outside)\s",
    re.IGNORECASE,
)
"""Signs of a condition: it would be lost in one of the parts."""
_SEPARATOR = re.compile(r"[\s_-]+")
_FRAME = frozenset(("never", "use"))
_TYPED = re.compile(r"\bdont\b", re.IGNORECASE)


def divided(sentence: str) -> tuple[str, ...]:
    """Return the parts of a sentence, of which one forbids something; the sentence alone if it is no such contrast."""
    text = _TYPED.sub("don't", sentence.replace("\u2019", "'")).rstrip(" .!")
    text = " ".join(text.split())
    if len(text) > LONGEST or _CONDITION.search(text):
        return (sentence,)
    parts = _not_first(text) or _not_last(text)
    return (sentence,) if not parts or _same_words(*parts) else parts


def _same_words(one: str, other: str) -> bool:
    """Whether a part forbids only words that the other demands: "use docker compose", "never use docker-compose"."""
    words = (frozenset(_SEPARATOR.split(part.casefold())) for part in (one, other))
    forbidden, wanted = sorted(words, key=lambda part: "never" not in part)
    return forbidden - _FRAME <= wanted


def _not_first(text: str) -> tuple[str, str] | tuple[()]:
    """Divide "never use pip, uv only" and "don't use pip, use uv"."""
    found = _NOT_FIRST.match(text)
    if found is None:
        return ()
    forbidden, wanted = _NEGATED.sub("", found["head"]), found["rest"]
    verb = _verb(forbidden)
    if _verb(wanted):
        return f"never {forbidden}" if verb else f"never use {forbidden}", wanted
    if not (found["always"] or found["only"]):
        return ()
    return f"never {forbidden}" if verb else f"never use {forbidden}", f"{verb or 'use'} {wanted}"


def _not_last(text: str) -> tuple[str, str] | tuple[()]:
    """Divide "use uv, never pip", "amounts are cents, never floats" and "uv, not pip"."""
    found = _NOT_LAST.match(text)
    if found is None:
        return ()
    head, other = found["head"].rstrip(" ,;"), found["other"]
    if head.split()[-1].casefold() in _AUXILIARY or _NEGATED.match(head):
        return ()
    forbidden = _forbidden(head, other)
    return (head if " " in head else f"use {head}", forbidden) if forbidden else ()


def _forbidden(head: str, other: str) -> str:
    """Return a sentence that forbids ``other`` in the way in which ``head`` demands something; "" if none is clear."""
    plain = _POLITE.sub("", _POLITE.sub("", head))
    if _verb(other) and (" " in other or " " not in plain):
        return f"never {other}" if _verb(plain) or _BE.match(plain) else ""
    before = _before_preposition(plain, other)
    if verb := _verb(plain):
        return f"never {before or verb} {other}"
    if found := _BE.match(before or plain):
        done = f" {found['rest']}" if before else ""
        return f"{found['subject']} {found['be']} never{done} {other}"
    return f"never use {other}" if " " not in plain else ""


def _before_preposition(head: str, other: str) -> str:
    """Return the words of ``head`` before the preposition that ``other`` repeats: "stored" of "stored as cents"."""
    repeated = _PREPOSITION.match(other)
    at = head.casefold().rfind(f" {repeated[0].casefold()}") if repeated else -1
    return head[:at] if at > 0 else ""


def _verb(text: str) -> str:
    """Return the first word if it is a verb in the imperative, else ""."""
    first = text.split(maxsplit=1)[:1]
    return first[0] if first and first[0].casefold() in IMPERATIVES else ""
