"""Stores the versions of memories that teammates shared.

The stored versions have the origin ``teammate`` and wait for review. If the poisoning check finds nothing, a version by
a trusted author is stored as unconfirmed, and a version that a trusted maintainer confirmed is stored as a memory. Only
the text, kind, date, reason, branch and tags of a received record are used. Versions that this store signed are its
own, and are skipped.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from time import time

import aiosqlite

from subconscious.app import App
from subconscious.capture.admission import Provenance, keep, memory_of
from subconscious.domain.kinds import KINDS
from subconscious.domain.model import Admission, Candidate, Decision, Evidence, Level, Memory, Origin, Scope, Strength
from subconscious.files.record import Record, RecordError, export_key, is_ours, parse_record
from subconscious.memories.memory_commands import MAX_RECORD_LENGTH
from subconscious.poisoning.gate import apply_verdict, screen
from subconscious.poisoning.suspicions import noted, of_verdict
from subconscious.redaction.cleaning import clean
from subconscious.sharing.merge import digest_of
from subconscious.sharing.shared_texts import SharedText, current_texts
from subconscious.store import captures, decisions, shares, unconfirmed
from subconscious.store.capture_rows import QUARANTINED, SessionRef
from subconscious.store.connect import CURRENT_ACT
from subconscious.store.projects import Project
from subconscious.store.rows import content_hash
from subconscious.store.shares import EXTRACTOR, Received
from subconscious.supersession import merging
from subconscious.text.wording import SUMMARY_LENGTH
from subconscious.text.words import cut
from subconscious.wire.files import Document, ReceivedVersion

PERSONAL = frozenset({"preference", "lesson", "meta"})
"""Kinds that are stored as ``learning`` if a teammate shared them: the user's own wishes, and derived memories."""


MEMBER = "team:"
"""Prefix of members of a team's store in the list of trusted authors; ``team:*`` means all members."""


def is_trusted_member(person: str, trusted: Set[str]) -> bool:
    """Whether the user trusts a person of the team's store."""
    return bool({f"{MEMBER}{person}", f"{MEMBER}*"} & trusted)


@dataclass(frozen=True, slots=True)
class Offer:
    """A teammate's version of a memory.

    ``author`` is the author according to Git, which does not verify it. ``member`` is set for versions in a team's
    store, where the author has logged in; ``confirmed_by`` is the maintainer who confirmed the version there.
    """

    uid: str
    digest: str
    version: Document
    author: str
    key: str
    member: str = ""
    confirmed_by: str = ""

    @property
    def by(self) -> str:
        """The author's name as shown to a person."""
        return clean("".join(sign for sign in self.author if sign.isprintable()))[:200] or "an unknown author"

    def is_of(self, trusted: Set[str]) -> bool:
        """Whether the user trusts the version's author."""
        if self.member:
            return is_trusted_member(self.member, trusted)
        return bool({self.author.casefold(), self.key} & {one for one in trusted if not one.startswith(MEMBER)})

    def is_confirmed(self, trusted: Set[str]) -> bool:
        """Whether a maintainer whom the user trusts has confirmed the version."""
        return bool(self.confirmed_by) and is_trusted_member(self.confirmed_by, trusted)


@dataclass(slots=True)
class Seen:
    """A received version, and what became of it: "waits" (for review), "stored", "known" (received before), ..."""

    offer: Offer
    became: str
    reason: str = ""
    memory_id: int | None = None
    text: str = ""
    candidate: Candidate | None = field(default=None, repr=False)
    trusted: bool = False
    """Whether the user trusts the author; False if several versions were offered, or this store has the memory."""
    confirmed: bool = False
    """Whether a maintainer whom the user trusts has confirmed the version; False in the same cases as ``trusted``."""
    suspicion: str = ""
    """Why the version's text may be poisoned."""

    def as_answer(self) -> ReceivedVersion:
        """Return the fields of the response."""
        return {
            "uid": self.offer.uid,
            "became": self.became,
            "by": self.offer.by,
            "reason": self.reason,
            "id": self.memory_id,
            "about": self.text[:400],
            **noted(self.suspicion),
        }


async def take(
    app: App, project: Project, offers: Sequence[Offer], *, act: str = "", preview: bool = False, actor: str = "user"
) -> list[ReceivedVersion]:
    """Store the versions that teammates shared, and return the result for each. A single undo reverts all of them.

    ``actor`` is "user" if the user asked for the sync, else "daemon". With ``preview``, nothing is stored.
    """
    texts = await current_texts(app, project, settle=not preview)
    trusted = set(await shares.trusted(app.database))
    key = await asyncio.to_thread(export_key, app.home.root)
    async with app.database.write() as tx:
        known = await shares.received(tx, project.id)
    seen = await asyncio.to_thread(lambda: list(_judged(offers, texts, known, trusted, key)))
    fresh = [one for one in seen if one.candidate]
    checked = app.recall_context().settings.poisoning
    judged = await asyncio.to_thread(lambda: [_admitted(one, checked=checked) for one in fresh])
    for one, (_, admission) in zip(fresh, judged, strict=True):
        one.suspicion = of_verdict(admission.verdict)
    if not preview:
        await _take_in(app, project, seen, judged, known, (act, actor))
        await _confirm_known(app, seen, known, trusted)
    return [one.as_answer() for one in seen]


def _judged(
    offers: Sequence[Offer],
    texts: Mapping[str, SharedText],
    known: Mapping[str, Sequence[Received]],
    trusted: set[str],
    key: bytes,
) -> Iterable[Seen]:
    """Yield the result for each version, before anything is stored."""
    number = Counter(offer.uid for offer in offers)
    for offer in offers:
        seen = _seen(offer, texts.get(offer.uid), known.get(offer.uid, ()), key)
        if seen.memory_id is None and number[offer.uid] > 1:
            seen.reason += "; another version of it was shared as well"
        elif seen.memory_id is None:  # with several versions, even a trusted author's version waits
            seen.trusted, seen.confirmed = offer.is_of(trusted), offer.is_confirmed(trusted)
        yield seen


def _seen(offer: Offer, text: SharedText | None, known: Iterable[Received], key: bytes) -> Seen:
    try:
        record = parse_record(offer.version.get("record"))
    except RecordError as error:
        return Seen(offer, "refused", str(error))
    if record.uid != offer.uid or digest_of(offer.version) != offer.digest:
        return Seen(offer, "refused", "its record does not match its uid or its digest")
    memory = text.memory if text else None
    seen = Seen(offer, "waits", f"{offer.by} shared it", memory.id if memory else None, clean(record.memory.content))
    if is_ours(record, key):
        seen.became = "own"
    elif any(one.digest == offer.digest for one in known):
        seen.became = "known"
    elif memory and content_hash(seen.text) == memory.content_hash:
        seen.became = "archived" if record.memory.archived_at and memory.archived_at is None else "same"
    elif record.memory.archived_at is not None:
        seen.became = "over"
    elif not seen.text.strip():
        seen.became, seen.reason = "refused", "it is empty"
    else:
        if memory:
            seen.reason = f"{offer.by} shared another text of memory {memory.id}: a person decides which one applies"
        seen.candidate = _candidate(offer, record, seen.reason)
    return seen


def _candidate(offer: Offer, record: Record, reason: str) -> Candidate:
    """Return a candidate with the text, kind, date, reason, branch and tags of ``record``; other fields are fixed."""
    said = record.memory
    content = cut(clean(said.content).strip(), MAX_RECORD_LENGTH)
    return Candidate(
        kind=said.kind if said.kind in KINDS and said.kind not in PERSONAL else "learning",
        summary=cut(" ".join(content.split()), SUMMARY_LENGTH),
        content=content,
        evidence=Evidence(content, shares.source_of(offer.uid, offer.digest), f"shared by {offer.by}", 0, 0),
        origin=Origin.TEAMMATE,
        strength=Strength.IMPLIED,
        raw_confidence=Strength.IMPLIED.prior,
        extractor=EXTRACTOR,
        time=min(time(), max(0.0, said.said_at)),
        scope=Scope.PROJECT,
        reason=reason,
        rationale=cut(clean(said.rationale), MAX_RECORD_LENGTH),
        branch=clean(said.branch)[:1000],
        tags=tuple(clean(tag)[:200] for tag in said.tags[:50]),
    )


async def _take_in(
    app: App,
    project: Project,
    seen: Sequence[Seen],
    judged: Sequence[tuple[Candidate, Admission]],
    known: Mapping[str, Sequence[Received]],
    by: tuple[str, str],
) -> None:
    act, actor = by
    ctx = app.recall_context()
    fresh = [one for one in seen if one.candidate]
    repeats = await merging.repeated(ctx, judged, project.id)
    where = Provenance(SessionRef(project.id, None), agent="sync", actor=actor)
    current = {(one.offer.uid, one.offer.digest) for one in seen}
    async with app.database.write() as tx:
        if act:
            CURRENT_ACT.set(act)  # replaces the transaction's own act id; reset when the transaction ends
        await _drop_replaced(tx, {one.offer.uid for one in fresh}, current, known)
        for one, pair in zip(fresh, judged, strict=True):
            kept = await keep(ctx, tx, [pair], where, repeats)
            await _became(tx, one, pair, where, kept, unconfirmed_on=ctx.settings.unconfirmed)
    await app.embedding.refresh(repeats.changed)
    app.embedding.wake()


async def _confirm_known(
    app: App, seen: Sequence[Seen], known: Mapping[str, Sequence[Received]], trusted: Set[str]
) -> None:
    """Confirm unconfirmed memories that a maintainer of the team has confirmed since they were received."""
    confirmed = [one for one in seen if one.became == "known" and one.offer.is_confirmed(trusted)]
    changed = []
    async with app.database.write() as tx:
        for one in confirmed:
            held = next(held for held in known[one.offer.uid] if held.digest == one.offer.digest)
            capture = await unconfirmed.capture_of(tx, held.memory_id) if held.memory_id else None
            if capture is not None:
                memory = await unconfirmed.confirm(tx, capture, f"{one.offer.confirmed_by} confirmed it for the team")
                changed.append(memory.id)
                one.became, one.memory_id = "stored", memory.id
    await app.embedding.refresh(changed)


async def retract(app: App, project: Project, gone: Set[tuple[str, str]]) -> None:
    """Discard versions that their author has withdrawn, if they still wait for review or are unconfirmed here."""
    async with app.database.write() as tx:
        known = await shares.received(tx, project.id)
        for uid, digest in gone:
            for one in known.get(uid, ()):
                if one.digest == digest and one.status == "review":
                    await decisions.displace(tx, one.id, "its author withdrew it")


async def _drop_replaced(
    tx: aiosqlite.Connection,
    uids: set[str],
    current: set[tuple[str, str]],
    known: Mapping[str, Sequence[Received]],
) -> None:
    """Discard received versions that wait or are unconfirmed, if a newer version of the memory was shared."""
    for uid in uids:
        for one in known.get(uid, ()):
            if (uid, one.digest) not in current:
                await decisions.displace(tx, one.id, "a newer version of it was shared")


def _admitted(one: Seen, *, checked: bool) -> tuple[Candidate, Admission]:
    assert one.candidate is not None  # noqa: S101 - the caller passes only versions with a candidate
    reservation = "" if one.trusted or one.confirmed else one.reason
    decision = Decision.AUTO if one.confirmed else Decision.REVIEW
    admission = Admission(decision, one.candidate.raw_confidence, one.reason, reservation=reservation)
    admission = apply_verdict(admission, screen(one.candidate)) if checked else admission
    if admission.decision is Decision.AUTO and admission.verdict and admission.verdict.level is not Level.NONE:
        admission = replace(admission, decision=Decision.REVIEW)
    return one.candidate, admission


async def _became(
    tx: aiosqlite.Connection,
    one: Seen,
    pair: tuple[Candidate, Admission],
    where: Provenance,
    kept: Sequence[tuple[int, Memory | None]],
    *,
    unconfirmed_on: bool,
) -> None:
    """Set ``became`` and ``reason`` of a version according to its stored capture.

    A trusted author's version is stored as unconfirmed if no check found a problem and ``unconfirmed_on`` is true.
    """
    if not kept:
        one.became = "known"
        return
    number, _ = kept[0]
    capture = await captures.require(tx, number)
    harmless = capture["status"] == "review" and capture["level"] == Level.NONE and capture["reservation"] == ""
    if one.trusted and harmless and unconfirmed_on:
        await unconfirmed.insert(tx, number, memory_of(*pair, where))
        one.became = "unconfirmed"
        return
    names = {"captured": "stored", "review": "waits", "unconfirmed": "unconfirmed", QUARANTINED: "quarantined"}
    one.became = names.get(capture["status"], "discarded")
    one.reason = capture["reason"]
