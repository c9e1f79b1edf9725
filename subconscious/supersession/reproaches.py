"""Finds the stored rules of which a user's reproaches remind ("again", "I told you"), and counts them as repeated.

The judge of typed sentences thinks little of a reproach, and rightly: it states nothing new. But it shows that the rule
still matters, and whether a session that had received it kept to it. In case of doubt, nothing is counted.
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
"""The kinds of memories of which a reproach may remind."""

COMPARED = 500
"""The number of latest rules that a reproach is compared with."""

NEAREST = 4
"""The number of rules sharing most words with a reproach that the pair model compares with it."""

RARE = 2
"""The most rules in which a word occurs that shows which rule is meant."""

FEWEST_SHARED = 2
"""The fewest shared words that show which rule is meant; one is enough if it names code or a command."""

AT_ONCE = 5.0
"""A memory that was injected less than this many seconds before a prompt may have been injected with that prompt."""

_WORD = re.compile(r"[^\W_][\w'./@:#-]*")
_CODE = re.compile(r"[a-z][A-Z]|\w_\w|\w[./:@#]\w|[A-Za-z]\d|\d[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Reminded:
    """A rule of which a reproach in a message reminds, and the time of that message."""

    memory_id: int
    time: float


async def reminded(ctx: RecallContext, turns: Sequence[Turn], project_id: str) -> list[Reminded]:
    """Return the rules of which the user's messages among some turns remind; all these messages must be attested."""
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
    """Count each rule as violated if the session had received it, else as stated again; not those in ``no_longer``."""
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
    """Return the one rule that a reproach is about: it has the same meaning, or shares the words that tell rules apart."""
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
    """Return the words that a reproach shares with each rule, by the index of the rule; rules without one are left out.

    Words that begin alike are shared, too. Words such as "use" and "run" say nothing about the subject.
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
"""The fewest letters of a word that counts as a form of a longer one that begins with it."""


def _names_code(rule: str, shared: Collection[str]) -> bool:
    """Whether one of the shared words of a rule is code, a tool, or no word of the language."""
    english = is_english(rule)
    for word in _WORD.findall(rule):
        low = word.casefold().rstrip(".:'")
        if not any(_is_form(key_of(low), one) for one in shared):
            continue
        unknown = english and low.isascii() and low.isalpha() and worth(plain_stem(low)) == 1
        if unknown or low in FAMILIES or f"`{word}" in rule or _CODE.search(word):
            return True
    return False
