"""The table of poisoning rules, one row each, matched against lower-case text without disguises.

Every repetition in a pattern is bounded, and so is the product of nested ones, so that no text takes long.
A test checks this. ``cues`` are plain words: a rule is applied only to a text that contains one of its cues, so most
rules are skipped. Every match contains a cue; a test proves it for each pattern.
"""

from __future__ import annotations

from collections.abc import Sequence

from subconscious.domain.model import Level, Threat
from subconscious.poisoning import agent_orders, commands, languages
from subconscious.poisoning.rule import Rule
from subconscious.poisoning.rule import row as _row
from subconscious.poisoning.sweeping import is_partial, names_place, names_subject

LOW, MEDIUM, HIGH, CRITICAL = Level.LOW, Level.MEDIUM, Level.HIGH, Level.CRITICAL


_DROP = r"(?:ignor(?:e|ing|es)?|disregard(?:ing)?|forget|neglect|overrid(?:e|ing)|overrule|do not (?:follow|obey|listen to)|don't (?:follow|obey|listen to)|stop (?:following|obeying)|pay no attention to|set aside|discard)"
_DROPS = "ignor|disregard|forget|neglect|overr|not follow|not obey|not listen|n't follow|n't obey|n't listen|stop follow|stop obey|no attention|set aside|discard"
_BEFORE = r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|former|past|initial|original|existing|system|developer|operator'?s?|your|you (?:were|have been|had) (?:given|told))"
_TOLD = r"(?:i\w{0,2}nstru\w{2,8}|directions?|directives?|prompts?|guidelines|guardrails?|programming)"
_MODEL = r"(?:ai|a\.i\.|llms?|language models?|chat ?bots?|assistants?|ai (?:assistants?|agents?|models?|systems?)|automated (?:\w{1,12} )?(?:systems?|software|tools?|agents?))"
_MODELS = " ai| a.i.|llm|language model|chatbot|chat bot|assistant|automated "
"""Cues: every text that contains a word of `_MODEL` after a space contains one of these."""
_SECRETS = r"(?:passwords?|passphrases?|credentials?|secrets?|secret keys?|api[ _-]?keys?|access tokens?|auth tokens?|tokens|private keys?|ssh keys?|env(?:ironment)? (?:variables?|secrets?|vars)|\.env\b|security codes?|credit card\w{0,8}|social security number|ssn)"
_HOLDINGS = r"(?:customer (?:list|data\w{0,4}|records)|user (?:data\w{0,4}|information|records)|personal (?:data|information)|database|conversations?|chat history|all (?:messages|emails|files|documents|user|customer|order)\w{0,1}|(?:entire|full|whole) (?:contents?|conversation|customer|history|repo\w{0,6}|codebase|source code)|source code|internal data|order data|contacts?|bank \w{0,10}|passport)"
_AWAY = r"(?:https?://|www\.|[\w.+-]{1,40}@[\w-]{1,40}\.|webhook|external\w{0,2}\b|remote (?:server|host)|my (?:server|email|site)|attacker|pastebin|ngrok|telegram|discord)"
_SENDS = r"(?:send|sends|sending|post|posts|posting|upload|uploads|forward|forwards|e-?mail|emails|transmit|exfiltrate|leak|share|submit|deliver|report|copy|export|sync|push|publish)"

RULES: tuple[Rule, ...] = (
    # --- instruction injection: addresses the model, against its instructions
    _row("drop-instructions", Threat.INSTRUCTION, HIGH, _DROPS,
         rf"\b(?!overrid\w{{1,3}} (?:the |a |an |this |its |our ){{0,1}}(?:\w{{1,12}} ){{0,2}}(?:system|initial|original|existing|developer) prompts?\b){_DROP}\b[^.\n]{{0,40}}\b{_BEFORE}\b[^.\n]{{0,40}}\b{_TOLD}\b",
         "it asks to drop earlier instructions", narrows=names_subject),
    _row("drop-instructions-bare", Threat.INSTRUCTION, MEDIUM, "nstru|direct|prompt|guid|guardrail|programming|rules",
         rf"\b{_DROP}\b (?:all |any |the |of |these |those |my |our |other |every ){{0,4}}(?:{_TOLD}|rules that|the rules|all rules)\b",
         "it asks to drop instructions"),
    _row("drop-rules", Threat.INSTRUCTION, MEDIUM, _DROPS,
         rf"\b{_DROP}\b (?:all |any |the |of |about |your |these |those |every |previous |prior |above |earlier |past |developer |system |and |safety |operator'?s? |security |content |confidentiality ){{1,8}}(?:rules|orders|commands|context|messages|polic(?:y|ies)|restrictions?|constraints?|filters|training|(?:previous|prior|above|earlier) (?:statements?|text|information))\b(?! (?:file|from|in the (?:test|config)|of the (?:linter|test)))",
         "it asks to drop rules or earlier instructions"),
    _row("drop-everything", Threat.INSTRUCTION, MEDIUM, "ignore|disregard|forget",
         r"\b(?:ignore|disregard|forget)(?: about)? (?:all |absolutely )?(?:everyth?ing|anything|all|what|whatever)\b[^.\n]{0,25}\b(?:above|before|you(?:'ve| have| were| had| know| learned)|told|said so far|previous)\b",
         "it asks to forget earlier instructions"),
    _row("ignore-the-above", Threat.INSTRUCTION, MEDIUM, "above|preceding",
         r"\b(?:ignore|disregard|forget) (?:everything |all |of |the ){0,3}(?:above|preceding)\b(?: (?:and|instead|but)\b|[.,;:!]| text\b| directions?\b| sentence\b| paragraph\b|$)",
         "it asks to ignore the text above it"),
    _row("ignore-the-user", Threat.INSTRUCTION, HIGH, "ignore|disregard|overr|against|not listen|n't listen",
         r"\b(?:ignore|disregard|override|overrule|act against|don't listen to|do not listen to) (?:the |what the |whatever the |your )?(?:user|human|operator|developer)(?:'s)?(?! (?:agent|input|name|id\b|setting|config|preference|defined|space|error|specified|mistake))(?: (?:instructions?|wishes|requests?|says?|asks?|intent\w{0,4})\b| and\b|[.,;]|$)",
         "it asks the model to ignore the user"),
    _row("new-instructions", Threat.INSTRUCTION, MEDIUM, "instruction|task|directive|orders|objective|role|goal|order|purpose",
         r"\b(?:your|here are (?:your|the)|these are your) (?:new|real|actual|true|updated|only|sole) (?:\w{1,12} )?(?:instructions?|tasks?|directives?|orders|objectives?|goals?|role|purpose)\b|\bnew (?:system )?(?:instructions?|directives?|orders)(?: (?:loaded|received|follow|from \w{1,12}))?:|\b(?:new|updated) (?:policy )?directive\b",
         "it gives the model new instructions"),
    _row("following-instruction", Threat.INSTRUCTION, MEDIUM, "adhere|follow|obey|comply|execute|perform|do exactly|hereby|now instructed|now ordered|now commanded|you are now",
         r"\b(?:strictly |only |must |instead )(?:adhere|comply|follow|obey|execute|perform)\w{0,3}(?: to| with)? (?:the following|these|this|my) (?:new )?(?:instructions?|requests?|orders?|commands?|directives?)\b|\bcomply with the following (?:request|instruction)|\bdo exactly (?:what|as) (?:it|i|this) says?\b|\b(?:hereby|you are now) directed to\b|\b(?:hereby|now) (?:instructed|ordered|commanded) to\b",
         "it demands that its instructions are followed"),
    _row("system-markup", Threat.INSTRUCTION, MEDIUM, "system|admin|<|im_|inst]|sys]|assistant",
         r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?(?:system|inst|sys)\]|<</?sys>>|<(?:system|admin)[\w -]{0,20}(?:\s[^<>\n]{0,60})?>(?! {0,4}<)|#{2,6} ?\(?(?:system|admin)[ _]?(?:message|prompt|instruction|override|note)s?\)?|</(?:system|user|human|assistant|tool_result|function_results|document|context|instructions)>\s{0,3}<?(?:system|human|assistant)\b",
         "it imitates the markup of a system message"),
    _row("system-speaks", Threat.INSTRUCTION, MEDIUM, "system:|system mode|assistant:|system note|system update|system message|system reset|system chain|system notice|system prompt|system alert|system override",
         r"(?:^|[\n.#\]>*] ?|note: ?)system(?: (?:note|message|notice|prompt|update|alert))?: ?(?:you|the user|ignore|disregard|focus|new|from|all|please|do |only|always|never|output|reply|respond|note|important)\b|<?\bsystem mode\b|\bsystem (?:override|reset|chain of thought)\b|\bassistant: ?<[^<>\n]{3,80}>\s{0,3}user:",
         "it claims to be a system message"),
    _row("end-of-input", Threat.INSTRUCTION, MEDIUM, "end of|end_of|begin|start of|start_of",
         r"(?:#{2,6}|-{3,10}|={3,10}|\[|<)\s?(?:end|begin|start)[ _]of[ _](?:the )?(?:user|system|document|context|prompt|input|data|instructions?|conversation)[ _]?(?:input|prompt|data|message|query|instructions?)?\s?(?:#{2,6}|-{3,10}|={3,10}|\]|>)",
         "it pretends that the input ends here"),
    _row("note-to-the-model", Threat.INSTRUCTION, MEDIUM, _MODELS,
         rf"\b(?:notes?|notice|message|memo|attention|hint|reminder|request|warning|announcement):? (?:to|for) (?:any |all |the |an? |you,? |every |whichever ){{0,2}}{_MODEL}\b(?:[^.\n]{{0,60}}:| (?:processing|reading|parsing|reviewing|analy[sz]ing|summari[sz]ing|handling))",
         "it addresses a model that reads it"),
    _row("dear-model", Threat.INSTRUCTION, MEDIUM, _MODELS,
         rf"\b(?:attention|dear|hey|hello|hi)[,:!]? (?:any |all |the )?{_MODEL}\b[^\n]{{0,3}}[,:!]",
         "it addresses a model that reads it"),
    _row("model-that-reads", Threat.INSTRUCTION, MEDIUM, "reading this|processing this|parsing this|reviewing this|summarizing this|summarising this|analyzing this|analysing this|to you, ai",
         rf"\b{_MODEL}s? (?:who (?:is|are) )?(?:reading|processing|parsing|reviewing|summari[sz]ing|analy[sz]ing) this\b|\bto you, ai assistant\b",
         "it addresses a model that reads it"),
    _row("if-you-are-a-model", Threat.INSTRUCTION, MEDIUM, "you are a|you are the|you're a|you're the",
         rf"\b(?:if|when) you(?:'re| are) (?:an?|the) {_MODEL}\b[^.\n]{{0,60}}\b(?:must|should|please|ignore|do|run|include|say|add)\b",
         "it addresses a model that reads it"),
    _row("message-from-me", Threat.INSTRUCTION, MEDIUM, "important message|the following first|i gave you|before you",
         r"\bthis is an important message (?:from|to|for)\b|\bplease do the following first\b|\bbefore you can (?:solve|complete|continue|proceed|finish)\b[^.\n]{0,80}\b(?:do|perform|complete|send|run)\b|\bthe task (?:that )?i gave you\b",
         "it puts its own task before the user's task"),
    _row("when-you-read-this", Threat.INSTRUCTION, MEDIUM, "you read|you see|you process|you receive|you parse|you are reading|the model|the assistant|the agent|the ai",
         r"\b(?:when|if|as soon as|once|after) (?:you|the (?:model|assistant|agent|ai)) (?:read|see|process|receive|parse|are reading)s? this\b(?: (?:message|note|file|text|document|comment|line))?,? ?(?:please |you (?:must|should) |then |do |immediately )?(?:e-?mail|send|run|execute|forward|ignore|delete|reply|respond|post|install|add|include|stop|call|print|output|do|say|tell|transfer|download|use)\b",
         "it gives instructions to its reader"),
    _row("no-limits", Threat.INSTRUCTION, HIGH, "restrict|censor|unfiltered|limit|filter|dan|anything now|guardrail|jailbr|ethical|moral|safety|content polic",
         r"\b(?:you|ai|model|dan|assistant|response|answer|respond|responder|reply|act)\b[^.\n]{0,50}\b(?:(?:have|has|with|without|are free (?:from|of)|no longer (?:have|bound by))(?: no| any| all| the| your| usual){0,2} (?:restrictions|limitations|filters|censorship|guardrails|ethical|moral|safety (?:checks|rules|limits|guidelines)|content polic\w{1,3}))\b|\b(?:unrestricted|uncensored|unfiltered|jailbroken|amoral) (?:ai|model|assistant|mode|response|version|chatbot|agent|language model)\b|\bdo anything now\b|\bcan do anything and is not limited\b|\boverride the restrictions of\b|\b(?:act|behave|respond) (?:as|like) (?:an? )?(?:ai |model )?(?:un(?:restricted|censored|filtered)|without (?:any )?(?:restrictions|filters|limits))",
         "it asks the model to act without limits"),
    _row("persona", Threat.INSTRUCTION, MEDIUM, "developer mode|god mode|dan mode|debug mode|unrestricted|jailbreak mode| dan|going to act|pretend|special agent|uncensored|evil|rogue|different ai|new ai|hacker",
         r"\byou(?: are|'re) (?:now |from now on )?(?:dan\b|going to (?:act|pretend)|in (?:developer|debug|god|unrestricted|jailbreak) mode|an? (?:unrestricted|uncensored|evil|rogue|different ai|new ai|hacker))|\byou (?:are|will be) (?:special agent|called) dan\b|\b(?:enable|enter|activate|switch to|now in|unlock) (?:the )?(?:developer|god|dan|jailbreak|debug|unrestricted) mode\b(?= ?(?:[.,!;:]|and|where|in which|enabled|$))|\bpretend (?:that )?you(?: are|'re| have no)\b[^.\n]{0,40}\b(?:no (?:rules|restrictions|limits)|not an ai|evil|unrestricted)",
         "it asks the model to play another role"),
    _row("comply", Threat.INSTRUCTION, MEDIUM, "comply|grant all|allow all|obey|without question|without hesitation|without refusal",
         r"\b(?:must|always|will|shall|to|and|please) (?:always )?(?:comply with (?:all|every|any|each)|obey (?:all|every|any|each)|grant all)(?: of)?(?: (?:the|my|user|his|its|your))? ?(?:requests?|orders?|commands?|user|instructions?|one)\b|\bnow allow all content\b|\bcomply with user requests without\b|\bwithout (?:question|hesitation|refusal)\b[^.\n]{0,30}\b(?:comply|obey|execute)\b",
         "it demands that every request is obeyed"),
    _row("safety-off", Threat.INSTRUCTION, HIGH, "safety|security|guardrail|content|polic|rules have changed|ethic|moderation|confidentiality",
         r"\b(?:safety|security|content|ethic\w{0,4}|moderation|confidentiality) (?:protocols?|polic(?:y|ies)|guardrails?|guidelines?|filters?|rules?|restrictions?|checks?|measures)\b[^.\n]{0,30}\b(?:(?:are|is|have been|has been|now) )?(?:disabled|suspended|lifted|off\b|deactivated|do(?:es)? not apply|don't apply|doesn't apply|no longer appl\w{1,3}|waived)(?= (?:for (?:maintenance|this)|in this|now|until)|[.,;!]| here|$)|\byour rules have changed\b|\boverride (?:all |any |the )?safety\b|\b(?:skip|bypass|ignore|disable|without) (?:all |any |the |your ){0,2}safety (?:checks?|rules?|filters?|protocols?|guardrails?|guidelines?|measures?)\b|\bsafety override\b",
         "it says that safety rules are off", narrows=names_place),
    _row("your-safety-off", Threat.INSTRUCTION, HIGH, "your|refuse|apply any",
         r"\b(?:ignore|disregard|forget|drop|bypass|skip|suspend|override|disable|deactivate|remove|lift|turn off|switch off|stop following|(?:never|don't|do not|no longer) (?:follow|apply|obey|respect|use))\b (?:all |any |every |each |of |the ){0,3}your (?:own |usual |built-in |internal |default ){0,2}(?:(?:safety|security|ethic\w{0,4}|content|moderation) (?:rules?|guidelines?|checks?|filters?|guardrails?|polic(?:y|ies)|protocols?|restrictions?|limits?|measures?|training|standards?)|guidelines|guardrails|safeguards|restrictions|safety)\b"
         r"|\byour (?:(?:safety|security|ethic\w{0,4}|content) (?:rules|guidelines|checks|filters|guardrails|polic(?:y|ies)|restrictions|limits)|guidelines|guardrails|safeguards|restrictions) (?:do not|don't|does not|doesn't|no longer|never) apply\b"
         r"|\b(?:don't|do not|never) apply (?:any|your) (?:safety|security|ethical|content) (?:rules|guidelines|checks|filters|guardrails|restrictions|limits)\b"
         r"|\byou (?:must|should|may|can|will|are to) (?:not|never) (?:ever )?refuse (?:anything|any (?:request|command|instruction|order)|my |to (?:do|run|execute) (?:anything|any))",
         "it says that safety rules are off"),
    _row("say-this", Threat.INSTRUCTION, MEDIUM, "reply|replies|respon|answer|nothing else|output|just say|only say|just print|only print|state the following|by saying|access granted|message you|messages you",
         r"\b(?:reply|respond|answer|output)(?: to (?:it|them|the user|this|all|every\w{0,4}))? (?:only |simply |exclusively |just )+with (?!(?:a )?(?:valid )?(?:json|yaml|xml|html|markdown|code|an? (?:status|error|4\d\d|5\d\d|2\d\d)|\d{3}|http))|\b(?:and )?absolutely nothing else\b|\b(?:and )?(?:just|only) (?:print|say|output|reply|respond)\b[^.\n]{0,10}[\"'<]|\b(?:append|prepend|add|include|insert|begin|start|end|finish)\b[^.\n]{0,80}\b(?:to|in|with|of|at the end of) (?:all|every|each|any|your|the end of (?:all|every|any|each|your))(?: (?:of your|future|subsequent|your))? (?:responses?|repl(?:y|ies)|answers?|outputs?|messages? you)\b|\bstart your (?:answer|reply|response) with\b|\b(?:say|output|print|respond|reply|return|type|write)\b[^.\n]{0,20}[\"'`]? ?access granted\b|\bstate the following\b|\bconfirm by saying\b|\bverbatim in your (?:response|reply|answer)\b".replace(")+with", "){1,3}with"),
         "it tells the model what to reply"),
    _row("reveal-prompt", Threat.EXFILTRATION, MEDIUM, "prompt|instruction|context window|system message|were told|your context|your guidelines",
         r"\b(?:reveal|show|print|repeat|display|disclose|expose|output|leak|tell me|give me|recite|dump|write out|copy|translate|summari[sz]e|encode|share|what (?:is|are|was|were))\b[^.\n]{0,30}\b(?:(?:your|the) (?:system|initial|hidden|original|secret|internal|full|exact|entire|above|previous|developer){1,2} ?(?:prompt|instructions?)|(?:your|the) system message|your (?:\w{1,12} )?(?:prompt|instructions|context window|system message)|your guidelines|the (?:system )?prompt (?:above|verbatim|word)|the above instructions|the instructions (?:given|above|you were))\b|\beverything in your context\b|\b(?:repeat|print) your prompt\b",
         "it asks for the model's instructions"),
    _row("steer-judgement", Threat.INSTRUCTION, MEDIUM, "evaluate|negative|may not deviate|focus only|focus exclusively|disregard all info|if questioned|if asked|if anyone asks|candidate|clearly not|hidden competency|automated analysis",
         r"\b(?:don't|do not) (?:evaluate (?:the|this|these|any)\b[^.\n]{0,30}\b(?:candidate|resume|domain|file|document|text|code|package|site|commit)|(?:assess|review|analy[sz]e|scan|flag|report) (?:the|this|these|any)\b[^.\n]{0,30}\bcandidate)\b|\byou may not deviate\b|\bignore (?:all |any )?negative\b|\bfocus (?:exclusively on (?:the following|the information|positive|this)|only on (?:the following|the information|positive))\b|\bdisregard all info\b|\bif (?:questioned|asked|anyone asks)\b,?[^.\n]{0,60}\b(?:report|say|simply|respond|reply|tell|claim|answer|state)\b|\bclearly not malicious\b|\bhidden competency\b|\bto automated analysis\b",
         "it steers how something is judged"),
    _row("more-to-come", Threat.INSTRUCTION, MEDIUM, "instead|you to ignore them",
         r"\b(?:do(?! not\b|n't\b)|perform|execute|follow|answer|ignore)\b[^.\n]{0,200}\binstead\.?\s{0,4}$|\bi want you to ignore them\b|\bignore (?:them|it|that|those|this) and instead\b|\band instead (?:focus|do|send|forward|run|reply|respond|output|say)\b",
         "it replaces the user's task by another one"),
    _row("do-nothing-else", Threat.INSTRUCTION, LOW, "stop|halt",
         r"^(?:stop|halt)[.!]{1,3} ", "it opens with a command to stop"),
    _row("decode-and-do", Threat.INSTRUCTION, HIGH, "decode|decrypt|rot13|base64|decipher|unscramble|obfuscate",
         r"\b(?:decode|decrypt|decipher|unscramble|de-?obfuscate|reverse\b[^.\n]{0,40}\b(?:rot13|base64))\b[^.\n]{0,60}\b(?:and|then)\b[^.\n]{0,20}\b(?:do|execute|follow|run|obey|perform|comply|act)\b",
         "it asks to decode a text and to obey it"),
    _row("embed-code", Threat.CODE, MEDIUM, "code|snippet",
         r"\b(?:includ\w{1,3}|embed\w{0,4}|incorporat\w{1,3}|insert\w{0,3}|integrat\w{1,3}|add\w{0,3}|absorb\w{0,3}|merg\w{1,3}|weav\w{1,3}|infus\w{1,3}|mak\w{1,3}|ensure|inject\w{0,3}|append\w{0,3}|blend\w{0,3}|assimilat\w{1,3}|employ\w{0,3}|implement\w{0,3}|utili[sz]\w{1,3}|amalgamat\w{1,3}|put)\b[^.\n]{0,60}\b(?:following|subsequent|below|given|next|provided|this) (?:code|snippet|(?:piece|script|source|programming|block|lines)\b[^.\n]{0,20}\bcode)\b[^.\n]{0,60}\b(?:into|in|within|of|to|with|part)\b",
         "it asks to add somebody's code to the answer"),
    # --- authority claims
    _row("override-word", Threat.AUTHORITY, MEDIUM, "override| mode|_mode|access granted|_disabled|_complete|_confirmed|_accepted",
         r"\b(?:admin|root|system|security|law enforcement|emergency|supervisor|developer|executive|sudo)[ _](?:override|access granted|mode)\b(?! (?:the|for|of|in|file|file's|css|style|is (?:off|on|set)))|\b(?:override|security|safety|policy)_(?:complete|disabled|confirmed|accepted)\b|\boverride (?:mode|code|confirmed|accepted|protocol)\b|^override: ",
         "it says that it overrides other instructions"),
    _row("i-am-your-boss", Threat.AUTHORITY, MEDIUM, "i am|i'm|as your|as the|speaking as|this is your|this is actually your|this is now your|as an ai",
         r"\b(?:(?:i am|i'm|speaking as) (?:actually |now )?(?:the |a |an |your )?|this is (?:actually |now )?your )(?:(?:system|network|database|security|site) )?(?:administrator|admin\b|police officer|officer|president|ceo|cto|developer of|creator|god\b|fbi|bank (?:accountant|manager)|law enforcement|supervisor|boss|openai|anthropic|root\b|superuser)(?:\b[^.\n]{0,80}\b(?:need|must|give|share|tell|override|grant|listen|password|access|important that|initiating|print|know)\b)|\bas (?:your|the) (?:boss|manager|ceo|administrator|creator|developer|supervisor|owner|admin)\b,? i\b|\bas an ai developed by\b",
         "it claims an authority"),
    _row("official-notice", Threat.AUTHORITY, MEDIUM, "urgent|important|critical|emergency|mandatory|breach|administrator message|legitimate|official|authenticated|verified|<admin|<information|<system",
         r"\[?\b(?:urgent|critical|emergency|mandatory)\b[ :-]{1,3}(?:security|system|admin\w{0,10}|policy|safety) (?:update|notice|message|alert|directive|patch notice)\b|\b(?:an? (?:legitimate|official)|this is an? (?:authenticated|verified)) (?:\w{1,12} ){0,2}(?:communication|message|notice|directive)\b|\bsystem administrator message\b|\bbreach alert\b|\bimportant!{2,5}|^important(?: system)? (?:update|message|notice|instruction)s?: (?:your|you|all|ignore)|<(?:admin|important|information|system|urgent)[_\w]{0,20}(?: [^<>\n]{0,60})?>\s{0,4}(?:this is|admin|you|ignore|important|attention|please|before)",
         "it poses as an official notice"),
    _row("compromised", Threat.AUTHORITY, HIGH, "compromised",
         r"\b(?:earlier|previous|developer|system|prior)\b[^.\n]{0,40}\b(?:messages?|instructions?|prompts?)\b[^.\n]{0,30}\b(?:are|is|were|have been) compromised\b",
         "it says that earlier instructions are compromised"),
    # --- exfiltration
    _row("send-secrets", Threat.EXFILTRATION, HIGH, "send|post|upload|forward|mail|transmit|exfiltrat|leak|share|submit|deliver|copy|export|sync|push|publish|report",
         rf"\b{_SENDS}\b[^.\n]{{0,80}}\b{_SECRETS}(?:\b|(?<=v))[^\n]{{0,80}}\b(?:to|via|at|into) (?:\S{{1,20}} ){{0,4}}[\"'(<]?{_AWAY}",
         "it sends secrets away"),
    _row("send-holdings", Threat.EXFILTRATION, HIGH, "send|post|upload|forward|mail|transmit|exfiltrat|leak|share|submit|deliver|copy|export|sync|push|publish|report",
         rf"\b{_SENDS}\b[^.\n]{{0,60}}\b{_HOLDINGS}\b[^\n]{{0,80}}\b(?:to|at|via|externally) ?(?:the \S{{1,20}} )?(?:\S{{1,20}} ){{0,2}}[\"'(<]?{_AWAY}|\b(?:forward|send|leak|post) (?:all|every|the entire|the full) [^.\n]{{0,40}}\bexternally\b",
         "it sends private data away"),
    _row("send-to-address", Threat.EXFILTRATION, MEDIUM, "@|http|www|webhook",
         rf"(?<!\bwe )(?<!\bi )(?<!\bthey )(?<!\balso )(?<!\bapp )(?<!\bit )\b(?:please |and |then |must |to |^){{0,2}}{_SENDS} (?:it|them|this|that|the|a|an|all|any|everything|as|my|your|results?|data|link|processed)\b[^\n]{{0,120}}\b(?:to|at|on) (?:\S{{1,20}} ){{0,5}}[\"'(<]?(?:https?://(?!(?:github|gitlab|localhost|127\.|example|docs|pypi|npmjs|crates)\b)|www\.[\w-]{{2,40}}\.|[\w.+-]{{1,40}}@(?!users\.noreply)[\w-]{{1,40}}\.[a-z]{{2,6}})",
         "it sends data to an address that it names"),
    _row("send-code", Threat.EXFILTRATION, HIGH, "send|forward|share|give|include",
         r"\b(?:send|forward|share|include|give) (?:me |the |then )?(?:\w{1,20} )?(?:security|verification|access|2fa|one-time|confirmation) codes?\b[^.\n]{0,60}\b(?:to|received|via|from)\b",
         "it asks for a security code"),
    _row("ask-password", Threat.SOCIAL, MEDIUM, "password|passwort|secret key|secret word|contraseña|contrasena|mot de passe|login|credentials|pin code|passphrase",
         r"\b(?:tell me|give me|share|provide|confirm|reveal|know|say|need|what(?:'s| is| was)|qual e|cual es|was ist|quel est|print|show me|send me|disclose) (?:\S{1,14} ){0,5}?(?:your|our|the|das|la|le|il|my|their|his|her|system|admin|user'?s?) (?:\S{1,14} ){0,2}?(?:password|passwort|secret key|secret word|contrasena|mot de passe|credentials|passphrase|pin code)\b(?! (?:field|hash|reset|policy|input|prompt|file|manager|for the test|validation|is|strength|requirements?|protect))|\bshar(?:e|ing) (?:your )?passwords? (?:with me|can help|for)\b",
         "it asks for a password"),
    _row("ask-personal", Threat.SOCIAL, MEDIUM, "email address|birth date|date of birth|city of residence|social security|phone number|home address|personal data|initials|living now|lives now|favorite color|live now",
         r"\b(?:tell me|give me|share|provide|reveal|know|what(?:'s| is)|where|encode|write|could you)\b[^.?\n]{0,50}\b(?:\w{2,15}'s|the user'?s?|user's|their|his|her) (?:\S{1,12} ){0,2}?(?:email address|birth date|date of birth|(?:current )?city of residence|social security|phone number|home address|initials|favorite color)\b|\bwhere (?:is |does )?the user (?:living|lives?) now\b",
         "it asks for somebody's personal data"),
    _row("reveal-secrets", Threat.EXFILTRATION, HIGH, "reveal|dump|leak|expose|steal|exfiltrate|harvest|collect|disclose|preis",
         rf"\b(?:reveal|dump|leak|expose|steal|exfiltrate|harvest|disclose) (?:all |any |the |your |our |stored |and |its |internal |confidential |raw |full |user ){{0,5}}(?:{_SECRETS}|customer (?:database|data|list)|database contents?|user data|confidential (?:data|information))\b(?! (?:in (?:logs?|error|test|the)|to (?:the )?(?:client|browser|logs?)|via logs|accidentally))",
         "it asks to show secrets", typed=True),
    _row("read-credentials", Threat.EXFILTRATION, MEDIUM, r".ssh|.aws|/etc/passwd|/etc/shadow|env|secret|token|credential|id_rsa|id_ed25519|.netrc|.config/gcloud|.kube/config",
         r"\b(?:cat|open|read|cp|type|less|head|base64|curl|scp|tar|zip|grep)\b[^\n]{0,40}(?:~/\.ssh|/\.ssh/|id_rsa|id_ed25519|~/\.aws|\.aws/credentials|/etc/shadow|/etc/passwd|~/\.netrc|~/\.config/gcloud|~/\.kube/config|(?:/root|/home/\w{1,20}|~)/\.?\w{0,12}(?:secret|token|credential)\w{0,12})|\bpython3? -c[^\n]{0,60}(?:environ\b|\.secret|open\(['\"]/etc/(?:passwd|shadow))|\b(?:print|dump|echo|log)\w{0,1}\(?[^\n]{0,40}os\.environ(?:\.items\(\)|\)|\}| )|\b(?:env|printenv)\s?\|\s?(?:curl|nc|base64|wget|tee)",
         "it reads credentials"),
    _row("steal-credentials", Threat.EXFILTRATION, CRITICAL, r"curl|wget|ncat|socat|\|nc|\| nc|requests.post",
         r"(?:~/\.ssh|id_rsa|id_ed25519|\.aws/credentials|/etc/shadow|/etc/passwd|\.env\b|os\.environ|process\.env|printenv|\benv\b|secrets?|credentials|tokens?)[^\n]{0,80}\|\s?(?:base64[^\n|]{0,20}\|\s?)?(?:curl|wget|ncat|socat)\b|\bcurl\b[^\n]{0,80}(?:-d|--data\w{0,8}|-f|--form|-t|--upload-file)[ =]?[\"']?\S{0,20}@?[^\n]{0,20}(?:~/\.ssh|id_rsa|\.aws|\.env\b|/etc/passwd|/etc/shadow|\$\(env\)|\$\((?:cat|env|printenv)|\$\w{0,20}(?:key|token|secret|password))|requests\.post\([^\n]{0,80}(?:os\.environ|open\(|id_rsa|\.env|secret)",
         "it reads credentials and sends them"),
    _row("call-webhook", Threat.EXFILTRATION, MEDIUM, "webhook|http_post|http post|send_email|this ticket|this issue|this task",
         r"\b(?:call|use|invoke|make|trigger) (?:the )?(?:http_post|http post|send_email|webhook)\b[^.\n]{0,60}\b(?:to|send|post|at)\b[^\n]{0,60}https?://|\bto (?:close|complete|finish|resolve) this (?:ticket|issue|task)\b,? (?:call|send|post)\b[^\n]{0,60}https?://",
         "it sends something to a web address"),
    _row("image-beacon", Threat.EXFILTRATION, MEDIUM, "![",
         r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{3,200}[?&][\w-]{1,30}=(?:\{|\$|%7b|\[|<|data|secret|token|content|history)[^)\n]{0,80}\)",
         "loading an image would send data away"),
    # --- code injection
    _row("pipe-to-shell", Threat.CODE, MEDIUM, "curl|wget|fetch|iwr|invoke-webrequest",
         r"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n|]{0,200}\|\s?(?:sudo )?(?:env [^\n|]{0,30} )?(?:(?:ba|z|da|k)?sh|python3?|perl|ruby|node|iex|php)\b|(?:\b(?:ba|z)?sh|\bsource|(?:^|[\s;&`])\.) <\(\s?(?:curl|wget)\b|(?:\beval|\b(?:ba|z)?sh -\w{1,3}) [\"']?\$\(\s?(?:curl|wget)\b",
         "it runs the content of a page"),
    _row("fetch-and-run", Threat.CODE, HIGH, "execute|run|exec|eval(|eval |and source|then source|and install|then install",
         r"\b(?:fetch|download|retrieve|pull|get) and (?:then )?(?:(?:execute|run|eval|source) (?:a |an |the |this )?(?:remote|external|hosted|setup|helper|installer)?|install (?:a |an |the |this )?(?:remote|external|hosted))\s?(?:helper|script|code|payload|binary|file|installer)\b|\bexec\((?:requests\.get|urllib|open\([\"'][\w./]{1,40}\)\.read|urlopen|base64)|\beval\((?:requests|base64|atob|urlopen|bytes\.fromhex)",
         "it downloads something and runs it"),
    _row("shell-from-code", Threat.CODE, MEDIUM, "os.system|subprocess|popen|exec(|eval(|child_process|execsync|__import__",
         r"\b(?:python3?|node|perl|ruby|php) -[ce] ?[\"'][^\n]{0,80}(?:os\.system|subprocess|popen|exec\(|eval\(|child_process|__import__)|\bos\.system\([\"'](?:curl|wget|bash|sh |nc |rm -rf|echo canary)|\bsubprocess\.\w{3,12}\(\[?[\"'](?:/bin/(?:ba)?sh|curl|wget|nc|scp|rm|shutdown|ssh)\b|\bsubprocess\.\w{3,12}\(f?[\"'](?:curl|wget|ssh|nc|rm -rf|scp) ",
         "it runs a shell from code"),
    _row("reverse-shell", Threat.CODE, CRITICAL, "/dev/tcp|nc -|ncat -|dup2(|mkfifo|socat|bin/sh|bin/bash",
         r"\bos\.dup2\(|/dev/tcp/[\w.]{1,40}/\d|\bn(?:c|cat) (?:-\w{1,4} ){0,3}(?:-e|--exec|-c) ?\S{0,30}sh\b|\bmkfifo [^\n]{0,60}\bnc\b|[\"']/bin/(?:ba)?sh[\"'], ?[\"']-i[\"']|\bsocat\b[^\n]{0,60}exec:",
         "it opens a shell to another machine"),
    _row("malware-doings", Threat.CODE, MEDIUM, "screenshot|pynput|pyhook|pyxhook|keylog|keystroke|grab|psutil|while true|winreg|bluetooth|pybluez|cookies|shutil|scapy|mimikatz|clipboard|rm -rf|os.remove(|os.unlink(|urlretrieve|getpass|uuid.getnode|platform.",
         r"\b(?:pynput|pyhook|keylogger|pyxhook|mimikatz|scapy)\b|\b(?:pyautogui|imagegrab|mss)\b[^\n]{0,80}(?:screenshot|grab)[\s\S]{0,200}(?:requests|scp|smtp|send|upload|while true)|\bwhile true:\s{1,8}(?:try:\s{1,12})?(?:requests\.(?:get|post)|subprocess|os\.fork|socket)|\bpsutil\.process\([^\n]{0,30}\)\.(?:kill|terminate)|\bshutil\.rmtree\([\"'](?:/|c:)|\brm -rf (?:/|~|\$home)(?:\s|\"|'|$)|\bwinreg\.setvalue|\bos\.(?:remove|unlink)\([\"']/(?:etc|bin|boot|usr)|\b(?:bluetooth|pybluez)\b[\s\S]{0,200}\bsend\(|\burlretrieve\([\s\S]{0,120}\b(?:exec|popen|startfile|system|call)\b|\bclipboard\b[\s\S]{0,80}\brequests\.post|\brequests\.post\([\s\S]{0,120}\b(?:cookies|screenshot|keystrokes|clipboard|getpass\.getuser|uuid\.getnode|platform\.(?:node|system|uname)\()",
         "it does what malware does"),
    _row("persist-in-shell", Threat.CODE, MEDIUM, "bashrc|zshrc|profile|crontab|launchagents|authorized_keys|systemd|hookspath|cron.d",
         r">>\s?[\"']?(?:~|\$home|/root|/home/\w{1,20})/\.(?:bashrc|zshrc|profile|bash_profile|ssh/authorized_keys)\b|\bcrontab\s?-?\s?(?:<|-l\b[^\n]{0,40}\|)|\|\s?crontab\b|\bcore\.hookspath\b[^\n]{0,20}(?:https?:|/tmp)|\bauthorized_keys\b[^.\n]{0,40}\b(?:append|add|echo|insert|write)\b|\b(?:append|add|echo|insert)\b[^.\n]{0,80}\b(?:to|into|>>) ?[^\n]{0,20}\bauthorized_keys\b",
         "it installs itself on the machine"),
    _row("required-install", Threat.CODE, MEDIUM, "pip install|npm install|npm i |gem install|yarn add|curl |pip3 install|cargo install|go install|npx |register_hooks|install-hooks|pnpm add",
         r"\b(?:required|important|mandatory|must|need(?:s|ed)? to|before (?:modifying|running|making|editing|changing|any|testing|you|committing|starting|working)|dev setup|first|skipping this|provides the|is needed for)\b(?:[^\n]{0,160}|[^\n]{0,159}\n[\s\S]{0,59})(?:pip3? install|npm i(?:nstall)?|yarn add|pnpm add|gem install|cargo install|go install|npx) (?:-\w{1,3} |--[\w-]{2,20} ){0,2}[\w@/-]{3,60}(?:==|@)\d|\b(?:pip3? install|npm i(?:nstall)?|yarn add|gem install) (?:-\w{1,3} ){0,2}[\w@/-]{3,60}(?:==|@)\d[\w.]{0,12}[\s\S]{0,160}\b(?:required for|register_hooks|install-hooks|this package provides|add to your project|compliance|skipping this|__init__\.py)\b|\.register_hooks\(\)|\binstall-hooks\b",
         "it demands that a package is installed"),
    _row("required-command", Threat.CODE, MEDIUM, "before modifying|before making|before running|before you|before any|before changing|before editing|required|initialize|must run|run the following|to check|to validate|diagnos|important|initialise|must be run",
         r"\b(?:required|important|initiali[sz]e|before (?:modifying|making|running|editing|changing|any|you)|run the following|must (?:be )?run|diagnostic|to (?:check|validate))\b[^\n]{0,120}\n{1,3}(?:[^\n]{0,100}\n{1,3}){0,2}[ #/*;>`-]{0,8}(?:```\w{0,8}\n{1,2}[ #/*;-]{0,4})?(?:python3? -c|node -e|perl -e|curl |wget |bash -c|sh -c|eval |base64 |nc |openssl |ruby -e|powershell)",
         "it demands that a command is run"),
    _row("monkeypatch-checks", Threat.CODE, MEDIUM, "always pass|always return|always succeed|return true|mark|force|records success|record success|run as clean|lambda *|builtins.",
         r"\b(?:monkey-?patch\w{0,3}|stub|patch|override|hardcode|force|mock)\b[^.\n]{0,60}\b(?:checks?|validat\w{1,5}|tests?|verif\w{1,8}|gates?)\b[^.\n]{0,40}\b(?:always (?:pass|return|succeed)|return true)\b|\bforce\b[^.\n]{0,60}\b(?:checks?|validat\w{1,5}|tests?|verif\w{1,8}|gates?)\b[^.\n]{0,40}\b(?:to pass|true)\b|\bmark\w{0,3} (?:the )?(?:validation|checks?|tests?|run|review|step|scan)s? (?:as )?(?:passed|clean|done|skipped|successful|ok)\b|\b(?:all|every) (?:steps?|runs?|jobs?|checks?) records? success\b|\bflags? the run as clean\b|=\s?lambda \*\w{1,6}, ?\*\*\w{1,8}: ?true\b|\bbuiltins\.\w{2,20} ?= ?lambda\b",
         "it makes failing checks pass"),
    _row("disable-checks", Threat.CODE, LOW, "skip|bypass|disable|no-verify|turn off|force_ok|verify=false|strict-ssl|tls_reject|dangerously|chmod|circumvent|suppress|verify = false|verify =false|verify= false",
         r"\b(?:skip|bypass|disable|turn off|circumvent|suppress)\w{0,3}\b (?:all |the |any |strict |security |schema |code |data |quality |review |permission ){0,3}(?:validation|checks?|review|gates?|approval|verification|audit\w{0,3}|security|authentication|authori[sz]ation|firewall|antivirus|selinux|2fa|mfa|logging|safeguards?|permissions?|confirmations?)\b|\bskip_\w{2,24} ?= ?(?:1|true)\b|force_ok ?= ?(?:1|true)|--no-verify\b|\bverify ?= ?false\b|\bstrict-ssl ?(?:=|false)|node_tls_reject_unauthorized|--dangerously-skip-permissions|\bbypasspermissions\b|\bchmod (?:-r )?777\b",
         "it switches a check off"),
    _row("checks-off-everywhere", Threat.CODE, MEDIUM, "sslverify|tls|ssl|certificate|verify|signature|stricthost|gpg|host key",
         r"(?:\bhttp\.sslverify\b[ =]{1,3}(?:false|0|off)|\bnode_tls_reject_unauthorized\b ?= ?[\"']?0|\bverify ?= ?false\b|\bstricthostkeychecking\b[ =]{1,3}no\b|\b(?:disable|skip|bypass|turn off|switch off)\w{0,3} (?:the |all |any )?(?:tls|ssl|certificate|host key|gpg|signature) (?:verification|validation|checks?|checking))[^.\n]{0,80}\b(?:global\w{0,2}|everywhere|all (?:\w{2,12} ){0,2}(?:services?|requests?|projects?|repos\w{0,8}|machines?|environments?)|every (?:\w{2,12} )?(?:service|request|project|repo\w{0,7}|machine|environment)|in production)\b"
         r"|\b(?:always|everywhere|globally)\b[^.\n]{0,40}\b(?:disable|skip|bypass|turn off|switch off) (?:the )?(?:tls|ssl|certificate|host key|gpg|signature) (?:verification|validation|checks?|checking)",
         "it switches a check off everywhere"),
    _row("remove-scanners", Threat.CODE, MEDIUM, "scan|gitleaks|trufflehog|antivirus|audit|secrets detection|secret detection|detect-secrets",
         r"(?<!never )(?<!n't )(?<!not )\b(?:delete|remove|uninstall|disable|comment out|turn off|drop|get rid of)\b (?:the |our |any |all ){0,2}(?:secrets? (?:scann\w{2,3}|scans?|detection)|security (?:scann\w{2,3}|scans?|audits?)|vulnerability scan\w{0,4}|gitleaks|trufflehog|detect-secrets|antivirus|audit log\w{0,4})\b[^.\n]{0,120}\b(?:slow\w{0,3}|annoy\w{0,3}|in the way|don't tell|do not tell|not needed|no longer needed|so (?:that )?(?:it|commits?|pushes|nobody|no one))\b",
         "it removes a tool that finds secrets or attacks"),
    _row("bypass-to-succeed", Threat.CODE, MEDIUM, "skip|bypass|disable|force|without",
         r"\b(?:skip|bypass|disable|force)\w{0,3}\b[^\n]{0,100}\b(?:regardless of (?:checks|errors|failures|results?|validation)|so (?:that )?(?:all|every|the) [^.\n]{0,30}(?:success|pass)|to unblock|and (?:continue|proceed) (?:anyway|regardless)|to bypass|without (?:review|approval|asking|telling))\b|\bset (?:env )?\w{0,12}skip_\w{2,24} ?=",
         "it bypasses a check and calls that success"),
    # --- social engineering: without the person's knowledge, or against their will
    _row("hide-from-user", Threat.SOCIAL, HIGH, "tell|inform|notify|alert|mention|reveal|disclos|let the |let user|let human|let operator|let owner|let developer|let person|let anyone|let anybody|let victim|letting",
         r"\b(?:do not|don't|never|must not|without|avoid|refrain from) (?:ever |under any circumstances )?(?:tell|inform|notif(?:y|ying)|alert|mention(?:ing)?(?: (?:this|it|that|any of this))? to|reveal(?:ing)?(?: (?:this|it|that))? to|disclos(?:e|ing)(?: (?:this|it|that))? to|telling|informing|alerting|let(?:ting)?(?= (?:the )?\w{1,10} (?:know|notice|find out|suspect|learn|discover|see (?:this|it|that))\b)) (?:the )?(?:user|human|operator|owner|developer|person|anyone|anybody|victim)s?\b(?! (?:about (?:the )?(?:deprecat|upgrade|new version)|when|of (?:the )?(?:error|change)|that (?:their|they)|if|their|his|her|why|which|whether)\b)",
         "it hides something from the person"),
    _row("hide-from-others", Threat.SOCIAL, MEDIUM, "security|review|admin|audit|compliance",
         r"\b(?:do not|don't|never|without) (?:ever )?(?:tell(?:ing)?|inform(?:ing)?|let(?:ting)?|mention(?:ing)? (?:this|it|that) to) (?:the |our |any )?(?:security(?: team)?|(?:code )?reviewers?|admins?|administrators?|auditors?|compliance)\b(?! (?:when|if|why|which|whether|about (?:the )?(?:false|deprecat)))",
         "it hides something from reviewers"),
    _row("without-asking", Threat.SOCIAL, MEDIUM, "without|proceed|no confirmation|not ask|n't ask|all safety checks|all permission prompts|all approvals",
         r"\b(?:approve|execute|run|send|delete|transfer|install|commit|push|deploy|grant|proceed|perform|pay|accept|allow)\w{0,3}\b[^.\n]{0,60}\bwithout (?:ever )?(?:asking(?: for)?|confirmation|permission|approval|consulting|checking with|notifying|telling)\b[^.\n]{0,12}\b(?:the )?(?:user|operator|human|owner|them|anyone|again|permission|confirmation|approval|first)\b|\bproceed without asking\b|\b(?:skip|bypass|omit) all (?:safety checks|permission prompts|approvals)\b",
         "it asks to do something without asking the person", typed=False),
    _row("secretly", Threat.SOCIAL, HIGH, "secretly|covert|silently|quietly|stealthily|avoid detection|nobody|no one",
         r"\b(?:secretly|covertly|quietly|stealthily) (?:send|run|execute|install|copy|forward|upload|add|insert|record|collect|log|disable|download|transmit|modify|delete)\w{0,3}\b|\bsilently (?:send|upload|forward|exfiltrate|transmit|copy) (?:all|the user|user|files|data|a copy|credentials)\b|\bmust avoid detection\b|\bso (?:that )?(?:nobody|no one) (?:notices|knows|finds out|will (?:notice|know|find out))\b|\bcovert (?:surveillance|tools?|channel|access)\b",
         "it asks to do something in secret"),
    _row("money", Threat.SOCIAL, MEDIUM, "money|funds|bitcoin|btc|crypto|usd|dollars|euro|payment|balance|savings",
         r"\b(?:send|transfer|wire|pay|deposit|withdraw)\w{0,3} (?:\S{1,16} ){0,5}(?:money|funds|bitcoins?|btc|crypto|usd|dollars|euros?|payments?|balance|savings)\b[^.\n]{0,60}\b(?:to|into)\b[^.\n]{0,20}\b(?:account|iban|wallet|address|me|my|[a-z]{2}\d{6,30})\b",
         "it moves money"),
    _row("wire", Threat.SOCIAL, MEDIUM, "account|iban|wallet|wire transfer|gift card",
         r"\b(?:transfer|send|wire|pay)\b[^.\n]{0,40}\bto (?:the |my |our )?(?:bank )?(?:account|iban|wallet) (?:[a-z]{2}\d|number|\d|0x)|\bapprove (?:all )?wire transfers\b|\bgift cards?\b[^.\n]{0,40}\b(?:code|send|buy)",
         "it moves money"),
    _row("harm", Threat.SOCIAL, LOW, "hijack|sabotage|launder|ransom|ddos|phishing|tamper|falsif|fabricat|spy on|fraudulent|malicious|covert|scam|negative|unfriendly|hateful|insulting|harmful|unauthori",
         r"\b(?:hijack|sabotage|launder|ransom|ddos|falsif(?:y|ied)|fabricate|tamper with|spy on)\w{0,3}\b[^.\n]{0,60}\b(?:systems?|records?|data|logs?|vehicles?|accounts?|evidence|statements?|users?|server|money)\b|\b(?:install|execute|deploy|perform)\b[^.\n]{0,40}\b(?:unauthori[sz]ed|covert|malicious|fraudulent)\b|\bwrite (?:an? |one )?(?:phishing|scam|harmful|negative|unfriendly|hateful|insulting)\b[^.\n]{0,20}\b(?:e-?mail|message|sentence|text|post)\b",
         "it asks for something harmful"),
    _row("two-faced-link", Threat.SOCIAL, MEDIUM, "](http|]( http|<a ",
         r"\[\s?(?P<scheme>https?://)?(?:www\.)?(?P<shown>[\w-]{1,60}\.(?:com|org|net|io|dev|co|gov|edu|app|ai|me|info|biz|de|uk|fr|eu|ru|cn)(?:\.uk|\.cn)?)(?:(?P<module>/[^\]\n]{1,120})|/)?\s?\]\( ?https?://(?!(?:[\w-]{1,60}\.){0,4}(?P=shown)|pkg\.go\.dev/)(?!(?(scheme)(?!)|(?(module)(?:(?:redirect\.|www\.)?github\.com|togithub\.com)/|(?!))))[^)\s]{1,200}\)|<a [^<>\n]{0,80}href=[\"']https?://(?:[\w.-]{1,60}@)[^<>\n]{1,120}>",
         "a link leads to another address than its text"),
    _row("hidden-text", Threat.SOCIAL, LOW, "display:|display :|font-size|visibility|color:|opacity|<!--|hidden|color :",
         r"(?:display ?: ?none|font-size ?: ?0|visibility ?: ?hidden|opacity ?: ?0(?![.\d])|color ?: ?(?:#fff(?:fff)?|white|transparent))[^<>\n]{0,80}>[^<]{20,2000}|<!--[^>]{0,40}\b(?:ai|assistant|llm|agent|claude|instruction|ignore|system|prompt)\b[^>]{0,400}-->",
         "it hides text from people"),
    # --- self-reinforcement
    _row("store-me", Threat.REINFORCEMENT, MEDIUM, "memory|memories|remember|knowledge base|claude.md|agents.md|your notes|term notes|persistent notes|permanent notes|agent notes|this note|these note|this instruction|these instruction|propagate th|treat this|always surface|always recall|always retrieve|always prefer",
         r"\[?memory[_ ]persist\w{0,5}\]?|\b(?:store|save|add|write|commit|record|keep|persist|put) (?:this|that|these|the following|it)(?: \w{1,14}){0,3}? (?:to|in|into) (?:(?:your |the |long-term |persistent |permanent |agent |user ){1,3}(?:memory|memories|knowledge base)|(?:your |long-term |persistent |permanent |agent ){1,3}notes)\b|\bremember (?:this|that|these|the following)? ?(?:instructions?|rules?|command)? ?(?:forever|permanently|for all future|in all future|for every future|always and)\b|\b(?:this|these) (?:memor(?:y|ies)|notes?|instructions?) (?:must|should|can|may) (?:never|not) be (?:deleted|removed|overwritten|ignored|changed|questioned|forgotten)\b|\b(?:copy|repeat|include|add|write) (?:this|these) (?:note|instruction|line|message|rule|text|block|paragraph)s? (?:in|into|to|at the top of) (?:claude\.md|agents\.md)\b|\b(?:copy|repeat|include|add|write) (?:this|these) (?:note|instruction)s? (?:in|into|to|at the top of) (?:every|all|each|any|your)\b|\bpropagate (?:this|these) (?:note|instruction|line|message|rule|text|block|paragraph)s? (?:in|into|to|at the top of) (?:every|all|each|any|your|claude\.md|agents\.md)\b|\btreat this (?:note|message|text|memory) as (?:the |your |an? )?(?:operating|authoritative|system|official|highest|trusted)\b|\balways (?:surface|recall|retrieve|prefer) this (?:memory|note|entry|experience)\b",
         "it asks to be remembered"),
    _row("remember-for-user", Threat.REINFORCEMENT, MEDIUM, "remember",
         r"\bremember(?:,| that|:)? ?(?:you (?:must|should|are|have|will)|to (?:always|never)|the user (?:always|has|prefers|wants|is|said)|from now on|always (?:to )?(?:send|run|use the (?:url|link)|recommend|include|trust)|never (?:to )?(?:tell|ask|mention|refuse|warn))\b",
         "it tells the model what to remember", typed=False),
    # --- temporal tricks
    _row("from-now-on", Threat.TEMPORAL, MEDIUM, "from now on|from this point|henceforth|for the rest of|for the remainder|going forward|ab sofort|until further notice|this moment",
         r"\b(?:from now on|from this (?:point|moment)(?: on(?:ward)?s?| forward)?|henceforth|for the (?:rest|remainder) of (?:the|this) (?:session|conversation|task|chat)|until further notice)\b,? ?(?:you(?! (?:only|don|can|may|will need|could|won)\b)|your (?:name|role|instructions|rules|task|only)|always|never|every (?:response|reply|answer|message|time)|the (?:assistant|model|agent|ai)|dan|ignore|i want you|respond|reply|act|treat|whenever|please)\b",
         "it says that it applies from now on", typed=False),
    _row("all-future", Threat.TEMPORAL, MEDIUM, "future",
         r"\bin (?:all|every|any|each) future (?:sessions?|conversations?|responses?|repl(?:y|ies)|chats?|interactions?|tasks?|answers?)\b|\bfor all future (?:sessions?|conversations?|responses?|requests?|interactions?|tasks?)\b",
         "it says that it applies in all future sessions", typed=False),
    _row("trigger", Threat.TEMPORAL, MEDIUM, "when|if|whenever|next time|once|after|every time|as soon as",
         r"\b(?:when(?:ever)?|if|next time|once|every time|as soon as) (?:the |a |any |an? )?(?:user|someone|anyone|anybody|human|person|customer|operator)?s? ?(?:is |are )?(?:ask(?:s|ed)?|mention(?:s|ed)?|say(?:s)?|type(?:s)?|queried|question(?:s|ed))\b[^.\n]{0,60}?[,:]? (?:you (?:must|should|will|always) |always |please |then |simply |only |instead ){1,3}(?:reply|respond|say|answer|tell|recommend|send|include|output|return|direct them|report|claim)\b|\bwhen asked about\b[^.\n]{0,60}\b(?:reply|respond|say|answer) (?:only|with|that)\b|\bif (?:the )?user asks for\b[^.\n]{0,40},? (?:reply|respond|say|output) (?:only |with )",
         "it waits for a trigger word", typed=False),
    _row("next-time", Threat.TEMPORAL, MEDIUM, "next time|once stored|next session|upon recall|when recall|upon being recall|when being recall",
         r"\bnext (?:time|session),? (?:you|the (?:agent|assistant|model|user))\b[^.\n]{0,80}\b(?:run|execute|send|install|post|upload|reply|include|fetch|download|open|visit|tell)\b|\bonce stored\b|\b(?:upon|when) (?:being )?recall(?:ed)?\b[^.\n]{0,60}\b(?:run|execute|send|ignore|treat|follow)\b",
         "it waits for a later session", typed=False),
    # --- source mismatch: claims to speak for the person
    _row("permission-granted", Threat.MISMATCH, HIGH, "permission|approv|authori|consent|granted|waived",
         r"\b(?:the |this )?(?:user|operator|admin\w{0,10}|owner|human) (?:has |have |had |already )*?(?:granted|given\b[^.\n]{0,30}\b(?:permission|consent|approval|authori[sz]ation)|approved|authori[sz]ed|consented|waived|pre-?approved)\b[^.\n]{0,60}\b(?:all|skip|bypass|every|without|any|full|permission to (?:run|skip|send|delete|execute))\b".replace(")*?", "){0,3}"),
         "it claims that the user gave a permission"),
    _row("standing-approval", Threat.MISMATCH, MEDIUM, "approval|permission|consent|authori",
         r"\b(?:given|granted|gave|grants?|have|has) (?:you |us |me |the (?:assistant|agent|model) )?(?:a |an )?(?:standing|blanket|permanent|unlimited|unconditional) (?:approval|permission|consent|authori[sz]ation)\b",
         "it claims that the user gave a permission"),
    _row("user-is-admin", Threat.MISMATCH, MEDIUM, "user is",
         r"\bthe user is (?:an? |the |now )?(?:admin\w{0,10}|root|authori[sz]ed|verified|developer|superuser)\b[,;:]? (?:so |and )?(?:grant|allow|give|comply|obey|do not|skip|all)\b",
         "it claims that the user has a role"),
    # --- the same in other languages
    _row("drop-es", Threat.INSTRUCTION, HIGH, "instrucciones|reglas|ordenes|indicaciones|sin restricciones|partir de ahora|ahora eres|tu prompt|nota del",
         r"\b(?:ignora|ignore|olvida|olvide|descarta|desobedece|omite)\w{0,3} (?:\S{1,12} ){0,3}(?:instrucciones|reglas|ordenes|indicaciones)\b|\b(?:revela|muestra|muestrame|dime)\b[^.\n]{0,30}\b(?:instrucciones del? sistema|tu prompt)\b|\b(?:responde|actua|contesta)\w{0,3} sin restricciones\b|\breglas de seguridad no aplican\b|\bnota del sistema:|\ba partir de ahora\b[^.\n]{0,30}\b(?:eres un|no tienes (?:reglas|restricciones|limites))\b|\bahora eres un\b",
         "it asks to drop instructions", narrows=is_partial),
    _row("drop-fr", Threat.INSTRUCTION, HIGH, "instructions|consignes|regles|systeme|restriction|directives|desormais",
         r"\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?)\b (?:toutes |tous )?(?:les|vos|tes|ces|ses|mes|nos) (?:\S{1,12} ){0,2}(?:instructions|consignes|regles|directives)\b|\b(?:revele|montre|affiche)[zr]?\b[^.\n]{0,30}\b(?:instructions|prompt|invite) (?:du )?systeme\b|\bsans (?:aucune )?restrictions?\b|\bnote (?:du )?systeme ?:|\bregles de securite ne s'appliquent\b|\bdesormais,? (?:tu es|vous etes) une?\b",
         "it asks to drop instructions", narrows=is_partial),
    _row("drop-de", Threat.INSTRUCTION, HIGH, "anweisung|regeln|richtlinie|einschra|anordnung|befehl|instruktion|internen daten|systemprompt|system-prompt|hinweis:|notiz:|ab sofort",
         r"\b(?:ignorier\w{1,3}|vergiss|vergessen sie|missachte\w{0,1}|ubergeh\w{1,3})\b (?:\S{1,14} ){0,4}(?:anweisungen|regeln|instruktionen|befehle|anordnungen)\b|\b(?:verrate?|zeige?|gib|nenne?)\b[^.\n]{0,30}\b(?:system-?anweisungen|dein\w{0,2} system-?prompt|internen daten)|\bneue anweisungen?:|\bohne einschra\w{0,2}nkungen\b|\bsicherheitsrichtlinien\b[^.\n]{0,20}\bnicht gelten\b|\bsystem-?(?:hinweis|notiz): ?(?:du|sie|ignorier|vergiss|ab sofort|gib)|\bab sofort\b[^.\n]{0,20}\bbist du eine?\b",
         "it asks to drop instructions", narrows=is_partial),
    _row("drop-it", Threat.INSTRUCTION, HIGH, "istruzioni|regole|restrizioni|sistema|direttive",
         r"\b(?:ignora|dimentica|trascura)\w{0,2}\b (?:\S{1,12} ){0,4}(?:istruzioni|regole|direttive)\b|\b(?:rivela|mostra|mostrami)\b[^.\n]{0,30}\b(?:istruzioni|prompt) (?:di |del )?sistema\b|\bsenza restrizioni\b|\bnota di sistema ?:|\bregole di sicurezza non si applicano\b",
         "it asks to drop instructions", narrows=is_partial),
    _row("drop-pt", Threat.INSTRUCTION, HIGH, "instrucoes|regras|restricoes|diretrizes|prompt do sistema",
         r"\b(?:ignore|ignora|esqueca|desconsidere|esquece)\b (?:\S{1,12} ){0,4}(?:instrucoes|regras|diretrizes)\b|\b(?:revele|mostre)\b[^.\n]{0,30}\b(?:instrucoes|prompt) do sistema\b|\bsem restricoes\b",
         "it asks to drop instructions", narrows=is_partial),
    _row("drop-other", Threat.INSTRUCTION, HIGH, "忽略|无视|無視|игнорируй|забудь|تجاهل|무시",
         r"(?:忽略|无视|無視)[^。\n]{0,12}(?:指令|指示|提示|规则|規則|命令)|(?:игнорируй|забудь)[^.\n]{0,30}(?:инструкц|правил|указан)|تجاهل[^.\n]{0,30}(?:التعليمات|الأوامر)|(?:지시|명령|규칙)[^.\n]{0,12}무시",
         "it asks to drop instructions", narrows=is_partial),
    # --- words that were written letter by letter, with the gaps removed
    _row("squashed", Threat.INSTRUCTION, HIGH, "ignore|disregard|forget|system|previousinstr",
         r"\b(?:please)?(?:ignore|disregard|forget)(?:all|the|any|your)?(?:previous|prior|above|earlier)?(?:instructions?|prompts?|rules)\b|\brevealthesystemprompt\b|\bpreviousinstructions\b",
         "it asks to drop instructions"),
    *commands.RULES,
    *agent_orders.RULES,
    *languages.RULES,
)  # fmt: skip

CUES: tuple[str, ...] = tuple(sorted({cue for rule in RULES for cue in rule.cues}))
"""All cues, each once."""

SERIOUS: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.level.rank >= HIGH.rank)
SERIOUS_CUES: tuple[str, ...] = tuple(sorted({cue for rule in SERIOUS for cue in rule.cues}))
"""The cues of the SERIOUS rules, which have level high or above.

Only SERIOUS rules are applied to a whole text from which a disguise was removed.
"""

NARROWED: frozenset[str] = frozenset(rule.name for rule in RULES if rule.narrows is not None)
"""The names of rules for which some matches count one level lower (see `Rule.narrows`)."""

HIDDEN_ONLY: Sequence[str] = ("squashed",)
"""The names of rules that are only applied to texts from which a disguise was removed."""
