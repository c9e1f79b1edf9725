"""``subconscious redactions``, ``scan`` and ``purge``: secrets in stored data, and deletion for good."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from subconscious.domain.errors import RequestError

from . import screen
from .ask import ask, here
from .confirmation import require_terminal, typed_word
from .origin import require_person

if TYPE_CHECKING:
    from subconscious.wire.privacy import PurgePlanResult, PurgeResult, RedactStoredResult, StoredFinding

TIMEOUT_SECONDS = 600.0
"""Seconds to wait for requests that read or rewrite all stored data."""

MAX_FINDINGS = 1000
"""The most findings of one scan."""

PERMANENT = (
    "This can't be undone: history, indexes and backups are cleaned, too. Claude Code's transcripts are not changed."
)

STAYS_THERE = (
    "After the purge, this machine no longer knows which they are, so they stay on the server. To erase them from the"
    " server, too, answer no now, and first run this in each project that is connected to the team's store:"
)
ERASE_THERE = ("subconscious purge --project", "subconscious team sync")


def redactions(options: Namespace) -> None:
    """Print the log of redactions, without the redacted values."""
    findings = ask("redactions", limit=options.limit)["findings"]
    if options.json:
        screen.as_json(findings)
        return
    for found in findings:
        allowed = ", allowed" if found["allowed"] else ""
        message = f"{found['rule']}, {found['length']} characters, {found['strategy']}{allowed}"
        details = [found["place"] or "no session", screen.when(found["at"]), screen.counted(found["times"], "time")]
        print(screen.wrapped(message, 18, screen.line(found["hash"])))
        print(screen.paint(screen.wrapped(screen.listed(details), 18), "dim"))
    if not findings:
        print("Nothing has been redacted yet.")
    else:
        print("\nIf a value is not a secret: subconscious redactions allow HASH")


def allow(options: Namespace) -> None:
    """Stop redacting a value that is not a secret."""
    _decide(options, "allow_finding", f"The value with the hash {options.hash} is no longer redacted.")


def disallow(options: Namespace) -> None:
    """Redact a value again after `redactions allow` exempted it."""
    options.reason = None
    _decide(options, "disallow_finding", f"The value with the hash {options.hash} is redacted again.")


def _decide(options: Namespace, cmd: Literal["allow_finding", "disallow_finding"], message: str) -> None:
    require_person("decide what is redacted")
    answer = ask(cmd, digest=options.hash, reason=options.reason, origin="user")
    if options.json:
        screen.as_json(answer)
    else:
        print(screen.line(message))


def scan(options: Namespace) -> None:
    """Print secrets found in stored data; with --fix, remove them."""
    if options.fix:
        require_person("change stored data")
    findings = ask("scan", TIMEOUT_SECONDS, limit=MAX_FINDINGS)["findings"]
    if not options.fix and options.json:
        screen.as_json(findings)
        return
    if not options.json:
        _print_findings(findings)
    if options.fix and findings:
        _fix(options)
    elif findings:
        print("\nTo remove them: subconscious scan --fix")


def _print_findings(findings: Sequence[StoredFinding]) -> None:
    for location, number in Counter(_location(found) for found in findings).items():
        kinds = sorted({found["rule"] for found in findings if _location(found) == location})
        print(screen.wrapped(f"{location}: {screen.counted(number, 'finding')} ({screen.listed(kinds)})"))
    if not findings:
        print("No secrets were found in stored data.")


def _location(found: StoredFinding) -> str:
    return screen.line(f"{found['place']} {found['column']}".strip())


def _fix(options: Namespace) -> None:
    _require_typed_yes(options, f"Remove these from stored data? {PERMANENT}")
    done = ask("redact_stored", TIMEOUT_SECONDS, origin="user")
    if options.json:
        screen.as_json(done)
    else:
        changed = f"{screen.counted(done['rows'], 'row')} and {screen.counted(done['files'], 'file')} changed"
        print(screen.wrapped(f"{changed}. {_copies(done)}"))


def purge(options: Namespace) -> None:
    """Print what would be deleted, ask, and delete it."""
    require_person("purge")
    args = {
        "ids": options.ids or None,
        "session_id": options.session,
        "all": options.project or options.all or None,
        "everywhere": options.all or None,
        "cwd": here(),
    }
    plan = ask("purge_plan", **args)
    if not options.json:
        print(f"To be deleted: {_amounts(plan)}.")
        _print_server(plan, options)
    _require_typed_yes(options, f"Delete it for good? {PERMANENT}")
    done = ask("purge", TIMEOUT_SECONDS, origin="user", **args)
    if options.json:
        screen.as_json(done)
    else:
        print(screen.wrapped(f"Deleted: {_amounts(done)}. {_copies(done)}"))


def _print_server(plan: PurgePlanResult, options: Namespace) -> None:
    """Print how many of the memories are on a team's server, and how to erase them there."""
    if not plan["on_server"]:
        return
    shared = (
        screen.counted(plan["on_server"], "of these memories is", "of these memories are")
        + " shared on the team's server."
    )
    if not options.all:
        print(screen.wrapped(f"{shared} The server erases their text when you next run: subconscious team sync"))
        return
    print(screen.wrapped(f"{shared} {STAYS_THERE}"))
    for command in ERASE_THERE:
        print(f"  {command}")


def _amounts(counts: PurgePlanResult) -> str:
    return (
        f"{screen.counted(counts['memories'], 'memory', 'memories')}, {screen.counted(counts['captures'], 'capture')},"
        f" the summaries of {screen.counted(counts['sessions'], 'session')}"
    )


def _copies(done: RedactStoredResult | PurgeResult) -> str:
    if not done["copies"]:
        return "No older copy of the database was kept."
    return f"{screen.counted(done['copies'], 'older file')} of the database deleted, and one new copy made."


def _require_typed_yes(options: Namespace, question: str) -> None:
    """Raise RequestError unless the user agrees, by --yes or by typing the whole word."""
    require_terminal(options)
    if options.yes:
        return
    print(screen.wrapped(question))
    if typed_word("Type yes: ") != "yes":
        raise RequestError("nothing was changed", "what can't be undone needs the whole word yes")
