"""Groups turns into exchanges: a prompt, and all turns up to the next prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from subconscious.capture.passages import plain
from subconscious.domain.model import Act, Origin, Role, Turn
from subconscious.text.sentences import sentences
from subconscious.text.wording import content_words, squeeze

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
    """A prompt, or an approved plan, with the turns that follow it.

    ``topic`` is a short description of this prompt, or of an earlier one if this one says too little. ``task``
    describes this prompt or the plan that is being carried out. ``asked`` is the question in the prompt.
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
        """Return the id of the last turn with text of the assistant, which usually is a summary."""
        said = (turn.id for turn in reversed(self.turns) if turn.role is Role.ASSISTANT and turn.text)
        return next(said, "")


def exchanges(turns: Sequence[Turn]) -> Iterator[Exchange]:
    """Yield the exchanges in some turns, without the turns of sub-agents."""
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


def last_exchange(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns of the last exchange; all turns if none of them begins an exchange."""
    begin = next((at for at in range(len(turns) - 1, -1, -1) if opens(turns[at]) and not turns[at].sidechain), 0)
    return list(turns[begin:])


def opens(turn: Turn) -> bool:
    """Whether a turn begins an exchange."""
    return turn.act is Act.APPROVED or (turn.origin is Origin.USER and bool(turn.text))


def question(turn: Turn) -> str:
    """Return the question of a prompt if it is short and names something, else ""."""
    if turn.act is Act.APPROVED:
        return ""
    found = next((squeeze(one) for one in sentences(turn.text) if _ASKS.match(one)), "")
    return found if len(found) <= _LONGEST_QUESTION and len(content_words(found)) >= 3 else ""


def topic(turn: Turn) -> str:
    """Return the title of a plan, or the first sentence of a prompt if it is a short, clear request; else ""."""
    if turn.act is Act.APPROVED:
        title = _TITLE.search(turn.text)
        return plain(title["title"])[:_LONGEST_TOPIC] if title else ""
    first = squeeze(re.split(r"(?<=[.!?])\s|\n", turn.text.strip(), maxsplit=1)[0])
    named = len(content_words(first)) >= 3 and bool(_TASK.match(first))
    return first.strip(" .,;:?!") if named and len(first) <= _LONGEST_TOPIC else ""
