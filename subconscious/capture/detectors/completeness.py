"""Decides whether a typed reply says all that it means, so that it needs nothing of the assistant's message.

A reply is complete if it has a verb with a subject or an object of its own. Verbs are listed for a few languages; a
reply with none of them is complete if it has enough words that carry meaning.
"""

from __future__ import annotations

import re

from subconscious.capture.detectors.references import question_of
from subconscious.text.function_words import function_words
from subconscious.text.standalone import unclear
from subconscious.text.terms import stem
from subconscious.text.words import content_words, is_name

_PARTICLE = re.compile(
    r"\W*(?P<word>yes|yep|yeah|yup|no+|nope|nah|ok(?:ay)?|sure|right|correct|exactly|agreed|good|great|fine|nice|perfect|thanks"
    r"|thx|wrong|ja|nein|oui|non|s[ií]|sim|n[aã]o|gut|vale|bien)\b(?P<set_off>\s*[,.!;:\u2013\u2014-]+)?\s*",
    re.IGNORECASE,
)
"""A word that agrees or disagrees, at the beginning of a reply."""

_DENIALS = frozenset(("no", "kein", "keine"))

_ELLIPTIC = re.compile(
    r"\W*(?:(?:neither|both|either|option|variant|always that|not (?:in )?(?:there|that|this|here)|keep (?:it|that)"
    r"|(?:[a-e]|\d+)(?=\W|\Z))\b|(?:always|never|immer|nie(?:mals)?|toujours|jamais|siempre|nunca|sempre)\W*(?:[,.;:!]|\Z))"
    r"|\W*the (?:first|second|third|last|former|latter|other|one)\b(?= (?:is|are|was|has|needs?|uses?|of)\b|\W*\Z|[,.;:!])",
    re.IGNORECASE,
)
"""The beginning of a reply that leaves out what the assistant named."""

_ALWAYS = r"(?:always|never|only|please|immer|nie(?:mals)?|nur|toujours|jamais|siempre|nunca|sempre)"
_NO_NOUN = (
    r"(?=(?:,? (?:in|on|at|for|by|per|to|from|with|without|everywhere|because|since|please|now|then|im|für|bei|pro|mit|ohne"
    r"|en|dans|chez|pour|par|avec|sans|por|para|con|sin|com|sem)\b)|\W*\Z|[,.;:!])"
)
"""What follows a number, an adjective or the letter of an option if no noun does."""

_OBJECTLESS = re.compile(
    rf"\W*(?:{_ALWAYS} )*(?:"
    r"(?:keep|leave|delete|remove|drop|skip|show|hide|print|include|store|save|return|set|put|use|handle|treat|close|send"
    r"|reject|refuse|allow|deny|retry|enable|disable|l[öo]sche?n?|zeigen?|behalten?|supprimer?|garder?|borrar?|eliminar?"
    r"|devolver|devuelve|mostrar?|apagar?) (?:"
    r"(?:only|just|nur|solo|s[oó]lo)? ?(?:after|before|until|for|in|on|at|by|from|with|without|if|when|unless|nach|vor|für|bei"
    r"|apr[eè]s|avant|pour|después|antes|tras|para|depois|após)\b"
    rf"|(?:enabled|disabled|on|off|open|closed|hidden|visible|empty|unset|out|silently|quietly)\b|\d+{_NO_NOUN})"
    r"|log out|nach \d+ \w+ (?:löschen|entfernen)|make (?:that|this)"
    r"|(?:we|i|you|wir|ich|nous|je) (?:need|want|use|have|brauchen?|nutzen?|wollen)"
    rf" \d+{_NO_NOUN}"
    rf"|(?:(?:not |no )?(?:more|less|fewer|higher|lower|longer|shorter) than|at (?:most|least)) \d+{_NO_NOUN}"
    rf"|(?:lower|higher|longer|shorter|bigger|larger|smaller|more|less|fewer|höher|niedriger|kleiner|größer|mehr|weniger"
    rf"|plus \w+|moins \w+|mayor|menor|más \w+|menos \w+|maior){_NO_NOUN}"
    rf"|(?:take|use|prefer|pick|choose|go (?:with|for)|nimm) (?:option )?[a-e]{_NO_NOUN}"
    r")",
    re.IGNORECASE,
)
"""The beginning of a reply that names no object: "delete after 30 days", "keep 5 in prod", "never more than 3"."""

_OPEN = re.compile(
    r"\b(?:how|what|which|when|where|who|wie|was|welche\w*|wann|wo|wer|comment|quel\w*|quand|c[oó]mo|qu[eé]|cu[aá]l\w*"
    r"|cu[aá]ndo|qual|quais|quando|or|oder|ou)\b(?![^.!?\n]{0,150}\b(?:next|else)\b)[^.!?\n]{0,150}[?\uff1f]",
    re.IGNORECASE,
)
"""A question that can't be answered with yes or no, except "What should I do next?"."""

_RULE = re.compile(
    r"\W*(?:(?:and|also|but|so|then|from now on|in (?:the )?future|going forward|ab jetzt|künftig|à partir de maintenant"
    r"|a partir de ahora|a partir de agora),? )?(?:(?:please|pls|bitte|only|just|nur) )?"
    r"(?:(?P<cue>always|never|(?:not|no) more than|at (?:most|least)|don['\u2019]?t|do not|avoid|immer|nie(?:mals)?|toujours|jamais|ne|siempre|nunca|sempre)\s+"
    r"|(?=(?:use|write|run|keep|put|make|add|name|prefer|stop|start|commit|push|format|log|store|return|throw|raise|catch"
    r"|validate|test|mock|document|deploy|ask|check|update|follow|sort|pin|import|export|call|set|wrap|split|group|prefix"
    r"|rebase|squash|merge|sign|tag|bump|close|delete|remove|drop|skip|ship|send|read|show|print|include|explain|answer"
    r"|speak|treat|handle|escape|quote|indent|leave|nutze?|verwende|benutze|nimm|schreibe?|setze?|mache?|lass|halte"
    r"|prüfe?|teste?|utilisez?|écri(?:s|vez)|mets|garde|évite|usa|escribe|pon|evita|mantén|escreva|mantenha|evite) ))",
    re.IGNORECASE,
)
"""The beginning of a rule: words such as "always", or the imperative of a common verb."""

_VERB = re.compile(
    r"\b(?:is|are|was|were|isn['\u2019]?t|aren['\u2019]?t|has|have|had|must|should|shall|can(?:['\u2019]?t|not)?|may|might|will"
    r"|won['\u2019]?t|do|does|did|don['\u2019]?t|doesn['\u2019]?t|gets?|needs?|uses?|used|lives?|belongs?|runs?|goes|go|stays?|works?|holds?|owns"
    r"|returns?|expects?|supports?|requires?|handles?|contains?|comes?|deploys?|ships?|stores?|writes?|reads?|talks?|sits?"
    r"|breaks?|means|ends|begins?|starts?|removed|moved|switched|keeps?|wants?"
    r"|ist|sind|war|waren|hat|haben|muss|müssen|soll|sollen|kann|können|darf|dürfen|wird|werden|bleib(?:t|en)|läuft|laufen"
    r"|lieg(?:t|en)|gehör(?:t|en)|komm(?:t|en)|nutz(?:t|en)|verwende(?:t|n)|heißt|gilt|gelten"
    r"|est|sont|doit|doivent|peut|peuvent|reste(?:nt)?|utilise|appartient|vont"
    r"|son|está|están|tiene|debe|deben|usan?|queda|quedan|pertenece|é|são|tem|deve|devem|fica|ficam|pertence"
    r"|always|never|immer|nie|niemals|toujours|jamais|siempre|nunca|sempre|mai|altijd|nooit|alltid|aldrig"
    r"|sono|resta|zijn|heeft|moet|moeten|blijft|gebruikt|är|har|ska|måste|jest|są|musi)\b",
    re.IGNORECASE,
)
_WE = re.compile(r"\b(?:we|i|you|wir|ich|nous|je|on|nosotros|nós|wij|vi)\Z", re.IGNORECASE)
_BACK = re.compile(
    r"\b(?:it|them|em|they|those|these|ours|theirs|yours|itself|(?:that|this|the)(?: [a-z]+)? one|one of)\b"
    r"|\bthe (?:first|second|third|last|former|latter|other)(?=\W*\Z)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?]\s+")
_POINTS = re.compile(
    r"\b(?:there|that|this|here|dort|da|dabei|l\u00e0|cela|\u00e7a|all\u00ed|ah\u00ed|eso|isso|l\u00e1"
    r"|instead|too|either|otherwise|stattdessen|sonst|plut\u00f4t|sinon)\b",
    re.IGNORECASE,
)
"""Words that may refer to something in another sentence."""

_CLAUSE_END = re.compile(r"[,.;:!](?=\s)")
_SHORT_CLAUSE = 3
"""The maximum number of words of an opening clause that answers before the reasons: "vault, path kv/geo"."""

_RULE_WORDS, _FEWEST_OF_AN_ANSWER, _DENIED_WORDS, _BARE_WORDS = 2, 3, 3, 4
"""The minimum numbers of words that carry meaning: after "never"; of an answer; after "no"; without a verb."""

_LONG = 4
"""The minimum number of letters of a word that counts without a verb: shorter ones are mostly prepositions."""

_NEAR = 2000
"""How many characters at the end of the assistant's message are compared with a reply."""

_FILLERS = frozenset(
    """every only just like also during until please first again later instead anyway too well without ever
    immer bitte nicht aber auch zuerst vorher wieder ohne mein meine toujours sans mon accord siempre sin mi como para
    sem meu""".split()
)
"""Words that name nothing, besides those that ``content_words`` leaves out."""

_ASKING = frozenset("shall want would like prefer may might ever".split())
"""Words that are common in questions, but do not name what a question is about."""

_ROUTINE = frozenset(
    stem(word)
    for word in """go anything build change commit continue else keep merge next open pr proceed pull push ready request run
    start step stop suite test work weiter weitermachen fortfahren committen pushen lance sigo continúo continuo prueba
    teste""".split()
)
"""Words that occur in questions about the next step of the work: "Shall I go on with the tests?"."""


def is_complete(text: str, before: str) -> bool:
    """Whether a reply is clear without the assistant's message ``before``.

    A reply that begins with "no" or "ok" must also be about another subject than that message. An answer to a question
    needs a few more words: "we use postgres" does not say for what. An answer to "how ...?" or "... or ...?" also needs
    a subject: "archive after 30 days" does not say what. A question may limit its answer if it names something that the
    answer does not: "In the sandbox, do deletes need approval?".
    """
    near = before[-_NEAR:]
    if _may_limit(question_of(near), text):
        return False
    asked = "?" in near or "\uff1f" in near
    particle = _PARTICLE.match(text)
    if particle is None:
        if not _says_all(text):
            return False
        short = asked and len(_telling(text)) < _FEWEST_OF_AN_ANSWER
        return not short and (not _OPEN.search(near) or _has_subject(_first_clause(text)))
    rest = text[particle.end() :]
    denies = particle["word"].casefold() in _DENIALS and not particle["set_off"]
    whole = _says_all(rest) or (denies and not _is_elliptic(rest) and len(_long_words(rest)) >= _DENIED_WORDS)
    return whole and not asked and not _shares_words(rest, near)


def _may_limit(question: str, text: str) -> bool:
    """Whether an answer leaves out something its question names. False if it ignores a question about the next step."""
    named, own = _subjects(question), _subjects(text)
    return not (named <= own or (named.isdisjoint(own) and _is_routine(_SENTENCE_END.split(question)[-1])))


def _subjects(text: str) -> set[str]:
    """Return the stems of the words that name what a question or an answer is about."""
    words = {word.casefold() for word in content_words(text)}
    return {stem(word) for word in words - function_words(words) - _ASKING}


def _is_routine(question: str) -> bool:
    """Whether a question is only about the next step of the work."""
    words = {stem(word) for word in _WORD.findall(question.casefold())}
    return not words.isdisjoint(_ROUTINE) and _subjects(question) <= _ROUTINE


def is_rule(text: str) -> bool:
    """Whether a text is a rule that is clear on its own: no pronoun, and enough words after "always" or its verb."""
    rule = None if _is_elliptic(text) or _BACK.search(text) or _POINTS.search(text) else _RULE.match(text)
    return rule is not None and len(_telling(text[rule.end() :])) >= (_RULE_WORDS if rule["cue"] else _RULE_WORDS + 1)


def _is_elliptic(text: str) -> bool:
    return bool(_ELLIPTIC.match(text) or _OBJECTLESS.match(text) or unclear(text))


def _says_all(text: str) -> bool:
    """Whether a text has a verb with its own subject or object, and no pronoun for something else before that."""
    if _is_elliptic(text):
        return False
    back = _BACK.search(text)
    head = text[: back.start()] if back else text
    rule = _RULE.match(text)
    if rule and len(_telling(head[rule.end() :])) >= (_RULE_WORDS if rule["cue"] else _RULE_WORDS + 1):
        return True
    clause = _first_clause(head)
    return _has_subject(clause) or (clause == text and len(_long_words(text)) >= _BARE_WORDS)


def _first_clause(text: str) -> str:
    """Return a text up to the end of its first clause if that is short, as in "vault, path kv/geo", else all of it."""
    end = _CLAUSE_END.search(text)
    return text[: end.start()] if end and len(text[: end.start()].split()) <= _SHORT_CLAUSE else text


def _has_subject(clause: str) -> bool:
    """Whether a clause has a verb with words that carry meaning before it (or "we") and after it."""
    for verb in _VERB.finditer(clause):
        subject, rest = clause[: verb.start()].rstrip(), clause[verb.end() :]
        named = _WE.search(subject) or any(not word.isdigit() for word in content_words(subject))
        if named and _telling(rest):
            return True
    return False


def _telling(text: str) -> list[str]:
    """Return the words of a text that carry meaning."""
    return [word for word in content_words(text) if word.casefold() not in _FILLERS]


def _long_words(text: str) -> list[str]:
    return [word for word in _telling(text) if len(word) >= _LONG or is_name(word)]


def _shares_words(text: str, before: str) -> bool:
    """Whether two texts have a word in common that carries meaning."""
    mine, its = ({stem(word.casefold()) for word in _long_words(one)} for one in (text, before))
    return not mine.isdisjoint(its)
