"""Rewrites of a statement before it is taken apart: many ways to say one thing become one.

Each is a pattern and what replaces it, applied in order: a later one sees what an earlier one left. Words that begin
with an underscore are marks for what comes after, such as ``_must`` for a duty.
"""

from __future__ import annotations

import re


def _rewrites(*pairs: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in pairs)


REWRITES = _rewrites(
    ("[\u2018\u2019]", "'"),
    (
        r"^\W*(?:(?:please|fyi|going forward|from now on)\b[,:]?\s*(?:that\b|to\b)?\s*|"
        r"(?:remember|note|important|reminder)(?:\s*[,:]\s*(?:that\b|to\b)?|\s+(?:that|to)\b)\s*|"
        r"(?:don't forget|be sure|(?:we|the team) (?:have |has )?(?:decided|agreed))\s+(?:that|to)\s+)+",
        "",
    ),
    (r"\b(?:do not|don't|never) (?:forget|fail|neglect|omit|hesitate) to\b", " "),
    # Modality; what need not be done comes before what must be done.
    (
        r"\b(?:(?:do|does) not|don't|doesn't) (?:need|have) to\b|\bneed not\b|\bneedn't\b|\bno need to\b"
        r"|\b(?:is|are)(?: not|n't) (?:required|obliged) to\b|\bnot necessary to\b",
        " _neednot ",
    ),
    (r"\b(?:is|are) (?:not allowed|not permitted|forbidden|prohibited|disallowed)(?: to)?\b", " _must not "),
    (r"\b(?:is|are) (?:allowed|permitted|free|able) to\b", " _may "),
    (r"^(.+?) (?:is|are) (?:needed|required|mandatory|necessary) (?:for|by|to)\b (.+?)\W*$", r"\2 needs \1"),
    (r"^\W*(?:always )?(?:ensure|make sure|see to it)(?: that)? (?=(?:the|an?|all|every|each|no|it)\b)", " _must "),
    (r"\b(?:must|should|shall) have\b", "needs"),
    (r"\bhad better\b|\bgotta\b", " _must "),
    (r"\b(?:(?:have|has) got|have|has|need|needs|ought) to\b", " _must "),
    (r"\b(?:is|are) (?:supposed |required |obliged |expected |meant )?to(?= [a-z])", " _must "),
    (r"\b(?:must|should|shall)\b", " _must "),
    (r"\bcan ?not\b|\bcan't\b", " _may not "),
    (r"\b(?:can|could|(?-i:may)|might)\b", " _may "),  # "May" is a month
    (r"\b(_must )?be avoided\b", r" \1 not "),
    (r"\b(?:refrain from|steer clear of|stay away from)\b", " avoid "),
    (r"\b(?:under no circumstances?|at no time|in no case|not ever)\b", " never "),
    (r"\blet(?:'s| us)\b", " "),
    (r"^the user (?=(?:prefers|likes|favou?rs)\b)", ""),
    (r",? (?:says the user|as (?:the team|the user|we) (?:agreed|decided)|according to the (?:team|user))\W*$", ""),
    (r"(?<=,) we +_may +(?=\s*\w+ (?:it|that|them)\W*$)", " "),  # an aside, not what the statement allows
    # What was chosen is what is used.
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
    (r"\bat least|no (?:less|fewer) than|a minimum of\b", " _atleast "),
    (r"\bat most|(?:no|not) more than|up to|a maximum of\b", " _atmost "),
    (r"\b(?:except for|apart from|other than|excluding)\b", " except "),
    (r"\b(?:exclusively|solely|merely)\b", " only "),
    # Relations.
    (r"^(.{1,60}?) (?:is|are|(?:_must )?be) preferred (?:over|to|rather than|instead of)\b", r"use \1 _instead "),
    (r"^(\S+(?: \S+){0,2}) (?:contains|houses) (?:the |all |our )*([^,;.]+)\W*$", r"\2 are in \1"),
    (r"^(\S+(?: \S+)?) is where ([^,;.]+?) (?:lives?|resides?|belongs?|are|is)\W*$", r"\2 are stored in \1"),
    (r"\b(?:migrat|switch|chang)(e|ed|es|ing)? (?=(?:\S+ ){0,3}?from\b.{1,60}\bto\b)", r"mov\1 "),
    (r"\b(?:goes|go) (?=(?:\w+ )?to\b)", "are sent "),
    (r"\bcomes? (?=(?:\w+ )?from\b)", "are fetched "),
    (r"\b((?:is|are) )(?:supplied|provided) by\b", r"\1fetched from"),
    (r"\b((?:is|are) )(?:defined|declared|specified|found) (?=in `?[\w./-]*[./]\w)", r"\1stored "),
    (r"\bprefer(s|red)? (.{1,60}?) (?:over|to|rather than|instead of)\b", r"use \2 _instead "),
    (r"\b(?:rather than|in place of|instead of|but not)\b", " _instead "),
    (r"\b(?:prior to|ahead of)\b", " before "),
    (r"\bonce (?:an?|per|every) day\b", "daily"),
    (r"\bonce (?:an?|per|every) (week|month|hour|year)\b", r"\1ly"),
    (r"\b(?:as soon as|once|following)\b(?= (?:the|an?|you|it|we|they|all|every|each)\b)", " after "),
    (r"\b(?:when|while|upon) (?=[a-z]{3,}ing\b(?! (?:is|are|was|were|has|_must|_may)\b))", " at "),
    (r"\b(?:when|whenever|while|as long as|in case|provided that)\b", " if "),
    (r"\b(?:during|upon)\b", " at "),
    (r"\b(by|with|under|after|from|of) their\b", r"\1 the"),
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
    (r"\b(?:every|each) (?=\d|two\b|three\b|four\b|five\b|six\b|other\b)", " _every "),
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (r"\b(\d+)(ms|us|s|sec|min|h|hr|d|[kmgt]i?b|px|%)(?!\w)", r"\1 \2"),
)
