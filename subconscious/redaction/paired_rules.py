"""Rules for secrets that are not next to their name: in another field, a form, a table, an address, an error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .context_rules import PASSWORD, SECRET, names_value
from .plausible import is_random_key, looks_password, looks_secret
from .rule import Rule, Span

_QUOTE = r"""(?P<quote>\\{0,2}["'`])"""
_QUOTED = rf"{_QUOTE}(?P<secret>[^\s\"'`\\]{{4,200}}+)(?P=quote)"
_QUOTED_JSON = rf"{_QUOTE}(?P<secret>(?:[^\s\"'`\\]|\\u[0-9a-fA-F]{{4}}){{4,200}}+)(?P=quote)"
_OBJECT_NAME = re.compile(rf"(?i:(?:{PASSWORD}|{SECRET})(?P<rest>[\w-]{{0,24}})\\?[\"']\s{{0,3}}:\s{{0,3}})$")
_HINTS = ("pass", "pwd", "secret", "token", "key", "cred")
_FILLING = r"(?:fill|type|send_?keys|set_?value|set_?text|enter_?text|input_?text|put)\w{0,6}"
"""Names of functions that type a text in tests of user interfaces."""

_LINE = re.compile(r"\n[ \t]{0,40}[|├┠╞+:─━═-][ \t|│┃├┤┠┨╞╡╟╢+:┼╪═─━-]{2,400}+\r?\n")
"""The line between the titles and the rows of a table."""

_ROW = re.compile(r"[ \t]*[|│┃]?(?P<cells>[^\n]{1,1000}?)[|│┃]?[ \t]*(?:\r?\n|\Z)")
_CELL = re.compile(r"[^|│┃]+")
_SECRET_CELL = re.compile(rf"\s*(?:\w+[\s_-])?(?i:{PASSWORD}|{SECRET}|token|passwort|pw)\**\s*")
"""Matches a column title that says that the column contains secrets, such as "DB password"."""

_MOST_ROWS = 200


def _written(match: re.Match[str], value: str) -> bool:
    return names_value(match) and looks_password(value)


def _mixed(match: re.Match[str], value: str) -> bool:
    del match
    return looks_secret(value)


def _random(match: re.Match[str], value: str) -> bool:
    del match
    return is_random_key(value)


def _in_object(match: re.Match[str], value: str) -> bool:
    """Whether the name of a secret precedes an object with a field "value"."""
    name = _OBJECT_NAME.search(match.string, max(0, match.start() - 80), match.start())
    return name is not None and _written(name, value)


RULES = (
    Rule(
        "secret",
        ("value",),
        rf"(?i:(?:name|key)\\?[\"']?\s{{0,3}}[:=]\s{{0,3}}\\?[\"']?[\w.-]{{0,40}}?(?:{PASSWORD}|{SECRET})(?P<rest>[\w-]{{0,24}})\\?[\"']?[\s,]{{1,40}}\\?[\"']?"
        r"""(?:string_?)?value\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?(?P<secret>[^\s"'`,}\\<>]{4,200}+))""",
        _written,
    ),
    Rule(
        "password",
        _HINTS,
        rf"(?i:{_FILLING}\([^\n()]{{0,60}}?{PASSWORD}(?P<rest>)[^\n()]{{0,30}}?[\"'`\])]\s{{0,3}},\s{{0,3}}{_QUOTED})",
        _written,
    ),
    Rule(
        "password",
        _HINTS,
        rf"(?i:{PASSWORD}(?P<rest>)[^\n]{{0,30}}?\)\s{{0,3}}\.\s?{_FILLING}\(\s{{0,3}}{_QUOTED})",
        _written,
    ),
    Rule(
        "secret",
        ("input_value=",),
        rf"(?i:(?:{PASSWORD}|{SECRET})(?P<rest>[\w-]{{0,24}})\r?\n[^\n]{{0,200}}?input_value={_QUOTED})",
        _written,
    ),
    Rule(
        "secret",
        ("value",),
        rf"\{{[^{{}}]{{0,120}}?[\"']value\\?[\"']\s{{0,3}}:\s{{0,3}}{_QUOTED_JSON}",
        _in_object,
    ),
    # The attributes of a "random_password" resource in a Terraform state file.
    Rule("password", ("bcrypt_hash",), rf"bcrypt_hash\\?\"[\s\S]{{0,1500}}?\"result\\?\"\s?:\s?{_QUOTED_JSON}"),
    Rule(
        "cookie",
        ("\ttrue\t", "\tfalse\t"),
        r"\t(?:TRUE|FALSE)\t/[^\t\n]{0,200}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,80}\t(?P<secret>[^\s]{8,4000}+)",
        _mixed,
    ),
    Rule("password", ("wifi:",), r"WIFI:[^\n]{0,80}?[:;]P:(?P<secret>[^\s;]{4,80})"),
    Rule(
        "URL password",
        ("@",),
        r"""(?<![\w/@.:-])[A-Za-z][\w.-]{0,40}:(?P<secret>[^\s/@:"'<>=]{6,100})@(?:\w{2,6}\(|[A-Za-z][\w.-]{0,60}(?::\d{2,5}\b|/\w))""",
        _mixed,
    ),
    Rule("URL password", ("://",), r"://(?P<secret>[A-Za-z0-9_-]{20,200})@(?![\w.-]{0,40}sentry)", _random),
)


def find_in_tables(text: str) -> Iterator[Span]:
    """Yield the cells of table columns whose title names passwords or other secrets."""
    for line in _LINE.finditer(text):
        titles = text[max(text.rfind("\n", 0, line.start()) + 1, line.start() - 400) : line.start()].strip(" \t\r|│┃")
        named = [at for at, cell in enumerate(_CELL.findall(titles)) if _SECRET_CELL.fullmatch(cell)]
        place = line.end()
        for _ in range(_MOST_ROWS if named else 0):
            row = _ROW.match(text, place)
            cells = [*_CELL.finditer(text, *row.span("cells"))] if row else []
            if row is None or len(cells) < 2:
                break
            yield from (span for at in named if at < len(cells) for span in _in_cell(cells[at]))
            place = row.end()


def _in_cell(cell: re.Match[str]) -> Iterator[Span]:
    value = cell[0].strip().strip("`*")
    if looks_password(value):
        start = cell.start() + cell[0].index(value)
        yield Span(start, start + len(value), "password")
