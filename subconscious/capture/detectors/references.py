"""Resolves the references of short replies: the option that was picked, the question that was answered.

At most two sentences of the assistant's previous message are added to a reply, marked as the assistant's words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from subconscious.capture.detectors.reactions import is_reaction
from subconscious.capture.narration import is_narration
from subconscious.capture.passages import plain
from subconscious.text import wording
from subconscious.text.stops import split
from subconscious.text.words import has_letters

LONGEST_REFERENCE = 220
"""The maximum number of characters of the assistant's message that are added."""

_DEPENDENT = re.compile(
    r"\W*(?:yes|yep|yeah|yup|no+|nope|nah|ok(?:ay)?|sure|right|correct|exactly|agreed|neither|both|either|same|that|it|this|these|those|they|"
    r"option|the (?:first|second|third|last|former|latter|other|one)|first|second|third|last|(?:[a-e]|\d)(?=\W|\Z)|always that|"
    r"not (?:in )?(?:there|that|this|here)|also for|only (?:for|in|on)|keep (?:it|that)|ja|nein|oui|non|s[ií]|sim|n[aã]o)\b",
    re.IGNORECASE,
)
_FEW_WORDS = 4
_TERSE = 5
"""A reply of at most this many words is assumed to have no content of its own."""

_PICK = re.compile(r"\b(?:option|variant|approach|choice|number|no\.?)?\s*#?\(?\b([a-e]|\d)\)?(?=\W|\Z)", re.IGNORECASE)
_NOUN_FOLLOWS = re.compile(
    r" (?!(?:for|please|pls|and|but|because|since|everywhere|is|always|with|obviously|definitely|as|in|on|it|then|if|für"
    r"|bitte|und|aber|weil|pour|et|para|por|porque)\b)[^\W\d_]",
    re.IGNORECASE,
)
"""What follows an article: "a queue". The option "a" is followed by other words: "a for all services"."""

_OF_A_CHOICE = frozenset(
    """two three four 2 3 4 way ways option options choice choices approach approaches variant variants alternative
    alternatives possible possibilities shall should would could use take pick choose want prefer see either works fine
    recommend suggest following zwei drei wege möglichkeiten optionen welche welches soll""".split()
)
"""Words that say only that there are options."""

_ORDINAL = re.compile(
    r"\bthe (first|second|third|fourth|last|former|latter)\b|^\W*(first|second|third|last)\b", re.IGNORECASE
)
_ORDINALS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1}
_OPTION = re.compile(
    r"(?:^|\n|[,;:]\s|\bor\s|\s)\*{0,2}(?:option\s+|variant\s+|approach\s+)?\(?(?P<name>[A-Ea-e]|\d)\*{0,2}[).:]\*{0,2}\s+"
    r"(?P<text>[^\n?;]{3,200}?)"
    r"(?=\n|\?|;|,?\s+(?:or\s+|and\s+)?\*{0,2}(?:option\s+)?\(?(?:[A-Ea-e]|\d)\*{0,2}[).:]\*{0,2}\s|\Z)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LIST_ITEM = re.compile(r"(?:^|\n)[ \t]*(?P<number>\d{1,2})[.)][ \t]+(?P<text>[^\n]{3,400})")
_ANAPHOR = re.compile(
    r"\b(?:it|them|em|they|those|ours|theirs|yours|(?:that|this|the other|the same) one|one of them)\b", re.IGNORECASE
)
_FEWEST_NAMES = 2
_BRIEF = 12
"""A reply of at most this many words may leave out its subject; longer ones are assumed to name it."""

_SHORT_CLAUSE = re.compile(r"\W{0,3}\S{1,30}(?: \S{1,30}){0,2}[,.;:!]\s")
"""An opening clause of up to three words that answers a question, before the reasons: "avif + jpeg, skip webp ..."."""

_REPLY = re.compile(
    r"\W*(?:yes|yep|yeah|yup|no+|nope|nah|ok(?:ay)?|sure|right|correct|exactly|agreed|wrong|not|that|this|it|these|those|they|"
    r"the (?:first|second|third|last|former|latter|other|one)|same|only|keep|always|never|ja|nein|oui|non|s[i\u00ed]|sim|n[a\u00e3]o)\b|[^.!?]{1,80}!",
    re.IGNORECASE,
)
"""Beginnings of replies to a statement. Sentences that begin differently may have another subject."""

_FEWEST_STATED = 3
"""The minimum number of words of a statement that a reply may be about: "RabbitMQ." explains nothing."""

_PROPOSAL = re.compile(
    r"i(?:'ll|'d| will| would| am going to|'m going to| rounded| used| put| made| moved| set)\b", re.IGNORECASE
)


def is_dependent(text: str) -> bool:
    """Whether a sentence is a reply that is hard to understand without the question."""
    return bool(_DEPENDENT.match(text)) or len(wording.content_words(text)) < _FEW_WORDS


def begins_back(text: str) -> bool:
    """Whether a sentence uses a pronoun before it names anything that the pronoun could refer to."""
    found = _ANAPHOR.search(text)
    return found is not None and len(wording.content_words(text[: found.start()])) < _FEWEST_NAMES


def replies(text: str, before: str) -> bool:
    """Whether the first sentence of a message leaves out its subject, because the assistant had just named it."""
    said = sentences_in(before)
    asked = bool(said) and said[-1].endswith(("?", "\uff1f"))
    return _refers_back(text) or (asked and (_is_brief(text) or bool(_ANAPHOR.search(text))))


def _refers_back(text: str) -> bool:
    """Whether a sentence uses a pronoun for something that it does not name; long sentences are assumed to name it."""
    return begins_back(text) or (_is_brief(text) and bool(_ANAPHOR.search(text)))


def _is_brief(text: str) -> bool:
    return len(text.split()) <= _BRIEF or bool(_SHORT_CLAUSE.match(text))


def answered(text: str, before: str, number: str = "") -> str:
    """Return a reply with what it refers to: the picked option, the question, or the statement that it answers.

    ``number`` is the reply's number if the user numbered the replies like the assistant's questions, else "".
    """
    about = _numbered(number, before) or _picked(text, before) or question_of(before)
    if about:
        return f"{text} (asked: {about})"
    terse = len(text.split()) <= _TERSE
    told = _stated(before) if terse or _REPLY.match(text) or _refers_back(text) else ""
    return f"{text} (replying to: {told})" if told else text


def _numbered(number: str, before: str) -> str:
    """Return the last list item with ``number`` in the assistant's message; "" if there is none."""
    found = [one for one in _LIST_ITEM.finditer(before) if number and one["number"] == number]
    return wording.shorten(wording.squeeze(plain(found[-1]["text"])), LONGEST_REFERENCE) if found else ""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option that the assistant offered: its name ("b"), its text, and where both are in the message."""

    name: str
    text: str
    start: int
    end: int


def _picked(text: str, before: str) -> str:
    """Return the option that a reply picks by letter, number or position, with what it is about; "" for none."""
    options = options_in(before)
    if not options:
        return ""
    ordinal = _ORDINAL.search(text)
    if ordinal:
        at = _ORDINALS[(ordinal[1] or ordinal[2]).lower()]
        return _offered(options[at], options, before) if -len(options) <= at < len(options) else ""
    name = _name_in(text)
    return next((_offered(one, options, before) for one in options if one.name == name), "")


def options_in(before: str) -> list[Choice]:
    """Return the last list of options in a message, from "a" or 1 upward; all options if none has such a name."""
    options = []
    for found in _OPTION.finditer(before):
        said = split(_SENTENCE, found["text"])[0]
        start, end = found.start() + (found[0][0] in ",;:"), found.start("text") + len(said)
        options.append(Choice(found["name"].casefold(), plain(said).strip(" ."), start, end))
    begun = [at for at, one in enumerate(options) if one.name in {"a", "1"}]
    first = next((at for at in reversed(begun) if at + 1 < len(options)), begun[0] if begun else None)
    if first is None:
        return options
    ordered = [options[first]]
    for option in options[first + 1 :]:
        if option.name > ordered[-1].name:
            ordered.append(option)
    return ordered


def _name_in(text: str) -> str:
    """Return the letter or number that a reply names; "a" before another word is an article."""
    for pick in _PICK.finditer(text):
        bare = pick[1].islower() and pick[0].strip() == pick[1]
        if not (bare and _NOUN_FOLLOWS.match(text, pick.end())):
            return pick[1].casefold()
    return ""


def _offered(option: Choice, options: list[Choice], before: str) -> str:
    """Return an option's text, with the question or the beginning of the sentence that offers it."""
    text = option.text
    if _ANAPHOR.search(text) and option is not options[0]:  # "a) keep the retries in the client, b) move them"
        text = wording.squeeze(plain(before[options[0].start : option.end])).strip(" (*,;:.")
    whole = _with_question(text, before[: options[0].start], before[options[0].start :], before[options[-1].end :])
    return whole if len(whole) <= LONGEST_REFERENCE else wording.shorten(option.text, LONGEST_REFERENCE)


def _with_question(text: str, ahead: str, offer: str, behind: str) -> str:
    """Return an option's text with the question in the text ahead of the options or behind them."""
    lead = next((one for one in reversed(sentences_in(ahead)) if has_letters(one)), "").strip("*( ")
    if lead and lead[-1] not in ":?.!," and not offer.startswith("\n"):  # "shall I use a) Redis or b) NATS?"
        return f"{lead} {text}{'?' * behind.startswith('?')}"
    said = sentences_in(behind.lstrip("?.! "))
    questions = (one for one in (lead, *said) if one.endswith("?") and is_telling(one))
    introduction = lead if lead.endswith(":") and is_telling(lead) else ""
    if before := next(questions, introduction):
        return f"{before} {text}"
    return f"{text} {said[0]}" if said and said[0][0].islower() else text  # the sentence goes on after its list


def is_telling(said: str) -> bool:
    """Whether the words around options name a subject, unlike "Two ways:" or "Which one?"."""
    return any(word.casefold() not in _OF_A_CHOICE for word in wording.content_words(said))


def question_of(before: str) -> str:
    """Return the assistant's last question, with the sentence before it if the question has few content words."""
    said = sentences_in(before)
    at = next((at for at in reversed(range(len(said))) if said[at].endswith(("?", "\uff1f"))), None)
    if at is None:
        return ""
    approval = is_reaction(said[at])  # "Okay?" asks nothing: the sentence before it does
    if approval and not at:
        return ""
    named = len(wording.content_words(said[at])) >= _FEW_WORDS and not approval
    alone = named or not at or (is_narration(said[at - 1]) and not approval and not said[at - 1].endswith("?"))
    asked = said[at] if alone else f"{said[at - 1]} {said[at]}"
    return wording.shorten(asked if len(asked) <= LONGEST_REFERENCE else said[at], LONGEST_REFERENCE)


def _stated(before: str) -> str:
    """Return the assistant's last sentence that states or proposes something; "" if there is none."""
    told = next((one for one in reversed(sentences_in(before)) if _states(one)), "")
    return wording.shorten(told, LONGEST_REFERENCE)


def _states(said: str) -> bool:
    return (
        len(said.split()) >= _FEWEST_STATED
        and not said.endswith(":")
        and (bool(_PROPOSAL.match(said)) or not is_narration(said))
    )


def sentences_in(before: str) -> list[str]:
    """Return the assistant's last sentences, each on one line."""
    return [wording.squeeze(plain(one)) for one in split(_SENTENCE, before[-2000:]) if one.strip()]
