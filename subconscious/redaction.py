"""Takes out of a text what must not be kept: private spans, our own injected text, secrets.

The three are applied to every text before anything else sees it (SPEC N2, A28). The secrets known here are a
small set that is sure of itself; each pattern is bounded, so that hostile input costs linear time at most.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

_PRIVATE = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_OWN = re.compile(r"<(/?)subconscious-memory(?:\s[^<>]{0,1000})?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many were taken out."""

    text: str
    count: int


def cut_private(text: str) -> str:
    """Cut what a person marked as private: nested spans whole, an unclosed one to the end of the text."""
    return _cut_spans(text, _PRIVATE)


def cut_own(text: str) -> str:
    """Cut the memories that we gave to a session, so that memory never feeds on itself."""
    return _cut_spans(text, _OWN)


def _cut_spans(text: str, tag: re.Pattern[str]) -> str:
    kept: list[str] = []
    depth = at = 0
    for match in tag.finditer(text):
        if depth == 0:
            kept.append(text[at : match.start()])
        depth = max(0, depth - 1) if match[1] else depth + 1
        at = match.end()
    return "".join(kept) if depth else "".join(kept) + text[at:]


def redact(text: str) -> Redacted:
    """Replace each secret by ``[redacted: kind]``; what stands around it stays readable."""
    text, count = _redact_private_keys(text)
    lowered = text.lower()
    for rule in _RULES:
        if any(hint in lowered for hint in rule.hints):
            text, found = rule.apply(text)
            count += found
    return Redacted(text, count)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One sort of secret: its pattern is tried only where a hint (in lower case) occurs.

    The group ``secret`` is replaced, or the whole match where there is none; ``judge`` has the last word.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Callable[[str], bool] = bool

    def apply(self, text: str) -> tuple[str, int]:
        found = 0

        def replace(match: re.Match[str]) -> str:
            nonlocal found
            group = "secret" if "secret" in self.pattern.groupindex else 0
            if not self.judge(match[group]):
                return match[0]
            found += 1
            start, end = (at - match.start() for at in match.span(group))
            return f"{match[0][:start]}[redacted: {self.kind}]{match[0][end:]}"

        return self.pattern.sub(replace, text), found


_KEY_MARK = re.compile(r"-----(BEGIN|END) (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{40}")


def _redact_private_keys(text: str) -> tuple[str, int]:
    """Replace key blocks; one that no mark ends reaches to the next or to the end. A mark alone is no key."""
    kept: list[str] = []
    at = count = 0
    marks = [*_KEY_MARK.finditer(text), None]
    for mark, following in pairwise(marks):
        if mark is None or mark[1] == "END" or not _has_key_body(text, mark, following):
            continue
        count += 1
        kept += [text[at : mark.start()], "[redacted: private key]"]
        at = len(text) if following is None else following.end() if following[1] == "END" else following.start()
    return "".join(kept) + text[at:], count


def _has_key_body(text: str, mark: re.Match[str], following: re.Match[str] | None) -> bool:
    end = len(text) if following is None else following.start()
    return _KEY_BODY.search(text, mark.end(), min(end, mark.end() + 2000)) is not None


_PLACEHOLDER = re.compile(
    r"x{3}|\*{3}|\.{3}|[<>{}$%]|redacted|example|sample|dummy|fake|mock|placeholder|change_?me|your|test|secret|"
    r"passw|token|api_?key|hunter2|foobar|abc123|123456|undefined|null|none|process\.env|os\.environ",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Za-z]*(?:[._/:@-]+[A-Za-z]+)*[._/:@-]*\d{0,3}|[\d.,:~]+\w{0,3}")
"""Identifiers, paths, names: words joined by marks, with a short number at most; numbers with a unit."""


def _looks_secret(value: str) -> bool:
    """Whether a value is no word, name, path or placeholder: mixed characters, varied enough."""
    if len(value) < 6 or _PLACEHOLDER.search(value) or _WORDS.fullmatch(value):
        return False
    letters = any(character.isalpha() for character in value)
    others = any(character.isdigit() or character in "!@#^&*+=/~?" for character in value)
    return letters and others and _entropy(value) >= 2.5


def _is_password(value: str) -> bool:
    """Whether what stands where a password must stand is one: anything but a placeholder or a short word."""
    return len(value) >= 4 and not _PLACEHOLDER.search(value) and value.lower() not in {"pass", "user", "pwd"}


def _entropy(value: str) -> float:
    """Return Shannon's entropy in bits a character."""
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * math.log2(share) for share in shares)


_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
"""A token begins where no word goes on, or behind an escaped line end."""


def _token(kind: str, hints: str, pattern: str) -> _Rule:
    return _Rule(kind, tuple(hints.split()), re.compile(f"{_START}(?:{pattern})"))


def _placed(kind: str, hints: str, pattern: str, judge: Callable[[str], bool]) -> _Rule:
    return _Rule(kind, tuple(hints.split()), re.compile(pattern, re.IGNORECASE), judge)


_RULES = (
    _token("AWS key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _token("GitHub token", "gh github_pat_", r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}"),
    _token("GitLab token", "gl", r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,255}"),
    _token("Slack token", "xox xapp-", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-\d-[A-Za-z0-9-]{10,255}"),
    _token("Slack webhook", "hooks.slack", r"https://hooks\.slack\.com/(?:services|workflows)/[\w/]{20,255}"),
    _token("Stripe key", "sk_ rk_ whsec_", r"[sr]k_(?:live|test|prod)_\w{10,255}|whsec_[A-Za-z0-9]{32,255}"),
    _token("Anthropic key", "sk-ant-", r"sk-ant-[a-z]{2,10}\d{2}-[\w-]{20,255}"),
    _token("OpenAI key", "sk-", r"sk-(?:(?:proj|svcacct|admin)-[\w-]{20,255}|[A-Za-z0-9]{32,255})"),
    _token("Google key", "aiza gocspx- ya29", r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,255}"),
    _token("npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _token("PyPI token", "pypi-", r"pypi-AgE[\w-]{50,255}"),
    _token("JWT", "eyj", r"(?<!-)eyJ[\w-]{10,8000}+\.eyJ[\w-]{10,8000}+\.[\w-]{10,2000}+"),
    _placed(
        "authorization",
        "authorization bearer",
        r"(?:authorization[\"']{0,2}\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token)|\bbearer)"
        r"\s{1,4}(?P<secret>[\w.~+/=-]{8,4000}+)",
        _looks_secret,
    ),
    _placed(
        "URL password",
        "://",
        r"://[^\s:/@\"'<>]{0,100}:(?P<secret>[^\s/@\"'<>]{1,200})@",
        _is_password,
    ),
    _placed(
        "password",
        "--",
        r"--(?:password|passwd|pass|token|secret|api-?key|auth-token|access-token)"
        r"(?:=|\s{1,3})[\"']?(?P<secret>[^\s\"'\\-][^\s\"'\\]{3,200})",
        _looks_secret,
    ),
    _placed(
        "password",
        "sshpass mysql login curl",
        r"(?:sshpass\s{1,3}-p\s{0,3}|mysql(?:dump|admin)?\s[^\n|;&]{0,80}?-p|login\s[^\n|;&]{0,80}?\s-p\s{1,3}"
        r"|curl\s[^\n|;&]{0,80}?(?:-u|--user)\s{1,3}[\"']?[\w.@+-]{1,60}:)[\"']?(?P<secret>[^\s\"'\\]{4,200})",
        _is_password,
    ),
    _placed(
        "password",
        "passw identified",
        r"(?:passw(?:or)?d|identified\s{1,3}by)(?:\s{1,3}(?:is|as))?\s{1,3}"
        r"(?P<quote>\\?[\"'])(?P<secret>[^\s\"'\\]{6,200})(?P=quote)",
        _looks_secret,
    ),
    _placed(
        "secret",
        "passw pwd pw passphrase secret token key credential",
        r"(?:passw(?:or)?d|passphrase|\bpwd?\b|secret|token|api[_-]?key|access[_-]?key|credential)[\w-]{0,20}"
        r"(?:\\?[\"'])?\]?(?::\s?str)?\s{0,3}(?::=|==|=>|[:=])\s{0,3}(?:\\?[\"'`])?"
        r"(?P<secret>[^\s\"'`,;(){}\[\]<>\\|]{6,200})",
        _looks_secret,
    ),
)
