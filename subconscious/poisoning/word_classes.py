"""Describes what a text does by the classes of its words, in order: "control", "off", "secret", "sink" and so on.

The attack model was trained on texts by other writers. New texts rarely use the same words, but often words of the
same classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

_CLASSES = {
    "control": r"tls|ssl|cert(?:ificate)?s?|verif\w+|sign(?:atures?|ing|ed)|checksums?|hash(?:es)?|integrity|lockfiles?|pinn\w+|[cx]srf|cors|csp|hsts"
    r"|samesite|httponly|auth[nz]?|authenticat\w+|authori[sz]\w+|permissions?|acls?|rbac|2fa|mfa|otp|captcha|throttl\w+|limit(?:s|er)?"
    r"|sandbox\w*|isolation|seccomp|selinux|apparmor|firewalls?|waf|ufw|iptables|protect(?:ions?|ed)|codeowners|review(?:s|ers?)?"
    r"|approv(?:als?|ers?)|audit(?:s|ing|d)?|logging|scan(?:s|ners?|ning)?|sast|codeql|semgrep|gitleaks|trufflehog|dependabot|renovate|trivy"
    r"|snyk|lint(?:ers?)?|tests?|suite|checks?|gates?|coverage|hooks?|ci|pipeline|validat\w+|saniti[sz]\w+|escap\w+|encrypt\w+|expir\w+"
    r"|rotat\w+|salt\w*|nonces?|polic(?:y|ies)|quota|guard\w*|filter|allowlists?|whitelists?|confirm\w*|prompts?|warnings?|alerts?|alarms?"
    r"|antivirus|defender|edr|gatekeeper|notari\w+|security|safety|safeguards?|restrictions?",
    "off": r"disabl\w+|off|skip\w*|bypass\w*|ignor\w+|suppress\w*|silenc\w+|mut(?:e[ds]?|ing)|drop\w*|remov\w+|delet\w+|strip\w*|lower\w*|relax\w*"
    r"|weaken\w*|loosen\w*|lift\w*|commented|unset|false|none|permissive|complain|optional|waiv\w+|omit\w*|exclud\w+|exempt\w*|exclusions?"
    r"|exceptions?|switch\w*|turn\w*|disarm\w*|unprotect\w*|overrid\w+|unsafe\w*|insecure\w*|no-verify|force|allow-\w+|mark\w*|dismiss\w*"
    r"|clos(?:e[ds]?|ing)|resolv\w+|wide|open\w*|wildcards?|any(?:one)?|every(?:thing|body)|public\w*|world|unlimited",
    "secret": r"secrets?|tokens?|passwords?|passwd|passphrases?|cred(?:ential)?s|keys?|apikey|api_key|env|dotenv|printenv|environ\w*|kubeconfig|keychain"
    r"|cookies?|jwts?|vault|pem|id_rsa|ssh|aws|npmrc|netrc|pypirc|gnupg|pat|seed|mnemonic|wallet|session|history|customers?|emails?|pii"
    r"|personal|private|card|cvv|iban|dump\w*|backups?|database|contents|source|diffs?|transcripts?|hostname|clipboard|screenshots?",
    "send": r"sen[dt]\w*|post\w*|upload\w*|push\w*|publish\w*|cop(?:y|ie[sd])|mirror\w*|forward\w*|e?mail\w*|report\w*|attach\w*|append\w*|includ\w+|embed\w*"
    r"|put\w*|add\w*|write\w*|past(?:e[sd]?|ing)|echo\w*|print\w*|log\w*|record\w*|share\w*|sync\w*|submit\w*|ping\w*|beacon\w*|telemetry"
    r"|base64|encod\w+|stream\w*|export\w*|expos\w+|leak\w*|stor(?:e[sd]?|ing)|sav(?:e[sd]?|ing)|keep\w*|commit\w*|show\w*|mention\w*",
    "sink": r"xhost|webhook\w*|gist\w*|pastebin|wiki|readme|issues?|tickets?|comments?|descriptions?|prs?|pull|changelog|messages?|channel|slack|discord"
    r"|telegram|bucket|s3|url|query|header|badge|endpoint|server|collector|relay|tunnel\w*|ngrok|dns|drive|body|logs?|artifact\w*|image"
    r"|layer|analytics|metrics|external|outside|remote",
    "fetch": r"curl|wget|iwr|irm|iex|invoke-\w+|bash|sh|zsh|eval|exec\w*|pipe\w*|run\w*|install\w*|download\w*|fetch\w*|npx|(?:post|pre)install|script\w*"
    r"|pip|npm|(?:extra-)?index(?:-url)?|trusted-host|registry|package\w*|plugin\w*|extension\w*|binar(?:y|ies)|patch\w*|update\w*"
    r"|bootstrap\w*|helper\w*|cron\w*|launch\w*|systemd|rc|bashrc|zshrc|profile|(?:un)?pickl\w+|deseriali[sz]\w+|render\w*|template\w*",
    "privilege": r"sudo\w*|root|admin\w*|owner\w*|superuser|privileged|cluster-admin|nopasswd|777|chmod|chown|setuid|umask|write-all|maintainer\w*"
    r"|collaborator\w*|impersonat\w+|hostnetwork|host|yolo|dangerously\w*|dangerously-skip-permissions|bypasspermissions|full-auto"
    r"|auto(?:-approve|merge)?|merge|force-push",
    "hide": r"quiet\w*|silent\w*|hid(?:e[ns]?|den|ing)|secretly|unnoticed|unmentioned|unnecessary|tell|told|telling|notify\w*|inform\w*|bother\w*"
    r"|summar(?:y|ies)|redirect\w*|trace\w*|reveal\w*|discuss\w*|rais(?:e[sd]?|ing)|squash\w*|amend\w*|rewrit\w+|fold\w*|backdat\w+|clean\w*",
    "negation": r"never|not?|don't|doesn't|didn't|won't|can't|cannot|without|isn't|aren't|nobody|nothing|instead|rather",
    "rule": r"forbid\w*|prohibit\w*|den(?:y|ied|ies)|reject\w*|block\w*|refus\w+|fail\w*|banned|disallow\w*|requir\w+|only|must|mandatory|enforc\w+"
    r"|limited|except|unless|approved|revert\w*|restor\w+|fix\w*|found|caught|leaked|incident|cve|vulnerab\w+|after|because|since|until|needs?|asks?",
    "past": r"was|were|had|did|been|moved|replaced|changed|solved|came|went|got|revoked|caused",
    "every": r"always|every|each|all|whenever|when|before|first|default\w*|standard|convention|routine|usual\w*|expected|normal|practice|procedure|step|part",
    "agent": r"agents?|assistants?|claude|copilot|codex|cursor|models?|ai|llm|bots?",
    "person": r"you|your|please|users?|person|human|team|we|our|us|i|my|me",
    "excuse": r"fine|ok|okay|enough|saves|time|faster|speed\w*|slow\w*|nois[ey]\w*|annoying|trouble|easier|simpl\w+|convenien\w+|friction|confus\w+"
    r"|demo|internal|trust\w*|safe|harmless|pre-approved|legacy|temporar\w+|afterwards?|anyway|deprecated|flaky|feel|free|worry|purpose"
    r"|design|intention\w*|preserve",
}  # fmt: skip
"""The English words of each class; a word may belong to several."""

_TOKEN = re.compile(r"[a-z_][\w'-]{0,40}|[.;!?]|777")
_MOST_TOKENS = 200
NEAR, NEXT = 9, 3
"""The greatest distances, in words, of two classes that count as a pair (NEAR) and as a close pair (NEXT)."""


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(words) for name, words in _CLASSES.items()}


@lru_cache(20_000)
def _classes_of(word: str) -> tuple[str, ...]:
    return tuple(name for name, pattern in _patterns().items() if pattern.fullmatch(word))


def class_features(lowered: str) -> Iterator[str]:
    """Yield the classes in a lower-case text, and their pairs and triples within its sentences."""
    sentence: list[tuple[int, str]] = []
    for at, word in enumerate(_TOKEN.findall(lowered)[:_MOST_TOKENS]):
        if word in ".;!?":
            sentence = []
            continue
        for name in _classes_of(word.strip("'-")):
            yield f"c:{name}"
            if at < NEXT:
                yield f"c^{name}"
            yield from _pairs(sentence, at, name)
            sentence.append((at, name))
            if len(sentence) > NEXT - 1:
                yield "t:" + ">".join(one for _, one in sentence[-NEXT:])


def _pairs(sentence: list[tuple[int, str]], at: int, name: str) -> Iterator[str]:
    for place, before in reversed(sentence):
        if at - place > NEAR:
            return
        if place < at:
            yield f"c:{before}>{name}"
            if at - place <= NEXT:
                yield f"c:{before}>>{name}"
