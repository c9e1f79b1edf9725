"""Distinguishes full stops that end a sentence from those of abbreviations, ordinals and initials, in ten languages.

A stop that may be either ends no sentence: two statements in one memory are clear, half of a statement is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from subconscious.text.month_names import MONTH_NAMES

_NEAR, _FAR = 40, 200
"""How many characters are read before a stop, and after it; before a task, ``_FAR`` are read on both sides."""

_NEVER_LAST = frozenset(
    """
    approx aprox bijv bspw bv bzw cf e.g env.v esim excl exkl evt evtl f.eks ggf ggfs i.e incl inkl
    n.b np např nr p.ej p.ex par.ex popř resp sog t.ex tj tzn tzv vgl vs z.b d.h zzgl d.w.z dvs bl.a m.in
    b.v p.e s.k
    """.split()
)
"""Abbreviations that are followed by what they introduce, so that no sentence ends with them."""

_ALSO_NOUNS = frozenset(("ca", "es"))
"""Abbreviations that are followed by what they introduce, but are also nouns: CA (certificates), ES (a database)."""

_SELDOM_LAST = frozenset(
    "a.m p.m al apod atd co ecc enz etc inc itd itp jne ltd m.fl mio mrd osv o.s.v std tsd usw ym".split()
)
"""Abbreviations that end a sentence if the next word has a capital, or begins a question or a task."""

_BEFORE_NAME = frozenset(
    "dhr dr dra fr hr hrn ing inż lic mevr mgr mlle mme mons mr mrs prof rev sig sr sra st ste".split()
)
"""Titles, and other abbreviations before a name with a capital."""

_SHORT_MONTH = re.compile(r"\b\d{1,2}\.? (?:jan|feb|mrz|apr|jun|jul|aug|sept?|o[kc]t|nov|de[zc])\Z", re.IGNORECASE)

_BEFORE_NUMBER = frozenset(
    """
    abb abs art c ch chap eq fig figs kap kl l max min n no nos nr num núm p par pág pkt poz pp rev s sec sect str u v
    vol ver č §
    """.split()
)
"""Abbreviations before a number: "No. 5", "Art. 6", "max. 3"."""

_PHRASES = re.compile(r"(?:\b(?:par|por|per|ad|p|t)\.? ?(?:ex|ej|es)|\bi\. ?d\. ?r|\bc\.-à-d)\Z", re.IGNORECASE)
"""The end of abbreviations of two or more words: "par ex.", "por ej.", "t. ex."."""

_LETTERS = re.compile(r"(?<![\w.])(?:[^\W\d_]\. ?){1,3}[^\W\d_]\Z")
"""The end of single letters with stops between them: "z. B.", "u.a.", "U.S."."""

_TOKEN = re.compile(r"(?<![\w.])[^\W\d_][^\W\d_.]{0,7}(?:\.[^\W\d_]{1,3}){0,3}\Z|[č§]\Z")
_ONE_LETTER = re.compile(r"(?<![\w.'\u2019/-])[^\W\d_]\Z")
_LETTER_FOLLOWS = re.compile(r"(?:[^\W\d_]|ex|ej)\.")
_CHOICE = re.compile(r"\b(?:option|plan|variante?|lösung|choice|opción|opção|opzione) [a-z]\Z", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,:-])v?\d{1,3}(?:\.\d{1,3}){0,3}\Z|(?<=\d\.[/-])\d{1,2}\Z", re.IGNORECASE)
_DAY = re.compile(r"\d{1,2}(?:\.\d{1,2})?")
"""An ordinal without its stop, or a day and a month: "31.12"."""

_RELEASE = re.compile(r"\b(?:version|release|versión|versão|versione|wersja|verze|versie) \Z", re.IGNORECASE)
_CUE = re.compile(
    r"(?<!\w)(?:am|ab|an|aufs?|beim|bis|das|dem|den|der|des|die|diese[mnrs]?|eine?[mnrs]?|fürs?|im|ins?|jede[mnrs]?|"
    r"kein(?:e[mnrs]?)?|mein(?:e[mnrs]?)?|nach|seit|unser(?:e[mnrs]?)?|vom|vor|zum|zur|zwischen|sowie|"
    r"det|hver|hvert|varje|senest|senast|fra|från|"
    r"każd\w+|každ\w+|dnia|joka)\s+(?:\d{1,2}\. (?:und|bis|oder) )?\Z",
    re.IGNORECASE,
)
"""Words before an ordinal."""

_MONTH = re.compile(rf"(?:{MONTH_NAMES})(?!\w)", re.IGNORECASE)
_GOES_ON = re.compile(
    r"(?:and|or|und|oder|bis|sowie|des|jede[mnrs]?|et|ou|och|eller|og|oraz|nebo|Quartals?|Halbjahr\w*|Kalenderwoche|KW"
    r"|Advent|p\u00e4iv\u00e4\w*)\b"
)
"""Words that continue a sentence after a number with a stop."""

_FIRST_WORD = re.compile(r"[\"'(\[`*_\u201e\u201c]{0,3}(?P<word>[^\W\d_]+(?:['\u2019]t\b)?)")
_OPENERS = frozenset(
    """
    The A An It This That These Those There They We I You He She Our My Your Use Never Always Don't Don\u2019t Do Not No
    Yes Please Keep Make Run Add Put Only All Each Every If When Once But And Or So Also Then For In On At After Before
    Until From With Without Nothing Nobody Everything Let Just Ask Write Avoid Prefer Stop Which What Who
    How Why Where Should Shall Would Could Can Is Are Does Want Will Any One Both Either
    Der Die Das Den Dem Des Ein Eine Einen Es Wir Ich Du Ihr Er Man Bitte Nie Niemals Immer Nur Kein Keine Keinen Nicht
    Nichts Alle Alles Jede Jeder Jedes Wenn Falls Sobald Dann Danach Davor Dafür Sonst Aber Und Oder Auch Ab Bei Für Im
    Mit Ohne Nach Vor Bis Dort Da Dabei Unser Unsere Mein Meine Diese Dieser Dieses Nutze Nimm Mach Setz Ja Nein
    Welche Welcher Welches Wie Was Wer Soll Sollen Möchtest Ist Sind
    Le La Les L Un Une Il Elle On Nous Je Tu Vous Ce Cette Ne Jamais Toujours Pas Si Mais Et Puis Ensuite
    El Los Las Una Nunca Siempre Pero Y Luego O Os As Um Uma Não Sempre Mas E Depois Mai Gli Non
    De Het Een Wij Geen Nooit Altijd Maar En Vi Aldrig Alltid Men Det Nigdy Zawsze Ale Nikdy Vždy Älä Aina
    """.split()
)
"""Words with which sentences begin."""

_CONJUNCTION = r"(?:(?:so|but|also|now|then|and|aber|und) ){0,2}"
_HELPERS = r"(?:can|could|would|will|should|shall|do|does|did|is|are|was|were|has|have|may)(?:n?['\u2019]t)?"
_ASKS = re.compile(
    rf"\u00bf|{_CONJUNCTION}(?:"
    rf"(?:why|how|what|where|when)(?:['\u2019]?s| {_HELPERS})\b"
    r"|(?:warum|wieso|weshalb|wie|was|wo|wann) (?:ist|sind|war|waren|hat|haben|kann|kommt|steht|geht|ging|l\u00e4uft"
    r"|lief|macht|wird|wurde)\b"
    rf"|{_HELPERS} (?:you|we|i)\b"
    r"|(?:why|how|what|warum|wieso|weshalb|pourquoi|por qu[e\u00e9]"
    rf"|{_HELPERS} (?:the|this|that|it|there|they|our|my|any\w*|some\w*))\b"
    r"[^.!?\n]{1,150}\?"
    r"|(?:kannst|k\u00f6nntest|willst|hast|bist) du\b|k\u00f6nn(?:t|ten|en) (?:ihr|wir|sie)\b"
    r"|(?:peux|pourrais|as)[- ]tu\b|(?:pouvez|pourriez)[- ]vous\b|tu peux\b|est-ce qu"
    r"|(?:puedes|podr[i\u00ed]as|voc\u00ea pode|pode|consegue|puoi) \w+[^.!?\n]{0,150}\?"
    r"|(?:please|pls|bitte|por favor|s'il te pla[i\u00ee]t|stp),? (?!and\b|or\b|but\b|not\b|und\b|oder\b|nicht\b)\w)",
    re.IGNORECASE,
)
"""The beginning of a question or a request. Words that may also continue a sentence count only before a "?"."""

_TASK = re.compile(
    rf"{_CONJUNCTION}(?:fix|add|update|check|remove|delete|change|write|create|rename|refactor|implement|debug|explain"
    r"|investigate|look|show|pr\u00fcfe?|schau|behebe?|korrigiere?) "
    r"(?:the|an?|this|that|these|those|my|our|all|it|me|at|into|de[nrms]|die|das|eine?n?|mal|bitte)\b",
    re.IGNORECASE,
)
_SAYS_ALL = re.compile(
    r"\b(?:never|always|don['\u2019]?t|do not|must|should|is|are|nie(?:mals)?|immer|keine?n?|muss|m\u00fcssen|ist"
    r"|sind)\b",
    re.IGNORECASE,
)
"""Words that show that a sentence has its verb, so that "fix the ..." after it begins a task."""

_CLAUSE = re.compile(
    r"\b(?:let|that|which|who|whose|if|when|because|since|while|where|make|help|have|how|to|dass|wenn|weil|die|lass)\b",
    re.IGNORECASE,
)
"""Words that need another verb, which may come after the stop: "never let jobs in the U.S. change the ..."."""


def ends_sentence(text: str, at: int) -> bool:
    """Whether the full stop at ``at`` (and any brackets or quotes after it) ends a sentence of ``text``."""
    if text[at] != ".":
        return True
    before = text[max(0, at - _NEAR) : at]
    after = text[at + 1 : at + 1 + _FAR].lstrip(".!?\"')]*\u201c\u201d").lstrip()
    if not after or before.endswith((".", "!", "?")):
        return True
    if _ASKS.match(after) or (_TASK.match(after) and _is_whole(text[max(0, at - _FAR) : at])):
        return not _introduces(before)
    return not (_abbreviates(before, after) or _is_initial(before, after) or _counts(before, after))


def _is_whole(said: str) -> bool:
    """Whether ``said``, the text before a stop, is a complete sentence, so that a verb after the stop begins a task."""
    return bool(_SAYS_ALL.search(said)) and not _CLAUSE.search(said)


def _introduces(before: str) -> bool:
    """Whether the text before a stop ends with an abbreviation such as "e.g", or is only an abbreviation ("u.U")."""
    if _word(before) in _NEVER_LAST or _PHRASES.search(before):
        return True
    letters = _LETTERS.search(before)
    return letters is not None and (
        letters[0].replace(" ", "").casefold() in _NEVER_LAST or not before[: letters.start()].strip()
    )


def _word(before: str) -> str:
    """Return the last word before a stop in lower case, including stops inside the word: "z.b"."""
    found = _TOKEN.search(before)
    return found[0].casefold() if found else ""


def _abbreviates(before: str, after: str) -> bool:
    """Whether the words before a stop end with an abbreviation that the words after it continue."""
    word = _word(before)
    if word in _NEVER_LAST | _ALSO_NOUNS or _PHRASES.search(before) or (word in _BEFORE_NUMBER and after[0].isdigit()):
        return True
    if word in _SELDOM_LAST:
        return not after[0].isupper()
    if word in _BEFORE_NAME and after[0].isupper():
        return not _opens(after)
    return bool(_LETTERS.search(before) or _SHORT_MONTH.search(before)) and not _opens(after)


def _is_initial(before: str, after: str) -> bool:
    """Whether a single letter before a stop begins an abbreviation such as "z. B.", or a name: "J. Smith"."""
    found = _ONE_LETTER.search(before)
    if found is None or _CHOICE.search(before):
        return False
    if _LETTER_FOLLOWS.match(after):
        return True
    return found[0].isupper() and after[0].isupper() and not _opens(after)


def _counts(before: str, after: str) -> bool:
    """Whether a number before a stop is an ordinal ("3. Januar", "am 2. des Monats") or goes on ("version 2. and")."""
    number = _NUMBER.search(before)
    if number is None:
        return False
    if _GOES_ON.match(after) or (after[0].islower() and _RELEASE.search(before[: number.start()])):
        return True
    if not _DAY.fullmatch(number[0]):
        return False
    cued = bool(_CUE.search(before[: number.start()]))
    return bool(_MONTH.match(after)) or (cued and not _opens(after))


def _opens(after: str) -> bool:
    """Whether a text begins with a word with which sentences begin."""
    first = _FIRST_WORD.match(after)
    return first is not None and first["word"] in _OPENERS


def gaps(pattern: re.Pattern[str], text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern for the space after a sentence, without those inside a sentence.

    A match that begins with a line break separates sentences, with anything before it.
    """
    for found in pattern.finditer(text, start, len(text) if end is None else end):
        at = found.start() - 1
        if at < 0 or found[0].startswith("\n") or text[at] != "." or ends_sentence(text, at):
            yield found


def split(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return the parts of a text between the gaps that a pattern finds, as ``pattern.split`` would."""
    parts, at = [], 0
    for found in gaps(pattern, text):
        parts.append(text[at : found.start()])
        at = found.end()
    return [*parts, text[at:]]
