"""Memories shared through Git: ``subconscious share``, ``unshare``, ``trust`` and ``sync``."""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeVar
from uuid import uuid4

from subconscious.domain.errors import RequestError
from subconscious.sharing import in_repo
from subconscious.sharing.git import Author, ReadEntries, Refs, open_refs, without_credentials
from subconscious.sharing.git_process import GitError
from subconscious.sharing.merge import Entry, digest_of, merge

from . import screen, suspicion, sync_hook
from .ask import ask, here
from .origin import require_person

if TYPE_CHECKING:
    from subconscious.wire.files import HeldMemory, OfferedVersion, ReceivedVersion, SharedEntry

PATIENCE = 600.0
REQUEST_BYTES, MOST_ROWS = 4 << 20, 200
"""The most bytes and rows of a request, exceeded only by the versions of one memory, which stay together.

The daemon compares each version with the stored versions.
"""
ATTEMPTS = 4
"""The most attempts of a sync; it starts again if somebody changed the remote during the sync."""
SHOWN = 10

MEANINGS = {
    "waits": "to review: subconscious review",
    "unconfirmed": "stored as unconfirmed, because you trust the author: subconscious review --status unconfirmed",
    "quarantined": "in quarantine: subconscious review --status quarantined",
    "archived": "archived by a teammate, but still active here",
    "refused": "refused",
    "discarded": "left out",
}
"""The text that `sync` prints for each outcome of a received version; other outcomes are not printed."""

BRIEFLY = {
    "waits": "to review (subconscious review)",
    "unconfirmed": "stored as unconfirmed memories, because you trust their authors",
    "quarantined": "in quarantine",
}

Row = TypeVar("Row", "SharedEntry", "OfferedVersion")


@dataclass(slots=True)
class Done:
    """The result of a sync."""

    remote: str
    sent: list[str] = field(default_factory=list)
    held: list[HeldMemory] = field(default_factory=list)
    received: list[ReceivedVersion] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    offline: str = ""
    files: int = 0
    """Files in the checkout that were changed."""


def share(options: Namespace) -> int:
    """Share memories; without arguments, list the shared memories."""
    return _choose("share", options)


def unshare(options: Namespace) -> int:
    """Stop sharing memories."""
    if not options.ids and not options.rule:
        remedy = "name memories (`subconscious unshare ID`) or a rule (`subconscious unshare --rule NAME`)"
        raise RequestError("no memories are named", remedy)
    return _choose("unshare", options)


def _how_exchanged(team: str) -> str:
    if not team:
        return "To exchange them: subconscious sync"
    return f"They will soon be sent to {screen.line(team)} in the team's store. To send now: subconscious team sync"


def _choose(deed: Literal["share", "unshare"], options: Namespace) -> int:
    require_person(f"{deed} memories")
    chosen = options.ids or options.rule
    values = {"ids": options.ids or None, "rule": options.rule, "origin": "user"} if chosen else {}
    shared = ask(deed if chosen else "shared", PATIENCE, cwd=here(), **values)
    if options.json:
        screen.as_json({name: value for name, value in shared.items() if name != "uids"})
        return 0
    for memory in shared["memories"]:
        print(screen.wrapped(screen.line(f"{memory['id']} {memory['summary']}")))
        suspicion.note(memory)
    if shared["memories"] or shared["rules"]:
        number = screen.counted(len(shared["memories"]), "memory", "memories")
        print(f"This project shares {number}. {_how_exchanged(shared['team'])}")
    else:
        print("This project shares nothing. To share a memory: subconscious share ID")
    if shared["rules"]:
        print(f"Rules: {', '.join(shared['rules'])}")
    return 0


def trust(options: Namespace) -> int:
    """Trust an author, or stop trusting one (--remove); list the trusted authors."""
    if options.author:
        require_person("trust an author")
        found = ask("trust", author=options.author, back=options.remove or None, origin="user")["trusted"]
        if "@" in options.author and not options.remove:
            print(
                "Anyone who can push can commit under this address.\n"
                "Only the fingerprint of a signing key proves who the author is."
            )
    else:
        found = ask("shared", cwd=here())["trusted"]
    print("\n".join(map(screen.line, found)) or "You trust no author.")
    return 0


def sync(options: Namespace) -> int:
    """Write the shared memories to Git, exchange them with a remote, and import what teammates shared."""
    if options.install_hook or options.remove_hook:
        return sync_hook.change(options)
    if options.hook:
        return sync_hook.run(lambda: _summary(_synced(options)))
    require_person("sync memories")
    done = _synced(options)
    if options.json:
        shown = {name: getattr(done, name) for name in Done.__slots__}
        screen.as_json(shown | {"remote": without_credentials(done.remote)})
    else:
        _print(done, preview=options.preview)
    return 1 if done.offline else 0


def _synced(options: Namespace) -> Done:
    with open_refs(here()) as refs:
        url = refs.url(options.remote or "origin")
        if options.remote and not url:
            raise RequestError(f"there is no remote {options.remote!r}", "`git remote -v` lists the remotes")
        shared, done = ask("shared", PATIENCE, cwd=here()), Done(url)
        state, tips = _exchange(refs, done, shared["uids"], preview=options.preview)
        keyed = any("@" not in one for one in shared["trusted"])
        files = in_repo.read(refs.repository.worktree) if options.in_repo else ReadEntries()
        done.problems += files.problems
        authors = refs.authors(tips, signatures=keyed)
        done.received = _take(in_repo.added(state, files.state), authors, preview=options.preview)
        if options.in_repo and not options.preview:
            done.files = in_repo.write(refs.repository.worktree, state, files.state)
    return done


def _summary(done: Done) -> str:
    """Return a line about a sync for a hook; "" if nothing changed."""
    counted = Counter(row["became"] for row in done.received)
    parts = [f"{screen.counted(len(done.sent), 'change', 'changes')} sent"] if done.sent and not done.offline else []
    parts += [f"{counted[became]} {meaning}" for became, meaning in BRIEFLY.items() if counted[became]]
    parts += (
        [f"{screen.counted(len(done.held), 'memory', 'memories')} not sent (to see why: subconscious sync)"]
        if done.held
        else []
    )
    parts += [f"the remote was not reached: {done.offline}"] if done.offline else []
    return "; ".join(parts)


def _exchange(refs: Refs, done: Done, uids: Sequence[str], *, preview: bool) -> tuple[dict[str, Entry], set[str]]:
    """Merge the shared data of this repository and its remote, write the result to both, and return it.

    Also return the ids of the commits that were read. With ``preview``, write nothing.
    """
    for _ in range(ATTEMPTS):
        before = refs.tips()
        remote = _fetched(refs, done, before)
        own, theirs = refs.read(before), refs.read(remote)
        done.problems = sorted({*own.problems, *theirs.problems})
        state = _published(refs, done, merge(own.state, theirs.state), uids, preview=preview)
        read = {*before.values(), *remote.values()}
        if preview:
            return state, read
        tips = refs.commit(state, before, remote)
        refs.store(tips, before)
        if not done.remote or done.offline or tips == remote or refs.push(done.remote, tips):
            return state, read
    raise GitError("others kept changing the remote", "run subconscious sync again")


def _fetched(refs: Refs, done: Done, before: Mapping[str, str]) -> dict[str, str]:
    """Return the remote's commits; none if the remote can't be reached: then only the local refs are written."""
    done.offline = ""
    try:
        return refs.fetch(done.remote, before) if done.remote else {}
    except GitError as error:
        done.offline = error.message
        return {}


def _published(
    refs: Refs, done: Done, state: dict[str, Entry], uids: Sequence[str], *, preview: bool
) -> dict[str, Entry]:
    """Return ``state`` with this store's shared memories added, and ids of commits removed that no branch contains."""
    new: dict[str, Entry] = {}
    done.held = []
    for batch in _batches([_as_row(uid, state.get(uid, Entry({}))) for uid in uids]):
        values = {"entries": batch, "preview": preview or None}
        answer = ask("sync_publish", PATIENCE, cwd=here(), origin="user", **values)
        new |= {row["uid"]: _as_entry(row) for row in answer["entries"]}
        done.held += answer["held"]
    done.sent = sorted({*done.sent, *new})
    here_now = refs.present(one.commit for one in new.values())
    dropped = refs.dropped(one.commit for one in [*new.values(), *state.values()])
    # An existing entry keeps its commit, which this clone may never have had.
    placed = {
        uid: replace(one, commit=state[uid].commit if uid in state else one.commit if one.commit in here_now else "")
        for uid, one in new.items()
    }
    merged = merge(state, placed)
    return {uid: replace(one, commit="") if one.commit in dropped else one for uid, one in merged.items()}


def _as_row(uid: str, entry: Entry) -> SharedEntry:
    versions = list(entry.versions.values())
    return {"uid": uid, "versions": versions, "replaced": sorted(entry.replaced), "commit": entry.commit}


def _as_entry(row: SharedEntry) -> Entry:
    return Entry({digest_of(one): one for one in row["versions"]}, frozenset(row["replaced"]), row["commit"])


def _take(state: Mapping[str, Entry], authors: Mapping[str, Author], *, preview: bool) -> list[ReceivedVersion]:
    """Send the versions in Git to the daemon, with their authors according to Git; return the outcomes."""
    rows: list[OfferedVersion] = []
    for uid, entry in sorted(state.items()):
        for digest in entry.ranked():
            author = authors.get(digest, Author())
            version: OfferedVersion = {
                "uid": uid,
                "digest": digest,
                "version": entry.versions[digest],
                "author": author.email[:1000],
                "key": author.key[:200],
            }
            rows.append(version)
    act = uuid4().hex
    found: list[ReceivedVersion] = []
    for batch in _batches(rows):
        values = {"versions": batch, "act": act, "preview": preview or None}
        found += ask("sync_take", PATIENCE, cwd=here(), origin="user", **values)["versions"]
    return found


def _batches(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Divide rows into requests of limited size; the versions of one memory stay in one request, even if too large."""
    batch: list[Row] = []
    total = 0
    for row in rows:
        size = len(json.dumps(row))
        full = total + size > REQUEST_BYTES or len(batch) >= MOST_ROWS
        if batch and full and row["uid"] != batch[-1]["uid"]:
            yield batch
            batch, total = [], 0
        batch.append(row)
        total += size
    if batch:
        yield batch


def _print(done: Done, *, preview: bool) -> None:
    if done.offline:
        print(screen.paint(screen.wrapped(f"The remote was not reached: {screen.line(done.offline)}"), "yellow"))
    where = (
        screen.line(without_credentials(done.remote)) if done.remote and not done.offline else "this repository only"
    )
    verb = "would be written" if preview else "written"
    number = screen.counted(len(done.sent), "change", "changes")
    print(f"{number} {verb} to {where}." if done.sent else f"Nothing new to send to {where}.")
    if done.files:
        print(f"{screen.counted(done.files, 'file')} changed in {in_repo.FOLDER}/: commit what your team should see.")
    for row in done.held:
        print(screen.wrapped(screen.line(f"memory {row['id']} was not sent: {row['reason']}"), 2))
    _print_received(done.received)
    if done.problems:
        print(f"{screen.counted(len(done.problems), 'file')} in Git left out:")
        _print_some(done.problems)
    if not preview and any(row["became"] in ("waits", "unconfirmed", "quarantined") for row in done.received):
        print("To undo this: subconscious undo")


def _print_received(rows: Sequence[ReceivedVersion]) -> None:
    counted = Counter(row["became"] for row in rows)
    for became, meaning in MEANINGS.items():
        if counted[became]:
            print(screen.paint(f"{screen.counted(counted[became], 'version')} {meaning}", "bold"))
            _print_versions([row for row in rows if row["became"] == became])


def _print_versions(rows: Sequence[ReceivedVersion]) -> None:
    """Print versions; those that may be poisoned come first, with the reasons."""
    ranked = sorted(rows, key=lambda row: "suspicion" not in row)
    for row in ranked[:SHOWN]:
        print(screen.wrapped(screen.line(_about(row)), 2))
        suspicion.note(row, 4)
    _print_number_left(len(ranked))


def _about(row: ReceivedVersion) -> str:
    number = f" (memory {row['id']})" if row["id"] else ""
    return f"{row['about'] or row['uid']}{number}: {row['reason'] or row['by']}"


def _print_some(texts: Iterable[str]) -> None:
    found = list(texts)
    for text in found[:SHOWN]:
        print(screen.wrapped(screen.line(text), 2))
    _print_number_left(len(found))


def _print_number_left(number: int) -> None:
    if number > SHOWN:
        print(f"  and {number - SHOWN} more")
