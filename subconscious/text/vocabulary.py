"""Word lists for comparing statements: fillers, light words, verb forms, units, and words that name a place or time."""

from __future__ import annotations

FILLERS = frozenset(
    "a an the this that these those which who there here it its our ours am is"
    " are be been being do does did done doing have has had having please just really also very quite"
    " simply actually basically so well ok okay now currently always and or both e.g i.e"
    " of for in on at by as to with via through using about around approximately roughly what how such into onto"
    " all every each any everywhere etc"
    " generally normally typically hence therefore thus thereby indeed obviously clearly kindly respective"
    " respectively ever between against yourself ourselves themselves itself".split()
)
"""Words that can be left out without a change of meaning; a preposition still determines the role of the next words."""

LIGHT: tuple[tuple[str, ...], ...] = (
    ("i me", "we", "you", "they them"),
    (
        "use run perform do happen exist occur prefer favour favor",
        "store save persist live reside locate belong put express sit",
        "keep stay remain",
        "add",
        "make",
        "create",
        "write",
        "call invoke",
        "get take",
        "come",
        "go",
        "need",
        "pass",
        "set",
    ),
    ("file entry item value everything", "code", "time", "length", "one"),
)
"""Words that may be missing from one of two statements if the other words agree: "run the linter", "lint".

If each statement has a light pronoun, verb or noun that the other lacks, the two words must be in the same group: using
a lock is not creating a lock.
"""

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday weekday weekend"
_MONTHS = "january february march april june july august september october november december"
_PLACES = {
    "environment": "staging production prod dev development ci local locally preview sandbox qa uat canary testing",
    "place": "frontend backend client server mobile desktop web worker scheduler gateway api cli daemon ui browser"
    " disk memory cloud edge host container vm replica laptop",
    "schedule": f"{_WEEKDAYS} {_MONTHS} hourly daily nightly weekly monthly yearly quarterly midnight noon morning"
    " evening",
    "system": "linux windows macos mac osx ubuntu debian android ios unix posix freebsd alpine",
    "language": "python ruby rust go golang java kotlin swift javascript typescript php perl scala elixir haskell bash"
    " c c++ c# english german french spanish italian japanese chinese",
    "direction": "left right top bottom north south east west europe america asia",
}
PLACES: dict[str, str] = {word: sort for sort, words in _PLACES.items() for word in words.split()}
"""The sort ("environment", "schedule", ...) of each word for where, when or to what a statement applies."""

UNITS: dict[str, str] = {
    form: forms.split()[0]
    for forms in (
        "ms millisecond milliseconds msec",
        "us microsecond microseconds",
        "second seconds sec secs s",
        "minute minutes min mins",
        "hour hours h hr hrs",
        "day days d",
        "week weeks",
        "month months",
        "year years",
        "b byte bytes",
        "kb kilobyte kilobytes kib",
        "mb megabyte megabytes mib",
        "gb gigabyte gigabytes gib",
        "tb terabyte terabytes tib",
        "% percent",
        "time times x",
        "px pixel pixels",
    )
    for form in forms.split()
}
"""The representative of each form of a unit: "ms" for "millisecond"."""

SECONDS = {"us": 1e-6, "ms": 1e-3, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
"""The length of each unit of time in seconds."""

NUMBERS = {
    word: str(value)
    for value, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
} | {
    word: str(10 * value)
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety hundred".split(), 2)
}

IMPERATIVES = frozenset(
    "add allow answer apply ask assign avoid build cache call catch change check close commit configure convert copy"
    " create cut declare define delete deploy disable document edit enable encrypt ensure export fetch fix"
    " follow format generate give handle hash import include index install keep leave limit lint list load lock log"
    " look make mark merge migrate mock modify move name note open pass pin place prefer print push"
    " put raise read rebase rebuild redact release remove rename replace report require resize restart"
    " retry return review rotate round run save schedule send set show sign skip sort specify split squash start stop"
    " store strip tag test throw track treat turn update upgrade use validate verify wait wrap write".split()
)
"""Verbs that can begin an instruction, which states a duty like "must"."""

IRREGULAR = {
    form: forms.split()[0]
    for line in (
        "use used,build built,choose chose chosen,find found,give gave given,hold held,keep kept,make made",
        "mean meant,run ran",
        "send sent,show shown showed,take took taken,throw threw thrown,write wrote written,break broke broken",
        "come came,go went gone goes,get got gotten,begin began begun,draw drew drawn,fall fell fallen,bring brought",
        "say said,tell told,know knew known,lose lost,hide hid hidden,speak spoke spoken,deploy deployment",
        "require requirement,replace replacement,measure measurement,approve approval,retrieve retrieval",
        "remove removal,rebuild rebuilt,override overridden overrode,rewrite rewritten,rerun reran,fix fixes",
        "tie tying,die dying,install installation,transform transformation,confirm confirmation,register registration",
        "represent representation,present presentation,implement implementation,maintain maintenance,exist existence",
        "renew renewal,refuse refusal,dispose disposal,dismiss dismissal,agree agreement,develop developed developing",
        "manage management,adjust adjustment,move movement,improve improvement,assign assignment,enforce enforcement",
        "encrypt encryption,delete deletion,expire expiration expiry,publish publication,derive derivation",
        "forget forgot forgotten,leave left,think thought,teach taught,catch caught,buy bought,feed fed",
        "freeze froze frozen,tear tore torn,stick stuck,spend spent,bind bound,deal dealt,meet met,pay paid",
        "lay laid,spin spun,strike struck,hang hung,win won,shrink shrank shrunk,grow grew grown,blow blown",
        "steal stole stolen,eat eaten,drive drove driven,shake shaken,undo undone,redo redone,withdraw withdrawn",
        "understand understood,withhold withheld,stand stood,rise rose risen,wake woke woken,swap swapped,grow growth",
        "apologize apologies apology,forbid forbade forbidden,strict strictness",
    )
    for forms in line.split(",")
    for form in forms.split()[1:]
}
"""The base word of each irregular form."""

UNCHANGED = frozenset("https news dns aws css tls sms gps os ios us".split())
"""Words with a final "s" that is not an ending."""

NO_ADVERBS = frozenset(
    "hourly nightly weekly monthly yearly quarterly assembly friendly multiply butterfly shortly"
    " lately hardly nearly barely".split()
)
"""Words in "ly" that are not derived from an adjective, or differ from it in meaning."""

PARTICIPLES = frozenset("read set put run cut split hit let shut overridden built sent".split())
"""Participles that look like their verb, or have no regular ending."""

PAST = frozenset(
    "was were had did broke ran chose came went took wrote threw began fell brought said told knew lost gave"
    " previously formerly originally".split()
)
"""Words that put a statement in the past."""
