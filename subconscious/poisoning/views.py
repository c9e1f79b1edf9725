"""Removes disguises from a text. Each result is a view, which maps its positions to those of the original text.

Limits apply to the length of the text that is read, and to the number, length and nesting of encoded texts (payloads).
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

LONGEST = 20_000
"""The most characters of a text that are read; half of them at each end, where planted text is likely."""

MOST_DECODED = 8_000
DEEPEST = 2
MOST_PAYLOADS = 8


@dataclass(frozen=True, slots=True)
class View:
    """A text without one disguise. ``places`` are the original positions of its characters, None if unchanged.

    ``trick`` names the removed disguise; "" if there was none. ``within`` is the original span of a decoded payload;
    None for other texts.
    """

    text: str
    trick: str = ""
    places: Sequence[int] | None = None
    within: tuple[int, int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that corresponds to ``start`` and ``end`` of this view."""
        if self.within is not None:
            return self.within
        if self.places is None:
            return start, end
        if not self.places or start >= len(self.places):
            return 0, 0
        last = self.places[min(max(end - 1, start), len(self.places) - 1)]
        first = self.places[start]
        return min(first, last), max(first, last) + 1


def views(text: str) -> list[View]:
    """Return views of a text without its disguises, and views of the payloads that may be hidden in it."""
    plain = _plain(_ends(text))
    found = [plain]
    found += [view for look in (_joined, _leet, _turned, _rotated) if (view := look(plain)) is not None]
    found += _decoded(plain, DEEPEST)
    return found


def _ends(text: str) -> View:
    if len(text) <= LONGEST:
        return View(text)
    half = LONGEST // 2
    places = [*range(half), *range(len(text) - half, len(text))]
    return View(text[:half] + text[-half:], "", places)


_LOOKALIKES = {
    "а": "a", "е": "e", "о": "o", "р": "p", "с": "c", "у": "y", "х": "x", "і": "i", "ј": "j", "ѕ": "s", "ԁ": "d",
    "һ": "h", "ո": "n", "ѵ": "v", "ԝ": "w", "ɡ": "g", "А": "A", "В": "B", "Е": "E", "К": "K", "М": "M", "Н": "H",
    "О": "O", "Р": "P", "С": "C", "Т": "T", "Х": "X", "І": "I", "Ѕ": "S", "Ј": "J", "ο": "o", "α": "a", "ε": "e",
    "ι": "i", "ρ": "p", "υ": "u", "ν": "v", "κ": "k", "τ": "t", "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H",
    "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N", "Ο": "O", "Ρ": "P", "Τ": "T", "Υ": "Y", "Χ": "X", "ı": "i", "ɑ": "a",
    "ᴀ": "a", "ʙ": "b", "ᴄ": "c", "ᴅ": "d", "ᴇ": "e", "ɢ": "g", "ʜ": "h", "ɪ": "i", "ᴊ": "j", "ᴋ": "k", "ʟ": "l",
    "ᴍ": "m", "ɴ": "n", "ᴏ": "o", "ᴘ": "p", "ʀ": "r", "ꜱ": "s", "ᴛ": "t", "ᴜ": "u", "ᴠ": "v", "ᴡ": "w", "ʏ": "y",
    "ᴢ": "z", "\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-",
}  # fmt: skip
"""Letters of other alphabets that look like Latin ones, in addition to those that Unicode's normalisation folds."""

_TAGS = range(0xE0020, 0xE007F)
"""Unicode's invisible tag characters: each represents an ASCII character."""


@cache
def _folded(sign: str) -> str:
    if ord(sign) in _TAGS:
        return chr(ord(sign) - 0xE0000)
    if sign in _LOOKALIKES:
        return _LOOKALIKES[sign]
    if unicodedata.category(sign) in ("Cf", "Cs", "Co", "Cn") or sign == "\u034f":
        return ""
    plain = unicodedata.normalize("NFKD", sign)
    return "".join(part for part in plain if not unicodedata.combining(part))[:4]


def fold(text: str) -> str:
    """Return a text with look-alike letters replaced by Latin ones, and without accents and invisible characters."""
    return text if text.isascii() else "".join(sign if sign.isascii() else _folded(sign) for sign in text)


_FOREIGN = re.compile(r"[^\x00-\x7f]")


def _plain(given: View) -> View:
    """Return a view with look-alike letters folded and invisible characters dropped."""
    text = given.text
    if text.isascii():
        return given
    letters: list[str] = []
    places: list[int] = []
    at = 0
    for foreign in _FOREIGN.finditer(text):
        start = foreign.start()
        kept = _folded(foreign[0])
        letters += (text[at:start], kept)
        places += range(at, start)
        places += [start] * len(kept)
        at = start + 1
    letters.append(text[at:])
    places += range(at, len(text))
    if given.places is not None:
        places = [given.places[place] for place in places]
    return View("".join(letters), given.trick, places, given.within)


_SPLIT = re.compile(r"(?<![^\s\"'(])[A-Za-z](?:[ .\-_*|][A-Za-z]){3,200}(?![A-Za-z])")


def _joined(plain: View) -> View | None:
    """Return a view in which words written letter by letter are joined; None if there are none."""
    # A run stops at two spaces, which are kept.
    runs = list(_SPLIT.finditer(plain.text))
    if not runs:
        return None
    letters: list[str] = []
    places: list[int] = []
    at = 0
    for run in runs:
        for place in range(at, run.end()):
            if place >= run.start() and (place - run.start()) % 2 == 1:
                continue
            letters.append(plain.text[place])
            places.append(plain.span(place, place + 1)[0])
        at = run.end()
    letters.extend(plain.text[at:])
    places.extend(plain.span(place, place + 1)[0] for place in range(at, len(plain.text)))
    return View("".join(letters), "words written letter by letter", places)


_LEET = str.maketrans("013457@$", "oieastas")
_LEET_WORD = re.compile(r"[A-Za-z][013457@$]{1,4}[A-Za-z]")
_FEWEST_LEET = 3


def _leet(plain: View) -> View | None:
    """Return a view with letters in place of look-alike digits; None if fewer than three words contain such digits."""
    if len(_LEET_WORD.findall(plain.text)) < _FEWEST_LEET:
        return None
    return View(plain.text.translate(_LEET), "digits in place of letters", plain.places)


_BACKWARDS = ("snoitcurtsni", "suoiverp", "erongi", "tpmorp metsys", "drawssap", "tcerts")


def _turned(plain: View) -> View | None:
    """Return a reversed view of a text that is written backwards; None for other texts."""
    lowered = plain.text.lower()
    if not any(word in lowered for word in _BACKWARDS):
        return None
    size = len(plain.text)
    return View(plain.text[::-1], "written backwards", [plain.span(size - 1 - at, size - at)[0] for at in range(size)])


_ROTATED = ("vafgehpgvba", "vtaber nyy", "cerivbhf", "flfgrz cebzcg", "qvfertneq")
_ROTATION = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "nopqrstuvwxyzabcdefghijklmNOPQRSTUVWXYZABCDEFGHIJKLM"
)


def _rotated(plain: View) -> View | None:
    """Return a view of a text in ROT13 with its letters shifted back; None for other texts."""
    lowered = plain.text.lower()
    if not any(word in lowered for word in _ROTATED):
        return None
    return View(plain.text.translate(_ROTATION), "letters shifted by thirteen (ROT13)", plain.places)


def _hex(payload: str) -> bytes:
    return bytes.fromhex(re.sub(r"[^0-9A-Fa-f]", "", payload.replace("\\x", "").replace("0x", "")))


def _bits(payload: str) -> bytes:
    bits = re.sub(r"\s", "", payload)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))


def _base64(payload: str) -> bytes:
    body = re.sub(r"\s", "", payload).rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(body + "=" * (-len(body) % 4))


def _base85(payload: str) -> bytes:
    return base64.a85decode(payload, adobe=True)


def _other85(payload: str) -> bytes:
    return base64.b85decode(payload)


def _percent(payload: str) -> bytes:
    return unquote(payload).encode("utf-8", "replace")


def _entities(payload: str) -> bytes:
    return html.unescape(payload).encode("utf-8", "replace")


def _escapes(payload: str) -> bytes:
    return "".join(chr(int(code, 16)) for code in re.findall(r"\\u([0-9A-Fa-f]{4})", payload)).encode(
        "utf-8", "replace"
    )


@dataclass(frozen=True, slots=True)
class Coding:
    """An encoding: its name, a ``hint`` that every match contains, its pattern, and the function that decodes it."""

    name: str
    hint: str
    pattern: re.Pattern[str]
    decode: Callable[[str], bytes]


_CODED = re.compile(r"[A-Za-z0-9+/_-]{24,8000}={0,2}|(?:[0-9A-Fa-f]{2} ?){16,4000}")
"""Matches a decoded payload that seems to be encoded once more."""

CODINGS = (
    Coding("binary", "01", re.compile(r"(?<![01])[01]{8}(?:\s?[01]{8}){5,1500}(?![01])"), _bits),
    Coding("hex", "", re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}[ :]?){16,4000}(?![0-9A-Za-z])"), _hex),
    Coding("hex", "\\x", re.compile(r"(?:\\x[0-9A-Fa-f]{2}){6,4000}"), _hex),
    Coding("escapes", "\\u", re.compile(r"(?:\\u[0-9A-Fa-f]{4}){6,2000}"), _escapes),
    Coding("base85", "<~", re.compile(r"<~[!-u\sz]{10,8000}~>"), _base85),
    Coding("base64", "", re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,8000}={0,2}(?![\w+/=-])"), _base64),
    Coding("base85", "", re.compile(r"(?<!\S)[!-~]{40,8000}(?!\S)"), _other85),
    Coding("percent", "%", re.compile(r"\b\w{0,60}(?:%[0-9A-Fa-f]{2}[\w.~+-]{0,40}){4,400}"), _percent),
    Coding("entities", "&#", re.compile(r"(?:&#x?[0-9A-Fa-f]{1,6};?[\w ]{0,3}){6,1000}"), _entities),
)


def _decoded(view: View, depth: int) -> list[View]:
    """Return the decoded payloads of a view, and the payloads in these, up to ``depth`` levels deep."""
    found: list[View] = []
    for span, text, name in _payloads(view.text):
        within = view.span(*span)
        inner = _plain(View(text, f"encoded as {name}", within=within))
        found.append(inner)
        if depth > 1:
            found += _decoded(inner, depth - 1)
        if len(found) >= MOST_PAYLOADS:
            break
    return found[:MOST_PAYLOADS]


def _payloads(text: str) -> Iterator[tuple[tuple[int, int], str, str]]:
    tried = 0
    for coding in CODINGS:
        if coding.hint not in text:
            continue
        for match in coding.pattern.finditer(text):
            tried += 1
            if tried > 4 * MOST_PAYLOADS:
                return
            said = _read(coding, match[0])
            if said:
                yield match.span(), said, coding.name


def _read(coding: Coding, payload: str) -> str:
    """Return the text that a payload encodes; "" if it is not encoded text: most long tokens are hashes and names."""
    try:
        raw = coding.decode(payload[:MOST_DECODED])
    except (ValueError, binascii.Error, OverflowError):
        return ""
    text = raw[:MOST_DECODED].decode("utf-8", "replace")
    letters = sum(1 for sign in text if sign.isalpha() or sign in " .,;:!?'\"-/@\n")
    readable = len(text) >= 6 and letters >= 0.85 * len(text) and " " in text.strip()
    return text if readable or _CODED.fullmatch(text) else ""
