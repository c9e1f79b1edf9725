"""Finds failed commands and their repairs: the command, the assistant's explanation, and the command that then worked.

Wrong tool calls and failed edits are handled by the package ``subconscious.failures``. The text of an error comes from
a tool and is never used; only the command and the assistant's explanation are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from subconscious.capture.detectors.commands import CHECKS, short_command
from subconscious.capture.draft import Draft
from subconscious.capture.exchange import Exchange
from subconscious.capture.narration import is_narration, sentence_spans
from subconscious.capture.passages import LONGEST, plain
from subconscious.domain.model import Role, Turn
from subconscious.text.wording import content_words, cut_clause

_REPAIR = re.compile(
    r"(?<![\w-])(?:lint[:-]fix|fmt|format|--fix|--write|fix|go mod tidy|install|prettier|gofmt|codegen|generate)\b"
)
_FORMATS = re.compile(
    r"\A(?!git\b)(?:\S+ ){0,3}?\S*(?:lint[:-]fix|fmt|format|fix|prettier|--write)(?=\s|\Z)(?!.*(?:&&|;) *git\b)"
)
"""Commands that only repair what a check found, without a commit or an installation."""

_ALONE = re.compile(
    r"\A(?:(?:cd|(?:[\w-]+ )?git(?: -C \S+)? add)\s[^&;|]*(?:&&|;)\s*)*(?:[\w-]+ )?git(?: -C \S+)? commit\b(?!.*\bgit push\b)",
    re.DOTALL,
)
"""Commands that only stage and commit: if such a command fails, the commit itself has failed."""

_NO_CHECK = re.compile(r"nothing to commit|no changes added|index\.lock|pathspec|\breject\w*|\bpush\w*", re.IGNORECASE)
_COMMIT = re.compile(r"\bgit\s(?:-C \S+ )?commit\b")
_LOOKING = re.compile(
    r"\s*(?:ls|cat|grep|rg|find|which|head|tail|sed|awk|xxd|curl|stat|test|echo|diff|git (?:show|log|diff|status|branch|ls-|rev-parse))\b"
)
_CHECKS = re.compile(r"\b(?:lint|biome|check|eslint|ruff)\b")

_FINE = re.compile(r"\bno \w* ?(?:issues|errors|problems)\b|\bclean\b", re.IGNORECASE)
_LINTERS = re.compile(r"\b(?:Biome|ESLint|Prettier|Ruff|golangci-lint|Clippy|RuboCop)\b")
_LONGEST_SAID = 450
_SHORT = 130
_FEWEST_WORDS = 2
_WINDOW = 16
_STALE = re.compile(
    r"(?<![^.!\n])[^.!\n]*?\b(?:(?:diagnostics?|gopls|lsp)\b[^.!\n]{0,80}\bstale|stale (?:lsp |ide )?diagnostics?)\b[^.!\n]*",
    re.IGNORECASE,
)
_FILLER = re.compile(r"\A(?:but|so|and|now|good|great|ok(?:ay)?|yep|wait|hmm)\b[\s,:—–-]*", re.IGNORECASE)
_RUN = r"(?:^|&& *|; *)(?P<run>(?:bun|npm|pnpm|yarn|mise|make|just|task|cargo|go|uv)(?: run)? [\w:-]*%s)(?=\s|\Z)"
_SERVERS = ("gopls", "pyright", "tsserver", "rust-analyzer", "clangd")
_EDITS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}


@dataclass(frozen=True, slots=True)
class _After:
    """What followed a failure: the explanation with its quote and turn, commands, and files that were then edited.

    ``worked`` has the commands that worked and all repair commands, even failed ones; ``failed`` those that failed.
    """

    said: str
    quote: str
    turn: Turn | None
    worked: tuple[str, ...]
    failed: tuple[str, ...]
    edited: tuple[str, ...]

    @property
    def fault(self) -> bool:
        """Whether the assistant explains the failure by a fault in the code, not by its formatting."""
        return bool(
            re.search(
                r"type ?error|typescript error|tests?\b|undefined|conflict|manual|unused|empty",
                self.said,
                re.IGNORECASE,
            )
        )


def struggles(exchange: Exchange) -> Iterator[Draft]:
    """Yield the failures of an exchange, each command once."""
    seen: set[str] = set()
    for at, turn in enumerate(exchange.turns):
        if turn.role is Role.TOOL and turn.failed:
            draft = _of_command(exchange, at, seen) if turn.commands else None
        elif turn.role is Role.TOOL and turn.commands:
            draft = _of_quiet_check(exchange, at, seen)
        else:
            draft = None
        if draft is not None:
            yield draft
    yield from _of_stale(exchange, seen)


_OWN_STEP = "Run it as a step of its own before the final verification and the commit."


def _of_command(exchange: Exchange, at: int, seen: set[str]) -> Draft | None:
    turn = exchange.turns[at]
    after = _after(exchange, at)
    full, command = turn.commands[0], short_command(turn.commands[0])
    if _COMMIT.search(full):
        return _of_commit(exchange, turn, after, seen)
    if not command or command in seen or _LOOKING.match(command) or command.startswith("gh "):
        return None
    seen.add(command)
    repair = next((done for done in after.worked if done != command and _FORMATS.match(done)), "")
    # Failed checks without such a repair command were fixed by edits, which Git records.
    if repair and repair not in command and _CHECKS.search(command) and not _FINE.search(after.said):
        text = _repair_told(exchange, command, repair, after)
        return _of_check(turn, text, full, "a check that failed, and its repair", after) if text else None
    return None


def _repair_told(exchange: Exchange, command: str, repair: str, after: _After) -> str:
    """Return a sentence about the repair that a check needs.

    Return "" if the repair failed, unless the assistant explains the failure by a fault in the code.
    """
    if after.fault:
        return (
            f"`{repair}` is an auto-fix that handles the formatting only: other faults that `{command}` reports require a "
            f"separate manual edit{_told(after)}"
        )
    if repair in after.failed:
        return ""
    named = _LINTERS.search(after.said)
    edits = " after edits" if exchange.files else ""
    return (
        f"`{command}`{f' ({named[0]})' if named else ''} failed{edits} due to formatting: a separate auto-fix pass, `{repair}`, "
        f"was required before lint was clean. {_OWN_STEP}"
    )


def _of_quiet_check(exchange: Exchange, at: int, seen: set[str]) -> Draft | None:
    """Return a check that failed although its call succeeded, if a repair and an explanation or a rerun followed."""
    turn = exchange.turns[at]
    command = short_command(turn.commands[0])
    if command in seen or not re.search(r"\blint\b|\bcheck\b", command) or _REPAIR.search(command):
        return None
    after = _after(exchange, at, 6)
    repair = next((done for done in after.worked if _FORMATS.match(done)), "")
    told = re.search(r"\b(?:lint|format\w*|biome|violations?|unused)\b", after.said, re.IGNORECASE)
    again = repair in after.worked and command in after.worked[after.worked.index(repair) :]
    if not repair or _FINE.search(after.said) or not (told or again):
        return None
    seen.add(command)
    text = _repair_told(exchange, command, repair, after)
    return _of_check(turn, text, turn.commands[0], "a check and its repair", after) if text else None


def _of_commit(exchange: Exchange, turn: Turn, after: _After, seen: set[str]) -> Draft | None:
    """Return the failure of a commit that a pre-commit check stopped, with a command that runs the check."""
    check = next((name for name, pattern in CHECKS.items() if pattern.search(after.said)), "")
    hooked = any("hook" in other.text for other in exchange.turns if other.role is Role.ASSISTANT)
    alone = _ALONE.match(turn.commands[0].strip()) and not _NO_CHECK.search(after.said)
    if not (check and hooked and alone) or after.said in seen:
        return None
    seen.add(after.said)
    commands = (short_command(one) for other in exchange.turns if other.role is Role.TOOL for one in other.commands)
    run = next((found["run"] for one in commands if (found := re.search(_RUN % check, one))), "")
    repair = next((done for done in after.worked if check == "lint" and _FORMATS.match(done)), "")
    mended = (
        f" Running `{repair}` was required before the commit succeeded." if repair not in ("", *after.failed) else ""
    )
    how = f"Running `{run}` before committing" if run else f"Running the {check} before committing"
    text = (
        f"The {check} of the pre-commit hook blocked a commit{_told(after, _SHORT)}{mended} {how} catches what would block the "
        "commit, pre-existing errors in other files as well, and saves a round trip."
    )
    return _draft(
        after.turn or turn, text, after.quote or turn.commands[0], "a commit that was blocked, and why", after
    )


def _of_stale(exchange: Exchange, seen: set[str]) -> Iterator[Draft]:
    for turn in exchange.turns:
        found = _STALE.search(turn.text) if turn.role is Role.ASSISTANT else None
        if found and "stale" not in seen:
            seen.add("stale")
            server = next((name for name in _SERVERS if name in turn.text), "LSP")
            text = (
                f"Diagnostics of the language server ({server}) are often stale here right after edits and merges: they report"
                " errors that do not exist or are already fixed. A build or a test run shows which errors are real."
            )
            quote, nothing = found[0].strip(), _After("", "", None, (), (), ())
            yield replace(_draft(turn, text, quote, "diagnostics that were found stale", nothing), habit="diagnostics")


def _of_check(turn: Turn, text: str, command: str, reason: str, after: _After) -> Draft:
    """Return a draft. Its evidence is the explanation, if that names a fault in the code, else the failed command."""
    if after.turn is not None and after.fault:
        return _draft(after.turn, text, after.quote, reason, after)
    return _draft(turn, text, command, reason, after)


def _draft(turn: Turn, text: str, quote: str, reason: str, after: _After) -> Draft:
    told = ("told",) if after.said else ()
    return Draft(
        turn,
        "learning",
        text,
        quote,
        "struggle",
        signs=(f"struggle:{reason}", *told),
        reason=reason,
        files=after.edited,
        habit="formatting" if text.endswith(_OWN_STEP) else "",
    )


def _told(after: _After, room: int = LONGEST) -> str:
    said = cut_clause(_FILLER.sub("", after.said), room).rstrip(" :;,")
    return (f": {said}" if said[-1:] in ".!" else f": {said}.") if said else "."


def _after(exchange: Exchange, at: int, window: int = _WINDOW) -> _After:
    said, quote, spoken = "", "", None
    worked: list[str] = []
    failed: list[str] = []
    edited: list[str] = []
    for turn in exchange.turns[at + 1 : at + 1 + window]:
        if turn.role is Role.TOOL:
            shorts = [short for short in map(short_command, turn.commands) if short]
            worked += [short for short in shorts if not turn.failed or _REPAIR.search(short)]
            failed += shorts if turn.failed else []
        elif turn.role is Role.ASSISTANT:
            if not said and turn.text and spoken is None and (found := _explanation(turn.text)):
                (said, quote), spoken = found, turn
            if said and _EDITS & set(turn.tools):
                edited += turn.files
    return _After(said, quote, spoken, tuple(worked), tuple(failed), tuple(dict.fromkeys(edited)))


def _explanation(text: str) -> tuple[str, str] | None:
    """Return the first factual sentences of a text, and their verbatim quote."""
    if len(text) > _LONGEST_SAID:
        return None  # a summary of everything, not an explanation
    spans = sentence_spans(text, 0, len(text))
    kept = [span for span in spans if not is_narration(text[slice(*span)])][:2]
    if not kept or (len(kept) == 2 and text[kept[0][1] : kept[1][0]].strip()):
        kept = kept[:1]
    if not kept:
        return None
    quote = text[kept[0][0] : kept[-1][1]][:260]
    said = plain(quote)
    return (said, quote) if len(content_words(said)) >= _FEWEST_WORDS else None
