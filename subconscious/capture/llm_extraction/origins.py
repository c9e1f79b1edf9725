"""Whose words a model's wording is made of: its own word for it is never asked.

A candidate quotes one turn, but its wording may come from others. It is no more trusted than the least trusted turn
that it visibly draws on.
"""

from __future__ import annotations

from collections.abc import Sequence

from subconscious.domain.model import Origin, Turn
from subconscious.text.wording import content_words, is_name

BORROWED = 3
"""Words of a less trusted turn, and of nobody more trusted, from which a wording is made of that turn too."""

CLAIM = 2
"""Words, names apart, that another turn added to a person's and that say something of their own."""

LONGEST_TYPED = 1500
"""Characters of a turn beyond which a person may have pasted something into it that they did not write."""

_SHARE = 1 / 3
"""Share of a wording that those words must be as well."""

_OWN = 0.5
"""Share of a wording that nobody trusted said, from which it is the model's own."""


def origin_of(
    wording: str,
    quote: str,
    quoted: Turn,
    turns: Sequence[Turn],
    *,
    stated: Sequence[Turn] = (),
    context: Sequence[Turn] = (),
) -> Origin:
    """Return the origin of a wording that quotes one turn of ``turns``.

    ``stated`` are further turns in which a person said what it says, ``context`` those that tell what they refer to.
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
        # Who speaks later may say it after this turn, which takes nothing from whose words it quotes.
        shared = words(quote) if turn in before else said
        if turn.origin.distrust > origin.distrust and _draws_on(said, own, shared, _of(turn)):
            origin = turn.origin
    return origin


def _of_a_person(
    said: set[str], quote: str, stated: Sequence[Turn], turns: Sequence[Turn], context: Sequence[Turn]
) -> Origin:
    """What stands in a person's own turn is theirs, whoever says it too; only what was added can be another's."""
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
    """The words by which turns before a person's say what that refers to; a tool's can't."""
    before = turns[: turns.index(stated)] if stated in turns else turns
    return {word for turn in before if turn in context and turn.origin is not Origin.TOOL for word in _of(turn)}


def _typed(quote: str, stated: Sequence[Turn]) -> set[str]:
    """The words of the turns in which a person said it; of a long one, which may be pasted, those of the quote."""
    return words(quote).union(*(_of(turn) for turn in stated if len(turn.text) <= LONGEST_TYPED))


def _of(turn: Turn) -> set[str]:
    """All that a model was given of a turn, what only shows what was going on included."""
    return words(f"{turn.quotable_text}\n{turn.shown}")


def _adds(said: set[str], added: set[str], other: set[str]) -> bool:
    """Whether enough of what was added to a person's words stands in another turn for it to come from there.

    A name only says what is meant; any other words make a claim of their own.
    """
    borrowed = added & other
    claims = [word for word in borrowed if word.isdigit() or not is_name(word)]
    return len(claims) >= CLAIM or len(borrowed) > _OWN * len(said) or _is_much(len(borrowed), said)


def _is_much(borrowed: int, said: set[str]) -> bool:
    return borrowed >= BORROWED and borrowed >= _SHARE * len(said)


def _draws_on(said: set[str], own: set[str], quote: set[str], other: set[str]) -> bool:
    """Whether a wording shares more with another turn than with its quote, or takes much from there alone."""
    if len(said & other) > max(len(said & quote), 1):
        return True
    borrowed = len((said - own) & other)
    return _is_much(borrowed, said)


def _trusted(origin: Origin, turns: Sequence[Turn]) -> set[str]:
    """The words of all turns that are at least as trusted."""
    return {word for turn in turns if turn.origin.distrust <= origin.distrust for word in words(turn.quotable_text)}


def _lesser(one: Origin, other: Origin) -> Origin:
    return max(one, other, key=lambda origin: origin.distrust)


def words(text: str) -> set[str]:
    """The words of a text that carry meaning, however they are written."""
    return {word.casefold() for word in content_words(text)}
