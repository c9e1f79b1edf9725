"""Recognises reproaches: complaints that the user has said something before, or that it was done again.

"I said ask before adding deps" repeats an earlier statement. "You unwrapped again in the server" reports what the
assistant did. A task such as "run the tests again" or a failure such as "the build is red again" is not a reproach.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from subconscious.text.sentences import sentences
from subconscious.text.vocabulary import IMPERATIVES
from subconscious.text.words import content_words

LONGEST = 1000
"""Messages with more characters are not searched for reproaches: they explain a task, or were pasted."""

FEWEST_WORDS = 2
"""A clause with at least this many content words says something besides the reproach."""

BRIEF = 6
"""A reproach with more words is taken to state something, unless it says what the assistant did."""


def _any(*patterns: str) -> re.Pattern[str]:
    """Return a pattern that matches any of ``patterns`` at the beginning of a word, in any case."""
    return re.compile(rf"\b(?:{'|'.join(patterns)})", re.IGNORECASE)


_ALREADY = r"(?:(?:already|just|literally|clearly|explicitly|even|also) )*"
_SAY = r"(?:(?:have|need) to )?(?:say|repeat|tell (?:you|u))"
_DEJA = r"(?:(?:déj[àa]|deja|pourtant|bien) )*"
_TIMES = "last second third fourth fifth tenth nth hundredth thousandth millionth umpteenth"
_ZEITEN = "letzten zweiten dritten vierten zehnten hundertsten tausendsten x-ten"
_FOIS = "dernière deuxième troisième dixième centième énième"
_VECES = "última ultima segunda tercera terceira enésima"

_TOLD = _any(
    rf"(?:(?:as|like) )?i(?:'?ve| have| had)? {_ALREADY}(?:said|told (?:you|u|ya))\b(?: (?:already|before|so))?",
    r"i (?:keep|kept) (?:on )?(?:saying|telling (?:you|u))",
    rf"how many times\b(?: (?:do|must|should) i {_SAY})?",
    rf"how often (?:do|must|should) i {_SAY}",
    r"(?:did ?n'?t i|what did i|did i not) (?:just |already )?(?:say|tell (?:you|u))\b",
    r"(?<!\w )told (?:you|u|ya)\b(?: (?:already|before|so))?",
    rf"for the (?:{'|'.join(_TIMES.split())}|\d+(?:nd|rd|th)) time\b",
    r"remember\s*\?+\s*\Z(?<!you remember\?)",
    r"hab\w{0,2}'? ?ich\b[^.!?:,]{0,30}?\bgesagt\b",
    r"(?:hatte ich|ich (?:hab|habe|hatte))\b[^.!?:,]{0,30}?\bgesagt\b",
    r"wie (?:schon )?gesagt\b",
    r"wie oft (?:denn|noch|muss|soll)\b(?: ich (?:das |es |dir )*(?:noch )?(?:sagen)?)?",
    rf"zum (?:{'|'.join(_ZEITEN.split())}|\d+\.) mal\b",
    rf"je (?:te |vous )?(?:[lt]'|te l'|vous l')?(?:ai|avais) {_DEJA}dit\b",
    rf"j'?(?:ai|avais) {_DEJA}dit\b",
    r"combien de fois\b",
    rf"pour la (?:{'|'.join(_FOIS.split())}) fois\b",
    r"(?:como )?(?:ya )?te (?:lo )?(?:dije|he dicho|había dicho)\b",
    r"(?:como ya|ya|como) (?:lo )?(?:dije|he dicho)\b",
    r"cu[áa]ntas veces\b",
    r"(?:como )?(?:eu )?(?:j[áa] )?(?:te|lhe) (?:disse|falei)\b",
    r"(?:como )?(?:eu j[áa]|eu|j[áa]|como) (?:disse|falei)\b",
    r"quantas vezes\b",
    rf"(?:por|pela) (?:{'|'.join(_VECES.split())}) vez\b",
)
"""Words with which users point out that they have said something before: "I told you"."""

_TAKES_BACK = _any(
    r"(?:what|when|if|though|although|because|since|everything|anything|thing|know) (?:that )?i (?:said|told)\b",
    r"(?:forget|ignore|scrap|drop|never ?mind|disregard|i was wrong|changed my mind|not what i)\b",
    r"(?:no longer|any ?more|outdated|obsolete|not needed|told (?:you|u) wrong|thanks|thx)\b",
    r"(?:earlier i (?:said|told)|i said earlier)\b",
    r"(?:nicht mehr|plus besoin|ya no|não .{1,20} mais)\b",
    r"said (?:we|i|you|it) (?:could|can|may|might)\b",
    r"said\b.{3,}\bbut (?!(?:you|u)\b)",
    r"(?:vergiss|auch wenn|oublie|même si|olv[ií]da|aunque|esque[cç]|embora)",
)
"""Words that qualify what was said before, rather than repeat it: "I know I said no unwrap, but here it is fine"."""

_AGAIN = _any(r"(?:again|(?:schon )?wieder|encore|otra vez|de nuevo|nuevamente|de novo|outra vez|à nouveau)\b")
_ONCE_MORE = _any(
    _AGAIN.pattern,
    r"(?:once more|one more time|nochmals?|noch ?mal|noch einmal|encore une fois|una vez más|mais uma vez)\b",
)
_ALREADY_AGAIN = _any(r"schon wieder\b")

_DID = "keep kept ran wrote put took made left forgot got threw chose set built brought gave did used"
_MACHST = "hast habt benutzt verwendest nimmst machst nutzt führst schreibst"
_USASTE = "usaste pusiste hiciste ejecutaste creaste agregaste añadiste metiste corriste"
_ACCUSES = re.compile(
    r"(?P<before>\b[\w']+\W+)?\b(?:(?:you|u)(?:'?(?:re|ve)\b)?"
    r"(?: (?:are|r|have|did|just|still|even|actually|always|again|went and))*"
    rf" (?!(?:need|feed|speed|bring|string)\b)(?:[\w-]+(?:ed|'d|ing)|{'|'.join(_DID.split())})\b"
    r"|why (?:did|are|have|would) (?:you|u)\b"
    rf"|du (?:{'|'.join(_MACHST.split())})\b"
    r"|(?:tu as|t'as|tu (?:utilises|mets|refais|remets|lances))\b"
    rf"|has \w+(?:[ai]do|[eu]sto|echo|rito)\b|(?:{'|'.join(_USASTE.split())})\b"
    r"|(?:você|voce|vc) (?:\w+(?:ou|eu|iu)|pôs|fez)\b)",
    re.IGNORECASE,
)
"""Words that say what the assistant did; the group ``before`` has the word before them, such as "if"."""

_CONDITION = _any(
    r"(?:when|if|once|after|before|since|until|till|what|how|where|which|as|that|whatever)\W*\Z",
    r"(?:wenn|falls|sobald|quand|si|cuando|quando|se)\W*\Z",
)
_ANNOYED = re.compile(
    r"\b(?:jesus|christ|omg|wtf|ffs|fuck\w*|damn\w*|dammit|goddamn\w*|argh+|ugh+|seriously|srsly|come on|c'?mon|sake"
    r"|bloody|bruh|verdammt\w*|ernsthaft|echt jetzt|mensch|mann|scheiße|putain|sérieux|sérieusement|merde|joder"
    r"|en serio|mierda|porra|caramba|sério|caralho)\b|[!?]{2}",
    re.IGNORECASE,
)
_LOUD = re.compile(r"\b(?:AGAIN|WIEDER|ENCORE|OTRA VEZ|DE NUEVO|DE NOVO)\b")
_OBJECTS = _any(r"(?:no+|nope|nah|stop|hey|wrong|nein|halt|non|arrête|não)\b(?=\s*[,.!;:-])")
_INSISTS = _any(r"(?:seriously|ernsthaft|sérieusement|en serio|sério)\b")

_STATES = _any(
    r"(?:no|not|never|always|don'?t|do not|without|only|stop|must)\b",
    r"(?:nie|niemals|immer|kein\w*|nicht|ohne|nur|jamais|toujours|pas|sans|nunca|siempre|sin|sempre|não|sem)\b",
)
"""Words that show that a sentence states a rule."""

_STATE_OF_THINGS = _any(
    r"(?:is|are|was|were|isn'?t|fail\w*|br[eo]k\w*|crash\w*|errors?|red|flak\w+|hang\w*|stuck|slow|down)\b",
    r"(?:time[sd]? ?out|works?|working|pass(?:es|ed|ing)?|green)\b",
    r"(?:ist|sind|rot|grün|kaputt|fehl\w+|schl[aä]g\w+|est|sont|échoue\w*|cassé\w*|plante\w*)\b",
    r"(?:están?|fall[ao]\w*|rompi\w*|falh\w+|quebr\w+)\b",
)
"""Words that describe a state, not what the assistant did: "the build is red again"."""

_ASKS = _any(
    r"(?:please|pls|plz|(?:can|could|would|will) (?:you|u|we|i)|let'?s|let me|lemme|i'?ll|i will|try|need to)\b",
    r"(?:have to|bitte|kannst du|s'il te plaît|stp|tu peux|por favor|puedes|pode|podes)\b",
    r"(?:(?<=\A)|(?<=\A\W))(?:what|how|where|which|who|wie|was|wo|comment|qu[ée]|como|cuál)\b",
)
"""Words of requests and questions."""

_OPENINGS = (
    "ok okay and so but now then also just no nope nah hey again yes good great nice cool thanks thx perfect alright"
    " right well please pls oh to jesus christ omg wtf ffs damn ugh argh seriously cmon fuck fucking"
)
_BEGINS = re.compile(rf"\A(?:\W*(?:{'|'.join(_OPENINGS.split())})\b(?!['\u2019]))*\W*", re.IGNORECASE)
_SIGNS = " .,;:!?-\"'("
_VERBS = IMPERATIVES.union(
    "be come commit continue do explain go let look rebuild recheck redeploy redo repeat rerun retest retry revert run"
    " think try".split()
)
_PART = re.compile(r"[,;:](?=\s)|\.(?=\s)| - | \u2013 |\b(?:and|but|und|aber|et|mais|y|pero|e)\b", re.IGNORECASE)
_BEFORE_AGAIN = re.compile(r",\s*(?=again\W*\Z)", re.IGNORECASE)
_FORM = re.compile(r"(?<=\w{3})'(?:d|ed|ing|s)\b")
_FILLER = re.compile(rf"{_ANNOYED.pattern}|\b(?:fuck|for|god'?s|u|you|ya|w)\b", re.IGNORECASE)


def reproaches(text: str, *, interrupted: bool = False) -> list[str]:
    """Return what the user's reproaches in a message are about, in the user's words.

    ``interrupted`` means that the user stopped the assistant before typing the message. For a reproach that names no
    subject ("how many times"), the sentences before and after it are returned.
    """
    if len(text) > LONGEST:
        return []
    said = list(sentences(text.replace("\u2019", "'")))
    return list(dict.fromkeys(filter(None, _subjects(said, interrupted))))


def _subjects(said: Sequence[str], interrupted: bool) -> Iterator[str]:
    for before, (sentence, after) in zip(["", *said], pairwise([*said, ""]), strict=False):
        if not (_reminds(sentence) or _reports(sentence, interrupted)):
            continue
        about = subject(sentence)
        if content_words(about):
            yield about
        else:
            yield from (subject(one) for one in (before, after) if not one.rstrip().endswith("?"))


def subject(sentence: str) -> str:
    """Return a sentence without words such as "I told you" and "again", and with "unwrap" for "unwrap'd"."""
    rest = _FILLER.sub(" ", _ONCE_MORE.sub(" ", _TOLD.sub(" ", sentence)))
    return " ".join(_FORM.sub("", rest).split()).strip(" ,;:.!?-")


def is_bare(sentence: str) -> bool:
    """Whether a sentence only complains that the assistant did something again, and states nothing else."""
    sentence = sentence.replace("\u2019", "'")
    if not _reports(sentence, interrupted=False) or _reminds(sentence):
        return False
    if len(sentence.split()) > BRIEF and not _accuses(sentence):
        return False
    others = [part for part in _PART.split(sentence) if not _AGAIN.search(part)]
    says_more = any(len(content_words(part)) >= FEWEST_WORDS or _instructs(part) for part in others)
    return not says_more and not _STATES.search(sentence)


def _reminds(sentence: str) -> bool:
    """Whether a sentence complains that the user has said something before: "I told you"."""
    if _TAKES_BACK.search(sentence):
        return False
    if _INSISTS.match(sentence.lstrip(_SIGNS)) and _STATES.search(sentence) and "?" not in sentence:
        return True
    told = _TOLD.search(sentence)
    if told is None or _ACCUSES.search(sentence):
        return told is not None
    is_task = bool(_ONCE_MORE.search(sentence)) and _instructs(_TOLD.sub(" ", sentence))
    return not is_task and not (told[0].casefold().endswith("time") and _STATE_OF_THINGS.search(sentence))


def _reports(sentence: str, interrupted: bool) -> bool:
    """Whether a sentence complains that the assistant did something again."""
    if not _AGAIN.search(sentence):
        return False
    parts = _PART.split(_BEFORE_AGAIN.sub(" ", sentence))
    if any(_AGAIN.search(part) and not _instructs(part) and _accuses(part) for part in parts):
        return True
    if _ASKS.search(sentence) or any(map(_instructs, parts)):
        return False
    loud = _LOUD.search(sentence) and not sentence.isupper()
    annoyed = (
        loud or _ANNOYED.search(sentence) or _OBJECTS.match(sentence.lstrip(_SIGNS)) or _ALREADY_AGAIN.search(sentence)
    )
    return bool(interrupted or annoyed) and not _STATE_OF_THINGS.search(sentence)


def _accuses(part: str) -> bool:
    """Whether a clause says what the assistant did ("you used mocks"), not as a condition ("if you used mocks")."""
    return any(not _CONDITION.search(found["before"] or "") for found in _ACCUSES.finditer(part))


def _instructs(part: str) -> bool:
    """Whether a clause begins with an instruction, perhaps after words such as "ok": "ok, run it"."""
    words = _BEGINS.sub("", part).split(maxsplit=1)
    return bool(words) and words[0].strip(".,;:!?").casefold() in _VERBS
