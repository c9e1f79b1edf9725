"""Secrets that are known by their own shape, wherever they stand."""

from __future__ import annotations

import re

from .plausible import is_random
from .rule import LONGEST_MATCH, Rule

_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
"""A token begins where no word goes on, or behind an escaped line end."""

_IDS = re.compile(
    r"(?:toolu|srvtoolu|msg|req|resp|run|call|chatcmpl|thread|asst|file|step|evt|event|cus|sub|prod|price|in|pi|ch|pm|"
    r"seti|cs|acct|order|user|usr|org|team|proj|wrun|agent|session|sess|build|bld|dpl|deploy|job|task|node|sha\d+|md5|"
    r"index|chunk|main|vendor|bundle|page|layout|app|css|js|font|img|image|asset|hash|digest|etag|uuid|guid|id|rev|"
    r"commit|blob|tree|cache|tmp|temp|test|mock|pk)[_-]",
    re.IGNORECASE,
)
"""Beginnings of what is random and public: ids of a service, digests, names of built files."""


def _token(kind: str, hints: str, pattern: str, longest: int = LONGEST_MATCH) -> Rule:
    return Rule(kind, tuple(hints.split()), f"{_START}({pattern})", longest=longest)


def _drawn(match: re.Match[str], token: str) -> bool:
    """A word, a mark, and what was drawn at random: how most services write their tokens today."""
    return not _IDS.match(token) and is_random(match["drawn"])


RULES = (
    _token("AWS key", "akia asia abia acca a3t", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _token("GitHub token", "gh github_pat_", r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}"),
    _token("GitLab token", "gl", r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,255}"),
    _token("Slack token", "xox xapp-", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-\d-[A-Za-z0-9-]{10,255}"),
    _token("Slack webhook", "hooks.slack", r"https://hooks\.slack\.com/(?:services|workflows)/[\w/]{20,255}"),
    _token(
        "Discord webhook",
        "/api/webhooks/",
        r"https://(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/\d{15,22}/[\w-]{40,90}",
    ),
    _token(
        "Stripe key",
        "sk_ rk_ whsec_ pk_live",
        r"(?:[sr]k_(?:live|test|prod)|pk_live)_\w{10,255}|whsec_[A-Za-z0-9]{32,255}",
    ),
    _token("Anthropic key", "sk-ant-", r"sk-ant-[a-z]{2,10}\d{2}-[\w-]{20,255}"),
    _token("OpenAI key", "sk-", r"sk-(?:(?:proj|svcacct|admin)-[\w-]{20,255}|[A-Za-z0-9]{32,255})"),
    _token("Google key", "aiza gocspx- ya29", r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,255}"),
    _token("npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _token("PyPI token", "pypi-", r"pypi-AgE[\w-]{50,255}"),
    _token("JWT", "eyj", r"(?<!-)eyJ[\w-]{10,8000}+\.eyJ[\w-]{10,8000}+\.[\w-]{10,2000}+", 19_000),
    _token("NATS seed", "su sa so sn sc sx", r"S[UAONCX][A-Z2-7]{56}(?![A-Za-z0-9])"),
    _token("Atlassian token", "atatt3 atbb atctt3", r"(?:ATATT3|ATCTT3|ATBB)[\w=%-]{24,300}"),
    _token("Square token", "sq0 eaaa", r"sq0[a-z]{3}-[\w-]{22,60}|EAAA[\w-]{60}"),
    _token(
        "New Relic key",
        "nrak- nrii- nrjs- nrbr- nral",
        r"NR(?:AK|II|JS|BR|RA)-[\w-]{19,40}|(?:eu01xx?)?[0-9a-f]{32,36}F?NRAL",
    ),
    _token("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,90}"),
    _token("Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w.-]{24,300}"),
    _token(
        "Bedrock key",
        "absk bedrock-api-key-",
        r"ABSK[A-Za-z0-9+/]{100,300}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{20,2000}",
    ),
    _token("NuGet key", "oy2", r"oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    _token("Databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _token(
        "password hash",
        "$",
        r"\$(?:[156y]|2[abxy]|apr1|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]{0,12})\$[\w./$=,+-]{20,300}",
    ),
    _token("Docker token", "dckr_ swmtkn- swmkey-", r"dckr_(?:pat|oat)_[\w-]{20,60}|SWM(?:TKN|KEY)-1-[\w-]{40,100}"),
    _token(
        "API key",
        "llx- tgp_v1_ dnkey- pplx- xai-",
        r"(?:llx|pplx|xai)-[\w-]{40,100}|tgp_v1_[\w-]{40,60}|dnkey-[\w-]{60,100}",
    ),
    Rule(
        "private key",
        ("ls0tls1crudjti",),
        r"(LS0tLS1CRUdJTiB(?:QUklW|SU0EgUFJJ|FQyBQUklW|PUEVOU1NI|FTkNSWVBU|EU0EgUFJJ)[A-Za-z0-9+/=]{20,20000})",
        longest=21_000,
    ),
    Rule("NTLM message", ("tlrmtv",), r"(TlRMTV[A-Za-z0-9+/=]{16,4000})"),
    Rule(
        "token",
        ("_", "-"),
        r"(?:(?<![A-Za-z0-9_/+=.\\-])|(?<=\\[nrt]))([A-Za-z][a-z]{1,11}(?:[_-][a-z0-9]{1,8}){0,2}[_-](?P<drawn>[A-Za-z0-9]{20,200}+)(?![/+=]))",
        _drawn,
    ),
)
