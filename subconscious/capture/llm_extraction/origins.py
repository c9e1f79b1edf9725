"""Determines the author of a model's wording; what the model says about the author is ignored.

A candidate quotes one turn, but its wording may come from others. It is only as trusted as the least trusted turn from
which it takes words.
"""

from __future__ import annotations

from collections.abc import Sequence

from subconscious.domain.model import Origin, Turn
from subconscious.text.wording import content_words, is_name

BORROWED = 3
"""A wording with at least this many words from a turn other than the quoted one can get that turn's origin."""

CLAIM = 2
"""A wording gets another turn's origin if it adds at least this many words, not counting names, from that turn."""

LONGEST_TYPED = 1500
"""A turn with more characters than this may contain pasted text that the user did not write."""

_SHARE = 1 / 3
"""The minimum share of a wording's words (0 to 1) that must come from another turn to get that turn's origin."""

_OWN = 0.5
"""If more than this share of the words (0 to 1) is in no trusted turn, the model is the author of the wording."""


def origin_of(
    wording: str,
    quote: str,
    quoted: Turn,
    turns: Sequence[Turn],
    *,
    stated: Sequence[Turn] = (),
    context: Sequence[Turn] = (),
) -> Origin:
    """Return the origin of a wording that quotes one of ``turns``.

    ``stated`` are other turns in which the user repeats the statement, ``context`` turns that explain its references.
    """
    said = words(wording)
    if quoted.origin is Origin.USER:
        return _of_a_person(said, quote, (quoted, *stated), turns, context)
    own = words(quoted.quotable_text)
    origin: Origin = quoted.origin
    if len(said - _trusted(origin, turns)) > _OWN * len(said):
        origin = _lesser(origin, Origin.ASSISTANT)
    before = turns[: turns.index(quoted)] if quoted in turns else turns
    for turn in turns:
        # A later turn may repeat this one, which does not change the author of the quoted words.
        shared = words(quote) if turn in before else said
        if turn.origin.distrust > origin.distrust and _draws_on(said, own, shared, _of(turn)):
            origin = turn.origin
    return origin


def _of_a_person(
    said: set[str], quote: str, stated: Sequence[Turn], turns: Sequence[Turn], context: Sequence[Turn]
) -> Origin:
    """Return the origin of a wording that quotes the user's turn: only added words can have another author."""
    added = said - _typed(quote, stated)
    most = _OWN * len(said)
    resolved = _resolved(stated[0], turns, context) if len(added) <= most else set()
    known = _trusted(Origin.USER, turns) | resolved
    origin = Origin.ASSISTANT if len(said - known) > most else Origin.USER
    for turn in turns:
        if turn.origin.distrust > origin.distrust and _adds(said, added - resolved, _of(turn)):
            origin = turn.origin
    return origin


def _resolved(stated: Turn, turns: Sequence[Turn], context: Sequence[Turn]) -> set[str]:
    """Return the words of earlier turns that explain references in the user's turn; tool turns don't count."""
    before = turns[: turns.index(stated)] if stated in turns else turns
    return {word for turn in before if turn in context and turn.origin is not Origin.TOOL for word in _of(turn)}


def _typed(quote: str, stated: Sequence[Turn]) -> set[str]:
    """Return the words of the quote and of the turns in which the user makes the statement.

    Long turns are left out, because their text may be pasted.
    """
    return words(quote).union(*(_of(turn) for turn in stated if len(turn.text) <= LONGEST_TYPED))


def _of(turn: Turn) -> set[str]:
    """Return all words of a turn that the model was shown, including tool output shown as context."""
    return words(f"{turn.quotable_text}\n{turn.shown}")


def _adds(said: set[str], added: set[str], other: set[str]) -> bool:
    """Whether enough of the words that were added to the user's words occur in another turn.

    A name only identifies a subject; any other word makes a claim.
    """
    borrowed = added & other
    claims = [word for word in borrowed if word.isdigit() or not is_name(word)]
    return len(claims) >= CLAIM or len(borrowed) > _OWN * len(said) or _is_much(len(borrowed), said)


def _is_much(borrowed: int, said: set[str]) -> bool:
    return borrowed >= BORROWED and borrowed >= _SHARE * len(said)


def _draws_on(said: set[str], own: set[str], quote: set[str], other: set[str]) -> bool:
    """Whether a wording shares more words with another turn than with its quote, or has many words only from there."""
    if len(said & other) > max(len(said & quote), 1):
        return True
    borrowed = len((said - own) & other)
    return _is_much(borrowed, said)


def _trusted(origin: Origin, turns: Sequence[Turn]) -> set[str]:
    """Return the words of all turns that are at least as trusted as ``origin``."""
    return {word for turn in turns if turn.origin.distrust <= origin.distrust for word in words(turn.quotable_text)}


def _lesser(one: Origin, other: Origin) -> Origin:
    return max(one, other, key=lambda origin: origin.distrust)


def words(text: str) -> set[str]:
    """Return the content words of a text in a normalised spelling."""
    return {word.casefold() for word in content_words(text)}
