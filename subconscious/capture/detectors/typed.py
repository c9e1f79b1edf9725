"""Finds candidates in messages that the user typed: each sentence is judged, in any words and language.

The judge (``judge.py``) estimates the probability that a sentence is worth storing, and its kind. Cues for explicit
statements ("we decided", "always") are further evidence. A candidate must be clear on its own: a sentence that depends
on the one before it, or on the assistant's question, is stored together with that text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from subconscious.capture import judge
from subconscious.capture.detectors import corrections, stated
from subconscious.capture.detectors.completeness import is_complete, is_rule
from subconscious.capture.detectors.picks import pick_in, rejects
from subconscious.capture.detectors.reactions import is_reaction
from subconscious.capture.detectors.references import answered, begins_back, is_dependent, replies
from subconscious.capture.detectors.refinements import LONGEST_STATEMENT
from subconscious.capture.kernel import leans
from subconscious.domain.model import Candidate, Evidence, Origin, Strength, Turn
from subconscious.system.projects import TRUNKS
from subconscious.text import wording
from subconscious.text.branch_scope import is_name, scoped, without_scope
from subconscious.text.own_correction import without_lead
from subconscious.text.question import is_question
from subconscious.text.reproach import is_bare
from subconscious.text.sentences import sentences
from subconscious.text.standalone import begins_clearly
from subconscious.text.terms import stem

Opinions = Mapping[judge.Spoken, judge.Opinion]
"""The judge's results with the embedder, by sentence. Sentences that are missing here are judged by words alone."""

NO_OPINIONS: Opinions = {}

EXTRACTOR = "typed-1"

LONGEST_TURN = 20_000
"""The maximum length in characters of a message: a longer one is not read, because it was probably pasted."""

MOST_SENTENCES = 60
"""The maximum number of sentences of a message: one with more is not read, because it is probably a document."""

MOST_OF_A_MESSAGE = 5
"""The maximum number of statements kept from one message: a pasted specification must not fill the store."""

KINDS = {
    "rule": "preference",
    "decision": "decision",
    "constraint": "learning",
    "fact": "learning",
    "correction": "lesson",
    "deadline": "learning",
    "ownership": "learning",
}
"""Maps each kind of sentence that the judge distinguishes to a kind of memory."""

LEAST = 0.5
"""The minimum probability of a candidate according to the judge; explicit cues and wishes (``AHEAD``) need less."""

CORRECTS = 0.65
"""The minimum probability at which a message after an interruption counts as a correction.

For comparison: one in eleven first prompts of a session reaches this probability, with nothing to correct.
"""

OBJECTION = 0.003
"""The probability below which the judge overrules even an explicit cue."""

AHEAD, AHEAD_LEAST = 0.8, 0.02
"""The confidence of a wish for the time after this session, and the minimum probability that it needs from the judge.

The confidence is too low to store the wish without a review.
"""

MOST_QUALIFYING = 12
"""The maximum number of words of a condition or exception that is stored with the statement before it."""

REMARK = 3
"""The maximum number of words of a remark that is stored together with the sentence after it."""

CUED_KINDS = frozenset(("blocker", "dead_end"))
"""Kinds of memory that the judge does not distinguish, so that the cue decides."""

_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"(?:\A|\s)(\d{1,2})[.)]\Z")
"""The number of a list item, at the end of the text before a sentence: "1. the first, 2. both"."""

_CONNECTIVE = re.compile(
    r"\A\W*(?:(?:and|also|plus|oh|und|auch|et|aussi|y|e|tamb(?:i\u00e9|\u00e9)[nm]|ah)\b[\s,:]*)+", re.IGNORECASE
)
"""Words at the beginning of a sentence that only connect it to the sentence before it."""

_CONTRARY = re.compile(r"\A\W*(?:but|aber|mais|pero|mas)\b[\s,]*", re.IGNORECASE)
_DIGIT = re.compile(r"\d")

_FORBIDS = re.compile(
    r"\b(?:never|don['\u2019]?t|do not|avoid|no|not|nie(?:mals)?|nicht|keine?[nrms]?|vermeide?|jamais|ne|pas|[\u00e9e]vite[rz]?"
    r"|nunca|jam[a\u00e1]s|n[a\u00e3]o|evitar?)\b",
    re.IGNORECASE,
)
_BINDS = re.compile(rf"{_FORBIDS.pattern}|\b(?:always|immer|toujours|siempre|sempre)\b", re.IGNORECASE)
_USES = re.compile(
    r"\b(?:us(?:e|ing|a|ar|en|es)|take|prefer|go|(?:be)?nutz(?:en?|t)|verwende[nt]?|nimm|nehmen|utilis\w+|prends|prendre"
    r"|utiliz\w+|prefiere|prefira)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\A\W*(?:but|however|though|still|yet|except|only|otherwise|then|else|aber|doch|jedoch|allerdings|trotzdem|sonst|dann"
    r"|mais|pourtant|cependant|sinon|alors|pero|sin embargo|salvo|entonces|mas|por[e\u00e9]m|contudo|ent[a\u00e3]o)\b"
    r"|\b(?:ones?|then|though|however|still|anyway|too|instead|real|actual|proper|right|generated|dann|doch|jedoch|trotzdem"
    r"|alors|quand m[e\u00ea]me|entonces|ent[a\u00e3]o|sin embargo)\b(?=\W*\Z|\W+(?:for|in|on|if|when)\b)",
    re.IGNORECASE,
)
"""Words with which a rule limits the rule before it, or refers to what that rule names: "always use a real one"."""

_LIMITED = re.compile(
    r"\b(?:in(?!\s+(?:english|german|french|spanish|portuguese)\b)|inside|within|when|while|during|if|whenever|until|im|wenn"
    r"|solange|w\u00e4hrend|bis|dans|si|quand|pendant|lorsqu\w+|cuando|durante|hasta|mientras|quando|at\u00e9|enquanto)\b",
    re.IGNORECASE,
)
"""Words that introduce a place, time or condition, which may hold for the next sentence, too."""

_WISH = re.compile(
    r"\b(?:needs?|have|has|ought) to\b|\b(?:must|should|shall|ensure)\b|\bmake sure\b"
    r"|\b(?:need|want|would (?:need|like|want)|'d (?:like|want|need))\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:once|when|whenever|as|after|if|before) (?:we|they|you|others?|people|users?|there) (?:\w+ ){0,2}?"
    r"(?:add|have|get|support|introduce|are|go|switch|move|write|build|grow|need)\b(?: \w+){0,3}?"
    r" (?:more|others?|another|new|further|additional)\b"
    r"|\b(?:any|every) (?:other|new|future|further) \w+|\b(?:more|other|new) \w+ (?:later|in (?:the )?future)\b"
    r"|\bin (?:the )?future\b|\bfrom (?:now|here) on\b|\bgoing forward\b|\blater on\b|\bat any ?time\b"
    r"|\bdown the (?:road|line)\b|\blong[- ]term\b",
    re.IGNORECASE,
)
"""Words for a time after this session, or for things that do not exist yet."""

_ADDRESS = re.compile(
    r"\A(?:(?:also|sorry|btw|by the way|fyi|note|again|one more thing)\s*[:,]\s+|my point is(?: that|:)?\s+"
    r"|(?:that|this|it|(?:the|your) \w+ part)(?:'s| is| was|\u2019s) (?:not (?:correct|right|true)|wrong|incorrect)\s*[,;:.]\s+"
    r"|(?:please )?(?:have|keep|bear) in mind(?: that|:|,)?\s+|(?:please )?note that\s+)+",
    re.IGNORECASE,
)


_BARE_OBJECTION = re.compile(
    r"\W{0,4}(?:(?:no|nope|nah)\b\W{0,4})?(?:(?:that|this|it)(?:'s|\u2019s| is| was)? )?(?:not |completely |just )?"
    r"(?:wrong|right|correct|true|incorrect)\W{0,4}",
    re.IGNORECASE,
)
"""A sentence that only objects or agrees: another sentence says what is right instead."""


_HEARSAY = re.compile(r"\W{0,4}(?:he|she|they)\s+(?:said|says?|claims?|claimed|thinks?|thought)\b", re.IGNORECASE)
"""The beginning of a report of what another, unnamed person said: it is not a statement of the user."""

_QUALIFIES = re.compile(
    r"\W{0,4}(?:(?:if|unless|except|otherwise|but not|falls|au\u00dfer|es sei denn|sauf|salvo|excepto|a menos)\b)",
    re.IGNORECASE,
)
"""The beginning of a condition of the sentence before it, or of an exception to it."""

_ASIDE = re.compile(r"[(\[][^()\[\]]{0,40}[)\]]\W{0,4}")
"""A few words in brackets, as programs print them: "(no output)"."""

_EITHER = re.compile(
    r"\b(?:either|one of (?:the following|these)|(?:options|alternatives)(?: are)?):\s*\Z", re.IGNORECASE
)
"""The end of a sentence before alternatives, none of which is chosen yet."""

ALTERNATIVES = 2
"""How many sentences after one that matches ``_EITHER`` count as alternatives."""


def extract(turns: Sequence[Turn], opinions: Opinions = NO_OPINIONS) -> list[Candidate]:
    """Return the most probable statements of each typed message, without duplicates."""
    found: dict[str, Candidate] = {}
    for turn in turns:
        said = _without_beginnings(_candidates(turn, opinions))
        likeliest = sorted(said, key=lambda one: -one.raw_confidence)[:MOST_OF_A_MESSAGE]
        for candidate in said:
            if candidate in likeliest:
                found.setdefault(candidate.content.casefold(), candidate)
    return list(found.values())


def _without_beginnings(said: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates of a message, except each one with which the next candidate begins.

    Such a pair results from a sentence worth storing followed by a sentence that depends on it.
    """
    kept: list[Candidate] = []
    for one in said:
        if kept and one.content.startswith(kept[-1].content):
            before = kept.pop()
            if one.raw_confidence < before.raw_confidence:
                one = replace(one, kind=before.kind, raw_confidence=before.raw_confidence, strength=before.strength)
        kept.append(one)
    return kept


def spoken(turn: Turn) -> list[judge.Spoken]:
    """Return the sentences of a message as input for the judge; none if the message was pasted or not typed."""
    if turn.origin is not Origin.USER or turn.sidechain or not 0 < len(turn.text) <= LONGEST_TURN:
        return []
    asked = turn.before.endswith(("?", "?**"))
    text = (without_lead(turn.text) if asked else "") or turn.text
    said = [one for one in sentences(text) if _WORD.search(one) and not _ASIDE.fullmatch(one)]
    if len(said) > MOST_SENTENCES:
        return []
    is_named = is_name(turn.branch) and turn.branch not in ("HEAD", *TRUNKS)
    open_choices = {at for at, one in enumerate(said) if _EITHER.search(one)}
    said = [one for at, one in enumerate(said) if open_choices.isdisjoint(range(at - ALTERNATIVES, at + 1))]
    return [
        judge.Spoken(
            sentence,
            before=turn.before,
            place=at,
            count=len(said),
            previous=said[at - 1] if at else "",
            interrupted=turn.after_interrupt,
            reworded=rule or _option(sentence, turn.before, said[at - 1] if at else ""),
            branch=turn.branch if rule else "",
        )
        for at, sentence in enumerate(said)
        for rule in [without_scope(sentence) if is_named and not _is_qualified(said, at) else ""]
    ]


def _is_qualified(said: Sequence[str], at: int) -> bool:
    """Whether the sentence after ``said[at]`` begins with a condition for ``said[at]``, or an exception to it."""
    return at + 1 < len(said) and bool(_QUALIFIES.match(said[at + 1]))


def _option(sentence: str, before: str, previous: str) -> str:
    """Return a sentence with the text of the option that it picks; "" if it picks none, or follows a long sentence."""
    pick = pick_in(sentence, before) if len(previous.split()) <= judge.FEW_WORDS else None
    return "" if pick is None else pick.text


def _candidates(turn: Turn, opinions: Opinions) -> Iterator[Candidate]:
    cued = {one.evidence.quote: one for one in stated.extract([turn])}
    said = spoken(turn)
    for one, after in zip_longest(said, said[1:]):
        if _BARE_OBJECTION.fullmatch(one.text) or _HEARSAY.match(one.text) or rejects(one.text):
            continue
        if is_bare(one.text) or is_question(one.text):
            continue
        quote = wording.cut_clause(one.text, LONGEST_STATEMENT)
        cue, opinion = cued.get(quote), opinions.get(one)
        if opinion is None and cue is not None:  # without the embedder, a cue is more reliable than the judge
            yield _qualified(replace(cue, content=_alone(one, cue.content)), after)
            continue
        opinion = opinion or judge.model().opinion(one)
        if cue is not None and opinion.chance < (OBJECTION if cue.strength is Strength.EXPLICIT else LEAST):
            cue = None
        if cue is not None or opinion.chance >= LEAST or _looks_ahead(one, opinion):
            yield _qualified(_candidate(turn, one, opinion, quote, cue), after)


def _qualified(candidate: Candidate, after: judge.Spoken | None) -> Candidate:
    """Return a candidate together with the condition or exception in the next sentence, if there is one."""
    if after is None or "?" in after.text or not _QUALIFIES.match(after.text):
        return candidate
    whole = f"{_ended(candidate.content)} {wording.squeeze(after.text)}"
    if len(after.text.split()) > MOST_QUALIFYING or len(whole) > LONGEST_STATEMENT:
        return candidate
    return replace(candidate, content=whole)


def _candidate(turn: Turn, one: judge.Spoken, opinion: judge.Opinion, quote: str, cue: Candidate | None) -> Candidate:
    """Return the candidate made from a sentence; a cue can raise the judge's probability, unless the cue is weak."""
    chance = max(opinion.chance, _vouched(cue), AHEAD if _looks_ahead(one, opinion) else 0.0)
    kind = _kind(turn, opinion, cue)
    content = _alone(one, wording.squeeze(quote))
    return Candidate(
        kind=kind,
        summary=cue.summary if cue is not None and not one.reworded else wording.summary(content),
        content=content,
        evidence=Evidence(quote=quote, turn_id=turn.id, file=turn.file, start=turn.start, end=turn.end),
        origin=turn.origin,
        strength=_strength(chance),
        raw_confidence=round(chance, 2),
        extractor=EXTRACTOR,
        time=turn.time,
        scope=wording.scope(content, kind),
        reason=_reason(opinion, cue),
        rationale=wording.rationale(content),
        sentiment=wording.sentiment(content),
        branch=turn.branch,
        tags=wording.tags(content),
        files=wording.files(content),
    )


def _looks_ahead(one: judge.Spoken, opinion: judge.Opinion) -> bool:
    """Whether a sentence is a wish for the time after this session: a rule, not a task."""
    asks = "?" in one.text or opinion.chance < AHEAD_LEAST
    return not asks and bool(_WISH.search(one.text)) and bool(_AHEAD.search(one.text))


def _vouched(cue: Candidate | None) -> float:
    """Return the confidence that the cue alone justifies: 0 if there is no cue, or only a weak one."""
    return 0.0 if cue is None or cue.strength is Strength.INFERRED else cue.raw_confidence


def _kind(turn: Turn, opinion: judge.Opinion, cue: Candidate | None) -> str:
    """Return the kind of memory: a lesson for a correction, else the kind of a decisive cue, else the judge's kind."""
    if _corrects(turn):
        return KINDS["correction"]
    if cue is not None and (cue.strength is Strength.EXPLICIT or cue.kind in CUED_KINDS):
        return cue.kind
    return KINDS[opinion.kind]


def _reason(opinion: judge.Opinion, cue: Candidate | None) -> str:
    article = "an" if opinion.kind.startswith(tuple("aeiou")) else "a"
    return "; ".join(
        [f"reads like {article} {opinion.kind} ({opinion.chance:.2f})", *([cue.reason] if cue is not None else [])]
    )


def _corrects(turn: Turn) -> bool:
    """Whether a message was typed after an interruption or a refusal, and is probably a correction."""
    return turn.after_interrupt and corrections.chance(turn.text) >= CORRECTS


def _alone(one: judge.Spoken, text: str) -> str:
    """Return a sentence together with what makes it clear: its branch, an earlier sentence, or the question."""
    rest = without_scope(text) if one.branch else ""
    resolved = _resolved(one, rest or text)
    is_alone = not one.previous or not resolved.startswith(wording.squeeze(one.previous))
    if rest and is_alone:  # an earlier sentence need not be for the branch
        return scoped(resolved, one.branch)
    return _resolved(one, text)


def _resolved(one: judge.Spoken, text: str) -> str:
    """Return a sentence together with the earlier sentence or question that makes it clear.

    A rule is clear without the reproach before it.
    """
    if one.reworded and (pick := pick_in(one.text, one.before)):
        return f"{pick.text} (asked: {pick.question})"
    text = _direct(text)
    number = _NUMBER.search(one.previous)
    if number and one.before:
        return answered(text, one.before, number[1])
    previous = one.previous
    if previous and (is_reaction(previous) or _are_two_rules(previous, text)):
        text, previous = _CONNECTIVE.sub("", _CONTRARY.sub("", text)), ""
        if is_rule(text):
            return text
    complete = is_complete(text, one.before)
    reply = not complete and (
        judge.is_answer(one) or (one.place == 0 and bool(one.before) and replies(text, one.before))
    )
    dependent = reply or ((leans(text) or is_dependent(text) or begins_back(text)) and not begins_clearly(text))
    if is_bare(previous) and len(wording.content_words(text)) >= REMARK:
        return text
    limits = _are_rules(previous, text) and _limits(previous, text)
    limits = limits or bool(_CONTRARY.match(text) and "?" not in previous and _BINDS.search(previous))
    if previous and (dependent or limits or _is_remark(previous)):
        whole = f"{_ended(wording.squeeze(previous))} {text}"
        added = len(whole) <= LONGEST_STATEMENT
        text = whole if added else text
        # The added sentence may itself refer to the assistant's message: "option 1 ..., since that is ..."
        dependent = reply or (added and is_dependent(previous) and not is_complete(previous, one.before))
    elif complete:
        return text
    return answered(text, one.before) if one.before and dependent else text


def _are_two_rules(previous: str, text: str) -> bool:
    """Whether two consecutive sentences are independent rules; one with a number may be about the rule before it."""
    return _are_rules(previous, text) and not _DIGIT.search(text) and not _limits(previous, text)


def _are_rules(previous: str, text: str) -> bool:
    return all(is_rule(_CONNECTIVE.sub("", _CONTRARY.sub("", one))) for one in (previous, text))


def _limits(previous: str, text: str) -> bool:
    """Whether one of two rules may be an exception, an alternative or a condition to the other.

    An alternative says what to use instead of something forbidden. An exception shares a verb or noun with the rule,
    and only one of the two forbids something.
    """
    if _REFERS.search(text) or (_LIMITED.search(previous) and not _LIMITED.search(text)):
        return True
    if bool(_FORBIDS.search(previous)) == bool(_FORBIDS.search(text)):
        return False
    common = set.intersection(
        *({stem(word.casefold()) for word in wording.content_words(one)} for one in (previous, text))
    )
    return bool(common) or bool(_USES.search(text))


def _direct(text: str) -> str:
    """Return a statement without enclosing brackets and without words that only address the listener."""
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1].strip()
    rest = _ADDRESS.sub("", text, count=1)
    return rest if len(wording.content_words(rest)) >= REMARK else text


def _ended(sentence: str) -> str:
    """Return a sentence with a full stop or similar at its end, so that another one can follow."""
    return sentence if sentence[-1:] in ".!?:;,\u3002\uff01\uff1f" else f"{sentence}."


def _is_remark(previous: str) -> bool:
    """Whether a sentence is a short remark before another one, as in "lena left. reviews: samir"."""
    return len(previous.split()) <= REMARK and len(wording.content_words(previous)) > 1 and "?" not in previous


def _strength(chance: float) -> Strength:
    return next((level for level in Strength if chance >= level.prior), Strength.INFERRED)
