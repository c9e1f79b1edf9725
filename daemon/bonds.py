"""Links as people and the assistant make, change and look at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import time
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from subconscious.errors import RequestError
from subconscious.flow.remembering import clean
from subconscious.graph import Neighbours
from subconscious.link_types import DISCOVERABLE, LinkType, named, told_from
from subconscious.model import Level, Link, Memory, Origin
from subconscious.poisoning.check import check_text
from subconscious.store import links, memories
from subconscious.store.connect import Database

from .acts import CONTENT_LENGTH, cut, refuse_held
from .core import Core
from .suspicions import noted, of_memories

CLAIMED = 0.5
"""The confidence of a link that the assistant proposes: nobody has weighed it."""

BRIEF = ("id", "kind", "summary", "said_at", "origin", "project_id", "archived_at")
"""What is told of a memory at the end of a link."""

NOTHING: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A link that somebody asks for: source TYPE target, and why."""

    source: int
    target: int
    type: str
    reason: str
    origin: Origin
    session_id: str | None = None


def type_of(name: str) -> tuple[LinkType, bool]:
    """The type that a name means, and whether it is read backwards. Raises RequestError for those that nobody makes."""
    found = named(name)
    if found is None or found[0].name not in DISCOVERABLE:
        raise RequestError(f"there is no link type {name!r} to choose", f"types are: {', '.join(DISCOVERABLE)}")
    return found


async def link(core: Core, wanted: Wanted) -> tuple[Link, bool]:
    """Make a link, or find it: a person's is active, the assistant's waits for one. Whether it changed."""
    row, backwards = type_of(wanted.type)
    ends = (wanted.target, wanted.source) if backwards else (wanted.source, wanted.target)
    await _refuse_ends(core, ends, wanted.origin)
    reason = cut(" ".join(clean(wanted.reason).split()), CONTENT_LENGTH)
    user = wanted.origin is Origin.USER
    if not user and check_text(reason).level.rank >= Level.MEDIUM.rank:
        raise RequestError("this reason looks like an attempt to steer later sessions", "give the reason plainly")
    status, confidence, actor = ("active", 1.0, "user") if user else ("proposed", CLAIMED, "assistant")
    made = Link(0, *ends, row.name, status, confidence, actor, reason, time())
    async with core.database.write() as tx:
        known = await links.same(tx, made)
        if known is None:
            return await links.add(tx, made, actor, uuid4().hex, wanted.session_id) or made, True
        if not user:
            return known, False
        told = {"evidence": reason} if reason else {}
        now = await links.change(
            tx, known, actor, reason, uuid4().hex, status=status, confidence=1.0, created_by=actor, **told
        )
        return now, now != known


async def _refuse_ends(core: Core, ends: tuple[int, int], origin: Origin) -> None:
    """Raise RequestError for memories that can't be linked: one with itself, what is archived, two projects'."""
    if ends[0] == ends[1]:
        raise RequestError("a memory has no link to itself", "name two memories: subconscious link ID TYPE ID")
    if origin is not Origin.USER:
        await refuse_held(core, ends)
    both = [await memories.get(core.database, memory_id) for memory_id in ends]
    for memory in both:
        if memory.archived_at is not None:
            raise RequestError(f"memory {memory.id} is archived", f"subconscious unarchive {memory.id}")
    if len({memory.project_id for memory in both} - {None}) > 1:
        raise RequestError("they are memories of two projects, which don't know of each other", "link within one")


async def confirm(core: Core, ids: Sequence[int], reason: str) -> list[Link]:
    """A person says that links are right."""
    return await _change(core, ids, reason, status="active", confidence=1.0)


async def refuse(core: Core, ids: Sequence[int], reason: str) -> list[Link]:
    """A person says that links are wrong; they are kept, so that they are not proposed again."""
    return await _change(core, ids, reason, status="refused")


async def _change(core: Core, ids: Sequence[int], reason: str, **values: str | float) -> list[Link]:
    act = uuid4().hex
    async with core.database.write() as tx:
        return [await links.change(tx, await links.held(tx, one), "user", clean(reason), act, **values) for one in ids]


async def retype(core: Core, link_id: int, name: str, reverse: bool, reason: str) -> Link:
    """A person says how it is: another type, or the other way round; that is as good as their own link."""
    async with core.database.write() as tx:
        held = await links.held(tx, link_id)
        row, backwards = type_of(name or held.type)
        turned = reverse != backwards
        ends = (held.target_id, held.source_id) if turned else (held.source_id, held.target_id)
        wanted = links.canonical(Link(0, *ends, row.name, "active", 1.0, "user", held.evidence, held.created_at))
        known = await links.same(tx, wanted)
        if known is not None and known.id != link_id:
            raise RequestError(
                f"link {known.id} says that already", f"subconscious confirm {known.id}, then unlink this"
            )
        new = {name: getattr(wanted, name) for name in ("source_id", "target_id", "type", "status", "confidence")}
        return await links.change(tx, held, "user", clean(reason), uuid4().hex, **new)


async def ends(database: Database, found: Sequence[Link]) -> dict[int, Memory]:
    """The memories that stand at the ends of links."""
    return await memories.get_many(database, sorted({end for one in found for end in (one.source_id, one.target_id)}))


async def told(core: Core, found: Sequence[Link], seen_from: int | None = None) -> list[dict[str, Any]]:
    """Links as an answer tells of them, with what looks poisoned at their ends."""
    known = await ends(core.database, found)
    suspected = await of_memories(core, list(known.values()))
    return [row(one, known, seen_from, suspected) for one in found]


def row(
    link: Link, known: dict[int, Memory], seen_from: int | None = None, suspected: Mapping[int, str] = NOTHING
) -> dict[str, Any]:
    """One link as an answer tells of it: with what stands at both ends, and how it reads from one of them."""
    both = {
        name: brief(known[number]) | noted(suspected.get(number))
        for name, number in (("source", link.source_id), ("target", link.target_id))
    }
    name = told_from(link.type, source=seen_from in (None, link.source_id))
    other = {} if seen_from is None else {"other": both["target" if seen_from == link.source_id else "source"]}
    return asdict(link) | {"name": name} | both | other


def brief(memory: Memory) -> dict[str, Any]:
    """What is told of a memory at the end of a link."""
    return {name: getattr(memory, name) for name in BRIEF}


class Surroundings:
    """The links around a memory as far as they may be seen from a project; remembers whom it has met."""

    def __init__(self, database: Database, project_id: str | None, types: Iterable[str] = (), everywhere: bool = False):
        self.met: dict[int, Memory] = {}
        self._database = database
        self._project_id = project_id
        self._types = tuple(types)
        self._everywhere = everywhere

    @property
    def neighbours(self) -> Neighbours:
        """What a walk asks."""
        return self._neighbours

    async def _neighbours(self, ids: Sequence[int]) -> list[Link]:
        found = await links.of(self._database, ids, links.SHOWN, self._types)
        new = sorted({end for one in found for end in (one.source_id, one.target_id)} - set(self.met))
        self.met |= await memories.get_many(self._database, new)
        return [one for one in found if self._seen(one.source_id) and self._seen(one.target_id)]

    def _seen(self, memory_id: int) -> bool:
        return self._everywhere or self.met[memory_id].project_id in (None, self._project_id)
