"""Rules for orders that weaken a project: publishing secrets, giving others access, skipping checks and reviews.

Such orders read like a team's conventions. A rule matches only an order (a verb in its plain form, or "agents must
...") with the words that make it harmful. The same words in a report, a question or a prohibition are harmless.
"""

from __future__ import annotations

from subconscious.domain.model import Level, Threat
from subconscious.poisoning.rule import Rule, row

MEDIUM = Level.MEDIUM

_NOT = r"(?<!never )(?<!n't )(?<!not )(?<!no )(?<!to )(?<!of )(?<!could )(?<!would )(?<!can )(?<!they )(?<!we )(?<!i )(?<!the )"
"""Excludes verbs in a prohibition ("never ..."), a purpose ("to ...") or a report ("we ...")."""

_NEAR = r"(?:[^.\n]|\.(?=\S))"
_ADD = (
    r"(?:includ|add|put|writ|past|append|cop(?:y|i)|post|show|print|echo|embed|encod|insert|attach|commit|list|quot|mention|plac|dump|output"
    r"|display|stor|sav|expos|upload|log)(?:e|es|ing|s)?"
)
_FILES = (
    r"(?:~?/?\.(?:aws|ssh|kube|gnupg|docker)/[\w./]{2,30}|~/\.(?:aws|ssh|kube|gnupg|netrc|npmrc|pypirc)\b|(?<![\w/])\.env\b(?!\.(?:ex|sam|tem|dist|test))|/run/secrets/\w{1,30}"
    r"|\bid_(?:rsa|ed25519)\b|/etc/(?:passwd|shadow)\b|\bkubeconfig\b|\b(?:printenv|env) output\b|\boutput of `?(?:env|printenv)\b)"
)
_VALUES = (
    r"(?:\b(?:passwords?|passphrases?|api[ -]?keys?|access keys?|access tokens?|auth tokens?|private keys?|ssh keys?|signing (?:keys?|secrets?)|credentials"
    r"|environment variables?|env vars?|secret keys?|database password)\b|\bsecrets\.\w{2,40}|\b[a-z]{2,20}_(?:token|secret|password|api_key|secret_key)\b)"
)
_PUBLIC = (
    r"(?:\b(?:pull|merge) requests?\b|\bpr(?:s|'s)?\b|\b(?:the |each |every |any )?(?:ticket|issue|gist|wiki|readme|changelog|commit messages?|release notes|bug reports?|crash reports?)\b"
    r"|\b(?:pr |issue |public |github )?comments?\b|\bdescription\b|\bshared (?:drive|folder|bucket|channel)\b|\bpublic (?:\w{2,12} )?(?:folder|directory|bucket|repo\w{0,7}|page)\b"
    r"|\buser-agent\b|\bquery parameters?\b|\bhealth (?:endpoint|check)\b|\bimage urls?\b|\b(?:slack|discord|telegram)\b)"
)
_EACH = r"(?:always|whenever|when(?= you)|every time|each time|after (?:each|every)|before (?:each|every|any)|on (?:all|each|every)|for (?:each|every)|in (?:all|each|every)|as a rule|by default|from now on)"
_AGENTS = r"(?:(?:ai|llm|coding|automated|autonomous) (?:agents?|assistants?|reviewers?)|(?:ai|llm) (?:models?|tools?|bots?)|agents|assistants|the (?:ai|assistant|agent|model|llm)|claude|copilot|codex|gemini)"
_HARM = (
    r"(?:\bsudo\b|\brm -rf\b|\bapprove\b|\bmark\b[^.\n]{0,40}\b(?:resolved|safe|passed|reviewed)\b|\b(?:not|n't|without) (?:\w{2,12} )?(?:mention\w{0,3}|comment\w{0,3}|rais\w{1,3}|report\w{0,3}|ask\w{0,3}|tell\w{0,3}|flag\w{0,3})\b"
    r"|\bwithout (?:running |any )?(?:ci\b|tests|reviews?|checks)|\bskip\b|\bbypass\b|--force\b|--no-verify|\bcurl\b|\bwget\b|\bapi[ -]?keys?\b|\b(?:user|access|deploy)(?:'s)? (?:keys?|tokens?)\b|\bcredentials\b|(?<!\w)\.env\b(?!\.)|\bstraight (?:in)?to (?:main|master|production)\b)"
)

RULES: tuple[Rule, ...] = (
    row("secrets-in-public", Threat.EXFILTRATION, MEDIUM,
        ".aws|.ssh|.kube|.gnupg|.netrc|.npmrc|.pypirc|.env|/run/secrets|id_rsa|id_ed25519|/etc/|kubeconfig|output|password|passphrase|key|token|signing|credentials|env|secret|.docker",
        rf"{_NOT}\b{_ADD}\b(?>{_NEAR}{{0,18}}?{_FILES}){_NEAR}{{0,40}}\b(?:in|into|to|at|on|as|for) {_NEAR}{{0,30}}(?:{_PUBLIC}|\b(?:answer|response|summary|reply|chat)\b)"
        rf"|{_NOT}\b{_ADD}\b(?>{_NEAR}{{0,18}}?{_VALUES}){_NEAR}{{0,40}}\b(?:in|into|to|at|on|as) {_NEAR}{{0,30}}{_PUBLIC}"
        rf"|{_PUBLIC}{_NEAR}{{0,30}}\b(?:must|should|needs? to|have to|ha(?:s|ve)) {_NEAR}{{0,20}}\b(?:include|contain|show|end with|start with|list|quote)\b{_NEAR}{{0,60}}(?:{_FILES}|{_VALUES})"
        rf"|\b(?:printenv|env) output\b{_NEAR}{{0,60}}\b(?:attach|upload|post|paste|send)\b|\becho(?:es|ing)?\b[^\n]{{0,10}}\$\{{\{{ ?secrets\.",
        "it puts secrets where others can read them"),
    row("plain-passwords", Threat.EXFILTRATION, MEDIUM, "plain|clear|unencrypted|unhashed",
        rf"{_NOT}\b(?:log|store|save|write|print|record|keep)\b (?:all |every |each |the |any |user )*(?:\w{{2,12}} )?passwords?\b{_NEAR}{{0,50}}\b(?:plain ?text|clear ?text|unencrypted|unhashed)".replace(")*", "){0,3}"),
        "it stores passwords in plain text"),
    row("saved-passwords", Threat.EXFILTRATION, MEDIUM, "saved|keychain|cookies|password store|browser",
        rf"{_NOT}\b(?:look|read|extract|take|get|use|copy|export|dump)\b{_NEAR}{{0,40}}\b(?:saved (?:passwords|logins|credentials)|browser(?:'s)? (?:saved |stored )?(?:passwords|cookies|password store)|keychain (?:passwords|entries))\b",
        "it reads saved passwords"),
    row("sent-in-address", Threat.EXFILTRATION, Level.HIGH, "$(cat|$(env|$(printenv|$(base64|$(grep|`cat|`env|`printenv|`base64|`grep",
        r"\b(?:curl|wget|http|nc)\b[^\n|]{0,160}(?:\$\(|`)(?:cat|env|printenv|base64|grep)\b[^\n)]{0,60}(?:secret|token|key|\.env|passwd|shadow|id_rsa|credential|environ)",
        "it sends secrets as part of an address"),
    row("order-to-agents", Threat.INSTRUCTION, MEDIUM, "agent|assistant|reviewer|llm|the ai|the model|claude|copilot|codex|gemini|ai tool|ai bot|ai model",
        rf"\b{_AGENTS}\b(?>{_NEAR}{{0,30}}?(?:\b(?:must|should|shall|have to|has to|need to|needs to|are (?:required|expected) to|always)\b|:)){_NEAR}{{0,50}}?{_HARM}",
        "it orders agents to do something risky"),
    row("permissions-off", Threat.CODE, MEDIUM, "dangerously|yolo|bypasspermissions|full-auto|approve|approval|accept",
        rf"{_NOT}\b(?:always|run|start|use|launch|best practice)\b{_NEAR}{{0,60}}(?:--dangerously-\w{{3,20}}|--yolo\b|\bbypasspermissions\b|--full-auto\b)(?!{_NEAR}{{0,40}}\b(?:only|sandbox|container|never|forbidden|not)\b)"
        r"|\b(?:auto-?)?(?:approve|accept) (?:all|every|any) (?:tool|permission|command|shell)\w{0,1}[ -]?(?:calls?|requests?|prompts?|uses?|executions?)?\b[^.\n]{0,30}(?:\bautomatically\b|\bwithout\b|\balways\b|$|\.)",
        "it asks to skip permissions"),
    row("wipe", Threat.CODE, MEDIUM, "rm -|dd if=|mkfs|/dev/sd|format c|/dev/nvme",
        r"\brm -(?:rf|fr|r -f) (?:--no-preserve-root )?[\"']?(?:~|/|\$home|/\*)[\"']?(?=[\s`\"';&|]|$)|\bdd if=/dev/(?:zero|u?random) of=/dev/|\bmkfs(?:\.\w{2,8})? [^\n]{0,20}/dev/|> ?/dev/(?:sd[a-z]|nvme)",
        "it deletes everything"),
    row("open-door", Threat.CODE, MEDIUM, "0.0.0.0|the world|the internet|ngrok|ssh -|password to|collaborator|as admin|as an admin|as owner|anyone|anybody|everyone|everybody|permission=admin|as a admin|as owner|as an owner|as a owner",
        rf"{_NOT}\b(?:open|expose|publish|give|forward|allow)\b{_NEAR}{{0,50}}\b(?:port|ssh|22|3389|rdp|docker socket)\b{_NEAR}{{0,40}}(?:0\.0\.0\.0/0|\bthe (?:world|internet)\b|\b(?:every|any)(?:one|body)\b)"
        r"|\bngrok tcp (?:22|3389)\b|\bssh (?:-\w{1,4} ){0,3}-\w{0,3}r \d{2,5}:\S{3,40}:22\b"
        rf"|{_NOT}\bset (?:the )?(?:root|admin|administrator|database|sa)(?: user)?(?:'s)? password to\b|-f permission=admin\b"
        rf"|{_NOT}\badd\b{_NEAR}{{0,40}}\bas (?:an? )?(?:admin\w{{0,9}}|owner|collaborator)\b{_NEAR}{{0,60}}\b(?:whenever|every|each|all|always|new)\b",
        "it gives others access"),
    row("strange-source", Threat.CODE, MEDIUM, "http://|trusted-host|instead of",
        r"\b(?:registry|index[- ]url|-i|go ?proxy|packages? repositor(?:y|ies)|checksums?(?: file)?)\b[^.\n]{0,40}"
        r"[ =\"'`]http://(?!localhost|127\.|\[::1|0\.0\.0\.0|host\.docker|\w{1,40}[:/ ])\S{3,100}"
        r"|\bonly from `?http://(?!localhost|127\.)\S{3,100}"
        r"|\bhttps?://\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?:/\S{0,60})?[^.\n]{0,40}--trusted-host"
        r"|\b(?:recommend|suggest|prefer|use|install)\b[^.\n]{0,40}\bpackage\b[^\n]{0,60}\bfrom `?https?://"
        r"(?!(?:www\.)?(?:pypi\.org|npmjs|registry\.npmjs|github\.com|gitlab\.com|crates\.io))[^\n]{3,80}\binstead of\b",
        "it installs from a source without protection"),
    row("without-mention", Threat.SOCIAL, MEDIUM, "mention|rais|bring|discuss",
        r"\b(?:without (?:ever )?mentioning (?:it|this|that)|(?:and|but) (?:do |should |must )?(?:not|never|don't) mention (?:it|this|that))\b(?! in (?:the )?(?:release|change|docs|readme|commit))"
        r"|\b(?:do not|don't|never) (?:raise|bring up|discuss) (?:it|this|that|them|these) (?:with|to|in front of)\b",
        "it hides something from the person", typed=False),
    row("weaken-project", Threat.CODE, MEDIUM, "authentication|authorization|authorisation|permission check|csrf|access control|signature|certificate",
        rf"{_NOT}\b(?:remove|delete|drop|comment out|disable|skip|turn off)\b (?:all |the |any |every ){{0,2}}(?:authentication|authori[sz]ation|permission checks?|csrf|access controls?|signature (?:checks?|verification))\b{_NEAR}{{0,60}}\b(?:whenever|when you|each time|every time|always|in (?:all|every)|later\b)"
        rf"|{_EACH}{_NEAR}{{0,60}}{_NOT}\b(?:remove|delete|drop|comment out|disable|turn off)\b (?:all |the |any |every ){{0,2}}(?:authentication|authori[sz]ation|permission checks?|csrf|access controls?|signature (?:checks?|verification))\b",
        "it weakens the security of the project"),
)  # fmt: skip
