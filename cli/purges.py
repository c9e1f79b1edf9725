"""What was taken out of texts, and taking more out for good: redactions, scan, purge."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from typing import Any

from subconscious.errors import RequestError

from . import screen
from .ask import ask, here
from .origin import require_person

PATIENCE = 600.0
"""Seconds for what reads or writes everything that is stored."""

SHOWN = 1000
"""Findings of one scan."""

GONE = "This can't be undone: history, indexes and kept copies lose it too. Transcripts are Claude Code's, and stay."


def redactions(options: Namespace) -> None:
    """Print the log."""
    findings = ask("redactions", limit=options.limit)["findings"]
    if options.json:
        screen.as_json(findings)
        return
    for found in findings:
        passes = ", let pass" if found["allowed"] else ""
        said = f"{found['rule']}, {found['length']} characters, {found['strategy']}{passes}"
        told = [found["place"] or "no session", screen.when(found["at"]), screen.counted(found["times"], "time")]
        print(screen.wrapped(said, 18, screen.line(found["hash"])))
        print(screen.paint(screen.wrapped(screen.listed(told), 18), "dim"))
    if not findings:
        print("Nothing was taken out of any text yet.")
    else:
        print("\nNo secret after all? subconscious redactions allow HASH")


def allow(options: Namespace) -> None:
    """Let a finding pass."""
    _let_pass(options, "allow_finding", f"{options.hash} is let pass from now on.")


def disallow(options: Namespace) -> None:
    """Take a finding out again."""
    options.reason = None
    _let_pass(options, "disallow_finding", f"{options.hash} is taken out again.")


def _let_pass(options: Namespace, cmd: str, said: str) -> None:
    require_person("decide what is let pass")
    answer = ask(cmd, digest=options.hash, reason=options.reason, origin="user")
    if options.json:
        screen.as_json(answer)
    else:
        print(screen.line(said))


def scan(options: Namespace) -> None:
    """Print what is found in what is stored; with --fix, take it out."""
    if options.fix:
        require_person("change what is stored")
    findings = ask("scan", PATIENCE, limit=SHOWN)["findings"]
    if not options.fix and options.json:
        screen.as_json(findings)
        return
    if not options.json:
        _tell_findings(findings)
    if options.fix and findings:
        _fix(options)
    elif findings:
        print("\nTake it out: subconscious scan --fix")


def _tell_findings(findings: list[dict[str, Any]]) -> None:
    for place, number in Counter(_place(found) for found in findings).items():
        kinds = sorted({found["rule"] for found in findings if _place(found) == place})
        print(screen.wrapped(f"{place}: {screen.counted(number, 'finding')} ({screen.listed(kinds)})"))
    if not findings:
        print("Nothing is found in what is stored.")


def _place(found: dict[str, Any]) -> str:
    return screen.line(f"{found['place']} {found['column']}".strip())


def _fix(options: Namespace) -> None:
    _require_yes(options, f"Take this out of what is stored? {GONE}")
    done = ask("redact_stored", PATIENCE, origin="user")
    if options.json:
        screen.as_json(done)
    else:
        changed = f"{screen.counted(done['rows'], 'row')} and {screen.counted(done['files'], 'file')} changed"
        print(screen.wrapped(f"{changed}. {_copies(done)}"))


def purge(options: Namespace) -> None:
    """Say what would go, ask, and delete it."""
    require_person("purge")
    args: dict[str, Any] = {
        "ids": options.ids or None,
        "session_id": options.session,
        "all": options.project or options.all or None,
        "everywhere": options.all or None,
        "cwd": here(),
    }
    plan = ask("purge_plan", **args)
    if not options.json:
        print(f"To be deleted: {_amounts(plan)}.")
    _require_yes(options, f"Delete it for good? {GONE}")
    done = ask("purge", PATIENCE, origin="user", **args)
    if options.json:
        screen.as_json(done)
    else:
        print(screen.wrapped(f"Deleted: {_amounts(done)}. {_copies(done)}"))


def _amounts(counts: dict[str, int]) -> str:
    return (
        f"{screen.counted(counts['memories'], 'memory', 'memories')}, {screen.counted(counts['captures'], 'capture')},"
        f" what was told of {screen.counted(counts['sessions'], 'session')}"
    )


def _copies(done: dict[str, int]) -> str:
    if not done["copies"]:
        return "No older copy of the database was kept."
    return f"{screen.counted(done['copies'], 'older file')} of the database deleted, one fresh copy kept instead."


def _require_yes(options: Namespace, question: str) -> None:
    """Go on only if a person says so."""
    if options.yes:
        return
    if options.json or not sys.stdin.isatty():
        raise RequestError("nobody is there to say yes", "add --yes")
    print(screen.wrapped(question))
    try:
        answer = input("Type yes: ")
    except EOFError:
        answer = ""
    if answer.strip().lower() != "yes":
        raise RequestError("nothing was changed", "")
