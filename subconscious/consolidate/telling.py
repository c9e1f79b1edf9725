"""What several memories say together, in their own words: nothing is said that none of them says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from subconscious.capture.wording import SUMMARY_LENGTH, shorten, squeeze
from subconscious.links.reading import Sentence, sentences
from subconscious.model import Candidate, Evidence, Memory, Origin, Scope, Strength
from subconscious.store.rows import content_hash
from subconscious.text.same_statement import differences

KIND = "meta"
EXTRACTED, SYNTHESISED = "consolidation", "consolidation-model"
"""Who worded it."""

LONGEST = 2000
"""Characters of a summing up; a source that would make it longer is not put into it."""

MOST_TAGS = 5
MOST_FILES = 20

REPEATED = 0.85
"""Share of a sentence's terms that another one has when it says the same."""


@dataclass(frozen=True, slots=True)
class Told:
    """A summing up's words, and by whom."""

    summary: str
    content: str
    extractor: str = EXTRACTED


def fitting(sources: Sequence[Memory]) -> list[Memory]:
    """The sources, the most central first, as far as they fit into one text."""
    kept: list[Memory] = []
    length = 0
    for source in sources:
        if length + len(source.content) <= LONGEST or not kept:
            kept.append(source)
            length += len(source.content) + 1
    return kept


def tell(sources: Sequence[Memory]) -> Told:
    """The most central one's statement, then on a line for each other one what that adds."""
    said = list(sentences(sources[0].content))
    lines = [sources[0].content.strip()]
    for source in sources[1:]:
        new = [sentence for sentence in sentences(source.content) if not any(repeats(sentence, one) for one in said)]
        said += new
        whole = len(new) == len(list(sentences(source.content)))
        lines += [source.content.strip() if whole else " ".join(one.text for one in new)] if new else []
    return Told(headed(sources), "\n".join(lines))


def headed(sources: Sequence[Memory]) -> str:
    """The most central one's summary, and how many others stand with it."""
    more = f" (with {len(sources) - 1} more)"
    return shorten(squeeze(sources[0].summary), SUMMARY_LENGTH - len(more)) + more


def repeats(sentence: Sentence, known: Sentence) -> bool:
    """Whether a sentence says nothing that another one does not say."""
    if sentence.text == known.text:
        return True
    if not sentence.terms or differences(sentence.text, known.text):
        return False
    return len(sentence.terms & known.terms) >= REPEATED * len(sentence.terms)


def identity(sources: Sequence[Memory]) -> str:
    """What these sources, worded as they are, are known by together."""
    named = sorted(f"{source.id}:{source.content_hash}" for source in sources)
    return f"sum-{content_hash(' '.join(named))}"


def draft(sources: Sequence[Memory], told: Told, cohesion: float) -> Candidate:
    """The candidate that a summing up is: as little to be trusted as the least of its sources."""
    numbers = [str(source.id) for source in sorted(sources, key=lambda one: one.id)]
    quote = f"Sums up the memories {', '.join(numbers[:-1])} and {numbers[-1]}."
    tags = Counter(tag for source in sources for tag in source.tags)
    files = dict.fromkeys(file for source in sources for file in source.files)
    return Candidate(
        kind=KIND,
        summary=told.summary,
        content=told.content,
        evidence=Evidence(quote, identity(sources), "", 0, 0),
        origin=Origin.least_trusted(*(source.origin for source in sources)),
        strength=Strength.INFERRED,
        raw_confidence=min(source.confidence for source in sources),
        extractor=told.extractor,
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
