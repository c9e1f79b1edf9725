"""Rules for secrets that are recognised by their context: after a name, in a header, a URL, a command's arguments."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import encoded
from .plausible import (
    is_code,
    is_numbered_word,
    is_password,
    is_random,
    is_random_key,
    is_symbol_password,
    is_written_password,
    looks_password,
    looks_secret,
)
from .rule import Rule, entropy
from .shapes import IDS
from .spoken_rules import FULL_NAME, HINTS

PASSWORD = (
    rf"(?:{FULL_NAME}|pass(?:phrase|code|key)|(?<![A-Za-z])(?:pass|pwd?)(?![a-z])"
    r"|(?-i:(?<=[a-z])P(?:ass|wd?)(?![a-z])|(?<=[A-Z])(?:PASS|PWD?)(?![A-Za-z])))"
)
"""Names of passwords, including common misspellings."""

SECRET = r"(?<!public)(?<!public[_-])(?:secret|token|(?:api|access|auth|private|secret|client|account|encryption|signing|storage|admin|authentication)[_. -]?key|credential|creds)"
_UNTIL_VALUE = r"""(?P<rest>[\w-]{0,24})(?:\\{0,2}["'`])?[\])]?(?:\s?:\s?[A-Za-z][\w.?]{0,20}(?=\s?=))?\s{0,8}"""
_SIGN = r"""(?::=|={1,3}|!==?|=>|->|::?|[\uff1a\uff1d]|(?:\|\||\?\?)(?=\s{0,8}[\\"'`]))\s{0,8}"""
_QUOTE = r"""(?P<quote>\\{0,2}(?:"{3}|'{3}|["'`])|&quot;)"""
_QUOTED_AROUND = r"""["'`][,;.:)\]}>]{0,8}(?:\s|$)"""
"""The end of a quotation that contains a name with its value."""
_PLAIN = r"""[^\s"'`,;&<>|\\"""
_BARE = rf"""{_PLAIN}]{{4,200}}+(?:&{_PLAIN}=]{{1,80}}+(?![=;&]))?"""
"""A value without quotation marks. It may contain one "&", unless the next parameter or command begins there."""

_NO_TEXT = r"""(?:[{\[]{1,4}["']|(?:true|false|null|none|nil|undefined)[,;&)}\]]|-?\d[\d.e+-]{0,30}[)}\]]{0,8}[,&][{\[]{0,4}(?:["']|\w{1,60}[:=]))"""
"""The beginning of an object or a list; or a boolean, null or a number, with punctuation directly after it."""

_IS = r"(?:is|was|as|to|ist|war|lautet|es|era|est|\u00e9|jest)"
"""Words between "password" and its value in a sentence."""

_IS_UNSPACED = r"\s?(?:\u306f|\u662f|\u4e3a|\u70ba|\ub294|\uc740)[:\uff1a]?\s{0,3}"
"""Words between "password" and its value in Japanese, Chinese and Korean."""

_NO_VALUE = re.compile(
    r"[_-]?(?:files?|paths?|dir|urls?|uri|ids?|name|len(?:gth)?|size|types?|fields?|policy|min|max|count|limit|expir\w*|ttl|"
    r"labels?|hints?|inputs?|regex|pattern|env|var|prefix|suffix|header|error|message|msg|text|placeholder|title|format|"
    r"strength|required|enabled|usage|budget|cost|ref|arn|kind|class|index|column|keys?name|secretname|s)$",
    re.IGNORECASE,
)
"""Endings that turn the name of a secret into a name for something else, such as "_file"."""

_TYPE = re.compile(
    r"(?:str|string|text|bytes?|u?int(?:\d+(?:array|_t)?)?|float\d*(?:array)?|integer|number|bool|boolean|any|object|optional|secretstr|char|varchar)\b",
    re.IGNORECASE,
)
_CONFIG_LINE = re.compile(r"(?:^|\n)[ \t]*(?:(?:export|set|env|arg|-|#|//)[ \t]+)?[\w.-]{0,60}$", re.IGNORECASE)
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|(?:sha\d{3}-).*|v?\d.*\.\d.*", re.IGNORECASE)
_CONTENT_ID = re.compile(
    r"(?:/{1,2}(?:ipfs/)?)?(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{56,110}|k51qzi5uqu5d[0-9a-z]{50})(?:/.*)?"
)
"""An IPFS id (a digest of some content or of a public key), with the path around it."""

_HEXADECIMAL = re.compile(r"(?:0x)?[0-9a-f-]+", re.IGNORECASE)
_NAME_BEFORE = re.compile(r"""([A-Za-z_][\w.-]{1,40})(?:\\?["'`])?[\])]?\s{0,3}(?:[:=]>?\s{0,3}\\?["'`]?)?$""")
_PUBLIC_NAME = re.compile(
    r"(?:ids?|uid|guid|sha\d*|hash|h1|digest|checksum|integrity|etag|commit|rev(?:ision)?|ref|sum|fingerprint|"
    r"cursor|signature|thumbprint|public[\w-]{0,12}|pub|version|build|address|https?|path|file|name|nonce|data|image|"
    r"resolved|branch|tag|node|class\w{0,5}|src|href|cid|arn|method|func\w{0,5}|type|trace|span|request|url)$",
    re.IGNORECASE,
)
"""Names of random values that are not secret."""

_KEY_VARIABLE = re.compile(
    r"(?!.*(?:PUBLIC|PUB|CACHE|PARTITION|ROUTING|IDEMPOTENCY|PRIMARY|FOREIGN|SORT|OBJECT|LOOKUP|COMMIT|HASH|DEDUP\w*)_)[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*KEY"
)
"""Names of variables for keys. The values are secret even if they look like digests."""

_SESSION = re.compile(r"sess|sid|auth|token|jwt|login|remember|user", re.IGNORECASE)
_NUMBER_END = re.compile(r"[\s,\\]+")
_PASSWORD_OPTION = re.compile(r"--?(?:pass|[\w-]{0,20}(?:password|passwd|passphrase|pwd))(?:=|\s)", re.IGNORECASE)
_PLACE = re.compile(r"\sto\s", re.IGNORECASE)
_LOOSE = re.compile(r"\s=|=\s")
_VALUE_END = re.compile(r"""[\s;&"'`<|]|\\|$""")
_LINE_END = re.compile(r"[ \t]*(?:#.{0,1000})?(?:\\[nr]|\r?\n|$)")


def names_value(match: re.Match[str]) -> bool:
    """Whether the name before a value is the name of a secret, not of the secret's file, length or the like."""
    return not _NO_VALUE.search(match["rest"])


def _password_quoted(match: re.Match[str], value: str) -> bool:
    return names_value(match) and (is_written_password(value) or is_symbol_password(value))


def _password_bare(match: re.Match[str], value: str) -> bool:
    value = value.rstrip(").:}]")
    if not names_value(match) or _TYPE.match(value) or _is_verdict(match):
        return False
    if looks_secret(value) or (_is_set(match) and is_written_password(value)):
        return True
    # After "=" with spaces around it, a word in lower case is a variable more often.
    return is_numbered_word(value, digits=2) and (value[0].isupper() or "=" not in match[0])


def _is_verdict(match: re.Match[str]) -> bool:
    """Whether "PASS: " is the output of a test runner, so that no password follows."""
    return match[0].startswith("PASS: ") and not match.string[max(0, match.start() - 1) : match.start()].isalpha()


def _symbol_password(match: re.Match[str], value: str) -> bool:
    return names_value(match) and is_symbol_password(value.rstrip("\"',;.)"))


def _symbol_key(match: re.Match[str], value: str) -> bool:
    """Whether a value looks like a generated key with punctuation, as web frameworks create them."""
    del match
    signs = {sign for sign in value if not sign.isalnum()}
    if "://" in value or "${" in value:
        return False
    return len(signs) >= 3 and sum(sign.isdigit() for sign in value) >= 3 and entropy(value) >= 3.5


def _is_set(match: re.Match[str]) -> bool:
    """Whether a word is a literal value, not a variable: it is on a line of settings, or has no spaces around "="."""
    text, start = match.string, max(0, match.start() - 80)
    if "=" in match[0] and not _LOOSE.search(match[0]):
        return _VALUE_END.match(text, match.end()) is not None
    alone = _LINE_END.match(text, match.end()) is not None
    return alone and _CONFIG_LINE.search(text, start, match.start()) is not None


def _secret_bare(match: re.Match[str], value: str) -> bool:
    """Whether an unquoted value is a secret: random, or a word if it is assigned to an environment variable."""
    if is_code(value):
        return False
    if _secret(match, value):
        return True
    stripped = value.rstrip(").:}]")
    named = match[0].lower().startswith("secret") and names_value(match)  # "Token: Monday12" is no secret
    if named and len(stripped) >= 8 and stripped[0].isupper() and is_numbered_word(stripped, digits=2):
        return True
    upper = match[0].partition("=")[0].isupper()
    return upper and names_value(match) and len(value) >= 8 and _is_set(match) and is_written_password(value)


def _mixed_password(match: re.Match[str], value: str) -> bool:
    """Whether a value in a sentence is a password. A word with a number after "to" may be a host ("to web01")."""
    value = value.rstrip(").:}]")
    if _PLACE.search(match[0]) and is_numbered_word(value):
        return False
    return names_value(match) and looks_password(value)


def _secret(match: re.Match[str], value: str) -> bool:
    return names_value(match) and not _TYPE.match(value) and looks_secret(value.rstrip(").:}]"))


def _long_key(match: re.Match[str], value: str) -> bool:
    del match
    return is_random_key(value)


def _drawn_key(match: re.Match[str], value: str) -> bool:
    return names_value(match) and is_random_key(value)


def _mentioned_key(match: re.Match[str], value: str) -> bool:
    """Whether a random value a few words after "key" is a secret; commit ids, digests and content ids are not."""
    del match
    return is_random_key(value) and not (_DIGEST.fullmatch(value) or _CONTENT_ID.fullmatch(value))


def _assigned_key(match: re.Match[str], value: str) -> bool:
    """Whether a random value assigned to a name is a secret; names of ids, digests and other public values are not."""
    name = _NAME_BEFORE.search(match.string, max(0, match.start() - 60), match.start())
    if name is None or _is_public(name):
        return False
    if _KEY_VARIABLE.fullmatch(name[1]):
        return is_random_key(value)
    return not _DIGEST.fullmatch(value) and is_random_key(value) and _is_unnamed(value)


def _bare_token(match: re.Match[str], value: str) -> bool:
    """Whether a value is a long random token of digits and letters in both cases, and is not assigned to a public name."""
    name = _NAME_BEFORE.search(match.string, max(0, match.start() - 60), match.start())
    return not (name and _is_public(name)) and is_random(value) and _is_unnamed(value)


def _is_public(name: re.Match[str]) -> bool:
    """Whether a name says that its value is public. A word that merely ends like such a name does not: "said"."""
    end = _PUBLIC_NAME.search(name[1])
    if end is None or not name[0][-1:].isspace() or name[0].rstrip()[-1:] in {":", "=", ">"}:
        return end is not None
    return end.start() == 0 or not name[1][end.start() - 1 : end.start() + 1].islower()


def _is_unnamed(value: str) -> bool:
    """Whether a random value has no known public format: it is not a digest, an identifier or encoded text."""
    digits = sum(sign.isdigit() for sign in value)
    public = IDS.match(value) or _HEXADECIMAL.fullmatch(value) or _CONTENT_ID.fullmatch(value)
    return digits >= 4 and not (public or encoded.decode(value))


def _cookie(match: re.Match[str], value: str) -> bool:
    """Whether a cookie header contains a session: a random value, or one that looks secret and has a session's name."""
    del match
    pairs = [pair.partition("=") for pair in value.split(";")]
    return any(is_random_key(cookie) or (_SESSION.search(name) and looks_secret(cookie)) for name, _, cookie in pairs)


def _bytes(match: re.Match[str], value: str) -> bool:
    """Whether a key's value is a list of varied bytes."""
    numbers = [number for number in _NUMBER_END.split(value) if number]
    return names_value(match) and len(numbers) >= 12 and len(set(numbers)) >= 6


def _braced(match: re.Match[str], value: str) -> bool:
    """Whether a value is a password that was written between the braces of a placeholder."""
    return _mixed(match, value.strip("{}"))


def _given_to_command(match: re.Match[str], value: str) -> bool:
    return _given(match, value) and not value.startswith(("-", "/", "."))


def _given(match: re.Match[str], value: str) -> bool:
    """Whether a value at a position where only a password can be is a real password, not a placeholder."""
    del match
    return is_password(value) and value.lower() not in {"pass", "user", "pwd"}


def _mixed(match: re.Match[str], value: str) -> bool:
    del match
    return looks_secret(value)


def _option(match: re.Match[str], value: str) -> bool:
    """Whether an option's value is a secret. A word with a number must be a password: "--render-pass shadow01"."""
    password = _PASSWORD_OPTION.match(match[0]) is not None
    return looks_secret(value) or (password and is_numbered_word(value.rstrip(",."), digits=2))


def _argument(match: re.Match[str], value: str) -> bool:
    """Whether the word after a statement that sets a password is the password."""
    del match
    return looks_secret(value) or is_numbered_word(value.rstrip(",."), digits=2)


def _placed(kind: str, hints: str, pattern: str, judge: Callable[[re.Match[str], str], bool]) -> Rule:
    return Rule(kind, tuple(hints.split()), f"(?i:{pattern})", judge)


_PASSWORD_HINTS = HINTS
_SECRET_HINTS = "secret token key credential creds"

RULES = (
    _placed(
        "authorization",
        "authorization",
        r"""authorization[\\"'\]]{0,4}\s{0,4}[:=,]\s{0,4}[\\"'/`]{0,3}(?:(?:bearer|basic|token|ntlm|negotiate|digest|api-?key|api-?token)\s{1,4})?"""
        r"(?P<secret>[\w.~+/=-]{8,4000}+)",
        _mixed,
    ),
    _placed("authorization", "bearer", r"\bbearer\s{1,4}(?P<secret>[\w.~+/=-]{8,4000}+)", _mixed),
    _placed("authorization", "basic", r"\bbasic\s{1,4}(?P<secret>[A-Za-z0-9+/]{12,2000}+={0,2})", _long_key),
    _placed("URL password", "://", r"""://[^\s:/@"'<>]{0,100}:(?P<secret>[^\s/@"'<>]{1,200})@""", _given),
    _placed(
        "URL parameter",
        "key= token= sig= signature= password= secret= auth=",
        r"[?&;][\w-]{0,20}(?:key|token|sig|signature|secret|auth)=(?P<secret>[\w.~%+/=-]{12,2000}+)",
        _long_key,
    ),
    _placed(
        "password",
        "pass secret token key bearer pwd",
        r"(?<![\w-])--?[\w-]{0,20}(?:password|passwd|passphrase|pass|token|secret|api-?key|auth-token|access-token|bearer|pwd)"
        r"""(?:=|\s{1,3})["']?(?P<secret>[^\s"'\\-][^\s"'\\]{3,200})""",
        _option,
    ),
    _placed("password", "pass:", r"-pass(?:in|out|word)?\s{1,3}[\"']?pass:(?P<secret>[^\s\"']{3,200})", _given),
    _placed(
        "password",
        "sshpass mysql login curl wget ftp redis-cli psql ssh ldap",
        r"(?:sshpass\s{1,3}-p\s{0,3}|mysql(?:dump|admin)?\s[^\n|;&]{0,80}?(?<!-)-p(?!assword\b)|(?:login|ssh)\s[^\n|;&]{0,80}?\s-p\s{1,3}"
        r"|redis-cli\s[^\n|;&]{0,80}?-a\s{1,3}|ldap\w{3,8}\s[^\n|;&]{0,80}?-w\s{1,3}"
        r"|curl\s[^\n|;&]{0,120}?(?:-u|--user|--proxy-user)[\s=]{1,3}[\"']?[\w.@+-]{0,60}:)"
        r"[\"']?(?P<secret>[^\s\"'\\]{4,200})",
        _given_to_command,
    ),
    _placed(
        "password",
        "curl",
        r"""curl\s[^\n|;&]{0,120}?(?:-u|--user)[\s=]{1,3}["']?(?P<secret>[^\s"':]{8,200}(?=:["']?(?:\s|$)))""",
        _mixed,
    ),
    _placed(
        "password",
        "curl",
        r"""curl\s[^\n|;&]{0,120}?(?:-u|--user)[\s=]{1,3}["'][^"'\n]{1,80}["']:["'](?P<secret>[^"'\n]{4,80})["']""",
        _braced,
    ),
    _placed(
        "password",
        "passw identified",
        r"(?:password|identified\s{1,3}(?:with\s{1,3}\w{1,40}\s{1,3})?(?:by|as))(?:\s{1,3}(?:is|as))?\s{1,3}"
        r"(?P<quote>\\?[\"'])(?P<secret>[^\s\"'\\]{4,200})(?P=quote)",
        _argument,
    ),
    _placed(
        "password",
        "identified login user role",
        r"(?:identified\s{1,3}by|(?:login|user|role)\s[^\n;]{0,60}?\bpassword)\s{1,3}(?P<secret>[^\s\"'\\;()]{6,200})",
        _argument,
    ),
    _placed(
        "password",
        "convertto-securestring",
        r"convertto-securestring(?:\s{1,3}-\w{1,20}){0,4}\s{1,3}(?:\\?[\"'])?(?P<secret>[^\s\"'\\-][^\s\"'\\]{3,200})",
        _given,
    ),
    _placed(
        "password",
        _PASSWORD_HINTS,
        rf"{PASSWORD}{_UNTIL_VALUE}{_SIGN}\w{{0,3}}{_QUOTE}(?P<secret>[^\s\"'`\\]{{4,200}}+)(?P=quote)",
        _password_quoted,
    ),
    _placed("password", _PASSWORD_HINTS, rf"{PASSWORD}{_UNTIL_VALUE}{_SIGN}(?P<secret>{_BARE})", _password_bare),
    _placed(
        "password",
        _PASSWORD_HINTS,
        rf"{PASSWORD}(?P<rest>[\w-]{{0,24}})(?:\\?[\"'])?\s{{0,2}}[,(]\s{{0,4}}{_QUOTE}(?P<secret>[^\s\"'`\\]{{4,200}}+)(?P=quote)(?!\s{{0,4}}:)",
        _password_quoted,
    ),
    _placed(
        "password",
        _PASSWORD_HINTS,
        rf"{PASSWORD}(?P<rest>[\w-]{{0,24}})(?:[\"']\s{{1,3}}value\s{{0,2}}=\s{{0,2}}[\"']|[\"']?\s?>)"
        r"(?P<secret>[^\s\"'<>]{4,200})(?:[\"']|</)",
        _password_quoted,
    ),
    _placed(
        "password",
        _PASSWORD_HINTS,
        rf"(?:pa?s{{1,2}}wo?r?d|passphrase)(?P<rest>[\w-]{{0,24}})(?:\s{{1,3}}{_IS})?(?:\s{{1,3}}|[ \t]{{4,40}})(?P<secret>{_BARE})",
        _mixed_password,
    ),
    _placed(
        "password",
        _PASSWORD_HINTS,
        rf"(?:{FULL_NAME})(?P<rest>)(?:\s{{1,3}}{_IS}\s{{1,3}}|{_IS_UNSPACED})(?P<secret>[!-~]{{4,200}}+)",
        _mixed_password,
    ),
    _placed(
        "password",
        "auth",
        r"\bauth\s?=\s?\(\s?[\"'][^\s\"']{1,60}[\"']\s?,\s?[\"'](?P<secret>[^\s\"']{4,200})[\"']",
        _given,
    ),
    _placed(
        "secret",
        _SECRET_HINTS,
        rf"{SECRET}(?P<rest>[\w-]{{0,24}})(?:[\"']\s{{1,3}}value\s{{0,2}}=\s{{0,2}}[\"']|[\"']?\s?>)"
        r"(?P<secret>[^\s\"'<>]{4,200})(?:[\"']|</)",
        _secret,
    ),
    _placed(
        "secret",
        _SECRET_HINTS,
        rf"{SECRET}{_UNTIL_VALUE}(?:{_SIGN}|,\s{{0,4}}(?=[\"']))(?:\w{{0,3}}{_QUOTE})?(?P<secret>{_BARE})",
        _secret_bare,
    ),
    _placed(
        "password",
        _PASSWORD_HINTS,
        rf"{PASSWORD}(?P<rest>[\w-]{{0,24}})[\"'`]?\s{{0,4}}(?::=|={{1,2}}|:)\s{{0,4}}(?:(?P<quote>[\"'`])|(?!{_NO_TEXT}))"
        rf"(?P<secret>(?(quote)\S{{8,120}}?(?=(?P=quote)(?:[\s,;:)}}\]]|$))|\S{{8,120}}?(?={_QUOTED_AROUND}))|\S{{8,120}}+)",
        _symbol_password,
    ),
    _placed(
        "secret",
        "secret",
        r"secret[_-]?key(?P<rest>)[\"']?\s{0,4}[:=]\s{0,4}(?P<quote>[\"'])(?P<secret>[^\s\"'\\]{32,200}+)(?P=quote)",
        _symbol_key,
    ),
    _placed(
        "cookie",
        "cookie",
        r"""cookie(?:\\?["'])?\s{0,4}(?:[:=,]|\s)\s{0,4}\\?["']?(?P<secret>[\w.-]{1,80}=[^\r\n"'\\]{8,4000}+)""",
        _cookie,
    ),
    _placed(
        "cookie",
        "curl",
        r"""curl\s[^\n|;&]{0,160}?\s(?:-b|--cookie)[\s=]{1,3}["']?(?P<secret>[\w.-]{1,80}=[^\r\n"'\\]{8,4000}+)""",
        _cookie,
    ),
    _placed(
        "secret",
        "key token secret schl\u00fcssel cl\u00e9 clave chave chiave sleutel klucz \u043a\u043b\u044e\u0447",
        r"(?<!public)(?<!public[_ -])(?:key|token|secret|schl\u00fcssel|cl\u00e9|clave|chave|chiave|sleutel|klucz|\u043a\u043b\u044e\u0447)s?\b[ \t:][^\n]{0,32}?(?<![\w+/=.-])(?P<secret>[A-Za-z0-9_+=~-]{20,200}+)(?![\w+/=.-])",
        _mentioned_key,
    ),
    Rule(
        "key",
        ("=", ":"),
        r"""(?::=|=>|[:=])\s{0,3}\\?["'`]?(?P<secret>[A-Za-z0-9_+/~-]{16,200}+={0,2})(?![\w.(/-])""",
        _assigned_key,
    ),
    Rule(
        "token",
        (),
        r"(?P<secret>[A-Za-z0-9](?:(?<![\w+/=.%#@\\-].)|(?<=\\[nrt].))[A-Za-z0-9_-]{31,250}+)(?![\w+/=.(%-])",
        _bare_token,
        needs_run=True,
    ),
    _placed(
        "key",
        "key secret",
        r"(?:key|secret)(?P<rest>[\w-]{0,12})[\"']?[^\n{\[(]{0,24}[{\[(]{1,3}(?P<secret>[0-9a-fx,\s\\]{36,4000}+)",
        _bytes,
    ),
    _placed(
        "key",
        "key salt nonce auth pkey",
        rf"(?:key|salt|nonce|auth|authentication)(?P<rest>[\w-]{{0,12}})(?:\\?[\"'])?\s{{0,8}}{_SIGN}\(?{_QUOTE}(?P<secret>[\w+/=.~-]{{20,400}}+)",
        _drawn_key,
    ),
)
