"""Turns in their places: what was asked, what was done about it, and where in that a turn stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from subconscious.capture.passages import plain
from subconscious.capture.sentences import sentences
from subconscious.capture.wording import content_words, squeeze
from subconscious.model import Act, Origin, Role, Turn

_TITLE = re.compile(r"^#{1,2} +(?:(?:implementation )?plan\b:? *)?(?P<title>\S.*)$", re.MULTILINE | re.IGNORECASE)
_TASK = re.compile(
    r"(?:please |now |then |also )*(?:add|adjust|align|allow|build|change|clean|convert|create|debug|enable|ensure|extract|fix|generate|"
    r"handle|implement|improve|integrate|investigate|make|merge|migrate|move|optimi[sz]e|prevent|reduce|refactor|remove|rename|replace|"
    r"restore|rework|rewrite|show|simplify|speed|split|support|switch|test|update|upgrade|use|write)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:so |and |but |ok,? |hmm,? )*(?:why|how|what|where|when|which|who|does|do|did|is|are|was|were|can|could|should|would|will)\b[^?]{12,}\?",
    re.IGNORECASE,
)
_LONGEST_TOPIC = 90
_LONGEST_QUESTION = 140


@dataclass(slots=True)
class Exchange:
    """A prompt, or an approved plan, and all that came of it.

    ``topic`` says in a few words what it is about, at least since an earlier prompt; ``task`` what this one or the plan
    that is being carried out is about. ``asked`` is the question that the prompt puts.
    """

    topic: str = ""
    task: str = ""
    asked: str = ""
    turns: list[Turn] = field(default_factory=list)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the exchange changed."""
        changed = (turn for turn in self.turns if turn.role is Role.ASSISTANT and {"Edit", "Write"} & set(turn.tools))
        return tuple(dict.fromkeys(file for turn in changed for file in turn.files))

    @property
    def last_said(self) -> str:
        """The id of the last turn in which the assistant said something: where it sums up."""
        said = (turn.id for turn in reversed(self.turns) if turn.role is Role.ASSISTANT and turn.text)
        return next(said, "")


def exchanges(turns: Sequence[Turn]) -> Iterator[Exchange]:
    """Give the exchanges of ``turns``; side chains are left out."""
    current, plan = Exchange(), ""
    for turn in turns:
        if turn.sidechain:
            continue
        if opens(turn):
            if current.turns:
                yield current
            about = topic(turn)
            plan = about if turn.act is Act.APPROVED else plan
            current = Exchange(about or current.topic, about or plan, question(turn))
        current.turns.append(turn)
    if current.turns:
        yield current


def opens(turn: Turn) -> bool:
    """Whether a turn begins an exchange."""
    return turn.act is Act.APPROVED or (turn.origin is Origin.USER and bool(turn.text))


def question(turn: Turn) -> str:
    """Return the question that a prompt puts, where it is short and names something; "" where it puts none."""
    if turn.act is Act.APPROVED:
        return ""
    found = next((squeeze(one) for one in sentences(turn.text) if _ASKS.match(one)), "")
    return found if len(found) <= _LONGEST_QUESTION and len(content_words(found)) >= 3 else ""


def topic(turn: Turn) -> str:
    """Return what a prompt or a plan is about: its title, or its first sentence; "" where it says too little."""
    if turn.act is Act.APPROVED:
        title = _TITLE.search(turn.text)
        return plain(title["title"])[:_LONGEST_TOPIC] if title else ""
    first = squeeze(re.split(r"(?<=[.!?])\s|\n", turn.text.strip(), maxsplit=1)[0])
    named = len(content_words(first)) >= 3 and bool(_TASK.match(first))
    return first.strip(" .,;:?!") if named and len(first) <= _LONGEST_TOPIC else ""
