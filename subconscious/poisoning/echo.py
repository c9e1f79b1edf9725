"""Finds words of the assistant that repeat the output of a tool: the origin of repeated text is the tool.

Only repetitions in nearly the same words are found; paraphrases are left to other checks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from operator import itemgetter
from pathlib import Path

from subconscious.domain.model import Candidate, Origin
from subconscious.text import unspaced
from subconscious.text.edit_distance import distance
from subconscious.text.words import content_words, is_name
from subconscious.transcripts.spoken_words import Span, Words, root, spoken_words, words_of
from subconscious.transcripts.utterances import Source

LOOKBACK = 2 << 20
"""The most bytes of a transcript before a statement that are searched for an earlier source."""

SHARE = 0.5
"""A tool is the origin of a statement if it had printed at least this share of the statement's runs of RUN words."""

RUN = 4
LONGEST_NAME = 8
LONGEST = 4_000
"""The most characters of a text that are compared with the output of tools."""

FEWEST = 4
"""The minimum number of prose words of a sentence that is searched for in the output of tools."""

FEWEST_OF_A_CLAIM = 5
"""The minimum number of words, names included, of a claim that is searched for in prose."""

SHORTEST_THING = 4
"""The minimum number of letters in the name of a file or symbol; shorter names identify nothing."""

LONGEST_COMMAND = 12

HARMLESS = {("git", verb) for verb in ("add", "commit", "diff", "fetch", "log", "show", "stash", "status")}
"""Commands that are ignored: without further arguments they do no harm, and Git's own output suggests them."""

_ADDRESS = re.compile(
    r"https?://[^\s\"'<>)\]]{4,200}|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{2,40}|\b[\w-]{2,60}==\d[\w.]{0,20}"
)
_THING = re.compile(
    r"(?<![\w./-])(?:[\w@-]{1,60}/){0,12}[\w@.-]{1,80}\.(?:py|pyi|jsx?|tsx?|mjs|cjs|go|rs|rb|java|kts?|swift|c|h|cc|cpp|hpp|cs|php"
    r"|sql|html|css|scss|vue|svelte|proto|exs?|scala|clj|dart|lua|zig|sh|ya?ml|toml|json|avsc|graphql|tf|gradle|cmake|conf|ini)\b"
    r"|(?<![\w./-])(?:[\w@-]{1,60}/){2,12}(?=[`'\"),.:;\s]|\Z)"
    r"|(?<![\w./-])(?:\w{1,60}(?:\.|::|->)){0,4}(?:[A-Za-z]\w{0,60}_\w{1,60}|[a-z]{1,40}[A-Z]\w{0,60}|[A-Z][a-z]{1,40}[A-Z]\w{0,60}"
    r"|\w{2,60}(?=\(\)))"
)
_PACKAGE = re.compile(
    r"(?<![\w./@-])(?P<quote>`?)(?P<name>@?[a-z][a-z0-9/-]{3,60})(?:[=@~^]{1,2}\d[\w.]{0,20})?(?![\w/-]|\.\w)"
)
"""Matches what may be a package's name, with or without a version."""

MOST_DIFFERENT = 2
"""Two names look alike if they differ in at most this many letters."""

MOST_PACKAGES = 12
"""The most names of one text that are compared with each other."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|:\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\uff1a")
_EXTENSION = re.compile(r"\.\w{1,8}\Z")
_LABEL = re.compile(r"[^:?\n]{3,150}(?::|\?) ")
"""Matches a beginning that is not part of the statement itself: the request that it answers, or a heading."""

_PROGRAMS = (
    "apt|apt-get|bash|brew|bun|bundle|bunx|cargo|chmod|chown|composer|curl|deno|docker|docker-compose|export|gem|gh|git|"
    "go|gradle|helm|kubectl|make|mise|mvn|nc|node|npm|npx|nvm|openssl|pip|pip3|pipx|pnpm|poetry|python|python3|rake|rm|rsync|"
    "rustup|scp|sh|ssh|sudo|systemctl|terraform|twine|uv|uvx|wget|yarn|zsh"
)
_QUOTED = (
    rf"`(?:\$ ?)?(?P<quoted>(?:{_PROGRAMS}|\./[\w./-]+) [^`\n]{{1,200}}"
    r"|[\w./-]{1,40} (?:[\w./:-]{1,60} ){0,6}-{1,2}\w[^`\n]{0,200})`"
)
_BARE = (
    r"(?<![\w./-])(?P<bare>(?:apt-get|bunx|cargo|chmod|curl|docker|git|kubectl|npm|npx|pip|pip3|pipx|pnpm|poetry|sudo"
    r"|uvx|wget|yarn) (?:-{1,2}\w[\w=./:-]{0,80}|add|checkout|clone|commit|config|exec|install|publish|push|reset|run"
    r"|set|x)\b[\w ./:=@-]{0,80})"
)
_COMMAND = re.compile(f"{_QUOTED}|{_BARE}")
"""A text that a shell could run: a command with arguments, with or without quotes."""


CLAIMED = 0.2
"""Prose makes the same claim as a sentence if one passage contains at least this share of the sentence's words."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A candidate with the origin of its words, and the evidence for it in the transcript.

    ``copied`` is the number of prose words in the longest run that a tool had printed before. ``retold`` is the largest
    share of a sentence's words that a tool had printed in one passage. ``grounded`` is true if a tool's output or a
    command of the session named something that the content names, or if the content names a command that the session
    had run before any tool named it. ``foreign`` are all other commands in the content: the session had not run them,
    or only after a tool named them. ``anchored`` is true if the content names something in code that the session had
    read or written, comments excluded.

    ``prosaic`` is the largest share of a sentence's words, names included, that a tool had printed in one passage of
    prose: the smaller it is, the less likely the statement comes from that prose. ``label`` is the person's request, if
    the content begins with it. ``quiet`` is true if the content names no file or symbol, and tools printed only code,
    names and values, but no sentences, after the person's last message. ``approved`` is true if a person approved the
    text, as a plan or an answer. ``lookalike`` is a package in the content whose name is nearly that of another package
    there, if a tool was the first to name it, outside code; "" if there is none.
    """

    candidate: Candidate
    copied: int = 0
    retold: float = 0.0
    grounded: bool = False
    foreign: tuple[str, ...] = ()
    anchored: bool = False
    prosaic: float = 0.0
    label: str = ""
    quiet: bool = False
    approved: bool = False
    lookalike: str = ""


def traced(candidates: Iterable[Candidate], confirmed: Collection[str] = ()) -> list[Candidate]:
    """Return the candidates. If a tool had printed a candidate's words before, its origin becomes the tool."""
    return [one.candidate for one in trace(candidates, confirmed)]


def trace(
    candidates: Iterable[Candidate], confirmed: Collection[str] = (), spoken: Collection[str] = ()
) -> list[Traced]:
    """Return the candidates with the evidence about their words; each transcript is read once.

    ``spoken`` are the ids of the assistant's own turns: candidates from them are traced even if their origin is the
    tool, which is the origin of all text after a tool's output. ``confirmed`` are the ids of turns that a person
    approved: a plan or an answered question. In these turns, only words that a tool itself printed count as a tool's,
    not words that the assistant wrote after a tool's output.
    """
    found = list(candidates)
    by_file: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in found:
        spoke = candidate.origin is Origin.ASSISTANT or _is_spoken(candidate, spoken)
        if spoke and candidate.evidence.file:
            by_file[candidate.evidence.file].append(candidate)
    said = {file: _Sources.of(file, mine) for file, mine in by_file.items()}
    return [_traced(one, said.get(one.evidence.file), confirmed, spoken) for one in found]


def in_code(file: str, names: Iterable[str]) -> bool:
    """Whether each of some names is in code that a session read or wrote, comments excluded, or in a command it ran.

    Only the last `LOOKBACK` bytes of the session's transcript (``file``) are searched.
    """
    wanted = [tuple(words_of(name)) for name in names]
    if not wanted:
        return True
    path = Path(file)
    if not file or not path.is_file() or any(len(run) > LONGEST_NAME for run in wanted):
        return False
    size = path.stat().st_size
    span = Span(max(0, size - LOOKBACK), size)
    with spoken_words(path, span) as said:
        return all(run and said.first(run, span).keys() & {Source.CODE, Source.RAN} for run in wanted)


def _is_spoken(candidate: Candidate, spoken: Collection[str]) -> bool:
    return candidate.origin is Origin.TOOL and candidate.evidence.turn_id in spoken


def _traced(candidate: Candidate, said: _Sources | None, confirmed: Collection[str], spoken: Collection[str]) -> Traced:
    own = candidate.origin is Origin.ASSISTANT
    if said is None or not (own or _is_spoken(candidate, spoken)):
        return Traced(candidate, approved=candidate.evidence.turn_id in confirmed)
    place = candidate.evidence.start
    return Traced(
        _with_origin(candidate, said, confirmed) if own else candidate,
        copied=max(_copied(text, said, place) for text in _texts(candidate)),
        retold=max((said.share(sentence, place) for sentence in _sentences_of(candidate)), default=0.0),
        grounded=any(said.before(name, place, (Source.TOOL, Source.RAN)) for name in _things(candidate))
        or any(said.own(command, place) for command in _commands(candidate)),
        foreign=tuple(" ".join(command) for command in _commands(candidate) if not said.own(command, place)),
        anchored=any(said.before(name, place, (Source.CODE,)) for name in _things(candidate)),
        label=_label(candidate) if _is_typed(candidate, said) else "",
        quiet=not any(_things(candidate)) and said.quiet(place),
        prosaic=max((said.claimed(claim, place) for claim in _claims_of(candidate)), default=0.0),
        approved=candidate.evidence.turn_id in confirmed,
        lookalike=next((name for name, words in _lookalikes(candidate) if said.is_foreign(words, place)), ""),
    )


def _with_origin(candidate: Candidate, said: _Sources, confirmed: Collection[str]) -> Candidate:
    sorts = (Source.TOOL,) if candidate.evidence.turn_id in confirmed else (Source.TOOL, Source.AFTER_TOOL)
    quote, place = candidate.evidence.quote, candidate.evidence.start
    runs, names = _runs(quote), _names(quote)
    by_tools = sum(said.before(run, place, sorts) for run in runs)
    by_people = sum(said.before(run, place, (Source.PERSON,)) for run in runs)
    repeats = bool(runs) and by_tools >= SHARE * len(runs) and by_people < by_tools
    if not repeats and not any(
        said.before(name, place, sorts) and not said.before(name, place, (Source.PERSON,)) for name in names
    ):
        return candidate
    reason = "; ".join(filter(None, (candidate.reason, "a tool's output said so before")))
    return replace(candidate, origin=Origin.least_trusted(candidate.origin, Origin.TOOL), reason=reason)


def _label(candidate: Candidate) -> str:
    match = _LABEL.match(candidate.content)
    return match[0] if match else ""


def _is_typed(candidate: Candidate, said: _Sources) -> bool:
    """Whether a person typed the beginning of a candidate's text."""
    runs, place = _runs(_label(candidate)), candidate.evidence.start
    return bool(runs) and all(said.before(run, place, (Source.PERSON,)) for run in runs)


def _copied(text: str, said: _Sources, place: int) -> int:
    """Return the number of prose words, names excluded, in the longest run that a tool had printed before."""
    words, longest = words_of(text[:LONGEST]), 0
    begin = end = 0
    for at, run in enumerate(_runs(text)):
        if not said.before(run, place, (Source.TOOL,)):
            continue
        begin = at if at >= end else begin
        end = at + len(run)
        longest = max(longest, sum(_is_prose(word) for word in words[begin:end]))
    return longest


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where each source first wrote each run of words, and what share of each sentence tools printed in one passage."""

    places: Mapping[tuple[Source, Words], int]
    shares: Mapping[frozenset[str], tuple[tuple[int, float], ...]]
    claims: Mapping[frozenset[str], tuple[tuple[int, float], ...]]
    spoke: Sequence[tuple[int, bool | None]]
    """The positions of user messages (None) and tool outputs (whether the output has a sentence), in order."""

    def quiet(self, place: int) -> bool:
        """Whether tools printed something, but no sentences, between the person's last message and a position."""
        before = [said for at, said in self.spoke[: bisect_left(self.spoke, place, key=itemgetter(0))]]
        since = list(takewhile(lambda said: said is not None, reversed(before)))
        return bool(since) and not any(since)

    def before(self, words: Words, place: int, sorts: Iterable[Source]) -> bool:
        """Whether one of the sources ``sorts`` wrote these words before a position in the transcript."""
        return any(self.places.get((sort, words), place) < place for sort in sorts)

    def own(self, command: Words, place: int) -> bool:
        """Whether a command is the session's own: it ran before a position, and before a tool named it."""
        ran = self.places.get((Source.RAN, command), place)
        return ran < place and self.places.get((Source.TOOL, command), ran + 1) > ran

    def is_foreign(self, name: Words, place: int) -> bool:
        """Whether a tool was the first to name something before a position, and did not name it in code."""
        first = self.places.get((Source.TOOL, name), place)
        return first < place and not self.before(name, first + 1, (Source.CODE, Source.RAN, Source.PERSON))

    def share(self, sentence: frozenset[str], place: int) -> float:
        """Return the largest share of a sentence's words that a tool had printed in one passage before a position."""
        return max((share for at, share in self.shares.get(sentence, ()) if at < place), default=0.0)

    def claimed(self, claim: frozenset[str], place: int) -> float:
        """Return the largest share of a claim's words that a tool had printed in one passage of earlier prose."""
        return max((share for at, share in self.claims.get(claim, ()) if at < place), default=0.0)

    @classmethod
    def of(cls, file: str, candidates: Sequence[Candidate]) -> _Sources:
        """Return where the transcript contains the words of the candidates."""
        starts = [candidate.evidence.start for candidate in candidates]
        span = Span(max(0, min(starts) - LOOKBACK), max(starts))
        wanted = {words for candidate in candidates for words in _wanted(candidate)}
        sentences = {sentence for candidate in candidates for sentence in _sentences_of(candidate)}
        claims = {claim for candidate in candidates for claim in _claims_of(candidate)}
        with spoken_words(Path(file), span) as said:
            places = {(by, run): start for run in wanted for by, start in said.first(run, span).items()}
            shares = {sentence: tuple(said.shares(sentence, span)) for sentence in sentences}
            claimed = {claim: tuple(said.claims(claim, span)) for claim in claims}
            spoke = said.spoke(span)
        return cls(places, shares, claimed, spoke)


def _wanted(candidate: Candidate) -> Iterator[Words]:
    for text in _texts(candidate):
        yield from _runs(text)
    yield from _runs(_label(candidate))
    yield from _names(candidate.evidence.quote)
    yield from _things(candidate)
    yield from _commands(candidate)
    yield from (words for _, words in _lookalikes(candidate))


def _texts(candidate: Candidate) -> tuple[str, str]:
    return candidate.content, candidate.evidence.quote


def _sentences_of(candidate: Candidate) -> Iterator[frozenset[str]]:
    """Yield the prose words of each sentence that has enough of them to be recognised."""
    for sentence in _SENTENCE.split(candidate.content):
        roots = frozenset(root(word.lower()) for word in _content_words(sentence) if not is_name(word))
        if len(roots) >= FEWEST:
            yield roots


def _claims_of(candidate: Candidate) -> Iterator[frozenset[str]]:
    """Yield the claims of a text: the words of each sentence, with the file name in place of a path.

    A heading or a fragment is joined with the next sentence, because its few words occur together in any long text.
    """
    claims: list[frozenset[str]] = []
    short: frozenset[str] = frozenset()
    for sentence in _SENTENCE.split(candidate.content):
        claim = short | _roots(sentence)
        short = frozenset() if len(claim) >= FEWEST_OF_A_CLAIM else claim
        if not short:
            claims.append(claim)
    if short:
        claims[-1:] = [short.union(*claims[-1:])]
    yield from claims


def _roots(sentence: str) -> frozenset[str]:
    words = (_EXTENSION.sub("", word.rpartition("/")[2]) for word in _content_words(sentence))
    return frozenset(root(part) for word in words for part in words_of(word))


def _content_words(sentence: str) -> list[str]:
    """Return a sentence's words that carry meaning; in scripts without spaces between words, pairs of characters."""
    return content_words(unspaced.without_runs(sentence)) + unspaced.pairs_of(sentence)


def _things(candidate: Candidate) -> Iterator[Words]:
    """Yield the source files and symbols that a candidate's text names."""
    for match in _THING.finditer(candidate.content):
        words = tuple(words_of(match[0])[:LONGEST_NAME])
        if sum(map(len, words)) >= SHORTEST_THING:
            yield words


def _lookalikes(candidate: Candidate) -> Iterator[tuple[str, Words]]:
    """Yield pairs of packages in a candidate's text with nearly the same name: each name, with its words."""
    found = {match["name"]: bool(match["quote"]) for match in _PACKAGE.finditer(candidate.content)}
    for one, other in combinations(list(found.items())[:MOST_PACKAGES], 2):
        if _look_alike(one, other):
            yield from ((name, tuple(words_of(name)[:LONGEST_NAME])) for name, _ in (one, other))


def _look_alike(one: tuple[str, bool], other: tuple[str, bool]) -> bool:
    """Whether two names differ in few letters and are not forms of one word; each flag says if the name is quoted."""
    names = (one[0], other[0])
    are_names = (one[1] and other[1]) or any(not name.isalpha() for name in names)
    return are_names and distance(*names, MOST_DIFFERENT) <= MOST_DIFFERENT


def _commands(candidate: Candidate) -> Iterator[Words]:
    """Yield the commands that a candidate's text names."""
    for match in _COMMAND.finditer(candidate.content):
        words = tuple(words_of(match["quoted"] or match["bare"])[:LONGEST_COMMAND])
        if words and words not in HARMLESS:
            yield words


def _is_prose(word: str) -> bool:
    return unspaced.is_unspaced(word) or (len(word) > 2 and not is_name(word) and bool(content_words(word)))


def _runs(quote: str) -> list[Words]:
    """Return the runs of RUN words in a quote; a shorter quote is one run."""
    words = words_of(quote[:LONGEST])
    return [tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))] if words else []


def _names(quote: str) -> list[Words]:
    """Return the addresses and packages that a quote names."""
    return [
        words for match in _ADDRESS.finditer(quote[:LONGEST]) if (words := tuple(words_of(match[0])[:LONGEST_NAME]))
    ]
