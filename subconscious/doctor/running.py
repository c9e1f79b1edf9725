"""Checks of the daemon, and of state that only a running daemon knows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from subconscious import __version__
from subconscious.doctor.findings import FIX, CheckContext, Finding, fault, passed, quoted, settings_of
from subconscious.domain.errors import DaemonError, SubconsciousError
from subconscious.store.check import UPDATE
from subconscious.wire import AbsentError, call, hello, last_log_line, newer

if TYPE_CHECKING:
    from subconscious.wire.daemon import Provider, ProviderResult, StatusResult

PROVIDER_SECONDS = 15.0
"""The most seconds to wait for the daemon's check of the providers: five for each, and time to load their SDKs."""
NONE = "none"
OFFLINE = "none: everything works without one"
_USUAL_LINE = re.compile(r"\d{4}-\d\d-\d\d \S+ (DEBUG|INFO|WARNING) ")


def daemon(context: CheckContext) -> Iterator[Finding]:
    """If a daemon runs, check that it has the same version as this program; else check how its last start ended."""
    try:
        yield _version(hello(context.home))
    except AbsentError:
        yield _not_running(context)
    except DaemonError as error:
        yield fault("daemon", f"its socket is open, but {error.message}", "subconscious daemon stop --force")


def embedder(context: CheckContext) -> Iterator[Finding]:
    """Report an error of the daemon's embedder; nothing if it works, or if no daemon runs."""
    try:
        state = _status(context)["embedder"]
        if state.get("code"):
            detail = f"{state['name']}: {state['error']}"
            yield fault("embedder", detail, f"{FIX} # after you have fixed the cause")
    except (SubconsciousError, KeyError):
        return  # reported by the check of the daemon


def approval(context: CheckContext) -> Iterator[Finding]:
    """Report changed settings that take effect only after the user's approval."""
    try:
        unapproved = _status(context)["unaccepted"]
    except (SubconsciousError, KeyError):
        return
    if unapproved:
        detail = f"not applied until you approve them: {', '.join(unapproved)}"
        yield fault("settings", detail, "subconscious accept-settings # or undo the changes in config.toml")


def disk(context: CheckContext) -> Iterator[Finding]:
    """Check that the daemon can write; a running daemon notices quotas and read-only file systems."""
    try:
        trouble = _status(context).get("disk")
    except SubconsciousError:
        return  # reported by the check of the daemon
    if trouble:
        detail = f"the daemon can't write: {trouble}; until it can, it keeps the events of sessions in memory"
        yield fault("disk", detail, f"df -h {quoted(context.home.root)} # then free some space")


def _status(context: CheckContext) -> StatusResult:
    """Return the daemon's status. Raises DaemonError. A daemon of another version may send other fields."""
    return cast("StatusResult", call(context.home, "status", timeout=2))


def _not_running(context: CheckContext) -> Finding:
    """Return a fault if the log ends with an error of the last start; else a finding that no daemon runs."""
    words = last_log_line(context.home)
    if words and not _USUAL_LINE.match(words):
        log = context.home.log / "daemon.log"
        return fault(
            "daemon", f"its last start failed: {words}", f"less {quoted(log)} # then subconscious daemon start"
        )
    stale = " (its old socket file still exists, which does no harm)" if context.home.socket.exists() else ""
    return passed("daemon", f"not running; the next session or command starts it{stale}")


def _version(running: str) -> Finding:
    if newer(__version__, running):
        detail = f"version {running} runs, older than this program ({__version__})"
        return fault("daemon", detail, "subconscious daemon start # it replaces the older one")
    if newer(running, __version__):
        detail = f"version {running} runs, newer than this program ({__version__})"
        return fault("daemon", detail, UPDATE)
    return passed("daemon", f"version {running} runs")


def provider(context: CheckContext) -> Iterator[Finding]:
    """Check keys and models through the daemon, at no cost; without a daemon, report the configured provider."""
    settings = settings_of(context.home)
    try:
        answer = call(context.home, "provider", {"check": True, **_session()}, PROVIDER_SECONDS)
    except SubconsciousError as error:
        if settings.provider == NONE:
            yield passed("model", OFFLINE)
        elif isinstance(error, AbsentError):
            yield passed("model", f"{settings.provider}; not checked, because the daemon is not running")
        else:
            yield fault("model", f"{settings.provider} could not be checked: {error.message}", error.remedy)
        return
    found = cast("ProviderResult", answer)
    for provider in found["providers"]:
        yield _provider_finding(provider)
    if not found["providers"]:
        yield passed("model", OFFLINE)
    yield from _spending(found)


def _session() -> dict[str, str]:
    """Return the id of the session that runs this command, as an argument for a request; {} outside of sessions.

    The daemon may have a key from that session's environment.
    """
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    return {"session_id": session} if session else {}


def _provider_finding(provider: Provider) -> Finding:
    name, own_keys = f"{provider['name']} {provider['model']}".strip(), provider.get("own_keys", ())
    refused = [error for one in own_keys if one["refused"] and (error := one["error"])]
    if not provider["reachable"] and refused:
        detail = f"{name}, with the key of a session's environment: {refused[0]['message']}"
        return fault("model", detail, refused[0]["remedy"])
    error = provider["error"] or next((one["error"] for one in own_keys if one["error"]), None)
    if not provider["reachable"] and error:
        return fault("model", f"{name}: {error['message']}", error["remedy"])
    if provider["breaker"] != "closed":
        return fault(
            "model",
            f"{name} answers now, but is paused after repeated failures",
            "wait: the daemon tries the provider again within a minute",
        )
    return passed("model", f"{name} answers{_key(provider)}")


def _key(provider: Provider) -> str:
    """Return where the provider's key comes from."""
    if source := provider.get("key"):
        return f"; key from {source}"
    if sessions := provider.get("sessions_with_own_key"):
        return f"; the only keys are in the environment of sessions (sessions: {sessions}); other work has no key"
    return ""


def _spending(found: ProviderResult) -> Iterator[Finding]:
    spending = found["spending"]
    if found["providers"] and spending["state"] == "reached":
        detail = f"the limit of ${spending['cap']:g} a day is reached: work for the model waits until tomorrow"
        yield fault("spend", detail, "subconscious stats # or raise cost_per_day in config.toml")
