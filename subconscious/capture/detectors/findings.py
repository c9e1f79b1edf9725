"""Extracts findings of the assistant: causes, conclusions, summaries, and the reasons in an approved plan.

The assistant's texts are cut into passages. Narration and reports of passing checks are dropped, missing subjects are
added, and claims that were withdrawn later are left out. A small model scores the remaining passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.kernel import CAUSE, is_passing, is_vague, kernel
from subconscious.capture.narration import is_narration, sentence_spans, trim
from subconscious.capture.passages import LONGEST, Passage, passages, plain
from subconscious.domain.model import Act, Role, Turn
from subconscious.text import wording

FEWEST_WORDS = 6
FEWEST_WORDS_OF_A_FILE = 4
_ROOM = 150
"""The number of characters reserved for the context before a passage: heading, introduction, topic of the exchange.

The topic is added only if the heading and the introduction need less than half of this number.
"""

_GENERIC = re.compile(
    r"(?:the )?(?:context|summary|(?:key |main )?changes?(?: made)?|overview|files?(?: (?:to )?(?:modif\w+|chang\w+|creat\w+))?|new files?|"
    r"modified files?|implementation(?: \w+)?|plan|goal|background|steps?|results?|what changed|what was (?:done|implemented)|approach|"
    r"problem|solution|(?:the )?fix|root cause|issue|details|notes?|result|why|what|how|done|backend|frontend|before|after|"
    r"changes? (?:made|summary)|summary of changes|cause|options?|findings?|key findings?|conclusion|analysis|status|in short)\W*\Z",
    re.IGNORECASE,
)
_PLAN = re.compile(r"\A(?:implementation )?plan:? +(?=\S)", re.IGNORECASE)
_SKIPPED = re.compile(
    r"(?:verif\w+|tests?(?:ing)?(?: plan| steps)?|add(?: new)? tests?|manual test\w*|test cases?|critical files.*|files? (?:to (?:be )?)?"
    r"(?:modif\w+|chang\w+|creat\w+|touched)|execution order|next steps?|todo|usage|commits? created|references?|strengths?|"
    r"what'?s (?:good|next)|pros|cons|alternatives?\b.*|options?\b.*|(?:my )?recommend\w+\b.*|hypothes[ie]s\b.*|(?:open )?questions?\b.*|"
    r"research summary|.*\breview comments\b.*|.*\bfeedback\b.*|status|verdict|remaining\b.*|suggestions?\b.*|"
    r"issues? found\b.*|fixed issues\b.*|minor\b.*|nits?\b.*|.*\btests? (?:updated|cases|plan)|verdict\b.*|assessment|"
    r"reference files.*|key visual.*|from main.*|implementation order|order of implementation)\W*\Z",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\W*(?:it|this|that|they|these|those|he|she|both|same|here|there|the (?:same|latter|former|above|following|other))\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:actually|wait|hmm|no,|oops|i was wrong|my mistake|not the (?:cause|problem|issue|reason)|"
    r"that (?:was|is|wasn't|isn't) (?:not )?(?:it|the)|turns out|on second thought|scratch that|incorrect(?:ly)?|misread)\b",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\b(?:might be|may be|could be|probably|perhaps|maybe|possibly|i (?:think|suspect|believe|guess)|seems?|appears?|likely|suspect|hypothesis|theory)\b",
    re.IGNORECASE,
)
_SUSPECT = re.compile(r"\b(?:problem|cause|issue|culprit)\b", re.IGNORECASE)
_OPENING = 300
"""How many characters at the beginning of a text are searched for words that withdraw an earlier claim."""

_EDIT = re.compile(
    r"\b(?:[Aa]dded|[Uu]pdated?|[Rr]emoved?|[Rr]eplaced?|[Rr]enamed|[Cc]hanged|[Ii]mported|[Mm]oved|Add|Import|Store|Modify|Keep|Change|"
    r"Insert|Pass|Wrap|Mirrored|Expanded)\b"
)
_DRAWN_UP = re.compile(r"(?:^|/)\.claude/plans/")
"""Paths of plan files. The client names these files at random, so a name tells a reader nothing."""

_MOST_EDITS = 4
"""A passage with at least this many edits and no reason counts as a changelog, which Git already has."""

_VERB_ALONE = re.compile(
    r"(?:[A-Z][a-z]+ly )?(?:Lists|Returns|Uses|Finds|Gets|Deletes|Sets|Adds|Clears|Parses|Handles|Filters|Creates|Runs|Maps|Supports|"
    r"Maintains|Triggers|Imports|Scans|Fetches|Commits|Strips|Updates|Includes|Renders|Takes|Shows|Reads|Writes|Checks|Does|Displays|Walks|"
    r"Provides|Generates|Stores|Validates|Calls|Falls|Configures|Publishes|Detects|Skips)\b"
)
"""List items that begin with a verb and lack a subject."""

_DID = re.compile(
    r"\W*(?:\w+ ){0,3}(?:added|updated|removed|replaced|renamed|changed|fixed|moved|created|extracted|wired|now)\b",
    re.IGNORECASE,
)
_WILL = re.compile(
    r"\W*(?:add|update|remove|replace|rename|change|fix|move|create|extract|wire|modify|import|pass|delete|insert|new file|file|use)\b",
    re.IGNORECASE,
)
_IS = re.compile(
    r"\b(?:is|are|was|were|uses?|has|have|does|contains?|returns?|supports?|means|runs|handles|stores?|lives?|comes?|takes?|creates?)\b"
)
_FIRST = re.compile(r"\b(?:I|I'm|I've|I'll|me|my|you|your)\b")


def findings(exchange: Exchange) -> Iterator[Draft]:
    """Yield the findings in the assistant's texts of an exchange and in its approved plan."""
    said = spoken(exchange)
    for turn in said:
        for passage in passages(turn.text):
            draft = _draft(exchange, turn, passage)
            if draft is not None and not taken_back(draft, said):
                yield draft


@dataclass(frozen=True, slots=True)
class Spoken:
    """The assistant's turns of an exchange, and which of them withdraw an earlier claim.

    ``places`` maps the id of a turn to its index. ``backs`` has the index of each turn that withdraws a claim, with the
    words at the turn's beginning.
    """

    turns: tuple[Turn, ...]
    places: Mapping[str, int]
    backs: tuple[tuple[int, frozenset[str]], ...]

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)


def spoken(exchange: Exchange) -> Spoken:
    """Return the assistant's texts in an exchange, and the approved plan."""
    turns = [turn for turn in exchange.turns if turn.text and (turn.role is Role.ASSISTANT or turn.act is Act.APPROVED)]
    places = {turn.id: at for at, turn in reversed(list(enumerate(turns)))}
    starts = ((at, turn.text[:_OPENING]) for at, turn in enumerate(turns))
    backs = [(at, frozenset(_lower(start))) for at, start in starts if _BACK.search(start)]
    return Spoken(tuple(turns), places, tuple(backs))


def _lower(text: str) -> Iterator[str]:
    return (word.lower() for word in wording.content_words(text))


def fewest_words(said: str) -> int:
    """Return the minimum number of content words for a statement like ``said``: fewer if it names a file."""
    return FEWEST_WORDS_OF_A_FILE if wording.files(said) else FEWEST_WORDS


def is_skipped(passage: Passage) -> bool:
    """Whether a passage is in a section without lasting content: a list of tests, next steps, review comments."""
    skipped = any(_SKIPPED.match(heading) for heading in passage.headings)
    return skipped or is_passing(f"{passage.heading}: {passage.lead}")


def is_changelog(said: str) -> bool:
    """Whether a passage lists edits without a reason."""
    return len(_EDIT.findall(said)) >= _MOST_EDITS and not CAUSE.search(said)


def is_order(said: str) -> bool:
    """Whether a passage begins like an instruction in a plan."""
    return bool(_WILL.match(said))


def _draft(exchange: Exchange, turn: Turn, passage: Passage) -> Draft | None:
    if is_skipped(passage):
        return None
    span = trim(turn.text, passage.start, passage.end)
    if span is None:
        return None
    places = kernel(turn.text, *span)
    if not places:
        return None
    said = plain(_joined(turn.text, places))
    if len(wording.content_words(said)) < fewest_words(said) or said.endswith((":", "?")):
        return None
    if is_changelog(said):
        return None
    content = named(exchange, passage, said)
    if not content:
        return None
    quote = turn.text[slice(*span)].strip()
    source = "plan" if turn.act is Act.APPROVED else "finding"
    return Draft(
        turn,
        kind_of(turn, passage, said),
        content,
        quote,
        source,
        signs=signs(exchange, turn, passage, said),
        files=changed_files(exchange),
    )


def _joined(text: str, places: list[tuple[int, int]]) -> str:
    """Return the text of several spans, with each list item on its own line."""
    joined = text[slice(*places[0])]
    for (_, before), (start, end) in pairwise(places):
        joined += ("\n" if "\n" in text[before:start] else " ") + text[start:end]
    return joined


def named(exchange: Exchange, passage: Passage, said: str) -> str:
    """Return a passage with the context that it needs: heading, introduction, topic of the exchange, changed files.

    Return "" if the passage is unclear by itself because it begins with "it" or a verb, and no context is known.
    """
    heading = next((h for h in reversed(passage.headings) if not (_GENERIC.match(h) or is_vague(h))), "")
    lead = _calm(passage.lead).rstrip(": ")
    names = [_PLAN.sub("", name) for name in (heading, lead)]
    names = [name for name in names if not is_vague(name) and not _inside(name, said) and not is_narration(name + ":")]
    pointing = bool(_POINTING.match(said) or _VERB_ALONE.match(said))
    told = _inside(exchange.topic, ": ".join(names))
    if not told and len(" ".join(names)) < _ROOM // 2 and (pointing or len(said) < LONGEST - _ROOM or not names):
        names.insert(0, exchange.topic)
    if pointing and not names:
        return ""
    room = LONGEST - len(said) - 2
    prefix = ": ".join(names)
    while names and len(prefix) > max(room, 0):
        names.pop(0)
        prefix = ": ".join(names)
    content = f"{prefix}: {said}" if prefix else said
    return _placed(exchange, content)


def _placed(exchange: Exchange, content: str) -> str:
    """Add the names of changed files to a passage, if the passage names no file and there is room."""
    files = [file for file in exchange.files if not _DRAWN_UP.search(file)]
    names = ", ".join(PurePath(file).name for file in files[:4])
    place = f" ({names})"
    room = LONGEST - len(content) - len(place)
    return content + place if names and room >= 0 and not wording.files(content) else content


def _calm(lead: str) -> str:
    """Return the line that introduces a passage, without narration."""
    spans = sentence_spans(lead, 0, len(lead))
    return " ".join(lead[slice(*span)] for span in spans if not is_narration(lead[slice(*span)]))


def _inside(name: str, said: str) -> bool:
    words = wording.content_words(name)
    return all(word.lower() in said.lower() for word in words)


def changed_files(exchange: Exchange) -> tuple[str, ...]:
    """Return the names of the first files that an exchange changed."""
    return tuple(PurePath(file).name for file in exchange.files[:5])


def kind_of(turn: Turn, passage: Passage, said: str) -> str:
    """Return the kind of memory for a passage, by its words and headings, and by whether a plan contains it."""
    if re.search(
        r"\b(?:decided|chose|decision|instead of|rather than|trade-?off)\b",
        " ".join((said, *passage.headings)),
        re.IGNORECASE,
    ):
        return "decision"
    if turn.act is Act.APPROVED and _WILL.match(said):
        return "decision"
    return "learning"


def taken_back(draft: Draft, said: Spoken) -> bool:
    """Whether a draft is a guess that a later text of the same exchange withdraws."""
    return refuted(draft.turn, draft.quote, said)


def refuted(turn: Turn, quote: str, said: Spoken) -> bool:
    """Whether ``quote``, from ``turn``, is a guess that a later turn withdraws. The two must have a name in common."""
    if not (said.backs and (_GUESS.search(quote) or _SUSPECT.search(quote))):
        return False
    words = {word.lower() for word in wording.content_words(quote) if wording.is_name(word)}
    return any(at > said.places[turn.id] and words & back for at, back in said.backs)


def signs(exchange: Exchange, turn: Turn, passage: Passage, said: str) -> tuple[str, ...]:
    """Return the features of a passage's position and shape, as input of the scoring model."""
    place = "plan" if turn.act is Act.APPROVED else "last" if turn.id == exchange.last_said else "amid"
    first = plain(said).split()[:1]
    found = {
        f"place:{place}": True,
        f"{place}:listed": passage.listed,
        "heading": bool(passage.headings),
        "lead": bool(passage.lead),
        "cause": bool(CAUSE.search(said)),
        "guess": bool(_GUESS.search(said)),
        "did": bool(_DID.match(said)),
        "will": bool(_WILL.match(said)),
        "is": bool(_IS.search(said)),
        "first person": bool(_FIRST.search(said)),
        "pointing": bool(_POINTING.match(said)),
        f"{place}:cause": bool(CAUSE.search(said)),
        f"length:{min(len(said) // 80, 4)}": True,
        f"names:{min(len(wording.tags(said)), 4)}": True,
        f"opens:{first[0].lower() if first else ''}": True,
        f"early:{place}": passage.index * 3 < passage.count,
        "alone": passage.count <= 2,
        f"edits:{min(len(_EDIT.findall(said)), 3)}": True,
        f"{place}:edits:{min(len(_EDIT.findall(said)), 3)}": True,
        f"points:{min(said.count(';'), 3)}": True,
        "explains": " — " in said or " - " in said or "which" in said,
        f"states:{min(len(_IS.findall(said)), 3)}": True,
        f"{place}:states:{min(len(_IS.findall(said)), 3)}": True,
        "cause and is": bool(CAUSE.search(said) and _IS.search(said)),
        "edit alone": bool(_EDIT.search(said)) and not CAUSE.search(said) and not _IS.search(said),
        **{
            f"h:{word.lower()}": True
            for heading in passage.headings[-2:]
            for word in wording.content_words(heading)[:6]
        },
    }
    return tuple(sign for sign, is_so in found.items() if is_so)
