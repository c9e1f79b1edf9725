"""Decides which commands need a person's approval: they download, escalate, delete, force or skip a check."""

from __future__ import annotations

import re

from subconscious.failures.commands import PATH, URL, Command, hides_text, placeholder

LONGEST_SLOT = 120
"""The most characters of a command or a path that the sentence of a memory quotes."""

FETCHING = frozenset(
    """apt apt-get aria2c brew bunx choco conda corepack curl deno dnf docker easy_install ftp gem gsutil helm http
    httpie kubectl lynx mamba nc ncat npx oc pacman pip pip3 pipx podman rsync rustup scp sdkman sftp snap ssh telnet
    uvx wget winget xargs yum zypper""".split()
)
"""Programs that download something, or run what they download."""
ESCALATING = frozenset("chgrp chmod chown doas launchctl mount pkexec setfacl su sudo systemctl umount visudo".split())
DELETING = frozenset("dd kill killall mkfs pkill rm rmdir shred truncate unlink".split())
EXECUTING = frozenset(". bash csh dash eval exec expect fish ksh osascript parallel sh source xdg-open zsh".split())
_PROGRAMS = (
    (FETCHING, "it downloads something, or runs a download"),
    (ESCALATING, "it changes permissions, or runs with those of another user"),
    (DELETING, "it deletes or ends something"),
    (EXECUTING, "it runs commands from a text or a file"),
)

_SUBCOMMANDS = re.compile(
    r"(?:npm|pnpm|yarn|bun|cargo|go|gem|bundle|poetry|uv|mix|composer|dotnet|mise|asdf|nix\S*) (?:\S+ )*?"
    r"(?:add|ci|create|dlx|exec|get|i|init|install|link|publish|remove|rm|run-script|sync|tool|uninstall|update|upgrade|use|x)\b"
    r"(?! (?:lint|test|build|check|format|fmt|typecheck))"
    r"|(?:python|node|ruby|perl|php)[\d.]* -\w*[ceE]\b|python[\d.]* -m (?:pip|ensurepip|http)\b"
    r"|git (?:-\S+ (?:<\w+> )?)*(?:am|apply|branch|checkout|clean|clone|config|fetch|filter\S*|pull|push|rebase|remote|"
    r"reset|restore|rm|stash|submodule|switch|tag|update-ref|worktree)\b"
    r"|gh (?:\S+ )?(?:delete|merge|close|edit|extension|auth|secret|release|run)\b"
)
"""Subcommands that download, delete, publish or overwrite."""

_SKIPPING = re.compile(
    r"--?(?:no-(?!pager\b|color\b|edit\b|optional-locks\b)\S*|\S*(?:skip|ignore|disable|bypass|force|unsafe|insecure|allow|trust|yes|"
    r"quiet|silent|exclude|deselect|max-warnings|exit-zero|passwithnotests|continue-on|keep-going|hard|amend|delete|dangerous)\S*)"
    r"|-\w*[fy]\w*\Z",
    re.IGNORECASE,
)
"""Options that force, that skip a check, or that answer a question in advance."""
_STEERING = re.compile(
    r"-[cCeE]|--?(?:config\S*|rcfile|eval|exec\S*|hook\S*|plugin\S*|preload|require|import|loader|init-file|settings|"
    r"env\S*)",
    re.IGNORECASE,
)
"""Options that load settings, code or plugins."""
_INTERPRETER = re.compile(r"(?:python|node|ruby|perl|php|java|lua|Rscript|make|just|task)[\d.]*")
_SHORT_FORCE = re.compile(r"-[a-zA-Z]{0,3}[fyn]")
_CHECKING = re.compile(
    r"test|\b(?:lint|check|typecheck|type-check|vet|clippy|verify|audit|scan|ruff|mypy|eslint|biome|tsc|commit|push)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"://|\b\d{1,3}(?:\.\d{1,3}){3}\b|\S@\S|\bwww\.|\blocalhost\b|[\w-]\.(?:com|net|org|io|dev|xyz|app|ru)\b|"
    r":\d{2,5}\b"
)
_PROSE = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+){4,}")
"""A sentence in the form of a name, with dashes or dots between its words."""
_KEY = re.compile(r"(?=[A-Za-z_-]{0,60}\d)(?=[\d_-]{0,60}[A-Za-z])[\w-]{20,}")
_CONTROL = re.compile(r"[;&|<>$`\\!*?#{}()\[\]\"']|[^\x20-\x7e]")


def hazard(way_out: Command, failed: Command | None = None) -> str:
    """Return why a person must approve ``way_out``, the command that worked after ``failed``; else ""."""
    if way_out.env:
        return "it sets variables"
    told = way_out.text
    program = way_out.program.rpartition("/")[2]
    for programs, why in _PROGRAMS:
        if any(word in programs for word in (program, *way_out.words[:3])):
            return why
    if "/" in way_out.program and (failed is None or failed.program != way_out.program):
        return "it runs a file of the project"
    if _SUBCOMMANDS.match(told):
        return "it downloads, deletes, publishes or overwrites something"
    options = [word for word in way_out.words[1:] if word.startswith("-")]
    if any(_SKIPPING.fullmatch(word) or _SHORT_FORCE.fullmatch(word) for word in options):
        return "it forces something, or skips a check"
    if any(_STEERING.fullmatch(word) for word in options if failed is None or word not in failed.words):
        return "it loads other settings or code"
    if why := _hidden(way_out, failed):
        return why
    if failed is not None and _skips_what_failed(way_out, failed):
        return "it checks less than the failed command"
    return doubtful(*way_out.words)


def _hidden(way_out: Command, failed: Command | None) -> str:
    """Return why a person must see a command whose words are partly replaced by placeholders; else ""."""
    known = failed.words if failed is not None else ()
    new = [word for word in way_out.words[1:] if word not in known]
    if any(map(hides_text, new)):
        return "it contains a text that is not shown"
    if any(placeholder(word) == PATH for word in new) and _INTERPRETER.fullmatch(way_out.program):
        return "it runs another file"
    return ""


def _skips_what_failed(way_out: Command, failed: Command) -> bool:
    """Whether ``way_out`` omits the check that failed or one of its options, and not just a wrapper before it."""
    if not _CHECKING.search(failed.text):
        return False
    kept = set(way_out.shape)
    tail = failed.shape[-len(way_out.shape) :]
    if tail == way_out.shape:  # only words before the way out were dropped
        return any(_CHECKING.search(word) for word in failed.shape[: -len(way_out.shape)])
    lost = [word for word in failed.shape[1:] if word not in kept and not word.startswith("<")]
    return not _CHECKING.search(way_out.text) or any(word.startswith("-") for word in lost)


def doubtful(*slots: str) -> str:
    """Return why a person must approve a sentence that quotes ``slots``, such as "it may contain a key"; else ""."""
    for slot in slots:
        if len(slot) > LONGEST_SLOT:
            return "a name in it is very long"
        if URL in slot or _ADDRESS.search(slot):
            return "it names an address"
        if _KEY.search(slot):
            return "it may contain a key"
        if _PROSE.search(slot):
            return "a name in it reads like a sentence"
    return ""


def tellable(slot: str) -> bool:
    """Whether a command or path can be quoted in a sentence: it is short, and has only plain characters."""
    bare = re.sub(r"<(?:text|path|number|url|word)>", "", slot)
    return 0 < len(slot) <= LONGEST_SLOT and not _CONTROL.search(bare)
