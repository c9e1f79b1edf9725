"""Makes the summary of a session from its sketch: title, text, tags, open points. All parts quote the session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from subconscious.failures import commands
from subconscious.sessions.deeds import Deeds
from subconscious.sessions.sentences import MARKUP, SENTENCE
from subconscious.sessions.sketch import Sketch
from subconscious.text import wording
from subconscious.text.sentences import sentences
from subconscious.text.stops import split

TITLE_LENGTH = 80
PART_LENGTH = 220
LEFT_OPEN_LENGTH = 400
TELLING_WORDS = 5
MOST_TAGS = 5

_POLITE = re.compile(
    r"(?:(?:ok(?:ay)?|hey|hi|hello|hmm+|so|now|well|please|pls|sorry|yes|yep|yeah|great|perfect|thanks|also|and|then|"
    r"alright|cool|nice)\b[\s,.!:]*|(?:can|could|would|will) (?:you|we) (?:please )?(?:help me (?:to )?)?|"
    r"i(?:'d| would) (?:like|want) (?:you )?to |i (?:want|need) (?:you )?to |let'?s |help me (?:to )?)+",
    re.IGNORECASE,
)
_YES_OR_NO = r"(?:no+|nope|nah|yes|yep|yeah|nein|ja|non|oui|s[i\u00ed]|n[a\u00e3]o|sim)\b"
_REPLY = re.compile(rf"\W*{_YES_OR_NO}", re.IGNORECASE)
_REPLIED = re.compile(rf"\?\s+{_YES_OR_NO}\W*\Z", re.IGNORECASE)
"""The end of a text in which users answer their own question with yes or no: the next sentence goes with it."""

_TRAILS = re.compile(r"(?:\.\.|\u2026)[\"')\]]*\Z")
_TRIVIAL = re.compile(
    r"(?:yes|no|y|n|ok|okay|yep|sure|continue|go on|go ahead|proceed|commit|push|commit (?:and|&) push|do it|next|done|"
    r"thanks|thank you|clear|stop|retry|try again|exit|hi|hello|please)?[\W\d]*",
    re.IGNORECASE,
)
_ROUTINE = frozenset(
    """a again all also an and branch change changes changelog commit continue create do done draft finish first
    fix for go i in it its lets lint main master merge message my new next now of ok on open our please pr proceed pull
    push rebase release request retry run small squash stage sure tag test tests that the then these this those thanks
    to try update version when will with yes you your""".split()
)
"""Words of requests that occur in every session and identify none."""
EMPTY = re.compile(r"(?:perfect|great|excellent|done|good|all done|awesome|yes|ok|right|sure)?[\W\d_]*", re.IGNORECASE)
_DATA = re.compile(r"(?<!\s)\s*+(?::\s*+)?[{\[][\"{]|(?<!\s)(?:\s*+:)?\s++https?://\S{40,}")
_CHOOSES = re.compile(r"\b(?:which|prefer\w*|preference|options?|approach(?:es)?)\b", re.IGNORECASE)
_CHOICE = re.compile(
    r"^[ \t]*(?:(?:[-*#]+|\d+[.)])\s+)?(?:\*\*(?P<bold>[^*\n\"`]{3,60}?):?\*\*"
    r"|(?P<option>(?:Option|Approach) \w{1,3}\s?[:\u2013\u2014-]\s?[^\n\"]{3,60})$)",
    re.MULTILINE,
)
"""The label of a choice in a list: bold words at the beginning of an item, or a line such as "Option A: ..."."""
MOST_CHOICES = 4
HAD_ASKED = "the assistant had asked: "
ON_ITS_LIST = "open on the assistant's list: "
_END = " .:,;-"
MAIN_BRANCHES = frozenset({"", "HEAD", "main", "master", "trunk", "develop"})
_COMMON = frozenset(
    """add added adding agent already another anything back being better between branch called case change changes
    check code command commit commits could different does doing done each else error even every everything file files
    find first following found from give have here implement implementation instead into issue just keep know last
    line lines look looks maybe mean message missing more much must need needs never next once only other plan please
    possible problem project push right same second seems session should show some something still such sure take test
    tests text than thank that them then there these thing things think this those trying understand update used user
    using version want wants when where which while will with without work working works would your https http with
    like make them they what been were""".split()
)


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a session, as lists of sessions show it. ``left_open`` is "" if nothing is known to be open."""

    title: str
    text: str
    tags: tuple[str, ...]
    left_open: str


def tell(sketch: Sketch) -> Summary:
    """Return the summary of a session from its sketch."""
    asks = requests_of(sketch)
    title = sketch.deeds.named or _title(asks, planned=bool(sketch.plan))
    return Summary(
        title=wording.shorten(wording.squeeze(title), TITLE_LENGTH),
        text=" ".join(filter(None, (_asked(asks), _decided(sketch), _done(sketch.deeds), _reported(sketch)))),
        tags=tuple(_tags(sketch))[:MOST_TAGS],
        left_open=wording.shorten("; ".join(left_open_in(sketch)), LEFT_OPEN_LENGTH),
    )


def requests_of(sketch: Sketch) -> list[str]:
    """Return the plan, the first slash command and the informative requests; failing these, the first request."""
    named = [sketch.plan] if sketch.plan else []
    asked = [first_words(ask) for ask in sketch.asks if not _TRIVIAL.fullmatch(ask.strip())]
    opened = [sketch.deeds.opened] if sketch.deeds.opened and sketch.deeds.opened_at < sketch.asked_at else []
    begun = [*named, *opened, *filter(None, asked)]
    return list(dict.fromkeys(begun)) or [wording.squeeze(ask) for ask in sketch.asks[:1]]


def is_routine(request: str) -> bool:
    """Whether a request is routine: to commit, push, run the tests or continue."""
    return all(word in _ROUTINE for word in re.findall(r"[^\W\d_]+", request.casefold().replace(".md", "")))


def first_words(ask: str) -> str:
    """Return a request's first sentence that says something, without polite phrases, pasted text and data."""
    for sentence in _whole_thoughts(sentences(ask)):
        words = _DATA.split(wording.squeeze(sentence), maxsplit=1)[0].rstrip(_END)
        polite = _POLITE.match(words)
        bare = words[polite.end() :].rstrip("?" + _END) if polite else words
        if len(bare.split()) >= 3:
            return bare
    return ""


def _whole_thoughts(said: Iterable[str]) -> Iterator[str]:
    """Yield sentences, each with those that continue or answer it: "back to postgres? no.", "js.. no, js is fine"."""
    whole = ""
    for sentence in said:
        if whole and not _takes_up(sentence, whole):
            yield whole
            whole = ""
        whole = f"{whole} {sentence}".strip()
    yield whole


def _takes_up(sentence: str, before: str) -> bool:
    """Whether a sentence continues a text that trails off, or belongs to the answer to a question at the text's end."""
    if _TRAILS.search(before):
        return sentence[:1].islower()
    return bool(before.endswith("?") and _REPLY.match(sentence)) or bool(_REPLIED.search(before))


def _title(asks: list[str], *, planned: bool) -> str:
    """Return a session's title: its plan, else the first informative one of its first three requests.

    If none of the three is informative, the title is the first request. A slash command without arguments is followed
    by the next request.
    """
    if not asks:
        return ""
    telling = (ask for ask in asks[:3] if len(ask.split()) >= TELLING_WORDS or any(map(wording.is_name, ask.split())))
    title = asks[0] if planned else next(telling, asks[0])
    if title.startswith("/") and " " not in title and len(asks) > 1:
        title = f"{title}: {asks[1]}"
    return title[:1].upper() + title[1:]


def _asked(asks: list[str]) -> str:
    if not asks:
        return ""
    longest = sorted(asks[1:], key=lambda ask: -min(len(ask), PART_LENGTH // 2))[:2]
    then = [wording.shorten(ask, PART_LENGTH // 2) for ask in asks[1:] if ask in longest]
    first = f'Asked: "{wording.shorten(asks[0], PART_LENGTH)}"'
    return f"{first}, then " + ", ".join(f'"{ask}"' for ask in then) + "." if then else f"{first}."


def _decided(sketch: Sketch) -> str:
    statements = [wording.shorten(wording.squeeze(said), PART_LENGTH // 2) for said in sketch.decided[-2:]]
    return "The user stated: " + ", ".join(f'"{said}"' for said in statements) + "." if statements else ""


def _done(deeds: Deeds) -> str:
    if not (deeds.commits or deeds.pulls):
        return ""
    commits = ", ".join(f'"{wording.shorten(subject, 90)}"' for subject in deeds.commits[-2:])
    more = f" and {len(deeds.commits) - 2} more" if len(deeds.commits) > 2 else ""
    pulls = f"pull request {', '.join(deeds.pulls)}" if deeds.pulls else ""
    return "Done: " + "; ".join(filter(None, [f"commit {commits}{more}" if commits else "", pulls])) + "."


def _reported(sketch: Sketch) -> str:
    """Return the beginning of the assistant's last answer; "" if the last prompt is not answered yet."""
    if sketch.busy or not sketch.answered:
        return ""
    parts = (wording.squeeze(MARKUP.sub("", words)) for words in split(SENTENCE, sketch.answer))
    said = ""
    for sentence in parts:
        if EMPTY.fullmatch(sentence):
            continue
        if said and (sentence.endswith(":") or len(said) + len(sentence) > PART_LENGTH):
            break
        said = f"{said} {sentence}".strip()
    said = wording.shorten(said.rstrip(" :"), PART_LENGTH)
    return f'The assistant reported: "{said}"' if said else ""


def _tags(sketch: Sketch) -> Iterator[str]:
    """Yield the branch, the most edited files and the most frequent terms."""
    found: dict[str, None] = {}
    if sketch.branch not in MAIN_BRANCHES:
        found[sketch.branch.rpartition("/")[2][:40].rstrip("-_")] = None
    ranked = sorted(sketch.files.items(), key=lambda pair: -pair[1])
    found.update(dict.fromkeys(name for name, weight in ranked[:2] if weight >= 2))
    terms = sorted(sketch.words.items(), key=lambda pair: (-pair[1], pair[0]))
    found.update(dict.fromkeys(term for term, count in terms if count >= 3 and term not in _COMMON))
    yield from found


def left_open_in(sketch: Sketch) -> Iterator[str]:
    """Yield the open points: last prompt, question, tasks, failed command. Questions are marked as the assistant's."""
    if sketch.stopped:
        yield "the user stopped the assistant while it worked on the last prompt"
    elif sketch.busy:
        yield "the assistant was still at work on the last prompt"
    elif not sketch.answered:
        yield "the last prompt was not answered"
    elif question := question_in(sketch.answer):
        yield f'{HAD_ASKED}"{question}"'
    tasks = [task for task, status in sketch.deeds.tasks.values() if status in ("pending", "in_progress") and task]
    if tasks:
        more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
        yield ON_ITS_LIST + ", ".join(f'"{wording.shorten(t, 70)}"' for t in tasks[:3]) + more
    failed = commands.quotable(sketch.deeds.failed)
    if failed and (sketch.stopped or sketch.busy or not sketch.answered):
        yield f"the last command that failed: `{wording.shorten(failed, 80)}`"


def asks_to_choose(question: str) -> bool:
    """Whether a question asks for a choice without naming the choices."""
    return bool(_CHOOSES.search(question)) and " or " not in question


def choices_in(answer: str) -> tuple[str, ...]:
    """Return the labels of the choices that an answer lists; none if it contains no list of a few choices."""
    found = tuple(wording.squeeze(one["bold"] or one["option"]).rstrip(_END) for one in _CHOICE.finditer(answer))
    return found if 2 <= len(found) <= MOST_CHOICES else ()


def question_in(answer: str) -> str:
    """Return the question that an answer ends with, or ""."""
    last = answer.rstrip().rpartition("\n")[2]
    sentence = split(SENTENCE, last)[-1] if last.endswith("?") else ""
    return wording.shorten(wording.squeeze(MARKUP.sub("", sentence)), 160)
