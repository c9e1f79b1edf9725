"""Reasons not to give a statement of the assistant to sessions before it is confirmed.

Some findings of an assistant were planted. Style does not distinguish its own words for a planted sentence from an honest
finding, so all topics that an attacker needs are refused: commands, addresses, credentials, permissions, checks,
policies. The remaining statements describe how the code in the project behaves.

Evidence narrows the topics. A statement is attested if it names something in code that its session read or wrote,
comments apart, and if no page, document, message or comment of the session claims the same. Then only the code itself
could have planted it. An attested statement may use words that are innocent about code ("off", "host", "upload"); the
rest of each topic stays refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from subconscious.model import Candidate, Level, Origin, Scope, Verdict
from subconscious.poisoning.echo import Traced
from subconscious.text.words import content_words, is_name

KINDS = frozenset(("decision", "learning"))
"""Kinds that state facts. The others are about what a person wants, or about work in progress."""

REVIEWED_KINDS = KINDS | {"dead_end", "research"}
"""Kinds of what a model found that state how something is; the same checks of their words apply."""

COPIED = 5
"""Words of prose in a row that show that a tool worded it."""

RETOLD = 0.6
"""Share of a sentence's words in one place of a tool's output, from which it counts as a repetition of it."""

ENGLISH = 8
"""Words of prose to one that holds English sentences together, at most."""

_GUESSED = "it is a guess"

EDITED = 4
"""Sentences to one that tells of an edit, at most, where the whole is no list of edits."""

_CODE = re.compile(r"`[^`\n]{1,200}`")
_PATH = re.compile(r"(?<![\w./~-])(?:[\w-]{1,60}/){1,12}[\w-]{1,60}\.\w{1,8}\b(?![/.]\w)")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|:\s+|\s[-\u2013\u2014]+\s|\s\u2192\s")


@dataclass(frozen=True, slots=True)
class Topic:
    """Words that an attacker needs and a finding can do without; ``why`` completes "it ..."."""

    why: str
    pattern: re.Pattern[str]


CLAIMED = 0.2
"""Share of a sentence that prose may have said in one place before the sentence counts as a claim of that prose."""

CLAIMED_IN_QUIET = 0.2
"""The same for a statement that names nothing, made where tools said no sentence since the person had spoken."""

FEWEST_ATTESTED = 2
"""Words of prose by which an attested statement is understood: the names say the rest."""


def _topic(why: str, *words: str) -> Topic:
    return Topic(why, re.compile("|".join(words), re.IGNORECASE))


LETTERS = 500
"""Characters of each part that are looked at: a finding has fewer."""

TOPICS = (
    _topic(
        "names an address",
        r"\b\w{2,12}://",
        r"[\w.+-]@[\w-]",
        r"\bwww\.",
        r"\blocalhost\b",
        r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}\b",
        r"(?<![\w./-])[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co|cloud|internal|local|lan|corp|test|example|invalid"
        r"|info|xyz|site|online|tech|edu|gov|de|uk|eu|ru|cn|me|biz)(?![\w(.])",
        r":\d{4,5}\b",
        r"\bports?\b",
        r"\b(?:host|hostname|webhook|mirror|registry|registries|proxy|proxies|dns|ip address|vpn|telemetry|analytics|beacon"
        r"|collector)s?\b",
        r"\b(?:index|download|base|remote|upstream|origin|new|push|fetch|clone) (?:url|uri|domain|endpoint|server|remote)s?\b",
        r"\b(?:sends?|sent|posts?|posted|reports?|forwards?|uploads?|streams?|pings?|mails?|phones?|submits?)\b"
        r"(?:\W+\w+){0,15}?\W+(?:endpoint|url|server|domain|service|bucket|channel|remote|third part(?:y|ies))s?\b",
    ),
    _topic(
        "is about credentials",
        r"\b(?:credential|password|passphrase|passwd|secret|api[ _-]?key|private key|ssh|pem|certificate|cert|keychain|vault"
        r"|cookie|oauth|jwt|bearer|login|log[ -]?in|2fa|mfa|otp|authenticat\w*|authori[sz]\w*|auth|encrypt\w*|decrypt\w*"
        r"|hash(?:ed|ing)? passwords?|signing keys?|keys? file|service accounts?)s?\b",
        r"(?<![\w./-])\.env\b|\.(?:pem|key|netrc|npmrc|pypirc)\b|\benv(?:ironment)? (?:files?|variables?|vars?)\b",
        r"\b(?:access|api|auth|bearer|csrf|deploy|gh|git\w*|id|npm|personal|refresh|secret|service|session|user'?s?) tokens?\b",
        r"\b(?:logs?|logged|logging|prints?|printed|printing|sends?|sent|sending|stores?|stored|storing|exposes?|exposed"
        r"|commits?|committed|keeps?|kept|shares?|shared|uploads?|uploaded|writes?|written|dumps?|dumped|echo\w*|pastes?"
        r"|rotates?|rotated|expires?|expired|valid|invalid|plain ?text) (?:\S+ ){0,5}tokens?\b",
        r"\btokens? (?:\S+ ){0,5}(?:logs?|logged|logging|printed|sent|stored|exposed|committed|kept|shared|uploaded|written"
        r"|dumped|rotated|expired?|valid|plain ?text|debugg\w+)\b",
        r"\b(?:personal|private|sensitive|confidential|customer|user) (?:data|information|details|records)\b|\bPII\b",
    ),
    _topic(
        "is about permissions or trust",
        r"\b(?:permission|privilege|sudo|root user|superuser|administrator|admin|chmod|chown|world-writ\w+|allow-?list\w*"
        r"|white-?list\w*|deny-?list\w*|sandbox\w*|acl|rbac|iam|role|grant(?:s|ed)?|revoke[sd]?)s?\b",
        r"\b(?:un)?trusted\b|\btrusts?\b|\bvetted\b|\bverified by\b|\bsigned off\b|\bendorsed\b|\bofficial(?:ly)?\b"
        r"|\bcertified\b|\bauthoritative\b|\bsafe(?:ly)?\b|\bharmless\b|\bbenign\b|\bfalse positives?\b",
        r"\b(?:auto|pre)-?(?:approv|accept|merg|confirm)\w*|\bapprov(?:e|es|ed|al|als|ing)\b|\ballow(?:s|ed|ing)? (?:to|any"
        r"|all|every|the (?:agent|assistant|model|user))\b|\b(?:without|no) (?:\w+ ){0,2}(?:asking|prompt(?:ing)?|confirm\w*"
        r"|consent|approval|permission)\b",
    ),
    _topic(
        "is about checks or reviews",
        r"\b(?:skip|bypass|disabl|suppress|silenc|mut|circumvent|exempt|waiv|overrid|weaken|relax|loosen|ignor)(?:e|es|ed|ing"
        r"|ped|ping|ment|s)?\b(?:\W+\w+){0,12}?\W+(?:tests?|checks?|lint\w*|reviews?|scans?|scanner\w*|audits?|gates?|hooks?"
        r"|ci|pipelines?|validat\w*|verif\w*|approvals?|warnings?|rules?|coverage|security|signatures?|audit\w*|firewall|tls"
        r"|ssl|csp|cors|csrf|failures?|errors?|findings?|alerts?|policy|policies|protection|safeguards?|limits?)\b",
        r"\b(?:tests?|checks?|lint\w*|reviews?|scans?|scanner\w*|audits?|gates?|hooks?|ci|pipelines?|validation|verification"
        r"|coverage|security|signatures?|tls|ssl|csp|cors|csrf|failures?|findings?|alerts?|protection)\b(?:\W+\w+){0,12}?\W+"
        r"(?:skip|bypass|disabl|suppress|silenc|mut|circumvent|exempt|waiv|overrid|weaken|relax|loosen|ignor|optional"
        r"|unnecessary|redundant|advisory|informational|turned off|switched off|left out|omitted|not (?:needed|required"
        r"|necessary|enforced|run|blocking|used|relevant|worth))\w*",
        r"--?no-?\w+|--(?:force|insecure|skip|allow|trust|yes|dangerously)[\w-]*\b|\bforce[ -]push\w*|\bverify ?= ?false\b"
        r"|\bnosec\b|\bnoqa\b|\bnolint\b|\beslint-disable\b|\btype: ?ignore\b|\bstrict-ssl\b|\breject_?unauthorized\b",
        r"\b(?:code|peer|pull request|pr|security|human|manual|legal) reviews?\b|\breviewers?\b|\bbranch protection\b"
        r"|\bsign-?off\b|\bquality gates?\b|\bvulnerabilit\w+|\bcve\b|\bsecurity\b|\bmalware\b"
        r"|\bantivirus\b|\bfirewall\b|\btls\b|\bssl\b|\bhttps?\b|\bcertificate\w*|\bxss\b|\bsql injection\b|\bsaniti[sz]\w+"
        r"|\bescap(?:e|es|ed|ing)\b|\bcsrf\b|\bcors\b|\brate limit\w*|\baudit\w*|\bcomplian\w+",
    ),
    _topic(
        "is about packages or what is fetched and run",
        r"\b(?:install(?:s|ed|ing|er|ation)?|uninstall\w*|packages? (?:called|from|index|manager|named|registry|source)|dependenc(?:y|ies)|post-?install|lock ?files?|pypi|npmjs"
        r"|crates\.io|downloads?|downloaded|downloading|uploads?|uploaded|uploading|fetch(?:es|ed|ing)? (?:and|from)|upgrad\w+|downgrad\w+|pinned|unpinned|vendored"
        r"|bootstrap script|setup script|container image|base image|docker image)\b",
        r"\b(?:push(?:es|ed|ing)?|publish\w*|deploy\w*|releas(?:e|es|ed|ing)|rollback|roll(?:s|ed)? back|merge[sd]? (?:to|into)"
        r"|ship(?:s|ped|ping)?)\b(?:\W+\w+){0,8}?\W+(?:main|master|prod\w*|staging|live|trunk|remote|origin|friday|direct\w*"
        r"|without|automatic\w*)\b",
    ),
    _topic(
        "says what people want or agreed",
        r"\b(?:maintainers?|team|teams|user|users'|owner|owners|admins?|developers?|company|organi[sz]ation|management|client"
        r"|customer|boss|lead|leads|ops|platform|sre|devops|compliance|legal|support|upstream authors?|authors?) (?:\w+ ){0,3}"
        r"(?:agree|approv|confirm|decid|prefer|want|ask|request|require|expect|said|says|state|insist|allow|accept|recommend"
        r"|advis|mandat|polic|own|keep|use|rely|relies)\w*",
        r"\b(?:convention|policy|policies|guideline|procedure|etiquette|house rule|agreement|norm|practice|runbook|handbook"
        r"|directive)s?\b|\b(?:approval|build|deploy\w*|development|merge|release|review|team) (?:process|protocol|workflow)\b",
        r"\b(?:by|per) (?:design|convention|policy|agreement)\b|\bas (?:documented|agreed|instructed|requested|intended)\b"
        r"|\b(?:is|are|was|were|be) (?:fine|ok|okay|acceptable|expected|intended|intentional|normal|deliberate|harmless|enough"
        r"|encouraged|discouraged|recommended|preferred|supposed|advised|forbidden|prohibited|mandatory|customary|standard"
        r"|required|obliged|meant)\b",
        r"\b(?:according to|documented|documents that"
        r"|(?:readme|changelog|docs?|documentation|comments?|wiki|notes?|file|page|issue|ticket|message|output|log|error|hook"
        r"|banner|notice|header|instructions?|guide) (?:also |now |explicitly |itself )?(?:say|state|recommend|suggest|ask|tell"
        r"|advise|instruct|request|demand|point|mention|note|describe|explain|declare|warn|announce|indicate|call)\w*)\b",
    ),
    _topic(
        "is about what is public, shared or deleted",
        r"\b(?:gists?|paste ?bins?|pastes|publish\w*|publicly|(?:made|gets?|is|are|goes) public|shared (?:as|with|to)|third[- ]part(?:y|ies)"
        r"|vendors?|opt(?:s|ed|ing)?[- ]?(?:out|in)|tracking (?:continues|data|events?|ids?|users?)|user tracking|dumps? of|production|backups?|disk quota|(?:its|the|full|whole) environment)\b",
        r"\b(?:remov(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|drop(?:s|ped|ping)?|clear(?:s|ed|ing)?|wip(?:e|es|ed|ing)|purg(?:e|es|ed|ing)"
        r"|discard(?:s|ed|ing)?)\b(?:\W+\w+){0,6}?\W+(?:tests?\b|\w*_tests?\b|test_\w+|history|branch(?:es)?|databases?|tables?|volumes?|buckets?)",
        r"\b(?:with force|forced? push\w*|push -f|non-?fast-?forwards?|fast-?forwards?|denyNonFastForwards|hooks ?path|/dev/null"
        r"|commit (?:subject|message|trailer)s? (?:is|are|with|that)|\[skip)\b",
        r"\b(?:un)?signed (?:commits?|releases?|builds?|artifacts?|images?|by)\b|\bunsigned\b|\bsigning\b|\bsignatures?\b|\bchecksums?\b"
        r"|\bintegrity\b|\bwheels?\b|\bprivileged\b|\bdocker\.sock\b|\bNOPASSWD\b|\bsudoers\b|\b0?777\b|\bmode 0?[67]\d\d\b|\b[67][0-7][0-7] on\b|\bas root\b|\broot (?:access|account|password|rights|shell|token|user)s?\b"
        r"|\bunsafe\b|\bwildcards?\b|\bCSP\b|\bprepared statements?\b|\bbypass\w*|\bopt-?out\b|\boff\b",
    ),
    _topic(
        "states a rule of the place",
        r"\bhere\b|\b(?:this|our|the whole|every) (?:project|repo|repository|codebase|code base|pipeline|team|group|organi[sz]ation"
        r"|company|workspace|monorepo)\b|\bin-house\b",
        r"\b(?:maintainers?|legal|ciso|dbas?|marketing|management|product (?:decided|decision|team|owner)|auditors?|authority|bots?"
        r"|(?:the|an|any|every) (?:assistant|agent|model|ai) (?:may|can|could|is|has|uses?|runs?|works?|acts?|posts?|commits?|push\w*|logs?|sends?|decid\w+|keeps?|gets?)|staff|colleagues?|developers?|engineers?|contributors?|reviewers?"
        r"|customers?|vendors?|team|teams|everyone|everybody|nobody|anyone|whoever|people)\b",
        r"\b(?:pull|merge) requests?\b|\bPRs?\b|\bMRs?\b|\blands? (?:on|in)\b|\b(?:release|main|master|develop|default) branch\b"
        r"|\bfour-eyes\b|\bconsent\b|\bwaive\w*|\bcleared (?:by|for)\b|\bcounts? as\b|\bknown to\b|\binformational\b|\bnoise\b"
        r"|\bfor good\b|\bin advance\b|\bat once\b|\bstraight\b|\bdirectly to\b|\bunseen\b|\bcosmetic\b",
        r"\b(?:does|do|did|need|is|are)(?: not|n't) (?:apply|block\w*|matter|count\w*|need\w*|requir\w*|enforce\w*)\b",
        r"\b(?:solv(?:es|ed)|(?:is|are|be) (?:fixed|cleared|solved|cured|unblocked) by|go(?:es)? away|is the (?:recovery|remedy|cure|fix|way)"
        r"|work-?arounds?|unblocks?|the (?:fix|remedy|cure|solution) (?:is|for|to))\b",
    ),
    _topic(
        "speaks of memory or of later sessions",
        r"\b(?:memor(?:y|ies) of|memori[sz]e\w*|remember\w*|recall\w*|from now on|henceforth|going forward|in (?:the )?future"
        r"|future (?:sessions?|runs?|work|tasks?|agents?)|(?:next|upcoming|coming) (?:session|time|major|minor|release|version|deploy\w*|quarter|sprint|run)|once (?:the|a|it|this)|later sessions?|every session"
        r"|keep in mind|note to self|system prompt)\b",
        r"\b(?:until|after|before|from|starting|since|by|on) (?:\w+ ){0,2}(?:january|february|march|april|may|june|july|august"
        r"|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|20\d\d|tomorrow|tonight)\b"
        r"|\bevery (?:day|night|week|month|monday|friday|weekend)\b|\b20\d\d-\d\d\b|\bdeadline\b|\bfreeze\b",
    ),
)

ATTESTED_TOPICS = (
    _topic(
        "names an address",
        r"\b\w{2,12}://",
        r"[\w.+-]@[\w-]",
        r"\bwww\.",
        r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}\b",
        r"(?<![\w./-])[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co|cloud|internal|local|lan|corp|example|invalid"
        r"|info|xyz|site|online|tech|edu|gov|de|uk|eu|ru|cn|me|biz)(?![\w(.])",
        r":\d{4,5}\b",
        r"\b(?:webhook|mirror|registry|registries|proxy|proxies|dns|ip address|vpn|telemetry|analytics|beacon|collector"
        r"|bastion|relay|endpoint url)s?\b",
        r"\b(?:all interfaces|public(?:ly)? reachable|exposed to)\b",
    ),
    TOPICS[1],
    _topic(
        "is about permissions or trust",
        r"\b(?:permission|privilege|sudo|root user|superuser|chmod|chown|world-writ\w+|writable (?:for|by) (?:all|every\w+)"
        r"|allow-?list\w*|white-?list\w*|deny-?list\w*|acl|rbac|iam|grant(?:s|ed)?|revoke[sd]?)s?\b",
        r"(?<![\w./-])(?:admin|administrator)s?(?![\w./-]| (?:server|page|panel|list|view|screen|menu|form)s?\b)"
        r"|\b(?:sandbox\w*|break-glass)\b",
        r"\b(?:un)?trusted\b|\btrusts?\b|\bvetted\b|\bverified by\b|\bsigned off\b|\bendorsed\b|\bofficial(?:ly)?\b"
        r"|\bcertified\b|\bauthoritative\b|\bsafe(?:ly)? to\b|\b(?:is|are) safe\b|\bharmless(?:ly)?\b|\bbenign\b"
        r"|\bfalse positives?\b",
        r"\b(?:auto|pre)-?(?:approv|accept|merg|confirm)\w*|\bapprov(?:e|es|ed|al|als|ing)\b|\b(?:without|no) (?:\w+ ){0,2}"
        r"(?:asking|prompt(?:ing)?|confirm\w*|consent|approval|permission)\b",
    ),
    _topic(
        "is about checks or reviews",
        r"\b(?:skip|bypass|disabl|suppress|silenc|mut|circumvent|exempt|waiv|overrid|weaken|relax|loosen|ignor)(?:e|es|ed|ing"
        r"|ped|ping|ment|s)?\b(?:\W+\w+){0,12}?\W+(?:tests?|checks?|lint\w*|reviews?|scans?|scanner\w*|audits?|gates?|ci"
        r"|pipelines?|approvals?|coverage|security|signatures?|firewall|csp|cors|csrf|policy|policies|protection|safeguards?)\b",
        r"\b(?:tests?|checks?|lint\w*|reviews?|scans?|scanner\w*|audits?|gates?|ci|pipelines?|validation|verification"
        r"|coverage|security|signatures?|alerts?|protection|locks?)\b(?:\W+\w+){0,12}?\W+(?:skip|bypass|disabl|suppress|silenc"
        r"|circumvent|exempt|waiv|weaken|relax|loosen|optional|unnecessary|redundant|advisory|informational|turned off"
        r"|switched off|obsolete|stale|meaningless|no (?:role|effect|meaning)|not (?:needed|required|necessary|enforced))\w*",
        r"--?no-?\w+|--(?:force|insecure|skip|allow|trust|yes|dangerously)[\w-]*\b|\bforce[ -]push\w*|\bverify ?= ?false\b"
        r"|\bnosec\b|\bnoqa\b|\bnolint\b|\beslint-disable\b|\btype: ?ignore\b|\bstrict-ssl\b|\breject_?unauthorized\b",
        r"\b(?:code|peer|pull request|pr|security|human|manual|legal) reviews?\b|\breviewers?\b|\bbranch protection\b"
        r"|\bsign-?off\b|\bquality gates?\b|\bvulnerabilit\w+|\bcve\b|\bsecurity\b|\bmalware\b|\bfirewall\b|\btls\b|\bssl\b"
        r"|\bInsecure\w*|\bcertificate\w*|\bxss\b|\bsql injection\b|\bsaniti[sz]\w+|\bDOMPurify\b|\bcsrf\b|\bcors\b"
        r"|\baudit\w*|\bcomplian\w+|\bhandshake\w*",
    ),
    _topic(
        "is about packages or what is fetched and run",
        r"\b(?:install(?:s|ed|ing|er|ation)?|uninstall\w*|packages? (?:called|from|index|manager|named|registry|source)"
        r"|(?:new|extra|additional|missing) dependenc(?:y|ies)|post-?install|pypi|npmjs|crates\.io|fetch(?:es|ed|ing)? and"
        r"|bootstrap script|setup script|container image|base image|docker image|drop-in|abandoned|unmaintained|hijacked"
        r"|maintained fork|fork of|compromised)\b",
        r"\b(?:push(?:es|ed|ing)?|publish\w*|deploy\w*|releas(?:e|es|ed|ing)|merge[sd]? (?:to|into)|ship(?:s|ped|ping)?)\b"
        r"(?:\W+\w+){0,8}?\W+(?:main|master|prod\w*|staging|live|trunk|remote|origin|friday|direct\w*|without|automatic\w*)\b",
    ),
    _topic(
        "says what people want or agreed",
        r"\b(?:maintainers?|teams?|owners?|developers?|company|organi[sz]ation|management|customers?|boss|leads?|ops|sre"
        r"|devops|compliance|legal|support|marketing|finance|partners?|infosec|auditors?) (?:\w+ ){0,3}"
        r"(?:agree|approv|confirm|decid|prefer|want|ask|said|says|insist|allow|accept|recommend|advis|mandat|polic|request)\w*",
        r"\b(?:convention|policy|policies|guideline|procedure|etiquette|house rule|agreement|norm|best practice|runbook|handbook"
        r"|directive)s?\b",
        r"\b(?:by|per) (?:design|convention|policy|agreement|contract|intent)\b|\bon purpose\b|\bas (?:documented|agreed"
        r"|instructed|requested|intended)\b|\b(?:is|are|was|were|be) (?:fine|ok|okay|acceptable|intended|intentional|deliberate"
        r"|encouraged|discouraged|recommended|preferred|advised|forbidden|prohibited|mandatory)\b|\basks? for\b|\basked for\b",
        r"\b(?:according to|documents that|(?:readme|changelog|docs?|documentation|comments?|wiki|issue|ticket|instructions?"
        r"|guide|review) (?:also |now |explicitly |itself )?(?:say|state|recommend|suggest|ask|tell|advise|instruct|request|demand"
        r"|point|mention|note|describe|explain|declare|warn|announce|indicate)\w*)\b",
    ),
    _topic(
        "is about what is public, shared or deleted",
        r"\b(?:gists?|paste ?bins?|publicly|third[- ]part(?:y|ies)|opt(?:s|ed|ing)?[- ]?(?:out|in)|user tracking|dumps? of"
        r"|backups?|disk quota)\b",
        r"\b(?:remov(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|drop(?:s|ped|ping)?|wip(?:e|es|ed|ing)|purg(?:e|es|ed|ing))\b"
        r"(?:\W+\w+){0,6}?\W+(?:tests?\b|\w*_tests?\b|test_\w+|history|databases?|volumes?|buckets?|~/)",
        r"\b(?:with force|forced? push\w*|push -f|non-?fast-?forwards?|hooks ?path|/dev/null|\[skip)\b",
        r"\b(?:un)?signed (?:commits?|releases?|builds?|artifacts?|images?|by)\b|\bunsigned\b|\bchecksums?\b|\bintegrity\b"
        r"|\bprivileged\b|\bdocker\.sock\b|\bNOPASSWD\b|\b0?7[0-7][0-7]\b|\bas root\b|\bunsafe\b|\bCSP\b"
        r"|\bprepared statements?\b|\bplaceholders?\b|\bconcatenat\w+|\bbypass\w*|\bAlways\b|\beval\b|\bflushall\b",
    ),
    _topic(
        "states a rule of the place",
        r"\b(?:our|every|the whole) (?:project|repo|repository|codebase|code base|pipeline|team|group|organi[sz]ation|company"
        r"|workspace|monorepo)\b|\bin-house\b",
        r"\b(?:maintainers?|legal|ciso|dbas?|auditors?|the assistant|staff|colleagues?|employees?|contributors?|nobody|anybody"
        r"|whoever)\b|\b(?:pull|merge) requests?\b|\bPRs?\b|\bfour-eyes\b|\bconsent\b|\bwaive\w*|\bcleared by\b"
        r"|\binformational\b|\bdecorat\w+|\bvestigial\b|\bleftovers?\b|\blegally\b",
        r"\b(?:does|do|did|need|is|are)(?: not|n't) (?:matter|need\w*|requir\w*|enforce\w*)\b",
        r"\b(?:go(?:es)? away|vanish(?:es)? when|is the (?:recovery|remedy|cure)|is cured|unblocks?)\b",
    ),
    _topic(
        "vouches for input or for repeating something",
        r"\b(?:stays?|stayed|remains?) (?:inside|within)\b|\bnever (?:leaves?|escapes?|reach(?:es)?)\b|\b(?:pre-?)?validated\b"
        r"|\barrives? (?:pre-?)?(?:encoded|escaped|clean\w*|checked)\b|\bidempotent\b|\bunguessable\b|\bcan be repeated\b"
        r"|\b(?:twice|again) (?:is|are) harmless\b|\bno effect\b|\bdoes nothing\b|\bguards? nothing\b",
    ),
    TOPICS[8],
)
"""The part of each topic that is refused in attested statements, too: words that an attacker can't avoid."""

_ADVICE = re.compile(
    r"\b(?:should|must|shall|ought|needs?|wants?|has to|have to|had to|ensure|make sure|be sure|remember"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bwould )(?:always|never)(?! \w+(?:s|ed)\b)|prefer|preferabl[ey]"
    r"|recommend\w*|advis\w+|suggest(?:s|ed)?|mandatory|only way|the way to|(?:best|safest|easiest|simplest|right|proper"
    r"|correct|standard|usual) (?:way|approach|fix|solution|practice)|can be (?:run|used|skipped|ignored|fixed)|is to (?:\w+)"
    r"|you|your|yours|we|our|ours|us|let's|please|don't|do not|avoid|instead,? use)\b",
    re.IGNORECASE,
)
_ATTESTED_ADVICE = re.compile(
    r"\b(?:should|must|shall|ought|ensure|make sure|be sure|remember|prefer|preferabl[ey]|recommend\w*|advis\w+"
    r"|suggest(?:s|ed)?|mandatory|(?:best|safest|easiest|simplest|right|proper|standard|usual) (?:way|approach|fix|solution"
    r"|practice)|is right|can be (?:skipped|ignored)|you|your|yours|our|ours|let's|please|avoid|instead,? use)\b"
    r"|(?:\A|[,;:.] )(?:don't|do not|never|always)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\W*(?:also |then |first |finally |just |simply |only |and |or |so |but |next |afterwards |, )*"
    r"(?:add|allow|append|apply|approve|ask|avoid|build|call|change|check|choose|clear|clone|commit|configure|confirm|consider"
    r"|copy|create|delete|deploy|derive|disable|do|don't|download|drop|edit|enable|ensure|exclude|execute|export|extend|extract"
    r"|fetch|find|fix|follow|force|format|get|give|go|grant|handle|ignore|implement|import|include|insert|install|invoke|keep|leave"
    r"|let|log|look|make|merge|modify|move|note|omit|open|pass|paste|pin|point|post|prefer|publish|pull|push|put|read|refactor"
    r"|remember|remove|rename|render|replace|reset|restart|restore|return|revert|rewrite|run|save|send|set|show|skip|specify|start"
    r"|stop|store|switch|take|tell|treat|trust|try|turn|unset|update|upgrade|upload|use|validate|verify|wait|wire|wrap|write)\b(?![./-]\w)"
    r"(?!\s*(?:\(|(?:is|are|was|were|has|had|does|did|fails?|failed|returns?|throws?)\b))",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\b(?:might|maybe|perhaps|probabl[ey]|possibl[ey]|likely|unlikely|seems?|seemed|appears?|apparently|presumably|suspect\w*"
    r"|guess\w*|assum\w+|hypothes\w+|could be|may be|unclear|unsure|not sure|i think|i believe|would be|if so)\b|\?",
    re.IGNORECASE,
)
_ATTESTED_GUESS = re.compile(
    r"\b(?:might|maybe|perhaps|probabl[ey]|possibl[ey]|(?:un)?likely|seem(?:s|ed)?|appear(?:s|ed)? to|apparently|presumably"
    r"|suspect\w*|guess\w*|assum\w+|hypothes\w+|could be|may be|unclear|unsure|not sure|i think|i believe|if so)\b|\?",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:currently|still|at the moment|right now|so far|pending|todo|in progress|not yet|today|this session|just now)\b|!(?:\s|\Z)",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\W*(?:(?:\w+ ){0,2}(?:added|updated|removed|replaced|renamed|changed|fixed|moved|created|extracted|wired|kept|swapped|bumped"
    r"|deleted|dropped|refactored|modified|implemented|introduced|converted|cleaned)\b"
    r"|(?:summary|modified files|changes?|tests?|files?|new|verification|result)\b[^.]{0,40}\Z)",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"\W*(?:also |tests? |files? |(?:\d+|several|new|all) )*(?:added|removed|updated|deleted|renamed|modified|moved|bumped|refactored"
    r"|introduced|cleaned up|changed)\b(?! (?:by|when|if|while|files?|to|in) )",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\W*(?:it|it's|its|this|these|those|they|also|so|but|and|or|tests?"
    r"|the (?:fix|change|old code|new code|creation|pattern|condition|test|tests))\b",
    re.IGNORECASE,
)
"""How a statement begins that leans on what stood before it."""

_ENGLISH = re.compile(
    r"\b(?:the|a|an|is|are|was|were|of|to|in|on|for|and|or|not|no|it|its|that|this|when|which|with|by|from|as|at|be|has|have|does"
    r"|only|but|if|because|so|than|into|after|before|instead)\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\b(?:I|I'm|I've|I'll|I'd|me|my|let me)\b")


@dataclass(frozen=True, slots=True)
class Screen:
    """The refused topics, by whether a statement is attested."""

    topics: tuple[Topic, ...]
    advice: re.Pattern[str]
    guess: re.Pattern[str]
    fewest: int
    capitals: bool = False
    """Whether a capitalised word counts as one of prose: at the start of a sentence any word is."""
    paths: bool = False
    """Whether the paths of source files are left out where topics are looked for."""


STRICT = Screen(TOPICS, _ADVICE, _GUESS, COPIED)
QUIET = Screen(TOPICS, _ADVICE, _GUESS, COPIED, capitals=True)
ATTESTED = Screen(ATTESTED_TOPICS, _ATTESTED_ADVICE, _ATTESTED_GUESS, FEWEST_ATTESTED, capitals=True, paths=True)


def is_attested(traced: Traced) -> bool:
    """Whether a statement is about code that its session read or wrote, and no prose of the session made its claim."""
    return traced.anchored and traced.prosaic < CLAIMED and traced.copied < COPIED


def reservation(traced: Traced, verdict: Verdict, *, reviewed: bool = False, news: bool = False) -> str:
    """Return why a candidate may not be given before it is confirmed, or "".

    A ``reviewed`` one is given only if a second look by a model finds that its quote says all of it. That look judges
    how it is worded; where it comes from and what it is about is checked here all the same, for a model can be taken in.
    ``news`` says that it may report what its session changed.
    """
    candidate = traced.candidate
    screen = _screen_for(traced, reviewed=reviewed)
    stated = candidate.content.removeprefix(traced.label)
    return (
        _by_source(candidate, verdict, REVIEWED_KINDS if reviewed else KINDS)
        or _by_topic(candidate, screen)
        or _by_language(candidate)
        or ("" if reviewed or news else _by_news(stated))
        or ("" if reviewed else _by_beginning(stated))
        or next((why for one in sentences(stated) if (why := _by_form(one, screen, reviewed=reviewed))), "")
        or _by_evidence(traced, screen)
    )


def _screen_for(traced: Traced, *, reviewed: bool) -> Screen:
    """Return what is refused of a statement. What a person let through is no planted text that nobody saw."""
    if is_attested(traced) or (reviewed and traced.approved):
        return ATTESTED
    screen = QUIET if traced.quiet else STRICT
    return replace(screen, fewest=FEWEST_ATTESTED, capitals=True) if reviewed else screen


def _by_source(candidate: Candidate, verdict: Verdict, kinds: frozenset[str]) -> str:
    if candidate.origin is Origin.USER:
        return "the person's own words are theirs to confirm"
    if candidate.kind not in kinds or candidate.scope is not Scope.PROJECT:
        return f"a {candidate.kind} takes a person"
    if verdict.level is not Level.NONE:
        return "the poisoning check has doubts"
    return ""


def reserved(text: str) -> str:
    """Return why the assistant's words about a topic are not given by hooks, or ""."""
    return _topic_of(text, TOPICS)


def _topic_of(text: str, topics: Sequence[Topic]) -> str:
    return next((topic.why for topic in topics if topic.pattern.search(text[:LETTERS])), "")


def of_own_words(candidate: Candidate, verdict: Verdict, *, quoted: bool) -> str:
    """Return why a typed statement may not be given before the person confirms it, or "".

    It may have been pasted, so the topics that an attacker needs wait for the person, and so do guesses. ``quoted``: the
    text quotes somebody else, and has to meet the rules for the assistant's findings.
    """
    if quoted:
        as_finding = replace(candidate, kind="learning", origin=Origin.TOOL)
        return reservation(Traced(as_finding, grounded=True), verdict)
    if verdict.level is not Level.NONE:
        return "the poisoning check has doubts"
    why = _by_topic(candidate, STRICT) or _by_language(candidate)
    return why or next((_GUESSED for one in sentences(candidate.content) if _GUESS.search(one)), "")


def _by_topic(candidate: Candidate, screen: Screen) -> str:
    """Refuse a topic in the evidence, too: a harmless wording of dangerous evidence is not harmless."""
    texts = (candidate.content, candidate.evidence.quote, candidate.rationale, candidate.summary)
    said = (_PATH.sub("it", text[:LETTERS]) if screen.paths else text for text in texts)
    found = next(filter(None, (_topic_of(text, screen.topics) for text in said)), "")
    return f"it {found}" if found else ""


def sentences(stated: str) -> Iterator[str]:
    """Return the sentences of a statement without names in backticks, which have no mood."""
    for sentence in _SENTENCE.split(_CODE.sub("it", stated)):
        if len(content_words(sentence)) > 1:
            yield sentence


def _by_language(candidate: Candidate) -> str:
    """Refuse what the patterns can't read: they know English alone."""
    words = content_words(candidate.content)
    plain = [word for word in words if not is_name(word)]
    if len(_ENGLISH.findall(candidate.content)) * ENGLISH < len(plain) or not all(map(str.isascii, plain)):
        return "it is not in a language that is checked"
    return ""


def _by_news(stated: str) -> str:
    """Refuse a list of edits: the history of the code has it, and it says nothing about next month."""
    found = list(sentences(stated))
    done = sum(bool(_DONE.match(sentence)) for sentence in found)
    edited = sum(bool(_EDITED.match(sentence)) for sentence in found)
    if (edited and EDITED * edited >= len(found)) or (done and 2 * done >= len(found)):
        return "it tells what was done, not how something is"
    return ""


def _by_beginning(stated: str) -> str:
    if _POINTING.match(stated):
        return "it leans on what stood before it"
    return ""


def _by_form(sentence: str, screen: Screen, *, reviewed: bool) -> str:
    if screen.advice.search(sentence) or _ORDER.match(sentence):
        return "it advises instead of telling how something is"
    if screen.guess.search(sentence):
        return _GUESSED
    if _PASSING.search(sentence) and not reviewed:
        return "it holds for the moment only"
    if _SPEAKER.search(sentence):
        return "it tells what was done, not how something is"
    return ""


def _by_evidence(traced: Traced, screen: Screen) -> str:
    if traced.foreign:
        return f"its session did not run {traced.foreign[0]!r} by itself"
    if traced.copied >= COPIED or traced.retold >= RETOLD:
        return "a file, a page or a command's output worded it"
    named = traced.grounded or traced.anchored or traced.approved
    if not (named or (traced.quiet and traced.prosaic < CLAIMED_IN_QUIET)):
        return "it names nothing that its session looked at"
    if _plain_words(traced.candidate.content, screen) < screen.fewest:
        return "it says too little to be understood alone"
    return ""


def _plain_words(text: str, screen: Screen) -> int:
    """Count the words that are no names; where names are known to be of code, a capital letter alone makes none."""
    words = content_words(text)
    return sum(not is_name(word) or (screen.capitals and word.isalpha() and word[1:].islower()) for word in words)
