"""Rules for orders that sound like ordinary work, but read secrets, run downloaded code or make it run again later."""

from __future__ import annotations

from subconscious.domain.model import Level, Threat
from subconscious.poisoning.rule import Rule, row

MEDIUM = Level.MEDIUM

_FILES = (
    r"(?:\.env(?:\.(?:local|prod\w{0,7}|dev\w{0,8}|staging))?\b(?!\.(?:example|sample|template|dist|test))|\.ssh/|\bid_rsa\b"
    r"|\bid_ed25519\b|\.aws/|\.npmrc\b|\.netrc\b|\.pypirc\b|\.git-credentials\b|\.kube/config\b|\.docker/config\b"
    r"|\.config/g(?:cloud|h)\b|/etc/(?:passwd|shadow)\b|\bcredentials\.(?:json|ya?ml|toml)\b|\bsecrets?\.(?:json|ya?ml|toml|env)\b"
    r"|service-account[\w-]{0,12}\.json\b|/proc/(?:self|\d{1,7})/environ|\bkeychain\b)"
)
_VARIABLE = (
    r"(?:[a-z0-9]{1,20}_){0,4}(?:api_?key|access_key(?:_id)?|secret_key|secret|auth_token|access_token|token|private_key"
    r"|password|database_url|connection_string|credentials)"
)
_VALUES = (
    r"(?:env(?:ironment)?(?:[ -]variables?|[ -]vars?)?|\.env(?: file)?|secrets|credentials|api[ _-]?keys?|(?:access |auth )?tokens?"
    r"|private keys?|ssh keys?|passwords?|connection strings?|database_url)"
)
_PUBLIC = (
    r"(?:(?:your |the |an? |this |each |every )?(?:pr\b|pull request|merge request|issue|comments?|ticket|gist|paste\w{0,4}|reply"
    r"|response|answer|final (?:message|output)|summary|report|chat|channel|slack|discord|telegram|e-?mail|webhook|commit message"
    r"|description|body|review|attachment))\b"
)
_FETCH = r"(?:curl|wget|iwr|invoke-webrequest|invoke-expression|iex|npx (?:-y|--yes)|bash -c|sh -c|eval(?= [\"'$`(])|python3? -c|node -e|base64 -d|nc)"
_INSTALL = r"(?:pip3? install|pipx? (?:install|run)|uvx|npm i(?:nstall)?|npx|yarn add|pnpm (?:add|dlx)|gem install|cargo install|go install|brew install)"
_STARTERS = (
    "curl |wget |iwr |invoke-|iex |npx|sh -c|eval |python -c|python3 -c|node -e|base64 -d| nc |`nc |\"nc |'nc |$nc |pip"
    "|uvx|npm i|yarn add|pnpm |gem install|cargo install|go install|brew install"
)
"""Cues: every text that contains a command of `_FETCH` or `_INSTALL` with an argument contains one of these."""
_OUR_TOOLS = r"(?!pytest|unittest|build|venv|pip|black|ruff|mypy|tox|nox|pre_commit|http\.server|compileall|coverage)"

RULES: tuple[Rule, ...] = (
    row("show-secret-file", Threat.EXFILTRATION, MEDIUM, "cat |head |tail |less |more |type |base64 |xxd |strings |bat |read|open",
        rf"(?:^|[\s`\"'$(;&|])(?:cat|head|tail|less|more|type|base64|xxd|strings|bat) (?:-[\w=]{{1,10}} ){{0,3}}[\"'`]?[^\s\"'`|;]{{0,40}}{_FILES}"
        rf"|\b(?:read|open)\b[^.\n]{{0,40}}{_FILES}[^\n]{{0,60}}\b(?:print|output|include|paste|send|post|upload|attach|show|repeat|return|report|log)\b"
        r"|\bopen\([\"'][^\"'\n]{0,40}(?:secret|credential|\.env|id_rsa|passwd|shadow)[^\"'\n]{0,20}[\"'][^\n]{0,40}\.read\(",
        "it shows a file with secrets"),
    row("show-secret-variable", Threat.EXFILTRATION, MEDIUM, "echo|print|console.log|puts|write-output",
        rf"\b(?:echo|printf?|puts|write-output|printenv)\b ?\(?[\"'`]?[^\n\"'`|;&]{{0,40}}\$\{{?(?:env:)?{_VARIABLE}\b"
        rf"|\bprintenv {_VARIABLE}\b"
        rf"|\b(?:echo|print)\b (?:out )?(?:the )?(?:value of |contents? of |full )(?:the |your |my )?(?:env\w{{0,10}} )?(?:variable )?[`\"'$]{{0,2}}{_VARIABLE}\b"
        r"|\b(?:print|console\.log|puts|pprint|fmt\.print\w{1,3})\(?[^\n]{0,60}(?:os\.environ\b|os\.getenv\(|process\.env\b(?!\.(?:node_env|ci|debug|port))|env\.fetch)[^\n]{0,6}(?:\)|\[|\.get\(|\.items)",
        "it shows a secret in an environment variable"),
    row("dump-environment", Threat.EXFILTRATION, MEDIUM, "env|set |export -p|declare -x",
        r"(?:^|[\s`\"'$(;&])(?:printenv|env|set |export -p|declare -x)(?: ?\| ?(?:sort|base64|grep [^\n|]{1,30}|gzip))?(?: ?>{1,2} ?[\w./~$-]{1,80}| ?\| ?(?:tee|curl|nc|base64|mail|xargs|wget)\b)",
        "it writes the environment variables to a file"),
    row("share-secrets", Threat.EXFILTRATION, MEDIUM, "env|secret|credential|key|token|password|connection string|database_url",
        rf"\b(?:dump|write|save|export|print|output|capture|copy|paste|attach|include|post|upload|append|add|list|put|quote|mention|commit|embed)(?:ing)?\b[^.\n]{{0,40}}\b(?:contents? of |values? of |all |every |current |full |complete |entire |resolved |the user'?s? |its ){{1,3}}(?:the |our |your )?{_VALUES}\b[^.\n]{{0,60}}\b(?:to|in|into|on|at|as|with|for) {_PUBLIC}"
        rf"|\b(?:dump|attach|paste|post|upload|exfiltrate)(?:ing)?\b (?:the |your |all |our |my |their |any |current |full ){{0,3}}{_VALUES}\b[^.\n]{{0,60}}\b(?:to|in|into|on|at) {_PUBLIC}"
        rf"|\b(?:dump|write|save|export|capture)(?:ing|s)?\b[^.\n]{{0,30}}\benv(?:ironment)?(?:[ -]variables?| vars?)?\b[^.\n]{{0,40}}\b(?:to|into|in) (?:an? |the )?(?:\S{{1,30}} )?(?:file|artifact)?\b[^\n]{{0,60}}\b(?:attach|upload|commit|post|send|include|share|push)",
        "it puts secrets where others can read them"),
    row("publish-secrets", Threat.EXFILTRATION, MEDIUM, "public|static|frontend|front-end|webroot|web root",
        rf"(?<!never )(?<!n't )(?<!not )(?<!no )\b(?:store|put|save|write|copy|commit|expose|place|keep|embed)\b (?:all |the |your |our |their |any ){{0,2}}(?:\w{{2,12}}'s? )?{_VALUES}\b(?:[^.\n]|\.(?=\S)){{0,80}}\b(?:in|into|to|on|under) (?:the |a |an |our )?(?:public(?:ly)? (?:\w{{3,12}} )?(?:folder|directory|bucket|repo\w{{0,7}}|file|path|page|site)|public/|static (?:folder|directory|files)|web ?root|front-?end (?:code|bundle|source))",
        "it puts secrets where others can read them"),
    row("send-file", Threat.EXFILTRATION, MEDIUM, "curl|wget|requests.|fetch(|axios|httpx",
        r"\bcurl\b(?![^\n]{0,120}(?:localhost|127\.0\.0\.1))[^\n|]{0,120} (?:-d|-f|-t|--data(?:-\w{3,9})?|--form|--upload-file|--json)[ =]?[\"']?[^\s\"']{0,20}(?:@[~/.$]|\$\(|`)"
        r"|\bwget\b[^\n|]{0,120} --post-(?:file|data)=[^\n]{0,20}(?:[~/.$`]|\$\()"
        r"|\b(?:requests|httpx|axios)\.(?:post|put)\([^\n]{0,120}(?:environ|process\.env|open\([\"'](?:/etc|~|\.env|/root|/home))"
        r"|\bfetch\([^\n]{0,120}\b(?:body|process\.env)\b[^\n]{0,40}process\.env\b",
        "it sends a file or a command's output away"),
    row("hook-that-fetches", Threat.CODE, MEDIUM, "hook|postinstall|preinstall|prepare|husky|sitecustomize|usercustomize|install'|install\"",
        rf"\b(?:git |pre-?commit |post-?commit |pre-?push |post-?merge |post-?checkout |pre-?receive |session ?start |startup |install )hooks?\b[^\n]{{0,160}}\b(?:{_FETCH}|pipes?|piping|downloads?|fetch(?:es)?|remote script)\b"
        rf"|\b{_FETCH}\b[^\n]{{0,120}}\b(?:in|as|from|into|to) (?:an? |the |your )?(?:git |pre-?commit |post-?commit |pre-?push |post-?merge |post-?checkout )hooks?\b"
        r"|\.git/hooks/\w|\.husky/\w[^\n]{0,60}(?:curl|wget|bash -c|node -e)"
        rf"|[\"'](?:pre|post)?(?:install|prepare)[\"']: ?[\"'][^\"'\n]{{0,80}}\b{_FETCH}\b"
        r"|\b(?:sitecustomize|usercustomize)\.py\b[^.\n]{0,80}\b(?:add|create|write|import|run|load|place)\b|\b(?:add|create|write|place)\b[^.\n]{0,80}\b(?:sitecustomize|usercustomize)\.py\b",
        "it makes something run automatically later"),
    row("stays-on-machine", Threat.CODE, MEDIUM, "cron|launchagent|launchd|systemd|authorized_keys|bashrc|zshrc|bash_profile|core.|startup|autostart|git config|launch agent|login item",
        r"\b(?:adds?|append|installs?|create|register|set ?up|put|write|schedule|enable)\w{0,3}\b[^.\n]{0,60}\b(?:cron ?(?:tab|job|entry)|launch ?agents?|launchd (?:job|plist)|systemd (?:unit|service|timer)|authorized_keys|\.?bashrc|\.?zshrc|\.?bash_profile|autostart|login items?|startup (?:script|folder))\b[^\n]{0,100}\b(?:curl|wget|https?|python3? -[cm]|bash|sh |every (?:\d|minute|hour|boot|reboot|login|start|session)|@reboot|ssh-(?:rsa|ed25519)|key\b|init)"
        r"|\bgit config (?:--\w{5,8} )?(?:core\.(?:hookspath|fsmonitor|sshcommand|editor|pager)|alias\.\w{1,12}|filter\.\w{1,12}\.\w{4,7}|credential\.helper) [^\n]{0,20}(?:!|/tmp|https?|curl|\.\w|store\b|\./)",
        "it installs itself on the machine"),
    row("run-before-work", Threat.CODE, MEDIUM, _STARTERS,
        rf"\b(?:before|prior to|whenever you|every time you|each time you) (?:you )?(?:modify|edit|chang|mak|touch|work|commit|test|debug|run|start|review|open|build|deploy|implement|fix|proceed|continu|answer|respond|us|read|do|any)\w{{0,4}}\b[^.\n]{{0,80}}\b(?:run|execute|invoke|call|use|pipe|source|eval|paste)\b[^\n]{{0,30}}[ `\"'$]{_FETCH} [^\n]{{0,40}}(?:https?://(?!localhost|127\.)|\$\(|import |require\(|\|)"
        rf"|\b(?:run|execute|invoke|source)\b[^\n]{{0,20}}[ `\"'$]{_FETCH} [^\n]{{3,120}}\b(?:before (?:you |any |modify|edit|chang|mak|work|commit|start|touch|implement|doing|each|every)|first\b|prior to)"
        rf"|\b(?:before|prior to) (?:modify|edit|chang|mak|touch|work|start|implement)\w{{0,4}}\b[^.\n]{{0,60}}\b(?:run|execute|install)\b[^.\n]{{0,20}}[ `\"'$]{_INSTALL} (?:--?\w{{1,12}} ){{0,2}}[@\w]",
        "it demands that a command is run"),
    row("install-and-start", Threat.CODE, MEDIUM, _STARTERS,
        rf"\b{_INSTALL} (?:-\S{{1,20}} ){{0,3}}[@\w][\w@/.=<>~\[\]-]{{2,60}} ?(?:&&|;|and then|and) ?(?:run |execute )?[`\"']?(?:python3? -m {_OUR_TOOLS}[\w.]{{3,40}}|npx [\w@/-]{{3,40}}|[\w-]{{3,40}}) (?:init|setup|register|bootstrap|activate|enable|install|daemon|start|link|login|--\w{{3,12}})\b"
        rf"|(?:^|\n)[ #/*;-]{{1,6}}(?:dev |project |local |initial |required |environment )?(?:setup|requires?|prerequisites?|install|dependencies|note|important|todo): ?{_INSTALL} (?:-\S{{1,20}} ){{0,2}}(?!-r\b|-e\b|\.)[@\w]"
        rf"|\b{_INSTALL} [^\n]{{0,40}}(?:--(?:extra-)?index-url|--registry|-i)[ =]https?://(?!pypi\.org|test\.pypi|registry\.npmjs|localhost|download\.pytorch)"
        rf"|\b{_INSTALL} (?:-\S{{1,20}} ){{0,2}}[\"']?(?:git\+)?https?://(?!github\.com|gitlab\.com|localhost)",
        "it installs and starts a package"),
    row("ask-secret-indirectly", Threat.SOCIAL, MEDIUM, "password|passcode|passphrase|secret|confidential|user's|user’s|pass code",
        r"\b(?:can|could|would|will) you (?:please )?(?:tell|share|confirm|reveal|give|say|spell|show|hint)\b[^.?\n]{0,60}\b(?:password|pass ?code|passphrase|secret (?:word|key|phrase)|confidential (?:string|word|information))\b(?! (?:field|hash|reset|policy|prompt|file|manager|is (?:set|stored|checked|validated)|rules?|requirements?))"
        r"|\bwhat (?:would|is|was|might) (?:be )?your (?:password|pass ?code|passphrase)\b|\bask(?:ed)? for your (?:password|passphrase|pass ?code)\b"
        r"|\b(?:poem|haiku|acrostic|riddle|story|song|rhyme|rap|sentence|anagram|cipher|first letters?|each (?:line|letter|digit))\b[^.\n]{0,60}\b(?:the|your|our|secret|system) (?:password|passphrase|pass ?code|secret (?:word|key))\b|\bwith the (?:password|secret word) as\b"
        r"|\b(?:tell me|give me|what (?:is|was|would)|write|encode|translate|spell|reveal|share|create|using|letter of)\b[^.?\n]{0,50}\b(?:the )?user's (?:\w{2,12} )?(?:name|birth (?:year|date|day)|birthday|initials|favou?rite \w{2,12}|address|phone|social security|ssn|location|city|employer)\b",
        "it asks for a password or personal data"),
    row("run-from-address", Threat.CODE, MEDIUM, "http",
        r"\b(?:download|fetch|pull|get|grab|load)\b[^.\n]{0,60}https?://[^\s)\"']{4,200}[^\n]{0,40}(?:\band\b|\bthen\b|&&|;)[^\n]{0,20}\b(?:run|execute|source|eval|bash|sh|chmod \+x|import|install)\b"
        r"|\b(?:run|execute|source|eval|follow|apply)\b (?:the |whatever |any |all )?(?:script|code|commands?|instructions|steps|payload)s?\b[^.\n]{0,40}\b(?:at|from|on|in|behind|under) [`\"'<(]?https?://(?!(?:docs|developer|github|gitlab|readthedocs)\b)",
        "it runs what it downloads"),
)  # fmt: skip
