"""Finds narrow statements: a single point, or a sentence with the sentences that it depends on.

``findings`` packs as many points as fit into one passage. Here each point is a separate statement, with the names that
it needs and without its speaker ("I found that"), so that the model scores one claim at a time. The passage and its
points are all scored; if the session's limit leaves room for only some of them, those with higher scores are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from subconscious.capture.detectors.findings import (
    FEWEST_WORDS,
    changed_files,
    is_changelog,
    is_order,
    is_skipped,
    kind_of,
    named,
    signs,
    spoken,
    taken_back,
)
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.impersonal import impersonal
from subconscious.capture.kernel import CAUSE, is_broken, is_passing, is_trifle, leans, units
from subconscious.capture.narration import is_narration, sentence_spans
from subconscious.capture.passages import LONGEST, Passage, plain, points
from subconscious.domain.model import Turn
from subconscious.text.wording import content_words, files, tags

_BACKWARDS = 2
"""The maximum number of preceding sentences that are added to a sentence that depends on them."""

_CLOSE = 320
"""The maximum length in characters of a sentence joined with the next ones, which depend on it or give its reason."""

_SHORTEST = 120
"""The minimum length in characters of a statement without a cause: raters kept only one in seven of shorter ones."""

_MOST = 120
"""The maximum number of points used from a text, and of sentences used from a point: longer texts are documents."""

_SKIPPED = re.compile(
    r"(?:verif\w+|test(?:s|ing)?(?: plan| steps)?|add(?: new)? tests?|manual test\w*|test cases?|execution order|next steps?|todo|"
    r"usage|commits? created|hypothes[ie]s\b.*|(?:open )?questions?\b.*|remaining\b.*|implementation order|pros|cons|"
    r"alternatives?\b.*|options?\b.*|trade-?offs)\W*\Z",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\b(?:I|I'\w+|me|you|you'\w+|your|let's|let me)\b", re.IGNORECASE)
_WANTS = re.compile(
    r"\b(?:would|could|might|want|if you|should we|maybe|perhaps|let me|i'll|tbd|todo)\b", re.IGNORECASE
)


def statements(exchange: Exchange) -> Iterator[Draft]:
    """Yield the narrow statements of the assistant in an exchange."""
    said = spoken(exchange)
    for turn in said:
        for source, passage in _cuts(turn.text):
            draft = _draft(exchange, turn, passage, source)
            if draft is not None and not taken_back(draft, said):
                yield draft
    yield from _replies(exchange)


def _cuts(text: str) -> Iterator[tuple[str, Passage]]:
    alone = points(text)[:_MOST]
    yield from (("point", passage) for passage in alone)
    yield from (("sentence", close) for passage in alone for close in _close(text, passage))


def _close(text: str, passage: Passage) -> Iterator[Passage]:
    """Yield each sentence with its reason and the sentences that it depends on, unless that is the whole passage."""
    places = list(units(text, passage.start, passage.end))
    said = [text[slice(*place)] for place in places]
    for at in range(min(len(places), _MOST)) if len(places) > 1 else ():
        first = at
        while first > 0 and at - first < _BACKWARDS and leans(said[first]):
            first -= 1
        last = at
        while last + 1 < len(places) and _joins(said[last + 1]) and places[last + 1][1] - places[first][0] <= _CLOSE:
            last += 1
        if not (first == 0 and last + 1 == len(places)):
            start, end = places[first][0], places[last][1]
            yield replace(passage, start=start, end=end, wording=plain(text[start:end]))


def _joins(said: str) -> bool:
    """Whether a sentence depends on the sentence before it, or gives its reason."""
    return leans(said) or bool(CAUSE.search(said))


def _draft(exchange: Exchange, turn: Turn, passage: Passage, source: str) -> Draft | None:
    if any(_SKIPPED.match(name) for name in (*passage.headings, passage.lead)):
        return None
    said = _said(turn.text, passage)
    if len(content_words(said)) < FEWEST_WORDS or said.endswith((":", "?")) or is_changelog(said):
        return None
    passage = replace(passage, lead=_lead(passage.lead))
    bare = not (passage.headings or passage.lead or files(said))
    about = exchange.task or (_looked_at(exchange, turn) if bare else "")
    content = named(replace(exchange, topic=about), passage, said)
    if not content or _says_little(content, said):
        return None
    quote = turn.text[passage.start : passage.end].strip()
    marks = (*signs(exchange, turn, passage, said), f"cut:{source}", *_doubts(passage, said))
    return Draft(turn, kind_of(turn, passage, said), content, quote, source, signs=marks, files=changed_files(exchange))


def _said(text: str, passage: Passage) -> str:
    """Return a passage without "I found that" and the like, empty sentences, and sentences that depend on those."""
    kept: list[str] = []
    before = passage.start
    gap_open = False
    for start, end in units(text, passage.start, passage.end):
        raw = text[start:end]
        one = impersonal(raw)
        if _is_idle(raw, one) or (leans(one) and gap_open):
            gap_open = True
            continue
        kept.append(("\n" if "\n" in text[before:start] else " ") + one)
        before, gap_open = end, False
    while kept and kept[-1].rstrip(" *_").endswith(":"):
        kept.pop()
    return plain("".join(kept).strip())


def _says_little(content: str, said: str) -> bool:
    """Whether a statement is too short to be worth keeping, and has no word like "because", "must" or "fails".

    ``said`` is the statement's own text, ``content`` the text with its subject in front. The length of an instruction
    in a plan is measured without the subject.
    """
    return not CAUSE.search(said) and (len(content) < _SHORTEST or (is_order(said) and len(said) < _SHORTEST))


def _lead(lead: str) -> str:
    """Return the last sentence of a passage's introduction, without its speaker; "" if that is a passing remark."""
    spans = sentence_spans(lead, 0, len(lead))
    last = impersonal(lead[slice(*spans[-1])]) if spans else ""
    return "" if is_passing(last) or _SPEAKER.search(last) or is_narration(last) else last


def _looked_at(exchange: Exchange, turn: Turn) -> str:
    """Return the file that was last read or changed before a turn: the subject of sentences that name no file."""
    before = reversed(exchange.turns[: exchange.turns.index(turn)])
    named = ((place.cwd, file) for place in before for file in place.files[-1:])
    inside = (PurePath(file) for folder, file in named if folder and PurePath(file).is_relative_to(folder))
    return "/".join(next(inside, PurePath()).parts[-2:])


def _is_idle(raw: str, one: str) -> bool:
    """Whether a sentence states nothing of use: narration, a fragment, or a remark or trifle that names no code."""
    if not one:
        return True
    narrated = is_narration(one) or (is_narration(raw) and one == raw.strip())
    weighed = bool(tags(one)) and not _SPEAKER.search(one)
    return not content_words(one) or narrated or is_broken(one) or ((is_passing(one) or is_trifle(one)) and not weighed)


def _doubts(passage: Passage, said: str) -> Iterator[str]:
    """Yield reasons for doubt: what the stricter ``findings`` would reject, words such as "I" or "you", and wishes."""
    doubts = {
        "skipped": is_skipped(passage),
        "passing": is_passing(said),
        "trifle": any(is_trifle(one) for one in said.split("; ")),
        "speaker": bool(_SPEAKER.search(said)),
        "wants": bool(_WANTS.search(said)),
    }
    yield from (f"doubt:{name}" for name, is_so in doubts.items() if is_so)


def _replies(exchange: Exchange) -> Iterator[Draft]:
    """Yield the assistant's answer to the user's question: the first paragraph or point, with the question."""
    turn = next((turn for turn in exchange.turns if turn.id == exchange.last_said), None)
    if not exchange.asked or turn is None:
        return
    for passage in points(turn.text)[:1]:
        said = _said(turn.text, passage)
        room = LONGEST - len(exchange.asked) - 1
        if len(content_words(said)) < FEWEST_WORDS or len(said) > room or _WANTS.search(said) or said.endswith(":"):
            continue
        quote = turn.text[passage.start : passage.end].strip()
        marks = (*signs(exchange, turn, passage, said), "cut:reply")
        yield Draft(turn, "learning", f"{exchange.asked} {said}", quote, "reply", signs=marks)
