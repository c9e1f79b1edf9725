"""Makes, changes and lists links for people and the assistant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import time
from types import MappingProxyType
from uuid import uuid4

from subconscious.domain.errors import RequestError
from subconscious.domain.link_types import DISCOVERABLE, LinkType, directed_name, find_link_type
from subconscious.domain.model import Level, Link, Memory, Origin
from subconscious.links.graph import Neighbours
from subconscious.poisoning.check import check_text
from subconscious.poisoning.quarantine import refuse_held
from subconscious.poisoning.suspicions import noted, of_memories
from subconscious.redaction.cleaning import clean
from subconscious.store import links, memories
from subconscious.store.connect import Database
from subconscious.text.wording import CONTENT_LENGTH
from subconscious.text.words import cut
from subconscious.wire import links as wire
from subconscious.wire.fields import fields_of

CLAIMED = 0.5
"""The confidence of a link that the assistant proposes: low, because nothing has checked the link."""

NOTHING: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A requested link: source memory, type, target memory, and the reason."""

    source: int
    target: int
    type: str
    reason: str
    origin: Origin
    session_id: str | None = None


def type_of(name: str) -> tuple[LinkType, bool]:
    """Return the link type whose name or inverse is ``name``, and whether it is the inverse.

    Raises RequestError if there is no such type, or if only the program itself may create links of the type.
    """
    found = find_link_type(name)
    if found is None or found[0].name not in DISCOVERABLE:
        raise RequestError(f"there is no link type {name!r} that you can use", f"types are: {', '.join(DISCOVERABLE)}")
    return found


async def link(database: Database, wanted: LinkRequest) -> tuple[Link, bool]:
    """Store a link; return the stored link, and whether anything was changed.

    A person's link is active, the assistant's is proposed. If an equal link exists, only a person can change that link.
    """
    row, backwards = type_of(wanted.type)
    ends = (wanted.target, wanted.source) if backwards else (wanted.source, wanted.target)
    await _refuse_ends(database, ends, wanted.origin)
    reason = cut(" ".join(clean(wanted.reason).split()), CONTENT_LENGTH)
    user = wanted.origin is Origin.USER
    if not user and check_text(reason).level.rank >= Level.MEDIUM.rank:
        raise RequestError("this reason looks like an attempt to steer later sessions", "state only the reason")
    status, confidence, actor = ("active", 1.0, "user") if user else ("proposed", CLAIMED, "assistant")
    made = Link(0, *ends, row.name, status, confidence, actor, reason, time())
    async with database.write() as tx:
        known = await links.stored_link(tx, made)
        if known is None:
            return await links.add(tx, made, actor, uuid4().hex, wanted.session_id) or made, True
        if not user:
            return known, False
        given = {"evidence": reason} if reason else {}
        now = await links.change(
            tx, known, actor, reason, uuid4().hex, status=status, confidence=1.0, created_by=actor, **given
        )
        return now, now != known


async def _refuse_ends(database: Database, ends: tuple[int, int], origin: Origin) -> None:
    """Raise RequestError if two memories can't be linked: they are the same, archived, or of different projects.

    Raises QuarantinedError if one of them is in quarantine and the request does not come from a person.
    """
    if ends[0] == ends[1]:
        raise RequestError("a memory can't be linked with itself", "name two memories: subconscious link ID TYPE ID")
    if origin is not Origin.USER:
        await refuse_held(database, ends)
    both = [await memories.get(database, memory_id) for memory_id in ends]
    for memory in both:
        if memory.archived_at is not None:
            raise RequestError(f"memory {memory.id} is archived", f"subconscious unarchive {memory.id}")
    if len({memory.project_id for memory in both} - {None}) > 1:
        raise RequestError("the memories belong to different projects", "link memories of one project")


async def confirm(database: Database, ids: Sequence[int], reason: str) -> list[Link]:
    """Make links active, because a person confirmed them."""
    return await _change(database, ids, reason, status="active", confidence=1.0)


async def refuse(database: Database, ids: Sequence[int], reason: str) -> list[Link]:
    """Mark links as refused by a person. They are kept, so that they are not proposed again."""
    return await _change(database, ids, reason, status="refused")


async def _change(database: Database, ids: Sequence[int], reason: str, **values: str | float) -> list[Link]:
    act = uuid4().hex
    async with database.write() as tx:
        return [
            await links.change(tx, await links.require(tx, one), "user", clean(reason), act, **values) for one in ids
        ]


async def retype(database: Database, link_id: int, name: str, reverse: bool, reason: str) -> Link:
    """Change a link's type or direction, as a person requested. The link becomes active, with a confidence of 1.

    Raises RequestError if another link already has the new ends and type.
    """
    async with database.write() as tx:
        held = await links.require(tx, link_id)
        row, backwards = type_of(name or held.type)
        turned = reverse != backwards
        ends = (held.target_id, held.source_id) if turned else (held.source_id, held.target_id)
        wanted = links.canonical(Link(0, *ends, row.name, "active", 1.0, "user", held.evidence, held.created_at))
        known = await links.stored_link(tx, wanted)
        if known is not None and known.id != link_id:
            raise RequestError(
                f"link {link_id} is unchanged, because link {known.id} states this already",
                f"run `subconscious confirm {known.id}`, then `subconscious unlink {link_id}`",
            )
        new = {name: getattr(wanted, name) for name in ("source_id", "target_id", "type", "status", "confidence")}
        return await links.change(tx, held, "user", clean(reason), uuid4().hex, **new)


async def ends(database: Database, found: Sequence[Link]) -> dict[int, Memory]:
    """Return the memories at both ends of links, by id."""
    return await memories.get_many(database, sorted({end for one in found for end in (one.source_id, one.target_id)}))


async def as_rows(database: Database, found: Sequence[Link], seen_from: int | None = None) -> list[wire.Link]:
    """Return links as rows of a response, with a warning for each memory at their ends that may be poisoned."""
    known = await ends(database, found)
    suspected = await of_memories(database, list(known.values()))
    return [as_row(one, known, seen_from, suspected) for one in found]


def as_row(
    link: Link, known: dict[int, Memory], seen_from: int | None = None, suspected: Mapping[int, str] = NOTHING
) -> wire.Link:
    """Return a link as a row of a response: both memories, and the link's name as seen from one of them."""
    source, target = (link_end(known[number], suspected) for number in (link.source_id, link.target_id))
    is_source = seen_from in (None, link.source_id)
    row = fields_of(wire.Link, link, name=directed_name(link.type, source=is_source), source=source, target=target)
    if seen_from is not None:
        row["other"] = target if is_source else source
    return row


def link_end(memory: Memory, suspected: Mapping[int, str] = NOTHING) -> wire.LinkEnd:
    """Return the fields of a memory at the end of a link, and why it may be poisoned."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "summary": memory.summary,
        "said_at": memory.said_at,
        "origin": memory.origin,
        "extractor": memory.extractor,
        "project_id": memory.project_id,
        "archived_at": memory.archived_at,
        **noted(suspected.get(memory.id)),
    }


class VisibleLinks:
    """Returns the links that are visible from a project, and collects the memories at their ends in ``memories``.

    With ``replaced``, links to archived memories that were replaced are visible too.
    """

    def __init__(
        self,
        database: Database,
        project_id: str | None,
        types: Iterable[str] = (),
        everywhere: bool = False,
        *,
        replaced: bool = False,
    ):
        self.memories: dict[int, Memory] = {}
        self._database = database
        self._project_id = project_id
        self._types = tuple(types)
        self._everywhere = everywhere
        self._replaced = replaced

    @property
    def neighbours(self) -> Neighbours:
        """The function that returns visible links, for walks over links (``graph.walk``)."""
        return self._neighbours

    async def _neighbours(self, ids: Sequence[int]) -> list[Link]:
        found = await links.of(self._database, ids, links.SHOWN, self._types, replaced=self._replaced)
        new = sorted({end for one in found for end in (one.source_id, one.target_id)} - set(self.memories))
        self.memories |= await memories.get_many(self._database, new)
        return [one for one in found if self._is_visible(one.source_id) and self._is_visible(one.target_id)]

    def _is_visible(self, memory_id: int) -> bool:
        return self._everywhere or self.memories[memory_id].project_id in (None, self._project_id)
