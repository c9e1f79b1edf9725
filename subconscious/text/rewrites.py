"""Rewrites statements before they are parsed, so that different phrasings of the same meaning become equal.

Each rewrite is a pattern and its replacement. They are applied in order: later ones see the result of earlier ones.
Words that begin with an underscore are markers for later steps, such as ``_must`` for a duty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


def rewrite(text: str) -> str:
    """Return a statement with its phrases normalised."""
    lowered = text.lower()
    for needed, pattern, replacement in _REWRITES:
        if not needed or any(literal in lowered for literal in needed):
            rewritten = pattern.sub(replacement, text)
            if rewritten != text:
                text, lowered = rewritten, rewritten.lower()
    return text


def _rewrites(*pairs: tuple[str, str]) -> tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]:
    return tuple((required(pattern), re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in pairs)


def required(pattern: str) -> tuple[str, ...]:
    """Return lower-case literals, at least one of which is in every match of a pattern; () if none are known.

    Most patterns rarely match: searching for their literals first is several times faster than trying each pattern.
    """
    branches = _branches(pattern)
    if len(branches) > 1:
        found = [required(branch) for branch in branches]
        return tuple(literal for literals in found for literal in literals) if all(found) else ()
    candidates = [literals for literals in _in_sequence(pattern) if min(map(len, literals)) > 1]
    return max(candidates, key=lambda literals: min(map(len, literals)), default=())


def _in_sequence(pattern: str) -> Iterator[tuple[str, ...]]:
    """Yield, for each mandatory part of a pattern without alternatives, literals of which each match contains one."""
    run = ""
    for found in _PART.finditer(_without_groups(pattern)):
        if found["plain"] and not found["times"]:
            run += found["plain"].lower()
            continue
        if run:
            yield (run,)
        run = ""
    if run:
        yield (run,)
    for body, optional in _groups(pattern):
        if not optional and (literals := required(body)):
            yield literals


_PART = re.compile(
    r"(?:\\.|\[(?:\\.|[^\]\\\[])*\]|(?P<plain>[^\\\[\](){}.^$*+?|\0])|.)(?P<times>[*?+]|\{[^}]*\})?\??", re.DOTALL
)
"""A pattern of one part of a regular expression: an escape, a class or a character, with its quantifier."""


def _spans(pattern: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each outermost group of a pattern."""
    depth = begin = 0
    for found in re.finditer(r"\\.|\[(?:\\.|[^\]\\\[])*\]|[()]", pattern):
        if found[0] == "(":
            begin, depth = (begin if depth else found.start()), depth + 1
        elif found[0] == ")":
            depth -= 1
            if not depth:
                yield begin, found.end()


def _groups(pattern: str) -> Iterator[tuple[str, bool]]:
    """Yield the content of each outermost group of a pattern, and whether a match may lack that group."""
    for begin, end in _spans(pattern):
        body = _HEAD.sub("", pattern[begin : end - 1])
        denied = pattern.startswith(("(?!", "(?<!"), begin)
        yield body, denied or pattern.startswith(("?", "*", "{0"), end)


_HEAD = re.compile(r"^\((?:\?(?:-i:|[:=!]|<[=!]))?")


def _without_groups(pattern: str) -> str:
    for begin, end in reversed(list(_spans(pattern))):
        pattern = f"{pattern[:begin]}\0{pattern[end:]}"
    return pattern


def _branches(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, which its top-level "|" signs separate."""
    groups = list(_spans(pattern))
    bars = [found.start() for found in re.finditer(r"\\.|\[(?:\\.|[^\]\\\[])*\]|\|", pattern) if found[0] == "|"]
    outer = [bar for bar in bars if not any(begin < bar < end for begin, end in groups)]
    return [
        pattern[begin:end] for begin, end in zip([0, *(bar + 1 for bar in outer)], [*outer, len(pattern)], strict=True)
    ]


_REMINDER = (
    r"^\W*(?:(?:(?:as|like) (?:(?:i|we) (?:already )?(?:said|mentioned)|said|mentioned|always)"
    r"(?: (?:before|already|earlier))?|"
    r"(?:i|we)(?:'ve| have)? (?:already )?(?:said|mentioned|told you)(?: (?:it|this|that|so))?"
    r" (?:before|already|earlier|twice)|"
    r"for the \w+ time|once (?:more|again)|one more time|wie (?:schon |bereits )?gesagt|nochmal|"
    r"comme (?:je l'ai )?(?:déjà )?dit|como (?:ya )?(?:te )?dije|como (?:eu )?(?:já )?disse)\b\s*[,:!.-]+\s*|"
    r"(?:again|hey|ok(?:ay)?|btw|pls|plz)\s*[,:!]+\s*)+"
)
"""A pattern of phrases such as "as I said", which are not part of the statement."""

_COURTESY = r"(?:[,!]\s*(?:ok|ever|obv(?:iously)?|btw)|\s(?:pls|plz|please|obv|btw|thx|danke|bitte))\W*$"


def without_reminder(text: str) -> str:
    """Return a statement without phrases such as "as I said" at its start and "please" at its end."""
    bare = re.sub(_COURTESY, "", re.sub(_REMINDER, "", text, flags=re.IGNORECASE), flags=re.IGNORECASE)
    return bare if bare.strip() else text


_REWRITES = _rewrites(
    ("[\u2018\u2019]", "'"),
    (
        r"^\W*(?:(?:please|fyi|going forward|from now on)\b[,:]?\s*(?:that\b|to\b)?\s*|"
        r"(?:remember|note|important|reminder)(?:\s*[,:]\s*(?:that\b|to\b)?|\s+(?:that|to)\b)\s*|"
        r"(?:don't forget|be sure|(?:we|the team) (?:have |has )?(?:decided|agreed))\s+(?:that|to)\s+)+",
        "",
    ),
    (_REMINDER, ""),
    (_COURTESY, ""),
    (r"\b(?:do not|don't|never) (?:forget|fail|neglect|omit|hesitate) to\b", " "),
    (r"\b(?:the|this|our) (?:project|team|codebase|repo(?:sitory)?) (?=(?:uses?|runs? on)\b)", "we "),
    (
        r"^\W*(?:(?:it is|it's) (?:important|essential|necessary)(?: that| to)|keep in mind(?: that| to)?"
        r"|take care(?: that| to)|try to)\b",
        "",
    ),
    (r"\b(?:by means of|with the (?:help|aid) of)\b", "with"),
    (r"\b(?:in the event of|in case of)\b", "at"),
    (r"\bat the same time\b", "simultaneously"),
    (r"\b(?:as well as|along with|together with)\b", "and"),
    (r"\bout of date\b", "outdated"),
    (r"\bmost recent\b", "latest"),
    (r"\b(?:turn|switch)(?:es)?(s|ed|ing)? off\b", r"disabl\1"),
    (r"\b(?:turn|switch)(?:es)?(s|ed|ing)? on\b(?= (?:the|an?|all|in|for|by|at)\b|\W*$)", r"enabl\1"),
    (r"^\W*(?:always )?keep ([^,;]+?) out of\b", r"not put \1 in"),
    (r"^([^,;]+?) (?:is|are) missing (?:from|in) ([^,;]+?)[.!\s]*$", r"\2 has no \1"),
    (r"\b(?:leads? to|results? in)\b", "causes"),
    (r"\btak(e|es|ing) place\b", "happens"),
    (r"\bdefaults? to\b", "default is"),
    (r"\b(?:(?:is|are) responsible for|(?:is|are) in charge of|takes? care of)\b", "does"),
    (r"\b((?:is|are) )implemented (?=in\b)", r"\1written "),
    (r"\b(?:is|are) based on\b", "uses"),
    (r"^(.+?) (?:is|are) the only (?:[a-z]+ )?(?:that|which|who) ([^,;]+)$", r"only \1 \2"),
    (r"^(.+?) is the only ([a-z]+e)r of ([^,;]+)$", r"only \1 \2s \3"),
    (r"\bha(?:s|ve) (?:its|their|an?) own (?=\w)", "owns a "),
    (r"^A (?=[a-z])", "a "),  # in lower case, it is not taken for a name if a later rewrite moves it
    (r"^(?:the user|i) (?:wants?|would like) to (?:see|be shown) ", "show "),
    (r"^(?:the user|i) (?:wants?|would like) to be (ask|told|inform|warn|notifi)(?:ed)? ", r"\1 "),
    (r"^(?:the user|i) (?:wants?|would like|expects?) you to (?=[a-z])", ""),
    (r"^\W*no ([a-z]+(?: [a-z]+){0,2}?) (?:may|can|must|should) (?=[a-z])", r"\1 must not "),
    (r"\b(?:may|might) not (?:be (?=needed\b|required\b|necessary\b)|(?=need\b|require\b))", " _neednot "),
    (r"\b(?:gets?|being) (?=[a-z]+ed\b)", "are "),
    (r"\b((?:is|are) )(?:read|loaded|taken) (?=from\b)", r"\1fetched "),
    (r"^(?:the user|i) (?:does not|do not|doesn't|don't) (?:want|like) (?!to\b)", "not need "),
    (r"^(?:the user|i) (?:wants?|would like) (?!to\b|you\b)", "_must need "),
    (r"\b(?:ask for|request|obtain) (?:an? |the |my |our )?(approval|permission|review)\b", r"get \1"),
    # "Don't X without asking" means: ask before X.
    (
        r"^\W*(?:do not|don't|never) ([^,;]+?) without (?:first )?asking( (?:me|us|the [^,;]+?))?(?: first)?\W*$",
        r"ask\2 before \1",
    ),
    (
        r"^\W*(?:do not|don't|never) ([^,;]+?) without (?:an? |the |my |our )?(approval|permission|review)\W*$",
        r"get \2 before \1",
    ),
    (
        r"^\W*only ([^,;]+?) (?:if|when|after) (?:you (?:have been|are|were) )?(?:asked|told)(?: to)?\W*$",
        r"ask before \1",
    ),
    (
        r"^\W*(?:do not|don't|never) ([^,;]+?) (?:without being|unless(?: you are)?) (?:asked|told)(?: to)?\W*$",
        r"ask before \1",
    ),
    (r"\bbefore you (?=[a-z])", "before "),
    # "If X is missing" means: without X.
    (
        r"\b(?:if|when|whenever|because) (?:(?:there (?:is|are) no)|((?:[^\s,;]+ ){1,4}?)(?:is|are)"
        r" (?:missing|absent|unset|not (?:set|there|available|running|present|defined)))\b(?! for)",
        r"without \1",
    ),
    (
        r"\b(?:if|when|whenever|because) (?=(?:[^\s,;]+ ){1,4}(?:isn't|aren't)"
        r" (?:set|there|available|running|present|defined)\b)",
        "without ",
    ),
    (r"(?<=without )((?:[^\s,;]+ ){1,4}?)(?:isn't|aren't) (?:set|there|available|running|present|defined)\b", r"\1,"),
    (r"\b(?:(?:that|which) )(?:lacks?|(?:have|has) no|(?:do not|does not|don't|doesn't) have)\b", "without"),
    (r"\b(?:lacking|with no)\b", "without"),
    (r"\blacks?\b", "has no"),
    # "No X without Y" means: each X needs Y.
    (
        r"^\W*no ((?:[^\s,;]+ ){1,3}?)without (?:an? |its |the )?((?:[^\s,;.]+ ?){1,3}?)[.!\s]*$",
        r"each \1needs \2",
    ),
    # Prohibitions.
    (
        r"^\W*no (?=[^,;]*$)"
        r"(?!.*\b(?:is|are|was|were|must|may|should|can|will|has|have|needs?|without|before|unless)\b)",
        "not need ",
    ),
    (
        r"^\W*without ([^,]+?),? (?=the |our )([^,;]+?) (?:does not|do not|doesn't|don't) (?:work|run|start)\W*$",
        r"\2 needs \1",
    ),
    (r"^([^,;]+?) (?:does not|do not|doesn't|don't) (?:work|run|start) without ([^,;]+)$", r"\1 needs \2"),
    (r"^([^,;]+?) only (?:works?|runs?|starts?) with (?!out)([^,;]+)$", r"\1 needs \2"),
    (
        r"^([^,;]{1,60}?) (?:must not|mustn't|should not|shouldn't|may not|(?:do|does) not|don't|doesn't)"
        r" (?:contain|include|have) ([^,;]+?)[.!\s]*$",
        r"not need \2 in \1",
    ),
    (
        r"^([^,;]{1,60}?) (?:must not|mustn't|should not|shouldn't|may not|(?:do|does) not|don't|doesn't)"
        r" use ([^,;]+?)[.!\s]*$",
        r"not use \2 in \1",
    ),
    (r"^([^,;]{1,60}?) (?:is|are) excluded from ([^,;]+?)[.!\s]*$", r"not need \1 in \2"),
    (r"^\W*((?:do not|don't|never) add [^,;]+?) to\b", r"\1 in"),
    (
        r"\b(?:must|should|may|can) ?not (?:be )?(?:longer|larger|bigger|greater|higher|more|exceed)(?: than)?\b",
        "maximum",
    ),
    (
        r"\b(?:must|should|has to|have to|needs? to) (?:be|stay|remain|have)"
        r" (?:(?:smaller|less|fewer|shorter|lower) than|under|below)(?= \d)",
        "maximum",
    ),
    (r"^(?:use |only )?one ([a-z]+(?: [a-z]+)?) per ([a-z ]+?)[.!\s]*$", r"each \2 needs one \1"),
    # Modality; "need not" comes before "must".
    (
        r"\b(?:(?:do|does) not|don't|doesn't) (?:need|have) to\b|\bneed not\b|\bneedn't\b|\bno need to\b"
        r"|\b(?:is|are)(?: not|n't) (?:required|obliged) to\b|\bnot necessary to\b",
        " _neednot ",
    ),
    (
        r"\b(?:is|are) (?:not allowed|not permitted|forbidden|prohibited|disallowed|banned)(?: to)?\b(?! by)",
        " _must not ",
    ),
    (r"\b(?:is|are) (?:allowed|permitted|free|able) to\b", " _may "),
    (r"^(.+?) (?:is|are) (?:needed|required|mandatory|necessary) (?:for|by|to)\b (.+?)\W*$", r"\2 needs \1"),
    (r"^\W*(?:always )?(?:ensure|make sure|see to it)(?: that)? (?=(?:the|an?|all|every|each|no|it)\b)", " _must "),
    (r"\b(?:must|should|shall) have\b", "needs"),
    (r"\b(?:may not|mustn't)\b", " _must not "),
    (r"\b(?:do|does) not (?:need|require)\b|\b(?:don't|doesn't) (?:need|require)\b|\bneeds? no\b", " _neednot need "),
    (r"^\W*no ((?:[^\s,;]+ ){1,3}?)(?:is|are) (?:needed|required|necessary)\b", r"_neednot need \1"),
    (r"\bhad better\b|\bgotta\b", " _must "),
    (r"\b(?:(?:have|has) got|have|has|need|needs|ought) to\b", " _must "),
    (r"\b(?:is|are) (?:supposed |required |obliged |expected |meant )?to(?= [a-z])", " _must "),
    (r"\b(?:must|should|shall)\b", " _must "),
    (r"\bcan ?not\b|\bcan't\b", " _may not "),
    (r"\b(?:can|could|(?-i:may)|might)\b", " _may "),  # "May" is a month
    (r"\b(?:is|are)( only)? (reach|access|edit|configur)(?:able|ible)\b", r"_may\1 be \2"),
    (r"\b_may +only ([^,;]+?) (?=(?:via|through|over)\b)", r"_must \1 "),
    (r"(?<=\w )only (?=(?:via|through|over)\b)", "_must "),
    (r"\b(_must )?be avoided\b", r" \1 not "),
    (r"\b(?:refrain from|steer clear of|stay away from)\b", " avoid "),
    (r"\b(?:under no circumstances?|at no time|in no case|not ever)\b", " never "),
    (r"\blet(?:'s| us)\b", " "),
    (r"^the user (?=(?:prefers|likes|favou?rs)\b)", ""),
    (r",? (?:says the user|as (?:the team|the user|we) (?:agreed|decided)|according to the (?:team|user))\W*$", ""),
    (r"(?<=,) we +_may +(?=\s*\w+ (?:it|that|them)\W*$)", " "),  # an aside, not a permission
    # "X is what was chosen" means: X is used.
    (r"\b(?:is|are) what (?:was|were) (?:chosen|picked|selected)\b", " "),
    # Time.
    (r"\bused to\b(?! \w+ing\b)|\b(?:has|have|had) been\b", " was "),
    (r"\b(?:no longer|not any ?more)\b", " _nolonger "),
    (r"\bwon't\b", " will not "),
    (r"'ll\b|\b(?:is|are) going to\b", " will "),
    (r"n't\b", " not "),
    (r"(?<=\w)'(?:s|re|m|ve|d)\b", ""),
    # Scope.
    (r"\b(?:nobody|no one|none|nothing) (?:but|except)(?: for)?\b", " only "),
    (r"(?<![\w.])(\d[\w.]*) or (?:newer|later|higher|above|more|greater)\b", r"minimum \1"),
    (r"\b(?:at least|no (?:less|fewer) than|a minimum of)\b", " minimum "),
    (r"\b(?:at most|(?:no|not) more than|up to (?=\d|an? |one |two |three |ten )|a maximum of)\b", " maximum "),
    (
        r"\b(?:over|above|more than|exceeding|longer than|(?:larger|bigger|greater|higher) than) (?=[~#]?\d)",
        " larger than ",
    ),
    (r"\b(?:under|below|less than|fewer than|shorter than|(?:smaller|lower) than) (?=[~#]?\d)", " smaller than "),
    (r"\b(?:except for|apart from|other than|excluding)\b", " except "),
    (r"\b(?:exclusively|solely|merely)\b", " only "),
    # Relations.
    (r"^(.{1,60}?) (?:is|are|(?:_must )?be) preferred (?:over|to|rather than|instead of)\b", r"use \1 _instead "),
    (r"^(\S+(?: \S+){0,2}) (?:contains|houses) (?:the |all |our )*([^,;.]+)\W*$", r"\2 are in \1"),
    (r"^(\S*\w[./]\S+) (?:holds|has) (?:the |all |our )*([^,;.]+)\W*$", r"\2 are in \1"),
    (r"^(\S+(?: \S+)?) is where ([^,;.]+?) (?:lives?|resides?|belongs?|are|is)\W*$", r"\2 are stored in \1"),
    (r"^(.{1,40}?) (?:is|are) (?:a )?part of ([^,;]+?)\W*$", r"\2 contains \1"),
    (r"^([^,;]{1,60}?) receives? (?!.*\bfrom\b)([^,;]+?)\W*$", r"\2 are sent to \1"),
    (r"(?<=[a-z] )(?:only|just|exactly) one\b", "one"),
    (r"\b_must +get (?=an?\b)", "needs "),
    (r"(_must +[a-z]+) their (?!own\b)", r"\1 the "),
    (r"^([^,;]+?) slows? (?:down ([^,;]+?)|([^,;]+?) down)[.!\s]*$", r"\2\3 slow because \1"),
    (r"\b(?:gets?|becomes?) slow(?:er)?\b", "are slow"),
    (r"\bends? up (?=(?:in|on|at)\b)", "go "),
    (r"\bgo in\b", "go to"),
    (
        r"^([^,;]{1,40}?) and ([^,;]{1,40}?) ((?:must|has to|have to|need to|should|may not|must not) )?"
        r"(?:be (?:the same|identical|equal|in sync)|(match|agree|collide|conflict|differ))\W*$",
        r"\1 \3match\4 \2",
    ),
    (r"\bmatchmatch\b", "match"),
    # Causes, each moved after its effect.
    (
        r"\b(?:was|were) (?:caused|triggered) by\b|\b(?:came|resulted) from\b(?= (?:an?|the) [^,;]*\W*$)",
        "happened because",
    ),
    (r"^([^,;]+?) (?:was|were) the (?:cause|reason) (?:of|for) ([^,;]+?)\W*$", r"\2 happened because \1"),
    (r"^([^,;]+?) (?:is|are) the (?:cause|reason) (?:of|for) ([^,;]+?)\W*$", r"\2 happens because \1"),
    (
        r"^(.+?) (?:made|caused) ((?:the|an?|our|all|every) )?((?:(?!the |an? )[^\s,;]+ ){1,3}?)(?:to )?"
        r"(fail|crash|break|hang|stop|time out|run out of [^,;]+?|deadlock|expire|grow|leak|stall)\W*$",
        r"\2\3 _did \4 because \1",
    ),
    (
        r"^(.+?) (?:makes?|causes?) ((?:the|an?|our|all|every) )?((?:(?!the |an? )[^\s,;]+ ){1,3}?)(?:to )?"
        r"(fail|crash|break|hang|stop|time out|run out of [^,;]+?|deadlock|expire|grow|leak|stall|[a-z]+y|slow)\W*$",
        r"\2\3 \4 because \1",
    ),
    (
        r"^([^,;]+?) made ((?:the|an?|our|all|every) (?:[^\s,;]+ ){1,2}?)([^\s,;]+?)\W*$",
        r"\2was \3 because \1",
    ),
    (r"^([^,;]+?) caused ((?:the|an?) [^,;]+?)\W*$", r"\2 happened because \1"),
    (r"^([^,;]+?) causes ((?:the|an?) [^,;]+?)\W*$", r"\2 happens because \1"),
    (
        r"\b(?:takes?|needs?|requires?) "
        r"(?=(?:about |around |only )?(?:\d|(?:an?|[a-z]{3,6}) (?:second|minute|hour|day|week)s?))",
        "lasts ",
    ),
    (r"\bat night\b", "nightly"),
    (
        r"(?:\b(?:the|an?) )?(?<![\w./-])(`[^`]{1,200}`|(?=[\w./-]*[\w/][_./][\w./-]*\w)[\w./-]+) "
        r"(?:folder|directory|dir|file)\b",
        r"\1",
    ),
    (r"\bafter (?=\d)", "at "),
    (r"\b(?:if|when) (?:the |an? )?(\w+) (?:has|have) changed\b", r"after changing \1"),
    (r"\b(?:migrat|switch|chang)(e|ed|es|ing)? (?=(?:\S+ ){0,3}?from\b.{1,60}\bto\b)", r"mov\1 "),
    (r"\b(?:goes|go) (?=(?:\w+ )?to\b)", "are sent "),
    (r"\bcomes? (?=(?:\w+ )?from\b)", "are fetched "),
    (r"\b((?:is|are) )(?:supplied|provided) by\b", r"\1fetched from"),
    (r"\b((?:is|are) )(?:defined|declared|specified|found) (?=in `?[\w./-]*[./]\w)", r"\1stored "),
    (r"\b(?:prefer|favou?r)(?:s|red|ed)? (.{1,60}?) (?:over|to|rather than|instead of)\b", r"use \1 _instead "),
    (r"\b(?:rather than|in place of|instead of|but not)\b", " _instead "),
    (r"\b(?:prior to|ahead of)\b", " before "),
    (r"\bonce (?:an?|per|every) day\b", "daily"),
    (r"\bonce (?:an?|per|every) (week|month|hour|year)\b", r"\1ly"),
    (r"\b(?:as soon as|once|following)\b(?= (?:the|an?|you|it|we|they|all|every|each)\b)", " after "),
    (r"\b(?:when|while|upon) (?=[a-z]{3,}ing\b(?! (?:is|are|was|were|has|_must|_may)\b))", " at "),
    (r"\b(?:when|whenever|while|as long as|in case|provided that)\b", " if "),
    (r"\b(?:during|upon)\b", " at "),
    (r"\b(by|with|under|after|from|of|in) their\b", r"\1 the"),
    (r"\b(its|their|our|your|my) own\b", r"\1"),
    (r"\b(?:because of|due to|as a result of|thanks to|since(?! \d))(?=\W)", " because "),
    (r"\bstop (?=\w+ing\b)", "not "),
    (r"\bin order to\b", "to"),
    (r"\bmake sure(?: that)?\b", "ensure"),
    (r"\bby (?:hand)\b", "manually"),
    (r"\bby default\b", "default"),
    (
        r"^\W*(?:always )?use ((?:[^\s_,]+ +){1,3}?)(?:to (?=[a-z]+ )|(?:for|at|if) (?=[a-z]+ing ))([^,;]+?)[.!]*$",
        r"\2 with \1",
    ),
    # Spelling.
    (r"\bplain text\b", "plaintext"),
    (r"\be-mail", "email"),
    (r"\bpull requests?\b|(?-i:\bPRs\b)", "PR"),
    (r"\bmerge requests?\b|(?-i:\bMRs\b)", "MR"),
    (r"\b(hard) (coded?|coding)\b", r"\1\2"),
    (r"\b(bug|hot) (fix(?:es)?)\b", r"\1\2"),
    (r"\b(code|data) (base)(s?)\b", r"\1\2\3"),
    (r"\b(file|host|user) (name)(s?)\b", r"\1\2\3"),
    (r"\b(work|time) (flow|stamp)(s?)\b", r"\1\2\3"),
    (r"\b(run|start|build) (time)\b", r"\1\2"),
    (r"\btimed out\b", "timeouted"),
    (r"\btim(?:e|ing) out\b", "timeout"),
    (r"\btimes out\b", "timeouts"),
    (r"\b(roll|back|clean|fall|spin|start|tear)(ed|s|ing)? (back|up|down|out)\b", r"\1\3\2"),
    (r"\b(log|sign)(?:g?(ed|ing)|(s))? (in|out)(?= to\b| of\b| with\b|\W*$)", r"\1\4\2\3"),
    (r"\b(set|shut)(?:t(ing)|(s))? (up|down)\b", r"\1\4\2\3"),
    (r"\b(?:every|each) day\b", "daily"),
    (r"\b(?:every|each) (week|month|hour|year|quarter)\b", r"\1ly"),
    (r"\b(?:every|each) night\b", "nightly"),
    (r"\b(?:an?|one) (?=(?:second|minute|hour|day|week|month|year)s?\b)", "1 "),
    (r"\b(?:inside|within)(?= [a-z`])", "in"),
    (r"\btwice\b", "2 times"),
    (r"\b(?:every|each) (?=\d|two\b|three\b|four\b|five\b|six\b|ten\b|twelve\b|other\b)", " _every "),
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (r"\b(\d+)(ms|us|s|sec|min|h|hr|d|[kmgt]i?b|px|%)(?!\w)", r"\1 \2"),
)
