"""Adds and removes the entries of Subconscious in the settings files of other coding agents.

An entry is ours if its command is our launcher. Everything else in a settings file stays as it is.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subconscious.domain.errors import RequestError

SECONDS = 5
"""Seconds that a client waits for a hook. Our hooks end much sooner."""

OURS = re.compile(r"/bin/hook'? (?:codex|gemini|cursor) (?:ask|drop|wake) ")
"""A pattern that the command of each of our hooks matches."""

NAME = "subconscious"
_HEADER = re.compile(r"\s*\[")
_OUR_HEADER = re.compile(rf"\s*\[mcp_servers\.{NAME}[.\]]")
_NOTE = "# Written by `subconscious install codex`, which also removes it."

Json = dict[str, Any]
_GONE = object()


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook of a client.

    ``event`` is the event's name in the client, ``ours`` its name in Subconscious, ``run`` the launcher's mode (ask,
    drop or wake), and ``tools`` a pattern of the tools for which the hook runs ("" for all).
    """

    event: str
    ours: str
    run: str
    tools: str = ""


@dataclass(frozen=True, slots=True)
class SettingsFolder:
    """The settings files of a client, and how to add our hooks to them.

    The files are in ``~/<folder>``, or in the directory that the environment variable ``variable`` contains. If
    ``variable`` is "", the client has no such variable.
    """

    variable: str
    folder: str
    hooks: tuple[Hook, ...]
    files: Mapping[str, Callable[[str, Path, tuple[Hook, ...], str], str]]
    """For each file name, a function that returns the file's new text.

    Its arguments are the old text, the state folder, our hooks (empty: remove our entries), and the file's path.
    """
    why_skipped: Callable[[Mapping[str, str]], tuple[str, str]]
    """Return, from the texts of the files, why the client skips our hooks, and the remedy; ("", "") if it runs them."""
    afterwards: str = ""
    """A message for the user after an installation."""


def _command(state: Path, client: str, hook: Hook) -> str:
    # exec: the hook must be a child of the client itself, which shows that the client called it.
    return f"exec /bin/sh {shlex.quote(str(state / 'bin' / 'hook'))} {client} {hook.run} {hook.ours}"


def _parse(text: str, path: str) -> Json:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    usable = isinstance(hooks, dict) and all(isinstance(groups, list) for groups in hooks.values())
    if not isinstance(found, dict) or not usable:
        raise RequestError(
            f"{path} is not plain JSON, or its hooks have an unexpected format",
            "add the entries by hand: docs/other-agents.md lists them",
        )
    return found


def _dump(values: Json, before: str) -> str:
    """Return the text of a file, formatted as before; "" if it would be empty."""
    if not values.get("hooks", True):
        values.pop("hooks")
    if not values or values == {"version": 1}:
        return ""
    if before and json.loads(before) == values:
        return before
    indent = re.search(r"^\{\n([ \t]+)\S", before)
    shown = json.dumps(values, indent=indent[1] if indent else 2, ensure_ascii=False)
    return shown + ("\n" if not before or before.endswith("\n") else "")


def _without_ours(values: Json) -> None:
    """Remove our hooks, and the groups and events that become empty. The remaining ones keep their order."""
    hooks = values.get("hooks", {})
    for event, groups in list(hooks.items()):
        left = [group for group in map(_cleaned, groups) if group is not _GONE]
        if left or left == groups:
            hooks[event] = left
        else:
            del hooks[event]


def _cleaned(group: object) -> object:
    """Return a group without our hooks; _GONE if no hook is left. Cursor has no groups: there ``group`` is one hook."""
    if not isinstance(group, dict):
        return group
    if _is_ours(group):
        return _GONE
    inner = group.get("hooks")
    if not isinstance(inner, list) or not any(map(_is_ours, inner)):
        return group
    left = [hook for hook in inner if not _is_ours(hook)]
    return {**group, "hooks": left} if left else _GONE


def _is_ours(hook: object) -> bool:
    return isinstance(hook, dict) and isinstance(hook.get("command"), str) and bool(OURS.search(hook["command"]))


def _server(state: Path, client: str) -> Json:
    """Return the entry of our MCP server."""
    return {"command": "/bin/sh", "args": [str(state / "bin" / "hook"), client, "mcp"]}


def _is_our_server(server: object, client: str) -> bool:
    """Return whether we wrote an MCP server's entry, for any state folder, and it is unchanged."""
    args = server.get("args") if isinstance(server, dict) else None
    return (
        isinstance(args, list) and len(args) == 3 and str(args[0]).endswith("/bin/hook") and args[1:] == [client, "mcp"]
    )


def _with_tools(values: Json, state: Path, client: str, wanted: bool) -> None:
    """Add our MCP server to ``mcpServers``, or remove it; a server of that name that is not ours stays unchanged."""
    servers = values.get("mcpServers", {})
    if not isinstance(servers, dict):
        return
    there = servers.get(NAME)
    if wanted and (there is None or _is_our_server(there, client)):
        values["mcpServers"] = {**servers, NAME: _server(state, client)}
    elif not wanted and _is_our_server(there, client):
        left = {name: server for name, server in servers.items() if name != NAME}
        values.pop("mcpServers")
        values.update({"mcpServers": left} if left else {})


def _with_hooks(values: Json, wanted: list[tuple[str, Json]]) -> None:
    """Replace our groups of hooks with ``wanted`` (pairs of event and group); do nothing if these already exist."""
    there = [
        (event, group)
        for event, groups in values.get("hooks", {}).items()
        for group in groups
        if _cleaned(group) is not group
    ]
    if len(there) == len(wanted) and all(group in there for group in wanted):
        return
    _without_ours(values)
    for event, group in wanted:
        values.setdefault("hooks", {}).setdefault(event, []).append(group)


def _group(hook: Hook, entry: Json) -> tuple[str, Json]:
    return hook.event, {**({"matcher": hook.tools} if hook.tools else {}), "hooks": [entry]}


def _codex_hooks(before: str, state: Path, hooks: tuple[Hook, ...], path: str) -> str:
    values = _parse(before, path)
    entries = (
        {"type": "command", "command": command, "timeout": 3 if hook.ours == "SessionEnd" else SECONDS}
        for command, hook in _commands(state, hooks, "codex")
    )
    _with_hooks(values, list(map(_group, hooks, entries)))
    return _dump(values, before)


def _codex_tools(before: str, state: Path, hooks: tuple[Hook, ...], path: str) -> str:
    """Return the text of config.toml with our MCP server, or without it if ``hooks`` is empty; other lines are kept."""
    servers = _toml(before, path).get("mcp_servers", {})
    there = servers.get(NAME) if isinstance(servers, dict) else None
    ours = _server(state, "codex")
    if there is not None and not _is_our_server(there, "codex"):
        return before
    if hooks and there is not None and {key: there[key] for key in ours} == ours:
        return before
    kept = before if there is None else _without_our_tables(before, path)
    if not hooks:
        return kept
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in ours.items())
    line_end = "" if kept.endswith("\n") else "\n"
    block = f"[mcp_servers.{NAME}]\n{_NOTE}\n{lines}\n"
    return f"{kept}{line_end}\n{block}" if kept else block


def _toml(text: str, path: str) -> Json:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{path} is not TOML: {error}", f"correct {path}") from error


def _without_our_tables(text: str, path: str) -> str:
    """Return the text without our server's tables, and without lines that Codex has added to them."""
    left: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            inside = bool(_OUR_HEADER.match(line))
            if inside and left and not left[-1].strip():
                left.pop()
        if not inside or not line.strip() or (line.startswith("#") and line.strip() != _NOTE):
            left.append(line)
    after = "".join(left)
    expected = _toml(text, path)
    del expected["mcp_servers"][NAME]
    if _toml(after, path) not in (expected, {key: value for key, value in expected.items() if key != "mcp_servers"}):
        raise RequestError(
            f"{path} defines the MCP server {NAME} in a form that can't be edited automatically",
            f"remove [mcp_servers.{NAME}] from it",
        )
    return after


def _gemini_settings(before: str, state: Path, hooks: tuple[Hook, ...], path: str) -> str:
    values = _parse(before, path)
    entries = (
        {"name": NAME, "type": "command", "command": command, "timeout": 1000 * SECONDS}
        for command, _ in _commands(state, hooks, "gemini")
    )
    _with_hooks(values, list(map(_group, hooks, entries)))
    _with_tools(values, state, "gemini", bool(hooks))
    return _dump(values, before)


def _cursor_hooks(before: str, state: Path, hooks: tuple[Hook, ...], path: str) -> str:
    values = _parse(before, path)
    if hooks:
        values.setdefault("version", 1)
    _with_hooks(values, [(hook.event, {"command": command}) for command, hook in _commands(state, hooks, "cursor")])
    return _dump(values, before)


def _cursor_tools(before: str, state: Path, hooks: tuple[Hook, ...], path: str) -> str:
    values = _parse(before, path)
    _with_tools(values, state, "cursor", bool(hooks))
    return _dump(values, before)


def _commands(state: Path, hooks: tuple[Hook, ...], client: str) -> Iterator[tuple[str, Hook]]:
    return ((_command(state, client, hook), hook) for hook in hooks)


def _why_codex_skips(texts: Mapping[str, str]) -> tuple[str, str]:
    """Return why Codex skips our hooks (they are off, or not all are trusted) and the remedy; else ("", "")."""
    config = _toml(texts["config.toml"], "config.toml")
    if config.get("features", {}).get("hooks") is False:
        return "hooks are switched off in Codex's config.toml ([features] hooks)", "codex features enable hooks"
    noted = config.get("hooks", {}).get("state", {})
    trusted = {key for key, about in noted.items() if about.get("trusted_hash") and about.get("enabled") is not False}
    wanted = 0
    for event, groups in _parse(texts["hooks.json"], "hooks.json")["hooks"].items():
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
        for at, group in enumerate(groups):
            inner = group.get("hooks", []) if isinstance(group, dict) else []
            ours = [f"hooks.json:{name}:{at}:{place}" for place, hook in enumerate(inner) if _is_ours(hook)]
            wanted += sum(not any(key.endswith(f"/{one}") for key in trusted) for one in ours)
    if wanted:
        return (
            f"Codex skips hooks of Subconscious until you trust them (not trusted yet: {wanted})",
            'codex # choose "Trust all and continue"',
        )
    return "", ""


def _why_gemini_skips(texts: Mapping[str, str]) -> tuple[str, str]:
    """Return why Gemini skips our hooks (all, or those with our name, are off) and the remedy; else ("", "")."""
    about = _parse(texts["settings.json"], "settings.json").get("hooksConfig", {})
    if about.get("enabled") is False or NAME in about.get("disabled", []):
        return (
            "the hooks of Subconscious are switched off in Gemini's settings.json (hooksConfig)",
            "gemini # then type /hooks enable-all",
        )
    return "", ""


PLACES: dict[str, SettingsFolder] = {
    "codex": SettingsFolder(
        "CODEX_HOME",
        ".codex",
        (
            Hook("SessionStart", "SessionStart", "wake"),
            Hook("SessionStart", "SessionStart", "ask"),
            Hook("UserPromptSubmit", "UserPromptSubmit", "ask"),
            Hook("PostToolUse", "PostToolUse", "ask", "apply_patch|Edit|Write|Read"),
            Hook("PreCompact", "PreCompact", "drop"),
            Hook("Stop", "Stop", "drop"),
            Hook("SessionEnd", "SessionEnd", "drop"),
        ),
        {"hooks.json": _codex_hooks, "config.toml": _codex_tools},
        _why_codex_skips,
        afterwards="Codex asks at its next start whether you trust the hooks. What you type counts as yours only in"
        " sessions without its shared background server: start `codex --no-daemon`, or set `daemon_auto_start = false`"
        " under [features] in its config.toml.",
    ),
    "gemini": SettingsFolder(
        "",
        ".gemini",
        (
            Hook("SessionStart", "SessionStart", "wake"),
            Hook("SessionStart", "SessionStart", "ask"),
            Hook("BeforeAgent", "UserPromptSubmit", "ask"),
            Hook("AfterTool", "PostToolUse", "ask", "read_file|write_file|replace"),
            Hook("AfterAgent", "Stop", "drop"),
            Hook("SessionEnd", "SessionEnd", "drop"),
        ),
        {"settings.json": _gemini_settings},
        _why_gemini_skips,
    ),
    "cursor": SettingsFolder(
        "",
        ".cursor",
        (
            Hook("sessionStart", "SessionStart", "wake"),
            Hook("sessionStart", "SessionStart", "ask"),
            Hook("beforeSubmitPrompt", "UserPromptSubmit", "drop"),
            Hook("postToolUse", "PostToolUse", "ask"),
            Hook("stop", "Stop", "drop"),
            Hook("sessionEnd", "SessionEnd", "drop"),
        ),
        {"hooks.json": _cursor_hooks, "mcp.json": _cursor_tools},
        lambda _: ("", ""),
        afterwards="The entries follow Cursor's documentation; they were not tested in the editor.",
    ),
}
"""The settings of each client, by its name."""
