"""Decides whether a session used a memory by running a command, or changing a file, that the memory names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from subconscious.domain.model import Memory
from subconscious.failures.commands import Command, parse
from subconscious.recall.file_binding import NAMED, Touched, bond
from subconscious.text.folders import restricts

COMMON = frozenset(
    "ls cat cd echo pwd grep rg find head tail sed awk sort wc cut diff mkdir rm cp mv touch chmod which ps kill sleep"
    " tree less git".split()
)
"""Programs that nearly every session runs. Only a whole command with three or more words shows that it was meant."""

_RUNNERS = frozenset("run exec compose dlx -m".split())
"""Words after which a program's name follows: `npm run lint` and `npm run build` are different commands."""

_FLAG = re.compile(r"-(?!m\Z)|.*[=<>$*\"'{]")
_CLAUSE = re.compile(r"[.;!?\n](?=\s|\Z)|,|:(?=\s)| - | \u2013 | \bbut\b|\baber\b|\bpero\b|\bmais\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:never|not|no|nobody|cannot|without|avoid|stop|forget|skip|instead of|rather than|(?:do|does|is|are|ca|can"
    r"|must|should|wo|would)n'?t|nicht|nie|niemals|kein\w*|niemand|ohne|statt|vergiss|nunca|sin|no|jamais|ne|pas|sans|n[ãa]o"
    r"|sem|mai|non|senza"
    r"|refrain\w*|quit|hate|dislike|rather die|used to|formerly|previously|no longer|(?:away|switched|moved) from"
    r"|hör\w* auf|vermeid\w*|früher|evita\w*|dej\w+ de|antiguamente|évit\w+|arrêt\w+|autrefois|pare de|antigamente"
    r"|vermijd\w*|stop met)\b|不要|不许|禁止",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:i|he|she|they|we|you|someone|somebody|people|when \w+|who\w*) (?:ran|executed|used|called|keep|kept)\b"
    r"|\b(?:als|nachdem|cuando|quand|quando) .{0,60}\b(?:lief|benutzt\w*|us[oóé]\w?|ejecut[eéó]|lanc[eé]|rodou)\b",
    re.IGNORECASE,
)
"""The words before a command in a statement about what happened, not about what to do: "it broke when I ran"."""
_RESERVED = re.compile(
    r"\b(?:only|nur|solo|sólo|seul)\b.{0,40}\b(?:may|can|runs?|allowed|darf|dürfen|puede|peut)\b", re.IGNORECASE
)
_REFUSED = re.compile(
    r"\A.{0,60}?\b(?:(?:must|may|should|shall|can|do|does|is|are|will|wo|ca|darf|soll)(?: not| never| nicht| nie|n'?t)"
    r"|cannot|forbidden|broken|fails?|failed|hangs|off limits|verboten|(?:nicht|nie) (?:mehr )?\w+en|no longer"
    r"|prohibido|interdit"
    r"|only (?:if|when|with|on|after|once)|nur (?:wenn|mit|nach)|s[oó]lo (?:si|con|cuando)|seulement (?:si|avec|quand)"
    r"|só (?:se|com|quando)|sparingly|at your own|or else)\b",
    re.IGNORECASE | re.DOTALL,
)

_ASKS_TO_RUN = re.compile(
    r"\b(?:run|running|use[sd]?|using|via|thr(?:u|ough)|with|(?:run|built|checked|made|generated|done) by|call|execute"
    r"|mit|per|\u00fcber|nutzt?|benutz\w*|verwend\w*|con|v\u00eda|usar?|usa[rd]?|ejecut\w*|avec|utilis\w*|lance[rz]?"
    r"|ex\u00e9cut\w*|com|rode|execut\w*|esegu\w*|met|gebruik|draai)\b\W{1,3}(?:\w+\W{1,2}){0,2}\Z"
    r"|\b(?:always|only|do|immer|nur|erst|siempre|solo|s\u00f3lo|toujours|sempre|altijd|tests?: |testing: |lint\w*: "
    r"|build: |format\w*: |checks?: |types?: |setup: |install: )\s?[`\"']?\Z",
    re.IGNORECASE,
)
"""The words before a command that a statement tells to run: "use", "only via", "tests: "."""

_THEN_RUNS = re.compile(
    r"\A[`\"']?,? (?:(?:has|have|needs?) to (?:be run|pass)|must (?:be run|pass)|before (?:every|each|any|you|a)\b"
    r"|vor jede[mnr]\b|antes de cada\b|avant chaque\b)",
    re.IGNORECASE,
)
"""The words after such a command."""

_CAUTION = re.compile(
    r"\b(?:ask\w*|confirm\w*|approv\w*|permission|sign.?off|leave\b.{1,200}\bto|careful\w*|danger\w*|wip(?:es?|ed|ing)"
    r"|delet\w+|destroy\w*|drops?|dropped|eras\w+|overwrit\w+|kills?|charges?"
    r"|broke|breaks|nuke[sd]?|loses|costs|risk\w*|peril|stop (?:that|it|this)"
    r"|frag\w*|best\u00e4tig\w*|freigabe|genehmig\w*|erlaubnis|vorsicht\w*|l\u00f6sch\w*|\u00fcberschreib\w*"
    r"|pregunt\w*|confirm\w*|permiso|aprob\w*|borra\w*|demand\w*|autoris\w*|accord|supprim\w*|efface\w*|\u00e9crase\w*"
    r"|pergunt\w*|permiss\w*|aprova\w*|apaga\w*|chied\w*|cancell\w*|vraag\w*|toestemming|wist|verwijder\w*)\b",
    re.IGNORECASE,
)
"""Words of a sentence that warns of a command, or makes it depend on somebody."""

_BEFORE = re.compile(
    r"\b(?:before|until|bevor|vor|antes de|avant(?: de)?|prima di) (?:(?:you|we|one|du|wir|man) )?"
    r"(?:run(?:ning)?|us(?:e|ing)|call(?:ing)?|do(?:ing)?|execut(?:e|ing))?\W*\Z",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?;\n](?=\s|\Z)")
_WITH, _WITHOUT = (re.compile(pattern, re.IGNORECASE) for pattern in (r"(?<!\S)w(?: |/ ?)", r"(?<!\S)w/o(?!\S)"))

MOST_COMMANDS = 2000
"""The most commands of a session, the latest ones, that are compared with a memory."""


def ran(memory: Memory, asked: str, commands: Iterable[str]) -> str:
    """Return how commands of a session used a memory: they include one that the memory names; "" if they did not.

    Only a command that the memory tells to run counts: running what it forbids, or warns of, does not follow it. Nor
    does one count that the request (``asked``) names, or that nearly every session runs.
    """
    latest = list(dict.fromkeys(commands))[-MOST_COMMANDS:]
    for phrase in dict.fromkeys(phrase for line in latest for phrase in _named(memory, line)):
        if _is_demanded(memory.content, phrase) and not _places(asked, phrase.strip("`")):
            return "a command that it names"
    return ""


def is_undue(memory: Memory, command: str) -> bool:
    """Whether a memory names a command without telling to run it: it forbids it, or warns of it."""
    return any(not _is_demanded(memory.content, phrase) for phrase in _named(memory, command))


def _named(memory: Memory, line: str) -> Iterator[str]:
    """Yield the commands of a line that a memory names, as it names them."""
    text, folded = _plain(memory.content)
    for command in _commands(line):
        if command.words[0].removeprefix("./").casefold() in folded:
            phrase = next((phrase for phrase in _phrases(command.words) if _places(text, phrase, folded)), "")
            if phrase:
                yield phrase


@lru_cache(maxsize=200)
def _plain(text: str) -> tuple[str, str]:
    """Return a text with single spaces and with "with" and "without" spelled out, and the same text case-folded."""
    plain = _WITH.sub("with ", _WITHOUT.sub("without", " ".join(text.split())))
    return plain, plain.casefold()


@lru_cache(maxsize=2000)
def _is_demanded(content: str, phrase: str) -> bool:
    """Whether a statement tells to run a command at one of the places where it names it."""
    text, folded = _plain(content)
    return any(_asks_for(text, *place) for place in _places(text, phrase, folded))


def changed(memory: Memory, asked: str, files: Iterable[tuple[str, str]]) -> str:
    """Return how the files that a session changed used a memory: it names one of them; "" if it does not.

    ``files`` are paths, each with the folder in which the session worked. A file that the request names does not
    count, and a statement that restricts work on files is not used by a change of one.
    """
    if restricts(memory.content):
        return ""
    for path, folder in files:
        touched = Touched(path.removeprefix(f"{folder}/"), folder)
        stated = touched.name in memory.content and touched.name not in asked
        if stated and bond(memory, touched) >= NAMED:
            return "a file that it names"
    return ""


@lru_cache(maxsize=4 * MOST_COMMANDS)
def _commands(line: str) -> tuple[Command, ...]:
    """Return the commands of a line; cached, because each memory of a session is compared with all of its commands."""
    return parse(line)


def _phrases(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the beginnings of a command that name it, the longest first."""
    if len(words) > 2:
        yield " ".join(words)
    if words[0] in COMMON:
        return
    plain = [words[0]]
    for word in words[1:]:
        if _FLAG.match(word):
            break
        plain.append(word)
    fewest = 3 if len(plain) > 1 and plain[1] in _RUNNERS else 2
    yield from (" ".join(plain[:size]) for size in range(len(plain), fewest - 1, -1))
    if len(plain) == 1:
        yield plain[0] if "/" in plain[0] else f"`{plain[0]}`"


def _places(text: str, phrase: str, folded: str = "") -> list[tuple[int, int]]:
    """Return where a text contains a command, with or without "./" before it; ``folded`` is the text case-folded."""
    bare = phrase.removeprefix("./")
    if bare.casefold() not in (folded or text.casefold()):  # most texts: a pattern need not be compiled
        return []
    found = re.finditer(rf"(?<![\w./-])(?:\./)?{re.escape(bare)}(?![\w/-]|[.:]\w)", text, re.IGNORECASE)
    return [one.span() for one in found]


def _asks_for(text: str, begin: int, end: int) -> bool:
    """Whether a statement tells to run the command at a place.

    Two negations before a command demand it: "don't commit without running it".
    """
    plain = text.replace("\u2019", "'")
    before, after = _CLAUSE.split(plain[:begin])[-1], _CLAUSE.split(plain[end:])[0]
    around = f"{_SENTENCE.split(plain[:begin])[-1]} {_SENTENCE.split(plain[end:])[0]}"
    denied = len(_NEGATION.findall(before)) % 2 == 1
    if (
        denied
        or _TELLS.search(before)
        or _RESERVED.search(before)
        or _REFUSED.match(after)
        or _CAUTION.search(around)
        or _BEFORE.search(before)
    ):
        return False
    return bool(_ASKS_TO_RUN.search(plain[max(0, begin - 60) : begin]) or _THEN_RUNS.match(after))
