"""The daemon, and what only a running one knows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from subconscious import __version__
from subconscious.client import AbsentError, call, hello, last_words, newer
from subconscious.doctor.findings import FIX, Finding, Patient, fault, fine, settings_of, sh
from subconscious.errors import DaemonError, SubconsciousError
from subconscious.store.check import UPDATE

PROVIDER_SECONDS = 15.0
"""Time that the daemon has to try the providers; each has five seconds once its SDK is loaded."""
NONE = "none"
OFFLINE = "none: everything works without one"
_USUAL_LINE = re.compile(r"\d{4}-\d\d-\d\d \S+ (DEBUG|INFO|WARNING) ")


def daemon(patient: Patient) -> Iterator[Finding]:
    """Whether it runs, and which version of it."""
    try:
        yield _version(hello(patient.home))
    except AbsentError:
        yield _absent(patient)
    except DaemonError as error:
        yield fault("daemon", f"it listens, but {error.message}", "subconscious daemon stop --force")


def embedder(patient: Patient) -> Iterator[Finding]:
    """Whether the chosen embedder is in use; only a running daemon knows."""
    try:
        told = call(patient.home, "status", timeout=2)["embedder"]
        if told.get("code"):
            detail = f"{told['name']}: {told['error']}"
            yield fault("embedder", detail, f"{FIX} # once that is mended")
    except (SubconsciousError, KeyError):
        return  # that of the daemon itself is told already


def word(patient: Patient) -> Iterator[Finding]:
    """Settings that wait for a person's word; only a running daemon knows which hold."""
    try:
        waits = call(patient.home, "status", timeout=2)["unaccepted"]
    except (SubconsciousError, KeyError):
        return
    if waits:
        detail = f"not in force, for they need your word: {', '.join(waits)}"
        yield fault("settings", detail, "subconscious accept-settings # or take them back in config.toml")


def disk(patient: Patient) -> Iterator[Finding]:
    """Whether the daemon can write; only a running one knows of a quota, say, or of a read-only file system."""
    try:
        trouble = call(patient.home, "status", timeout=2).get("disk")
    except SubconsciousError:
        return  # that of the daemon itself is told already
    if trouble:
        detail = f"the daemon can't write: {trouble}; it keeps what hooks hand over in memory until it can"
        yield fault("disk", detail, f"df -h {sh(patient.home.root)} # and make room")


def _absent(patient: Patient) -> Finding:
    """Idle, or unable to start: then its log ends with a traceback or an error instead of its farewell."""
    words = last_words(patient.home)
    if words and not _USUAL_LINE.match(words):
        log = patient.home.log / "daemon.log"
        return fault("daemon", f"its last start failed: {words}", f"less {sh(log)} # then subconscious daemon start")
    stale = " (it left its socket behind: harmless)" if patient.home.socket.exists() else ""
    return fine("daemon", f"not running; the next session or command starts it{stale}")


def _version(running: str) -> Finding:
    if newer(__version__, running):
        detail = f"version {running} runs, older than this program ({__version__})"
        return fault("daemon", detail, "subconscious daemon start # the older one yields")
    if newer(running, __version__):
        detail = f"version {running} runs, newer than this program ({__version__})"
        return fault("daemon", detail, UPDATE)
    return fine("daemon", f"version {running} runs")


def provider(patient: Patient) -> Iterator[Finding]:
    """Ask the daemon to try the keys and models, at no cost; without a daemon say what is set."""
    settings = settings_of(patient.home)
    try:
        found = call(patient.home, "provider", {"check": True, **_session()}, PROVIDER_SECONDS)
    except SubconsciousError as error:
        if settings.provider == NONE:
            yield fine("model", OFFLINE)
        elif isinstance(error, AbsentError):
            yield fine("model", f"{settings.provider}; it is tried only while the daemon runs")
        else:
            yield fault("model", f"{settings.provider} could not be tried: {error.message}", error.remedy)
        return
    for provider in found["providers"]:
        yield _tried(provider)
    if not found["providers"]:
        yield fine("model", OFFLINE)
    yield from _unspent(found)


def _session() -> dict[str, str]:
    """The session that this command runs in, if any: its own key may be another than that of other work."""
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    return {"session_id": session} if session else {}


def _tried(provider: dict[str, Any]) -> Finding:
    name, own = f"{provider['name']} {provider['model']}".strip(), provider.get("own_keys", ())
    refused = [one["error"] for one in own if one["refused"]]
    if not provider["reachable"] and refused:
        detail = f"{name}, with the key of a session's environment: {refused[0]['message']}"
        return fault("model", detail, refused[0]["remedy"])
    error = provider["error"] or next((one["error"] for one in own if one["error"]), None)
    if not provider["reachable"] and error:
        return fault("model", f"{name}: {error['message']}", error["remedy"])
    if provider["breaker"] != "closed":
        return fault("model", f"{name} answers, but failed too often", "nothing: it is tried again within a minute")
    return fine("model", f"{name} answers{_key(provider)}")


def _key(provider: dict[str, Any]) -> str:
    """Where its key comes from."""
    if source := provider.get("key"):
        return f"; key from {source}"
    if sessions := provider.get("sessions_with_own_key"):
        return f"; only sessions bring keys in their environment ({sessions}), other work has none"
    return ""


def _unspent(found: dict[str, Any]) -> Iterator[Finding]:
    spending = found["spending"]
    if found["providers"] and spending["state"] == "reached":
        detail = f"the cap of ${spending['cap']:g} a day is reached: work waits until tomorrow"
        yield fault("spend", detail, "subconscious stats # or raise cost_per_day in config.toml")
