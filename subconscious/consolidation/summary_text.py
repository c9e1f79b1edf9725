"""Composes a summary of several memories from their own sentences, and drafts its candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from subconscious.domain.model import Candidate, Evidence, Memory, Origin, Scope, Strength
from subconscious.links.reading import Sentence, sentences
from subconscious.store.rows import content_hash
from subconscious.text.same_statement import differences
from subconscious.text.wording import SUMMARY_LENGTH, shorten, squeeze

KIND = "meta"
EXTRACTED, SYNTHESISED = "consolidation", "consolidation-model"
"""The extractor names of summaries that this module composed, and of summaries that a model wrote."""

LONGEST = 2000
"""The maximum length of a summary in characters; a source that would exceed the limit is left out."""

MOST_TAGS = 5
MOST_FILES = 20

REPEATED = 0.85
"""A sentence repeats another one that contains at least this share (0 to 1) of its terms."""


@dataclass(frozen=True, slots=True)
class SummaryText:
    """The text of a summary, and its extractor."""

    summary: str
    content: str
    extractor: str = EXTRACTED


def fitting(sources: Sequence[Memory]) -> list[Memory]:
    """Return the sources that fit into one summary of ``LONGEST`` characters, in the order of ``sources``."""
    kept: list[Memory] = []
    length = 0
    for source in sources:
        if length + len(source.content) <= LONGEST or not kept:
            kept.append(source)
            length += len(source.content) + 1
    return kept


def compose(sources: Sequence[Memory]) -> SummaryText:
    """Return a summary: the most central source's text, then a line with the new sentences of each other source."""
    said = list(sentences(sources[0].content))
    lines = [sources[0].content.strip()]
    for source in sources[1:]:
        new = [sentence for sentence in sentences(source.content) if not any(repeats(sentence, one) for one in said)]
        said += new
        whole = len(new) == len(list(sentences(source.content)))
        lines += [source.content.strip() if whole else " ".join(one.text for one in new)] if new else []
    return SummaryText(title(sources), "\n".join(lines))


def title(sources: Sequence[Memory]) -> str:
    """Return a title: the summary line of the most central source, and the number of other sources."""
    more = f" (with {len(sources) - 1} more)"
    return shorten(squeeze(sources[0].summary), SUMMARY_LENGTH - len(more)) + more


def repeats(sentence: Sentence, known: Sentence) -> bool:
    """Whether a sentence adds nothing to the sentence ``known``."""
    if sentence.text == known.text:
        return True
    if not sentence.terms or differences(sentence.text, known.text):
        return False
    return len(sentence.terms & known.terms) >= REPEATED * len(sentence.terms)


def identity(sources: Sequence[Memory]) -> str:
    """Return a key that identifies these sources in their present wording."""
    named = sorted(f"{source.id}:{source.content_hash}" for source in sources)
    return f"sum-{content_hash(' '.join(named))}"


def draft(sources: Sequence[Memory], text: SummaryText, cohesion: float) -> Candidate:
    """Return the candidate of a summary, with the origin of the least trusted source."""
    numbers = [str(source.id) for source in sorted(sources, key=lambda one: one.id)]
    quote = f"Sums up the memories {', '.join(numbers[:-1])} and {numbers[-1]}."
    tags = Counter(tag for source in sources for tag in source.tags)
    files = dict.fromkeys(file for source in sources for file in source.files)
    return Candidate(
        kind=KIND,
        summary=text.summary,
        content=text.content,
        evidence=Evidence(quote, identity(sources), "", 0, 0),
        origin=Origin.least_trusted(*(source.origin for source in sources)),
        strength=Strength.INFERRED,
        raw_confidence=min(source.confidence for source in sources),
        extractor=text.extractor,
        time=max(source.said_at for source in sources),
        scope=Scope.PROJECT if sources[0].project_id else Scope.USER,
        reason=f"its {len(sources)} sources have a cosine of {cohesion:.2f} or more",
        sentiment=_common([source.sentiment for source in sources], "neutral"),
        branch=_common([source.branch for source in sources], ""),
        tags=tuple(tag for tag, _ in tags.most_common(MOST_TAGS)),
        files=tuple(files)[:MOST_FILES],
    )


def _common(values: Sequence[str], otherwise: str) -> str:
    return values[0] if len(set(values)) == 1 else otherwise
