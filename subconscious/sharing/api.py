"""Requests about sharing: choose memories to share, and prepare or receive the data of a sync."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from subconscious.app.request import Handler
from subconscious.context.arguments import Args, Name, Words
from subconscious.domain.errors import RequestError
from subconscious.poisoning.suspicions import noted, of_memories
from subconscious.sharing import publishing, receiving
from subconscious.sharing.merge import Entry, digest_of
from subconscious.sharing.publishing import RULES
from subconscious.sharing.receiving import Offer
from subconscious.store import memories, shares
from subconscious.store.team import queue
from subconscious.wire.files import Document, SharedResult, SyncPublishResult, SyncTakeResult, TrustResult

MOST_ENTRIES = 5_000

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
_AUTHOR = re.compile(
    r"[^\s@<>]{1,100}@[^\s@<>]{1,100}|SHA256:[A-Za-z0-9+/]{43}=?|[0-9A-F]{40}|[0-9A-F]{64}|team:[^\s:@]{1,63}"
)
"""Matches an author: an e-mail address, the fingerprint of an SSH or GPG key as Git prints it, or ``team:NAME``."""

_HEX = re.compile(r"[0-9A-Fa-f]+")


class Version(BaseModel):
    """One version of a shared memory, with its author according to Git."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: Digest
    digest: Digest
    version: Document
    author: str = Field(default="", max_length=1000)
    key: str = Field(default="", max_length=200)


class InGit(BaseModel):
    """One memory as it is stored in Git.

    ``versions`` are the current versions, ``replaced`` the digests of versions that were replaced, and ``commit`` is
    the commit whose note contains the memory, "" if there is none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: Digest
    versions: tuple[Document, ...] = ()
    replaced: tuple[Digest, ...] = ()
    commit: str = Field(default="", max_length=64)


class SharingArgs(Args):
    """The arguments of requests about sharing.

    All requests of one sync have the same ``act``, so one undo reverts them together.
    """

    rule: Name = ""
    author: Words = Field(default="", max_length=200)
    act: str = Field(default="", pattern=r"^([0-9a-f]{32})?$")
    entries: tuple[InGit, ...] = Field(default=(), max_length=MOST_ENTRIES)
    versions: tuple[Version, ...] = Field(default=(), max_length=MOST_ENTRIES)


class Sharing(Handler):
    """Requests about sharing."""

    arguments: ClassVar[type[Args]] = SharingArgs
    personal: ClassVar[frozenset[str]] = frozenset({"share", "unshare", "sync_publish", "sync_take", "trust"})
    at_terminal: ClassVar[frozenset[str]] = personal
    decides: ClassVar[str] = "what is shared"

    async def cmd_share(self, args: SharingArgs) -> SharedResult:
        """Share memories of this project, or set a rule that shares memories from now on."""
        project = await self.here(args)
        if args.rule:
            async with self.app.database.write() as tx:
                await shares.set_rule(tx, project.id, _rule(args.rule), on=True)
        await publishing.choose(self.app, project, args.ids)
        return await self.cmd_shared(args)

    async def cmd_unshare(self, args: SharingArgs) -> SharedResult:
        """Stop sharing memories, or end a rule and stop sharing the memories that it chose."""
        project = await self.here(args)
        after = {one.memory_id for one in await shares.of_project(self.app.database, project.id)}
        follow = await shares.replacements(self.app.database, sorted(after))
        wanted = {one for one in after if one in args.ids or follow[one] in args.ids}
        if args.ids and not wanted:
            raise RequestError(
                "none of these memories is shared", "run `subconscious share` to list the shared memories"
            )
        async with self.app.database.write() as tx:
            await shares.withdraw(tx, wanted)
            if args.rule:
                await shares.set_rule(tx, project.id, _rule(args.rule), on=False)
        return await self.cmd_shared(args)

    async def cmd_shared(self, args: SharingArgs) -> SharedResult:
        """List what this project shares, its rules, and the authors that the user trusts.

        ``uids`` also contains the uids of memories that are no longer shared: a sync still has to remove them from Git.
        """
        project = await self.here(args)
        await publishing.apply_rules(self.app, project)
        known = await shares.of_project(self.app.database, project.id)
        chosen = [one for one in known if one.withdrawn_at is None]
        follow = await shares.replacements(self.app.database, [one.memory_id for one in chosen])
        found = await memories.get_many(self.app.database, sorted(set(follow.values())))
        listed = [found[follow[one.memory_id]] for one in chosen if follow[one.memory_id] in found]
        suspected = await of_memories(self.app.database, listed)
        joined = await queue.joined_as(self.app.database, project.id)
        return {
            "memories": [
                {"id": one.id, "kind": one.kind, "summary": one.summary, **noted(suspected.get(one.id))}
                for one in listed
            ],
            "uids": [one.uid for one in known],
            "rules": await shares.rules(self.app.database, project.id),
            "trusted": await shares.trusted(self.app.database),
            "team": joined.name if joined else "",
        }

    async def cmd_sync_publish(self, args: SharingArgs) -> SyncPublishResult:
        """Return the data of this project that should be written to Git."""
        entries = {
            one.uid: Entry({digest_of(each): each for each in one.versions}, frozenset(one.replaced), one.commit)
            for one in args.entries
        }
        out = await publishing.publish(self.app, await self.here(args), entries, preview=args.preview)
        return {
            "entries": [
                {
                    "uid": uid,
                    "versions": list(one.versions.values()),
                    "replaced": sorted(one.replaced),
                    "commit": one.commit,
                }
                for uid, one in out.entries.items()
            ],
            "held": out.held,
        }

    async def cmd_sync_take(self, args: SharingArgs) -> SyncTakeResult:
        """Receive the versions that teammates shared."""
        offers = [Offer(**one.model_dump()) for one in args.versions]
        seen = await receiving.take(self.app, await self.here(args), offers, act=args.act, preview=args.preview)
        return {"versions": seen}

    async def cmd_trust(self, args: SharingArgs) -> TrustResult:
        """Trust an author (with ``back``, stop trusting the author), and return the list of trusted authors."""
        author = _as_stored(args.author.strip())
        if author and args.back and author not in await shares.trusted(self.app.database):
            raise RequestError(f"you do not trust {author}", "`subconscious trust` lists the authors that you trust")
        if author:
            if not (args.back or _AUTHOR.fullmatch(author)):
                raise RequestError(
                    "the author must be an e-mail address, the fingerprint of a key, or a member of a team's store",
                    "enter an e-mail address as `git log` shows it, a fingerprint as `git log --show-signature` does,"
                    " or team:NAME",
                )
            async with self.app.database.write() as tx:
                await shares.trust(tx, author, on=not args.back)
        return {"trusted": await shares.trusted(self.app.database)}


def _as_stored(author: str) -> str:
    """Return an author in the form that is stored: an address in lower case, a GPG fingerprint in upper case."""
    return author.casefold() if "@" in author else author.upper() if _HEX.fullmatch(author) else author


def _rule(name: str) -> str:
    if name not in RULES:
        raise RequestError(f"there is no sharing rule {name!r}", f"rules are: {', '.join(RULES)}")
    return name
