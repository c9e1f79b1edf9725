"""Rules for secrets that are recognised by their own format, in any context."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from . import wallets
from .plausible import is_random
from .rule import LONGEST_MATCH, Rule, entropy

_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
"""The place where a token may begin: the start of a word, or after an escaped line end."""

Judge = Callable[[re.Match[str], str], bool]

IDS = re.compile(
    r"(?:\w{0,12}_)?(?:toolu|srvtoolu|msg|req|resp|run|call|chatcmpl|thread|asst|file|step|evt|event|cus|sub|prod|price|in|pi|ch|pm|"
    r"seti|cs|acct|order|user|usr|org|team|proj|wrun|agent|session|sess|build|bld|dpl|deploy|job|task|node|sha\d+|md5|"
    r"index|chunk|main|vendor|bundle|page|layout|app|css|js|font|img|image|asset|hash|digest|etag|uuid|guid|id|rev|"
    r"commit|blob|tree|cache|tmp|temp|test|mock|pk|pack|idx|tag|branch|release|version|patch|layer|image|digest)[_-]",
    re.IGNORECASE,
)
"""Prefixes of random but public values: ids of a service, digests, names of built files."""

_DIGEST = re.compile(r"-(?:[0-9a-f]{40}|[0-9a-f]{64})$")
"""A name with a commit id or a digest at its end, as in file names of build tools, packs and caches."""

PREFIXES = (
    *("AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-"),
    *("sk_live_", "rk_live_", "sk-ant-", "sk-proj-", "sk-svcacct-", "sk-or-v1-", "AIza", "GOCSPX-", "npm_"),
    *("pypi-AgE", "hf_", "gsk_", "SG.", "eyJ", "ATATT3", "dop_v1_", "shpat_", "hvs.", "dckr_pat_", "lin_api_"),
)
"""Prefixes of tokens that are also searched for if line breaks or spaces divide them."""


_AWS_ID = re.compile(r"(?:AKIA|ASIA)[A-Z2-7]{16}|\[redacted: AWS key\]|aws_?secret", re.IGNORECASE)
_AWS_REACH = 400
"""The number of characters on each side of a random value that are searched for an AWS key id."""


def _is_beside_aws_id(match: re.Match[str], key: str) -> bool:
    context = match.string[max(0, match.start() - _AWS_REACH) : match.end() + _AWS_REACH]
    return is_random(key) and _AWS_ID.search(context) is not None


def _quick(kind: str, hints: str, first: str, rest: str, judge: Judge | None = None) -> Rule:
    """Return a rule for a token that begins with a character of the class ``first``.

    The hints of such a rule occur in most texts. Skipping to the next character of that class is many times faster than
    testing at each position what precedes it.
    """
    return Rule(
        kind, tuple(hints.split()), rf"({first}(?:(?<![A-Za-z0-9_].)|(?<=\\[nrt].)){rest})", judge, needs_run=True
    )


def _token(kind: str, hints: str, pattern: str, longest: int = LONGEST_MATCH) -> Rule:
    return Rule(kind, tuple(hints.split()), f"{_START}({pattern})", longest=longest)


def _drawn(match: re.Match[str], token: str) -> bool:
    """Whether a token is a word, a separator and random characters, as the tokens of most services are today."""
    return not IDS.match(token) and not _DIGEST.search(token) and is_random(match["drawn"])


def _drawn_with_signs(match: re.Match[str], token: str) -> bool:
    """Whether a token is a prefix and random characters with dashes or underscores, unlike compound names."""
    drawn = match["drawn"]
    kinds = (sum(map(test, drawn)) for test in (str.isdigit, str.isupper, str.islower))
    return min(kinds) >= 3 and entropy(drawn) >= 4.2 and not IDS.match(token) and not _WORD.search(drawn)


_WORD = re.compile(r"[a-z]{7}|[A-Z]{7}")

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _is_numbered(match: re.Match[str], token: str) -> bool:
    """Whether a token is base64 of a number, a colon and random bytes, like personal tokens of Jira and Confluence."""
    del match
    try:
        number, colon, _ = base64.b64decode(token).partition(b":")
    except binascii.Error:
        return False
    return bool(colon) and number.isdigit() and len(number) >= 10


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
    _quick("NATS seed", "su sa so sn sc sx", "S", r"[UAONCX][A-Z2-7]{56}(?![A-Za-z0-9])"),
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
    _token("Telegram token", ":aa", r"\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _token("Mailgun key", "key-", r"key-[0-9a-f]{32}(?![0-9a-z])"),
    _quick("Mailgun key", "-", "[0-9a-f]", r"[0-9a-f]{31}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])"),
    _token("Mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    _token("SendGrid key", "sg.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    _token("Hugging Face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{34}(?![A-Za-z0-9])"),
    _quick("Discord token", ".", "[MNO]", r"[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w.-])"),
    _token("Dropbox token", "sl.", r"sl\.(?:u\.)?[\w-]{120,1200}"),
    _token("Dynatrace token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("JFrog token", "akc cmvmdgtu", r"AKC[A-Za-z0-9]{10,80}(?![A-Za-z0-9])|cmVmdGtu[A-Za-z0-9]{40,80}"),
    _token("Facebook token", "eaa igqv", r"EAA[A-Za-z0-9]{60,300}|IGQV[\w-]{60,300}"),
    _quick("Twilio key", "sk ac", "[SA]", r"[KC][0-9a-f]{32}(?![0-9A-Za-z])"),
    _token("PayPal token", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _token("Azure secret", "q~", r"[\w.~-]{3}\dQ~(?![\w.~-]{0,28}x{6})[\w.~-]{31,34}(?![\w~-])"),
    _token("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
    _token("OpenRouter key", "sk-or-", r"sk-or-(?:v\d-)?[A-Za-z0-9]{32,128}"),
    _quick("Airtable token", "pat", "p", r"at[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _token("Doppler token", "dp.", r"dp\.(?:pt|st|ct|scim|audit|sa)\.(?:[\w-]{1,30}\.)?[A-Za-z0-9]{40,44}"),
    _token("Google refresh token", "1//", r"1//0[\w-]{35,100}"),
    _token("Jenkins secret", "{aqa", r"\{AQAAABAAAA[A-Za-z0-9+/=]{20,2000}\}"),
    _token("New Relic key", "nral", r"(?:eu01xx?)?[0-9a-f]{30,36}F?NRAL(?!\w)"),
    _token("extended private key", "prv", r"[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}(?!\w)"),
    Rule(
        "Jira token",
        ("mt", "mj", "mz", "md", "nd", "nt", "nj", "nz", "od", "ot"),
        r"(?<![\w+=])((?:M[DTjz]|N[DTjz]|O[DT])[AEIMQUYcgk][A-Za-z0-9+/]{41})(?![\w+/=])",
        _is_numbered,
    ),
    _token("Asana token", "/", r"\d/(?:\d{13,18}/)?\d{13,18}:[0-9a-f]{32}(?![0-9a-z])"),
    _token("Mapbox token", "sk.eyj tk.eyj", r"[st]k\.eyJ[\w-]{40,300}\.[\w-]{20,40}"),
    _token(
        "API key",
        "sdk- sk-lf- access- pat-",
        rf"(?:sdk|sk-lf|access-(?:production|development|sandbox)|pat-[a-z]{{2}}\d)-{_UUID}",
    ),
    _token("Tencent key", "akid", r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _token("Zapier webhook", "hooks.zapier", r"https://hooks\.zapier\.com/hooks/catch/[\w/]{8,100}"),
    _token(
        "Teams webhook",
        ".webhook.office",
        rf"https://[\w-]{{1,60}}\.webhook\.office\.com/webhookb2/{_UUID}@[\w/-]{{40,300}}",
    ),
    _token("Elastic key", "essu_", r"essu_[A-Za-z0-9+/]{40,300}={0,2}"),
    _token("LangSmith key", "lsv2_", r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}(?![0-9a-z])"),
    _token("API key", "csk- avns_ napi_", r"csk-[a-z0-9]{48}(?!\w)|AVNS_[\w-]{19}(?![\w-])|napi_[a-z0-9]{60,70}(?!\w)"),
    _token("Infisical token", "st.", rf"st\.{_UUID}\.[0-9a-f]{{16,64}}\.[0-9a-f]{{16,64}}"),
    _quick("wallet key", "5 k l c 9", "[5KLc9]", r"[1-9A-HJ-NP-Za-km-z]{50,51}(?!\w)", wallets.is_private_key),
    Rule(
        "AWS secret key",
        ("akia", "asia", "aws"),
        r"(?<![A-Za-z0-9/+=])([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        _is_beside_aws_id,
    ),
    Rule(
        "JSON web key",
        ('"kty', "'kty", '\\"kty'),
        r"""(?<![\w-])(?:d|p|q|dp|dq|qi|k)\\?["']\s{0,4}:\s{0,4}\\?["'](?P<secret>[\w-]{16,2000}+)""",
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
        r"(?:(?<![A-Za-z0-9_/+=.\\-])|(?<=\\[nrt]))([A-Za-z][a-z0-9]{1,11}(?:[_-][a-z0-9]{1,8}){0,2}[_-](?P<drawn>[A-Za-z0-9]{20,200}+)(?![/+=]))",
        _drawn,
    ),
    Rule(
        "token",
        ("_",),
        r"(?:(?<![A-Za-z0-9_/+.\\-])|(?<=\\[nrt]))([A-Za-z][a-z]{1,11}_(?P<drawn>[A-Za-z0-9_-]{32,200}+)(?![/+=.]))",
        _drawn_with_signs,
    ),
)

PREFIXED = tuple(rule for rule in RULES if rule.kind not in {"token", "password hash", "wallet key", "AWS secret key"})
"""The rules for tokens that can't be confused with compound words."""
