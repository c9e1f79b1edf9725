"""The table of cues: phrases that introduce something to remember.

To add a cue, add a row. Rows are tried in order, and the first match determines the sentence's kind and strength. A cue
must be at the beginning of a clause: "we decided" inside another clause is a report about somebody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from subconscious.domain.model import Strength


@dataclass(frozen=True, slots=True)
class Cue:
    """One row of the table. ``name`` is shown to people. If ``kept``, the words of the cue are part of the summary.

    ``corrects`` marks cues that have full strength only in a correction: after an interruption, or in a message that
    begins with a word such as "no" or "wrong".
    """

    name: str
    kind: str
    strength: Strength
    pattern: re.Pattern[str]
    kept: bool = True
    corrects: bool = False


_LEAD = (
    r"(?:(?:ok(?:ay)?|so|and|also|but|well|yes|yeah|yep|no|nope|please|btw|fyi|right|great|cool|perfect|thanks|hmm|"
    r"actually|wait|stop|wrong|then|just|for the record|one more thing)\b[,:.!;]*\s+){0,4}"
)
_WE = r"(?:we|i|the team|team)(?:'ve| have)?(?:\s(?:just|now|finally|already|both|all)){0,2}"
_NOT = r"(?:\s?(?:have|had|did|do|does|would)?(?:n't|\snot)(?:\syet)?|\snever)?"


def _cue(name: str, kind: str, strength: Strength, pattern: str, *, kept: bool = True, corrects: bool = False) -> Cue:
    compiled = re.compile(_LEAD + rf"(?P<cue>{pattern})", re.IGNORECASE)
    return Cue(name, kind, strength, compiled, kept=kept, corrects=corrects)


CUES = (
    _cue(
        "remember",
        "learning",
        Strength.EXPLICIT,
        r"remember(?:\s+that\b|\s*:|\s+to(?=\s+(?:always|never)\b)|(?=\s+(?:we|i|our|my|you|all|every|always|never)\b))\s*",
        kept=False,
    ),
    _cue(
        "keep in mind",
        "learning",
        Strength.IMPLIED,
        r"(?:keep in mind|bear in mind|don't forget)(?:\s+that\b|\s*[:,])\s*|remember,\s",
        kept=False,
    ),
    _cue("remember to", "preference", Strength.INFERRED, r"(?:remember|don't forget) to\s"),
    _cue(
        "note for later",
        "learning",
        Strength.EXPLICIT,
        r"note (?:for (?:later|the future|next time|future reference)|to self)(?:\s*[:,]|\s+that\b)?\s*",
        kept=False,
    ),
    _cue("note", "learning", Strength.IMPLIED, r"(?:note|important|gotcha)\s*:\s*|note that\s", kept=False),
    _cue(
        "decided",
        "decision",
        Strength.EXPLICIT,
        rf"{_WE}{_NOT}\s+(?:decided?|agreed|settled|chose|picked|standardi[sz]ed)"
        r"(?:\s(?:yesterday|today|last \w+|together|in the \w+|now))?"
        r"(?:\s+(?:to|on|that|against|not to|upon)\b|\s*[:,]"
        r"|(?=\s(?:we|i)(?:[']ll|[']re)?\s)|(?=\s[^.?!]{2,80}?\s(?:over|instead of|rather than|for)\s))\s*"
        r"|it (?:was|is|has been) decided (?:to|that)\s|(?:it|that)(?:[']s| is) (?:settled|decided|final)\s?[:,-]\s",
    ),
    _cue(
        "decision:",
        "decision",
        Strength.EXPLICIT,
        r"(?:(?:final|our|my|the|new)\s+){0,2}deci(?:sion|ded)(?:\s+(?:is|was)(?:\s+(?:to|that))?\s|\s*[:=]\s*)",
        kept=False,
    ),
    _cue(
        "go with",
        "decision",
        Strength.EXPLICIT,
        r"(?:let'?s|we(?:[']ll| will|[']re going to| are going to)?|i(?:[']ll| will)) go with\s|we(?:[']re| are) going with\s",
    ),
    _cue(
        "make sure, always",
        "preference",
        Strength.EXPLICIT,
        r"(?:make sure|be sure|please ensure|ensure)\s(?:that )?(?:(?:you|we|to)\s)?(?:always|never)\s",
    ),
    _cue(
        "our rule",
        "preference",
        Strength.EXPLICIT,
        r"(?:our|my|the|this (?:team|project|repo)'?s)\s(?:[\w-]+\s){0,2}?(?:convention|policy|rule|guideline)"
        r"(?:\s(?:here|for [^?.!]{2,40}?))?\sis\s(?:to|that|not to|never|always)\s",
    ),
    _cue(
        "X instead of Y",
        "decision",
        Strength.EXPLICIT,
        r"(?:let'?s|we(?:[']ll| will|[']re going to| are going to)) (?:use|keep|switch to|move to|write|store)\s"
        r"(?=[^.?!]{2,120}?\s(?:instead of|rather than|and not)\s)",
    ),
    _cue(
        "from now on",
        "preference",
        Strength.EXPLICIT,
        r"(?:from now on|going forward|from here on(?: out)?|in (?:the )?future|for future reference)\b\s*[,:]?\s*"
        r"|[^,;:?]{8,200}\s(?:from now on|going forward)\b(?=\s*[.!]?\s*\Z)",
    ),
    _cue(
        "don't use X, use Y",
        "lesson",
        Strength.EXPLICIT,
        r"(?:don't|do not|never|stop) us(?:e|ing)\s[^.;?!]{2,120}?[,;.:\u2013\u2014-]+\s*"
        r"(?:but |please |always |rather |instead,? )*"
        r"use\s",
    ),
    _cue(
        "always/never",
        "preference",
        Strength.EXPLICIT,
        r"(?:(?:when|whenever|if|before|after|for)\s[^,?]{3,100},\s*(?:please\s)?)?"
        r"(?:(?:you|we|claude) (?:should|must|have to|need to)\s)?(?:always|never)\s+"
        r"(?!mind\b|ending\b|been\b|be able\b|the\b|a\b|had\b|got\b|saw\b|did\b|was\b|is\b|has\b|good\b|in\b|on\b)"
        r"(?!\w+(?:ed|ing)\b)(?!\w*[^s\W]s\b)",
    ),
    _cue(
        "don't, without asking",
        "preference",
        Strength.EXPLICIT,
        r"(?:don't|do not)\s(?!worry|bother|forget)\w+\s(?=[^.?!]{2,120}?\s(?:without|unless|until|before) "
        r"(?:asking|i (?:say|ask|tell|approve|confirm)|my (?:approval|permission|ok|confirmation)|checking with me|you ask)\b)",
    ),
    _cue(
        "I prefer X over Y",
        "preference",
        Strength.EXPLICIT,
        r"i (?:always |really |strongly |much |generally |usually |definitely )*prefer\b"
        r"(?=[^.?!]*\s(?:over|to|instead of|rather than|than|not)\s)"
        r"|i (?:always|really|strongly|generally|usually) prefer\s",
    ),
    _cue(
        "use X instead",
        "lesson",
        Strength.EXPLICIT,
        r"(?:(?:we|you|it|that|this)\s(?:should|must|needs? to|has to|have to)\s)?"
        r"(?:(?:use|do|call|name|put|make|write|run)\s"
        r"[^,;?!]{2,160}?\sinstead\b|use\s[^,;?!]{2,120}?,?\s(?:and\s)?not\s|not\s[^,;?!]{2,80},\s(?:but|use)\s)",
        corrects=True,
    ),
    _cue(
        "correction",
        "lesson",
        Strength.IMPLIED,
        r"(?:(?:it|that|this|the [\w`./-]+(?: [\w`./-]+)?|only [\w`./ -]{3,60}?)\s(?:should|must)(?:n't|\snot)?\s"
        r"|(?:don't|do not|never)\s(?!worry|bother|think|know|see|understand|mind)\w+|stop \w+ing\s)",
        corrects=True,
    ),
    _cue(
        "a rule for all of a kind",
        "preference",
        Strength.IMPLIED,
        r"(?:use|keep|write|name|put|store|log|format|document|prefix|return|wrap|prefer|avoid)\s(?!the following|these|this)"
        r"(?=[^?]{2,120}?\s(?:(?:for|in|on|before|after|with) (?:all|every|each|any|new)\s|everywhere\b|only\s*[.!]?\s*\Z"
        r"|by default\b|at all times\b))"
        r"|no more\s(?=[\w`./-]+(?: [\w`./-]+){0,3} (?:in|for|from) (?:this|the|our|any)\s)"
        r"|prefer\s(?=[^?]{2,80}?\sover\s)"
        r"|you (?:must|have to|need to)\s(?=\w+\s[^?]{2,80}?\s(?:before|after|whenever|every time)\s"
        r"(?:you|each|every|any|committing|pushing|merging)\b)"
        r"|i (?:don't )?(?:want|need|[']d like) (?:all|every|each|any)\s(?=[^?]{2,100}?\s(?:in|as|to (?:be|use|have|go)|with|under)\s)"
        r"|(?:all|every|each)\s(?:new\s)?(?:[\w`./-]+\s){1,3}?(?:gets?|must|should|goes? (?:in|into|to|under|through))\s"
        r"(?!pass|be (?:green|passing|fixed)|now\b)",
    ),
    _cue(
        "keep it so",
        "decision",
        Strength.IMPLIED,
        r"keep\s(?!\w+ing\b|me\b|it\b|this\b|that\b|in mind|up\b|on\b|an eye)"
        r"(?=[^?]{3,100}?\s(?:in (?:one|a|the same|its own)|as (?:is|a|an|the)|separate|together|at version|on version|out of)\b)",
    ),
    _cue(
        "it has to be X, not Y",
        "decision",
        Strength.IMPLIED,
        r"(?:(?:the|our)\s)?(?:[\w`./-]+\s){1,5}?(?:has to|have to|must|needs? to|should)\s(?:be|stay|have|use|return|go)\b"
        r"(?=[^?]{2,100}?,?\s(?:not|never|instead of|rather than)\s)",
    ),
    _cue("I prefer", "preference", Strength.IMPLIED, r"i(?:[']d| would)?(?: much)? (?:prefer|rather)\s"),
    _cue(
        "let's use",
        "decision",
        Strength.IMPLIED,
        r"(?:let'?s|we(?:[']ll| will)) (?:use|stick (?:with|to)|keep|switch to|move to|stay with|not use|avoid|drop)\s",
    ),
    _cue(
        "we are moving",
        "decision",
        Strength.IMPLIED,
        r"(?:we(?:[']re| are)|i(?:[']m| am)) (?:switching|moving|migrating) (?:from|to|over)\s"
        r"|we(?:[']re| are) (?:dropping|retiring|abandoning)\s|(?:we|i) (?:won't|will not) (?:use|support|allow|add|need)\s"
        r"|let'?s not (?:use|support|allow|store|depend on)\s|(?:go|going) with\s",
    ),
    _cue("we use", "learning", Strength.IMPLIED, r"(?:we|our team|this (?:project|repo|codebase)) (?:don't )?uses?\s"),
    _cue(
        "we should always",
        "preference",
        Strength.IMPLIED,
        r"(?:i think |maybe )?(?:we|you|it) (?:should|must|need to|have to) (?:probably )?(?:always\s|never\s"
        r"|(?:be )?us(?:e|ing)\s[^,;?!]{2,120}?\s(?:instead of|rather than)\s)",
    ),
    _cue("I want", "lesson", Strength.IMPLIED, r"i (?:don't )?(?:want|like)\s", corrects=True),
    _cue(
        "didn't work",
        "dead_end",
        Strength.IMPLIED,
        r"(?:(?:i|we)(?:[']ve| have)? tried\s[^?]{3,200}?\s(?:but|and|it|which|that)\b[^?]{0,80}?"
        r"|[\w`./-]+(?: [\w`./-]+){0,8}\s)(?:did(?:n't| not) (?:work|help)|failed because)\b",
    ),
    _cue(
        "the problem was",
        "learning",
        Strength.IMPLIED,
        r"(?:the|our) (?:actual |real |root )?(?:problem|issue|cause|root cause|bug|fix|solution|trick|culprit) "
        r"(?:was|turned out)\s|(?:it )?turn(?:s|ed) out\s",
    ),
    _cue(
        "blocked",
        "blocker",
        Strength.IMPLIED,
        r"(?:we(?:[']re| are)|i'?a?m|this is|it'?s) (?:still )?blocked (?:by|on)\s",
    ),
    _cue("we should", "decision", Strength.INFERRED, r"(?:i think )?we should\s"),
    _cue("doesn't work", "dead_end", Strength.INFERRED, r"[\w`./-]+(?: [\w`./-]+){0,6} (?:doesn'?t|does not) work\b"),
)
"""The cues, in the order in which they are tried."""
