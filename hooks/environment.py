"""The daemon's Python environment: finds the environment of this plugin, checks it, and runs the daemon from it.

docs/protocol.md has the rules; ``hooks/maker.py`` creates environments.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from hooks.cap import hold_cap_if_stuck
from hooks.drop import VERSION
from hooks.regular import append, read
from hooks.wake import version_key

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE_FILES = ("pyproject.toml", "requirements.lock")
SOURCE_FOLDERS = ("cli", "daemon", "hooks", "migrations", "subconscious")

KEPT = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"}
KEPT_PREFIXES = ("LC_", "XDG_")
KEPT_TO_INSTALL = frozenset(
    {
        *("PIP_CERT", "PIP_CLIENT_CERT", "PIP_DEFAULT_TIMEOUT", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"),
        *("PIP_INDEX_URL", "PIP_NO_CACHE_DIR", "PIP_NO_INDEX", "PIP_PROXY", "PIP_RETRIES", "PIP_TRUSTED_HOST"),
        *("UV_CACHE_DIR", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_HTTP_TIMEOUT", "UV_INDEX"),
        *("UV_INDEX_URL", "UV_INSECURE_HOST", "UV_NATIVE_TLS", "UV_NO_CACHE", "UV_OFFLINE", "UV_SYSTEM_CERTS"),
        *("SSL_CERT_DIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    }
)
"""Variables that choose where packages come from; this is safe because the packages' hashes are pinned.

Variables that name a program, or a file that may name one, are left out.
"""
CONFIGURES = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS")

RETRY_AFTER = (60, 300, 1800)
REFUSED_SECONDS = 60
LOG_LIMIT = 1 << 20
LARGEST_NOTE = 1 << 16
SETTING_UP = (
    "Subconscious is setting itself up in the background (about a minute, once). "
    "This session is already being recorded. No language model is needed; "
    "`subconscious setup` in a terminal shows what one would add and cost."
)
NO_PYTHON = {
    "reason": "it needs Python 3.11 or newer, but no such Python is on the PATH",
    "remedy": "Install one, for example: sudo apt install python3 python3-venv, or: brew install python",
}
KEPT_MEANWHILE = "Until then your sessions are recorded, and Subconscious learns from them afterwards."
BUILDERS = ("python3.14", "python3.13", "python3.12", "python3.11", "uv")
"""Names of programs that can probably create an environment."""


def bring_up(home: str, quiet: bool = False) -> str:
    """Start the daemon, or a process that creates its environment; return a message for the user as JSON, or ""."""
    environment = find_environment(home)
    if environment and quiet and _refused_lately(home):
        # Each start would be refused again; only the hook at a session's start, which is not quiet, still tries.
        hold_cap_if_stuck(home)
        return ""
    if environment:
        switch_to(home, environment)
        start_daemon(home, environment)
        hold_cap_if_stuck(home)
        return ""
    failure = read_failure(home)
    if not must_wait(failure):
        _start_maker(home)
    return (
        "" if quiet else _show_once(home, (_failure_message(failure) if failure else _setup_message()) + _moved(home))
    )


def _moved(home: str) -> str:
    """Return a sentence for the user if memories go to a temporary folder; "" if not."""
    wanted = os.path.join(os.environ.get("HOME", ""), ".subconscious")
    if os.environ.get("SUBCONSCIOUS_HOME") or home == wanted:
        return ""
    return f" {wanted} can't be used, so memories go to {home}; `subconscious status` will show why."


def _setup_message() -> str:
    """Return the message while the first environment is created, or an error if no Python here can create it."""
    from hooks.programs import safe_path

    folders = safe_path().split(os.pathsep)
    capable = sys.version_info >= (3, 11) or any(
        os.access(os.path.join(folder, name), os.X_OK) for folder in folders for name in BUILDERS
    )
    return SETTING_UP if capable else f"{_failure_message(NO_PYTHON)} {KEPT_MEANWHILE}"


def _refused_lately(home: str) -> bool:
    try:
        return 0 <= time.time() - os.stat(os.path.join(home, "run", "refused.json")).st_mtime < REFUSED_SECONDS
    except OSError:
        return False


def _failure_message(failure: dict[str, Any]) -> str:
    return f"Subconscious can't set itself up: {failure['reason']}. {failure['remedy']}"


@functools.lru_cache(maxsize=None)
def fingerprint() -> str:
    """Return a hash of this plugin's code and requirements; it identifies the environment made from them."""
    digest = hashlib.sha256()
    for path in sorted([*SOURCE_FILES, *_installed_files()]):
        with open(os.path.join(ROOT, path), "rb") as source:
            digest.update(os.fsencode(path) + b"\0" + source.read() + b"\0")
    return digest.hexdigest()[:16]


def _installed_files() -> Iterator[str]:
    for top in SOURCE_FOLDERS:
        for folder, folders, files in os.walk(os.path.join(ROOT, top)):
            folders[:] = [name for name in folders if name != "__pycache__"]
            yield from (os.path.relpath(os.path.join(folder, name), ROOT) for name in files if name[0] != ".")


def find_environment(home: str) -> str | None:
    """Return the current environment if a newer plugin created it, else this plugin's; None if neither exists.

    A session with an older plugin may continue for days after an upgrade, and must not downgrade the daemon.
    """
    folder = os.path.join(home, "env")
    if not os.path.isdir(folder):
        return None
    current = os.path.realpath(os.path.join(folder, "current"))
    if os.path.realpath(ROOT).startswith(current + os.sep) and is_whole(current):
        return current  # the hooks of other coding agents are run from there
    if is_whole(current) and version_key(_made_by(current)) > version_key(VERSION):
        return current
    own = fingerprint() + "-"
    for name in sorted(os.listdir(folder), reverse=True):
        if name.startswith(own) and is_whole(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


def is_whole(environment: str) -> bool:
    """Whether the environment is complete, and the Python that it links to still exists."""
    return os.path.exists(os.path.join(environment, ".complete")) and os.access(python_of(environment), os.X_OK)


def python_of(environment: str) -> str:
    """Return the path of an environment's interpreter."""
    return os.path.join(environment, "bin", "python")


def _made_by(environment: str) -> str:
    return read(os.path.join(environment, ".complete"), LARGEST_NOTE).decode("utf-8", "replace").strip()


def switch_to(home: str, environment: str) -> None:
    """Point ``env/current`` to this environment, atomically."""
    link = os.path.join(home, "env", "current")
    name = os.path.basename(environment)
    if os.path.islink(link) and os.readlink(link) == name:
        return
    fresh = f"{link}.{os.getpid()}"
    os.symlink(name, fresh)
    os.replace(fresh, link)


def start_daemon(home: str, environment: str) -> None:
    """Start the daemon in a new session. A second daemon does no harm: it exits, because the first one has the lock."""
    command = [python_of(environment), "-I", "-m", "subconscious.daemon", "run"]
    _detach(command, home, "daemon.log", {**cleaned_environ(), "SUBCONSCIOUS_HOME": home})


def _start_maker(home: str) -> None:
    start = os.path.join(ROOT, "hooks", "start.py")
    command = [sys.executable, "-I", "-S", "-B", start, "wake", "--make"]
    _detach(command, home, "environment.log", {**environ_to_install(), "SUBCONSCIOUS_HOME": home})


def _detach(command: list[str], home: str, log: str, environ: dict[str, str]) -> None:
    """Start a process that outlives hook, session and client; its stderr goes to a log."""
    run, log = os.path.join(home, "run"), os.path.join(home, "log", log)
    for folder in (run, os.path.dirname(log)):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    with os.fdopen(open_log(log, LOG_LIMIT), "ab") as errors:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=run,
            env=environ,
            start_new_session=True,
        )


def open_log(log: str, limit: float = float("inf")) -> int:
    """Open a log; /dev/null if it is larger than ``limit`` bytes or not a regular file."""
    try:
        target = append(log)
        if os.fstat(target).st_size <= limit:
            return target
        os.close(target)
    except OSError:
        pass
    return os.open(os.devnull, os.O_WRONLY)


def cleaned_environ() -> dict[str, str]:
    """Return the variables for a process that serves every session: paths and locale, but no settings or keys.

    The daemon uses only the trusted part of PATH; a session's settings come with its entries.
    """
    return {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}


def environ_to_install() -> dict[str, str]:
    """Return the variables for installing packages, which include proxies and the sources of packages."""
    kept = {name: value for name, value in cleaned_environ().items() if name not in CONFIGURES}
    for name, value in os.environ.items():
        if name in KEPT_TO_INSTALL or name.lower().endswith("_proxy"):
            kept[name] = value
    return kept


def read_failure(home: str) -> dict[str, Any] | None:
    """Return the record of the last failure to create this plugin's environment; None if there is none."""
    try:
        failure: dict[str, Any] = json.loads(read(os.path.join(home, "env", "failure"), LARGEST_NOTE))
    except (OSError, ValueError, RecursionError):
        return None
    return failure if failure.get("fingerprint") == fingerprint() else None


def must_wait(failure: dict[str, Any] | None) -> bool:
    """Whether it is too early for another attempt after a failure."""
    if failure is None:
        return False
    pause = RETRY_AFTER[min(failure["attempts"], len(RETRY_AFTER)) - 1]
    # If the clock was set back since, the next attempt must not wait until the clock has caught up.
    return 0 <= time.time() - float(failure["time"]) < pause


def _show_once(home: str, text: str) -> str:
    """Return the JSON that makes the client show ``text``; "" if an earlier session has shown it already."""
    marker = os.path.join(home, "run", "told-" + hashlib.sha256(text.encode()).hexdigest()[:8])
    os.makedirs(os.path.dirname(marker), mode=0o700, exist_ok=True)
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return ""
    return json.dumps({"systemMessage": text})
