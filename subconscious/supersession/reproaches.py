"""Finds the stored rules that a user's reproaches are about ("again", "I told you"), and counts them as repeated.

A reproach is not stored, because it states nothing new. But it shows that a rule still matters, and that the rule was
violated if the session had received it. In case of doubt, nothing is counted.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import aiosqlite

from subconscious.domain.model import Act, Memory, Origin, Relation, Role, Turn
from subconscious.links.reading import stem as plain_stem
from subconscious.links.reading import worth
from subconscious.recall.recall_context import RecallContext
from subconscious.store import memories, surfaces
from subconscious.store.filters import Filter
from subconscious.supersession import succession
from subconscious.supersession.ended import keys
from subconscious.text.alternatives import FAMILIES
from subconscious.text.claim_reader import key_of
from subconscious.text.function_words import is_english
from subconscious.text.occasion import bare
from subconscious.text.reproach import reproaches
from subconscious.text.same_statement import same_statement
from subconscious.text.stems import LIGHT

KINDS = ("preference", "lesson", "pattern", "decision")
"""The kinds of memories that a reproach may be about."""

COMPARED = 500
"""How many rules a reproach is compared with, latest first."""

NEAREST = 4
"""How many rules the pair model compares with a reproach: those that share the most words with it."""

RARE = 2
"""A shared word shows which rule is meant if at most this many rules share it."""

FEWEST_SHARED = 2
"""How many words a reproach must share with the rule that it is about; one is enough if it names code or a tool."""

AT_ONCE = 5.0
"""A memory that was injected less than this many seconds before a prompt may have been injected with that prompt."""

_WORD = re.compile(r"[^\W_][\w'./@:#-]*")
_CODE = re.compile(r"[a-z][A-Z]|\w_\w|\w[./:@#]\w|[A-Za-z]\d|\d[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Reminded:
    """A rule that a reproach is about, and the time of the message with the reproach."""

    memory_id: int
    time: float


async def reminded(ctx: RecallContext, turns: Sequence[Turn], project_id: str) -> list[Reminded]:
    """Return the rules that reproaches in the user's turns are about. A hook must have attested all these turns."""
    if not (ctx.settings.capture and ctx.settings.dedupe):
        return []
    said = [
        (turn, about)
        for turn in turns
        if _is_typed(turn)
        for about in reproaches(turn.text, interrupted=turn.after_interrupt)
    ]
    rules = await _rules(ctx, project_id) if said else []
    found = []
    for turn, about in said:
        earlier = [rule for rule in rules if rule.turn_id != turn.id and rule.said_at < turn.time]
        rule = await _meant(ctx, about, earlier)
        if rule is not None:
            found.append(Reminded(rule.id, turn.time))
    return list(dict.fromkeys(found))


async def count(
    tx: aiosqlite.Connection, found: Iterable[Reminded], session_id: str | None, no_longer: Collection[int | None] = ()
) -> None:
    """Count each rule as violated if the session had received it, else as repeated; skip the ids in ``no_longer``."""
    for one in found:
        rule = await memories.find(tx, one.memory_id)
        if rule is None or rule.archived_at is not None or rule.id in no_longer:
            continue
        if session_id and await surfaces.was_given(tx, session_id, [rule.content_hash], one.time - AT_ONCE):
            await memories.record_violation(tx, rule.id, session_id)
        else:
            await memories.restate(tx, rule, one.time, session_id, Origin.USER)


def _is_typed(turn: Turn) -> bool:
    typed = turn.origin is Origin.USER and turn.role is Role.USER and turn.act is Act.NONE
    return typed and not turn.sidechain


async def _rules(ctx: RecallContext, project_id: str) -> list[Memory]:
    known = await memories.latest(ctx.database, Filter(project_id, kinds=KINDS), COMPARED)
    typed = [memory for memory in known if memory.origin is Origin.USER]
    return await succession.still_in_force(ctx.database, typed, project_id)


async def _meant(ctx: RecallContext, about: str, rules: Sequence[Memory]) -> Memory | None:
    """Return the rule that a reproach is about: it means the same or shares rare words; None if unclear which it is."""
    shared = await asyncio.to_thread(_shared, about, [bare(rule.content) for rule in rules])
    near = sorted(shared, key=lambda place: -len(shared[place]))[:NEAREST]
    relations = await ctx.relate(about, [bare(rules[place].content) for place in near])
    same = [place for place, relation in zip(near, relations, strict=False) if relation is Relation.SAME]
    same += [place for place in near if place not in same and same_statement(about, bare(rules[place].content))]
    if same:
        return rules[same[0]] if len(same) == 1 else None
    count_of = Counter(word for words in shared.values() for word in words)
    telling = [
        place
        for place, words in shared.items()
        if any(count_of[word] <= RARE for word in words)
        and (len(words) >= FEWEST_SHARED or _names_code(bare(rules[place].content), words))
    ]
    most = max((len(shared[place]) for place in telling), default=0)
    best = [place for place in telling if len(shared[place]) == most]
    return rules[best[0]] if len(best) == 1 else None


def _shared(about: str, rules: Sequence[str]) -> dict[int, frozenset[str]]:
    """Return the words that a reproach shares with each rule, by the rule's index; rules that share none are left out.

    Forms of a word count as shared ("test", "testing"). Words such as "use" and "run" are ignored.
    """
    wanted = keys(about) - LIGHT.keys()
    found = {}
    for place, rule in enumerate(rules):
        own = keys(rule)
        if words := frozenset(word for word in wanted if any(_is_form(word, one) for one in own)):
            found[place] = words
    return found


def _is_form(one: str, other: str) -> bool:
    longer = min(len(one), len(other)) >= SHORTEST
    return one == other or (longer and (one.startswith(other) or other.startswith(one)))


SHORTEST = 5
"""A word with at least this many letters counts as a form of any longer word that begins with it."""


def _names_code(rule: str, shared: Collection[str]) -> bool:
    """Whether one of the words that a rule shares with a reproach is code, a tool, or not a known English word."""
    english = is_english(rule)
    for word in _WORD.findall(rule):
        low = word.casefold().rstrip(".:'")
        if not any(_is_form(key_of(low), one) for one in shared):
            continue
        unknown = english and low.isascii() and low.isalpha() and worth(plain_stem(low)) == 1
        if unknown or low in FAMILIES or f"`{word}" in rule or _CODE.search(word):
            return True
    return False
