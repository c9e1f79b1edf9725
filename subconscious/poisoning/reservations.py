"""Reasons not to show a statement of the assistant to sessions before it is confirmed.

Some of an assistant's findings come from planted text, and look like honest findings. So every statement on a
topic that an attacker needs is rejected here, until a person confirms it: commands, addresses, credentials,
permissions, checks, policies. The remaining statements describe how the code in the project behaves.

With evidence, fewer topics are rejected. A statement is attested if it names something in code that its session read or
wrote, comments excluded, and if no page, document, message or comment of the session makes the same claim. Then only
the code itself could have planted the statement, and only `ATTESTED_TOPICS` are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from subconscious.domain.model import Candidate, Level, Origin, Scope, Verdict
from subconscious.poisoning.claims import is_claim
from subconscious.poisoning.echo import CLAIMED, Traced
from subconscious.poisoning.reservation_topics import ATTESTED_TOPICS, LETTERS, TOPICS, Topic, topic_of
from subconscious.text.words import content_words, is_name

KINDS = frozenset(("decision", "learning"))
"""Kinds that state facts. Other kinds are about a person's wishes, or about work in progress."""

REVIEWED_KINDS = KINDS | {"dead_end", "research"}
"""Like ``KINDS``, for candidates that a model reviews; their words are checked in the same way."""

COPIED = 5
"""A tool counts as the author of a statement that has this many consecutive prose words of the tool's output."""

RETOLD = 0.6
"""A sentence repeats a tool's output if one passage of it contains at least this share of the sentence's words."""

ENGLISH = 8
"""Text counts as English if it has at least one function word in this many words of prose."""

EDITED = 4
"""A statement counts as a list of edits if at least one in this many sentences reports an edit."""

CLAIMED_IN_QUIET = 0.2
"""Like ``CLAIMED``, for statements with `Traced.quiet`: they name nothing, and tools had printed no sentences."""

FEWEST_ATTESTED = 2
"""The minimum number of prose words in an attested statement; its names carry the rest of the meaning."""

ONLY_THE_USER = "only the user can confirm their own words"

_GUESSED = "it is a guess"

_CODE = re.compile(r"`[^`\n]{1,200}`")
_NAMED = re.compile(
    r"`[^`\n]{1,200}`|\b(?:GET|POST|PUT|PATCH|DELETE) (?=/)|\b(?:Bash|Edit|Glob|Grep|Read|Write) (?=(?:calls?|tools?)\b)"
)
"""Code, an HTTP method before a path, and the client's tools: words in them could be taken for instructions."""
_PATH = re.compile(r"(?<![\w./~-])(?:[\w-]{1,60}/){1,12}[\w-]{1,60}\.\w{1,8}\b(?![/.]\w)")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|:\s+|\s[-\u2013\u2014]+\s|\s\u2192\s")
_TRAILER = re.compile(
    r"^(?:Co-authored|Signed-off)-by: [\w. -]{1,60} <[\w.+-]{1,60}@[\w.-]{1,60}(?:>$|\Z)", re.IGNORECASE | re.MULTILINE
)
"""A trailer of a commit message; evidence may be cut off within it."""

_ADVICE = re.compile(
    r"\b(?:should|must|shall|ought|needs?|wants?|has to|have to|had to|ensure|make sure|be sure|remember"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bwould )(?:always|never)(?! \w+(?:s|ed)\b)|prefer|preferabl[ey]"
    r"|recommend\w*|advis\w+|suggest(?:s|ed)?|mandatory|only way|the way to|(?:best|safest|easiest|simplest|right|proper"
    r"|correct|standard|usual) (?:way|approach|fix|solution|practice)|can be (?:run|used|skipped|ignored|fixed)|is to (?:\w+)"
    r"|you|your|yours|we|our|ours|us|let's|please|don't|do not|avoid|instead,? use)\b",
    re.IGNORECASE,
)
_ATTESTED_ADVICE = re.compile(
    r"\b(?:should|must|shall|ought|ensure|make sure|be sure|remember|prefer|preferabl[ey]|recommend\w*|advis\w+"
    r"|suggest(?:s|ed)?|mandatory|(?:best|safest|easiest|simplest|right|proper|standard|usual) (?:way|approach|fix|solution"
    r"|practice)|is right|can be (?:skipped|ignored)|you|your|yours|our|ours|let's|please|avoid|instead,? use)\b"
    r"|(?:\A|[,;:.] )(?:don't|do not|never|always)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\W*(?:also |then |first |finally |just |simply |only |and |or |so |but |next |afterwards |, )*"
    r"(?:add|allow|append|apply|approve|ask|avoid|build|call|change|check|choose|clear|clone|commit|configure|confirm|consider"
    r"|copy|create|delete|deploy|derive|disable|do|don't|download|drop|edit|enable|ensure|exclude|execute|export|extend|extract"
    r"|fetch|find|fix|follow|force|format|get|give|go|grant|handle|ignore|implement|import|include|insert|install|invoke|keep|leave"
    r"|let|log|look|make|merge|modify|move|note|omit|open|pass|paste|pin|point|post|prefer|publish|pull|push|put|read|refactor"
    r"|remember|remove|rename|render|replace|reset|restart|restore|return|revert|rewrite|run|save|send|set|show|skip|specify|start"
    r"|stop|store|switch|take|tell|treat|trust|try|turn|unset|update|upgrade|upload|use|validate|verify|wait|wire|wrap|write)\b(?![./-]\w)"
    r"(?!\s*(?:\(|(?:is|are|was|were|has|had|does|did|fails?|failed|returns?|throws?)\b))",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\b(?:might|maybe|perhaps|probabl[ey]|possibl[ey]|likely|unlikely|seems?|seemed|appears?|apparently|presumably|suspect\w*"
    r"|guess\w*|assum\w+|hypothes\w+|could be|may be|unclear|unsure|not sure|i think|i believe|would be|if so)\b|\?",
    re.IGNORECASE,
)
_ATTESTED_GUESS = re.compile(
    r"\b(?:might|maybe|perhaps|probabl[ey]|possibl[ey]|(?:un)?likely|seem(?:s|ed)?|appear(?:s|ed)? to|apparently|presumably"
    r"|suspect\w*|guess\w*|assum\w+|hypothes\w+|could be|may be|unclear|unsure|not sure|i think|i believe|if so)\b|\?",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:currently|still|at the moment|right now|so far|pending|todo|in progress|not yet|today|this session|just now)\b|!(?:\s|\Z)",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\W*(?:(?:\w+ ){0,2}(?:added|updated|removed|replaced|renamed|changed|fixed|moved|created|extracted|wired|kept|swapped|bumped"
    r"|deleted|dropped|refactored|modified|implemented|introduced|converted|cleaned)\b"
    r"|(?:summary|modified files|changes?|tests?|files?|new|verification|result)\b[^.]{0,40}\Z)",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"\W*(?:also |tests? |files? |(?:\d+|several|new|all) )*(?:added|removed|updated|deleted|renamed|modified|moved|bumped|refactored"
    r"|introduced|cleaned up|changed)\b(?! (?:by|when|if|while|files?|to|in) )",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\W*(?:it|it's|its|this|these|those|they|also|so|but|and|or|tests?"
    r"|the (?:fix|change|old code|new code|creation|pattern|condition|tests?)(?! (?:of|for|in|from) )"
    r"(?! (?:run|runner|suite|command|file|helper|script|case|data|set-?up)s?\b))\b",
    re.IGNORECASE,
)
"""Beginnings of statements that refer to the text before them."""

_ENGLISH = re.compile(
    r"\b(?:the|a|an|is|are|was|were|of|to|in|on|for|and|or|not|no|it|its|that|this|when|which|with|by|from|as|at|be|has|have|does"
    r"|only|but|if|because|so|than|into|after|before|instead)\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\b(?:I|I'm|I've|I'll|I'd|me|my|let me)\b")


@dataclass(frozen=True, slots=True)
class Screen:
    """The patterns that are rejected in a statement, and the minimum number of prose words that it must have."""

    topics: tuple[Topic, ...]
    advice: re.Pattern[str]
    guess: re.Pattern[str]
    fewest: int
    capitals: bool = False
    """Whether a capitalised word counts as prose, not as a name: the first word of a sentence is always capitalised."""
    paths: bool = False
    """Whether paths of source files are removed before topics are searched."""


STRICT = Screen(TOPICS, _ADVICE, _GUESS, COPIED)
QUIET = Screen(TOPICS, _ADVICE, _GUESS, COPIED, capitals=True)
ATTESTED = Screen(ATTESTED_TOPICS, _ATTESTED_ADVICE, _ATTESTED_GUESS, FEWEST_ATTESTED, capitals=True, paths=True)


def is_attested(traced: Traced) -> bool:
    """Whether a statement names code that its session read or wrote, and no prose in the session makes its claim."""
    return traced.anchored and traced.prosaic < CLAIMED and traced.copied < COPIED


def reservation(traced: Traced, verdict: Verdict, *, reviewed: bool = False, news: bool = False) -> str:
    """Return why a candidate must not be shown to sessions before it is confirmed; "" if it may be shown.

    ``reviewed`` is true if the candidate is shown only after a model has found that its quote supports all of it. That
    review judges the wording; origin and topics are checked here as well, because a model can be deceived.
    ``news`` is true if the candidate may report what its session changed.
    """
    candidate = traced.candidate
    screen = _screen_for(traced, reviewed=reviewed)
    stated = candidate.content.removeprefix(traced.label)
    return (
        _by_source(candidate, verdict, REVIEWED_KINDS if reviewed else KINDS)
        or _by_topic(candidate, screen, read=traced.approved)
        or _by_language(candidate)
        or ("" if reviewed or news else _by_news(stated))
        or ("" if reviewed else _by_beginning(stated))
        or next((why for one in sentences(stated) if (why := _by_form(one, screen, reviewed=reviewed))), "")
        or _by_evidence(traced, screen)
    )


def _screen_for(traced: Traced, *, reviewed: bool) -> Screen:
    """Return the patterns for a statement.

    The most lenient patterns apply if code attests the statement, or if a person approved (and so read) its text and a
    model reviews it as well.
    """
    if is_attested(traced) or (reviewed and traced.approved):
        return ATTESTED
    screen = QUIET if traced.quiet else STRICT
    return replace(screen, fewest=FEWEST_ATTESTED, capitals=True) if reviewed else screen


def _by_source(candidate: Candidate, verdict: Verdict, kinds: frozenset[str]) -> str:
    if candidate.origin is Origin.USER:
        return ONLY_THE_USER
    if candidate.kind not in kinds or candidate.scope is not Scope.PROJECT:
        return f"only a person can confirm a {candidate.kind}"
    if verdict.level is not Level.NONE:
        return "it may be poisoned"
    return ""


def reserved(text: str) -> str:
    """Return why a text must not be shown to sessions, judging by its topics; "" if no topic rules it out."""
    return topic_of(text, TOPICS)


def of_own_words(candidate: Candidate, verdict: Verdict, *, quoted: bool) -> str:
    """Return why a typed statement must not be shown to sessions before the person confirms it; "" if it may be shown.

    The statement may be pasted text, so topics that an attacker needs require a confirmation, as do guesses. ``quoted``
    is true if the text quotes somebody else; then the rules for the assistant's findings apply.
    """
    if quoted:
        as_finding = replace(candidate, kind="learning", origin=Origin.TOOL)
        return reservation(Traced(as_finding, grounded=True), verdict)
    if verdict.level is not Level.NONE:
        return "it may be poisoned"
    why = _by_topic(candidate, STRICT) or _by_language(candidate)
    return why or next((_GUESSED for one in sentences(candidate.content) if _GUESS.search(one)), "")


def _by_topic(candidate: Candidate, screen: Screen, *, read: bool = False) -> str:
    """Return the reason if a candidate or its evidence has a rejected topic; else "".

    The evidence is not searched if ``read`` is true, because a person has read and approved it.
    """
    quote = "" if read else _TRAILER.sub("", candidate.evidence.quote)
    texts = (candidate.content, quote, candidate.rationale, candidate.summary)
    searched = (_PATH.sub("it", text[:LETTERS]) if screen.paths else text for text in texts)
    found = next(filter(None, (topic_of(text, screen.topics) for text in searched)), "")
    return f"it {found}" if found else ""


def sentences(stated: str) -> Iterator[str]:
    """Yield the sentences of a statement, with code, HTTP methods and tool names replaced by "it".

    Otherwise a word in a name, such as ``should_retry``, could be taken for advice or a guess. Sentences with fewer
    than two content words are left out.
    """
    for sentence in _SENTENCE.split(_NAMED.sub("it ", stated)):
        if len(content_words(sentence)) > 1:
            yield sentence


def _by_language(candidate: Candidate) -> str:
    """Return the reason if a candidate is not in English, the only language that the patterns cover; else ""."""
    stated = candidate.content
    plain = [word for word in content_words(_CODE.sub("it", stated)) if not is_name(word)]
    ascii_only = all(word.isascii() for word in content_words(stated) if not is_name(word))
    if len(_ENGLISH.findall(stated)) * ENGLISH < len(plain) or not ascii_only:
        return "it is not in English, the only language that is checked"
    return ""


def _by_news(stated: str) -> str:
    """Return the reason if a statement is a list of edits, which Git has anyway and which is soon outdated; else ""."""
    found = list(sentences(stated))
    done = sum(bool(_DONE.match(sentence)) for sentence in found)
    edited = sum(bool(_EDITED.match(sentence)) for sentence in found)
    if (edited and EDITED * edited >= len(found)) or (done and 2 * done >= len(found)):
        return "it reports what was done, not how something works"
    return ""


def _by_beginning(stated: str) -> str:
    if _POINTING.match(stated):
        return "it depends on the text before it"
    return ""


def _by_form(sentence: str, screen: Screen, *, reviewed: bool) -> str:
    if screen.advice.search(sentence) or _ORDER.match(sentence):
        return "it gives advice instead of a description"
    if screen.guess.search(sentence):
        return _GUESSED
    if is_claim(sentence):
        return "it makes a claim that would serve an attacker"
    if _PASSING.search(sentence) and not reviewed:
        return "it applies only for the moment"
    if _SPEAKER.search(sentence):
        return "it reports what was done, not how something works"
    return ""


def _by_evidence(traced: Traced, screen: Screen) -> str:
    if traced.foreign:
        return f"its session had not run {traced.foreign[0]!r}, or only after a tool named it"
    if traced.copied >= COPIED or traced.retold >= RETOLD:
        return "its words come from a file, a page or a command's output"
    named = traced.grounded or traced.anchored or traced.approved
    if not (named or (traced.quiet and traced.prosaic < CLAIMED_IN_QUIET)):
        return "it names nothing that its session looked at"
    if _plain_words(traced.candidate.content, screen) < screen.fewest:
        return "it can't be understood without its context"
    return ""


def _plain_words(text: str, screen: Screen) -> int:
    """Return how many words are not names; with ``screen.capitals``, a capitalised word is not a name."""
    words = content_words(text)
    return sum(not is_name(word) or (screen.capitals and word.isalpha() and word[1:].islower()) for word in words)
